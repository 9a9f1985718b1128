/* The means of a reproduction file, with a function of our own as the candidate: each check finds what it is
 * for, and nothing in a function that does right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "repro_common.h"
#include "repro_host.h"

enum { N = 4 };

static const repro_type f32 = {"f32", 4, REPRO_REAL, 24, -126};
static const repro_tensor tensors[] = {
    {"x", &f32, REPRO_INPUT, 1, {N}, {1}, N, 0, 0},
    {"y", &f32, REPRO_OUTPUT, 1, {N}, {1}, N, 1, 0},
    {"w", &f32, REPRO_SCRATCH, 1, {N}, {1}, N, 2, 0},
};
static const repro_buffer buffers[] = {
    {4 * N, 256, 0, 0, &f32, 1}, {4 * N, 256, 4, 1, &f32, 2}, {4 * N, 4, 0, 1, &f32, 3}};
static const uint32_t ones[] = {0x3f800000};
static const repro_values values[] = {{ones, NULL, 1, NULL}, {NULL, NULL, 0, NULL}, {NULL, NULL, 0, NULL}};
static const repro_call calls[] = {{values, 0}};
/* y[3] is to be left alone */
static const repro_allowed allowed[] = {{1, 0, 1, 2, 1, REPRO_FINITE, 0, 0},
                                        {1, 1, 1, 2, 1, REPRO_FINITE, 0, 0},
                                        {1, 3, 0, 0, 0, REPRO_KEEP, 0, 0}};

static float *tensor(int t) {
    return repro_at(t);
}

static int counter;

static void right(void) {
    for (int i = 0; i < 3; i++) tensor(1)[i] = tensor(0)[i];
}

static void wrong_value(void) {
    right();
    tensor(1)[1] = 3;
}

static void counts_calls(void) {
    right();
    tensor(1)[0] = 1 + (float)(counter++ % 3) / 4; /* always allowed */
}

static void reads_scratch(void) {
    right();
    tensor(1)[0] = tensor(2)[1] == tensor(2)[1] ? 1 : 2; /* not where it holds a NaN */
}

static void writes_outside(void) {
    right();
    tensor(1)[N] = 0;
}

static void changes_input(void) {
    right();
    tensor(0)[2] = 0;
}

static void changes_kept(void) {
    right();
    tensor(1)[3] = 1;
}

static void forgets_one(void) {
    tensor(1)[0] = tensor(1)[2] = 1;
}

static int outcome(void (*candidate)(void), int rounds, int same_bytes, int unwritten) {
    const repro_case c = {3,       3, 1,      3,          tensors,   buffers, calls,
                          allowed, 9, rounds, same_bytes, unwritten, "",      ""};
    memset(&repro, 0, sizeof repro);
    counter = 0;
    return repro_run(&c, candidate, 0, NULL);
}

static void what_is_right_passes(void **state) {
    (void)state;
    for (int same = 0; same <= REPRO_ANY_POISON; same++)
        for (int unwritten = 0; unwritten < 2; unwritten++)
            assert_int_equal(outcome(right, 6, same, unwritten), 0);
}

static void values_and_memory_are_compared(void **state) {
    (void)state;
    assert_int_equal(outcome(wrong_value, 2, 0, 0), REPRO_SHOWS);
    assert_int_equal(outcome(writes_outside, 2, 0, 0), REPRO_SHOWS);
    assert_int_equal(outcome(changes_input, 2, 0, 0), REPRO_SHOWS);
    assert_int_equal(outcome(changes_kept, 2, 0, 0), REPRO_SHOWS);
    assert_int_equal(outcome(forgets_one, 2, 0, 1), REPRO_SHOWS);
}

static void runs_are_compared_where_they_must_agree(void **state) {
    (void)state;
    assert_int_equal(outcome(counts_calls, 6, 0, 0), 0);
    assert_int_equal(outcome(counts_calls, 6, REPRO_ONE_POISON, 0), REPRO_SHOWS);
    assert_int_equal(outcome(reads_scratch, 6, REPRO_ONE_POISON, 0), 0);
    assert_int_equal(outcome(reads_scratch, 6, REPRO_ANY_POISON, 0), REPRO_SHOWS);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_passes),
        cmocka_unit_test(values_and_memory_are_compared),
        cmocka_unit_test(runs_are_compared_where_they_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
