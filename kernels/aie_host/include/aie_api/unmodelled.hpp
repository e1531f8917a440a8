// What a kernel may reach for next and the host does not model: a compile error that names the function
// and the header it belongs to, never a silent default. A function that gets modelled leaves this list.
#pragma once

#include <aie_api/mmul.hpp>

namespace aie {

namespace detail {

template <auto...>
inline constexpr bool never_value = false;
template <typename...>
inline constexpr bool never = false;

}  // namespace detail

// Three templates, because callers may pass no template argument, a type, a number, or a type and a number.
#define AIE_HOST_UNMODELLED(name, header)                                                                    \
    template <typename... Explicit>                                                                          \
    auto name(const auto&...) {                                                                              \
        static_assert(detail::never<Explicit...>, "aie::" #name " is not modelled: add it to aie_api/" header); \
    }                                                                                                        \
    template <auto First, auto... Rest>                                                                      \
    auto name(const auto&...) {                                                                              \
        static_assert(detail::never_value<First>, "aie::" #name " is not modelled: add it to aie_api/" header); \
    }                                                                                                        \
    template <typename First, auto Second, auto... Rest>                                                     \
    auto name(const auto&...) {                                                                              \
        static_assert(detail::never<First>, "aie::" #name " is not modelled: add it to aie_api/" header);    \
    }

AIE_HOST_UNMODELLED(set_saturation, "rounding.hpp")
AIE_HOST_UNMODELLED(get_saturation, "rounding.hpp")

AIE_HOST_UNMODELLED(load_unaligned_v, "vector.hpp")
AIE_HOST_UNMODELLED(store_unaligned_v, "vector.hpp")
AIE_HOST_UNMODELLED(load_floor_v, "vector.hpp")
AIE_HOST_UNMODELLED(begin_vector, "vector.hpp")
AIE_HOST_UNMODELLED(cbegin_vector, "vector.hpp")
AIE_HOST_UNMODELLED(begin_restrict_vector, "vector.hpp")
AIE_HOST_UNMODELLED(cbegin_restrict_vector, "vector.hpp")
AIE_HOST_UNMODELLED(concat, "vector.hpp")
AIE_HOST_UNMODELLED(vector_cast, "vector.hpp")
AIE_HOST_UNMODELLED(filter_even, "vector.hpp")
AIE_HOST_UNMODELLED(filter_odd, "vector.hpp")
AIE_HOST_UNMODELLED(interleave_zip, "vector.hpp")
AIE_HOST_UNMODELLED(interleave_unzip, "vector.hpp")
AIE_HOST_UNMODELLED(shuffle_up, "vector.hpp")
AIE_HOST_UNMODELLED(shuffle_down, "vector.hpp")
AIE_HOST_UNMODELLED(reverse, "vector.hpp")

AIE_HOST_UNMODELLED(min, "accum.hpp")
AIE_HOST_UNMODELLED(abs, "accum.hpp")
AIE_HOST_UNMODELLED(neg, "accum.hpp")
AIE_HOST_UNMODELLED(msc, "accum.hpp")
AIE_HOST_UNMODELLED(negmul, "accum.hpp")
AIE_HOST_UNMODELLED(mul_square, "accum.hpp")
AIE_HOST_UNMODELLED(mac_square, "accum.hpp")
AIE_HOST_UNMODELLED(maxdiff, "accum.hpp")
AIE_HOST_UNMODELLED(eq, "accum.hpp")
AIE_HOST_UNMODELLED(neq, "accum.hpp")
AIE_HOST_UNMODELLED(lt, "accum.hpp")
AIE_HOST_UNMODELLED(le, "accum.hpp")
AIE_HOST_UNMODELLED(gt, "accum.hpp")
AIE_HOST_UNMODELLED(ge, "accum.hpp")
AIE_HOST_UNMODELLED(to_float, "accum.hpp")
AIE_HOST_UNMODELLED(to_fixed, "accum.hpp")

AIE_HOST_UNMODELLED(reduce_min, "reduce.hpp")
AIE_HOST_UNMODELLED(reduce_mul, "reduce.hpp")
AIE_HOST_UNMODELLED(reduce_add_v, "reduce.hpp")

AIE_HOST_UNMODELLED(exp, "elementary.hpp")
AIE_HOST_UNMODELLED(log, "elementary.hpp")
AIE_HOST_UNMODELLED(log2, "elementary.hpp")
AIE_HOST_UNMODELLED(sqrt, "elementary.hpp")
AIE_HOST_UNMODELLED(div, "elementary.hpp")
AIE_HOST_UNMODELLED(sin, "elementary.hpp")
AIE_HOST_UNMODELLED(cos, "elementary.hpp")
AIE_HOST_UNMODELLED(sincos, "elementary.hpp")

#undef AIE_HOST_UNMODELLED

/// The control register's other field. Nothing that is modelled saturates: FP32 and bf16 have infinities.
enum class saturation_mode { none, truncate, saturate, symmetric };

/// Any accumulator but accfloat.
template <typename Tag, unsigned N>
class accum {
    static_assert(detail::never<Tag>, "aie::accum: aie_api/accum.hpp models accfloat only: add this tag there");
};

template <typename T, unsigned N>
class block_vector {
    static_assert(detail::never<T>, "aie::block_vector is not modelled: add it to aie_api/bfp16.hpp");
};

}  // namespace aie

/// Tags of integer accumulators.
struct acc32 {};
struct acc48 {};
struct acc64 {};
