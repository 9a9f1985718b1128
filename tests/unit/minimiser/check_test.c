/* The course of a check over a supervisor of our own making: what is confirmed, saved, minimised, and the
 * verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"
#include "fake_kernel.h"
#include "report.h"

static const char text[] = "cupel: 1\n"
                           "id: checked\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..1024}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]', z: 'f32[N]'}\n"
                           "ensures: {y: 'x', z: 'x'}\n"
                           "kernel: {entry: fake, args: [x, y, z, N], grid: [1], block: [32]}\n";

/* ---- the supervisor of this test ---- */

struct cupel_supervisor {
    int unused;
};

static struct {
    const cupel_contract *contract;
    int64_t y_fails_from, z_fails_below; /* dims from which y, and below which z, is wrong; 0: never */
    int refuse;                          /* that many tries show nothing */
    bool refuted;                        /* the exact oracle confirms nothing */
    int calls_needed;                    /* a try shows nothing with fewer earlier calls; 0: any */
    int64_t judged, suspects;
    int64_t cases, ordinary; /* cases of a search, 0: 10; of these, of an ordinary shape */
    cupel_code opens;
    int tries;
    cupel_fault fault; /* of y's finding */
    int breakdowns;    /* searches that fail before one goes well */
    int searches;
    int64_t starts[8]; /* N of the first starts of the last search */
    size_t start_count;
    const char *clear;                /* removed at the end of the search */
    volatile sig_atomic_t *interrupt; /* set while the search is at work, before its suspects come */
    int64_t unsupported;              /* of the 10 cases of a search */
} fake;

static cupel_supervisor the_supervisor;

cupel_code cupel_supervisor_open(const cupel_contract *contract, const cupel_supervisor_options *options,
                                 cupel_supervisor **out, cupel_error *err) {
    (void)contract, (void)options;
    *out = &the_supervisor;
    return fake.opens == CUPEL_OK ? CUPEL_OK : cupel_fail(err, fake.opens, "it does not open");
}

void cupel_supervisor_close(cupel_supervisor *supervisor) {
    (void)supervisor;
}
const char *cupel_supervisor_isolation(const cupel_supervisor *supervisor) {
    (void)supervisor;
    return "";
}

static void add_finding(cupel_judged *judged, const char *output) {
    cupel_finding *finding = &judged->findings[judged->finding_count++];
    *finding = (cupel_finding){.gate = CUPEL_GATE_CMP_01,
                               .kind = CUPEL_FINDING_WRONG_VALUE,
                               .standing = CUPEL_STANDING_PROOF,
                               .output = output[0] == 'z',
                               .index = 0,
                               .type = CUPEL_F32,
                               .ratio = NAN,
                               .steps = NAN};
    if (output[0] == 'y' && fake.fault) finding->kind = CUPEL_FINDING_FAULT, finding->fault = fake.fault;
    snprintf(finding->output_name, sizeof finding->output_name, "%s", output);
}

static void judge(const cupel_recipe *recipe, cupel_judged *judged) {
    if (fake.y_fails_from && recipe->dims[0] >= fake.y_fails_from) add_finding(judged, "y");
    if (fake.z_fails_below && recipe->dims[0] < fake.z_fails_below) add_finding(judged, "z");
}

cupel_code cupel_supervisor_try(cupel_supervisor *supervisor, const cupel_recipe *recipe, bool fresh,
                                cupel_arena *arena, cupel_trial *out, cupel_error *err) {
    (void)supervisor, (void)fresh;
    fake.tries++;
    memset(out, 0, sizeof *out);
    CUPEL_TRY(cupel_case_materialise(fake.contract, recipe, arena, &out->c, err));
    if (fake.refuted)
        out->unconfirmed = 1;
    else if (fake.refuse > 0)
        fake.refuse--;
    else if (fake.calls_needed > 0 && cupel_recipe_calls(recipe) < fake.calls_needed)
        return CUPEL_OK;
    else if (fake.calls_needed > 0)
        add_finding(&out->judged, "y"), out->judged.findings[0].kind = CUPEL_FINDING_HISTORY;
    else
        judge(recipe, &out->judged);
    return CUPEL_OK;
}

