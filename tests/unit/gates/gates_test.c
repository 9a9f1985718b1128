/* Every gate and every kind of finding: a planted defect that must be caught, and the right thing beside it
 * that must pass. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "evidence_fixture.h"

static void assert_only(const fixture *f, cupel_finding_kind kind, cupel_gate gate) {
    assert_int_equal(f->judged.finding_count, 1);
    assert_int_equal(f->judged.findings[0].kind, kind);
    assert_int_equal(f->judged.findings[0].gate, gate);
    assert_int_equal(f->judged.findings[0].standing, CUPEL_STANDING_PROOF);
    assert_int_equal(f->board.gates[gate].failures, 1);
}

static void assert_clean(fixture *f) {
    fixture_judge(f);
    assert_false(f->judged.wants_more_runs);
    assert_int_equal(f->judged.finding_count, 0);
}

static void right_result_passes(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    assert_clean(&f);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].cases, 1);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].judged, FIXTURE_N);
    assert_int_equal(f.board.gates[CUPEL_GATE_PRC_01].judged, FIXTURE_N);
    assert_int_equal(f.board.gates[CUPEL_GATE_ORD_02].cases, 1);
    assert_int_equal(f.board.gates[CUPEL_GATE_RES_01].cases, 1);
    assert_int_equal(f.board.gates[CUPEL_GATE_RES_02].cases, 1);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_03].cases, 0);
    assert_int_equal(f.board.gates[CUPEL_GATE_EXC_01].cases, 0);
    assert_int_equal(f.board.gates[CUPEL_GATE_EXC_02].cases, 0);
    assert_true(f.judged.worst_ratio == 0);
    fixture_stop(&f);
}

static void edges_of_the_interval_pass(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, 8.25f), fixture_set(&f, r, 4, 9.75f);
    assert_clean(&f);
    assert_true(f.judged.worst_ratio == 1);
    assert_true(f.board.gates[CUPEL_GATE_CMP_01].worst_ratio == 1);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, nextafterf(8.25f, 9));
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_VALUE, CUPEL_GATE_CMP_01);
    fixture_stop(&f);
}

/* Allowed, and farther off than good kernels come: evidence, which is no failure of the gate; beside a wrong
 * element of the output there is nothing to add. */
static void inaccuracy_is_evidence(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    double good[FIXTURE_N];
    double *const radii[] = {good};
    for (int i = 0; i < FIXTURE_N; i++) good[i] = i == 4 ? INFINITY : 0.0625;
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, 8.125f), fixture_set(&f, r, 4, 9.75f);
    assert_clean(&f); /* nobody asked the shadows */
    f.evidence.good_radii = radii;
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1);
    const cupel_finding *finding = fixture_finding(&f, CUPEL_FINDING_INACCURATE);
    assert_non_null(finding);
    assert_int_equal(finding->standing, CUPEL_STANDING_EVIDENCE);
    assert_int_equal(finding->index, 3);
    assert_true(finding->ratio == 2);
    assert_int_equal(finding->wrong_elements, 1);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].failures, 0);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, 8.0625f);
    assert_clean(&f);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, 8.125f), fixture_set(&f, r, 5, 99);
    fixture_judge(&f);
    assert_null(fixture_finding(&f, CUPEL_FINDING_INACCURATE));
    assert_non_null(fixture_finding(&f, CUPEL_FINDING_WRONG_VALUE));
    fixture_stop(&f);
}

/* What passes says how close it came, for the gate of the case's traits; what is wrong or without a bound
 * says nothing. */
static void closeness_is_of_what_passes(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_judge(&f);
    assert_int_equal(f.judged.closeness_count, 1);
    assert_int_equal(f.judged.closeness[0].gate, CUPEL_GATE_CMP_01);
    assert_true(f.judged.closeness[0].ratio == 0);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, 8.125f);
    f.evidence.traits = CUPEL_TRAIT_SHAPE;
    fixture_judge(&f);
    assert_int_equal(f.judged.closeness[0].gate, CUPEL_GATE_CMP_03);
    assert_true(f.judged.closeness[0].ratio == 0.5);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 3, 9); /* four radii away */
    fixture_judge(&f);
    assert_true(f.judged.closeness[0].ratio == 0);
    f.radius[3] = INFINITY, f.lo[3] = -INFINITY, f.hi[3] = INFINITY;
    fixture_judge(&f);
    assert_true(f.judged.closeness[0].ratio == 0);
    fixture_stop(&f);
}

