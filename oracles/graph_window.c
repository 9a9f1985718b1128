/* Moving elements: strided windows, and what needs them: reshaping, reductions, scans and matrix products. */
#include <string.h>

#include "graph_emit.h"

static void row_major(int rank, const int64_t *shape, int64_t *stride) {
    int64_t step = 1;
    for (int i = rank; i-- > 0;) {
        stride[i] = step;
        step *= shape[i];
    }
}

/* A window on a view is a window on the view's own argument; a reshape does not move elements, so one looks
 * through it. */
cupel_window cupel_window_of(const cupel_builder *b, int node) {
    const cupel_node *n = &b->nodes[node];
    cupel_window w = {.base = node, .rank = n->rank};
    memcpy(w.shape, n->shape, sizeof w.shape);
    if (n->op == CUPEL_OP_VIEW) {
        memcpy(w.stride, n->stride, sizeof w.stride);
        w.offset = n->offset;
    } else {
        row_major(n->rank, n->shape, w.stride);
    }
    if (n->op == CUPEL_OP_VIEW || n->op == CUPEL_OP_RESHAPE) w.base = n->args[0];
    return w;
}

static bool shape_is(const cupel_node *n, int rank, const int64_t *shape) {
    return n->rank == rank && memcmp(n->shape, shape, (size_t)rank * sizeof *shape) == 0;
}

static int reshape_node(cupel_builder *b, int x, int rank, const int64_t *shape) {
    if (b->nodes[x].op == CUPEL_OP_RESHAPE) x = b->nodes[x].args[0];
    if (shape_is(&b->nodes[x], rank, shape)) return x;
    cupel_node node = {.op = CUPEL_OP_RESHAPE, .kind = b->nodes[x].kind, .rank = rank};
    memcpy(node.shape, shape, (size_t)rank * sizeof *shape);
    return cupel_emit_add(b, node, 1, &x);
}

int cupel_window_finish(cupel_builder *b, const cupel_window *window) {
    if (b->code != CUPEL_OK) return -1;
    cupel_window w = *window;
    const cupel_node *base = &b->nodes[w.base];
    int64_t plain[CUPEL_RANK_MAX], count = 1;
    row_major(w.rank, w.shape, plain);
    bool in_order = true;
    for (int i = 0; i < w.rank; i++) {
        if (w.shape[i] <= 1) w.stride[i] = 0; /* never stepped: equal windows become equal nodes */
        if (w.shape[i] > 1 && w.stride[i] != plain[i]) in_order = false;
        if (__builtin_mul_overflow(count, w.shape[i], &count)) count = -1;
    }
    if (count == 0) {
        memset(w.stride, 0, sizeof w.stride);
        w.offset = 0;
        in_order = true;
    }
    if (in_order && w.offset == 0 && count == base->count) return reshape_node(b, w.base, w.rank, w.shape);
    cupel_node node = {.op = CUPEL_OP_VIEW, .kind = base->kind, .rank = w.rank, .offset = w.offset};
    memcpy(node.shape, w.shape, (size_t)w.rank * sizeof *w.shape);
    memcpy(node.stride, w.stride, (size_t)w.rank * sizeof *w.stride);
    return cupel_emit_add(b, node, 1, &w.base);
}

void cupel_window_remove(cupel_window *w, int axis) {
    for (int i = axis; i + 1 < w->rank; i++) {
        w->shape[i] = w->shape[i + 1];
        w->stride[i] = w->stride[i + 1];
    }
    w->rank--;
}

void cupel_window_insert(cupel_window *w, int axis, int64_t extent) {
    for (int i = w->rank; i > axis; i--) {
        w->shape[i] = w->shape[i - 1];
        w->stride[i] = w->stride[i - 1];
    }
    w->shape[axis] = extent;
    w->stride[axis] = 0;
    w->rank++;
}

int cupel_emit_reshape(cupel_builder *b, int x, int rank, const int64_t *shape) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const cupel_node *n = &b->nodes[x];
    if (n->op == CUPEL_OP_VIEW && b->nodes[n->args[0]].count == 1 && n->offset == 0) {
        /* one element repeated stays that */
        cupel_window w = {.base = n->args[0], .rank = rank};
        memcpy(w.shape, shape, (size_t)rank * sizeof *shape);
        return cupel_window_finish(b, &w);
    }
    return reshape_node(b, x, rank, shape);
}

