#include "lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const char *text;
    size_t length, at;
    int line;
    const char *file;
    bool line_start; /* only white space so far on this line */
    cupel_arena *arena;
} cursor;

static bool word_start(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}
static bool word_part(char c) {
    return word_start(c) || isdigit((unsigned char)c);
}
static char peek(const cursor *c, size_t ahead) {
    return c->at + ahead < c->length ? c->text[c->at + ahead] : '\0';
}

/* Length of a line continuation at offset, 0 when there is none. */
static size_t continuation(const cursor *c, size_t offset) {
    if (offset >= c->length || c->text[offset] != '\\') return 0;
    if (offset + 1 < c->length && c->text[offset + 1] == '\n') return 2;
    if (offset + 2 < c->length && c->text[offset + 1] == '\r' && c->text[offset + 2] == '\n') return 3;
    return 0;
}

static void advance(cursor *c, size_t end) {
    for (; c->at < end && c->at < c->length; c->at++)
        if (c->text[c->at] == '\n') c->line++;
}

static size_t block_comment_end(const cursor *c, size_t start) {
    for (size_t i = start + 2; i + 1 < c->length; i++)
        if (c->text[i] == '*' && c->text[i + 1] == '/') return i + 2;
    return c->length;
}

static size_t line_comment_end(const cursor *c, size_t start) {
    size_t i = start;
    while (i < c->length && c->text[i] != '\n') {
        size_t step = continuation(c, i);
        i += step ? step : 1;
    }
    return i;
}

/* Skips white space and comments; notes whether a new line was begun. */
static void skip_blank(cursor *c) {
    while (c->at < c->length) {
        char ch = c->text[c->at];
        size_t joined = continuation(c, c->at);
        if (joined) {
            advance(c, c->at + joined);
        } else if (ch == '\n') {
            c->line_start = true;
            advance(c, c->at + 1);
        } else if (isspace((unsigned char)ch)) {
            c->at++;
        } else if (ch == '/' && peek(c, 1) == '*') {
            advance(c, block_comment_end(c, c->at));
        } else if (ch == '/' && peek(c, 1) == '/') {
            advance(c, line_comment_end(c, c->at));
        } else {
            break;
        }
    }
}

/* End of a directive that starts at the cursor: the newline, or the // comment, that ends its logical line.
 */
static size_t directive_end(const cursor *c) {
    size_t i = c->at;
    char quote = '\0';
    while (i < c->length && c->text[i] != '\n') {
        size_t joined = continuation(c, i);
        if (joined) {
            i += joined;
        } else if (quote) {
            if (c->text[i] == '\\' && i + 1 < c->length && c->text[i + 1] != '\n')
                i++;
            else if (c->text[i] == quote)
                quote = '\0';
            i++;
        } else if (c->text[i] == '"') {
            quote = c->text[i++];
        } else if (c->text[i] == '/' && i + 1 < c->length && c->text[i + 1] == '*') {
            i = block_comment_end(c, i);
        } else if (c->text[i] == '/' && i + 1 < c->length && c->text[i + 1] == '/') {
            return i;
        } else {
            i++;
        }
    }
    return i;
}

/* A quoted literal whose opening quote is at the cursor plus prefix. An unclosed one ends with its line. */
static size_t quoted_end(const cursor *c, size_t prefix) {
    char quote = c->text[c->at + prefix];
    size_t i = c->at + prefix + 1;
    while (i < c->length && c->text[i] != '\n') {
        if (c->text[i] == '\\' && i + 1 < c->length)
            i += c->text[i + 1] == '\r' && i + 2 < c->length ? 3 : 2;
        else if (c->text[i++] == quote)
            return i;
    }
    return i < c->length ? i : c->length;
}

/* R"delimiter( ... )delimiter" whose quote is at the cursor plus prefix. */
static size_t raw_end(const cursor *c, size_t prefix) {
    size_t start = c->at + prefix + 1, open = start;
    while (open < c->length && open - start <= 16 && c->text[open] != '(') open++;
    if (open >= c->length || c->text[open] != '(') return quoted_end(c, prefix);
    size_t delimiter = open - start;
    for (size_t i = open + 1; i + delimiter + 1 < c->length; i++) {
        if (c->text[i] != ')' || memcmp(c->text + i + 1, c->text + start, delimiter) != 0) continue;
        if (c->text[i + 1 + delimiter] == '"') return i + delimiter + 2;
    }
    return c->length;
}

/* Length of a string or character prefix (u8, u, U, L, R and their pairs) at the cursor when a quote follows,
 * else 0. */
static size_t literal_prefix(const cursor *c, bool *raw) {
    static const char *const prefixes[] = {"u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L"};
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
        size_t n = strlen(prefixes[k]);
        if (c->at + n >= c->length || memcmp(c->text + c->at, prefixes[k], n) != 0) continue;
        char quote = c->text[c->at + n];
        *raw = prefixes[k][n - 1] == 'R';
        if (quote == '"' || (quote == '\'' && !*raw)) return n;
    }
    return 0;
}

