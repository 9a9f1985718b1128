/* Cases in front of the emulator's sanitizer: a supervisor whose candidate is compiled for it runs them once
 * more, and what it sees joins the findings of the trial. */
#ifndef CUPEL_SANITIZED_H
#define CUPEL_SANITIZED_H

#include "supervisor.h"

/* Bytes of a case's tensors up to which the sanitizer takes it: marks take 96 bytes for each byte that is
 * touched. */
enum { CUPEL_SANITIZED_BYTES_MAX = 4 << 20 };

/* Can an executor's candidates be sanitized? */
bool cupel_sanitized_available(const char *executor);

/* The options of a supervisor for the sanitizer, from those of the one that runs cases otherwise. */
cupel_supervisor_options cupel_sanitized_options(const cupel_supervisor_options *options);

/* The n-th run of a case in front of the sanitizer, from 0 on: the canonical schedule, then the recipe's.
 * False: there is none. */
bool cupel_sanitized_request(const cupel_recipe *recipe, int n, cupel_run_request *out);

typedef struct cupel_sanitized_counts {
    int runs;    /* that were watched to their end */
    int reports; /* findings that were added to the trial */
} cupel_sanitized_counts;

/* Runs the trial's case and adds evidence to its findings (cupel_gate_sanitized). sanitizer: opened with
 * cupel_sanitized_options. UNSUPPORTED when the case is too large. */
CUPEL_MUST_USE cupel_code cupel_sanitized_add(cupel_supervisor *sanitizer, cupel_trial *trial,
                                              cupel_arena *arena, cupel_sanitized_counts *counts,
                                              cupel_error *err);

/* As cupel_supervisor_try in a fresh worker, then cupel_sanitized_add with a sanitizer of its own, opened for
 * this one case. */
CUPEL_MUST_USE cupel_code cupel_sanitized_try(cupel_supervisor *supervisor, const cupel_contract *contract,
                                              const cupel_supervisor_options *options,
                                              const cupel_recipe *recipe, cupel_arena *arena,
                                              cupel_trial *out, cupel_sanitized_counts *counts,
                                              cupel_error *err);

/* Is it the signature of a finding that only the sanitizer shows, or that it may show where nothing else
 * does?
 */
bool cupel_sanitized_is_race(const char *signature);
bool cupel_sanitized_may_show(const char *signature);

#endif
