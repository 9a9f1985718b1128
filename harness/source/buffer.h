/* A text that grows in an arena. */
#ifndef CUPEL_BUFFER_H
#define CUPEL_BUFFER_H

#include "arena.h"
#include "status.h"

typedef struct cupel_buffer {
    cupel_arena *arena;
    char *bytes; /* always terminated once something was added */
    size_t length, capacity;
} cupel_buffer;

CUPEL_MUST_USE cupel_code cupel_buffer_add(cupel_buffer *buffer, const char *text, size_t length,
                                           cupel_error *err);

CUPEL_MUST_USE cupel_code cupel_buffer_printf(cupel_buffer *buffer, cupel_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
