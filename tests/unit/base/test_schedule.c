/* A schedule's three forms say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"

static void test_every_form_reads_back(void **state) {
    (void)state;
    for (int way = 0; way < CUPEL_SCHEDULE_WAY_COUNT; way++)
        for (uint32_t seed = 0; seed < 3; seed++)
            for (uint32_t limit = 0; limit < 3; limit++) {
                cupel_schedule schedule = {(cupel_schedule_way)way, seed, limit};
                uint64_t number = cupel_schedule_pack(schedule), again = 1;
                char text[64];
                cupel_schedule_write(number, text, sizeof text);
                assert_int_equal(cupel_schedule_read(text, &again, NULL), CUPEL_OK);
                assert_int_equal(again, number);
                assert_int_equal(cupel_schedule_unpack(number).way, way);
                assert_int_equal(cupel_schedule_pack(cupel_schedule_unpack(number)), number);
            }
}

static void test_canonical_is_zero(void **state) {
    (void)state;
    assert_int_equal(cupel_schedule_pack((cupel_schedule){CUPEL_SCHEDULE_CANONICAL, 9, 9}), 0);
    assert_int_equal(cupel_schedule_unpack(UINT64_MAX).way, CUPEL_SCHEDULE_RANDOM);
}

static void test_bad_texts_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "revers",
                                      "reverse:1",
                                      "random",
                                      "random:",
                                      "random:-1",
                                      "random:1/",
                                      "random:4294967296",
                                      "random:1/16777216",
                                      "in_turn:1/2",
                                      "random:1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t number;
        cupel_error err = {0};
        assert_int_equal(cupel_schedule_read(bad[i], &number, &err), CUPEL_USAGE);
        assert_non_null(strstr(err.text, "expected a schedule"));
    }
}

static void test_the_order_is_by_way_switches_and_seed(void **state) {
    (void)state;
    static const char *const simplest_first[] = {"canonical",  "reverse",   "last_warp",  "in_turn:1",
                                                 "in_turn:9",  "abreast:1", "random:9/1", "random:1/2",
                                                 "random:2/2", "random:1"};
    enum { COUNT = sizeof simplest_first / sizeof *simplest_first };
    uint64_t numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(cupel_schedule_read(simplest_first[i], &numbers[i], NULL), CUPEL_OK);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            assert_int_equal(cupel_schedule_compare(numbers[i], numbers[k]), (i > k) - (i < k));
}

static void test_the_sequence_has_every_way(void **state) {
    (void)state;
    int ways[CUPEL_SCHEDULE_WAY_COUNT] = {0}, limited = 0;
    for (uint64_t n = 0; n < 300; n++) {
        uint64_t number = cupel_schedule_nth(n);
        cupel_schedule schedule = cupel_schedule_unpack(number);
        ways[schedule.way]++;
        limited += schedule.limit != 0;
        for (uint64_t k = 0; k < n; k++) assert_true(cupel_schedule_nth(k) != number);
    }
    assert_int_equal(cupel_schedule_nth(0), 0);
    for (int way = 0; way < CUPEL_SCHEDULE_IN_TURN; way++) assert_int_equal(ways[way], 1);
    for (int way = CUPEL_SCHEDULE_IN_TURN; way < CUPEL_SCHEDULE_WAY_COUNT; way++)
        assert_int_equal(ways[way], (300 - CUPEL_SCHEDULE_IN_TURN) / 3);
    assert_int_equal(limited, ways[CUPEL_SCHEDULE_RANDOM] / 2);
}

static void test_words(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *words;
    } rows[] = {{"last_warp", "the last warp first, each lane until it must wait (last_warp)"},
                {"random:7", "threads switch at random points (random:7)"},
                {"random:7/1", "threads switch at random points, 1 time at most (random:7/1)"},
                {"random:7/12", "threads switch at random points, 12 times at most (random:7/12)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t number;
        char text[160];
        assert_int_equal(cupel_schedule_read(rows[i].schedule, &number, NULL), CUPEL_OK);
        cupel_schedule_describe(number, text, sizeof text);
        assert_string_equal(text, rows[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_form_reads_back),
                                       cmocka_unit_test(test_canonical_is_zero),
                                       cmocka_unit_test(test_the_order_is_by_way_switches_and_seed),
                                       cmocka_unit_test(test_the_sequence_has_every_way),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_bad_texts_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
