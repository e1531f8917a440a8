// BFP16 (bfp16ebs8), the matrix unit's operand format: blocks of 8 that share one exponent.
#pragma once

#include <aie_api/accum.hpp>

/// Element tag of a block vector.
struct bfp16ebs8 {};

namespace aie {

namespace detail {

inline constexpr unsigned block_length = 8;

/// `N` blocks at once, one a lane: the i-th register holds every block's i-th element.
template <unsigned N>
using block_lanes = std::array<lanes<float, N>, block_length>;

/// 2^exponent as FP32, for exponents of normal numbers.
template <unsigned N>
inline lanes<float, N> power_of_two(lanes<int32_t, N> exponent) {
    return reinterpret_cast<lanes<float, N>>((exponent + 127) << 23);
}

/// x * 2^exponent in two exact steps, since 2^exponent alone may leave FP32's range.
template <unsigned N>
inline lanes<float, N> scale(lanes<float, N> x, lanes<int32_t, N> exponent) {
    const auto half = exponent >> 1;
    return x * power_of_two<N>(half) * power_of_two<N>(exponent - half);
}

/// Nearest integer, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves no fraction bit.
template <unsigned N>
inline lanes<float, N> nearest_even(lanes<float, N> x) {
    constexpr float magic = 12582912.0f;
    return (x + magic) - magic;
}

template <unsigned N>
inline lanes<float, N> largest_mantissa(const block_lanes<N>& block, lanes<int32_t, N> exponent) {
    lanes<float, N> largest = nearest_even<N>(scale<N>(block[0], 6 - exponent));
    for (unsigned i = 1; i < block_length; ++i) {
        const auto mantissa = nearest_even<N>(scale<N>(block[i], 6 - exponent));
        largest = mantissa > largest ? mantissa : largest;
    }
    return largest;
}

/// Quantises bf16 values in place to what the matrix unit multiplies, q * 2^(e - 6): e is the block
/// exponent, 2^e <= max|x| < 2^(e+1); q an int8, rounded to nearest even. A q of +128 does not fit
/// (-128 does): then the block takes the next exponent and is quantised again.
template <unsigned N>
inline void quantise(block_lanes<N>& block) {
    using words = lanes<uint32_t, N>;
    words largest{};
    for (const auto& element : block) {
        const words magnitude = reinterpret_cast<words>(element) & 0x7FFFFFFFu;
        largest = magnitude > largest ? magnitude : largest;
    }
    auto exponent = reinterpret_cast<lanes<int32_t, N>>(largest >> 23) - 127;
    const auto overflowed = largest_mantissa<N>(block, exponent) > 127.0f;
    exponent = overflowed ? exponent + 1 : exponent;
    for (auto& element : block)
        element = scale<N>(nearest_even<N>(scale<N>(element, 6 - exponent)), exponent - 6);
}

}  // namespace detail

}  // namespace aie
