/* An axis is followed as an atom: a label that elementwise operations share, that views and reshapes carry
 * along, that reductions end, and that anything which looks at positions pins. Reshapes may merge axes: a
 * node's axis is then several atoms. */
#include "reduced_axes.h"

#include <stdlib.h>
#include <string.h>

typedef struct atom {
    int parent; /* union-find */
    bool pinned;
    int64_t extent;
} atom;

/* The atoms of a node, outermost first; of axis k those from first[k] to before first[k + 1]. */
typedef struct axes {
    int first[CUPEL_RANK_MAX + 1];
    int atoms[CUPEL_RANK_MAX];
} axes;

typedef struct finder {
    const cupel_graph *graph;
    atom *atoms;
    int count;
    axes *of; /* per node */
} finder;

static int root(const finder *f, int a) {
    while (f->atoms[a].parent != a) a = f->atoms[a].parent;
    return a;
}

static void pin(finder *f, int a) {
    f->atoms[root(f, a)].pinned = true;
}

static void join(finder *f, int a, int b) {
    const int x = root(f, a), y = root(f, b);
    if (x == y) return;
    f->atoms[y].parent = x;
    f->atoms[x].pinned = f->atoms[x].pinned || f->atoms[y].pinned;
}

static int fresh(finder *f, int64_t extent) {
    f->atoms[f->count] = (atom){.parent = f->count, .extent = extent};
    return f->count++;
}

static const cupel_node *node_of(const finder *f, int node) {
    return &f->graph->nodes[node];
}

static void pin_axis(finder *f, int node, int axis) {
    const axes *a = &f->of[node];
    for (int k = a->first[axis]; k < a->first[axis + 1]; k++) pin(f, a->atoms[k]);
}

static void pin_all(finder *f, int node) {
    for (int axis = 0; axis < node_of(f, node)->rank; axis++) pin_axis(f, node, axis);
}

/* One new atom an axis. */
static void make_axes(finder *f, int node) {
    axes *a = &f->of[node];
    for (int axis = 0; axis < node_of(f, node)->rank; axis++) {
        a->first[axis] = axis;
        a->atoms[axis] = fresh(f, node_of(f, node)->shape[axis]);
    }
    a->first[node_of(f, node)->rank] = node_of(f, node)->rank;
}

/* Two axes that go together; where they are made of other parts, nothing is known of either. */
static void join_axes(finder *f, int x, int x_axis, int y, int y_axis) {
    const axes *a = &f->of[x], *b = &f->of[y];
    const int n = a->first[x_axis + 1] - a->first[x_axis];
    bool alike = n == b->first[y_axis + 1] - b->first[y_axis];
    for (int k = 0; alike && k < n; k++)
        alike = f->atoms[a->atoms[a->first[x_axis] + k]].extent ==
                f->atoms[b->atoms[b->first[y_axis] + k]].extent;
    if (!alike) {
        pin_axis(f, x, x_axis);
        pin_axis(f, y, y_axis);
        return;
    }
    for (int k = 0; k < n; k++) join(f, a->atoms[a->first[x_axis] + k], b->atoms[b->first[y_axis] + k]);
}

/* ---- what operations do to axes ---- */

/* The axis of a node becomes that of its argument, part by part. */
static void take_axis(finder *f, int node, int axis, int from, int from_axis) {
    axes *to = &f->of[node];
    const axes *a = &f->of[from];
    int n = to->first[axis];
    for (int k = a->first[from_axis]; k < a->first[from_axis + 1]; k++) to->atoms[n++] = a->atoms[k];
    to->first[axis + 1] = n;
}

/* All axes but the last `less` of the node are the first argument's. */
static void take_leading(finder *f, int node, int less) {
    const cupel_node *n = node_of(f, node);
    for (int axis = 0; axis + less < n->rank; axis++) take_axis(f, node, axis, n->args[0], axis);
}

static void elementwise(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    take_leading(f, node, 0);
    for (int k = 1; k < n->arg_count; k++)
        for (int axis = 0; axis < n->rank; axis++) join_axes(f, node, axis, n->args[k], axis);
}

static void contraction(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    const int a = n->args[0], b = n->args[1], rank = n->rank;
    for (int axis = 0; axis < rank - 2; axis++) {
        join_axes(f, a, axis, b, axis);
        take_axis(f, node, axis, a, axis);
    }
    join_axes(f, a, rank - 1, b, rank - 2);
    take_axis(f, node, rank - 2, a, rank - 2);
    take_axis(f, node, rank - 1, b, rank - 1);
}

/* Source axis of a view's axis: the one with the same step in memory and the same extent; -1. */
static int viewed_axis(const cupel_node *n, const cupel_node *from, int axis) {
    int64_t stride = 1;
    for (int k = from->rank - 1; k >= 0; k--) {
        if (from->shape[k] > 1 && stride == n->stride[axis] && from->shape[k] == n->shape[axis]) return k;
        stride *= from->shape[k];
    }
    return -1;
}

