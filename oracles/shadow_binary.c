/* Arithmetic, extrema, comparisons, logic and bits. */
#include <stdlib.h>

#include "shadow_impl.h"

/* IEEE's maximum and minimum keep a NaN; fmax and fmin, and a kernel that swallows it, do not. */
static double extremum(const cupel_shadow *s, cupel_op op, double x, double y) {
    const bool largest = op == CUPEL_OP_MAXIMUM || op == CUPEL_OP_FMAX;
    const bool keeps =
        (op == CUPEL_OP_MAXIMUM || op == CUPEL_OP_MINIMUM) && s->plan.fault != CUPEL_SHADOW_NAN_SWALLOWED;
    if (isnan(x)) return keeps ? x : y;
    if (isnan(y)) return keeps ? y : x;
    return (largest ? x > y : x < y) ? x : y;
}

/* A comparison written the other way round answers the opposite of a NaN. */
static bool compare(const cupel_shadow *s, cupel_op op, double x, double y) {
    if ((isnan(x) || isnan(y)) && s->plan.fault == CUPEL_SHADOW_NAN_SWALLOWED)
        return op == CUPEL_OP_LT || op == CUPEL_OP_LE || op == CUPEL_OP_NE;
    switch (op) {
    case CUPEL_OP_LT: return x < y;
    case CUPEL_OP_LE: return x <= y;
    case CUPEL_OP_EQ: return x == y;
    default: return x != y;
    }
}

/* Python's %: the divisor's sign. */
static double remainder_of(double x, double y) {
    const double r = fmod(x, y);
    if (r == 0) return copysign(0, y);
    return (r < 0) != (y < 0) ? r + y : r;
}

static double real_value(cupel_shadow *s, cupel_op op, double x, double y) {
    switch (op) {
    case CUPEL_OP_ADD: return cupel_shadow_round(s, x + y);
    case CUPEL_OP_SUB: return cupel_shadow_round(s, x - y);
    case CUPEL_OP_MUL: return cupel_shadow_round(s, x * y);
    case CUPEL_OP_DIV: return cupel_shadow_divide(s, x, y);
    case CUPEL_OP_POW: return cupel_shadow_power(s, x, y);
    case CUPEL_OP_FMOD: return cupel_shadow_round(s, fmod(x, y));
    case CUPEL_OP_REMAINDER: return cupel_shadow_round(s, remainder_of(x, y));
    case CUPEL_OP_ATAN2: return cupel_shadow_round(s, atan2(x, y));
    case CUPEL_OP_AND: return x != 0 && y != 0;
    case CUPEL_OP_OR: return x != 0 || y != 0;
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX: return extremum(s, op, x, y);
    default: return compare(s, op, x, y);
    }
}

static int64_t quotient_rest(cupel_op op, cupel_dtype width, int64_t x, int64_t y) {
    if (width == CUPEL_U64) return y == 0 ? 0 : (int64_t)((uint64_t)x % (uint64_t)y);
    if (y == 0 || y == -1) return 0; /* by 0: not judged */
    const int64_t r = x % y;
    return op == CUPEL_OP_REMAINDER && r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static int64_t power_of(int64_t x, int64_t y) {
    uint64_t result = 1, base = (uint64_t)x;
    for (uint64_t e = y < 0 ? 0 : (uint64_t)y; e; e >>= 1, base *= base)
        if (e & 1) result *= base;
    return (int64_t)result;
}

/* 64-bit, wrapping: what does not fit is not judged. */
static int64_t integer_value(cupel_op op, cupel_dtype width, int64_t x, int64_t y) {
    const uint64_t a = (uint64_t)x, b = (uint64_t)y;
    switch (op) {
    case CUPEL_OP_ADD: return (int64_t)(a + b);
    case CUPEL_OP_SUB: return (int64_t)(a - b);
    case CUPEL_OP_MUL: return (int64_t)(a * b);
    case CUPEL_OP_POW: return power_of(x, y);
    case CUPEL_OP_FMOD:
    case CUPEL_OP_REMAINDER: return quotient_rest(op, width, x, y);
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_FMIN: return cupel_shadow_less(width, x, y) ? x : y;
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMAX: return cupel_shadow_less(width, y, x) ? x : y;
    case CUPEL_OP_BITAND: return x & y;
    case CUPEL_OP_BITOR: return x | y;
    case CUPEL_OP_BITXOR: return x ^ y;
    case CUPEL_OP_SHL: return y >= 0 && y < 64 ? (int64_t)(a << y) : 0;
    case CUPEL_OP_SHR:
        if (y < 0 || y >= 64) return 0;
        return width == CUPEL_U64 ? (int64_t)(a >> y) : x >> y;
    default: return 0;
    }
}

static bool compare_integers(cupel_op op, cupel_dtype width, int64_t x, int64_t y) {
    switch (op) {
    case CUPEL_OP_LT: return cupel_shadow_less(width, x, y);
    case CUPEL_OP_LE: return !cupel_shadow_less(width, y, x);
    case CUPEL_OP_EQ: return x == y;
    default: return x != y;
    }
}

/* x + y, x - y with one of them a product whose rounding is left out. */
static void fused(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node], *product = &s->graph->nodes[s->patterns[node].inner];
    const cupel_shadow_tensor *t = &s->tensors[node];
    const double *a = s->tensors[product->args[0]].x, *b = s->tensors[product->args[1]].x;
    const bool first = n->args[0] == s->patterns[node].inner, minus = n->op == CUPEL_OP_SUB;
    const double *c = cupel_shadow_arg(s, node, first)->x;
    for (int64_t i = 0; i < t->count; i++)
        t->x[i] = cupel_shadow_fma(s, !first && minus ? -a[i] : a[i], b[i], first && minus ? -c[i] : c[i]);
}

