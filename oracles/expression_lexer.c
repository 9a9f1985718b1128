#include "expression_lexer.h"

#include <string.h>

/* The C library's classification depends on the locale; the language does not. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char peek(const cupel_lexer *lexer, size_t ahead) {
    return ahead < lexer->text.length - lexer->at ? lexer->text.text[lexer->at + ahead] : '\0';
}

static void advance(cupel_lexer *lexer, size_t count) {
    for (; count > 0; count--, lexer->at++) {
        if (lexer->text.text[lexer->at] == '\n') {
            lexer->line++;
            lexer->column = 1;
        } else {
            lexer->column++;
        }
    }
}

cupel_span cupel_lexer_span(const cupel_lexer *lexer, const cupel_token *token) {
    return (cupel_span){.text = lexer->text.text + token->offset,
                        .length = token->end - token->offset,
                        .file = lexer->text.file,
                        .line = token->line,
                        .column = token->column};
}

static bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t number_length(const cupel_lexer *lexer) {
    size_t n = 0;
    if (peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X') &&
        is_hex_digit(peek(lexer, 2))) {
        for (n = 2; is_hex_digit(peek(lexer, n));) n++;
        return n;
    }
    while (is_digit(peek(lexer, n))) n++;
    if (peek(lexer, n) == '.') {
        n++;
        while (is_digit(peek(lexer, n))) n++;
    }
    char e = peek(lexer, n), after = peek(lexer, n + 1);
    bool is_signed = after == '+' || after == '-';
    if ((e == 'e' || e == 'E') && (is_digit(after) || (is_signed && is_digit(peek(lexer, n + 2))))) {
        n += is_signed ? 2 : 1;
        while (is_digit(peek(lexer, n))) n++;
    }
    return n;
}

/* Longest first, so that "<=" is not read as "<". */
static const char *const operators[] = {"**", "<<", ">>", "<=", ">=", "==", "!=", "//", "&&", "||", "...",
                                        "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~",  "<",  ">",
                                        "(",  ")",  "[",  "]",  ",",  ":",  "=",  ".",  "!",  "@"};

static size_t operator_length(const cupel_lexer *lexer) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t n = strlen(operators[i]);
        if (n <= lexer->text.length - lexer->at && memcmp(lexer->text.text + lexer->at, operators[i], n) == 0)
            return n;
    }
    return 0;
}

static cupel_code unknown_character(const cupel_lexer *lexer, const cupel_token *token, cupel_error *err) {
    unsigned char c = (unsigned char)lexer->text.text[lexer->at];
    cupel_span place = cupel_lexer_span(lexer, token);
    if (c > 32 && c < 127)
        return cupel_fail_span(err, CUPEL_SYNTAX, place, "expected an expression, found '%c'", c);
    return cupel_fail_span(err, CUPEL_SYNTAX, place, "expected an expression, found the byte 0x%02x", c);
}

cupel_code cupel_lexer_next(cupel_lexer *lexer, cupel_token *out, cupel_error *err) {
    while (peek(lexer, 0) == ' ' || peek(lexer, 0) == '\n' || peek(lexer, 0) == '\r' ||
           peek(lexer, 0) == '\t')
        advance(lexer, 1);
    *out = (cupel_token){.offset = lexer->at, .end = lexer->at, .line = lexer->line, .column = lexer->column};
    if (lexer->at >= lexer->text.length) return CUPEL_OK;
    char c = peek(lexer, 0);
    size_t n = 0;
    if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        out->kind = CUPEL_TOKEN_NUMBER;
        n = number_length(lexer);
        if (is_letter(peek(lexer, n)) || peek(lexer, n) == '.') {
            out->end = lexer->at + n + 1;
            return cupel_fail_span(err, CUPEL_SYNTAX, cupel_lexer_span(lexer, out),
                                   "expected a number such as 3, 0x1f, 0.5 or 1e-5, found '%.*s'", (int)n + 1,
                                   lexer->text.text + lexer->at);
        }
    } else if (is_letter(c)) {
        out->kind = CUPEL_TOKEN_NAME;
        while (is_letter(peek(lexer, n)) || is_digit(peek(lexer, n))) n++;
    } else if (c == '"' || c == '\'') {
        out->kind = CUPEL_TOKEN_STRING;
        n = 1;
        while (peek(lexer, n) != c && peek(lexer, n) != '\n' && n < lexer->text.length - lexer->at) n++;
        if (peek(lexer, n) != c)
            return cupel_fail_span(err, CUPEL_SYNTAX, cupel_lexer_span(lexer, out),
                                   "this string has no closing %c", c);
        n++;
    } else {
        out->kind = CUPEL_TOKEN_OPERATOR;
        n = operator_length(lexer);
        if (n == 0) return unknown_character(lexer, out, err);
        memcpy(out->symbol, lexer->text.text + lexer->at, n);
    }
    out->end = lexer->at + n;
    advance(lexer, n);
    return CUPEL_OK;
}
