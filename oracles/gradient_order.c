/* Sorting and adding at positions. */
#include "gradient_rules.h"

#include <string.h>

static int zeros_like(cupel_builder *b, int x) {
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[x].shape, sizeof shape);
    return cupel_emit_broadcast(b, number_(b, 0.0), b->nodes[x].rank, shape);
}

/* The element that came from position p goes back there. Equal elements are taken in their order, as
 * torch.sort(stable=True) does; under `kinks: any` nothing tells them apart. */
void cupel_gradient_order(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[node].args[0];
    if (b->nodes[node].op != CUPEL_OP_SORT) {
        cupel_sweep_refuse(s, node);
        return;
    }
    cupel_node order = {.op = CUPEL_OP_ARGSORT, .kind = CUPEL_VALUE_INT, .rank = b->nodes[x].rank};
    memcpy(order.shape, b->nodes[x].shape, sizeof order.shape);
    int index = cupel_emit_add(b, order, 1, &x), base = zeros_like(b, x);
    cupel_sweep_give(s, x, cupel_gradient_scatter_of(b, base, index, dy));
}

int cupel_gradient_scatter_of(cupel_builder *b, int base, int index, int source) {
    if (b->code != CUPEL_OK || base < 0 || index < 0 || source < 0) return -1;
    cupel_node node = {.op = CUPEL_OP_SCATTER_ADD, .kind = CUPEL_VALUE_REAL, .rank = b->nodes[base].rank};
    memcpy(node.shape, b->nodes[base].shape, sizeof node.shape);
    return cupel_emit_add(b, node, 3, (int[]){base, index, source});
}

/* x + what is added at index: both are handed on, the source by looking where it went. */
void cupel_gradient_scatter(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[node].args[0], index = b->nodes[node].args[1], source = b->nodes[node].args[2];
    cupel_sweep_give(s, x, dy);
    if (cupel_sweep_wants(s, source))
        cupel_sweep_give(s, source, cupel_compose_gather_of(b, dy, b->nodes[node].rank - 1, index));
}
