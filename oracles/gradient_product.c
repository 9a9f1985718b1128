/* Matrix products, and what is made of them: convolution and attention. */
#include "gradient_rules.h"

#include <math.h>
#include <string.h>

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

/* ---- sums of products ---- */

/* Brings the axes of the mask (batch axes of x) before axis `inner`, which they are merged with; the others
 * stay in their order. */
static int merged(cupel_builder *b, int x, unsigned axes, int inner) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int rank = b->nodes[x].rank;
    int order[CUPEL_RANK_MAX], used = 0, out = 0;
    int64_t shape[CUPEL_RANK_MAX], length = b->nodes[x].shape[inner];
    for (int i = 0; i < rank - 2; i++)
        if (!(axes >> i & 1)) order[used++] = i, shape[out++] = b->nodes[x].shape[i];
    for (int i = rank - 2; i < rank; i++) {
        if (i == inner)
            for (int k = 0; k < rank - 2; k++)
                if (axes >> k & 1) order[used++] = k, length *= b->nodes[x].shape[k];
        order[used++] = i;
        shape[out++] = i == inner ? length : b->nodes[x].shape[i];
    }
    return cupel_emit_reshape(b, cupel_emit_permute(b, x, order), out, shape);
}

int cupel_gradient_sum_over(cupel_builder *b, int x, unsigned axes) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const cupel_node n = b->nodes[x];
    if (n.op != CUPEL_OP_MATMUL || !axes || axes >> (n.rank - 2)) return sum_(b, x, axes);
    const int left = merged(b, n.args[0], axes, n.rank - 1), right = merged(b, n.args[1], axes, n.rank - 2);
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, n.shape, sizeof shape);
    for (int i = 0; i < n.rank; i++)
        if (axes >> i & 1) shape[i] = 1;
    return cupel_emit_reshape(b, cupel_emit_matmul(b, left, right), n.rank, shape);
}

/* ---- composites ---- */

/* By x the transposed convolution of dy, by the weight [G, O/G, inner] the product of dy and the windows
 * [G, inner, N positions]; args: x, weight, windows. */
void cupel_gradient_convolution(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int weight = c->args[1], windows = c->args[2];
    if (cupel_sweep_wants(s, c->args[0]))
        cupel_sweep_give(s, c->args[0], cupel_compose_conv_adjoint(b, c, dy));
    if (!cupel_sweep_wants(s, weight)) return;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[weight].shape, sizeof shape);
    shape[2] = b->nodes[windows].shape[2];
    int rows = cupel_emit_permute(b, cupel_compose_operand(b, dy), (int[]){1, 0, 2, 3, 4});
    rows = cupel_emit_reshape(b, rows, 3, shape);
    int share = cupel_emit_matmul(b, rows, transposed(b, windows));
    cupel_sweep_give(s, weight, cupel_compose_conv_exclude(b, c, dy, share));
}

/* p = weights / sum: dv = p' dy, and by the scores p (dp - sum(p dp)), dp = dy v', where flash attention has
 * sum(y dy) for sum(p dp). A row without keys gives nothing where it is 0, and is not judged where it is NaN.
 * args: scores, v, weights, sum. */
void cupel_gradient_attention(cupel_sweep *s, const cupel_composite *c, int dy) {
    cupel_builder *b = s->b;
    const int scores = c->args[0], v = c->args[1];
    if (b->nodes[c->node].count == 0 || b->nodes[scores].count == 0) return;
    const unsigned keys = 1u << (b->nodes[scores].rank - 1), width = 1u << (b->nodes[c->node].rank - 1);
    int top = cupel_emit_reduce(b, CUPEL_OP_AMAX, scores, keys, true);
    int empty = equal_(b, top, number_(b, -INFINITY));
    int p = where_(b, empty, number_(b, 0.0), div_(b, c->args[2], c->args[3]));
    if (c->number == 0) p = cupel_emit_exclude(b, p, empty);
    if (cupel_sweep_wants(s, v)) cupel_sweep_give(s, v, cupel_compose_product_of(b, transposed(b, p), dy));
    if (!cupel_sweep_wants(s, scores)) return;
    int dp = cupel_compose_product_of(b, dy, transposed(b, v));
    int one = sum_(b, mul_(b, p, dp), keys);
    int other = where_(b, empty, number_(b, 0.0), sum_(b, mul_(b, c->node, dy), width));
    int along = cupel_emit_between(b, one, other, cupel_emit_truth(b, true));
    int share = mul_(b, p, sub_(b, dp, along));
    int infinite = cupel_emit_reduce(b, CUPEL_OP_AMAX, cupel_emit_unary(b, CUPEL_OP_ISINF, dy), width, true);
    cupel_sweep_give(s, scores, cupel_emit_exclude(b, share, infinite));
}
