/* What a search has seen: cells of traits (pattern, type, shape class, special values, per tensor) and edges
 * of the candidate. */
#ifndef CUPEL_WORKER_FEATURES_H
#define CUPEL_WORKER_FEATURES_H

#include "materialise.h"
#include "worker_shared.h"

typedef struct cupel_features {
    uint8_t *bits;  /* CUPEL_FEATURE_BITS / 8 bytes, the caller's */
    uint8_t *edges; /* CUPEL_FEATURE_EDGES bytes, the caller's; edges beyond that share places */
} cupel_features;

/* Marks the case's cells; true when one is new. */
bool cupel_features_of_case(cupel_features *features, const cupel_case *c);
/* Marks covered edges; true when one is new. coverage may be NULL. */
bool cupel_features_of_coverage(cupel_features *features, const uint8_t *coverage, size_t count);

#endif