int cupel_emit_broadcast(cupel_builder *b, int x, int rank, const int64_t *shape) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    if (shape_is(&b->nodes[x], rank, shape)) return x;
    cupel_window w = cupel_window_of(b, x);
    while (w.rank < rank) cupel_window_insert(&w, 0, 1);
    for (int i = 0; i < rank; i++) {
        if (w.shape[i] == shape[i]) continue;
        if (w.shape[i] != 1)
            return cupel_emit_fail(b, CUPEL_CONTRACT, b->place,
                                   "expected a shape that broadcasts to %s, found %s",
                                   cupel_emit_shape_text(b, rank, shape),
                                   cupel_emit_shape_text(b, b->nodes[x].rank, b->nodes[x].shape));
        w.shape[i] = shape[i];
        w.stride[i] = 0;
    }
    return cupel_window_finish(b, &w);
}

int cupel_emit_permute(cupel_builder *b, int x, const int *axes) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_window from = cupel_window_of(b, x), to = from;
    for (int i = 0; i < from.rank; i++) {
        to.shape[i] = from.shape[axes[i]];
        to.stride[i] = from.stride[axes[i]];
    }
    return cupel_window_finish(b, &to);
}

int cupel_emit_unsqueeze(cupel_builder *b, int x, int axis) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_window w = cupel_window_of(b, x);
    if (w.rank == CUPEL_RANK_MAX)
        return cupel_emit_fail(b, CUPEL_CONTRACT, b->place, "expected at most %d axes", CUPEL_RANK_MAX);
    cupel_window_insert(&w, axis, 1);
    return cupel_window_finish(b, &w);
}

int cupel_emit_slice(cupel_builder *b, int x, int axis, int64_t start, int64_t count, int64_t step) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_window w = cupel_window_of(b, x);
    w.offset += start * w.stride[axis];
    w.stride[axis] *= step;
    w.shape[axis] = count;
    return cupel_window_finish(b, &w);
}

/* Cuts what a negative amount takes away; what it takes beyond the extent comes off the other side's. */
static int cut(cupel_builder *b, int x, int axis, int64_t *before, int64_t *after) {
    const int64_t extent = b->nodes[x].shape[axis];
    const int64_t head = *before < 0 ? (-*before < extent ? -*before : extent) : 0, rest = extent - head;
    const int64_t tail = *after < 0 ? (-*after < rest ? -*after : rest) : 0;
    const int64_t over = (*before < 0 ? *before + head : 0) + (*after < 0 ? *after + tail : 0);
    *before = *before > 0 ? *before : 0;
    *after = *after > 0 ? *after : 0;
    if (*after > 0)
        *after += over;
    else
        *before += over;
    return head || tail ? cupel_emit_slice(b, x, axis, head, rest - tail, 1) : x;
}

int cupel_emit_pad(cupel_builder *b, int x, double fill, const int64_t *before, const int64_t *after) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_node node = {
        .op = CUPEL_OP_PAD, .kind = b->nodes[x].kind, .rank = b->nodes[x].rank, .number = fill};
    if (node.kind != CUPEL_VALUE_REAL) node.integer = (int64_t)fill;
    bool pads = false;
    for (int i = 0; i < node.rank; i++) {
        int64_t added = after[i];
        node.before[i] = before[i];
        x = cut(b, x, i, &node.before[i], &added);
        if (x < 0) return -1;
        node.shape[i] = b->nodes[x].shape[i] + node.before[i] + added;
        if (node.shape[i] < 0)
            return cupel_emit_fail(b, CUPEL_RANGE, b->place,
                                   "expected an extent of at least 0 after padding");
        pads = pads || node.before[i] > 0 || added > 0;
    }
    return pads ? cupel_emit_add(b, node, 1, &x) : x;
}

int cupel_emit_flip(cupel_builder *b, int x, int axis) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int64_t extent = b->nodes[x].shape[axis];
    return cupel_emit_slice(b, x, axis, extent - 1, extent, -1);
}

int cupel_emit_exchange(cupel_builder *b, int x, int axis) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int last = b->nodes[x].rank - 1;
    int order[CUPEL_RANK_MAX];
    for (int i = 0; i <= last; i++) order[i] = i;
    order[axis] = last;
    order[last] = axis;
    return cupel_emit_permute(b, x, order);
}