static size_t number_end(const cursor *c) {
    size_t i = c->at;
    while (i < c->length) {
        char ch = c->text[i];
        if ((ch == '+' || ch == '-') && strchr("eEpP", c->text[i - 1]))
            i++;
        else if (word_part(ch) || ch == '.')
            i++;
        else if (ch == '\'' && i + 1 < c->length && isalnum((unsigned char)c->text[i + 1]))
            i++;
        else
            break;
    }
    return i;
}

static size_t mark_end(const cursor *c) {
    static const char *const longer[] = {"...", "::", "->", "==", "!=", "<=", ">=", "&&", "||"};
    for (size_t k = 0; k < sizeof longer / sizeof *longer; k++) {
        size_t n = strlen(longer[k]);
        if (c->at + n <= c->length && memcmp(c->text + c->at, longer[k], n) == 0) return c->at + n;
    }
    return c->at + 1;
}

static size_t token_end(const cursor *c, cupel_token_kind *kind) {
    char ch = c->text[c->at];
    bool raw = false;
    size_t prefix = literal_prefix(c, &raw);
    if (prefix || ch == '"' || ch == '\'') {
        *kind = c->text[c->at + prefix] == '"' ? CUPEL_TOKEN_STRING : CUPEL_TOKEN_CHARACTER;
        return raw ? raw_end(c, prefix) : quoted_end(c, prefix);
    }
    if (word_start(ch)) {
        size_t i = c->at;
        while (i < c->length && word_part(c->text[i])) i++;
        *kind = CUPEL_TOKEN_WORD;
        return i;
    }
    if (isdigit((unsigned char)ch) || (ch == '.' && isdigit((unsigned char)peek(c, 1)))) {
        *kind = CUPEL_TOKEN_NUMBER;
        return number_end(c);
    }
    *kind = CUPEL_TOKEN_MARK;
    return mark_end(c);
}

/* After "#line 12 "file"" the next line is 12 of file. */
static void follow_line_directive(cursor *c, const cupel_token *token) {
    const char *p = c->text + token->offset + 1, *end = c->text + token->offset + token->length;
    while (p < end && isblank((unsigned char)*p)) p++;
    if (end - p < 5 || memcmp(p, "line", 4) != 0) return;
    char *after = NULL;
    long line = strtol(p + 4, &after, 10);
    if (after == p + 4 || line < 1 || line > INT32_MAX) return;
    c->line = (int)line - 1; /* the newline to come adds one */
    while (after < end && isblank((unsigned char)*after)) after++;
    if (after >= end || *after != '"') return;
    const char *close = memchr(after + 1, '"', (size_t)(end - after - 1));
    char *file = close ? cupel_arena_text(c->arena, after + 1, (size_t)(close - after - 1)) : NULL;
    if (file) c->file = file;
}

/* Reads the next token; false at the end. */
static bool next(cursor *c, cupel_token *token) {
    skip_blank(c);
    if (c->at >= c->length) return false;
    bool directive = c->line_start && c->text[c->at] == '#';
    c->line_start = false;
    token->kind = CUPEL_TOKEN_DIRECTIVE;
    size_t end = directive ? directive_end(c) : token_end(c, &token->kind);
    token->offset = (uint32_t)c->at;
    token->length = (uint32_t)(end - c->at);
    token->line = c->line;
    token->file = c->file;
    advance(c, end);
    if (directive) follow_line_directive(c, token);
    return true;
}

cupel_code cupel_lexer_run(const char *text, size_t length, const char *file, cupel_arena *arena,
                           cupel_tokens *out, cupel_error *err) {
    if (length >= UINT32_MAX) return cupel_fail_at(err, CUPEL_RANGE, file, 1, 1, "the source is too long");
    cursor c = {.text = text, .length = length, .line = 1, .file = file, .line_start = true, .arena = arena};
    /* one pass to count and one to keep: tokens then lie in one array of the right size */
    cupel_token token;
    size_t count = 0;
    while (next(&c, &token)) count++;
    cupel_token *tokens = cupel_arena_raw(arena, count ? count : 1, sizeof *tokens);
    if (!tokens) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    c = (cursor){.text = text, .length = length, .line = 1, .file = file, .line_start = true, .arena = arena};
    for (size_t i = 0; i < count; i++) next(&c, &tokens[i]);
    *out = (cupel_tokens){.text = text, .length = length, .count = count, .at = tokens};
    return CUPEL_OK;
}

bool cupel_lexer_is(const cupel_tokens *tokens, size_t i, const char *word) {
    if (i >= tokens->count) return false;
    const cupel_token *t = &tokens->at[i];
    return strncmp(tokens->text + t->offset, word, t->length) == 0 && word[t->length] == '\0';
}

char *cupel_lexer_text(const cupel_tokens *tokens, size_t i, cupel_arena *arena) {
    return cupel_arena_text(arena, tokens->text + tokens->at[i].offset, tokens->at[i].length);
}

size_t cupel_lexer_directive(const cupel_tokens *tokens, size_t i, char *buffer, size_t size) {
    const cupel_token *t = &tokens->at[i];
    size_t p = t->offset + 1, end = t->offset + t->length, n = 0;
    while (p < end && isblank((unsigned char)tokens->text[p])) p++;
    while (p < end && word_part(tokens->text[p])) {
        if (n + 1 < size) buffer[n++] = tokens->text[p];
        p++;
    }
    buffer[n] = '\0';
    return p;
}
