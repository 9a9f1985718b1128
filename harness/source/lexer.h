/* Tokens of C++ source with their places. Comments and white space vanish; a preprocessor line, continuations
 * included, is one token. Nothing is ever rejected: a lexer for other people's code has to live with what it
 * meets. */
#ifndef CUPEL_LEXER_H
#define CUPEL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"

typedef enum cupel_token_kind {
    CUPEL_TOKEN_WORD, /* identifier or keyword */
    CUPEL_TOKEN_NUMBER,
    CUPEL_TOKEN_STRING, /* with its prefix; raw strings too */
    CUPEL_TOKEN_CHARACTER,
    CUPEL_TOKEN_MARK,     /* punctuation; one character, or one of :: -> == != <= >= ... && || */
    CUPEL_TOKEN_DIRECTIVE /* from # to the end of the logical line */
} cupel_token_kind;

typedef struct cupel_token {
    cupel_token_kind kind;
    uint32_t offset, length; /* in the text */
    int line;                /* from 1, as #line directives count */
    const char *file;        /* as #line directives name it */
} cupel_token;

typedef struct cupel_tokens {
    const char *text;
    size_t length;
    size_t count;
    cupel_token *at;
} cupel_tokens;

/* Tokens of text (at most 4 GiB - 1), which begins at line 1 of file. Borrows text and file. */
CUPEL_MUST_USE cupel_code cupel_lexer_run(const char *text, size_t length, const char *file,
                                          cupel_arena *arena, cupel_tokens *out, cupel_error *err);

/* Whether a token is spelt like word. False when i is past the end. */
bool cupel_lexer_is(const cupel_tokens *tokens, size_t i, const char *word);

/* A token's text, terminated, in arena; NULL when out of memory. */
char *cupel_lexer_text(const cupel_tokens *tokens, size_t i, cupel_arena *arena);

/* The name of a directive token ("include", "define", ...) in buffer, "" when it has none; returns the offset
 * of what follows. */
size_t cupel_lexer_directive(const cupel_tokens *tokens, size_t i, char *buffer, size_t size);

#endif
