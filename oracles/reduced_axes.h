/* Which axes of the inputs are wholly reduced: along which all inputs that share them can be permuted without
 * changing what the graph's outputs are. */
#ifndef CUPEL_REDUCED_AXES_H
#define CUPEL_REDUCED_AXES_H

#include "graph.h"

enum { CUPEL_REDUCED_INPUTS_MAX = 32 };

typedef struct cupel_reduced_axes {
    int group_count;
    /* By input of the graph and axis: axes of one group are permuted together (both operands of a
     * contraction, a row and its weights); -1: not wholly reduced, or shorter than two elements. */
    int group[CUPEL_REDUCED_INPUTS_MAX][CUPEL_RANK_MAX];
    int64_t extent[CUPEL_REDUCED_INPUTS_MAX * CUPEL_RANK_MAX]; /* of each group */
} cupel_reduced_axes;

/* Follows every axis from the inputs to the outputs. An axis counts only if it is known of every operation on
 * the way that it treats all positions alike, and if some reduction that knows no order ends it: sum,
 * product, maximum, minimum, contraction, the values of a sort, the entries of a scatter. False: no memory,
 * or more inputs than there is room for. */
bool cupel_reduced_axes_find(const cupel_graph *graph, cupel_reduced_axes *out);

#endif
