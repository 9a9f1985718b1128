/* Sorting, and adding at positions. */
#include <string.h>

#include "function_table.h"

/* SORT or ARGSORT along an axis, which stands last meanwhile. */
static int order_of(cupel_builder *b, cupel_op op, int x, int axis, bool stable) {
    int moved = cupel_emit_exchange(b, x, axis);
    if (moved < 0) return -1;
    cupel_node node = {.op = op, .kind = b->nodes[moved].kind, .rank = b->nodes[moved].rank};
    if (op == CUPEL_OP_ARGSORT) node.kind = CUPEL_VALUE_INT, node.integer = stable;
    memcpy(node.shape, b->nodes[moved].shape, sizeof node.shape);
    return cupel_emit_exchange(b, cupel_emit_add(b, node, 1, &moved), axis);
}

/* Descending is ascending read backwards, NaN first. */
static int sorted(cupel_builder *b, int x, int axis, bool descending) {
    if (b->code != CUPEL_OK || x < 0 || b->nodes[x].rank == 0) return x;
    int values = order_of(b, CUPEL_OP_SORT, x, axis, false);
    return descending ? cupel_emit_flip(b, values, axis) : values;
}

int cupel_compose_sort(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, -1);
    return sorted(b, x, axis, cupel_call_flag(b, call, 2, false));
}

/* Descending: the reversed tensor sorted and read backwards, so that equal elements stay in their order; its
 * positions are counted from the end. */
int cupel_compose_argsort(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, -1);
    bool descending = cupel_call_flag(b, call, 2, false), stable = cupel_call_flag(b, call, 3, false);
    if (b->code != CUPEL_OK) return -1;
    if (b->nodes[x].rank == 0) return cupel_emit_integer(b, 0);
    int64_t last = b->nodes[x].shape[axis] - 1;
    if (!descending) return order_of(b, CUPEL_OP_ARGSORT, x, axis, stable);
    int positions = order_of(b, CUPEL_OP_ARGSORT, cupel_emit_flip(b, x, axis), axis, stable);
    return sub_(b, cupel_emit_integer(b, last), cupel_emit_flip(b, positions, axis));
}

/* The values, in order; positions are argsort's first k. */
int cupel_compose_topk(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 2, b->nodes[x].rank, -1);
    int64_t k = cupel_call_integer(b, call, 1, 1);
    int64_t extent = b->nodes[x].rank ? b->nodes[x].shape[axis] : 1;
    if (b->code != CUPEL_OK) return -1;
    if (k < 0 || k > extent)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place, "expected k in 0..%lld, found %lld",
                               (long long)extent, (long long)k);
    if (b->nodes[x].rank == 0) x = cupel_emit_unsqueeze(b, x, 0);
    return cupel_emit_slice(b, sorted(b, x, axis, cupel_call_flag(b, call, 3, true)), axis, 0, k, 1);
}

/* ---- scatter_add ---- */

static int head_of(cupel_builder *b, int x, int axis, int64_t count) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    return b->nodes[x].shape[axis] == count ? x : cupel_emit_slice(b, x, axis, 0, count, 1);
}

/* Along the last axis, whole rows. */
static int scattered_rows(cupel_builder *b, int x, int axis, int index, int source) {
    if (b->code != CUPEL_OK || x < 0 || index < 0 || source < 0) return -1;
    int order[CUPEL_RANK_MAX], last = b->nodes[x].rank - 1;
    for (int i = 0; i <= last; i++) order[i] = i;
    order[axis] = last;
    order[last] = axis;
    int args[3] = {cupel_emit_permute(b, x, order), cupel_emit_permute(b, index, order),
                   cupel_emit_permute(b, source, order)};
    if (b->code != CUPEL_OK) return -1;
    cupel_node node = {.op = CUPEL_OP_SCATTER_ADD, .kind = b->nodes[x].kind, .rank = last + 1};
    memcpy(node.shape, b->nodes[args[0]].shape, sizeof node.shape);
    return cupel_emit_permute(b, cupel_emit_add(b, node, 3, args), order);
}

/* torch.scatter_add: the index may be smaller than x beside the axis, and than the source everywhere; what
 * lies beyond stays as it is. */
static int scattered(cupel_builder *b, int x, int axis, int index, int source) {
    int rank = b->nodes[x].rank, whole = x, part = x;
    int64_t extents[CUPEL_RANK_MAX];
    memcpy(extents, b->nodes[index].shape, sizeof extents);
    extents[axis] = b->nodes[x].shape[axis];
    for (int i = 0; i < rank; i++) {
        source = head_of(b, source, i, b->nodes[index].shape[i]);
        part = head_of(b, part, i, extents[i]);
    }
    int result = scattered_rows(b, part, axis, index, source);
    for (int i = rank; i-- > 0 && b->code == CUPEL_OK;) {
        int64_t extent = b->nodes[whole].shape[i];
        if (extent == extents[i]) continue;
        int rest = cupel_emit_slice(b, whole, i, extents[i], extent - extents[i], 1);
        for (int k = 0; k < i; k++) rest = head_of(b, rest, k, extents[k]);
        result = cupel_emit_concat(b, 2, (int[]){result, rest}, i);
    }
    return result;
}

static bool index_fits(const cupel_node *x, const cupel_node *index, const cupel_node *source, int axis) {
    if (index->kind == CUPEL_VALUE_REAL || x->rank == 0) return false;
    if (index->rank != x->rank || source->rank != x->rank) return false;
    for (int i = 0; i < x->rank; i++)
        if (index->shape[i] > source->shape[i] || (i != axis && index->shape[i] > x->shape[i])) return false;
    return true;
}

int cupel_compose_scatter_add(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), index = cupel_call_node(b, call, 2),
        source = cupel_call_node(b, call, 3);
    if (x < 0 || index < 0 || source < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, 0);
    if (b->code != CUPEL_OK) return -1;
    const cupel_node *from = &b->nodes[source], *to = &b->nodes[x], *where = &b->nodes[index];
    if (!index_fits(to, where, from, axis))
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                               "expected an integer index that fits into %s and into the source %s, found %s",
                               cupel_emit_shape_text(b, to->rank, to->shape),
                               cupel_emit_shape_text(b, from->rank, from->shape),
                               cupel_emit_shape_text(b, where->rank, where->shape));
    bool real = to->kind == CUPEL_VALUE_REAL || from->kind == CUPEL_VALUE_REAL;
    x = cupel_emit_as(b, real ? CUPEL_VALUE_REAL : CUPEL_VALUE_INT, x);
    source = cupel_emit_as(b, real ? CUPEL_VALUE_REAL : CUPEL_VALUE_INT, source);
    index = cupel_emit_as(b, CUPEL_VALUE_INT, index);
    if (b->code != CUPEL_OK) return -1;
    return scattered(b, x, axis, index, source);
}
