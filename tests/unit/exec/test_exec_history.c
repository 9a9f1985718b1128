/* Earlier calls of a run on the emulator: what device variables keep, what is put back, and when the host's
 * code is given the benefit of the doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exec_fixture.h"
#include "schedule.h"

static void open_it(exec_fixture *x, const char *source) {
    static char text[8192];
    snprintf(text, sizeof text,
             "/* cupel: 1\nid: k\ndims: {N: 1..4096}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
             "ensures: {y: \"x\"}\nkernel:\n  entry: k\n  args: [x, y, N]\n  grid: [\"ceil_div(N, 64)\"]\n"
             "  block: [64]\n*/\n%s",
             source);
    if (exec_fixture_open(x, text, 0) != CUPEL_OK)
        fail_msg("%s:%d: %s", x->err.file, x->err.line, x->err.text);
}

/* What the kernel adds to x, the same for all elements, after a history. */
static float added(exec_fixture *x, cupel_history history, uint64_t schedule) {
    x->recipe.history = history;
    x->history = true;
    exec_fixture_run(x, schedule, CUPEL_POISON_FINITE);
    if (x->seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s", x->seen.text);
    const float *y = exec_fixture_output(x, "y"), *v = x->c->tensors[0].values;
    for (int i = 1; i < (int)x->c->tensors[0].count; i++) assert_true(y[i] - v[i] == y[0] - v[0]);
    return y[0] - v[0];
}

/* What the kernel does by N, so that one compilation serves all: one block each. */
enum { COUNTS = 60, REMEMBERS_BY_ADDRESS, TRAPS, KEEPS_A_POINTER, KEEPS_N };

#define KERNEL                                                                                               \
    "__device__ int calls, size;\n__device__ const float *seen;\n__device__ float first, *kept;\n"           \
    "__global__ void k(const float *x, float *y, int n) {\n"                                                 \
    "    int i = threadIdx.x, before = calls;\n"                                                             \
    "    __shared__ float s[64];\n"                                                                          \
    "    if (i < n) y[i] = x[i];\n"                                                                          \
    "    if (n == 60) {\n"                                                                                   \
    "        s[i] = 1;\n" /* and read by others before a barrier: the canonical run is made twice */         \
    "        if (i < n) y[i] += before + (s[i ^ 1] > 9);\n"                                                  \
    "        __syncthreads();\n"                                                                             \
    "        if (i == 0) calls = before + 1;\n"                                                              \
    "    }\n"                                                                                                \
    "    if (n == 61) {\n"                                                                                   \
    "        if (i == 0 && seen != x) first = x[0], seen = x;\n"                                             \
    "        __syncthreads();\n"                                                                             \
    "        if (i < n) y[i] += first - x[0];\n"                                                             \
    "    }\n"                                                                                                \
    "    if (n % 32 == 0) {\n"                                                                               \
    "        if (i == 0 && blockIdx.x == 0 && !size) size = n;\n"                                            \
    "        __syncthreads();\n"                                                                             \
    "        if (n == 64) y[i] += size;\n"                                                                   \
    "    }\n"                                                                                                \
    "    if (n == 62 && i < n && x[i] != 0) __trap();\n"                                                     \
    "    if (n == 63 && i == 0 && !kept) kept = y;\n"                                                        \
    "    if (n == 63 && i == 0) kept[0] = x[0];\n}\n"

static void variables_stay_from_call_to_call_and_not_longer(void **state) {
    exec_fixture *x = *state;
    exec_fixture_dim(x, "N", COUNTS);
    for (uint64_t n = 0; n < 2; n++) {
        uint64_t schedule = cupel_schedule_nth(4 * n); /* canonical, abreast */
        for (int turn = 0; turn < 2; turn++) {
            assert_true(added(x, CUPEL_HISTORY_NONE, schedule) == 0);
            assert_true(added(x, CUPEL_HISTORY_REPEAT, schedule) == 1);
            assert_true(added(x, CUPEL_HISTORY_OTHER_VALUES, schedule) == 1);
            assert_true(added(x, CUPEL_HISTORY_OTHER_BUFFERS, schedule) == 1);
            for (x->recipe.calls = 2; x->recipe.calls <= CUPEL_CALLS_MAX; x->recipe.calls += 3)
                assert_true(added(x, CUPEL_HISTORY_REPEAT, schedule) == x->recipe.calls);
            x->recipe.calls = 0;
        }
    }
    x->recipe.history = CUPEL_HISTORY_REPEAT;
    x->history = false; /* the recipe has a history, the run is a plain one */
    exec_fixture_run(x, 0, CUPEL_POISON_NAN);
    assert_true(*(const float *)exec_fixture_output(x, "y") == *(const float *)x->c->tensors[0].values);
}

/* Whoever sets variables through the host is not accused by what stays in them. */
static void what_the_host_can_set_is_put_back(void **state) {
    (void)state;
    exec_fixture x;
    open_it(&x, KERNEL "void reset() { int zero = 0; cudaMemcpyToSymbol(calls, &zero, sizeof zero); }\n");
    exec_fixture_dim(&x, "N", COUNTS);
    assert_true(added(&x, CUPEL_HISTORY_REPEAT, 0) == 0);
    exec_fixture_close(&x);
}

static void addresses_are_the_same_or_others(void **state) {
    exec_fixture *x = *state;
    exec_fixture_dim(x, "N", REMEMBERS_BY_ADDRESS);
    x->recipe.tensors[0].pattern = CUPEL_PATTERN_CONSTANT;
    x->recipe.tensors[0].amplitude = 50;
    assert_true(added(x, CUPEL_HISTORY_NONE, 0) == 0);
    assert_true(added(x, CUPEL_HISTORY_REPEAT, 0) == 0);
    assert_true(added(x, CUPEL_HISTORY_OTHER_VALUES, 0) != 0);
    assert_true(added(x, CUPEL_HISTORY_OTHER_BUFFERS, 0) == 0);
}

/* A variable that keeps the N of the first call, of which the last is the smaller one. */
static void calls_of_other_shapes_are_made(void **state) {
    exec_fixture *x = *state;
    exec_fixture_dim(x, "N", KEEPS_N);
    assert_true(added(x, CUPEL_HISTORY_NONE, 0) == KEEPS_N);
    assert_true(added(x, CUPEL_HISTORY_OTHER_VALUES, 0) == KEEPS_N);
    assert_true(added(x, CUPEL_HISTORY_OTHER_SHAPE, 0) == KEEPS_N / 2);
    x->recipe.calls = 2;
    assert_true(added(x, CUPEL_HISTORY_OTHER_SHAPE, 0) == 2 * KEEPS_N);
    x->recipe.calls = 0;
}

static void expect_fault(exec_fixture *x, cupel_history history, cupel_fault fault, const char *text) {
    x->recipe.history = history;
    x->history = true;
    exec_fixture_run(x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x->seen.outcome, CUPEL_RUN_FAULT);
    assert_int_equal(x->seen.fault, fault);
    if (strstr(x->seen.text, text) == NULL) fail_msg("expected '%s', found '%s'", text, x->seen.text);
    x->recipe.history = CUPEL_HISTORY_NONE;
    exec_fixture_run(x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x->seen.outcome, CUPEL_RUN_FINISHED);
}

static void faults_say_in_which_call(void **state) {
    exec_fixture *x = *state;
    exec_fixture_dim(x, "N", TRAPS);
    x->recipe.tensors[0].pattern = CUPEL_PATTERN_ZERO;
    expect_fault(x, CUPEL_HISTORY_OTHER_VALUES, CUPEL_FAULT_ASSERT, "in an earlier call: ");
    expect_fault(x, CUPEL_HISTORY_OTHER_BUFFERS, CUPEL_FAULT_ASSERT, "in an earlier call: ");
    exec_fixture_dim(x, "N", KEEPS_A_POINTER);
    expect_fault(x, CUPEL_HISTORY_OTHER_BUFFERS, CUPEL_FAULT_OUT_OF_BOUNDS, "outside of all memory");
}

static int setup(void **state) {
    static exec_fixture x;
    open_it(&x, KERNEL);
    *state = &x;
    return 0;
}

static int teardown(void **state) {
    exec_fixture_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_stay_from_call_to_call_and_not_longer),
        cmocka_unit_test(what_the_host_can_set_is_put_back),
        cmocka_unit_test(addresses_are_the_same_or_others),
        cmocka_unit_test(calls_of_other_shapes_are_made),
        cmocka_unit_test(faults_say_in_which_call),
    };
    return cmocka_run_group_tests_name("history", tests, setup, teardown);
}
