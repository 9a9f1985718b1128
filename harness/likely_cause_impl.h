/* Shared by the search for a likely cause in one case (likely_cause.c) and what larger cases say of it
 * (likely_cause_witness.c). */
#ifndef CUPEL_LIKELY_CAUSE_IMPL_H
#define CUPEL_LIKELY_CAUSE_IMPL_H

#include "likely_cause.h"

/* One output of a trial beside what shadows give for it. */
typedef struct cupel_cause_search {
    const cupel_trial *trial;
    const cupel_finding *finding;
    const cupel_allowed *allowed;
    const unsigned char *got;
    size_t size; /* of an element */
    cupel_rules rules;
    cupel_bindings bindings;
    unsigned faults; /* that the graph can show */
    double cost;     /* of one shadow, in operations */
    double left;     /* operations that may still be spent */
    cupel_arena *kept, *scratch;
} cupel_cause_search;

/* False where the finding is not about values, the case is too large, or memory is short. */
bool cupel_cause_open(const cupel_trial *trial, const cupel_finding *finding, cupel_cause_search *out);
void cupel_cause_close(cupel_cause_search *search);

/* How far the output is what a kernel with the fault would give. */
typedef enum cupel_likeness { CUPEL_UNLIKE, CUPEL_LIKE_WHERE_WRONG, CUPEL_LIKE_EVERYWHERE } cupel_likeness;

/* The best likeness among the ways of evaluating: bit by bit. */
cupel_likeness cupel_cause_likeness(cupel_cause_search *search, cupel_shadow_fault fault);
/* Of operands of products: the same results but for the roundings of two conforming kernels, in every element
 * that is judged. */
bool cupel_cause_nearly(cupel_cause_search *search, cupel_shadow_fault fault);

/* Where every result is one rounding from a good one, an accumulator gives the bits of a kernel that only
 * stores its result in the type: such a case tells nothing of the accumulator. */
bool cupel_cause_tells_accumulator(const cupel_cause_search *search, cupel_shadow_fault fault);

/* The finding's output as the plan gives it, in scratch; NULL where memory is short. */
const unsigned char *cupel_cause_run(const cupel_cause_search *search, const cupel_shadow_plan *plan);

/* Is element i what the finding is about? */
bool cupel_cause_is_bad(const cupel_cause_search *search, int64_t i);

#endif
