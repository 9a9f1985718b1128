/* LINEAR_SCAN: step by step, or in blocks; STATE_SCAN: step by step. */
#include <stdlib.h>
#include <string.h>

#include "shadow_impl.h"

/* ---- LINEAR_SCAN ---- */

/* What a block takes over from the steps before it, of which `end` is the last; element i of it. */
static double carried(cupel_shadow *s, double own, double decay, double carry, bool first) {
    if (first || s->plan.fault == CUPEL_SHADOW_DROPPED_CARRY) return own;
    if (s->plan.fault == CUPEL_SHADOW_RAW_CARRY) return cupel_shadow_step(s, own, carry, NULL);
    return cupel_shadow_step(s, own, decay, &carry);
}

/* h_t = a_t h_{t-1} + b_t. In blocks: h_t = own_t + (a_begin .. a_t) carry. */
static void in_blocks(cupel_shadow *s, const double *a, const double *b, double *h, int64_t n,
                      int64_t block) {
    double carry = 0, before = 0;
    for (int64_t begin = 0; begin < n; begin += block) {
        double own = 0, decay = 1;
        for (int64_t i = begin; i < n && i < begin + block; i++) {
            own = i == begin ? b[i] : cupel_shadow_step(s, b[i], a[i], &own);
            decay = i == begin ? a[i] : cupel_shadow_round(s, decay * a[i]);
            h[i] = carried(s, own, decay, carry, begin == 0);
        }
        before = own;
        carry = s->plan.fault == CUPEL_SHADOW_SHORT_CARRY ? before
                                                          : h[begin + block <= n ? begin + block - 1 : n - 1];
    }
}

static void flip(double *x, int64_t n) {
    for (int64_t i = 0; i < n / 2; i++) {
        const double kept = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = kept;
    }
}

static void linear_row(cupel_shadow *s, double *a, double *b, double *h, int64_t n) {
    const bool blocked = s->plan.order == CUPEL_SHADOW_LANES && !s->sequential;
    const bool carries = CUPEL_SHADOW_CARRY_FAULTS >> s->plan.fault & 1;
    if (s->plan.fault != CUPEL_SHADOW_REVERSED_SCAN) {
        in_blocks(s, a, b, h, n, carries ? cupel_shadow_block(s) : blocked ? s->plan.lanes : n);
        if (s->plan.fault == CUPEL_SHADOW_EXCLUSIVE_SCAN && n > 0) {
            memmove(h + 1, h, (size_t)(n - 1) * sizeof *h);
            h[0] = 0;
        }
        return;
    }
    flip(a, n);
    flip(b, n);
    in_blocks(s, a, b, h, n, n);
    flip(a, n);
    flip(b, n);
    flip(h, n);
}

/* ---- STATE_SCAN ---- */

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
    for (int64_t turn = 0; turn < steps; turn++) {
        const bool reversed = s->plan.fault == CUPEL_SHADOW_REVERSED_SCAN;
        const int64_t own = turn % o.steps, step = reversed ? turn - own + o.steps - 1 - own : turn;
        double *before = own ? states + (turn + 1) % 2 * size : NULL, *now = states + turn % 2 * size;
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