cupel_code cupel_supervisor_search(cupel_supervisor *supervisor, const cupel_search_options *options,
                                   const cupel_search_callbacks *callbacks, cupel_scoreboard *scoreboard,
                                   cupel_error *err) {
    (void)supervisor;
    cupel_recipe recipe;
    fake.searches++;
    fake.start_count = options->start_count;
    for (size_t i = 0; i < options->start_count && i < 8; i++) fake.starts[i] = options->starts[i].dims[0];
    CUPEL_TRY(cupel_recipe_simple(fake.contract, &recipe, err));
    if (fake.breakdowns > 0) {
        fake.breakdowns--;
        return cupel_fail(err, CUPEL_WORKER, "workers die before their first case");
    }
    for (int64_t n = 500; n < 503 && callbacks->interesting; n++) {
        recipe.dims[0] = n;
        callbacks->interesting(callbacks->self, &recipe);
    }
    scoreboard->cases = fake.cases ? fake.cases : 10;
    scoreboard->gates[CUPEL_GATE_CMP_01] =
        (cupel_gate_tally){.cases = fake.ordinary, .judged = fake.ordinary, .considered = fake.ordinary};
    scoreboard->unsupported = fake.unsupported;
    scoreboard->gates[CUPEL_GATE_PRC_01] =
        (cupel_gate_tally){.cases = 10, .judged = fake.judged, .considered = 100};
    cupel_progress progress = {.scoreboard = scoreboard, .cases = 10};
    if (fake.unsupported) progress.unsupported = "it is not to be had here";
    if (fake.unsupported) assert_true(callbacks->progress(callbacks->self, &progress));
    if (fake.interrupt) *fake.interrupt = 1;
    for (int64_t i = 0; i < fake.suspects; i++) {
        cupel_judged suspicion = {.n = (uint64_t)(4 + i)};
        recipe.dims[0] = 700 + i;
        judge(&recipe, &suspicion);
        if (!callbacks->suspect(callbacks->self, &recipe, &suspicion)) break;
        if (!callbacks->progress(callbacks->self, &progress)) break;
    }
    if (fake.interrupt) (void)callbacks->progress(callbacks->self, &progress);
    if (fake.clear) assert_int_equal(remove(fake.clear), 0);
    return CUPEL_OK;
}

/* ---- the tests ---- */

typedef struct fixture {
    cupel_arena *arena;
    char folder[64];
    cupel_check_report report;
    int found, minimised, notes, warnings;
    char note[1024];
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->arena = cupel_arena_create(0);
    memset(&fake, 0, sizeof fake);
    fake.contract = fake_contract(f->arena, text);
    fake.judged = 50;
    snprintf(f->folder, sizeof f->folder, "check-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int status = system(command);
    cupel_arena_free(f->arena);
    free(f);
    return status;
}

static void on_found(void *self, const cupel_check_finding *found) {
    fixture *f = self;
    f->found += !found->minimised;
    f->minimised += found->minimised;
    assert_int_equal(access(found->bundle, R_OK), 0); /* saved before it is told */
}

static void on_note(void *self, bool warning, const char *note) {
    fixture *f = self;
    f->notes += !warning;
    f->warnings += warning;
    snprintf(f->note, sizeof f->note, "%s", note);
}

static cupel_code check(fixture *f) {
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .cases = 10,
                                   .standing = CUPEL_STANDING_PROOF};
    cupel_check_listener listener = {.self = f, .found = on_found, .note = on_note};
    return cupel_check_run(fake.contract, &options, &listener, &f->report, NULL);
}

static cupel_code fuzz(fixture *f, uint64_t cases) {
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .cases = cases,
                                   .endless = true,
                                   .standing = CUPEL_STANDING_PROOF};
    cupel_check_listener listener = {.self = f, .found = on_found, .note = on_note};
    return cupel_check_run(fake.contract, &options, &listener, &f->report, NULL);
}

static void nothing_found_is_accepted(void **state) {
    fixture *f = *state;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_ACCEPTED);
    assert_int_equal(f->report.cases, 10);
    assert_int_equal(cupel_check_exit_status(f->report.verdict), 0);
}

