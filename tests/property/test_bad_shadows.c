/* No useless bound: kernels with one fault each leave the allowed set, on inputs that the search finds
 * easily. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "property.h"

enum { LONGEST = 4096 };

static property_problem problem(cupel_arena *arena, const char *expression, cupel_dtype type, int64_t m,
                                int64_t n, int rank) {
    property_problem p = {
        .expression = expression, .arena = arena, .type = type, .m = m, .n = n, .k = n, .rank = rank};
    p.rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
    p.random = cupel_random_start(5, 1);
    p.shape[0] = m;
    p.shape[1] = rank == 2 ? n : 0;
    p.count = rank == 2 ? m * n : m;
    return p;
}

static double uniform(property_problem *p, double lo, double hi) {
    return cupel_round(p->type, lo + (hi - lo) * cupel_random_unit(&p->random));
}

/* Elements outside the allowed set. */
static int outside(const property_problem *p, const double *results) {
    double worst = 0;
    int64_t judged = 0, first = -1;
    return property_judge(p, results, &worst, &judged, &first);
}

/* ---- one-pass variance ---- */

/* A row of two values, center (1 +- spread). */
typedef struct row_recipe {
    double center, spread;
} row_recipe;

/* E[x^2] - E[x]^2 in single precision; returns the elements outside. */
static int one_pass(cupel_arena *arena, int64_t n, row_recipe r) {
    property_problem p = problem(arena, "layer_norm(x, 1.0, 0.0, 1e-5)", CUPEL_F32, 1, n, 2);
    property_input *x = property_add(&p, "x", 2, 1, n);
    for (int64_t i = 0; i < n; i++)
        x->values[i] = cupel_round(
            CUPEL_F32, r.center * (1 + (cupel_random_below(&p.random, 2) ? r.spread : -r.spread)));
    property_answer(&p);
    float s = 0, q = 0;
    for (int64_t i = 0; i < n; i++) s += (float)x->values[i], q += (float)x->values[i] * (float)x->values[i];
    const float mean = s / (float)n, var = fmaxf(q / (float)n - mean * mean, 0);
    double results[LONGEST];
    for (int64_t i = 0; i < n; i++) results[i] = ((float)x->values[i] - mean) * (1 / sqrtf(var + 1e-5f));
    const int out = outside(&p, results);
    cupel_arena_reset(arena);
    return out;
}

/* For every length some mean, large beside the rows' spread, shows it. The longer the row the closer its two
 * values must be, so the search starts from what showed the row before. */
static void one_pass_variance_is_caught(void **state) {
    (void)state;
    enum { TRIES = 400 };
    cupel_arena *arena = cupel_arena_create(0);
    cupel_random random = cupel_random_start(3, 1);
    row_recipe r = {1e4, 1e-4};
    int64_t tries = 0;
    for (int64_t n = 7; n <= LONGEST; n++) {
        int k = 0;
        for (; k < TRIES && one_pass(arena, n, r) == 0; k++) {
            r.center = 100 * exp(6 * cupel_random_unit(&random));
            r.spread = 1e-5 * exp(7 * cupel_random_unit(&random));
        }
        tries += k + 1;
        if (k == TRIES) fail_msg("a one-pass variance of rows of %lld is never outside", (long long)n);
    }
    print_message("%.2f recipes a row length\n", (double)tries / (LONGEST - 6));
    cupel_arena_free(arena);
}

static void epsilon_outside_the_root_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "layer_norm(x, 1.0, 0.0, 1e-5)", CUPEL_F32, 1, 16, 2);
    property_input *x = property_add(&p, "x", 2, 1, 16);
    for (int64_t i = 0; i < 16; i++) x->values[i] = uniform(&p, -0.01, 0.01);
    property_answer(&p);
    double mean = 0, var = 0, results[16];
    for (int i = 0; i < 16; i++) mean += x->values[i] / 16;
    for (int i = 0; i < 16; i++) var += (x->values[i] - mean) * (x->values[i] - mean) / 16;
    for (int i = 0; i < 16; i++) results[i] = (float)((x->values[i] - mean) / (sqrt(var) + 1e-5));
    assert_true(outside(&p, results) > 8);
    cupel_arena_free(arena);
}

/* exp(x) / sum exp(x): overflows where the maximum is large. */
static void softmax_without_maximum_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "softmax(x, axis=-1)", CUPEL_F32, 1, 8, 2);
    property_input *x = property_add(&p, "x", 2, 1, 8);
    for (int64_t i = 0; i < 8; i++) x->values[i] = uniform(&p, 95, 100);
    property_answer(&p);
    float s = 0;
    double results[8];
    for (int i = 0; i < 8; i++) s += expf((float)x->values[i]);
    for (int i = 0; i < 8; i++) results[i] = expf((float)x->values[i]) / s;
    assert_int_equal(outside(&p, results), 8);
    cupel_arena_free(arena);
}

/* Tail lanes of the last tile filled with 0 instead of -inf: wrong maximum for negative rows, wrong sum for
 * all. */
static void softmax_tail_of_zeros_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "softmax(x, axis=-1)", CUPEL_F16, 1, 33, 2);
    property_input *x = property_add(&p, "x", 2, 1, 33);
    for (int64_t i = 0; i < 33; i++) x->values[i] = uniform(&p, -1, 1);
    property_answer(&p);
    double s = 31, results[33]; /* 64 - 33 lanes of exp(0) */
    for (int i = 0; i < 33; i++) s += exp(x->values[i]);
    for (int i = 0; i < 33; i++) results[i] = exp(x->values[i]) / s;
    assert_int_equal(outside(&p, results), 33);
    cupel_arena_free(arena);
}