static void wrong_value_names_the_worst(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int r = 0; r < 2; r++)
        for (int i = 1; i < 7; i++) fixture_set(&f, r, i, 2 * f.x[i] + (i == 4 ? 3 : 1));
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_VALUE, CUPEL_GATE_CMP_01);
    const cupel_finding *finding = &f.judged.findings[0];
    assert_int_equal(finding->index, 4);
    assert_int_equal(finding->output, 0);
    assert_string_equal(finding->output_name, "y");
    assert_true(finding->got == 13);
    assert_true(finding->ratio == 12);
    assert_true(finding->steps > 1000);
    assert_int_equal(finding->wrong_elements, 6); /* once each, although both runs show them */
    assert_int_equal(f.judged.element_counts[0], 6);
    assert_int_equal(f.judged.elements[0][0].index, 4);
    for (int i = 1; i < 6; i++)
        assert_true(f.judged.elements[0][i - 1].ratio >= f.judged.elements[0][i].ratio);
    fixture_stop(&f);
}

static void classes_are_compared(void **state) {
    (void)state;
    const float wrong[] = {NAN, INFINITY, -INFINITY};
    for (int w = 0; w < 3; w++) {
        fixture f;
        fixture_start(&f);
        for (int r = 0; r < 2; r++) fixture_set(&f, r, 2, wrong[w]);
        fixture_judge(&f);
        assert_only(&f, CUPEL_FINDING_WRONG_CLASS, CUPEL_GATE_CMP_01);
        f.classes[2] |= w == 0 ? CUPEL_CLASS_NAN : w == 1 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF;
        assert_clean(&f);
        f.classes[2] = CUPEL_CLASS_MASK & ~CUPEL_CLASS_FINITE; /* a number where none may stand */
        for (int r = 0; r < 2; r++) fixture_set(&f, r, 2, 6);
        fixture_judge(&f);
        assert_only(&f, CUPEL_FINDING_WRONG_CLASS, CUPEL_GATE_CMP_01);
        fixture_stop(&f);
    }
}

/* A bound that is not a number must not let everything pass. */
static void nan_bounds_do_not_pass(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.lo[5] = f.hi[5] = f.value[5] = NAN;
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_VALUE, CUPEL_GATE_CMP_01);
    fixture_stop(&f);
}

static void largest_number_is_no_infinity(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.classes[0] = CUPEL_CLASS_POS_INF;
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 0, 3.40282347e38f);
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_CLASS, CUPEL_GATE_CMP_01);
    fixture_stop(&f);
}

static void zero_sign_is_judged_where_fixed(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.value[1] = f.lo[1] = f.hi[1] = f.radius[1] = 0;
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 1, -0.0f);
    assert_clean(&f);
    f.classes[1] |= CUPEL_ZERO_SIGN_FIXED;
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_ZERO_SIGN, CUPEL_GATE_CMP_01);
    f.classes[1] |= CUPEL_ZERO_SIGN_NEGATIVE;
    assert_clean(&f);
    fixture_stop(&f);
}

static void unjudged_elements_pass_and_are_counted(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int i = 0; i < FIXTURE_N; i++) f.reasons[i] = CUPEL_REASON_OVERFLOW;
    f.allowed.judged = 0;
    f.allowed.by_reason[CUPEL_REASON_OVERFLOW] = FIXTURE_N;
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 0, 1e30f);
    assert_clean(&f);
    assert_int_equal(cupel_scoreboard_by_reason(&f.board, CUPEL_REASON_OVERFLOW), FIXTURE_N);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].judged, 0);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].considered, FIXTURE_N);
    fixture_stop(&f);
}

static void kept_elements_are_compared_with_their_own_content(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.classes[6] = CUPEL_KEEP;
    for (int r = 0; r < 2; r++) fixture_unwrite(&f, r, 6);
    assert_clean(&f); /* poison differs between the runs, and is right in both */
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 6, 14);
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_NOT_KEPT, CUPEL_GATE_RES_01);
    f.classes[6] = CUPEL_KEEP | CUPEL_CLASS_FINITE; /* left alone or right: */
    assert_clean(&f);
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 6, 15);
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_VALUE, CUPEL_GATE_CMP_01);
    fixture_stop(&f);
}

