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

#include <cstring>

#ifdef EPILOGUE_NONE
using output_type = float;
#else
using output_type = bfloat16;
#endif

namespace {

constexpr unsigned register_lanes = 16;
constexpr unsigned segment_rows = HERD_M * DIM_M;
constexpr unsigned segment_columns = HERD_N * DIM_N;

/// The tiles of one column of the herd, below each other: its cores read the same part of B.
struct accumulator_column {
    float elements[segment_rows][DIM_N];
};

#ifdef EPILOGUE_PER_K_TILE
/// Narrows the partial sums of one core to bf16 where they stand, as a bf16 accumulator in L1 does.
void round_in_place(float (&tile)[DIM_M][DIM_N]) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    for (auto& row : tile)
        for (unsigned n = 0; n < DIM_N; n += register_lanes) {
            const aie::accum<accfloat, register_lanes> sum(aie::load_v<register_lanes>(row + n));
            const aie::accum<accfloat, register_lanes> rounded(sum.to_vector<bfloat16>());
            aie::store_v(row + n, rounded.to_vector<float>());
        }
}
#endif

/// Writes the tiles of one column of the herd, in the output type.
void drain(const accumulator_column& c, output_type* target) {
#ifdef EPILOGUE_FUSED_CAST
    aie::set_rounding(aie::rounding_mode::floor);
#else
    aie::set_rounding(aie::rounding_mode::conv_even);
#endif
    for (unsigned m = 0; m < segment_rows; ++m)
        for (unsigned n = 0; n < DIM_N; n += register_lanes) {
            const aie::accum<accfloat, register_lanes> sum(aie::load_v<register_lanes>(&c.elements[m][n]));
            aie::store_v(target + std::size_t{m} * GEMM_N + n, sum.to_vector<output_type>());
        }
}

/// Plays launch iterations one after the other. B is quantised already; a block of rows of A is when the first
/// iteration that reads it comes, and stays for those that follow.
class segment_player {
public:
    segment_player(const bfloat16* a_matrix, const aie_host::right_panel& b, output_type* c_matrix)
        : a_matrix_(a_matrix), a_(segment_rows, GEMM_K), b_(b), c_matrix_(c_matrix),
          column_(aie_host::make_large_buffer<accumulator_column>(1)) {}

    void operator()(aie_host::extent iteration) {
        const unsigned first_row = iteration.x * segment_rows;
        const unsigned first_column = iteration.y * segment_columns;
        if (first_row != staged_row_) stage_rows(first_row);
        for (unsigned n = 0; n < segment_columns; n += DIM_N) {
            std::memset(column_.get(), 0, sizeof column_[0]);
            for (unsigned k = 0; k < GEMM_K; k += DIM_K_L2) matmul(first_column + n, k);
            drain(column_[0], c_matrix_ + std::size_t{first_row} * GEMM_N + first_column + n);
        }
    }

private:
    static constexpr unsigned nothing_staged = ~0u;

    void stage_rows(unsigned first_row) {
        for (unsigned strip = 0; strip < segment_rows / aie_host::left_width; ++strip)
            aie_host::quantise_rows(a_, a_matrix_ + std::size_t{first_row} * GEMM_K, GEMM_K, strip);
        staged_row_ = first_row;
    }

    /// Accumulates one column of the herd over what L2 holds of K.
    void matmul(unsigned column, unsigned k) {
        accumulator_column& c = column_[0];
#ifdef EPILOGUE_PER_K_TILE
        for (unsigned m = 0; m < segment_rows; m += DIM_M) {
            auto& tile = reinterpret_cast<float(&)[DIM_M][DIM_N]>(c.elements[m]);
            for (unsigned step = k; step < k + DIM_K_L2; step += DIM_K) {
                mac(tile[0], m, DIM_M, column, step, DIM_K);
                round_in_place(tile);
            }
        }
#else
        mac(c.elements[0], 0, segment_rows, column, k, DIM_K_L2);
#endif
    }

    void mac(float* c, unsigned row, unsigned rows, unsigned column, unsigned k, unsigned depth) {
        aie_host::mac_tile(a_, row, rows, b_, column, DIM_N, {.left = k, .right = k}, depth, c, DIM_N);
    }

    const bfloat16* a_matrix_;
    aie_host::left_panel a_;
    const aie_host::right_panel& b_;
    output_type* c_matrix_;
    aie_host::large_buffer<accumulator_column> column_;
    unsigned staged_row_ = nothing_staged;
};

}  // namespace

/// inputs: A[M,K], B[K,N] in bf16; output: C[M,N].
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a_matrix = static_cast<const bfloat16*>(inputs[0]);
    const auto* b_matrix = static_cast<const bfloat16*>(inputs[1]);
    auto* c_matrix = static_cast<output_type*>(output);

    aie_host::right_panel b(GEMM_N, GEMM_K);
    aie_host::parallel_for(GEMM_N / aie_host::right_width, threads,
                           [&](unsigned strip) { aie_host::quantise_columns(b, b_matrix, GEMM_N, strip); });

    constexpr aie_host::extent iterations{GEMM_M / segment_rows, GEMM_N / segment_columns};
    aie_host::launch_segments(iterations, threads, [&] { return segment_player(a_matrix, b, c_matrix); });
    return 0;
}
