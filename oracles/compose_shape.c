/* Functions that rearrange elements through windows. */
#include <string.h>

#include "function_table.h"

int cupel_compose_transpose(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int rank = b->nodes[x].rank, order[CUPEL_RANK_MAX];
    if (rank < 2 && !cupel_call_has(call, 1))
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                               "expected at least two axes in transpose, found %d", rank);
    int p = cupel_call_axis(b, call, 1, rank, -2), q = cupel_call_axis(b, call, 2, rank, -1);
    if (b->code != CUPEL_OK) return -1;
    for (int i = 0; i < rank; i++) order[i] = i == p ? q : i == q ? p : i;
    return cupel_emit_permute(b, x, order);
}

int cupel_compose_permute(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), order[CUPEL_RANK_MAX];
    int64_t axes[CUPEL_RANK_MAX];
    if (x < 0) return -1;
    int rank = b->nodes[x].rank, count = cupel_call_integers(b, call, 1, CUPEL_RANK_MAX, axes);
    if (b->code != CUPEL_OK) return -1;
    unsigned seen = 0;
    for (int i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis >= 0 && axis < rank) seen |= 1u << axis;
        order[i] = (int)axis;
    }
    if (count != rank || seen != (1u << rank) - 1)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place, "expected every axis of 0..%d once",
                               rank - 1);
    return cupel_emit_permute(b, x, order);
}

int cupel_compose_reshape(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), open = -1;
    int64_t shape[CUPEL_RANK_MAX], known = 1;
    if (x < 0) return -1;
    int rank = cupel_call_integers(b, call, 1, CUPEL_RANK_MAX, shape);
    if (b->code != CUPEL_OK) return -1;
    bool fits = true;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == -1 && open < 0) {
            open = i;
        } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
            fits = false;
        }
    }
    int64_t count = b->nodes[x].count;
    if (fits && open >= 0) {
        fits = known > 0 && count % known == 0;
        if (fits) shape[open] = count / known;
    } else if (fits) {
        fits = known == count;
    }
    if (!fits)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected a shape of %lld elements, found %s", (long long)count,
                               cupel_emit_shape_text(b, rank, shape));
    return cupel_emit_reshape(b, x, rank, shape);
}

int cupel_compose_broadcast_to(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), rank;
    int64_t shape[CUPEL_RANK_MAX];
    if (x < 0) return -1;
    int given = cupel_call_integers(b, call, 1, CUPEL_RANK_MAX, shape);
    int missing = given - b->nodes[x].rank;
    for (int i = 0; i < given; i++) /* -1 keeps the extent */
        if (shape[i] == -1 && i >= missing && missing >= 0) shape[i] = b->nodes[x].shape[i - missing];
    rank = given;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                                   "expected extents of at least 0, found %s",
                                   cupel_emit_shape_text(b, rank, shape));
    if (b->code == CUPEL_OK && missing < 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place, "expected at least %d axes, found %d",
                               b->nodes[x].rank, rank);
    return cupel_emit_broadcast(b, x, rank, shape);
}

int cupel_compose_unsqueeze(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank + 1, 0);
    return b->code == CUPEL_OK ? cupel_emit_unsqueeze(b, x, axis) : -1;
}

int cupel_compose_squeeze(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    unsigned axes = cupel_call_axes(b, call, 1, b->nodes[x].rank);
    cupel_window w = cupel_window_of(b, x);
    for (int i = w.rank; i-- > 0;)
        if ((axes >> i & 1) && w.shape[i] == 1) cupel_window_remove(&w, i);
    return b->code == CUPEL_OK ? cupel_window_finish(b, &w) : -1;
}

/* ---- several tensors ---- */

static bool same_beside(const cupel_node *x, const cupel_node *y, int axis) {
    if (x->rank != y->rank) return false;
    for (int i = 0; i < x->rank; i++)
        if (i != axis && x->shape[i] != y->shape[i]) return false;
    return true;
}

/* The items of a list as nodes of one kind; NULL after an error. */
static int *read_tensors(cupel_builder *b, const cupel_call *call, int *count) {
    const cupel_operand *list = &call->args[0];
    if (list->form != CUPEL_OPERAND_LIST || list->count == 0) {
        cupel_emit_fail(b, CUPEL_CONTRACT, list->place,
                        "expected a list of tensors, as in %s([a, b], axis=0)", call->info->name);
        return NULL;
    }
    int *nodes = cupel_arena_alloc(b->arena, (size_t)list->count * sizeof *nodes);
    if (!nodes) {
        cupel_emit_fail(b, CUPEL_MEMORY, list->place, "out of memory");
        return NULL;
    }
    cupel_value_kind kind = CUPEL_VALUE_BOOL;
    for (int i = 0; i < list->count; i++) {
        nodes[i] = cupel_operand_node(b, &list->items[i]);
        if (nodes[i] < 0) return NULL;
        if (b->nodes[nodes[i]].kind < kind) kind = b->nodes[nodes[i]].kind;
    }
    for (int i = 0; i < list->count; i++) nodes[i] = cupel_emit_as(b, kind, nodes[i]);
    *count = list->count;
    return b->code == CUPEL_OK ? nodes : NULL;
}

