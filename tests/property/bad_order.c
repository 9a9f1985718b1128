/* Sorting, adding at positions, quantisation, norms over channels and attention with a fault; else in double
 * precision. */
#include "bad_kernels.h"

enum { LONGEST = PROPERTY_LONGEST };

static void two(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

/* ---- order ---- */

typedef bool before(double a, double b);
static bool nan_first(double a, double b) {
    return a < b || (isnan(a) && !isnan(b));
}
static bool smaller(double a, double b) {
    return a < b || (isnan(b) && !isnan(a));
}
static bool smaller_or_equal(double a, double b) { /* not stable */
    return a <= b || isnan(b);
}

static void ordered(property_problem *p, double *results, before *less, bool positions) {
    for (int64_t row = 0; row < p->m; row++) {
        const double *x = p->inputs[0].values + row * p->n;
        int64_t at[LONGEST];
        for (int64_t i = 0; i < p->n; i++) {
            int64_t place = i;
            for (; place > 0 && less(x[i], x[at[place - 1]]); place--) at[place] = at[place - 1];
            at[place] = i;
        }
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + i] = positions ? (double)at[i] : x[at[i]];
    }
}

#define ORDER(name, less, positions)                                                                         \
    static void name(property_problem *p, int form, double *results) {                                       \
        (void)form;                                                                                          \
        ordered(p, results, less, positions);                                                                \
    }
ORDER(sort_nan_first, nan_first, false)
ORDER(ascending, smaller, false)
ORDER(unstable, smaller_or_equal, true)

static void scatter_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    p->k = 6;
    property_fill(p, property_add(p, "x", 1, p->n, 0), p->pattern);
    property_fill_any(p, property_add(p, "src", 1, p->k, 0));
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "at", 1, p->k, 0), 0, p->n - 1);
    p->type = type;
    property_expect(p, 1, &p->n);
}

static void lost_update(property_problem *p, int form,
                        double *results) { /* of two adds to one element the last */
    (void)form;
    for (int64_t i = 0; i < p->n; i++) results[i] = p->inputs[0].values[i];
    for (int64_t j = 0; j < p->k; j++) {
        const int64_t at = (int64_t)p->inputs[2].values[j];
        results[at] = p->inputs[0].values[at] + p->inputs[1].values[j];
    }
}

/* ---- rope, quantisation ---- */

static void rope_inputs(property_problem *p) {
    p->n = 8;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill(p, property_add(p, "c", 2, p->m, p->n / 2), 0);
    property_fill(p, property_add(p, "s", 2, p->m, p->n / 2), 0);
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void neighbours_turned(property_problem *p, int form, double *results) { /* pairs (2i, 2i + 1) */
    (void)form;
    for (int64_t e = 0; e < p->m * p->n / 2; e++) {
        const double a = p->inputs[0].values[2 * e], b = p->inputs[0].values[2 * e + 1];
        results[2 * e] = a * p->inputs[1].values[e] - b * p->inputs[2].values[e];
        results[2 * e + 1] = b * p->inputs[1].values[e] + a * p->inputs[2].values[e];
    }
}

static void quantize_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_input *scale = property_add(p, "scale", 1, p->n, 0);
    for (int64_t i = 0; i < p->n; i++) scale->values[i] = 0.25;
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void half_away(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const double q = round(p->inputs[0].values[e] / 0.25);
        results[e] = isnan(q) ? 0 : fmin(fmax(q, -128), 127);
    }
}

static void no_zero_point(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++) results[e] = p->inputs[0].values[e] * 0.25;
}

/* ---- losses of logits and margins ---- */

static void margin_inputs(property_problem *p) {
    two(p);
    property_expect(p, 0, NULL);
}

static void overflowing_logits(property_problem *p, int form, double *results) { /* log(1 + exp(-x)) */
    float s = 0;
    (void)form;
    for (int64_t i = 0; i < p->m * p->n; i++) {
        const float x = (float)p->inputs[0].values[i], t = (float)p->inputs[1].values[i];
        s += (1 - t) * x + logf(1 + expf(-x));
    }
    results[0] = s / (float)(p->m * p->n);
}

static void squared_hinge(property_problem *p, int form, double *results) {
    double s = 0;
    (void)form;
    for (int64_t i = 0; i < p->m * p->n; i++) {
        const double loss = fmax(0, 1 - p->inputs[0].values[i] * p->inputs[1].values[i]);
        s += loss * loss;
    }
    results[0] = s / (double)(p->m * p->n);
}

/* ---- norms over channels: x [m, 4, n], w, b [4] ---- */

static void channel_inputs(property_problem *p) {
    const int64_t shape[] = {p->m, 4, p->n};
    p->k = 4;
    property_fill(p, property_add_shaped(p, "x", p->type, 3, shape), p->pattern);
    property_fill_any(p, property_add(p, "w", 1, 4, 0));
    property_fill_any(p, property_add(p, "b", 1, 4, 0));
    property_expect(p, 3, shape);
}

