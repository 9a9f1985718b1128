/* Integer constants of a source text by name (#define, const, constexpr, enum, defaults of template
 * parameters) and the value of simple expressions of them. No scopes: of several definitions of a name the
 * last before its use counts, or the first where none stands before. Of many thousands the rest is not
 * looked at. */
#ifndef CUPEL_CONSTANTS_H
#define CUPEL_CONSTANTS_H

#include "structure.h"

typedef struct cupel_constant {
    const char *name; /* name_length bytes */
    size_t name_length;
    const cupel_tokens *tokens; /* that its expression stands in: from begin, before end */
    size_t begin, end;
    int64_t added; /* to the expression's value; enumerators without one count on from their neighbour's */
    size_t place;  /* of the definition in the text */
} cupel_constant;

typedef struct cupel_constants {
    size_t count, capacity;
    cupel_constant *at; /* by place */
    cupel_arena *arena;
} cupel_constants;

/* Collects what is defined in a text. The replacement texts of #define lines get tokens of their own. */
CUPEL_MUST_USE cupel_code cupel_constants_collect(const cupel_structure *structure, cupel_arena *arena,
                                                  cupel_constants *out, cupel_error *err);

/* The constant that a word at a place in the text means, or NULL. */
const cupel_constant *cupel_constants_find(const cupel_constants *constants, const char *name, size_t length,
                                           size_t place);

/* An operator of integer arithmetic at token i, by rank (* 6, + 5, << 4, & 3, ^ 2, | 1; 0: none, which takes
 * in compound assignments) and its length in tokens. */
int cupel_constants_operator(const cupel_tokens *tokens, size_t i, size_t *length);

/* Evaluates the longest constant expression at token *i before end, of operators of at least `rank`, as it
 * would be at a place in the text; *i then stands past it. False when there is none, or it overflows. */
bool cupel_constants_evaluate(const cupel_constants *constants, const cupel_tokens *tokens, size_t *i,
                              size_t end, int rank, size_t place, int64_t *value);

/* The value of an integer literal with its suffixes and digit separators; false for others. */
bool cupel_constants_integer(const char *text, size_t length, int64_t *value);

#endif
