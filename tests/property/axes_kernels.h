/* Convolutions of one to three axes and windows of pools, element by element, for good and for faulty
 * kernels. */
#ifndef CUPEL_AXES_KERNELS_H
#define CUPEL_AXES_KERNELS_H

#include "good_kernels.h"

enum { AXES_TERMS = 256 };

/* x [2, size..], and with a filter w [2, 2, kernel..] (kernel 3 and padding 1 along one axis, else 2 and 0)
 * and b [2]; the output's shape. */
void axes_inputs(property_problem *p, int axes, bool transposed, bool filter);

/* The terms left * right of result element e, whose channel is *out: a convolution reads place + t - padding,
 * its transpose place - t + padding. Padding is left out, or a zero where `all`. flipped: the faulty kernel
 * reads its filter backwards. */
int64_t axes_terms(const property_problem *p, int64_t e, bool transposed, bool flipped, bool all,
                   int64_t *out, float *left, float *right);

/* The elements of a pool's window (2 along every axis, stride 1) of result element e. */
int64_t axes_pooled(const property_problem *p, int64_t e, float *terms);

#endif
