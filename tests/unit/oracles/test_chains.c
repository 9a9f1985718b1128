/* Chains of + and -, and of products: every order is allowed, and of + and - nothing more than that. */
#include "exact_fixture.h"
#include "philox.h"

#include <math.h>

enum { TERMS = 4 };

typedef struct chain {
    exact_fixture x;
    float values[TERMS];
    cupel_allowed allowed;
} chain;

static void start(chain *c) {
    static const char *const names[TERMS] = {"x", "r", "b", "d"};
    exact_start(&c->x);
    for (int i = 0; i < TERMS; i++) exact_input(&c->x, names[i], CUPEL_F32, "1", &c->values[i]);
}

static void answer(chain *c, const char *text) {
    exact_build(&c->x, text, CUPEL_F32, "1");
    assert_int_equal(cupel_exact_output(c->x.session, 0, c->x.f.arena, &c->allowed, &c->x.f.err), CUPEL_OK);
}

static void set(chain *c, float x, float r, float b, float d) {
    memcpy(c->values, (const float[TERMS]){x, r, b, d}, sizeof c->values);
}

static cupel_judgement judged(const chain *c, float got) {
    return cupel_judge_element(&c->allowed, 0, &got);
}

static void expect_allowed(const chain *c, const char *text, float got, bool wanted) {
    if ((judged(c, got) <= CUPEL_NOT_JUDGED) != wanted)
        fail_msg("%s of %a %a %a %a: %a, allowed %a .. %a", text, (double)c->values[0], (double)c->values[1],
                 (double)c->values[2], (double)c->values[3], (double)got, c->allowed.lo[0], c->allowed.hi[0]);
}

/* Every way to add (or to multiply) n numbers two by two. */
static void all_orders(const chain *c, const char *text, const float *numbers, int n, bool factors) {
    if (n == 1) expect_allowed(c, text, numbers[0], true);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            float rest[TERMS];
            int count = 0;
            for (int k = 0; k < n; k++)
                if (k != i && k != j) rest[count++] = numbers[k];
            rest[count++] = factors ? numbers[i] * numbers[j] : numbers[i] + numbers[j];
            all_orders(c, text, rest, count, factors);
        }
}

static float drawn(cupel_random *random) {
    const float mantissa = 1 + (float)(cupel_random_u64(random) >> 41) * 0x1p-23f;
    return ldexpf(cupel_random_below(random, 2) ? mantissa : -mantissa,
                  (int)cupel_random_below(random, 24) - 12);
}

