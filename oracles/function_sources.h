/* Where the error budget of a function of the language comes from, for people: the primitives that a sample
 * call is composed of, and what each of them may be off. */
#ifndef CUPEL_FUNCTION_SOURCES_H
#define CUPEL_FUNCTION_SOURCES_H

#include "budgets.h"
#include "graph.h"

enum { CUPEL_SOURCE_TEXT_MAX = 200 };

typedef struct cupel_function_source {
    bool uses[CUPEL_OP_COUNT]; /* the primitives of the sample call; constants, views and the like left out */
    const char *sample;        /* the call */
    char brief[CUPEL_SOURCE_TEXT_MAX]; /* "correctly rounded operations; sums in any order; exp by budget" */
} cupel_function_source;

/* How an operation is bounded that has no row in budgets.c: "exact", "correctly rounded", "a sum in any
 * order", .. */
const char *cupel_primitive_bound(cupel_op op);

/* Composes the sample call of function `at` (as in cupel_functions) and looks at its graph. Memory for the
 * graph comes from arena. Fails only for want of memory, and with CUPEL_UNSUPPORTED where no sample fits. */
CUPEL_MUST_USE cupel_code cupel_function_source_of(size_t at, cupel_arena *arena, cupel_function_source *out,
                                                   cupel_error *err);

#endif
