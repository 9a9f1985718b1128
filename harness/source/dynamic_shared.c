/* extern __shared__ T name[]; has no counterpart on the host: the memory belongs to the launch. In a function
 * it becomes a reference to an array of unknown bound, so that any type, alignment and template parameter
 * works: T (&name)[] = cupel_emu_dynamic_array(); At namespace scope, where a reference would be bound once
 * and for all, it becomes a function, and each use a call: static inline __device__ T
 * (&cupel_dynamic_name())[] { return cupel_emu_dynamic_array(); } */
#include <string.h>

#include "source_impl.h"

typedef struct rewriter {
    const cupel_source_parts *parts;
    cupel_edits *edits;
    int *count;
    cupel_error *err;
} rewriter;

typedef struct statement {
    const cupel_tokens *tokens;
    size_t begin, end; /* end: the semicolon */
    size_t base;       /* offset of the tokens' text in the assembled text */
} statement;

static cupel_code edit(rewriter *r, const statement *st, size_t first, size_t last, const char *text) {
    const cupel_token *a = &st->tokens->at[first], *b = &st->tokens->at[last];
    return cupel_render_add(r->edits, st->base + a->offset, b->offset + b->length - a->offset, text, r->err);
}

/* extern ... __shared__ ... ; from token i on (or __shared__ extern ...): whether it is one, and its
 * semicolon. */
static bool match(const cupel_tokens *tokens, size_t i, size_t limit, size_t *end) {
    bool is_extern = false, is_shared = false;
    size_t k = i;
    for (; k < limit && !cupel_lexer_is(tokens, k, ";"); k++) {
        is_extern |= cupel_lexer_is(tokens, k, "extern");
        is_shared |= cupel_lexer_is(tokens, k, "__shared__");
        if (cupel_lexer_is(tokens, k, "{") || cupel_lexer_is(tokens, k, "}")) return false;
    }
    *end = k;
    return is_extern && is_shared;
}

static bool is_alignment(const cupel_tokens *tokens, size_t i) {
    return cupel_lexer_is(tokens, i, "__align__") || cupel_lexer_is(tokens, i, "alignas") ||
           cupel_lexer_is(tokens, i, "__attribute__");
}

/* Past the parentheses at i. */
static size_t past_parentheses(const cupel_tokens *tokens, size_t i, size_t limit) {
    int open = 0;
    for (; i < limit; i++) {
        open += cupel_lexer_is(tokens, i, "(");
        open -= cupel_lexer_is(tokens, i, ")");
        if (open <= 0) return i + 1;
    }
    return limit;
}

/* The declared name: the last word before the first bracket at the end of the declarator. */
static size_t declared_name(const statement *st) {
    size_t name = st->begin;
    for (size_t i = st->begin; i < st->end; i++) {
        if (cupel_lexer_is(st->tokens, i, "[") || cupel_lexer_is(st->tokens, i, ",")) break;
        if (is_alignment(st->tokens, i) && i + 1 < st->end)
            i = past_parentheses(st->tokens, i + 1, st->end) - 1;
        else if (cupel_lexer_is(st->tokens, i, "<")) {
            int open = 0; /* template arguments of the element type */
            for (; i < st->end; i++) {
                open += cupel_lexer_is(st->tokens, i, "<");
                open -= cupel_lexer_is(st->tokens, i, ">");
                if (open == 0) break;
            }
        } else if (st->tokens->at[i].kind == CUPEL_TOKEN_WORD)
            name = i;
    }
    return name;
}

/* Removes extern, __shared__ and alignments, which a reference cannot have (the memory is aligned for every
 * type). */
static cupel_code rewrite_specifiers(rewriter *r, const statement *st, size_t name, const char *shared) {
    for (size_t i = st->begin; i < name; i++) {
        if (cupel_lexer_is(st->tokens, i, "extern")) {
            CUPEL_TRY(edit(r, st, i, i, ""));
        } else if (cupel_lexer_is(st->tokens, i, "__shared__")) {
            CUPEL_TRY(edit(r, st, i, i, shared));
        } else if (is_alignment(st->tokens, i)) {
            size_t past = past_parentheses(st->tokens, i + 1, st->end);
            CUPEL_TRY(edit(r, st, i, past - 1, ""));
            i = past - 1;
        }
    }
    return CUPEL_OK;
}

static cupel_code rewrite_local(rewriter *r, const statement *st) {
    size_t name = declared_name(st);
    char *text = cupel_lexer_text(st->tokens, name, r->parts->arena);
    char *declarator = text ? cupel_arena_printf(r->parts->arena, "(&%s)", text) : NULL;
    if (!declarator) return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(rewrite_specifiers(r, st, name, ""));
    CUPEL_TRY(edit(r, st, name, name, declarator));
    ++*r->count;
    if (st->end < st->tokens->count) return edit(r, st, st->end, st->end, " = cupel_emu_dynamic_array();");
    /* a macro whose user writes the semicolon */
    const cupel_token *last = &st->tokens->at[st->tokens->count - 1];
    return cupel_render_add(r->edits, st->base + last->offset + last->length, 0,
                            " = cupel_emu_dynamic_array()", r->err);
}

