/* Device code that the emulator cannot run: found here by its words, and named with its line. */
#include <string.h>

#include "source_impl.h"

typedef struct refused_word {
    const char *word;
    const char *next; /* the mark that must follow; NULL: any */
    const char *what;
} refused_word;

static const refused_word refused_words[] = {
    {"asm", NULL, "inline PTX"},
    {"__asm__", NULL, "inline PTX"},
    {"__asm", NULL, "inline PTX"},
    {"cooperative_groups", NULL, "cooperative groups"},
    {"cg", "::", "cooperative groups"},
    {"this_thread_block", "(", "cooperative groups"},
    {"this_grid", "(", "cooperative groups"},
    {"tiled_partition", "<", "cooperative groups"},
    {"thread_block_tile", "<", "cooperative groups"},
    {"coalesced_threads", "(", "cooperative groups"},
    {"nvcuda", "::", "tensor-core fragments (wmma)"},
    {"wmma", "::", "tensor-core fragments (wmma)"},
    {"cute", "::", "CuTe"},
    {"cutlass", "::", "CUTLASS"},
    {"cub", "::", "CUB"},
    {"thrust", "::", "Thrust"},
    {"__pipeline_memcpy_async", NULL, "asynchronous copies (cp.async)"},
    {"memcpy_async", NULL, "asynchronous copies (cp.async)"},
    {"cudaTextureObject_t", NULL, "textures"},
    {"texture", "<", "textures"},
    {"tex1D", NULL, "textures"},
    {"tex1Dfetch", NULL, "textures"},
    {"tex2D", NULL, "textures"},
    {"tex3D", NULL, "textures"},
    {"tex2DLayered", NULL, "textures"},
    {"tex2DLod", NULL, "textures"},
    {"cudaSurfaceObject_t", NULL, "surfaces"},
    {"surf1Dread", NULL, "surfaces"},
    {"surf2Dread", NULL, "surfaces"},
    {"surf1Dwrite", NULL, "surfaces"},
    {"surf2Dwrite", NULL, "surfaces"},
    {"curand_init", NULL, "cuRAND"},
    {"curand", "(", "cuRAND"},
    {"curand_uniform", NULL, "cuRAND"},
    {"curand_normal", NULL, "cuRAND"},
    {"cudaDeviceSynchronize", NULL, "launches from device code"},
};

static const char *refused(const cupel_tokens *tokens, size_t i) {
    if (tokens->at[i].kind != CUPEL_TOKEN_WORD) return NULL;
    for (size_t k = 0; k < sizeof refused_words / sizeof *refused_words; k++) {
        const refused_word *r = &refused_words[k];
        if (!cupel_lexer_is(tokens, i, r->word)) continue;
        if (r->next && !cupel_lexer_is(tokens, i + 1, r->next)) continue;
        if (i && (cupel_lexer_is(tokens, i - 1, ".") || cupel_lexer_is(tokens, i - 1, "->"))) continue;
        return r->what;
    }
    return NULL;
}

/* Whether what is refused takes "are". */
static bool is_plural(const char *what) {
    size_t words = strcspn(what, "(");
    if (strncmp(what, "launches", 8) == 0) return true;
    while (words && what[words - 1] == ' ') words--;
    return words && what[words - 1] == 's';
}

static bool is_assembly(const char *what) {
    return strcmp(what, "inline PTX") == 0;
}

/* What the replacement text of a macro holds, other macros followed; NULL when nothing. */
static cupel_code refused_in_macro(const cupel_source_parts *parts, const cupel_macro *macro, int depth,
                                   const char **what, cupel_error *err) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    const cupel_token *t = &tokens->at[macro->directive];
    size_t name, name_length;
    bool function_like;
    size_t body = cupel_macros_body(tokens, macro->directive, &name, &name_length, &function_like);
    cupel_tokens inner;
    CUPEL_TRY(cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, parts->arena,
                              &inner, err));
    for (size_t i = 0; i < inner.count && !*what; i++) {
        *what = refused(&inner, i);
        if (*what || inner.at[i].kind != CUPEL_TOKEN_WORD || depth == 0) continue;
        const cupel_macro *other =
            cupel_macros_find(&parts->macros, inner.text + inner.at[i].offset, inner.at[i].length);
        if (other && other != macro) CUPEL_TRY(refused_in_macro(parts, other, depth - 1, what, err));
    }
    return CUPEL_OK;
}

