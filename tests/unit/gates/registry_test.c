/* Names, applicability, status, attribution, signatures and the verdict. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "evidence_fixture.h"

static void names_go_both_ways(void **state) {
    (void)state;
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) {
        cupel_gate parsed;
        const cupel_gate_info *info = cupel_gate_info_of((cupel_gate)gate);
        assert_int_equal(info->gate, gate);
        assert_true(cupel_gate_parse(cupel_gate_id((cupel_gate)gate), &parsed));
        assert_int_equal(parsed, gate);
        const char *const words[] = {info->asserts, info->exercised_by, info->needs, info->not_exercised,
                                     info->cost};
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_true(strlen(words[i]) > 10);
        assert_true(strlen(info->not_applicable) > 0);
        assert_true(strlen(info->kernel_contracts) > 0 && strlen(info->lethe) > 0);
    }
    cupel_gate parsed;
    assert_false(cupel_gate_parse("CMP-04", &parsed));
    assert_false(cupel_gate_parse("cmp-01", &parsed));
}

static void not_exercised_is_never_a_pass(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    memset(&f.board, 0, sizeof f.board);
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) {
        const char *why = NULL;
        cupel_gate_status status = cupel_gate_status_of(&f.contract, &f.board, (cupel_gate)gate, 0, &why);
        assert_int_not_equal(status, CUPEL_STATUS_PASS);
        assert_non_null(why);
        assert_true(strlen(why) > 0);
        f.board.gates[gate].cases = 5; /* cases, and nothing judged in them */
        status = cupel_gate_status_of(&f.contract, &f.board, (cupel_gate)gate, 0, &why);
        assert_int_not_equal(status, CUPEL_STATUS_PASS);
        f.board.gates[gate].judged = 5;
        f.board.judged_by_type[0][0] = 1;
        status = cupel_gate_status_of(&f.contract, &f.board, (cupel_gate)gate, 0, &why);
        bool here = gate != CUPEL_GATE_CMP_02; /* the fixture's contract has no vjp */
        assert_int_equal(status == CUPEL_STATUS_PASS, here);
        assert_int_equal(cupel_gate_status_of(&f.contract, &f.board, (cupel_gate)gate, 1, &why),
                         CUPEL_STATUS_FAIL);
    }
    fixture_stop(&f);
}

static void every_claimed_type_is_needed(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    f.contract.types[0] = (cupel_type_variable){.name = "T", .count = 2, .claimed = {CUPEL_F32, CUPEL_F16}};
    memset(&f.board, 0, sizeof f.board);
    f.board.gates[CUPEL_GATE_PRC_01] = (cupel_gate_tally){.cases = 9, .judged = 9};
    f.board.judged_by_type[0][0] = 9;
    assert_int_equal(cupel_gate_status_of(&f.contract, &f.board, CUPEL_GATE_PRC_01, 0, NULL),
                     CUPEL_STATUS_NOT_EXERCISED);
    f.board.judged_by_type[0][1] = 1;
    assert_int_equal(cupel_gate_status_of(&f.contract, &f.board, CUPEL_GATE_PRC_01, 0, NULL),
                     CUPEL_STATUS_PASS);
    fixture_stop(&f);
}

static cupel_gate_status status_of(fixture *f, cupel_gate gate) {
    return cupel_gate_status_of(&f->contract, &f->board, gate, 0, NULL);
}

static void contracts_make_gates_inapplicable(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    memset(&f.board, 0, sizeof f.board);
    assert_int_equal(status_of(&f, CUPEL_GATE_CMP_02), CUPEL_STATUS_NOT_APPLICABLE);
    cupel_expr call = {.kind = CUPEL_EXPR_CALL, .name = "vjp"}, *children[] = {&call};
    cupel_expr sum = {.kind = CUPEL_EXPR_BINARY, .name = "+", .count = 1, .children = children};
    f.contract.tensors[1].ensures = &sum;
    assert_int_equal(status_of(&f, CUPEL_GATE_CMP_02),
                     CUPEL_STATUS_NOT_APPLICABLE); /* of no input's gradient */
    cupel_expr dy = {.kind = CUPEL_EXPR_NAME, .name = "x"}, *arguments[] = {&sum, &dy, &dy};
    call.count = 3, call.children = arguments;
    sum.count = 0; /* what is differentiated does not matter here */
    f.contract.tensors[1].ensures = &call;
    assert_int_equal(status_of(&f, CUPEL_GATE_CMP_02), CUPEL_STATUS_NOT_EXERCISED);
    f.contract.tensors[1].ensures = NULL;
    f.contract.deterministic = CUPEL_DETERMINISTIC_FALSE;
    assert_int_equal(status_of(&f, CUPEL_GATE_ORD_02), CUPEL_STATUS_NOT_APPLICABLE);
    f.contract.tensors[0].finite = true;
    assert_int_equal(status_of(&f, CUPEL_GATE_EXC_01), CUPEL_STATUS_NOT_APPLICABLE);
    f.contract.dims[0].hi = f.contract.dims[0].lo;
    assert_int_equal(status_of(&f, CUPEL_GATE_CMP_03), CUPEL_STATUS_NOT_APPLICABLE);
    f.contract.tensors[0].layouts = CUPEL_LAYOUT_PADDED;
    assert_int_equal(status_of(&f, CUPEL_GATE_CMP_03), CUPEL_STATUS_NOT_EXERCISED);
    f.contract.host = true;
    assert_int_equal(status_of(&f, CUPEL_GATE_RES_02), CUPEL_STATUS_NOT_APPLICABLE);
    fixture_stop(&f);
}

