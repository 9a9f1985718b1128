/* Which of the two runs differ: every pattern of equal and different results over the four runs, against the
 * rule as DESIGN words it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "evidence_fixture.h"

enum { A1, B2, A2, B1, AT = 3 };

/* Allowed values of element AT, distinct and within the radius. */
static const float results[] = {8.0f, 8.0625f, 8.125f, 8.1875f};

static void set_all(fixture *f, const int pattern[4]) {
    for (int r = 0; r < f->evidence.run_count; r++) fixture_set(f, r, AT, results[pattern[r]]);
}

static int expected_kind(const int p[4], bool asserted) {
    if (p[A1] == p[B2]) return -1; /* nothing asks for the crossed runs */
    if (asserted && (p[A1] != p[B1] || p[A2] != p[B2])) return CUPEL_FINDING_NONDETERMINISM;
    return p[A1] != p[A2] ? CUPEL_FINDING_STRAY_READ : -1;
}

static void check(const int pattern[4], cupel_deterministic deterministic, bool atomics) {
    fixture f;
    fixture_start(&f);
    f.contract.deterministic = deterministic;
    f.seen[0].float_atomics = atomics;
    set_all(&f, pattern);
    fixture_judge(&f);
    assert_int_equal(f.judged.wants_more_runs, pattern[A1] != pattern[B2]);
    if (f.judged.wants_more_runs) {
        assert_int_equal(f.judged.finding_count, 0);
        assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].cases, 0); /* counted once, with all runs */
        fixture_runs(&f, 4);
        f.seen[0].float_atomics = atomics;
        set_all(&f, pattern);
        fixture_judge(&f);
        assert_false(f.judged.wants_more_runs);
    }
    bool asserted =
        deterministic == CUPEL_DETERMINISTIC_TRUE || (deterministic == CUPEL_DETERMINISTIC_AUTO && !atomics);
    int kind = expected_kind(pattern, asserted);
    assert_int_equal(f.judged.finding_count, kind >= 0);
    if (kind >= 0) {
        assert_int_equal(f.judged.findings[0].kind, kind);
        assert_int_equal(f.judged.findings[0].gate,
                         kind == CUPEL_FINDING_STRAY_READ ? CUPEL_GATE_RES_01 : CUPEL_GATE_ORD_02);
        assert_int_equal(f.judged.findings[0].index, AT);
    }
    assert_int_equal(f.board.gates[CUPEL_GATE_ORD_02].cases, asserted);
    assert_int_equal(f.board.float_atomic_cases, deterministic == CUPEL_DETERMINISTIC_AUTO && atomics);
    fixture_stop(&f);
}

static void every_pattern_follows_the_rule(void **state) {
    (void)state;
    int pattern[4];
    for (int code = 0; code < 256; code++) {
        for (int r = 0; r < 4; r++) pattern[r] = code >> (2 * r) & 3;
        check(pattern, CUPEL_DETERMINISTIC_TRUE, false);
        check(pattern, CUPEL_DETERMINISTIC_TRUE, true);
        check(pattern, CUPEL_DETERMINISTIC_FALSE, false);
        check(pattern, CUPEL_DETERMINISTIC_AUTO, false);
        check(pattern, CUPEL_DETERMINISTIC_AUTO, true);
    }
}

static void nans_are_equal_whatever_their_payload(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.classes[AT] = CUPEL_CLASS_NAN;
    fixture_set(&f, A1, AT, nanf("1"));
    fixture_set(&f, B2, AT, -nanf("2"));
    fixture_judge(&f);
    assert_false(f.judged.wants_more_runs);
    assert_int_equal(f.judged.finding_count, 0);
    fixture_set(&f, B2, AT, 1); /* a NaN and a number are not */
    fixture_judge(&f);
    assert_true(f.judged.wants_more_runs);
    fixture_stop(&f);
}

static void zeros_of_two_signs_are_different_bytes(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.lo[AT] = -1, f.hi[AT] = 1, f.value[AT] = 0;
    fixture_set(&f, A1, AT, 0.0f);
    fixture_set(&f, B2, AT, -0.0f);
    fixture_judge(&f);
    assert_true(f.judged.wants_more_runs);
    fixture_stop(&f);
}

/* The same elements are not accused twice; others are. */
static void differences_precede_wrong_values(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_runs(&f, 4);
    fixture_set(&f, B2, AT, 99), fixture_set(&f, B1, AT, 99); /* wrong under B alone */
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_NONDETERMINISM);
    assert_true(f.judged.findings[0].got == 99); /* the example is the result that is wrong */
    for (int r = 0; r < 4; r++) fixture_set(&f, r, 0, 50);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 2);
    assert_int_equal(fixture_finding(&f, CUPEL_FINDING_WRONG_VALUE)->wrong_elements, 1);
    fixture_stop(&f);
}

/* Where determinism is not claimed, only values count: an allowed difference passes, a wrong value in any run
 * does not. */
