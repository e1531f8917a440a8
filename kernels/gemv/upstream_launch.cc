// Drives a GEMV microkernel that was written for the device: C[M] = A[M,K] x[K].
//
// A core owns DIM_M rows of C and gets DIM_M_INPUT rows of A at a time, with x again each time.
#include <cstdint>

#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

extern "C" {
void linalg_fill_bf16(bfloat16* c);
void matvec_vectorized_bf16_bf16(uint32_t rows, uint32_t k, uint32_t row_offset, const bfloat16* a, const bfloat16* x,
                                 bfloat16* c);
}

/// inputs: A[M,K], x[K] in bf16; output: C[M] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* x = static_cast<const bfloat16*>(inputs[1]);
    auto* c = static_cast<bfloat16*>(output);

    constexpr aie_host::extent iterations{GEMV_M / (DIM_M * HERD_M), 1};
    aie_host::launch(iterations, {HERD_M, 1}, threads, [&](aie_host::core_position core) {
        const std::size_t first_row = (core.launch_x * HERD_M + core.herd_x) * DIM_M;
        alignas(64) bfloat16 c_tile[DIM_M];
        linalg_fill_bf16(c_tile);
        for (unsigned row = 0; row < DIM_M; row += DIM_M_INPUT)
            matvec_vectorized_bf16_bf16(DIM_M_INPUT, GEMV_K, row, a + (first_row + row) * GEMV_K, x, c_tile);
        std::copy(c_tile, c_tile + DIM_M, c + first_row);
    });
    return 0;
}
