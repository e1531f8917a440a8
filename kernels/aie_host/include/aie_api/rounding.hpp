// Rounding of FP32 to bf16, as the AIE2P control register selects it.
//
// The register powers up as floor, for the vector and the scalar unit alike: with any other
// default no published RMSNorm, RoPE or element-wise figure is met.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace aie {

enum class rounding_mode { floor, conv_even };

namespace detail {

// One control register a core; a host thread plays one core at a time.
// initial-exec keeps the access one load, also in a shared object.
inline thread_local rounding_mode control_register __attribute__((tls_model("initial-exec"))) =
    rounding_mode::floor;

/// FP32 lanes of a register of the machine this is compiled for.
#if defined(__AVX512F__)
inline constexpr unsigned host_register_lanes = 16;
#elif defined(__AVX__)
inline constexpr unsigned host_register_lanes = 8;
#else
inline constexpr unsigned host_register_lanes = 4;
#endif

/// N values of T in one host register.
template <typename T, unsigned N>
struct register_of {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <typename T, unsigned N>
using lanes = typename register_of<T, N>::type;

// Narrowing of FP32 bit patterns, one per lane (U is uint32_t or a vector of it). The upper half
// of the result holds the bf16 pattern, the lower half is undefined.
template <typename U>
inline constexpr U conv_even_bits(U bits) {
    return bits + 0x7FFFu + ((bits >> 16) & 1u);
}

inline constexpr uint32_t floor_bits(uint32_t bits) {
    // Towards minus infinity: negative values with anything cut off go one step away from zero.
    return bits + (bits >> 31) * 0xFFFFu;
}

template <typename U>
inline U floor_bits(U bits) {
    return reinterpret_cast<decltype(bits > bits)>(bits) < 0 ? bits + 0xFFFFu : bits;
}

inline constexpr bool is_nan_bits(uint32_t bits) { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }

inline constexpr uint16_t narrow(uint32_t bits, rounding_mode mode) {
    if (is_nan_bits(bits)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
    const uint32_t rounded = mode == rounding_mode::floor ? floor_bits(bits) : conv_even_bits(bits);
    return static_cast<uint16_t>(rounded >> 16);
}

/// NaNs of FP32 lanes made quiet ones with an empty lower half, as arithmetic on bf16 values gives them, so that
/// `round` never turns one into a number.
template <unsigned N>
inline lanes<float, N> canonical_nan(lanes<float, N> value) {
    const auto bits = reinterpret_cast<lanes<uint32_t, N>>(value);
    return value != value ? reinterpret_cast<lanes<float, N>>((bits | 0x400000u) & 0xFFFF0000u) : value;
}

/// FP32 lanes rounded to bf16 values, which they then hold exactly. NaNs are canonical (`canonical_nan`).
template <unsigned N>
inline lanes<float, N> round(lanes<float, N> value, rounding_mode mode) {
    using words = lanes<uint32_t, N>;
    const words bits = reinterpret_cast<words>(value);
    const words rounded = mode == rounding_mode::floor ? floor_bits(bits) : conv_even_bits(bits);
    return reinterpret_cast<lanes<float, N>>(rounded & 0xFFFF0000u);
}

// Between the two widths lanes are shuffled, not converted: a bf16 pattern is the upper half of its FP32 lane, and
// compilers take a conversion apart into halves of a register. The lower half comes first, as on every
// little-endian machine.

/// The bf16 patterns of lanes that hold bf16 values.
template <unsigned N>
inline lanes<uint16_t, N> narrow(lanes<float, N> value) {
    const auto halves = reinterpret_cast<lanes<uint16_t, 2 * N>>(value);
    return [&]<std::size_t... lane>(std::index_sequence<lane...>) {
        return __builtin_shufflevector(halves, halves, (2 * lane + 1)...);
    }(std::make_index_sequence<N>());
}

template <unsigned N>
inline lanes<float, N> widen(lanes<uint16_t, N> bits) {
    const auto doubled = [&]<std::size_t... half>(std::index_sequence<half...>) {
        return __builtin_shufflevector(bits, bits, (half / 2)...);
    }(std::make_index_sequence<2 * N>());
    return reinterpret_cast<lanes<float, N>>(reinterpret_cast<lanes<uint32_t, N>>(doubled) & 0xFFFF0000u);
}

}  // namespace detail

/// Selects how this core narrows FP32 to bf16 from now on.
inline void set_rounding(rounding_mode mode) { detail::control_register = mode; }

/// The mode this core narrows with. AIE_HOST_FORCE_ROUNDING overrules every kernel, to see what another
/// mode would buy (`python -m scripts.predict --rounding`); the device has no such switch.
inline rounding_mode get_rounding() {
#ifdef AIE_HOST_FORCE_ROUNDING
    return rounding_mode::AIE_HOST_FORCE_ROUNDING;
#else
    return detail::control_register;
#endif
}

}  // namespace aie

/// The scalar type. Narrowing follows the control register at run time; a constant expression is
/// rounded to nearest even, as a compiler rounds a literal.
struct bfloat16 {
    uint16_t bits = 0;

    constexpr bfloat16() = default;
    constexpr bfloat16(float value)
        : bits(aie::detail::narrow(std::bit_cast<uint32_t>(value),
                                   std::is_constant_evaluated() ? aie::rounding_mode::conv_even
                                                                : aie::get_rounding())) {}
    constexpr bfloat16(double value) : bfloat16(static_cast<float>(value)) {}
    constexpr bfloat16(int value) : bfloat16(static_cast<float>(value)) {}
    constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

    static constexpr bfloat16 from_bits(uint16_t pattern) {
        bfloat16 value;
        value.bits = pattern;
        return value;
    }
};
static_assert(sizeof(bfloat16) == 2);