static void traits_decide_what_a_case_exercises(void **state) {
    (void)state;
    static const struct {
        int traits;
        cupel_gate blamed;
        bool cmp01, cmp03, exc01;
    } rows[] = {
        {0, CUPEL_GATE_CMP_01, true, false, false},
        {CUPEL_TRAIT_SHAPE, CUPEL_GATE_CMP_03, false, true, false},
        {CUPEL_TRAIT_LAYOUT, CUPEL_GATE_CMP_03, false, true, false},
        {CUPEL_TRAIT_TYPE, CUPEL_GATE_PRC_01, false, false, false},
        {CUPEL_TRAIT_SPECIAL, CUPEL_GATE_EXC_01, true, false, true},
        {CUPEL_TRAIT_SUBNORMAL, CUPEL_GATE_EXC_02, true, false, false},
        {CUPEL_TRAIT_SPECIAL | CUPEL_TRAIT_SHAPE | CUPEL_TRAIT_TYPE, CUPEL_GATE_EXC_01, false, true, true},
        {CUPEL_TRAIT_SHAPE | CUPEL_TRAIT_TYPE, CUPEL_GATE_PRC_01, false, true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        fixture_start(&f);
        f.evidence.traits = rows[i].traits;
        assert_clean(&f);
        assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].cases, rows[i].cmp01);
        assert_int_equal(f.board.gates[CUPEL_GATE_CMP_03].cases, rows[i].cmp03);
        assert_int_equal(f.board.gates[CUPEL_GATE_EXC_01].cases, rows[i].exc01);
        assert_int_equal(f.board.gates[CUPEL_GATE_PRC_01].cases, 1);
        for (int r = 0; r < 2; r++) fixture_set(&f, r, 0, 9);
        fixture_judge(&f);
        assert_only(&f, CUPEL_FINDING_WRONG_VALUE, rows[i].blamed);
        fixture_stop(&f);
    }
}

static void flushing_is_exercised_by_subnormal_results(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.value[0] = 1e-40, f.lo[0] = 0.9e-40, f.hi[0] = 1.1e-40;
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 0, 1e-40f);
    assert_clean(&f);
    assert_int_equal(f.board.gates[CUPEL_GATE_EXC_02].cases, 1);
    assert_int_equal(f.board.gates[CUPEL_GATE_EXC_02].judged, 1);
    f.lo[0] = 0; /* a zero would pass: the element says nothing about flushing */
    assert_clean(&f);
    assert_int_equal(f.board.gates[CUPEL_GATE_EXC_02].cases, 0);
    fixture_stop(&f);
}

static void unwritten_elements_are_memory(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int r = 0; r < 2; r++) fixture_unwrite(&f, r, 7), fixture_unwrite(&f, r, 5);
    fixture_judge(&f);
    assert_false(f.judged.wants_more_runs); /* no further run would tell more */
    assert_only(&f, CUPEL_FINDING_UNWRITTEN, CUPEL_GATE_RES_01);
    assert_int_equal(f.judged.findings[0].index, 5);
    assert_int_equal(f.judged.findings[0].wrong_elements, 2);
    f.reasons[5] = f.reasons[7] = CUPEL_REASON_UNBOUNDED; /* whatever the value, it must be written */
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_UNWRITTEN, CUPEL_GATE_RES_01);
    fixture_stop(&f);
}

/* NaN in both runs is a result, not poison: the second run's poison is finite. */
static void written_nan_is_not_unwritten(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_unwrite(&f, 0, 3);
    fixture_set(&f, 1, 3, NAN);
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_WRONG_CLASS, CUPEL_GATE_CMP_01);
    fixture_stop(&f);
}

static void stray_writes_in_guards_and_gaps(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.seen[0].buffers[1].guard_after_damaged = true;
    f.seen[0].buffers[1].damage_offset = FIXTURE_N * 4;
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_STRAY_WRITE, CUPEL_GATE_RES_01);
    assert_non_null(strstr(f.judged.findings[0].text, "byte 1 past the end of y"));
    fixture_access(&f, 0, CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE, 31); /* the same write, with its line */
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_BAD_ACCESS, CUPEL_GATE_RES_01);
    fixture_stop(&f);

    fixture_start(&f);
    fixture_spread_output(&f);
    assert_clean(&f);
    f.seen[1].buffers[1].bytes[4] ^= 1;
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_STRAY_WRITE, CUPEL_GATE_RES_01);
    fixture_stop(&f);
}

static void changed_input_is_found(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.seen[1].buffers[0].bytes[4 * 6] ^= 1;
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_INPUT_CHANGED, CUPEL_GATE_RES_01);
    assert_int_equal(f.judged.findings[0].index, 6);
    assert_string_equal(f.judged.findings[0].output_name, "x");
    fixture_stop(&f);
}

