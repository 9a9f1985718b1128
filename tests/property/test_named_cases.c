/* Nine inputs on which a plainer rule accuses a correct kernel, each with the kernels that it would accuse:
 * they are computed here, in their forms, and judged by the bounded and by the exact evaluator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "good_kernels.h"

enum { FORMS = 240 };

static property_problem problem(cupel_arena *arena, const char *expression, int64_t m, int64_t n) {
    property_problem p = {
        .expression = expression, .arena = arena, .type = CUPEL_F32, .m = m, .n = n, .k = 1};
    p.rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
    p.random = cupel_random_start(5, 1);
    return p;
}

static property_input *input(property_problem *p, const char *name, int rank, int64_t rows, int64_t columns,
                             double value) {
    property_input *in = property_add(p, name, rank, rows, columns);
    for (int64_t i = 0; i < in->count; i++) in->values[i] = cupel_round(p->type, value);
    return in;
}

static cupel_judgement judge(const property_problem *p, int64_t i, double x) {
    unsigned char bytes[8];
    cupel_encode(p->type, x, bytes);
    return cupel_judge_element(&p->allowed, i, bytes);
}

/* Neither evaluator objects to these results. */
static void assert_allowed(property_problem *p, const double *results) {
    cupel_error err = {0};
    cupel_exact_session *session;
    assert_int_equal(cupel_exact_open(p->graph, &p->bindings, &p->rules, &session, &err), CUPEL_OK);
    cupel_allowed exact;
    assert_int_equal(cupel_exact_output(session, 0, p->arena, &exact, &err), CUPEL_OK);
    for (int64_t i = 0; i < p->count; i++) {
        unsigned char bytes[8];
        cupel_encode(p->type, results[i], bytes);
        const cupel_judgement bounded = judge(p, i, results[i]), sure = cupel_judge_element(&exact, i, bytes);
        if (bounded > CUPEL_NOT_JUDGED || sure > CUPEL_NOT_JUDGED)
            fail_msg("%s [%d]: %.9g, bounded says %d of [%.9g, %.9g] classes %d, exact %d of [%.9g, %.9g] "
                     "classes %d",
                     p->expression, (int)i, results[i], bounded, p->allowed.lo[i], p->allowed.hi[i],
                     p->allowed.classes[i], sure, exact.lo[i], exact.hi[i], exact.classes[i]);
    }
    cupel_exact_close(session);
}

/* Runs all forms of a kernel on the problem. */
static void assert_all_forms(property_problem *p, property_shadow *kernel) {
    property_answer(p);
    double *results = cupel_arena_alloc(p->arena, (size_t)p->count * sizeof *results + 8);
    for (int form = 0; form < FORMS; form++) {
        kernel(p, form, results);
        assert_allowed(p, results);
    }
}

/* ---- 1: an accumulator that starts from a large bias loses every product ---- */

static void dot_and_bias(property_problem *p, int form, double *results) {
    float terms[512], acc = form % 3 ? good_at(p, 2, 0, 0) : 0;
    for (int64_t i = 0; i < p->n; i++) {
        terms[i] = good_at(p, 0, 0, i) * (float)p->inputs[1].values[i];
        acc = form % 2 ? acc + terms[i] : fmaf(good_at(p, 0, 0, i), (float)p->inputs[1].values[i], acc);
    }
    if (form % 3 == 0) acc = good_at(p, 2, 0, 0) + good_sum(p, terms, p->n, form / 3);
    results[0] = acc;
}

static void accumulator_from_a_large_bias(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "matmul(x, w) + b", 1, 512);
    input(&p, "x", 2, 1, 512, 1), input(&p, "w", 2, 512, 1, 1), input(&p, "b", 1, 1, 0, 1e8);
    property_expect(&p, 2, (const int64_t[]){1, 1});
    assert_all_forms(&p, dot_and_bias);
    double result;
    dot_and_bias(&p, 1, &result);
    assert_true(result == 1e8); /* every product is lost */
    assert_int_equal(judge(&p, 0, 0.9e8), CUPEL_WRONG_VALUE);
    cupel_arena_free(arena);
}

