/* The walk through a postcondition at one element: each sub-expression with its exact value, in order of
 * evaluation. */
#ifndef CUPEL_EXPLAIN_WALK_H
#define CUPEL_EXPLAIN_WALK_H

#include <stdio.h>

#include "trial.h"

/* Prints the walk to element index of an output of the trial's graph. The trial must have a case and a graph.
 */
CUPEL_MUST_USE cupel_code cupel_explain_walk(const cupel_trial *trial, int output, int64_t index, FILE *out,
                                             cupel_error *err);

#endif
