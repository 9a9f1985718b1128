/* Linear recurrences along an axis of time. */
#include "gradient_rules.h"

void cupel_gradient_recurrence(cupel_sweep *s, int node, int dy) {
    (void)dy;
    cupel_sweep_refuse(s, node);
}
