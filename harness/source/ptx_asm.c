#include "ptx_asm.h"

#include <string.h>

#include "buffer.h"
#include "ptx_parse.h"

typedef struct reader {
    const cupel_tokens *tokens;
    size_t at, close;
    const cupel_macros *macros;
    const cupel_tokens *macro_tokens;
    cupel_arena *arena;
    cupel_ptx_asm *out;
    const char **reason;
    cupel_error *err;
} reader;

static size_t closing(const cupel_tokens *tokens, size_t open) {
    int depth = 0;
    for (size_t i = open; i < tokens->count; i++) {
        depth += cupel_lexer_is(tokens, i, "(");
        depth -= cupel_lexer_is(tokens, i, ")");
        if (depth == 0) return i;
    }
    return tokens->count - 1;
}

static char escape(char c) {
    static const char from[] = "ntrvf0", to[] = "\n\t\r\v\f";
    const char *known = strchr(from, c);
    return known && c ? to[known - from] : c;
}

/* The contents of a string literal, appended. */
static cupel_code add_literal(cupel_buffer *text, const char *literal, size_t length, cupel_error *err) {
    const char *end = literal + length, *p = literal;
    while (p < end && *p != '"') p++;
    bool raw = p > literal && p[-1] == 'R';
    if (raw) { /* R"mark(...)mark" */
        const char *open = memchr(p, '(', (size_t)(end - p));
        size_t mark = open ? (size_t)(open - p - 1) : 0;
        if (!open || (size_t)(end - open) < mark + 3) return CUPEL_OK;
        return cupel_buffer_add(text, open + 1, (size_t)(end - open) - mark - 3, err);
    }
    for (p++; p + 1 < end; p++) {
        char c = *p;
        if (c == '\\' && p + 2 < end) c = escape(*++p);
        if (*p == '\n') continue; /* a continued line */
        CUPEL_TRY(cupel_buffer_add(text, &c, 1, err));
    }
    return CUPEL_OK;
}

/* A name among the literals: a macro that is nothing but literals. */
static cupel_code add_macro(reader *r, size_t i, cupel_buffer *text) {
    const cupel_token *t = &r->tokens->at[i];
    const cupel_macro *macro =
        r->macros ? cupel_macros_find(r->macros, r->tokens->text + t->offset, t->length) : NULL;
    *r->reason = "inline PTX whose text is not a string literal";
    if (!macro || macro->traits & CUPEL_TRAIT_FUNCTION_LIKE) return CUPEL_OK;
    size_t name, name_length;
    bool function_like;
    cupel_tokens inner;
    const cupel_token *d = &r->macro_tokens->at[macro->directive];
    size_t body = cupel_macros_body(r->macro_tokens, macro->directive, &name, &name_length, &function_like);
    CUPEL_TRY(cupel_lexer_run(r->macro_tokens->text + body, d->offset + d->length - body, d->file, r->arena,
                              &inner, r->err));
    for (size_t k = 0; k < inner.count; k++) {
        const cupel_token *s = &inner.at[k];
        if (s->kind != CUPEL_TOKEN_STRING) return CUPEL_OK;
        CUPEL_TRY(add_literal(text, inner.text + s->offset, s->length, r->err));
    }
    *r->reason = NULL;
    return CUPEL_OK;
}

static cupel_code read_text(reader *r) {
    cupel_buffer text = {.arena = r->arena};
    CUPEL_TRY(cupel_buffer_add(&text, "", 0, r->err));
    const cupel_tokens *tokens = r->tokens;
    for (; r->at < r->close && !*r->reason; r->at++) {
        const cupel_token *t = &tokens->at[r->at];
        if (cupel_lexer_is(tokens, r->at, ":") || cupel_lexer_is(tokens, r->at, "::")) break;
        if (t->kind == CUPEL_TOKEN_STRING) {
            CUPEL_TRY(add_literal(&text, tokens->text + t->offset, t->length, r->err));
        } else if (cupel_lexer_is(tokens, r->at, "#") && r->at + 1 < r->close) {
            if (r->out->stringised_count == CUPEL_PTX_ARGUMENTS_MAX) break;
            const char *name = cupel_lexer_text(tokens, ++r->at, r->arena);
            if (!name) return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
            CUPEL_TRY(
                cupel_buffer_printf(&text, r->err, "%%%d", CUPEL_PTX_STRINGISED + r->out->stringised_count));
            r->out->stringised[r->out->stringised_count++] = name;
        } else if (t->kind == CUPEL_TOKEN_WORD) {
            CUPEL_TRY(add_macro(r, r->at, &text));
        } else {
            *r->reason = "inline PTX whose text is not a string literal";
        }
    }
    r->out->text = text.bytes ? text.bytes : "";
    return CUPEL_OK;
}

