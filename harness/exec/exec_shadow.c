#include "exec_shadow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shadow {
    const cupel_contract *contract;
    const cupel_stand_in *stand_in;
} shadow;

#define TEXTS(of)                                                                                            \
    { CUPEL_MISDEEDS(of) }
#define NAME_OF(name, text, sentence) [CUPEL_MISDEED_##name] = (text),
#define SENTENCE_OF(name, text, sentence) [CUPEL_MISDEED_##name] = (sentence),

const char *cupel_misdeed_name(cupel_misdeed misdeed) {
    static const char *const names[] = TEXTS(NAME_OF);
    return names[misdeed];
}

const char *cupel_misdeed_sentence(cupel_misdeed misdeed) {
    static const char *const sentences[] = TEXTS(SENTENCE_OF);
    return sentences[misdeed];
}

static cupel_code open_shadow(const cupel_contract *contract, const cupel_executor_options *options,
                              void **self, cupel_error *err) {
    if (!options->stand_in)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "the shadow executor needs a shadow to run");
    shadow *s = calloc(1, sizeof *s);
    if (!s) return cupel_fail(err, CUPEL_MEMORY, "no memory for an executor");
    *s = (shadow){contract, options->stand_in};
    *self = s;
    return CUPEL_OK;
}

static cupel_code prepare_shadow(void *self, const cupel_binding *binding, cupel_error *err) {
    (void)self, (void)binding, (void)err;
    return CUPEL_OK;
}

/* ---- what it computes ---- */

static size_t size_of(const cupel_case_tensor *tensor) {
    return cupel_format_of(tensor->type)->size;
}

/* Which inputs are upstream gradients: the third argument of a vjp, where that is an input's name. */
static void mark_cotangents(const cupel_contract *contract, const cupel_expr *expr, bool *marks) {
    if (!expr) return;
    const bool gradient = expr->kind == CUPEL_EXPR_CALL && expr->name && !strcmp(expr->name, "vjp");
    for (int i = 0; i < expr->count; i++) {
        const cupel_expr *child = expr->children[i];
        const char *keyword = expr->keywords ? expr->keywords[i] : NULL;
        const bool cotangent = gradient && (keyword ? !strcmp(keyword, "cotangent") : i == 2);
        const int tensor =
            cotangent && child->kind == CUPEL_EXPR_NAME ? cupel_contract_tensor(contract, child->name) : -1;
        if (tensor >= 0) marks[tensor] = true;
        mark_cotangents(contract, child, marks);
    }
}

static void find_cotangents(const cupel_contract *contract, bool marks[CUPEL_TENSOR_MAX]) {
    for (int t = 0; t < contract->tensor_count; t++)
        mark_cotangents(contract, contract->tensors[t].ensures, marks);
    for (int d = 0; d < contract->define_count; d++)
        mark_cotangents(contract, contract->defines[d].expr, marks);
}

/* The tensor's values, or every one of them the first. */
static const void *input_values(const cupel_case_tensor *tensor, bool uniform, cupel_arena *arena) {
    if (!uniform || tensor->count == 0) return tensor->values;
    const size_t size = size_of(tensor);
    unsigned char *values = cupel_arena_raw(arena, (size_t)tensor->count, size);
    for (int64_t i = 0; values && i < tensor->count; i++)
        memcpy(values + (size_t)i * size, tensor->values, size);
    return values;
}

static bool bind(const cupel_case *c, cupel_misdeed misdeed, cupel_arena *arena, cupel_bindings *out) {
    const void **data = cupel_arena_alloc(arena, (CUPEL_TENSOR_MAX + 1) * sizeof *data);
    bool uniform[CUPEL_TENSOR_MAX] = {false};
    if (misdeed == CUPEL_MISDEED_UNIFORM_COTANGENT) find_cotangents(c->contract, uniform);
    if (!data) return false;
    *out = (cupel_bindings){0, data};
    for (int i = 0; i < c->tensor_count; i++) {
        if (!(c->contract->tensors[i].roles & CUPEL_ROLE_INPUT)) continue;
        data[out->count] = input_values(&c->tensors[i], uniform[i], arena);
        if (c->tensors[i].count > 0 && !data[out->count]) return false;
        out->count++;
    }
    return true;
}

/* The outputs of a case by a plan, and where the contract leaves elements alone. */
typedef struct results {
    const cupel_graph *graph;
    cupel_shadow_output *outputs;
    cupel_allowed *kept; /* NULL: nothing is */
} results;

static bool keeps(const cupel_graph *graph) {
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].op == CUPEL_OP_KEEP) return true;
    return false;
}

