/* The contract's own tolerance, where it states one: allowed sets by its figures instead of the derived
 * bounds. */
#ifndef CUPEL_TOLERANCE_H
#define CUPEL_TOLERANCE_H

#include "contract.h"
#include "oracle.h"

/* |result - value| <= abs + rel * |value|, ends rounded outward to the output's type. Elements that are not
 * judged, and the classes that are allowed, stay as they are. Without a tolerance for the output nothing
 * changes. */
void cupel_tolerance_apply(const cupel_contract *contract, cupel_allowed *allowed);
void cupel_tolerance_apply_exact(const cupel_contract *contract, const cupel_graph_output *output,
                                 cupel_exact_element *element);

#endif
