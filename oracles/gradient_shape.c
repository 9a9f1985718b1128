/* Moves of elements. Their adjoints are moves back, so that an element that was moved stays exact: a sum over
 * the axes that repeat an element, then, where no element is seen twice, permutation and padding; windows
 * that overlap (im2col) add at positions. */
#include "gradient_rules.h"

#include <stdlib.h>
#include <string.h>

/* A view without its repeating axes, and the adjoint in that shape. */
typedef struct move {
    int adjoint, rank;
    int64_t shape[CUPEL_RANK_MAX], stride[CUPEL_RANK_MAX], offset;
} move;

/* Sums over axes of stride 0, drops axes of extent 1, and turns axes that run backwards. */
static move unrepeated(cupel_builder *b, int node, int dy) {
    const cupel_node n = b->nodes[node];
    move m = {.offset = n.offset};
    unsigned gone = 0;
    int sum = dy;
    for (int i = 0; i < n.rank; i++)
        if (n.shape[i] > 1 && n.stride[i] == 0) gone |= 1u << i;
    if (gone) sum = cupel_gradient_sum_over(b, dy, gone);
    if (sum < 0) return m;
    cupel_window w = cupel_window_of(b, sum);
    for (int i = n.rank; i-- > 0;)
        if (n.shape[i] == 1 || gone >> i & 1) cupel_window_remove(&w, i);
    for (int i = 0; i < n.rank; i++) {
        if (n.shape[i] == 1 || gone >> i & 1) continue;
        m.shape[m.rank] = n.shape[i];
        m.stride[m.rank] = n.stride[i];
        if (n.stride[i] < 0) {
            m.offset += n.stride[i] * (n.shape[i] - 1);
            m.stride[m.rank] = -n.stride[i];
            w.offset += w.stride[m.rank] * (n.shape[i] - 1);
            w.stride[m.rank] = -w.stride[m.rank];
        }
        m.rank++;
    }
    m.adjoint = cupel_window_finish(b, &w);
    return m;
}

/* Largest stride first. */
static void sort_axes(cupel_builder *b, move *m) {
    int order[CUPEL_RANK_MAX];
    for (int i = 0; i < m->rank; i++) order[i] = i;
    for (int i = 1; i < m->rank; i++)
        for (int k = i; k > 0 && m->stride[order[k]] > m->stride[order[k - 1]]; k--) {
            const int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    const move from = *m;
    m->adjoint = cupel_emit_permute(b, m->adjoint, order);
    for (int i = 0; i < m->rank; i++) {
        m->shape[i] = from.shape[order[i]];
        m->stride[i] = from.stride[order[i]];
    }
}

/* The number of places from the first to the last element of axes from..rank-1. */
static int64_t span_of(const move *m, int from) {
    int64_t span = 1;
    for (int i = from; i < m->rank; i++) span += m->stride[i] * (m->shape[i] - 1);
    return span;
}

/* Is every element seen once? (Axes are sorted. It may say no of views that only interleave.) */
static bool is_single(const move *m) {
    for (int i = 0; i + 1 < m->rank; i++)
        if (m->stride[i] < span_of(m, i + 1)) return false;
    return true;
}

/* Makes the last axis `extent` long, by zeros before and behind, or by cutting zeros off behind. */
static int fitted(cupel_builder *b, int x, int64_t before, int64_t extent) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int last = b->nodes[x].rank - 1;
    const int64_t length = b->nodes[x].shape[last];
    if (before + length > extent) x = cupel_emit_slice(b, x, last, 0, extent - before, 1);
    if (x < 0 || b->nodes[x].shape[last] == extent) return x;
    cupel_node node = {.op = CUPEL_OP_PAD, .kind = CUPEL_VALUE_REAL, .rank = last + 1};
    memcpy(node.shape, b->nodes[x].shape, sizeof node.shape);
    node.shape[last] = extent;
    node.before[last] = before;
    return cupel_emit_add(b, node, 1, &x);
}

/* Puts each element at its place among `count`: from the innermost axis out, every axis is spread to its
 * stride and merged with the next. */
static int placed(cupel_builder *b, const move *m, int64_t count) {
    int x = m->adjoint, rank = m->rank;
    int64_t shape[CUPEL_RANK_MAX + 1];
    memcpy(shape, m->shape, sizeof m->shape);
    shape[rank] = 1; /* the places of one element */
    for (; rank > 0; rank--) {
        x = cupel_emit_reshape(b, x, rank + 1, shape);
        x = fitted(b, x, 0, m->stride[rank - 1]);
        shape[rank - 1] *= m->stride[rank - 1];
    }
    x = cupel_emit_reshape(b, x, 1, shape);
    return fitted(b, x, m->offset, count);
}

