/* Shadows: the graph evaluated as a kernel would, every operation rounded to the working precision, by a plan
 * that says how. Good plans are conforming kernels: they say what correct code achieves on this very input.
 * Faulty plans have one fault each: they say what a broken kernel would return. */
#ifndef CUPEL_SHADOW_H
#define CUPEL_SHADOW_H

#include "oracle.h"

/* How terms of a sum (or factors of a product over an axis) are brought together. */
typedef enum cupel_shadow_summation {
    CUPEL_SHADOW_SEQUENTIAL,
    CUPEL_SHADOW_REVERSED,
    CUPEL_SHADOW_PAIRWISE, /* neighbours, level by level */
    CUPEL_SHADOW_LANES,    /* term i goes to lane i % lanes; the lanes' sums are folded in halves */
    CUPEL_SHADOW_CHUNKS,   /* lanes of consecutive terms, ceil(n / lanes) each; folded as above */
    CUPEL_SHADOW_STEPS,    /* term i goes to lane i % lanes; the lanes' sums are added one after the other */
    CUPEL_SHADOW_TILES, /* sums of `lanes` consecutive terms, whose total is kept in the working precision */
    CUPEL_SHADOW_PERMUTED, /* sequential over a random permutation */
    CUPEL_SHADOW_TREE,     /* random tree: two random partial sums are added, again and again */
    CUPEL_SHADOW_KAHAN     /* sequential, compensated */
} cupel_shadow_summation;

/* What is done to operands that `products` of the contract leaves free (LOOSEN). */
typedef enum cupel_shadow_operands {
    CUPEL_SHADOW_AS_GIVEN,
    CUPEL_SHADOW_ROUNDED,
    CUPEL_SHADOW_TRUNCATED
} cupel_shadow_operands;

/* name, how it is said: "a kernel WITH ... gives the same bits" */
#define CUPEL_SHADOW_FAULTS(X)                                                                               \
    X(NO_FAULT, "no-fault", "no fault")                                                                      \
    X(F16_ACCUMULATOR, "f16-accumulator", "an fp16 accumulator")                                             \
    X(BF16_ACCUMULATOR, "bf16-accumulator", "a bf16 accumulator")                                            \
    X(F32_ACCUMULATOR, "f32-accumulator", "an fp32 accumulator")                                             \
    X(TF32_PRODUCTS, "tf32-products", "operands of products rounded to tf32")                                \
    X(TF32_CUT, "tf32-cut", "operands of products cut to tf32")                                              \
    X(BF16_PRODUCTS, "bf16-products", "operands of products rounded to bf16")                                \
    X(BF16_CUT, "bf16-cut", "operands of products cut to bf16")                                              \
    X(F16_PRODUCTS, "f16-products", "operands of products rounded to fp16")                                  \
    X(FLUSHED, "flush-to-zero", "subnormals flushed to zero")                                                \
    X(NO_MAXIMUM, "no-maximum", "exp taken without subtracting the maximum")                                 \
    X(ONE_PASS, "one-pass-variance", "a one-pass variance, E[x^2] - E[x]^2")                                 \
    X(NAN_SWALLOWED, "nan-swallowed", "maxima and comparisons that swallow a NaN")                           \
    X(INF_CLAMPED, "inf-clamped", "an infinity clamped to the largest number")                               \
    X(DROPPED_TAIL, "dropped-tail", "a reduction that leaves out the last n % 32 elements")                  \
    X(DROPPED_LAST, "dropped-last", "a reduction that leaves out the last element")                          \
    X(LAST_TIE, "last-tie", "ties that go to the last index instead of the first")                           \
    X(REVERSED_SCAN, "reversed-scan", "a scan that runs from the end to the start")                          \
    X(EXCLUSIVE_SCAN, "exclusive-scan", "a scan that leaves out the element itself")                         \
    X(DROPPED_CARRY, "dropped-carry", "a scan in blocks without a carry between them")                       \
    X(SHORT_CARRY, "short-carry", "a scan in blocks whose carry holds only the block before")                \
    X(RAW_CARRY, "raw-carry", "a recurrence in blocks whose carry comes in undecayed")                       \
    X(STOPS_AT_ZERO, "stops-at-zero", "a sum that stops at its first zero")

typedef enum cupel_shadow_fault {
#define CUPEL_SHADOW_FAULT_NAME(name, text, sentence) CUPEL_SHADOW_##name,
    CUPEL_SHADOW_FAULTS(CUPEL_SHADOW_FAULT_NAME)
#undef CUPEL_SHADOW_FAULT_NAME
        CUPEL_SHADOW_FAULT_COUNT
} cupel_shadow_fault;

/* Faults that are a matter of order (ORD-03), and those that are a matter of the precision in which sums are
 * taken (PRC-02): of the accumulator, or of the operands of their products. */
