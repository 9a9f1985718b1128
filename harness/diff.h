/* Two kernels under one contract, or one kernel on two executors: the same recipes on both, their outputs
 * compared with each other and, each by itself, with what the contract allows. */
#ifndef CUPEL_DIFF_H
#define CUPEL_DIFF_H

#include "supervisor.h"

/* One side: a contract (of its own file, for its launches) and how it is run. */
typedef struct cupel_diff_side {
    const cupel_contract *contract;
    const cupel_supervisor_options *options;
} cupel_diff_side;

typedef struct cupel_diff_request {
    cupel_diff_side sides[2]; /* recipes are drawn for the first; the oracle is that of the first */
    uint64_t seed, cases;     /* cases 0: until seconds are over */
    double seconds;           /* 0: no limit */
    int64_t max_elements;     /* 0: the default of cupel_limits */
} cupel_diff_request;

enum { CUPEL_DIFF_KEPT = 8 };

/* A case in which a side is wrong and the two differ. */
typedef struct cupel_diff_case {
    uint64_t n;
    char recipe[512]; /* described */
    bool wrong[2];
    char why[2][256]; /* of a wrong side: its finding in words */
    char where[160];  /* first differing element, "" when the buffers cannot be compared */
    char got[2][96];
} cupel_diff_case;

typedef struct cupel_diff_report {
    uint64_t cases;       /* run on both sides */
    uint64_t unclaimed;   /* the second contract does not claim them */
    uint64_t unsupported; /* a side could not run them */
    char unsupported_text[512];
    int64_t elements, equal;    /* compared, the same bits (NaNs equal) */
    int64_t exact, exact_equal; /* where the allowed set is one value: those, and those with the same bits */
    int64_t within;             /* elements that differ, neither being wrong */
    double within_steps; /* the largest distance among them in units of the last place of the output's type */
    uint64_t differing;  /* cases that differ and in which a side is wrong */
    uint64_t wrong[2];   /* of those, cases in which this side is wrong */
    uint64_t both_fail;  /* cases in which both fail and their outputs do not differ, or cannot be compared */
    int kept;
    cupel_diff_case kept_cases[CUPEL_DIFF_KEPT];
} cupel_diff_report;

/* USAGE, saying what differs, when the contracts do not claim the same thing: dims, types, params, tensors,
 * postconditions. */
CUPEL_MUST_USE cupel_code cupel_diff_compatible(const cupel_contract *a, const cupel_contract *b,
                                                cupel_error *err);

/* Runs all cases. progress may be NULL; false stops. */
CUPEL_MUST_USE cupel_code cupel_diff_run(const cupel_diff_request *request, cupel_diff_report *out,
                                         cupel_error *err);

#endif