static void nothing_judged_is_inconclusive(void **state) {
    fixture *f = *state;
    fake.judged = 0;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_string_equal(f->report.reason, "nothing was judged");
    assert_int_equal(cupel_check_exit_status(f->report.verdict), 3);
}

static void too_many_cases_that_cannot_be_run_are_inconclusive(void **state) {
    fixture *f = *state;
    char *report = NULL;
    size_t length = 0;
    fake.unsupported = 9; /* the tenth was judged, and found right */
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_string_equal(f->report.reason, "9 of 10 cases could not be run");
    FILE *out = open_memstream(&report, &length);
    cupel_report_text(&f->report, out);
    assert_int_equal(cupel_report_json(&f->report, out, NULL), CUPEL_OK);
    fclose(out);
    assert_non_null(strstr(report, "\nnot run   9 of 10 cases could not be run: it is not to be had here\n"));
    assert_non_null(strstr(
        report, "\"unsupported\": {\n    \"cases\": 9,\n    \"reason\": \"it is not to be had here\""));
    free(report);
    fake.y_fails_from = 41; /* a finding rejects all the same */
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
}

static void finding_is_minimised_attributed_and_counted_once(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.suspects = 5;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_int_equal(f->report.finding_count, 1);
    assert_int_equal(f->report.findings[0].found_at, 5);
    assert_int_equal(f->found, 1);
    assert_int_equal(f->minimised, 1);
    assert_true(f->report.findings[0].minimised);
    assert_int_equal(f->report.findings[0].recipe.dims[0], 41);
    assert_int_equal(f->report.findings[0].finding.gate, CUPEL_GATE_CMP_01);
    assert_int_equal(f->report.gates[CUPEL_GATE_CMP_01].findings, 1);
    assert_int_equal(cupel_check_exit_status(f->report.verdict), 1);
}

static void slip_becomes_a_finding_of_its_own(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.z_fails_below = 9;
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.finding_count, 2);
    assert_string_equal(f->report.findings[1].finding.output_name, "z");
    assert_int_equal(f->report.findings[1].recipe.dims[0], 1);
    /* z fails at no ordinary shape: attribution moves its bundle to the other gate, and no provisional one
     * stays behind */
    assert_int_equal(f->report.findings[1].finding.gate, CUPEL_GATE_CMP_03);
    assert_non_null(strstr(f->report.findings[1].bundle, "CMP-03-"));
    char provisional[1100];
    snprintf(provisional, sizeof provisional, "%s", f->report.findings[1].bundle);
    memcpy(strstr(provisional, "CMP-03-"), "CMP-01-", 7);
    assert_int_equal(access(provisional, F_OK), -1);
}

static void suspicion_that_never_shows_again_is_inconclusive(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.refuse = 1000;
    fake.suspects = 8;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(f->report.unconfirmed, 1);
    assert_int_equal(fake.tries, 3); /* no more than that for one signature */
}

/* In a search, cases of a host function follow each other in one process: what a fresh one does not show may
 * hang on the calls before. */
static void calls_before_are_blamed(void **state) {
    fixture *f = *state;
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .cases = 10,
                                   .supervisor = {.executor = "host"},
                                   .standing = CUPEL_STANDING_PROOF};
    fake.y_fails_from = 41;
    fake.calls_needed = CUPEL_CALLS_MAX + 1; /* nothing shows it */
    fake.suspects = 8;
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(f->report.reason, "CMP-01: wrong value after other cases"));
    assert_non_null(strstr(f->report.reason, "N=702"));
    assert_non_null(strstr(f->report.reason, "the function seems to keep state"));
    fake.calls_needed = 3;
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_int_equal(f->report.unconfirmed, 0);
    assert_int_equal(f->report.finding_count, 1);
    assert_string_equal(f->report.findings[0].signature, "earlier-calls-y");
    assert_int_equal(f->report.findings[0].finding.gate, CUPEL_GATE_ORD_02);
    assert_int_equal(f->report.findings[0].recipe.calls, 3);
}

