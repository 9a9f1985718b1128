/* Which tokens count when brackets are matched. A file holds every branch of its conditionals at once;
 * brackets balance only along one. Tokens of branches that are never compiled are dead; those of #else and
 * #elif branches are alternatives, at their depth. */
#ifndef CUPEL_STRUCTURE_H
#define CUPEL_STRUCTURE_H

#include "lexer.h"

enum { CUPEL_STRUCTURE_DEAD = 255 };

typedef struct cupel_structure {
    cupel_tokens tokens;
    uint8_t *depth; /* per token: number of alternative branches around it, or DEAD */
} cupel_structure;

CUPEL_MUST_USE cupel_code cupel_structure_build(const cupel_tokens *tokens, cupel_arena *arena,
                                                cupel_structure *out, cupel_error *err);

/* Whether token i takes no part in a declaration that began at depth. */
bool cupel_structure_hidden(const cupel_structure *structure, size_t i, uint8_t depth);

/* The first token from i on, before limit, that is not hidden; limit when there is none. */
size_t cupel_structure_next(const cupel_structure *structure, size_t i, size_t limit, uint8_t depth);

/* Index just past the bracket that closes the one at i: ( [ {; limit when it is not closed before. */
size_t cupel_structure_close(const cupel_structure *structure, size_t i, size_t limit, uint8_t depth);

/* Index just past the > that closes the < at i, for template parameter lists; i + 1 when there is none before
 * limit. */
size_t cupel_structure_close_angle(const cupel_structure *structure, size_t i, size_t limit, uint8_t depth);

bool cupel_structure_is(const cupel_structure *structure, size_t i, const char *word);

#endif
