/* The search for legal shapes, shared by loading and checking. */
#ifndef CUPEL_BINDING_SEARCH_H
#define CUPEL_BINDING_SEARCH_H

#include "contract.h"

/* The claimed value of a dim that is nearest to a wanted one. */
int64_t cupel_dim_nearest(const cupel_dim *dim, int64_t wanted);

/* The largest power of two that is claimed, at most 1,024; where there is none, the claimed value nearest to
 * the largest power of two below the range's upper end. */
int64_t cupel_dim_ordinary(const cupel_dim *dim);

/* Finds the legal dims nearest to centre (smallest sum of distances), types and params as in *out.
 * Deterministic. The search has a budget: within it every shape near the centre is tried in order of
 * distance; beyond it likely shapes are tried, and the result may not be the nearest. False when nothing was
 * found. */
bool cupel_binding_nearest(const cupel_contract *contract, const int64_t *centre, cupel_binding *out);

/* Fails where a condition has no value (a division by zero, say), which is no answer. */
CUPEL_MUST_USE cupel_code cupel_binding_conditions(const cupel_binding *binding, cupel_error *err);

/* The dims of the ordinary shape. Errors: no shape satisfies the conditions; a let has no value. */
CUPEL_MUST_USE cupel_code cupel_binding_find_ordinary(const cupel_contract *contract,
                                                      int64_t dims[CUPEL_DIM_MAX], cupel_error *err);

#endif
