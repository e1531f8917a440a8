// Drives a GEMM microkernel that was written for the device over the launch grid of C[M,N] = A[M,K] B[K,N].
//
// A and B come to L1 in 8 x 8 blocks, A's along the columns, B's too; C stays there in FP32 until all of K is
// done. EPILOGUE_DRAIN narrows it in the microkernel's own function. EPILOGUE_FUSED_CAST has a launch of its
// own, which is generated and not the microkernel's: there the control register is still at floor.
#include <aie_api/aie.hpp>
#include <aie_host/blocks.hpp>
#include <aie_host/launch.hpp>

#ifdef EPILOGUE_NONE
using output_type = float;
#else
using output_type = bfloat16;
#endif

extern "C" {
void zero_f32_mn(float* c);
void op_has_no_registered_library_name(bfloat16* a, bfloat16* b, float* c);
void f32_to_bf16_mn(float* c, bfloat16* narrowed);
}

namespace {

constexpr auto by_columns = aie_host::block_order::along_columns;

/// L1 of one core.
struct alignas(64) core_memory {
    bfloat16 a[DIM_M * DIM_K];
    bfloat16 b[DIM_K * DIM_N];
    float c[DIM_M * DIM_N];
    output_type out[DIM_M * DIM_N];
};

/// Accumulates one tile of C over all of K, in blocks.
void matmul(const bfloat16* a_rows, const bfloat16* b_columns, core_memory& l1) {
    zero_f32_mn(l1.c);
    for (unsigned k = 0; k < GEMM_K; k += DIM_K) {
        aie_host::to_blocks(a_rows + k, GEMM_K, DIM_M, DIM_K, by_columns, l1.a);
        aie_host::to_blocks(b_columns + std::size_t{k} * GEMM_N, GEMM_N, DIM_K, DIM_N, by_columns, l1.b);
        op_has_no_registered_library_name(l1.a, l1.b, l1.c);
    }
}

#ifdef EPILOGUE_FUSED_CAST
/// The second launch's core.
void cast(const float* wide, output_type* narrowed) {
    aie::set_rounding(aie::rounding_mode::floor);
    constexpr unsigned lanes = 16;
    for (unsigned i = 0; i < DIM_M * DIM_N; i += lanes)
        aie::store_v(narrowed + i, aie::accum<accfloat, lanes>(aie::load_v<lanes>(wide + i)).to_vector<bfloat16>());
}
#endif

/// The tile in the output type, still in blocks.
const output_type* finished_tile(core_memory& l1) {
#if defined(EPILOGUE_DRAIN)
    f32_to_bf16_mn(l1.c, l1.out);
    return l1.out;
#elif defined(EPILOGUE_FUSED_CAST)
    cast(l1.c, l1.out);
    return l1.out;
#else
    return l1.c;
#endif
}

}  // namespace

/// inputs: A[M,K], B[K,N] in bf16; output: C[M,N].
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* b = static_cast<const bfloat16*>(inputs[1]);
    auto* c = static_cast<output_type*>(output);

    constexpr aie_host::extent iterations{GEMM_M / DIM_M / HERD_M, GEMM_N / DIM_N / HERD_N};
    aie_host::launch(iterations, {HERD_M, HERD_N}, threads, [&](aie_host::core_position core) {
        const std::size_t row = (core.launch_x * HERD_M + core.herd_x) * DIM_M;
        const std::size_t column = (core.launch_y * HERD_N + core.herd_y) * DIM_N;
        core_memory l1;
        matmul(a + row * GEMM_K, b + column, l1);
        aie_host::from_blocks(finished_tile(l1), DIM_M, DIM_N, by_columns, c + row * GEMM_N + column, GEMM_N);
    });
    return 0;
}
