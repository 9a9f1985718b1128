/* Kernels with one fault each. A row is a property_operator whose name tells the fault; each table stands in
 * a file bad_NAME.c. */
#ifndef CUPEL_BAD_KERNELS_H
#define CUPEL_BAD_KERNELS_H

#include "good_kernels.h"

extern const property_family bad_pointwise, bad_binary, bad_reduction, bad_rows, bad_loss, bad_shape,
    bad_order, bad_window, bad_gradient, bad_backward;
extern const property_family *const bad_families[];
extern const int bad_family_count;

/* The result of an operation done in half precision. */
static inline float bad_half(double x) {
    return (float)cupel_round(CUPEL_F16, x);
}

#endif