static cupel_code compute(const cupel_case *c, const cupel_shadow_plan *plan, cupel_misdeed misdeed,
                          cupel_arena *arena, results *out, cupel_error *err) {
    cupel_graph *graph;
    cupel_bindings bindings;
    const cupel_rules rules = cupel_binding_rules(&c->binding);
    CUPEL_TRY(cupel_binding_graph(&c->binding, arena, &graph, err));
    const size_t count = (size_t)graph->output_count + 1;
    *out = (results){.graph = graph, .outputs = cupel_arena_alloc(arena, count * sizeof *out->outputs)};
    if (!out->outputs || !bind(c, misdeed, arena, &bindings))
        return cupel_fail(err, CUPEL_MEMORY, "no memory for a shadow");
    CUPEL_TRY(cupel_shadow_run(graph, &bindings, &rules, plan, arena, out->outputs, err));
    if (!keeps(graph)) return CUPEL_OK;
    out->kept = cupel_arena_alloc(arena, count * sizeof *out->kept);
    if (!out->kept) return cupel_fail(err, CUPEL_MEMORY, "no memory for a shadow");
    return cupel_oracle_bounded(graph, &bindings, &rules, arena, out->kept, err);
}

/* ---- what is wrong with it ---- */

static void scale(cupel_dtype type, unsigned char *element) {
    if (cupel_format_of(type)->kind == CUPEL_KIND_REAL)
        cupel_encode(type, 1.5 * cupel_decode(type, element), element);
    else
        element[0] = (unsigned char)(type == CUPEL_BOOL ? !element[0] : element[0] + 1);
}

/* The lower half of a number's fraction, or the last bit of an integer, is lost. */
static void coarsen(cupel_dtype type, unsigned char *element) {
    const cupel_format *format = cupel_format_of(type);
    uint64_t bits = 0;
    if (type == CUPEL_BOOL || (format->kind == CUPEL_KIND_REAL && !isfinite(cupel_decode(type, element))))
        return;
    memcpy(&bits, element, format->size);
    const int lost = format->kind == CUPEL_KIND_REAL ? format->precision / 2 : 1;
    bits &= ~((UINT64_C(1) << lost) - 1);
    memcpy(element, &bits, format->size);
}

static bool is_other_type(const cupel_case *c) {
    for (int v = 0; v < c->contract->type_count; v++)
        if (c->binding.types[v] != 0) return true;
    return false;
}

/* The bit that carries least, in an element that has a number in it. */
static void flip_last(cupel_dtype type, unsigned char *element) {
    if (cupel_format_of(type)->kind == CUPEL_KIND_REAL && !isfinite(cupel_decode(type, element))) return;
    element[0] ^= 1;
}

static void spoil(const shadow *s, const cupel_case *c, uint64_t schedule, cupel_shadow_output *output) {
    const cupel_misdeed misdeed = s->stand_in->misdeed;
    const size_t size = cupel_format_of(output->type)->size;
    const bool other_type = misdeed == CUPEL_MISDEED_COARSE_TYPE && is_other_type(c);
    for (int64_t i = 0; i < output->count; i++) {
        unsigned char *element = output->bytes + (size_t)i * size;
        if (misdeed == CUPEL_MISDEED_SCALED) scale(output->type, element);
        if (other_type) coarsen(output->type, element);
        if (misdeed == CUPEL_MISDEED_NAN_CLEARED && cupel_element_is_nan(output->type, element))
            memset(element, 0, size);
        if (misdeed == CUPEL_MISDEED_TAIL_CLEARED && output->count > 32 &&
            i >= output->count - output->count % 32)
            memset(element, 0, size);
    }
    if (misdeed == CUPEL_MISDEED_BY_SCHEDULE && schedule != 0 && output->count > 0)
        flip_last(output->type, output->bytes);
}

/* The first earlier call's outputs in place of the case's, where they have as many elements. */
static cupel_code look_back(const shadow *s, const cupel_run_request *request, cupel_arena *arena,
                            results *now, cupel_error *err) {
    results first;
    if (s->stand_in->misdeed != CUPEL_MISDEED_FIRST_CALL || request->earlier_count == 0) return CUPEL_OK;
    CUPEL_TRY(
        compute(request->earlier[0].c, &s->stand_in->plan, CUPEL_MISDEED_NO_MISDEED, arena, &first, err));
    for (int o = 0; o < now->graph->output_count; o++)
        if (first.outputs[o].count == now->outputs[o].count) now->outputs[o] = first.outputs[o];
    return CUPEL_OK;
}

