/* An arena: many allocations, dropped together. One per contract, one per case. Not thread-safe. */
#ifndef CUPEL_ARENA_H
#define CUPEL_ARENA_H

#include <stddef.h>

#include "status.h"

typedef struct cupel_arena cupel_arena;

/* A new, empty arena that will hold at most limit bytes (0: no limit); NULL when out of memory. */
cupel_arena *cupel_arena_create(size_t limit);

/* Drops every allocation but keeps the memory for the next use. */
void cupel_arena_reset(cupel_arena *arena);

/* Drops the arena; accepts NULL. */
void cupel_arena_free(cupel_arena *arena);

/* size zeroed bytes, aligned to 64; NULL when out of memory or over the limit. A size of 0 gives a valid
 * pointer that must not be dereferenced. */
void *cupel_arena_alloc(cupel_arena *arena, size_t size);

/* count * size bytes, checked for overflow; not zeroed: for large arrays that are written at once. */
void *cupel_arena_raw(cupel_arena *arena, size_t count, size_t size);

/* A terminated copy of length bytes of text. */
char *cupel_arena_text(cupel_arena *arena, const char *text, size_t length);

/* A formatted string. */
char *cupel_arena_printf(cupel_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes handed out since the last reset. */
size_t cupel_arena_used(const cupel_arena *arena);

#endif
