/* Words for where a defect fails: "N % 97 == 7 and N >= 201". */
#ifndef CUPEL_REGION_H
#define CUPEL_REGION_H

#include "shrink.h"

/* Tries consecutive values above the minimum of the dim that the minimal case needs largest, then other
 * values at the minimal shape, and says what was seen. smaller_tried: all smaller values of each dim are
 * known not to fail. text is empty when the budget allowed nothing. */
void cupel_region_sweep(cupel_shrink *shrink, bool smaller_tried, char *text, size_t size);

/* What the failing values first + i (fails[i]), i < count, have in common; fails[0] is true. name is the
 * dim's. */
void cupel_region_describe(const char *name, int64_t first, const bool *fails, int count, char *text,
                           size_t size);

#endif
