// GEMV with a residual: D[M] = A[M,K] * x[K] + R[M], the O and Down projections of the fused decode step.
//
// The partial sums are bf16 in L1: each DIM_K of K is summed in FP32, in 32 lanes and a halving tree, added to what
// is there and rounded to nearest even. The tile that adds the residual never touches its control register.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

namespace {

constexpr unsigned vector_lanes = 32;

/// partial += A * x over DIM_K of K.
void matvec(const bfloat16* a, const bfloat16* x, bfloat16* partial) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    for (unsigned row = 0; row < DIM_M; ++row) {
        auto sums = aie::zeros<accfloat, vector_lanes>();
        for (unsigned k = 0; k < DIM_K; k += vector_lanes)
            sums = aie::mac(sums, aie::load_v<vector_lanes>(a + std::size_t{row} * GEMV_K + k),
                            aie::load_v<vector_lanes>(x + k));
        partial[row] = bfloat16(float(partial[row]) + aie::reduce_add(sums.to_vector<float>()));
    }
}

void add_residual(const bfloat16* partial, const bfloat16* residual, bfloat16* target) {
    aie::set_rounding(aie::rounding_mode::floor);
    for (unsigned row = 0; row < DIM_M; ++row) target[row] = bfloat16(float(partial[row]) + float(residual[row]));
}

}  // namespace

/// inputs: A[M,K], x[K], R[M] in bf16; output: D[M] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* x = static_cast<const bfloat16*>(inputs[1]);
    const auto* residual = static_cast<const bfloat16*>(inputs[2]);
    auto* target = static_cast<bfloat16*>(output);

    constexpr aie_host::extent iterations{GEMV_M / (DIM_M * HERD_M), 1};
    aie_host::launch(iterations, {HERD_M, 1}, threads, [&](aie_host::core_position core) {
        const unsigned row = (core.launch_x * HERD_M + core.herd_x) * DIM_M;
        bfloat16 partial[DIM_M] = {};
        for (unsigned k = 0; k < GEMV_K; k += DIM_K) matvec(a + std::size_t{row} * GEMV_K + k, x + k, partial);
        add_residual(partial, residual + row, target + row);
    });
    return 0;
}
