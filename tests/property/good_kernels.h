/* Parts that good kernels of several families share. */
#ifndef CUPEL_GOOD_KERNELS_H
#define CUPEL_GOOD_KERNELS_H

#include <math.h>

#include "property.h"

/* Element i of row `row`, n a row, of input `index`, as a kernel loads it; of an input of one row's shape,
 * its element i. */
float good_at(const property_problem *p, int index, int64_t row, int64_t i);
/* A whole row. */
void good_row(const property_problem *p, int index, int64_t row, float *out);

/* The largest, NaN if there is one. */
float good_max(const float *x, int64_t n);

/* Forms of exp, quotients, roots and logarithms that the rules of the problem allow, at random. */
float good_exp(property_problem *p, float x);
float good_divide(property_problem *p, float x, float y);
float good_rsqrt(property_problem *p, float x);
float good_log(property_problem *p, float x);
float good_sqrt(property_problem *p, float x);

/* A sum in the order that `form` chooses. */
float good_sum(property_problem *p, const float *x, int64_t n, int form);

/* Mean and sum of squared differences by two passes, Welford's recurrence, or Chan's merge of halves. */
typedef struct good_statistics {
    float mean, m2;
    int64_t n;
} good_statistics;
good_statistics good_statistics_of(property_problem *p, const float *x, int64_t n, int form);

/* Running maximum with rescaling, element by element; returns the sum of exp(x - *top). */
float good_online(property_problem *p, const float *x, int64_t n, float *top);

/* e[i] = exp(x[i] - top) and their sum, in many forms; the maximum in *top. */
void good_softmax_row(property_problem *p, const float *x, int64_t n, int form, float *e, float *sum,
                      float *top);

#endif