static void view(finder *f, int node) {
    const cupel_node *n = node_of(f, node), *from = node_of(f, n->args[0]);
    axes *a = &f->of[node];
    unsigned seen = 0;
    int used = 0;
    for (int axis = 0; axis < n->rank; axis++) {
        a->first[axis] = used;
        const bool repeated = n->stride[axis] == 0 || n->shape[axis] <= 1;
        const int source = repeated ? -1 : viewed_axis(n, from, axis);
        const axes *b = &f->of[n->args[0]];
        if (source >= 0 && (seen >> source & 1)) pin_axis(f, n->args[0], source); /* read at two places */
        const int parts = source >= 0 ? b->first[source + 1] - b->first[source] : 1;
        if (source >= 0 && !(seen >> source & 1) && used + parts + (n->rank - axis - 1) <= CUPEL_RANK_MAX) {
            seen |= 1u << source;
            take_axis(f, node, axis, n->args[0], source);
            used += parts;
            continue;
        }
        a->atoms[used++] = fresh(f, n->shape[axis]);
        a->first[axis + 1] = used;
        if (!repeated) pin(f, a->atoms[used - 1]);
    }
    a->first[n->rank] = used;
    for (int k = 0; k < from->rank; k++)
        if (!(seen >> k & 1)) pin_axis(f, n->args[0], k);
}

/* Merges whole axes; what is split is pinned. */
static void reshape(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    const int source = n->args[0];
    const axes *from = &f->of[source];
    axes *to = &f->of[node];
    int next = 0, used = 0;
    const int end = from->first[node_of(f, source)->rank];
    bool lost = false;
    for (int axis = 0; axis < n->rank; axis++) {
        int64_t product = 1;
        to->first[axis] = used;
        while (!lost && next < end && used < CUPEL_RANK_MAX && product < n->shape[axis]) {
            const int a = from->atoms[next++];
            product *= f->atoms[a].extent;
            if (f->atoms[a].extent > 1) to->atoms[used++] = a;
        }
        lost = lost || product != n->shape[axis];
    }
    to->first[n->rank] = used;
    lost = lost || n->count == 0;
    for (; !lost && next < end; next++) lost = f->atoms[from->atoms[next]].extent > 1;
    if (!lost) return;
    pin_all(f, source);
    make_axes(f, node);
    pin_all(f, node);
}

/* Scans: the last axis is a sequence. */
static void scan(finder *f, int node) {
    elementwise(f, node);
    if (node_of(f, node)->rank > 0) pin_axis(f, node, node_of(f, node)->rank - 1);
}

static void position(finder *f, int node) {
    const int argument = node_of(f, node)->args[0];
    pin_axis(f, argument, node_of(f, argument)->rank - 1);
    take_leading(f, node, 0);
}

/* An axis of its own, of which nothing may be moved. */
static void pinned_axis(finder *f, int node, int axis) {
    axes *a = &f->of[node];
    const int at = a->first[axis];
    a->atoms[at] = fresh(f, node_of(f, node)->shape[axis]);
    a->first[axis + 1] = at + 1;
    pin(f, a->atoms[at]);
}

/* The values of a sort are the same whatever order they come in, and stand by rank; positions are not. */
static void sorted(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    if (n->op == CUPEL_OP_ARGSORT) pin_axis(f, n->args[0], n->rank - 1);
    take_leading(f, node, 1);
    pinned_axis(f, node, n->rank - 1);
}

/* Entries, an index and what is added there, may come in any order; the places that they go to may not move.
 */
static void scatter(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    const int last = n->rank - 1;
    take_leading(f, node, 0);
    for (int axis = 0; axis < last; axis++)
        for (int k = 1; k < 3; k++) join_axes(f, node, axis, n->args[k], axis);
    join_axes(f, n->args[1], last, n->args[2], last);
    pin_axis(f, node, last);
}

static void gather(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    for (int axis = 0; axis < n->rank; axis++) take_axis(f, node, axis, n->args[1], axis);
    for (int axis = 0; axis < n->rank; axis++)
        if (axis != n->axis) join_axes(f, node, axis, n->args[0], axis);
    pin_axis(f, n->args[0], n->axis);
}

static void concat(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    for (int axis = 0; axis < n->rank; axis++) {
        if (axis == n->axis)
            pinned_axis(f, node, axis);
        else
            take_axis(f, node, axis, n->args[0], axis);
        for (int k = 0; k < n->arg_count; k++)
            if (axis == n->axis)
                pin_axis(f, n->args[k], axis);
            else
                join_axes(f, node, axis, n->args[k], axis);
    }
}

static void pad(finder *f, int node) {
    const cupel_node *n = node_of(f, node), *from = node_of(f, n->args[0]);
    for (int axis = 0; axis < n->rank; axis++) {
        if (n->shape[axis] == from->shape[axis] && n->before[axis] == 0) {
            take_axis(f, node, axis, n->args[0], axis);
            continue;
        }
        pin_axis(f, n->args[0], axis);
        pinned_axis(f, node, axis);
    }
}

