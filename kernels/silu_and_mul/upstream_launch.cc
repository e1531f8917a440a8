// Drives a SiLU-and-Mul microkernel that was written for the device, one tile a call.
#include <cstdint>

#include <aie_api/aie.hpp>
#include <aie_host/flat_tiles.hpp>

extern "C" void silu_and_mul_bf16(bfloat16* gate, bfloat16* up, bfloat16* target, int32_t elements);

namespace {

/// L1 of one core.
struct alignas(64) core_memory {
    bfloat16 gate[TILE_N];
    bfloat16 up[TILE_N];
    bfloat16 target[TILE_N];
};

}  // namespace

/// inputs: gate[N], up[N] in bf16; output: [N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* gate = static_cast<const bfloat16*>(inputs[0]);
    const auto* up = static_cast<const bfloat16*>(inputs[1]);
    auto* target = static_cast<bfloat16*>(output);
    aie_host::launch_flat(ELEMENTS, TILE_N, {HERD_X, HERD_Y}, threads, [&](std::size_t first) {
        core_memory l1;
        std::copy_n(gate + first, TILE_N, l1.gate);
        std::copy_n(up + first, TILE_N, l1.up);
        silu_and_mul_bf16(l1.gate, l1.up, l1.target, TILE_N);
        std::copy_n(l1.target, TILE_N, target + first);
    });
    return 0;
}
