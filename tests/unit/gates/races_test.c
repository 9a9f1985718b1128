/* What a sanitized run adds to a case's findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "races.h"

static const cupel_contract contract;
static const cupel_case no_tensors = {.contract = &contract};
static cupel_judged judged;
static cupel_observation seen;

static cupel_race race(int one, int two, bool marked) {
    cupel_race r = {.earlier = {CUPEL_RACE_WRITE, {.file = "a/k.cu", .line = one}},
                    .later = {CUPEL_RACE_READ, {.file = "a/k.cu", .line = two, .thread = {7, 0, 0}}},
                    .space = CUPEL_SPACE_SHARED,
                    .buffer = -1,
                    .offset = 4,
                    .size = 4,
                    .array = "tile",
                    .marked = marked,
                    .count = 3};
    return r;
}

static int setup(void **state) {
    (void)state;
    memset(&judged, 0, sizeof judged);
    memset(&seen, 0, sizeof seen);
    seen.outcome = CUPEL_RUN_FINISHED;
    seen.sanitized = true;
    return 0;
}

static void test_a_race_is_evidence(void **state) {
    (void)state;
    char signature[160];
    seen.races[seen.race_count++] = race(12, 9, false);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 1);
    const cupel_finding *finding = &judged.findings[0];
    assert_int_equal(finding->kind, CUPEL_FINDING_RACE);
    assert_int_equal(finding->standing, CUPEL_STANDING_EVIDENCE);
    assert_int_equal(finding->gate, CUPEL_GATE_ORD_02);
    cupel_finding_signature(finding, signature, sizeof signature);
    assert_string_equal(signature, "race-k.cu-9-12");
    assert_non_null(strstr(finding->text, "line 12 stores (block (0, 0, 0), thread (0, 0, 0)), "
                                          "line 9 loads (block (0, 0, 0), thread (7, 0, 0))"));
    assert_non_null(strstr(finding->text, "byte 4 of the shared array tile"));
    /* whichever came first, it is one finding */
    seen.races[0] = race(9, 12, false);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
    seen.races[0] = race(9, 13, false);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 1);
}

static void test_marked_accesses_are_none(void **state) {
    (void)state;
    seen.races[seen.race_count++] = race(12, 9, true);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
}

static void test_a_run_that_was_not_watched_says_nothing(void **state) {
    (void)state;
    seen.races[seen.race_count++] = race(12, 9, false);
    seen.sanitized = false;
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
    seen.sanitized = true;
    seen.outcome = CUPEL_RUN_FAULT;
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
}

/* A result that depends on the schedule is explained by the first race that nobody meant; others stand beside
 * it. */
static void test_explains_nondeterminism(void **state) {
    (void)state;
    judged.findings[judged.finding_count++] =
        (cupel_finding){.kind = CUPEL_FINDING_NONDETERMINISM, .standing = CUPEL_STANDING_PROOF};
    seen.races[seen.race_count++] = race(1, 2, true);
    seen.races[seen.race_count++] = race(3, 4, false);
    seen.races[seen.race_count++] = race(5, 6, false);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 1);
    assert_true(judged.findings[0].has_race);
    assert_int_equal(judged.findings[0].race.earlier.place.line, 3);
    assert_int_equal(judged.findings[0].standing, CUPEL_STANDING_PROOF);
    assert_int_equal(judged.findings[1].race.earlier.place.line, 5);
}

/* A wrong value beside it may be the race's doing; the race stays a finding of its own. One that was meant
 * for other threads says nothing. */
static void test_suggests_itself_for_values(void **state) {
    (void)state;
    judged.findings[judged.finding_count++] =
        (cupel_finding){.kind = CUPEL_FINDING_WRONG_VALUE, .standing = CUPEL_STANDING_PROOF};
    judged.findings[judged.finding_count++] = (cupel_finding){.kind = CUPEL_FINDING_STRAY_WRITE};
    seen.races[seen.race_count++] = race(1, 2, true);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
    assert_false(judged.findings[0].has_race);
    seen.races[seen.race_count++] = race(3, 4, false);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 1);
    assert_true(judged.findings[0].has_race);
    assert_int_equal(judged.findings[0].race.earlier.place.line, 3);
    assert_false(judged.findings[1].has_race);
    assert_int_equal(judged.findings[2].kind, CUPEL_FINDING_RACE);
}

/* What a proof tells of is not told again; what may be dropped after the read is not told at all. */
static void test_accesses(void **state) {
    (void)state;
    seen.accesses[seen.access_count++] = (cupel_access){.kind = CUPEL_ACCESS_UNINITIALISED_READ,
                                                        .space = CUPEL_SPACE_SHARED,
                                                        .buffer = -1,
                                                        .size = 4,
                                                        .place = {.file = "k.cu", .line = 20}};
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
    seen.accesses[0].space = CUPEL_SPACE_GLOBAL;
    judged.findings[judged.finding_count++] = (cupel_finding){.kind = CUPEL_FINDING_STRAY_READ};
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0);
    judged.finding_count = 0;
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 1);
    assert_int_equal(judged.findings[0].gate, CUPEL_GATE_RES_01);
    assert_int_equal(judged.findings[0].standing, CUPEL_STANDING_EVIDENCE);
    assert_int_equal(cupel_gate_sanitized(&no_tensors, &seen, 0, &judged), 0); /* known */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_race_is_evidence, setup),
        cmocka_unit_test_setup(test_marked_accesses_are_none, setup),
        cmocka_unit_test_setup(test_a_run_that_was_not_watched_says_nothing, setup),
        cmocka_unit_test_setup(test_explains_nondeterminism, setup),
        cmocka_unit_test_setup(test_suggests_itself_for_values, setup),
        cmocka_unit_test_setup(test_accesses, setup)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
