#include "recurrence_kernels.h"

#include <math.h>
#include <string.h>

enum { LONGEST = RECURRENCE_LONGEST, WIDEST = RECURRENCE_WIDEST };

static float decay_of(property_problem *p, float g, int form) {
    return property_exp(g, p->rules.fast_math ? form % 3 : 0, &p->random);
}

static float kept(float x, recurrence_fault fault) {
    if (fault == FAULT_HALF_STATE) return (float)cupel_round(CUPEL_F16, x);
    if (fault == FAULT_BFLOAT_STATE) return (float)cupel_round(CUPEL_BF16, x);
    return x;
}

static float dot(property_problem *p, const float *x, const float *y, int64_t stride, int64_t n, int form) {
    float terms[WIDEST], s = 0;
    if (form % 2) {
        for (int64_t i = 0; i < n; i++) s = fmaf(x[i], y[i * stride], s);
        return s;
    }
    for (int64_t i = 0; i < n; i++) terms[i] = x[i] * y[i * stride];
    return property_sum(terms, n, form / 2, &p->random);
}

static void decay_state(property_problem *p, const recurrence_case *c, int64_t t, int form, float *state) {
    for (int64_t i = 0; c->gated && i < c->k; i++) {
        const float a = decay_of(p, c->g[t][i], form);
        for (int64_t j = 0; j < c->v; j++) state[i * WIDEST + j] *= a;
    }
}

static void read_state(property_problem *p, const recurrence_case *c, int64_t t, int form, const float *state,
                       double *results) {
    float q[WIDEST];
    for (int64_t i = 0; i < c->k; i++) q[i] = form % 3 ? c->q[t][i] * c->scale : c->q[t][i];
    for (int64_t j = 0; j < c->v; j++) {
        const float o = dot(p, q, state + j, WIDEST, c->k, form);
        results[t * c->v + j] = form % 3 ? o : o * c->scale;
    }
}

void recurrence_stepwise(property_problem *p, const recurrence_case *c, int form, recurrence_fault fault,
                         double *results) {
    float state[WIDEST * WIDEST] = {0};
    for (int64_t t = 0; t < c->l; t++) {
        if (fault == FAULT_EARLY_READ) read_state(p, c, t, form, state, results);
        if (fault != FAULT_LATE_DECAY && t > 0) decay_state(p, c, t, form, state);
        for (int64_t j = 0; j < c->v; j++) {
            float u = c->value[t][j];
            if (c->delta) {
                const float d = t == 0 ? 0 : dot(p, c->key[t], state + j, WIDEST, c->k, form / 2);
                u = fault == FAULT_BETA ? c->beta[t] * u - d
                    : form % 4 == 3     ? c->beta[t] * u - c->beta[t] * d
                                        : c->beta[t] * (u - d);
            }
            for (int64_t i = 0; i < c->k; i++) {
                float *s = &state[i * WIDEST + j];
                *s = kept(form % 2 ? fmaf(c->key[t][i], u, *s) : *s + c->key[t][i] * u, fault);
            }
        }
        if (fault == FAULT_LATE_DECAY) decay_state(p, c, t, form, state);
        if (fault != FAULT_EARLY_READ) read_state(p, c, t, form, state, results);
    }
}

/* ---- chunks ---- */

typedef struct chunk {
    int64_t begin, n;
    float sums[LONGEST][WIDEST];   /* of g, from the chunk's begin on */
    float lower[LONGEST][LONGEST]; /* beta_i k_i' D k_j, j < i */
    float inverse[LONGEST][LONGEST];
    float u[LONGEST][WIDEST];
    float scores[LONGEST][LONGEST]; /* q_i' D k_j, j <= i */
    bool split;                     /* decays stand at the factors: exp(G_i - R) and exp(R - G_j), */
    int64_t reference;              /* R, the sums at this step, or at i where that comes before; -1: 0 */
} chunk;

static chunk work;

