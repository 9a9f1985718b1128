/* Products of plain factors in a sum: the short way (cupel_ball_tally_factors) gives the tally of the general
 * one. */
#include "ball.h"
#include "exact_fixture.h"
#include "philox.h"

#include <math.h>

static double drawn(cupel_random *random, cupel_dtype type) {
    static const double special[] = {0.0, -0.0, 1, -1, 0.5, 65504, 0x1p-24, 0x1p-126, 0x1p-149, 0x1p127, 3.5};
    const uint64_t way = cupel_random_below(random, 8);
    if (way == 0) return special[cupel_random_below(random, sizeof special / sizeof *special)];
    const int exponent = (int)cupel_random_below(random, way < 5 ? 20 : 240) - (way < 5 ? 10 : 120);
    const double x = ldexp((double)(int64_t)cupel_random_u64(random), exponent - 63);
    return way < 3 ? round(x) : cupel_round(type, x);
}

static cupel_ball drawn_ball(cupel_random *random, const cupel_working *w) {
    double value;
    do value = drawn(random, w->type);
    while (!isfinite(value));
    cupel_ball ball = cupel_ball_plain(value, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    if (cupel_random_below(random, 2) == 0) return ball;
    double radius = fabs(value) * w->unit * (double)cupel_random_below(random, 5);
    if (cupel_random_below(random, 4) == 0) radius = fmin(fabs(drawn(random, w->type)), 0x1p100);
    ball = cupel_ball_plain(value, radius, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    if (cupel_random_below(random, 2) == 0) ball.floor = 0;
    return ball;
}

static void expect_same(const cupel_ball_tally *short_, const cupel_ball_tally *general, const cupel_ball *a,
                        const cupel_ball *b) {
#define SAME(field)                                                                                          \
    if (short_->field != general->field)                                                                     \
    fail_msg("%a +- %a times %a +- %a: " #field " %a, generally %a", a->value, a->radius, b->value,          \
             b->radius, (double)short_->field, (double)general->field)
    SAME(magnitude);
    SAME(spread);
    SAME(grain);
    SAME(least);
    SAME(rescale);
    SAME(floor);
    SAME(peak);
    SAME(carry);
    SAME(depth);
    SAME(outside);
    SAME(aligned);
    SAME(terms);
    SAME(products);
    SAME(reason);
#undef SAME
    assert_memory_equal(&short_->classes, &general->classes, sizeof short_->classes);
}

static cupel_factor factor_of(const cupel_ball *ball) {
    return (cupel_factor){ball->value, ball->radius, ball->floor, ball->grain};
}

static void compare(const cupel_rules *rules, uint64_t seed) {
    const cupel_working w = cupel_working_of(rules);
    cupel_random random = cupel_random_start(seed, 0);
    int added = 0;
    enum { PRODUCTS = 200000 };
    for (int i = 0; i < PRODUCTS; i++) {
        const cupel_ball a = drawn_ball(&random, &w), b = drawn_ball(&random, &w);
        const cupel_factor fa = factor_of(&a), fb = factor_of(&b);
        cupel_ball_tally general = cupel_ball_tally_start(), quick = cupel_ball_tally_start(), before = quick;
        const double product = a.value * b.value;
        const bool exact = isfinite(product) && fma(a.value, b.value, -product) == 0;
        if (!cupel_ball_tally_factors(&w, &quick, &fa, &fb)) {
            assert_memory_equal(&quick, &before, sizeof quick);
            continue;
        }
        cupel_ball_tally_product(&w, &general, &a, &b, product, exact);
        expect_same(&quick, &general, &a, &b);
        added++;
    }
    assert_int_equal(w.flush ? 0 : 1, added > PRODUCTS / 10 * 9);
}

static void both_ways_agree(void **state) {
    (void)state;
    static const cupel_dtype types[] = {CUPEL_F64, CUPEL_F32, CUPEL_F16, CUPEL_BF16};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        compare(&(cupel_rules){.working = types[i], .subnormals = CUPEL_SUBNORMALS_KEEP}, i);
    compare(&(cupel_rules){.working = CUPEL_F32, .matrix_normal = 0x1p-14}, 5);
}

static void under_flush_the_general_rule_applies(void **state) {
    (void)state;
    compare(&(cupel_rules){.working = CUPEL_F32, .subnormals = CUPEL_SUBNORMALS_FLUSH}, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(under_flush_the_general_rule_applies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
