/* vjp(expr, wrt, cotangent). */
#include <string.h>

#include "function_table.h"
#include "gradient.h"

int cupel_compose_vjp(cupel_builder *b, const cupel_call *call) {
    int value = cupel_call_node(b, call, 0), wrt = cupel_call_node(b, call, 1);
    int cotangent = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_call_node(b, call, 2));
    if (value < 0 || wrt < 0 || cotangent < 0) return -1;
    if (b->nodes[wrt].op != CUPEL_OP_INPUT || b->nodes[wrt].kind != CUPEL_VALUE_REAL)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[1].place,
                               "expected an input of a real type to differentiate by, found %s",
                               b->nodes[wrt].op == CUPEL_OP_INPUT ? "one of integers" : "an expression");
    if (b->nodes[value].kind != CUPEL_VALUE_REAL)
        return cupel_emit_fail(
            b, CUPEL_CONTRACT, call->args[0].place,
            "expected an expression of real numbers to differentiate, found one of %s: it has "
            "no gradient",
            b->nodes[value].kind == CUPEL_VALUE_INT ? "integers" : "booleans");
    const int rank = b->nodes[value].rank;
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, b->nodes[value].shape, sizeof shape);
    const cupel_node *dy = &b->nodes[cotangent];
    const bool same = dy->rank == rank && memcmp(dy->shape, shape, (size_t)rank * sizeof *shape) == 0;
    /* one number is one number, as outputs have it: dy of [1] for a loss of [] */
    if (!same && !(dy->count == 1 && b->nodes[value].count == 1))
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                               "expected a cotangent of the shape %s of the expression, found %s",
                               cupel_emit_shape_text(b, rank, shape),
                               cupel_emit_shape_text(b, dy->rank, dy->shape));
    cotangent = cupel_emit_reshape(b, cotangent, rank, shape);
    /* a zero's sign depends on how a kernel sums, even over one row: none is judged (EXCLUDE takes it away)
     */
    return cupel_emit_exclude(b, cupel_gradient_of(b, value, wrt, cotangent), cupel_emit_truth(b, false));
}
