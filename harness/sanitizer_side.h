/* The sanitizer beside a search: a worker of its own, of low priority, works through recipes while the search
 * goes on; nobody waits for it until the end. Whatever happens to it says nothing of the kernel. */
#ifndef CUPEL_SANITIZER_SIDE_H
#define CUPEL_SANITIZER_SIDE_H

#include "sanitized.h"

typedef struct cupel_side cupel_side;

enum { CUPEL_SIDE_RESULTS_MAX = 16 };

/* What it showed: the first recipe for each signature. */
typedef struct cupel_side_result {
    cupel_recipe recipe;
    cupel_finding finding;
} cupel_side_result;

typedef struct cupel_side_counts {
    int64_t inputs;  /* that were run, */
    int64_t runs;    /* and how often in all, to the end */
    int64_t skipped; /* too large, or the worker broke down over them */
    int64_t left;    /* not reached in time */
} cupel_side_counts;

/* Starts nothing yet. options: as of the search's supervisor. most: recipes that are taken; 0: all. */
CUPEL_MUST_USE cupel_code cupel_side_open(const cupel_contract *contract,
                                          const cupel_supervisor_options *options, int most, cupel_side **out,
                                          cupel_error *err);
void cupel_side_close(cupel_side *side); /* accepts NULL */

/* Queues a recipe, unless as many as it takes came before. */
void cupel_side_add(cupel_side *side, const cupel_recipe *recipe);

/* Does what can be done without waiting. */
void cupel_side_poll(cupel_side *side);

/* Works the queue off, for at most so long; 1e9: to its end. *stop not zero: ends at once; may be NULL. */
void cupel_side_finish(cupel_side *side, double seconds, const volatile sig_atomic_t *stop);

/* In the order in which the recipes came. */
const cupel_side_result *cupel_side_results(const cupel_side *side, int *count);
cupel_side_counts cupel_side_counted(const cupel_side *side);
/* Why nothing can be sanitized; NULL: it can. */
const char *cupel_side_trouble(const cupel_side *side);

/* Its supervisor, for single runs, once the queue is empty. */
cupel_supervisor *cupel_side_supervisor(cupel_side *side);

#endif