static void put_back_input_is_found_by_its_store(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int r = 0; r < 2; r++) {
        fixture_access(&f, r, CUPEL_ACCESS_INPUT_WRITE, 31);
        f.seen[r].accesses[0].buffer = 0;
    }
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_INPUT_CHANGED, CUPEL_GATE_RES_01);
    assert_non_null(strstr(f.judged.findings[0].text, "line 31 writes to the input x"));
    assert_int_equal(f.judged.findings[0].place.line, 31);
    f.seen[0].buffers[0].bytes[4 * 6] ^= 1; /* what remains of it says more */
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_INPUT_CHANGED, CUPEL_GATE_RES_01);
    assert_int_equal(f.judged.findings[0].index, 6);
    assert_int_equal(f.judged.findings[0].place.line, 31);
    fixture_stop(&f);

    fixture_start(&f); /* a buffer that is written is no input */
    fixture_access(&f, 0, CUPEL_ACCESS_INPUT_WRITE, 31);
    f.seen[0].accesses[0].buffer = 1;
    assert_clean(&f);
    fixture_stop(&f);
}

static void bad_accesses_are_proof_and_named(void **state) {
    (void)state;
    static const cupel_access_kind kinds[] = {CUPEL_ACCESS_OUT_OF_BOUNDS_READ,
                                              CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE, CUPEL_ACCESS_MISALIGNED_READ,
                                              CUPEL_ACCESS_MISALIGNED_WRITE};
    for (int k = 0; k < 4; k++) {
        fixture f;
        char signature[160];
        fixture_start(&f);
        for (int r = 0; r < 2; r++) fixture_access(&f, r, kinds[k], 31);
        fixture_judge(&f);
        assert_only(&f, CUPEL_FINDING_BAD_ACCESS, CUPEL_GATE_RES_01); /* once, although both runs show it */
        cupel_finding_signature(&f.judged.findings[0], signature, sizeof signature);
        assert_string_equal(signature, "bad-access-kernel.cu-31");
        fixture_access(&f, 1, kinds[k], 40);
        fixture_judge(&f);
        assert_int_equal(f.judged.finding_count, 2);
        fixture_stop(&f);
    }
}

static void uninitialised_read_alone_is_evidence(void **state) {
    (void)state;
    fixture f;
    char signature[160];
    fixture_start(&f);
    fixture_access(&f, 0, CUPEL_ACCESS_UNINITIALISED_READ, 12);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 1);
    assert_int_equal(f.judged.findings[0].standing, CUPEL_STANDING_EVIDENCE);
    assert_int_equal(f.board.gates[CUPEL_GATE_RES_01].failures, 0);
    cupel_finding_signature(&f.judged.findings[0], signature, sizeof signature);
    assert_string_equal(signature, "uninitialised-read-kernel.cu-12");
    /* What is read of shared memory may be dropped. */
    f.seen[0].accesses[0].space = CUPEL_SPACE_SHARED;
    assert_clean(&f);
    /* With two runs that differ by their poison it is told by the difference, as proof. */
    fixture_runs(&f, 4);
    fixture_access(&f, 0, CUPEL_ACCESS_UNINITIALISED_READ, 12);
    fixture_set(&f, 0, 2, 6.1f), fixture_set(&f, 3, 2, 6.1f);
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_STRAY_READ, CUPEL_GATE_RES_01);
    assert_true(f.judged.findings[0].has_access);
    assert_int_equal(f.judged.findings[0].access.place.line, 12);
    fixture_stop(&f);
}

static void refused_launch_is_resources(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.evidence.run_count = 1;
    f.seen[0].outcome = CUPEL_RUN_REFUSED;
    strcpy(f.seen[0].text, "block of 2048 threads");
    fixture_judge(&f);
    assert_only(&f, CUPEL_FINDING_REFUSED, CUPEL_GATE_RES_02);
    assert_string_equal(f.judged.findings[0].text, "block of 2048 threads");
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].cases, 0);
    assert_int_equal(f.board.gates[CUPEL_GATE_RES_01].cases, 0);
    fixture_stop(&f);
}

static void skipped_launch_exercises_no_limits(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int r = 0; r < 2; r++) f.seen[r].outcome = CUPEL_RUN_SKIPPED;
    assert_clean(&f);
    assert_int_equal(f.board.gates[CUPEL_GATE_RES_02].cases, 0);
    fixture_stop(&f);
}

