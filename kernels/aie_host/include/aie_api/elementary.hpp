// The scalar and vector units for inverse, inverse square root, exp2 and tanh.
#pragma once

#include <cmath>

#include <aie_api/accum.hpp>

namespace aie {

/// 1 / x. Exact in FP32 before any narrowing (rule found on the published FlashAttention rows).
inline float inv(float x) { return 1.0f / x; }

/// 1 / sqrt(x). Exact in FP32 before any narrowing (rule found on the published RMSNorm rows).
inline float invsqrt(float x) { return 1.0f / std::sqrt(x); }

template <typename T, unsigned N>
inline vector<T, N> inv(const vector<T, N>& x) {
    auto value = detail::as_fp32(x);
    for (auto& chunk : value.chunks) chunk = 1.0f / chunk;
    return value.template to_vector<T>();
}

namespace detail {

/// exp2 of the hardware's table for x <= 0, a bf16 value a lane: x is cut to a fixed point with
/// 7 fraction bits, and the fraction becomes the mantissa as it stands (linear, up to 6 % off).
/// For |x| >= 2 the cut is coarser: x is floored to its own bf16 step u, then u - 2^-7 is added.
/// Results below 2^-126 are flushed. Rule found on the published FlashAttention rows.
template <unsigned N>
inline lanes<float, N> exp2_table(lanes<float, N> x) {
    using words = lanes<uint32_t, N>;
    using integers = lanes<int32_t, N>;
    // Beyond the smallest normal result everything is flushed; the clamp keeps 128 * x an integer.
    const auto in_range = x < -1000.0f ? x - x - 1000.0f : x;
    const words bits = reinterpret_cast<words>(in_range);
    const auto floored = reinterpret_cast<lanes<float, N>>(floor_bits(bits) & 0xFFFF0000u);
    // The step of a bf16 value is 2^(exponent - 7); times 128 that is 2^exponent.
    const auto step_128 = reinterpret_cast<lanes<float, N>>(bits & 0x7F800000u);
    const auto coarse = __builtin_convertvector(128.0f * floored + step_128 - 1.0f, integers);
    const auto scaled = 128.0f * in_range;
    const integers cut = __builtin_convertvector(scaled, integers);
    const auto fine = cut - (__builtin_convertvector(cut, lanes<float, N>) > scaled ? integers{} + 1 : integers{});
    const integers fixed_point = in_range <= -2.0f ? coarse : fine;
    // 2^floor(q) * (1 + q - floor(q)) is a bf16 pattern: exponent bias 127, 7 fraction bits.
    const integers pattern = fixed_point + (127 << 7);
    const integers flushed = pattern < (1 << 7) ? integers{} : pattern;
    return reinterpret_cast<lanes<float, N>>(flushed << 16);
}

}  // namespace detail

/// 2^x for x <= 0, in bf16.
template <typename T, unsigned N>
inline vector<T, N> exp2(const vector<float, N>& x) {
    static_assert(std::is_same_v<T, bfloat16>, "aie::exp2: aie_api/elementary.hpp models the bf16 table only: add this type there");
    vector<T, N> result;
    for (unsigned i = 0; i < result.chunk_count; ++i)
        result.chunks[i] = detail::exp2_table<result.lanes_per_chunk>(x.chunks[i]);
    return result;
}

namespace tanh_unit {

/// The tanh table, calibrated and not read from a device: one straight piece a segment, in units
/// of 1/256, the result cut to whole units. Below 0.5 (T = |x|) and from 2 up it is certain; between
/// them it is fitted to the published SiLU-and-Mul and GELU figures, +-2 units a point.
struct piece {
    float from;    ///< lower end of the segment
    float start;   ///< T there, in 1/256
    float end;     ///< T at the upper end, in 1/256
    float length;  ///< of the segment

