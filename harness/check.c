#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shrink.h"
#include "wording.h"

/* Seconds of the default budget: it ends when QUIET seconds bring nothing new, at TOTAL in any case; RESERVE
 * of that is kept for the last bundle. */
static const double quiet_seconds = 5, total_seconds = 20, reserve_seconds = 1.5;
static const double minimise_seconds = 5, minimise_least = 1, minimise_most = 10;

/* A finding of which the budget allows fewer tries than this (a hang, as a rule) is left as it was found. */
enum { WORTHWHILE_TRIES = 8 };

enum { ATTEMPTS_MAX = 3, SIGNATURES_MAX = 128, PENDING_MAX = 32, MINIMISE_TRIES = 1600 };

typedef struct attempt {
    char signature[160];
    int tries; /* fresh runs without confirmation */
} attempt;

typedef struct check {
    const cupel_contract *contract;
    const cupel_check_options *options;
    const cupel_check_listener *listener;
    cupel_check_report *report;
    cupel_supervisor *supervisor;
    cupel_arena *arena; /* of fresh trials */
    double start;
    int attempt_count;
    attempt attempts[SIGNATURES_MAX];
    int pending_count; /* slips of the minimiser, to be confirmed like any suspect */
    cupel_recipe pending[PENDING_MAX];
    cupel_code code; /* a failure inside a callback */
    cupel_error *err;
} check;

static double elapsed(const check *c) {
    return cupel_shrink_now() - c->start;
}

static bool stopped(const check *c) {
    return c->options->stop && *c->options->stop;
}

/* Seconds left for the whole check; without a limit on time, plenty. */
static double remaining(const check *c) {
    if (stopped(c)) return 0;
    if (c->options->seconds > 0) return c->options->seconds - elapsed(c);
    return c->options->cases ? 3600 : total_seconds - reserve_seconds - elapsed(c);
}

static cupel_check_finding *known(const check *c, const char *signature) {
    for (int i = 0; i < c->report->finding_count; i++)
        if (strcmp(c->report->findings[i].signature, signature) == 0) return &c->report->findings[i];
    return NULL;
}

/* How often this signature was tried in vain; NULL when the table is full. */
static attempt *attempt_of(check *c, const char *signature) {
    for (int i = 0; i < c->attempt_count; i++)
        if (strcmp(c->attempts[i].signature, signature) == 0) return &c->attempts[i];
    if (c->attempt_count == SIGNATURES_MAX) return NULL;
    attempt *a = &c->attempts[c->attempt_count++];
    snprintf(a->signature, sizeof a->signature, "%s", signature);
    a->tries = 0;
    return a;
}

/* Seconds for minimising one finding. With --cases tries end it before time does, so that a seed gives the
 * same case on every machine that is not very slow. */
static double minimise_budget(const check *c) {
    double seconds = c->options->cases                 ? minimise_most
                     : remaining(c) < minimise_seconds ? remaining(c)
                                                       : minimise_seconds;
    return seconds < minimise_least ? minimise_least : seconds;
}

static bool worth_minimising(const check *c, const cupel_check_finding *found) {
    return found->try_seconds * WORTHWHILE_TRIES < minimise_budget(c);
}

/* ---- saving ---- */

static void save(check *c, cupel_check_finding *found, const cupel_trial *trial) {
    char before[sizeof found->bundle];
    memcpy(before, found->bundle, sizeof before);
    cupel_bundle bundle = {.contract = c->contract,
                           .contract_path = c->options->kernel,
                           .executor = c->report->executor,
                           .recipe = &found->recipe,
                           .trial = trial,
                           .finding = &found->finding,
                           .report = found->minimised ? &found->report : NULL,
                           .seed = c->options->seed,
                           .define_count = c->options->supervisor.exec.define_count,
                           .include_count = c->options->supervisor.exec.include_count,
                           .defines = c->options->supervisor.exec.defines,
                           .includes = c->options->supervisor.exec.includes,
                           .provisional = !found->minimised};
    cupel_error err = {0};
    const char *directory = c->options->directory ? c->options->directory : ".";
    if (cupel_bundle_write(&bundle, directory, found->bundle, sizeof found->bundle, &err) != CUPEL_OK) {
        cupel_error_format(&err, found->bundle_error, sizeof found->bundle_error);
        memcpy(found->bundle, before, sizeof before);
    } else {
        found->bundle_error[0] = '\0';
        if (before[0] && strcmp(before, found->bundle) != 0) cupel_bundle_remove(before);
    }
    cupel_recipe_describe(c->contract, &found->recipe, found->described, sizeof found->described);
    cupel_word_where(&found->finding, trial, found->where, sizeof found->where);
    if (c->listener && c->listener->found) c->listener->found(c->listener->self, found);
}

