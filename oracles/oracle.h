/* What the oracle permits. Shared by the bounded fp64 and the exact evaluator; the rules are DESIGN 3.1
 * (docs/oracle.md). */
#ifndef CUPEL_ORACLE_H
#define CUPEL_ORACLE_H

#include "graph.h"

typedef enum cupel_subnormal_rule { CUPEL_SUBNORMALS_KEEP, CUPEL_SUBNORMALS_FLUSH } cupel_subnormal_rule;

typedef struct cupel_rules {
    cupel_dtype working; /* accumulate: the precision that conforming kernels compute in */
    bool fast_math;      /* math: fast */
    bool fast_functions; /* ... and the contract has CUDA's compiler replace the standard functions by
                            intrinsics */
    cupel_subnormal_rule subnormals;
    bool sequential;      /* order: sequential: scans and recurrences go step by step, in order */
    double matrix_normal; /* the smallest normal number of the inputs' types that tensor cores multiply (the
                             largest such, where there are several); 0: no input has one */
    bool range_safe; /* range: safe; else elements on which the working precision may overflow are not judged
                      */
} cupel_rules;

/* Contents of the inputs in the graph's input order: contiguous, row major, encoded in their element types.
 */
typedef struct cupel_bindings {
    int count;
    const void *const *data;
} cupel_bindings;

/* Classes that a conforming kernel may return for an element. */
enum {
    CUPEL_CLASS_FINITE = 1,
    CUPEL_CLASS_POS_INF = 2,
    CUPEL_CLASS_NEG_INF = 4,
    CUPEL_CLASS_NAN = 8,
    CUPEL_CLASS_MASK = 15,
    CUPEL_ZERO_SIGN_FIXED = 16,    /* the exact result is a zero whose sign is judged, */
    CUPEL_ZERO_SIGN_NEGATIVE = 32, /* and it is negative */
    CUPEL_KEEP = 64                /* the element must be left as it was */
};

/* Why an element is not judged. */
#define CUPEL_REASONS(X)                                                                                     \
    X(JUDGED, "judged", "judged")                                                                            \
    X(OVERFLOW, "overflow", "the working precision may overflow in a legal order of evaluation")             \
    X(UNBOUNDED, "unbounded", "no finite error bound")                                                       \
    X(CONVENTION, "convention", "the contract leaves the convention open")                                   \
    X(EXCLUDED, "excluded", "what is excluded, padded or left out of a gradient meets an infinity or a NaN") \
    X(UNABLE, "unable", "no answer within the precision cap")                                                \
    X(SAMPLED_OUT, "unsampled", "not in the sample of this large output")                                    \
    X(NOT_RUN, "unrun", "of a block that was left out of this run")

typedef enum cupel_reason {
#define CUPEL_REASON_NAME(name, word, text) CUPEL_REASON_##name,
    CUPEL_REASONS(CUPEL_REASON_NAME)
#undef CUPEL_REASON_NAME
        CUPEL_REASON_COUNT
} cupel_reason;

const char *cupel_reason_word(cupel_reason reason); /* one word, as in JSON and docs/oracle.md */
const char *cupel_reason_text(cupel_reason reason);

/* The allowed set of one output: element i may be a number x of the output type with lo[i] <= x <= hi[i] if
 * classes[i] has FINITE, and infinities and NaN as classes[i] says. lo and hi are already rounded to the
 * output type (as doubles; beyond 2^53 least and most hold what doubles cannot). An element whose reason is
 * not JUDGED permits everything. */
typedef struct cupel_allowed {
    const char *name;
    cupel_dtype type;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    int64_t count;
    double *value;          /* the exact value, nearest double */
    double *lo, *hi;        /* ends of the interval of finite results */
    uint64_t *least, *most; /* i64 and u64 outputs: the ends exactly, as the type's own bits; else NULL */
    double *radius;         /* before rounding to the output type; may be infinite */
    uint8_t *classes;       /* CUPEL_CLASS_* */
    uint8_t *reasons;       /* cupel_reason */
    int64_t judged;
    int64_t by_reason[CUPEL_REASON_COUNT];
} cupel_allowed;

