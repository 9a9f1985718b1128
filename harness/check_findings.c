/* The findings of a check: confirming a suspicion, saving it at once, minimising it. */
#include <stdio.h>
#include <string.h>

#include "check_impl.h"
#include "likely_cause.h"
#include "shrink.h"
#include "wording.h"

/* On a device the worker's start alone takes most of a second, and the first try pays it. */
static const double minimise_seconds = 5, device_minimise_seconds = 15, campaign_minimise_seconds = 15;

/* What comes at the end of the budget is minimised all the same, for this long at most; all of it together
 * takes no longer than LATE beyond the budget. */
static const double minimise_least = 1, late_seconds = 1.5;
static const double untimed = 1e9;

/* A finding of which the budget allows fewer tries than this (a hang, as a rule) is left as it was found. */
enum { WORTHWHILE_TRIES = 8, MINIMISE_TRIES = 1600, MINIMISE_TRIES_MEMORY = 60, MINIMISE_TRIES_DEATH = 400 };

/* Of the suspects that come after a stop: the user waits. */
enum { LATE_TRIES_MAX = 4 };

cupel_check_finding *cupel_check_known(const cupel_check *c, const char *signature) {
    for (int i = 0; i < c->report->finding_count; i++)
        if (strcmp(c->report->findings[i].signature, signature) == 0) return &c->report->findings[i];
    return NULL;
}

/* How often this signature was tried in vain; NULL when the table is full. */
static cupel_attempt *attempt_of(cupel_check *c, const char *signature) {
    for (int i = 0; i < c->attempt_count; i++)
        if (strcmp(c->attempts[i].signature, signature) == 0) return &c->attempts[i];
    if (c->attempt_count == CUPEL_SIGNATURES_MAX) return NULL;
    cupel_attempt *a = &c->attempts[c->attempt_count++];
    snprintf(a->signature, sizeof a->signature, "%s", signature);
    a->tries = 0;
    return a;
}

static bool on_device(const cupel_check *c) {
    const cupel_executor_backend *backend = cupel_executor_find(c->report->executor);
    return backend && backend->spent;
}

/* Does the number of tries end minimising? Where cases alone are the budget, so that a seed gives the same
 * case on every machine; not where nothing repeats exactly and a fault costs the use of a device. */
static bool counts_tries(const cupel_check *c) {
    return cupel_check_untimed(c) && !on_device(c);
}

/* Seconds for minimising one finding. A fault on a device takes a new worker for each try: there is no
 * patience for many of them. */
static double minimise_budget(const cupel_check *c, const cupel_check_finding *found) {
    if (counts_tries(c)) return untimed;
    double seconds = minimise_seconds;
    if (on_device(c) && found->finding.fault == CUPEL_FAULT_NONE) seconds = device_minimise_seconds;
    if (c->options->endless) seconds = campaign_minimise_seconds;
    const double left = cupel_check_remaining(c), late = left + late_seconds;
    if (left >= seconds) return seconds;
    if (left >= minimise_least) return left;
    return late < minimise_least ? late : minimise_least;
}

/* Without a clock what a try costs goes by what it does: filling the memory takes long, and so does a new
 * worker for each. */
static int minimise_tries(const cupel_check *c, const cupel_check_finding *found) {
    cupel_fault fault = found->finding.fault;
    if (!counts_tries(c) || fault == CUPEL_FAULT_NONE) return MINIMISE_TRIES;
    if (fault == CUPEL_FAULT_MEMORY) return MINIMISE_TRIES_MEMORY;
    return c->contract->host ? MINIMISE_TRIES_DEATH : MINIMISE_TRIES;
}

static bool worth_minimising(const cupel_check *c, const cupel_check_finding *found) {
    if (counts_tries(c)) return found->finding.fault != CUPEL_FAULT_HANG;
    const double seconds = minimise_budget(c, found);
    return seconds > 0 && found->try_seconds * WORTHWHILE_TRIES < seconds;
}

/* ---- saving ---- */

void cupel_check_describe(const cupel_check *c, cupel_check_finding *found, const cupel_trial *trial) {
    if (cupel_resources_is_limit(found->signature))
        cupel_recipe_describe_shape(c->contract, &found->recipe, found->described, sizeof found->described);
    else
        cupel_recipe_describe(c->contract, &found->recipe, found->described, sizeof found->described);
    cupel_word_where(&found->finding, trial, found->where, sizeof found->where);
}

