/* Device code that the emulator cannot run: found here by its words, and named with its line. Inline assembly
 * is translated (ptx_emit.h) as far as it is known. */
#include <string.h>

#include "ptx_emit.h"
#include "source_impl.h"

typedef struct refused_word {
    const char *word;
    const char *next; /* the mark that must follow; NULL: any */
    const char *what;
} refused_word;

static const refused_word refused_words[] = {
    {"multi_grid_group", NULL, "grids over several devices"},
    {"this_multi_grid", "(", "grids over several devices"},
    {"cute", "::", "CuTe"},
    {"cutlass", "::", "CUTLASS"},
    {"BlockRadixSort", NULL, "CUB's BlockRadixSort"},
    {"BlockMergeSort", NULL, "CUB's BlockMergeSort"},
    {"BlockExchange", NULL, "CUB's BlockExchange"},
    {"BlockDiscontinuity", NULL, "CUB's BlockDiscontinuity"},
    {"BlockHistogram", NULL, "CUB's BlockHistogram"},
    {"BlockShuffle", NULL, "CUB's BlockShuffle"},
    {"BlockAdjacentDifference", NULL, "CUB's BlockAdjacentDifference"},
    {"BlockRunLengthDecode", NULL, "CUB's BlockRunLengthDecode"},
    {"WarpExchange", NULL, "CUB's WarpExchange"},
    {"WarpMergeSort", NULL, "CUB's WarpMergeSort"},
    {"CacheModifiedInputIterator", NULL, "CUB's CacheModifiedInputIterator"},
    {"thrust", "::", "Thrust"},
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
    {"cudaLaunchDevice", NULL, "launches from device code"},
    {"malloc", "(", "memory allocated by device code"},
    {"__nv_aligned_device_malloc", "(", "memory allocated by device code"},
    {"tex1DLayered", NULL, "textures"},
    {"tex1DGrad", NULL, "textures"},
    {"tex1DLod", NULL, "textures"},
    {"tex2Dgather", NULL, "textures"},
    {"tex2DGrad", NULL, "textures"},
    {"tex3DLod", NULL, "textures"},
    {"texCubemap", NULL, "textures"},
    {"surf3Dread", NULL, "surfaces"},
    {"surf3Dwrite", NULL, "surfaces"},
    {"surf2DLayeredread", NULL, "surfaces"},
    {"surf2DLayeredwrite", NULL, "surfaces"},
    {"this_cluster", NULL, "thread block clusters"},
    {"cluster_group", NULL, "thread block clusters"},
    {"__cluster_dims__", NULL, "thread block clusters"},
    {"__clusterIdx", NULL, "thread block clusters"},
    {"__cluster_barrier_arrive", NULL, "thread block clusters"},
    {"__cluster_map_shared_rank", NULL, "thread block clusters"},
    {"CUtensorMap", NULL, "tensor maps (TMA)"},
    {"__isConstant", "(", "questions about constant memory (__isConstant)"},
    {"__isGridConstant", "(", "questions about constant memory (__isGridConstant)"},
    {"__managed__", NULL, "managed variables"},
};

/* Gone from devices since sm_70. A file that defines the name itself means something else by it. */
static const char *const gone[] = {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor",
                                   "__any",  "__all",     "__ballot"};
static const char gone_text[] =
    "shuffles and votes without a mask (no device since sm_70 has them; use the _sync forms)";

/* new, but not at a place that is given: new (p) T. */
static bool allocates(const cupel_tokens *tokens, size_t i) {
    return cupel_lexer_is(tokens, i, "new") && i + 1 < tokens->count &&
           tokens->at[i + 1].kind == CUPEL_TOKEN_WORD;
}

/* kernel<<<..>>>(..), or kernel<T><<<..>>>(..): three marks without anything between them. */
static bool launches(const cupel_tokens *tokens, size_t i) {
    if (i + 2 >= tokens->count) return false;
    for (size_t k = 0; k < 3; k++)
        if (!cupel_lexer_is(tokens, i + k, "<") || tokens->at[i + k].offset != tokens->at[i].offset + k)
            return false;
    return true;
}

static const char *refused(const cupel_tokens *tokens, size_t i) {
    if (tokens->at[i].kind != CUPEL_TOKEN_WORD) return NULL;
    for (size_t k = 0; k < sizeof refused_words / sizeof *refused_words; k++) {
        const refused_word *r = &refused_words[k];
        if (!cupel_lexer_is(tokens, i, r->word)) continue;
        if (r->next && !cupel_lexer_is(tokens, i + 1, r->next)) continue;
        /* unsigned malloc(..): a function of the file's own is declared */
        if (r->next && r->next[0] == '(' && i && tokens->at[i - 1].kind == CUPEL_TOKEN_WORD &&
            !cupel_lexer_is(tokens, i - 1, "return"))
            continue;
        if (i && (cupel_lexer_is(tokens, i - 1, ".") || cupel_lexer_is(tokens, i - 1, "->"))) continue;
        return r->what;
    }
    return NULL;
}

/* Whether what is refused takes "are". */
static bool is_plural(const char *what) {
    size_t words = strcspn(what, "(");
    static const char *const plural[] = {"launches", "questions", "shuffles"};
    for (size_t i = 0; i < sizeof plural / sizeof *plural; i++)
        if (strncmp(what, plural[i], strlen(plural[i])) == 0) return true;
    while (words && what[words - 1] == ' ') words--;
    return words && what[words - 1] == 's';
}

static bool is_defined(const cupel_source_parts *parts, const char *name) {
    if (cupel_macros_find(&parts->macros, name, strlen(name))) return true;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (d->kind == CUPEL_DECLARATION_DEVICE_FUNCTION && d->name && strcmp(d->name, name) == 0)
            return true;
    }
    return false;
}