static void every_order_of_the_terms_is_allowed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int terms;
        float signs[TERMS];
    } rows[] = {{"x + r + b", 3, {1, 1, 1}},
                {"x + (r + b)", 3, {1, 1, 1}},
                {"x - r + b", 3, {1, -1, 1}},
                {"x - (r - b)", 3, {1, -1, 1}},
                {"-(x + r) + b", 3, {-1, -1, 1}},
                {"x + r + b + d", 4, {1, 1, 1, 1}},
                {"(x + r) - (b + d)", 4, {1, 1, -1, -1}},
                {"x + -(r + (b - d))", 4, {1, -1, -1, 1}},
                {"x + broadcast_to(r[0] + b[0], [1]) - d", 4, {1, 1, 1, -1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_random random = cupel_random_start(29, i);
        for (int k = 0; k < 40; k++) {
            chain c;
            start(&c);
            set(&c, drawn(&random), drawn(&random), drawn(&random), drawn(&random));
            if (k % 2) c.values[1] = -c.values[0] * rows[i].signs[0] * rows[i].signs[1];
            answer(&c, rows[i].text);
            float terms[TERMS];
            for (int t = 0; t < TERMS; t++) terms[t] = c.values[t] * rows[i].signs[t];
            all_orders(&c, rows[i].text, terms, rows[i].terms, false);
            exact_end(&c.x);
        }
    }
}

/* So is every order of factors, up to both ends of the range, where an intermediate of one order alone may
 * overflow or underflow. */
static void every_order_of_factors_is_allowed(void **state) {
    (void)state;
    static const char *const texts[] = {"x * r * b", "x * (r * b)", "x * r * b * d", "(x * r) * (b * d)"};
    int judged_products = 0;
    for (int i = 0; i < 4; i++) {
        cupel_random random = cupel_random_start(31, (uint64_t)i);
        for (int k = 0; k < 100; k++) {
            chain c;
            start(&c);
            for (int t = 0; t < TERMS; t++)
                c.values[t] = ldexpf(drawn(&random), (int)cupel_random_below(&random, 160) - 80);
            answer(&c, texts[i]);
            judged_products += c.allowed.reasons[0] == CUPEL_REASON_JUDGED;
            all_orders(&c, texts[i], c.values, i < 2 ? 3 : 4, true);
            exact_end(&c.x);
        }
    }
    assert_true(judged_products > 100);
}

/* Of two terms there is one order, and what a cast closes is one term. */
static void nothing_else_is(void **state) {
    (void)state;
    chain c;
    start(&c);
    set(&c, 1e8f, -1e8f, 1, 1);
    answer(&c, "x + r + b");
    expect_allowed(&c, "x + r + b", 1, true);
    expect_allowed(&c, "x + r + b", 0, true);
    expect_allowed(&c, "x + r + b", 64, false);
    answer(&c, "cast(x + r, f32) + b");
    expect_allowed(&c, "cast(x + r, f32) + b", 1, true);
    expect_allowed(&c, "cast(x + r, f32) + b", 0, false);
    answer(&c, "maximum(x + r, -inf) + b"); /* nor does a function's argument join */
    expect_allowed(&c, "maximum(x + r, -inf) + b", 0, false);
    set(&c, 16777216, 1, 0, 0);
    answer(&c, "x - r");
    assert_true(c.allowed.lo[0] == 16777215 && c.allowed.hi[0] == 16777215);
    answer(&c, "x + r");
    assert_true(c.allowed.radius[0] <= 2);
    set(&c, 3, 5, -2, 1); /* exact in every order */
    answer(&c, "x + r + b - d");
    assert_true(c.allowed.lo[0] == 5 && c.allowed.hi[0] == 5);
    exact_end(&c.x);
}

/* An intermediate that overflows in one order is none in another. */
static void overflow_of_some_order_is_not_judged(void **state) {
    (void)state;
    chain c;
    start(&c);
    set(&c, 3e38f, 3e38f, -3e38f, 0);
    answer(&c, "x + (r + b)");
    assert_int_equal(c.allowed.reasons[0], CUPEL_REASON_OVERFLOW);
    set(&c, 3e38f, 3e38f, -INFINITY, 0);
    answer(&c, "x + (r + b)");
    assert_int_equal(judged(&c, NAN), CUPEL_ALLOWED);
    assert_int_equal(judged(&c, -INFINITY), CUPEL_ALLOWED);
    assert_true(judged(&c, INFINITY) > CUPEL_NOT_JUDGED);
    set(&c, 1, 1, -INFINITY, 0);
    answer(&c, "x + (r + b)");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    exact_end(&c.x);
}

/* A sum of what is not negative is not negative in any order, so that its root is a number. */
static void signs_hold_in_every_order(void **state) {
    (void)state;
    chain c;
    start(&c);
    set(&c, 0x1p-75f, 0, 0x1p-76f, 0);
    answer(&c, "sqrt(x * x + r * r + b * b)");
    assert_int_equal(c.allowed.reasons[0], CUPEL_REASON_JUDGED);
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    assert_true(judged(&c, -0x1p-75f) > CUPEL_NOT_JUDGED);
    exact_end(&c.x);
}

static int chained(chain *c, const char *text) {
    int count = 0;
    fixture_build(&c->x.f, text, CUPEL_F32, "1");
    for (int i = 0; i < c->x.f.graph->node_count; i++) count += c->x.f.graph->nodes[i].joins != 0;
    return count;
}

/* What stands inside of a function keeps the order that the function has. */
static void composites_keep_their_own_order(void **state) {
    (void)state;
    chain c;
    start(&c);
    assert_int_equal(chained(&c, "x + r"), 0);
    assert_int_equal(chained(&c, "x + r + b"), 1);
    assert_int_equal(chained(&c, "(x + r) - (b + d)"), 1);
    assert_int_equal(chained(&c, "x + r + b + d"), 2);
    assert_int_equal(chained(&c, "layer_norm(x + r)"), 0);
    assert_int_equal(chained(&c, "layer_norm(x, r, b) + d"), 1); /* x' r + b + d */
    assert_int_equal(chained(&c, "x * (r + b) + d"), 0);
    assert_int_equal(chained(&c, "(x + r) - amax(x + r, axis=-1)"), 0);
    exact_end(&c.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_order_of_the_terms_is_allowed),
                                       cmocka_unit_test(every_order_of_factors_is_allowed),
                                       cmocka_unit_test(nothing_else_is),
                                       cmocka_unit_test(overflow_of_some_order_is_not_judged),
                                       cmocka_unit_test(signs_hold_in_every_order),
                                       cmocka_unit_test(composites_keep_their_own_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
