/* Reductions and scans along the last axis of the argument. */
#include "gradient_rules.h"

#include <math.h>
#include <string.h>

static unsigned last_axis(const cupel_builder *b, int x) {
    return 1u << (b->nodes[x].rank - 1);
}

/* The positions 0, 1, ... along the last axis. */
static int positions(cupel_builder *b, int x) {
    return cupel_emit_iota(b, 0, 1, b->nodes[x].shape[b->nodes[x].rank - 1]);
}

/* Is this the first zero of its row? */
static int first_zero(cupel_builder *b, int x) {
    int is_zero = equal_(b, x, number_(b, 0.0));
    int so_far = cupel_emit_scan(b, CUPEL_OP_CUMSUM, is_zero, b->nodes[x].rank - 1);
    return and_(b, is_zero, equal_(b, so_far, cupel_emit_integer(b, 1)));
}

/* A product's share dy y / x_k, and at a zero the product of the others. A factor that is infinite makes y /
 * x_k NaN, which is a number for who multiplies the others: not judged. */
static int product_share(cupel_sweep *s, int x, int through, int at_zero, int first) {
    cupel_builder *b = s->b;
    int is_zero = equal_(b, x, number_(b, 0.0));
    int share = where_(b, first, at_zero, where_(b, is_zero, number_(b, 0.0), div_(b, through, x)));
    return cupel_emit_exclude(b, share, cupel_emit_unary(b, CUPEL_OP_ISINF, x));
}

static void give_prod(cupel_sweep *s, int node, int x, int dy) {
    cupel_builder *b = s->b;
    const unsigned axis = last_axis(b, x);
    int first = first_zero(b, x);
    int others = cupel_emit_reduce(b, CUPEL_OP_PROD, where_(b, first, number_(b, 1.0), x), axis, false);
    int through = cupel_gradient_spread(b, mul_(b, dy, node), axis, x);
    int at_zero = cupel_gradient_spread(b, mul_(b, dy, others), axis, x);
    cupel_sweep_give(s, x, product_share(s, x, through, at_zero, first));
}

/* The largest element takes all. Equal ones share evenly, as PyTorch's amax does; where rounding leaves open
 * which are equal, each may get anything from nothing to all. */
static void give_extreme(cupel_sweep *s, int node, int x, int dy) {
    cupel_builder *b = s->b;
    const unsigned axis = last_axis(b, x);
    const bool largest = b->nodes[node].op == CUPEL_OP_AMAX;
    int top = cupel_gradient_spread(b, node, axis, x), upstream = cupel_gradient_spread(b, dy, axis, x);
    int winner = cupel_emit_reduce(b, largest ? CUPEL_OP_ARGMAX : CUPEL_OP_ARGMIN, x, axis, true);
    int wins = equal_(b, positions(b, x), winner), ties = and_(b, equal_(b, x, top), not_(b, wins));
    int tied = sum_(b, ties, axis), one = number_(b, 1.0);
    int count = maximum_(b, cupel_emit_as(b, CUPEL_VALUE_REAL, add_(b, tied, cupel_emit_integer(b, 1))), one);
    int even = div_(b, upstream, count);
    int alone = equal_(b, tied, cupel_emit_integer(b, 0)), takes = or_(b, wins, ties);
    int share = cupel_gradient_masked(s, takes, where_(b, alone, upstream, even));
    if (s->kinks_any) {
        int kink = and_(b, takes, not_(b, alone));
        share = cupel_emit_between(b, share, upstream, kink);
        share = cupel_emit_between(b, share, number_(b, 0.0), kink);
    }
    /* a row with NaN has no largest element */
    cupel_sweep_give(s, x, cupel_emit_exclude(b, share, isnan_(b, top)));
}

