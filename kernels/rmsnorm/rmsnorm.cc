// Weighted RMSNorm, row by row: x / sqrt(mean(x^2) + eps) * weight.
//
// Squares are summed unrounded in FP32; the scaling that follows is in bf16, rounded at each step.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

namespace {

constexpr unsigned vector_lanes = 16;
constexpr float eps = NORM_EPS;

/// 1 / sqrt(mean of squares + eps), narrowed to bf16.
bfloat16 reciprocal_rms(const bfloat16* row) {
    auto squares = aie::zeros<accfloat, vector_lanes>();
    for (unsigned n = 0; n < NORM_N; n += vector_lanes) {
        const auto x = aie::load_v<vector_lanes>(row + n);
        squares = aie::mac(squares, x, x);
    }
    const float mean = aie::reduce_add(squares.to_vector<float>()) / float(NORM_N);
    return bfloat16(aie::invsqrt(mean + eps));
}

void normalise(const bfloat16* row, const bfloat16* weight, bfloat16* target) {
    const bfloat16 scale = reciprocal_rms(row);
    for (unsigned n = 0; n < NORM_N; n += vector_lanes) {
        const aie::vector<bfloat16, vector_lanes> scaled = aie::mul(aie::load_v<vector_lanes>(row + n), scale);
        const aie::vector<bfloat16, vector_lanes> weighted = aie::mul(scaled, aie::load_v<vector_lanes>(weight + n));
        aie::store_v(target + n, weighted);
    }
}

}  // namespace

/// inputs: x[M,N], weight[N] in bf16; output: [M,N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* x = static_cast<const bfloat16*>(inputs[0]);
    const auto* weight = static_cast<const bfloat16*>(inputs[1]);
    auto* y = static_cast<bfloat16*>(output);

    constexpr unsigned rows_per_tile = NORM_M / HERD_X;
    aie_host::launch({1, 1}, {HERD_X, 1}, threads, [&](aie_host::core_position core) {
        for (unsigned row = core.herd_x * rows_per_tile; row < (core.herd_x + 1) * rows_per_tile; ++row)
            normalise(x + std::size_t{row} * NORM_N, weight, y + std::size_t{row} * NORM_N);
    });
    return 0;
}
