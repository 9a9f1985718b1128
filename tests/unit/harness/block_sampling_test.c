/* Cases of which blocks are left out: which ones they are, that elements nobody stored are not judged and not
 * counted, and that whatever is suspicious is run whole before it is said. */
#include "block_sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trial.h"

enum { N = 40, RUN_FIRST = 10, RUN_LAST = 19 }; /* a sampled run stores these elements */

typedef struct world {
    cupel_arena *arena, *contract_arena;
    cupel_contract *contract;
    cupel_recipe recipe;
    cupel_block_sampling sampling;
    cupel_scoreboard board;
    cupel_trial trial;
    cupel_error err;
    /* what the kernel does */
    int64_t wrong;   /* this element; -1: none */
    bool declines;   /* all blocks are run whatever is asked */
    bool faults;     /* while blocks are left out */
    bool second_own; /* ... only the second run has all blocks */
    int runs, sampled_runs;
} world;

static bool is_run(int64_t i, bool sampled) {
    return !sampled || (i >= RUN_FIRST && i <= RUN_LAST);
}

static cupel_code run(void *self, const cupel_case *c, const cupel_run_request *request, cupel_arena *arena,
                      cupel_observation *out, cupel_error *err) {
    (void)err;
    world *w = self;
    const bool second = request->poison == CUPEL_POISON_FINITE;
    const bool sampled = request->sample && !w->declines && !(w->second_own && second);
    w->runs++;
    w->sampled_runs += sampled;
    out->outcome = w->faults && sampled ? CUPEL_RUN_FAULT : CUPEL_RUN_FINISHED;
    out->fault = w->faults && sampled ? CUPEL_FAULT_HANG : CUPEL_FAULT_NONE;
    out->blocks_left_out = sampled;
    out->buffer_count = c->buffer_count;
    for (int b = 0; b < c->buffer_count; b++) {
        out->buffers[b].size = c->buffers[b].size;
        out->buffers[b].bytes = cupel_arena_alloc(arena, c->buffers[b].size + 1);
        cupel_case_image(c, b, request->poison, out->buffers[b].bytes);
    }
    const cupel_case_tensor *x = &c->tensors[0], *y = &c->tensors[1];
    cupel_buffer_after *to = &out->buffers[y->buffer];
    to->reached = cupel_arena_alloc(arena, to->size / 8 + 1);
    for (int64_t i = 0; i < y->count; i++) {
        if (!is_run(i, sampled)) continue;
        const float value = ((const float *)x->values)[i] + (i == w->wrong ? 2 : 1);
        const int64_t at = y->offset + i * y->stride[0] * (int64_t)sizeof value;
        memcpy(to->bytes + at, &value, sizeof value);
        for (int64_t b = at; b < at + 4; b++) to->reached[b >> 3] |= (uint8_t)(1u << (b & 7));
    }
    return CUPEL_OK;
}

static void start(world *w, const char *more) {
    char text[1024];
    cupel_contracts contracts;
    memset(w, 0, sizeof *w);
    w->wrong = -1;
    w->arena = cupel_arena_create(0);
    w->contract_arena = cupel_arena_create(0);
    snprintf(text, sizeof text,
             "cupel: 1\nid: t\ndims: {N: 1..64}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
             "ensures: {y: \"x + 1\"}\nsource: {file: t.cu}\n%s",
             more);
    if (cupel_contracts_parse("t.yaml", text, strlen(text), true, w->contract_arena, &contracts, &w->err) !=
        CUPEL_OK)
        fail_msg("%s", w->err.text);
    w->contract = contracts.items[0];
    assert_int_equal(cupel_recipe_simple(w->contract, &w->recipe, &w->err), CUPEL_OK);
    w->recipe.dims[0] = N;
    w->recipe.tensors[0].pattern = CUPEL_PATTERN_UNIFORM;
    w->recipe.tensors[0].amplitude = 2;
}

static const char one_launch[] = "kernel: {entry: k, args: [x, y, N], grid: [1], block: [32]}\n";

static void stop(world *w) {
    cupel_arena_free(w->arena);
    cupel_arena_free(w->contract_arena);
}

static void try_once(world *w) {
    const cupel_runner runner = {.self = w,
                                 .checks_addresses = true,
                                 .sees_atomics = true,
                                 .permutes_schedules = true,
                                 .run = run,
                                 .sampling = &w->sampling};
    w->runs = w->sampled_runs = 0;
    memset(&w->board, 0, sizeof w->board);
    cupel_arena_reset(w->arena);
    if (cupel_trial_run(w->contract, &w->recipe, &runner, CUPEL_FILTER, w->arena, &w->board, &w->trial,
                        &w->err) != CUPEL_OK)
        fail_msg("%s", w->err.text);
}

static uint64_t draw(world *w) {
    cupel_case *c;
    assert_int_equal(cupel_case_materialise(w->contract, &w->recipe, w->arena, &c, &w->err), CUPEL_OK);
    return cupel_block_sampling_draw(&w->sampling, c);
}