/* May the element with these bits stand at position i? The comparison is written so that NaN never passes by
 * accident. */
typedef enum cupel_judgement {
    CUPEL_ALLOWED,
    CUPEL_NOT_JUDGED,
    CUPEL_WRONG_VALUE, /* finite, outside the interval */
    CUPEL_WRONG_NAN,   /* NaN where none is allowed */
    CUPEL_WRONG_INF,   /* an infinity (or one of the wrong sign) where it is not allowed */
    CUPEL_MISSING_NAN, /* a number where only NaN is allowed */
    CUPEL_MISSING_INF, /* a finite number where only an infinity is allowed */
    CUPEL_WRONG_ZERO_SIGN,
    CUPEL_NOT_KEPT /* an element that was to be left alone has changed (original bytes are compared by the
                      caller) */
} cupel_judgement;

cupel_judgement cupel_judge_element(const cupel_allowed *allowed, int64_t index, const void *element);

/* |element - value| / (largest permitted deviation on that side), 0 for exact agreement, infinity outside a
 * point set; NaN where not judged, the radius is infinite or no finite comparison makes sense: closeness for
 * the search. */
double cupel_judge_ratio(const cupel_allowed *allowed, int64_t index, const void *element);

/* Bounded fp64 (bounded.c): allowed sets of all outputs, all elements. outputs has graph->output_count
 * entries, memory from arena. A filter: nothing is reported before cupel_oracle_exact agrees. */
CUPEL_MUST_USE cupel_code cupel_oracle_bounded(const cupel_graph *graph, const cupel_bindings *bindings,
                                               const cupel_rules *rules, cupel_arena *arena,
                                               cupel_allowed *outputs, cupel_error *err);

/* Exact (exact.c): the element `index` of output `output` in MPFR, precision doubled until the answer rounds
 * one way (cap 1,200 bits for f64 outputs, 256 for others), radius recomputed with outward rounding. Nodes'
 * elements are evaluated on demand and remembered in the session, so that elements of one row share their
 * sums. */
typedef struct cupel_exact_session cupel_exact_session;

typedef struct cupel_exact_element {
    double value;   /* nearest double of the exact value (NaN, infinity where the exact answer is one) */
    double rounded; /* the exact value correctly rounded to the output type */
    double lo, hi;  /* as in cupel_allowed, */
    uint64_t least, most; /* of i64 and u64 outputs */
    double radius;        /* rounded up */
    uint8_t classes;
    uint8_t reason;
    int precision;   /* bits used */
    char digits[64]; /* the exact value in decimal, as many as are certain of 40 significant digits; "nan",
                        "inf" */
} cupel_exact_element;

CUPEL_MUST_USE cupel_code cupel_exact_open(const cupel_graph *graph, const cupel_bindings *bindings,
                                           const cupel_rules *rules, cupel_exact_session **out,
                                           cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_exact_element_of(cupel_exact_session *session, int output, int64_t index,
                                                 cupel_exact_element *out, cupel_error *err);
/* The whole output in MPFR, for f64 outputs and for tests: fills in out as cupel_oracle_bounded does. */
CUPEL_MUST_USE cupel_code cupel_exact_output(cupel_exact_session *session, int output, cupel_arena *arena,
                                             cupel_allowed *out, cupel_error *err);
/* Judges what cupel_oracle_bounded could not: elements of out that are UNABLE (integers beyond 2^53) are
 * evaluated exactly, up to `most` of them, evenly spread; the others stay as they are. */
CUPEL_MUST_USE cupel_code cupel_exact_complete(cupel_exact_session *session, int output, int64_t most,
                                               cupel_allowed *out, cupel_error *err);
/* The same for an output of more than `most` elements (1 or more): the first, the last, and one at random
 * (keyed by seed and output) of each of `most` stretches of equal length. The others permit everything and
 * are SAMPLED_OUT. */
CUPEL_MUST_USE cupel_code cupel_exact_sample(cupel_exact_session *session, int output, int64_t most,
                                             uint64_t seed, cupel_arena *arena, cupel_allowed *out,
                                             cupel_error *err);
void cupel_exact_close(cupel_exact_session *session);

#endif
