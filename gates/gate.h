/* Gates: pure functions from evidence to findings and counts. */
#ifndef CUPEL_GATE_H
#define CUPEL_GATE_H

#include "evidence.h"

typedef enum cupel_gate_status {
    CUPEL_STATUS_NOT_EXERCISED, /* never a pass */
    CUPEL_STATUS_PASS,
    CUPEL_STATUS_FAIL,
    CUPEL_STATUS_NOT_APPLICABLE, /* the contract gives no way to exercise it */
    CUPEL_STATUS_NOT_AVAILABLE   /* this build or machine lacks it */
} cupel_gate_status;

const char *cupel_gate_status_name(cupel_gate_status status); /* as in JSON: "not_exercised" */

/* Running totals of one gate over a check. */
typedef struct cupel_gate_tally {
    int64_t cases;      /* that exercised it */
    int64_t judged;     /* elements (or facts) judged */
    int64_t considered; /* elements (or facts) looked at, judged or not */
    double worst_ratio; /* of passing elements */
    int64_t failures;
} cupel_gate_tally;

/* What the oracle could say of the elements of one output, over all cases. */
typedef struct cupel_output_tally {
    int64_t by_reason[CUPEL_REASON_COUNT]; /* JUDGED among them: together all elements considered */
    int64_t coarse; /* judged, with a radius above the exact value's magnitude: not even its sign is known */
} cupel_output_tally;

/* Kernels that compute nothing: zeros, one constant, the output of the case before, a copy of an input. A bit
 * each: COPY + t copies tensor t. */
enum {
    CUPEL_STRAWMAN_ZERO,
    CUPEL_STRAWMAN_CONSTANT,
    CUPEL_STRAWMAN_PREVIOUS,
    CUPEL_STRAWMAN_COPY,
    CUPEL_STRAWMAN_COUNT = CUPEL_STRAWMAN_COPY + CUPEL_TENSOR_MAX,
    CUPEL_STRAWMAN_KEPT = 32 /* elements of the output before that are kept; longer outputs repeat them */
};

/* An element as a number, and as the integer that it is where it is one. */
typedef struct cupel_strawman_element {
    double real;
    int64_t whole;
} cupel_strawman_element;

/* The first elements of an output of an earlier case; none before there was one. */
typedef struct cupel_strawman_output {
    int kept;
    cupel_strawman_element elements[CUPEL_STRAWMAN_KEPT];
} cupel_strawman_output;

/* Per gate the strawmen that some case of it was judged with, and those that some case of it rejected; and
 * what the constant and the last two outputs are, by tensor of the contract. Outputs of permuted cases are
 * not kept: they are those of the case before. */
typedef struct cupel_strawmen {
    uint32_t tried[CUPEL_GATE_COUNT], rejected[CUPEL_GATE_COUNT];
    bool known[CUPEL_TENSOR_MAX];
    cupel_strawman_element constant[CUPEL_TENSOR_MAX];
    cupel_strawman_output previous[CUPEL_TENSOR_MAX][2]; /* the last one first */
} cupel_strawmen;

typedef struct cupel_scoreboard {
    cupel_gate_tally gates[CUPEL_GATE_COUNT];
    int64_t cases;
    int64_t elements;                                        /* of inputs and outputs, over all cases */
    int64_t smallest[CUPEL_DIM_MAX], largest[CUPEL_DIM_MAX]; /* of each dim, over all cases */
    int64_t cases_by_pattern[CUPEL_PATTERN_COUNT];
    int64_t cases_by_variant[CUPEL_DIM_MAX]
                            [CUPEL_VARIANT_VALUES_MAX + 1]; /* of each tuning constant, by rank */
    cupel_output_tally
        outputs[CUPEL_TENSOR_MAX]; /* by tensor of the contract; 0 of those that are no output */
    int64_t judged_by_type[CUPEL_TYPE_MAX]
                          [CUPEL_DTYPE_COUNT]; /* cases with judged elements, by variable and claimed type */
    int64_t float_atomic_cases; /* in which ORD-02 is not asserted because of floating-point atomics */
    int64_t unsupported;        /* cases that the executor could not run */
    int64_t sampled;   /* cases of which some blocks were left out: what those store was not judged */
    int64_t shadowed;  /* elements that shadows have evaluated for the evidence radius, */
    int64_t discerned; /* and to see what a case can tell apart */
    cupel_strawmen strawmen;
} cupel_scoreboard;

/* Counts a case (total, elements, sizes, per pattern of its inputs) before anything is known about it. */
void cupel_scoreboard_count(cupel_scoreboard *scoreboard, const cupel_case *c);

/* Adds the totals of one search to those of others. */
void cupel_scoreboard_add(cupel_scoreboard *scoreboard, const cupel_scoreboard *more);

/* Adds the elements of one case's output, a tensor of the contract, to its tally. */
void cupel_scoreboard_count_output(cupel_scoreboard *scoreboard, int tensor, const cupel_allowed *allowed);

/* Elements with this reason, of all outputs. */
int64_t cupel_scoreboard_by_reason(const cupel_scoreboard *scoreboard, cupel_reason reason);

