// aie::vector and aie::mask: registers of N lanes, and what moves data in and out of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <aie_api/rounding.hpp>

namespace aie {

namespace detail {

/// What a lane of an element type is in a host register: bf16 is the FP32 number it stands for, and
/// becomes 16 bits in memory only, since every operation widens it anyway.
template <typename T>
struct lane { using type = T; };
template <>
struct lane<bfloat16> { using type = float; };
template <typename T>
using lane_t = typename lane<T>::type;

/// Registers are kept in chunks of what a host register holds in FP32: compilers take wider vectors
/// apart through memory. The width changes no bit.
constexpr unsigned chunk_lanes(unsigned n) { return std::min(n, host_register_lanes); }

template <typename T>
inline T from_lane(lane_t<T> value) {
    if constexpr (std::is_same_v<T, bfloat16>)
        return bfloat16::from_bits(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
    else
        return value;
}

}  // namespace detail

template <typename T, unsigned N>
class vector;

/// Write access to one lane.
template <typename T, unsigned N>
class vector_elem_ref {
public:
    vector_elem_ref(vector<T, N>& parent, unsigned index) : parent_(parent), index_(index) {}
    vector_elem_ref& operator=(T value) { parent_.set(value, index_); return *this; }
    operator T() const { return parent_.get(index_); }

private:
    vector<T, N>& parent_;
    unsigned index_;
};

/// N lanes of T.
template <typename T, unsigned N>
class vector {
    static_assert(N > 0 && (N & (N - 1)) == 0, "a vector has a power of two of lanes");

public:
    using value_type = T;
    using lane = detail::lane_t<T>;
    static constexpr unsigned lanes_per_chunk = detail::chunk_lanes(N);
    static constexpr unsigned chunk_count = N / lanes_per_chunk;
    using chunk = detail::lanes<lane, lanes_per_chunk>;

    std::array<chunk, chunk_count> chunks;

    static constexpr unsigned size() { return N; }

    T get(unsigned index) const { return detail::from_lane<T>(chunks[index / lanes_per_chunk][index % lanes_per_chunk]); }
    void set(T value, unsigned index) {
        chunks[index / lanes_per_chunk][index % lanes_per_chunk] = static_cast<lane>(value);
    }
    T operator[](unsigned index) const { return get(index); }
    vector_elem_ref<T, N> operator[](unsigned index) { return {*this, index}; }

    /// The `index`-th group of M lanes.
    template <unsigned M>
    vector<T, M> extract(unsigned index) const {
        vector<T, M> part;
        std::memcpy(part.chunks.data(), lane_data() + index * M, M * sizeof(lane));
        return part;
    }

    /// Replaces the `index`-th group of M lanes.
    template <unsigned M>
    vector& insert(unsigned index, const vector<T, M>& part) {
        std::memcpy(reinterpret_cast<lane*>(chunks.data()) + index * M, part.lane_data(), M * sizeof(lane));
        return *this;
    }

    const lane* lane_data() const { return reinterpret_cast<const lane*>(chunks.data()); }
};

/// One bit a lane.
template <unsigned N>
class mask {
    static_assert(N <= 64);

public:
    mask() = default;
    explicit mask(uint64_t bits) : bits_(bits) {}
    bool test(unsigned lane) const { return (bits_ >> lane) & 1u; }
    void set(unsigned lane) { bits_ |= uint64_t{1} << lane; }

private:
    uint64_t bits_ = 0;
};

/// N lanes from memory. The device wants the address aligned to the vector; the host does not care.
template <unsigned N, typename T>
inline vector<T, N> load_v(const T* source) {
    constexpr unsigned width = vector<T, N>::lanes_per_chunk;
    vector<T, N> value;
    for (unsigned i = 0; i < value.chunk_count; ++i) {
        if constexpr (std::is_same_v<T, bfloat16>) {
            detail::lanes<uint16_t, width> patterns;
            std::memcpy(&patterns, source + i * width, sizeof patterns);
            value.chunks[i] = detail::widen<width>(patterns);
        } else {
            std::memcpy(&value.chunks[i], source + i * width, sizeof value.chunks[i]);
            if constexpr (std::is_same_v<T, float>) value.chunks[i] = detail::canonical_nan<width>(value.chunks[i]);
        }
    }
    return value;
}

template <typename T, unsigned N>
inline void store_v(T* target, const vector<T, N>& value) {
    constexpr unsigned width = vector<T, N>::lanes_per_chunk;
    for (unsigned i = 0; i < value.chunk_count; ++i) {
        if constexpr (std::is_same_v<T, bfloat16>) {
            const auto patterns = detail::narrow<width>(value.chunks[i]);
            std::memcpy(static_cast<void*>(target + i * width), &patterns, sizeof patterns);
        } else {
            std::memcpy(target + i * width, &value.chunks[i], sizeof value.chunks[i]);
        }
    }
}

/// Every lane holds `value`.
template <typename T, unsigned N>
inline vector<T, N> broadcast(T value) {
    vector<T, N> result;
    for (auto& chunk : result.chunks) chunk = static_cast<detail::lane_t<T>>(value) - typename vector<T, N>::chunk{};
    return result;
}

/// `second` where the mask is set, `first` elsewhere.
template <typename T, unsigned N>
inline vector<T, N> select(const vector<T, N>& first, const vector<T, N>& second, const mask<N>& chosen) {
    vector<T, N> result = first;
    for (unsigned lane = 0; lane < N; ++lane)
        if (chosen.test(lane)) result.set(second.get(lane), lane);
    return result;
}

/// A `rows` x `columns` matrix, row by row, turned into `columns` x `rows`.
template <typename T, unsigned N>
inline vector<T, N> transpose(const vector<T, N>& matrix, unsigned rows, unsigned columns) {
    vector<T, N> turned;
    for (unsigned row = 0; row < rows; ++row)
        for (unsigned column = 0; column < columns; ++column)
            turned.set(matrix.get(row * columns + column), column * rows + row);
    return turned;
}

}  // namespace aie
