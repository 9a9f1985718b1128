/* Sums and products over an axis, in the plan's order. */
#include "shadow_impl.h"

int64_t cupel_shadow_seen(const cupel_shadow *s, int64_t n) {
    if (s->plan.fault == CUPEL_SHADOW_DROPPED_TAIL && n > 32) return n - n % 32;
    if (s->plan.fault == CUPEL_SHADOW_DROPPED_LAST && n > 1) return n - 1;
    return n;
}

/* A number as the accumulator holds it. */
static double accumulated(cupel_shadow *s, double x) {
    const double rounded = cupel_shadow_round(s, x);
    return s->accumulator == s->w.type ? rounded : cupel_round(s->accumulator, rounded);
}

/* Under noise every addition is off by what rounding its larger operand costs: where this order cancels
 * before it rounds, another one rounds what later cancels. */
static double plus(cupel_shadow *s, double a, double b) {
    return accumulated(s, s->plan.noise ? cupel_shadow_disturb_sum(s, a, b) : a + b);
}

double cupel_shadow_step(cupel_shadow *s, double acc, double a, const double *b) {
    if (!b) return plus(s, acc, a);
    if (!s->plan.fused || s->plan.noise) return plus(s, acc, accumulated(s, a * *b));
    if (s->accumulator == s->w.type) return cupel_shadow_fma(s, a, *b, acc);
    return cupel_round(s->accumulator, fma(a, *b, acc)); /* as a narrow multiply-add: rounded once */
}

static double term(cupel_shadow *s, const double *a, const double *b, int64_t i) {
    return accumulated(s, b ? a[i] * b[i] : a[i]);
}

/* The order of a sequential sum: forwards, backwards, or a permutation that is drawn once for a length, as a
 * kernel has one order for all rows. */
static int64_t position(cupel_shadow *s, int64_t i, int64_t n) {
    if (s->plan.order == CUPEL_SHADOW_REVERSED) return n - 1 - i;
    if (s->plan.order != CUPEL_SHADOW_PERMUTED) return i;
    if (s->permuted != n) {
        cupel_random random = cupel_random_start(s->plan.seed, 77);
        for (int64_t k = 0; k < n; k++) {
            const int64_t j = (int64_t)cupel_random_below(&random, (uint64_t)k + 1);
            s->permutation[k] = s->permutation[j];
            s->permutation[j] = k;
        }
        s->permuted = n;
    }
    return s->permutation[i];
}

static double sequential(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    double acc = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = position(s, i, n);
        acc = cupel_shadow_step(s, acc, a[at], b ? &b[at] : NULL);
    }
    return acc;
}

/* Neighbours, level by level; an odd one out goes up as it is. */
static double pairwise(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    for (int64_t i = 0; i < n; i++) s->partial[i] = term(s, a, b, i);
    for (; n > 1; n = (n + 1) / 2) {
        for (int64_t i = 0; i < n / 2; i++) s->partial[i] = plus(s, s->partial[2 * i], s->partial[2 * i + 1]);
        if (n % 2) s->partial[n / 2] = s->partial[n - 1];
    }
    return n > 0 ? s->partial[0] : 0;
}

static double fold(cupel_shadow *s, int64_t lanes) {
    for (int64_t half = lanes / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half; i++) s->partial[i] = plus(s, s->partial[i], s->partial[i + half]);
    return s->partial[0];
}

/* Each lane sums its stride or its stretch; then halves are folded onto each other, as shuffles and shared
 * memory do, or one lane adds up what the others have. */
