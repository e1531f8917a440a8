// GEMM on the matrix unit: C[M,N] = BFP16(A)[M,K] * BFP16(B)[K,N], FP32 accumulation.
//
// The epilogue is what tells the contracts apart (kernel.yaml, `methods`):
//   EPILOGUE_NONE        f32 out
//   EPILOGUE_DRAIN       bf16 out, rounded to nearest even while the tile is drained from L1
//   EPILOGUE_FUSED_CAST  bf16 out, cast by a second launch that leaves the control register at floor
//   EPILOGUE_PER_K_TILE  bf16 out, the partial sum rounded to nearest even after every DIM_K of K
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>
#include <aie_host/mmul_grid.hpp>

#include <memory>

#ifdef EPILOGUE_NONE
using output_type = float;
#else
using output_type = bfloat16;
#endif

namespace {

constexpr unsigned register_lanes = 16;

struct alignas(64) accumulator_tile {
    float elements[DIM_M][DIM_N];
};

#ifdef EPILOGUE_PER_K_TILE
/// Narrows the partial sums to bf16 where they stand, as a bf16 accumulator in L1 does.
void round_in_place(accumulator_tile& c) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    for (auto& row : c.elements)
        for (unsigned n = 0; n < DIM_N; n += register_lanes) {
            const aie::accum<accfloat, register_lanes> sum(aie::load_v<register_lanes>(row + n));
            const aie::accum<accfloat, register_lanes> rounded(sum.to_vector<bfloat16>());
            aie::store_v(row + n, rounded.to_vector<float>());
        }
}
#endif

/// Accumulates one tile of C over what L2 holds of K.
void matmul(const aie_host::left_panel& a, const aie_host::right_panel& b, unsigned row, unsigned column, unsigned k,
            accumulator_tile& c) {
#ifdef EPILOGUE_PER_K_TILE
    for (unsigned end = k + DIM_K_L2; k < end; k += DIM_K) {
        aie_host::mac_tile(a, row, DIM_M, b, column, DIM_N, {.left = k, .right = k}, DIM_K, c.elements[0], DIM_N);
        round_in_place(c);
    }
#else
    aie_host::mac_tile(a, row, DIM_M, b, column, DIM_N, {.left = k, .right = k}, DIM_K_L2, c.elements[0], DIM_N);
#endif
}

/// Writes one tile of C, in the output type.
void drain(const accumulator_tile& c, output_type* target) {
#ifdef EPILOGUE_FUSED_CAST
    aie::set_rounding(aie::rounding_mode::floor);
#else
    aie::set_rounding(aie::rounding_mode::conv_even);
#endif
    for (unsigned m = 0; m < DIM_M; ++m)
        for (unsigned n = 0; n < DIM_N; n += register_lanes) {
            const aie::accum<accfloat, register_lanes> sum(aie::load_v<register_lanes>(&c.elements[m][n]));
            aie::store_v(target + std::size_t{m} * GEMM_N + n, sum.to_vector<output_type>());
        }
}

/// One launch iteration: what L2 holds of A and B is read by every core of the herd before the next part of K.
void run_segment(const aie_host::left_panel& a, const aie_host::right_panel& b, unsigned first_row,
                 unsigned first_column, output_type* c_matrix) {
    const auto tiles = std::make_unique<accumulator_tile[]>(HERD_M * HERD_N);  // zeros
    const auto each_core = [&](auto work) {
        for (unsigned x = 0; x < HERD_M; ++x)
            for (unsigned y = 0; y < HERD_N; ++y)
                work(first_row + x * DIM_M, first_column + y * DIM_N, tiles[x * HERD_N + y]);
    };
    for (unsigned k = 0; k < GEMM_K; k += DIM_K_L2)
        each_core([&](unsigned row, unsigned column, accumulator_tile& c) { matmul(a, b, row, column, k, c); });
    each_core([&](unsigned row, unsigned column, const accumulator_tile& c) {
        drain(c, c_matrix + std::size_t{row} * GEMM_N + column);
    });
}

}  // namespace

/// inputs: A[M,K], B[K,N] in bf16; output: C[M,N].
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a_matrix = static_cast<const bfloat16*>(inputs[0]);
    const auto* b_matrix = static_cast<const bfloat16*>(inputs[1]);
    auto* c_matrix = static_cast<output_type*>(output);

    aie_host::left_panel a(GEMM_M, GEMM_K);
    aie_host::right_panel b(GEMM_N, GEMM_K);
    aie_host::parallel_for(GEMM_M / aie_host::left_width, threads,
                           [&](unsigned strip) { aie_host::quantise_rows(a, a_matrix, GEMM_K, strip); });
    aie_host::parallel_for(GEMM_N / aie_host::right_width, threads,
                           [&](unsigned strip) { aie_host::quantise_columns(b, b_matrix, GEMM_N, strip); });

    constexpr aie_host::extent iterations{GEMM_M / DIM_M / HERD_M, GEMM_N / DIM_N / HERD_N};
    aie_host::launch_segments(iterations, threads, [&](aie_host::extent iteration) {
        run_segment(a, b, iteration.x * HERD_M * DIM_M, iteration.y * HERD_N * DIM_N, c_matrix);
    });
    return 0;
}
