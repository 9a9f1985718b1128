/* What a search has seen: cells of traits (pattern, type, shape class, special values, per tensor), edges of
 * the candidate by how often they were taken, and how close each output came to a finding. */
#ifndef CUPEL_WORKER_FEATURES_H
#define CUPEL_WORKER_FEATURES_H

#include "engine.h"
#include "gate.h"
#include "materialise.h"
#include "worker_shared.h"

/* All bytes are the caller's. */
typedef struct cupel_features {
    uint8_t *bits;      /* CUPEL_FEATURE_BITS / 8: cells by hash */
    uint8_t *edges;     /* CUPEL_FEATURE_EDGES: a bit a class of count; edges beyond that share places */
    uint8_t *closeness; /* CUPEL_CLOSENESS_ROWS: steps reached */
} cupel_features;

/* Marks what the case and its judgement show, and tells feedback: news, cells (coarser than those marked
 * here: without special values) and climbs. coverage and its count are in feedback already. */
void cupel_features_learn(cupel_features *features, const cupel_case *c, const cupel_judged *judged,
                          cupel_feedback *feedback);

/* The parts of it. Marks the case's cells; true when one is new. */
bool cupel_features_of_case(cupel_features *features, const cupel_case *c, cupel_feedback *feedback);
/* Marks covered edges; news of edges, and of other classes of their counts. coverage may be NULL. */
unsigned cupel_features_of_coverage(cupel_features *features, const uint8_t *coverage, size_t count);
/* Marks how close the case came, and tells feedback; true when it came closer than any before. */
bool cupel_features_of_closeness(cupel_features *features, const cupel_judged *judged,
                                 cupel_feedback *feedback);

/* How many there are: cells, classes of edges and steps together; edges seen at all. */
int64_t cupel_features_count(const cupel_features *features);
int64_t cupel_features_edges(const cupel_features *features);

#endif