static void half_accumulator_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "matmul(x, w)", CUPEL_F16, 1, 64, 2);
    p.k = p.shape[1] = p.count = 1;
    property_input *x = property_add(&p, "x", 2, 1, 64), *w = property_add(&p, "w", 2, 64, 1);
    for (int i = 0; i < 64; i++) x->values[i] = uniform(&p, 0, 1), w->values[i] = uniform(&p, 0, 1);
    property_answer(&p);
    double acc = 0;
    for (int i = 0; i < 64; i++)
        acc = cupel_round(CUPEL_F16, acc + cupel_round(CUPEL_F16, x->values[i] * w->values[i]));
    assert_int_equal(outside(&p, &acc), 1);
    cupel_arena_free(arena);
}

/* fmaxf(NaN, x) is x. */
static void swallowed_nan_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "amax(x, axis=-1)", CUPEL_F32, 1, 8, 1);
    property_input *x = property_add(&p, "x", 2, 1, 8);
    for (int i = 0; i < 8; i++) x->values[i] = i;
    x->values[3] = NAN;
    property_answer(&p);
    const double got = 7;
    assert_int_equal(outside(&p, &got), 1);
    unsigned char bytes[8];
    cupel_encode(CUPEL_F32, got, bytes);
    assert_int_equal(cupel_judge_element(&p.allowed, 0, bytes), CUPEL_MISSING_NAN);
    cupel_arena_free(arena);
}

static void dropped_tail_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (int64_t n = 5; n <= 65; n += 4) {
        property_problem p = problem(arena, "sum(x, axis=-1)", CUPEL_F32, 1, n, 1);
        property_input *x = property_add(&p, "x", 2, 1, n);
        for (int64_t i = 0; i < n; i++) x->values[i] = uniform(&p, 0.5, 1);
        property_answer(&p);
        float s = 0;
        for (int64_t i = 0; i < n / 4 * 4; i++) s += (float)x->values[i];
        const double got = s;
        assert_int_equal(outside(&p, &got), 1);
        cupel_arena_reset(arena);
    }
    cupel_arena_free(arena);
}

/* The K tail of a matrix product: half of the last tile zero-filled. */
static void half_tile_of_zeros_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "matmul(x, w)", CUPEL_BF16, 2, 48, 2);
    p.k = 3, p.shape[1] = 3, p.count = 6;
    property_input *x = property_add(&p, "x", 2, 2, 48), *w = property_add(&p, "w", 2, 48, 3);
    for (int i = 0; i < 96; i++) x->values[i] = uniform(&p, -1, 1);
    for (int i = 0; i < 144; i++) w->values[i] = uniform(&p, -1, 1);
    property_answer(&p);
    double results[6] = {0};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 40; k++) results[i] += x->values[i / 3 * 48 + k] * w->values[k * 3 + i % 3];
    }
    assert_true(outside(&p, results) >= 5);
    cupel_arena_free(arena);
}

/* An infinity clamped to the largest number, and the largest number returned for an infinity. */
static void clamped_infinity_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "sum(x, axis=-1)", CUPEL_F16, 1, 4, 1);
    property_input *x = property_add(&p, "x", 2, 1, 4);
    for (int i = 0; i < 4; i++) x->values[i] = 60000; /* beyond f16, not beyond f32 */
    property_answer(&p);
    const double clamped = 65504, infinite = INFINITY, nan = NAN;
    assert_int_equal(outside(&p, &clamped), 1);
    assert_int_equal(outside(&p, &nan), 1);
    assert_int_equal(outside(&p, &infinite), 0);
    cupel_arena_free(arena);
}

/* Rounding is nearest even: on exact sums the tie is judged. */
static void wrong_tie_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x + w", CUPEL_F16, 1, 1, 2);
    property_input *x = property_add(&p, "x", 2, 1, 1), *w = property_add(&p, "w", 2, 1, 1);
    x->values[0] = 2048;
    w->values[0] = 1; /* 2049 lies between 2048 and 2050 */
    property_answer(&p);
    const double even = 2048, odd = 2050;
    assert_int_equal(outside(&p, &even), 0);
    assert_int_equal(outside(&p, &odd), 1);
    cupel_arena_free(arena);
}

/* A quotient by a literal power of two is exact under `math: fast` too, so that its ties are judged. */
static void wrong_tie_of_a_quotient_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "round(x / 2)", CUPEL_F32, 1, 2, 2);
    property_input *x = property_add(&p, "x", 2, 1, 2);
    x->values[0] = 1, x->values[1] = 3;
    property_answer(&p);
    assert_true(p.rules.fast_math);
    const double even[] = {0, 2}, away[] = {1, 2};
    assert_int_equal(outside(&p, even), 0);
    assert_int_equal(outside(&p, away), 1);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_variance_is_caught),
        cmocka_unit_test(epsilon_outside_the_root_is_caught),
        cmocka_unit_test(softmax_without_maximum_is_caught),
        cmocka_unit_test(softmax_tail_of_zeros_is_caught),
        cmocka_unit_test(half_accumulator_is_caught),
        cmocka_unit_test(swallowed_nan_is_caught),
        cmocka_unit_test(dropped_tail_is_caught),
        cmocka_unit_test(half_tile_of_zeros_is_caught),
        cmocka_unit_test(clamped_infinity_is_caught),
        cmocka_unit_test(wrong_tie_is_caught),
        cmocka_unit_test(wrong_tie_of_a_quotient_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
