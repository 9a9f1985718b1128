/* The words of the people's form, shared by writer and reader. */
#ifndef CUPEL_RECIPE_YAML_H
#define CUPEL_RECIPE_YAML_H

#include "recipe_impl.h"

/* Keys of a case and of a tensor, in the order in which they are written. */
/* clang-format off */
#define CUPEL_CASE_KEYS(X)                                                                                    \
    X(VERSION, "cupel-case")                                                                                  \
    X(CONTRACT, "contract")                                                                                   \
    X(DIMS, "dims")                                                                                           \
    X(TYPES, "types")                                                                                         \
    X(PARAMS, "params")                                                                                       \
    X(TENSORS, "tensors")                                                                                     \
    X(ALIASES, "aliases")                                                                                     \
    X(SCHEDULE, "schedule")                                                                                   \
    X(HISTORY, "history")                                                                                     \
    X(PERMUTATION, "permutation")                                                                             \
    X(POISON, "poison")

#define CUPEL_TENSOR_KEYS(X)                                                                                  \
    X(PATTERN, "pattern")                                                                                     \
    X(SEED, "seed")                                                                                           \
    X(AMPLITUDE, "amplitude")                                                                                 \
    X(CENTRE, "centre")                                                                                       \
    X(SPECIAL, "special")                                                                                     \
    X(PLACE, "place")                                                                                         \
    X(SPECIAL_SEED, "special_seed")                                                                           \
    X(ORDER, "order")                                                                                         \
    X(GAP, "gap")                                                                                             \
    X(STEP, "step")                                                                                           \
    X(REVERSED, "reversed")                                                                                   \
    X(EXPANDED, "expanded")                                                                                   \
    X(OFFSET, "offset")                                                                                       \
    X(EDITS, "edits")
/* clang-format on */

#define CUPEL_YAML_ENUM(name, text) CUPEL_KEY_##name,
#define CUPEL_YAML_TEXT(name, text) text,
typedef enum cupel_case_key { CUPEL_CASE_KEYS(CUPEL_YAML_ENUM) CUPEL_CASE_KEY_COUNT } cupel_case_key;
typedef enum cupel_tensor_key { CUPEL_TENSOR_KEYS(CUPEL_YAML_ENUM) CUPEL_TENSOR_KEY_COUNT } cupel_tensor_key;

#endif
