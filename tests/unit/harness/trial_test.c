/* A trial with a runner that is a plain function, and with oracles that are made to disagree (the linker
 * wraps the bounded one). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"
#include "trial.h"

/* Added to every value of the bounded oracle, and to both ends of its interval. */
static double shift;

cupel_code __real_cupel_oracle_bounded(const cupel_graph *graph, const cupel_bindings *bindings,
                                       const cupel_rules *rules, cupel_arena *arena, cupel_allowed *outputs,
                                       cupel_error *err);
cupel_code __wrap_cupel_oracle_bounded(const cupel_graph *graph, const cupel_bindings *bindings,
                                       const cupel_rules *rules, cupel_arena *arena, cupel_allowed *outputs,
                                       cupel_error *err);

static int bounded_calls;

cupel_code __wrap_cupel_oracle_bounded(const cupel_graph *graph, const cupel_bindings *bindings,
                                       const cupel_rules *rules, cupel_arena *arena, cupel_allowed *outputs,
                                       cupel_error *err) {
    bounded_calls++;
    CUPEL_TRY(__real_cupel_oracle_bounded(graph, bindings, rules, arena, outputs, err));
    for (int64_t i = 0; i < outputs[0].count; i++)
        outputs[0].value[i] += shift, outputs[0].lo[i] += shift, outputs[0].hi[i] += shift;
    return CUPEL_OK;
}

#define SCHEDULE ((uint64_t)CUPEL_SCHEDULE_REVERSE << 56)

typedef struct act {
    cupel_outcome outcome[8]; /* per run */
    double offset;            /* added to every right result */
    int64_t only;             /* ... of this element; -1: of all */
    bool poisoned_second;     /* run 2 differs by its poison */
    double after_calls;       /* added after an earlier call */
    double fifth;             /* added in the fifth run */
    int runs;
    uint64_t schedules[8];
    bool histories[8];
    cupel_poison poisons[8];
} act;

static void compute(const cupel_case *c, const act *a, cupel_poison poison, unsigned char *bytes) {
    const cupel_case_tensor *x = &c->tensors[0], *y = &c->tensors[1];
    for (int64_t i = 0; i < y->count; i++) {
        size_t size = cupel_format_of(y->type)->size;
        double value = cupel_decode(x->type, (const char *)x->values + (size_t)i * size) + 1;
        if (a->only < 0 || a->only == i) value += a->offset;
        if (a->poisoned_second && poison == CUPEL_POISON_FINITE) value += 1;
        if (a->histories[a->runs - 1]) value += a->after_calls;
        if (a->runs == 5) value += a->fifth;
        cupel_encode(y->type, value, bytes + y->offset + (int64_t)size * i * y->stride[0]);
    }
}

static cupel_code run(void *self, const cupel_case *c, const cupel_run_request *request, cupel_arena *arena,
                      cupel_observation *out, cupel_error *err) {
    (void)err;
    act *a = self;
    const cupel_poison poison = request->poison;
    a->schedules[a->runs] = request->schedule;
    a->histories[a->runs] = request->history;
    a->poisons[a->runs] = poison;
    out->outcome = a->outcome[a->runs++];
    if (out->outcome == CUPEL_RUN_FAULT) out->fault = CUPEL_FAULT_HANG;
    strcpy(out->text, "as told");
    out->buffer_count = c->buffer_count;
    for (int b = 0; b < c->buffer_count; b++) {
        out->buffers[b].size = c->buffers[b].size;
        out->buffers[b].bytes = cupel_arena_alloc(arena, c->buffers[b].size + 1);
        cupel_case_image(c, b, poison, out->buffers[b].bytes);
    }
    compute(c, a, poison, out->buffers[c->tensors[1].buffer].bytes);
    return CUPEL_OK;
}

typedef struct world {
    cupel_arena *arena, *contract_arena;
    cupel_contract *contract;
    cupel_recipe recipe;
    cupel_runner runner;
    act act;
    cupel_scoreboard board;
    cupel_trial trial;
    cupel_error err;
} world;

static void start(world *w, const char *type, const char *more) {
    char text[1024];
    cupel_contracts contracts;
    memset(w, 0, sizeof *w);
    shift = 0;
    bounded_calls = 0;
    w->act.only = -1;
    w->arena = cupel_arena_create(0);
    w->contract_arena = cupel_arena_create(0);
    snprintf(text, sizeof text,
             "cupel: 1\nid: t\ndims: {N: 1..64}\ninputs: {x: \"%s[N]\"}\noutputs: {y: \"%s[N]\"}\n"
             "ensures: {y: \"x + 1\"}\nsource: {file: t.so}\nkernel: {symbol: f, args: [x, y, N]}\n%s",
             type, type, more);
    cupel_code code =
        cupel_contracts_parse("t.yaml", text, strlen(text), true, w->contract_arena, &contracts, &w->err);
    if (code != CUPEL_OK) print_message("%s\n", w->err.text);
    assert_int_equal(code, CUPEL_OK);
    w->contract = contracts.items[0];
    assert_int_equal(cupel_recipe_simple(w->contract, &w->recipe, &w->err), CUPEL_OK);
    w->recipe.dims[0] = 10;
    w->recipe.schedule = SCHEDULE;
    w->recipe.tensors[0].pattern = CUPEL_PATTERN_UNIFORM;
    w->recipe.tensors[0].amplitude = 2;
    w->runner = (cupel_runner){.self = &w->act,
                               .checks_addresses = true,
                               .sees_atomics = true,
                               .permutes_schedules = true,
                               .run = run};
}

