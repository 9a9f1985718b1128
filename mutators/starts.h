/* Starting recipes by operator family: what breaks kernels of a kind, tried before anything is drawn. The
 * families are files under seeds/starts, embedded into the library; docs and format: seeds/starts/README.md.
 */
#ifndef CUPEL_STARTS_H
#define CUPEL_STARTS_H

#include "mutate.h"

enum { CUPEL_STARTS_MAX = 48 };

/* The starts of the families whose functions the contract's expressions call: legal, small, no two alike, at
 * most CUPEL_STARTS_MAX, the same ones each time, in the order in which they should be tried. *recipes lives
 * in arena. A contract of no known family gets the general starts alone. */
CUPEL_MUST_USE cupel_code cupel_starts_for(const cupel_contract *contract, const cupel_limits *limits,
                                           cupel_arena *arena, int *count, cupel_recipe **recipes,
                                           cupel_error *err);

#endif
