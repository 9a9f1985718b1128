#include "macros.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    unsigned traits;
} qualifiers[] = {
    {"__global__", CUPEL_TRAIT_GLOBAL},
    {"__device__", CUPEL_TRAIT_DEVICE},
    {"__host__", CUPEL_TRAIT_HOST},
    {"constexpr", CUPEL_TRAIT_CONSTEXPR},
    {"consteval", CUPEL_TRAIT_CONSTEXPR},
    {"__constant__", CUPEL_TRAIT_DEVICE_VARIABLE},
    {"__shared__", CUPEL_TRAIT_DEVICE_VARIABLE},
    {"__managed__", CUPEL_TRAIT_DEVICE_VARIABLE},
    {"const", CUPEL_TRAIT_CONST},
};

static bool word_part(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

size_t cupel_macros_body(const cupel_tokens *tokens, size_t directive, size_t *name, size_t *name_length,
                         bool *function_like) {
    char word[16];
    const cupel_token *t = &tokens->at[directive];
    size_t end = t->offset + t->length;
    size_t p = cupel_lexer_directive(tokens, directive, word, sizeof word);
    while (p < end && isspace((unsigned char)tokens->text[p])) p++;
    *name = p;
    while (p < end && word_part(tokens->text[p])) p++;
    *name_length = p - *name;
    *function_like = p < end && tokens->text[p] == '(';
    if (*function_like)
        while (p < end && tokens->text[p++] != ')') continue;
    return p;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const cupel_macro *)a)->name, ((const cupel_macro *)b)->name);
}

const cupel_macro *cupel_macros_find(const cupel_macros *macros, const char *name, size_t length) {
    size_t low = 0, high = macros->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = macros->at[middle].name;
        int order = strncmp(other, name, length);
        if (order == 0 && other[length] != '\0') order = 1;
        if (order == 0) return &macros->at[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

unsigned cupel_macros_traits(const cupel_macros *macros, const char *word, size_t length) {
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (strlen(qualifiers[i].word) == length && memcmp(qualifiers[i].word, word, length) == 0)
            return qualifiers[i].traits;
    const cupel_macro *macro = cupel_macros_find(macros, word, length);
    return macro ? macro->traits : 0;
}

/* Traits of a replacement text, with what is known of other macros so far. */
static cupel_code body_traits(const cupel_macros *macros, const cupel_tokens *tokens, size_t directive,
                              cupel_arena *arena, unsigned *traits, cupel_error *err) {
    size_t name, name_length;
    bool function_like;
    size_t body = cupel_macros_body(tokens, directive, &name, &name_length, &function_like);
    const cupel_token *t = &tokens->at[directive];
    cupel_tokens inner;
    CUPEL_TRY(
        cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, arena, &inner, err));
    if (function_like) *traits |= CUPEL_TRAIT_FUNCTION_LIKE;
    for (size_t i = 0; i < inner.count; i++) {
        const char *text = inner.text + inner.at[i].offset;
        if (inner.at[i].kind == CUPEL_TOKEN_WORD)
            *traits |=
                cupel_macros_traits(macros, text, inner.at[i].length) & ~(unsigned)CUPEL_TRAIT_FUNCTION_LIKE;
        else if (inner.at[i].kind == CUPEL_TOKEN_MARK && (*text == ';' || *text == '{'))
            *traits |= CUPEL_TRAIT_STATEMENT;
    }
    return CUPEL_OK;
}

static bool is_define(const cupel_structure *s, size_t i) {
    char word[16];
    if (s->tokens.at[i].kind != CUPEL_TOKEN_DIRECTIVE || s->depth[i] == CUPEL_STRUCTURE_DEAD) return false;
    cupel_lexer_directive(&s->tokens, i, word, sizeof word);
    return strcmp(word, "define") == 0;
}

static void merge_equal_names(cupel_macros *macros) {
    size_t kept = 0;
    for (size_t i = 0; i < macros->count; i++) {
        if (kept && strcmp(macros->at[kept - 1].name, macros->at[i].name) == 0)
            macros->at[kept - 1].traits |= macros->at[i].traits;
        else
            macros->at[kept++] = macros->at[i];
    }
    macros->count = kept;
}

cupel_code cupel_macros_collect(const cupel_structure *s, cupel_arena *arena, cupel_macros *out,
                                cupel_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < s->tokens.count; i++) count += is_define(s, i);
    cupel_macro *all = cupel_arena_raw(arena, count + 1, sizeof *all);
    if (!all) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    cupel_macros found = {.count = 0, .at = all};
    for (size_t i = 0; i < s->tokens.count; i++) {
        if (!is_define(s, i)) continue;
        size_t name, length;
        bool function_like;
        cupel_macros_body(&s->tokens, i, &name, &length, &function_like);
        char *copy = cupel_arena_text(arena, s->tokens.text + name, length);
        if (!copy) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        all[found.count++] = (cupel_macro){.name = copy, .directive = i};
    }
    /* macros use macros defined after them: repeat until nothing is learnt, at most as deep as chains get in
     * practice */
    qsort(all, found.count, sizeof *all, by_name);
    bool learnt = true;
    for (int round = 0; learnt && round < 8; round++) {
        learnt = false;
        for (size_t i = 0; i < found.count; i++) {
            unsigned before = all[i].traits;
            CUPEL_TRY(body_traits(&found, &s->tokens, all[i].directive, arena, &all[i].traits, err));
            learnt |= all[i].traits != before;
        }
    }
    merge_equal_names(&found);
    *out = found;
    return CUPEL_OK;
}
