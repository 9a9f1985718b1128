/* Variables whose values only the host, or a kernel that nobody launches here, would know. */
#include <string.h>

#include "source_impl.h"

typedef struct search {
    const cupel_source_parts *parts;
    const cupel_tokens *tokens;
    const char *name; /* of the variable */
    int filled_count;
    const char *const *filled;
} search;

static bool is(const search *s, size_t i, const char *word) {
    return cupel_lexer_is(s->tokens, i, word);
}

static bool contains(const cupel_tokens *tokens, size_t i, const char *part) {
    const cupel_token *token = &tokens->at[i];
    return token->length >= strlen(part) &&
           memmem(tokens->text + token->offset, token->length, part, strlen(part)) != NULL;
}

/* Ways for the host to give a variable its value: cudaMemcpyToSymbol, cuModuleGetGlobal, .. */
static bool fills(const cupel_tokens *tokens, size_t i) {
    static const char *const parts[] = {"MemcpyToSymbol",  "MemsetToSymbol",   "GetSymbolAddress",
                                        "ModuleGetGlobal", "LibraryGetGlobal", "LibraryGetManaged",
                                        "CopyToSymbol"};
    if (tokens->at[i].kind != CUPEL_TOKEN_WORD) return false;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (contains(tokens, i, parts[p])) return true;
    return false;
}

/* Index past the bracket that closes the one at i, however deep. */
static size_t past_bracket(const search *s, size_t i, const char *open, const char *close) {
    int depth = 0;
    for (; i < s->tokens->count; i++) {
        if (is(s, i, open)) depth++;
        if (is(s, i, close) && --depth == 0) return i + 1;
    }
    return i;
}

static bool host_fills(const search *s) {
    for (size_t i = 0; i < s->tokens->count; i++) {
        if (!fills(s->tokens, i)) continue;
        size_t open = i + 1;
        while (open < s->tokens->count && !is(s, open, "(") && !is(s, open, ";")) open++;
        for (size_t k = open, end = past_bracket(s, open, "(", ")"); k < end; k++) {
            bool text = s->tokens->at[k].kind == CUPEL_TOKEN_STRING && contains(s->tokens, k, s->name);
            if (is(s, k, s->name) || text) return true;
        }
    }
    return false;
}

/* x = .., x[i] += .., x.a++, ++x, atomicAdd(&x, ..), atomicAdd(x + i, ..); any: &x as well, whatever it is
 * for. */