static cupel_code try(world *w, cupel_confirmation confirmation) {
    w->act.runs = 0;
    memset(&w->board, 0, sizeof w->board);
    return cupel_trial_run(w->contract, &w->recipe, &w->runner, confirmation, w->arena, &w->board, &w->trial,
                           &w->err);
}

static void stop(world *w) {
    cupel_arena_free(w->arena);
    cupel_arena_free(w->contract_arena);
}

static void right_results_take_two_runs(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 0);
    assert_int_equal(w.act.runs, 2);
    assert_int_equal(w.act.schedules[0], 0);
    assert_int_equal(w.act.poisons[0], CUPEL_POISON_NAN);
    assert_int_equal(w.act.schedules[1], SCHEDULE);
    assert_int_equal(w.act.poisons[1], CUPEL_POISON_FINITE);
    assert_int_equal(w.board.cases, 1);
    assert_int_equal(w.board.gates[CUPEL_GATE_PRC_01].judged, 10);
    w.runner.permutes_schedules = false; /* no other schedule to ask for */
    assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_OK);
    assert_int_equal(w.act.schedules[1], 0);
    stop(&w);
}

static void wrong_results_are_certified(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    w.act.offset = 0.5;
    w.act.only = 7;
    assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    assert_false(w.trial.judged.findings[0].certified);
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    const cupel_finding *finding = cupel_trial_finding(&w.trial, "wrong-value-y");
    assert_non_null(finding);
    assert_true(finding->certified);
    assert_int_equal(finding->index, 7);
    assert_true(fabs(finding->got - finding->exact.value - 0.5) < 1e-6);
    assert_true(finding->steps > 1000);
    stop(&w);
}

/* The bounded oracle is wrong, the candidate is right: suspected by the filter, never reported. */
static void disagreement_of_oracles_is_never_reported(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    shift = 0.5;
    assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 0);
    assert_int_equal(w.trial.unconfirmed, 1);
    stop(&w);
}

/* Among the worst elements by the bounded oracle only the last is really wrong: it is found, and becomes the
 * example. */
static void later_elements_are_tried(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    w.recipe.tensors[0].pattern = CUPEL_PATTERN_CONSTANT; /* equal radii, none of them zero */
    w.recipe.tensors[0].amplitude = 0.1;
    shift = 0.5;
    w.act.only = 7;
    w.act.offset = 0.499; /* nearest to the shifted interval, so the last of the suspects; eight are kept */
    w.recipe.dims[0] = 8;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    assert_int_equal(w.trial.judged.findings[0].index, 7);
    w.recipe.dims[0] = 20; /* beyond eight elements it stays unconfirmed */
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 0);
    assert_int_equal(w.trial.unconfirmed, 1);
    stop(&w);
}

static void differing_bytes_cost_the_crossed_runs(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    w.act.poisoned_second = true;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.act.runs, 4);
    assert_int_equal(w.act.schedules[2], 0);
    assert_int_equal(w.act.poisons[2], CUPEL_POISON_FINITE);
    assert_int_equal(w.act.schedules[3], SCHEDULE);
    assert_int_equal(w.act.poisons[3], CUPEL_POISON_NAN);
    assert_int_equal(w.trial.judged.finding_count, 1);
    assert_int_equal(w.trial.judged.findings[0].kind, CUPEL_FINDING_STRAY_READ);
    assert_true(w.trial.judged.findings[0].certified); /* the exact value, for the reader */
    assert_int_equal(w.board.gates[CUPEL_GATE_RES_01].cases, 1);
    stop(&w);
}

/* The recipe's history comes before the second run alone; where bytes differ, one more run each tells what
 * the schedule and what the earlier call does, or, where runs do not repeat, whether chance does it. */
