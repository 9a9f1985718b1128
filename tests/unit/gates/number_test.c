/* Values of a type never look the same when they are not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "judging.h"

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        cupel_dtype type;
        double value;
        const char *text;
    } cases[] = {{CUPEL_F64, 0.1, "0.1"},
                 {CUPEL_F64, 0x1.0000000000001p0, "1.0000000000000002"},
                 {CUPEL_F64, 0x1.fffffffffffffp0, "1.9999999999999998"},
                 {CUPEL_F32, 0x1.000002p0, "1.00000012"},
                 {CUPEL_F64, INFINITY, "inf"},
                 {CUPEL_F64, NAN, "NaN"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cupel_judging_number(cases[i].type, cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests_name("numbers", tests, NULL, NULL);
}