int cupel_emit_concat(cupel_builder *b, int count, const int *nodes, int axis) {
    if (b->code != CUPEL_OK) return -1;
    if (count == 1) return nodes[0];
    cupel_node node = {.op = CUPEL_OP_CONCAT, .axis = axis};
    for (int i = 0; i < count; i++) {
        if (nodes[i] < 0) return -1;
        const cupel_node *part = &b->nodes[nodes[i]];
        if (i == 0) {
            node.kind = part->kind;
            node.rank = part->rank;
            memcpy(node.shape, part->shape, sizeof node.shape);
            continue;
        }
        node.shape[axis] += part->shape[axis];
    }
    return cupel_emit_add(b, node, count, nodes);
}

/* ---- along an axis ---- */

/* Moves the axes of the mask to the end, in their order, and merges them into one; *kept gets the number of
 * the others. */
static int gather_axes(cupel_builder *b, int x, unsigned axes, int *kept) {
    int order[CUPEL_RANK_MAX], used = 0, rank = b->nodes[x].rank;
    for (int i = 0; i < rank; i++)
        if (!(axes >> i & 1)) order[used++] = i;
    *kept = used;
    int64_t merged = 1;
    for (int i = 0; i < rank; i++) {
        if (!(axes >> i & 1)) continue;
        order[used++] = i;
        merged *= b->nodes[x].shape[i];
    }
    int moved = cupel_emit_permute(b, x, order);
    if (moved < 0 || rank == *kept + 1) return moved;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[moved].shape, sizeof shape);
    if (*kept == CUPEL_RANK_MAX)
        return cupel_emit_fail(b, CUPEL_CONTRACT, b->place, "expected at most %d axes", CUPEL_RANK_MAX - 1);
    shape[*kept] = merged;
    return cupel_emit_reshape(b, moved, *kept + 1, shape);
}

static cupel_value_kind reduced_kind(cupel_op op, cupel_value_kind kind) {
    if (op == CUPEL_OP_ARGMAX || op == CUPEL_OP_ARGMIN) return CUPEL_VALUE_INT;
    bool orders = op == CUPEL_OP_AMAX || op == CUPEL_OP_AMIN;
    return kind == CUPEL_VALUE_BOOL && !orders ? CUPEL_VALUE_INT : kind;
}

int cupel_emit_reduce(cupel_builder *b, cupel_op op, int x, unsigned axes, bool keep) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    cupel_value_kind kind = reduced_kind(op, b->nodes[x].kind);
    bool indexes = op == CUPEL_OP_ARGMAX || op == CUPEL_OP_ARGMIN;
    if (!indexes || b->nodes[x].kind == CUPEL_VALUE_BOOL)
        x = cupel_emit_as(b, indexes ? CUPEL_VALUE_INT : kind, x);
    if (x < 0) return -1;
    int rank = b->nodes[x].rank, kept;
    int64_t kept_shape[CUPEL_RANK_MAX];
    for (int i = 0; i < rank; i++) kept_shape[i] = axes >> i & 1 ? 1 : b->nodes[x].shape[i];
    int gathered = gather_axes(b, x, axes, &kept);
    if (gathered < 0) return -1;
    cupel_node node = {.op = op, .kind = kind, .rank = kept};
    memcpy(node.shape, b->nodes[gathered].shape, (size_t)kept * sizeof *node.shape);
    int64_t length = b->nodes[gathered].shape[kept];
    if (length == 0 && op != CUPEL_OP_SUM && op != CUPEL_OP_PROD)
        return cupel_emit_fail(b, CUPEL_RANGE, b->place,
                               "expected at least one element to reduce with %s, found the shape %s",
                               cupel_op_name(op), cupel_emit_shape_text(b, rank, b->nodes[x].shape));
    int reduced = cupel_emit_add(b, node, 1, &gathered);
    return keep ? cupel_emit_reshape(b, reduced, rank, kept_shape) : reduced;
}

int cupel_emit_scan(cupel_builder *b, cupel_op op, int x, int axis) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    if (b->nodes[x].kind == CUPEL_VALUE_BOOL) x = cupel_emit_as(b, CUPEL_VALUE_INT, x);
    if (x < 0 || b->nodes[x].rank == 0) return x;
    int moved = cupel_emit_exchange(b, x, axis);
    if (moved < 0) return -1;
    cupel_node node = {.op = op, .kind = b->nodes[moved].kind, .rank = b->nodes[moved].rank};
    memcpy(node.shape, b->nodes[moved].shape, sizeof node.shape);
    return cupel_emit_exchange(b, cupel_emit_add(b, node, 1, &moved), axis);
}

