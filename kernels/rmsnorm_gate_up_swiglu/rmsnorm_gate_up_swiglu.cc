// The first half of the fused decode MLP: swiglu[M] = silu(Gate * y) * (Up * y), with y = RMSNorm(x) * weight.
//
// Every core norms x for itself. K is split over the core rows of a cascade, whose FP32 sums are added from its head
// to its tail; the tail narrows Gate and Up to bf16 and gates in bf16, rounded at each step. Nothing sets the control
// register, so everything floors. Squares are rounded to bf16 before they are summed: they go through memory.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

#include <vector>

namespace {

constexpr unsigned vector_lanes = 16;
constexpr float eps = NORM_EPS;
constexpr unsigned depth = SWIGLU_K / CASCADE;
constexpr unsigned pairs_of_tile = TILE_M / 2;
constexpr bfloat16 one_half{0.5f};
constexpr bfloat16 one{1.0f};
using bf16_vector = aie::vector<bfloat16, vector_lanes>;

bfloat16 reciprocal_rms(const bfloat16* x) {
    auto squares = aie::zeros<accfloat, vector_lanes>();
    for (unsigned k = 0; k < SWIGLU_K; k += vector_lanes) {
        const auto lanes = aie::load_v<vector_lanes>(x + k);
        const bf16_vector rounded = aie::mul(lanes, lanes);
        squares = aie::add(squares, rounded);
    }
    const float mean = aie::reduce_add(squares.to_vector<float>()) / float(SWIGLU_K);
    return bfloat16(aie::invsqrt(mean + eps));
}

void normalise(const bfloat16* x, const bfloat16* weight, bfloat16* y) {
    const bfloat16 scale = reciprocal_rms(x);
    for (unsigned k = 0; k < SWIGLU_K; k += vector_lanes) {
        const bf16_vector scaled = aie::mul(aie::load_v<vector_lanes>(x + k), scale);
        const bf16_vector weighted = aie::mul(scaled, aie::load_v<vector_lanes>(weight + k));
        aie::store_v(y + k, weighted);
    }
}

/// What one core row of the cascade adds.
float partial_dot(const bfloat16* row, const bfloat16* y) {
    auto sums = aie::zeros<accfloat, vector_lanes>();
    for (unsigned k = 0; k < depth; k += vector_lanes)
        sums = aie::mac(sums, aie::load_v<vector_lanes>(row + k), aie::load_v<vector_lanes>(y + k));
    return aie::reduce_add(sums.to_vector<float>());
}

bfloat16 cascaded_dot(const bfloat16* row, const bfloat16* y) {
    float sum = partial_dot(row + (CASCADE - 1) * depth, y + (CASCADE - 1) * depth);
    for (unsigned core_row = CASCADE - 1; core_row-- > 0;) sum += partial_dot(row + core_row * depth, y + core_row * depth);
    return bfloat16(sum);
}

bfloat16 product(bfloat16 a, bfloat16 b) { return bfloat16(float(a) * float(b)); }

bfloat16 swiglu(bfloat16 gate, bfloat16 up) {
    const auto half_gate = aie::broadcast<float, vector_lanes>(float(product(gate, one_half)));
    const bfloat16 tanh = aie::tanh<bfloat16>(half_gate).get(0);
    const bfloat16 sigmoid = product(bfloat16(float(tanh) + float(one)), one_half);
    return product(product(gate, sigmoid), up);
}

}  // namespace

/// inputs: A[2M,K] (rows of Gate and Up in turn), x[K], weight[K] in bf16; output: swiglu[M] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* x = static_cast<const bfloat16*>(inputs[1]);
    const auto* weight = static_cast<const bfloat16*>(inputs[2]);
    auto* target = static_cast<bfloat16*>(output);

    std::vector<bfloat16> y(SWIGLU_K);
    aie::set_rounding(aie::rounding_mode::floor);
    normalise(x, weight, y.data());

    constexpr aie_host::extent iterations{2 * SWIGLU_M / (TILE_M * HERD_M), 1};
    aie_host::launch(iterations, {HERD_M, 1}, threads, [&](aie_host::core_position core) {
        const unsigned first = (core.launch_x * HERD_M + core.herd_x) * pairs_of_tile;
        for (unsigned pair = first; pair < first + pairs_of_tile; ++pair) {
            const bfloat16* gate = a + std::size_t{2} * pair * SWIGLU_K;
            target[pair] = swiglu(cascaded_dot(gate, y.data()), cascaded_dot(gate + SWIGLU_K, y.data()));
        }
    });
    return 0;
}
