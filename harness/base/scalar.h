/* Scalar expressions over named values: shapes, grids, conditions and kernel arguments of a contract.
 * Integers are 64-bit and checked for overflow, '/' and '%' truncate as in C, reals are doubles; a condition
 * is an integer, 0 or 1. Functions: ceil_div floor_div min max next_pow2, and stride(x, axis), size(x),
 * sizeof(T), which the environment answers. Numbers are written as in C. */
#ifndef CUPEL_SCALAR_H
#define CUPEL_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "text.h"

typedef struct cupel_scalar {
    bool real;
    int64_t i; /* the value when !real */
    double d;  /* the value when real */
} cupel_scalar;

typedef struct cupel_scalar_expr cupel_scalar_expr;

/* What names and functions of a concrete case mean. Each returns false when it does not know the name. */
typedef struct cupel_scalar_env {
    const void *self;
    bool (*name)(const void *self, const char *name, cupel_scalar *out);
    bool (*stride)(const void *self, const char *tensor, int axis, int64_t *elements);
    bool (*size)(const void *self, const char *tensor, int64_t *elements);
    bool (*size_of)(const void *self, const char *type, int64_t *bytes);
} cupel_scalar_env;

/* Parses one expression; the tree lives in arena. */
CUPEL_MUST_USE cupel_code cupel_scalar_parse(cupel_span text, cupel_arena *arena, cupel_scalar_expr **out,
                                             cupel_error *err);

/* Value in env. Errors: unknown name, overflow, division by zero, with the place in the text. */
CUPEL_MUST_USE cupel_code cupel_scalar_eval(const cupel_scalar_expr *expr, const cupel_scalar_env *env,
                                            cupel_scalar *out, cupel_error *err);

/* As above; an error when the value is a real. */
CUPEL_MUST_USE cupel_code cupel_scalar_eval_int(const cupel_scalar_expr *expr, const cupel_scalar_env *env,
                                                int64_t *out, cupel_error *err);

/* Calls visit for every plain name in the expression, with its place; stops at and returns the first error.
 */
CUPEL_MUST_USE cupel_code cupel_scalar_names(const cupel_scalar_expr *expr,
                                             cupel_code (*visit)(void *self, const char *name,
                                                                 cupel_span place, cupel_error *err),
                                             void *self, cupel_error *err);

/* Calls visit for every stride(x, axis), size(x) and sizeof(T) in the expression, with the tensor's or type's
 * name. */
typedef enum cupel_scalar_query {
    CUPEL_SCALAR_ASKS_STRIDE,
    CUPEL_SCALAR_ASKS_SIZE,
    CUPEL_SCALAR_ASKS_SIZEOF
} cupel_scalar_query;
CUPEL_MUST_USE cupel_code cupel_scalar_queries(const cupel_scalar_expr *expr,
                                               cupel_code (*visit)(void *self, cupel_scalar_query query,
                                                                   const char *name, cupel_span place,
                                                                   cupel_error *err),
                                               void *self, cupel_error *err);

/* Calls visit for every integer literal in the expression (a dictionary for the search). */
void cupel_scalar_literals(const cupel_scalar_expr *expr, void (*visit)(void *self, int64_t value),
                           void *self);

/* The text that the expression was parsed from. */
cupel_span cupel_scalar_text(const cupel_scalar_expr *expr);

#endif
