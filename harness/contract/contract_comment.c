#include "contract_comment.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { CONTRACTS_MAX = 64 };

typedef struct scanner {
    const char *text;
    size_t length, at;
    int line;
    size_t line_start;
} scanner;

static char here(const scanner *s, size_t ahead) {
    return s->at + ahead < s->length ? s->text[s->at + ahead] : '\0';
}

static void step(scanner *s) {
    if (s->text[s->at++] == '\n') {
        s->line++;
        s->line_start = s->at;
    }
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* From the quote on. A literal ends at its line, so that an apostrophe in "#error don't" does no harm. */
static void skip_literal(scanner *s) {
    char quote = here(s, 0);
    step(s);
    while (s->at < s->length && here(s, 0) != quote && here(s, 0) != '\n') {
        if (here(s, 0) == '\\') step(s);
        if (s->at < s->length) step(s);
    }
    if (here(s, 0) == quote) step(s);
}

/* R"delimiter( ... )delimiter", from the quote on. */
static void skip_raw_literal(scanner *s) {
    size_t start = s->at + 1, n = 0;
    while (n < 17 && start + n < s->length && s->text[start + n] != '(') n++;
    if (n == 17 || start + n >= s->length) {
        skip_literal(s);
        return;
    }
    for (; s->at < s->length; step(s)) {
        bool closed = here(s, 0) == ')' && s->at + n + 1 < s->length &&
                      memcmp(s->text + s->at + 1, s->text + start, n) == 0 && s->text[s->at + 1 + n] == '"';
        if (!closed) continue;
        s->at += n + 2;
        return;
    }
}

static void skip_line_comment(scanner *s) {
    while (s->at < s->length && here(s, 0) != '\n') {
        if (here(s, 0) == '\\' && s->at + 1 < s->length) step(s);
        step(s);
    }
}

/* Words and numbers as wholes: R"( starts a raw literal, and the quote in 1'000 starts none. */
static void skip_word(scanner *s) {
    bool number = isdigit((unsigned char)here(s, 0));
    while (s->at < s->length &&
           (is_word(here(s, 0)) || (number && here(s, 0) == '\'' && is_word(here(s, 1)))))
        step(s);
    if (!number && here(s, 0) == '"' && s->text[s->at - 1] == 'R') skip_raw_literal(s);
}

/* Is this byte of a comment mere decoration before its first word? */
static bool decoration(char c) {
    return c == '*' || isspace((unsigned char)c);
}

static bool starts_contract(const char *body, size_t length) {
    size_t i = 0;
    while (i < length && decoration(body[i])) i++;
    if (length - i < 6 || memcmp(body + i, "cupel", 5) != 0) return false;
    for (i += 5; i < length && (body[i] == ' ' || body[i] == '\t');) i++;
    return i < length && body[i] == ':';
}

/* Blanks out what is before the content of a line that begins with a star; returns the column (from 0) of the
 * content. */
static size_t blank_line(char *line, size_t length) {
    size_t i = 0;
    while (i < length && (line[i] == ' ' || line[i] == '\t')) i++;
    if (i == length || line[i] == '\r') {
        memset(line, ' ', i); /* an empty line may be indented by tabs */
        return length;
    }
    if (line[i] != '*') {
        i = 0;
    } else {
        memset(line, ' ', i + 1);
        i++;
    }
    while (i < length && line[i] == ' ') i++;
    return i;
}

/* The text of a comment's body, which begins at `column` (from 0) of its line. The first key may stand on the
 * line of the comment's start; it is then moved to the column of the others, for YAML wants them aligned. */
static cupel_code make_text(const char *file, const char *body, size_t length, int line, int column,
                            cupel_arena *arena, cupel_contract_text *out, cupel_error *err) {
    char *copy = cupel_arena_text(arena, body, length);
    if (!copy) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    const char *first_end = memchr(copy, '\n', length);
    size_t first = first_end ? (size_t)(first_end - copy) : length, key = 0;
    while (key < first && decoration(copy[key])) key++;
    size_t margin = SIZE_MAX;
    for (size_t at = first + 1; at < length;) {
        const char *newline = memchr(copy + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - copy) : length;
        size_t indent = blank_line(copy + at, end - at);
        bool empty = indent >= end - at || copy[at + indent] == '\r' || copy[at + indent] == '#';
        if (!empty && indent < margin) margin = indent;
        at = end + 1;
    }
    if (margin == SIZE_MAX) margin = 0;
    if (key == first) key = 0, margin = 0, memset(copy, ' ', first);
    char *text = cupel_arena_alloc(arena, margin + length - key + 1);
    if (!text) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    memset(text, ' ', margin);
    memcpy(text + margin, copy + key, length - key);
    out->text = (cupel_span){text, margin + length - key, file, line, 1};
    out->first_line_shift = column + (int)key - (int)margin;
    return CUPEL_OK;
}

/* From the slash of a block comment on. */
static cupel_code scan_comment(scanner *s, const char *file, cupel_arena *arena, cupel_contract_text *out,
                               int *count, cupel_error *err) {
    int line = s->line, column = (int)(s->at - s->line_start) + 2;
    s->at += 2;
    size_t start = s->at;
    while (s->at < s->length && !(here(s, 0) == '*' && here(s, 1) == '/')) step(s);
    size_t length = s->at - start;
    bool closed = s->at < s->length;
    if (closed) s->at += 2;
    if (!starts_contract(s->text + start, length)) return CUPEL_OK;
    if (!closed)
        return cupel_fail_at(err, CUPEL_SYNTAX, file, line, column - 1,
                             "expected '*/' after the contract, found the end");
    if (*count == CONTRACTS_MAX)
        return cupel_fail_at(err, CUPEL_CONTRACT, file, line, column - 1,
                             "expected at most %d contracts in a file", CONTRACTS_MAX);
    return make_text(file, s->text + start, length, line, column, arena, &out[(*count)++], err);
}

cupel_code cupel_contract_comments(const char *file, const char *text, size_t length, cupel_arena *arena,
                                   cupel_contract_text **out, int *count, cupel_error *err) {
    scanner s = {text, length, 0, 1, 0};
    *count = 0;
    *out = cupel_arena_alloc(arena, sizeof **out * CONTRACTS_MAX);
    if (!*out) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    while (s.at < length) {
        char c = here(&s, 0);
        if (c == '/' && here(&s, 1) == '*')
            CUPEL_TRY(scan_comment(&s, file, arena, *out, count, err));
        else if (c == '/' && here(&s, 1) == '/')
            skip_line_comment(&s);
        else if (c == '"' || c == '\'')
            skip_literal(&s);
        else if (is_word(c))
            skip_word(&s);
        else
            step(&s);
    }
    return CUPEL_OK;
}
