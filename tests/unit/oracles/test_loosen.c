/* LOOSEN and EXCLUDE. An independent route narrows numbers by their bits. */
#include "ball.h"
#include "exact_fixture.h"
#include "philox.h"

#include <math.h>

static const cupel_dtype types[] = {CUPEL_TF32, CUPEL_BF16, CUPEL_F16};

static cupel_working working(void) {
    const cupel_rules rules = {.working = CUPEL_F32, .fast_math = true};
    return cupel_working_of(&rules);
}

static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x cut to tf32 or bf16 by dropping bits, or rounded half away by adding half first. */
static float narrowed(float x, int dropped, bool round) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (round) bits += UINT32_C(1) << (dropped - 1);
    return of_bits(bits & ~((UINT32_C(1) << dropped) - 1));
}

static void expect_inside(const cupel_ball *b, float got, float from) {
    const bool inside = isfinite(got) ? fabs((double)got - b->value) <= b->radius
                                      : (b->classes & cupel_class_of((double)got)) != 0;
    if (!inside) fail_msg("%a narrowed to %a: radius %a", (double)from, (double)got, b->radius);
}

static void numbers_of_f32_stay_inside(void **state) {
    (void)state;
    const cupel_working w = working();
    cupel_random random = cupel_random_start(11, 0);
    for (int i = 0; i < 200000; i++) {
        const float x = of_bits((uint32_t)cupel_random_u64(&random));
        if (!isfinite(x)) continue;
        const cupel_ball leaf = cupel_ball_leaf(&w, CUPEL_VALUE_REAL, (double)x, true);
        for (int t = 0; t < 2; t++) {
            const cupel_ball b = cupel_ball_loosen(&w, types[t], false, &leaf);
            const int dropped = types[t] == CUPEL_TF32 ? 13 : 16;
            assert_true(b.value == (double)x);
            expect_inside(&b, x, x);
            expect_inside(&b, narrowed(x, dropped, false), x);
            expect_inside(&b, narrowed(x, dropped, true), x);
            /* exact where x is a number of the type, and never more than an ulp of it */
            assert_int_equal(b.radius == 0, narrowed(x, dropped, false) == x);
            assert_true(b.radius <= cupel_format_ulp(types[t], (double)x));
        }
    }
}