/* The tokens from begin to end as one line: what touched stays together, comments are gone. */
static cupel_code one_line(reader *r, size_t begin, size_t end, const char **out) {
    cupel_buffer text = {.arena = r->arena};
    for (size_t i = begin; i < end; i++) {
        const cupel_token *t = &r->tokens->at[i];
        if (i > begin && t[-1].offset + t[-1].length != t->offset)
            CUPEL_TRY(cupel_buffer_add(&text, " ", 1, r->err));
        if (t->kind == CUPEL_TOKEN_DIRECTIVE) *r->reason = "inline PTX with a preprocessor line inside";
        CUPEL_TRY(cupel_buffer_add(&text, r->tokens->text + t->offset, t->length, r->err));
    }
    *out = text.bytes ? text.bytes : "";
    return CUPEL_OK;
}

/* "=r", "+f", "n" */
static bool read_constraint(const char *text, bool output, cupel_ptx_argument *out) {
    const char *quote = strchr(text, '"');
    if (!quote) return false;
    const char *p = quote + 1;
    *out = (cupel_ptx_argument){.reads = !output, .writes = output};
    for (; *p == '=' || *p == '+' || *p == '&' || *p == ' '; p++) out->reads |= *p == '+';
    if (!*p || !strchr("rlhfdni", *p) || p[1] != '"') return false;
    out->constraint = *p == 'i' ? 'n' : *p;
    return true;
}

/* "c"(expression), ... up to the next colon. */
static cupel_code read_arguments(reader *r, bool output) {
    const cupel_tokens *tokens = r->tokens;
    while (r->at < r->close && !*r->reason && !cupel_lexer_is(tokens, r->at, ":")) {
        if (cupel_lexer_is(tokens, r->at, "::")) break;
        if (cupel_lexer_is(tokens, r->at, ",")) {
            r->at++;
            continue;
        }
        size_t open = r->at + 1;
        bool fits = tokens->at[r->at].kind == CUPEL_TOKEN_STRING && cupel_lexer_is(tokens, open, "(") &&
                    r->out->count < CUPEL_PTX_ARGUMENTS_MAX;
        const char *constraint = fits ? cupel_lexer_text(tokens, r->at, r->arena) : "";
        if (!constraint) return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
        cupel_ptx_argument *a = &r->out->arguments[r->out->count];
        if (!fits || !read_constraint(constraint, output, a)) {
            *r->reason = "inline PTX with an operand of an unknown kind";
            return CUPEL_OK;
        }
        r->out->count++;
        size_t end = closing(tokens, open);
        CUPEL_TRY(one_line(r, open, end + 1, &a->expression));
        r->at = end + 1;
    }
    return CUPEL_OK;
}

cupel_code cupel_ptx_asm_read(const cupel_tokens *tokens, size_t i, const cupel_macros *macros,
                              const cupel_tokens *macro_tokens, cupel_arena *arena, cupel_ptx_asm *out,
                              const char **reason, cupel_error *err) {
    *out = (cupel_ptx_asm){.close = i};
    *reason = NULL;
    size_t open = i + 1;
    while (open < tokens->count && !cupel_lexer_is(tokens, open, "(")) {
        if (tokens->at[open].kind != CUPEL_TOKEN_WORD) break;
        if (cupel_lexer_is(tokens, open, "goto")) *reason = "inline PTX that jumps";
        open++;
    }
    if (!cupel_lexer_is(tokens, open, "(")) {
        *reason = "inline PTX without its parentheses";
        return CUPEL_OK;
    }
    out->close = closing(tokens, open);
    reader r = {.tokens = tokens,
                .at = open + 1,
                .close = out->close,
                .macros = macros,
                .macro_tokens = macro_tokens,
                .arena = arena,
                .out = out,
                .reason = reason,
                .err = err};
    CUPEL_TRY(read_text(&r));
    /* a colon a section, :: two of them: outputs, inputs; what follows are clobbers, which mean nothing here
     */
    for (int section = 0; r.at < r.close && section < 2 && !*reason;) {
        section += cupel_lexer_is(tokens, r.at, "::") ? 2 : 1;
        r.at++;
        if (section <= 2) CUPEL_TRY(read_arguments(&r, section == 1));
    }
    return CUPEL_OK;
}
