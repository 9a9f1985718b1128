/* What holds of all elements of a node of two operands (bounded_binary.c). */
#ifndef CUPEL_BOUNDED_BINARY_NODE_H
#define CUPEL_BOUNDED_BINARY_NODE_H

#include "bounded.h"

typedef struct cupel_binary_chain {
    double underflow; /* what an operation may lose at the bottom of the range */
    bool inexact;     /* some order of the chain may underflow: no result is exact */
    bool each;        /* elements must keep their own extents for the next of the chain */
} cupel_binary_chain;

/* Sets the node-wide extents of a product or quotient. *chain: with the underflow of a lone operation before.
 * False when some legal order may leave the range, or lose more than a little at its bottom: then the loops
 * cannot run. */
bool cupel_binary_plan_chain(cupel_bounded *b, int node, cupel_tensor *x, cupel_tensor *y,
                             cupel_binary_chain *chain);

/* Extents of n elements of a product or quotient, into `out` from `begin` on. */
void cupel_binary_keep_chain(cupel_tensor *out, int64_t begin, const cupel_tensor *x, int64_t at_x,
                             const cupel_tensor *y, int64_t at_y, int64_t n, bool division);

/* Terms, bounds and what else holds for the whole node, from a representative element. */
void cupel_binary_take_attributes(cupel_bounded *b, int node, const cupel_tensor *x, const cupel_tensor *y);

#endif
