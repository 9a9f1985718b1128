/* Inclusive scans along the last axis. */
#include "ball_recurrence.h"
#include "bounded.h"

/* Running sums of a block: values, magnitudes and radii. */
typedef struct running {
    double value, size, spread;
} running;

/* Radii of plain elements of a cumulative sum that are not exact, from their running sums; element i of the
 * block has `before` + i terms before its own. */
CUPEL_WIDE static void close_block(const double *value, const double *size, const double *spread,
                                   double before, double u, double *restrict radius, int n) {
    CUPEL_VECTORISE
    for (int i = 0; i < n; i++) /* an int: vector units convert those to doubles */
        radius[i] =
            (spread[i] + (before + (double)i) * u * size[i]) * (1 + 0x1p-40) + fabs(value[i]) * 0x1p-52;
}

/* Elements `from` .. n - 1 of a row whose sums are no longer exact and of which nothing more is kept. Returns
 * where a sum may overflow, or n. */
static int64_t inexact_rest(cupel_bounded *b, int node, int64_t begin, int64_t from, int64_t n, running sums,
                            double limit) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    double size[CUPEL_BOUNDED_BLOCK], spread[CUPEL_BOUNDED_BLOCK] = {0};
    for (int64_t first = from; first < n; first += CUPEL_BOUNDED_BLOCK) {
        const int64_t count = n - first < CUPEL_BOUNDED_BLOCK ? n - first : CUPEL_BOUNDED_BLOCK;
        const double *terms = x->value + begin + first;
        const double *radius = x->radius ? x->radius + begin + first : NULL;
        double *value = t->value + begin + first;
        for (int64_t i = 0; i < count; i++) {
            value[i] = sums.value += terms[i];
            size[i] = sums.size += fabs(terms[i]) + (radius ? radius[i] : 0);
        }
        for (int64_t i = 0; radius && i < count; i++) spread[i] = sums.spread += radius[i];
        if (!(sums.size < limit)) return first;
        close_block(value, size, spread, (double)first, b->w.unit * (1 + 0x1p-20), t->radius + begin + first,
                    (int)count);
    }
    return n;
}

/* The first elements of a row, as long as nothing may overflow; the whole row where each element keeps more
 * than its radius. Returns how many. */
static int64_t plain_elements(cupel_bounded *b, int node, int64_t begin, int64_t n) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    const double u = b->w.unit * (1 + 0x1p-20), limit = b->w.largest / b->plans[node].trait.overflow / 1.01;
    const bool products = x->roundings > 0 || x->products, keeps = t->magnitude || t->peak || products;
    running s = {0, 0, 0};
    double grain = INFINITY;
    bool exact = true;
    for (int64_t i = 0; i < n; i++) {
        if (!exact && !keeps) return inexact_rest(b, node, begin, i, n, s, limit);
        const double v = x->value[begin + i], r = cupel_radius_at(x, begin + i);
        s.value += v;
        s.size += fabs(v) + r;
        s.spread += r;
        if (!(s.size < limit) || (products && !(cupel_tensor_extent(x, begin, i + 1, s.size) < limit)))
            return i;
        if (exact || t->magnitude) grain = fmin(grain, cupel_grain(v));
        exact = exact && s.spread == 0 && s.size <= ldexp(grain, b->w.precision);
        t->value[begin + i] = s.value;
        t->radius[begin + i] =
            exact ? 0 : (s.spread + (double)i * u * s.size) * (1 + 0x1p-40) + fabs(s.value) * 0x1p-52;
        if (t->magnitude) {
            t->magnitude[begin + i] = s.size;
            t->spread[begin + i] = s.spread;
            t->grain[begin + i] = s.spread > 0 ? 0 : grain;
        }
        if (t->peak) {
            t->peak[begin + i] = fmax(1, cupel_tensor_extent(x, begin, i + 1, s.size));
            t->trough[begin + i] = fmin(1, fmax(fabs(s.value) - t->radius[begin + i], 0));
        }
    }
    return n;
}

/* Element t of a cumulative sum is a sum of t + 1 terms in any order. */
static cupel_code cumsum_row(cupel_bounded *b, int node, int64_t begin, int64_t n, bool fast) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    const int64_t done = fast ? plain_elements(b, node, begin, n) : 0;
    if (done == n) return CUPEL_OK;
    cupel_ball_tally tally = cupel_ball_tally_start();
    double value = 0;
    for (int64_t k = 0; k < n; k++) {
        const cupel_ball term = cupel_tensor_load(x, begin + k);
        cupel_ball_tally_add(&b->w, &tally, &term);
        value += term.value;
        if (k < done) continue;
        const cupel_ball r = cupel_ball_tally_end(&b->w, &b->plans[node].trait, b->graph->nodes[node].kind,
                                                  &tally, value, false);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], begin + k, &r));
    }
    return CUPEL_OK;
}

