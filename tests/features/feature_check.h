/* Inputs of features, and the comparison of what they write. */
#ifndef FEATURE_CHECK_H
#define FEATURE_CHECK_H

#include "feature.h"

typedef struct feature_result {
    int64_t compared, wrong;
    double worst;   /* of real results: the largest distance over the allowed one */
    char text[256]; /* the first wrong word */
} feature_result;

/* Words of every kind: random bits, small integers, numbers at the edges of float, ordinary floats, both
 * halves of doubles of ordinary size. A pure function of set and place. */
void feature_fill(uint32_t *x, size_t count, unsigned set);

/* Compares one launch; adds to result. want has room for what the launch writes and is cleared. */
void feature_check(const feature *f, const feature_launch *l, const uint32_t *x, const uint32_t *got,
                   uint32_t *want, feature_result *result);

#endif
