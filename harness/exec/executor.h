/* The executor seam: how a candidate is built and run. One file a backend; nothing outside a backend knows
 * its vendor. */
#ifndef CUPEL_EXECUTOR_H
#define CUPEL_EXECUTOR_H

#include "materialise.h"
#include "observation.h"

typedef struct cupel_executor cupel_executor;

/* Bytes of a tensor that a debugger watches, where the backend can (emu): see emu_watch.h. */
enum { CUPEL_WATCH_VALUES = 1024 };
typedef struct cupel_watch {
    int tensor;             /* -1: no bytes */
    int64_t offset;         /* bytes from its data pointer */
    size_t size;            /* at most 8 */
    int stop_store;         /* the store at which cupel_emu_watch_hit is called, from 1 on; 0: at none */
    unsigned stop_accesses; /* bit per cupel_access_kind at whose first one it is called */
    bool stop_end;          /* it is called where a fault ends the run */
    int stores;             /* out: how many there were, */
    uint64_t values[CUPEL_WATCH_VALUES]; /* and what each of the first ones left */
} cupel_watch;

struct cupel_stand_in;

typedef struct cupel_executor_options {
    const char *cache; /* folder for compiled candidates, keyed by content */
    int define_count, include_count;
    const char *const *defines;  /* -D of the command line, besides the contract's own */
    const char *const *includes; /* -I */
    double seconds_limit;        /* for one run, where steps cannot be counted; 0: 10 */
    uint64_t step_limit;         /* edges for one run; 0: derived from the case's size */
    bool debug;                  /* candidates are compiled for a debugger */
    bool sanitize;      /* runs are watched for races and more, where the backend can (emu); slower */
    bool whole_grids;   /* searches run all blocks of every case */
    cupel_watch *watch; /* over the judged call of every run; borrowed; NULL: none */
    const struct cupel_stand_in *stand_in; /* of the shadow executor (exec_shadow.h); borrowed */
} cupel_executor_options;

/* A call that a run makes before the one that is judged. */
typedef struct cupel_earlier_call {
    const cupel_case *c;
    bool elsewhere; /* in buffers at other addresses */
} cupel_earlier_call;

enum { CUPEL_EARLIER_MAX = CUPEL_CALLS_MAX };

typedef struct cupel_run_request {
    uint64_t schedule; /* 0: canonical */
    cupel_poison poison;
    bool history;    /* make the calls that the recipe's history asks for first */
    uint64_t sample; /* not 0: of a large grid only some blocks may be run, which this number chooses. Blocks
                        that work together are run whole all the same, and so is what the backend does not
                        see through; the observation says which it was (blocks_left_out). */
    /* Filled in by cupel_executor_run, for backends: the earlier calls, in order. All calls of a run see one
     * schedule and one poison; each finds its buffers as its case says; what device code keeps elsewhere (in
     * its own variables) stays from call to call and is gone after the run. */
    int earlier_count;
    cupel_earlier_call earlier[CUPEL_EARLIER_MAX];
} cupel_run_request;

/* What a backend provides. */
typedef struct cupel_executor_backend {
    const char *name; /* "emu", "host", "cuda" */
    bool checks_addresses, sees_atomics, permutes_schedules;
    /* Whatever the candidate does ends in an observation: the death of the process is a defect of ours, of
     * which no kernel may be accused. */
    bool contains_faults;
    /* What device code leaves in its own variables is gone after a run. Elsewhere a run that must not be
     * touched by earlier ones needs a process of its own. */
    bool forgets;
    /* A run that does not end can only be ended with the process. */
    bool hangs;
    /* A schedule other than 0 gives other addresses and another timing, but none that repeats exactly. */
    bool varies_schedules;
    /* The driver writes below /proc, where it names its threads. */
    bool writes_proc;
    /* Opens the candidate of a contract. UNSUPPORTED with a reason where this machine lacks something. */
    cupel_code (*open)(const cupel_contract *contract, const cupel_executor_options *options, void **self,
                       cupel_error *err);
    /* Compiles (or finds in the cache) what a binding needs: templates for its types and, where the entry
     * mentions them, dims. May be called again for the same binding at no cost. MISMATCH: contract and kernel
     * disagree (a contract error). BUILD: the candidate does not compile. */
    cupel_code (*prepare)(void *self, const cupel_binding *binding, cupel_error *err);
    /* Makes the earlier calls, then runs every launch of the case on fresh guarded memory. The observation's
     * buffer bytes are copied into arena. Never fails for what the candidate does: that is in the
     * observation. */
    cupel_code (*run)(void *self, const cupel_case *c, const cupel_run_request *request, cupel_arena *arena,
                      cupel_observation *out, cupel_error *err);
    /* Coverage of the last runs since the last call: counters, one byte an edge; NULL where unknown. */
    const uint8_t *(*coverage)(void *self, size_t *count);
    /* Has a fault made this process useless for further runs? NULL: never. */
    bool (*spent)(const void *self);
    void (*close)(void *self);
} cupel_executor_backend;

/* For backends: out is what an earlier call did, which ended the run; its text is to say so. */
void cupel_executor_tell_earlier(cupel_observation *out);

const cupel_executor_backend *cupel_executor_emu(void);
const cupel_executor_backend *cupel_executor_host(void);
const cupel_executor_backend *cupel_executor_cuda(void);
/* By name; NULL when there is none. */
const cupel_executor_backend *cupel_executor_find(const char *name);
/* The one a contract asks for when the user does not say: host for {symbol:}, else emu. */
const cupel_executor_backend *cupel_executor_default(const cupel_contract *contract);

CUPEL_MUST_USE cupel_code cupel_executor_open(const cupel_executor_backend *backend,
                                              const cupel_contract *contract,
                                              const cupel_executor_options *options, cupel_executor **out,
                                              cupel_error *err);
const cupel_executor_backend *cupel_executor_backend_of(const cupel_executor *executor);
CUPEL_MUST_USE cupel_code cupel_executor_prepare(cupel_executor *executor, const cupel_binding *binding,
                                                 cupel_error *err);
/* As the backend's run, with the earlier calls worked out; resets the floating-point mode before and after,
 * and reports a changed one as a fault. */
CUPEL_MUST_USE cupel_code cupel_executor_run(cupel_executor *executor, const cupel_case *c,
                                             const cupel_run_request *request, cupel_arena *arena,
                                             cupel_observation *out, cupel_error *err);
const uint8_t *cupel_executor_coverage(cupel_executor *executor, size_t *count);
/* Every further run will fail: end the process and go on in another. */
bool cupel_executor_spent(const cupel_executor *executor);
void cupel_executor_close(cupel_executor *executor);

#endif
