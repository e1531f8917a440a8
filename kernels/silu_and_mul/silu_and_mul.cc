// SiLU-and-Mul: silu(gate) * up, with silu(g) = g * (1 + tanh(g / 2)) / 2 on the tanh unit.
//
// Every intermediate is a bf16 vector, so every step rounds.
#include <aie_api/aie.hpp>
#include <aie_host/flat_tiles.hpp>

namespace {

constexpr unsigned vector_lanes = 16;
constexpr bfloat16 one_half{0.5f};
constexpr bfloat16 one{1.0f};
using bf16_vector = aie::vector<bfloat16, vector_lanes>;
using fp32_accum = aie::accum<accfloat, vector_lanes>;

bf16_vector sigmoid(const bf16_vector& x) {
    const bf16_vector half_x = aie::mul(x, one_half);
    const auto tanh = aie::tanh<bfloat16>(fp32_accum(half_x).to_vector<float>());
    const bf16_vector shifted = aie::add(aie::broadcast<bfloat16, vector_lanes>(one), tanh);
    return aie::mul(shifted, one_half);
}

void silu_and_mul_tile(const bfloat16* gate, const bfloat16* up, bfloat16* target) {
    for (unsigned i = 0; i < TILE_N; i += vector_lanes) {
        const auto g = aie::load_v<vector_lanes>(gate + i);
        const bf16_vector silu = aie::mul(g, sigmoid(g));
        const bf16_vector product = aie::mul(silu, aie::load_v<vector_lanes>(up + i));
        aie::store_v(target + i, product);
    }
}

}  // namespace

/// inputs: gate[N], up[N] in bf16; output: [N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* gate = static_cast<const bfloat16*>(inputs[0]);
    const auto* up = static_cast<const bfloat16*>(inputs[1]);
    auto* target = static_cast<bfloat16*>(output);
    aie_host::launch_flat(ELEMENTS, TILE_N, {HERD_X, HERD_Y}, threads, [&](std::size_t first) {
        silu_and_mul_tile(gate + first, up + first, target + first);
    });
    return 0;
}