static bool write_bundle(const cupel_check *c, cupel_check_finding *found, const cupel_trial *trial) {
    char path[sizeof found->bundle];
    cupel_bundle bundle = {.contract = c->contract,
                           .contract_path = c->options->kernel,
                           .executor = c->report->executor,
                           .recipe = &found->recipe,
                           .trial = trial,
                           .finding = &found->finding,
                           .report = found->minimised && found->report.tries > 0 ? &found->report : NULL,
                           .seed = c->options->seed,
                           .define_count = c->options->supervisor.exec.define_count,
                           .include_count = c->options->supervisor.exec.include_count,
                           .defines = c->options->supervisor.exec.defines,
                           .includes = c->options->supervisor.exec.includes,
                           .provisional = !found->minimised};
    cupel_error err = {0};
    const char *directory = c->options->directory ? c->options->directory : ".";
    if (cupel_bundle_write(&bundle, directory, path, sizeof path, &err) != CUPEL_OK) {
        cupel_error_format(&err, found->bundle_error, sizeof found->bundle_error);
        return false;
    }
    found->bundle_error[0] = '\0';
    if (found->bundle[0] && strcmp(found->bundle, path) != 0) cupel_bundle_remove(found->bundle);
    memcpy(found->bundle, path, sizeof path);
    return true;
}

static void tell(const cupel_check *c, const cupel_check_finding *found) {
    if (c->listener && c->listener->found) c->listener->found(c->listener->self, found);
}

void cupel_check_save(cupel_check *c, cupel_check_finding *found, const cupel_trial *trial) {
    if (!found->minimised) cupel_likely_cause_find(trial, &found->finding);
    (void)write_bundle(c, found, trial); /* the finding says why not */
    cupel_check_describe(c, found, trial);
    tell(c, found);
}

void cupel_check_record_limit(cupel_check *c, const cupel_recipe *recipe, const cupel_finding *finding) {
    static const cupel_trial no_trial = {0};
    cupel_check_finding *found = cupel_check_add(c, recipe, finding, 0);
    if (!found) return;
    found->minimised = true;
    c->report->signature_seconds = cupel_check_elapsed(c);
    cupel_check_save(c, found, &no_trial);
}

void cupel_check_save_again(cupel_check *c) {
    for (int i = 0; i < c->report->finding_count && c->code == CUPEL_OK; i++) {
        cupel_check_finding *found = &c->report->findings[i];
        if (!found->bundle_error[0]) continue;
        cupel_trial trial = {0};
        if (cupel_resources_is_limit(found->signature)) {
            if (write_bundle(c, found, &trial)) tell(c, found);
            continue;
        }
        cupel_arena_reset(c->arena);
        if (cupel_supervisor_try(c->supervisor, &found->recipe, true, c->arena, &trial, NULL) != CUPEL_OK ||
            !cupel_shrink_finding(&trial, found->signature))
            continue;
        if (write_bundle(c, found, &trial)) tell(c, found);
    }
}

/* ---- confirming ---- */

cupel_check_finding *cupel_check_add(cupel_check *c, const cupel_recipe *recipe, const cupel_finding *finding,
                                     double try_seconds) {
    char signature[160];
    cupel_finding_signature(finding, signature, sizeof signature);
    if (cupel_check_known(c, signature)) return NULL;
    if (c->report->finding_count == CUPEL_CHECK_FINDINGS_MAX) {
        c->report->dropped++;
        return NULL;
    }
    cupel_check_finding *found = &c->report->findings[c->report->finding_count++];
    memset(found, 0, sizeof *found);
    found->finding = *finding;
    found->recipe = *recipe;
    found->try_seconds = try_seconds;
    found->found_at = c->suspect_at;
    snprintf(found->signature, sizeof found->signature, "%s", signature);
    return found;
}

void cupel_check_record(cupel_check *c, const cupel_recipe *recipe, const cupel_trial *trial,
                        double try_seconds) {
    for (int i = 0; i < trial->judged.finding_count; i++) {
        cupel_check_finding *found = cupel_check_add(c, recipe, &trial->judged.findings[i], try_seconds);
        if (!found) continue;
        /* no trait is known to be necessary yet, and none will be where the minimiser is too dear */
        if (!worth_minimising(c, found)) found->finding.gate = cupel_gate_of_finding(&found->finding, 0);
        c->report->signature_seconds = cupel_check_elapsed(c);
        cupel_check_save(c, found, trial);
    }
}

bool cupel_check_confirm(cupel_check *c, const cupel_recipe *recipe) {
    cupel_trial trial = {0};
    double before = cupel_shrink_now();
    cupel_arena_reset(c->arena);
    cupel_code code = cupel_supervisor_try(c->supervisor, recipe, true, c->arena, &trial, c->err);
    double seconds = cupel_shrink_now() - before;
    if (code != CUPEL_OK) {
        if (code == CUPEL_MISMATCH || code == CUPEL_CONTRACT || code == CUPEL_MEMORY) c->code = code;
        return false;
    }
    cupel_check_record(c, recipe, &trial, seconds);
    if (trial.judged.finding_count == 0 && trial.unconfirmed > 0) c->report->false_alarms++;
    return trial.judged.finding_count > 0 || trial.unconfirmed > 0;
}

/* ---- minimising ---- */

