/* Reproduction files: one file that a compiler takes and that shows a failure without cupel. */
#ifndef CUPEL_REPRO_H
#define CUPEL_REPRO_H

#include "bundle.h"

/* The text for a bundle, and its name: repro.cu, or repro.c or repro.cpp for a function of the host. Both
 * live in arena. Errors: those of reading the candidate's source; RANGE where the case is too large to be
 * embedded. */
CUPEL_MUST_USE cupel_code cupel_repro_write(const cupel_bundle *bundle, cupel_arena *arena, char **text,
                                            const char **name, cupel_error *err);

#endif
