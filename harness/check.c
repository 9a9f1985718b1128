#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_size.h"
#include "check_impl.h"
#include "shrink.h"
#include "source_numbers.h"
#include "starts.h"

/* Seconds of the default budget: it ends when QUIET seconds bring nothing new, at TOTAL in any case; RESERVE
 * of that is kept for the last bundle. */
static const double quiet_seconds = 5, total_seconds = 20, reserve_seconds = 1.5;
/* So long beyond a budget of time a suspicion may be run again; then it counts as unconfirmed. */
static const double late_seconds = 10;
static const double plenty = 1e9, save_again_seconds = 30;

/* Of a check's budget the recipes of the corpus get a part: this many where time is the budget, else this
 * part of the cases. A campaign tries them all. A search that ends without any case this often in a row is
 * given up. */
enum { REPLAYED_MAX = 256, REPLAYED_PART = 4, SAVED_AT_A_TIME = 16, BARREN_ROUNDS_MAX = 5 };

double cupel_check_elapsed(const cupel_check *c) {
    return cupel_shrink_now() - c->start;
}

bool cupel_check_stopped(const cupel_check *c) {
    return c->options->stop && *c->options->stop;
}

static double deadline(const cupel_check *c) {
    const cupel_check_options *options = c->options;
    if (options->seconds > 0) return c->start + options->seconds + late_seconds;
    return options->cases || options->endless ? 0 : c->start + total_seconds + late_seconds;
}

bool cupel_check_out_of_time(const cupel_check *c) {
    const double end = c->options->supervisor.deadline;
    return end > 0 && cupel_shrink_now() > end;
}

bool cupel_check_untimed(const cupel_check *c) {
    return c->options->cases && !(c->options->seconds > 0);
}

double cupel_check_remaining(const cupel_check *c) {
    if (cupel_check_stopped(c)) return 0;
    if (c->options->seconds > 0) return c->options->seconds - cupel_check_elapsed(c);
    if (c->options->cases || c->options->endless) return plenty;
    return total_seconds - reserve_seconds - cupel_check_elapsed(c);
}

void cupel_check_note(const cupel_check *c, bool warning, const char *format, ...) {
    char text[1024];
    if (!c->listener || !c->listener->note) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c->listener->note(c->listener->self, warning, text);
}

/* ---- sizes ---- */

/* A contract of which not even the smallest case can be judged is told so at once; where larger cases are
 * asked for than can be judged, they are kept to what can. */
static cupel_code fit_memory(cupel_check *c) {
    const uint64_t memory = cupel_supervisor_memory(c->supervisor);
    cupel_arena_reset(c->arena);
    CUPEL_TRY(cupel_case_size_smallest(c->contract, memory, c->arena, c->err));
    const int64_t most = cupel_case_size_elements(memory);
    c->limits = c->options->limits;
    if (memory == 0 || c->limits.max_elements <= most) return CUPEL_OK;
    c->limits.max_elements = most;
    cupel_check_note(c, true,
                     "cases have at most %" PRId64 " elements, for which %" PRIu64 " MiB of memory suffice",
                     most, memory >> 20);
    return CUPEL_OK;
}

/* ---- the corpus ---- */

static void tell_corpus(cupel_check *c) {
    char text[700];
    cupel_corpus_note(c->corpus, text, sizeof text);
    if (text[0]) cupel_check_note(c, false, "corpus: %s", text);
}

/* Whatever waits to be saved; at most some of it at a time while a search is at work. */
static void save_waiting(cupel_check *c, int at_most) {
    cupel_corpus_save(c->corpus, at_most);
    c->report->corpus = *cupel_corpus_counted(c->corpus);
    const char *trouble = cupel_corpus_trouble(c->corpus);
    if (trouble && !c->corpus_told) cupel_check_note(c, true, "corpus: nothing can be saved: %s", trouble);
    c->corpus_told = c->corpus_told || trouble;
}

