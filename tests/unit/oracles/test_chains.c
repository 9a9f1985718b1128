/* Chains of + and -, and of products: every order is allowed, and of + and - nothing more than that. */
#include "exact_fixture.h"
#include "philox.h"

#include <float.h>
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
    set(&c, INFINITY, -3e38f, -5e37f, 0); /* nor does the order in which they are written matter */
    answer(&c, "x + r + b");
    assert_int_equal(judged(&c, NAN), CUPEL_ALLOWED);
    assert_int_equal(judged(&c, INFINITY), CUPEL_ALLOWED);
    assert_true(judged(&c, -INFINITY) > CUPEL_NOT_JUDGED);
    set(&c, INFINITY, -3e37f, -1e37f, 0);
    answer(&c, "x + r + b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    set(&c, INFINITY, -FLT_MAX, 1,
        0); /* of two terms there is one order, and what ends a chain is one term */
    answer(&c, "x + r");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    answer(&c, "cast(x + r, f32) + b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    answer(&c, "maximum(x + r, -inf) + b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    exact_end(&c.x);
}

/* ---- terms that are infinite or near the largest number ---- */

enum { ROWS = 48, MOST = 6 };

/* x, r, b, d, e and f, a column of ROWS each; v, three in each row; u, ones; i, zeros. */
typedef struct extremes {
    exact_fixture x;
    cupel_dtype type;
    double terms[ROWS][MOST];
    unsigned char columns[MOST][ROWS * 4], rows[ROWS * 3 * 4], ones[3 * 4];
    int32_t zeros[ROWS * 3];
    cupel_allowed bounded, exact;
    int judged;
} extremes;

static double drawn_extreme(cupel_random *random, cupel_dtype type) {
    const double largest = cupel_format_largest(type);
    const double sizes[] = {INFINITY, largest, largest / 2, largest / 8, 0, 1, 3.5, largest / 64};
    const double size = sizes[cupel_random_below(random, 8)];
    if (cupel_random_below(random, 64) == 0) return NAN;
    return cupel_random_below(random, 2) ? size : -size;
}

static void encode_extremes(extremes *c) {
    const size_t bytes = cupel_format_of(c->type)->size;
    for (int k = 0; k < ROWS; k++)
        for (int t = 0; t < MOST; t++) {
            cupel_encode(c->type, c->terms[k][t], c->columns[t] + (size_t)k * bytes);
            if (t < 3) cupel_encode(c->type, c->terms[k][t], c->rows + (size_t)(k * 3 + t) * bytes);
        }
    for (int t = 0; t < 3; t++) cupel_encode(c->type, 1, c->ones + (size_t)t * bytes);
}

static void start_extremes(extremes *c, cupel_random *random, cupel_dtype type) {
    static const char *const names[MOST] = {"x", "r", "b", "d", "e", "f"};
    memset(c, 0, sizeof *c);
    exact_start(&c->x);
    c->x.rules.working = c->type = type;
    for (int k = 0; k < ROWS; k++)
        for (int t = 0; t < MOST; t++) {
            /* half of the rows have one infinite term at most */
            do c->terms[k][t] = drawn_extreme(random, type);
            while (k % 2 && t != k / 2 % 3 && !isfinite(c->terms[k][t]));
        }
    encode_extremes(c);
    for (int t = 0; t < MOST; t++) exact_input(&c->x, names[t], type, "48,1", c->columns[t]);
    exact_input(&c->x, "v", type, "48,3", c->rows);
    exact_input(&c->x, "u", type, "3,1", c->ones);
    exact_input(&c->x, "i", CUPEL_I32, "48,3", c->zeros);
}

static void expect_extreme(extremes *c, const char *text, int row, double got) {
    unsigned char element[8];
    cupel_encode(c->type, got, element);
    const cupel_judgement by_bounded = cupel_judge_element(&c->bounded, row, element);
    const cupel_judgement by_exact = cupel_judge_element(&c->exact, row, element);
    c->judged += by_exact == CUPEL_ALLOWED;
    if (by_exact > CUPEL_NOT_JUDGED || by_bounded > CUPEL_NOT_JUDGED)
        fail_msg("%s in %s of %g %g %g %g %g %g: %g; classes %d, bounded %d", text,
                 cupel_format_of(c->type)->name, c->terms[row][0], c->terms[row][1], c->terms[row][2],
                 c->terms[row][3], c->terms[row][4], c->terms[row][5], got,
                 c->exact.classes[row] & CUPEL_CLASS_MASK, c->bounded.classes[row] & CUPEL_CLASS_MASK);
}