static cupel_code try_for_minimiser(void *self, const cupel_recipe *recipe, cupel_arena *arena,
                                    cupel_trial *out, cupel_error *err) {
    cupel_check *c = self;
    if (cupel_check_stopped(c)) return cupel_fail(err, CUPEL_UNABLE, "the check was interrupted");
    cupel_check_show(c);
    return cupel_supervisor_try(c->supervisor, recipe, false, arena, out, err);
}

static void keep_slip(void *self, const cupel_recipe *recipe, const cupel_finding *finding) {
    cupel_check *c = self;
    char signature[160];
    cupel_finding_signature(finding, signature, sizeof signature);
    cupel_attempt *a = cupel_check_known(c, signature) ? NULL : attempt_of(c, signature);
    if (!a || a->tries > 0 || c->pending_count == CUPEL_PENDING_MAX) return;
    a->tries++;
    c->pending[c->pending_count++] = *recipe;
}

/* The minimal case must fail in a fresh worker too, else the case as found stays. */
static void minimise(cupel_check *c, cupel_check_finding *found) {
    cupel_recipe recipe = found->recipe;
    cupel_finding finding;
    cupel_minimise_report report = {0};
    cupel_minimise_options budget = {.max_tries = minimise_tries(c, found),
                                     .seconds = minimise_budget(c, found)};
    cupel_predicate predicate = {c, try_for_minimiser, keep_slip};
    if (cupel_minimise(c->contract, found->signature, &predicate, &budget, &recipe, &finding, &report,
                       NULL) != CUPEL_OK ||
        cupel_check_stopped(c)) /* what a minimiser cut short says of necessity is nothing */
        return;
    cupel_trial trial = {0};
    cupel_arena_reset(c->arena);
    if (cupel_supervisor_try(c->supervisor, &recipe, true, c->arena, &trial, NULL) != CUPEL_OK) return;
    const cupel_finding *again = cupel_shrink_finding(&trial, found->signature);
    if (!again) return;
    found->recipe = recipe;
    found->finding = *again;
    found->finding.gate = finding.gate;
    found->finding.necessary_traits = finding.necessary_traits;
    found->finding.cause = finding.cause;
    found->report = report;
    found->minimised = true;
    cupel_check_save(c, found, &trial);
}

static void confirm_pending(cupel_check *c) {
    while (c->pending_count > 0 && c->code == CUPEL_OK && !cupel_check_stopped(c) &&
           !cupel_check_out_of_time(c)) {
        cupel_recipe recipe = c->pending[--c->pending_count];
        (void)cupel_check_confirm(c, &recipe);
    }
}

void cupel_check_minimise(cupel_check *c, int from) {
    for (int i = from; i < c->report->finding_count && c->code == CUPEL_OK && !cupel_check_stopped(c); i++) {
        cupel_check_finding *found = &c->report->findings[i];
        c->report->minimising = found->signature;
        if (!found->minimised && worth_minimising(c, found)) minimise(c, found);
        c->report->minimising = NULL;
        confirm_pending(c); /* may add findings, which this loop then reaches */
    }
}

/* Runs a suspect again and, if that does not do, after earlier calls. Once the check is stopped a few
 * suspects that were on the way are run still. */
static bool is_shown(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    if (cupel_check_stopped(c) && c->late_tries++ >= LATE_TRIES_MAX) return false;
    if (cupel_check_confirm(c, recipe)) return true;
    return !cupel_check_stopped(c) && cupel_check_blame_calls(c, recipe, suspicion);
}

void cupel_check_cut_off(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    c->report->cut_off++;
    cupel_check_tell_unconfirmed(c, recipe, suspicion);
}

void cupel_check_suspect(cupel_check *c, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    bool is_new = false;
    cupel_attempt *a = NULL;
    for (int i = 0; i < suspicion->finding_count && !is_new; i++) {
        char signature[160];
        cupel_finding_signature(&suspicion->findings[i], signature, sizeof signature);
        if (cupel_check_known(c, signature)) continue;
        a = attempt_of(c, signature);
        is_new = a && a->tries < CUPEL_ATTEMPTS_MAX;
    }
    if (!is_new) return;
    int findings = c->report->finding_count;
    c->suspect_at = (uint64_t)c->before.cases + suspicion->n + 1;
    if (!is_shown(c, recipe, suspicion)) {
        bool stopped = cupel_check_stopped(c) || cupel_check_out_of_time(c);
        a->tries = stopped ? CUPEL_ATTEMPTS_MAX : a->tries + 1;
        if (stopped)
            cupel_check_cut_off(c, recipe, suspicion);
        else if (a->tries == CUPEL_ATTEMPTS_MAX)
            cupel_check_tell_unconfirmed(c, recipe, suspicion);
    }
    cupel_check_minimise(c, findings); /* what turns up on the way came of this case too */
    c->suspect_at = 0;
}