static void undetermined_results_are_judged_in_every_run(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_runs(&f, 4);
    f.contract.deterministic = CUPEL_DETERMINISTIC_FALSE;
    fixture_set(&f, B2, AT, 99), fixture_set(&f, B1, AT, 99);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_WRONG_VALUE);
    assert_int_equal(f.judged.findings[0].wrong_elements, 1);
    fixture_stop(&f);
}

/* A proven read out of bounds explains why the poison shows; the difference is not a second finding. */
static void known_cause_is_told_once(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_runs(&f, 4);
    fixture_access(&f, A1, CUPEL_ACCESS_OUT_OF_BOUNDS_READ, 9);
    fixture_set(&f, A1, AT, NAN), fixture_set(&f, B1, AT, NAN);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_BAD_ACCESS);
    fixture_stop(&f);
}

/* One canonical schedule twice on the emulator: the poison alone differs, so two runs settle it, and ORD-02
 * is not exercised. */
static void one_schedule_settles_by_two_runs(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.evidence.runs[B2].schedule = 0;
    fixture_set(&f, B2, AT, results[1]);
    fixture_judge(&f);
    assert_false(f.judged.wants_more_runs);
    assert_int_equal(f.judged.finding_count, 1);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_STRAY_READ);
    assert_int_equal(f.board.gates[CUPEL_GATE_ORD_02].cases, 0);
    fixture_stop(&f);
}

/* An executor that does not fix the schedule (a host function): the crossed runs are repetitions. */
static void without_a_fixed_schedule(void **state) {
    (void)state;
    for (int code = 0; code < 256; code++) {
        int p[4];
        for (int r = 0; r < 4; r++) p[r] = code >> (2 * r) & 3;
        for (int claimed = 0; claimed < 2; claimed++) {
            fixture f;
            fixture_start(&f);
            fixture_runs(&f, 4);
            for (int r = 0; r < 4; r++) f.evidence.runs[r].schedule = 0;
            f.evidence.schedule_fixed = false;
            f.evidence.float_atomics_unknown = true;
            f.contract.deterministic = claimed ? CUPEL_DETERMINISTIC_TRUE : CUPEL_DETERMINISTIC_AUTO;
            set_all(&f, p);
            fixture_judge(&f);
            bool repeats = p[A1] == p[B1] && p[A2] == p[B2];
            int kind = p[A1] == p[B2] || !claimed ? -1
                       : repeats                  ? CUPEL_FINDING_STRAY_READ
                                                  : CUPEL_FINDING_NONDETERMINISM;
            assert_int_equal(f.judged.finding_count, kind >= 0);
            if (kind >= 0) assert_int_equal(f.judged.findings[0].kind, kind);
            assert_int_equal(f.board.gates[CUPEL_GATE_ORD_02].cases, claimed);
            fixture_stop(&f);
        }
    }
}

/* Over six runs: what A and B differ by once the poison is ruled out. */
static void with_an_earlier_call(void **state) {
    enum { S2 = 4, H2 = 5 };
    (void)state;
    for (int code = 0; code < 64; code++) {
        fixture f;
        fixture_start(&f);
        f.history = true;
        f.recipe.history = CUPEL_HISTORY_REPEAT;
        fixture_runs(&f, 2);
        fixture_set(&f, B2, AT, results[1]);
        fixture_judge(&f);
        assert_true(f.judged.wants_more_runs);
        fixture_runs(&f, 4);
        fixture_set(&f, B2, AT, results[1]);
        fixture_judge(&f);
        assert_true(f.judged.wants_more_runs); /* four do not tell them apart */
        fixture_runs(&f, 6);
        int p[6] = {0, 1, 0, code & 3, code >> 2 & 3, code >> 4 & 3};
        for (int r = 0; r < 6; r++) fixture_set(&f, r, AT, results[p[r]]);
        fixture_judge(&f);
        assert_int_equal(f.judged.finding_count, 1);
        const cupel_finding *finding = &f.judged.findings[0];
        assert_int_equal(finding->gate, CUPEL_GATE_ORD_02);
        bool by_both = p[S2] == p[A2] && p[H2] == p[A2] && p[B2] != p[S2];
        bool by_history = by_both || (p[S2] == p[A2] && p[H2] != p[A2]);
        assert_int_equal(finding->kind, by_history ? CUPEL_FINDING_HISTORY : CUPEL_FINDING_NONDETERMINISM);
        int b = p[S2] != p[A2] ? S2 : by_both ? B2 : by_history ? H2 : p[A1] != p[B1] ? B1 : B2;
        assert_int_equal(finding->run_b.index, b);
        assert_int_equal(finding->run_b.schedule, f.evidence.runs[b].schedule);
        assert_int_equal(finding->run_b.poison, f.evidence.runs[b].poison);
        assert_int_equal(finding->run_b.history, f.evidence.runs[b].history);
        assert_int_equal(finding->run_a.schedule, by_both ? finding->run_b.schedule : 0);
        fixture_stop(&f);
    }
}

