/* Integer expressions of other people's code, read off its tokens: what `cupel init` learns of indices,
 * bounds and launches. Casts vanish; what is not understood becomes a node of its own and is never guessed
 * at. Trees live in an arena and are not changed. */
#ifndef CUPEL_INIT_EXPRESSION_H
#define CUPEL_INIT_EXPRESSION_H

#include "lexer.h"

enum { CUPEL_INIT_CHILD_MAX = 4 };

typedef struct cupel_init_tree cupel_init_tree;
struct cupel_init_tree {
    char op; /* '#' number, 'n' name, 'c' call, '+' '-' '*' '/' '%', '<' and '>' shifts, '?' unknown */
    const char *name; /* names (members too: "blockIdx.x") and calls (without scopes) */
    int64_t value;    /* numbers; 1 in a name that is not to be replaced */
    int count;
    const cupel_init_tree *child[CUPEL_INIT_CHILD_MAX];
};

/* The tree of tokens begin..end-1; never NULL: '?' for what cannot be read and when out of memory. */
const cupel_init_tree *cupel_init_tree_read(const cupel_tokens *tokens, size_t begin, size_t end,
                                            cupel_arena *arena);

const cupel_init_tree *cupel_init_tree_number(int64_t value, cupel_arena *arena);
const cupel_init_tree *cupel_init_tree_name(const char *name, cupel_arena *arena);
const cupel_init_tree *cupel_init_tree_pair(char op, const cupel_init_tree *left,
                                            const cupel_init_tree *right, cupel_arena *arena);

/* What a name stands for; NULL leaves it alone. */
typedef const cupel_init_tree *(*cupel_init_lookup)(const void *self, const char *name);

/* tree with its names replaced, constants folded, and (a + b - 1) / b, spelt out or as a function named like
 * it, written as ceil_div(a, b). Replacements are replaced in turn, 16 levels deep at most. */
const cupel_init_tree *cupel_init_tree_resolve(const cupel_init_tree *tree, cupel_init_lookup lookup,
                                               const void *self, cupel_arena *arena);

/* As a contract writes it; "?" where a part is unknown. */
const char *cupel_init_tree_text(const cupel_init_tree *tree, cupel_arena *arena);

bool cupel_init_tree_equal(const cupel_init_tree *a, const cupel_init_tree *b);

/* Does a contract have a meaning for all of it: numbers, names without members, ceil_div, min, max? */
bool cupel_init_tree_known(const cupel_init_tree *tree);

/* Calls visit for every name; false from it ends the walk, and is returned. */
bool cupel_init_tree_names(const cupel_init_tree *tree, bool (*visit)(void *self, const char *name),
                           void *self);

/* A type's word such as int, size_t or float: casts and declarations are told by them. */
bool cupel_init_is_type_word(const cupel_tokens *tokens, size_t i);

#endif
