/* Backward kernels with a fault, else in double precision. */
#include "bad_kernels.h"

#define FAULT(name, result)                                                                                  \
    static float name(property_problem *p, int form, float x, float w, float b) {                            \
        (void)p, (void)form, (void)x, (void)w, (void)b;                                                      \
        return (float)(result);                                                                              \
    }
FAULT(at_zero_too, x >= 0 ? b : 0)
FAULT(of_the_output, b *tanh((double)x) * (1 - tanh((double)x)))
FAULT(no_density, b * 0.5 * (1 + erf((double)x * 0.70710678)))
FAULT(no_slope, b / (1 + exp(-(double)x)))
FAULT(unsigned_divisor, b *x / ((double)w * w))

static void rows_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 1, p->n, 0));
    property_fill_any(p, property_add(p, "dy", 2, p->m, p->n));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

/* y dy, the sum forgotten. */
static void diagonal_softmax(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        const double *x = p->inputs[0].values + row * p->n, *dy = p->inputs[2].values + row * p->n;
        double top = -INFINITY, s = 0;
        for (int64_t i = 0; i < p->n; i++) top = fmax(top, x[i]);
        for (int64_t i = 0; i < p->n; i++) s += exp(x[i] - top);
        for (int64_t i = 0; i < p->n; i++) {
            const double y = exp(x[i] - top) / s;
            results[row * p->n + i] = y * (1 - y) * dy[i];
        }
    }
}

/* Mean and variance taken for constants. */
static void frozen_norm(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        const double *x = p->inputs[0].values + row * p->n, *dy = p->inputs[2].values + row * p->n,
                     n = (double)p->n;
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < p->n; i++) mean += x[i] / n;
        for (int64_t i = 0; i < p->n; i++) variance += (x[i] - mean) * (x[i] - mean) / n;
        for (int64_t i = 0; i < p->n; i++)
            results[row * p->n + i] = dy[i] * p->inputs[1].values[i] / sqrt(variance + 1e-5);
    }
}

/* Running sums from the start. */
static void forward_sums(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t row = 0; row < p->m; row++) {
        double s = 0;
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = s += p->inputs[2].values[row * p->n + i];
    }
}

static void square_inputs(property_problem *p) {
    p->n = p->k = 3;
    property_fill(p, property_add(p, "x", 2, p->m, 3), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, 3, 3));
    property_fill_any(p, property_add(p, "dy", 2, p->m, 3));
    property_expect(p, 2, (const int64_t[]){p->m, 3});
}

/* dy w instead of dy w'. */
static void not_transposed(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        double s = 0;
        for (int64_t j = 0; j < 3; j++)
            s += p->inputs[2].values[e / 3 * 3 + j] * p->inputs[1].values[j * 3 + e % 3];
        results[e] = s;
    }
}

static void loss_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "t", 2, p->m, p->n));
    property_fill_any(p, property_add(p, "g", 0, 0, 0));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void not_averaged(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = 2 * (p->inputs[0].values[e] - p->inputs[1].values[e]) * p->inputs[2].values[0];
}

#define ROW(fault, expression, scalar) {fault, expression, 3, PROPERTY_POINTWISE, 1, NULL, scalar, NULL, 0},
#define OWN(fault, expression, shadow, inputs)                                                               \
    {fault, expression, 0, PROPERTY_OWN, 1, shadow, NULL, inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("dy at 0", "vjp(relu(x), x, b)", at_zero_too)
    ROW("y (1 - y)", "vjp(tanh(x), x, b)", of_the_output)
    ROW("the density forgotten", "vjp(gelu(x), x, b)", no_density)
    ROW("the slope forgotten", "vjp(silu(x), x, b)", no_slope)
    ROW("the sign forgotten", "vjp(x / w, w, b)", unsigned_divisor)
    OWN("the diagonal alone", "vjp(softmax(x, axis=-1), x, dy)", diagonal_softmax, rows_inputs)
    OWN("statistics as constants", "vjp(layer_norm(x, w), x, dy)", frozen_norm, rows_inputs)
    OWN("from the start", "vjp(cumsum(x, axis=-1), x, dy)", forward_sums, rows_inputs)
    OWN("not transposed", "vjp(matmul(x, w), x, dy)", not_transposed, square_inputs)
    OWN("not averaged", "vjp(mse_loss(x, t), x, g)", not_averaged, loss_inputs)
};
/* clang-format on */
const property_family bad_backward = {"backward", rows, sizeof rows / sizeof *rows};
