/* Inclusive scans along an axis. */
#include "function_table.h"

static int scan(cupel_builder *b, const cupel_call *call, cupel_op op) {
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    int axis = cupel_call_axis(b, call, 1, b->nodes[x].rank, -1);
    return cupel_emit_scan(b, op, x, axis);
}

int cupel_compose_cumsum(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMSUM);
}
int cupel_compose_cumprod(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMPROD);
}
int cupel_compose_cummax(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMMAX);
}
int cupel_compose_cummin(cupel_builder *b, const cupel_call *call) {
    return scan(b, call, CUPEL_OP_CUMMIN);
}
