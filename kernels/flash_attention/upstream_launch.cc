// Drives FlashAttention microkernels that were written for the device.
//
// A core is one cascade stage of one tile of queries and owns a contiguous share of the keys. It calls the
// microkernels chunk by chunk; then the stages are merged from the last to the first. Everything but the
// row vectors lies in 8 x 8 blocks, along the columns. Head dimensions wider than lkp come in slices of lkp:
// dk's are added up in the scores, dv's are launches of their own.
#include <cstdint>
#include <utility>

#include <aie_api/aie.hpp>
#include <aie_host/blocks.hpp>
#include <aie_host/launch.hpp>

extern "C" {
void zero_fill_gp_bf16(bfloat16* output);
void zero_fill_sp_bf16(bfloat16* denominator);
void neg_inf_fill_up_bf16(bfloat16* maximum);
void zero_fill_g_bf16(bfloat16* scores);
void matmul_a_b_bf16(bfloat16* queries, bfloat16* keys, bfloat16* scores);
void matmul_g_b_bf16(bfloat16* probabilities, bfloat16* values, bfloat16* output);
void apply_causal_mask(bfloat16* scores, int32_t query_block, int32_t key_block);
void fused_softmax(bfloat16* scores, bfloat16* maximum, bfloat16* sums, bfloat16* rescale);
void mul_r_gp(bfloat16* rescale, bfloat16* output);
void accum_sp_r_s(bfloat16* denominator, bfloat16* rescale, bfloat16* sums);
void vector_copy_32elems(int offset, const bfloat16* from, bfloat16* to);
void maximum_up_u_bf16(bfloat16* other, bfloat16* maximum);
void exp_up_minus_u(bfloat16* from, bfloat16* to, bfloat16* factor);
void add_gp_g(bfloat16* addend, bfloat16* sum);
void div_gp_sp(bfloat16* denominator, bfloat16* output);
}