/* Whether token i stands in the declaration of a data member, which may bear any name. */
static bool in_member(const cupel_source_parts *parts, size_t i) {
    for (size_t k = 0; k < parts->declarations.count; k++) {
        const cupel_declaration *d = &parts->declarations.at[k];
        if (d->in_class && d->kind == CUPEL_DECLARATION_OTHER && d->begin <= i && i < d->end) return true;
    }
    return false;
}

/* Turns the uses of name after its declaration at namespace scope into calls. */
static cupel_code rewrite_uses(rewriter *r, size_t from, size_t declared, const char *call) {
    const cupel_tokens *tokens = &r->parts->structure.tokens;
    for (size_t i = from; i < tokens->count; i++) {
        const cupel_token *t = &tokens->at[i], *n = &tokens->at[declared];
        if (t->kind != CUPEL_TOKEN_WORD || t->length != n->length) continue;
        if (memcmp(tokens->text + t->offset, tokens->text + n->offset, t->length) != 0) continue;
        if (i && (cupel_lexer_is(tokens, i - 1, ".") || cupel_lexer_is(tokens, i - 1, "->"))) continue;
        if (in_member(r->parts, i)) continue;
        CUPEL_TRY(cupel_render_add(r->edits, t->offset, t->length, call, r->err));
    }
    return CUPEL_OK;
}

static bool declared_before(const cupel_source_parts *parts, const cupel_declaration *d) {
    for (const cupel_declaration *e = parts->declarations.at; e < d; e++)
        if (e->kind == d->kind && strcmp(e->name, d->name) == 0 && strcmp(e->scope, d->scope) == 0)
            return true;
    return false;
}

static cupel_code rewrite_global(rewriter *r, const cupel_declaration *d, const statement *st) {
    if (declared_before(r->parts, d)) return edit(r, st, st->begin, st->end, "");
    size_t name = declared_name(st);
    char *text = cupel_lexer_text(st->tokens, name, r->parts->arena);
    char *declarator = text ? cupel_arena_printf(r->parts->arena, "(&cupel_dynamic_%s())", text) : NULL;
    char *call = text ? cupel_arena_printf(r->parts->arena, "cupel_dynamic_%s()", text) : NULL;
    if (!declarator || !call) return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(rewrite_specifiers(r, st, name, "static inline __device__"));
    CUPEL_TRY(edit(r, st, name, name, declarator));
    CUPEL_TRY(edit(r, st, st->end, st->end, " { return cupel_emu_dynamic_array(); }"));
    ++*r->count;
    return rewrite_uses(r, st->end + 1, name, call);
}

/* Statements among tokens begin..end of a function's body, or of a macro's replacement text. */
static cupel_code rewrite_statements(rewriter *r, const cupel_tokens *tokens, size_t begin, size_t end,
                                     size_t base) {
    for (size_t i = begin; i < end; i++) {
        statement st = {.tokens = tokens, .begin = i, .base = base};
        bool starts = cupel_lexer_is(tokens, i, "extern") || cupel_lexer_is(tokens, i, "__shared__");
        if (!starts || !match(tokens, i, end, &st.end)) continue;
        if (st.end >= end && end < tokens->count) continue;
        CUPEL_TRY(rewrite_local(r, &st));
        i = st.end;
    }
    return CUPEL_OK;
}

static cupel_code rewrite_macros(rewriter *r) {
    const cupel_tokens *tokens = &r->parts->structure.tokens;
    for (size_t i = 0; i < tokens->count; i++) {
        char word[16];
        const cupel_token *t = &tokens->at[i];
        if (t->kind != CUPEL_TOKEN_DIRECTIVE ||
            !memmem(tokens->text + t->offset, t->length, "__shared__", 10))
            continue;
        cupel_lexer_directive(tokens, i, word, sizeof word);
        if (strcmp(word, "define") != 0) continue;
        size_t name, name_length;
        bool function_like;
        size_t body = cupel_macros_body(tokens, i, &name, &name_length, &function_like);
        cupel_tokens inner;
        CUPEL_TRY(cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, r->parts->arena,
                                  &inner, r->err));
        CUPEL_TRY(rewrite_statements(r, &inner, 0, inner.count, body));
    }
    return CUPEL_OK;
}

cupel_code cupel_dynamic_shared_rewrite(const cupel_source_parts *parts, cupel_edits *edits, int *count,
                                        cupel_error *err) {
    rewriter r = {.parts = parts, .edits = edits, .count = count, .err = err};
    const cupel_tokens *tokens = &parts->structure.tokens;
    *count = 0;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        statement st = {.tokens = tokens, .begin = d->begin};
        if (parts->left[i] == CUPEL_LEFT_NONE) continue;
        bool function = d->kind == CUPEL_DECLARATION_KERNEL || d->kind == CUPEL_DECLARATION_DEVICE_FUNCTION;
        if (function && d->body_end) CUPEL_TRY(rewrite_statements(&r, tokens, d->body_begin, d->body_end, 0));
        if (d->kind == CUPEL_DECLARATION_DEVICE_VARIABLE && match(tokens, d->begin, d->end, &st.end) &&
            st.end < d->end)
            CUPEL_TRY(rewrite_global(&r, d, &st));
    }
    return rewrite_macros(&r);
}
