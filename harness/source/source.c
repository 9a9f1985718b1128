#include "source.h"

#include <stdio.h>
#include <string.h>

#include "includes.h"
#include "source_impl.h"

static const cupel_source_options no_options = {0};

/* Writes the text anew from what is left. */
static cupel_code transform(cupel_source *out, cupel_error *err) {
    cupel_edits edits = {.arena = out->parts->arena};
    if (!out->parts->for_device) {
        CUPEL_TRY(cupel_dynamic_shared_rewrite(out->parts, &edits, &out->dynamic_shared_count, err));
        CUPEL_TRY(cupel_refusals_replace(out->parts, &edits, err));
    }
    return cupel_render_text(out->parts, &edits, &out->text, &out->length, err);
}

cupel_code cupel_source_load(const char *path, const cupel_source_options *options, cupel_arena *arena,
                             cupel_source **out, cupel_error *err) {
    cupel_source *source = cupel_arena_alloc(arena, sizeof *source);
    cupel_source_parts *parts = cupel_arena_alloc(arena, sizeof *parts);
    if (!source || !parts) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    parts->arena = arena;
    parts->for_device = options && options->for_device;
    source->parts = parts;
    source->path = cupel_arena_text(arena, path, strlen(path));
    if (!source->path) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    char *text;
    size_t length;
    cupel_tokens tokens;
    CUPEL_TRY(cupel_includes_assemble(path, options ? options : &no_options, arena, &text, &length,
                                      &source->missing, &source->missing_count, err));
    CUPEL_TRY(cupel_lexer_run(text, length, source->path, arena, &tokens, err));
    CUPEL_TRY(cupel_structure_build(&tokens, arena, &parts->structure, err));
    CUPEL_TRY(cupel_macros_collect(&parts->structure, arena, &parts->macros, err));
    CUPEL_TRY(cupel_declarations_scan(&parts->structure, &parts->macros, arena, &parts->declarations, err));
    parts->left = cupel_arena_alloc(arena, parts->declarations.count + 1);
    parts->left_at_load = cupel_arena_alloc(arena, parts->declarations.count + 1);
    if (!parts->left || !parts->left_at_load) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_kernel_list_fill(parts, source, err));
    cupel_host_code_mark(parts);
    if (!parts->for_device) CUPEL_TRY(cupel_refusals_find(parts, source, err));
    memcpy(parts->left_at_load, parts->left, parts->declarations.count);
    CUPEL_TRY(transform(source, err));
    *out = source;
    return CUPEL_OK;
}

const cupel_source_refusal *cupel_source_refused(const cupel_source *source, const char *entry) {
    const cupel_source_parts *parts = source->parts;
    uint8_t *reached = cupel_arena_alloc(parts->arena, parts->declarations.count + 1);
    if (!reached || cupel_reach_mark(parts, 1, &entry, reached, NULL) != CUPEL_OK) return NULL;
    for (int r = 0; r < source->refusal_count; r++) {
        const cupel_source_refusal *refusal = &source->refusals[r];
        for (size_t i = 0; i < parts->declarations.count; i++) {
            const cupel_declaration *d = &parts->declarations.at[i];
            if (!reached[i] || strncmp(refusal->function, d->scope, strlen(d->scope)) != 0) continue;
            if (strcmp(refusal->function + strlen(d->scope), d->name) == 0) return refusal;
        }
    }
    return NULL;
}

/* The innermost declaration around a line that still stands; count when there is none. */
static size_t declaration_at(const cupel_source_parts *parts, const char *file, int line) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    size_t found = parts->declarations.count;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (parts->left[i] == CUPEL_LEFT_NONE) continue;
        const cupel_token *first = &tokens->at[d->begin], *last = &tokens->at[d->end - 1];
        if (strcmp(first->file, file) == 0 && strcmp(last->file, file) == 0 && first->line <= line &&
            line <= last->line)
            found = i;
    }
    return found;
}

cupel_code cupel_source_drop(cupel_source *source, const char *file, int line, int entry_count,
                             const char *const *entries, bool *dropped, cupel_error *err) {
    cupel_source_parts *parts = source->parts;
    *dropped = false;
    size_t i = declaration_at(parts, file, line);
    if (i == parts->declarations.count) return CUPEL_OK;
    uint8_t *reached = cupel_arena_alloc(parts->arena, parts->declarations.count + 1);
    if (!reached) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_reach_mark(parts, entry_count, entries, reached, err));
    const cupel_declaration *d = &parts->declarations.at[i];
    /* in a class that nobody needs, the class goes */
    for (size_t outer = i; outer-- > 0;) {
        const cupel_declaration *o = &parts->declarations.at[outer];
        bool unneeded = o->kind == CUPEL_DECLARATION_TYPE && *o->name && !reached[outer];
        if (unneeded && o->begin <= d->begin && d->end <= o->end) i = outer;
    }
    d = &parts->declarations.at[i];
    bool host = d->kind == CUPEL_DECLARATION_HOST_FUNCTION || !*d->name;
    bool data =
        d->in_class && d->kind == CUPEL_DECLARATION_OTHER && !d->params_end; /* of a class that is needed */
    if (data || (!host && reached[i]) || parts->left[i] == CUPEL_LEFT_NONE) return CUPEL_OK;
    parts->left[i] = CUPEL_LEFT_NONE;
    *dropped = parts->dropped = true;
    return transform(source, err);
}

cupel_code cupel_source_restore(cupel_source *source, cupel_error *err) {
    cupel_source_parts *parts = source->parts;
    if (!parts->dropped) return CUPEL_OK;
    parts->dropped = false;
    memcpy(parts->left, parts->left_at_load, parts->declarations.count);
    return transform(source, err);
}

void cupel_source_tell_missing(const cupel_source *source, cupel_error *err) {
    if (err == NULL || source->missing_count == 0) return;
    size_t used = strlen(err->text);
    bool one = source->missing_count == 1;
    snprintf(err->text + used, sizeof err->text - used,
             "; the header%s %.300s %s not found and %s left out: use -I or source.include", one ? "" : "s",
             source->missing, one ? "was" : "were", one ? "was" : "were");
}
