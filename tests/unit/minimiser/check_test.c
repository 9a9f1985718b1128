/* The course of a check over a supervisor of our own making: what is confirmed, minimised, and the verdict.
 */
#include "check_fixture.h"
#include "report.h"

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
    cupel_check_listener listener = {.self = f, .found = check_on_found, .note = check_on_note};
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

/* One element takes more than 16 bytes. */
static void contract_without_a_case_that_fits_is_told_at_once(void **state) {
    fixture *f = *state;
    cupel_error err = {0};
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .limits = {.max_elements = INT64_C(1) << 40},
                                   .cases = 10,
                                   .standing = CUPEL_STANDING_PROOF};
    cupel_check_listener listener = {.self = f, .found = check_on_found, .note = check_on_note};
    fake.memory = 16;
    assert_int_equal(cupel_check_run(fake.contract, &options, &listener, &f->report, &err),
                     CUPEL_UNSUPPORTED);
    assert_int_equal(fake.searches, 0);
    assert_non_null(strstr(err.text, "the smallest case (N="));
    assert_non_null(strstr(err.text, "MiB of memory"));
    /* where the smallest fits, larger ones are kept to what does */
    fake.memory = 64 << 20;
    assert_int_equal(cupel_check_run(fake.contract, &options, &listener, &f->report, &err), CUPEL_OK);
    assert_int_equal(fake.searches, 1);
    assert_int_equal(fake.max_elements, 1 << 20);
    assert_non_null(strstr(f->note, "at most 1048576 elements"));
}

static void a_gate_that_was_asked_for_says_why(void **state) {
    fixture *f = *state;
    const cupel_check_options options = {.kernel = "fake.yaml",
                                         .directory = f->folder,
                                         .supervisor = {.executor = "emu"},
                                         .cases = 10,
                                         .gates = 1u << CUPEL_GATE_EXC_02,
                                         .standing = CUPEL_STANDING_PROOF};
    const cupel_check_listener listener = {.self = f, .found = check_on_found, .note = check_on_note};
    assert_int_equal(cupel_check_run(fake.contract, &options, &listener, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(f->report.reason, "no gate that was asked for was exercised: EXC-02: "));
}

static void nothing_judged_says_why(void **state) {
    fixture *f = *state;
    fake.judged = 0;
    fake.unfinished = true;
    assert_int_equal(check(f), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_INCONCLUSIVE);
    assert_non_null(strstr(f->report.reason, "nothing was judged: no case came to its end"));
    fake.unfinished = false;
    fake.overflowing = 90;
    assert_int_equal(check(f), CUPEL_OK);
    assert_non_null(strstr(f->report.reason, cupel_reason_text(CUPEL_REASON_OVERFLOW)));
}

/* Of a budget that was used up long ago nothing is left for the minimiser. */
static void late_finding_is_left_as_found(void **state) {
    fixture *f = *state;
    char *report = NULL;
    size_t length = 0;
    cupel_check_options options = {.kernel = "fake.yaml",
                                   .directory = f->folder,
                                   .supervisor = {.executor = "emu"},
                                   .seconds = 0.1,
                                   .standing = CUPEL_STANDING_PROOF};
    fake.y_fails_from = 41;
    fake.suspects = 1;
    fake.search_seconds = 1.7;
    assert_int_equal(cupel_check_run(fake.contract, &options, NULL, &f->report, NULL), CUPEL_OK);
    assert_int_equal(f->report.verdict, CUPEL_VERDICT_REJECTED);
    assert_int_equal(fake.tries, 1);
    assert_false(f->report.findings[0].minimised);
    FILE *out = open_memstream(&report, &length);
    cupel_report_text(&f->report, out);
    fclose(out);
    assert_non_null(strstr(report, "left as found, since the budget was used up"));
    free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(nothing_found_is_accepted),
        WITH_FIXTURE(nothing_judged_is_inconclusive),
        WITH_FIXTURE(too_many_cases_that_cannot_be_run_are_inconclusive),
        WITH_FIXTURE(interrupted_check_keeps_what_it_found),
        WITH_FIXTURE(interrupted_campaign_is_accepted_for_what_it_judged_alone),
        WITH_FIXTURE(suspicion_that_an_interrupt_cuts_off_is_inconclusive),
        WITH_FIXTURE(finding_is_minimised_attributed_and_counted_once),
        WITH_FIXTURE(slip_becomes_a_finding_of_its_own),
        WITH_FIXTURE(suspicion_that_never_shows_again_is_inconclusive),
        WITH_FIXTURE(calls_before_are_blamed),
        WITH_FIXTURE(suspicion_that_shows_at_the_second_try_counts),
        WITH_FIXTURE(refuted_suspicion_does_not_block),
        WITH_FIXTURE(candidate_that_does_not_open_is_an_error),
        WITH_FIXTURE(contract_without_a_case_that_fits_is_told_at_once),
        WITH_FIXTURE(a_gate_that_was_asked_for_says_why),
        WITH_FIXTURE(nothing_judged_says_why),
        WITH_FIXTURE(late_finding_is_left_as_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
