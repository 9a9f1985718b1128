/* How large intermediate results may be. Private to the graph's builder. */
#ifndef CUPEL_GRAPH_SIZE_H
#define CUPEL_GRAPH_SIZE_H

#include "graph_emit.h"

/* Refuses a finished graph of which a node that is written out holds more elements than the case's tensors
 * justify: UNSUPPORTED, with the place in the expression, so that a contract whose ordinary case needs it is
 * an error, and in a search that one case is left out. */
CUPEL_MUST_USE cupel_code cupel_graph_size_check(const cupel_graph *graph, const cupel_symbols *symbols,
                                                 cupel_arena *arena, cupel_error *err);

#endif