static void half_overflows_and_underflows(void **state) {
    (void)state;
    const cupel_working w = working();
    static const struct {
        double x, radius;
        uint8_t classes;
    } rows[] = {
        {65504, 0, CUPEL_CLASS_FINITE},
        {65519, 15, CUPEL_CLASS_FINITE}, /* rounds to the largest number */
        {65520, 16, CUPEL_CLASS_FINITE | CUPEL_CLASS_POS_INF},
        {-70000, 4496, CUPEL_CLASS_FINITE | CUPEL_CLASS_NEG_INF},
        {0x1p-24, 0, CUPEL_CLASS_FINITE},
        {0x1p-25, 0x1p-25, CUPEL_CLASS_FINITE}, /* to zero */
        {0x1p-100, 0x1p-100, CUPEL_CLASS_FINITE},
        {0x1.8p-24, 0x1p-25, CUPEL_CLASS_FINITE},
        {INFINITY, 0, CUPEL_CLASS_POS_INF},
        {NAN, 0, CUPEL_CLASS_NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cupel_ball leaf = cupel_ball_leaf(&w, CUPEL_VALUE_REAL, rows[i].x, true);
        const cupel_ball b = cupel_ball_loosen(&w, CUPEL_F16, false, &leaf);
        if (b.radius != rows[i].radius || (b.classes & CUPEL_CLASS_MASK) != rows[i].classes)
            fail_msg("%a: radius %a, classes %d", rows[i].x, b.radius, b.classes);
    }
}

/* A factor may be narrowed before the chain it belongs to is multiplied out. */
static void factors_of_a_chain_may_be_narrowed(void **state) {
    (void)state;
    const cupel_working w = working();
    const cupel_trait plain = {.overflow = 4};
    cupel_random random = cupel_random_start(12, 0);
    for (int i = 0; i < 100000; i++) {
        const float x = ldexpf(1 + (float)(cupel_random_u64(&random) >> 41) * 0x1p-23f,
                               (int)(cupel_random_u64(&random) % 60) - 30);
        const float s =
            ldexpf((float)(1 + cupel_random_u64(&random) % 9), (int)(cupel_random_u64(&random) % 60) - 30);
        const double product = (double)x * (double)s;
        const cupel_ball a = cupel_ball_leaf(&w, CUPEL_VALUE_REAL, (double)x, true),
                         c = cupel_ball_leaf(&w, CUPEL_VALUE_REAL, (double)s, true);
        const cupel_ball chain = cupel_ball_multiply(&w, &plain, &a, &c, product, true);
        for (size_t t = 0; t < 3; t++) {
            const cupel_ball b = cupel_ball_loosen(&w, types[t], false, &chain);
            const double n = cupel_round(types[t], (double)x), z = cupel_round_down(types[t], (double)x);
            if (b.reason == CUPEL_REASON_JUDGED && isfinite(n)) {
                assert_true(fabs((double)((float)n * s) - product) <= b.radius);
                assert_true(fabs((double)((float)z * s) - product) <= b.radius);
            }
        }
    }
}

static void loosened_products(exact_fixture *x, cupel_dtype type, const char *text) {
    x->f.symbols.products_given = true;
    x->f.symbols.products = type;
    exact_build(x, text, CUPEL_F32, "2,2");
}

/* Both evaluators, whole products: exact where the operands are numbers of the type. */
static void products_of_narrow_operands_are_exact(void **state) {
    (void)state;
    static const float a[6] = {1, 2.5f, -3, 0.125f, 96, 7}, b[6] = {3, 1, -2, 4, 0.5f, 11};
    for (int extra = 0; extra < 2; extra++) {
        float c[6];
        memcpy(c, b, sizeof c);
        if (extra) c[5] += 0x1p-18f; /* a bit that no type has */
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "a", CUPEL_F32, "2,3", a);
        exact_input(&x, "b", CUPEL_F32, "3,2", c);
        for (size_t t = 0; t < 3; t++) {
            loosened_products(&x, types[t], "matmul(a, b)");
            cupel_allowed bounded;
            assert_int_equal(
                cupel_oracle_bounded(x.f.graph, &x.bindings, &x.rules, x.f.arena, &bounded, &x.f.err),
                CUPEL_OK);
            for (int i = 0; i < 4; i++) {
                const cupel_exact_element e = exact_element(&x, i);
                const bool touched = extra && i % 2 == 1;
                assert_int_equal(e.radius > 0, touched);
                assert_true(bounded.radius[i] >= e.radius);
                if (!extra) assert_true(bounded.radius[i] == 0);
                if (touched) assert_true(e.radius >= fabs((double)a[(i / 2) * 3 + 2]) * 0x1p-18);
            }
        }
        exact_end(&x);
    }
}

/* A bias joins a product of loosened operands, and an excluded element is not judged. */
static void an_excluded_element_is_not_judged(void **state) {
    (void)state;
    const cupel_ball x = cupel_ball_plain(3, 0.5, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    const cupel_ball no = cupel_ball_plain(0, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    const cupel_ball yes = cupel_ball_plain(1, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    const cupel_ball open = cupel_ball_plain(0, 1, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    const cupel_ball unknown = cupel_ball_plain(0, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_OVERFLOW);
    assert_int_equal(cupel_ball_exclude(&x, &no).reason, CUPEL_REASON_JUDGED);
    assert_true(cupel_ball_exclude(&x, &no).radius == 0.5);
    assert_int_equal(cupel_ball_exclude(&x, &yes).reason, CUPEL_REASON_EXCLUDED);
    assert_int_equal(cupel_ball_exclude(&x, &open).reason, CUPEL_REASON_EXCLUDED);
    assert_int_equal(cupel_ball_exclude(&x, &unknown).reason, CUPEL_REASON_OVERFLOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_f32_stay_inside),
        cmocka_unit_test(half_overflows_and_underflows),
        cmocka_unit_test(factors_of_a_chain_may_be_narrowed),
        cmocka_unit_test(products_of_narrow_operands_are_exact),
        cmocka_unit_test(an_excluded_element_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
