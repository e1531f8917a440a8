// FlashAttention with grouped queries: softmax(Q K^T / sqrt(dk)) V, one pass over the keys.
//
// A column of the array owns a tile of queries. Its cascade stages each take a contiguous share of
// the keys, in chunks of `lkp`, and carry per query a maximum, a denominator and an output row, all
// in bf16. The stages are then merged from the last to the first. Everything narrows to nearest even.
#include <aie_api/aie.hpp>
#include <aie_host/launch.hpp>
#include <aie_host/mmul_grid.hpp>

#include <numbers>
#include <vector>

namespace {

constexpr unsigned tile_queries = LQP / NUM_Q_TILES;
constexpr unsigned keys_per_stage = ATTN_LK / NUM_CASCADE_STAGES;
constexpr unsigned queries_per_kv_head = ATTN_HEADS / ATTN_KV_HEADS;
constexpr unsigned row_lanes = 16;
constexpr unsigned column_block = 8;  // the matrix unit's C block, whose lanes are summed apart

// exp(x / sqrt(dk)) is exp2(x * scale); a compile-time constant, so rounded to nearest.
constexpr double square_root_of_dk = [] {
    double root = dk_full;
    for (int i = 0; i < 40; ++i) root = 0.5 * (root + dk_full / root);
    return root;
}();
constexpr bfloat16 exponent_scale{std::numbers::log2e / square_root_of_dk};

// Masked scores are minus infinity; a maximum starts from the lowest number instead, so that a row
// with nothing but masked scores never subtracts two infinities.
constexpr bfloat16 minus_infinity = bfloat16::from_bits(0xFF80);
constexpr bfloat16 lowest = bfloat16::from_bits(0xFF7F);

using row_vector = aie::vector<bfloat16, row_lanes>;
using row_accum = aie::accum<accfloat, row_lanes>;

/// What a stage carries from chunk to chunk, per query.
struct stage_state {
    alignas(64) bfloat16 maximum[tile_queries];
    alignas(64) bfloat16 denominator[tile_queries];
    alignas(64) bfloat16 output[tile_queries][dv_full];
};

struct alignas(64) score_tile {
    bfloat16 elements[tile_queries][lkp];
};

/// K and V of one KV head, quantised once for all the queries that attend to it.
struct kv_panels {
    aie_host::right_panel keys{ATTN_LK, dk_full};
    aie_host::right_panel values{dv_full, ATTN_LK};
};

void clear(stage_state& state) {
    for (unsigned row = 0; row < tile_queries; ++row) {
        state.maximum[row] = lowest;
        state.denominator[row] = bfloat16();
        for (auto& element : state.output[row]) element = bfloat16();
    }
}

template <unsigned Columns>
void narrow_tile(const float (&wide)[tile_queries][Columns], bfloat16* target) {
    for (unsigned row = 0; row < tile_queries; ++row)
        for (unsigned n = 0; n < Columns; n += row_lanes)
            aie::store_v(target + row * Columns + n,
                         row_accum(aie::load_v<row_lanes>(wide[row] + n)).to_vector<bfloat16>());
}

template <unsigned Columns>
void widen_tile(const bfloat16* source, float (&wide)[tile_queries][Columns]) {
    for (unsigned row = 0; row < tile_queries; ++row)
        for (unsigned n = 0; n < Columns; n += row_lanes)
            aie::store_v(wide[row] + n, row_accum(aie::load_v<row_lanes>(source + row * Columns + n)).to_vector<float>());
}

/// scores = Q K^T for one chunk of keys. dk is taken in slices of lkp, with a bf16 score in between.
void score(const aie_host::left_panel& queries, const aie_host::right_panel& keys, unsigned first_key,
           score_tile& scores) {
    alignas(64) float sums[tile_queries][lkp] = {};
    for (unsigned slice = 0; slice < dk_full; slice += lkp) {
        if (slice > 0) widen_tile(scores.elements[0], sums);
        aie_host::mac_tile(queries, 0, tile_queries, keys, first_key, lkp, {.left = slice, .right = slice}, lkp, sums[0],
                           lkp);
        narrow_tile(sums, scores.elements[0]);
    }
}

/// Queries do not attend to later keys: columns beyond the diagonal become minus infinity.
void apply_causal_mask(unsigned first_query, unsigned first_key, score_tile& scores) {
    for (unsigned row = 0; row < tile_queries; ++row)
        for (unsigned column = 0; column < lkp; ++column)
            if (first_key + column > first_query + row) scores.elements[row][column] = minus_infinity;
}

/// exp of a difference of scores that is at most zero.
row_vector exponential(const row_vector& value, const row_vector& maximum) {
    const auto clamped =
        aie::max(aie::sub(value, maximum), aie::broadcast<bfloat16, row_lanes>(lowest));
    return aie::exp2<bfloat16>(aie::mul(clamped, exponent_scale).to_vector<float>());
}

bfloat16 row_maximum(const bfloat16* row) {
    auto largest = aie::load_v<row_lanes>(row);
    for (unsigned n = row_lanes; n < lkp; n += row_lanes) largest = aie::max(largest, aie::load_v<row_lanes>(row + n));
    return aie::reduce_max(largest);
}

/// Sum of a row in FP32: the columns of a block apart, then the block's lanes.
bfloat16 row_sum(const bfloat16* row) {
    auto sums = aie::zeros<accfloat, column_block>();
    for (unsigned n = 0; n < lkp; n += column_block) sums = aie::add(sums, aie::load_v<column_block>(row + n));
    return bfloat16(aie::reduce_add(sums.to_vector<float>()));
}

/// Turns scores into probabilities relative to the running maximum, updates maximum and
/// denominator, and gives the factor by which what was carried has to shrink.
void online_softmax(score_tile& scores, stage_state& state, bfloat16 (&rescale)[tile_queries]) {
    alignas(64) bfloat16 maximum[tile_queries];
    alignas(64) bfloat16 sums[tile_queries];
    for (unsigned row = 0; row < tile_queries; ++row) {
        bfloat16* elements = scores.elements[row];
        maximum[row] = std::max<float>(row_maximum(elements), state.maximum[row]);
        const auto row_max = aie::broadcast<bfloat16, row_lanes>(maximum[row]);
        for (unsigned n = 0; n < lkp; n += row_lanes)
            aie::store_v(elements + n, exponential(aie::load_v<row_lanes>(elements + n), row_max));
        sums[row] = row_sum(elements);
    }
    for (unsigned row = 0; row < tile_queries; row += row_lanes) {
        const auto now = aie::load_v<row_lanes>(maximum + row);
        const auto factor = exponential(aie::load_v<row_lanes>(state.maximum + row), now);
        const auto carried = aie::mul(factor, aie::load_v<row_lanes>(state.denominator + row));
        const auto denominator = aie::add(carried, aie::load_v<row_lanes>(sums + row));
        aie::store_v(rescale + row, factor);
        aie::store_v(state.maximum + row, now);
        aie::store_v(state.denominator + row, denominator.to_vector<bfloat16>());
    }
}

/// output = output * rescale + P V.
void accumulate_output(const score_tile& probabilities, const bfloat16 (&rescale)[tile_queries],
                       const aie_host::right_panel& values, unsigned first_key, aie_host::left_panel& p_panel,
                       stage_state& state) {
    alignas(64) float sums[tile_queries][dv_full];
    for (unsigned row = 0; row < tile_queries; ++row)
        for (unsigned n = 0; n < dv_full; n += row_lanes) {
            const auto shrunk = aie::mul(aie::load_v<row_lanes>(state.output[row] + n), rescale[row]);
            aie::store_v(sums[row] + n, row_accum(shrunk.to_vector<bfloat16>()).to_vector<float>());
        }
    for (unsigned strip = 0; strip < tile_queries / aie_host::left_width; ++strip)
        aie_host::quantise_rows(p_panel, probabilities.elements[0], lkp, strip);
    aie_host::mac_tile(p_panel, 0, tile_queries, values, 0, dv_full, {.left = 0, .right = first_key}, lkp, sums[0],
                       dv_full);
    narrow_tile(sums, state.output[0]);
}

/// One cascade stage: its share of the keys, chunk by chunk.
void run_stage(const aie_host::left_panel& queries, const kv_panels& kv, unsigned first_query, unsigned stage,
               aie_host::left_panel& p_panel, stage_state& state) {
    clear(state);
    for (unsigned key = stage * keys_per_stage; key < (stage + 1) * keys_per_stage; key += lkp) {
        // A chunk that is masked as a whole leaves the state as it is, bit for bit.
        if (ATTN_CAUSAL && key >= first_query + tile_queries) break;
        score_tile scores;
        score(queries, kv.keys, key, scores);
        if (ATTN_CAUSAL && key + lkp > first_query) apply_causal_mask(first_query, key, scores);
        alignas(64) bfloat16 rescale[tile_queries];
        online_softmax(scores, state, rescale);
        accumulate_output(scores, rescale, kv.values, key, p_panel, state);
    }
}

/// Merges what came down the cascade into this stage's state.
void merge(const stage_state& received, stage_state& state) {
    for (unsigned row = 0; row < tile_queries; row += row_lanes) {
        const auto own = aie::load_v<row_lanes>(state.maximum + row);
        const auto other = aie::load_v<row_lanes>(received.maximum + row);
        const auto maximum = aie::max(own, other);
        const auto own_factor = exponential(own, maximum);
        const auto other_factor = exponential(other, maximum);
        const row_vector other_share = aie::mul(aie::load_v<row_lanes>(received.denominator + row), other_factor);
        const auto own_share = aie::mul(aie::load_v<row_lanes>(state.denominator + row), own_factor);
        aie::store_v(state.maximum + row, maximum);
        aie::store_v(state.denominator + row, aie::add(own_share, other_share).to_vector<bfloat16>());
        for (unsigned i = 0; i < row_lanes; ++i)
            for (unsigned n = 0; n < dv_full; n += row_lanes) {
                bfloat16* target = state.output[row + i] + n;
                const row_vector from_own = aie::mul(aie::load_v<row_lanes>(target), own_factor.get(i));
                const row_vector from_other =
                    aie::mul(aie::load_v<row_lanes>(received.output[row + i] + n), other_factor.get(i));
                aie::store_v(target, aie::add(from_own, from_other));
            }
    }
}

/// output / denominator, into the caller's buffer.
void normalise(const stage_state& state, bfloat16* target) {
    for (unsigned row = 0; row < tile_queries; ++row) {
        const bfloat16 reciprocal(aie::inv(float(state.denominator[row])));
        for (unsigned n = 0; n < dv_full; n += row_lanes)
            aie::store_v(target + std::size_t{row} * dv_full + n,
                         aie::mul(aie::load_v<row_lanes>(state.output[row] + n), reciprocal).to_vector<bfloat16>());
    }
}

/// One column of the array: a tile of queries of one head.
void run_column(const bfloat16* queries, const kv_panels& kv, unsigned first_query, bfloat16* target) {
    aie::set_rounding(aie::rounding_mode::conv_even);
    aie_host::left_panel q_panel(tile_queries, dk_full);
    aie_host::left_panel p_panel(tile_queries, lkp);
    for (unsigned strip = 0; strip < tile_queries / aie_host::left_width; ++strip)
        aie_host::quantise_rows(q_panel, queries, dk_full, strip);
    stage_state state, received;
    run_stage(q_panel, kv, first_query, NUM_CASCADE_STAGES - 1, p_panel, state);
    for (unsigned stage = NUM_CASCADE_STAGES - 1; stage-- > 0;) {
        std::swap(state, received);
        run_stage(q_panel, kv, first_query, stage, p_panel, state);
        merge(received, state);
    }
    normalise(state, target);
}

}  // namespace