static void float_atomics_excuse_determinism(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    memset(&f.board, 0, sizeof f.board);
    assert_int_equal(status_of(&f, CUPEL_GATE_ORD_02), CUPEL_STATUS_NOT_EXERCISED);
    f.board.float_atomic_cases = 3;
    assert_int_equal(status_of(&f, CUPEL_GATE_ORD_02), CUPEL_STATUS_NOT_APPLICABLE);
    f.board.gates[CUPEL_GATE_ORD_02] = (cupel_gate_tally){.cases = 1, .judged = 1};
    assert_int_equal(status_of(&f, CUPEL_GATE_ORD_02), CUPEL_STATUS_PASS);
    fixture_stop(&f);
}

/* A zero for a subnormal result is a flush, unless the failure needs something else. */
static void a_flush_names_the_gate(void **state) {
    (void)state;
    cupel_finding flushed = {.kind = CUPEL_FINDING_WRONG_VALUE, .type = CUPEL_F32, .certified = true};
    flushed.exact.value = 0x1p-130;
    assert_int_equal(cupel_gate_of_finding(&flushed, 0), CUPEL_GATE_EXC_02);
    assert_int_equal(cupel_gate_of_finding(&flushed, CUPEL_TRAIT_SHAPE), CUPEL_GATE_CMP_03);
    assert_int_equal(cupel_gate_of_finding(&flushed, CUPEL_TRAIT_TYPE), CUPEL_GATE_PRC_01);
    flushed.got = 0x1p-131;
    assert_int_equal(cupel_gate_of_finding(&flushed, 0), CUPEL_GATE_CMP_01);
    flushed.got = 0;
    flushed.exact.value = 0x1p-120; /* no subnormal */
    assert_int_equal(cupel_gate_of_finding(&flushed, 0), CUPEL_GATE_CMP_01);
    flushed.exact.value = 0x1p-130;
    flushed.certified = false;
    assert_int_equal(cupel_gate_of_finding(&flushed, 0), CUPEL_GATE_CMP_01);
}

static void necessity_names_the_gate(void **state) {
    (void)state;
    static const struct {
        int traits;
        cupel_gate gate;
    } rows[] = {{0, CUPEL_GATE_CMP_01},
                {CUPEL_TRAIT_SCHEDULE, CUPEL_GATE_ORD_02},
                {CUPEL_TRAIT_HISTORY | CUPEL_TRAIT_SPECIAL, CUPEL_GATE_ORD_02},
                {CUPEL_TRAIT_SPECIAL, CUPEL_GATE_EXC_01},
                {CUPEL_TRAIT_SUBNORMAL, CUPEL_GATE_EXC_02},
                {CUPEL_TRAIT_TYPE, CUPEL_GATE_PRC_01},
                {CUPEL_TRAIT_SHAPE, CUPEL_GATE_CMP_03},
                {CUPEL_TRAIT_LAYOUT, CUPEL_GATE_CMP_03}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(cupel_gate_by_necessity(CUPEL_FINDING_WRONG_VALUE, CUPEL_FAULT_NONE, rows[i].traits),
                         rows[i].gate);
        assert_int_equal(cupel_gate_by_necessity(CUPEL_FINDING_WRONG_CLASS, CUPEL_FAULT_NONE, rows[i].traits),
                         rows[i].gate);
        assert_int_equal(cupel_gate_by_necessity(CUPEL_FINDING_FAULT, CUPEL_FAULT_HANG, rows[i].traits),
                         rows[i].gate);
        assert_int_equal(cupel_gate_by_necessity(CUPEL_FINDING_FAULT, CUPEL_FAULT_FP_MODE, rows[i].traits),
                         CUPEL_GATE_RES_01);
        assert_int_equal(cupel_gate_by_necessity(CUPEL_FINDING_UNWRITTEN, CUPEL_FAULT_NONE, rows[i].traits),
                         CUPEL_GATE_RES_01);
        assert_int_equal(
            cupel_gate_by_necessity(CUPEL_FINDING_NONDETERMINISM, CUPEL_FAULT_NONE, rows[i].traits),
            CUPEL_GATE_ORD_02);
    }
    cupel_finding crash = {.kind = CUPEL_FINDING_FAULT, .fault = CUPEL_FAULT_CRASH, .signal = SIGSEGV};
    assert_int_equal(cupel_gate_of_finding(&crash, CUPEL_TRAIT_SHAPE), CUPEL_GATE_RES_01);
    crash.signal = SIGFPE; /* a division by zero is no matter of addresses */
    assert_int_equal(cupel_gate_of_finding(&crash, CUPEL_TRAIT_SHAPE), CUPEL_GATE_CMP_03);
}

