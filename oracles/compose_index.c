/* Padding, indexed access, masks and generated tensors. */
#include <string.h>

#include "function_table.h"

/* pad = [last axis before, after, next to last before, after, ...]; negative amounts cut. */
int cupel_compose_pad(cupel_builder *b, const cupel_call *call) {
    static const char *const modes[] = {"constant", NULL};
    int x = cupel_call_node(b, call, 0);
    int64_t amounts[2 * CUPEL_RANK_MAX];
    if (x < 0) return -1;
    int count = cupel_call_integers(b, call, 1, 2 * CUPEL_RANK_MAX, amounts);
    cupel_call_choice(b, call, 2, modes);
    if (b->code != CUPEL_OK) return -1;
    if (count % 2 || count > 2 * b->nodes[x].rank)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected two amounts for each of at most %d axes, found %d", b->nodes[x].rank,
                               count);
    const cupel_operand *fill = &call->args[3];
    if (fill->form != CUPEL_OPERAND_ABSENT && fill->form != CUPEL_OPERAND_INTEGER &&
        fill->form != CUPEL_OPERAND_REAL)
        return cupel_emit_fail(b, CUPEL_CONTRACT, fill->place, "expected a number to pad with");
    if (fill->form == CUPEL_OPERAND_REAL) x = cupel_emit_as(b, CUPEL_VALUE_REAL, x);
    if (x < 0) return -1;
    const int rank = b->nodes[x].rank;
    const double number = fill->form == CUPEL_OPERAND_REAL      ? fill->number
                          : fill->form == CUPEL_OPERAND_INTEGER ? (double)fill->integer
                                                                : 0;
    int64_t before[CUPEL_RANK_MAX] = {0}, after[CUPEL_RANK_MAX] = {0};
    for (int i = 0; i < rank; i++) {
        int at = 2 * (rank - 1 - i);
        if (at < count) before[i] = amounts[at], after[i] = amounts[at + 1];
        int64_t extent = b->nodes[x].shape[i], limit = INT64_C(1) << 40;
        if (before[i] < -limit || after[i] < -limit || before[i] > limit || after[i] > limit ||
            extent + before[i] + after[i] < 0 || before[i] < -extent || after[i] < -extent)
            return cupel_emit_fail(
                b, CUPEL_CONTRACT, call->args[1].place,
                "expected amounts of at most 2^40 that leave an extent of at least 0, found %s",
                cupel_emit_shape_text(b, count, amounts));
    }
    return cupel_emit_pad(b, x, number, before, after);
}

/* ---- indexed access ---- */

static int index_argument(cupel_builder *b, const cupel_call *call, int i) {
    int index = cupel_call_node(b, call, i);
    if (index >= 0 && b->nodes[index].kind == CUPEL_VALUE_REAL)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place,
                               "expected a tensor of integers as index");
    return cupel_emit_as(b, CUPEL_VALUE_INT, index);
}

int cupel_compose_gather_of(cupel_builder *b, int x, int axis, int index) {
    if (b->code != CUPEL_OK || x < 0 || index < 0) return -1;
    cupel_node node = {
        .op = CUPEL_OP_GATHER, .kind = b->nodes[x].kind, .rank = b->nodes[index].rank, .axis = axis};
    memcpy(node.shape, b->nodes[index].shape, sizeof node.shape);
    return cupel_emit_add(b, node, 2, (int[]){x, index});
}

int cupel_compose_gather(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), index = index_argument(b, call, 2);
    if (x < 0 || index < 0) return -1;
    const cupel_node *source = &b->nodes[x], *where = &b->nodes[index];
    int axis = cupel_call_axis(b, call, 1, source->rank, 0);
    if (b->code != CUPEL_OK) return -1;
    bool fits = source->rank == where->rank && source->rank > 0;
    for (int i = 0; i < source->rank && fits; i++)
        if (i != axis && where->shape[i] > source->shape[i]) fits = false;
    if (!fits)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                               "expected an index that fits into %s, found %s",
                               cupel_emit_shape_text(b, source->rank, source->shape),
                               cupel_emit_shape_text(b, where->rank, where->shape));
    return cupel_compose_gather_of(b, x, axis, index);
}

/* Rows, columns, ... of x at the positions of a list: gather with the list spread over the other axes. */
static int select_of(cupel_builder *b, int x, int axis, int list) {
    if (b->code != CUPEL_OK || x < 0 || list < 0) return -1;
    int64_t shape[CUPEL_RANK_MAX];
    int rank = b->nodes[x].rank;
    memcpy(shape, b->nodes[x].shape, sizeof shape);
    shape[axis] = b->nodes[list].count;
    cupel_window w = cupel_window_of(b, list);
    while (w.rank < rank - axis) cupel_window_insert(&w, w.rank, 1);
    return cupel_compose_gather_of(b, x, axis,
                                   cupel_emit_broadcast(b, cupel_window_finish(b, &w), rank, shape));
}

