/* Backward kernels with a fault, else in double precision. x, and w as the upstream gradient. */
#include "bad_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

typedef struct row_state {
    double x[LONGEST], dy[LONGEST], y[LONGEST];
    double sum, along; /* of dy, and of dy y */
} row_state;

static void load(const property_problem *p, int64_t row, row_state *s) {
    for (int64_t i = 0; i < p->n; i++) {
        s->x[i] = p->inputs[0].values[row * p->n + i];
        s->dy[i] = p->inputs[1].values[row * p->n + i];
    }
}

static void finish_sums(const property_problem *p, row_state *s) {
    s->sum = s->along = 0;
    for (int64_t i = 0; i < p->n; i++) s->sum += s->dy[i], s->along += s->dy[i] * s->y[i];
}

static void softmax_of(const property_problem *p, int64_t row, row_state *s) {
    double top = -INFINITY, sum = 0;
    load(p, row, s);
    for (int64_t i = 0; i < p->n; i++) top = fmax(top, s->x[i]);
    for (int64_t i = 0; i < p->n; i++) sum += s->y[i] = exp(s->x[i] - top);
    for (int64_t i = 0; i < p->n; i++) s->y[i] /= sum;
    finish_sums(p, s);
}

/* y gets xhat; returns 1 / sqrt(var + eps). */
static double norm_of(const property_problem *p, int64_t row, row_state *s, bool centred) {
    double mean = 0, square = 0;
    const double n = (double)p->n;
    load(p, row, s);
    for (int64_t i = 0; i < p->n; i++) mean += centred ? s->x[i] / n : 0;
    for (int64_t i = 0; i < p->n; i++) square += (s->x[i] - mean) * (s->x[i] - mean) / n;
    const double scale = 1 / sqrt(square + 1e-5);
    for (int64_t i = 0; i < p->n; i++) s->y[i] = (s->x[i] - mean) * scale;
    finish_sums(p, s);
    return scale;
}

#define ROWS(name, prepare, value)                                                                           \
    static void name(property_problem *p, int form, double *results) {                                       \
        row_state s;                                                                                         \
        const double n = (double)p->n;                                                                       \
        (void)form, (void)n;                                                                                 \
        for (int64_t row = 0; row < p->m; row++) {                                                           \
            const double scale = prepare;                                                                    \
            (void)scale;                                                                                     \
            for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = value;                              \
        }                                                                                                    \
    }

ROWS(softmax_without_sum, (softmax_of(p, row, &s), 1), s.y[i] * s.dy[i])
ROWS(softmax_sum_of_dy, (softmax_of(p, row, &s), 1), s.y[i] * (s.dy[i] - s.sum))
ROWS(log_softmax_without_sum, (softmax_of(p, row, &s), 1), s.dy[i] - s.y[i])
ROWS(detached_statistics, norm_of(p, row, &s, true), scale *s.dy[i])
ROWS(detached_mean, norm_of(p, row, &s, true), scale *(s.dy[i] - s.y[i] * s.along / n))
ROWS(detached_variance, norm_of(p, row, &s, true), scale *(s.dy[i] - s.sum / n))
ROWS(detached_square, norm_of(p, row, &s, false), scale *s.dy[i])
ROWS(unbiased, norm_of(p, row, &s, true), scale *(s.dy[i] - s.sum / n - s.y[i] * s.along / (n - 1)))
ROWS(forward_cumsum, (load(p, row, &s), 1), s.dy[i] + (i > 0 ? results[row * p->n + i - 1] : 0))

#define SCALAR(name, formula)                                                                                \
    static float name(property_problem *p, int form, float x, float dy, float unused) {                      \
        (void)p, (void)form, (void)unused;                                                                   \
        return (float)(formula);                                                                             \
    }
static double logistic(double x) {
    return 1 / (1 + exp(-x));
}
static double tanh_slope(double x) {
    const double beta = 0.7978845608028654, k = 0.044715, t = tanh(beta * (x + k * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * beta * (1 + 3 * k * x * x);
}
static double normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}
SCALAR(gelu_as_tanh, dy *tanh_slope(x))
SCALAR(gelu_cdf_alone, dy *normal_cdf(x))
SCALAR(silu_sigmoid_alone, dy *logistic(x))
SCALAR(sigmoid_of_y, dy *logistic(x))
SCALAR(tanh_linear, dy *(1 - fabs(tanh(x))))
SCALAR(relu_at_zero, x >= 0 || isnan(x) ? dy : 0)
SCALAR(sqrt_without_half, dy / sqrt(x))
SCALAR(softplus_as_relu, x > 0 ? dy : 0)

#define ROW(name, expression, shadow)                                                                        \
    { name, expression, 2, PROPERTY_POINTWISE, 1, shadow, NULL, NULL, 0 }
#define ONE(name, expression, scalar)                                                                        \
    { name, expression, 2, PROPERTY_POINTWISE, 1, NULL, scalar, NULL, 0 }
static const property_operator rows[] = {
    ROW("without the sum", "vjp(softmax(x, axis=-1), x, w)", softmax_without_sum),
    ROW("sum of dy alone", "vjp(softmax(x, axis=-1), x, w)", softmax_sum_of_dy),
    ROW("without the sum", "vjp(log_softmax(x, axis=-1), x, w)", log_softmax_without_sum),
    ROW("statistics taken as constants", "vjp(layer_norm(x), x, w)", detached_statistics),
    ROW("mean taken as a constant", "vjp(layer_norm(x), x, w)", detached_mean),
    ROW("variance taken as a constant", "vjp(layer_norm(x), x, w)", detached_variance),
    ROW("n - 1", "vjp(layer_norm(x), x, w)", unbiased),
    ROW("square taken as a constant", "vjp(rms_norm(x), x, w)", detached_square),
    ROW("forwards", "vjp(cumsum(x, axis=-1), x, w)", forward_cumsum),
    ONE("tanh's derivative", "vjp(gelu(x), x, w)", gelu_as_tanh),
    ONE("cdf alone", "vjp(gelu(x), x, w)", gelu_cdf_alone),
    ONE("sigmoid alone", "vjp(silu(x), x, w)", silu_sigmoid_alone),
    ONE("y for y (1 - y)", "vjp(sigmoid(x), x, w)", sigmoid_of_y),
    ONE("not squared", "vjp(tanh(x), x, w)", tanh_linear),
    ONE("dy at 0", "vjp(relu(x), x, w)", relu_at_zero),
    ONE("without 1/2", "vjp(sqrt(x), x, w)", sqrt_without_half),
    ONE("as relu", "vjp(softplus(x), x, w)", softplus_as_relu),
};
const property_family bad_gradient = {"gradient", rows, sizeof rows / sizeof *rows};
