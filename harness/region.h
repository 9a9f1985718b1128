/* Words for where a defect shows: "fails only when N % 97 == 7 and N >= 201; any values". */
#ifndef CUPEL_REGION_H
#define CUPEL_REGION_H

#include "shrink.h"

/* Tries other shapes near the minimal one, one dim after the other, and says what the failing ones have in
 * common:
 *
 *   fails only when ..            any values: zeros, constants, integers, uniform and normal ones fail alike
 * at the minimal shape, and at samples of failing shapes; none of them at samples of shapes that hold with
 * values drawn at random   only those, or the minimal case's own, are known to fail or to hold with values
 * like these at M = 4 ..                   how the other dims matter was not learnt fails at N = 5, 6, 19, ..
 * no rule fits: what was seen
 *
 * smaller_tried: all smaller values of each dim are known not to fail. text is empty when the budget allowed
 * nothing. */
void cupel_region_sweep(cupel_shrink *shrink, bool smaller_tried, char *text, size_t size);

/* Do such words tell of shapes or variants with which the case does not fail? */
bool cupel_region_is_bounded(const char *words);

/* Appends in which variants the minimal case fails and in which it does not, as far as that was tried:
 * "; fails with BLOCK = 96, not with 64, 128". Nothing for contracts without variants. */
void cupel_region_variants(cupel_shrink *shrink, char *text, size_t size);

#endif
