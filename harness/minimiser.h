/* From a failing recipe to the simplest one that fails with the same signature, and to the traits without
 * which it does not fail. */
#ifndef CUPEL_MINIMISER_H
#define CUPEL_MINIMISER_H

#include "trial.h"

/* Tries a recipe; *out lives in arena until the next call. */
typedef struct cupel_predicate {
    void *self;
    cupel_code (*try_one)(void *self, const cupel_recipe *recipe, cupel_arena *arena, cupel_trial *out,
                          cupel_error *err);
    /* A finding with another signature turned up on the way: kept by the caller as a finding of its own. May
     * be NULL. */
    void (*slipped)(void *self, const cupel_recipe *recipe, const cupel_finding *finding);
} cupel_predicate;

typedef struct cupel_minimise_options {
    int max_tries;  /* 0: 600 */
    double seconds; /* 0: 8 */
} cupel_minimise_options;

typedef struct cupel_minimise_report {
    int tries, accepted;
    int necessary_traits; /* CUPEL_TRAIT_*: those that could not be removed; 0 for evidence */
    bool smallest_proved; /* every simpler step of every pass was tried and does not fail */
    char region[512]; /* in words: "fails only when N in {201, 298, ..}" as far as the sweep saw; empty for
                         evidence */
} cupel_minimise_report;

/* *recipe is replaced by the simplest failing recipe found, *finding by its finding, gate set by necessity.
 * Fails with UNABLE when the recipe does not fail with this signature to begin with. */
CUPEL_MUST_USE cupel_code cupel_minimise(const cupel_contract *contract, const char *signature,
                                         const cupel_predicate *predicate,
                                         const cupel_minimise_options *options, cupel_recipe *recipe,
                                         cupel_finding *finding, cupel_minimise_report *report,
                                         cupel_error *err);

#endif
