/* Adding at positions. */
#include "bounded.h"

cupel_code cupel_bounded_scatter(cupel_bounded *b, int node) {
    return cupel_fail(b->err, CUPEL_UNSUPPORTED, "%s has no bound yet",
                      cupel_op_name(b->graph->nodes[node].op));
}
