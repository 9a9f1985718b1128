/* Trying the minimal case at other shapes, with values as apt to show the defect as its own. */
#ifndef CUPEL_REGION_PROBE_H
#define CUPEL_REGION_PROBE_H

#include "region_law.h"
#include "shrink.h"

/* What fills the inputs at another shape. */
typedef enum cupel_filling {
    CUPEL_FILLING_OWN,   /* the minimal case's values, single elements kept at their place and moved with the
                            end of their axis */
    CUPEL_FILLING_FRESH, /* of the minimal case's patterns, drawn anew */
    CUPEL_FILLING_ZERO,
    CUPEL_FILLING_CONSTANT,
    CUPEL_FILLING_INTEGERS,
    CUPEL_FILLING_UNIFORM,
    CUPEL_FILLING_NORMAL,
    CUPEL_FILLING_COUNT
} cupel_filling;

/* Does every filling fail at the minimal shape? */
bool cupel_probe_any_values(cupel_shrink *shrink);

/* The filling to try other shapes with; false when the values decide so much that none says anything about
 * the shape. *draws: how many draws that hold it takes to say that a shape holds. */
bool cupel_probe_choose(cupel_shrink *shrink, bool any_values, cupel_filling *filling, int *draws);

/* FAILS when one of the draws does, HOLDS when none; UNKNOWN when the contract does not claim the shape as it
 * is or the budget is used up. */
cupel_region_outcome cupel_probe_try(cupel_shrink *shrink, const cupel_recipe *shape, cupel_filling filling,
                                     int draws);

#endif
