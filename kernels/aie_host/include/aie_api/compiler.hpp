// What the device's compilers know without a header: trace events, hints to the loop scheduler, the
// keyword `restrict` and vector types. Hints change no value, so here they are nothing.
#pragma once

#include <aie_api/accum.hpp>

inline void event0() {}
inline void event1() {}

#define chess_prepare_for_pipelining
#define chess_flatten_loop
#define chess_loop_range(...)
#define chess_loop_count(...)
#define chess_unroll_loop(...)

// aie_kernel_utils.h, which upstream includes from the command line.
#define AIE_PREPARE_FOR_PIPELINING
#define AIE_LOOP_FLATTEN
#define AIE_LOOP_NO_UNROLL
#define AIE_LOOP_UNROLL_FULL
#define AIE_LOOP_UNROLL(...)
#define AIE_LOOP_RANGE(...)
#define AIE_LOOP_MIN_ITERATION_COUNT(...)
#define AIE_LOOP_MAX_ITERATION_COUNT(...)

#ifndef restrict
#define restrict __restrict
#endif

using v8bfloat16 = aie::vector<bfloat16, 8>;
using v16bfloat16 = aie::vector<bfloat16, 16>;
using v32bfloat16 = aie::vector<bfloat16, 32>;
using v64bfloat16 = aie::vector<bfloat16, 64>;
using v8float = aie::vector<float, 8>;
using v16float = aie::vector<float, 16>;
using v32float = aie::vector<float, 32>;
using v8accfloat = aie::accum<accfloat, 8>;
using v16accfloat = aie::accum<accfloat, 16>;
using v32accfloat = aie::accum<accfloat, 32>;

/// An accumulator narrowed as the control register says.
inline v8bfloat16 to_v8bfloat16(const v8accfloat& acc) { return acc.to_vector<bfloat16>(); }
inline v16bfloat16 to_v16bfloat16(const v16accfloat& acc) { return acc.to_vector<bfloat16>(); }
inline v32bfloat16 to_v32bfloat16(const v32accfloat& acc) { return acc.to_vector<bfloat16>(); }
