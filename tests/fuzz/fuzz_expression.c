/* Hostile text for the expression language: parsed; built over a few tensors; and, where the graph is small,
 * evaluated. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const float x_data[12] = {0, -0.0f, 1, 1.5f, -2, 3e38f, 1e-40f, 7, 0.1f, -0.3f, 100, -88};
static const float v_data[4] = {1, 2, -0.5f, 1e10f};
static const int32_t i_data[12] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, -7};
static const uint8_t m_data[12] = {1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0};

static cupel_code note_name(void *self, const cupel_expr *name, cupel_error *err) {
    (void)err;
    *(size_t *)self += strlen(name->name);
    return CUPEL_OK;
}

static bool is_small(const cupel_graph *graph) {
    if (graph->node_count > 60) return false;
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].count > 64) return false;
    return true;
}

static void evaluate(const cupel_graph *graph, cupel_dtype working) {
    const void *inputs[] = {x_data, v_data, i_data, m_data};
    const cupel_bindings bindings = {4, inputs};
    const cupel_rules rules = {.working = working, .fast_math = true};
    cupel_exact_session *session;
    cupel_error err;
    if (cupel_exact_open(graph, &bindings, &rules, &session, &err) != CUPEL_OK) return;
    for (int64_t i = 0; i < graph->outputs[0].count && i < 3; i++) {
        cupel_exact_element e;
        if (cupel_exact_element_of(session, 0, i, &e, &err) != CUPEL_OK) break;
        if ((e.classes & CUPEL_CLASS_FINITE) && e.reason == CUPEL_REASON_JUDGED && !(e.lo <= e.hi)) abort();
        if (e.reason >= CUPEL_REASON_COUNT) abort();
    }
    cupel_exact_close(session);
}

static void build(const cupel_expr *expr, cupel_arena *arena, int rank) {
    const cupel_symbol_input inputs[] = {{"x", CUPEL_F32, 2, {3, 4}},
                                         {"v", CUPEL_F32, 1, {4}},
                                         {"i", CUPEL_I32, 2, {3, 4}},
                                         {"m", CUPEL_BOOL, 2, {3, 4}}};
    const cupel_symbol_number numbers[] = {{"N", false, 4, 4.0}, {"scale", true, 0, 0.125}};
    const cupel_symbol_define defines[] = {{"d", expr}};
    const cupel_symbol_output outputs[] = {{"y", CUPEL_F32, rank, {3, 4}, expr}};
    const cupel_symbols symbols = {.input_count = 4,
                                   .number_count = 2,
                                   .define_count = 1,
                                   .output_count = 1,
                                   .inputs = inputs,
                                   .numbers = numbers,
                                   .defines = defines,
                                   .outputs = outputs};
    cupel_graph *graph;
    cupel_error err;
    if (cupel_graph_build(&symbols, arena, &graph, &err) != CUPEL_OK) return;
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i].arg_count; k++)
            if (graph->nodes[i].args[k] < 0 || graph->nodes[i].args[k] >= i) abort();
    if (is_small(graph)) evaluate(graph, CUPEL_F32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cupel_arena *arena = cupel_arena_create(256 << 20);
    if (!arena) return 0;
    /* a copy of the exact size, so that reading past the end is seen */
    char *text = malloc(size + 1);
    cupel_expr *expr;
    cupel_error err;
    if (text) {
        memcpy(text, data, size);
        const cupel_span span = {text, size, "fuzz", 1, 1};
        if (cupel_expr_parse(span, arena, &expr, &err) == CUPEL_OK) {
            size_t length = 0;
            if (cupel_expr_names(expr, note_name, &length, &err) != CUPEL_OK) abort();
            build(expr, arena, 2);
            build(expr, arena, 0);
        }
    }
    free(text);
    cupel_arena_free(arena);
    return 0;
}
