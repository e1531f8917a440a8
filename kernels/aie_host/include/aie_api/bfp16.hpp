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

/// Orders bf16 values by magnitude, and a positive one above its negative: the largest rank of a block
/// decides the block's exponent. Sign-rotated: exponent in bits 31..24, mantissa 23..17, "positive" in bit 0.
template <unsigned N>
inline lanes<uint32_t, N> rank(lanes<float, N> x) {
    const auto bits = reinterpret_cast<lanes<uint32_t, N>>(x);
    return ((bits << 1) | (bits >> 31)) ^ 1u;
}

template <unsigned N>
inline lanes<uint32_t, N> larger(lanes<uint32_t, N> a, lanes<uint32_t, N> b) {
    return a > b ? a : b;
}

/// FP32's exponent field, in place, of the exponent e of a block whose largest rank is given:
/// 2^e <= max|x| < 2^(e+1). A mantissa q of +128 does not fit (-128 does), and of all bf16 values only the
/// largest one of a binade rounds to it: then the block takes the next exponent.
template <unsigned N>
inline lanes<uint32_t, N> block_exponent(lanes<uint32_t, N> largest) {
    const auto with_carry = largest + ((largest & 1u) << 17);
    const auto kept = largest < 0x01000000u ? largest : with_carry;  // below it no mantissa overflows
    return (kept >> 1) & 0x7F800000u;
}

/// Quantises the bf16 values of blocks whose exponents are given (see `block_exponent`) to what the matrix
/// unit multiplies: q * 2^(e - 6), q an int8 rounded to nearest even.
///
/// 1.5 * 2^(e + 17), added and taken away again, leaves no smaller bit. Half of the exponent, h, is scaled
/// away meanwhile (exactly), or that constant would overflow.
template <unsigned N>
struct block_scale {
    lanes<float, N> down;      ///< 2^-h
    lanes<float, N> constant;  ///< 1.5 * 2^(e - h + 17)
    lanes<float, N> up;        ///< 2^h

    block_scale(lanes<float, N> down, lanes<float, N> constant, lanes<float, N> up)
        : down(down), constant(constant), up(up) {}
    explicit block_scale(lanes<uint32_t, N> exponent) {
        const auto field = [](unsigned biased) { return biased << 23; };
        const auto half = (exponent >> 1) & 0x7F800000u;  // the field of h + 64
        down = reinterpret_cast<lanes<float, N>>(field(191) - half);
        constant = reinterpret_cast<lanes<float, N>>(exponent - half + (field(81) | 0x00400000u));
        up = reinterpret_cast<lanes<float, N>>(half + field(63));
    }

    lanes<float, N> quantised(lanes<float, N> x) const { return ((x * down + constant) - constant) * up; }
};

/// Quantises blocks in place.
template <unsigned N>
inline void quantise(block_lanes<N>& block) {
    auto largest = rank<N>(block[0]);
    for (unsigned i = 1; i < block_length; ++i) largest = larger<N>(largest, rank<N>(block[i]));
    const block_scale<N> scale(block_exponent<N>(largest));
    for (auto& element : block) element = scale.quantised(element);
}

}  // namespace detail

}  // namespace aie