/* Axes that the view shares with its argument (a batch) become rows: how many, from the first on. */
static int shared_rows(const cupel_node *argument, const move *m, int64_t *row) {
    int shared = 0;
    *row = argument->count;
    while (shared < m->rank && shared < argument->rank && m->offset >= 0) {
        const int64_t inner = *row / argument->shape[shared];
        if (m->shape[shared] != argument->shape[shared] || m->stride[shared] != inner ||
            m->offset + span_of(m, shared + 1) > inner)
            break;
        *row = inner;
        shared++;
    }
    return shared;
}

/* Adds every element at its place. */
static int scattered(cupel_builder *b, const cupel_node *argument, const move *m) {
    int64_t row, shape[CUPEL_RANK_MAX + 1], base_shape[CUPEL_RANK_MAX + 1];
    const int shared = shared_rows(argument, m, &row);
    int index = cupel_emit_integer(b, m->offset);
    for (int i = shared; i < m->rank; i++) {
        int step = cupel_emit_iota(b, 0, m->stride[i], m->shape[i]);
        for (int k = i + 1; k < m->rank; k++) step = cupel_emit_unsqueeze(b, step, k - i);
        index = add_(b, index, step);
    }
    int64_t places = 1;
    for (int i = shared; i < m->rank; i++) places *= m->shape[i];
    memcpy(shape, m->shape, sizeof m->shape);
    shape[shared] = places;
    memcpy(base_shape, shape, sizeof shape);
    base_shape[shared] = row;
    index = cupel_emit_broadcast(b, cupel_emit_reshape(b, index, 1, &places), shared + 1, shape);
    int base = cupel_emit_broadcast(b, number_(b, 0.0), shared + 1, base_shape);
    return cupel_gradient_scatter_of(b, base, index, cupel_emit_reshape(b, m->adjoint, shared + 1, shape));
}

static void give_view(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[node].args[0];
    if (b->nodes[node].count == 0) return;
    const cupel_node argument = b->nodes[x];
    move m = unrepeated(b, node, dy), sorted = m;
    sort_axes(b, &sorted);
    if (b->code != CUPEL_OK) return;
    const bool single = is_single(&sorted) && sorted.rank < CUPEL_RANK_MAX;
    int back = single ? placed(b, &sorted, argument.count) : scattered(b, &argument, &m);
    if (!single || b->nodes[sorted.adjoint].count < argument.count) s->masking = true;
    cupel_sweep_give(s, x, cupel_emit_reshape(b, back, argument.rank, argument.shape));
}

static void give_concat(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_node n = b->nodes[node];
    int64_t start = 0;
    for (int k = 0; k < n.arg_count; k++) {
        const int64_t extent = b->nodes[n.args[k]].shape[n.axis];
        if (cupel_sweep_wants(s, n.args[k]))
            cupel_sweep_give(s, n.args[k], cupel_emit_slice(b, dy, n.axis, start, extent, 1));
        start += extent;
    }
}

static void give_pad(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_node n = b->nodes[node];
    const int x = n.args[0];
    for (int i = 0; i < n.rank; i++) dy = cupel_emit_slice(b, dy, i, n.before[i], b->nodes[x].shape[i], 1);
    cupel_sweep_give(s, x, dy);
}

/* The index may be shorter than the source along the other axes: what lies beyond gets nothing. */
static void give_gather(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_node n = b->nodes[node], source = b->nodes[n.args[0]];
    if (n.count == 0) return;
    int64_t base_shape[CUPEL_RANK_MAX];
    memcpy(base_shape, n.shape, sizeof base_shape);
    base_shape[n.axis] = source.shape[n.axis];
    int base = cupel_emit_broadcast(b, number_(b, 0.0), n.rank, base_shape);
    int added = cupel_gradient_scatter_of(b, cupel_emit_exchange(b, base, n.axis),
                                          cupel_emit_exchange(b, n.args[1], n.axis),
                                          cupel_emit_exchange(b, dy, n.axis));
    int share = cupel_emit_exchange(b, added, n.axis);
    if (memcmp(base_shape, source.shape, (size_t)n.rank * sizeof *base_shape) != 0) {
        cupel_node pad = {.op = CUPEL_OP_PAD, .kind = CUPEL_VALUE_REAL, .rank = n.rank};
        memcpy(pad.shape, source.shape, sizeof pad.shape);
        share = cupel_emit_add(b, pad, 1, &share);
    }
    s->masking = true;
    cupel_sweep_give(s, n.args[0], share);
}

void cupel_gradient_shape(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const cupel_node n = b->nodes[node];
    switch (n.op) {
    case CUPEL_OP_VIEW: give_view(s, node, dy); break;
    case CUPEL_OP_RESHAPE: {
        const cupel_node x = b->nodes[n.args[0]];
        cupel_sweep_give(s, n.args[0], cupel_emit_reshape(b, dy, x.rank, x.shape));
        break;
    }
    case CUPEL_OP_CONCAT: give_concat(s, node, dy); break;
    case CUPEL_OP_PAD: give_pad(s, node, dy); break;
    case CUPEL_OP_GATHER: give_gather(s, node, dy); break;
    default: cupel_sweep_refuse(s, node); break;
    }
}
