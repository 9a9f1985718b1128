/* The shadow executor: what it returns without a fault is what the shadow returns, and each misdeed does what
 * it says and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../contract/contract_text.h"
#include "exec_shadow.h"

enum { N = 70 };

typedef struct fixture {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_recipe recipe;
    cupel_case *c;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    *state = f;
    f->arena = cupel_arena_create(0);
    f->contract =
        contract_of(f->arena, "cupel: 1\nid: t\ndims: {N: 1..100}\ntypes: {T: [f32, f16]}\n"
                              "inputs: {x: \"T[N]\"}\noutputs: {y: \"T[N]\"}\n"
                              "ensures: {y: \"where(x > 1000, x + 0.5, keep)\"}\nsource: {file: k.cu}\n"
                              "kernel: {entry: k, args: [x, y, N], grid: [1], block: [64]}\n");
    if (cupel_recipe_simple(f->contract, &f->recipe, NULL) != CUPEL_OK) return -1;
    f->recipe.dims[0] = N;
    f->recipe.tensors[0].pattern = CUPEL_PATTERN_CONSTANT;
    f->recipe.tensors[0].amplitude = 2001;
    f->recipe.tensors[0].edits[0] = (cupel_edit){.index = 3}; /* 0: left as it was */
    f->recipe.tensors[0].edit_count = 1;
    return cupel_recipe_repair(f->contract, &f->recipe, 1 << 20, NULL) == CUPEL_OK &&
                   cupel_case_materialise(f->contract, &f->recipe, f->arena, &f->c, NULL) == CUPEL_OK
               ? 0
               : -1;
}

static int teardown(void **state) {
    fixture *f = *state;
    cupel_arena_free(f->arena);
    free(f);
    return 0;
}

static cupel_observation *observed(fixture *f, cupel_misdeed misdeed, cupel_run_request request) {
    const cupel_stand_in stand_in = {.misdeed = misdeed};
    const cupel_executor_options options = {.stand_in = &stand_in};
    cupel_executor *executor;
    cupel_error err = {0};
    cupel_observation *out = cupel_arena_alloc(f->arena, sizeof *out);
    assert_int_equal(cupel_executor_open(cupel_executor_shadow(), f->contract, &options, &executor, &err),
                     CUPEL_OK);
    if (cupel_executor_run(executor, f->c, &request, f->arena, out, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
    cupel_executor_close(executor);
    assert_int_equal(out->outcome, CUPEL_RUN_FINISHED);
    return out;
}

static const float *result(const fixture *f, const cupel_observation *out) {
    return (const float *)(const void *)out->buffers[f->c->tensors[1].buffer].bytes;
}

static const cupel_run_request plain = {.poison = CUPEL_POISON_FINITE};

static void without_a_misdeed_it_is_the_shadow(void **state) {
    fixture *f = *state;
    const cupel_observation *out = observed(f, CUPEL_MISDEED_NO_MISDEED, plain);
    const float *y = result(f, out);
    float before[N];
    cupel_case_image(f->c, f->c->tensors[1].buffer, CUPEL_POISON_FINITE, before);
    for (int i = 0; i < N; i++) assert_true(i == 3 ? y[i] == before[i] : y[i] == 2001.5F);
    assert_false(out->buffers[0].guard_after_damaged);
    assert_false(out->buffers[1].guard_after_damaged);
    assert_memory_equal(out->buffers[f->c->tensors[0].buffer].bytes, f->c->tensors[0].values,
                        N * sizeof(float));
}

static void results_are_spoilt(void **state) {
    fixture *f = *state;
    const float *y = result(f, observed(f, CUPEL_MISDEED_SCALED, plain));
    assert_true(y[0] == 1.5F * 2001.5F && y[N - 1] == 1.5F * 2001.5F);
    y = result(f, observed(f, CUPEL_MISDEED_TAIL_CLEARED, plain));
    assert_true(y[63] == 2001.5F && y[64] == 0 && y[N - 1] == 0);
    y = result(f, observed(f, CUPEL_MISDEED_COARSE_TYPE, plain));
    assert_true(y[0] == 2001.5F); /* the first type keeps its digits */
    y = result(f, observed(f, CUPEL_MISDEED_LAST_UNWRITTEN, plain));
    assert_true(y[N - 2] == 2001.5F && y[N - 1] != 2001.5F);
}

static void other_types_lose_digits(void **state) {
    fixture *f = *state;
    f->recipe.types[0] = 1;
    assert_int_equal(cupel_case_materialise(f->contract, &f->recipe, f->arena, &f->c, NULL), CUPEL_OK);
    const cupel_observation *right = observed(f, CUPEL_MISDEED_NO_MISDEED, plain);
    const cupel_observation *wrong = observed(f, CUPEL_MISDEED_COARSE_TYPE, plain);
    const int y = f->c->tensors[1].buffer;
    const double a = cupel_decode(CUPEL_F16, right->buffers[y].bytes),
                 b = cupel_decode(CUPEL_F16, wrong->buffers[y].bytes);
    assert_true(a != b && b > 0.9 * a && b < a);
}

static void schedules_and_earlier_calls_show(void **state) {
    fixture *f = *state;
    cupel_run_request other = plain;
    other.schedule = 5;
    assert_true(result(f, observed(f, CUPEL_MISDEED_BY_SCHEDULE, plain))[0] == 2001.5F);
    assert_true(result(f, observed(f, CUPEL_MISDEED_BY_SCHEDULE, other))[0] != 2001.5F);
    f->recipe.history = CUPEL_HISTORY_OTHER_VALUES;
    f->recipe.calls = 1;
    f->recipe.tensors[0].edit_count = 0;
    assert_int_equal(cupel_case_materialise(f->contract, &f->recipe, f->arena, &f->c, NULL), CUPEL_OK);
    other = plain;
    other.history = true;
    assert_true(result(f, observed(f, CUPEL_MISDEED_FIRST_CALL, plain))[0] == 2001.5F);
    assert_true(result(f, observed(f, CUPEL_MISDEED_FIRST_CALL, other))[0] != 2001.5F);
}

static void stray_stores_show(void **state) {
    fixture *f = *state;
    const int x = f->c->tensors[0].buffer, y = f->c->tensors[1].buffer;
    const cupel_observation *out = observed(f, CUPEL_MISDEED_PAST_END, plain);
    assert_true(out->buffers[y].guard_after_damaged);
    assert_false(out->buffers[x].guard_after_damaged);
    out = observed(f, CUPEL_MISDEED_INPUT_CHANGED, plain);
    assert_memory_not_equal(out->buffers[x].bytes, f->c->tensors[0].values, N * sizeof(float));
}

static void it_needs_a_shadow(void **state) {
    fixture *f = *state;
    cupel_executor *executor;
    const cupel_executor_options options = {0};
    assert_int_equal(cupel_executor_open(cupel_executor_shadow(), f->contract, &options, &executor, NULL),
                     CUPEL_UNSUPPORTED);
    for (int m = 0; m < CUPEL_MISDEED_COUNT; m++) {
        assert_true(strlen(cupel_misdeed_name((cupel_misdeed)m)) > 0);
        assert_true(strlen(cupel_misdeed_sentence((cupel_misdeed)m)) > 0);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(without_a_misdeed_it_is_the_shadow), TEST(results_are_spoilt), TEST(other_types_lose_digits),
        TEST(schedules_and_earlier_calls_show),   TEST(stray_stores_show),  TEST(it_needs_a_shadow)};
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