/* The first thing in a declaration that cannot be emulated. */
static cupel_code first_refusal(const cupel_source_parts *parts, const cupel_declaration *d, size_t *where,
                                const char **what, cupel_error *err) {
    const cupel_structure *s = &parts->structure;
    const cupel_tokens *tokens = &s->tokens;
    *what = NULL;
    for (size_t i = d->begin; i < d->end && !*what; i++) {
        const cupel_token *t = &tokens->at[i];
        if (t->kind != CUPEL_TOKEN_WORD || s->depth[i] == CUPEL_STRUCTURE_DEAD) continue;
        *where = i;
        *what = refused(tokens, i);
        const cupel_macro *macro =
            *what ? NULL : cupel_macros_find(&parts->macros, tokens->text + t->offset, t->length);
        if (macro) CUPEL_TRY(refused_in_macro(parts, macro, 4, what, err));
    }
    return CUPEL_OK;
}

static bool can_refuse(const cupel_source_parts *parts, size_t i) {
    const cupel_declaration *d = &parts->declarations.at[i];
    return parts->left[i] != CUPEL_LEFT_NONE &&
           (d->kind == CUPEL_DECLARATION_KERNEL || d->kind == CUPEL_DECLARATION_DEVICE_FUNCTION);
}

cupel_code cupel_refusals_find(cupel_source_parts *parts, cupel_source *out, cupel_error *err) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    out->refusals = cupel_arena_raw(parts->arena, parts->declarations.count + 1, sizeof *out->refusals);
    if (!out->refusals) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    out->refusal_count = 0;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        size_t where = d->begin;
        const char *what = NULL;
        if (!can_refuse(parts, i)) continue;
        CUPEL_TRY(first_refusal(parts, d, &where, &what, err));
        if (!what) continue;
        const char *name = cupel_arena_printf(parts->arena, "%s%s", d->scope, d->name);
        if (!name) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        out->refusals[out->refusal_count++] = (cupel_source_refusal){.line = tokens->at[where].line,
                                                                     .file = tokens->at[where].file,
                                                                     .function = name,
                                                                     .what = what,
                                                                     .plural = is_plural(what)};
        if (!is_assembly(what)) parts->left[i] = CUPEL_LEFT_NONE;
    }
    return CUPEL_OK;
}

/* asm volatile("..." : ...) among the tokens, from begin on, becomes a call that stops the run. */
static cupel_code replace_assembly(const cupel_tokens *tokens, size_t begin, size_t end, size_t base,
                                   cupel_edits *edits, cupel_error *err) {
    for (size_t i = begin; i < end; i++) {
        const char *what = refused(tokens, i);
        if (!what || !is_assembly(what)) continue;
        size_t open = i + 1;
        while (open < end && tokens->at[open].kind == CUPEL_TOKEN_WORD) open++; /* volatile, __volatile__ */
        int depth = 0;
        size_t close = open;
        for (; close < end; close++) {
            depth += cupel_lexer_is(tokens, close, "(");
            depth -= cupel_lexer_is(tokens, close, ")");
            if (depth <= 0) break;
        }
        if (close >= end) return CUPEL_OK;
        const cupel_token *a = &tokens->at[i], *b = &tokens->at[close];
        CUPEL_TRY(cupel_render_add(edits, base + a->offset, b->offset + b->length - a->offset,
                                   "cupel_emu_unsupported(\"inline PTX\")", err));
        i = close;
    }
    return CUPEL_OK;
}

cupel_code cupel_refusals_replace(const cupel_source_parts *parts, cupel_edits *edits, cupel_error *err) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (can_refuse(parts, i)) CUPEL_TRY(replace_assembly(tokens, d->begin, d->end, 0, edits, err));
    }
    for (size_t i = 0; i < tokens->count; i++) {
        char word[16];
        const cupel_token *t = &tokens->at[i];
        if (t->kind != CUPEL_TOKEN_DIRECTIVE || !memmem(tokens->text + t->offset, t->length, "asm", 3))
            continue;
        cupel_lexer_directive(tokens, i, word, sizeof word);
        if (strcmp(word, "define") != 0) continue;
        size_t name, name_length;
        bool function_like;
        cupel_tokens inner;
        size_t body = cupel_macros_body(tokens, i, &name, &name_length, &function_like);
        CUPEL_TRY(cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, parts->arena,
                                  &inner, err));
        CUPEL_TRY(replace_assembly(&inner, 0, inner.count, body, edits, err));
    }
    return CUPEL_OK;
}