/* What a table of words cannot say. */
static const char *refused_here(const cupel_source_parts *parts, size_t i) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    if (launches(tokens, i)) return "launches from device code";
    if (tokens->at[i].kind != CUPEL_TOKEN_WORD) return NULL;
    if (allocates(tokens, i)) return "memory allocated by device code";
    for (size_t k = 0; k < sizeof gone / sizeof *gone; k++)
        if (cupel_lexer_is(tokens, i, gone[k]) && cupel_lexer_is(tokens, i + 1, "(") &&
            !is_defined(parts, gone[k]))
            return gone_text;
    return NULL;
}

static bool is_assembly(const cupel_tokens *tokens, size_t i) {
    static const char *const words[] = {"asm", "__asm__", "__asm"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (cupel_lexer_is(tokens, i, words[k])) return true;
    return false;
}

typedef struct finding {
    const char *what; /* NULL: nothing */
    bool assembly;
} finding;

static cupel_code look_at(const cupel_source_parts *parts, const cupel_tokens *tokens, size_t i, finding *out,
                          cupel_error *err) {
    size_t close;
    const char *text;
    out->what = refused(tokens, i);
    out->assembly = !out->what && is_assembly(tokens, i);
    if (!out->assembly) return CUPEL_OK;
    return cupel_ptx_translate(tokens, i, &parts->macros, &parts->structure.tokens, parts->arena, &close,
                               &text, &out->what, err);
}

/* What the replacement text of a macro holds, other macros followed; NULL when nothing. */
static cupel_code refused_in_macro(const cupel_source_parts *parts, const cupel_macro *macro, int depth,
                                   finding *out, cupel_error *err) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    const cupel_token *t = &tokens->at[macro->directive];
    size_t name, name_length;
    bool function_like;
    size_t body = cupel_macros_body(tokens, macro->directive, &name, &name_length, &function_like);
    cupel_tokens inner;
    CUPEL_TRY(cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, parts->arena,
                              &inner, err));
    for (size_t i = 0; i < inner.count && !out->what; i++) {
        CUPEL_TRY(look_at(parts, &inner, i, out, err));
        if (out->what || inner.at[i].kind != CUPEL_TOKEN_WORD || depth == 0) continue;
        const cupel_macro *other =
            cupel_macros_find(&parts->macros, inner.text + inner.at[i].offset, inner.at[i].length);
        if (other && other != macro) CUPEL_TRY(refused_in_macro(parts, other, depth - 1, out, err));
    }
    return CUPEL_OK;
}

/* The first thing in a declaration that cannot be emulated. */
static cupel_code first_refusal(const cupel_source_parts *parts, const cupel_declaration *d, size_t *where,
                                finding *out, cupel_error *err) {
    const cupel_structure *s = &parts->structure;
    const cupel_tokens *tokens = &s->tokens;
    *out = (finding){0};
    for (size_t i = d->begin; i < d->end && !out->what; i++) {
        const cupel_token *t = &tokens->at[i];
        if (s->depth[i] == CUPEL_STRUCTURE_DEAD) continue;
        *where = i;
        out->what = refused_here(parts, i);
        if (out->what || t->kind != CUPEL_TOKEN_WORD) continue;
        CUPEL_TRY(look_at(parts, tokens, i, out, err));
        const cupel_macro *macro =
            out->what ? NULL : cupel_macros_find(&parts->macros, tokens->text + t->offset, t->length);
        if (macro) CUPEL_TRY(refused_in_macro(parts, macro, 4, out, err));
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
        finding found = {0};
        if (!can_refuse(parts, i)) continue;
        CUPEL_TRY(first_refusal(parts, d, &where, &found, err));
        if (!found.what) continue;
        const char *name = cupel_arena_printf(parts->arena, "%s%s", d->scope, d->name);
        if (!name) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        out->refusals[out->refusal_count++] =
            (cupel_source_refusal){.line = tokens->at[where].line,
                                   .file = tokens->at[where].file,
                                   .function = name,
                                   .what = found.what,
                                   .plural = !found.assembly && is_plural(found.what)};
        if (!found.assembly) parts->left[i] = CUPEL_LEFT_NONE;
    }
    return CUPEL_OK;
}

/* asm volatile("..." : ...) among the tokens, from begin on, becomes the calls that it means, or one that
 * stops the run. */
static cupel_code replace_assembly(const cupel_source_parts *parts, const cupel_tokens *tokens, size_t begin,
                                   size_t end, size_t base, cupel_edits *edits, cupel_error *err) {
    for (size_t i = begin; i < end; i++) {
        size_t close;
        const char *text, *reason;
        if (!is_assembly(tokens, i)) continue;
        CUPEL_TRY(cupel_ptx_translate(tokens, i, &parts->macros, &parts->structure.tokens, parts->arena,
                                      &close, &text, &reason, err));
        if (!text) text = "cupel_emu_unsupported(\"inline PTX\")";
        const cupel_token *a = &tokens->at[i], *b = &tokens->at[close];
        CUPEL_TRY(cupel_render_add(edits, base + a->offset, b->offset + b->length - a->offset, text, err));
        i = close;
    }
    return CUPEL_OK;
}

cupel_code cupel_refusals_replace(const cupel_source_parts *parts, cupel_edits *edits, cupel_error *err) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (can_refuse(parts, i)) CUPEL_TRY(replace_assembly(parts, tokens, d->begin, d->end, 0, edits, err));
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
        CUPEL_TRY(replace_assembly(parts, &inner, 0, inner.count, body, edits, err));
    }
    return CUPEL_OK;
}
