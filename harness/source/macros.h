/* The author's macros, as far as the source step must know them: which carry a CUDA qualifier, which hide a
 * statement or inline assembly. A name defined more than once has the traits of all its definitions. */
#ifndef CUPEL_MACROS_H
#define CUPEL_MACROS_H

#include "structure.h"

typedef enum cupel_trait {
    CUPEL_TRAIT_GLOBAL = 1 << 0,
    CUPEL_TRAIT_DEVICE = 1 << 1,
    CUPEL_TRAIT_HOST = 1 << 2,
    CUPEL_TRAIT_CONSTEXPR = 1 << 3,
    CUPEL_TRAIT_DEVICE_VARIABLE = 1 << 4, /* __constant__, __shared__, __managed__ */
    CUPEL_TRAIT_STATEMENT = 1 << 5,       /* holds ; or { */
    CUPEL_TRAIT_FUNCTION_LIKE = 1 << 6,
    CUPEL_TRAIT_CONST = 1 << 7
} cupel_trait;

typedef struct cupel_macro {
    const char *name;
    size_t directive; /* token of (one of) its #define */
    unsigned traits;
} cupel_macro;

typedef struct cupel_macros {
    size_t count;
    cupel_macro *at; /* sorted by name */
} cupel_macros;

/* Collects the #define lines of all branches. */
CUPEL_MUST_USE cupel_code cupel_macros_collect(const cupel_structure *structure, cupel_arena *arena,
                                               cupel_macros *out, cupel_error *err);

/* The macro of that name (length bytes), or NULL. */
const cupel_macro *cupel_macros_find(const cupel_macros *macros, const char *name, size_t length);

/* What a word means by itself: a CUDA qualifier, constexpr, or the traits of the macro of that name; 0 for
 * other words. */
unsigned cupel_macros_traits(const cupel_macros *macros, const char *word, size_t length);

/* The replacement text of a #define directive: its offset in the text. *name_length gets the length of the
 * name at *name. */
size_t cupel_macros_body(const cupel_tokens *tokens, size_t directive, size_t *name, size_t *name_length,
                         bool *function_like);

#endif