/* On a disk that is full nothing is tried again at once. */
static void save_now_and_then(cupel_check *c) {
    double now = cupel_check_elapsed(c);
    bool failing = cupel_corpus_trouble(c->corpus) != NULL, due = now - c->saved_at >= save_again_seconds;
    if (!failing || due) save_waiting(c, SAVED_AT_A_TIME);
    if (!due) return;
    c->saved_at = now;
    if (c->options->endless) cupel_check_save_again(c);
}

/* What the search tries first: the corpus, then the starts of the contract's family. */
static cupel_code collect_starts(cupel_check *c, cupel_search_options *search) {
    const cupel_check_options *options = c->options;
    int max = options->endless ? CUPEL_CORPUS_MAX : REPLAYED_MAX, family = 0;
    if (!options->endless && options->cases && options->cases / REPLAYED_PART < (uint64_t)max)
        max = (int)(options->cases / REPLAYED_PART);
    cupel_recipe *starts = NULL;
    cupel_arena_reset(c->starts_arena);
    cupel_limits limits = c->limits;
    limits.dictionary = &c->dictionary;
    CUPEL_TRY(cupel_starts_for(c->contract, &limits, c->starts_arena, &family, &starts, c->err));
    int kept = cupel_corpus_starts(c->corpus, max, options->seed, NULL);
    cupel_recipe *all = cupel_arena_raw(c->starts_arena, (size_t)(kept + family) + 1, sizeof *all);
    if (!all) return cupel_fail(c->err, CUPEL_MEMORY, "no memory for the starts of the search");
    cupel_corpus_starts(c->corpus, max, options->seed, all);
    if (family) memcpy(all + kept, starts, (size_t)family * sizeof *all);
    search->start_count = (size_t)(kept + family);
    if (c->report->rounds == 0) c->first_round = search->start_count;
    search->starts = all;
    return CUPEL_OK;
}

/* ---- the search ---- */

static bool on_suspect(void *self, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    cupel_check *c = self;
    cupel_check_suspect(c, recipe, suspicion);
    return c->code == CUPEL_OK && cupel_check_remaining(c) > 0;
}

static void on_interesting(void *self, const cupel_recipe *recipe) {
    cupel_check *c = self;
    cupel_corpus_add(c->corpus, recipe);
    cupel_check_sanitize(c, recipe);
}

void cupel_check_show(cupel_check *c) {
    c->report->seconds = cupel_check_elapsed(c);
    if (c->last.cases && c->listener && c->listener->progress)
        c->listener->progress(c->listener->self, c->report, &c->last);
}

static void take_progress(cupel_check *c, const cupel_progress *progress) {
    cupel_check_report *report = c->report;
    report->scoreboard = c->before;
    cupel_scoreboard_add(&report->scoreboard, progress->scoreboard);
    report->cases = (uint64_t)c->before.cases + progress->cases;
    if (progress->worst_ratio > report->worst_ratio) report->worst_ratio = progress->worst_ratio;
    report->restarts = c->restarts_before + progress->restarts;
    report->features = progress->features;
    report->edges = progress->edges;
    report->edge_count = progress->edge_count;
    report->feature_seconds = progress->seconds_since_feature;
    if (progress->unsupported)
        snprintf(report->unsupported, sizeof report->unsupported, "%s", progress->unsupported);
    c->last = *progress;
    c->last.scoreboard = &report->scoreboard;
    c->last.cases = report->cases;
    c->last.restarts = report->restarts;
    c->last.unsupported = report->unsupported;
}

static bool on_progress(void *self, const cupel_progress *progress) {
    cupel_check *c = self;
    take_progress(c, progress);
    cupel_check_poll_sanitizer(c);
    save_now_and_then(c);
    cupel_check_show(c);
    bool budget_given = c->options->cases || c->options->seconds > 0 || c->options->endless;
    bool quiet = progress->seconds_since_feature >= quiet_seconds;
    return c->code == CUPEL_OK && cupel_check_remaining(c) > 0 && (budget_given || !quiet);
}

