// Half-split RoPE: element i of a row is rotated with element i + head_dim / 2.
//
// Products and their sum stay in FP32; each output is rounded once.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

namespace {

constexpr unsigned vector_lanes = 16;
constexpr unsigned half = ROPE_HEAD_DIM / 2;

/// One row, with its row of the table: cosines, then sines.
void rotate(const bfloat16* row, const bfloat16* table, bfloat16* target) {
    for (unsigned i = 0; i < half; i += vector_lanes) {
        const auto first = aie::load_v<vector_lanes>(row + i);
        const auto second = aie::load_v<vector_lanes>(row + half + i);
        const auto cosine = aie::load_v<vector_lanes>(table + i);
        const auto sine = aie::load_v<vector_lanes>(table + half + i);
        const aie::vector<bfloat16, vector_lanes> rotated_first =
            aie::sub(aie::mul(first, cosine), aie::mul(second, sine));
        const aie::vector<bfloat16, vector_lanes> rotated_second =
            aie::add(aie::mul(first, sine), aie::mul(second, cosine));
        aie::store_v(target + i, rotated_first);
        aie::store_v(target + half + i, rotated_second);
    }
}

}  // namespace

/// inputs: x[rows * head_dim], table[rows * head_dim] in bf16; output: [rows * head_dim] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* x = static_cast<const bfloat16*>(inputs[0]);
    const auto* table = static_cast<const bfloat16*>(inputs[1]);
    auto* y = static_cast<bfloat16*>(output);

    constexpr unsigned rows_per_tile = ROPE_ROWS / (HERD_X * HERD_Y);
    aie_host::launch({1, 1}, {HERD_X, HERD_Y}, threads, [&](aie_host::core_position core) {
        const std::size_t first_row = (core.herd_x * HERD_Y + core.herd_y) * rows_per_tile;
        for (std::size_t row = first_row; row < first_row + rows_per_tile; ++row)
            rotate(x + row * ROPE_HEAD_DIM, table + row * ROPE_HEAD_DIM, y + row * ROPE_HEAD_DIM);
    });
    return 0;
}
