/* What a debugger's watch sees of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exec_fixture.h"

static const char source[] = "/* cupel: 1\n"
                             "id: watched\n"
                             "dims: {N: 1..64}\n"
                             "inputs: {x: \"f32[N]\"}\n"
                             "outputs: {y: \"f32[N]\"}\n"
                             "ensures: {y: x}\n"
                             "kernel: {entry: k, args: [x, y, N], grid: [1], block: [64]}\n"
                             "*/\n"
                             "__global__ void k(const float *x, float *y, int n) {\n"
                             "    int i = threadIdx.x;\n"
                             "    if (i >= n) return;\n"
                             "    y[i] = 1.0f;\n"
                             "    __syncthreads();\n"
                             "    y[i] += 1.0f;\n"
                             "    y[n - 1 - i] = 5.0f;\n"
                             "}\n";

static cupel_observation run(exec_fixture *x, cupel_watch *watch, bool debug) {
    cupel_executor_options options = {.cache = TEST_BINARY_DIR "/cache", .debug = debug, .watch = watch};
    cupel_executor *executor;
    cupel_observation seen = {0};
    cupel_error err = {0};
    exec_fixture_dim(x, "N", 8);
    assert_int_equal(cupel_case_materialise(x->contract, &x->recipe, x->case_arena, &x->c, NULL), CUPEL_OK);
    assert_int_equal(cupel_executor_open(cupel_executor_emu(), x->contract, &options, &executor, &err),
                     CUPEL_OK);
    if (cupel_executor_prepare(executor, &x->c->binding, &err) != CUPEL_OK) fail_msg("%s", err.text);
    cupel_run_request request = {.poison = CUPEL_POISON_NAN};
    assert_int_equal(cupel_executor_run(executor, x->c, &request, x->case_arena, &seen, &err), CUPEL_OK);
    cupel_executor_close(executor);
    return seen;
}

static float value_of(uint64_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void stores_are_counted_and_nothing_else_changes(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(exec_fixture_open(&x, source, 0), CUPEL_OK);
    for (int debug = 0; debug < 2; debug++) {
        cupel_watch none = {.tensor = -1}, third = {.tensor = 1, .offset = 12, .size = 4};
        cupel_observation plain = run(&x, &none, debug), watched = run(&x, &third, debug);
        assert_int_equal(none.stores, 0);
        assert_int_equal(third.stores, 3);
        assert_true(value_of(third.values[0]) == 1.0f);
        assert_true(value_of(third.values[1]) == 2.0f);
        assert_int_equal(watched.outcome, CUPEL_RUN_FINISHED);
        assert_int_equal(watched.access_total, 0); /* watched bytes are no stray ones */
        assert_memory_equal(plain.buffers[1].bytes, watched.buffers[1].bytes, plain.buffers[1].size);
    }
    exec_fixture_close(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(stores_are_counted_and_nothing_else_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