static bool is_stored(const search *s, size_t i, bool any) {
    static const char *const signs[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
    size_t before = i == 0 ? 0 : i - 1, next = i + 1;
    bool address = is(s, before, "&");
    if (address && any) return true;
    if ((is(s, before, "+") || is(s, before, "-")) && before > 0 &&
        is(s, before - 1, is(s, before, "+") ? "+" : "-"))
        return true;
    if (address) before--;
    if (is(s, before, "(") && before > 0 && contains(s->tokens, before - 1, "atomic")) return true;
    for (;;) {
        if (is(s, next, "["))
            next = past_bracket(s, next, "[", "]");
        else if (is(s, next, "."))
            next += 2;
        else
            break;
    }
    if (is(s, next, "=")) return true;
    if ((is(s, next, "<") || is(s, next, ">")) && is(s, next + 1, is(s, next, "<") ? "<=" : ">="))
        return true;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (is(s, next, signs[k])) return is(s, next + 1, "=") || (k < 2 && is(s, next + 1, signs[k]));
    return false;
}

/* Does a function that is marked store to the variable? */
static bool is_stored_by(const search *s, const uint8_t *marked, bool any) {
    const cupel_declarations *declarations = &s->parts->declarations;
    for (size_t d = 0; d < declarations->count; d++) {
        const cupel_declaration *f = &declarations->at[d];
        if (!marked[d] || f->body_begin == f->body_end) continue;
        for (size_t i = f->body_begin; i < f->body_end; i++)
            if (is(s, i, s->name) && is_stored(s, i, any)) return true;
    }
    return false;
}

static bool has_word(const search *s, const cupel_declaration *d, const char *word) {
    for (size_t i = d->begin; i < d->end; i++)
        if (is(s, i, word)) return true;
    return false;
}

/* What a macro of the author's stands for is looked for in its text. */
static bool is_constant(const search *s, const cupel_declaration *d) {
    if (has_word(s, d, "__constant__")) return true;
    for (size_t i = d->begin; i < d->end; i++) {
        for (size_t k = 0; s->tokens->at[i].kind == CUPEL_TOKEN_WORD && k < s->parts->macros.count; k++)
            if (is(s, i, s->parts->macros.at[k].name) &&
                contains(s->tokens, s->parts->macros.at[k].directive, "__constant__"))
                return true;
    }
    return false;
}

/* Marks what kernels may use that are not the entries'. */
static cupel_code mark_others(const cupel_source_parts *parts, const uint8_t *mine, uint8_t *theirs,
                              uint8_t *one, cupel_error *err) {
    const cupel_declarations *declarations = &parts->declarations;
    memset(theirs, 0, declarations->count);
    for (size_t k = 0; k < declarations->count; k++) {
        const char *name = declarations->at[k].name;
        if (declarations->at[k].kind != CUPEL_DECLARATION_KERNEL || mine[k] || *name == '\0') continue;
        CUPEL_TRY(cupel_reach_mark(parts, 1, &name, one, err));
        for (size_t i = 0; i < declarations->count; i++) theirs[i] |= one[i];
    }
    return CUPEL_OK;
}

static cupel_code refuse(const search *s, const cupel_declaration *d, const char *who, cupel_error *err) {
    const cupel_token *at = &s->tokens->at[d->begin];
    return cupel_fail_at(err, CUPEL_UNSUPPORTED, at->file, at->line, 1,
                         "line %d: %s '%s'; give it an initialiser, fill it from a tensor (symbols: {%s: "
                         "TENSOR} in the launch), "
                         "or list the kernel that fills it among the launches",
                         at->line, who, s->name, s->name);
}

/* Is the variable mentioned in a function that is marked? */
static bool is_mentioned(const search *s, const uint8_t *marked) {
    const cupel_declarations *declarations = &s->parts->declarations;
    for (size_t d = 0; d < declarations->count; d++)
        for (size_t i = declarations->at[d].body_begin; marked[d] && i < declarations->at[d].body_end; i++)
            if (is(s, i, s->name)) return true;
    return false;
}

/* By the contract. A name without its namespaces is enough: the executor looks it up whole. */
static bool is_filled(const search *s) {
    for (int i = 0; i < s->filled_count; i++) {
        const char *colon = strrchr(s->filled[i], ':');
        if (strcmp(colon ? colon + 1 : s->filled[i], s->name) == 0) return true;
    }
    return false;
}

/* One variable of a declaration. */
static cupel_code judge(const search *s, const cupel_declaration *d, const uint8_t *mine,
                        const uint8_t *theirs, cupel_error *err) {
    bool constant = is_constant(s, d);
    if (is_filled(s)) return CUPEL_OK;
    if (!constant && is_stored_by(s, mine, false)) return CUPEL_OK;
    if (host_fills(s)) return refuse(s, d, "the host fills", err);
    if (constant) return refuse(s, d, "only the host can fill", err);
    if (is_stored_by(s, theirs, true))
        return refuse(s, d, "a kernel that the contract does not launch fills", err);
    return CUPEL_OK;
}

/* Every variable of a declaration: a word before [ , ; = or {. */
static cupel_code judge_all(const search *base, const cupel_declaration *d, bool reached, const uint8_t *mine,
                            const uint8_t *theirs, cupel_error *err) {
    search s = *base;
    for (size_t i = d->begin; i + 1 < d->end; i++) {
        if (is(&s, i, "(")) i = past_bracket(&s, i, "(", ")") - 1;
        if (s.tokens->at[i].kind != CUPEL_TOKEN_WORD) continue;
        size_t next = i + 1;
        while (is(&s, next, "[")) next = past_bracket(&s, next, "[", "]");
        bool first = is(&s, next, "=") || is(&s, next, "{");
        if (!first && !is(&s, next, ",") && !is(&s, next, ";")) continue;
        if (!first) {
            s.name = cupel_lexer_text(s.tokens, i, s.parts->arena);
            if (s.name == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
            bool used = is_mentioned(&s, mine) || (reached && strcmp(s.name, d->name) == 0);
            if (used) CUPEL_TRY(judge(&s, d, mine, theirs, err));
        }
        for (; next < d->end && !is(&s, next, ",") && !is(&s, next, ";"); next++)
            if (is(&s, next, "{")) next = past_bracket(&s, next, "{", "}") - 1;
        i = next;
    }
    return CUPEL_OK;
}

cupel_code cupel_source_unfilled(const cupel_source *source, int entry_count, const char *const *entries,
                                 int filled_count, const char *const *filled, cupel_error *err) {
    const cupel_source_parts *parts = source->parts;
    const cupel_declarations *declarations = &parts->declarations;
    const size_t count = declarations->count;
    uint8_t *mine = cupel_arena_alloc(parts->arena, 3 * (count + 1));
    if (mine == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    uint8_t *theirs = mine + count + 1, *one = theirs + count + 1;
    CUPEL_TRY(cupel_reach_mark(parts, entry_count, entries, mine, err));
    CUPEL_TRY(mark_others(parts, mine, theirs, one, err));
    for (size_t i = 0; i < count; i++) {
        const cupel_declaration *d = &declarations->at[i];
        const search s = {parts, &parts->structure.tokens, d->name, filled_count, filled};
        if (d->kind != CUPEL_DECLARATION_DEVICE_VARIABLE || has_word(&s, d, "__shared__")) continue;
        CUPEL_TRY(judge_all(&s, d, mine[i], mine, theirs, err));
    }
    return CUPEL_OK;
}
