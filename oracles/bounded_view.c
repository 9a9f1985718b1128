#include "bounded_view.h"

static bool holds_all(const cupel_graph *graph, const cupel_node *view) {
    int64_t product = 1;
    for (int d = 0; d < view->rank; d++)
        if (view->stride[d] != 0) product *= view->shape[d];
    return product == graph->nodes[view->args[0]].count;
}

bool cupel_view_is_readable(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[node];
    if (n->op == CUPEL_OP_VIEW) return holds_all(graph, n);
    const cupel_node *from = &graph->nodes[n->args[0]];
    return n->op == CUPEL_OP_RESHAPE && (from->op != CUPEL_OP_VIEW || holds_all(graph, from));
}

/* The arrays that the tensor has, in the block's room. */
static void make_room(cupel_view_block *block, const cupel_tensor *from) {
    cupel_tensor *t = &block->t;
    *t = *from;
    double **const arrays[] = {&t->value, &t->radius, &t->magnitude, &t->spread,
                               &t->grain, &t->peak,   &t->trough};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (*arrays[i]) *arrays[i] = block->numbers[i];
    if (t->classes) t->classes = block->classes;
    if (t->reasons) t->reasons = block->reasons;
}

const cupel_tensor *cupel_view_fetch(const cupel_bounded *b, int node, int64_t begin, int64_t n,
                                     cupel_view_block *block, int64_t *at) {
    const cupel_tensor *from = &b->tensors[node];
    const cupel_node *view = &b->graph->nodes[node];
    if (view->op == CUPEL_OP_RESHAPE) view = &b->graph->nodes[view->args[0]];
    *at = begin;
    if (!b->plans[node].unwritten || view->op != CUPEL_OP_VIEW) return from;
    int64_t index[CUPEL_RANK_MAX], source = view->offset, rest = begin;
    for (int d = view->rank - 1; d >= 0; d--) {
        index[d] = rest % view->shape[d];
        rest /= view->shape[d];
        source += index[d] * view->stride[d];
    }
    const int last = view->rank - 1;
    const int64_t row = last >= 0 ? view->shape[last] : 1, step = last >= 0 ? view->stride[last] : 0;
    if (step == 1 && index[last] + n <= row) {
        *at = source;
        return from;
    }
    make_room(block, from);
    *at = 0;
    for (int64_t done = 0; done < n;) {
        const int64_t left = row - (last >= 0 ? index[last] : 0), run = left < n - done ? left : n - done;
        cupel_tensor_copy(&block->t, done, from, source, step, run);
        done += run;
        if (done == n) break;
        source -= (row - left) * step; /* back to the row's begin, and on to the next */
        index[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            source += view->stride[d];
            if (++index[d] < view->shape[d]) break;
            source -= view->stride[d] * view->shape[d];
            index[d] = 0;
        }
    }
    return &block->t;
}