static void suspicion_that_shows_at_the_second_try_counts(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.refuse = 1;
    fake.suspects = 3;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_int_equal(f->report.unconfirmed, 0);
}

static void refuted_suspicion_does_not_block(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.refuted = true;
    fake.suspects = 2;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_ACCEPTED);
    assert_int_equal(f->report.false_alarms, 2);
}

static void candidate_that_does_not_open_is_an_error(void **state) {
    fixture *f = *state;
    fake.opens = CUPEL_MISMATCH;
    assert_int_equal(check(f), CUPEL_MISMATCH);
    assert_int_equal(cupel_check_error_status(CUPEL_MISMATCH), 2);
    fake.opens = CUPEL_UNSUPPORTED;
    assert_int_equal(check(f), CUPEL_UNSUPPORTED);
    assert_int_equal(cupel_check_error_status(CUPEL_UNSUPPORTED), 3);
}

static void interrupted_check_keeps_what_it_found(void **state) {
    fixture *f = *state;
    static volatile sig_atomic_t stop;
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .standing = CUPEL_STANDING_PROOF,
                                   .stop = &stop};
    stop = 1;
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_true(f->report.interrupted);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(fake.searches, 0); /* none begins after the stop */
    stop = 0;
    fake.interrupt = &stop;
    fake.y_fails_from = 41;
    fake.suspects = 1;
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_false(f->report.findings[0].minimised);
    assert_true(f->report.findings[0].gate_untested);
}

static cupel_code interrupted_fuzz(fixture *f, volatile sig_atomic_t *stop) {
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .endless = true,
                                   .standing = CUPEL_STANDING_PROOF,
                                   .stop = stop};
    cupel_check_listener listener = {.self = f, .found = on_found, .note = on_note};
    return cupel_check_run(fake.contract, &options, &listener, &f->report, NULL);
}

static void interrupted_campaign_is_accepted_for_what_it_judged_alone(void **state) {
    fixture *f = *state;
    static volatile sig_atomic_t stop;
    stop = 1; /* before anything was tried */
    assert_int_equal(interrupted_fuzz(f, &stop), CUPEL_OK);
    assert_int_equal(fake.searches, 0);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    stop = 0;
    fake.interrupt = &stop;
    fake.cases = 10; /* fewer than there are starts */
    fake.ordinary = 50;
    assert_int_equal(interrupted_fuzz(f, &stop), CUPEL_OK);
    assert_true(f->report.interrupted);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(f->report.reason, "interrupted before the first cases"));
    stop = 0;
    fake.cases = 1000;
    fake.ordinary = 0; /* no ordinary shape among them */
    assert_int_equal(interrupted_fuzz(f, &stop), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    stop = 0;
    fake.ordinary = 50;
    assert_int_equal(interrupted_fuzz(f, &stop), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_ACCEPTED);
    assert_false(f->report.interrupted);
}

static void suspicion_that_an_interrupt_cuts_off_is_inconclusive(void **state) {
    fixture *f = *state;
    static volatile sig_atomic_t stop;
    stop = 0;
    fake.interrupt = &stop;
    fake.cases = 1000;
    fake.ordinary = 50;
    fake.y_fails_from = 41;
    fake.suspects = 1;
    fake.refuse = 1; /* a second try would show it */
    assert_int_equal(interrupted_fuzz(f, &stop), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(f->report.unconfirmed, 1);
    assert_int_equal(f->report.cut_off, 1);
    assert_non_null(strstr(f->report.reason, "interrupted before 1 suspicion(s) could be confirmed"));
    stop = 0; /* one that shows at once is a finding, though the stop came before it */
    assert_int_equal(interrupted_fuzz(f, &stop), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
}

/* ---- what earlier runs have left ---- */

static void interesting_recipes_are_kept_and_tried_first(void **state) {
    fixture *f = *state;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.corpus.found, 3);
    size_t family = fake.start_count; /* the starts that any contract of this family gets */
    assert_int_equal(fuzz(f, 10), CUPEL_OK);
    assert_int_equal(fake.start_count, 3 + family);
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) sum += fake.starts[i];
    assert_int_equal(sum, 500 + 501 + 502);
    assert_int_equal(f->report.corpus.loaded, 3);
    assert_int_equal(f->report.corpus.found, 0);
    assert_int_equal(check(f), CUPEL_OK); /* of ten cases a check gives a quarter to the corpus */
    assert_int_equal(fake.start_count, 2 + family);
}

