/* Reductions over the last axis. */
#include <stdlib.h>

#include "bounded.h"
#include "bounded_masked.h"

typedef struct row_sum {
    double value, magnitude, spread;
} row_sum;

enum { LANES = 16 };

static double add_lanes(const double *lanes) {
    double half[LANES / 2];
    for (int k = 0; k < LANES / 2; k++) half[k] = lanes[k] + lanes[k + LANES / 2];
    return ((half[0] + half[1]) + (half[2] + half[3])) + ((half[4] + half[5]) + (half[6] + half[7]));
}

/* Many sums side by side: shorter chains, so the loop is not bound by the latency of one addition. */
CUPEL_WIDE static row_sum sum_row(const double *x, const double *r, int64_t n) {
    double value[LANES] = {0}, size[LANES] = {0}, moved[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        CUPEL_VECTORISE
        for (int k = 0; k < LANES; k++) {
            value[k] += x[i + k];
            size[k] += fabs(x[i + k]);
        }
    }
    for (; i < n; i++) value[0] += x[i], size[0] += fabs(x[i]);
    for (i = 0; r && i + LANES <= n; i += LANES) {
        CUPEL_VECTORISE
        for (int k = 0; k < LANES; k++) moved[k] += r[i + k];
    }
    for (; r && i < n; i++) moved[0] += r[i];
    row_sum s = {.value = add_lanes(value), .spread = add_lanes(moved)};
    s.magnitude = add_lanes(size) + s.spread;
    return s;
}

/* Are all terms multiples of the power of two that makes a sum of this size exact? Adding a large multiple of
 * it and taking it away again rounds to such multiples. */
static bool is_exact_row(const double *x, int64_t n, double size, int precision) {
    if (size == 0) return true;
    int exponent;
    if (frexp(size, &exponent) == 0.5) exponent--;
    const int low = exponent - precision;
    if (low + 52 > 1020 || low < -1000) return false;
    const double anchor = ldexp(1.5, low + 52);
    for (int64_t begin = 0; begin < n; begin += 64) {
        const int64_t end = begin + 64 < n ? begin + 64 : n;
        bool off = false;
        for (int64_t i = begin; i < end; i++) off |= (x[i] + anchor) - anchor != x[i];
        if (off) return false;
    }
    return true;
}

static int low_exponent_of_row(const double *x, int64_t n) {
    int low = 4096;
    for (int64_t i = 0; i < n; i++) {
        const int own = cupel_low_exponent(x[i]);
        low = own < low ? own : low;
    }
    return low;
}

static cupel_code sum_by_rules(cupel_bounded *b, int node, int64_t row, int64_t n) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_ball_tally tally = cupel_ball_tally_start();
    double value = 0;
    for (int64_t i = row * n; i < (row + 1) * n; i++) {
        const cupel_ball term = cupel_tensor_load(x, i);
        cupel_ball_tally_add(&b->w, &tally, &term);
        value += x->value[i];
    }
    const cupel_ball r =
        cupel_ball_tally_end(&b->w, &b->plans[node].trait, b->graph->nodes[node].kind, &tally, value, false);
    return cupel_tensor_store(b, &b->tensors[node], row, &r);
}

/* The roundings of a sum of n terms, in u; as in cupel_ball_tally_end. */
static double roundings_of(const cupel_bounded *b, const cupel_trait *trait, int64_t n) {
    if (n < 2) return 0;
    const double own = (double)(n - 1);
    return trait->in_statistic ? own + 3 + (2 + b->w.division) * (1 + log((double)n)) : own;
}

static double value_trough(const cupel_tensor *t, int64_t i) {
    return t->value[i] == 0 && t->radius[i] == 0 ? 1 : fmin(1, fmax(fabs(t->value[i]) - t->radius[i], 0));
}

static bool sum_plain(cupel_bounded *b, int node, int64_t row, int64_t n, double roundings) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    const cupel_trait *trait = &b->plans[node].trait;
    const double *terms = x->value + row * n;
    const row_sum s = sum_row(terms, x->radius ? x->radius + row * n : NULL, n);
    double spread = s.spread;
    if (trait->rescalable && n > 1) spread += (double)(n - 1) * (s.spread + b->w.unit * s.magnitude);
    const double magnitude = s.magnitude + (spread - s.spread);
    const double extent = fmax(magnitude, cupel_tensor_extent(x, row * n, n, s.magnitude));
    if (!(extent * 1.01 * trait->overflow < b->w.largest)) return false;
    /* as cupel_ball_tally_end: a mean's divisor inside the sum, where quotients may underflow */
    const double carry = x->roundings > 0 || x->products ? fmax((double)n, extent) : (double)n;
    const double scaled = trait->in_statistic && n > 1 ? (double)n * carry * b->w.eta : 0;
    const bool single = spread == 0 && roundings == 0;
    const bool exact = single || (spread == 0 && !trait->in_statistic &&
                                  is_exact_row(terms, n, s.magnitude, b->w.precision));
    t->value[row] = s.value;
    t->radius[row] = exact ? 0
                           : (spread + roundings * b->w.unit * magnitude) * (1 + 0x1p-20) +
                                 fabs(s.value) * 0x1p-52 + scaled;
    if (t->magnitude) {
        t->magnitude[row] = magnitude;
        t->spread[row] = spread;
        const int low = spread == 0 ? low_exponent_of_row(terms, n) : -2000;
        t->grain[row] = low > 2000 ? INFINITY : low < -1074 ? 0 : ldexp(1, low);
    }
    if (t->peak) {
        t->peak[row] = fmax(1, extent);
        t->trough[row] = value_trough(t, row);
    }
    return true;
}

