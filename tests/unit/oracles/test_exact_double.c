/* f64 outputs are judged by the exact evaluator alone: kernels written in plain double, in several orders,
 * must be allowed, and results a few radii out must not. */
#include "exact_fixture.h"

#include <math.h>

#include "philox.h"

enum { ROWS = 3, LENGTH = 33, COUNT = ROWS * LENGTH };

static double x[COUNT], w[LENGTH];

static void fill(cupel_random *random, int round) {
    static const double scales[] = {1, 1e-3, 40, 1e150, 1e-160, 1e-316};
    for (int i = 0; i < COUNT; i++) {
        x[i] = (cupel_random_unit(random) - 0.5) * 4 * scales[round % 6];
        if (round % 7 == 3) x[i] += 1e4;
        if (round % 7 == 6 && i % 11 == 0) x[i] *= 1e8;
    }
    for (int i = 0; i < LENGTH; i++) w[i] = cupel_random_unit(random) * 2 - 1;
}

/* Sums in three orders: forwards, backwards, and by 8 lanes. */
static double sum(const double *v, int order) {
    double lanes[8] = {0}, total = 0;
    for (int i = 0; i < LENGTH; i++) {
        if (order == 0) total += v[i];
        if (order == 1) total += v[LENGTH - 1 - i];
        if (order == 2) lanes[i % 8] += v[i];
    }
    for (int i = 0; i < 8; i++) total += lanes[i];
    return total;
}

static void softmax(const double *in, double *out, int order) {
    double top = -INFINITY, e[LENGTH];
    for (int i = 0; i < LENGTH; i++) top = fmax(top, in[i]);
    for (int i = 0; i < LENGTH; i++) e[i] = exp(in[i] - top);
    const double total = sum(e, order);
    for (int i = 0; i < LENGTH; i++) out[i] = order == 1 ? e[i] * (1 / total) : e[i] / total;
}

static void log_softmax(const double *in, double *out, int order) {
    double top = -INFINITY, e[LENGTH];
    for (int i = 0; i < LENGTH; i++) top = fmax(top, in[i]);
    for (int i = 0; i < LENGTH; i++) e[i] = exp(in[i] - top);
    const double log_total = log(sum(e, order));
    for (int i = 0; i < LENGTH; i++) out[i] = (in[i] - top) - log_total;
}

static void layer_norm(const double *in, double *out, int order) {
    double square[LENGTH];
    const double mean = sum(in, order) / LENGTH;
    for (int i = 0; i < LENGTH; i++) square[i] = (in[i] - mean) * (in[i] - mean);
    const double scale = 1 / sqrt(sum(square, order) / LENGTH + 1e-5);
    for (int i = 0; i < LENGTH; i++) out[i] = (in[i] - mean) * scale * w[i];
}

static void rms_norm(const double *in, double *out, int order) {
    double square[LENGTH];
    for (int i = 0; i < LENGTH; i++) square[i] = in[i] * in[i];
    const double scale = 1 / sqrt(sum(square, order) / LENGTH + 1e-5);
    for (int i = 0; i < LENGTH; i++) out[i] = in[i] * scale;
}

static void dot(const double *in, double *out, int order) {
    double total = 0, product[LENGTH];
    for (int i = 0; i < LENGTH; i++) product[i] = in[i] * w[i];
    for (int i = 0; i < LENGTH; i++) total = fma(in[i], w[i], total);
    out[0] = order == 0 ? total : sum(product, order);
}

static void gelu(const double *in, double *out, int order) {
    (void)order;
    for (int i = 0; i < LENGTH; i++) out[i] = in[i] * 0.5 * (1 + erf(in[i] * 0.70710678118654752440));
}

static void mixed(const double *in, double *out, int order) {
    for (int i = 0; i < LENGTH; i++) {
        const double q = order ? in[i] * (1 / 3.0) : in[i] / 3;
        out[i] = tanh(q) * exp(-q * q) + log1p(q * q) * 0.1;
    }
}

static void running(const double *in, double *out, int order) {
    (void)order;
    double total = 0;
    for (int i = 0; i < LENGTH; i++) out[i] = total += in[i];
}

