#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "source_impl.h"

cupel_code cupel_render_add(cupel_edits *edits, size_t offset, size_t length, const char *text,
                            cupel_error *err) {
    if (edits->count == edits->capacity) {
        size_t capacity = edits->capacity ? edits->capacity * 2 : 64;
        cupel_edit *grown = cupel_arena_raw(edits->arena, capacity, sizeof *grown);
        if (!grown) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        if (edits->count) memcpy(grown, edits->at, edits->count * sizeof *grown);
        edits->at = grown;
        edits->capacity = capacity;
    }
    edits->at[edits->count++] = (cupel_edit){offset, length, text};
    return CUPEL_OK;
}

static void blank(char *text, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        if (text[i] != '\n') text[i] = ' ';
}

static bool is_pragma(const cupel_tokens *tokens, size_t i) {
    char name[16];
    if (tokens->at[i].kind != CUPEL_TOKEN_DIRECTIVE) return false;
    cupel_lexer_directive(tokens, i, name, sizeof name);
    return strcmp(name, "pragma") == 0;
}

/* Blanks tokens begin..end and what lies between them, but of preprocessor lines only pragmas, which mean
 * nothing without their loop: conditionals may reach further, and macros may be used elsewhere. */
static void blank_tokens(char *text, const cupel_tokens *tokens, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
        const cupel_token *t = &tokens->at[i];
        if (t->kind == CUPEL_TOKEN_DIRECTIVE && !is_pragma(tokens, i)) continue;
        size_t stop = t->offset + t->length;
        if (i + 1 < end && tokens->at[i + 1].kind != CUPEL_TOKEN_DIRECTIVE) stop = tokens->at[i + 1].offset;
        blank(text, t->offset, stop);
    }
}

static void leave_out(const cupel_source_parts *parts, char *text) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    for (size_t i = 0; i < parts->declarations.count; i++) {
        const cupel_declaration *d = &parts->declarations.at[i];
        if (parts->left[i] == CUPEL_LEFT_NONE) {
            blank_tokens(text, tokens, d->begin, d->end);
        } else if (parts->left[i] == CUPEL_LEFT_HEAD) {
            size_t semicolon = tokens->at[d->body_begin].offset;
            bool gone = text[semicolon] == ' '; /* with the class around it */
            blank_tokens(text, tokens, d->head_end, d->end);
            if (!gone) text[semicolon] = ';';
        }
    }
}

static int by_offset(const void *a, const void *b) {
    size_t x = ((const cupel_edit *)a)->offset, y = ((const cupel_edit *)b)->offset;
    return x < y ? -1 : x > y;
}

/* An edit inverts nothing that was blanked: the place where it begins must still hold its own text. */
static bool applies(const cupel_edit *edit, const char *text, const char *original, size_t length) {
    return edit->offset >= length || text[edit->offset] == original[edit->offset];
}

/* The newlines of replaced text, continued where they were. */
static cupel_code keep_lines(cupel_buffer *out, const char *text, size_t length, cupel_error *err) {
    for (size_t k = 0; k < length; k++) {
        if (text[k] != '\n') continue;
        bool continued = k && (text[k - 1] == '\\' || (k > 1 && text[k - 1] == '\r' && text[k - 2] == '\\'));
        CUPEL_TRY(cupel_buffer_add(out, continued ? "\\\n" : "\n", continued ? 2 : 1, err));
    }
    return CUPEL_OK;
}

cupel_code cupel_render_text(const cupel_source_parts *parts, cupel_edits *edits, char **text, size_t *length,
                             cupel_error *err) {
    const cupel_tokens *tokens = &parts->structure.tokens;
    char *copy = cupel_arena_raw(parts->arena, tokens->length + 1, 1);
    if (!copy) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    memcpy(copy, tokens->text, tokens->length);
    copy[tokens->length] = '\0';
    leave_out(parts, copy);
    if (edits->count) qsort(edits->at, edits->count, sizeof *edits->at, by_offset);
    cupel_buffer out = {.arena = parts->arena};
    size_t copied = 0;
    for (size_t i = 0; i < edits->count; i++) {
        const cupel_edit *e = &edits->at[i];
        if (e->offset < copied || !applies(e, copy, tokens->text, tokens->length)) continue;
        CUPEL_TRY(cupel_buffer_add(&out, copy + copied, e->offset - copied, err));
        CUPEL_TRY(cupel_buffer_add(&out, e->text, strlen(e->text), err));
        CUPEL_TRY(keep_lines(&out, tokens->text + e->offset, e->length, err));
        copied = e->offset + e->length;
    }
    CUPEL_TRY(cupel_buffer_add(&out, copy + copied, tokens->length - copied, err));
    *text = out.bytes;
    *length = out.length;
    return CUPEL_OK;
}
