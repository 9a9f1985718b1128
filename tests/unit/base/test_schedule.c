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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_form_reads_back),
                                       cmocka_unit_test(test_canonical_is_zero),
                                       cmocka_unit_test(test_bad_texts_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