static void faults_are_findings_and_no_tally(void **state) {
    (void)state;
    for (int fault = CUPEL_FAULT_NONE + 1; fault < CUPEL_FAULT_COUNT; fault++) {
        fixture f;
        fixture_start(&f);
        f.evidence.run_count = 1;
        f.evidence.traits = CUPEL_TRAIT_SHAPE;
        f.seen[0].outcome = CUPEL_RUN_FAULT;
        f.seen[0].fault = (cupel_fault)fault;
        fixture_judge(&f);
        bool memory = fault == CUPEL_FAULT_CRASH || fault == CUPEL_FAULT_OUT_OF_BOUNDS ||
                      fault == CUPEL_FAULT_HEAP || fault == CUPEL_FAULT_FP_MODE;
        assert_only(&f, CUPEL_FINDING_FAULT, memory ? CUPEL_GATE_RES_01 : CUPEL_GATE_CMP_03);
        assert_int_equal(f.judged.findings[0].fault, fault);
        assert_int_equal(f.board.gates[CUPEL_GATE_CMP_03].cases, 0);
        assert_int_equal(f.board.gates[CUPEL_GATE_RES_01].cases, 0);
        fixture_stop(&f);
    }
}

/* A fault under the second schedule alone does not silence what the first run shows. */
static void fault_in_second_run_is_told_beside_values(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    fixture_set(&f, 0, 0, 77);
    f.seen[1].outcome = CUPEL_RUN_FAULT;
    f.seen[1].fault = CUPEL_FAULT_DEADLOCK;
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, 2);
    assert_int_equal(f.judged.findings[0].kind, CUPEL_FINDING_FAULT);
    assert_non_null(fixture_finding(&f, CUPEL_FINDING_WRONG_VALUE));
    assert_int_equal(f.board.gates[CUPEL_GATE_ORD_02].cases, 0);
    fixture_stop(&f);
}

static void what_could_not_run_is_no_finding(void **state) {
    (void)state;
    static const cupel_outcome outcomes[] = {CUPEL_RUN_UNSUPPORTED, CUPEL_RUN_NOT_STARTED};
    for (int o = 0; o < 2; o++) {
        fixture f;
        fixture_start(&f);
        f.seen[1].outcome = outcomes[o];
        assert_clean(&f);
        for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) assert_int_equal(f.board.gates[gate].cases, 0);
        fixture_stop(&f);
    }
}

static void findings_are_bounded(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    for (int line = 1; line <= CUPEL_ACCESS_MAX; line++)
        fixture_access(&f, 0, CUPEL_ACCESS_OUT_OF_BOUNDS_READ, line);
    fixture_judge(&f);
    assert_int_equal(f.judged.finding_count, CUPEL_CASE_FINDINGS_MAX);
    fixture_stop(&f);
}

/* Without an oracle's answer nothing is judged by value, and memory still is. */
static void no_allowed_set_judges_memory_alone(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.evidence.allowed = NULL;
    for (int r = 0; r < 2; r++) fixture_set(&f, r, 0, 1e9f);
    assert_clean(&f);
    assert_int_equal(f.board.gates[CUPEL_GATE_CMP_01].cases, 0);
    assert_int_equal(f.board.gates[CUPEL_GATE_RES_01].cases, 1);
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_result_passes),
        cmocka_unit_test(edges_of_the_interval_pass),
        cmocka_unit_test(inaccuracy_is_evidence),
        cmocka_unit_test(closeness_is_of_what_passes),
        cmocka_unit_test(wrong_value_names_the_worst),
        cmocka_unit_test(classes_are_compared),
        cmocka_unit_test(nan_bounds_do_not_pass),
        cmocka_unit_test(largest_number_is_no_infinity),
        cmocka_unit_test(zero_sign_is_judged_where_fixed),
        cmocka_unit_test(unjudged_elements_pass_and_are_counted),
        cmocka_unit_test(kept_elements_are_compared_with_their_own_content),
        cmocka_unit_test(traits_decide_what_a_case_exercises),
        cmocka_unit_test(flushing_is_exercised_by_subnormal_results),
        cmocka_unit_test(unwritten_elements_are_memory),
        cmocka_unit_test(written_nan_is_not_unwritten),
        cmocka_unit_test(stray_writes_in_guards_and_gaps),
        cmocka_unit_test(changed_input_is_found),
        cmocka_unit_test(put_back_input_is_found_by_its_store),
        cmocka_unit_test(bad_accesses_are_proof_and_named),
        cmocka_unit_test(uninitialised_read_alone_is_evidence),
        cmocka_unit_test(refused_launch_is_resources),
        cmocka_unit_test(skipped_launch_exercises_no_limits),
        cmocka_unit_test(faults_are_findings_and_no_tally),
        cmocka_unit_test(fault_in_second_run_is_told_beside_values),
        cmocka_unit_test(what_could_not_run_is_no_finding),
        cmocka_unit_test(findings_are_bounded),
        cmocka_unit_test(no_allowed_set_judges_memory_alone),
    };
    return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}
