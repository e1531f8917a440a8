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

/// How a lane of an element type is stored: bf16 as its bit pattern, everything else as itself.
template <typename T>
struct storage { using type = T; };
template <>
struct storage<bfloat16> { using type = uint16_t; };
template <typename T>
using storage_t = typename storage<T>::type;

/// Registers are kept in chunks of what a host register holds in FP32: compilers take wider vectors
/// apart through memory. The width changes no bit.
constexpr unsigned chunk_lanes(unsigned n) { return std::min(n, host_register_lanes); }

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
    using element = detail::storage_t<T>;
    static constexpr unsigned lanes_per_chunk = detail::chunk_lanes(N);
    static constexpr unsigned chunk_count = N / lanes_per_chunk;
    using chunk = detail::lanes<element, lanes_per_chunk>;

    std::array<chunk, chunk_count> chunks;

    static constexpr unsigned size() { return N; }

    T get(unsigned index) const {
        T value;
        std::memcpy(static_cast<void*>(&value), bytes() + index * sizeof(T), sizeof(T));
        return value;
    }
    void set(T value, unsigned index) { std::memcpy(bytes() + index * sizeof(T), &value, sizeof(T)); }
    T operator[](unsigned index) const { return get(index); }
    vector_elem_ref<T, N> operator[](unsigned index) { return {*this, index}; }

    /// The `index`-th group of M lanes.
    template <unsigned M>
    vector<T, M> extract(unsigned index) const {
        vector<T, M> part;
        std::memcpy(&part, bytes() + index * M * sizeof(T), M * sizeof(T));
        return part;
    }

    /// Replaces the `index`-th group of M lanes.
    template <unsigned M>
    vector& insert(unsigned index, const vector<T, M>& part) {
        std::memcpy(bytes() + index * M * sizeof(T), &part, M * sizeof(T));
        return *this;
    }

private:
    std::byte* bytes() { return reinterpret_cast<std::byte*>(chunks.data()); }
    const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(chunks.data()); }
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
    vector<T, N> value;
    std::memcpy(&value, source, N * sizeof(T));
    return value;
}

template <typename T, unsigned N>
inline void store_v(T* target, const vector<T, N>& value) {
    std::memcpy(static_cast<void*>(target), &value, N * sizeof(T));
}

/// Every lane holds `value`.
template <typename T, unsigned N>
inline vector<T, N> broadcast(T value) {
    detail::storage_t<T> pattern;
    std::memcpy(&pattern, &value, sizeof(T));
    vector<T, N> result;
    for (auto& chunk : result.chunks) chunk = pattern - typename vector<T, N>::chunk{};
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