namespace {

constexpr unsigned tile_queries = LQP / NUM_Q_TILES;
constexpr unsigned dk_slices = dk_full / lkp;
constexpr unsigned dv_slices = dv_full / lkp;
constexpr unsigned chunks_per_stage = ATTN_LK / lkp / NUM_CASCADE_STAGES;
constexpr unsigned queries_per_kv_head = ATTN_HEADS / ATTN_KV_HEADS;
constexpr auto by_columns = aie_host::block_order::along_columns;

using row_values = bfloat16[tile_queries];

/// What a stage carries from chunk to chunk, and sends down the cascade.
struct alignas(64) stage_state {
    bfloat16 output[tile_queries * lkp];
    alignas(64) row_values maximum;
    alignas(64) row_values denominator;
};

/// The rest of a core's L1.
struct alignas(64) core_memory {
    bfloat16 queries[dk_slices][tile_queries * lkp];
    bfloat16 keys[lkp * lkp];
    bfloat16 values[lkp * lkp];
    bfloat16 scores[tile_queries * lkp];
    alignas(64) row_values sums;
    alignas(64) row_values rescale;
};

/// K and V of one head, V from the slice of dv on.
struct kv_head {
    const bfloat16* keys;
    const bfloat16* values;
};

/// One chunk of keys.
void run_chunk(const kv_head& kv, unsigned chunk, unsigned query_block, core_memory& l1, stage_state& state) {
    const std::size_t first_key = std::size_t{chunk} * lkp;
    zero_fill_g_bf16(l1.scores);
    for (unsigned slice = 0; slice < dk_slices; ++slice) {
        aie_host::to_blocks(kv.keys + first_key * dk_full + slice * lkp, dk_full, lkp, lkp, by_columns, l1.keys);
        matmul_a_b_bf16(l1.queries[slice], l1.keys, l1.scores);
    }
    aie_host::to_blocks(kv.values + first_key * dv_full, dv_full, lkp, lkp, by_columns, l1.values);
    if (ATTN_CAUSAL) apply_causal_mask(l1.scores, query_block, chunk);
    fused_softmax(l1.scores, state.maximum, l1.sums, l1.rescale);
    mul_r_gp(l1.rescale, state.output);
    matmul_g_b_bf16(l1.scores, l1.values, state.output);
    accum_sp_r_s(state.denominator, l1.rescale, l1.sums);
    vector_copy_32elems(0, l1.sums, state.denominator);
}

void run_stage(const kv_head& kv, unsigned stage, unsigned query_block, core_memory& l1, stage_state& state) {
    zero_fill_gp_bf16(state.output);
    zero_fill_sp_bf16(state.denominator);
    neg_inf_fill_up_bf16(state.maximum);
    for (unsigned chunk = stage * chunks_per_stage; chunk < (stage + 1) * chunks_per_stage; ++chunk)
        run_chunk(kv, chunk, query_block, l1, state);
}

/// Merges this stage's state into the one that came down the cascade.
void merge(stage_state& own, stage_state& received) {
    alignas(64) row_values own_maximum, own_factor, received_factor, sums;
    vector_copy_32elems(0, own.maximum, own_maximum);
    maximum_up_u_bf16(received.maximum, own.maximum);
    exp_up_minus_u(received.maximum, own.maximum, received_factor);
    exp_up_minus_u(own_maximum, own.maximum, own_factor);
    mul_r_gp(received_factor, received.output);
    mul_r_gp(own_factor, own.output);
    add_gp_g(own.output, received.output);
    zero_fill_sp_bf16(sums);
    accum_sp_r_s(received.denominator, received_factor, sums);
    accum_sp_r_s(own.denominator, own_factor, sums);
    vector_copy_32elems(0, sums, received.denominator);
    vector_copy_32elems(0, own.maximum, received.maximum);
}

/// One column of the array: a tile of queries against one slice of dv.
void run_column(const bfloat16* queries, const kv_head& kv, unsigned query_block, bfloat16* target) {
    core_memory l1;
    for (unsigned slice = 0; slice < dk_slices; ++slice)
        aie_host::to_blocks(queries + slice * lkp, dk_full, tile_queries, lkp, by_columns, l1.queries[slice]);
    stage_state own, cascade;
    run_stage(kv, NUM_CASCADE_STAGES - 1, query_block, l1, cascade);
    for (unsigned stage = NUM_CASCADE_STAGES - 1; stage-- > 0;) {
        run_stage(kv, stage, query_block, l1, own);
        merge(own, cascade);
    }
    div_gp_sp(cascade.denominator, cascade.output);
    aie_host::from_blocks(cascade.output, tile_queries, lkp, by_columns, target, dv_full);
}

}  // namespace

/// inputs: Q[heads, LQ, dk], K[kv_heads, LK, dk], V[kv_heads, LK, dv] in bf16; output: [heads, LQ, dv] in bf16.
extern "C" int air_launch(const void* const* inputs, void* output, unsigned threads) {
    const auto* q = static_cast<const bfloat16*>(inputs[0]);
    const auto* k = static_cast<const bfloat16*>(inputs[1]);
    const auto* v = static_cast<const bfloat16*>(inputs[2]);
    auto* out = static_cast<bfloat16*>(output);

    constexpr aie_host::extent iterations{ATTN_HEADS / NUM_HEADS_PER_UNROLL, ATTN_LQ / LQP};
    aie_host::launch(iterations, {NUM_HEADS_PER_UNROLL, NUM_Q_TILES}, threads, [&](aie_host::core_position core) {
        const unsigned head = core.launch_x * NUM_HEADS_PER_UNROLL + core.herd_x;
        const unsigned query_block = core.launch_y * NUM_Q_TILES + core.herd_y;
        const std::size_t row = std::size_t{head} * ATTN_LQ + query_block * tile_queries;
        const std::size_t kv_row = std::size_t{head / queries_per_kv_head} * ATTN_LK;
        for (unsigned slice = 0; slice < dv_slices; ++slice) {
            const kv_head kv{k + kv_row * dk_full, v + kv_row * dv_full + slice * lkp};
            run_column(q + row * dk_full, kv, query_block, out + row * dv_full + slice * lkp);
        }
    });
    return 0;
}
