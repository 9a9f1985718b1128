/* What a case can tell apart: shadows with another order or a weaker accumulator, on a sample of a search. */
#include "discern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct asking {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_trial trial;
    cupel_bindings bindings;
    cupel_rules rules;
    cupel_scoreboard board;
} asking;

static void start(asking *a, const char *output, const char *ensures, cupel_pattern pattern, double amplitude,
                  int64_t n) {
    static const char format[] = "cupel: 1\n"
                                 "id: asked\n"
                                 "source: {file: k.cu}\n"
                                 "dims: {N: 1..1048576}\n"
                                 "inputs: {x: 'f32[N]'}\n"
                                 "outputs: {y: '%s'}\n"
                                 "ensures: {y: '%s'}\n"
                                 "kernel: {entry: k, args: [x, y, N], grid: [1], block: [32]}\n";
    memset(a, 0, sizeof *a);
    a->arena = cupel_arena_create(0);
    char *text = cupel_arena_printf(a->arena, format, output, ensures);
    cupel_contracts contracts = {0};
    cupel_recipe recipe;
    assert_int_equal(cupel_contracts_parse("t.yaml", text, strlen(text), true, a->arena, &contracts, NULL),
                     CUPEL_OK);
    a->contract = contracts.items[0];
    assert_int_equal(cupel_recipe_simple(a->contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = n;
    recipe.tensors[0].pattern = pattern;
    recipe.tensors[0].amplitude = amplitude;
    assert_int_equal(cupel_recipe_repair(a->contract, &recipe, INT64_MAX, NULL), CUPEL_OK);
    assert_int_equal(cupel_case_materialise(a->contract, &recipe, a->arena, &a->trial.c, NULL), CUPEL_OK);
    assert_int_equal(cupel_binding_graph(&a->trial.c->binding, a->arena, &a->trial.graph, NULL), CUPEL_OK);
    assert_true(cupel_trial_bind(a->trial.c, a->arena, &a->bindings));
    a->rules = cupel_binding_rules(&a->trial.c->binding);
    a->trial.allowed = cupel_arena_alloc(a->arena, sizeof *a->trial.allowed);
    assert_int_equal(
        cupel_oracle_bounded(a->trial.graph, &a->bindings, &a->rules, a->arena, a->trial.allowed, NULL),
        CUPEL_OK);
}

static cupel_discerned ask(asking *a, cupel_scoreboard *board) {
    assert_int_equal(cupel_discern(&a->trial, &a->bindings, &a->rules, board, NULL), CUPEL_OK);
    return a->trial.discerned;
}

typedef struct row {
    const char *output, *ensures;
    cupel_pattern pattern;
    double amplitude;
    int64_t n, order, sums; /* -1: some */
} row;

static const row rows[] = {
    {"f32[1]", "reshape(sum(x), [1])", CUPEL_PATTERN_ONE, 0, 64, 0, 0}, /* exact in any accumulator */
    {"f32[1]", "reshape(sum(x), [1])", CUPEL_PATTERN_CONSTANT, 1000.25, 64, 0, 1},
    {"f32[1]", "reshape(sum(x), [1])", CUPEL_PATTERN_CONSTANT, 1000.25, 1, 0, 1}, /* a term is rounded too */
    {"f32[N]", "x * 3", CUPEL_PATTERN_NORMAL, 1, 64, 0, 0},
    {"f32[N]", "cumsum(x, axis=0)", CUPEL_PATTERN_ONE, 0, 9, 8, 0}, /* all but the middle one */
    {"f32[N]", "cumsum(x, axis=0)", CUPEL_PATTERN_ZERO, 0, 9, 0, 0},
    {"f32[N]", "cumsum(x, axis=0)", CUPEL_PATTERN_NORMAL, 1, 64, -1, -1},
    {"i64[1]", "reshape(argmax(x), [1])", CUPEL_PATTERN_ONE, 0, 9, 1, 0}, /* a tie */
    {"i64[1]", "reshape(argmax(x), [1])", CUPEL_PATTERN_NORMAL, 1, 9, 0, 0},
    {"i64[1]", "reshape(argmax(x), [1])", CUPEL_PATTERN_ONE, 0, 1, 0, 0},
};

static void expect(const row *r, const char *what, int64_t expected, int64_t found) {
    if (expected < 0 ? found <= 0 : found != expected)
        fail_msg("%s of %d: %s: expected %d, found %d", r->ensures, (int)r->n, what, (int)expected,
                 (int)found);
}

static void cases_tell_apart_what_they_can(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        asking a;
        start(&a, rows[i].output, rows[i].ensures, rows[i].pattern, rows[i].amplitude, rows[i].n);
        const cupel_discerned found = ask(&a, &a.board);
        expect(&rows[i], "order", rows[i].order, found.order);
        expect(&rows[i], "sums", rows[i].sums, found.sums);
        cupel_arena_free(a.arena);
    }
}

static void only_a_sample_is_asked(void **state) {
    (void)state;
    asking a;
    start(&a, "f32[N]", "cumsum(x, axis=0)", CUPEL_PATTERN_NORMAL, 1, 64);
    cupel_discerned found = ask(&a, NULL); /* no search */
    assert_int_equal(found.order + found.sums, 0);
    a.board.gates[CUPEL_GATE_ORD_03].cases = CUPEL_DISCERN_CASES;
    found = ask(&a, &a.board);
    assert_true(found.order == 0 && found.sums > 0); /* the other gate still wants some */
    a.board.gates[CUPEL_GATE_PRC_02].cases = CUPEL_DISCERN_CASES;
    found = ask(&a, &a.board);
    assert_int_equal(found.order + found.sums, 0);
    cupel_arena_free(a.arena);
}

static void work_is_bounded(void **state) {
    (void)state;
    asking a;
    start(&a, "f32[N]", "cumsum(x, axis=0)", CUPEL_PATTERN_NORMAL, 1, 64);
    (void)ask(&a, &a.board);
    assert_true(a.board.discerned >= 2 * 64 && a.board.discerned < 10 * 64);
    a.board.discerned = 20000000; /* as much as there is, and more */
    cupel_discerned found = ask(&a, &a.board);
    assert_int_equal(found.order + found.sums, 0);
    a.board.elements = 40000000; /* a large search may do more */
    found = ask(&a, &a.board);
    assert_true(found.order > 0);
    cupel_arena_free(a.arena);
    start(&a, "f32[N]", "cumsum(x, axis=0)", CUPEL_PATTERN_ONE, 0, 1 << 20);
    assert_true(cupel_shadow_cost(a.trial.graph) > 1e6);
    cupel_arena_free(a.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases_tell_apart_what_they_can),
                                       cmocka_unit_test(only_a_sample_is_asked),
                                       cmocka_unit_test(work_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