/* max_pool: the first of equal elements. Rows of NaN and of padding alone are left open. */
void cupel_gradient_first_maximum(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[c->node].args[0];
    const unsigned axis = last_axis(b, x);
    int winner = cupel_emit_reduce(b, CUPEL_OP_ARGMAX, x, axis, true);
    int upstream = cupel_gradient_spread(b, dy, axis, x), top = cupel_gradient_spread(b, c->node, axis, x);
    int wins = equal_(b, positions(b, x), winner), ties = equal_(b, x, top);
    int share = cupel_gradient_masked(s, wins, upstream);
    if (s->kinks_any) { /* one of several equal elements need not win */
        int tied = less_(b, cupel_emit_integer(b, 1), sum_(b, ties, axis)), kink = and_(b, ties, tied);
        share = cupel_emit_between(b, share, upstream, kink);
        share = cupel_emit_between(b, share, number_(b, 0.0), kink);
    }
    int open = or_(b, isnan_(b, top), equal_(b, top, number_(b, -INFINITY)));
    cupel_sweep_give(s, x, cupel_emit_exclude(b, share, open));
}

void cupel_gradient_reduce(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[node].args[0];
    switch (b->nodes[node].op) {
    case CUPEL_OP_SUM: cupel_sweep_give(s, x, cupel_gradient_spread(b, dy, last_axis(b, x), x)); break;
    case CUPEL_OP_PROD: give_prod(s, node, x, dy); break;
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN: give_extreme(s, node, x, dy); break;
    default: cupel_sweep_refuse(s, node); break;
    }
}

/* ---- scans ---- */

/* The sum from each element to the end of its row. */
static int sum_to_end(cupel_builder *b, int x) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int last = b->nodes[x].rank - 1;
    return cupel_emit_flip(b, cupel_emit_scan(b, CUPEL_OP_CUMSUM, cupel_emit_flip(b, x, last), last), last);
}

/* sum over t >= k of dy_t y_t / x_k. At the first zero of a row the products without it stand for y; the
 * later elements of its row count in no product. */
static void give_cumprod(cupel_sweep *s, int node, int x, int dy) {
    cupel_builder *b = s->b;
    int first = first_zero(b, x);
    int others =
        cupel_emit_scan(b, CUPEL_OP_CUMPROD, where_(b, first, number_(b, 1.0), x), b->nodes[x].rank - 1);
    int through = sum_to_end(b, mul_(b, dy, node)), at_zero = sum_to_end(b, mul_(b, dy, others));
    cupel_sweep_give(s, x, product_share(s, x, through, at_zero, first));
}

/* What the running maximum holds at t came from the last element up to t that was not below it
 * (torch.cummax's index); a NaN stays the maximum for the rest of its row. */
static void give_running_extreme(cupel_sweep *s, int node, int x, int dy) {
    cupel_builder *b = s->b;
    const int last = b->nodes[x].rank - 1;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[x].shape, sizeof shape);
    int taken = or_(b, equal_(b, x, node), isnan_(b, x));
    int position = cupel_emit_broadcast(b, positions(b, x), last + 1, shape);
    int index =
        cupel_emit_scan(b, CUPEL_OP_CUMMAX, where_(b, taken, position, cupel_emit_integer(b, 0)), last);
    int base = cupel_emit_broadcast(b, number_(b, 0.0), last + 1, shape);
    int share = cupel_gradient_scatter_of(b, base, index, dy);
    s->masking = true;
    if (s->kinks_any && shape[last] > 1) { /* equal records may divide their share in any way */
        int before = cupel_emit_slice(b, node, last, 0, shape[last] - 1, 1);
        int after = cupel_emit_slice(b, x, last, 1, shape[last] - 1, 1);
        int tie = cupel_emit_reduce(b, CUPEL_OP_AMAX, equal_(b, before, after), 1u << last, true);
        share = cupel_emit_exclude(b, share, tie);
    }
    cupel_sweep_give(s, x, share);
}

void cupel_gradient_scan(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[node].args[0];
    if (b->nodes[node].count == 0) return;
    switch (b->nodes[node].op) {
    case CUPEL_OP_CUMSUM: cupel_sweep_give(s, x, sum_to_end(b, dy)); break;
    case CUPEL_OP_CUMPROD: give_cumprod(s, node, x, dy); break;
    case CUPEL_OP_CUMMAX:
    case CUPEL_OP_CUMMIN: give_running_extreme(s, node, x, dy); break;
    default: cupel_sweep_refuse(s, node); break;
    }
}