/* One search; its totals join those of the searches before it. */
static cupel_code search_once(cupel_check *c, uint64_t seed) {
    const cupel_check_options *options = c->options;
    cupel_scoreboard board = {0};
    cupel_search_options search = {.engine = options->engine, .seed = seed, .limits = c->limits};
    if (options->cases) search.cases = options->cases - (uint64_t)c->before.cases;
    cupel_search_callbacks callbacks = {
        .self = c, .suspect = on_suspect, .progress = on_progress, .interesting = on_interesting};
    CUPEL_TRY(collect_starts(c, &search));
    c->report->rounds++;
    cupel_code code = cupel_supervisor_search(c->supervisor, &search, &callbacks, &board, c->err);
    cupel_scoreboard_add(&c->before, &board);
    c->report->scoreboard = c->before;
    c->restarts_before = c->report->restarts;
    return c->code != CUPEL_OK ? c->code : code;
}

static bool is_over(const cupel_check *c) {
    return cupel_check_remaining(c) <= 0 ||
           (c->options->cases && (uint64_t)c->before.cases >= c->options->cases);
}

/* A campaign begins a new search, with another seed, when one ends by itself or breaks down; a check ends
 * then. */
static cupel_code search(cupel_check *c) {
    static const uint64_t stride = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t seed = c->options->seed;
    for (int barren = 0;; seed += stride) {
        int64_t cases = c->before.cases;
        if (cupel_check_stopped(c)) return CUPEL_OK;
        cupel_code code = search_once(c, seed);
        if (cupel_check_stopped(c) && code == CUPEL_UNABLE) return c->code; /* compiling was ended */
        if (!c->options->endless || c->code != CUPEL_OK || is_over(c)) return code;
        if (code != CUPEL_OK && code != CUPEL_WORKER) return code;
        barren = c->before.cases > cases ? 0 : barren + 1;
        if (barren == BARREN_ROUNDS_MAX)
            return code != CUPEL_OK ? code : cupel_fail(c->err, CUPEL_UNABLE, "the search tries no case");
        if (code != CUPEL_OK) {
            char text[700];
            cupel_check_note(c, true, "the search broke down and starts again: %s",
                             cupel_error_format(c->err, text, sizeof text));
        }
        save_waiting(c, CUPEL_CORPUS_MAX);
    }
}

/* ---- the verdict ---- */

static bool selected(const cupel_check *c, cupel_gate gate) {
    return !c->options->gates || (c->options->gates >> gate & 1);
}

static void drop_unselected(cupel_check *c) {
    int kept = 0;
    for (int i = 0; i < c->report->finding_count; i++)
        if (selected(c, c->report->findings[i].finding.gate))
            c->report->findings[kept++] = c->report->findings[i];
    c->report->finding_count = kept;
}

/* A campaign without a budget has no other end than a stop: what it has judged by then may do, or not. */
static bool was_interrupted(const cupel_check *c) {
    const cupel_check_options *options = c->options;
    if (!cupel_check_stopped(c)) return false;
    if (!options->endless || options->cases || options->seconds > 0) return true;
    return c->before.cases == 0 || (uint64_t)c->before.cases < c->first_round ||
           c->report->gates[CUPEL_GATE_CMP_01].status == CUPEL_STATUS_NOT_EXERCISED;
}

/* What is still to be run again when all is over was not. */
static void count_pending(cupel_check *c) {
    c->report->cut_off += c->pending_count;
    c->report->unconfirmed += c->pending_count;
    c->pending_count = 0;
}

/* No element was judged: because no case came to its end, or for the reason that most elements have. */
static void word_nothing(const cupel_scoreboard *scoreboard, char *reason, size_t size) {
    int64_t most = 0;
    cupel_reason why = CUPEL_REASON_JUDGED;
    for (int r = CUPEL_REASON_JUDGED + 1; r < CUPEL_REASON_COUNT; r++) {
        const int64_t count = cupel_scoreboard_by_reason(scoreboard, (cupel_reason)r);
        if (count > most) most = count, why = (cupel_reason)r;
    }
    if (scoreboard->gates[CUPEL_GATE_PRC_01].considered == 0)
        snprintf(reason, size,
                 "nothing was judged: no case came to its end within the budget (larger: --for; "
                 "or claim smaller dims)");
    else if (most > 0)
        snprintf(reason, size, "nothing was judged: %s", cupel_reason_text(why));
    else
        snprintf(reason, size, "nothing was judged");
}

