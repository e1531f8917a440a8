// GEMV on the vector unit: C[M] = A[M,K] * x[K], FP32 accumulation in 64 lanes along K, in order,
// then a halving tree over the lanes and one cast to nearest even.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

namespace {

constexpr unsigned vector_lanes = 64;

/// One call of the kernel: DIM_M_INPUT rows of A, in L1, against all of x.
void matvec(const bfloat16* a, const bfloat16* x, bfloat16* c) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    for (unsigned row = 0; row < DIM_M_INPUT; ++row) {
        auto sums = aie::zeros<accfloat, vector_lanes>();
        for (unsigned k = 0; k < GEMV_K; k += vector_lanes)
            sums = aie::mac(sums, aie::load_v<vector_lanes>(a + std::size_t{row} * GEMV_K + k),
                            aie::load_v<vector_lanes>(x + k));
        c[row] = bfloat16(aie::reduce_add(sums.to_vector<float>()));
    }
}

}  // namespace

/// inputs: A[M,K], x[K] in bf16; output: C[M] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* x = static_cast<const bfloat16*>(inputs[1]);
    auto* c = static_cast<bfloat16*>(output);

    constexpr aie_host::extent iterations{GEMV_M / (DIM_M * HERD_M), 1};
    aie_host::launch(iterations, {HERD_M, 1}, threads, [&](aie_host::core_position core) {
        const unsigned first_row = (core.launch_x * HERD_M + core.herd_x) * DIM_M;
        for (unsigned row = first_row; row < first_row + DIM_M; row += DIM_M_INPUT)
            matvec(a + std::size_t{row} * GEMV_K, x, c + row);
    });
    return 0;
}