static double in_lanes(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    const bool chunks = s->plan.order == CUPEL_SHADOW_CHUNKS;
    const int64_t lanes = s->plan.lanes, step = chunks ? 1 : lanes, length = (n + lanes - 1) / lanes;
    for (int64_t lane = 0; lane < lanes; lane++) {
        const int64_t end = chunks && (lane + 1) * length < n ? (lane + 1) * length : n;
        s->partial[lane] = 0;
        for (int64_t i = chunks ? lane * length : lane; i < end; i += step)
            s->partial[lane] = cupel_shadow_step(s, s->partial[lane], a[i], b ? &b[i] : NULL);
    }
    if (s->plan.order != CUPEL_SHADOW_STEPS) return fold(s, lanes);
    for (int64_t lane = 1; lane < lanes; lane++) s->partial[0] = plus(s, s->partial[0], s->partial[lane]);
    return s->partial[0];
}

static double in_tiles(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    double total = 0;
    for (int64_t begin = 0; begin < n; begin += s->plan.lanes) {
        const int64_t end = begin + s->plan.lanes < n ? begin + s->plan.lanes : n;
        double acc = 0;
        for (int64_t i = begin; i < end; i++) acc = cupel_shadow_step(s, acc, a[i], b ? &b[i] : NULL);
        total = cupel_shadow_round(s, total + acc);
    }
    return total;
}

static double random_tree(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    cupel_random random = cupel_random_start(s->plan.seed, 78);
    for (int64_t i = 0; i < n; i++) s->partial[i] = term(s, a, b, i);
    for (; n > 1; n--) {
        const int64_t i = (int64_t)cupel_random_below(&random, (uint64_t)n);
        const double first = s->partial[i];
        s->partial[i] = s->partial[n - 1];
        const int64_t j = (int64_t)cupel_random_below(&random, (uint64_t)n - 1);
        s->partial[j] = plus(s, first, s->partial[j]);
    }
    return n > 0 ? s->partial[0] : 0;
}

/* Kahan's compensated sum; infinities and NaN make nonsense of the compensation. */
static double kahan(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    double sum = 0, rest = 0;
    for (int64_t i = 0; i < n; i++) {
        const double y = accumulated(s, term(s, a, b, i) - rest), next = accumulated(s, sum + y);
        rest = accumulated(s, accumulated(s, next - sum) - y);
        sum = next;
    }
    return isfinite(sum) ? sum : sequential(s, a, b, n);
}

/* How many terms come before the first zero. */
static int64_t before_zero(const double *a, const double *b, int64_t n) {
    int64_t i = 0;
    while (i < n && (b ? a[i] * b[i] : a[i]) != 0) i++;
    return i;
}

double cupel_shadow_sum(cupel_shadow *s, const double *a, const double *b, int64_t n) {
    n = cupel_shadow_seen(s, n);
    if (s->plan.fault == CUPEL_SHADOW_STOPS_AT_ZERO) n = before_zero(a, b, n);
    switch (s->plan.order) {
    case CUPEL_SHADOW_PAIRWISE: return pairwise(s, a, b, n);
    case CUPEL_SHADOW_LANES:
    case CUPEL_SHADOW_CHUNKS:
    case CUPEL_SHADOW_STEPS: return in_lanes(s, a, b, n);
    case CUPEL_SHADOW_TILES: return in_tiles(s, a, b, n);
    case CUPEL_SHADOW_TREE: return random_tree(s, a, b, n);
    case CUPEL_SHADOW_KAHAN: return kahan(s, a, b, n);
    default: return sequential(s, a, b, n);
    }
}

double cupel_shadow_product_of(cupel_shadow *s, const double *a, int64_t n) {
    const int64_t lanes = s->plan.order == CUPEL_SHADOW_LANES ? s->plan.lanes : 1;
    n = cupel_shadow_seen(s, n);
    for (int64_t lane = 0; lane < lanes; lane++) {
        s->partial[lane] = 1;
        for (int64_t i = lane; i < n; i += lanes)
            s->partial[lane] = cupel_shadow_round(s, s->partial[lane] * a[lanes > 1 ? i : position(s, i, n)]);
    }
    for (int64_t half = lanes / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half; i++)
            s->partial[i] = cupel_shadow_round(s, s->partial[i] * s->partial[i + half]);
    return s->partial[0];
}
