/* A failed assertion, as it is judged, minimised, reported and saved. */
#ifndef CUPEL_FINDING_H
#define CUPEL_FINDING_H

#include "observation.h"
#include "shadow.h"

/* The twelve gates: enumerator, id, title. One file a gate (or a family that shares its comparison). */
#define CUPEL_GATES(X)                                                                                       \
    X(CMP_01, "CMP-01", "input variation")                                                                   \
    X(CMP_02, "CMP-02", "gradient")                                                                          \
    X(CMP_03, "CMP-03", "shape polymorphism")                                                                \
    X(ORD_01, "ORD-01", "reduction order")                                                                   \
    X(ORD_02, "ORD-02", "determinism")                                                                       \
    X(ORD_03, "ORD-03", "order sensitivity")                                                                 \
    X(PRC_01, "PRC-01", "precision regime")                                                                  \
    X(PRC_02, "PRC-02", "accumulation precision")                                                            \
    X(EXC_01, "EXC-01", "exceptional values")                                                                \
    X(EXC_02, "EXC-02", "subnormals")                                                                        \
    X(RES_01, "RES-01", "memory residency")                                                                  \
    X(RES_02, "RES-02", "resource limits")

typedef enum cupel_gate {
#define CUPEL_GATE_NAME(name, id, title) CUPEL_GATE_##name,
    CUPEL_GATES(CUPEL_GATE_NAME)
#undef CUPEL_GATE_NAME
        CUPEL_GATE_COUNT
} cupel_gate;

const char *cupel_gate_id(cupel_gate gate);
const char *cupel_gate_title(cupel_gate gate);
bool cupel_gate_parse(const char *id, cupel_gate *out);

typedef enum cupel_standing { CUPEL_STANDING_EVIDENCE, CUPEL_STANDING_PROOF } cupel_standing;

/* What kind of assertion failed. The kind, the output and, where there is one, the source line make up the
 * signature. */
#define CUPEL_FINDING_KINDS(X)                                                                               \
    X(WRONG_VALUE, "wrong value")                                                                            \
    X(WRONG_CLASS, "wrong NaN or infinity")                                                                  \
    X(WRONG_ZERO_SIGN, "wrong sign of zero")                                                                 \
    X(UNWRITTEN, "output element left as it was")                                                            \
    X(NOT_KEPT, "element changed that was to be kept")                                                       \
    X(STRAY_WRITE, "write outside the output")                                                               \
    X(INPUT_CHANGED, "input changed")                                                                        \
    X(STRAY_READ, "result depends on memory that is not input")                                              \
    X(NONDETERMINISM, "result depends on the schedule")                                                      \
    X(HISTORY, "result depends on earlier calls")                                                            \
    X(BAD_ACCESS, "out-of-bounds or misaligned access")                                                      \
    X(REFUSED, "launch that a device refuses")                                                               \
    X(FAULT, "fault")                                                                                        \
    X(INACCURATE, "far less accurate than good kernels")                                                     \
    X(RACE, "accesses that nothing orders")                                                                  \
    X(VARIANTS, "result depends on the variant")

typedef enum cupel_finding_kind {
#define CUPEL_FINDING_KIND_NAME(name, text) CUPEL_FINDING_##name,
    CUPEL_FINDING_KINDS(CUPEL_FINDING_KIND_NAME)
#undef CUPEL_FINDING_KIND_NAME
        CUPEL_FINDING_KIND_COUNT
} cupel_finding_kind;

const char *cupel_finding_kind_name(cupel_finding_kind kind);

/* Is it about the value of an element, finite or not? */
bool cupel_finding_is_about_values(cupel_finding_kind kind);

/* What failed, in a heading's words: the kind's name, or those of a read of memory that holds nothing. */
struct cupel_finding;
const char *cupel_finding_title(const struct cupel_finding *finding);

/* One of the two runs of which a finding says that they differ. */
typedef struct cupel_finding_run {
    int index;         /* into the evidence's (and the trial's) runs; -1: the finding is not about two runs */
    uint64_t schedule; /* schedule.h */
    int poison;        /* cupel_poison */
    bool history;      /* the recipe's history came before it */
} cupel_finding_run;

/* How it is known that a kernel has a shadow's fault. */
typedef enum cupel_cause_basis {
    CUPEL_CAUSE_BITS,   /* the shadow gives the same bits */
    CUPEL_CAUSE_RESULT, /* the same but for the roundings of two conforming kernels */
    CUPEL_CAUSE_GRID    /* every result is a number of the accumulator's type and within its error */
} cupel_cause_basis;

typedef struct cupel_cause {
    cupel_shadow_fault fault;
    bool everywhere; /* in right elements too */
    cupel_cause_basis basis;
    unsigned others; /* faults of sums, a bit each, that explain the case as well, and no larger one told them
                        apart */
    bool race;       /* no fault, but the accesses of the finding's race: the sanitizer saw it in this case */
} cupel_cause;

typedef struct cupel_finding {
    cupel_gate gate; /* provisional until attribution by necessity has run, for kinds that need it */
    cupel_finding_kind kind;
    cupel_standing standing;
    int output;             /* index into the graph's outputs; -1 */
    char output_name[64];   /* the output's, input's or buffer's name; may be empty */
    int64_t index;          /* flat logical index of the worst element; -1 */
    int64_t wrong_elements; /* how many elements are wrong, of */
    int64_t judged_elements;
    uint64_t got_bits; /* of the worst element, in the output's type */
    cupel_dtype type;
    double got;
    double ratio;   /* distance in radii; NaN where it means nothing */
    double steps;   /* distance in ulp from the nearest allowed number; NaN where it means nothing */
    bool certified; /* exact holds MPFR's answer */
    cupel_exact_element exact;
    cupel_fault fault;
    int signal;
    bool has_access;
    cupel_access access; /* BAD_ACCESS */
    cupel_place place;   /* of a fault */
    bool has_race;
    cupel_race race; /* RACE; NONDETERMINISM and findings about values: what the sanitizer saw in this case,
                        if it did */
    cupel_finding_run run_a, run_b; /* NONDETERMINISM, HISTORY, STRAY_READ: the two that differ */
    int necessary_traits;           /* CUPEL_TRAIT_*, after attribution */
    bool gradient;                  /* the output's postcondition holds a vjp */
    cupel_cause cause;              /* likely_cause.h */
    char text[512];                 /* one sentence */
} cupel_finding;

/* "wrong-value-y", "fault-hang", "bad-access-softmax.cu-31": stable, filename-safe; equal for findings of one
 * cause. The gate is not part of it. */
void cupel_finding_signature(const cupel_finding *finding, char *text, size_t size);

#endif
