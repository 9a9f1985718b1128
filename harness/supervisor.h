/* The supervisor side: worker processes, which run untrusted candidates, and what the supervisor makes of
 * their answers. It survives whatever a worker does and judges itself what is reported. */
#ifndef CUPEL_SUPERVISOR_H
#define CUPEL_SUPERVISOR_H

#include <signal.h>

#include "engine.h"
#include "executor.h"
#include "trial.h"

enum { CUPEL_STOP_PATIENCE = 5 };

typedef struct cupel_supervisor cupel_supervisor;

typedef struct cupel_supervisor_options {
    const char *executor; /* "emu", "host", NULL: the contract's default */
    cupel_executor_options exec;
    const char *contract_path; /* the worker loads the contract itself */
    uint64_t memory_limit; /* bytes of a worker's resident memory beside the tensors of its case; 0: 2 GiB,
                              for a host candidate 512 MiB */
    double seconds_limit;  /* for one run; 0: 10, for a host candidate 0.25. A run that exceeds it is a hang
                              only  if, alone with ten times the limit, it still does not end */
    const volatile sig_atomic_t *stop; /* not zero: compiling ends with UNABLE, and after
                                          CUPEL_STOP_PATIENCE seconds a single run too; may be NULL */
    double deadline; /* CLOCK_MONOTONIC, in seconds: a single run that is not over by then ends with UNABLE;
                        0: none */
} cupel_supervisor_options;

/* Starts nothing yet but checks that the executor can open and prepare the base binding (in a worker). */
CUPEL_MUST_USE cupel_code cupel_supervisor_open(const cupel_contract *contract,
                                                const cupel_supervisor_options *options,
                                                cupel_supervisor **out, cupel_error *err);
void cupel_supervisor_close(cupel_supervisor *supervisor);

/* Bytes that one case and its judgement may take in a worker. */
uint64_t cupel_supervisor_memory(const cupel_supervisor *supervisor);

/* A sentence for the user when workers run without network and file system isolation on this machine; empty
 * when they are isolated. */
const char *cupel_supervisor_isolation(const cupel_supervisor *supervisor);

/* Tries one recipe in a worker that has run nothing suspicious before (a fresh one when `fresh`) and judges
 * the returned bytes here, certified. */
CUPEL_MUST_USE cupel_code cupel_supervisor_try(cupel_supervisor *supervisor, const cupel_recipe *recipe,
                                               bool fresh, cupel_arena *arena, cupel_trial *out,
                                               cupel_error *err);

/* One run of a case, in a worker that may have run others. out's bytes lie in arena. */
CUPEL_MUST_USE cupel_code cupel_supervisor_run(cupel_supervisor *supervisor, const cupel_case *c,
                                               const cupel_run_request *request, cupel_arena *arena,
                                               cupel_observation *out, cupel_error *err);

typedef struct cupel_search_options {
    const char *engine; /* NULL: the best there is */
    uint64_t seed;
    uint64_t cases; /* 0: no limit */
    double seconds; /* 0: no limit */
    cupel_limits limits;
    size_t start_count;         /* recipes that are tried before anything else, in this order */
    const cupel_recipe *starts; /* made legal by the search; borrowed until it ends */
} cupel_search_options;

typedef struct cupel_progress {
    const cupel_scoreboard *scoreboard;
    uint64_t cases;
    double seconds;
    double worst_ratio;
    int restarts;                 /* workers that were replaced */
    const char *unsupported;      /* why the executor could not run some case (scoreboard->unsupported counts
                                     them); may be empty */
    double seconds_since_feature; /* since a new trait cell (pattern x type x shape class x special) or edge
                                     was seen */
    int64_t features;             /* trait cells, edges and closeness buckets seen so far */
    int64_t edges, edge_count;    /* edges of the candidate seen, of how many; 0 of 0 where unknown */
    int64_t corpus;               /* recipes handed out as interesting so far */
} cupel_progress;

/* Runs a search in a worker, replacing it when it dies (the recipe at work then becomes a suspect). Suspects
 * are handed out as they come; the same signature at most 16 times. Both callbacks return false to stop the
 * search. */
typedef struct cupel_search_callbacks {
    void *self;
    bool (*suspect)(void *self, const cupel_recipe *recipe, const cupel_judged *suspicion);
    bool (*progress)(void *self, const cupel_progress *progress); /* about ten times a second */
    /* A recipe that brought a new feature, each once, in the order of the search; may be NULL. */
    void (*interesting)(void *self, const cupel_recipe *recipe);
} cupel_search_callbacks;

CUPEL_MUST_USE cupel_code cupel_supervisor_search(cupel_supervisor *supervisor,
                                                  const cupel_search_options *options,
                                                  const cupel_search_callbacks *callbacks,
                                                  cupel_scoreboard *scoreboard, cupel_error *err);

/* The worker's main loop; called by main() when started as `cupel --worker FD`. Returns the process's exit
 * status. */
int cupel_worker_main(int argc, char **argv);

#endif
