/* Shared by the parts of a check: its course (check.c), its findings (check_findings.c) and those of earlier
 * runs (check_known.c). */
#ifndef CUPEL_CHECK_IMPL_H
#define CUPEL_CHECK_IMPL_H

#include "check.h"

enum { CUPEL_ATTEMPTS_MAX = 3, CUPEL_SIGNATURES_MAX = 512, CUPEL_PENDING_MAX = 32 };

typedef struct cupel_attempt {
    char signature[160];
    int tries; /* fresh runs without confirmation */
} cupel_attempt;

typedef struct cupel_check {
    const cupel_contract *contract;
    cupel_check_options own;            /* as given, with the deadline of its runs */
    const cupel_check_options *options; /* own */
    const cupel_check_listener *listener;
    cupel_check_report *report;
    cupel_supervisor *supervisor;
    cupel_corpus *corpus;
    cupel_arena *arena;          /* of fresh trials */
    cupel_arena *starts_arena;   /* of a search's starts */
    cupel_dictionary dictionary; /* the source's own numbers */
    double start;
    cupel_limits limits;  /* the options', within what memory allows */
    cupel_error unwanted; /* err, where the caller asks for none */
    double saved_at;      /* when waiting recipes and bundles were last tried to be saved, into the run */
    bool corpus_told;
    cupel_scoreboard before; /* of the searches that are over */
    int restarts_before;
    cupel_progress last; /* of the search, for the listener; cases 0: none yet */
    uint64_t suspect_at; /* the how manieth case is confirmed just now; 0: it is no case of the search */
    int attempt_count;
    cupel_attempt attempts[CUPEL_SIGNATURES_MAX];
    int pending_count; /* slips of the minimiser, to be confirmed like any suspect */
    cupel_recipe pending[CUPEL_PENDING_MAX];
    int late_tries;       /* suspicions that were run again after the stop */
    uint64_t first_round; /* cases that the first search tries before it draws any */
    cupel_side *side;     /* the sanitizer's; NULL: off */
    int side_taken;       /* of its results, so many are findings by now */
    cupel_resources_job *resources_job;
    bool resources_done;
    cupel_code code; /* a failure inside a callback */
    cupel_error *err;
} cupel_check;

/* Seconds since the check began. */
double cupel_check_elapsed(const cupel_check *c);
bool cupel_check_stopped(const cupel_check *c);
/* Has a budget of time been used up for so long that nothing is run any more? */
bool cupel_check_out_of_time(const cupel_check *c);
/* Is the budget a number of cases alone? Then nothing may depend on time. */
bool cupel_check_untimed(const cupel_check *c);
/* Seconds left for the whole check; without a limit on time, plenty. */
double cupel_check_remaining(const cupel_check *c);
void cupel_check_note(const cupel_check *c, bool warning, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Lets the listener show where the search stood, while findings are worked on. */
void cupel_check_show(cupel_check *c);

/* A new finding, not saved yet; NULL when the signature is known or there is no room. */
cupel_check_finding *cupel_check_add(cupel_check *c, const cupel_recipe *recipe, const cupel_finding *finding,
                                     double try_seconds);
cupel_check_finding *cupel_check_known(const cupel_check *c, const char *signature);
/* The words for a finding: the case in one line, the element. */
void cupel_check_describe(const cupel_check *c, cupel_check_finding *found, const cupel_trial *trial);
/* Every finding that the trial shows is added and saved. */
void cupel_check_record(cupel_check *c, const cupel_recipe *recipe, const cupel_trial *trial,
                        double try_seconds);
/* Runs a suspect in a fresh worker; every finding that this shows is saved. False when it shows none. */
bool cupel_check_confirm(cupel_check *c, const cupel_recipe *recipe);
/* check_calls.c: tries a suspect that was not confirmed after earlier calls of each kind. True when these
 * explain it: a finding is saved, or one of an earlier suspect tells of the same output. */
bool cupel_check_blame_calls(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion);
/* Counts a suspicion that stays unconfirmed; the report keeps the first one's words. */
void cupel_check_tell_unconfirmed(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion);
/* The same for one that an interrupt, or the end of its time, keeps from being run again, or as often as it
 * takes. */
void cupel_check_cut_off(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion);
/* Takes a suspect: confirms, saves and minimises what is new about it. */
void cupel_check_suspect(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion);
/* Minimises findings from this one on, and what turns up on the way. */
void cupel_check_minimise(cupel_check *c, int from);
/* Findings whose bundle could not be written are run and saved again. */
void cupel_check_save_again(cupel_check *c);

/* A limit that a legal binding breaks: added and saved, without tensors. */
void cupel_check_record_limit(cupel_check *c, const cupel_recipe *recipe, const cupel_finding *finding);
/* A bundle of an earlier run that no longer fails. */
void cupel_check_tell_gone(cupel_check *c, const char *path);

/* RES-02 over the whole claimed range: the compiler begins; its answer is judged, once; it is ended. */
void cupel_check_begin_resources(cupel_check *c);
void cupel_check_resources(cupel_check *c);
void cupel_check_end_resources(cupel_check *c);

/* check_sanitizer.c: opens the sanitizer where it is asked for and available; takes a recipe that brought
 * something new; ends, with evidence for findings and explanations of those that depend on the schedule. */
void cupel_check_begin_sanitizer(cupel_check *c);
void cupel_check_sanitize(cupel_check *c, const cupel_recipe *recipe);
/* From time to time during a search. */
void cupel_check_poll_sanitizer(cupel_check *c);
void cupel_check_end_sanitizer(cupel_check *c);

/* Saves a finding: its bundle, its words. */
void cupel_check_save(cupel_check *c, cupel_check_finding *found, const cupel_trial *trial);

/* Runs the bundles of earlier runs: those that still fail are findings, those that do not are told. */
void cupel_check_replay(cupel_check *c);

#endif
