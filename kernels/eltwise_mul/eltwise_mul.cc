// Element-wise multiply: the product is exact in FP32 and rounded once.
#include <aie_api/aie.hpp>
#include <aie_host/flat_tiles.hpp>

namespace {

constexpr unsigned vector_lanes = 16;

void multiply_tile(const bfloat16* a, const bfloat16* b, bfloat16* product) {
    for (unsigned i = 0; i < TILE_N; i += vector_lanes) {
        const aie::vector<bfloat16, vector_lanes> rounded =
            aie::mul(aie::load_v<vector_lanes>(a + i), aie::load_v<vector_lanes>(b + i));
        aie::store_v(product + i, rounded);
    }
}

}  // namespace

/// inputs: a[N], b[N] in bf16; output: [N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* b = static_cast<const bfloat16*>(inputs[1]);
    auto* product = static_cast<bfloat16*>(output);
    aie_host::launch_flat(ELEMENTS, TILE_N, {HERD_X, 1}, threads,
                          [&](std::size_t first) { multiply_tile(a + first, b + first, product + first); });
    return 0;
}
