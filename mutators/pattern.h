/* The arithmetic of value patterns, apart from where the random words come from. */
#ifndef CUPEL_PATTERN_H
#define CUPEL_PATTERN_H

#include "recipe_impl.h"

/* The quantile function of the standard normal distribution for 64 random bits; plain arithmetic only, so
 * that it gives the same double on every machine. P. J. Acklam's rational approximation, relative error
 * below 1.2e-9. */
double cupel_normal_from(uint64_t word);

/* Uniform in [0, 1), 53 bits. */
static inline double cupel_unit_from(uint64_t word) {
    return (double)(word >> 11) * 0x1p-53;
}

/* Uniform in 0..n-1 for n up to 2^32; the bias is below n * 2^-32. */
static inline uint64_t cupel_pick_from(uint64_t word, uint64_t n) {
    return (word >> 32) * n >> 32;
}

/* 2^exponent, also below the normal numbers. */
double cupel_power_of_two(int exponent);

#endif
