/* Words for where a defect fails: "N % 97 == 7 and N >= 201". */
#ifndef CUPEL_REGION_H
#define CUPEL_REGION_H

#include "shrink.h"

/* What trying one value showed. */
typedef enum cupel_region_outcome {
    CUPEL_REGION_UNKNOWN,
    CUPEL_REGION_HOLDS,
    CUPEL_REGION_FAILS
} cupel_region_outcome;

/* Tries consecutive values of the dim that tells most, from its minimum up, then other values at the minimal
 * shape, and says what was seen: "fails only when .." where several kinds of values agree on it, else "with
 * values like these fails when ..". smaller_tried: all smaller values of each dim are known not to fail. text
 * is empty when the budget allowed nothing. */
void cupel_region_sweep(cupel_shrink *shrink, bool smaller_tried, char *text, size_t size);

/* What the failing values among first + i, i < count, have in common; outcomes[0] is FAILS. Values that the
 * contract does not claim are UNKNOWN and fit anything. name is the dim's. */
void cupel_region_describe(const char *name, int64_t first, const cupel_region_outcome *outcomes, int count,
                           char *text, size_t size);

#endif