/* Other operations look at positions, as far as is known here. */
static void unknown(finder *f, int node) {
    const cupel_node *n = node_of(f, node);
    for (int k = 0; k < n->arg_count; k++) pin_all(f, n->args[k]);
    make_axes(f, node);
    pin_all(f, node);
}

static void follow(finder *f, int node) {
    switch (node_of(f, node)->op) {
    case CUPEL_OP_INPUT:
    case CUPEL_OP_CONSTANT: make_axes(f, node); break;
    case CUPEL_OP_IOTA:
    case CUPEL_OP_PHILOX:
    case CUPEL_OP_KEEP:
    case CUPEL_OP_STATE_SCAN: unknown(f, node); break;
    case CUPEL_OP_SUM:
    case CUPEL_OP_PROD:
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN: take_leading(f, node, 0); break;
    case CUPEL_OP_ARGMAX:
    case CUPEL_OP_ARGMIN: position(f, node); break;
    case CUPEL_OP_CUMSUM:
    case CUPEL_OP_CUMPROD:
    case CUPEL_OP_CUMMAX:
    case CUPEL_OP_CUMMIN:
    case CUPEL_OP_LINEAR_SCAN: scan(f, node); break;
    case CUPEL_OP_MATMUL: contraction(f, node); break;
    case CUPEL_OP_VIEW: view(f, node); break;
    case CUPEL_OP_RESHAPE: reshape(f, node); break;
    case CUPEL_OP_CONCAT: concat(f, node); break;
    case CUPEL_OP_PAD: pad(f, node); break;
    case CUPEL_OP_GATHER: gather(f, node); break;
    case CUPEL_OP_SCATTER_ADD: scatter(f, node); break;
    case CUPEL_OP_SORT:
    case CUPEL_OP_ARGSORT: sorted(f, node); break;
    default: elementwise(f, node); break; /* every argument has the node's shape (graph.h) */
    }
}

/* ---- the whole ---- */

static void mark_read(const cupel_graph *graph, bool *read) {
    for (int o = 0; o < graph->output_count; o++) read[graph->outputs[o].node] = true;
    for (int i = graph->node_count - 1; i >= 0; i--)
        for (int k = 0; read[i] && k < graph->nodes[i].arg_count; k++) read[graph->nodes[i].args[k]] = true;
}

/* Nodes of one input have one set of axes. */
static void follow_all(finder *f, const bool *read) {
    int first[CUPEL_REDUCED_INPUTS_MAX];
    for (int i = 0; i < CUPEL_REDUCED_INPUTS_MAX; i++) first[i] = -1;
    for (int i = 0; i < f->graph->node_count; i++) {
        const cupel_node *n = node_of(f, i);
        if (!read[i]) continue;
        follow(f, i);
        if (n->op != CUPEL_OP_INPUT) continue;
        if (first[n->input] < 0) first[n->input] = i;
        for (int axis = 0; axis < n->rank; axis++) join_axes(f, first[n->input], axis, i, axis);
    }
    for (int o = 0; o < f->graph->output_count; o++) pin_all(f, f->graph->outputs[o].node);
}

static void name_groups(finder *f, const bool *read, cupel_reduced_axes *out) {
    int group_of[CUPEL_REDUCED_INPUTS_MAX * CUPEL_RANK_MAX];
    for (int i = 0; i < f->graph->node_count; i++) {
        const cupel_node *n = node_of(f, i);
        if (!read[i] || n->op != CUPEL_OP_INPUT) continue;
        for (int axis = 0; axis < n->rank; axis++) {
            const int a = root(f, f->of[i].atoms[axis]);
            int group = 0;
            if (f->atoms[a].pinned || n->shape[axis] < 2) continue;
            while (group < out->group_count && group_of[group] != a) group++;
            if (group == out->group_count) {
                out->extent[group] = n->shape[axis];
                group_of[out->group_count++] = a;
            }
            out->group[n->input][axis] = group;
        }
    }
}

bool cupel_reduced_axes_find(const cupel_graph *graph, cupel_reduced_axes *out) {
    out->group_count = 0;
    for (int i = 0; i < CUPEL_REDUCED_INPUTS_MAX; i++)
        for (int axis = 0; axis < CUPEL_RANK_MAX; axis++) out->group[i][axis] = -1;
    if (graph->input_count > CUPEL_REDUCED_INPUTS_MAX) return false;
    const size_t nodes = (size_t)graph->node_count + 1;
    finder f = {.graph = graph,
                .atoms = calloc(2 * CUPEL_RANK_MAX * nodes, sizeof *f.atoms),
                .of = calloc(nodes, sizeof *f.of)};
    bool *read = calloc(nodes, sizeof *read);
    const bool fits = f.atoms && f.of && read;
    if (fits) {
        mark_read(graph, read);
        follow_all(&f, read);
        name_groups(&f, read, out);
    }
    free(f.atoms);
    free(f.of);
    free(read);
    return fits;
}
