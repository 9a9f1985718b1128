/* The device code of some entries as a text of its own, for a file that any CUDA compiler takes: what the
 * entries cannot reach is left out, nothing is rewritten. */
#include <ctype.h>
#include <string.h>

#include "buffer.h"
#include "source_impl.h"

static bool is_operator(const cupel_declaration *d) {
    return strncmp(d->name, "operator", 8) == 0;
}

/* May a declaration go when no entry reaches its name? */
static bool may_go(const cupel_declaration *d) {
    return *d->name && !d->in_class && !is_operator(d) && d->kind != CUPEL_DECLARATION_MACRO_USE;
}

static char *text_of(const cupel_source_parts *parts, const cupel_declaration *d) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    size_t begin = tokens->at[d->begin].offset;
    size_t stop = tokens->at[d->end - 1].offset + tokens->at[d->end - 1].length;
    return cupel_arena_text(parts->arena, tokens->text + begin, stop - begin);
}

/* The entries, and the text of everything that stays in any case: what those mention stays too. */
static cupel_code roots(const cupel_source_parts *parts, int entry_count, const char *const *entries,
                        const char ***out, int *count, cupel_error *err) {
    size_t room = parts->declarations.count + (size_t)entry_count + 1;
    *out = cupel_arena_raw(parts->arena, room, sizeof **out);
    if (!*out) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    memcpy(*out, entries, (size_t)entry_count * sizeof *entries);
    *count = entry_count;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (d->in_class || may_go(d) || parts->left[i] == CUPEL_LEFT_NONE) continue;
        (*out)[*count] = text_of(parts, d);
        if (!(*out)[(*count)++]) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    }
    return CUPEL_OK;
}

/* Without #line directives and without all but one of several empty lines. */
static cupel_code squeeze(const cupel_source_parts *parts, const char *text, char **out, cupel_error *err) {
    cupel_buffer kept = {.arena = parts->arena};
    bool empty_before = true;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), blank = strspn(line, " \t\r");
        bool empty = blank >= length;
        bool directive = strncmp(line, "#line ", 6) == 0;
        if (!directive && !(empty && empty_before)) {
            if (!empty) CUPEL_TRY(cupel_buffer_add(&kept, line, length, err));
            CUPEL_TRY(cupel_buffer_add(&kept, "\n", 1, err));
        }
        if (!directive) empty_before = empty;
        line += length + (line[length] == '\n');
    }
    *out = kept.bytes ? kept.bytes : cupel_arena_text(parts->arena, "", 0);
    return *out ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "out of memory");
}

cupel_code cupel_source_standalone(const cupel_source *source, int entry_count, const char *const *entries,
                                   char **text, cupel_error *err) {
    cupel_source_parts parts = *source->parts;
    size_t count = parts.declarations.count;
    const char **names;
    int name_count;
    char *whole;
    size_t length;
    cupel_edits none = {.arena = parts.arena};
    uint8_t *reached = cupel_arena_alloc(parts.arena, count + 1);
    parts.left = cupel_arena_alloc(parts.arena, count + 1);
    if (!reached || !parts.left) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    memcpy(parts.left, source->parts->left, count);
    CUPEL_TRY(roots(&parts, entry_count, entries, &names, &name_count, err));
    CUPEL_TRY(cupel_reach_mark(&parts, name_count, names, reached, err));
    for (size_t i = 0; i < count; i++)
        if (!reached[i] && may_go(&parts.declarations.at[i])) parts.left[i] = CUPEL_LEFT_NONE;
    CUPEL_TRY(cupel_render_text(&parts, &none, &whole, &length, err));
    return squeeze(&parts, whole, text, err);
}
