// Reductions of one register to one value.
#pragma once

#include <utility>

#include <aie_api/accum.hpp>

namespace aie {

namespace detail {

/// The register with lane i + distance in lane i.
template <unsigned Distance, typename T, unsigned N>
inline vector<T, N> lowered(const vector<T, N>& value) {
    const auto lanes = value.chunks[0];
    return [&]<std::size_t... lane>(std::index_sequence<lane...>) {
        return vector<T, N>{{{__builtin_shufflevector(lanes, lanes, ((lane + Distance) % N)...)}}};
    }(std::make_index_sequence<N>());
}

/// Folds the upper half of the lanes onto the lower half until one is left, as far as registers of the host go by
/// whole registers, then within one. What was folded away stays in the upper lanes and is not read again: shorter
/// vectors would be taken through memory, and what they are made from with them.
template <unsigned Live, typename T, unsigned N, typename Operation>
inline T halving_tree(const vector<T, N>& value, Operation operation) {
    constexpr unsigned half = Live / 2;
    if constexpr (Live == 1) {
        return value.get(0);
    } else if constexpr (vector<T, N>::chunk_count == 1) {
        return halving_tree<half>(operation(value, lowered<half>(value)), operation);
    } else {
        constexpr unsigned chunks = vector<T, half>::chunk_count;
        vector<T, half> lower, upper;
        for (unsigned i = 0; i < chunks; ++i) {
            lower.chunks[i] = value.chunks[i];
            upper.chunks[i] = value.chunks[chunks + i];
        }
        return halving_tree<half>(operation(lower, upper), operation);
    }
}

}  // namespace detail

/// Sum of all lanes, in the order of a halving tree: bit 0 of the published GEMV figures depends on it.
template <typename T, unsigned N>
inline T reduce_add(const vector<T, N>& value) {
    return detail::halving_tree<N>(value, [](const auto& a, const auto& b) { return add(a, b); });
}

/// Largest of all lanes.
template <typename T, unsigned N>
inline T reduce_max(const vector<T, N>& value) {
    return detail::halving_tree<N>(value, [](const auto& a, const auto& b) { return max(a, b); });
}

}  // namespace aie
