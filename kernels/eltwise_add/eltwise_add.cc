// Element-wise add: the sum in FP32, rounded once.
#include <aie_api/aie.hpp>
#include <aie_host/flat_tiles.hpp>

namespace {

constexpr unsigned vector_lanes = 16;

void add_tile(const bfloat16* a, const bfloat16* b, bfloat16* sum) {
    for (unsigned i = 0; i < TILE_N; i += vector_lanes)
        aie::store_v(sum + i, aie::add(aie::load_v<vector_lanes>(a + i), aie::load_v<vector_lanes>(b + i)));
}

}  // namespace

/// inputs: a[N], b[N] in bf16; output: [N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* a = static_cast<const bfloat16*>(inputs[0]);
    const auto* b = static_cast<const bfloat16*>(inputs[1]);
    auto* sum = static_cast<bfloat16*>(output);
    aie_host::launch_flat(ELEMENTS, TILE_N, {HERD_X, HERD_Y}, threads,
                          [&](std::size_t first) { add_tile(a + first, b + first, sum + first); });
    return 0;
}