static void an_earlier_call_belongs_to_the_second_run(void **state) {
    (void)state;
    static world w;
    static const struct {
        uint64_t schedule;
        bool history;
        cupel_poison poison;
    } fixed[] = {{0, false, CUPEL_POISON_NAN},           {SCHEDULE, true, CUPEL_POISON_FINITE},
                 {0, false, CUPEL_POISON_FINITE},        {SCHEDULE, true, CUPEL_POISON_NAN},
                 {SCHEDULE, false, CUPEL_POISON_FINITE}, {0, true, CUPEL_POISON_FINITE}};
    start(&w, "f32", "");
    w.recipe.history = CUPEL_HISTORY_OTHER_VALUES;
    w.act.after_calls = 1;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.act.runs, 6);
    for (int r = 0; r < 6; r++) {
        assert_int_equal(w.act.schedules[r], fixed[r].schedule);
        assert_int_equal(w.act.histories[r], fixed[r].history);
        assert_int_equal(w.act.poisons[r], fixed[r].poison);
    }
    assert_int_equal(w.trial.judged.finding_count, 1);
    const cupel_finding *finding = &w.trial.judged.findings[0];
    assert_int_equal(finding->kind, CUPEL_FINDING_HISTORY);
    assert_int_equal(finding->gate, CUPEL_GATE_ORD_02);
    assert_false(w.trial.runs[finding->run_a.index].history);
    assert_true(w.trial.runs[finding->run_b.index].history);
    w.runner.permutes_schedules = false;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.act.runs, 5);
    assert_false(w.act.histories[4]);
    assert_int_equal(w.act.poisons[4], CUPEL_POISON_NAN);
    assert_int_equal(w.trial.judged.findings[0].kind, CUPEL_FINDING_HISTORY);
    w.act.fifth = 2; /* by chance */
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.findings[0].kind, CUPEL_FINDING_NONDETERMINISM);
    stop(&w);
}

static void faults_end_the_trial_early(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    w.act.outcome[0] = CUPEL_RUN_FAULT;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.act.runs, 1);
    assert_int_equal(bounded_calls, 0);
    assert_int_equal(w.trial.judged.findings[0].kind, CUPEL_FINDING_FAULT);
    w.act.outcome[0] = CUPEL_RUN_FINISHED;
    w.act.outcome[1] = CUPEL_RUN_FAULT;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    assert_int_equal(w.board.gates[CUPEL_GATE_PRC_01].cases, 1); /* the first run is judged all the same */
    stop(&w);
}

static void what_is_not_supported_is_no_finding(void **state) {
    (void)state;
    static world w;
    for (int r = 0; r < 2; r++) {
        start(&w, "f32", "");
        w.act.outcome[r] = CUPEL_RUN_UNSUPPORTED;
        w.act.offset = 9;
        assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
        assert_true(w.trial.unsupported);
        assert_string_equal(w.trial.text, "as told");
        assert_int_equal(w.trial.judged.finding_count, 0);
        assert_int_equal(w.board.unsupported, 1);
        stop(&w);
    }
    start(&w, "f32", "");
    w.act.outcome[0] = CUPEL_RUN_NOT_STARTED;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_WORKER);
    stop(&w);
}

/* Outputs in f64 never rest on fp64 with a bound. */
static void double_outputs_are_exact(void **state) {
    (void)state;
    static world w;
    start(&w, "f64", "");
    assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_OK);
    assert_int_equal(bounded_calls, 0);
    assert_int_equal(w.trial.judged.finding_count, 0);
    assert_int_equal(w.board.gates[CUPEL_GATE_PRC_01].judged, 10);
    w.act.offset = 1e-12;
    assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    stop(&w);
}

static void stated_tolerances_replace_bounds(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "tolerance: {y: {abs: 1e-2, rel: 0}}\n");
    w.act.offset = 0.0099;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 0);
    w.act.offset = 0.0101;
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.finding_count, 1);
    assert_int_equal(w.trial.unconfirmed, 0);
    w.act.offset = NAN; /* no tolerance is wide enough */
    assert_int_equal(try(&w, CUPEL_CERTIFY), CUPEL_OK);
    assert_int_equal(w.trial.judged.findings[0].kind, CUPEL_FINDING_WRONG_CLASS);
    stop(&w);
}

/* x and y of 10 elements are 4 times 80 bytes, the oracle takes 2 x 17 and 34 an element more. */
static void what_is_too_large_is_refused_before_it_is_made(void **state) {
    (void)state;
    static world w;
    start(&w, "f32", "");
    w.runner.memory = 320 + 340 + 340;
    assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_OK);
    static const uint64_t short_of[] = {319, 999}; /* the tensors; the oracle */
    for (size_t i = 0; i < 2; i++) {
        w.runner.memory = short_of[i];
        assert_int_equal(try(&w, CUPEL_FILTER), CUPEL_UNSUPPORTED);
        assert_non_null(strstr(w.err.text, "tensors of the case need"));
        assert_int_equal(w.act.runs, 0);
        assert_int_equal(w.board.cases, 1);
        assert_int_equal(w.board.largest[0], 0);
    }
    stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_results_take_two_runs),
        cmocka_unit_test(wrong_results_are_certified),
        cmocka_unit_test(disagreement_of_oracles_is_never_reported),
        cmocka_unit_test(later_elements_are_tried),
        cmocka_unit_test(differing_bytes_cost_the_crossed_runs),
        cmocka_unit_test(an_earlier_call_belongs_to_the_second_run),
        cmocka_unit_test(faults_end_the_trial_early),
        cmocka_unit_test(what_is_not_supported_is_no_finding),
        cmocka_unit_test(double_outputs_are_exact),
        cmocka_unit_test(what_is_too_large_is_refused_before_it_is_made),
        cmocka_unit_test(stated_tolerances_replace_bounds),
    };
    return cmocka_run_group_tests_name("trial", tests, NULL, NULL);
}
