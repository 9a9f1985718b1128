/* Reverse mode: the graph of a gradient, emitted into the builder that holds the graph of the value. */
#ifndef CUPEL_GRADIENT_H
#define CUPEL_GRADIENT_H

#include "graph_emit.h"

/* The vector-Jacobian product sum_j cotangent_j d output_j / d wrt_i, of the shape of wrt; cotangent has the
 * shape of output. A call of the language whose derivative PyTorch writes in closed form (softmax: y * (dy -
 * sum(y * dy))) takes that form; everything else goes primitive by primitive. A wrt that output does not
 * depend on gives zeros. -1 on errors, as the emitters: an op that has no derivative is named. */
int cupel_gradient_of(cupel_builder *b, int output, int wrt, int cotangent);

#endif