/* Step by step: a recurrence whose decays are 1. */
static cupel_code running_sum_row(cupel_bounded *b, int node, int64_t begin, int64_t n) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    const cupel_ball one = cupel_ball_one();
    cupel_line line = cupel_line_start(0);
    for (int64_t i = begin; i < begin + n; i++) {
        const cupel_ball term = cupel_tensor_load(x, i);
        const double value = i == begin ? term.value : line.value + term.value;
        const cupel_ball r = cupel_line_next(&b->w, &b->plans[node].trait, &line, &one, &term, NULL, value);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], i, &r));
    }
    return CUPEL_OK;
}

static cupel_code cumprod_row(cupel_bounded *b, int node, int64_t begin, int64_t n) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_ball product = cupel_ball_one();
    for (int64_t i = begin; i < begin + n; i++) {
        const cupel_ball factor = cupel_tensor_load(x, i);
        const double value = product.value * factor.value;
        const bool exact = isfinite(value) && fma(product.value, factor.value, -value) == 0;
        if (b->w.sequential) product = cupel_ball_unchained(&product);
        product = cupel_ball_prod_step(&b->w, &b->plans[node].trait, b->graph->nodes[node].kind, &product,
                                       &factor, value, exact);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], i, &product));
    }
    return CUPEL_OK;
}

static cupel_code extremum_row(cupel_bounded *b, int node, int64_t begin, int64_t n) {
    cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    const bool largest = b->graph->nodes[node].op == CUPEL_OP_CUMMAX;
    if (cupel_tensor_keeps(b, x) && !x->radius && cupel_tensor_is_plain(x, begin, n)) {
        double best = x->value[begin];
        for (int64_t i = begin; i < begin + n; i++) {
            const double v = x->value[i];
            best = (largest ? v > best : v < best) ? v : best;
            t->value[i] = best;
        }
        return CUPEL_OK;
    }
    cupel_ball best = cupel_tensor_load(x, begin);
    CUPEL_TRY(cupel_tensor_store(b, t, begin, &best));
    for (int64_t i = begin + 1; i < begin + n; i++) {
        const cupel_ball next = cupel_tensor_load(x, i);
        const double a = best.value, c = next.value;
        const double value = isnan(a) || isnan(c) ? NAN : (largest ? c > a : c < a) ? c : a;
        best = cupel_ball_extremum(&b->w, largest ? CUPEL_OP_MAXIMUM : CUPEL_OP_MINIMUM, &best, &next, value);
        CUPEL_TRY(cupel_tensor_store(b, t, i, &best));
    }
    return CUPEL_OK;
}

cupel_code cupel_bounded_scan(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0);
    if (t->count == 0) return CUPEL_OK;
    const int64_t length = n->shape[n->rank - 1];
    const bool sum = n->op == CUPEL_OP_CUMSUM;
    t->sum = sum && b->plans[node].has_sum;
    t->terms = 1;
    t->scan = sum ? length : 0;
    t->products = t->sum && (x->roundings > 0 || x->products);
    if (sum && x->floor >= 0) t->floor = 0;
    if (sum) CUPEL_TRY(cupel_tensor_take_radius(b, t));
    if (x->radius) CUPEL_TRY(cupel_tensor_need_radius(b, t));
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    const bool fast =
        sum && n->kind == CUPEL_VALUE_REAL && !b->w.flush && !b->plans[node].trait.in_statistic && !x->peak;
    for (int64_t begin = 0; begin < t->count; begin += length) {
        if (sum && b->w.sequential && n->kind == CUPEL_VALUE_REAL) {
            CUPEL_TRY(running_sum_row(b, node, begin, length));
        } else if (sum) {
            CUPEL_TRY(cumsum_row(b, node, begin, length, fast && cupel_tensor_is_plain(x, begin, length)));
        } else if (n->op == CUPEL_OP_CUMPROD) {
            CUPEL_TRY(cumprod_row(b, node, begin, length));
        } else {
            CUPEL_TRY(extremum_row(b, node, begin, length));
        }
    }
    cupel_tensor_end_chain(t);
    return CUPEL_OK;
}