static void all_sums(extremes *c, const char *text, int row, const double *numbers, int n) {
    if (n == 1) expect_extreme(c, text, row, numbers[0]);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double rest[MOST];
            int count = 0;
            for (int k = 0; k < n; k++)
                if (k != i && k != j) rest[count++] = numbers[k];
            rest[count++] = cupel_round(c->type, numbers[i] + numbers[j]);
            all_sums(c, text, row, rest, count);
        }
}

/* signs: of each term; a number that is no sign scales it, as a factor that goes inside does. */
static void expect_all_sums(extremes *c, const char *text, int terms, const double *signs) {
    exact_build(&c->x, text, c->type, "48,1");
    assert_int_equal(cupel_exact_output(c->x.session, 0, c->x.f.arena, &c->exact, &c->x.f.err), CUPEL_OK);
    assert_int_equal(cupel_oracle_bounded(c->x.f.graph, &c->x.bindings, &c->x.rules, c->x.f.arena,
                                          &c->bounded, &c->x.f.err),
                     CUPEL_OK);
    for (int k = 0; k < ROWS; k++) {
        double numbers[MOST];
        for (int t = 0; t < terms; t++) numbers[t] = cupel_round(c->type, signs[t] * c->terms[k][t]);
        all_sums(c, text, k, numbers, terms);
        assert_int_equal(c->exact.classes[k] & ~c->bounded.classes[k] & CUPEL_CLASS_MASK, 0);
    }
}

/* Terms first .. first + n - 1 under + and -, nested at random. */
static void write_chain(char *text, cupel_random *random, double *signs, int first, int n, double sign) {
    if (n == 1) {
        signs[first] = sign;
        snprintf(text + strlen(text), 8, "%c", "xrbdef"[first]);
        return;
    }
    const int left = 1 + (int)cupel_random_below(random, (uint64_t)n - 1);
    const bool negates = cupel_random_below(random, 6) == 0, subtracts = cupel_random_below(random, 2);
    if (negates) sign = -sign;
    strcat(text, negates ? "-(" : "(");
    write_chain(text, random, signs, first, left, sign);
    strcat(text, subtracts ? " - " : " + ");
    write_chain(text, random, signs, first + left, n - left, subtracts ? -sign : sign);
    strcat(text, ")");
}