static void a_known_bundle_that_still_fails_is_a_finding(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    char bundle[1024];
    snprintf(bundle, sizeof bundle, "%s", f->report.findings[0].bundle);
    fake.suspects = 0; /* the search alone would not find it again */
    fake.tries = 0;
    f->minimised = 0;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_int_equal(f->report.finding_count, 1);
    assert_true(f->report.findings[0].known);
    assert_true(f->report.findings[0].minimised);
    assert_string_equal(f->report.findings[0].bundle, bundle);
    assert_int_equal(f->report.findings[0].finding.gate, CUPEL_GATE_CMP_01);
    assert_int_equal(f->report.known, 1);
    assert_int_equal(fake.tries, 1); /* nothing is minimised anew */
    assert_int_equal(f->notes, 0);
    fake.suspects = 3; /* and what the search finds of it is no news */
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.finding_count, 1);
}

static void a_known_bundle_that_no_longer_fails_is_told(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    char bundle[1024];
    snprintf(bundle, sizeof bundle, "%s", f->report.findings[0].bundle);
    fake.y_fails_from = 0;
    fake.tries = 0;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_ACCEPTED);
    assert_int_equal(f->report.gone_count, 1);
    assert_string_equal(f->report.gone[0], bundle);
    assert_int_equal(f->notes, 1);
    assert_non_null(strstr(f->note, "no longer fails"));
    assert_int_equal(fake.tries, 3); /* chance has had its chances */
    assert_int_equal(access(bundle, F_OK), 0);
}

static void a_bundle_that_cannot_be_read_is_inconclusive(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    char path[1100];
    snprintf(path, sizeof path, "%s/case.yaml", f->report.findings[0].bundle);
    assert_int_equal(truncate(path, 20), 0);
    fake.suspects = 0;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(f->report.gone_count, 0);
    assert_int_equal(f->warnings, 1);
    assert_non_null(strstr(f->note, "case.yaml:"));
    assert_non_null(strstr(f->report.reason, "1 known counterexample was not run again: "));
}

static void a_folder_that_is_no_bundle_is_mentioned(void **state) {
    fixture *f = *state;
    char path[256], again[300];
    snprintf(path, sizeof path, "%s/crashes", f->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/crashes/checked", f->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(again, sizeof again, "%s/CMP-01-wrong_value-y", path);
    assert_int_equal(mkdir(again, 0700), 0);
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_ACCEPTED);
    assert_int_equal(f->warnings, 1);
    assert_non_null(strstr(f->note, "holds no bundle.json"));
}

/* However short the budget. */
static void one_known_bundle_is_always_run_again(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    fake.suspects = 0;
    fake.tries = 0;
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .seconds = 1e-9,
                                   .standing = CUPEL_STANDING_PROOF};
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_true(f->report.findings[0].known);
}

/* Where cases alone are the budget, how long a try takes decides nothing. */
static void a_hang_is_left_as_found_without_a_clock(void **state) {
    fixture *f = *state;
    fake.y_fails_from = 41;
    fake.fault = CUPEL_FAULT_HANG;
    fake.suspects = 1;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.finding_count, 1);
    assert_false(f->report.findings[0].minimised);
    assert_int_equal(fake.tries, 1);
}

static void a_campaign_survives_a_search_that_breaks_down(void **state) {
    fixture *f = *state;
    fake.breakdowns = 3;
    assert_int_equal(fuzz(f, 10), CUPEL_OK);
    assert_int_equal(fake.searches, 4);
    assert_int_equal(f->report.cases, 10);
    assert_int_equal(f->warnings, 3);
    fake.breakdowns = 1000;
    assert_int_equal(fuzz(f, 10), CUPEL_WORKER);
    fake.breakdowns = 1;
    assert_int_equal(check(f), CUPEL_WORKER); /* a check does not */
}