/* ---- 2: Welford's and Chan's differences overflow where two passes do not ---- */

static void variance(property_problem *p, int form, double *results) {
    float x[4];
    good_row(p, 0, 0, x);
    results[0] = good_divide(p, good_statistics_of(p, x, p->n, form).m2, (float)p->n);
}

static void welford_of_two_huge_numbers(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "var(x, axis=-1, correction=0)", 1, 2);
    property_input *x = input(&p, "x", 2, 1, 2, 1e19);
    x->values[1] = -x->values[0];
    property_expect(&p, 1, (const int64_t[]){1});
    assert_all_forms(&p, variance);
    /* the pairwise update, whose delta is 2e19 */
    const float x0 = (float)x->values[0], delta = (float)x->values[1] - x0;
    const double pairwise = delta * delta * 0.5f / 2.0f;
    assert_true(isinf(pairwise));
    assert_allowed(&p, &pairwise);
    assert_int_equal(p.allowed.reasons[0], CUPEL_REASON_OVERFLOW);
    cupel_arena_free(arena);
}

/* ---- 3: online attention accumulates what is divided only in the end ---- */

/* Scores by q = 0 are all 0; acc is rescaled by exp(m - m') and divided by the sum of weights. */
static void online_attention(property_problem *p, int form, double *results) {
    float acc = 0, sum = 0;
    for (int64_t s = 0; s < p->n; s++) {
        const float weight = good_exp(p, 0), rescale = s ? good_exp(p, 0) : 0,
                    v = (float)p->inputs[2].values[s];
        acc = form % 2 ? fmaf(acc, rescale, weight * v) : acc * rescale + weight * v;
        sum = sum * rescale + weight;
    }
    results[0] = form % 3 ? good_divide(p, acc, sum) : acc * (1.0f / sum);
}

static void early_attention(property_problem *p, int form, double *results) {
    float acc = 0;
    for (int64_t s = 0; s < p->n; s++) acc += good_divide(p, 1, (float)p->n) * (float)p->inputs[2].values[s];
    (void)form;
    results[0] = acc;
}

static void online_attention_of_large_values(void **state) {
    (void)state;
    static const char *const expressions[] = {"matmul(softmax(matmul(q, transpose(k)) * 0.5, axis=-1), v)",
                                              "attention(q, k, v)"};
    cupel_arena *arena = cupel_arena_create(0);
    for (int e = 0; e < 2; e++) {
        property_problem p = problem(arena, expressions[e], 1, 2);
        input(&p, "q", 2, 1, 4, 0), input(&p, "k", 2, 2, 4, 1.5), input(&p, "v", 2, 2, 1, 2e38);
        property_expect(&p, 2, (const int64_t[]){1, 1});
        assert_all_forms(&p, online_attention);
        double result;
        online_attention(&p, 0, &result);
        assert_true(isinf(result)); /* 2e38 + 2e38 before the division by 2 */
        assert_all_forms(&p, early_attention);
    }
    cupel_arena_free(arena);
}

/* ---- 4: a serial sum overflows before it meets the infinity of the other sign ---- */

static void sum(property_problem *p, int form, double *results) {
    float x[4];
    good_row(p, 0, 0, x);
    results[0] = good_sum(p, x, p->n, form);
}

static void serial_sum_meets_an_infinity(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "sum(x, axis=-1)", 1, 3);
    input(&p, "x", 2, 1, 3, 3e38)->values[2] = -INFINITY;
    property_expect(&p, 1, (const int64_t[]){1});
    assert_all_forms(&p, sum);
    double result;
    sum(&p, 0, &result);
    assert_true(isnan(result));
    sum(&p, 1, &result); /* backwards */
    assert_true(isinf(result));
    /* without the chance of overflow only -inf remains */
    property_problem q = problem(arena, "sum(x, axis=-1)", 1, 3);
    input(&q, "x", 2, 1, 3, 3)->values[2] = -INFINITY;
    property_expect(&q, 1, (const int64_t[]){1});
    assert_all_forms(&q, sum);
    assert_int_equal(judge(&q, 0, NAN), CUPEL_WRONG_NAN);
    assert_int_equal(judge(&q, 0, 6), CUPEL_MISSING_INF);
    cupel_arena_free(arena);
}

