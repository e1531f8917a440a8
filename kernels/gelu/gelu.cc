// GELU, tanh form: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), on the tanh unit.
//
// A bf16 product that feeds a multiply or the tanh unit is rounded; one that feeds an add is not.
#include <aie_api/aie.hpp>
#include <aie_host/flat_tiles.hpp>

namespace {

constexpr unsigned vector_lanes = 16;
constexpr bfloat16 one_half{0.5f};
constexpr bfloat16 one{1.0f};
constexpr bfloat16 square_root_of_2_over_pi{0.7978845608};
constexpr bfloat16 cubic_coefficient{0.044715};
using bf16_vector = aie::vector<bfloat16, vector_lanes>;
using fp32_accum = aie::accum<accfloat, vector_lanes>;

bf16_vector tanh_argument(const bf16_vector& x) {
    const bf16_vector square = aie::mul(x, x);
    const bf16_vector cube = aie::mul(square, x);
    const bf16_vector inner = aie::add(aie::mul(cube, cubic_coefficient), x);
    return aie::mul(inner, square_root_of_2_over_pi);
}

void gelu_tile(const bfloat16* source, bfloat16* target) {
    for (unsigned i = 0; i < TILE_N; i += vector_lanes) {
        const auto x = aie::load_v<vector_lanes>(source + i);
        const auto tanh = aie::tanh<bfloat16>(fp32_accum(tanh_argument(x)).to_vector<float>());
        const bf16_vector shifted = aie::add(aie::broadcast<bfloat16, vector_lanes>(one), tanh);
        const bf16_vector half_x = aie::mul(x, one_half);
        const bf16_vector result = aie::mul(half_x, shifted);
        aie::store_v(target + i, result);
    }
}

}  // namespace

/// inputs: x[N] in bf16; output: [N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* x = static_cast<const bfloat16*>(inputs[0]);
    auto* target = static_cast<bfloat16*>(output);
    aie_host::launch_flat(ELEMENTS, TILE_N, {HERD_X, HERD_Y}, threads,
                          [&](std::size_t first) { gelu_tile(x + first, target + first); });
    return 0;
}
