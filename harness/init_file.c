/* A file and its constants. */
#include <string.h>

#include "includes.h"
#include "init_kernel.h"

cupel_code cupel_init_file_load(const char *path, const cupel_source_options *options, cupel_arena *arena,
                                cupel_init_file *out, cupel_error *err) {
    *out = (cupel_init_file){.arena = arena, .path = path};
    CUPEL_TRY(cupel_source_load(path, options, arena, &out->source, err));
    static const cupel_source_options none = {0};
    char *text;
    const char *missing;
    size_t length;
    int missing_count;
    cupel_tokens tokens;
    CUPEL_TRY(cupel_includes_assemble(path, options ? options : &none, arena, &text, &length, &missing,
                                      &missing_count, err));
    CUPEL_TRY(cupel_lexer_run(text, length, out->source->path, arena, &tokens, err));
    CUPEL_TRY(cupel_structure_build(&tokens, arena, &out->structure, err));
    CUPEL_TRY(cupel_macros_collect(&out->structure, arena, &out->macros, err));
    return cupel_declarations_scan(&out->structure, &out->macros, arena, &out->declarations, err);
}

static const cupel_init_tree *macro_value(const cupel_init_file *file, const cupel_macro *macro) {
    const cupel_tokens *tokens = &file->structure.tokens;
    size_t name, name_length;
    bool function_like;
    size_t body = cupel_macros_body(tokens, macro->directive, &name, &name_length, &function_like);
    const cupel_token *directive = &tokens->at[macro->directive];
    size_t end = directive->offset + directive->length;
    if (function_like || body >= end) return NULL;
    cupel_tokens inner;
    if (cupel_lexer_run(tokens->text + body, end - body, "", file->arena, &inner, NULL) != CUPEL_OK)
        return NULL;
    const cupel_init_tree *tree = cupel_init_tree_read(&inner, 0, inner.count, file->arena);
    return tree->op == '?' ? NULL : tree;
}

const cupel_init_tree *cupel_init_file_constant(const cupel_init_file *file, const char *name) {
    const cupel_macro *macro = cupel_macros_find(&file->macros, name, strlen(name));
    if (macro) return macro_value(file, macro);
    const cupel_tokens *tokens = &file->structure.tokens;
    for (size_t i = 0; i < file->declarations.count; i++) {
        const cupel_declaration *d = &file->declarations.at[i];
        if (d->kind != CUPEL_DECLARATION_CONSTANT && d->kind != CUPEL_DECLARATION_HOST_VARIABLE) continue;
        for (size_t t = d->begin; t + 2 < d->end; t++) {
            if (!cupel_lexer_is(tokens, t, name) || !cupel_lexer_is(tokens, t + 1, "=")) continue;
            size_t end = t + 2;
            while (end < d->end && !cupel_lexer_is(tokens, end, ";") && !cupel_lexer_is(tokens, end, ","))
                end++;
            const cupel_init_tree *tree = cupel_init_tree_read(tokens, t + 2, end, file->arena);
            return tree->op == '?' ? NULL : tree;
        }
    }
    return NULL;
}