/* ---- 5: a rounded mean of a constant leaves a difference, and an infinite weight makes it infinite ---- */

static void normalise(property_problem *p, int form, double *results) {
    float x[PROPERTY_LONGEST];
    good_row(p, 0, 0, x);
    const good_statistics s = good_statistics_of(p, x, p->n, form);
    const float rstd = good_rsqrt(p, s.m2 / (float)p->n + 1e-5f);
    for (int64_t i = 0; i < p->n; i++) {
        const float w = (float)p->inputs[1].values[0];
        results[i] = form % 2 ? (x[i] - s.mean) * rstd * w : (x[i] - s.mean) * (rstd * w);
    }
}

static void normalised_constant_with_an_infinite_weight(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (int group = 0; group < 2; group++) {
        property_problem p = problem(arena, group ? "group_norm(x, 1, w)" : "layer_norm(x, w)", 1, 13);
        const int64_t shape[] = {1, 1, 13};
        property_input *x =
            group ? property_add_shaped(&p, "x", p.type, 3, shape) : input(&p, "x", 2, 1, 13, 0);
        for (int i = 0; i < 13; i++) x->values[i] = cupel_round(p.type, 0.1);
        input(&p, "w", 1, group ? 1 : 13, 0, INFINITY);
        property_expect(&p, group ? 3 : 2, group ? shape : (const int64_t[]){1, 13});
        assert_all_forms(&p, normalise);
        double results[13];
        int infinite = 0; /* where the mean is rounded; exactly it is 0 * inf */
        for (int form = 0; form < FORMS; form++)
            normalise(&p, form, results), infinite += isinf(results[0]) != 0;
        assert_true(infinite > 0);
        assert_true(isnan(p.allowed.value[0]));
    }
    cupel_arena_free(arena);
}

/* ---- 6: a weight that underflows meets a huge gradient ---- */

static void softmax_backward(property_problem *p, int form, double *results) {
    float x[PROPERTY_LONGEST], e[PROPERTY_LONGEST], d[PROPERTY_LONGEST], total, top;
    good_row(p, 0, 0, x);
    good_softmax_row(p, x, p->n, form, e, &total, &top);
    for (int64_t i = 0; i < p->n; i++) e[i] = good_divide(p, e[i], total), d[i] = e[i] * good_at(p, 1, 0, i);
    const float dot = good_sum(p, d, p->n, form / 4);
    for (int64_t i = 0; i < p->n; i++)
        results[i] = form % 2 ? e[i] * (good_at(p, 1, 0, i) - dot) : fmaf(-e[i], dot, d[i]);
}

static void softmax_backward_of_a_far_score(void **state) {
    (void)state;
    static const char *const expressions[] = {
        "softmax(x, axis=-1) * (dy - sum(softmax(x, axis=-1) * dy, axis=-1, keepdim=true))",
        "vjp(softmax(x, axis=-1), x, dy)"};
    cupel_arena *arena = cupel_arena_create(0);
    for (int64_t n = 2; n <= 40; n += 6) {
        for (int e = 0; e < 2; e++) {
            property_problem p = problem(arena, expressions[e], 1, n);
            input(&p, "x", 2, 1, n, 0)->values[n - 1] = -95;
            input(&p, "dy", 2, 1, n, 0)->values[n - 1] = cupel_round(CUPEL_F32, 1e30);
            property_expect(&p, 2, (const int64_t[]){1, n});
            assert_all_forms(&p, softmax_backward);
        }
    }
    cupel_arena_free(arena);
}

/* ---- 7: a kernel that flushes reads a zero ---- */