/* exp(G_i - G_j) of channel k, from -1: the chunk's begin. */
static float between(property_problem *p, const recurrence_case *c, int64_t i, int64_t j, int64_t k,
                     int form) {
    if (!c->gated) return 1;
    const float to = work.sums[i][k], from = j < 0 ? 0 : work.sums[j][k];
    if (form % 4 == 3 && fabsf(to) < 40 && fabsf(from) < 40)
        return decay_of(p, to, form) * decay_of(p, -from, form);
    if (form % 5 == 4) { /* products of the steps' decays */
        float a = 1;
        for (int64_t s = i; s > j; s--) a *= decay_of(p, c->g[work.begin + s][k], form);
        return a;
    }
    return decay_of(p, to - from, form);
}

static float reference_of(int64_t i, int64_t k) {
    const int64_t at = work.reference < i ? work.reference : i;
    return at < 0 ? 0 : work.sums[at][k];
}

/* x of this step times exp of its distance from the reference of row i: for the row itself, or a column. */
static float moved(property_problem *p, float x, int64_t step, int64_t i, int64_t k, bool row, int form) {
    const float g = work.sums[step][k] - reference_of(i, k);
    return x * decay_of(p, row ? g : -g, form);
}

static float weighted(property_problem *p, const recurrence_case *c, const float *x, int64_t i, int64_t j,
                      int form) {
    float y[WIDEST], z[WIDEST];
    if (work.split) {
        for (int64_t k = 0; k < c->k; k++) y[k] = moved(p, c->key[work.begin + j][k], j, i, k, false, form);
        for (int64_t k = 0; k < c->k; k++) z[k] = moved(p, x[k], i, i, k, true, form);
        return dot(p, z, y, 1, c->k, form);
    }
    for (int64_t k = 0; k < c->k; k++) y[k] = c->key[work.begin + j][k] * between(p, c, i, j, k, form);
    return dot(p, x, y, 1, c->k, form);
}

static void sum_logs(const recurrence_case *c) {
    for (int64_t k = 0; k < c->k; k++) {
        float sum = 0;
        for (int64_t i = 0; i < work.n; i++) {
            sum += c->g[work.begin + i][k];
            work.sums[i][k] = sum;
        }
    }
}

/* Splits the decays where no factor leaves the range by it: from the chunk's start, or any of its steps. */
static void choose_split(property_problem *p, const recurrence_case *c, int form) {
    work.split = c->gated && form % 4 < 2;
    work.reference = (int64_t)cupel_random_below(&p->random, (uint64_t)work.n + 1) - 1;
    if (form % 8 < 3) work.reference = -1;
    for (int64_t i = 0; i < work.n && work.split; i++) {
        const int64_t t = work.begin + i;
        for (int64_t k = 0; k < c->k; k++) {
            double g = fabs((double)work.sums[i][k]);
            for (int64_t j = i; j < work.n; j++)
                g = fmax(g, fabs((double)work.sums[i][k] - (double)reference_of(j, k)));
            const double most = fmax(fabs(c->q[t][k]) * fmax(1, fabs(c->scale)), fabs(c->key[t][k]));
            work.split = work.split && g < 80 && fmax(1, most) * exp(g) < 1e36;
        }
    }
}

/* The right-hand sides: beta (v - S0' D k), or v itself. */
static void start_updates(property_problem *p, const recurrence_case *c, const float *state, int form,
                          recurrence_fault fault) {
    for (int64_t i = 0; i < work.n; i++) {
        const int64_t t = work.begin + i;
        float key[WIDEST];
        for (int64_t k = 0; c->delta && k < c->k; k++) key[k] = c->key[t][k] * between(p, c, i, -1, k, form);
        for (int64_t j = 0; j < c->v; j++) {
            const float v = c->value[t][j];
            const float d = c->delta && work.begin > 0 ? dot(p, key, state + j, WIDEST, c->k, form) : 0;
            work.u[i][j] = !c->delta ? v : fault == FAULT_BETA ? c->beta[t] * v - d : c->beta[t] * (v - d);
        }
        for (int64_t j = 0; c->delta && j < i; j++)
            work.lower[i][j] = (fault == FAULT_BETA ? 1 : c->beta[t]) * weighted(p, c, c->key[t], i, j, form);
    }
}