static int join(cupel_builder *b, const cupel_call *call, bool stacks) {
    int count;
    int *nodes = read_tensors(b, call, &count);
    if (!nodes) return -1;
    int rank = b->nodes[nodes[0]].rank;
    if (!stacks && rank == 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                               "expected tensors of at least one axis in concat");
    int axis = cupel_call_axis(b, call, 1, rank + (stacks ? 1 : 0), 0);
    if (b->code != CUPEL_OK) return -1;
    for (int i = 1; i < count; i++) {
        const cupel_node *first = &b->nodes[nodes[0]], *other = &b->nodes[nodes[i]];
        if (same_beside(first, other, stacks ? -1 : axis)) continue;
        return cupel_emit_fail(
            b, CUPEL_CONTRACT, call->args[0].items[i].place, "expected the shape %s%s, found %s",
            cupel_emit_shape_text(b, first->rank, first->shape), stacks ? "" : " but for the axis",
            cupel_emit_shape_text(b, other->rank, other->shape));
    }
    for (int i = 0; i < count && stacks; i++) nodes[i] = cupel_emit_unsqueeze(b, nodes[i], axis);
    return cupel_emit_concat(b, count, nodes, axis);
}

int cupel_compose_concat(cupel_builder *b, const cupel_call *call) {
    return join(b, call, false);
}
int cupel_compose_stack(cupel_builder *b, const cupel_call *call) {
    return join(b, call, true);
}

/* ---- parts ---- */

static int64_t clamp_bound(int64_t bound, int64_t extent) {
    if (bound < 0) bound += extent;
    return bound < 0 ? 0 : bound > extent ? extent : bound;
}

int cupel_compose_slice(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    if (b->nodes[x].rank == 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                               "expected a tensor of at least one axis in slice");
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, 0);
    if (b->code != CUPEL_OK) return -1;
    int64_t extent = b->nodes[x].shape[axis];
    int64_t start = clamp_bound(cupel_call_integer(b, call, 2, 0), extent);
    int64_t stop = clamp_bound(cupel_call_integer(b, call, 3, extent), extent);
    int64_t step = cupel_call_integer(b, call, 4, 1);
    if (step < 1)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[4].place, "expected a positive step, found %lld",
                               (long long)step);
    if (step > extent) step = extent > 0 ? extent : 1;
    return cupel_emit_slice(b, x, axis, start, stop > start ? (stop - start + step - 1) / step : 0, step);
}

int cupel_compose_flip(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    unsigned axes = cupel_call_axes(b, call, 1, b->nodes[x].rank);
    cupel_window w = cupel_window_of(b, x);
    for (int i = 0; i < w.rank; i++) {
        if (!(axes >> i & 1) || w.shape[i] == 0) continue;
        w.offset += (w.shape[i] - 1) * w.stride[i];
        w.stride[i] = -w.stride[i];
    }
    return b->code == CUPEL_OK ? cupel_window_finish(b, &w) : -1;
}

static int roll_axis(cupel_builder *b, int x, int axis, int64_t shift) {
    if (x < 0) return -1;
    int64_t extent = b->nodes[x].shape[axis];
    if (extent == 0) return x;
    shift = (shift % extent + extent) % extent;
    if (shift == 0) return x;
    int tail = cupel_emit_slice(b, x, axis, extent - shift, shift, 1);
    int head = cupel_emit_slice(b, x, axis, 0, extent - shift, 1);
    return cupel_emit_concat(b, 2, (int[]){tail, head}, axis);
}

/* Without an axis the tensor is rolled as one line. */
int cupel_compose_roll(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    int64_t shifts[CUPEL_RANK_MAX], axes[CUPEL_RANK_MAX], shape[CUPEL_RANK_MAX];
    if (x < 0) return -1;
    int rank = b->nodes[x].rank, count = cupel_call_integers(b, call, 1, CUPEL_RANK_MAX, shifts);
    if (b->code != CUPEL_OK) return -1;
    memcpy(shape, b->nodes[x].shape, sizeof shape);
    if (!cupel_call_has(call, 2)) {
        int line = cupel_emit_reshape(b, x, 1, &b->nodes[x].count);
        return cupel_emit_reshape(b, roll_axis(b, line, 0, count ? shifts[0] : 0), rank, shape);
    }
    if (cupel_call_integers(b, call, 2, CUPEL_RANK_MAX, axes) != count && b->code == CUPEL_OK)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place, "expected as many axes as shifts");
    for (int i = 0; i < count && b->code == CUPEL_OK; i++) {
        if (axes[i] < -rank || axes[i] >= rank)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                                   "expected an axis in %d..%d, found %lld", -rank, rank - 1,
                                   (long long)axes[i]);
        x = roll_axis(b, x, (int)(axes[i] < 0 ? axes[i] + rank : axes[i]), shifts[i]);
    }
    return x;
}
