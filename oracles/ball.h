/* One element of one node, as both evaluators carry it: the exact value, how far a conforming kernel may be
 * from it, and what else the rules of DESIGN 3.1 need to know. These functions are the single statement of
 * those rules. The exact evaluator computes `value` in MPFR and takes radius, classes and reason from here;
 * the bounded one computes it in fp64 and uses loops of its own only where all operands are plain (finite, no
 * underflow, no overflow).
 *
 * `value` is the nearest double to the exact value and `exact` says that it equals it. Everything else is
 * rounded up. */
#ifndef CUPEL_BALL_H
#define CUPEL_BALL_H

#include <math.h>

#include "budgets.h"
#include "classes.h"

typedef struct cupel_ball {
    double value;
    double radius;         /* of finite results; 0: every conforming kernel holds exactly value */
    double floor, ceiling; /* the range of the operation that made it, which clips value -+ radius */
    /* sums: + - around a sum join it as further terms; MUL and DIV by a factor may go inside */
    double magnitude; /* sum of |term| + radius over the finite terms, beside infinite ones too; |value| +
                         radius when it is no sum */
    double spread;    /* the terms' own radii, without the roundings of the sum */
    double terms;     /* number of terms, 1 when it is no sum; what tensor cores cut counts as further ones */
    double grain;     /* a power of two that all terms are multiples of; 0 when some term is not exact */
    double least;     /* no nonzero term of any kernel is smaller in magnitude; 0 when that is not known */
    bool sum;         /* contains a sum or matrix product, so that further terms join it */
    bool positive; /* the sum of two that are both not negative, whose bound holds for further terms' sums */
    bool products; /* some term of the sum is a product, whose common factors may stay outside the sum */
    double carry;  /* sums: 1 lost in one factor of every term is at most this much lost in the sum */
    double depth;  /* sums: no sub-product of a term is smaller than this, or than 1 */
    /* products: factors and divisors in any order */
    double peak, trough; /* products of max(1, |factor|) and of min(1, |factor|); divisors count inverted. Of
                            a sum: the sum of its terms' peaks */
    double divisors;     /* the product of max(1, |divisor|): kernels may multiply the divisors first */
    double loosened;     /* of the radius: what narrowing the operand of a product added */
    bool direct; /* by copy, negation, product or quotient of inputs and literals: the sign of an exact zero
                is judged */
    double roundings; /* of the whole chain if every operation rounds, in u; 0 when it is no product */
    uint8_t classes, reason;
} cupel_ball;

/* What the surroundings of a node say about it. */
typedef struct cupel_trait {
    bool square;        /* MUL of a node with itself */
    uint8_t joins;      /* ADD, SUB: as in cupel_node */
    bool below_maximum; /* SUB: x - amax(x) over the same axis */
    bool folded;       /* EXP, EXP2 of a difference: scale and log2(e) may be folded into both of its sides */
    bool root_divisor; /* DIV by SQRT: kernels multiply by rsqrt */
    bool
        constant_divisor; /* DIV by a literal or parameter: a power of two is exact, the hardware's way too */
    bool softmax_sum;     /* SUM of exp(x - amax(x)): at least 1 */
    bool in_statistic;    /* sums here are never exact, nor joined: Welford and Chan round */
    bool rescalable;      /* SUM, MATMUL: a running maximum with rescaling */
    double overflow;      /* factor of the overflow rule, at least 4 */
    cupel_dtype width;    /* of integers: as in cupel_node */
} cupel_trait;

cupel_trait cupel_trait_of(const cupel_graph *graph, int node);

