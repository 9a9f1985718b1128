/* Linear recurrences along an axis of time. */
#include "bounded.h"

cupel_code cupel_bounded_recurrence(cupel_bounded *b, int node) {
    return cupel_fail(b->err, CUPEL_UNSUPPORTED, "%s has no bound yet",
                      cupel_op_name(b->graph->nodes[node].op));
}
