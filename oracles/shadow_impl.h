/* Inside of the shadows (shadow*.c): values only, whole tensors, node by node. */
#ifndef CUPEL_SHADOW_IMPL_H
#define CUPEL_SHADOW_IMPL_H

#include <math.h>

#include "ball.h"
#include "philox.h"
#include "shadow.h"

/* One node's elements: reals and booleans in x, integers in n. */
typedef struct cupel_shadow_tensor {
    int64_t count;
    union {
        double *x;
        int64_t *n;
        void *data;
    };
} cupel_shadow_tensor;

/* What a kernel's author would make of a node together with its surroundings (shadow_pattern.c). */
typedef enum cupel_shadow_idea {
    CUPEL_IDEA_NONE,
    CUPEL_IDEA_FUSED_SUM,       /* ADD, SUB with a product; SUM of a product. inner: the product */
    CUPEL_IDEA_SAME,            /* (x + c) - c. inner: x */
    CUPEL_IDEA_MEAN,            /* DIV of a statistic's SUM. inner: the SUM; source: its argument */
    CUPEL_IDEA_SQUARES,         /* SUM of (x - mean)^2. inner: the product; source: x */
    CUPEL_IDEA_VARIANCE,        /* DIV of that. inner: the SUM; source: x */
    CUPEL_IDEA_FOLDED,          /* EXP of x - amax(x). inner: the difference */
    CUPEL_IDEA_RUNNING_MAXIMUM, /* SUM of that. inner: the EXP; source: x */
    CUPEL_IDEA_MAXIMUM          /* AMAX that is subtracted inside EXP or a logarithm's sum */
} cupel_shadow_idea;

typedef struct cupel_shadow_pattern {
    cupel_shadow_idea idea;
    int inner, source;
} cupel_shadow_pattern;

typedef struct cupel_shadow {
    const cupel_graph *graph;
    const cupel_bindings *bindings;
    cupel_working w;
    bool sequential;              /* scans go step by step */
    cupel_shadow_plan plan;       /* without what the rules do not admit */
    cupel_dtype accumulator;      /* of sums */
    cupel_shadow_tensor *tensors; /* per node */
    cupel_shadow_pattern *patterns;
    int *uses;       /* per node: reads to come; the tensor is freed with the last */
    uint64_t noise;  /* state of the random roundings */
    int64_t longest; /* of all reduced rows */
    double *left, *right, *partial;
    int64_t *permutation; /* of longest numbers, for the length permuted */
    int64_t permuted;
    cupel_error *err;
} cupel_shadow;

/* ---- rounding ---- */

/* Anywhere in [-size, size), at random. */
double cupel_shadow_anywhere(cupel_shadow *s, double size);
double cupel_shadow_disturb(cupel_shadow *s, double x);
/* a + b, off by up to one unit roundoff of the larger. */
double cupel_shadow_disturb_sum(cupel_shadow *s, double a, double b);

/* x as the working precision holds it. */
static inline double cupel_shadow_round(cupel_shadow *s, double x) {
    if (s->plan.noise) x = cupel_shadow_disturb(s, x);
    if (s->w.type == CUPEL_F32)
        x = (double)(float)x;
    else if (s->w.type != CUPEL_F64)
        x = cupel_round(s->w.type, x);
    return s->plan.flush && fabs(x) < s->w.normal ? copysign(0, x) : x;
}

/* x without the bits that the type lacks. */
double cupel_shadow_truncated(cupel_dtype type, double x);

/* a * b + c, rounded once. */
static inline double cupel_shadow_fma(cupel_shadow *s, double a, double b, double c) {
    if (s->w.type == CUPEL_F32) return cupel_shadow_round(s, (double)fmaf((float)a, (float)b, (float)c));
    return cupel_shadow_round(s, fma(a, b, c));
}

/* A function of one argument, a quotient and a power, by the plan's formulas. */
double cupel_shadow_function(cupel_shadow *s, cupel_op op, double x);
double cupel_shadow_divide(cupel_shadow *s, double x, double y);
double cupel_shadow_power(cupel_shadow *s, double x, double y);

/* ---- integers ---- */

/* x < y in the width in which a node computes: u64 lies in an int64_t by its bits. */
static inline bool cupel_shadow_less(cupel_dtype width, int64_t x, int64_t y) {
    return width == CUPEL_U64 ? (uint64_t)x < (uint64_t)y : x < y;
}

/* ---- sums ---- */

