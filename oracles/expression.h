/* The language of postconditions: parsing to a syntax tree. Meaning, shapes and types come with a binding, in
 * graph.h. */
#ifndef CUPEL_EXPRESSION_H
#define CUPEL_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "text.h"

typedef enum cupel_expr_kind {
    CUPEL_EXPR_NUMBER, /* integer or real literal, true, false, inf, nan, pi */
    CUPEL_EXPR_NAME,
    CUPEL_EXPR_STRING, /* approximate="tanh" */
    CUPEL_EXPR_UNARY,
    CUPEL_EXPR_BINARY,
    CUPEL_EXPR_CALL,
    CUPEL_EXPR_INDEX, /* x[:, 1:] */
    CUPEL_EXPR_SLICE, /* a part of an index: children may be NULL */
    CUPEL_EXPR_LIST
} cupel_expr_kind;

typedef struct cupel_expr {
    cupel_expr_kind kind;
    cupel_span place;
    bool real; /* NUMBER: a real literal (else an integer) */
    int64_t integer;
    double number;      /* nearest double */
    const char *digits; /* NUMBER: the literal as written, for exact evaluation */
    const char *name;   /* NAME, CALL, STRING; UNARY and BINARY: the operator, "+" "and" "<<" ... */
    int count;          /* children */
    struct cupel_expr **children;
    const char **keywords; /* CALL: for each child the keyword or NULL */
} cupel_expr;

/* Parses one expression. Depth and length are bounded (256 levels, 64 KiB), so hostile text cannot exhaust
 * the stack. */
CUPEL_MUST_USE cupel_code cupel_expr_parse(cupel_span text, cupel_arena *arena, cupel_expr **out,
                                           cupel_error *err);

/* Calls visit for every NAME that stands for a tensor or a number: not for called functions, for the element
 * type in cast(x, f16), nor for keep. */
CUPEL_MUST_USE cupel_code cupel_expr_names(const cupel_expr *expr,
                                           cupel_code (*visit)(void *self, const cupel_expr *name,
                                                               cupel_error *err),
                                           void *self, cupel_error *err);

/* Known functions, for listings and near-miss suggestions. */
typedef struct cupel_function_info {
    const char *family, *signature, *pytorch;
    const char *name;
    bool supported; /* false: known to the language, brought by a later version; refused by name */
} cupel_function_info;
const cupel_function_info *cupel_functions(size_t *count);

#endif
