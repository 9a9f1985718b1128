#include "bounded_operand.h"

#include <stdlib.h>

#include "bounded_tile.h"

/* ---- where the elements are ---- */

/* A node as strides into an array. */
typedef struct map {
    int rank;
    int64_t shape[CUPEL_RANK_MAX], stride[CUPEL_RANK_MAX], offset;
} map;

static map map_of(const cupel_graph *graph, int node, bool through_views) {
    const cupel_node *n = &graph->nodes[node];
    if (through_views && n->op == CUPEL_OP_RESHAPE) n = &graph->nodes[n->args[0]];
    map m = {.rank = n->rank};
    int64_t stride = 1;
    for (int d = n->rank - 1; d >= 0; d--) {
        m.shape[d] = n->shape[d];
        m.stride[d] = through_views ? n->stride[d] : stride;
        stride *= n->shape[d];
    }
    m.offset = through_views ? n->offset : 0;
    return m;
}

/* The first of the map's dimensions below `end` whose product is count; -1: it falls inside a dimension. */
static int group_start(const map *m, int end, int64_t count) {
    int64_t product = 1;
    while (end > 0 && product < count) product *= m->shape[--end];
    return product == count ? end : -1;
}

/* Where the last two dimensions of the operand begin in its map. False: not at the map's own dimensions. */
static bool split(const cupel_node *operand, const map *m, int *rows, int *columns) {
    if (operand->count == 0) return false;
    *columns = group_start(m, m->rank, operand->shape[operand->rank - 1]);
    *rows = *columns < 0 ? -1 : group_start(m, *columns, operand->shape[operand->rank - 2]);
    return *rows >= 0;
}

bool cupel_operand_is_readable(const cupel_graph *graph, int product, int which) {
    const int node = graph->nodes[product].args[which];
    const cupel_node *n = &graph->nodes[node];
    const bool reshaped = n->op == CUPEL_OP_RESHAPE && graph->nodes[n->args[0]].op == CUPEL_OP_VIEW;
    if (n->op != CUPEL_OP_VIEW && !reshaped) return false;
    const map m = map_of(graph, node, true);
    int rows, columns;
    return split(n, &m, &rows, &columns);
}

/* Offsets of the elements that dimensions begin .. end - 1 run through. */
static int64_t *table_of(const map *m, int begin, int end, int64_t count) {
    int64_t *table = malloc((size_t)(count + 1) * sizeof *table), index[CUPEL_RANK_MAX] = {0}, at = 0;
    for (int64_t i = 0; table && i < count; i++) {
        table[i] = at;
        for (int d = end - 1; d >= begin; d--) {
            at += m->stride[d];
            if (++index[d] < m->shape[d]) break;
            at -= m->stride[d] * m->shape[d];
            index[d] = 0;
        }
    }
    return table;
}

cupel_code cupel_operand_open(cupel_bounded *b, int product, int which, cupel_operand *o) {
    const int node = b->graph->nodes[product].args[which];
    const cupel_node *n = &b->graph->nodes[node];
    const map m = map_of(b->graph, node, b->plans[node].unwritten);
    int rows = n->rank - 2, columns = n->rank - 1;
    if (b->plans[node].unwritten && !split(n, &m, &rows, &columns))
        return cupel_fail(b->err, CUPEL_UNABLE, "a product's operand lies across its views");
    *o = (cupel_operand){.t = &b->tensors[node], .offset = m.offset, .base = m.offset, .batch_rank = rows};
    for (int d = 0; d < rows; d++) o->batch_shape[d] = m.shape[d], o->batch_stride[d] = m.stride[d];
    const int64_t row_count = n->shape[n->rank - 2], column_count = n->shape[n->rank - 1];
    o->outer_count = which == 0 ? row_count : column_count;
    o->inner_count = which == 0 ? column_count : row_count;
    int64_t *by_row = table_of(&m, rows, columns, row_count);
    int64_t *by_column = table_of(&m, columns, m.rank, column_count);
    o->outer = which == 0 ? by_row : by_column;
    o->inner = which == 0 ? by_column : by_row;
    if (!by_row || !by_column)
        return cupel_fail(b->err, CUPEL_MEMORY, "no memory for the operands of a matrix product");
    return CUPEL_OK;
}

void cupel_operand_close(cupel_operand *o) {
    free(o->outer);
    free(o->inner);
}

void cupel_operand_seek(cupel_operand *o, int64_t batch) {
    o->base = o->offset;
    for (int d = o->batch_rank - 1; d >= 0; d--) {
        o->base += batch % o->batch_shape[d] * o->batch_stride[d];
        batch /= o->batch_shape[d];
    }
}

/* ---- packing ---- */

