/* A check or a campaign from end to end: replay what earlier runs found, search, confirm, save at once,
 * minimise, attribute, save again, verdict. */
#ifndef CUPEL_CHECK_H
#define CUPEL_CHECK_H

#include <signal.h>

#include "bundle.h"
#include "corpus.h"
#include "resource_use.h"
#include "sanitizer_side.h"
#include "supervisor.h"

enum { CUPEL_CHECK_FINDINGS_MAX = 128, CUPEL_CHECK_GONE_MAX = 64 };

/* What is put in front of the sanitizer (docs/sanitizer.md): nothing; what brought something new, up to
 * CUPEL_SANITIZED_MOST of it, and each race's minimal case; all that brought something new. */
typedef enum cupel_sanitizing {
    CUPEL_SANITIZER_OFF,
    CUPEL_SANITIZER_ON,
    CUPEL_SANITIZER_ALL
} cupel_sanitizing;
enum { CUPEL_SANITIZED_MOST = 64 };

typedef struct cupel_check_options {
    const char *kernel;    /* the file that holds the contract */
    const char *directory; /* where crashes/ and corpus/ are; NULL: . */
    const char *engine;    /* NULL: the best there is */
    cupel_supervisor_options supervisor;
    uint64_t seed;
    uint64_t cases; /* 0: no limit on cases */
    double seconds; /* 0: no limit on time. Neither limit: until five seconds bring nothing new, at most
                       twenty in all */
    bool endless; /* a campaign: where neither limit is given it goes on until stop, and it starts its search
                     again when that ends or breaks down */
    cupel_limits limits;
    cupel_standing standing;           /* least standing that rejects */
    cupel_sanitizing sanitizing;       /* OFF where the executor has no sanitizer */
    unsigned gates;                    /* bit per gate to report on; 0: all */
    const volatile sig_atomic_t *stop; /* not zero: the check ends with what it has; may be NULL */
} cupel_check_options;

typedef struct cupel_check_finding {
    cupel_finding finding;
    cupel_recipe recipe;
    char signature[160];
    char described[512]; /* the case in one line */
    char where[128];     /* y[0, 32] */
    char bundle[1024];   /* empty when it could not be written */
    char bundle_error[256];
    uint64_t found_at; /* the how manieth case of this run showed it first; 0: no case of the search did */
    bool minimised;
    bool known;                   /* a bundle of an earlier run, which still fails */
    bool gate_untested;           /* the budget ended before it was tried what the failure needs */
    bool out_of_time;             /* the budget left nothing for the minimiser */
    double try_seconds;           /* what confirming it took */
    cupel_minimise_report report; /* of the minimiser */
} cupel_check_finding;

typedef struct cupel_check_gate {
    cupel_gate_status status;
    const char *why; /* NULL or a reason for the status */
    int findings;
} cupel_check_gate;

typedef struct cupel_check_report {
    const cupel_contract *contract;
    const char *kernel, *executor, *engine;
    cupel_verdict verdict;
    char reason[512]; /* why it is inconclusive */
    uint64_t cases, seed;
    double seconds;
    bool endless;     /* options.endless */
    bool interrupted; /* options.stop, before the end of a budget; where there is none, before every start of
                         the search and some ordinary shape were judged */
    double worst_ratio;
    int restarts;
    char isolation[256];   /* what workers are not isolated from on this machine; may be empty */
    const char *vacuous;   /* which kernel that computes nothing every case would have accepted; NULL: none */
    char unsupported[512]; /* why the executor could not run some case; may be empty */
    cupel_scoreboard scoreboard;
    cupel_check_gate gates[CUPEL_GATE_COUNT];
    cupel_resources resources; /* of RES-02; architecture_count 0: it was not asked */
    int finding_count;
    cupel_check_finding findings[CUPEL_CHECK_FINDINGS_MAX];
    int known;      /* findings that earlier runs have saved */
    int gone_count; /* bundles of earlier runs that no longer fail */
    char gone[CUPEL_CHECK_GONE_MAX][512];
    bool sanitized; /* the sanitizer was on; what it took: */
    cupel_side_counts sanitizer;
    char sanitizer_trouble[256]; /* why it took nothing; may be empty */
    int rounds;                  /* searches that were started */
    int64_t features, edges, edge_count;
    cupel_corpus_counts corpus;
    const char *minimising;     /* signature of the finding that is minimised just now; NULL: none */
    double feature_seconds;     /* since a search last saw something new */
    double signature_seconds;   /* when the last new finding came, into the run; negative: none has */
    int unconfirmed;            /* suspicions that a fresh worker did not show again */
    char unconfirmed_text[400]; /* of the first one: gate, element, case and likely cause */
    int cut_off;                /* of these, those that an interrupt kept from being run again */
    int skipped; /* bundles of earlier runs that could not be run again though they belong to this kernel */
    char skipped_text[400]; /* the first one's path, and why */
    int false_alarms;       /* suspicions that the exact oracle refuted */
    int dropped;            /* findings beyond the room for them */
} cupel_check_report;

typedef struct cupel_check_listener {
    void *self;
    void (*progress)(void *self, const cupel_check_report *report,
                     const cupel_progress *progress); /* may be NULL */
    /* A finding was saved: as found (minimised false), and again when it is minimised. May be NULL. */
    void (*found)(void *self, const cupel_check_finding *finding);
    /* One line for the user: what of earlier runs is skipped or no longer fails; a warning: what cannot be
     * saved. May be NULL. */
    void (*note)(void *self, bool warning, const char *text);
} cupel_check_listener;

/* The report is large: allocate it. Errors are those of opening the candidate (CONTRACT, MISMATCH, BUILD: the
 * user's; UNSUPPORTED, WORKER: inconclusive) and of memory. */
CUPEL_MUST_USE cupel_code cupel_check_run(const cupel_contract *contract, const cupel_check_options *options,
                                          const cupel_check_listener *listener, cupel_check_report *report,
                                          cupel_error *err);

/* Exit status of a verdict (DESIGN section 8), and of an error that ended a command. */
int cupel_check_exit_status(cupel_verdict verdict);
int cupel_check_error_status(cupel_code code);

/* The code, in *err too, for an executor that did not open: what this machine lacks (the linker, a cache that
 * can be written) is UNSUPPORTED, the candidate's own faults stay what they are. */
CUPEL_MUST_USE cupel_code cupel_check_executor_failed(const cupel_contract *contract, cupel_code code,
                                                      cupel_error *err);

#endif