static void a_campaign_goes_on_until_its_cases_are_tried(void **state) {
    fixture *f = *state;
    assert_int_equal(fuzz(f, 35), CUPEL_OK);
    assert_int_equal(fake.searches, 4); /* ten cases each */
    assert_int_equal(f->report.cases, 40);
    assert_int_equal(f->report.scoreboard.gates[CUPEL_GATE_PRC_01].judged, 200);
}

/* Nothing that was reported is lost when the disk had no room for a while. */
static void what_could_not_be_saved_is_saved_in_the_end(void **state) {
    fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/crashes", f->folder);
    FILE *in_the_way = fopen(path, "w");
    assert_non_null(in_the_way);
    assert_int_equal(fclose(in_the_way), 0);
    fake.y_fails_from = 41;
    fake.suspects = 1;
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .cases = 10,
                                   .standing = CUPEL_STANDING_PROOF};
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_int_not_equal(f->report.findings[0].bundle_error[0], 0);
    fake.clear = path;
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.findings[0].bundle_error[0], 0);
    assert_int_equal(access(f->report.findings[0].bundle, F_OK), 0);
}

static void what_the_machine_lacks_is_not_the_users_mistake(void **state) {
    (void)state;
    cupel_contract contract = {.source = "/dev/null"};
    cupel_error err = {.code = CUPEL_BUILD,
                       .text = "the candidate does not link: clang: error: unable to execute command: ld"};
    assert_int_equal(cupel_check_executor_failed(&contract, CUPEL_BUILD, &err), CUPEL_UNSUPPORTED);
    assert_int_equal(err.code, CUPEL_UNSUPPORTED);
    err = (cupel_error){.code = CUPEL_BUILD, .text = "use of undeclared identifier 'q'"};
    assert_int_equal(cupel_check_executor_failed(&contract, CUPEL_BUILD, &err), CUPEL_BUILD);
    assert_int_equal(cupel_check_executor_failed(&contract, CUPEL_IO, NULL), CUPEL_UNSUPPORTED);
    contract.source = "/no/such/kernel.cu";
    assert_int_equal(cupel_check_executor_failed(&contract, CUPEL_IO, NULL), CUPEL_IO);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(nothing_found_is_accepted),
        WITH_FIXTURE(nothing_judged_is_inconclusive),
        WITH_FIXTURE(too_many_cases_that_cannot_be_run_are_inconclusive),
        WITH_FIXTURE(interrupted_check_keeps_what_it_found),
        WITH_FIXTURE(interesting_recipes_are_kept_and_tried_first),
        WITH_FIXTURE(a_known_bundle_that_still_fails_is_a_finding),
        WITH_FIXTURE(a_known_bundle_that_no_longer_fails_is_told),
        WITH_FIXTURE(a_bundle_that_cannot_be_read_is_inconclusive),
        WITH_FIXTURE(a_folder_that_is_no_bundle_is_mentioned),
        WITH_FIXTURE(one_known_bundle_is_always_run_again),
        WITH_FIXTURE(interrupted_campaign_is_accepted_for_what_it_judged_alone),
        WITH_FIXTURE(suspicion_that_an_interrupt_cuts_off_is_inconclusive),
        WITH_FIXTURE(a_hang_is_left_as_found_without_a_clock),
        WITH_FIXTURE(a_campaign_survives_a_search_that_breaks_down),
        WITH_FIXTURE(a_campaign_goes_on_until_its_cases_are_tried),
        WITH_FIXTURE(what_could_not_be_saved_is_saved_in_the_end),
        WITH_FIXTURE(what_the_machine_lacks_is_not_the_users_mistake),
        WITH_FIXTURE(finding_is_minimised_attributed_and_counted_once),
        WITH_FIXTURE(slip_becomes_a_finding_of_its_own),
        WITH_FIXTURE(suspicion_that_never_shows_again_is_inconclusive),
        WITH_FIXTURE(calls_before_are_blamed),
        WITH_FIXTURE(suspicion_that_shows_at_the_second_try_counts),
        WITH_FIXTURE(refuted_suspicion_does_not_block),
        WITH_FIXTURE(candidate_that_does_not_open_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