/// inputs: Q[heads, LQ, dk], K[kv_heads, LK, dk], V[kv_heads, LK, dv] in bf16; output: [heads, LQ, dv] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* q = static_cast<const bfloat16*>(inputs[0]);
    const auto* k = static_cast<const bfloat16*>(inputs[1]);
    const auto* v = static_cast<const bfloat16*>(inputs[2]);
    auto* out = static_cast<bfloat16*>(output);

    std::vector<kv_panels> kv(ATTN_KV_HEADS);
    constexpr unsigned key_strips = ATTN_LK / aie_host::right_width;
    constexpr unsigned value_strips = dv_full / aie_host::right_width;
    aie_host::parallel_for(ATTN_KV_HEADS * (key_strips + value_strips), threads, [&](unsigned index) {
        const unsigned head = index / (key_strips + value_strips), strip = index % (key_strips + value_strips);
        if (strip < key_strips)
            aie_host::quantise_rows(kv[head].keys, k + std::size_t{head} * ATTN_LK * dk_full, dk_full, strip);
        else
            aie_host::quantise_columns(kv[head].values, v + std::size_t{head} * ATTN_LK * dv_full, dv_full,
                                       strip - key_strips);
    });

    constexpr aie_host::extent iterations{ATTN_HEADS / NUM_HEADS_PER_UNROLL, ATTN_LQ / LQP};
    aie_host::launch(iterations, {NUM_HEADS_PER_UNROLL, NUM_Q_TILES}, threads, [&](aie_host::core_position core) {
        const unsigned head = core.launch_x * NUM_HEADS_PER_UNROLL + core.herd_x;
        const unsigned first_query = core.launch_y * LQP + core.herd_y * tile_queries;
        const std::size_t row = std::size_t{head} * ATTN_LQ + first_query;
        run_column(q + row * dk_full, kv[head / queries_per_kv_head], first_query, out + row * dv_full);
    });
    return 0;
}
