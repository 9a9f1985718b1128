/* CMP-02, ORD-01, ORD-03 and PRC-02: for which contracts they mean anything, by which cases they are
 * exercised, and what names them. And vacuity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "evidence_fixture.h"
#include "judging.h"

/* A contract of x[M, N], dy[M, N], w[N] with this output and postcondition, in arena. */
static const cupel_contract *contract_of(cupel_arena *arena, const char *output, const char *ensures) {
    static const char format[] = "cupel: 1\n"
                                 "id: asked\n"
                                 "source: {file: k.cu}\n"
                                 "dims: {M: 1..64, N: 1..64}\n"
                                 "inputs: {x: 'f32[M, N]', dy: 'f32[M, N]', w: 'f32[N]'}\n"
                                 "outputs: {y: '%s'}\n"
                                 "ensures: {y: '%s'}\n"
                                 "kernel: {entry: k, args: [x, dy, w, y, M, N], grid: [M], block: [32]}\n";
    cupel_contracts contracts = {0};
    cupel_error err = {0};
    char *text = cupel_arena_printf(arena, format, output, ensures);
    if (cupel_contracts_parse("t.yaml", text, strlen(text), true, arena, &contracts, &err) != CUPEL_OK)
        fail_msg("%s: %s", ensures, err.text);
    return contracts.items[0];
}

typedef struct asked {
    const char *output, *ensures;
    bool cmp_02, ord_01, ord_03, prc_02; /* applicable */
} asked;

static const asked rows[] = {
    {"f32[M, N]", "x + dy", false, false, false, false},
    {"f32[M, N]", "relu(x)", false, false, false, false},
    {"f32[M, N]", "maximum(x, dy)", false, false, false, false},
    {"f32[M, N]", "where(x < dy, x, dy)", false, false, false, false},
    {"f32[M, N]", "softmax(x, axis=1)", false, false, false, true},
    {"f32[M]", "sum(x * w, axis=1)", false, true, false, true},
    {"f32[M]", "amax(x, axis=1)", false, true, false, false},
    {"i64[M]", "argmax(x, axis=1)", false, false, true, false},
    {"f32[M, N]", "cumsum(x, axis=1)", false, false, true, true},
    {"f32[M, N]", "cummax(x, axis=1)", false, false, true, false},
    {"f32[M, N]", "linear_scan(x, dy)", false, false, true, true},
    {"f32[M, N]", "vjp(relu(x), x, dy)", true, false, false, false},
    {"f32[M, N]", "vjp(softmax(x, axis=1), x, dy)", true, false, false, true},
    {"f32[M, N]", "vjp(silu(x), x, dy)", true, false, false, false}, /* two parts, joined */
    {"f32[M, N]", "vjp(where(x > 0, x, 0.1 * x), x, dy)", true, false, false, false},
    {"f32[N]", "vjp(x * w, w, dy)", true, true, false, true},
    {"f32[M, N]", "vjp(sum(x), x, 1)", false, false, false, false},
};

static void contracts_say_what_applies(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cupel_contract *contract = contract_of(arena, rows[i].output, rows[i].ensures);
        const struct {
            cupel_gate gate;
            bool expected;
        } gates[] = {{CUPEL_GATE_CMP_02, rows[i].cmp_02},
                     {CUPEL_GATE_ORD_01, rows[i].ord_01},
                     {CUPEL_GATE_ORD_03, rows[i].ord_03},
                     {CUPEL_GATE_PRC_02, rows[i].prc_02}};
        for (size_t k = 0; k < sizeof gates / sizeof *gates; k++) {
            const char *why = "";
            if (cupel_gate_info_of(gates[k].gate)->applicable(contract, &why) != gates[k].expected)
                fail_msg("%s of %s", cupel_gate_id(gates[k].gate), rows[i].ensures);
            if (!gates[k].expected) assert_true(strlen(why) > 10);
        }
    }
    cupel_arena_free(arena);
}

/* ---- CMP-02 ---- */

