/* Patterns of 64-bit integers that doubles cannot carry. */
#ifndef CUPEL_WIDE_H
#define CUPEL_WIDE_H

#include "pattern.h"

/* Writes n elements of a row where the tensor is i64 or u64 and the pattern has values beyond 2^53: random
 * bits, or (near_overflow) the ends of the type, of 2^53 and of 32 bits, which the seed's two low bits
 * choose. Values keep to the declared range. False: the pattern's doubles say it all. */
bool cupel_wide_row(const cupel_values *values, uint64_t row_key, int64_t n, unsigned char *out);

#endif
