/* Drawing, mutation and crossover of recipes. All results are legal (cupel_recipe_repair). Each mutator is a
 * short pure function of (recipe, random); they stand in one table with name, need and weight. */
#ifndef CUPEL_MUTATE_H
#define CUPEL_MUTATE_H

#include "dictionary.h"
#include "recipe.h"

/* max_elements: of all tensors together; 0: 65,536. Up to that default small cases are favoured (a mean of
 * some 2,000 elements); a larger limit asks for large cases, spread evenly up to it. A draw at the ordinary
 * shape may pass the limit, seldom. */
typedef struct cupel_limits {
    int64_t max_elements;
    const cupel_dictionary *dictionary; /* may be NULL; the undirected draw does not look at it */
} cupel_limits;

/* A fresh recipe, weighted over patterns and boundary shapes: the undirected baseline and the start of every
 * search. The n-th draw of a campaign depends on its seed and on n alone. */
CUPEL_MUST_USE cupel_code cupel_recipe_draw(const cupel_contract *contract, const cupel_limits *limits,
                                            uint64_t seed, uint64_t n, cupel_recipe *out, cupel_error *err);

/* A fresh recipe that leans on limits->dictionary: each dim, param and input has some chance to be set by it,
 * the rest is drawn as by cupel_recipe_draw. Without a dictionary, or with an empty one, just a fresh draw.
 */
CUPEL_MUST_USE cupel_code cupel_recipe_draw_directed(const cupel_contract *contract,
                                                     const cupel_limits *limits, cupel_random *random,
                                                     cupel_recipe *out, cupel_error *err);

/* Changes one to a few fields. With a dictionary in limits, its words and numbers are among the changes.
 * *mutator gets the name of the last one applied (static string), may be NULL.
 */
CUPEL_MUST_USE cupel_code cupel_recipe_mutate(const cupel_contract *contract, const cupel_limits *limits,
                                              cupel_random *random, cupel_recipe *recipe,
                                              const char **mutator, cupel_error *err);

CUPEL_MUST_USE cupel_code cupel_recipe_crossover(const cupel_contract *contract, const cupel_limits *limits,
                                                 cupel_random *random, const cupel_recipe *a,
                                                 const cupel_recipe *b, cupel_recipe *out, cupel_error *err);

#endif