/* The enclosure of the finite results, clipped to the range. */
static inline double cupel_ball_lo(const cupel_ball *b) {
    return isfinite(b->value) ? fmax(b->value - b->radius, b->floor) : b->floor;
}
static inline double cupel_ball_hi(const cupel_ball *b) {
    return isfinite(b->value) ? fmin(b->value + b->radius, b->ceiling) : b->ceiling;
}
/* Does every conforming kernel hold exactly value there? */
static inline bool cupel_ball_is_settled(const cupel_ball *b) {
    return b->radius == 0 && (b->classes & CUPEL_CLASS_MASK) == cupel_class_of(b->value);
}
static inline cupel_reach cupel_ball_reach(const cupel_ball *b) {
    return (cupel_reach){cupel_ball_lo(b), cupel_ball_hi(b), b->classes};
}

/* The radius about value that reaches lo and hi: rounded up where a difference is, so that value -+ radius
 * does not fall short of an end that is far smaller than value. */
static inline double cupel_ball_radius_to(double value, double lo, double hi) {
    double radius = fmax(fmax(hi - value, value - lo), 0);
    if (value - radius > lo || value + radius < hi) radius = nextafter(radius, INFINITY);
    return radius;
}

/* A leaf: an element of an input, or a literal. Values that the working precision lacks are rounded by the
 * kernel. */
cupel_ball cupel_ball_leaf(const cupel_working *w, cupel_value_kind kind, double value, bool exact);

/* An element of known value and radius that belongs to no chain: what the bounded evaluator stores of most
 * nodes. */
cupel_ball cupel_ball_plain(double value, double radius, uint8_t classes, uint8_t reason);

/* NEG ABS SIGN FLOOR CEIL ROUND TRUNC, ISNAN ISINF ISFINITE NOT BITNOT, TOREAL and the functions. kind: of
 * the result. */
cupel_ball cupel_ball_unary(const cupel_working *w, const cupel_trait *t, cupel_op op, cupel_value_kind kind,
                            const cupel_ball *a, double value, bool exact);

/* ADD SUB MUL DIV POW FMOD REMAINDER ATAN2, extrema, comparisons, logic and bits. kind: of the operands. */
cupel_ball cupel_ball_binary(const cupel_working *w, const cupel_trait *t, cupel_op op, cupel_value_kind kind,
                             const cupel_ball *a, const cupel_ball *b, double value, bool exact);

/* Their parts by family. */
cupel_ball cupel_ball_add(const cupel_working *w, const cupel_trait *t, bool subtract, const cupel_ball *a,
                          const cupel_ball *b, double value, bool exact);
cupel_ball cupel_ball_multiply(const cupel_working *w, const cupel_trait *t, const cupel_ball *a,
                               const cupel_ball *b, double value, bool exact);
cupel_ball cupel_ball_divide(const cupel_working *w, const cupel_trait *t, const cupel_ball *a,
                             const cupel_ball *b, double value, bool exact);
cupel_ball cupel_ball_integer(const cupel_working *w, cupel_dtype width, cupel_op op, const cupel_ball *a,
                              const cupel_ball *b, double value);
cupel_ball cupel_ball_compare(cupel_op op, const cupel_ball *a, const cupel_ball *b, double value);
cupel_ball cupel_ball_extremum(const cupel_working *w, cupel_op op, const cupel_ball *a, const cupel_ball *b,
                               double value);

/* WHERE; value is the exact result, that of the branch taken. */
cupel_ball cupel_ball_where(const cupel_ball *condition, const cupel_ball *yes, const cupel_ball *no,
                            double value);

/* CAST to type (the rounding of CAST is wanted: it is part of the exact value). before: the unrounded
 * argument; value: the exact argument rounded to type. */
cupel_ball cupel_ball_cast(const cupel_working *w, cupel_dtype type, const cupel_ball *a, double value);

/* BETWEEN: x, and where the condition is not surely false the hull of x and y. */
cupel_ball cupel_ball_between(const cupel_ball *x, const cupel_ball *y, const cupel_ball *condition);
/* EXCLUDE: x, not judged unless the condition is surely false; the sign of a zero never is. */
cupel_ball cupel_ball_exclude(const cupel_ball *x, const cupel_ball *condition);

