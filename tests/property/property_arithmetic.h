/* Single-precision arithmetic as kernels do it: sums in many orders, the hardware's approximations as far off
 * as published. */
#ifndef CUPEL_PROPERTY_ARITHMETIC_H
#define CUPEL_PROPERTY_ARITHMETIC_H

#include "philox.h"

/* n numbers' sum in one of several orders: forward, backward, pairwise, 8 to 256 lanes, Kahan's, a random
 * tree. */
enum { ORDER_COUNT = 10 };
float property_sum(const float *x, int64_t n, int order, cupel_random *random);

/* Up to so many steps away, at random. */
float property_nudge(float x, int steps, cupel_random *random);

/* An implementation's result for an exact one: off by up to so many ulps (spacings of single precision at the
 * exact result) plus `absolute`, and rounded; mostly as far as that. The sign stays unless `absolute` may
 * change it. */
float property_edge(double exact, double ulps, double absolute, cupel_random *random);

/* exp. Forms: 0 the library's, 1 ex2.approx(x * log2(e)), 2 the same one ulp off, 3 __expf at its published
 * maximum. */
enum { EXP_FORMS = 4 };
float property_exp(float x, int form, cupel_random *random);
/* Quotients. Forms: 0 correct, 1 x * (1 / y), 2 x times an approximate reciprocal, 3 __fdividef at its
 * published maximum; and 4, a division that rescales (div.full) and is as many ulps off where the quotient is
 * subnormal. */
enum { DIVIDE_FORMS = 4 };
float property_divide(float x, float y, int form, cupel_random *random);
/* 1 / sqrt. Forms: 0 correct root and quotient, 1 the approximation, 2 both root and quotient approximate. */
enum { RSQRT_FORMS = 3 };
float property_rsqrt(float x, int form, cupel_random *random);
/* log. Forms: 0 the library's, 1 lg2.approx(x) * log(2), 2 __logf at its published maximum. */
enum { LOG_FORMS = 3 };
float property_log(float x, int form, cupel_random *random);

#endif
