// Drives a half-split RoPE microkernel that was written for the device, one row of head_dim a call.
#include <cstdint>

#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

extern "C" void rope(bfloat16* row, bfloat16* table, bfloat16* rotated, int32_t dims);

namespace {

constexpr unsigned tiles = HERD_X * HERD_Y;

/// L1 of one core.
struct alignas(64) core_memory {
    bfloat16 row[ROPE_HEAD_DIM];
    bfloat16 table[ROPE_HEAD_DIM];
    bfloat16 rotated[ROPE_HEAD_DIM];
};

}  // namespace

/// inputs: x[rows * head_dim], table[rows * head_dim] in bf16; output: [rows * head_dim] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* x = static_cast<const bfloat16*>(inputs[0]);
    const auto* table = static_cast<const bfloat16*>(inputs[1]);
    auto* y = static_cast<bfloat16*>(output);

    // Rows are dealt to the tiles in turn.
    aie_host::launch({1, 1}, {HERD_X, HERD_Y}, threads, [&](aie_host::core_position core) {
        core_memory l1;
        for (std::size_t row = core.herd_x * HERD_Y + core.herd_y; row < ROPE_ROWS / tiles * tiles; row += tiles) {
            std::copy_n(x + row * ROPE_HEAD_DIM, ROPE_HEAD_DIM, l1.row);
            std::copy_n(table + row * ROPE_HEAD_DIM, ROPE_HEAD_DIM, l1.table);
            rope(l1.row, l1.table, l1.rotated, ROPE_HEAD_DIM);
            std::copy_n(l1.rotated, ROPE_HEAD_DIM, y + row * ROPE_HEAD_DIM);
        }
    });
    return 0;
}
