/* One text out of a file and the author's own headers: each include of a header that is found becomes its
 * content, between #line directives; includes of our list stay; all others become empty lines. */
#ifndef CUPEL_INCLUDES_H
#define CUPEL_INCLUDES_H

#include "lexer.h"
#include "source.h"

/* Whether a header is one that we provide (CUDA) or let through (the C++ standard library's small ones). */
bool cupel_includes_known(const char *name);

/* The assembled text, terminated, in arena; and the names of the author's own headers ("") that were not
 * found, each once, quoted and separated by commas. Errors: IO when the file, or a header that was found,
 * cannot be read; USAGE when an include folder does not exist. */
CUPEL_MUST_USE cupel_code cupel_includes_assemble(const char *path, const cupel_source_options *options,
                                                  cupel_arena *arena, char **text, size_t *length,
                                                  const char **missing, int *missing_count, cupel_error *err);

#endif
