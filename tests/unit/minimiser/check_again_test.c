/* What a check leaves in its folder and what the next one makes of it; campaigns of many searches. */
#include <sys/stat.h>

#include "check_fixture.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(interesting_recipes_are_kept_and_tried_first),
        WITH_FIXTURE(a_known_bundle_that_still_fails_is_a_finding),
        WITH_FIXTURE(a_known_bundle_that_no_longer_fails_is_told),
        WITH_FIXTURE(a_bundle_that_cannot_be_read_is_inconclusive),
        WITH_FIXTURE(a_folder_that_is_no_bundle_is_mentioned),
        WITH_FIXTURE(one_known_bundle_is_always_run_again),
        WITH_FIXTURE(a_hang_is_left_as_found_without_a_clock),
        WITH_FIXTURE(a_campaign_survives_a_search_that_breaks_down),
        WITH_FIXTURE(a_campaign_goes_on_until_its_cases_are_tried),
        WITH_FIXTURE(what_could_not_be_saved_is_saved_in_the_end),
        WITH_FIXTURE(what_the_machine_lacks_is_not_the_users_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
