/* A finding explained in words, for explain.md and for `cupel run`. */
#ifndef CUPEL_EXPLANATION_H
#define CUPEL_EXPLANATION_H

#include "bundle.h"

/* The text of explain.md for a bundle that will lie at path, in arena; NULL when out of memory. repro: a
 * sentence about the reproduction file, or NULL. */
char *cupel_explanation_write(const cupel_bundle *bundle, const char *path, const char *repro,
                              cupel_arena *arena);

#endif
