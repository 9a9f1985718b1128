/* The bounded fp64 evaluator: whole tensors, node by node, structure of arrays. Blocks in which nothing
 * special can happen (all finite, no underflow, no overflow) run through vectorised loops; the others element
 * by element through the rules of ball.h. Private to the files bounded*.c. */
#ifndef CUPEL_BOUNDED_H
#define CUPEL_BOUNDED_H

#include <string.h>

#include "ball.h"

enum { CUPEL_BOUNDED_BLOCK = 256 };

/* Before a loop whose iterations are independent: the cost model thinks too little of two lanes. */
#ifdef __clang__
#define CUPEL_VECTORISE _Pragma("clang loop vectorize(assume_safety)")
/* Of a long body one vector at a time: more would not fit the registers. */
#define CUPEL_VECTORISE_ALONE _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")
#else
#define CUPEL_VECTORISE
#define CUPEL_VECTORISE_ALONE
#endif

/* Compiled for the vector units there may be, the best of which is chosen when the program starts. The
 * results are the same bits: nothing is contracted or reordered. */
#if defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(CUPEL_ONE_TARGET)
#define CUPEL_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CUPEL_WIDE
#endif

/* One node's elements. Arrays that would hold one value everywhere are NULL. */
typedef struct cupel_tensor {
    int64_t count;
    double *value;
    double *radius;             /* NULL: 0 */
    uint8_t *classes, *reasons; /* NULL: finite, judged */
    double *magnitude, *spread,
        *grain;            /* kept where a consumer joins, scales or folds; NULL: those of a plain value */
    double *peak, *trough; /* kept for chains of wide range; NULL: the node-wide ones */
    double terms, roundings;
    int64_t scan; /* length of a cumulative sum's rows, whose element t has t more terms; 0: none */
    bool extents; /* the next two are known */
    double chain_peak, chain_trough; /* node-wide; of sums as in cupel_ball */
    double chain_divisors;           /* node-wide */
    bool products;                   /* a sum of products */
    double depth;                    /* of a sum of products, node-wide */
    double floor, ceiling;
    bool sum, direct;
    bool positive;   /* as in cupel_ball */
    bool narrowed;   /* by LOOSEN: */
    double relative; /* the largest radius over |value| before that */
    /* node-wide sizes, computed when first asked for */
    bool sized;
    double largest,
        least; /* of |value| + radius; of |value| - radius over elements that are not an exact zero */
} cupel_tensor;

typedef struct cupel_bounded_plan {
    int consumers; /* not yet evaluated; the tensor is freed with the last */
    bool has_sum;
    bool joins; /* ADD, SUB: their terms may be added in any order, with a sum's or as a chain */
    bool wants_magnitude, wants_chain;
    bool needed;    /* by an output */
    bool unwritten; /* a view that its consumers read where its argument lies, whose arrays its tensor
                       borrows (bounded_view.h, bounded_operand.h) */
    cupel_trait trait;
} cupel_bounded_plan;

enum { CUPEL_POOL_MAX = 64 };

/* Arrays given back, for the next tensors: fresh memory costs more than the arithmetic on it. */
typedef struct cupel_pool {
    int count;
    struct {
        void *memory;
        size_t size;
    } free[CUPEL_POOL_MAX];
} cupel_pool;

typedef struct cupel_bounded {
    const cupel_graph *graph;
    const cupel_bindings *bindings;
    cupel_working w;
    cupel_tensor *tensors;     /* per node */
    cupel_bounded_plan *plans; /* per node */
    cupel_arena *arena;
    cupel_pool pool;
    cupel_error *err;
} cupel_bounded;

/* Memory of a tensor. Arrays come uninitialised but for radius (0), classes (FINITE) and reasons (JUDGED). */
CUPEL_MUST_USE cupel_code cupel_tensor_create(cupel_bounded *b, int node);
CUPEL_MUST_USE cupel_code cupel_tensor_need_radius(cupel_bounded *b, cupel_tensor *t);
/* As need_radius, uninitialised: for those who then write every element. */
CUPEL_MUST_USE cupel_code cupel_tensor_take_radius(cupel_bounded *b, cupel_tensor *t);
CUPEL_MUST_USE cupel_code cupel_tensor_need_classes(cupel_bounded *b, cupel_tensor *t);
CUPEL_MUST_USE cupel_code cupel_tensor_need_reasons(cupel_bounded *b, cupel_tensor *t);
CUPEL_MUST_USE cupel_code cupel_tensor_need_magnitude(cupel_bounded *b, cupel_tensor *t);
CUPEL_MUST_USE cupel_code cupel_tensor_need_chain(cupel_bounded *b, cupel_tensor *t);
/* The arrays of an output that it lacks, uninitialised; they are not given back. */
CUPEL_MUST_USE cupel_code cupel_tensor_take_output(cupel_bounded *b, cupel_allowed *out);
/* Gives the arrays back to the pool. */
void cupel_tensor_free(cupel_bounded *b, cupel_tensor *t);