/* Eight neighbours at a time. */
CUPEL_WIDE static void pack_neighbours(const double *value, const double *radius, double hidden, bool moves,
                                       const int64_t *inner, int64_t terms, double *restrict to) {
    enum { WIDTH = CUPEL_TILE_COLUMNS };
    for (int64_t k = 0; k < terms; k++, to += (moves ? 3 : 2) * WIDTH) {
        const double *v = value + inner[k];
        for (int c = 0; c < WIDTH; c++) {
            const double own = radius ? radius[inner[k] + c] : 0;
            to[c] = v[c];
            to[WIDTH + c] = fabs(v[c]) + own;
            if (moves) to[2 * WIDTH + c] = own > 0 ? own : hidden * fabs(v[c]);
        }
    }
}

void cupel_operand_pack(const cupel_operand *o, int64_t outer, int width, int64_t inner, int64_t terms,
                        bool moves, double *to) {
    const int64_t left = o->outer_count - outer, own = left < width ? left : width;
    const int64_t *at = o->outer + outer, *along = o->inner + inner;
    const int parts = moves ? 3 : 2;
    bool neighbours = own == CUPEL_TILE_COLUMNS;
    for (int64_t c = 1; neighbours && c < own; c++) neighbours = at[c] == at[0] + c;
    if (neighbours) {
        const int64_t first = o->base + at[0];
        pack_neighbours(o->t->value + first, o->t->radius ? o->t->radius + first : NULL, o->hidden, moves,
                        along, terms, to);
        return;
    }
    if (own < width) memset(to, 0, (size_t)(terms * parts * width) * sizeof *to);
    for (int64_t c = 0; c < own; c++) {
        const double *value = o->t->value + o->base + at[c];
        const double *radius = o->t->radius ? o->t->radius + o->base + at[c] : NULL;
        double *part = to + c;
        for (int64_t k = 0; k < terms; k++, part += parts * width) {
            const double v = value[along[k]], r = radius ? radius[along[k]] : 0;
            part[0] = v;
            part[width] = fabs(v) + r;
            if (moves) part[2 * width] = r > 0 ? r : o->hidden * fabs(v);
        }
    }
}

void cupel_operand_pack_grains(const cupel_operand *o, int64_t outer, int width, int64_t inner, int64_t terms,
                               double *to) {
    const int64_t left = o->outer_count - outer, own = left < width ? left : width;
    for (int64_t k = 0; k < terms; k++) {
        const double *value = o->t->value + o->base + o->inner[inner + k];
        for (int64_t c = 0; c < own; c++) to[k * width + c] = cupel_grain(value[o->outer[outer + c]]);
        for (int64_t c = own; c < width; c++) to[k * width + c] = INFINITY;
    }
}

/* ---- facts of whole rows and columns ---- */

CUPEL_WIDE static void survey_panel(const double *packed, int64_t terms, double *restrict grain,
                                    double *restrict size) {
    for (int64_t k = 0; k < terms; k++, packed += 2 * CUPEL_TILE_COLUMNS) {
        for (int c = 0; c < CUPEL_TILE_COLUMNS; c++) {
            const double own = cupel_grain(packed[c]);
            grain[c] = own < grain[c] ? own : grain[c];
            size[c] += packed[CUPEL_TILE_COLUMNS + c];
        }
    }
}

static uint8_t oddity(const cupel_operand *o, int64_t outer) {
    uint8_t found = CUPEL_NOT_ODD;
    for (int64_t k = 0; k < o->inner_count; k++) {
        const int64_t at = cupel_operand_at(o, outer, k);
        if (cupel_tensor_is_plain(o->t, at, 1)) continue;
        if (o->t->classes && (o->t->classes[at] & CUPEL_CLASS_MASK) == CUPEL_CLASS_NAN) return CUPEL_ODD_NAN;
        found = CUPEL_ODD;
    }
    return found;
}

void cupel_operand_survey(const cupel_operand *o, double *grain, double *size, uint8_t *odd) {
    enum { WIDTH = CUPEL_TILE_COLUMNS, TERMS = 64 };
    _Alignas(64) double packed[TERMS * 2 * WIDTH];
    const bool special = o->t->classes || o->t->reasons;
    for (int64_t i = 0; i < o->outer_count; i++) odd[i] = special ? oddity(o, i) : CUPEL_NOT_ODD;
    for (int64_t i = 0; (grain || size) && i < o->outer_count; i += WIDTH) {
        double low[WIDTH], sum[WIDTH] = {0};
        for (int c = 0; c < WIDTH; c++) low[c] = INFINITY;
        for (int64_t k = 0; k < o->inner_count; k += TERMS) {
            const int64_t terms = o->inner_count - k < TERMS ? o->inner_count - k : TERMS;
            cupel_operand_pack(o, i, WIDTH, k, terms, false, packed);
            survey_panel(packed, terms, low, sum);
        }
        for (int64_t c = 0; c < WIDTH && i + c < o->outer_count; c++) {
            if (grain) grain[i + c] = low[c];
            if (size) size[i + c] = sum[c];
        }
    }
}