/* The next seed of values with which the case is sampled. */
static void find_sampled(world *w) {
    draw(w);
    for (int tries = 0; tries < 64; tries++) {
        if (draw(w)) return;
        w->recipe.tensors[0].seed++;
    }
    fail_msg("no case is sampled");
}

static void which_cases(void **state) {
    (void)state;
    world w;
    int sampled = 0;
    start(&w, one_launch);
    assert_int_equal(draw(&w), 0); /* the first of its size */
    for (unsigned i = 0; i < 400; i++) {
        w.recipe.tensors[0].seed = i;
        const uint64_t seed = draw(&w);
        assert_true(draw(&w) == seed); /* by the recipe alone */
        sampled += seed != 0;
    }
    assert_in_range(sampled, 260, 340);
    w.recipe.dims[0] = 20;
    assert_int_equal(draw(&w), 0);
    w.recipe.dims[0] = N;
    find_sampled(&w);
    w.recipe.history = CUPEL_HISTORY_REPEAT;
    w.recipe.calls = 1;
    for (unsigned i = 0; i < 32; i++) {
        w.recipe.tensors[0].seed = i;
        assert_int_equal(draw(&w), 0);
    }
    stop(&w);
    start(&w, "kernel:\n  - {entry: k, args: [x, y, N], grid: [1], block: [32]}\n"
              "  - {entry: k, args: [x, y, N], grid: [1], block: [32]}\n");
    for (unsigned i = 0; i < 32; i++) {
        w.recipe.tensors[0].seed = i;
        assert_int_equal(draw(&w), 0);
    }
    stop(&w);
}

static void what_is_not_run_is_not_judged(void **state) {
    (void)state;
    world w;
    start(&w, one_launch);
    find_sampled(&w);
    try_once(&w);
    assert_int_equal(w.runs, 2);
    assert_int_equal(w.sampled_runs, 2);
    assert_int_equal(w.trial.judged.finding_count, 0);
    assert_int_equal(w.board.sampled, 1);
    assert_int_equal(w.board.cases, 1);
    const int64_t left = RUN_LAST - RUN_FIRST + 1;
    assert_int_equal(w.trial.allowed[0].judged, left);
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(w.trial.allowed[0].reasons[i],
                         is_run(i, true) ? CUPEL_REASON_JUDGED : CUPEL_REASON_NOT_RUN);
    assert_int_equal(w.board.gates[CUPEL_GATE_PRC_01].judged, left);
    assert_int_equal(w.board.gates[CUPEL_GATE_PRC_01].considered, left);
    assert_int_equal(w.board.gates[CUPEL_GATE_RES_01].judged,
                     4 + N + left); /* guards, inputs, what was run */
    assert_int_equal(cupel_output_considered(&w.board.outputs[1]), left);
    assert_false(w.board.strawmen.known[1]); /* poison is no earlier output */
    w.wrong = 3;                             /* is not run */
    try_once(&w);
    assert_int_equal(w.trial.judged.finding_count, 0);
    stop(&w);
}

static void expect_whole(world *w, int findings, int runs, int sampled_runs) {
    try_once(w);
    assert_int_equal(w->trial.judged.finding_count, findings);
    assert_int_equal(w->runs, runs);
    assert_int_equal(w->sampled_runs, sampled_runs);
    assert_int_equal(w->trial.run_count, 2);
    assert_int_equal(w->trial.allowed[0].judged, N);
    assert_int_equal(w->board.sampled, 0);
    assert_int_equal(w->board.cases, 1);
    assert_int_equal(w->board.gates[CUPEL_GATE_PRC_01].cases, 1);
    assert_int_equal(w->board.gates[CUPEL_GATE_PRC_01].judged, N);
    for (int r = 0; r < 2; r++) assert_false(w->trial.runs[r].observation->blocks_left_out);
}

static void suspicions_are_run_whole(void **state) {
    (void)state;
    world w;
    start(&w, one_launch);
    find_sampled(&w);
    w.wrong = RUN_FIRST + 2;
    expect_whole(&w, 1, 4, 2);
    assert_int_equal(w.board.gates[CUPEL_GATE_CMP_01].failures + w.board.gates[CUPEL_GATE_CMP_03].failures,
                     1);
    w.wrong = -1;
    w.faults = true; /* only where blocks are missing: nobody's fault */
    expect_whole(&w, 0, 3, 1);
    w.faults = false;
    w.second_own = true; /* runs of different blocks are not compared */
    expect_whole(&w, 0, 4, 1);
    w.second_own = false;
    w.declines = true;
    expect_whole(&w, 0, 2, 0);
    stop(&w);
}

/* Where most sampled cases are run twice, sampling costs more than it saves. */
static void waste_ends_it(void **state) {
    (void)state;
    world w;
    start(&w, one_launch);
    find_sampled(&w);
    w.wrong = RUN_FIRST;
    for (int i = 0; i < 64; i++) try_once(&w);
    assert_int_equal(w.sampled_runs, 0);
    stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_cases),
        cmocka_unit_test(what_is_not_run_is_not_judged),
        cmocka_unit_test(suspicions_are_run_whole),
        cmocka_unit_test(waste_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