/* Rounds twice among the subnormal numbers in the rounds that have them. */
static void quarters(const double *in, double *out, int order) {
    for (int i = 0; i < LENGTH; i++) out[i] = order ? in[i] * 0.75 * 0.75 : in[i] * 0.5625;
}

typedef struct kernel {
    const char *text, *shape;
    void (*run)(const double *in, double *out, int order);
} kernel;

static const kernel kernels[] = {
    {"softmax(x, axis=-1)", "3,33", softmax},
    {"log_softmax(x, axis=-1)", "3,33", log_softmax},
    {"layer_norm(x, w)", "3,33", layer_norm},
    {"rms_norm(x)", "3,33", rms_norm},
    {"matmul(x, w)", "3", dot},
    {"gelu(x)", "3,33", gelu},
    {"tanh(x / 3) * exp(-(x / 3) ** 2) + log1p((x / 3) ** 2) * 0.1", "3,33", mixed},
    {"cumsum(x, axis=-1)", "3,33", running},
    {"x * 0.75 * 0.75", "3,33", quarters},
};

static void double_kernels_are_allowed(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(5, 1);
    int64_t judged = 0, all = 0;
    for (int round = 0; round < 10; round++) {
        fill(&random, round);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            exact_fixture f;
            exact_start(&f);
            f.rules.working = CUPEL_F64;
            f.rules.fast_math = round & 1;
            exact_input(&f, "x", CUPEL_F64, "3,33", x);
            exact_input(&f, "w", CUPEL_F64, "33", w);
            exact_build(&f, kernels[k].text, CUPEL_F64, kernels[k].shape);
            cupel_allowed allowed;
            assert_int_equal(cupel_exact_output(f.session, 0, f.f.arena, &allowed, &f.f.err), CUPEL_OK);
            const int64_t width = allowed.count / ROWS;
            judged += allowed.judged;
            all += allowed.count;
            for (int order = 0; order < 3; order++) {
                for (int row = 0; row < ROWS; row++) {
                    double out[LENGTH];
                    kernels[k].run(x + row * LENGTH, out, order);
                    for (int64_t i = 0; i < width; i++) {
                        const int64_t at = row * width + i;
                        const cupel_judgement verdict = cupel_judge_element(&allowed, at, &out[i]);
                        if (verdict != CUPEL_ALLOWED && verdict != CUPEL_NOT_JUDGED)
                            fail_msg("%s [%d] order %d round %d: %a is judged %d, allowed [%a, %a]",
                                     kernels[k].text, (int)at, order, round, out[i], verdict, allowed.lo[at],
                                     allowed.hi[at]);
                        if (allowed.reasons[at] != CUPEL_REASON_JUDGED || !isfinite(allowed.radius[at]))
                            continue;
                        double wrong = allowed.hi[at] + 4 * allowed.radius[at] +
                                       4 * fabs(allowed.hi[at]) * 0x1p-52 + 5e-324;
                        assert_int_equal(cupel_judge_element(&allowed, at, &wrong), CUPEL_WRONG_VALUE);
                    }
                }
            }
            exact_end(&f);
        }
    }
    assert_true(judged > all / 2);
}

/* The radius of one rounding is one rounding, and what doubles cannot tell beyond it. */
static void bounds_of_double_are_tight(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(6, 1);
    fill(&random, 0);
    exact_fixture f;
    exact_start(&f);
    f.rules.working = CUPEL_F64;
    exact_input(&f, "x", CUPEL_F64, "3,33", x);
    exact_input(&f, "w", CUPEL_F64, "33", w);
    exact_build(&f, "x * w", CUPEL_F64, "3,33");
    for (int i = 0; i < COUNT; i++) {
        const cupel_exact_element e = exact_element(&f, i);
        assert_true(e.rounded == x[i] * w[i % LENGTH]);
        assert_true(cupel_steps_between(CUPEL_F64, e.lo, e.rounded) <= 5);
        assert_true(cupel_steps_between(CUPEL_F64, e.rounded, e.hi) <= 5);
    }
    exact_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_kernels_are_allowed),
        cmocka_unit_test(bounds_of_double_are_tight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
