/* LINEAR_SCAN: step by step, or in blocks; STATE_SCAN: step by step. */
#include <stdlib.h>
#include <string.h>

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

/* The arguments of a STATE_SCAN by name; NULL where absent. */
typedef struct operands {
    const double *a, *p, *r, *x, *q;
    int64_t steps, keys, values;
} operands;

static operands operands_of(const cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node], *decays = &s->graph->nodes[n->args[0]];
    int next = 0;
    operands o = {.steps = decays->shape[decays->rank - 2],
                  .keys = decays->shape[decays->rank - 1],
                  .values = n->shape[n->rank - 1]};
    o.a = cupel_shadow_arg(s, node, next++)->x;
    if (n->step & CUPEL_SCAN_RANK_ONE) {
        o.p = cupel_shadow_arg(s, node, next++)->x;
        o.r = cupel_shadow_arg(s, node, next++)->x;
    }
    o.x = cupel_shadow_arg(s, node, next++)->x;
    next += (n->step & CUPEL_SCAN_LOGS) != 0;
    if (n->step & CUPEL_SCAN_READ) o.q = cupel_shadow_arg(s, node, next)->x;
    return o;
}

static cupel_code state_scan(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    const operands o = operands_of(s, node);
    if (t->count == 0) return CUPEL_OK;
    const int64_t keys = o.keys, size = keys * o.values;
    double *states = calloc((size_t)(2 * size) + 1, sizeof *states); /* this step's and the one before */
    if (!states) return cupel_fail(s->err, CUPEL_MEMORY, "no memory for a recurrence");
    const int64_t steps = t->count / (o.q ? o.values : size);
    for (int64_t step = 0; step < steps; step++) {
        double *before = step % o.steps ? states + (step + 1) % 2 * size : NULL,
               *now = states + step % 2 * size;
        if (o.r && before) project(s, before, o.r + step * keys, keys, o.values, s->left);
        state_step(s, before, o.a + step * keys, o.p ? o.p + step * keys : NULL, s->left, o.x + step * size,
                   now, keys, o.values);
        if (o.q)
            project(s, now, o.q + step * keys, keys, o.values, t->x + step * o.values);
        else
            memcpy(t->x + step * size, now, (size_t)size * sizeof *now);
    }
    free(states);
    return CUPEL_OK;
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
    return state_scan(s, node);
}