/* Elements were judged, though by none of the gates that were asked for: what the first of them lacked. False
 * where that is not so. */
static bool word_selection(const cupel_check *c, char *reason, size_t size) {
    const cupel_check_report *report = c->report;
    if (!c->options->gates || report->scoreboard.gates[CUPEL_GATE_PRC_01].judged == 0) return false;
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) {
        if (!selected(c, (cupel_gate)gate) || !report->gates[gate].why) continue;
        snprintf(reason, size, "no gate that was asked for was exercised: %s: %s",
                 cupel_gate_id((cupel_gate)gate), report->gates[gate].why);
        return true;
    }
    return false;
}

/* Why the verdict is inconclusive: what weighs most. */
static void word_reason(const cupel_check *c, bool could_run) {
    cupel_check_report *report = c->report;
    char *reason = report->reason;
    size_t size = sizeof report->reason;
    bool budget = c->options->cases || c->options->seconds > 0 || !c->options->endless;
    if (!could_run && report->unsupported[0])
        snprintf(reason, size, "%s", report->unsupported);
    else if (cupel_verdict_lacks_cases(&report->scoreboard))
        snprintf(reason, size, "%" PRId64 " of %" PRId64 " cases could not be run",
                 report->scoreboard.unsupported, report->scoreboard.cases);
    else if (report->cut_off)
        snprintf(reason, size, "%s before %d suspicion(s) could be confirmed in a fresh worker%s%s",
                 cupel_check_stopped(c) ? "interrupted" : "the time was used up", report->cut_off,
                 report->unconfirmed_text[0] ? ": " : "", report->unconfirmed_text);
    else if (report->unconfirmed)
        snprintf(reason, size, "%d suspicion(s) could not be confirmed in a fresh worker: %s",
                 report->unconfirmed, report->unconfirmed_text);
    else if (report->interrupted)
        snprintf(reason, size, "interrupted before %s",
                 budget ? "the budget was used up" : "the first cases and an ordinary shape were judged");
    else if (report->skipped)
        snprintf(reason, size, "%d known counterexample%s not run again: %s", report->skipped,
                 report->skipped == 1 ? " was" : "s were", report->skipped_text);
    else if (report->vacuous)
        snprintf(reason, size, "nothing was shown: %s", report->vacuous);
    else if (!word_selection(c, reason, size))
        word_nothing(&report->scoreboard, reason, size);
}

/* What was not minimised: was it tried what the failure needs, where the gate is one that some trait of the
 * case suggests? Was it time that lacked, and not that one try takes long? */
static void judge_finish(const cupel_check *c, cupel_check_finding *found) {
    if (found->minimised) return;
    const bool stopped = cupel_check_stopped(c);
    found->gate_untested = stopped || found->finding.gate != cupel_gate_of_finding(&found->finding, 0);
    found->out_of_time = !stopped && cupel_check_remaining(c) <= 0;
}

