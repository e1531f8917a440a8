// Opens the host AIE API to the tests: arrays in, arrays out, through ctypes.
#define AIE_API_EMULATE_BFLOAT16_MMUL_WITH_BFP16
#include <aie_api/aie.hpp>
#include <aie_host/flat_tiles.hpp>
#include <aie_host/mmul_grid.hpp>

namespace {

constexpr unsigned lanes = 16;

template <typename Operation>
void lanewise(const float* x, bfloat16* y, unsigned count, Operation operation) {
    for (unsigned i = 0; i < count; i += lanes) aie::store_v(y + i, operation(aie::load_v<lanes>(x + i)));
}

}  // namespace

extern "C" {

void probe_narrow(const float* x, bfloat16* y, unsigned count, int conv_even) {
    aie::set_rounding(conv_even ? aie::rounding_mode::conv_even : aie::rounding_mode::floor);
    lanewise(x, y, count, [](const auto& v) { return aie::accum<accfloat, lanes>(v).template to_vector<bfloat16>(); });
}

void probe_narrow_scalar(const float* x, bfloat16* y, unsigned count, int conv_even) {
    aie::set_rounding(conv_even ? aie::rounding_mode::conv_even : aie::rounding_mode::floor);
    for (unsigned i = 0; i < count; ++i) y[i] = bfloat16(x[i]);
}

void probe_exp2(const float* x, bfloat16* y, unsigned count) {
    lanewise(x, y, count, [](const auto& v) { return aie::exp2<bfloat16>(v); });
}

void probe_tanh(const float* x, bfloat16* y, unsigned count) {
    lanewise(x, y, count, [](const auto& v) { return aie::tanh<bfloat16>(v); });
}

float probe_reduce_add(const float* x) { return aie::reduce_add(aie::load_v<64>(x)); }

/// blocks[count][8] of FP32 holding bf16 values, quantised in place.
void probe_quantise(float* blocks, unsigned count) {
    for (unsigned block = 0; block < count; ++block) {
        aie::detail::block_lanes<4> values;
        for (unsigned i = 0; i < 8; ++i) values[i] = aie::detail::lanes<float, 4>{} + blocks[block * 8 + i];
        aie::detail::quantise<4>(values);
        for (unsigned i = 0; i < 8; ++i) blocks[block * 8 + i] = values[i][0];
    }
}

/// C[m,n] = A[m,k] B[k,n] as a grid of aie::mmul<8, 8, 8>, block by block.
void probe_mmul(const bfloat16* a, const bfloat16* b, float* c, unsigned m, unsigned k, unsigned n) {
    const auto block = [](const bfloat16* corner, unsigned stride) {
        aie::vector<bfloat16, 64> value;
        for (unsigned row = 0; row < 8; ++row) value.insert(row, aie::load_v<8>(corner + row * stride));
        return value;
    };
    for (unsigned row = 0; row < m; row += 8)
        for (unsigned column = 0; column < n; column += 8) {
            aie::mmul<8, 8, 8, bfloat16, bfloat16> unit;
            for (unsigned i = 0; i < k; i += 8) unit.mac(block(a + row * k + i, k), block(b + i * n + column, n));
            const auto result = unit.to_vector<float>();
            for (unsigned r = 0; r < 8; ++r) aie::store_v(c + (row + r) * n + column, result.template extract<8>(r));
        }
}

/// The same product on the tile engine, in steps of `depth` along K.
void probe_mac_tile(const bfloat16* a, const bfloat16* b, float* c, unsigned m, unsigned k, unsigned n, unsigned depth) {
    aie_host::left_panel left(m, k);
    aie_host::right_panel right(n, k);
    for (unsigned strip = 0; strip < m / aie_host::left_width; ++strip) aie_host::quantise_rows(left, a, k, strip);
    for (unsigned strip = 0; strip < n / aie_host::right_width; ++strip) aie_host::quantise_columns(right, b, n, strip);
    for (unsigned i = 0; i < k; i += depth)
        aie_host::mac_tile(left, 0, m, right, 0, n, {.left = i, .right = i}, depth, c, n);
}

/// Counts how often each element is visited by a flat launch, on `threads` threads.
void probe_launch_flat(unsigned* visits, unsigned elements, unsigned tile, unsigned herd_x, unsigned herd_y,
                       unsigned threads) {
    aie_host::launch_flat(elements, tile, {herd_x, herd_y}, threads, [&](std::size_t first) {
        for (unsigned i = 0; i < tile; ++i) __atomic_fetch_add(visits + first + i, 1u, __ATOMIC_RELAXED);
    });
}

/// The control register a core finds when it starts, after another one has changed it.
int probe_rounding_at_core_start() {
    bool always_floor = true;
    aie_host::launch({4, 1}, {2, 1}, 1, [&](aie_host::core_position) {
        always_floor = always_floor && aie::get_rounding() == aie::rounding_mode::floor;
        aie::set_rounding(aie::rounding_mode::conv_even);
    });
    return always_floor;
}

}  // extern "C"
