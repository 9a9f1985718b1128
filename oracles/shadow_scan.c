/* Inclusive scans along the last axis: step by step, or in blocks whose carries are brought in afterwards. */
#include "shadow_impl.h"

/* The length of a block; the whole row where scans go step by step. */
static int64_t block_of(const cupel_shadow *s, int64_t n) {
    return s->plan.order == CUPEL_SHADOW_LANES && !s->sequential ? s->plan.lanes : n;
}

static double joined(cupel_shadow *s, bool product, double a, double b) {
    return product ? cupel_shadow_round(s, a * b) : cupel_shadow_step(s, a, b, NULL);
}

static void accumulate(cupel_shadow *s, bool product, const double *x, double *out, int64_t n) {
    const int64_t block = block_of(s, n);
    double carry = product;
    for (int64_t begin = 0; begin < n; begin += block) {
        double own = product;
        for (int64_t i = begin; i < n && i < begin + block; i++) {
            own = joined(s, product, own, x[i]);
            out[i] = begin == 0 ? own : joined(s, product, carry, own);
        }
        carry = begin == 0 ? own : joined(s, product, carry, own);
    }
}

/* The largest or smallest so far; a NaN stays unless it is swallowed. */
static void extremum(const cupel_shadow *s, bool largest, const double *x, double *out, int64_t n) {
    const bool swallowed = s->plan.fault == CUPEL_SHADOW_NAN_SWALLOWED;
    for (int64_t i = 0; i < n; i++) {
        const double best = i > 0 ? out[i - 1] : x[0];
        const bool takes = isnan(best)   ? swallowed
                           : isnan(x[i]) ? !swallowed
                                         : (largest ? x[i] > best : x[i] < best);
        out[i] = takes ? x[i] : best;
    }
}

static void integers(cupel_op op, const int64_t *x, int64_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t before = i > 0                    ? out[i - 1]
                               : op == CUPEL_OP_CUMSUM  ? 0
                               : op == CUPEL_OP_CUMPROD ? 1
                                                        : x[0];
        switch (op) {
        case CUPEL_OP_CUMSUM: out[i] = (int64_t)((uint64_t)before + (uint64_t)x[i]); break;
        case CUPEL_OP_CUMPROD: out[i] = (int64_t)((uint64_t)before * (uint64_t)x[i]); break;
        case CUPEL_OP_CUMMAX: out[i] = x[i] > before ? x[i] : before; break;
        default: out[i] = x[i] < before ? x[i] : before; break;
        }
    }
}

cupel_code cupel_shadow_scan(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const int64_t row = cupel_shadow_row(s, node);
    for (int64_t begin = 0; row > 0 && begin < t->count; begin += row) {
        if (n->kind == CUPEL_VALUE_INT)
            integers(n->op, from->n + begin, t->n + begin, row);
        else if (n->op == CUPEL_OP_CUMMAX || n->op == CUPEL_OP_CUMMIN)
            extremum(s, n->op == CUPEL_OP_CUMMAX, from->x + begin, t->x + begin, row);
        else
            accumulate(s, n->op == CUPEL_OP_CUMPROD, from->x + begin, t->x + begin, row);
    }
    return CUPEL_OK;
}
