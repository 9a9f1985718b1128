/* The syntax tree of a scalar expression, shared by its parser (scalar.c) and its evaluation (scalar_eval.c).
 */
#ifndef CUPEL_SCALAR_IMPL_H
#define CUPEL_SCALAR_IMPL_H

#include "scalar.h"

/* Bounds on hostile text: deeper trees or longer texts are refused, so recursion cannot exhaust the stack. */
enum { CUPEL_SCALAR_DEPTH_MAX = 200, CUPEL_SCALAR_LENGTH_MAX = 4096, CUPEL_SCALAR_ARGS_MAX = 8 };

typedef enum cupel_scalar_kind {
    CUPEL_SCALAR_NUMBER,
    CUPEL_SCALAR_NAME,
    CUPEL_SCALAR_UNARY,
    CUPEL_SCALAR_BINARY,
    CUPEL_SCALAR_CALL
} cupel_scalar_kind;

typedef enum cupel_scalar_op {
    CUPEL_SCALAR_OR,
    CUPEL_SCALAR_AND,
    CUPEL_SCALAR_NOT,
    CUPEL_SCALAR_LT,
    CUPEL_SCALAR_LE,
    CUPEL_SCALAR_GT,
    CUPEL_SCALAR_GE,
    CUPEL_SCALAR_EQ,
    CUPEL_SCALAR_NE,
    CUPEL_SCALAR_BITOR,
    CUPEL_SCALAR_BITXOR,
    CUPEL_SCALAR_BITAND,
    CUPEL_SCALAR_SHL,
    CUPEL_SCALAR_SHR,
    CUPEL_SCALAR_ADD,
    CUPEL_SCALAR_SUB,
    CUPEL_SCALAR_MUL,
    CUPEL_SCALAR_DIV,
    CUPEL_SCALAR_MOD,
    CUPEL_SCALAR_NEG,
    CUPEL_SCALAR_POS,
    CUPEL_SCALAR_POW
} cupel_scalar_op;

typedef enum cupel_scalar_function {
    CUPEL_SCALAR_CEIL_DIV,
    CUPEL_SCALAR_FLOOR_DIV,
    CUPEL_SCALAR_MIN,
    CUPEL_SCALAR_MAX,
    CUPEL_SCALAR_NEXT_POW2,
    CUPEL_SCALAR_STRIDE,
    CUPEL_SCALAR_SIZE,
    CUPEL_SCALAR_SIZEOF,
    CUPEL_SCALAR_FUNCTION_COUNT
} cupel_scalar_function;

struct cupel_scalar_expr {
    cupel_scalar_kind kind;
    cupel_span place;      /* the whole of this subexpression, as far as it lies in one text */
    int height;            /* of the tree below, a leaf has 1 */
    cupel_scalar number;   /* NUMBER */
    const char *name;      /* NAME; CALL of stride, size or sizeof: the tensor or type */
    cupel_span name_place; /* of name */
    cupel_scalar_op op;    /* UNARY, BINARY */
    cupel_scalar_function function;
    int count; /* children */
    cupel_scalar_expr *children[CUPEL_SCALAR_ARGS_MAX];
};

#endif