int cupel_emit_linear_scan(cupel_builder *b, int a, int x, int logs, int flags) {
    if (b->code != CUPEL_OK || a < 0 || x < 0) return -1;
    cupel_node node = {
        .op = CUPEL_OP_LINEAR_SCAN, .kind = CUPEL_VALUE_REAL, .rank = b->nodes[x].rank, .step = flags};
    memcpy(node.shape, b->nodes[x].shape, sizeof node.shape);
    return cupel_emit_add(b, node, flags ? 3 : 2, (int[]){a, x, logs});
}

int cupel_emit_state_scan(cupel_builder *b, const cupel_state_operands *o) {
    if (b->code != CUPEL_OK || o->a < 0 || o->x < 0) return -1;
    cupel_node node = {.op = CUPEL_OP_STATE_SCAN, .kind = CUPEL_VALUE_REAL, .rank = b->nodes[o->x].rank};
    memcpy(node.shape, b->nodes[o->x].shape, sizeof node.shape);
    int args[6], count = 0;
    if (b->symbols->products_given) node.step |= CUPEL_SCAN_NARROW, node.type = b->symbols->products;
    args[count++] = o->a;
    if (o->p >= 0) args[count++] = o->p, args[count++] = o->r, node.step |= CUPEL_SCAN_RANK_ONE;
    args[count++] = o->x;
    if (o->logs >= 0) args[count++] = o->logs, node.step |= CUPEL_SCAN_LOGS;
    if (o->q >= 0) {
        args[count++] = o->q;
        node.step |= CUPEL_SCAN_READ;
        node.shape[node.rank - 2] = node.shape[node.rank - 1];
        node.rank--;
    }
    return cupel_emit_add(b, node, count, args);
}

/* ---- matrix products ---- */

static int with_batch(cupel_builder *b, int x, int batch_rank, const int64_t *batch) {
    int64_t shape[CUPEL_RANK_MAX];
    const cupel_node *n = &b->nodes[x];
    memcpy(shape, batch, (size_t)batch_rank * sizeof *batch);
    shape[batch_rank] = n->shape[n->rank - 2];
    shape[batch_rank + 1] = n->shape[n->rank - 1];
    return cupel_emit_broadcast(b, x, batch_rank + 2, shape);
}

static int matmul_node(cupel_builder *b, int x, int y) {
    const cupel_node *p = &b->nodes[x], *q = &b->nodes[y];
    cupel_node node = {.op = CUPEL_OP_MATMUL, .kind = p->kind};
    int batch;
    bool fits = cupel_emit_common(p->rank - 2, p->shape, q->rank - 2, q->shape, &batch, node.shape) &&
                p->shape[p->rank - 1] == q->shape[q->rank - 2];
    if (!fits)
        return cupel_emit_fail(
            b, CUPEL_CONTRACT, b->place, "expected matrices whose inner extents agree, found %s and %s",
            cupel_emit_shape_text(b, p->rank, p->shape), cupel_emit_shape_text(b, q->rank, q->shape));
    node.rank = batch + 2;
    node.shape[batch] = p->shape[p->rank - 2];
    node.shape[batch + 1] = q->shape[q->rank - 1];
    x = with_batch(b, x, batch, node.shape);
    y = with_batch(b, y, batch, node.shape);
    return cupel_emit_add(b, node, 2, (int[]){x, y});
}

int cupel_emit_matmul(cupel_builder *b, int x, int y) {
    if (b->code != CUPEL_OK || x < 0 || y < 0) return -1;
    bool real = b->nodes[x].kind == CUPEL_VALUE_REAL || b->nodes[y].kind == CUPEL_VALUE_REAL;
    x = cupel_emit_as(b, real ? CUPEL_VALUE_REAL : CUPEL_VALUE_INT, x);
    y = cupel_emit_as(b, real ? CUPEL_VALUE_REAL : CUPEL_VALUE_INT, y);
    if (x < 0 || y < 0) return -1;
    bool row = b->nodes[x].rank == 1, column = b->nodes[y].rank == 1;
    if (b->nodes[x].rank == 0 || b->nodes[y].rank == 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, b->place,
                               "expected tensors of at least one axis in matmul, found a number");
    if (row) x = cupel_emit_unsqueeze(b, x, 0);
    if (column) y = cupel_emit_unsqueeze(b, y, 1);
    if (x < 0 || y < 0) return -1;
    int product = matmul_node(b, x, y);
    if (product < 0) return -1;
    cupel_window w = cupel_window_of(b, product);
    if (column) cupel_window_remove(&w, w.rank - 1);
    if (row) cupel_window_remove(&w, w.rank - (column ? 1 : 2));
    return cupel_window_finish(b, &w);
}
