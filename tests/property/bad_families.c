#include "bad_kernels.h"

const property_family *const bad_families[] = {
    &bad_pointwise, &bad_binary, &bad_reduction, &bad_rows,     &bad_loss,
    &bad_shape,     &bad_order,  &bad_window,    &bad_gradient, &bad_backward,
};
const int bad_family_count = sizeof bad_families / sizeof *bad_families;