int cupel_compose_index_select(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), list = index_argument(b, call, 2);
    if (x < 0 || list < 0) return -1;
    if (b->nodes[list].rank != 1 || b->nodes[x].rank == 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                               "expected an index of one axis, found %s",
                               cupel_emit_shape_text(b, b->nodes[list].rank, b->nodes[list].shape));
    return select_of(b, x, cupel_call_axis(b, call, 1, b->nodes[x].rank, 0), list);
}

int cupel_compose_embedding(cupel_builder *b, const cupel_call *call) {
    int index = index_argument(b, call, 0), table = cupel_call_node(b, call, 1);
    if (index < 0 || table < 0) return -1;
    int rank = b->nodes[index].rank;
    if (b->nodes[table].rank != 2 || rank == CUPEL_RANK_MAX)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected a table of shape [rows, width], found %s",
                               cupel_emit_shape_text(b, b->nodes[table].rank, b->nodes[table].shape));
    int64_t shape[CUPEL_RANK_MAX], count = b->nodes[index].count;
    memcpy(shape, b->nodes[index].shape, sizeof shape);
    shape[rank] = b->nodes[table].shape[1];
    int rows = select_of(b, table, 0, cupel_emit_reshape(b, index, 1, &count));
    return cupel_emit_reshape(b, rows, rank + 1, shape);
}

int cupel_compose_one_hot(cupel_builder *b, const cupel_call *call) {
    int x = index_argument(b, call, 0);
    int64_t classes = cupel_call_integer(b, call, 1, 0);
    if (x < 0 || b->code != CUPEL_OK) return -1;
    if (classes < 1)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected at least one class, found %lld", (long long)classes);
    int column = cupel_emit_unsqueeze(b, x, b->nodes[x].rank);
    int hot = cupel_emit_binary(b, CUPEL_OP_EQ, column, cupel_emit_iota(b, 0, 1, classes));
    return cupel_emit_as(b, CUPEL_VALUE_INT, hot);
}

/* ---- triangles ---- */

static int triangle(cupel_builder *b, const cupel_call *call, bool lower) {
    int x = cupel_call_node(b, call, 0);
    int64_t diagonal = cupel_call_integer(b, call, 1, 0), limit = INT64_C(1) << 40;
    if (x < 0 || b->code != CUPEL_OK) return -1;
    int rank = b->nodes[x].rank;
    if (rank < 2)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                               "expected a tensor of at least two axes, found %d", rank);
    if (diagonal > limit) diagonal = limit;
    if (diagonal < -limit) diagonal = -limit;
    int row = cupel_emit_unsqueeze(b, cupel_emit_iota(b, 0, 1, b->nodes[x].shape[rank - 2]), 1);
    int column = cupel_emit_iota(b, 0, 1, b->nodes[x].shape[rank - 1]);
    int edge = add_(
        b, row, cupel_emit_integer(b, diagonal)); /* column <= row + diagonal lies in the lower triangle */
    int inside = lower ? less_equal_(b, column, edge) : less_equal_(b, edge, column);
    return where_(b, inside, x, cupel_emit_as(b, b->nodes[x].kind, cupel_emit_integer(b, 0)));
}

int cupel_compose_tril(cupel_builder *b, const cupel_call *call) {
    return triangle(b, call, true);
}
int cupel_compose_triu(cupel_builder *b, const cupel_call *call) {
    return triangle(b, call, false);
}

/* ---- generated ---- */

int cupel_compose_arange(cupel_builder *b, const cupel_call *call) {
    bool one = !cupel_call_has(call, 1);
    int64_t start = one ? 0 : cupel_call_integer(b, call, 0, 0);
    int64_t end = cupel_call_integer(b, call, one ? 0 : 1, 0), step = cupel_call_integer(b, call, 2, 1);
    if (b->code != CUPEL_OK) return -1;
    int64_t limit = INT64_C(1) << 40;
    bool runs = step > 0 ? end >= start : end <= start;
    if (step == 0 || !runs || start < -limit || start > limit || end < -limit || end > limit ||
        step < -limit || step > limit)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place,
                               "expected a range that its step leads through (of at most 2^40)");
    int64_t span = step > 0 ? end - start : start - end, size = step > 0 ? step : -step;
    return cupel_emit_iota(b, start, step, (span + size - 1) / size);
}

int cupel_compose_full(cupel_builder *b, const cupel_call *call) {
    int64_t shape[CUPEL_RANK_MAX];
    int rank = cupel_call_integers(b, call, 0, CUPEL_RANK_MAX, shape);
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                                   "expected extents of at least 0, found %s",
                                   cupel_emit_shape_text(b, rank, shape));
    return cupel_emit_broadcast(b, cupel_call_node(b, call, 1), rank, shape);
}