static cupel_code sum(cupel_bounded *b, int node, int64_t n) {
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0);
    const cupel_trait *trait = &b->plans[node].trait;
    const bool real = b->graph->nodes[node].kind == CUPEL_VALUE_REAL;
    t->terms = (double)(n > 0 ? n : 1);
    t->sum = b->plans[node].has_sum;
    if (real && x->floor >= 0) t->floor = 0;
    if (real && trait->softmax_sum) t->floor = 1 - 16 * b->w.unit;
    t->products = t->sum && (x->roundings > 0 || x->products);
    t->depth = x->extents && !x->products ? x->chain_trough : 0;
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    CUPEL_TRY(cupel_tensor_take_radius(b, t));
    bool fast = real && n > 0 && cupel_tensor_keeps(b, x);
    if (fast && b->w.flush && x->least * 2 * b->w.unit < b->w.normal * (double)n) fast = false;
    if (fast && b->w.flush && (t->products || x->roundings > 0) &&
        !(t->depth * 2 * b->w.unit >= b->w.normal * (double)n))
        fast = false;
    const double roundings = roundings_of(b, trait, n);
    for (int64_t row = 0; row < t->count; row++) {
        const bool plain = fast && cupel_tensor_is_plain(x, row * n, n);
        if (!plain || !sum_plain(b, node, row, n, roundings) || cupel_tensor_may_flush(b, t, row, 1))
            CUPEL_TRY(sum_by_rules(b, node, row, n));
    }
    cupel_tensor_end_chain(t);
    return CUPEL_OK;
}

static bool prod_plain(cupel_bounded *b, int node, int64_t row, int64_t n) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    double value = 1, upper = 1, peak = 1, trough = 1;
    const double splitter = cupel_splitter(b->w.precision);
    bool moved = false, excess = false;
    for (int64_t i = row * n; i < (row + 1) * n; i++) {
        const double r = cupel_radius_at(x, i), size = fabs(x->value[i]) + r, low = fabs(x->value[i]) - r;
        value *= x->value[i];
        upper *= size;
        peak *= size > 1 ? size : 1;
        trough *= size == 0 ? 1 : low < 1 ? low : 1;
        excess |= cupel_rounded_bits(value, splitter) != value;
        moved |= r > 0;
    }
    if (!(peak * 2 * b->plans[node].trait.overflow < b->w.largest && trough >= 2 * b->w.normal)) return false;
    const double own = (double)(n - 1) * b->w.unit;
    t->value[row] = value;
    t->radius[row] = moved || excess ? ((upper - fabs(value)) + own * upper * (1 + own)) * (1 + 0x1p-20) : 0;
    return own < 0.01;
}

static cupel_code prod(cupel_bounded *b, int node, int64_t n) {
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0);
    const cupel_value_kind kind = b->graph->nodes[node].kind;
    const bool fast = kind == CUPEL_VALUE_REAL && n > 0 && cupel_tensor_keeps(b, x);
    CUPEL_TRY(cupel_tensor_need_radius(b, t));
    for (int64_t row = 0; row < t->count; row++) {
        if (fast && cupel_tensor_is_plain(x, row * n, n) && prod_plain(b, node, row, n) &&
            !cupel_tensor_may_flush(b, t, row, 1))
            continue;
        cupel_ball product = cupel_ball_one();
        for (int64_t i = row * n; i < (row + 1) * n; i++) {
            const cupel_ball factor = cupel_tensor_load(x, i);
            const double value = product.value * factor.value;
            const bool exact = isfinite(value) && fma(product.value, factor.value, -value) == 0;
            product =
                cupel_ball_prod_step(&b->w, &b->plans[node].trait, kind, &product, &factor, value, exact);
        }
        CUPEL_TRY(cupel_tensor_store(b, t, row, &product));
    }
    return CUPEL_OK;
}

