/* What the steps of a source share: the assembled text, its declarations, and what is left of each. */
#ifndef CUPEL_SOURCE_IMPL_H
#define CUPEL_SOURCE_IMPL_H

#include "declarations.h"
#include "source.h"

typedef enum cupel_left {
    CUPEL_LEFT_ALL,
    CUPEL_LEFT_HEAD, /* a function without its body */
    CUPEL_LEFT_NONE
} cupel_left;

struct cupel_source_parts {
    bool for_device; /* cupel_source_options */
    cupel_arena *arena;
    cupel_structure structure; /* of the assembled text */
    cupel_macros macros;
    cupel_declarations declarations;
    uint8_t *left;         /* per declaration */
    uint8_t *left_at_load; /* before anything was dropped */
    bool dropped;
};

/* host_code.c: decides what is left of each declaration at first. */
void cupel_host_code_mark(cupel_source_parts *parts);

/* kernel_list.c: fills in out's list of kernels. */
CUPEL_MUST_USE cupel_code cupel_kernel_list_fill(const cupel_source_parts *parts, cupel_source *out,
                                                 cupel_error *err);

/* A replacement in the assembled text. */
typedef struct cupel_edit {
    size_t offset, length;
    const char *text;
} cupel_edit;

typedef struct cupel_edits {
    cupel_arena *arena;
    size_t count, capacity;
    cupel_edit *at;
} cupel_edits;

/* render.c: the text that is left, with edits applied; edits inside what was left out have no effect. */
CUPEL_MUST_USE cupel_code cupel_render_add(cupel_edits *edits, size_t offset, size_t length, const char *text,
                                           cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_render_text(const cupel_source_parts *parts, cupel_edits *edits, char **text,
                                            size_t *length, cupel_error *err);

/* dynamic_shared.c: extern __shared__ arrays become references to the launch's dynamic shared memory. */
CUPEL_MUST_USE cupel_code cupel_dynamic_shared_rewrite(const cupel_source_parts *parts, cupel_edits *edits,
                                                       int *count, cupel_error *err);

/* refusals.c: finds what cannot be emulated. Inline assembly is replaced by a call that stops the run;
 * functions with anything else of the kind are left out. */
CUPEL_MUST_USE cupel_code cupel_refusals_find(cupel_source_parts *parts, cupel_source *out, cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_refusals_replace(const cupel_source_parts *parts, cupel_edits *edits,
                                                 cupel_error *err);

/* reach.c: marks (one byte a declaration) what the kernels of the entries may use, by the names that they
 * mention. */
CUPEL_MUST_USE cupel_code cupel_reach_mark(const cupel_source_parts *parts, int entry_count,
                                           const char *const *entries, uint8_t *reached, cupel_error *err);

#endif
