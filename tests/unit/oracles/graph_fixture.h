/* Builds graphs from one line of text for the oracle's tests. */
#ifndef GRAPH_FIXTURE_H
#define GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { FIXTURE_INPUTS = 12, FIXTURE_NUMBERS = 4, FIXTURE_DEFINES = 4 };

typedef struct fixture {
    cupel_arena *arena;
    cupel_symbols symbols;
    cupel_symbol_input inputs[FIXTURE_INPUTS];
    cupel_symbol_number numbers[FIXTURE_NUMBERS];
    cupel_symbol_define defines[FIXTURE_DEFINES];
    cupel_symbol_output output;
    cupel_graph *graph;
    cupel_error err;
} fixture;

static inline void fixture_start(fixture *f) {
    memset(f, 0, sizeof *f);
    f->arena = cupel_arena_create(0);
    f->symbols.inputs = f->inputs;
    f->symbols.numbers = f->numbers;
    f->symbols.defines = f->defines;
    f->symbols.outputs = &f->output;
    f->symbols.output_count = 1;
}

static inline void fixture_end(fixture *f) {
    cupel_arena_free(f->arena);
}

/* Reads "2,3" into a shape; "" is a single number's. */
static inline int fixture_shape(const char *text, int64_t *shape) {
    int rank = 0;
    while (*text) {
        char *end;
        shape[rank++] = strtoll(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return rank;
}

static inline void fixture_input(fixture *f, const char *name, cupel_dtype type, const char *shape) {
    cupel_symbol_input *input = &f->inputs[f->symbols.input_count++];
    input->name = name;
    input->type = type;
    input->rank = fixture_shape(shape, input->shape);
}

static inline void fixture_number(fixture *f, const char *name, bool real, double value) {
    f->numbers[f->symbols.number_count++] = (cupel_symbol_number){
        .name = name, .real = real, .integer = real ? 0 : (int64_t)value, .number = value};
}

static inline cupel_expr *fixture_parse(fixture *f, const char *text) {
    cupel_expr *expr = NULL;
    if (cupel_expr_parse(cupel_span_of(text, "t", 1, 1), f->arena, &expr, &f->err) != CUPEL_OK)
        fail_msg("%s: %s", text, f->err.text);
    return expr;
}

static inline void fixture_define(fixture *f, const char *name, const char *text) {
    f->defines[f->symbols.define_count++] = (cupel_symbol_define){name, fixture_parse(f, text)};
}

static inline cupel_code fixture_try(fixture *f, const char *text, cupel_dtype type, const char *shape) {
    f->output = (cupel_symbol_output){.name = "y", .type = type, .ensures = fixture_parse(f, text)};
    f->output.rank = fixture_shape(shape, f->output.shape);
    return cupel_graph_build(&f->symbols, f->arena, &f->graph, &f->err);
}

static inline void fixture_build(fixture *f, const char *text, cupel_dtype type, const char *shape) {
    if (fixture_try(f, text, type, shape) != CUPEL_OK)
        fail_msg("%s: %d: %s", text, f->err.column, f->err.text);
}

#endif