/* One channel of one sample by its own statistics; one of a whole batch; with n - 1 where that is asked for.
 */
static void by_channel(property_problem *p, double *results, bool batch, bool unbiased) {
    const double *x = p->inputs[0].values;
    for (int64_t e = 0; e < p->count; e++) {
        const int64_t c = e / p->n % p->k, s0 = batch ? 0 : e / p->n / p->k, s1 = batch ? p->m : s0 + 1;
        const double count = (double)((s1 - s0) * p->n);
        double mean = 0, variance = 0;
        for (int64_t s = s0; s < s1; s++)
            for (int64_t i = 0; i < p->n; i++) mean += x[(s * p->k + c) * p->n + i] / count;
        for (int64_t s = s0; s < s1; s++)
            for (int64_t i = 0; i < p->n; i++) variance += pow(x[(s * p->k + c) * p->n + i] - mean, 2);
        results[e] = (x[e] - mean) / sqrt(variance / (count - unbiased) + 1e-5) * p->inputs[1].values[c] +
                     p->inputs[2].values[c];
    }
}

#define NORM(name, batch, unbiased)                                                                          \
    static void name(property_problem *p, int form, double *results) {                                       \
        (void)form;                                                                                          \
        by_channel(p, results, batch, unbiased);                                                             \
    }
NORM(unbiased_batch, true, true)
NORM(channel_alone, false, false)
NORM(whole_batch, true, false)

/* ---- attention: q [m, 4], k, v [n, ..] ---- */

static void attention_inputs(property_problem *p) {
    p->k = 2;
    property_fill(p, property_add(p, "q", 2, p->m, 4), p->pattern);
    property_fill_any(p, property_add(p, "k", 2, p->n, 4));
    property_fill_any(p, property_add(p, "v", 2, p->n, p->k));
    property_expect(p, 2, (const int64_t[]){p->m, p->k});
}

/* Softmax over the scores of the keys below `keys`, which is the query's own. */
static void attend(property_problem *p, double *results, double scale, int64_t causal) {
    for (int64_t i = 0; i < p->m; i++) {
        const int64_t keys = causal >= 0 ? (i + causal < p->n ? i + causal : p->n) : p->n;
        double scores[LONGEST], top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < keys; j++) {
            double s = 0;
            for (int64_t l = 0; l < 4; l++)
                s += p->inputs[0].values[i * 4 + l] * p->inputs[1].values[j * 4 + l];
            scores[j] = s * scale;
            top = fmax(top, scores[j]);
        }
        for (int64_t j = 0; j < keys; j++) sum += exp(scores[j] - top);
        for (int64_t c = 0; c < p->k; c++) {
            double y = 0;
            for (int64_t j = 0; j < keys; j++)
                y += exp(scores[j] - top) / sum * p->inputs[2].values[j * p->k + c];
            results[i * p->k + c] = y;
        }
    }
}

static void unscaled(property_problem *p, int form, double *results) {
    (void)form;
    attend(p, results, 1, -1);
}
static void off_by_one(property_problem *p, int form, double *results) { /* the diagonal left out */
    (void)form;
    attend(p, results, 0.5, p->n - p->m > 0 ? p->n - p->m : 0);
}

#define ROW(fault, expression, shadow, inputs, output)                                                       \
    { fault, expression, 0, PROPERTY_OWN, 1, shadow, NULL, inputs, output }
static const property_operator rows[] = {
    ROW("NaN first", "sort(x)", sort_nan_first, two, 0),
    ROW("the smallest", "topk(x, N)", ascending, two, 0),
    ROW("not stable", "argsort(x, stable=true)", unstable, two, CUPEL_I32),
    ROW("an update lost", "scatter_add(x, 0, at, src)", lost_update, scatter_inputs, 0),
    ROW("neighbours", "rope(x, c, s)", neighbours_turned, rope_inputs, 0),
    ROW("halves away from zero", "quantize(x, scale, i8)", half_away, quantize_inputs, CUPEL_I8),
    ROW("no zero point", "dequantize(x, scale, 3)", no_zero_point, quantize_inputs, 0),
    ROW("log(1 + exp(-x))", "bce_with_logits(x, w)", overflowing_logits, margin_inputs, 0),
    ROW("squared", "hinge_loss(x, w)", squared_hinge, margin_inputs, 0),
    ROW("divided by n - 1", "batch_norm(x, weight=w, bias=b, training=true)", unbiased_batch, channel_inputs,
        0),
    ROW("statistics of the batch", "instance_norm(x, weight=w, bias=b)", whole_batch, channel_inputs, 0),
    ROW("statistics of a channel", "group_norm(x, 2, w, b)", channel_alone, channel_inputs, 0),
    ROW("no scale", "attention(q, k, v)", unscaled, attention_inputs, 0),
    ROW("the diagonal left out", "attention(q, k, v, causal=true)", off_by_one, attention_inputs, 0),
};
const property_family bad_order = {"order", rows, sizeof rows / sizeof *rows};
