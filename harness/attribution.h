/* Attribution by necessity (DESIGN section 4): which traits of a failing recipe can be removed without
 * removing the failure. */
#ifndef CUPEL_ATTRIBUTION_H
#define CUPEL_ATTRIBUTION_H

#include "shrink.h"

/* The traits (CUPEL_TRAIT_*) of the shrink's best recipe that could not be removed. original is the recipe
 * that the minimiser started from: its values are offered too where the minimal ones have become too simple
 * to fail in another shape. A simpler recipe that fails with the same signature on the way becomes the best.
 * Only a trait whose removal was tried in all ways in vain is called necessary. */
int cupel_attribute(cupel_shrink *shrink, const cupel_recipe *original);

/* "the element type, the shape"; for 0 "nothing in particular", or, where the region's words tell of shapes
 * or variants that hold, "nothing but what the region says". region may be empty. */
void cupel_traits_describe(int traits, const char *region, char *text, size_t size);

#endif
