/* + - * / beside sums: terms that join a sum, factors that may go inside. Private to the files bounded*.c. */
#ifndef CUPEL_BOUNDED_JOINED_H
#define CUPEL_BOUNDED_JOINED_H

#include "bounded.h"

/* Elements begin .. begin + n - 1 of node, n at most CUPEL_BOUNDED_BLOCK, from plain elements of x and y
 * (from at_x and at_y on), one of which is a sum: value, radius and all that is kept, as cupel_ball_add,
 * cupel_ball_multiply and cupel_ball_divide have them. False: by the rules. */
bool cupel_joined_block(const cupel_bounded *b, int node, const cupel_tensor *x, int64_t at_x,
                        const cupel_tensor *y, int64_t at_y, int64_t begin, int64_t n);

#endif