/* The sum of n terms a[i], or a[i] * b[i] where b is given, in the plan's order and accumulator; n is at most
 * longest. */
double cupel_shadow_sum(cupel_shadow *s, const double *a, const double *b, int64_t n);
/* The sum of n products of a matrix product, by the plan as well; on tensor cores where rules and plan say
 * so. */
double cupel_shadow_dot(cupel_shadow *s, const double *a, const double *b, int64_t n);
/* The same, one term after the other on top of start. */
double cupel_shadow_dot_onto(cupel_shadow *s, double start, const double *a, const double *b, int64_t n);
double cupel_shadow_product_of(cupel_shadow *s, const double *a, int64_t n);
/* acc + a (* b, fused or not): one step of an accumulation. */
double cupel_shadow_step(cupel_shadow *s, double acc, double a, const double *b);
/* The operands of element i of a real MATMUL: its row of the left one is returned, its column of the right
 * one is gathered into s->right. */
const double *cupel_shadow_factors(cupel_shadow *s, int product, int64_t i);
/* n operands of products, left or right ones, as the plan's fault takes them: in room, or as they are. */
const double *cupel_shadow_left(const cupel_shadow *s, const double *from, int64_t n);
const double *cupel_shadow_right(const cupel_shadow *s, const double *from, int64_t n);
/* How many of n terms a reduction sees: a dropped tail has fewer. */
int64_t cupel_shadow_seen(const cupel_shadow *s, int64_t n);

/* How long the blocks are between which a fault loses the carry. */
static inline int64_t cupel_shadow_block(const cupel_shadow *s) {
    return s->plan.lanes > 0 ? s->plan.lanes : 32;
}

/* ---- chains of + and - ---- */

enum { CUPEL_CHAIN_MAX = 64 };

/* The nodes that hold the terms of the chain which ends at `node`, in the order in which they are written;
 * returns how many, 0 where it is no chain or a longer one. */
int cupel_shadow_chain(const cupel_graph *graph, int node, int terms[CUPEL_CHAIN_MAX]);

/* Evaluates such a node as a sum in the plan's order. False: it is as it is written. */
bool cupel_shadow_chain_sum(cupel_shadow *s, int node);

/* ---- sums that start with a further term ---- */

/* The SUM or MATMUL whose accumulator starts with the other term of the ADD or SUB `node`, by the plan; -1:
 * none. */
int cupel_shadow_join(const cupel_shadow *s, int node);
/* Evaluates `node` so. */
void cupel_shadow_start_with(cupel_shadow *s, int node, int sum);

/* ---- the graph ---- */

cupel_shadow_pattern cupel_shadow_pattern_of(const cupel_graph *graph, int node, const bool *maxima);
/* maxima[i]: node i is the AMAX of a CUPEL_IDEA_MAXIMUM. */
void cupel_shadow_maxima(const cupel_graph *graph, bool *maxima);
/* Is it a - amax(a), the maximum guarded against infinities or not? */
bool cupel_shadow_is_below_maximum(const cupel_graph *graph, int node);

/* The elements of `source`, which has the shape of node `stop`, moved as the VIEWs and RESHAPEs between
 * `stop` and `node` move its: into fresh memory that the caller frees. */
CUPEL_MUST_USE cupel_code cupel_shadow_moved(cupel_shadow *s, int node, int stop, const void *source,
                                             void **out);

static inline const cupel_shadow_tensor *cupel_shadow_arg(const cupel_shadow *s, int node, int which) {
    return &s->tensors[s->graph->nodes[node].args[which]];
}

/* The length of a node's last axis; 1 for rank 0. */
static inline int64_t cupel_shadow_row(const cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    return n->rank > 0 ? n->shape[n->rank - 1] : 1;
}

/* The families, one function each: evaluates node into s->tensors[node], whose memory exists. */
#define CUPEL_SHADOW_FAMILIES(X)                                                                             \
    X(leaf)                                                                                                  \
    X(unary) X(binary) X(select) X(reduce) X(scan) X(product) X(shape) X(scatter) X(order) X(recurrence)
#define CUPEL_SHADOW_DECLARE(family)                                                                         \
    CUPEL_MUST_USE cupel_code cupel_shadow_##family(cupel_shadow *s, int node);
CUPEL_SHADOW_FAMILIES(CUPEL_SHADOW_DECLARE)
#undef CUPEL_SHADOW_DECLARE

#endif
