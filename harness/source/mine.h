/* The dictionary of a kernel: the numbers that its own device code compares with, divides by, takes
 * remainders of and sizes its tiles with. */
#ifndef CUPEL_MINE_H
#define CUPEL_MINE_H

#include "dictionary.h"
#include "source.h"

/* Numbers out of the device code of a .cu file (host functions are left out, as everywhere in this layer) or
 * out of all code of a .c file. Words: integer literals, and #define, constexpr, const and enum constants,
 * also as parts of simple arithmetic (4 * WARP); 0, 1, other numbers that are everywhere, and values beyond
 * 2^40 are left out. Each value stands once under its strongest role (a modulus once for each residue);
 * moduli, compared, sizes and then plain words, each in order of the text, as many as there is room for.
 * Numbers: finite floating-point literals but 0, 1 and their like, without signs, compared ones first. out
 * borrows nothing; arena holds what was read. Errors: those of cupel_source_load; *out is then empty. */
CUPEL_MUST_USE cupel_code cupel_dictionary_mine(const char *path, const cupel_source_options *options,
                                                cupel_arena *arena, cupel_dictionary *out, cupel_error *err);

#endif
