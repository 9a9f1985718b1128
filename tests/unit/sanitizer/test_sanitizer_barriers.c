/* Threads of one warp that wait at different barriers are seen, with both lines; other uses of barriers are
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sanitizer_fixture.h"

enum { SCHEDULES = 12 };

static void expect_lines(const sanitizer_file *file, const field *f, const char *kernel) {
    char mark[2][64];
    snprintf(mark[0], sizeof mark[0], "%s:a", kernel);
    snprintf(mark[1], sizeof mark[1], "%s:b", kernel);
    const int a = sanitizer_line(file, mark[0]), b = sanitizer_line(file, mark[1]);
    assert_true(f->seen.race_count > 0);
    for (int i = 0; i < f->seen.race_count; i++) {
        const cupel_race *race = &f->seen.races[i];
        const int one = race->earlier.place.line, two = race->later.place.line;
        if (one + two != a + b || (one != a && one != b))
            fail_msg("%s: lines %d and %d, expected %d and %d", kernel, one, two, a, b);
        assert_int_equal(race->earlier.use, CUPEL_RACE_BARRIER);
        assert_int_equal(race->later.use, CUPEL_RACE_BARRIER);
        assert_false(race->marked);
        assert_int_equal(race->earlier.place.thread[0] / 32, race->later.place.thread[0] / 32);
    }
}

static void test_barriers_of_a_warp(void **state) {
    (void)state;
    static sanitizer_file file;
    static field f;
    sanitizer_open("barriers.cu", &file);
    for (int k = 0; k < file.kernel_count; k++)
        for (uint64_t n = 0; n < SCHEDULES; n++) {
            const char *kernel = file.kernels[k];
            sanitizer_run(&file, &f, kernel, n, false);
            if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", kernel, f.seen.text);
            assert_true(f.seen.sanitized);
            if (strncmp(kernel, "bad", 3) == 0)
                expect_lines(&file, &f, kernel);
            else if (f.seen.race_count != 0)
                fail_msg("%s: lines %d and %d", kernel, f.seen.races[0].earlier.place.line,
                         f.seen.races[0].later.place.line);
        }
    sanitizer_close(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_barriers_of_a_warp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
