/* One recipe, tried and judged: materialise, run (A: canonical, poison 1, no earlier call; B: the recipe's
 * schedule and history, poison 2; and the crossed runs where bytes differ), ask the oracle, ask the gates.
 * The worker does it with its own executor as a filter; the supervisor does it with observations that a
 * worker sends and with exact confirmation. */
#ifndef CUPEL_TRIAL_H
#define CUPEL_TRIAL_H

#include "block_sampling.h"
#include "executor.h"

/* Something that can run a case once: an executor in this process, or a worker process. */
typedef struct cupel_runner {
    void *self;
    bool checks_addresses, sees_atomics, permutes_schedules, varies_schedules;
    cupel_code (*run)(void *self, const cupel_case *c, const cupel_run_request *request, cupel_arena *arena,
                      cupel_observation *out, cupel_error *err);
    uint64_t memory;                /* bytes that a case and its judgement may take; 0: no limit */
    cupel_block_sampling *sampling; /* of a search that may leave blocks out; NULL: all blocks, always */
} cupel_runner;

typedef enum cupel_confirmation {
    CUPEL_FILTER, /* bounded fp64 only (everything exact for f64 outputs): findings are suspicions */
    CUPEL_CERTIFY /* each finding's element recomputed by cupel_oracle exact; value findings that it does not
                     confirm are dropped */
} cupel_confirmation;

typedef struct cupel_trial {
    cupel_case *c;
    cupel_graph *graph;
    cupel_allowed *allowed;    /* per output */
    cupel_discerned discerned; /* of a search's case (discern.h) */
    double **good_radii;       /* per output, evidence radii; NULL: not asked (accuracy.h) */
    int run_count;
    cupel_run runs[CUPEL_RUN_MAX];
    cupel_case *first_variant_case;   /* of `deterministic: across_variants`, where the case has another */
    cupel_observation *first_variant; /* variant than the first: that, run as the first run; else NULL */
    cupel_judged judged;
    int unconfirmed; /* value findings that the exact oracle did not confirm (ours to mend, never reported) */
    bool unsupported; /* the executor could not run it; reason in text */
    char text[512];
} cupel_trial;

/* Everything in *out lives in arena. scoreboard may be NULL. UNSUPPORTED: the case is too large for the
 * runner's memory; the scoreboard counts it as one that was drawn and, but for its number, ignores it. */
CUPEL_MUST_USE cupel_code cupel_trial_run(const cupel_contract *contract, const cupel_recipe *recipe,
                                          const cupel_runner *runner, cupel_confirmation confirmation,
                                          cupel_arena *arena, cupel_scoreboard *scoreboard, cupel_trial *out,
                                          cupel_error *err);

/* The case's inputs as the oracle takes them, in arena; false: no memory. */
bool cupel_trial_bind(const cupel_case *c, cupel_arena *arena, cupel_bindings *out);

/* An output of the graph as the first run left it, gathered, in arena; NULL where there is none, or no
 * memory.
 */
unsigned char *cupel_trial_result(const cupel_trial *trial, int output, cupel_arena *arena);

/* The finding with this signature, or NULL. */
const cupel_finding *cupel_trial_finding(const cupel_trial *trial, const char *signature);

#endif
