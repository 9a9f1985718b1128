#include "good_kernels.h"

float good_at(const property_problem *p, int index, int64_t row, int64_t i) {
    const property_input *in = &p->inputs[index];
    return (float)in->values[in->rank < 2 ? i : row * in->shape[1] + i];
}

void good_row(const property_problem *p, int index, int64_t row, float *out) {
    for (int64_t i = 0; i < p->n; i++) out[i] = good_at(p, index, row, i);
}

float good_max(const float *x, int64_t n) {
    float best = x[0];
    for (int64_t i = 0; i < n; i++) {
        if (isnan(x[i])) return x[i];
        best = x[i] > best ? x[i] : best;
    }
    return best;
}

static int approximate(property_problem *p, int forms) {
    return p->rules.fast_math ? (int)cupel_random_below(&p->random, (uint64_t)forms) : 0;
}

float good_exp(property_problem *p, float x) {
    return property_exp(x, approximate(p, EXP_FORMS), &p->random);
}

float good_divide(property_problem *p, float x, float y) {
    const int form = approximate(p, DIVIDE_FORMS);
    return property_divide(x, y, p->rules.fast_math ? form : (int)cupel_random_below(&p->random, 2),
                           &p->random);
}

float good_rsqrt(property_problem *p, float x) {
    return property_rsqrt(x, approximate(p, RSQRT_FORMS), &p->random);
}

float good_log(property_problem *p, float x) {
    return property_log(x, approximate(p, LOG_FORMS), &p->random);
}

float good_sqrt(property_problem *p, float x) {
    return approximate(p, 2) ? property_nudge(sqrtf(x), 1, &p->random) : sqrtf(x);
}

float good_sum(property_problem *p, const float *x, int64_t n, int form) {
    return property_sum(x, n, form, &p->random);
}

static good_statistics welford(property_problem *p, const float *x, int64_t n) {
    good_statistics s = {0};
    for (int64_t i = 0; i < n; i++) {
        s.n++;
        const float delta = x[i] - s.mean;
        s.mean += good_divide(p, delta, (float)s.n);
        s.m2 += delta * (x[i] - s.mean);
    }
    return s;
}

static good_statistics chan(property_problem *p, const float *x, int64_t n) {
    if (n <= 2) return welford(p, x, n);
    const good_statistics a = chan(p, x, n / 2), b = chan(p, x + n / 2, n - n / 2);
    const float delta = b.mean - a.mean, total = (float)(a.n + b.n);
    good_statistics s = {.n = a.n + b.n};
    s.mean = a.mean + good_divide(p, delta * (float)b.n, total);
    s.m2 = a.m2 + b.m2 + good_divide(p, delta * delta * (float)a.n * (float)b.n, total);
    return s;
}

good_statistics good_statistics_of(property_problem *p, const float *x, int64_t n, int form) {
    if (form % 4 == 1) return welford(p, x, n);
    if (form % 4 == 2) return chan(p, x, n);
    float d[PROPERTY_LONGEST * 4];
    good_statistics s = {.n = n};
    s.mean = good_divide(p, good_sum(p, x, n, form / 4), (float)n);
    for (int64_t i = 0; i < n; i++) d[i] = (x[i] - s.mean) * (x[i] - s.mean);
    s.m2 = good_sum(p, d, n, form / 4 + 1);
    return s;
}

/* exp(x - m): directly, or with log2(e) folded into both sides, by fma or not. */
static float shifted_exp(property_problem *p, float x, float m, int form) {
    const float log2e = 1.44269504f;
    if (form == 0 || !isfinite(x) || !isfinite(m)) return good_exp(p, x - m);
    const float power = form == 1 ? fmaf(x, log2e, -(m * log2e)) : x * log2e - m * log2e;
    return p->rules.fast_math ? property_edge(exp2((double)power), 2, 0, &p->random) : exp2f(power);
}

/* A maximum of -inf (nothing but -inf so far) is no reference to rescale to. */
float good_online(property_problem *p, const float *x, int64_t n, float *top) {
    float m = -INFINITY, s = 0;
    for (int64_t i = 0; i < n; i++) {
        const float next = isnan(x[i]) || x[i] > m ? x[i] : m, reference = isinf(next) && next < 0 ? 0 : next;
        const float rescale = i == 0 || (isinf(m) && m < 0) ? 0 : good_exp(p, m - reference);
        s = s * rescale + good_exp(p, x[i] - reference);
        m = next;
    }
    *top = m;
    return s;
}

void good_softmax_row(property_problem *p, const float *x, int64_t n, int form, float *e, float *sum,
                      float *top) {
    float m = good_max(x, n);
    if (form % 5 == 4 && isfinite(m)) {
        *sum = good_online(p, x, n, &m);
        for (int64_t i = 0; i < n; i++) e[i] = good_exp(p, x[i] - m);
    } else {
        for (int64_t i = 0; i < n; i++) e[i] = shifted_exp(p, x[i], m, form % 4);
        *sum = good_sum(p, e, n, form);
    }
    *top = m;
}
