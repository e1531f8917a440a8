// aie::accum<accfloat, N>: FP32 accumulators, and the arithmetic that goes through them.
//
// A product of two bf16 values is exact in FP32 (8 + 8 mantissa bits), so a fused and an unfused
// multiply-add give the same bits and the host compiler may choose either.
#pragma once

#include <aie_api/vector.hpp>

/// Accumulator tags.
struct accfloat {};
struct accauto {};

namespace aie {

template <typename Tag, unsigned N>
class accum;

/// N lanes of FP32.
template <unsigned N>
class accum<accfloat, N> {
public:
    static constexpr unsigned lanes_per_chunk = detail::chunk_lanes(N);
    static constexpr unsigned chunk_count = N / lanes_per_chunk;
    using chunk = detail::lanes<float, lanes_per_chunk>;

    std::array<chunk, chunk_count> chunks;

    accum() = default;
    template <typename T>
    explicit accum(const vector<T, N>& value) { from_vector(value); }

    template <typename T>
    void from_vector(const vector<T, N>& value) {
        static_assert(std::is_same_v<detail::lane_t<T>, float>, "aie_api/accum.hpp models float and bfloat16 only: add this type there");
        chunks = value.chunks;
    }

    /// The lanes as FP32, or narrowed to bf16 as the control register says.
    template <typename T>
    vector<T, N> to_vector() const {
        static_assert(std::is_same_v<detail::lane_t<T>, float>, "aie_api/accum.hpp models float and bfloat16 only: add this type there");
        vector<T, N> result;
        if constexpr (std::is_same_v<T, float>) {
            result.chunks = chunks;
        } else {
            const rounding_mode mode = get_rounding();
            for (unsigned i = 0; i < chunk_count; ++i)
                result.chunks[i] = detail::round<lanes_per_chunk>(chunks[i], mode);
        }
        return result;
    }
    operator vector<bfloat16, N>() const { return to_vector<bfloat16>(); }
    operator vector<float, N>() const { return to_vector<float>(); }
};

namespace detail {

template <unsigned N>
using fp32 = accum<accfloat, N>;

template <unsigned N>
inline const fp32<N>& as_fp32(const fp32<N>& value) { return value; }
template <typename T, unsigned N>
inline fp32<N> as_fp32(const vector<T, N>& value) { return fp32<N>(value); }

template <unsigned N, typename Operation>
inline fp32<N> lanewise(const fp32<N>& a, const fp32<N>& b, Operation operation) {
    fp32<N> result;
    for (unsigned i = 0; i < fp32<N>::chunk_count; ++i) result.chunks[i] = operation(a.chunks[i], b.chunks[i]);
    return result;
}

template <unsigned N>
inline fp32<N> sum(const fp32<N>& a, const fp32<N>& b) {
    return lanewise(a, b, [](auto x, auto y) { return x + y; });
}
template <unsigned N>
inline fp32<N> difference(const fp32<N>& a, const fp32<N>& b) {
    return lanewise(a, b, [](auto x, auto y) { return x - y; });
}
template <unsigned N>
inline fp32<N> product(const fp32<N>& a, const fp32<N>& b) {
    return lanewise(a, b, [](auto x, auto y) { return x * y; });
}

/// Zeros of a tag are an accumulator, zeros of an element type a vector.
template <typename T, unsigned N>
struct zero {
    static vector<T, N> make() { return broadcast<T, N>(T{}); }
};
template <unsigned N>
struct zero<accfloat, N> {
    static fp32<N> make() { return fp32<N>(broadcast<float, N>(0.0f)); }
};

}  // namespace detail

template <typename T, unsigned N>
inline auto zeros() { return detail::zero<T, N>::make(); }

/// Products of two vectors, in an accumulator.
template <typename T, unsigned N>
inline accum<accfloat, N> mul(const vector<T, N>& a, const vector<T, N>& b) {
    return detail::product(detail::as_fp32(a), detail::as_fp32(b));
}
template <typename T, unsigned N>
inline accum<accfloat, N> mul(const vector<T, N>& a, T b) { return mul(a, broadcast<T, N>(b)); }

/// acc + a * b.
template <typename T, unsigned N>
inline accum<accfloat, N> mac(const accum<accfloat, N>& acc, const vector<T, N>& a, const vector<T, N>& b) {
    return detail::sum(acc, mul(a, b));
}

/// Sums and differences with an accumulator stay in FP32.
template <unsigned N>
inline accum<accfloat, N> add(const accum<accfloat, N>& a, const accum<accfloat, N>& b) {
    return detail::sum(a, b);
}
template <typename T, unsigned N>
inline accum<accfloat, N> add(const accum<accfloat, N>& a, const vector<T, N>& b) {
    return detail::sum(a, detail::as_fp32(b));
}
template <unsigned N>
inline accum<accfloat, N> sub(const accum<accfloat, N>& a, const accum<accfloat, N>& b) {
    return detail::difference(a, b);
}

/// Sums and differences of two vectors are rounded to the vectors' type.
template <typename T, unsigned N>
inline vector<T, N> add(const vector<T, N>& a, const vector<T, N>& b) {
    return detail::sum(detail::as_fp32(a), detail::as_fp32(b)).template to_vector<T>();
}
template <typename T, unsigned N>
inline vector<T, N> sub(const vector<T, N>& a, const vector<T, N>& b) {
    return detail::difference(detail::as_fp32(a), detail::as_fp32(b)).template to_vector<T>();
}

/// The larger of two lanes. Exact, so no rounding mode matters.
template <typename T, unsigned N>
inline vector<T, N> max(const vector<T, N>& a, const vector<T, N>& b) {
    vector<T, N> result;
    for (unsigned i = 0; i < result.chunk_count; ++i)
        result.chunks[i] = a.chunks[i] > b.chunks[i] ? a.chunks[i] : b.chunks[i];
    return result;
}

}  // namespace aie
