/* What a directed search tries: the starts, then undirected draws, then a mixture of draws, mutations and
 * crossovers. Everything here depends on the campaign's seed, the number of the case and the parents alone.
 */
#ifndef CUPEL_MIXTURE_H
#define CUPEL_MIXTURE_H

#include "front.h"

/* Draws behind the starts before anything is changed: defects that are common cost what they cost undirected.
 */
enum { CUPEL_MIXTURE_DRAWS = 256 };

/* The recipe of case n, given what the engine chose to change: that, or one from the front of the search.
 * other: NULL, or what it chose to cross parent with. */
CUPEL_MUST_USE cupel_code cupel_mixture_next(const cupel_search *search, uint64_t n,
                                             const cupel_encoded *parent, const cupel_encoded *other,
                                             cupel_front *front, cupel_recipe *out, cupel_error *err);

/* Is case n to be a crossover, where the engine offers one? */
bool cupel_mixture_crosses(const cupel_search *search, uint64_t n, const cupel_encoded *parent,
                           const cupel_encoded *other);

/* A seed for the engine's own choices, never 0; another one for each part of a campaign. */
unsigned cupel_mixture_seed(const cupel_search *search);

#endif
