// Reductions of one register to one value.
#pragma once

#include <aie_api/accum.hpp>

namespace aie {

namespace detail {

/// Folds the upper half of the lanes onto the lower half until one is left.
template <typename T, unsigned N, typename Operation>
inline T halving_tree(const vector<T, N>& value, Operation operation) {
    if constexpr (N == 1) {
        return value.get(0);
    } else {
        const auto lower = value.template extract<N / 2>(0);
        const auto upper = value.template extract<N / 2>(1);
        return halving_tree(operation(lower, upper), operation);
    }
}

}  // namespace detail

/// Sum of all lanes, in the order of a halving tree: bit 0 of the published GEMV figures depends on it.
template <typename T, unsigned N>
inline T reduce_add(const vector<T, N>& value) {
    return detail::halving_tree(value, [](const auto& a, const auto& b) { return add(a, b); });
}

/// Largest of all lanes.
template <typename T, unsigned N>
inline T reduce_max(const vector<T, N>& value) {
    return detail::halving_tree(value, [](const auto& a, const auto& b) { return max(a, b); });
}

}  // namespace aie
