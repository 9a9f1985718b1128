/* Matrix products. */
#include <string.h>

#include "function_table.h"

int cupel_compose_operand(cupel_builder *b, int x) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const cupel_node *n = &b->nodes[x];
    if (!b->symbols->products_given || n->kind != CUPEL_VALUE_REAL) return x;
    cupel_node node = {
        .op = CUPEL_OP_LOOSEN, .kind = CUPEL_VALUE_REAL, .rank = n->rank, .type = b->symbols->products};
    memcpy(node.shape, n->shape, sizeof node.shape);
    return cupel_emit_add(b, node, 1, &x);
}

int cupel_compose_product_of(cupel_builder *b, int x, int y) {
    return cupel_emit_matmul(b, cupel_compose_operand(b, x), cupel_compose_operand(b, y));
}

int cupel_compose_matmul(cupel_builder *b, const cupel_call *call) {
    return cupel_compose_product_of(b, cupel_call_node(b, call, 0), cupel_call_node(b, call, 1));
}

/* x W' + b, W of [out, in] */
int cupel_compose_linear(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), weight = cupel_call_node(b, call, 1);
    if (x < 0 || weight < 0) return -1;
    int rank = b->nodes[weight].rank;
    if (rank != 1 && rank != 2)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected a weight of shape [out, in] or [in], found %s",
                               cupel_emit_shape_text(b, rank, b->nodes[weight].shape));
    if (rank == 2) weight = cupel_emit_permute(b, weight, (int[]){1, 0});
    int product = cupel_compose_product_of(b, x, weight);
    return cupel_call_has(call, 2) ? add_(b, product, cupel_call_node(b, call, 2)) : product;
}

int cupel_compose_outer(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0), y = cupel_call_node(b, call, 1);
    if (x < 0 || y < 0) return -1;
    if (b->nodes[x].rank != 1 || b->nodes[y].rank != 1)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place, "expected two tensors of one axis in outer");
    return mul_(b, cupel_emit_unsqueeze(b, x, 1), cupel_emit_unsqueeze(b, y, 0));
}
