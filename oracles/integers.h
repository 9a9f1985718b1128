/* Widths of integers: the type in which an integer operation of the postcondition is carried out. PyTorch and
 * C agree on results that fit it; what leaves it wraps, saturates or is undefined, and is not judged. */
#ifndef CUPEL_INTEGERS_H
#define CUPEL_INTEGERS_H

#include "graph.h"

/* As the number that pads integers: the least one of their type, which cupel_width_mark puts there. */
#define CUPEL_PAD_LEAST (-0x1p63)

/* CUPEL_DTYPE_COUNT as a width: a literal or a boolean, which has none of its own. */

/* Writes `width` of every integer node, and of comparisons that of their operands. The rules are PyTorch's
 * promotion of tensors, literals joining them, with these departures where C's own rules give another result:
 * - sum, prod and the cumulative ones are 64-bit, unsigned for u64; positions and counters are i64;
 * - a matrix product of types below 32 bits accumulates in i32, as hardware and torch._int_mm do;
 * - a shift has the width of what is shifted;
 * - u32 with i32 or narrower is u32 (C) though NumPy makes it i64, u64 with a signed type is u64: where that
 *   would show, cupel_width_excludes leaves the element open. */
void cupel_width_mark(cupel_graph *graph);

/* Does every integer in [lo, hi] fit the width? Doubles: at the ends of 64-bit types rounded against it. */
bool cupel_width_holds(cupel_dtype width, double lo, double hi);

/* Is the result of op in this width open for operands of these least values (a shift: of this largest
 * amount)? A negative operand of an unsigned division, comparison, extremum or right shift; a shift by the
 * width or more. */
bool cupel_width_excludes(cupel_op op, cupel_dtype width, double least_a, double least_b, double most_b);

/* ~x in the width; of u64 not exact, and as large as to say so. */
double cupel_bitnot(cupel_dtype width, double x);

#endif
