/* Inside of the exact evaluator. An element is a rigorous enclosure of its exact value in MPFR together with
 * the ball that says what a conforming kernel may return; radius and classes come from ball.h, so that both
 * evaluators follow one statement of the rules. */
#ifndef CUPEL_EXACT_H
#define CUPEL_EXACT_H

#include <mpfr.h>

#include "ball.h"

/* Elementwise results are remembered up to this number of entries (some 70 MB), sums beyond it. */
enum { CUPEL_EXACT_ENTRIES = 200000 };

typedef struct cupel_exact_value {
    cupel_ball ball;
    mpfr_t lo, hi; /* lo <= exact value <= hi; NaN, and an infinity, stand in both */
    int precision; /* bits it was computed with */
    bool open;     /* a decision (a comparison, a rounding) was not settled at this precision, */
    bool unsound;  /* and the radius does not cover the other outcome */
} cupel_exact_value;

typedef struct cupel_exact_entry {
    uint64_t key;
    cupel_exact_value *value;
} cupel_exact_entry;

/* Elements by node and index; a hash table. */
typedef struct cupel_exact_table {
    cupel_exact_entry *entries;
    size_t count, capacity;
} cupel_exact_table;

/* An element whose evaluation is under way. */
typedef struct cupel_exact_demand {
    int node;
    int64_t index;
} cupel_exact_demand;

struct cupel_exact_session {
    const cupel_graph *graph;
    const cupel_bindings *bindings;
    cupel_working w;
    cupel_trait *traits; /* per node */
    int *uses;           /* per node: consumers; elements of nodes used once are not worth remembering */
    int precision;       /* of the evaluation under way */
    int depth;
    cupel_code code;            /* sticky: out of memory; UNABLE: `deepest` is needed first */
    cupel_exact_demand deepest; /* where the recursion was cut off */
    cupel_exact_value **pool;   /* values lent as scratch, last in first out */
    size_t pool_used, pool_count, pool_capacity;
    cupel_exact_value spare;  /* lent when memory is short; nothing that is computed then is used */
    cupel_exact_table memory; /* remembered while there is room */
    cupel_exact_table steps; /* computed beforehand, because the way to them is too long for the stack; of the
                                evaluation under way */
};

/* ---- enclosures (exact_value.c) ---- */

void cupel_exact_init(cupel_exact_value *v);
void cupel_exact_clear(cupel_exact_value *v);
/* Lends a value for the time of one computation; returns are in reverse order. Never NULL: when memory is
 * short the session's code is set, and what is lent serves nothing. */
cupel_exact_value *cupel_exact_borrow(cupel_exact_session *s);
static inline void cupel_exact_return(cupel_exact_session *s) {
    s->pool_used--;
}
void cupel_exact_drain(cupel_exact_session *s);
/* Prepares v for a result at the precision of the session. */
void cupel_exact_start(const cupel_exact_session *s, cupel_exact_value *v);
bool cupel_exact_is_point(const cupel_exact_value *v);
bool cupel_exact_is_nan(const cupel_exact_value *v);
/* May the enclosure be zero? */
bool cupel_exact_has_zero(const cupel_exact_value *v);
/* The nearest double of the middle; a finite value beyond the range of doubles gives the largest one. *exact:
 * it is the value. */
double cupel_exact_nearest(const cupel_exact_value *v, bool *exact);
void cupel_exact_set_double(cupel_exact_value *v, double x);
void cupel_exact_set_integer(cupel_exact_value *v, int64_t x);
void cupel_exact_set_unsigned(cupel_exact_value *v, uint64_t x);
/* The 64 bits of an integer: two's complement below zero. Of one beyond 64 bits, anything. */
uint64_t cupel_exact_bits(mpfr_srcptr x);
/* Do all integers of the enclosure fit the type? To the last one, unlike a comparison of doubles. */
bool cupel_exact_fits(cupel_dtype type, const cupel_exact_value *v);
void cupel_exact_copy(cupel_exact_value *to, const cupel_exact_value *from);
/* x correctly rounded to a real type, ties to even, as a double. */
double cupel_exact_round(cupel_dtype type, mpfr_srcptr x);
/* Correct signs of zeros and enclosures of which one end is NaN; sums: an exact zero is +0. */
void cupel_exact_tidy(cupel_exact_value *v, bool is_sum);

/* lo and hi from one function value rounded down: what it rounds to upwards is the same number or the next.
 */
static inline void cupel_exact_both(cupel_exact_value *v, int ternary_of_lo) {
    mpfr_set(v->hi, v->lo, MPFR_RNDU);
    if (ternary_of_lo != 0) mpfr_nextabove(v->hi);
}

/* ---- elements ---- */

/* Element index of a node: remembered, or computed into scratch. The result is valid until scratch is used
 * again; the session's memory holds for the whole evaluation of one output element. */
const cupel_exact_value *cupel_exact_get(cupel_exact_session *s, int node, int64_t index,
                                         cupel_exact_value *scratch);

/* The remembered element, a fresh one when there is none (*fresh); NULL when memory is short. */
cupel_exact_value *cupel_exact_remember(cupel_exact_session *s, int node, int64_t index, bool *fresh);
void cupel_exact_forget(cupel_exact_session *s);

/* Element index of a node as cupel_exact_get gives it, however long its chain of nodes: what the recursion
 * does not reach is computed first, and kept until the next call. */
const cupel_exact_value *cupel_exact_reach_down(cupel_exact_session *s, int node, int64_t index,
                                                cupel_exact_value *scratch);

/* Families: compute element index of node into out. */
void cupel_exact_unary(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
void cupel_exact_binary(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
void cupel_exact_select(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
void cupel_exact_reduce(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
/* A scan's whole row is computed and remembered; out gets element index. */
void cupel_exact_scan(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
void cupel_exact_product(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
/* Rows at once, as scans. */
void cupel_exact_scatter(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
void cupel_exact_order(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
void cupel_exact_recurrence(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
/* Leaves and moves need no memory; the result may be an argument's element. */
void cupel_exact_leaf(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out);
const cupel_exact_value *cupel_exact_shape(cupel_exact_session *s, int node, int64_t index,
                                           cupel_exact_value *scratch);

/* Arithmetic of enclosures (exact_arithmetic.c); lo and hi of out are written, open may be set. */
void cupel_exact_add(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b);
void cupel_exact_subtract(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b);
void cupel_exact_multiply(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b);
void cupel_exact_divide(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b);

#endif