    constexpr float slope() const { return (end - start) / length; }
    constexpr float intercept() const { return start - from * slope(); }
};
inline constexpr std::array<piece, 4> calibrated = {{
    {0.5f, 127.0f, 197.5f, 0.5f},
    {1.0f, 200.0f, 233.5f, 0.5f},
    {1.5f, 233.0f, 247.5f, 0.5f},
    {2.0f, 248.0f, 256.0f, 1.0f},
}};
inline constexpr float saturated_from = 3.0f;
inline constexpr float units_per_one = 256.0f;

/// Slope and intercept of the piece each magnitude lies in; flat at 1 from `saturated_from` on.
template <unsigned N>
struct line {
    detail::lanes<float, N> slope;
    detail::lanes<float, N> intercept;
};

template <unsigned N>
inline line<N> chosen_by_comparison(detail::lanes<float, N> magnitude) {
    using floats = detail::lanes<float, N>;
    line<N> chosen{floats{}, floats{} + units_per_one};
    for (unsigned i = calibrated.size(); i-- > 0;) {
        const auto below = magnitude < (i + 1 < calibrated.size() ? calibrated[i + 1].from : saturated_from);
        chosen.slope = below ? floats{} + calibrated[i].slope() : chosen.slope;
        chosen.intercept = below ? floats{} + calibrated[i].intercept() : chosen.intercept;
    }
    return chosen;
}

#if __has_builtin(__builtin_shuffle)
// Every segment starts where the exponent or the first mantissa bit changes, so those bits are an index. It is taken
// modulo N: from the 0.5 of the first segment to the 3 of saturation there are six values, which any N of 8 and more
// tells apart. What lies below the first segment reads any of them.
inline constexpr unsigned index_shift = 22;
inline constexpr unsigned saturated_index = std::bit_cast<uint32_t>(saturated_from) >> index_shift;

template <unsigned N>
constexpr std::array<piece, N> pieces_by_index() {
    std::array<piece, N> pieces;
    pieces.fill({saturated_from, units_per_one, units_per_one, 1.0f});
    for (unsigned index = std::bit_cast<uint32_t>(calibrated[0].from) >> index_shift; index < saturated_index; ++index)
        for (const piece& segment : calibrated)
            if (segment.from <= std::bit_cast<float>(index << index_shift)) pieces[index % N] = segment;
    return pieces;
}

template <unsigned N>
inline line<N> chosen_by_index(detail::lanes<float, N> magnitude) {
    static constexpr auto pieces = pieces_by_index<N>();
    const auto index = reinterpret_cast<detail::lanes<uint32_t, N>>(magnitude) >> index_shift;
    const auto piece_index = index < saturated_index ? index : decltype(index){} + saturated_index;
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        constexpr detail::lanes<float, N> slopes{pieces[i].slope()...}, intercepts{pieces[i].intercept()...};
        return line<N>{__builtin_shuffle(slopes, piece_index), __builtin_shuffle(intercepts, piece_index)};
    }(std::make_index_sequence<N>());
}
#endif

template <unsigned N>
inline line<N> chosen_piece(detail::lanes<float, N> magnitude) {
#if __has_builtin(__builtin_shuffle)
    if constexpr (N >= 8) return chosen_by_index<N>(magnitude);
#endif
    return chosen_by_comparison<N>(magnitude);
}

template <unsigned N>
inline detail::lanes<float, N> evaluate(detail::lanes<float, N> x) {
    using words = detail::lanes<uint32_t, N>;
    using floats = detail::lanes<float, N>;
    const words bits = reinterpret_cast<words>(x);
    const words sign = bits & 0x80000000u;
    const floats magnitude = reinterpret_cast<floats>(bits & 0x7FFF0000u);
    // Slopes and intercepts have few bits and the argument has 8, so this is the piece, unrounded.
    const line<N> segment = chosen_piece<N>(magnitude);
    const floats units = magnitude * segment.slope + segment.intercept;
    const floats cut = __builtin_convertvector(__builtin_convertvector(units, detail::lanes<int32_t, N>), floats);
    const floats result = magnitude < calibrated[0].from ? magnitude : cut / units_per_one;
    return reinterpret_cast<floats>(reinterpret_cast<words>(result) | sign);
}

}  // namespace tanh_unit

/// tanh(x), in bf16. The table's results have at most 8 significant bits, so nothing is rounded.
template <typename T, unsigned N>
inline vector<T, N> tanh(const vector<float, N>& x) {
    static_assert(std::is_same_v<T, bfloat16>, "aie::tanh: aie_api/elementary.hpp models the bf16 table only: add this type there");
    vector<T, N> result;
    for (unsigned i = 0; i < result.chunk_count; ++i)
        result.chunks[i] = tanh_unit::evaluate<result.lanes_per_chunk>(x.chunks[i]);
    return result;
}

}  // namespace aie