/* On the canonical schedule an earlier call is the only difference; the sentence says which. */
static void an_earlier_call_on_the_canonical_schedule(void **state) {
    (void)state;
    fixture f;
    char signature[160];
    fixture_start(&f);
    f.history = true;
    f.recipe.history = CUPEL_HISTORY_OTHER_VALUES;
    fixture_runs(&f, 4);
    f.evidence.runs[B2].schedule = f.evidence.runs[B1].schedule = 0;
    fixture_set(&f, B2, AT, 99), fixture_set(&f, B1, AT, 99);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1); /* and no wrong value of the same element */
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_HISTORY);
    assert_non_null(
        strstr(f.judged.findings[0].text, "an earlier call with other values in the same buffers"));
    cupel_finding_signature(&f.judged.findings[0], signature, sizeof signature);
    assert_string_equal(signature, "earlier-calls-y");
    f.contract.deterministic = CUPEL_DETERMINISTIC_FALSE; /* then only a value that is wrong counts */
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_HISTORY);
    assert_int_equal(f.judged.element_counts[0], 1); /* for the exact oracle to confirm */
    assert_int_equal(f.judged.elements[0][0].index, AT);
    assert_true(f.judged.findings[0].got == 99);
    fixture_set(&f, B2, AT, results[1]), fixture_set(&f, B1, AT, results[1]);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 0);
    for (int r = 0; r < 4; r++) fixture_set(&f, r, AT, 99); /* as wrong without the call */
    fixture_judge(&f);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_WRONG_VALUE);
    fixture_stop(&f);
}

/* Two runs of which the second, after an earlier call, is wrong: more are wanted though determinism is not
 * claimed. */
static void a_wrong_value_after_a_call_asks_for_more_runs(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.history = true;
    f.recipe.history = CUPEL_HISTORY_REPEAT;
    fixture_runs(&f, 2);
    f.evidence.schedule_fixed = false;
    f.contract.deterministic = CUPEL_DETERMINISTIC_FALSE;
    fixture_set(&f, B2, AT, results[1]);
    fixture_judge(&f);
    assert_false(f.judged.wants_more_runs);
    fixture_set(&f, B2, AT, 99);
    fixture_judge(&f);
    assert_true(f.judged.wants_more_runs);
    fixture_stop(&f);
}

/* Bytes that hold their poison after both runs were not written, unless a store is known to have reached
 * them: then they were copied from there, and the result hangs on the poison. */
static void a_store_of_the_same_bytes_is_a_store(void **state) {
    (void)state;
    uint8_t reached[FIXTURE_N * sizeof(float) / 8 + 1] = {0};
    for (int stored = 0; stored < 2; stored++) {
        fixture f;
        fixture_start(&f);
        f.evidence.runs[B2].schedule = 0;
        for (int r = 0; r < 2; r++) fixture_unwrite(&f, r, AT);
        reached[AT * sizeof(float) / 8] = (uint8_t)(stored << AT * sizeof(float) % 8);
        int buffer = f.c.tensors[1].buffer;
        f.seen[0].buffers[buffer].reached = f.seen[1].buffers[buffer].reached = reached;
        fixture_judge(&f);
        assert_int_equal(f.judged.finding_count, 1);
        assert_int_equal(f.judged.findings[0].kind,
                         stored ? CUPEL_FINDING_STRAY_READ : CUPEL_FINDING_UNWRITTEN);
        if (!stored) assert_non_null(strstr(f.judged.findings[0].text, "is never written"));
        f.seen[0].buffers[buffer].reached = f.seen[1].buffers[buffer].reached = NULL;
        fixture_judge(&f); /* where stores are not seen the sentence says no more than is known */
        assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_UNWRITTEN);
        assert_null(strstr(f.judged.findings[0].text, "written"));
        fixture_stop(&f);
    }
}

static void both_schedules_are_named(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_runs(&f, 4);
    fixture_set(&f, B2, AT, 99), fixture_set(&f, B1, AT, 99);
    fixture_judge(&f);
    const cupel_finding *finding = &f.judged.findings[0];
    assert_int_equal(finding->run_a.index, A1);
    assert_int_equal(finding->run_b.index, B1);
    assert_int_equal(finding->run_b.schedule, FIXTURE_SCHEDULE);
    assert_non_null(strstr(finding->text, "is 8 in run A (canonical order) and 99 in run B (the last warp "
                                          "first, each lane until it must wait (last_warp))"));
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_follows_the_rule),
        cmocka_unit_test(nans_are_equal_whatever_their_payload),
        cmocka_unit_test(zeros_of_two_signs_are_different_bytes),
        cmocka_unit_test(differences_precede_wrong_values),
        cmocka_unit_test(undetermined_results_are_judged_in_every_run),
        cmocka_unit_test(known_cause_is_told_once),
        cmocka_unit_test(one_schedule_settles_by_two_runs),
        cmocka_unit_test(without_a_fixed_schedule),
        cmocka_unit_test(with_an_earlier_call),
        cmocka_unit_test(an_earlier_call_on_the_canonical_schedule),
        cmocka_unit_test(a_wrong_value_after_a_call_asks_for_more_runs),
        cmocka_unit_test(a_store_of_the_same_bytes_is_a_store),
        cmocka_unit_test(both_schedules_are_named),
    };
    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
