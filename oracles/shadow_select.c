/* WHERE, EXCLUDE, LOOSEN, BETWEEN and CAST. */
#include <string.h>

#include "shadow_impl.h"

static void where(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    const double *condition = cupel_shadow_arg(s, node, 0)->x;
    for (int64_t i = 0; i < t->count; i++) {
        const cupel_shadow_tensor *taken = cupel_shadow_arg(s, node, condition[i] != 0 ? 1 : 2);
        memcpy((char *)t->data + i * 8, (const char *)taken->data + i * 8, 8);
    }
}

/* The first form, or the second where the condition holds. */
static void between(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    const double *condition = cupel_shadow_arg(s, node, 2)->x;
    for (int64_t i = 0; i < t->count; i++) {
        const cupel_shadow_tensor *form = cupel_shadow_arg(s, node, s->plan.other && condition[i] != 0);
        memcpy((char *)t->data + i * 8, (const char *)form->data + i * 8, 8);
    }
}

double cupel_shadow_truncated(cupel_dtype type, double x) {
    if (!isfinite(x)) return x;
    return x < 0 ? cupel_round_up(type, x) : cupel_round_down(type, x);
}

/* As in cupel_ball_loosen. */
static double lost_by_narrowing(const cupel_node *n, double size) {
    const double below =
        size < cupel_loosen_normal(n->type, n->scaled) ? cupel_loosen_smallest(n->type, n->scaled) : 0;
    return 2 * cupel_format_unit(n->type) * size + below;
}

static void loosen(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    for (int64_t i = 0; i < t->count; i++) {
        t->x[i] = from->x[i];
        if (!isfinite(from->x[i])) continue;
        if (s->plan.noise && (n->scaled || cupel_round(n->type, from->x[i]) != from->x[i])) {
            t->x[i] += cupel_shadow_anywhere(s, lost_by_narrowing(n, fabs(from->x[i])));
            continue;
        }
        if (s->plan.operands == CUPEL_SHADOW_ROUNDED) t->x[i] = cupel_round(n->type, from->x[i]);
        if (s->plan.operands == CUPEL_SHADOW_TRUNCATED) t->x[i] = cupel_shadow_truncated(n->type, from->x[i]);
    }
}

static int64_t to_integer(double x) {
    return fabs(x) < 0x1p63 ? (int64_t)x : 0; /* what does not fit is not judged */
}

static void cast(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node], *from = cupel_shadow_arg(s, node, 0);
    const cupel_value_kind kind = s->graph->nodes[n->args[0]].kind;
    for (int64_t i = 0; i < t->count; i++) {
        const bool large = kind == CUPEL_VALUE_INT && s->graph->nodes[n->args[0]].width == CUPEL_U64;
        const double x = large                     ? (double)(uint64_t)from->n[i]
                         : kind == CUPEL_VALUE_INT ? (double)from->n[i]
                                                   : from->x[i];
        if (n->kind == CUPEL_VALUE_REAL)
            t->x[i] = cupel_shadow_round(s, cupel_round(n->type, x));
        else
            t->n[i] = kind == CUPEL_VALUE_INT ? from->n[i] : to_integer(x);
    }
}

cupel_code cupel_shadow_select(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    switch (s->graph->nodes[node].op) {
    case CUPEL_OP_WHERE: where(s, node); break;
    case CUPEL_OP_BETWEEN: between(s, node); break;
    case CUPEL_OP_EXCLUDE: memcpy(t->data, cupel_shadow_arg(s, node, 0)->data, (size_t)t->count * 8); break;
    case CUPEL_OP_LOOSEN: loosen(s, node); break;
    default: cast(s, node); break;
    }
    return CUPEL_OK;
}