static void flushed_operand(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (int flush = 0; flush < 2; flush++) {
        property_problem p = problem(arena, "x * 10", 1, 1);
        const float x = 1e-38f;
        input(&p, "x", 2, 1, 1, x);
        p.rules.subnormals = flush ? CUPEL_SUBNORMALS_FLUSH : CUPEL_SUBNORMALS_KEEP;
        property_expect(&p, 2, (const int64_t[]){1, 1});
        property_answer(&p);
        assert_allowed(&p, &(const double){x * 10.0f});
        if (flush) assert_allowed(&p, &(const double){0});
        assert_int_equal(judge(&p, 0, 0), flush ? CUPEL_ALLOWED : CUPEL_WRONG_VALUE); /* keep means keep */
        assert_int_equal(judge(&p, 0, 1e-36), CUPEL_WRONG_VALUE);
    }
    cupel_arena_free(arena);
}

/* ---- 8: the hardware's exponential is off by ulps that grow with its argument ---- */

static void softmax(property_problem *p, int form, double *results) {
    float x[PROPERTY_LONGEST], e[PROPERTY_LONGEST], total, top;
    good_row(p, 0, 0, x);
    good_softmax_row(p, x, p->n, form, e, &total, &top);
    for (int64_t i = 0; i < p->n; i++) results[i] = good_divide(p, e[i], total);
}

static void softmax_of_a_far_score(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = problem(arena, "softmax(x, axis=-1)", 1, 2);
    input(&p, "x", 2, 1, 2, 0)->values[1] = cupel_round(CUPEL_F32, -40.37);
    property_expect(&p, 2, (const int64_t[]){1, 2});
    assert_all_forms(&p, softmax);
    const float e = expf((float)p.inputs[0].values[1]), ulp = nextafterf(e, 1) - e;
    for (int by = -48; by <= 48; by += 8) assert_int_equal(judge(&p, 1, e + (float)by * ulp), CUPEL_ALLOWED);
    assert_int_equal(judge(&p, 1, e * 1.01), CUPEL_WRONG_VALUE);
    assert_int_equal(judge(&p, 1, NAN), CUPEL_WRONG_NAN);
    cupel_arena_free(arena);
}

/* ---- 9: a difference that rounds to either side of 0, times an infinity, into a function of two limits ----
 */

static void activation_of_either_infinity(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        double at_minus, at_plus, wrong;
    } functions[] = {
        {"gelu((x - mean(x, axis=-1, keepdims=true)) * w)", NAN, INFINITY, 5},
        {"tanh((x - mean(x, axis=-1, keepdims=true)) * w)", -1, 1, 2},
        {"atan((x - mean(x, axis=-1, keepdims=true)) * w)", -1.5707963267948966, 1.5707963267948966, 3},
        {"1 / where(x > mean(x, axis=-1, keepdims=true), w, x)", 0, 0.5, 2},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        property_problem p = problem(arena, functions[i].expression, 1, 3);
        property_input *x = input(&p, "x", 2, 1, 3, 2);
        x->values[0] = 0x1.000002p1; /* the mean lies a third of an ulp above 2, which rounds to 2 */
        input(&p, "w", 2, 1, 3, -INFINITY);
        property_expect(&p, 2, (const int64_t[]){1, 3});
        property_answer(&p);
        const double results[] = {functions[i].at_minus, functions[i].at_plus};
        for (size_t k = 0; k < 2; k++) {
            if (judge(&p, 1, cupel_round(CUPEL_F32, results[k])) > CUPEL_NOT_JUDGED)
                fail_msg("%s: %g is accused", functions[i].expression, results[k]);
        }
        if (judge(&p, 1, functions[i].wrong) <= CUPEL_NOT_JUDGED)
            fail_msg("%s: %g is excused", functions[i].expression, functions[i].wrong);
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accumulator_from_a_large_bias),
        cmocka_unit_test(welford_of_two_huge_numbers),
        cmocka_unit_test(online_attention_of_large_values),
        cmocka_unit_test(serial_sum_meets_an_infinity),
        cmocka_unit_test(normalised_constant_with_an_infinite_weight),
        cmocka_unit_test(softmax_backward_of_a_far_score),
        cmocka_unit_test(flushed_operand),
        cmocka_unit_test(softmax_of_a_far_score),
        cmocka_unit_test(activation_of_either_infinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