static void record(check *c, const cupel_recipe *recipe, const cupel_trial *trial,
                   const cupel_finding *finding, double try_seconds) {
    char signature[160];
    cupel_finding_signature(finding, signature, sizeof signature);
    if (known(c, signature)) return;
    if (c->report->finding_count == CUPEL_CHECK_FINDINGS_MAX) {
        c->report->dropped++;
        return;
    }
    cupel_check_finding *found = &c->report->findings[c->report->finding_count++];
    memset(found, 0, sizeof *found);
    found->finding = *finding;
    found->recipe = *recipe;
    found->try_seconds = try_seconds;
    /* no trait is known to be necessary yet, and none will be where the minimiser is too dear */
    if (!worth_minimising(c, found)) found->finding.gate = cupel_gate_of_finding(&found->finding, 0);
    snprintf(found->signature, sizeof found->signature, "%s", signature);
    save(c, found, trial);
}

/* Runs a suspect in a fresh worker; every finding that this shows is saved. False when it shows none. */
static bool confirm(check *c, const cupel_recipe *recipe) {
    cupel_trial trial = {0};
    double before = cupel_shrink_now();
    cupel_arena_reset(c->arena);
    cupel_code code = cupel_supervisor_try(c->supervisor, recipe, true, c->arena, &trial, c->err);
    double seconds = cupel_shrink_now() - before;
    if (code != CUPEL_OK) {
        if (code == CUPEL_MISMATCH || code == CUPEL_CONTRACT || code == CUPEL_MEMORY) c->code = code;
        return false;
    }
    for (int i = 0; i < trial.judged.finding_count; i++)
        record(c, recipe, &trial, &trial.judged.findings[i], seconds);
    if (trial.judged.finding_count == 0 && trial.unconfirmed > 0) c->report->false_alarms++;
    return trial.judged.finding_count > 0 || trial.unconfirmed > 0;
}

/* ---- minimising ---- */

static cupel_code try_for_minimiser(void *self, const cupel_recipe *recipe, cupel_arena *arena,
                                    cupel_trial *out, cupel_error *err) {
    check *c = self;
    if (stopped(c)) return cupel_fail(err, CUPEL_UNABLE, "the check was interrupted");
    return cupel_supervisor_try(c->supervisor, recipe, false, arena, out, err);
}

static void keep_slip(void *self, const cupel_recipe *recipe, const cupel_finding *finding) {
    check *c = self;
    char signature[160];
    cupel_finding_signature(finding, signature, sizeof signature);
    attempt *a = known(c, signature) ? NULL : attempt_of(c, signature);
    if (!a || a->tries > 0 || c->pending_count == PENDING_MAX) return;
    a->tries++;
    c->pending[c->pending_count++] = *recipe;
}

/* The minimal case must fail in a fresh worker too, else the case as found stays. */
static void minimise(check *c, cupel_check_finding *found) {
    cupel_recipe recipe = found->recipe;
    cupel_finding finding;
    cupel_minimise_report report = {0};
    double seconds = minimise_budget(c);
    cupel_minimise_options budget = {.max_tries = MINIMISE_TRIES, .seconds = seconds};
    cupel_predicate predicate = {c, try_for_minimiser, keep_slip};
    if (cupel_minimise(c->contract, found->signature, &predicate, &budget, &recipe, &finding, &report,
                       NULL) != CUPEL_OK ||
        stopped(c)) /* what a minimiser cut short says of necessity is nothing */
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
    found->report = report;
    found->minimised = true;
    save(c, found, &trial);
}

