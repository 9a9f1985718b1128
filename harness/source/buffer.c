#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static cupel_code reserve(cupel_buffer *b, size_t more, cupel_error *err) {
    if (b->length + more + 1 <= b->capacity) return CUPEL_OK;
    size_t capacity = (b->length + more + 1) * 2;
    char *grown = cupel_arena_raw(b->arena, capacity, 1);
    if (!grown) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (b->length) memcpy(grown, b->bytes, b->length);
    b->bytes = grown;
    b->capacity = capacity;
    return CUPEL_OK;
}

cupel_code cupel_buffer_add(cupel_buffer *b, const char *text, size_t length, cupel_error *err) {
    CUPEL_TRY(reserve(b, length, err));
    memcpy(b->bytes + b->length, text, length);
    b->length += length;
    b->bytes[b->length] = '\0';
    return CUPEL_OK;
}

cupel_code cupel_buffer_printf(cupel_buffer *b, cupel_error *err, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    cupel_code code = length < 0 ? CUPEL_MEMORY : reserve(b, (size_t)length, err);
    if (code == CUPEL_OK) {
        vsnprintf(b->bytes + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
    return code;
}