/* ---- statistics ---- */

/* Mean of n numbers by Welford's running mean (Technometrics 4, 1962). */
static double running_mean(cupel_shadow *s, const double *x, int64_t n) {
    double mean = 0;
    for (int64_t i = 0; i < n; i++) {
        const double delta = cupel_shadow_round(s, x[i] - mean);
        mean = cupel_shadow_round(s, mean + cupel_shadow_divide(s, delta, (double)(i + 1)));
    }
    return mean;
}

/* E[x^2] - E[x]^2, not below 0; of another divisor (sum x^2 - (sum x)^2 / n) / divisor. */
static double one_pass(cupel_shadow *s, const double *x, int64_t n, double divisor) {
    const double sum = cupel_shadow_sum(s, x, NULL, n), squares = cupel_shadow_sum(s, x, x, n);
    double rest;
    if (divisor == (double)n) {
        const double mean = cupel_shadow_divide(s, sum, divisor),
                     q = cupel_shadow_divide(s, squares, divisor);
        rest = s->plan.fused ? cupel_shadow_fma(s, -mean, mean, q)
                             : cupel_shadow_round(s, q - cupel_shadow_round(s, mean * mean));
    } else {
        const double square = cupel_shadow_round(s, sum * sum);
        rest = cupel_shadow_round(s, squares - cupel_shadow_divide(s, square, (double)n));
        rest = cupel_shadow_divide(s, rest, divisor);
    }
    return fmax(rest, 0); /* which makes a 0 of a NaN */
}

/* One number a row, in the shape of the SUM that the DIV divides, then moved as that is. */
static cupel_code statistic(cupel_shadow *s, int node, bool variance) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_pattern *p = &s->patterns[node];
    const cupel_node *sum = &s->graph->nodes[p->inner];
    const int argument = sum->args[0];
    const int64_t row = cupel_shadow_row(s, argument);
    const double divisor = cupel_shadow_arg(s, node, 1)->x[0];
    void *x = NULL, *moved = NULL;
    double *results = malloc(((size_t)sum->count + 1) * sizeof *results);
    if (!results) return cupel_fail(s->err, CUPEL_MEMORY, "no memory for a statistic");
    /* the mean's source is the argument itself; the variance's stands behind its moves */
    const int stop = variance ? cupel_graph_behind_views(s->graph, argument) : argument;
    cupel_code code = cupel_shadow_moved(s, argument, stop, s->tensors[p->source].data, &x);
    for (int64_t r = 0; code == CUPEL_OK && r < sum->count; r++) {
        const double *from = (const double *)x + r * row;
        results[r] = variance ? one_pass(s, from, row, divisor) : running_mean(s, from, row);
    }
    if (code == CUPEL_OK) code = cupel_shadow_moved(s, n->args[0], p->inner, results, &moved);
    for (int64_t i = 0; code == CUPEL_OK && i < n->count; i++) s->tensors[node].x[i] = ((double *)moved)[i];
    free(results);
    free(x);
    free(moved);
    return code;
}

cupel_code cupel_shadow_binary(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *a = cupel_shadow_arg(s, node, 0),
                              *b = cupel_shadow_arg(s, node, 1);
    const cupel_shadow_idea idea = s->patterns[node].idea;
    if (idea == CUPEL_IDEA_MEAN && s->plan.welford) return statistic(s, node, false);
    if (idea == CUPEL_IDEA_VARIANCE && s->plan.fault == CUPEL_SHADOW_ONE_PASS)
        return statistic(s, node, true);
    if (cupel_shadow_chain_sum(s, node)) return CUPEL_OK;
    const int sum = cupel_shadow_join(s, node);
    if (sum >= 0) {
        cupel_shadow_start_with(s, node, sum);
        return CUPEL_OK;
    }
    if (idea == CUPEL_IDEA_FUSED_SUM && s->plan.fused) {
        fused(s, node);
        return CUPEL_OK;
    }
    if (idea == CUPEL_IDEA_SAME && !s->plan.loose) {
        for (int64_t i = 0; i < t->count; i++) t->x[i] = s->tensors[s->patterns[node].inner].x[i];
        return CUPEL_OK;
    }
    const bool integers = s->graph->nodes[n->args[0]].kind == CUPEL_VALUE_INT;
    for (int64_t i = 0; i < t->count; i++) {
        if (n->kind == CUPEL_VALUE_INT)
            t->n[i] = integer_value(n->op, n->width, a->n[i], b->n[i]);
        else if (integers)
            t->x[i] = compare_integers(n->op, n->width, a->n[i], b->n[i]);
        else
            t->x[i] = real_value(s, n->op, a->x[i], b->x[i]);
    }
    return CUPEL_OK;
}
