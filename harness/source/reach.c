/* What the kernels of some entries may use: the closure over names. A declaration is reached when a reached
 * one, or a macro that it uses, mentions its name. Overloads and members of one name are not told apart, so
 * the answer errs towards "reached". */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "source_impl.h"

typedef struct named {
    const char *name;
    size_t declaration; /* or SIZE_MAX and */
    size_t directive;   /* a macro's #define */
} named;

typedef struct walk {
    const cupel_source_parts *parts;
    named *names; /* sorted */
    size_t name_count;
    uint8_t *reached;       /* per declaration */
    uint8_t *macro_reached; /* per token */
    uint8_t *gone;          /* per token: left out of the text */
    size_t *pending;        /* declarations to look into */
    size_t pending_count;
    cupel_error *err;
} walk;

static int by_name(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* Index of the first of the names equal to text, or name_count. */
static size_t find(const walk *w, const char *text, size_t length) {
    size_t low = 0, high = w->name_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strncmp(w->names[middle].name, text, length);
        if (order == 0 && w->names[middle].name[length]) order = 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool same = low < w->name_count && strlen(w->names[low].name) == length &&
                memcmp(w->names[low].name, text, length) == 0;
    return same ? low : w->name_count;
}

static cupel_code mention(walk *w, const char *text, size_t length, bool as_member);

/* Whether token i follows . or ->, and so names a member. */
static bool after_dot(const cupel_tokens *tokens, size_t i) {
    return i && (cupel_lexer_is(tokens, i - 1, ".") || cupel_lexer_is(tokens, i - 1, "->"));
}

static cupel_code look_into_macro(walk *w, size_t directive) {
    if (w->macro_reached[directive]) return CUPEL_OK;
    w->macro_reached[directive] = 1;
    const cupel_tokens *tokens = &w->parts->structure.tokens;
    const cupel_token *t = &tokens->at[directive];
    size_t name, name_length;
    bool function_like;
    cupel_tokens inner;
    size_t body = cupel_macros_body(tokens, directive, &name, &name_length, &function_like);
    CUPEL_TRY(cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, w->parts->arena,
                              &inner, w->err));
    for (size_t i = 0; i < inner.count; i++)
        if (inner.at[i].kind == CUPEL_TOKEN_WORD)
            CUPEL_TRY(mention(w, inner.text + inner.at[i].offset, inner.at[i].length, after_dot(&inner, i)));
    return CUPEL_OK;
}

static cupel_code mention(walk *w, const char *text, size_t length, bool as_member) {
    for (size_t i = find(w, text, length); i < w->name_count; i++) {
        if (strlen(w->names[i].name) != length || memcmp(w->names[i].name, text, length) != 0) break;
        size_t d = w->names[i].declaration;
        if (d == SIZE_MAX) {
            CUPEL_TRY(look_into_macro(w, w->names[i].directive));
        } else if (!w->reached[d] && (!as_member || w->parts->declarations.at[d].in_class)) {
            w->reached[d] = 1;
            w->pending[w->pending_count++] = d;
        }
    }
    return CUPEL_OK;
}

/* Whether the word at i is being declared as a variable or a member: "T i;", "T i = ...". */
static bool is_declarator(const cupel_tokens *tokens, size_t i) {
    static const char *const after[] = {";", "=", "[", ","};
    if (i == 0 || cupel_lexer_is(tokens, i - 1, "return")) return false;
    bool type = tokens->at[i - 1].kind == CUPEL_TOKEN_WORD;
    for (size_t k = 0; type && k < sizeof after / sizeof *after; k++)
        if (cupel_lexer_is(tokens, i + 1, after[k])) return true;
    return false;
}

static cupel_code look_into(walk *w, size_t d) {
    const cupel_tokens *tokens = &w->parts->structure.tokens;
    const cupel_declaration *declaration = &w->parts->declarations.at[d];
    for (size_t i = declaration->begin; i < declaration->end; i++) {
        const cupel_token *t = &tokens->at[i];
        bool word = t->kind == CUPEL_TOKEN_WORD && !w->gone[i] && !is_declarator(tokens, i) &&
                    w->parts->structure.depth[i] != CUPEL_STRUCTURE_DEAD;
        if (word) CUPEL_TRY(mention(w, tokens->text + t->offset, t->length, after_dot(tokens, i)));
    }
    return CUPEL_OK;
}

/* Host functions mention nothing, even where a head is left: it can go as well. What was left out with a
 * refusal still counts: whoever reaches it must be refused too. */
static void mark_gone(walk *w) {
    const cupel_source_parts *parts = w->parts;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        bool host = d->kind == CUPEL_DECLARATION_HOST_FUNCTION || d->kind == CUPEL_DECLARATION_HOST_VARIABLE;
        if (!host || parts->left[i] == CUPEL_LEFT_ALL) continue;
        memset(w->gone + d->begin, 1, d->end - d->begin);
    }
}

static cupel_code collect_names(walk *w) {
    const cupel_source_parts *parts = w->parts;
    size_t count = parts->declarations.count + parts->macros.count;
    w->names = cupel_arena_raw(parts->arena, count + 1, sizeof *w->names);
    w->pending = cupel_arena_raw(parts->arena, parts->declarations.count + 1, sizeof *w->pending);
    w->macro_reached = cupel_arena_alloc(parts->arena, parts->structure.tokens.count + 1);
    w->gone = cupel_arena_alloc(parts->arena, parts->structure.tokens.count + 1);
    if (!w->names || !w->pending || !w->macro_reached || !w->gone)
        return cupel_fail(w->err, CUPEL_MEMORY, "out of memory");
    for (size_t i = 0; i < parts->declarations.count; i++)
        if (*parts->declarations.at[i].name)
            w->names[w->name_count++] = (named){parts->declarations.at[i].name, i, 0};
    for (size_t i = 0; i < parts->macros.count; i++)
        w->names[w->name_count++] =
            (named){parts->macros.at[i].name, SIZE_MAX, parts->macros.at[i].directive};
    qsort(w->names, w->name_count, sizeof *w->names, by_name);
    return CUPEL_OK;
}

cupel_code cupel_reach_mark(const cupel_source_parts *parts, int entry_count, const char *const *entries,
                            uint8_t *reached, cupel_error *err) {
    walk w = {.parts = parts, .reached = reached, .err = err};
    memset(reached, 0, parts->declarations.count);
    CUPEL_TRY(collect_names(&w));
    mark_gone(&w);
    for (int e = 0; e < entry_count; e++) {
        const char *p = entries[e];
        while (*p) {
            size_t n = 0;
            while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
            if (n) CUPEL_TRY(mention(&w, p, n, false));
            p += n ? n : 1;
        }
    }
    while (w.pending_count) CUPEL_TRY(look_into(&w, w.pending[--w.pending_count]));
    return CUPEL_OK;
}
