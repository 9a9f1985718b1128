/* Moving elements: views, reshapes, joins, padding, gathers. */
#include "bounded.h"

CUPEL_WIDE static void fill_numbers(double *to, double number, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) to[i] = number;
}

static void fill_bytes(uint8_t *to, uint8_t byte, int64_t n) {
    memset(to, byte, (size_t)n);
}

void cupel_tensor_copy(cupel_tensor *to, int64_t at, const cupel_tensor *from, int64_t begin, int64_t step,
                       int64_t n) {
#define COPY(array, fill)                                                                                    \
    if (from->array) {                                                                                       \
        if (step == 0) {                                                                                     \
            fill(to->array + at, from->array[begin], n);                                                     \
        } else if (step == 1) {                                                                              \
            memcpy(to->array + at, from->array + begin, (size_t)n * sizeof *to->array);                      \
        } else {                                                                                             \
            for (int64_t i = 0; i < n; i++) to->array[at + i] = from->array[begin + i * step];               \
        }                                                                                                    \
    }
    COPY(value, fill_numbers)
    COPY(radius, fill_numbers)
    COPY(classes, fill_bytes)
    COPY(reasons, fill_bytes)
    COPY(magnitude, fill_numbers)
    COPY(spread, fill_numbers)
    COPY(grain, fill_numbers)
    COPY(peak, fill_numbers)
    COPY(trough, fill_numbers)
#undef COPY
}

cupel_code cupel_tensor_adopt(cupel_bounded *b, cupel_tensor *to, const cupel_tensor *from, bool state) {
    if (from->radius) CUPEL_TRY(cupel_tensor_need_radius(b, to));
    if (from->classes) CUPEL_TRY(cupel_tensor_need_classes(b, to));
    if (from->reasons) CUPEL_TRY(cupel_tensor_need_reasons(b, to));
    if (!state) return CUPEL_OK;
    if (from->magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, to));
    if (from->peak) CUPEL_TRY(cupel_tensor_need_chain(b, to));
    to->terms = from->terms + (double)from->scan;
    to->roundings = from->roundings;
    to->extents = from->extents;
    to->products = from->products;
    to->depth = from->depth;
    to->chain_peak = from->chain_peak;
    to->chain_trough = from->chain_trough;
    to->chain_divisors = from->chain_divisors;
    to->floor = from->floor;
    to->ceiling = from->ceiling;
    to->sum = from->sum;
    to->direct = from->direct;
    to->narrowed = from->narrowed;
    to->relative = from->relative;
    return CUPEL_OK;
}

static cupel_code view(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    cupel_tensor *from = cupel_bounded_arg(b, node, 0);
    CUPEL_TRY(cupel_tensor_adopt(b, t, from, true));
    if (t->count == 0) return CUPEL_OK;
    if (t->count > 2 * from->count) { /* repeated elements are sized once */
        cupel_tensor_size(from);
        t->largest = from->largest;
        t->least = from->least;
        t->sized = true;
    }
    const int last = n->rank - 1;
    const int64_t run = n->rank > 0 ? n->shape[last] : 1, step = n->rank > 0 ? n->stride[last] : 0;
    int64_t index[CUPEL_RANK_MAX] = {0}, source = n->offset;
    for (int64_t at = 0; at < t->count; at += run) {
        cupel_tensor_copy(t, at, from, source, step, run);
        for (int d = last - 1; d >= 0; d--) {
            source += n->stride[d];
            if (++index[d] < n->shape[d]) break;
            source -= n->stride[d] * n->shape[d];
            index[d] = 0;
        }
    }
    return CUPEL_OK;
}

static int64_t product(const int64_t *shape, int from, int to) {
    int64_t p = 1;
    for (int d = from; d < to; d++) p *= shape[d];
    return p;
}

static cupel_code concat(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const int64_t outer = product(n->shape, 0, n->axis), row = product(n->shape, n->axis, n->rank);
    t->direct = true;
    int64_t at = 0;
    for (int k = 0; k < n->arg_count; k++) {
        const cupel_tensor *from = cupel_bounded_arg(b, node, k);
        const cupel_tensor plain = {
            .value = from->value, .radius = from->radius, .classes = from->classes, .reasons = from->reasons};
        CUPEL_TRY(cupel_tensor_adopt(b, t, from, false));
        t->direct &= from->direct;
        const int64_t part = outer > 0 ? from->count / outer : 0;
        for (int64_t o = 0; o < outer; o++) cupel_tensor_copy(t, o * row + at, &plain, o * part, 1, part);
        at += part;
    }
    return CUPEL_OK;
}

