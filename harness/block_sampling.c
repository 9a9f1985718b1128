#include "block_sampling.h"

#include <string.h>
#include <xxhash.h>

#include "allowed.h"

/* One sampled case in so many is run whole instead. */
enum { WHOLE_IN = 4 };

/* Cases that may be run twice: so many, and so large a part of those that were settled. */
enum { WASTED_LEAST = 16, WASTED_PART = 4 };

/* ---- which cases ---- */

/* May the contract's blocks be looked at one by one? */
static bool is_suited(const cupel_contract *contract) {
    if (contract->launch_count != 1) return false;
    for (int t = 0; t < contract->tensor_count; t++) {
        const int roles = contract->tensors[t].roles;
        if ((roles & CUPEL_ROLE_SCRATCH) || roles == (CUPEL_ROLE_INPUT | CUPEL_ROLE_OUTPUT)) return false;
    }
    return contract->variant_count == 0 || contract->deterministic != CUPEL_DETERMINISTIC_ACROSS_VARIANTS;
}

/* Outputs lie in buffers of their own, which hold poison before the launch. */
static bool has_plain_outputs(const cupel_case *c) {
    bool taken[CUPEL_TENSOR_MAX] = {false};
    for (int t = 0; t < c->tensor_count; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        if ((c->contract->tensors[t].roles & CUPEL_ROLE_OUTPUT) && tensor->values) return false;
        if (taken[tensor->buffer]) return false;
        taken[tensor->buffer] = true;
    }
    return true;
}

/* Octave, and power of two or not. */
static uint64_t size_bit(int64_t extent) {
    if (extent <= 0) return 1;
    int octave = 63 - __builtin_clzll((uint64_t)extent);
    if (octave > 30) octave = 30;
    return UINT64_C(1) << (1 + 2 * octave + ((extent & (extent - 1)) != 0));
}

/* Does the case bring a size or a type for the first time? Then it counts as seen from now on. */
static bool is_first_of_its_kind(cupel_block_sampling *sampling, const cupel_case *c) {
    bool first = false;
    for (int d = 0; d < c->contract->dim_count; d++) {
        const uint64_t bit = size_bit(c->binding.dims[d]);
        first = first || !(sampling->sizes[d] & bit);
        sampling->sizes[d] |= bit;
    }
    for (int v = 0; v < c->contract->type_count; v++) {
        const uint32_t bit = 1u << ((unsigned)c->binding.types[v] % 32);
        first = first || !(sampling->types[v] & bit);
        sampling->types[v] |= bit;
    }
    return first;
}

uint64_t cupel_block_sampling_draw(cupel_block_sampling *sampling, const cupel_case *c) {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    if (sampling->keeps || sampling->wasted > WASTED_LEAST + sampling->settled / WASTED_PART) return 0;
    if (!is_suited(c->contract) || c->recipe->history != CUPEL_HISTORY_NONE || !has_plain_outputs(c))
        return 0;
    if (is_first_of_its_kind(sampling, c)) return 0;
    const size_t size = cupel_recipe_encode(c->contract, c->recipe, bytes, sizeof bytes);
    const uint64_t hash = XXH3_64bits(bytes, size);
    return hash % WHOLE_IN == 0 ? 0 : hash;
}

void cupel_block_sampling_learn(cupel_block_sampling *sampling, bool settled) {
    if (settled)
        sampling->settled++;
    else
        sampling->wasted++;
}

/* ---- what they show ---- */

bool cupel_block_sampling_serves(const cupel_run runs[2]) {
    for (int r = 0; r < 2; r++) {
        const cupel_observation *seen = runs[r].observation;
        if (seen->outcome != CUPEL_RUN_FINISHED || !seen->blocks_left_out || seen->access_total ||
            seen->float_atomics)
            return false;
    }
    return true;
}

static bool is_reached(const uint8_t *reached, int64_t at, int64_t size) {
    if ((at & 7) + size <= 8) return reached[at >> 3] >> (at & 7) & ((1u << size) - 1);
    for (int64_t byte = at; byte < at + size; byte++)
        if (reached[byte >> 3] >> (byte & 7) & 1) return true;
    return false;
}

/* Every element of a tensor of any layout, in order. */
static void mask_output(const cupel_case_tensor *t, const uint8_t *const reached[2], cupel_allowed *allowed) {
    const int64_t size = (int64_t)cupel_format_of(t->type)->size;
    int64_t index[CUPEL_RANK_MAX] = {0}, at = t->offset;
    for (int64_t i = 0; i < t->count; i++) {
        const bool stored = is_reached(reached[0], at, size) || is_reached(reached[1], at, size);
        if (!stored) allowed->reasons[i] = CUPEL_REASON_NOT_RUN;
        for (int axis = t->rank; axis-- > 0;) {
            at += t->stride[axis] * size;
            if (++index[axis] < t->shape[axis]) break;
            at -= t->stride[axis] * t->shape[axis] * size;
            index[axis] = 0;
        }
    }
    cupel_allowed_count(allowed);
}

static bool may_be_kept(const cupel_allowed *allowed) {
    for (int64_t i = 0; i < allowed->count; i++)
        if (allowed->classes[i] & CUPEL_KEEP) return true;
    return false;
}

void cupel_block_sampling_mask(cupel_block_sampling *sampling, const cupel_case *c, const cupel_graph *graph,
                               const cupel_run runs[2], cupel_allowed *allowed) {
    for (int o = 0; o < graph->output_count; o++) {
        const int t = cupel_contract_tensor(c->contract, graph->outputs[o].name);
        if (t < 0) continue;
        const int buffer = c->tensors[t].buffer;
        const uint8_t *const reached[2] = {runs[0].observation->buffers[buffer].reached,
                                           runs[1].observation->buffers[buffer].reached};
        sampling->keeps = sampling->keeps || may_be_kept(&allowed[o]);
        if (reached[0] && reached[1]) mask_output(&c->tensors[t], reached, &allowed[o]);
    }
}
