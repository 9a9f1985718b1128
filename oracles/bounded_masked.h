/* Masked scores: blocks in which some elements are exactly -inf and all others plain. A softmax ignores the
 * first, -inf less its maximum stays -inf, and exp(-inf) is 0, so that loops need not leave such blocks to
 * the rules. Private to the files bounded*.c. */
#ifndef CUPEL_BOUNDED_MASKED_H
#define CUPEL_BOUNDED_MASKED_H

#include "bounded.h"

/* Are elements begin .. begin + n - 1 all judged, and either finite or -inf for every kernel? */
bool cupel_masked_holds(const cupel_tensor *t, int64_t begin, int64_t n);

/* A block of a masked tensor as the loops take it, with stand-ins for what is -inf. */
typedef struct cupel_masked {
    cupel_tensor t; /* elements 0 .. n - 1 */
    double value[CUPEL_BOUNDED_BLOCK], radius[CUPEL_BOUNDED_BLOCK], magnitude[CUPEL_BOUNDED_BLOCK];
} cupel_masked;

/* stand_in, stand_radius: one for each element. */
void cupel_masked_fill(cupel_masked *block, const cupel_tensor *from, int64_t begin, int64_t n,
                       const double *stand_in, const double *stand_radius);

/* In the results of elements at .. at + n - 1 of from, which are elements begin .. of t: value for every
 * -inf, known exactly, with the class of that value. */
CUPEL_MUST_USE cupel_code cupel_masked_restore(cupel_bounded *b, cupel_tensor *t, int64_t begin,
                                               const cupel_tensor *from, int64_t at, int64_t n, double value);

#endif