static void conclude(cupel_check *c) {
    cupel_check_report *report = c->report;
    drop_unselected(c);
    count_pending(c);
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
        if (g == CUPEL_GATE_RES_02 && gate->status == CUPEL_STATUS_PASS && report->resources.missing[0]) {
            gate->status = CUPEL_STATUS_NOT_AVAILABLE;
            gate->why = report->resources.missing;
        }
        if (selected(c, (cupel_gate)g)) judged += report->scoreboard.gates[g].judged;
    }
    bool could_run = report->scoreboard.unsupported < report->scoreboard.cases;
    report->verdict = cupel_verdict_of(&report->scoreboard, rejecting, report->unconfirmed, could_run);
    report->interrupted = was_interrupted(c);
    for (int i = 0; i < report->finding_count; i++) judge_finish(c, &report->findings[i]);
    const bool vacuous =
        cupel_gate_is_vacuous(c->contract, &report->scoreboard, CUPEL_GATE_PRC_01, &report->vacuous);
    if (report->verdict == CUPEL_VERDICT_ACCEPTED &&
        (judged == 0 || report->interrupted || report->skipped || vacuous))
        report->verdict = CUPEL_VERDICT_INCONCLUSIVE;
    if (report->verdict == CUPEL_VERDICT_INCONCLUSIVE) word_reason(c, could_run);
}

static void begin_report(cupel_check *c) {
    const cupel_check_options *options = c->options;
    cupel_check_report *report = c->report;
    report->contract = c->contract;
    report->kernel = options->kernel;
    report->seed = options->seed;
    report->signature_seconds = -1;
    report->endless = options->endless;
    report->engine = options->engine ? options->engine : cupel_engine_default();
    report->executor = options->supervisor.executor ? options->supervisor.executor
                                                    : cupel_executor_default(c->contract)->name;
}

static cupel_code run(cupel_check *c) {
    const char *isolation = cupel_supervisor_isolation(c->supervisor);
    snprintf(c->report->isolation, sizeof c->report->isolation, "%s", isolation ? isolation : "");
    CUPEL_TRY(fit_memory(c));
    CUPEL_TRY(
        cupel_corpus_open(c->contract, c->options->directory, c->limits.max_elements, &c->corpus, c->err));
    tell_corpus(c);
    cupel_check_begin_resources(c);
    cupel_check_begin_sanitizer(c);
    cupel_check_replay(c);
    if (c->options->endless) cupel_check_resources(c);
    cupel_code code = c->code != CUPEL_OK ? c->code : search(c);
    cupel_check_minimise(c, 0);
    cupel_check_end_sanitizer(c);
    cupel_check_resources(c);
    save_waiting(c, CUPEL_CORPUS_MAX);
    cupel_check_save_again(c);
    return code;
}

cupel_code cupel_check_run(const cupel_contract *contract, const cupel_check_options *options,
                           const cupel_check_listener *listener, cupel_check_report *report,
                           cupel_error *err) {
    memset(report, 0, sizeof *report);
    cupel_check *c = calloc(1, sizeof *c);
    if (!c) return cupel_fail(err, CUPEL_MEMORY, "no memory for the check");
    *c = (cupel_check){.contract = contract,
                       .own = *options,
                       .listener = listener,
                       .report = report,
                       .start = cupel_shrink_now()};
    c->err = err ? err : &c->unwanted;
    c->options = &c->own;
    c->own.supervisor.deadline = deadline(c);
    begin_report(c);
    cupel_source_numbers(contract, &options->supervisor.exec, &c->dictionary);
    c->arena = cupel_arena_create(0);
    c->starts_arena = cupel_arena_create(0);
    cupel_code code =
        c->arena && c->starts_arena ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "no memory for the check");
    if (code == CUPEL_OK)
        code = cupel_supervisor_open(contract, &c->options->supervisor, &c->supervisor, err);
    if (code != CUPEL_OK)
        code = cupel_check_executor_failed(contract, code, err);
    else
        code = run(c);
    cupel_check_end_resources(c);
    cupel_side_close(c->side);
    cupel_supervisor_close(c->supervisor);
    report->seconds = cupel_check_elapsed(c);
    if (report->scoreboard.cases > 0) report->cases = (uint64_t)report->scoreboard.cases;
    if (code == CUPEL_OK || report->finding_count > 0) {
        conclude(c); /* what was found stands, even when the search itself broke down */
        code = CUPEL_OK;
    }
    cupel_corpus_close(c->corpus);
    cupel_arena_free(c->arena);
    cupel_arena_free(c->starts_arena);
    free(c);
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
