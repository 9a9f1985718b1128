/* Convolutions and pools of two spatial axes as kernels compute them: random geometry, the terms of one
 * element, and a sum of them in many forms; with one fault where that is asked for. */
#ifndef CUPEL_WINDOW_KERNELS_H
#define CUPEL_WINDOW_KERNELS_H

#include "good_kernels.h"

typedef enum window_fault {
    WINDOW_RIGHT,
    WINDOW_PADDING_LATE,   /* padding off by one */
    WINDOW_CHANNEL_LOST,   /* the last input channel of every group left out */
    WINDOW_STRIDE_WRONG,   /* one too many along the last axis */
    WINDOW_HALO_CLAMPED,   /* padding reads the border's element */
    WINDOW_OPERANDS_COARSE /* rounded to 4 bits fewer than `products` */
} window_fault;

typedef struct window_shape {
    bool transposed;
    int64_t n, groups, in, out; /* channels of a group */
    int64_t size[2], kernel[2], stride[2], padding[2], dilation[2], extra[2], result[2];
    window_fault fault;
} window_shape;

/* Inputs x, w and b, the output's shape and the expression of a random convolution; under `products` one time
 * in two. The shape is left in p->own. */
void window_draw_conv(property_problem *p, bool transposed, bool bias);

/* The whole output. */
void window_conv(property_problem *p, int form, double *results);

/* An operand as a product takes it under `products`: as given, truncated, rounded, rounded with ties away
 * (how 0 to 3); `coarser` bits fewer. */
float window_narrowed(const property_problem *p, float x, int how, int coarser);

enum { WINDOW_CONV_FORMS = 720 };

#endif
