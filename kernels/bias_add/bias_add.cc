// Broadcast add: every row of x plus the bias, the sum in FP32, rounded once.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>

namespace {

constexpr unsigned vector_lanes = 16;

void add_bias(const bfloat16* row, const bfloat16* bias, bfloat16* sum) {
    for (unsigned n = 0; n < ADD_N; n += vector_lanes)
        aie::store_v(sum + n, aie::add(aie::load_v<vector_lanes>(row + n), aie::load_v<vector_lanes>(bias + n)));
}

}  // namespace

/// inputs: x[M,N], bias[N] in bf16; output: [M,N] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* x = static_cast<const bfloat16*>(inputs[0]);
    const auto* bias = static_cast<const bfloat16*>(inputs[1]);
    auto* sum = static_cast<bfloat16*>(output);

    constexpr unsigned rows_per_tile = ADD_M / HERD_X;
    aie_host::launch({1, 1}, {HERD_X, 1}, threads, [&](aie_host::core_position core) {
        for (unsigned row = core.herd_x * rows_per_tile; row < (core.herd_x + 1) * rows_per_tile; ++row)
            add_bias(x + std::size_t{row} * ADD_N, bias, sum + std::size_t{row} * ADD_N);
    });
    return 0;
}
