/* Correct kernels give no report, however their threads take turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sanitizer_fixture.h"
#include "schedule.h"

/* The number of schedules; the long tier gives a larger one. */
static int schedules = 20;
static sanitizer_file file;
static field f;

static int setup(void **state) {
    (void)state;
    sanitizer_open("order.cu", &file);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    sanitizer_close(&file);
    return 0;
}

static void run(const char *kernel, uint64_t schedule) {
    sanitizer_run(&file, &f, kernel, schedule, true);
}

static void test_no_report(void **state) {
    (void)state;
    for (int k = 0; k < file.kernel_count; k++)
        for (int n = 0; n < schedules; n++) {
            run(file.kernels[k], (uint64_t)n);
            if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", file.kernels[k], f.seen.text);
            assert_true(f.seen.sanitized);
            for (int i = 0; i < f.seen.race_count; i++)
                if (!f.seen.races[i].marked)
                    fail_msg("%s, schedule %d: lines %d and %d", file.kernels[k], n,
                             f.seen.races[i].earlier.place.line, f.seen.races[i].later.place.line);
        }
}

/* Lanes in step are not ordered, which is told apart from what nobody meant. */
static void test_lockstep_is_marked(void **state) {
    (void)state;
    run("in_lockstep", 0);
    assert_true(f.seen.race_count > 0);
    for (int i = 0; i < f.seen.race_count; i++) assert_true(f.seen.races[i].marked);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_report),
                                       cmocka_unit_test(test_lockstep_is_marked)};
    if (argc > 1) schedules = atoi(argv[1]);
    return cmocka_run_group_tests(tests, setup, teardown);
}
