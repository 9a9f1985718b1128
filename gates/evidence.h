/* Everything that gates may look at: the case, the allowed sets and the observations. No executor. */
#ifndef CUPEL_EVIDENCE_H
#define CUPEL_EVIDENCE_H

#include "finding.h"
#include "materialise.h"

/* One run: which schedule, which poison, and whether the recipe's history came before it. A: the canonical
 * schedule (0) and no history; B: the recipe's. */
typedef struct cupel_run {
    uint64_t schedule;
    cupel_poison poison;
    const cupel_observation *observation;
    bool history;
} cupel_run;

enum { CUPEL_RUN_MAX = 8 };

/* What a case can tell apart: judged elements that a kernel with such a fault would get wrong (0: none, or
 * not asked). */
typedef struct cupel_discerned {
    int64_t order; /* an order-dependent operation in another order */
    int64_t sums;  /* sums in an accumulator of lower precision */
} cupel_discerned;

typedef struct cupel_evidence {
    const cupel_case *c;
    int traits; /* cupel_recipe_traits */
    const cupel_graph *graph;
    const cupel_allowed *allowed; /* per output of the graph, NULL when no oracle answer was needed */
    double *const *good_radii;    /* per output, how far good kernels come (good_radius.h); NULL, or NULL
                                     entries: not asked */
    cupel_discerned discerned;
    int run_count;
    cupel_run runs[CUPEL_RUN_MAX]; /* runs[0] is A/1 */
    /* The case with the first variant in place of its own, as the first run ran it; NULL: not asked. */
    const cupel_case *first_variant_case;
    const cupel_observation *first_variant;
    /* Blocks were left out of the runs, the same ones of each: elements that only they store are NOT_RUN in
       allowed. Whether all of an output is written cannot be told. */
    bool blocks_left_out;
    bool addresses_checked;     /* the executor reports accesses (emulator) */
    bool float_atomics_unknown; /* the executor cannot see atomics */
    bool schedule_fixed; /* equal schedules give equal runs (emulator), so runs of one schedule differ by
                            poison alone */
} cupel_evidence;

#endif
