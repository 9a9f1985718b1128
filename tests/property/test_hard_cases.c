/* Cases in which a plainer rule accuses a correct kernel, and rules that only a special input shows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "allowed.h"
#include "budgets.h"
#include "property.h"

static property_problem problem(cupel_arena *arena, const char *expression, int64_t m, int64_t n, int rank) {
    property_problem p = {
        .expression = expression, .arena = arena, .type = CUPEL_F32, .m = m, .n = n, .k = n, .rank = rank};
    p.rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
    p.random = cupel_random_start(5, 1);
    p.shape[0] = m;
    p.shape[1] = rank == 2 ? n : 0;
    p.count = rank == 2 ? m * n : m;
    return p;
}

static cupel_judgement judge(const property_problem *p, int64_t i, double x) {
    unsigned char bytes[8];
    cupel_encode(p->type, x, bytes);
    return cupel_judge_element(&p->allowed, i, bytes);
}

/* 0 * inf of two inputs is NaN and nothing else; a zero's sign is judged where it comes by copy, negation,
 * product. */
static void classes_of_exact_operands(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x * w", 1, 4, 2);
    property_input *x = property_add(&p, "x", 2, 1, 4), *w = property_add(&p, "w", 2, 1, 4);
    const double xs[] = {0, -0.0, INFINITY, NAN}, ws[] = {INFINITY, 3, -2, 1};
    for (int i = 0; i < 4; i++) x->values[i] = xs[i], w->values[i] = ws[i];
    property_answer(&p);
    assert_int_equal(judge(&p, 0, NAN), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 0, 0), CUPEL_MISSING_NAN);
    assert_int_equal(judge(&p, 0, INFINITY), CUPEL_MISSING_NAN);
    assert_int_equal(judge(&p, 1, -0.0), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 1, 0.0), CUPEL_WRONG_ZERO_SIGN);
    assert_int_equal(judge(&p, 2, -INFINITY), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 2, INFINITY), CUPEL_WRONG_INF);
    assert_int_equal(judge(&p, 3, 1), CUPEL_MISSING_NAN);
    cupel_arena_free(arena);
}

/* An infinite radius excuses no NaN: a constant row's variance reaches down to zero, not below. */
static void clipped_variance(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "layer_norm(x, 1.0, 0.0, 1e-5)", 1, 64, 2);
    property_input *x = property_add(&p, "x", 2, 1, 64);
    for (int i = 0; i < 64; i++) x->values[i] = cupel_round(CUPEL_F32, 1000.1);
    property_answer(&p);
    assert_int_equal(p.allowed.judged, 64);
    assert_int_equal(judge(&p, 5, NAN), CUPEL_WRONG_NAN);
    assert_int_equal(judge(&p, 5, 0), CUPEL_ALLOWED);
    cupel_arena_free(arena);
}

/* Output rounding: where the interval crosses the overflow threshold both sides are allowed. */
static void overflow_threshold_of_the_output(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x * 1.1", 1, 1, 2);
    p.type = CUPEL_F16;
    property_input *x = property_add(&p, "x", 2, 1, 1);
    x->values[0] = 59552; /* 1.1 of it is 65507.2; the threshold is 65520 */
    property_answer(&p);
    assert_int_equal(judge(&p, 0, 65504), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 0, INFINITY), CUPEL_WRONG_INF);
    x->values[0] = 59584; /* 65542.4 */
    property_problem q = problem(arena, "x * 1.1", 1, 1, 2);
    q.type = CUPEL_F16;
    q.inputs[0] = *x, q.input_count = 1;
    property_answer(&q);
    assert_int_equal(judge(&q, 0, INFINITY), CUPEL_ALLOWED);
    assert_int_equal(judge(&q, 0, 65504), CUPEL_MISSING_INF);
    cupel_arena_free(arena);
}

/* Hardware division may give 0 for divisors beyond 2^126. */
static void huge_divisor(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x / w", 1, 1, 2);
    property_input *x = property_add(&p, "x", 2, 1, 1), *w = property_add(&p, "w", 2, 1, 1);
    x->values[0] = 0x1p100, w->values[0] = 0x1.8p126;
    property_answer(&p);
    assert_int_equal(judge(&p, 0, 0), CUPEL_ALLOWED);
    property_problem q = problem(arena, "x / w", 1, 1, 2);
    q.rules.fast_math = false;
    q.inputs[0] = *x, q.inputs[1] = *w, q.input_count = 2;
    property_answer(&q);
    assert_int_equal(judge(&q, 0, 0), CUPEL_WRONG_VALUE);
    assert_int_equal(judge(&q, 0, (float)(0x1p100 / 0x1.8p126)), CUPEL_ALLOWED);
    cupel_arena_free(arena);
}