/* What a plain element has in arrays that the others needed. */
static void make_plain(cupel_tensor *to, int64_t at, const cupel_tensor *from, int64_t n) {
    if (to->radius && !from->radius) memset(to->radius + at, 0, (size_t)n * sizeof *to->radius);
    if (to->classes && !from->classes) memset(to->classes + at, CUPEL_CLASS_FINITE, (size_t)n);
    if (to->reasons && !from->reasons) memset(to->reasons + at, CUPEL_REASON_JUDGED, (size_t)n);
}

static cupel_code pad(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    const cupel_node *source = &b->graph->nodes[n->args[0]];
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *from = cupel_bounded_arg(b, node, 0);
    const cupel_tensor plain = {
        .value = from->value, .radius = from->radius, .classes = from->classes, .reasons = from->reasons};
    CUPEL_TRY(cupel_tensor_adopt(b, t, from, false));
    t->direct = from->direct;
    cupel_ball fill = cupel_ball_leaf(&b->w, n->kind, n->number, true);
    fill.classes &= CUPEL_CLASS_MASK;
    for (int64_t i = 0; i < t->count; i++) CUPEL_TRY(cupel_tensor_store(b, t, i, &fill));
    if (from->count == 0) return CUPEL_OK;
    const int last = n->rank - 1;
    const int64_t run = n->rank > 0 ? source->shape[last] : 1;
    int64_t index[CUPEL_RANK_MAX] = {0};
    for (int64_t begin = 0; begin < from->count; begin += run) {
        int64_t at = 0;
        for (int d = 0; d < n->rank; d++) at = at * n->shape[d] + n->before[d] + index[d];
        cupel_tensor_copy(t, at, &plain, begin, 1, run);
        make_plain(t, at, &plain, run);
        for (int d = last - 1; d >= 0; d--) {
            if (++index[d] < source->shape[d]) break;
            index[d] = 0;
        }
    }
    return CUPEL_OK;
}

/* torch.gather: the index replaces the coordinate along axis. An index outside is the caller's error: not
 * judged. */
static cupel_code gather(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    const cupel_node *source = &b->graph->nodes[n->args[0]];
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *from = cupel_bounded_arg(b, node, 0), *indices = cupel_bounded_arg(b, node, 1);
    const cupel_tensor plain = {
        .value = from->value, .radius = from->radius, .classes = from->classes, .reasons = from->reasons};
    CUPEL_TRY(cupel_tensor_adopt(b, t, from, false));
    t->direct = from->direct;
    int64_t strides[CUPEL_RANK_MAX], coordinate[CUPEL_RANK_MAX] = {0};
    int64_t stride = 1;
    for (int d = source->rank - 1; d >= 0; d--) strides[d] = stride, stride *= source->shape[d];
    for (int64_t i = 0; i < t->count; i++) {
        const double chosen = indices->value[i];
        const uint8_t reason = indices->reasons ? indices->reasons[i] : CUPEL_REASON_JUDGED;
        const bool inside = chosen >= 0 && chosen < (double)source->shape[n->axis];
        int64_t at = 0;
        for (int d = 0; d < n->rank; d++)
            at += strides[d] * (d == n->axis ? (inside ? (int64_t)chosen : 0) : coordinate[d]);
        if (from->count > 0 && inside)
            cupel_tensor_copy(t, i, &plain, at, 1, 1);
        else
            t->value[i] = 0;
        if (!inside || reason || cupel_radius_at(indices, i) > 0) {
            CUPEL_TRY(cupel_tensor_need_reasons(b, t));
            t->reasons[i] = reason ? reason : inside ? CUPEL_REASON_UNBOUNDED : CUPEL_REASON_CONVENTION;
        }
        for (int d = n->rank - 1; d >= 0; d--) {
            if (++coordinate[d] < n->shape[d]) break;
            coordinate[d] = 0;
        }
    }
    return CUPEL_OK;
}

cupel_code cupel_bounded_shape(cupel_bounded *b, int node) {
    switch (b->graph->nodes[node].op) {
    case CUPEL_OP_VIEW: return view(b, node);
    case CUPEL_OP_RESHAPE: {
        const cupel_tensor *from = cupel_bounded_arg(b, node, 0);
        CUPEL_TRY(cupel_tensor_adopt(b, &b->tensors[node], from, true));
        cupel_tensor_copy(&b->tensors[node], 0, from, 0, 1, from->count);
        return CUPEL_OK;
    }
    case CUPEL_OP_CONCAT: return concat(b, node);
    case CUPEL_OP_PAD: return pad(b, node);
    default: return gather(b, node);
    }
}