/* LOOSEN: an operand that a kernel may round to nearest or truncate to `type`, or use as it is. A number of
 * the type stays as it is, unless it is `scaled`: multiplied by a factor before. The others are for what is
 * known of a whole tensor: the end of a range below and above, and the least and most of magnitudes. In
 * ball_loosen.c. */
cupel_ball cupel_ball_loosen(const cupel_working *w, cupel_dtype type, bool scaled, const cupel_ball *a);
/* A scaled operand below this may be subnormal when it is narrowed, and loses at most that. */
double cupel_loosen_normal(cupel_dtype type, bool scaled);
double cupel_loosen_smallest(cupel_dtype type, bool scaled);
double cupel_loosen_floor(cupel_dtype type, double floor);
double cupel_loosen_ceiling(cupel_dtype type, double ceiling);
double cupel_loosen_down(cupel_dtype type, double least);
double cupel_loosen_up(cupel_dtype type, double most);

/* SUM, CUMSUM and a MATMUL element: start, show every term (or product), end with the exact sum. kind INT
 * sums are exact. */
typedef struct cupel_ball_tally {
    double magnitude, spread, grain, least;
    double rescale;            /* sum over terms of |term|*u + radius, for running rescales */
    double floor;              /* no term lies below: 0 or more makes the sum so */
    double peak, carry, depth; /* as in cupel_ball */
    double outside;            /* no product of factors that all terms share is larger */
    double aligned;            /* of a matrix product on tensor cores: what its terms are aligned to */
    int64_t terms;
    bool products;
    cupel_sum_classes classes;
    uint8_t reason;
} cupel_ball_tally;

/* What a sum of products on tensor cores may lose, in u of the sum of what its terms are aligned to, for each
 * term. Products are exact; they, and the accumulator with each instruction's (of at least four terms), are
 * aligned to the largest exponent and cut, not rounded, to at least 24 bits, and the sum is cut again: at
 * most n + 2 n / 4 cuts, each of less than 2 u. Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of
 * NVIDIA tensor cores", 2021, where Volta has no guard bits; later ones have one to three. A subnormal
 * operand has the exponent of the smallest normal number there: seen on an H200, where f16 subnormals cost up
 * to ten bits. A subnormal sum is cut to a multiple of the smallest number, 2 eta, after each
 * instruction. */
enum { CUPEL_MATRIX_CUTS = 3 };
/* What |factor| counts for in that alignment. */
static inline double cupel_ball_aligned(const cupel_working *w, double size) {
    return size > 0 ? fmax(size, w->matrix_normal) : 0;
}

cupel_ball_tally cupel_ball_tally_start(void);
void cupel_ball_tally_add(const cupel_working *w, cupel_ball_tally *tally, const cupel_ball *term);
/* product is the rounded-free product of a and b, nearest double; exact as above. */
void cupel_ball_tally_product(const cupel_working *w, cupel_ball_tally *tally, const cupel_ball *a,
                              const cupel_ball *b, double product, bool exact);
/* A number with a radius that is no sum, product or quotient, and of no other class. grain: as in cupel_ball.
 */
typedef struct cupel_factor {
    double value, radius, floor, grain;
} cupel_factor;
/* The same, faster, of two such factors; false, and nothing is added, where only the general rule applies. */
bool cupel_ball_tally_factors(const cupel_working *w, cupel_ball_tally *tally, const cupel_factor *a,
                              const cupel_factor *b);
cupel_ball cupel_ball_tally_end(const cupel_working *w, const cupel_trait *t, cupel_value_kind kind,
                                const cupel_ball_tally *tally, double value, bool exact);

/* PROD and CUMPROD: fold with this, starting at cupel_ball_one(); value is the exact partial product. */
cupel_ball cupel_ball_one(void);
cupel_ball cupel_ball_prod_step(const cupel_working *w, const cupel_trait *t, cupel_value_kind kind,
                                const cupel_ball *product, const cupel_ball *factor, double value,
                                bool exact);

