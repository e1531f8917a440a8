// Affine LayerNorm, row by row: (x - mean) / sqrt(variance + eps) * weight + bias.
//
// Both sums are in FP32. The bias is added to the unrounded product: the compiler folds the narrowing
// and widening between a multiply and an add away.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

namespace {

constexpr unsigned vector_lanes = 16;
constexpr float eps = NORM_EPS;
using row_vector = aie::vector<bfloat16, vector_lanes>;

bfloat16 row_mean(const bfloat16* row) {
    auto sums = aie::zeros<accfloat, vector_lanes>();
    for (unsigned n = 0; n < NORM_N; n += vector_lanes) sums = aie::add(sums, aie::load_v<vector_lanes>(row + n));
    return bfloat16(aie::reduce_add(sums.to_vector<float>()) / float(NORM_N));
}

row_vector centred(const bfloat16* row, const row_vector& mean) {
    return aie::sub(aie::load_v<vector_lanes>(row), mean);
}

bfloat16 reciprocal_deviation(const bfloat16* row, const row_vector& mean) {
    auto squares = aie::zeros<accfloat, vector_lanes>();
    for (unsigned n = 0; n < NORM_N; n += vector_lanes) {
        const row_vector difference = centred(row + n, mean);
        squares = aie::mac(squares, difference, difference);
    }
    const float variance = aie::reduce_add(squares.to_vector<float>()) / float(NORM_N);
    return bfloat16(aie::invsqrt(variance + eps));
}

void normalise(const bfloat16* row, const bfloat16* weight, const bfloat16* bias, bfloat16* target) {
    const auto mean = aie::broadcast<bfloat16, vector_lanes>(row_mean(row));
    const bfloat16 scale = reciprocal_deviation(row, mean);
    for (unsigned n = 0; n < NORM_N; n += vector_lanes) {
        const row_vector scaled = aie::mul(centred(row + n, mean), scale);
        const auto weighted = aie::mul(scaled, aie::load_v<vector_lanes>(weight + n));
        aie::store_v(target + n, aie::add(weighted, aie::load_v<vector_lanes>(bias + n)).to_vector<bfloat16>());
    }
}

}  // namespace

/// inputs: x[M,N], parameters[2N] (weight, then bias) in bf16; output: [M,N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* x = static_cast<const bfloat16*>(inputs[0]);
    const auto* weight = static_cast<const bfloat16*>(inputs[1]);
    const auto* bias = weight + NORM_N;
    auto* y = static_cast<bfloat16*>(output);

    constexpr unsigned rows_per_tile = NORM_M / HERD_X;
    aie_host::launch({1, 1}, {HERD_X, 1}, threads, [&](aie_host::core_position core) {
        for (unsigned row = core.herd_x * rows_per_tile; row < (core.herd_x + 1) * rows_per_tile; ++row)
            normalise(x + std::size_t{row} * NORM_N, weight, bias, y + std::size_t{row} * NORM_N);
    });
    return 0;
}
