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
    to->positive = from->positive;
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

static bool has_chain(const cupel_tensor *t) {
    return t->roundings > 0 || t->products;
}

/* Node-wide attributes that hold for the elements of t and of `from`, some of which t is given. Sums stay
 * open to further terms, and products to further factors, wherever they are moved. chain: some source has
 * factors, so that the extents of all matter. */
static void join_state(cupel_tensor *t, cupel_tensor *from, bool chain) {
    const double relative = from->radius ? INFINITY : 0;
    t->terms = fmax(t->terms, from->terms + (double)from->scan);
    t->depth = fmin(t->depth, from->sum ? from->depth : 0);
    t->sum |= from->sum;
    t->products |= from->products;
    t->roundings = fmax(t->roundings, from->roundings);
    t->chain_divisors = fmax(t->chain_divisors, from->chain_divisors);
    t->narrowed |= from->narrowed;
    t->relative = fmax(t->relative, from->narrowed ? from->relative : relative);
    if (!chain) return;
    if (!from->extents) cupel_tensor_size(from);
    t->chain_peak = fmax(t->chain_peak, from->extents ? from->chain_peak : fmax(1, from->largest));
    t->chain_trough = fmin(t->chain_trough, from->extents ? from->chain_trough : fmin(1, from->least));
}

/* After the last source: the arrays that t's consumers want where its elements differ. Are there any? */
static cupel_code take_state(cupel_bounded *b, int node, bool *each) {
    const cupel_bounded_plan *plan = &b->plans[node];
    cupel_tensor *t = &b->tensors[node];
    const bool chain = has_chain(t);
    const bool wide = !(t->chain_peak < 0x1p16) || t->chain_trough < 4 * b->w.normal;
    t->extents = chain;
    if (t->sum && plan->wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (chain && wide && plan->wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    *each = t->magnitude || t->peak;
    return CUPEL_OK;
}

/* n elements in line, with what their own consumers are to know of them (each), or plain. */
static cupel_code move(cupel_bounded *b, cupel_tensor *t, int64_t at, const cupel_tensor *from, int64_t begin,
                       int64_t n, bool each) {
    const cupel_tensor plain = {
        .value = from->value, .radius = from->radius, .classes = from->classes, .reasons = from->reasons};
    if (!each) {
        cupel_tensor_copy(t, at, &plain, begin, 1, n);
        return CUPEL_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        const cupel_ball ball = cupel_tensor_load(from, begin + i);
        CUPEL_TRY(cupel_tensor_store(b, t, at + i, &ball));
    }
    return CUPEL_OK;
}

static cupel_code concat(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const int64_t outer = product(n->shape, 0, n->axis), row = product(n->shape, n->axis, n->rank);
    double floor = INFINITY, ceiling = -INFINITY;
    bool each = false, chain = false;
    t->direct = true;
    t->depth = INFINITY;
    for (int k = 0; k < n->arg_count; k++) chain = chain || has_chain(cupel_bounded_arg(b, node, k));
    for (int k = 0; k < n->arg_count; k++) {
        cupel_tensor *from = cupel_bounded_arg(b, node, k);
        CUPEL_TRY(cupel_tensor_adopt(b, t, from, false));
        t->direct &= from->direct;
        floor = fmin(floor, from->floor);
        ceiling = fmax(ceiling, from->ceiling);
        if (n->kind == CUPEL_VALUE_REAL) join_state(t, from, chain);
    }
    if (n->kind == CUPEL_VALUE_REAL) CUPEL_TRY(take_state(b, node, &each));
    t->floor = floor;
    t->ceiling = ceiling;
    int64_t at = 0;
    for (int k = 0; k < n->arg_count; k++) {
        const cupel_tensor *from = cupel_bounded_arg(b, node, k);
        const int64_t part = outer > 0 ? from->count / outer : 0;
        for (int64_t o = 0; o < outer; o++) CUPEL_TRY(move(b, t, o * row + at, from, o * part, part, each));
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
    cupel_tensor *from = cupel_bounded_arg(b, node, 0);
    bool each = false;
    CUPEL_TRY(cupel_tensor_adopt(b, t, from, false));
    t->direct = from->direct;
    cupel_ball fill = cupel_ball_leaf(&b->w, n->kind, n->number, true);
    if (n->kind == CUPEL_VALUE_REAL) {
        t->depth = fill.depth;
        if (has_chain(from)) t->chain_peak = fill.peak, t->chain_trough = fill.trough;
        join_state(t, from, has_chain(from));
        CUPEL_TRY(take_state(b, node, &each));
    }
    fill.classes &= CUPEL_CLASS_MASK;
    for (int64_t i = 0; i < t->count; i++) CUPEL_TRY(cupel_tensor_store(b, t, i, &fill));
    if (from->count == 0) return CUPEL_OK;
    const int last = n->rank - 1;
    const int64_t run = n->rank > 0 ? source->shape[last] : 1;
    int64_t index[CUPEL_RANK_MAX] = {0};
    for (int64_t begin = 0; begin < from->count; begin += run) {
        int64_t at = 0;
        for (int d = 0; d < n->rank; d++) at = at * n->shape[d] + n->before[d] + index[d];
        CUPEL_TRY(move(b, t, at, from, begin, run, each));
        if (!each) make_plain(t, at, from, run);
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
    cupel_tensor *from = cupel_bounded_arg(b, node, 0);
    const cupel_tensor *indices = cupel_bounded_arg(b, node, 1);
    const cupel_ball nothing = cupel_ball_plain(0, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    bool each = false;
    CUPEL_TRY(cupel_tensor_adopt(b, t, from, false));
    t->direct = from->direct;
    if (n->kind == CUPEL_VALUE_REAL) {
        t->depth = INFINITY;
        join_state(t, from, has_chain(from));
        CUPEL_TRY(take_state(b, node, &each));
    }
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
            CUPEL_TRY(move(b, t, i, from, at, 1, each));
        else
            CUPEL_TRY(cupel_tensor_store(b, t, i, &nothing));
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
    case CUPEL_OP_CONCAT: CUPEL_TRY(concat(b, node)); break;
    case CUPEL_OP_PAD: CUPEL_TRY(pad(b, node)); break;
    default: CUPEL_TRY(gather(b, node)); break;
    }
    cupel_tensor_end_chain(&b->tensors[node]);
    return CUPEL_OK;
}