/* u = (I + L)^-1 u by substitution, or with the inverse written out. */
static void substitute(const recurrence_case *c, bool inverse) {
    const int64_t n = work.n;
    if (!inverse) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                for (int64_t v = 0; v < c->v; v++) work.u[i][v] -= work.lower[i][j] * work.u[j][v];
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            float sum = i == j ? 1 : -work.lower[i][j];
            for (int64_t m = j + 1; m < i; m++) sum -= work.lower[i][m] * work.inverse[m][j];
            work.inverse[i][j] = sum;
        }
    }
    for (int64_t v = 0; v < c->v; v++) {
        for (int64_t i = n; i-- > 0;) {
            float sum = 0;
            for (int64_t j = 0; j <= i; j++) sum += work.inverse[i][j] * work.u[j][v];
            work.u[i][v] = sum;
        }
    }
}

static void square(float (*m)[LONGEST], int64_t n) {
    static float next[LONGEST][LONGEST];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            next[i][j] = 0;
            for (int64_t l = j + 1; l < i; l++) next[i][j] = fmaf(m[i][l], m[l][j], next[i][j]);
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) m[i][j] = next[i][j];
}

/* (I + L)^-1 = (I + N)(I + N^2)(I + N^4).., N = -L, applied to u from the right end. */
static void double_up(const recurrence_case *c) {
    const int64_t n = work.n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) work.lower[i][j] = -work.lower[i][j];
    for (int64_t power = 1; power < n; power *= 2) {
        for (int64_t v = 0; v < c->v; v++)
            for (int64_t i = n; i-- > 0;)
                for (int64_t j = 0; j < i; j++) work.u[i][v] += work.lower[i][j] * work.u[j][v];
        square(work.lower, n);
    }
}

static void read_chunk(property_problem *p, const recurrence_case *c, const float *state, int form,
                       double *results) {
    for (int64_t i = 0; i < work.n; i++) {
        const int64_t t = work.begin + i;
        float q[WIDEST], decayed[WIDEST];
        for (int64_t k = 0; k < c->k; k++) q[k] = form % 3 ? c->q[t][k] * c->scale : c->q[t][k];
        for (int64_t k = 0; k < c->k; k++) decayed[k] = q[k] * between(p, c, i, -1, k, form);
        const bool masks = form % 7 == 6; /* multiplies later positions by 0 */
        const int64_t end = masks ? work.n : i + 1;
        float terms[LONGEST];
        for (int64_t j = 0; j <= i; j++) work.scores[i][j] = weighted(p, c, q, i, j, form);
        for (int64_t j = i + 1; j < end; j++) work.scores[i][j] = 0;
        for (int64_t v = 0; v < c->v; v++) {
            for (int64_t j = 0; j < end; j++) terms[j] = work.scores[i][j] * work.u[j][v];
            float o = property_sum(terms, end, form, &p->random);
            if (work.begin > 0) o += dot(p, decayed, state + v, WIDEST, c->k, form);
            results[t * c->v + v] = form % 3 ? o : o * c->scale;
        }
    }
}

static void carry_state(property_problem *p, const recurrence_case *c, float *state, int form,
                        recurrence_fault fault) {
    const int64_t last = work.n - 1;
    for (int64_t k = 0; k < c->k; k++) {
        const float whole = fault == FAULT_CHUNK_DECAY ? 1 : between(p, c, last, -1, k, form);
        for (int64_t v = 0; v < c->v; v++) {
            float terms[LONGEST], most = 0;
            for (int64_t j = 0; j < work.n && work.split; j++) {
                terms[j] = moved(p, c->key[work.begin + j][k], j, last, k, false, form) * work.u[j][v];
                most = fmaxf(most, isnan(terms[j]) ? INFINITY : fabsf(terms[j]));
            }
            const bool split = work.split && most < 1e35f;
            for (int64_t j = 0; j < work.n && !split; j++)
                terms[j] = c->key[work.begin + j][k] * between(p, c, last, j, k, form) * work.u[j][v];
            const float own = property_sum(terms, work.n, form, &p->random);
            const float sum = split ? moved(p, own, last, last, k, true, form) : own;
            float *s = &state[k * WIDEST + v];
            *s = kept(work.begin > 0 ? *s * whole + sum : sum, fault);
        }
    }
}