static void signatures_are_stable_and_safe(void **state) {
    (void)state;
    char text[64];
    cupel_finding value = {.kind = CUPEL_FINDING_WRONG_VALUE, .output_name = "y"};
    cupel_finding_signature(&value, text, sizeof text);
    assert_string_equal(text, "wrong-value-y");
    value.gate = CUPEL_GATE_EXC_01, value.index = 7; /* neither is part of it */
    cupel_finding_signature(&value, text, sizeof text);
    assert_string_equal(text, "wrong-value-y");
    cupel_finding hang = {.kind = CUPEL_FINDING_FAULT, .fault = CUPEL_FAULT_HANG, .place.line = 9};
    cupel_finding_signature(&hang, text, sizeof text);
    assert_string_equal(text, "fault-hang");
    cupel_finding crash = {.kind = CUPEL_FINDING_FAULT, .fault = CUPEL_FAULT_CRASH, .signal = SIGSEGV};
    cupel_finding_signature(&crash, text, sizeof text);
    assert_string_equal(text, "fault-crash-sigSEGV");
    cupel_finding access = {.kind = CUPEL_FINDING_BAD_ACCESS, .has_access = true};
    strcpy(access.access.place.file, "../a/../so ft;max.cu"), access.access.place.line = 31;
    cupel_finding_signature(&access, text, sizeof text);
    assert_string_equal(text, "bad-access-so-ft_max.cu-31");
    char tiny[8];
    cupel_finding_signature(&access, tiny, sizeof tiny);
    assert_string_equal(tiny, "bad-acc");
}

static void verdicts(void **state) {
    (void)state;
    cupel_scoreboard board = {0};
    assert_int_equal(cupel_verdict_of(&board, 0, 0, true), CUPEL_VERDICT_INCONCLUSIVE);
    board.gates[CUPEL_GATE_RES_02].judged = 9; /* launches alone judge no result */
    assert_int_equal(cupel_verdict_of(&board, 0, 0, true), CUPEL_VERDICT_INCONCLUSIVE);
    board.gates[CUPEL_GATE_PRC_01].judged = 1;
    assert_int_equal(cupel_verdict_of(&board, 0, 0, true), CUPEL_VERDICT_ACCEPTED);
    assert_int_equal(cupel_verdict_of(&board, 0, 1, true), CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(cupel_verdict_of(&board, 0, 0, false), CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(cupel_verdict_of(&board, 1, 1, false), CUPEL_VERDICT_REJECTED);
    board.cases = 20;
    board.unsupported = 1; /* one in twenty may be missing */
    assert_int_equal(cupel_verdict_of(&board, 0, 0, true), CUPEL_VERDICT_ACCEPTED);
    board.unsupported = 2;
    assert_int_equal(cupel_verdict_of(&board, 0, 0, true), CUPEL_VERDICT_INCONCLUSIVE);
    assert_int_equal(cupel_verdict_of(&board, 1, 0, true), CUPEL_VERDICT_REJECTED);
    board.cases = 19;
    board.unsupported = 1;
    assert_int_equal(cupel_verdict_of(&board, 0, 0, true), CUPEL_VERDICT_INCONCLUSIVE);
}

static void patterns_are_counted_once_a_case(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    cupel_scoreboard board = {0};
    f.contract.tensor_count = f.c.tensor_count = 3;
    f.contract.tensors[2] = (cupel_tensor_decl){.name = "z", .roles = CUPEL_ROLE_INPUT};
    f.recipe.tensors[0].pattern = f.recipe.tensors[2].pattern = CUPEL_PATTERN_TIES;
    f.recipe.tensors[1].pattern = CUPEL_PATTERN_BITS; /* an output has no pattern */
    cupel_scoreboard_count(&board, &f.c);
    assert_int_equal(board.cases, 1);
    assert_int_equal(board.elements, 2 * FIXTURE_N);
    assert_int_equal(board.cases_by_pattern[CUPEL_PATTERN_TIES], 1);
    assert_int_equal(board.cases_by_pattern[CUPEL_PATTERN_BITS], 0);
    fixture_stop(&f);
}

static void sizes_that_were_tried_are_kept(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    cupel_scoreboard board = {0};
    static const int64_t extents[] = {7, 5, 60};
    for (int i = 0; i < 3; i++) {
        f.c.binding.dims[0] = extents[i];
        cupel_scoreboard_count(&board, &f.c);
    }
    assert_int_equal(board.smallest[0], 5);
    assert_int_equal(board.largest[0], 60);
    fixture_stop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_were_tried_are_kept),
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(not_exercised_is_never_a_pass),
        cmocka_unit_test(every_claimed_type_is_needed),
        cmocka_unit_test(contracts_make_gates_inapplicable),
        cmocka_unit_test(float_atomics_excuse_determinism),
        cmocka_unit_test(necessity_names_the_gate),
        cmocka_unit_test(a_flush_names_the_gate),
        cmocka_unit_test(signatures_are_stable_and_safe),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(patterns_are_counted_once_a_case),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
