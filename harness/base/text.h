/* Pieces of source text that remember where they stand, for messages with file, line and column. */
#ifndef CUPEL_TEXT_H
#define CUPEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "status.h"

/* length bytes from text (not terminated), which begin at line and column (from 1) of file. Borrows both. */
typedef struct cupel_span {
    const char *text;
    size_t length;
    const char *file;
    int line, column;
} cupel_span;

/* A span over a terminated string. */
cupel_span cupel_span_of(const char *text, const char *file, int line, int column);

/* The part of span from byte offset to byte end, with its own line and column. */
cupel_span cupel_span_part(cupel_span span, size_t offset, size_t end);

bool cupel_span_equals(cupel_span span, const char *text);

/* cupel_fail_at with the span's place. */
cupel_code cupel_fail_span(cupel_error *err, cupel_code code, cupel_span place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The candidate nearest to word by edit distance, if near enough to be a likely slip (at most a third of its
 * length, at least 1); else NULL. For messages such as: unknown key 'esnures', did you mean 'ensures'? */
const char *cupel_text_nearest(const char *word, const char *const *candidates, size_t count);

/* Reads a whole file into arena, terminated; *length gets its size. Files over 64 MiB are refused. */
CUPEL_MUST_USE cupel_code cupel_text_read(const char *path, cupel_arena *arena, char **text, size_t *length,
                                          cupel_error *err);

/* Writes a file so that a reader sees the old content or the new, never a part: a temporary file in the same
 * folder is written, flushed to disk and renamed. */
CUPEL_MUST_USE cupel_code cupel_text_write(const char *path, const void *bytes, size_t length,
                                           cupel_error *err);

#endif