void recurrence_chunked(property_problem *p, const recurrence_case *c, int64_t size, int form,
                        recurrence_fault fault, double *results) {
    float state[WIDEST * WIDEST] = {0};
    for (work.begin = 0; work.begin < c->l; work.begin += size) {
        work.n = c->l - work.begin < size ? c->l - work.begin : size;
        sum_logs(c);
        choose_split(p, c, form);
        start_updates(p, c, state, form, fault);
        if (c->delta && form % 3 == 2)
            double_up(c);
        else if (c->delta)
            substitute(c, form % 3 == 1);
        read_chunk(p, c, state, form, results);
        carry_state(p, c, state, form, fault);
    }
}

/* ---- linear_scan ---- */

typedef struct segment {
    float a, h;
} segment;

static segment join(segment left, segment right) {
    return (segment){right.a * left.a, right.a * left.h + right.h};
}

/* h[0..n) within the segment, and its composite, by a random tree. */
static segment tree(property_problem *p, const float *a, const float *b, int64_t n, float *h) {
    if (n == 1) {
        h[0] = b[0];
        return (segment){a[0], b[0]};
    }
    const int64_t cut = 1 + (int64_t)cupel_random_below(&p->random, (uint64_t)(n - 1));
    const segment left = tree(p, a, b, cut, h), right = tree(p, a + cut, b + cut, n - cut, h + cut);
    float product = 1;
    for (int64_t i = cut; i < n; i++) {
        product = i == cut ? a[i] : product * a[i];
        h[i] = product * left.h + h[i];
    }
    return join(left, right);
}

static void kogge_stone(const float *a, const float *b, int64_t n, float *h) {
    segment s[LONGEST], next[LONGEST];
    for (int64_t i = 0; i < n; i++) s[i] = (segment){a[i], b[i]};
    for (int64_t step = 1; step < n; step *= 2) {
        for (int64_t i = 0; i < n; i++) next[i] = i >= step ? join(s[i - step], s[i]) : s[i];
        memcpy(s, next, (size_t)n * sizeof *s);
    }
    for (int64_t i = 0; i < n; i++) h[i] = s[i].h;
}

static void chunks(const float *a, const float *b, int64_t n, int64_t size, float *h) {
    float carry = 0;
    for (int64_t begin = 0; begin < n; begin += size) {
        segment s = {1, 0};
        for (int64_t i = begin; i < n && i < begin + size; i++) {
            s = i == begin ? (segment){a[i], b[i]} : join(s, (segment){a[i], b[i]});
            h[i] = begin == 0 ? s.h : s.a * carry + s.h;
        }
        carry = begin == 0 ? s.h : s.a * carry + s.h;
    }
}

static void differences(property_problem *p, const float *b, const float *g, int64_t n, int form, float *h) {
    float sums[LONGEST], terms[LONGEST], sum = 0;
    for (int64_t i = 0; i < n; i++) sums[i] = sum += g[i];
    for (int64_t t = 0; t < n; t++) {
        for (int64_t s = 0; s <= t; s++) terms[s] = b[s] * decay_of(p, sums[t] - sums[s], form);
        h[t] = property_sum(terms, t + 1, form, &p->random);
    }
}

void recurrence_scan(property_problem *p, const float *a, const float *b, const float *g, int64_t n, int form,
                     float *h) {
    switch (form % SCAN_FORMS) {
    case 0:
        for (int64_t i = 0; i < n; i++) h[i] = i == 0 ? b[i] : a[i] * h[i - 1] + b[i];
        break;
    case 1:
        for (int64_t i = 0; i < n; i++) h[i] = i == 0 ? b[i] : fmaf(a[i], h[i - 1], b[i]);
        break;
    case 2: kogge_stone(a, b, n, h); break;
    case 3: (void)tree(p, a, b, n, h); break;
    case 4: chunks(a, b, n, 1 + (int64_t)cupel_random_below(&p->random, 40), h); break;
    default:
        if (g)
            differences(p, b, g, n, form, h);
        else
            kogge_stone(a, b, n, h);
        break;
    }
}