enum {
    CUPEL_SHADOW_ORDER_FAULTS = 1 << CUPEL_SHADOW_LAST_TIE | 1 << CUPEL_SHADOW_REVERSED_SCAN |
                                1 << CUPEL_SHADOW_EXCLUSIVE_SCAN | 1 << CUPEL_SHADOW_DROPPED_CARRY |
                                1 << CUPEL_SHADOW_SHORT_CARRY | 1 << CUPEL_SHADOW_RAW_CARRY,
    CUPEL_SHADOW_CARRY_FAULTS =
        1 << CUPEL_SHADOW_DROPPED_CARRY | 1 << CUPEL_SHADOW_SHORT_CARRY | 1 << CUPEL_SHADOW_RAW_CARRY,
    CUPEL_SHADOW_OPERAND_FAULTS = 1 << CUPEL_SHADOW_TF32_PRODUCTS | 1 << CUPEL_SHADOW_TF32_CUT |
                                  1 << CUPEL_SHADOW_BF16_PRODUCTS | 1 << CUPEL_SHADOW_BF16_CUT |
                                  1 << CUPEL_SHADOW_F16_PRODUCTS,
    CUPEL_SHADOW_ACCUMULATOR_FAULTS = 1 << CUPEL_SHADOW_F16_ACCUMULATOR | 1 << CUPEL_SHADOW_BF16_ACCUMULATOR |
                                      1 << CUPEL_SHADOW_F32_ACCUMULATOR,
    CUPEL_SHADOW_SUM_FAULTS = CUPEL_SHADOW_ACCUMULATOR_FAULTS | CUPEL_SHADOW_OPERAND_FAULTS
};

/* How the graph is evaluated. The zero plan is the plainest kernel: sequential, nothing fused. What the rules
 * do not admit is left out whatever the plan says: hardware forms need math: fast, flushing subnormals:
 * flush, re-associated scans order: any. */
typedef struct cupel_shadow_plan {
    const char *name, *sentence;
    cupel_shadow_summation order;
    int lanes;     /* of LANES to TILES; the block of blocked scans, and of a carry's fault (0: 32) */
    uint64_t seed; /* of PERMUTED, TREE and noise */
    bool fused;    /* a*b + c with one rounding */
    bool hardware; /* exp as ex2(x * log2 e), reciprocal, rsqrt, sine and cosine as the special function unit
                      gives them */
    bool reciprocal;   /* x / y as x * (1/y) */
    bool welford;      /* mean and variance by Welford's recurrence */
    bool online;       /* sums of exp(x - amax(x)) with a running maximum */
    bool folded;       /* exp(a - b) as exp2(a log2 e - b log2 e) */
    bool tensor_cores; /* matrix products are cut, not rounded, as tensor cores do */
    bool joined;       /* an accumulator starts with what is added to its sum */
    bool other;        /* of two forms that the contract admits (BETWEEN) the second */
    bool loose;        /* functions computed with an error relative to 1, as the graph states them */
    bool flush;
    bool noise; /* every rounding is off by up to one unit roundoff more, every function by up to its budget,
                   at random: not a kernel, but a measure of how much roundings matter that no lucky input can
                   fool */
    cupel_shadow_operands operands;
    bool ties_away;             /* operands that a fault rounds: ties away from zero, as cvt.rna.tf32 does; */
    bool keep_left, keep_right; /* and one of the two operands stays as it is */
    cupel_shadow_fault fault;
} cupel_shadow_plan;

/* The good plans; *count of them. The first is the zero plan. */
const cupel_shadow_plan *cupel_shadow_family(int *count);

/* Has the plan a meaning of its own under these rules? Not that of tensor cores where no operand suits them.
 */
static inline bool cupel_shadow_counts(const cupel_rules *rules, const cupel_shadow_plan *plan) {
    return !plan->tensor_cores || rules->matrix_normal > 0;
}

const char *cupel_shadow_fault_name(cupel_shadow_fault fault);
/* "an fp16 accumulator": a noun phrase. */
const char *cupel_shadow_fault_sentence(cupel_shadow_fault fault);

/* The type in which a fault accumulates; the working precision where it is not about the accumulator. */
cupel_dtype cupel_shadow_accumulator(const cupel_rules *rules, cupel_shadow_fault fault);

/* The faults that this graph can show at all under these rules, a bit (1 << fault) each. */
unsigned cupel_shadow_applicable(const cupel_graph *graph, const cupel_rules *rules);

/* The work of evaluating it once by one plan, in elements: those of every node, and the terms of sums and
 * products. */
double cupel_shadow_cost(const cupel_graph *graph);

/* What the shadow returns for one output. */
typedef struct cupel_shadow_output {
    cupel_dtype type;
    int64_t count;
    unsigned char *bytes; /* the elements in the output's type; elements to be kept are 0 */
    double *values;       /* as the working precision holds them, before the output's rounding */
} cupel_shadow_output;

/* Evaluates the graph by the plan. outputs has graph->output_count entries, memory from arena; intermediates
 * are freed with their last use. Fails only for want of memory. */
CUPEL_MUST_USE cupel_code cupel_shadow_run(const cupel_graph *graph, const cupel_bindings *bindings,
                                           const cupel_rules *rules, const cupel_shadow_plan *plan,
                                           cupel_arena *arena, cupel_shadow_output *outputs,
                                           cupel_error *err);

#endif
