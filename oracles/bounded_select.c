/* WHERE and CAST. */
#include "bounded.h"

static cupel_code where(cupel_bounded *b, int node) {
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *c = cupel_bounded_arg(b, node, 0), *yes = cupel_bounded_arg(b, node, 1),
                       *no = cupel_bounded_arg(b, node, 2);
    t->direct = yes->direct && no->direct;
    t->floor = fmin(yes->floor, no->floor);
    t->ceiling = fmax(yes->ceiling, no->ceiling);
    for (int64_t i = 0; i < t->count; i++) t->value[i] = c->value[i] != 0 ? yes->value[i] : no->value[i];
    if (!c->radius && !c->reasons) {
        /* a settled condition copies */
        if (yes->radius || no->radius) {
            CUPEL_TRY(cupel_tensor_need_radius(b, t));
            for (int64_t i = 0; i < t->count; i++)
                t->radius[i] = c->value[i] != 0 ? cupel_radius_at(yes, i) : cupel_radius_at(no, i);
        }
        if (!yes->classes && !no->classes && !yes->reasons && !no->reasons) return CUPEL_OK;
    }
    for (int64_t i = 0; i < t->count; i++) {
        const cupel_ball bc = cupel_tensor_load(c, i), by = cupel_tensor_load(yes, i),
                         bn = cupel_tensor_load(no, i);
        const cupel_ball r = cupel_ball_where(&bc, &by, &bn, t->value[i]);
        CUPEL_TRY(cupel_tensor_store(b, t, i, &r));
    }
    return CUPEL_OK;
}

/* The integer that a cast to an integer type gives; cupel_ball_cast decides whether it is judged. */
static double to_integer(double x) {
    return fabs(x) <= 0x1p63 ? trunc(x) : 0;
}

static cupel_code cast(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    const bool real = cupel_format_of(n->type)->kind == CUPEL_KIND_REAL;
    t->direct = x->direct;
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t end = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count : begin + CUPEL_BOUNDED_BLOCK;
        for (int64_t i = begin; i < end; i++)
            t->value[i] = real ? cupel_round(n->type, x->value[i]) : to_integer(x->value[i]);
        for (int64_t i = begin; i < end; i++) {
            const bool plain = real && !b->w.flush && !x->radius &&
                               (!x->classes || x->classes[i] == CUPEL_CLASS_FINITE) &&
                               (!x->reasons || !x->reasons[i]) && isfinite(t->value[i]) &&
                               cupel_format_of(n->type)->precision <= b->w.precision;
            if (plain && !t->radius) continue;
            const cupel_ball bx = cupel_tensor_load(x, i);
            const cupel_ball r = cupel_ball_cast(&b->w, n->type, &bx, t->value[i]);
            CUPEL_TRY(cupel_tensor_store(b, t, i, &r));
        }
    }
    return CUPEL_OK;
}

cupel_code cupel_bounded_select(cupel_bounded *b, int node) {
    if (b->tensors[node].count == 0) return CUPEL_OK;
    return b->graph->nodes[node].op == CUPEL_OP_WHERE ? where(b, node) : cast(b, node);
}
