#include "arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUPEL_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CUPEL_ASAN 1
#endif
#ifdef CUPEL_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#define RED_ZONE 64
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define RED_ZONE 0
#endif

enum { ALIGNMENT = 64, FIRST_CHUNK = 64 * 1024 };

/* Chunks form a list; the newest is filled from front to back. Under ASan objects are separated by red zones:
 *
 *   | header | object | red zone | object | red zone | free ... |
 */
typedef struct chunk {
    struct chunk *next;
    size_t size, used; /* of the payload */
    unsigned char *payload;
} chunk;

struct cupel_arena {
    chunk *chunks;
    size_t limit, used, reserved;
};

static chunk *chunk_create(size_t size) {
    chunk *c = malloc(sizeof *c);
    if (!c) return NULL;
    c->payload = aligned_alloc(ALIGNMENT, size);
    if (!c->payload) {
        free(c);
        return NULL;
    }
    c->next = NULL;
    c->size = size;
    c->used = 0;
    POISON(c->payload, size);
    return c;
}

static void chunk_free(chunk *c) {
    UNPOISON(c->payload, c->size);
    free(c->payload);
    free(c);
}

cupel_arena *cupel_arena_create(size_t limit) {
    cupel_arena *arena = calloc(1, sizeof *arena);
    if (arena) arena->limit = limit;
    return arena;
}

void cupel_arena_reset(cupel_arena *arena) {
    arena->used = 0;
    if (!arena->chunks) return;
    /* keep one chunk that would have held everything, so that the next case needs no malloc */
    if (arena->chunks->next) {
        size_t wanted = arena->reserved;
        while (arena->chunks) {
            chunk *next = arena->chunks->next;
            chunk_free(arena->chunks);
            arena->chunks = next;
        }
        arena->chunks = chunk_create(wanted);
        arena->reserved = arena->chunks ? wanted : 0;
        return;
    }
    arena->chunks->used = 0;
    POISON(arena->chunks->payload, arena->chunks->size);
}

void cupel_arena_free(cupel_arena *arena) {
    if (!arena) return;
    while (arena->chunks) {
        chunk *next = arena->chunks->next;
        chunk_free(arena->chunks);
        arena->chunks = next;
    }
    free(arena);
}

void *cupel_arena_raw(cupel_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) return NULL;
    size_t wanted = (bytes + RED_ZONE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (wanted == 0) wanted = ALIGNMENT;
    if (arena->limit && (arena->used > arena->limit || wanted > arena->limit - arena->used)) return NULL;
    chunk *c = arena->chunks;
    if (!c || wanted > c->size - c->used) {
        size_t fresh = arena->reserved > FIRST_CHUNK ? arena->reserved : FIRST_CHUNK;
        if (fresh < wanted) fresh = wanted;
        c = chunk_create(fresh);
        if (!c) return NULL;
        c->next = arena->chunks;
        arena->chunks = c;
        arena->reserved += fresh;
    }
    unsigned char *p = c->payload + c->used;
    c->used += wanted;
    arena->used += wanted;
    UNPOISON(p, bytes);
    return p;
}

void *cupel_arena_alloc(cupel_arena *arena, size_t size) {
    void *p = cupel_arena_raw(arena, size, 1);
    if (p) memset(p, 0, size);
    return p;
}

char *cupel_arena_text(cupel_arena *arena, const char *text, size_t length) {
    char *copy = cupel_arena_raw(arena, length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *cupel_arena_printf(cupel_arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : cupel_arena_raw(arena, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

size_t cupel_arena_used(const cupel_arena *arena) {
    return arena->used;
}