static void confirm_pending(check *c) {
    while (c->pending_count > 0 && c->code == CUPEL_OK && !stopped(c)) {
        cupel_recipe recipe = c->pending[--c->pending_count];
        (void)confirm(c, &recipe);
    }
}

static void minimise_new(check *c, int from) {
    for (int i = from; i < c->report->finding_count && c->code == CUPEL_OK && !stopped(c); i++) {
        cupel_check_finding *found = &c->report->findings[i];
        if (!found->minimised && worth_minimising(c, found)) minimise(c, found);
        confirm_pending(c); /* may add findings, which this loop then reaches */
    }
}

/* ---- the search ---- */

static bool on_suspect(void *self, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    check *c = self;
    bool is_new = false;
    attempt *a = NULL;
    for (int i = 0; i < suspicion->finding_count && !is_new; i++) {
        char signature[160];
        cupel_finding_signature(&suspicion->findings[i], signature, sizeof signature);
        if (known(c, signature)) continue;
        a = attempt_of(c, signature);
        is_new = a && a->tries < ATTEMPTS_MAX;
    }
    if (is_new) {
        int findings = c->report->finding_count;
        if (!confirm(c, recipe) && ++a->tries == ATTEMPTS_MAX) c->report->unconfirmed++;
        minimise_new(c, findings);
    }
    return c->code == CUPEL_OK && remaining(c) > 0;
}

static bool on_progress(void *self, const cupel_progress *progress) {
    check *c = self;
    c->report->cases = progress->cases;
    c->report->worst_ratio = progress->worst_ratio;
    c->report->restarts = progress->restarts;
    c->report->seconds = elapsed(c);
    if (progress->unsupported)
        snprintf(c->report->unsupported, sizeof c->report->unsupported, "%s", progress->unsupported);
    if (c->listener && c->listener->progress) c->listener->progress(c->listener->self, c->report, progress);
    bool budget_given = c->options->cases || c->options->seconds > 0;
    bool quiet = progress->seconds_since_feature >= quiet_seconds;
    return remaining(c) > 0 && (budget_given || !quiet);
}

/* ---- the verdict ---- */

static bool selected(const check *c, cupel_gate gate) {
    return !c->options->gates || (c->options->gates >> gate & 1);
}

static void drop_unselected(check *c) {
    int kept = 0;
    for (int i = 0; i < c->report->finding_count; i++)
        if (selected(c, c->report->findings[i].finding.gate))
            c->report->findings[kept++] = c->report->findings[i];
    c->report->finding_count = kept;
}

static void conclude(check *c) {
    cupel_check_report *report = c->report;
    drop_unselected(c);
    int rejecting = 0;
    int64_t judged = 0;
    for (int i = 0; i < report->finding_count; i++) {
        const cupel_finding *finding = &report->findings[i].finding;
        if (finding->standing < c->options->standing) continue;
        rejecting++;
        report->gates[finding->gate].findings++;
    }
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        cupel_check_gate *gate = &report->gates[g];
        gate->status =
            cupel_gate_status_of(c->contract, &report->scoreboard, (cupel_gate)g, gate->findings, &gate->why);
        if (selected(c, (cupel_gate)g)) judged += report->scoreboard.gates[g].judged;
    }
    bool could_run = report->scoreboard.unsupported < report->scoreboard.cases;
    report->verdict = cupel_verdict_of(&report->scoreboard, rejecting, report->unconfirmed, could_run);
    report->interrupted = stopped(c);
    for (int i = 0; i < report->finding_count && report->interrupted; i++)
        report->findings[i].gate_untested = !report->findings[i].minimised;
    if (report->verdict == CUPEL_VERDICT_ACCEPTED && (judged == 0 || report->interrupted))
        report->verdict = CUPEL_VERDICT_INCONCLUSIVE;
    if (report->verdict != CUPEL_VERDICT_INCONCLUSIVE) return;
    if (!could_run && report->unsupported[0])
        snprintf(report->reason, sizeof report->reason, "%s", report->unsupported);
    else if (report->unconfirmed)
        snprintf(report->reason, sizeof report->reason,
                 "%d suspicion(s) could not be confirmed in a fresh worker", report->unconfirmed);
    else if (report->interrupted)
        snprintf(report->reason, sizeof report->reason, "interrupted before the budget was used up");
    else
        snprintf(report->reason, sizeof report->reason, "nothing was judged");
}