static int64_t exercised_by(const cupel_contract *contract, cupel_pattern pattern, double amplitude,
                            int64_t n) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe;
    cupel_case *c;
    assert_int_equal(cupel_recipe_simple(contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = recipe.dims[1] = n;
    recipe.tensors[1].pattern = pattern;
    recipe.tensors[1].amplitude = amplitude;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_int_equal(cupel_case_materialise(contract, &recipe, arena, &c, NULL), CUPEL_OK);
    const cupel_evidence evidence = {.c = c};
    const cupel_compared compared = {.evidence = &evidence, .judged = 9, .gradient = 5};
    const int64_t judged = cupel_gate_info_of(CUPEL_GATE_CMP_02)->exercised(&compared);
    cupel_arena_free(arena);
    return judged;
}

static void gradients_need_cotangents_that_differ(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract =
        contract_of(arena, "f32[M, N]", "vjp(softmax(x, axis=1), x, cotangent=dy)");
    assert_int_equal(cupel_claimed_cotangents(contract), 1 << 1);
    assert_true(cupel_claims_gradient(contract, cupel_contract_tensor(contract, "y")));
    assert_int_equal(exercised_by(contract, CUPEL_PATTERN_NORMAL, 1, 4), 5);
    assert_int_equal(exercised_by(contract, CUPEL_PATTERN_ZERO, 0, 4), -1);
    assert_int_equal(exercised_by(contract, CUPEL_PATTERN_ONE, 0, 4), -1);
    assert_int_equal(exercised_by(contract, CUPEL_PATTERN_CONSTANT, 3, 4), -1);
    assert_int_equal(exercised_by(contract, CUPEL_PATTERN_CONSTANT, 3, 1), 5); /* a loss has but one */
    assert_int_equal(exercised_by(contract, CUPEL_PATTERN_ONE, 0, 1), -1);
    const cupel_contract *other = contract_of(arena, "f32[M, N]", "x * 2");
    assert_false(cupel_claims_gradient(other, cupel_contract_tensor(other, "y")));
    cupel_arena_free(arena);
}

/* ---- what a case exercises, and what names a gate ---- */

static void evidence_says_what_a_case_tells_apart(void **state) {
    (void)state;
    static const struct {
        cupel_discerned discerned;
        int traits;
        int64_t ord_01, ord_03, prc_02;
    } cases[] = {{{0, 0}, 0, -1, -1, -1},
                 {{3, 0}, 0, -1, 3, -1},
                 {{0, 4}, CUPEL_TRAIT_SHAPE, -1, -1, 4},
                 {{3, 4}, CUPEL_TRAIT_PERMUTED, 8, 3, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_evidence evidence = {.discerned = cases[i].discerned, .traits = cases[i].traits};
        const cupel_compared compared = {.evidence = &evidence, .judged = 8, .considered = 9};
        assert_int_equal(cupel_gate_info_of(CUPEL_GATE_ORD_01)->exercised(&compared), cases[i].ord_01);
        assert_int_equal(cupel_gate_info_of(CUPEL_GATE_ORD_03)->exercised(&compared), cases[i].ord_03);
        assert_int_equal(cupel_gate_info_of(CUPEL_GATE_PRC_02)->exercised(&compared), cases[i].prc_02);
    }
}

static void causes_and_needs_name_gates(void **state) {
    (void)state;
    static const struct {
        int traits;
        cupel_shadow_fault cause;
        bool gradient;
        cupel_gate gate;
    } table[] = {
        {0, CUPEL_SHADOW_NO_FAULT, false, CUPEL_GATE_CMP_01},
        {0, CUPEL_SHADOW_ONE_PASS, false, CUPEL_GATE_CMP_01},
        {0, CUPEL_SHADOW_NO_FAULT, true, CUPEL_GATE_CMP_02},
        {CUPEL_TRAIT_COTANGENT, CUPEL_SHADOW_NO_FAULT, true, CUPEL_GATE_CMP_02},
        {CUPEL_TRAIT_SHAPE, CUPEL_SHADOW_NO_FAULT, true, CUPEL_GATE_CMP_03},
        {CUPEL_TRAIT_SPECIAL, CUPEL_SHADOW_NO_FAULT, true, CUPEL_GATE_EXC_01},
        {CUPEL_TRAIT_TYPE, CUPEL_SHADOW_NO_FAULT, true, CUPEL_GATE_PRC_01},
        {CUPEL_TRAIT_ORDER, CUPEL_SHADOW_NO_FAULT, false, CUPEL_GATE_ORD_01},
        {CUPEL_TRAIT_ORDER | CUPEL_TRAIT_SHAPE, CUPEL_SHADOW_NO_FAULT, false, CUPEL_GATE_CMP_03},
        {0, CUPEL_SHADOW_LAST_TIE, false, CUPEL_GATE_ORD_03},
        {CUPEL_TRAIT_SHAPE, CUPEL_SHADOW_SHORT_CARRY, false, CUPEL_GATE_ORD_03},
        {CUPEL_TRAIT_SPECIAL, CUPEL_SHADOW_REVERSED_SCAN, false, CUPEL_GATE_EXC_01},
        {0, CUPEL_SHADOW_F16_ACCUMULATOR, false, CUPEL_GATE_PRC_02},
        {CUPEL_TRAIT_TYPE | CUPEL_TRAIT_SHAPE, CUPEL_SHADOW_BF16_ACCUMULATOR, false, CUPEL_GATE_PRC_02},
        {CUPEL_TRAIT_SUBNORMAL, CUPEL_SHADOW_TF32_PRODUCTS, false, CUPEL_GATE_EXC_02},
        {CUPEL_TRAIT_ORDER, CUPEL_SHADOW_F32_ACCUMULATOR, true, CUPEL_GATE_PRC_02},
        {CUPEL_TRAIT_SCHEDULE, CUPEL_SHADOW_LAST_TIE, true, CUPEL_GATE_ORD_02},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cupel_finding finding = {.kind = CUPEL_FINDING_WRONG_VALUE,
                                 .cause = {.fault = table[i].cause},
                                 .gradient = table[i].gradient};
        assert_int_equal(cupel_gate_of_finding(&finding, table[i].traits), table[i].gate);
        finding.kind = CUPEL_FINDING_STRAY_WRITE; /* whatever its output is */
        assert_int_equal(cupel_gate_of_finding(&finding, table[i].traits), CUPEL_GATE_RES_01);
    }
}

/* ---- vacuity ---- */

/* A case whose results are `scale` times the inputs, allowed within `room`. */
static void judge_case(fixture *f, cupel_scoreboard *board, double scale, double room, int traits) {
    for (int i = 0; i < FIXTURE_N; i++) {
        f->value[i] = scale * f->x[i];
        f->lo[i] = f->value[i] - room, f->hi[i] = f->value[i] + room;
        for (int r = 0; r < 2; r++) fixture_set(f, r, i, (float)f->value[i]);
    }
    f->evidence.traits = traits;
    cupel_gates_judge(&f->evidence, board, f->arena, &f->judged);
    assert_int_equal(f->judged.finding_count, 0);
}

static bool vacuous(const fixture *f, const cupel_scoreboard *board, cupel_gate gate, const char *words) {
    const char *why = "";
    const bool is = cupel_gate_is_vacuous(&f->contract, board, gate, &why);
    if (is && !strstr(why, words)) fail_msg("expected '%s', found '%s'", words, why);
    const char *reason;
    const cupel_gate_status status = cupel_gate_status_of(&f->contract, board, gate, 0, &reason);
    if (is) assert_int_equal(status, CUPEL_STATUS_NOT_EXERCISED);
    if (is) assert_ptr_equal(strstr(reason, "vacuous"), reason);
    assert_int_equal(cupel_gate_status_of(&f->contract, board, gate, 1, NULL), CUPEL_STATUS_FAIL);
    return is;
}

static void strawmen_are_rejected(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    cupel_scoreboard board = {0};
    judge_case(&f, &board, 2, 0.25, 0);
    judge_case(&f, &board, 3, 0.25, CUPEL_TRAIT_SPECIAL);
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++)
        assert_false(vacuous(&f, &board, (cupel_gate)gate, ""));
    assert_int_equal(cupel_gate_status_of(&f.contract, &board, CUPEL_GATE_EXC_01, 0, NULL),
                     CUPEL_STATUS_PASS);
    fixture_stop(&f);
}

static void strawmen_that_pass_are_told(void **state) {
    (void)state;
    static const struct {
        double scales[2], room;
        const char *words;
    } checks[] = {{{2, 3}, 1e6, "writes zeros"},         /* a tolerance that admits anything */
                  {{0, 0}, 0.25, "writes zeros"},        /* inputs that make every output 0 */
                  {{1, 1}, 0.25, "the case before"},     /* always the same, a copy too */
                  {{1, 1.001}, 0.25, "the case before"}, /* nearly so */
                  {{1, 1}, 4.5, "one constant"}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        fixture f;
        fixture_start(&f);
        cupel_scoreboard board = {0};
        for (int k = 0; k < 2; k++) judge_case(&f, &board, checks[i].scales[k], checks[i].room, 0);
        if (!vacuous(&f, &board, CUPEL_GATE_CMP_01, checks[i].words))
            fail_msg("case %d is not vacuous", (int)i);
        assert_true(vacuous(&f, &board, CUPEL_GATE_PRC_01, checks[i].words));
        /* one case that tells is enough, and each gate needs its own */
        judge_case(&f, &board, 50, 0.25, CUPEL_TRAIT_SHAPE);
        assert_false(vacuous(&f, &board, CUPEL_GATE_PRC_01, ""));
        assert_false(vacuous(&f, &board, CUPEL_GATE_CMP_03, ""));
        assert_true(vacuous(&f, &board, CUPEL_GATE_CMP_01, checks[i].words));
        fixture_stop(&f);
    }
}

/* The same elements in another order have the same sums: that the output of the original would do there says
 * nothing against the gate, while the one before that must not do. */
static void permuted_cases_have_the_output_of_their_original(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    cupel_scoreboard board = {0};
    judge_case(&f, &board, 3, 0.25, 0);
    judge_case(&f, &board, 3, 0.25, CUPEL_TRAIT_PERMUTED);
    judge_case(&f, &board, 3, 0.25, CUPEL_TRAIT_PERMUTED);
    assert_false(vacuous(&f, &board, CUPEL_GATE_ORD_01, "")); /* nothing came before */
    judge_case(&f, &board, 3, 0.25, 0);
    judge_case(&f, &board, 3, 0.25, CUPEL_TRAIT_PERMUTED);
    assert_true(vacuous(&f, &board, CUPEL_GATE_ORD_01, "the case before"));
    judge_case(&f, &board, 5, 0.25, 0);
    judge_case(&f, &board, 5, 0.25, CUPEL_TRAIT_PERMUTED);
    judge_case(&f, &board, 5, 0.25, CUPEL_TRAIT_PERMUTED);
    assert_false(vacuous(&f, &board, CUPEL_GATE_ORD_01, ""));
    fixture_stop(&f);
}

/* Elements that are not judged reject nobody, and searches add up. */
static void strawmen_of_several_searches(void **state) {
    (void)state;
    fixture f;
    fixture_start(&f);
    cupel_scoreboard first = {0}, second = {0};
    judge_case(&f, &first, 0, 0.25, 0);
    judge_case(&f, &second, 9, 0.25, 0);
    assert_true(vacuous(&f, &first, CUPEL_GATE_CMP_01, "zeros"));
    second.cases = 1;
    cupel_scoreboard_add(&first, &second);
    assert_false(vacuous(&f, &first, CUPEL_GATE_CMP_01, ""));
    fixture_stop(&f);
}

static void what_is_asked_for_is_no_strawman(void **state) {
    (void)state;
    static const struct {
        const char *output, *ensures;
        bool zero, copy; /* vacuous where every case accepts zeros, a copy of x */
    } contracts[] = {{"f32[]", "0", false, false},       {"f32[]", "pi * 2", false, false},
                     {"f32[M, N]", "x", true, false},    {"f32[M, N]", "reshape(x, [M, N])", true, false},
                     {"f32[M, N]", "x * 2", true, true}, {"f32[M, N]", "dy", true, true},
                     {"f32[M, N]", "x - x", true, true}};
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof contracts / sizeof *contracts; i++) {
        const cupel_contract *contract = contract_of(arena, contracts[i].output, contracts[i].ensures);
        const char *why = "";
        cupel_scoreboard board = {0};
        board.strawmen.tried[CUPEL_GATE_CMP_01] = 1u << CUPEL_STRAWMAN_ZERO;
        if (cupel_gate_is_vacuous(contract, &board, CUPEL_GATE_CMP_01, &why) != contracts[i].zero)
            fail_msg("zeros for %s", contracts[i].ensures);
        board.strawmen.tried[CUPEL_GATE_CMP_01] = 1u << CUPEL_STRAWMAN_COPY; /* tensor 0: x */
        if (cupel_gate_is_vacuous(contract, &board, CUPEL_GATE_CMP_01, &why) != contracts[i].copy)
            fail_msg("a copy for %s", contracts[i].ensures);
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contracts_say_what_applies),
        cmocka_unit_test(gradients_need_cotangents_that_differ),
        cmocka_unit_test(evidence_says_what_a_case_tells_apart),
        cmocka_unit_test(causes_and_needs_name_gates),
        cmocka_unit_test(strawmen_are_rejected),
        cmocka_unit_test(strawmen_that_pass_are_told),
        cmocka_unit_test(permuted_cases_have_the_output_of_their_original),
        cmocka_unit_test(strawmen_of_several_searches),
        cmocka_unit_test(what_is_asked_for_is_no_strawman),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