/* The largest value (of sign * v), and the largest of both ends. */
CUPEL_WIDE static void extremum_ends(const double *v, const double *r, int64_t n, double sign, double *best,
                                     double *lo, double *hi) {
    double values[LANES], lows[LANES], highs[LANES];
    for (int k = 0; k < LANES; k++) values[k] = lows[k] = highs[k] = -INFINITY;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        CUPEL_VECTORISE
        for (int k = 0; k < LANES; k++) {
            const double s = sign * v[i + k], down = s - r[i + k], up = s + r[i + k];
            values[k] = s > values[k] ? s : values[k];
            lows[k] = down > lows[k] ? down : lows[k];
            highs[k] = up > highs[k] ? up : highs[k];
        }
    }
    for (; i < n; i++) {
        values[0] = fmax(values[0], sign * v[i]);
        lows[0] = fmax(lows[0], sign * v[i] - r[i]);
        highs[0] = fmax(highs[0], sign * v[i] + r[i]);
    }
    for (int k = 0; k < LANES; k++) {
        *best = values[k] > *best ? values[k] : *best;
        *lo = lows[k] > *lo ? lows[k] : *lo;
        *hi = highs[k] > *hi ? highs[k] : *hi;
    }
}

static bool extremum_plain(cupel_bounded *b, int node, int64_t row, int64_t n, double sign) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    const double *v = x->value + row * n;
    double best = -INFINITY, lo = -INFINITY, hi = -INFINITY;
    if (!x->radius) {
        double lanes[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            for (int k = 0; k < 4; k++) lanes[k] = sign * v[i + k] > lanes[k] ? sign * v[i + k] : lanes[k];
        }
        for (; i < n; i++) lanes[0] = sign * v[i] > lanes[0] ? sign * v[i] : lanes[0];
        for (int k = 0; k < 4; k++) best = lanes[k] > best ? lanes[k] : best;
        t->value[row] = sign * best;
        return isfinite(best) || n == 0;
    }
    extremum_ends(v, x->radius + row * n, n, sign, &best, &lo, &hi);
    if (!isfinite(best) && n > 0) return false;
    t->value[row] = sign * best;
    t->radius[row] = hi - best > best - lo ? hi - best : best - lo;
    return true;
}

static cupel_code extremum(cupel_bounded *b, int node, int64_t n) {
    cupel_tensor *t = &b->tensors[node];
    cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    const bool largest = b->graph->nodes[node].op == CUPEL_OP_AMAX, keeps = n < 2 || cupel_tensor_keeps(b, x);
    t->floor = x->floor;
    t->ceiling = x->ceiling;
    if (x->radius) CUPEL_TRY(cupel_tensor_need_radius(b, t));
    for (int64_t row = 0; row < t->count; row++) {
        /* what is masked is never the largest */
        const bool plain =
            cupel_tensor_is_plain(x, row * n, n) || (largest && cupel_masked_holds(x, row * n, n));
        if (keeps && plain && extremum_plain(b, node, row, n, largest ? 1 : -1)) continue;
        cupel_ball best = cupel_tensor_load(x, row * n);
        for (int64_t i = row * n + 1; i < (row + 1) * n; i++) {
            const cupel_ball next = cupel_tensor_load(x, i);
            const double a = best.value, c = next.value;
            const double value = isnan(a) || isnan(c) ? NAN : (largest ? c > a : c < a) ? c : a;
            best = cupel_ball_extremum(&b->w, largest ? CUPEL_OP_MAXIMUM : CUPEL_OP_MINIMUM, &best, &next,
                                       value);
        }
        CUPEL_TRY(cupel_tensor_store(b, t, row, &best));
    }
    return CUPEL_OK;
}

static cupel_code arg_extremum(cupel_bounded *b, int node, int64_t n) {
    cupel_tensor *t = &b->tensors[node];
    cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    const cupel_op op = b->graph->nodes[node].op;
    const bool keeps = cupel_tensor_keeps(b, x);
    cupel_ball *row_balls = malloc((size_t)(n + 1) * sizeof *row_balls);
    if (!row_balls)
        return cupel_fail(b->err, CUPEL_MEMORY, "no memory for a row of %lld elements", (long long)n);
    cupel_code code = CUPEL_OK;
    for (int64_t row = 0; row < t->count && code == CUPEL_OK; row++) {
        if (keeps && !x->radius && cupel_tensor_is_plain(x, row * n, n)) {
            const double sign = op == CUPEL_OP_ARGMAX ? 1 : -1, *v = x->value + row * n;
            int64_t winner = 0;
            for (int64_t i = 1; i < n; i++) winner = sign * v[i] > sign * v[winner] ? i : winner;
            t->value[row] = (double)winner;
            continue;
        }
        for (int64_t i = 0; i < n; i++) row_balls[i] = cupel_tensor_load(x, row * n + i);
        const cupel_ball r = cupel_ball_arg(&b->w, op, row_balls, n);
        code = cupel_tensor_store(b, t, row, &r);
    }
    free(row_balls);
    return code;
}

cupel_code cupel_bounded_reduce(cupel_bounded *b, int node) {
    const cupel_node *from = &b->graph->nodes[b->graph->nodes[node].args[0]];
    const int64_t n = from->shape[from->rank - 1];
    switch (b->graph->nodes[node].op) {
    case CUPEL_OP_SUM: return sum(b, node, n);
    case CUPEL_OP_PROD: return prod(b, node, n);
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN: return extremum(b, node, n);
    default: return arg_extremum(b, node, n);
    }
}