/* Elements of an output, judged or not. */
int64_t cupel_output_considered(const cupel_output_tally *output);

/* A gate's entry in the registry: the same words in reports, `cupel gates` and docs/gates.md. */
struct cupel_compared;
typedef struct cupel_gate_info {
    cupel_gate gate;
    const char *asserts;                  /* one sentence */
    const char *exercised_by;             /* by what a case exercises it */
    const char *needs;                    /* of the contract, the case and the machine */
    const char *not_exercised;            /* when */
    const char *not_applicable;           /* when; "never" */
    const char *cost;                     /* in runs of the kernel, and whatever else is not free */
    const char *kernel_contracts, *lethe; /* its classes in two earlier taxonomies; "none" */
    /* Can this contract exercise it at all? Else *why says why not. NULL: any can. */
    bool (*applicable)(const cupel_contract *contract, const char **why);
    /* Gates that share the comparison with the allowed sets: how many elements of a case are judged for it;
     * negative: the case does not exercise it. NULL: the gate counts for itself. */
    int64_t (*exercised)(const struct cupel_compared *compared);
} cupel_gate_info;

/* The entry of a gate. */
const cupel_gate_info *cupel_gate_info_of(cupel_gate gate);

enum { CUPEL_CASE_FINDINGS_MAX = 8, CUPEL_SUSPECT_ELEMENTS_MAX = 8 };

/* A wrong element behind a finding. The worst come first, so that the exact oracle has several to confirm. */
typedef struct cupel_suspect_element {
    int64_t index;
    uint64_t bits;
    double ratio; /* NaN where it means nothing */
} cupel_suspect_element;

/* How close an output of a case came to a wrong value: the largest error over radius among its elements that
 * pass, 0 where they are exact or there is nothing to go by (an infinite radius says nothing); and the gate
 * that the case's traits belong to. */
typedef struct cupel_closeness {
    cupel_gate gate;
    double ratio;
} cupel_closeness;

typedef struct cupel_judged {
    uint64_t n; /* number of the case in its campaign; 0 outside one */
    int finding_count;
    cupel_finding findings[CUPEL_CASE_FINDINGS_MAX];
    int element_counts[CUPEL_CASE_FINDINGS_MAX]; /* per finding, its worst elements */
    cupel_suspect_element elements[CUPEL_CASE_FINDINGS_MAX][CUPEL_SUSPECT_ELEMENTS_MAX];
    int closeness_count; /* per output of the graph */
    cupel_closeness closeness[CUPEL_TENSOR_MAX];
    double worst_ratio;   /* largest error over radius among elements that pass */
    bool wants_more_runs; /* bytes of A/1 and B/2 differ and A/2, B/1 are missing: run them and judge again */
} cupel_judged;

/* Judges one case: every gate, in the precedence of DESIGN section 4 (memory and determinism before values,
 * faults as they are). Adds to scoreboard (NULL: only findings). */
void cupel_gates_judge(const cupel_evidence *evidence, cupel_scoreboard *scoreboard, cupel_arena *arena,
                       cupel_judged *out);

/* The gate that a value mismatch or fault belongs to when exactly these traits could not be removed. */
cupel_gate cupel_gate_by_necessity(cupel_finding_kind kind, cupel_fault fault, int necessary_traits);

/* As above for a whole finding: a crash by a signal that is not about an address (SIGFPE, SIGILL, SIGTRAP,
 * SIGABRT) goes by its traits. */
cupel_gate cupel_gate_of_finding(const cupel_finding *finding, int necessary_traits);

/* Does the postcondition of a tensor hold a vjp, of itself or by a define? */
bool cupel_claims_gradient(const cupel_contract *contract, int tensor);
/* The inputs (a bit each) that are upstream gradients: named by the third argument of a vjp. */
uint32_t cupel_claimed_cotangents(const cupel_contract *contract);

/* Would every case that exercised the gate have accepted a kernel that computes nothing? */
bool cupel_gate_is_vacuous(const cupel_contract *contract, const cupel_scoreboard *scoreboard,
                           cupel_gate gate, const char **why);

/* Status of a gate over a whole check. */
cupel_gate_status cupel_gate_status_of(const cupel_contract *contract, const cupel_scoreboard *scoreboard,
                                       cupel_gate gate, int findings_of_gate, const char **why);

typedef enum cupel_verdict {
    CUPEL_VERDICT_ACCEPTED,
    CUPEL_VERDICT_REJECTED,
    CUPEL_VERDICT_INCONCLUSIVE
} cupel_verdict;

const char *cupel_verdict_name(cupel_verdict verdict);

/* More than one case in twenty could not be run: too many for a verdict on the rest to stand for all. */
bool cupel_verdict_lacks_cases(const cupel_scoreboard *scoreboard);

/* Rejected when a finding stands; inconclusive when nothing was judged, a finding stayed unconfirmed, the
 * executor could not run, or could not run too many of the cases; else accepted. */
cupel_verdict cupel_verdict_of(const cupel_scoreboard *scoreboard, int standing_findings, int unconfirmed,
                               bool could_run);

#endif
