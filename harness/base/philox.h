/* Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3" (SC 2011). A value depends on (seed, stream, index) alone, so an element keeps its value
 * when a dimension shrinks. */
#ifndef CUPEL_PHILOX_H
#define CUPEL_PHILOX_H

#include <stdint.h>

/* Ten rounds over counter with key; the result lies in out. */
void cupel_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* 64 bits for (seed, stream, index). Streams keep uses apart: add new uses with new streams, so that old
 * seeds keep their meaning. */
uint64_t cupel_philox(uint64_t seed, uint32_t stream, uint64_t index);

/* A generator with state, for choices made in sequence (drawing and mutating recipes). */
typedef struct cupel_random {
    uint64_t seed;
    uint32_t stream;
    uint64_t next;
} cupel_random;

cupel_random cupel_random_start(uint64_t seed, uint32_t stream);
uint64_t cupel_random_u64(cupel_random *random);
/* Uniform in 0..bound-1, unbiased; bound >= 1. */
uint64_t cupel_random_below(cupel_random *random, uint64_t bound);
/* Uniform in [0, 1), 53 bits. */
double cupel_random_unit(cupel_random *random);

#endif