/* Forgets the chain: step by step, the next factor of a cumulative product meets this as it is. */
static inline cupel_ball cupel_ball_unchained(const cupel_ball *b) {
    return cupel_ball_plain(b->value, b->radius, b->classes, b->reason);
}

/* ARGMAX, ARGMIN over count elements: every index whose element may win. */
cupel_ball cupel_ball_arg(const cupel_working *w, cupel_op op, const cupel_ball *elements, int64_t count);

/* SORT and ARGSORT of a row: out[k] gets what position k may hold. False when memory is short. `kind`: of the
 * elements. Where enclosures overlap an index is open among all that may stand there; where equal numbers
 * stand beside each other it is known in the stable order, and otherwise a convention (torch.sort and
 * torch.topk promise no order among them). */
CUPEL_MUST_USE bool cupel_ball_sort(const cupel_working *w, cupel_value_kind kind, const cupel_ball *elements,
                                    int64_t n, cupel_ball *out);
CUPEL_MUST_USE bool cupel_ball_argsort(const cupel_working *w, cupel_value_kind kind,
                                       const cupel_ball *elements, int64_t n, bool stable, cupel_ball *out);

/* Why an index into `extent` elements leaves what it selects open; JUDGED when it does not. */
uint8_t cupel_ball_index_reason(const cupel_ball *index, int64_t extent);

/* Rounding to the output type of both ends, overflow threshold included; fills lo, hi, classes for an output
 * element. Moves an INT beyond 2^53 to UNABLE. In allowed.c. */
typedef struct cupel_permitted {
    double lo, hi, radius;
    uint8_t classes, reason;
} cupel_permitted;
cupel_permitted cupel_ball_permit(const cupel_working *w, cupel_dtype type, cupel_value_kind kind,
                                  const cupel_ball *b);

/* Used by the families: closes an element of a rounded operation. Classes get the value's own; a value that
 * is not finite beside a finite possibility has no bound; flush takes the hull with zero; overflow (top: the
 * largest magnitude on any legal way) makes it not judged. */
cupel_ball cupel_ball_close(const cupel_working *w, const cupel_trait *t, cupel_ball b, double top);

/* With the roundings of doubles on the way to a radius: far below the working precision's, but not nothing.
 */
static inline double cupel_ball_inflated(double radius, double value) {
    return radius * (1 + 0x1p-48) + fabs(value) * 0x1p-52;
}

/* An operand as a kernel may read it: under flush a subnormal may be a zero. */
cupel_ball cupel_ball_operand(const cupel_working *w, const cupel_ball *a);

/* Is it a product, or a sum of products: are there factors that a sum it is a term of may leave outside? */
static inline bool cupel_ball_is_product(const cupel_ball *a) {
    return a->roundings > 0 || a->products;
}

/* As a term of a sum: the largest intermediate that it contributes, whichever factors are left outside; and
 * carry and depth. */
static inline double cupel_ball_extent(const cupel_ball *a) {
    if (cupel_ball_is_product(a)) return a->peak;
    return a->sum ? a->magnitude : isfinite(a->value) ? fabs(a->value) + a->radius : 0;
}
static inline double cupel_ball_carry(const cupel_ball *a) {
    if (a->sum) return a->carry;
    return a->roundings > 0 ? a->peak : 1;
}
static inline double cupel_ball_depth(const cupel_ball *a) {
    if (a->sum) return a->depth;
    return a->roundings > 0 ? a->trough : a->least;
}

/* What one quotient may lose at the bottom of the range: an approximate one is as many subnormal ulps off as
 * elsewhere. */
static inline double cupel_quotient_loss(const cupel_working *w, bool chained) {
    if (w->flush && chained) return w->normal;
    return (w->fast ? w->division : 1) * w->eta;
}

static inline uint8_t cupel_reason_of(const cupel_ball *a, const cupel_ball *b) {
    return a->reason ? a->reason : b->reason;
}

#endif
