/* Inputs, literals, counters and kept elements. */
#include "bounded.h"

CUPEL_WIDE static bool all_finite(const double *x, int64_t n) {
    uint64_t special = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) special |= !(fabs(x[i]) < INFINITY);
    return special == 0;
}

static cupel_code input(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    t->direct = true;
    if (cupel_format_of(n->type)->size == 8 && cupel_format_of(n->type)->kind != CUPEL_KIND_REAL) {
        const size_t size = cupel_format_of(n->type)->size;
        for (int64_t i = 0; i < t->count; i++) {
            const int64_t x =
                cupel_decode_int(n->type, (const char *)b->bindings->data[n->input] + size * (size_t)i);
            t->value[i] = n->type == CUPEL_U64 ? (double)(uint64_t)x : (double)x;
            if (fabs(t->value[i]) < b->w.integers) continue;
            CUPEL_TRY(cupel_tensor_need_reasons(b, t));
            t->reasons[i] = CUPEL_REASON_UNABLE;
        }
        return CUPEL_OK;
    }
    cupel_decode_many(n->type, b->bindings->data[n->input], (size_t)t->count, t->value);
    if (n->kind != CUPEL_VALUE_REAL) return CUPEL_OK;
    const cupel_format *from = cupel_format_of(n->type), *to = cupel_format_of(b->w.type);
    const bool wider = from->precision > to->precision || from->emin < to->emin || from->emax > to->emax;
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t end = begin + CUPEL_BOUNDED_BLOCK < t->count ? begin + CUPEL_BOUNDED_BLOCK : t->count;
        if (!wider && all_finite(t->value + begin, end - begin)) continue;
        for (int64_t i = begin; i < end; i++) {
            cupel_ball leaf = cupel_ball_leaf(&b->w, n->kind, t->value[i], true);
            leaf.classes &= CUPEL_CLASS_MASK;
            CUPEL_TRY(cupel_tensor_store(b, t, i, &leaf));
        }
    }
    return CUPEL_OK;
}

cupel_code cupel_bounded_leaf(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    switch (n->op) {
    case CUPEL_OP_INPUT: return input(b, node);
    case CUPEL_OP_IOTA:
        for (int64_t i = 0; i < t->count; i++) t->value[i] = (double)(n->integer + i * n->step);
        return CUPEL_OK;
    case CUPEL_OP_PHILOX:
        for (int64_t i = 0; i < t->count; i++) t->value[i] = cupel_philox_word(n->integer, i);
        return CUPEL_OK;
    case CUPEL_OP_KEEP:
        for (int64_t i = 0; i < t->count; i++) t->value[i] = 0;
        CUPEL_TRY(cupel_tensor_need_classes(b, t));
        memset(t->classes, CUPEL_KEEP, (size_t)t->count);
        return CUPEL_OK;
    default: break;
    }
    const double number = n->kind == CUPEL_VALUE_REAL ? n->number : (double)n->integer;
    const bool exact = n->kind != CUPEL_VALUE_REAL || n->digits == NULL;
    cupel_ball literal = cupel_ball_leaf(&b->w, n->kind, number, exact);
    literal.classes &= CUPEL_CLASS_MASK;
    t->direct = number != 0; /* a zero that the contract writes has no sign that is judged */
    if (isfinite(number)) t->floor = number - literal.radius, t->ceiling = number + literal.radius;
    for (int64_t i = 0; i < t->count; i++) CUPEL_TRY(cupel_tensor_store(b, t, i, &literal));
    return CUPEL_OK;
}