/* A sum whose factors are asked for keeps every element's extents; at its end, the node-wide ones. */
void cupel_tensor_end_chain(cupel_tensor *t);

/* The largest sum of extents (cupel_ball_extent) of n elements from begin on, which are plain; magnitude:
 * the sum of |value| + radius. */
double cupel_tensor_extent(const cupel_tensor *t, int64_t begin, int64_t n, double magnitude);

/* Computes largest and least. */
void cupel_tensor_size(cupel_tensor *t);

/* One element as the rules see it, and back. */
cupel_ball cupel_tensor_load(const cupel_tensor *t, int64_t i);
CUPEL_MUST_USE cupel_code cupel_tensor_store(cupel_bounded *b, cupel_tensor *t, int64_t i,
                                             const cupel_ball *ball);

/* Gives `to` the arrays and node-wide attributes of `from`; sums and chains only when the whole node comes
 * from there (state). */
CUPEL_MUST_USE cupel_code cupel_tensor_adopt(cupel_bounded *b, cupel_tensor *to, const cupel_tensor *from,
                                             bool state);
/* Copies n elements, with everything that is kept of them, to where they stand in line. The destination has
 * the arrays that the source has. */
void cupel_tensor_copy(cupel_tensor *to, int64_t at, const cupel_tensor *from, int64_t begin, int64_t step,
                       int64_t n);

/* Are elements begin .. begin + n - 1 all finite, judged? */
bool cupel_tensor_is_plain(const cupel_tensor *t, int64_t begin, int64_t n);

/* May the loops run at all? Not under flush where a value may be subnormal. */
bool cupel_tensor_keeps(const cupel_bounded *b, cupel_tensor *t);

/* Could a result of this block be flushed to zero? */
bool cupel_tensor_may_flush(const cupel_bounded *b, const cupel_tensor *t, int64_t begin, int64_t n);

/* The families, one function each: evaluates node into b->tensors[node], which exists. */
#define CUPEL_BOUNDED_FAMILIES(X)                                                                            \
    X(leaf)                                                                                                  \
    X(unary) X(binary) X(select) X(reduce) X(scan) X(product) X(shape) X(scatter) X(order) X(recurrence)
#define CUPEL_BOUNDED_DECLARE(family)                                                                        \
    CUPEL_MUST_USE cupel_code cupel_bounded_##family(cupel_bounded *b, int node);
CUPEL_BOUNDED_FAMILIES(CUPEL_BOUNDED_DECLARE)
#undef CUPEL_BOUNDED_DECLARE

/* Shared by the loops. */
static inline uint64_t cupel_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* x rounded to p bits, as Veltkamp's splitting does; splitter is 2^(53-p) + 1. Equal to x exactly when x has
 * at most p bits, whatever its exponent. In floating point alone, so that loops over it vectorise. */
static inline double cupel_rounded_bits(double x, double splitter) {
    const double scaled = x * splitter;
    return scaled - (scaled - x);
}

static inline double cupel_splitter(int precision) {
    return (double)(UINT64_C(1) << (53 - precision)) + 1;
}

/* fp64 may overflow where the exact value is only large: finite operands away from a pole give a finite
 * result. */
static inline double cupel_keep_finite(double result, bool finite) {
    return finite && isinf(result) ? copysign(0x1.fffffffffffffp+1023, result) : result;
}

/* The exponent of the lowest set bit; a large number for 0. */
static inline int cupel_low_exponent(double x) {
    const uint64_t bits = cupel_bits(x), fraction = bits & UINT64_C(0xfffffffffffff);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0) return fraction ? -1074 : 4096;
    return exponent - 1075 + (fraction ? __builtin_ctzll(fraction) : 52);
}

/* The largest power of two that x is a multiple of; infinity for 0. In few operations that vectorise: x less
 * its lowest bit, and the difference. */
static inline double cupel_grain(double x) {
    const uint64_t bits = cupel_bits(x), fraction = bits & UINT64_C(0xfffffffffffff);
    const uint64_t rest_bits = fraction ? bits & (bits - 1) : 0;
    double rest;
    memcpy(&rest, &rest_bits, sizeof rest);
    const double grain = fabs(x - rest);
    return x == 0 ? INFINITY : grain;
}

/* Is a sum of multiples of 2^low with sum of magnitudes `size` exact in any order? (DESIGN 3.1) */
static inline bool cupel_exact_sum(double size, int low, int precision) {
    return size == 0 || (low < 2048 && size <= ldexp(1, low + precision));
}

static inline double cupel_radius_at(const cupel_tensor *t, int64_t i) {
    return t->radius ? t->radius[i] : 0;
}

static inline cupel_tensor *cupel_bounded_arg(cupel_bounded *b, int node, int which) {
    return &b->tensors[b->graph->nodes[node].args[which]];
}

#endif
