/* Philox against the known answers of the Random123 distribution (kat_vectors, philox 4x32, 10 rounds), and
 * the promises of the keyed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "philox.h"

static void known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t out[4];
        cupel_philox4x32(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].out, sizeof out);
    }
}

static void value_depends_on_key_alone(void **state) {
    (void)state;
    uint64_t value = cupel_philox(7, 3, 1000);
    for (uint64_t i = 0; i < 10; i++) cupel_philox(7, 3, i);
    assert_int_equal(cupel_philox(7, 3, 1000), value);
    assert_true(cupel_philox(8, 3, 1000) != value);
    assert_true(cupel_philox(7, 4, 1000) != value);
    assert_true(cupel_philox(7, 3, 1001) != value);
    assert_true(cupel_philox(7, 3, 1000 + (UINT64_C(1) << 32)) != value);
}

/* Each of 7 values about 1/7 of the time: chi-square with 6 degrees of freedom stays below its 1e-6
 * quantile, 38.3. */
static void below_is_uniform_and_bounded(void **state) {
    (void)state;
    enum { DRAWS = 70000, BOUND = 7 };
    cupel_random random = cupel_random_start(42, 0);
    double counts[BOUND] = {0}, chi = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t value = cupel_random_below(&random, BOUND);
        assert_true(value < BOUND);
        counts[value]++;
    }
    for (int i = 0; i < BOUND; i++) {
        double d = counts[i] - DRAWS / (double)BOUND;
        chi += d * d / (DRAWS / (double)BOUND);
    }
    assert_true(chi < 38.3);
    assert_int_equal(cupel_random_below(&random, 1), 0);
}

static void unit_stays_in_half_open_interval(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(1, 1);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double u = cupel_random_unit(&random);
        assert_true(u >= 0 && u < 1);
        sum += u;
    }
    assert_true(sum > 4800 && sum < 5200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(value_depends_on_key_alone),
        cmocka_unit_test(below_is_uniform_and_bounded),
        cmocka_unit_test(unit_stays_in_half_open_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
