/* Reductions over the last axis. */
#include <stdlib.h>

#include "shadow_impl.h"

/* ---- sums of reals ---- */

/* The sum of exp(x - maximum so far), rescaled whenever the maximum grows (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018). */
static double running_maximum(cupel_shadow *s, const double *x, int64_t n) {
    double top = x[0], sum = cupel_shadow_function(s, CUPEL_OP_EXP, 0);
    for (int64_t i = 1; i < n; i++) {
        const double next = x[i] > top ? x[i] : top;
        const double rescale =
            next > top ? cupel_shadow_function(s, CUPEL_OP_EXP, cupel_shadow_round(s, top - next)) : 1;
        const double own = cupel_shadow_function(s, CUPEL_OP_EXP, cupel_shadow_round(s, x[i] - next));
        sum = cupel_shadow_step(s, own, sum, &rescale);
        top = next;
    }
    return sum;
}

static bool all_finite(const double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* The sum of squared differences from the running mean (Welford). */
static double running_squares(cupel_shadow *s, const double *x, int64_t n) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double delta = cupel_shadow_round(s, x[i] - mean);
        mean = cupel_shadow_round(s, mean + cupel_shadow_divide(s, delta, (double)(i + 1)));
        const double after = cupel_shadow_round(s, x[i] - mean);
        squares = cupel_shadow_step(s, squares, delta, &after);
    }
    return squares;
}

/* What the terms are made of: the product's factors, or the x of a statistic or a running maximum. */
typedef struct terms {
    void *a, *b;
    cupel_shadow_idea idea; /* as far as the plan takes it up */
} terms;

static cupel_code take(cupel_shadow *s, int node, terms *t) {
    const cupel_shadow_pattern *p = &s->patterns[node];
    const cupel_node *n = &s->graph->nodes[node], *inner = &s->graph->nodes[p->inner];
    const int argument = n->args[0];
    *t = (terms){0};
    int a = -1, b = -1;
    if (p->idea == CUPEL_IDEA_SQUARES && s->plan.welford) {
        t->idea = CUPEL_IDEA_SQUARES;
        a = p->source;
    } else if (p->idea == CUPEL_IDEA_RUNNING_MAXIMUM && s->plan.online) {
        t->idea = CUPEL_IDEA_RUNNING_MAXIMUM;
        a = p->source;
    } else if ((p->idea == CUPEL_IDEA_FUSED_SUM || p->idea == CUPEL_IDEA_SQUARES) &&
               (s->plan.fused || CUPEL_SHADOW_OPERAND_FAULTS >> s->plan.fault & 1)) {
        t->idea = CUPEL_IDEA_FUSED_SUM;
        a = inner->args[0];
        b = inner->args[1];
    }
    if (a >= 0) CUPEL_TRY(cupel_shadow_moved(s, argument, p->inner, s->tensors[a].data, &t->a));
    if (b >= 0) CUPEL_TRY(cupel_shadow_moved(s, argument, p->inner, s->tensors[b].data, &t->b));
    return CUPEL_OK;
}

static cupel_code sums(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    const double *plain = cupel_shadow_arg(s, node, 0)->x;
    const int64_t n = cupel_shadow_row(s, s->graph->nodes[node].args[0]);
    terms made;
    const cupel_code code = take(s, node, &made);
    for (int64_t r = 0; code == CUPEL_OK && r < t->count; r++) {
        const double *a = made.a ? (double *)made.a + r * n : NULL;
        const double *b = made.b ? (double *)made.b + r * n : NULL;
        if (made.idea == CUPEL_IDEA_RUNNING_MAXIMUM && n > 0 && all_finite(a, n))
            t->x[r] = running_maximum(s, a, n);
        else if (made.idea == CUPEL_IDEA_SQUARES)
            t->x[r] = running_squares(s, a, n);
        else if (b)
            t->x[r] = cupel_shadow_sum(s, cupel_shadow_left(s, a, n), cupel_shadow_right(s, b, n), n);
        else
            t->x[r] = cupel_shadow_sum(s, plain + r * n, NULL, n);
    }
    free(made.a);
    free(made.b);
    return code;
}

/* ---- extrema ---- */

/* Does x take the place of best? A NaN does unless it is swallowed; a tie only where the last one counts. */
static bool beats(const cupel_shadow *s, bool largest, bool position, double x, double best) {
    const bool swallowed = s->plan.fault == CUPEL_SHADOW_NAN_SWALLOWED;
    if (isnan(best)) return swallowed;
    if (isnan(x)) return !swallowed;
    if (position && x == best) return s->plan.fault == CUPEL_SHADOW_LAST_TIE;
    return largest ? x > best : x < best;
}

static void extrema(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const bool integers = s->graph->nodes[n->args[0]].kind == CUPEL_VALUE_INT;
    const cupel_dtype width = s->graph->nodes[n->args[0]].width;
    const bool largest = n->op == CUPEL_OP_AMAX || n->op == CUPEL_OP_ARGMAX;
    const bool position = n->op == CUPEL_OP_ARGMAX || n->op == CUPEL_OP_ARGMIN;
    const int64_t row = cupel_shadow_row(s, n->args[0]), seen = cupel_shadow_seen(s, row);
    for (int64_t r = 0; r < t->count; r++) {
        int64_t best = r * row;
        for (int64_t i = r * row + 1; i < r * row + seen; i++) {
            const bool better = integers ? (largest ? cupel_shadow_less(width, from->n[best], from->n[i])
                                                    : cupel_shadow_less(width, from->n[i], from->n[best])) ||
                                               (position && from->n[i] == from->n[best] &&
                                                s->plan.fault == CUPEL_SHADOW_LAST_TIE)
                                         : beats(s, largest, position, from->x[i], from->x[best]);
            if (better) best = i;
        }
        if (position)
            t->n[r] = best - r * row;
        else if (integers)
            t->n[r] = from->n[best];
        else if (isnan(from->x[best]) && s->plan.fault == CUPEL_SHADOW_NAN_SWALLOWED)
            t->x[r] = largest ? -INFINITY : INFINITY; /* what fmax starts from */
        else
            t->x[r] = from->x[best];
    }
}

static void integers(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const int64_t n = cupel_shadow_row(s, s->graph->nodes[node].args[0]), seen = cupel_shadow_seen(s, n);
    const bool product = s->graph->nodes[node].op == CUPEL_OP_PROD;
    for (int64_t r = 0; r < t->count; r++) {
        uint64_t total = product;
        for (int64_t i = 0; i < seen; i++) {
            const uint64_t x = (uint64_t)from->n[r * n + i];
            total = product ? total * x : total + x;
        }
        t->n[r] = (int64_t)total;
    }
}

cupel_code cupel_shadow_reduce(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node];
    const bool total = n->op == CUPEL_OP_SUM || n->op == CUPEL_OP_PROD;
    if (total && n->kind == CUPEL_VALUE_INT) {
        integers(s, node);
    } else if (n->op == CUPEL_OP_SUM) {
        return sums(s, node);
    } else if (n->op == CUPEL_OP_PROD) {
        const int64_t row = cupel_shadow_row(s, n->args[0]);
        for (int64_t r = 0; r < t->count; r++)
            t->x[r] = cupel_shadow_product_of(s, cupel_shadow_arg(s, node, 0)->x + r * row, row);
    } else if (s->patterns[node].idea != CUPEL_IDEA_MAXIMUM || s->plan.fault != CUPEL_SHADOW_NO_MAXIMUM) {
        extrema(s, node); /* without its maximum a softmax subtracts 0, which fresh memory is */
    }
    return CUPEL_OK;
}
