/* Enclosures of scalar expressions: where names lie in intervals, the value of an expression lies in the
 * interval that is computed here, wherever it has a value at all (an overflow, a division by zero or an
 * unknown name has none). Used to prove something for whole ranges of shapes. */
#ifndef CUPEL_SCALAR_RANGE_H
#define CUPEL_SCALAR_RANGE_H

#include "scalar.h"

typedef struct cupel_scalar_range {
    bool none;      /* no value anywhere */
    bool real;      /* may be a real, of which nothing is known; lo and hi mean nothing */
    int64_t lo, hi; /* inclusive */
} cupel_scalar_range;

/* Something that is known about an expression besides: it lies in lo..hi. */
typedef struct cupel_scalar_hint {
    const cupel_scalar_expr *expr;
    int64_t lo, hi;
} cupel_scalar_hint;

/* The intervals of names and functions. A function that answers false knows nothing: the value is anything.
 */
typedef struct cupel_scalar_range_env {
    const void *self;
    bool (*name)(const void *self, const char *name, cupel_scalar_range *out);
    bool (*stride)(const void *self, const char *tensor, int axis, cupel_scalar_range *out);
    bool (*size)(const void *self, const char *tensor, cupel_scalar_range *out);
    bool (*size_of)(const void *self, const char *type, int64_t *bytes);
    int hint_count;
    const cupel_scalar_hint *hints; /* applied wherever the same expression occurs */
} cupel_scalar_range_env;

cupel_scalar_range cupel_scalar_range_of(const cupel_scalar_expr *expr, const cupel_scalar_range_env *env);

/* Can a value in the range be true (not zero); can it be false? */
bool cupel_scalar_range_may_hold(cupel_scalar_range range);
bool cupel_scalar_range_may_fail(cupel_scalar_range range);

/* a * b where both lie in their ranges and the product fits 64 bits. */
cupel_scalar_range cupel_scalar_range_product(cupel_scalar_range a, cupel_scalar_range b);

/* Do two expressions read the same, spaces and parentheses aside? */
bool cupel_scalar_same(const cupel_scalar_expr *a, const cupel_scalar_expr *b);

/* Conditions that hold together: calls visit for every part of `expr` that `and` joins. */
void cupel_scalar_conjuncts(const cupel_scalar_expr *expr,
                            void (*visit)(void *self, const cupel_scalar_expr *part), void *self);

/* How two expressions are compared. */
typedef enum cupel_scalar_order {
    CUPEL_SCALAR_BELOW,    /* a < b */
    CUPEL_SCALAR_AT_MOST,  /* a <= b */
    CUPEL_SCALAR_EQUAL,    /* a == b */
    CUPEL_SCALAR_AT_LEAST, /* a >= b */
    CUPEL_SCALAR_ABOVE     /* a > b */
} cupel_scalar_order;
/* Is the expression such a comparison? Fills in its two sides. */
bool cupel_scalar_comparison(const cupel_scalar_expr *expr, cupel_scalar_order *order,
                             const cupel_scalar_expr **a, const cupel_scalar_expr **b);

/* The name that the expression consists of; NULL when it is more than that. */
const char *cupel_scalar_plain_name(const cupel_scalar_expr *expr);

#endif