/* A factor goes inside of a sum, and not of a chain, whatever it is. */
static void infinite_factors_meet_every_term(void **state) {
    (void)state;
#define SUM "sum(concat([x, r], 0))"
    static const struct {
        const char *text;
        float factor;
    } rows[] = {{SUM " * b", INFINITY}, {"-b * " SUM, INFINITY}, {SUM " / b", 0}};
    chain c;
    start(&c);
    for (int i = 0; i < 3; i++) {
        set(&c, 2, -1, rows[i].factor, 0);
        answer(&c, rows[i].text);
        assert_int_equal(judged(&c, NAN), CUPEL_ALLOWED);
        set(&c, 2, -1, 4, 0);
        answer(&c, rows[i].text);
        assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    }
    set(&c, 2, -1, INFINITY, 0);
    answer(&c, "(x + r) * b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    answer(&c, "cast(" SUM ", f32) * b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    answer(&c, "sum(x) * b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
#undef SUM
    exact_end(&c.x);
}

/* Each of the sums is infinite, and its other term too small to overflow but with those of all the others. */
static void infinite_sums_keep_their_finite_terms(void **state) {
    (void)state;
#define SUM "sum(concat([x, r], 0))"
    chain c;
    start(&c);
    set(&c, INFINITY, -6e37f, 0, 0);
    answer(&c, SUM " + b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
    answer(&c, SUM " + " SUM " + " SUM " + " SUM " + " SUM " + " SUM " + b");
    assert_int_equal(judged(&c, NAN), CUPEL_ALLOWED);
    answer(&c, "cast(" SUM ", f32) + cast(" SUM ", f32) + b");
    assert_true(judged(&c, NAN) > CUPEL_NOT_JUDGED);
#undef SUM
    exact_end(&c.x);
}

static const cupel_dtype precisions[] = {CUPEL_F32, CUPEL_F16};

static void infinite_terms_meet_every_order(void **state) {
    (void)state;
    int judged_sums = 0;
    for (int i = 0; i < 120; i++) {
        cupel_random random = cupel_random_start(37, (uint64_t)i);
        char text[128] = "";
        double signs[MOST];
        const int terms = i % 12 == 0 ? 6 : 3 + i % 3;
        extremes c;
        start_extremes(&c, &random, precisions[i % 2]);
        write_chain(text, &random, signs, 0, terms, 1);
        expect_all_sums(&c, text, terms, signs);
        judged_sums += c.judged;
        exact_end(&c.x);
    }
    assert_true(judged_sums > 1000);
}

static void infinite_terms_of_sums_do(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int terms;
        double signs[MOST];
    } rows[] = {{"sum(v, axis=1, keepdims=true) + d + e", 5, {1, 1, 1, 1, 1}},
                {"d - (e - sum(v, axis=1, keepdims=true))", 5, {1, 1, 1, 1, -1}},
                {"matmul(v, u) + d + e", 5, {1, 1, 1, 1, 1}},
                {"d - matmul(v, u) + e", 5, {-1, -1, -1, 1, 1}},
                {"cumsum(v, axis=1)[:, 2:] + d - e", 5, {1, 1, 1, 1, -1}},
                {"scatter_add(d, 1, i, v) + e", 5, {1, 1, 1, 1, 1}},
                {"-sum(v, axis=1, keepdims=true) + (d + e)", 5, {-1, -1, -1, 1, 1}},
                {"sum(v, axis=1, keepdims=true) * 2 + d + e", 5, {2, 2, 2, 1, 1}},
                {"sum(v, axis=1, keepdims=true) / 0.5 + d", 4, {2, 2, 2, 1}},
                {"sum(v, axis=1, keepdims=true) * -2", 3, {-2, -2, -2}},
                {"matmul(v, u) / 0.5", 3, {2, 2, 2}},
                {"sum(v, axis=1, keepdims=true) * 64", 3, {64, 64, 64}},
                {"matmul(v, u) / 0.015625", 3, {64, 64, 64}},
                {"matmul(v, u) / 0.015625 + d", 4, {64, 64, 64, 1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int judged_sums = 0;
        for (int k = 0; k < 12; k++) {
            cupel_random random = cupel_random_start(41, i * 12 + (uint64_t)k);
            extremes c;
            start_extremes(&c, &random, precisions[k % 2]);
            expect_all_sums(&c, rows[i].text, rows[i].terms, rows[i].signs);
            judged_sums += c.judged;
            exact_end(&c.x);
        }
        if (judged_sums < 100) fail_msg("%s: judged %d", rows[i].text, judged_sums);
    }
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

/* A mask of -inf, which the bounded evaluator takes in its loops, is such a term. */
static void masks_keep_what_they_hide(void **state) {
    (void)state;
    static const double signs[MOST] = {1, 1, 1, 1, 1};
    for (int i = 0; i < 2; i++) {
        const double largest = cupel_format_largest(precisions[i]);
        cupel_random random = cupel_random_start(43, 0);
        extremes c;
        start_extremes(&c, &random, precisions[i]);
        for (int k = 0; k < ROWS; k++)
            memcpy(c.terms[k],
                   (const double[MOST]){largest / 8, 1, 0, k % 2 ? -INFINITY : 0, largest * 0.1875, 0},
                   sizeof c.terms[k]);
        encode_extremes(&c);
        expect_all_sums(&c, "matmul(v, u) + d + e", 5, signs);
        assert_true(c.exact.classes[1] & CUPEL_CLASS_NAN);
        expect_all_sums(&c, "sum(v, axis=1, keepdims=true) + d + e", 5, signs);
        assert_true(c.exact.classes[1] & CUPEL_CLASS_NAN);
        exact_end(&c.x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_order_of_the_terms_is_allowed),
                                       cmocka_unit_test(every_order_of_factors_is_allowed),
                                       cmocka_unit_test(nothing_else_is),
                                       cmocka_unit_test(overflow_of_some_order_is_not_judged),
                                       cmocka_unit_test(infinite_terms_meet_every_order),
                                       cmocka_unit_test(infinite_terms_of_sums_do),
                                       cmocka_unit_test(infinite_sums_keep_their_finite_terms),
                                       cmocka_unit_test(masks_keep_what_they_hide),
                                       cmocka_unit_test(infinite_factors_meet_every_term),
                                       cmocka_unit_test(signs_hold_in_every_order),
                                       cmocka_unit_test(composites_keep_their_own_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
