/* Every kind of race is seen, with the lines of both accesses, under every way of scheduling that lets both
 * happen, results equal or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sanitizer_fixture.h"
#include "schedule.h"

enum { SCHEDULES = 12 };

static sanitizer_file file;
static field f;

static int setup(void **state) {
    (void)state;
    sanitizer_open("races.cu", &file);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    sanitizer_close(&file);
    return 0;
}

static void run(const char *kernel, uint64_t schedule) {
    sanitizer_run(&file, &f, kernel, schedule, false);
    if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", kernel, f.seen.text);
    assert_true(f.seen.sanitized);
}

static int marked_line(const char *kernel, char side) {
    char mark[96];
    snprintf(mark, sizeof mark, "%s:%c", kernel, side);
    return sanitizer_line(&file, mark);
}

/* All races of a run are between the marked lines; true when there is one. */
static bool lines_are_right(const char *kernel, uint64_t schedule) {
    const int a = marked_line(kernel, 'a'), b = marked_line(kernel, 'b');
    for (int i = 0; i < f.seen.race_count; i++) {
        const cupel_race *race = &f.seen.races[i];
        const int one = race->earlier.place.line, two = race->later.place.line;
        const bool right = (one == a || one == b) && (two == a || two == b);
        if (!right || race->marked)
            fail_msg("%s, schedule %d: lines %d and %d%s, expected %d and %d", kernel, (int)schedule, one,
                     two, race->marked ? " (marked)" : "", a, b);
        assert_true(race->count > 0 && race->size > 0);
        assert_true(race->earlier.use != CUPEL_RACE_READ || race->later.use != CUPEL_RACE_READ);
        assert_memory_not_equal(&race->earlier.place.block, &race->later.place.block,
                                6 * sizeof race->later.place.block[0]);
    }
    return f.seen.race_count > 0;
}

static void test_every_race_under_every_schedule(void **state) {
    (void)state;
    for (int k = 0; k < file.kernel_count; k++)
        for (uint64_t n = 0; n < SCHEDULES; n++) {
            run(file.kernels[k], n);
            if (!lines_are_right(file.kernels[k], n))
                fail_msg("%s: nothing was seen under schedule %d", file.kernels[k], (int)n);
        }
}

/* What a report says beside the lines. */
static void test_words(void **state) {
    (void)state;
    run("two_writers", 0);
    const cupel_race *race = &f.seen.races[0];
    assert_int_equal(f.seen.race_count, 1);
    assert_int_equal(race->space, CUPEL_SPACE_SHARED);
    assert_string_equal(race->array, "last");
    assert_int_equal(race->offset, 2); /* of 1.0f and 2.0f the upper two bytes differ */
    assert_int_equal(race->size, 2);
    assert_int_equal(race->earlier.use, CUPEL_RACE_WRITE);
    assert_int_equal(race->later.use, CUPEL_RACE_WRITE);
    assert_int_equal(race->earlier.place.thread[0], 3);
    assert_int_equal(race->later.place.thread[0], 77);
    assert_string_equal(race->earlier.place.function, "two_writers");
    assert_int_equal(race->count, 2); /* in either block */
    run("block_reads_the_other", 0);
    race = &f.seen.races[0];
    assert_int_equal(race->space, CUPEL_SPACE_GLOBAL);
    assert_int_equal(race->buffer, 2);
    assert_int_equal(race->earlier.place.block[0], 0);
    assert_int_equal(race->later.place.block[0], 1);
    assert_int_equal(race->earlier.use, CUPEL_RACE_READ);
    run("plain_beside_atomic", 0);
    race = &f.seen.races[0];
    assert_true(race->earlier.use == CUPEL_RACE_ATOMIC || race->later.use == CUPEL_RACE_ATOMIC);
}

static int marked(const sanitizer_file *of, const char *name) {
    char mark[96];
    snprintf(mark, sizeof mark, "// %s", name);
    return sanitizer_line(of, mark);
}

/* An index past a local array that lands in the next one, or beside it. */
static void test_local_arrays(void **state) {
    (void)state;
    sanitizer_file local;
    sanitizer_open("local.cu", &local);
    for (int k = 0; k < local.kernel_count; k++)
        for (int past = 0; past < 2; past++) {
            float *in, *out, *where;
            field_reset(&f, 256, 1024, 256);
            in = field_buffer(&f, 0), out = field_buffer(&f, 1), where = in + 255;
            *where = past ? 8 : 4;
            field_run(&f, local.module, local.kernels[k], (shape){.block = 64}, 3,
                      (const void *[]){&in, &out, &where});
            assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
            assert_int_equal(f.seen.access_count, past);
            if (!past) continue;
            assert_int_equal(f.seen.accesses[0].space, CUPEL_SPACE_LOCAL);
            assert_int_equal(f.seen.accesses[0].kind,
                             k == 0 ? CUPEL_ACCESS_OUT_OF_BOUNDS_READ : CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE);
            assert_int_equal(f.seen.accesses[0].place.line, marked(&local, local.kernels[k]));
        }
    sanitizer_close(&local);
}

/* What a kernel of static_shared.cu does with this index and its schedule. */
static void run_shared(const sanitizer_file *of, int k, float index, uint64_t schedule) {
    float *in, *out, *where;
    field_reset(&f, 256, 1024, 256);
    in = field_buffer(&f, 0), out = field_buffer(&f, 1), where = in + 255;
    *where = index;
    field_run(&f, of->module, of->kernels[k],
              (shape){.block = 64, .shared = 64 * (int)sizeof(float), .schedule = schedule}, 3,
              (const void *[]){&in, &out, &where});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_int_equal(f.seen.race_count, 0);
}

/* An index past a static shared array, one and many elements, is seen where it lands in the next one too;
 * code that stays in its arrays is not accused, however it walks them. */
static void test_static_shared_arrays(void **state) {
    (void)state;
    static const float past[] = {8, 12, 40};
    sanitizer_file shared;
    sanitizer_open("static_shared.cu", &shared);
    int wrong = 0, right = 0;
    for (int k = 0; k < shared.kernel_count; k++) {
        char mark[96];
        snprintf(mark, sizeof mark, "// %s\n", shared.kernels[k]);
        const bool marks = strstr(shared.text, mark) != NULL;
        wrong += marks, right += !marks;
        for (uint64_t schedule = 0; schedule < 4; schedule++) {
            run_shared(&shared, k, 4, schedule);
            assert_int_equal(f.seen.access_count, 0);
        }
        for (size_t i = 0; i < sizeof past / sizeof past[0]; i++) {
            run_shared(&shared, k, past[i], i);
            if (!marks) assert_int_equal(f.seen.access_count, 0);
            if (!marks) continue;
            assert_true(f.seen.access_count >= 1);
            for (int a = 0; a < f.seen.access_count; a++) {
                assert_int_equal(f.seen.accesses[a].space, CUPEL_SPACE_SHARED);
                assert_true(f.seen.accesses[a].kind == CUPEL_ACCESS_OUT_OF_BOUNDS_READ ||
                            f.seen.accesses[a].kind == CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE);
                assert_int_equal(f.seen.accesses[a].place.line, sanitizer_line(&shared, mark));
            }
        }
    }
    assert_true(wrong == 5 && right >= 1);
    sanitizer_close(&shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_race_under_every_schedule),
                                       cmocka_unit_test(test_words), cmocka_unit_test(test_local_arrays),
                                       cmocka_unit_test(test_static_shared_arrays)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
