/* The evidence radius: how far from the exact value correct kernels really are on this very input, with room.
 * What lies inside the sound radius and beyond this one is unusual, not impossible. */
#ifndef CUPEL_GOOD_RADIUS_H
#define CUPEL_GOOD_RADIUS_H

#include "shadow.h"

/* Can an output have an evidence radius at all? Only where the working precision's roundings move it
 * continuously: no comparison, rounding or position depends on a rounded value (a kernel that falls on the
 * other side is as right as the shadows); and neither flushing nor double precision is claimed. */
bool cupel_good_radius_applies(const cupel_graph *graph, const cupel_rules *rules, int output);

/* Are all inputs finite and neither tiny nor huge? Elsewhere a kernel that takes a product's factors in
 * another order may lose what no shadow loses. */
bool cupel_good_radius_tame(const cupel_graph *graph, const cupel_bindings *bindings);

/* Per output an array of allowed[o].count radii in arena; NULL where it does not apply. Infinite where an
 * element is not judged or has no finite sound radius, and where a good shadow is not finite. Never above the
 * sound radius plus two ulps of the output type. allowed: the bounded or exact oracle's answer. Runs some
 * fifteen shadows. */
CUPEL_MUST_USE cupel_code cupel_good_radius_find(const cupel_graph *graph, const cupel_bindings *bindings,
                                                 const cupel_rules *rules, const cupel_allowed *allowed,
                                                 cupel_arena *arena, double **radii, cupel_error *err);

#endif