/* A value that is NaN never passes a finite comparison, nor a finite one a NaN. */
static void judging_classifies_both_sides(void **state) {
    (void)state;
    double value[] = {1}, lo[] = {-INFINITY}, hi[] = {NAN}, radius[] = {0};
    uint8_t classes[] = {CUPEL_CLASS_FINITE}, reasons[] = {CUPEL_REASON_JUDGED};
    const cupel_allowed a = {.type = CUPEL_F32,
                             .count = 1,
                             .value = value,
                             .lo = lo,
                             .hi = hi,
                             .radius = radius,
                             .classes = classes,
                             .reasons = reasons};
    const float one = 1, nan = NAN;
    assert_int_equal(cupel_judge_element(&a, 0, &one),
                     CUPEL_WRONG_VALUE); /* a bad bound accuses, it does not excuse */
    hi[0] = 2;
    assert_int_equal(cupel_judge_element(&a, 0, &one), CUPEL_ALLOWED);
    assert_int_equal(cupel_judge_element(&a, 0, &nan), CUPEL_WRONG_NAN);
    assert_true(isnan(cupel_judge_ratio(&a, 0, &nan)));
}

/* An element that is to be left alone is the caller's to compare; its neighbours are judged. */
static void kept_elements(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "where(x > 0, x * 2, keep)", 1, 2, 2);
    property_input *x = property_add(&p, "x", 2, 1, 2);
    x->values[0] = 3, x->values[1] = -3;
    property_answer(&p);
    assert_int_equal(judge(&p, 0, 6), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 0, 5), CUPEL_WRONG_VALUE);
    assert_int_equal(p.allowed.classes[1], CUPEL_KEEP);
    cupel_arena_free(arena);
}

/* The sum of an empty axis is exactly 0, of an empty batch nothing. */
static void empty_tensors(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "matmul(x, w)", 2, 0, 2);
    p.k = p.shape[1] = 3, p.count = 6;
    property_add(&p, "x", 2, 2, 0), property_add(&p, "w", 2, 0, 3);
    property_answer(&p);
    assert_int_equal(p.allowed.judged, 6);
    assert_int_equal(judge(&p, 4, 0), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 4, cupel_format_smallest(CUPEL_F32)), CUPEL_WRONG_VALUE);
    property_problem q = problem(arena, "softmax(x, axis=-1)", 0, 5, 2);
    property_add(&q, "x", 2, 0, 5);
    property_answer(&q);
    assert_int_equal(q.allowed.count, 0);
    cupel_arena_free(arena);
}

/* Figures of the contract replace the derived interval; what is no number stays what the exact answer is. */
static void tolerance_replaces_the_bound(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x * 3", 1, 3, 2);
    property_input *x = property_add(&p, "x", 2, 1, 3);
    x->values[0] = 1, x->values[1] = NAN, x->values[2] = -INFINITY;
    property_answer(&p);
    assert_int_equal(judge(&p, 0, 3.01), CUPEL_WRONG_VALUE);
    cupel_error err = {0};
    assert_int_equal(cupel_allowed_tolerate(&p.allowed, NAN, 0, &err), CUPEL_RANGE);
    assert_int_equal(cupel_allowed_tolerate(&p.allowed, 0, -1, &err), CUPEL_RANGE);
    assert_int_equal(cupel_allowed_tolerate(&p.allowed, 0.01, 0.01, &err), CUPEL_OK);
    assert_int_equal(judge(&p, 0, 3.01), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 0, 3.05), CUPEL_WRONG_VALUE);
    assert_int_equal(judge(&p, 0, NAN), CUPEL_WRONG_NAN);
    assert_int_equal(judge(&p, 1, 3), CUPEL_MISSING_NAN);
    assert_int_equal(judge(&p, 2, INFINITY), CUPEL_WRONG_INF);
    assert_int_equal(judge(&p, 2, -INFINITY), CUPEL_ALLOWED);
    cupel_arena_free(arena);
}

/* range: safe asks for the right value where the working precision might overflow. */
static void safe_range(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (int safe = 0; safe < 2; safe++) {
        property_problem p = problem(arena, "x * 2", 1, 1, 2);
        property_input *x = property_add(&p, "x", 2, 1, 1);
        x->values[0] = 0x1p126;
        p.rules.range_safe = safe;
        property_answer(&p);
        assert_int_equal(judge(&p, 0, 0x1p127), safe ? CUPEL_ALLOWED : CUPEL_NOT_JUDGED);
        assert_int_equal(judge(&p, 0, INFINITY), safe ? CUPEL_WRONG_INF : CUPEL_NOT_JUDGED);
    }
    cupel_arena_free(arena);
}

/* An accumulator of half precision, where the contract says so: sums rounded to f16 at every step stay
 * inside, in any order. */