cupel_code cupel_check_run(const cupel_contract *contract, const cupel_check_options *options,
                           const cupel_check_listener *listener, cupel_check_report *report,
                           cupel_error *err) {
    memset(report, 0, sizeof *report);
    check c = {.contract = contract,
               .options = options,
               .listener = listener,
               .report = report,
               .start = cupel_shrink_now(),
               .err = err};
    report->contract = contract;
    report->kernel = options->kernel;
    report->seed = options->seed;
    report->executor =
        options->supervisor.executor ? options->supervisor.executor : cupel_executor_default(contract)->name;
    c.arena = cupel_arena_create(0);
    if (!c.arena) return cupel_fail(err, CUPEL_MEMORY, "no memory for the check");
    cupel_code code = cupel_supervisor_open(contract, &options->supervisor, &c.supervisor, err);
    if (code != CUPEL_OK) code = cupel_check_executor_failed(contract, code, err);
    if (code == CUPEL_OK) {
        const char *isolation = cupel_supervisor_isolation(c.supervisor);
        snprintf(report->isolation, sizeof report->isolation, "%s", isolation ? isolation : "");
        cupel_search_options search = {.engine = options->engine ? options->engine : "draw",
                                       .seed = options->seed,
                                       .cases = options->cases,
                                       .seconds = 0,
                                       .limits = options->limits};
        cupel_search_callbacks callbacks = {.self = &c, .suspect = on_suspect, .progress = on_progress};
        code = cupel_supervisor_search(c.supervisor, &search, &callbacks, &report->scoreboard, err);
        if (c.code != CUPEL_OK) code = c.code;
        minimise_new(&c, 0);
        cupel_supervisor_close(c.supervisor);
    }
    if (report->scoreboard.cases > 0) report->cases = (uint64_t)report->scoreboard.cases;
    report->seconds = elapsed(&c);
    if (code == CUPEL_OK || report->finding_count > 0) {
        conclude(&c); /* what was found stands, even when the search itself broke down */
        code = CUPEL_OK;
    }
    cupel_arena_free(c.arena);
    return code;
}

int cupel_check_exit_status(cupel_verdict verdict) {
    switch (verdict) {
    case CUPEL_VERDICT_ACCEPTED: return 0;
    case CUPEL_VERDICT_REJECTED: return 1;
    case CUPEL_VERDICT_INCONCLUSIVE: break;
    }
    return 3;
}

int cupel_check_error_status(cupel_code code) {
    switch (code) {
    case CUPEL_OK: return 0;
    case CUPEL_UNSUPPORTED:
    case CUPEL_UNABLE:
    case CUPEL_WORKER:
    case CUPEL_MEMORY: return 3;
    default: return 2;
    }
}

cupel_code cupel_check_executor_failed(const cupel_contract *contract, cupel_code code, cupel_error *err) {
    /* the compiler's own words when it cannot start the linker */
    static const char *const missing[] = {"unable to execute command", "invalid linker name",
                                          "cannot find 'ld'"};
    bool here = code == CUPEL_IO && (!contract->source || access(contract->source, R_OK) == 0);
    for (size_t i = 0; i < sizeof missing / sizeof *missing && code == CUPEL_BUILD && err; i++)
        here = here || strstr(err->text, missing[i]);
    if (!here) return code;
    if (err) err->code = CUPEL_UNSUPPORTED;
    return CUPEL_UNSUPPORTED;
}
