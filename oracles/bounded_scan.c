/* Inclusive scans along the last axis. */
#include "bounded.h"

/* Element t of a cumulative sum is a sum of t + 1 terms in any order. */
static cupel_code cumsum_row(cupel_bounded *b, int node, int64_t begin, int64_t n, bool fast) {
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    cupel_tensor *t = &b->tensors[node];
    const cupel_trait *trait = &b->plans[node].trait;
    const cupel_value_kind kind = b->graph->nodes[node].kind;
    const double u = b->w.unit * (1 + 0x1p-20), limit = b->w.largest / trait->overflow / 1.01;
    cupel_ball_tally tally = cupel_ball_tally_start();
    double value = 0, size = 0, spread = 0;
    int low = 4096;
    bool exact = true;
    const bool products = x->roundings > 0 || x->products;
    int64_t i = 0;
    for (; fast && i < n; i++) {
        const double v = x->value[begin + i], r = cupel_radius_at(x, begin + i);
        value += v;
        size += fabs(v) + r;
        spread += r;
        if (!(size < limit) || (products && !(cupel_tensor_extent(x, begin, i + 1, size) < limit))) break;
        if (spread == 0 && (exact || t->magnitude)) {
            const int own = cupel_low_exponent(v);
            low = own < low ? own : low;
            exact = exact && cupel_exact_sum(size, low, b->w.precision);
        }
        exact = exact && spread == 0;
        t->value[begin + i] = value;
        t->radius[begin + i] =
            exact ? 0 : (spread + (double)i * u * size) * (1 + 0x1p-40) + fabs(value) * 0x1p-52;
        if (t->magnitude) {
            t->magnitude[begin + i] = size;
            t->spread[begin + i] = spread;
            t->grain[begin + i] = spread > 0 || low < -1000 ? 0 : low > 1000 ? INFINITY : ldexp(1, low);
        }
        if (t->peak) {
            t->peak[begin + i] = fmax(1, cupel_tensor_extent(x, begin, i + 1, size));
            t->trough[begin + i] = fmin(1, fmax(fabs(value) - t->radius[begin + i], 0));
        }
    }
    if (i == n) return CUPEL_OK;
    value = 0;
    for (int64_t k = 0; k < n; k++) {
        const cupel_ball term = cupel_tensor_load(x, begin + k);
        cupel_ball_tally_add(&b->w, &tally, &term);
        value += term.value;
        if (k < i) continue;
        const cupel_ball r = cupel_ball_tally_end(&b->w, trait, kind, &tally, value, false);
        CUPEL_TRY(cupel_tensor_store(b, t, begin + k, &r));
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
    if (sum || x->radius) CUPEL_TRY(cupel_tensor_need_radius(b, t));
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    const bool fast =
        sum && n->kind == CUPEL_VALUE_REAL && !b->w.flush && !b->plans[node].trait.in_statistic && !x->peak;
    for (int64_t begin = 0; begin < t->count; begin += length) {
        if (sum) {
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
