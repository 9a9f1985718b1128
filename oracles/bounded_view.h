/* Views that are read where their argument lies, a block at a time, instead of being written out. Private to
 * the files bounded*.c. */
#ifndef CUPEL_BOUNDED_VIEW_H
#define CUPEL_BOUNDED_VIEW_H

#include "bounded.h"

/* Room for a block's elements. */
typedef struct cupel_view_block {
    cupel_tensor t;
    double numbers[7][CUPEL_BOUNDED_BLOCK];
    uint8_t classes[CUPEL_BOUNDED_BLOCK], reasons[CUPEL_BOUNDED_BLOCK];
} cupel_view_block;

/* May an elementwise operation read this node (a VIEW or RESHAPE) without its being written? Its argument's
 * extents then stand for its own, so it must hold all of it. */
bool cupel_view_is_readable(const cupel_graph *graph, int node);

/* Elements begin .. begin + n - 1 of a node, n at most CUPEL_BOUNDED_BLOCK: *at .. *at + n - 1 of the result,
 * which is the node's own tensor or the block, filled in. */
const cupel_tensor *cupel_view_fetch(const cupel_bounded *b, int node, int64_t begin, int64_t n,
                                     cupel_view_block *block, int64_t *at);

#endif
