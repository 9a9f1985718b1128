/* LINEAR_SCAN: step by step, or in blocks; STATE_SCAN: step by step. */
#include "shadow_impl.h"

/* h_t = a_t h_{t-1} + b_t. In blocks: h_t = own_t + (a_begin .. a_t) carry. */
static void linear_row(cupel_shadow *s, const double *a, const double *b, double *h, int64_t n) {
    const bool blocked = s->plan.order == CUPEL_SHADOW_LANES && !s->sequential;
    const int64_t block = blocked ? s->plan.lanes : n;
    double carry = 0;
    for (int64_t begin = 0; begin < n; begin += block) {
        double own = 0, decay = 1;
        for (int64_t i = begin; i < n && i < begin + block; i++) {
            own = i == begin ? b[i] : cupel_shadow_step(s, b[i], a[i], &own);
            decay = i == begin ? a[i] : cupel_shadow_round(s, decay * a[i]);
            h[i] = begin == 0 ? own : cupel_shadow_step(s, own, decay, &carry);
        }
        if (n > 0) carry = h[begin + block <= n ? begin + block - 1 : n - 1];
    }
}

/* r' S, the projection of every column of the state. */
static void project(cupel_shadow *s, const double *state, const double *r, int64_t keys, int64_t values,
                    double *out) {
    for (int64_t v = 0; v < values; v++) {
        for (int64_t k = 0; k < keys; k++) s->right[k] = state[k * values + v];
        out[v] = cupel_shadow_sum(s, r, s->right, keys);
    }
}

static void state_step(cupel_shadow *s, const double *before, const double *a, const double *p,
                       const double *projection, const double *x, double *out, int64_t keys, int64_t values) {
    for (int64_t k = 0; k < keys; k++) {
        for (int64_t v = 0; v < values; v++) {
            const int64_t i = k * values + v;
            double state = before ? cupel_shadow_round(s, a[k] * before[i]) : 0;
            if (p && before) {
                const double minus = -projection[v];
                state = cupel_shadow_step(s, state, p[k], &minus);
            }
            out[i] = cupel_shadow_step(s, state, x[i], NULL);
        }
    }
}

cupel_code cupel_shadow_recurrence(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node];
    if (n->op == CUPEL_OP_LINEAR_SCAN) {
        const int64_t row = cupel_shadow_row(s, node);
        for (int64_t begin = 0; begin < t->count; begin += row)
            linear_row(s, cupel_shadow_arg(s, node, 0)->x + begin, cupel_shadow_arg(s, node, 1)->x + begin,
                       t->x + begin, row);
        return CUPEL_OK;
    }
    const bool ranked = n->arg_count > 2;
    const int64_t values = n->shape[n->rank - 1], keys = n->shape[n->rank - 2], steps = n->shape[n->rank - 3];
    const double *a = cupel_shadow_arg(s, node, 0)->x, *x = cupel_shadow_arg(s, node, n->arg_count - 1)->x;
    const double *p = ranked ? cupel_shadow_arg(s, node, 1)->x : NULL;
    const double *r = ranked ? cupel_shadow_arg(s, node, 2)->x : NULL;
    for (int64_t step = 0; step < t->count / (keys * values); step++) {
        const int64_t at = step * keys * values;
        const double *before = step % steps ? t->x + at - keys * values : NULL;
        if (r && before) project(s, before, r + step * keys, keys, values, s->left);
        state_step(s, before, a + step * keys, p ? p + step * keys : NULL, s->left, x + at, t->x + at, keys,
                   values);
    }
    return CUPEL_OK;
}