/* ---- what it leaves behind ---- */

static void store(const cupel_case *c, int tensor, const cupel_shadow_output *from, const cupel_allowed *kept,
                  int64_t unwritten, unsigned char *buffer) {
    const cupel_case_tensor *t = &c->tensors[tensor];
    const size_t size = size_of(t);
    int64_t at[CUPEL_RANK_MAX] = {0};
    for (int64_t i = 0; i < t->count - unwritten; i++) {
        int64_t element = 0;
        for (int axis = 0; axis < t->rank; axis++) element += at[axis] * t->stride[axis];
        if (!kept || !(kept->classes[i] & CUPEL_KEEP))
            memcpy(buffer + t->offset + element * (int64_t)size, from->bytes + (size_t)i * size, size);
        for (int axis = t->rank - 1; axis >= 0 && ++at[axis] == t->shape[axis]; axis--) at[axis] = 0;
    }
}

static cupel_code fill_buffers(const cupel_case *c, cupel_poison poison, cupel_arena *arena,
                               cupel_observation *out, cupel_error *err) {
    out->buffer_count = c->buffer_count;
    for (int b = 0; b < c->buffer_count; b++) {
        cupel_buffer_after *buffer = &out->buffers[b];
        *buffer = (cupel_buffer_after){.size = c->buffers[b].size};
        buffer->bytes = cupel_arena_raw(arena, buffer->size + 1, 1);
        if (!buffer->bytes) return cupel_fail(err, CUPEL_MEMORY, "no memory for a shadow");
        cupel_case_image(c, b, poison, buffer->bytes);
    }
    return CUPEL_OK;
}

static bool is_input(const cupel_case *c, int buffer) {
    return !c->buffers[buffer].written && c->buffers[buffer].size > 0;
}

/* Stores where nothing may be stored, if there is such a place. */
static void stray(const cupel_case *c, cupel_misdeed misdeed, cupel_observation *out) {
    for (int b = 0; b < c->buffer_count; b++) {
        cupel_buffer_after *buffer = &out->buffers[b];
        if (misdeed == CUPEL_MISDEED_INPUT_CHANGED && is_input(c, b)) {
            buffer->bytes[0] ^= 1;
            return;
        }
        if (misdeed == CUPEL_MISDEED_PAST_END && c->buffers[b].written) {
            buffer->guard_after_damaged = true;
            buffer->damage_offset = (int64_t)buffer->size;
            return;
        }
    }
}

static cupel_code leave(const shadow *s, const cupel_case *c, const results *r, cupel_poison poison,
                        cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    const int64_t unwritten = s->stand_in->misdeed == CUPEL_MISDEED_LAST_UNWRITTEN;
    CUPEL_TRY(fill_buffers(c, poison, arena, out, err));
    for (int o = 0; o < r->graph->output_count; o++) {
        const int tensor = cupel_contract_tensor(c->contract, r->graph->outputs[o].name);
        if (tensor < 0) continue;
        store(c, tensor, &r->outputs[o], r->kept ? &r->kept[o] : NULL, unwritten,
              out->buffers[c->tensors[tensor].buffer].bytes);
    }
    stray(c, s->stand_in->misdeed, out);
    out->outcome = CUPEL_RUN_FINISHED;
    return CUPEL_OK;
}

static cupel_code run_shadow(void *self, const cupel_case *c, const cupel_run_request *request,
                             cupel_arena *arena, cupel_observation *out, cupel_error *err) {
    const shadow *s = self;
    results r;
    memset(out, 0, sizeof *out);
    CUPEL_TRY(compute(c, &s->stand_in->plan, s->stand_in->misdeed, arena, &r, err));
    CUPEL_TRY(look_back(s, request, arena, &r, err));
    for (int o = 0; o < r.graph->output_count; o++) spoil(s, c, request->schedule, &r.outputs[o]);
    return leave(s, c, &r, request->poison, arena, out, err);
}

static const uint8_t *coverage_shadow(void *self, size_t *count) {
    (void)self;
    *count = 0;
    return NULL;
}

static const cupel_executor_backend backend = {.name = "shadow",
                                               .sees_atomics = true,
                                               .permutes_schedules = true,
                                               .contains_faults = true,
                                               .forgets = true,
                                               .open = open_shadow,
                                               .prepare = prepare_shadow,
                                               .run = run_shadow,
                                               .coverage = coverage_shadow,
                                               .close = free};

const cupel_executor_backend *cupel_executor_shadow(void) {
    return &backend;
}
