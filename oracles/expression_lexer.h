/* Tokens of the expression language; private to the parser. */
#ifndef CUPEL_EXPRESSION_LEXER_H
#define CUPEL_EXPRESSION_LEXER_H

#include "expression.h"

typedef enum cupel_token_kind {
    CUPEL_TOKEN_END,
    CUPEL_TOKEN_NUMBER,
    CUPEL_TOKEN_NAME,
    CUPEL_TOKEN_STRING,
    CUPEL_TOKEN_OPERATOR /* punctuation too */
} cupel_token_kind;

typedef struct cupel_token {
    cupel_token_kind kind;
    size_t offset, end; /* bytes of the text */
    int line, column;
    char symbol[4]; /* OPERATOR: its characters */
} cupel_token;

typedef struct cupel_lexer {
    cupel_span text;
    size_t at;
    int line, column;
} cupel_lexer;

/* The next token. Errors: a character that begins no token, a string without its end, malformed numbers. */
CUPEL_MUST_USE cupel_code cupel_lexer_next(cupel_lexer *lexer, cupel_token *out, cupel_error *err);

/* The token's text with its place. */
cupel_span cupel_lexer_span(const cupel_lexer *lexer, const cupel_token *token);

#endif
