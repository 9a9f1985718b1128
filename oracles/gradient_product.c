/* Matrix products. */
#include "gradient_rules.h"

/* The transpose of the last two axes. */
static int transposed(cupel_builder *b, int x) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int rank = b->nodes[x].rank;
    int order[CUPEL_RANK_MAX];
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 1] = rank - 2;
    order[rank - 2] = rank - 1;
    return cupel_emit_permute(b, x, order);
}

/* C = A B: dA = dC B', dB = A' dC. Operands that a kernel may round first were made so in the forward
 * product, and dC is one too. */
void cupel_gradient_product(cupel_sweep *s, int node, int dy) {
    cupel_builder *b = s->b;
    const int x = b->nodes[node].args[0], y = b->nodes[node].args[1];
    dy = cupel_compose_operand(b, dy);
    if (cupel_sweep_wants(s, x)) cupel_sweep_give(s, x, cupel_emit_matmul(b, dy, transposed(b, y)));
    if (cupel_sweep_wants(s, y)) cupel_sweep_give(s, y, cupel_emit_matmul(b, transposed(b, x), dy));
}