static void half_accumulators(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (uint64_t seed = 0; seed < 200; seed++) {
        const int64_t n = 2 + (int64_t)(seed % 40);
        property_problem p = problem(arena, "sum(x * x, axis=-1)", 1, n, 1);
        p.type = p.rules.working = seed % 2 ? CUPEL_F16 : CUPEL_BF16;
        p.random = cupel_random_start(seed, 9);
        property_input *x = property_add(&p, "x", 2, 1, n);
        property_fill(&p, x, (int)(seed % 3) == 0 ? 0 : 9);
        property_answer(&p);
        double forward = 0, backward = 0;
        for (int64_t i = 0; i < n; i++) {
            const double a = x->values[i], z = x->values[n - 1 - i];
            forward = cupel_round(p.type, forward + cupel_round(p.type, a * a));
            backward = cupel_round(p.type, fma(z, z, backward)); /* fused */
        }
        const cupel_judgement one = judge(&p, 0, forward), two = judge(&p, 0, backward);
        if ((one != CUPEL_ALLOWED && one != CUPEL_NOT_JUDGED) ||
            (two != CUPEL_ALLOWED && two != CUPEL_NOT_JUDGED))
            fail_msg("seed %llu: %g and %g, allowed [%g, %g]", (unsigned long long)seed, forward, backward,
                     p.allowed.lo[0], p.allowed.hi[0]);
        cupel_arena_reset(arena);
    }
    cupel_arena_free(arena);
}

/* fp64 cannot bound kernels that compute in it. */
static void double_precision_is_refused(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x + x", 1, 1, 2);
    property_add(&p, "x", 2, 1, 1);
    p.rules.working = CUPEL_F64;
    property_build(&p);
    cupel_error err = {0};
    assert_int_equal(cupel_oracle_bounded(p.graph, &p.bindings, &p.rules, arena, &p.allowed, &err),
                     CUPEL_UNABLE);
    cupel_arena_free(arena);
}

/* Every function of one argument that no rule calls exact has its row, with a source; and the budget holds
 * for a library whose functions are within one ulp, over the whole range. */
static void budgets_have_sources(void **state) {
    (void)state;
    static const cupel_op functions[] = {
        CUPEL_OP_SQRT, CUPEL_OP_RSQRT, CUPEL_OP_EXP,   CUPEL_OP_EXP2, CUPEL_OP_EXPM1, CUPEL_OP_LOG,
        CUPEL_OP_LOG2, CUPEL_OP_LOG10, CUPEL_OP_LOG1P, CUPEL_OP_SIN,  CUPEL_OP_COS,   CUPEL_OP_TAN,
        CUPEL_OP_ASIN, CUPEL_OP_ACOS,  CUPEL_OP_ATAN,  CUPEL_OP_SINH, CUPEL_OP_COSH,  CUPEL_OP_TANH,
        CUPEL_OP_ERF,  CUPEL_OP_ERFC,  CUPEL_OP_ATAN2, CUPEL_OP_POW};
    for (int type = 0; type < CUPEL_DTYPE_COUNT; type++) {
        if (cupel_format_of((cupel_dtype)type)->kind != CUPEL_KIND_REAL) continue;
        for (int fast = 0; fast < 2; fast++) {
            const cupel_working w =
                cupel_working_of(&(cupel_rules){.working = (cupel_dtype)type, .fast_math = fast});
            for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
                const cupel_budget *row = cupel_budget_of(functions[i]);
                assert_non_null(row);
                assert_true(row->source && row->source[0]);
                /* half an ulp at the least; one double of slack for the products on the way */
                const double error = cupel_budget_error(&w, functions[i], 0.3, 0.3, 0.7);
                assert_true(error >= 0.5 * cupel_working_ulp(&w, 0.7) * (1 - 0x1p-50) && isfinite(error));
            }
        }
    }
    assert_null(cupel_budget_of(CUPEL_OP_ADD));
}

/* Ranges are clipped only where they hold: not for the maximum of another row, nor for a sum along another
 * axis. */
static void maxima_of_other_rows(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "x - amax(x, axis=-1)", 2, 2, 2);
    property_input *x = property_add(&p, "x", 2, 2, 2);
    const double values[] = {5, 4, 2, 1}; /* the maxima 5 and 2 meet the columns */
    for (int i = 0; i < 4; i++) x->values[i] = values[i];
    property_answer(&p);
    assert_int_equal(judge(&p, 1, 2), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 1, 0), CUPEL_WRONG_VALUE);
    property_problem q = problem(arena, "sum(exp(x - amax(x, axis=-1, keepdim=true)), axis=0)", 2, 2, 1);
    q.inputs[0] = *x, q.input_count = 1;
    property_answer(&q);
    assert_int_equal(judge(&q, 1, 2 * expf(-1)), CUPEL_ALLOWED); /* below 1 */
    property_problem r = problem(arena, "1 / sum(exp(x - amax(x, axis=0, keepdim=true)), axis=0)", 2, 2, 1);
    r.inputs[0] = *x, r.input_count = 1;
    property_answer(&r);
    assert_int_equal(judge(&r, 0, 1 / (1 + expf(-3))), CUPEL_ALLOWED);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_of_exact_operands),
        cmocka_unit_test(clipped_variance),
        cmocka_unit_test(overflow_threshold_of_the_output),
        cmocka_unit_test(huge_divisor),
        cmocka_unit_test(judging_classifies_both_sides),
        cmocka_unit_test(kept_elements),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(tolerance_replaces_the_bound),
        cmocka_unit_test(safe_range),
        cmocka_unit_test(half_accumulators),
        cmocka_unit_test(double_precision_is_refused),
        cmocka_unit_test(budgets_have_sources),
        cmocka_unit_test(maxima_of_other_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
