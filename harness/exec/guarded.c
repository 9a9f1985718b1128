#include "guarded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct placed {
    unsigned char *start;
    size_t size;
} placed;

struct cupel_guarded {
    unsigned char *map; /* capacity bytes and an inaccessible page */
    size_t capacity;
    size_t size; /* in use by this case, guards included */
    int count;
    placed buffers[CUPEL_TENSOR_MAX];
    /* What the guards held: one image of guard bytes a band, band b before buffer b, band count after the
     * last. Bands may be longer than CUPEL_GUARD_BYTES where alignment asks for it. */
    unsigned char *guards;
    size_t guards_capacity;
    size_t band_offset[CUPEL_TENSOR_MAX + 1];
};

cupel_guarded *cupel_guarded_create(void) {
    return calloc(1, sizeof(cupel_guarded));
}

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

void cupel_guarded_free(cupel_guarded *guarded) {
    if (guarded == NULL) return;
    if (guarded->map != NULL) munmap(guarded->map, guarded->capacity + page_size());
    free(guarded->guards);
    free(guarded);
}

/* At least size bytes that end at an inaccessible page. */
static cupel_code reserve(cupel_guarded *g, size_t size, cupel_error *err) {
    if (size <= g->capacity) return CUPEL_OK;
    size_t page = page_size(), capacity = (size + size / 2 + page - 1) / page * page;
    unsigned char *map =
        mmap(NULL, capacity + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return cupel_fail(err, CUPEL_MEMORY, "no memory for buffers of %zu bytes", size);
    if (mprotect(map + capacity, page, PROT_NONE) != 0) {
        munmap(map, capacity + page);
        return cupel_fail(err, CUPEL_MEMORY, "the page behind the buffers cannot be protected");
    }
    if (g->map != NULL) munmap(g->map, g->capacity + page);
    g->map = map;
    g->capacity = capacity;
    return CUPEL_OK;
}

static unsigned char *band_start(const cupel_guarded *g, int band) {
    return band == 0 ? g->map : g->buffers[band - 1].start + g->buffers[band - 1].size;
}

static size_t band_size(const cupel_guarded *g, int band) {
    unsigned char *stop = band == g->count ? g->map + g->size : g->buffers[band].start;
    return (size_t)(stop - band_start(g, band));
}

/* The type in whose format the memory around a buffer is poisoned, so that a stray read finds a NaN. */
static cupel_dtype type_of_buffer(const cupel_case *c, int b) {
    for (int t = 0; t < c->tensor_count; t++)
        if (c->tensors[t].buffer == b) return c->tensors[t].type;
    return CUPEL_F32;
}

/* Offsets from the region's start, which is page aligned; larger alignments than a page do not occur in
 * contracts. */
static size_t lay_out(const cupel_case *c, size_t offsets[CUPEL_TENSOR_MAX]) {
    size_t at = 0;
    for (int b = 0; b < c->buffer_count; b++) {
        size_t align = c->buffers[b].align > 1 ? (size_t)c->buffers[b].align : 1;
        at = (at + CUPEL_GUARD_BYTES + align - 1) / align * align + (size_t)c->buffers[b].misalign;
        offsets[b] = at;
        at += c->buffers[b].size;
    }
    return (at + CUPEL_GUARD_BYTES + 63) / 64 * 64;
}

static cupel_code fill_guards(cupel_guarded *g, const cupel_case *c, cupel_poison poison, cupel_error *err) {
    const uint32_t seed = c->recipe == NULL ? 0 : c->recipe->poison;
    size_t total = 0;
    for (int band = 0; band <= g->count; band++) {
        g->band_offset[band] = total;
        total += band_size(g, band);
    }
    if (total > g->guards_capacity) {
        unsigned char *guards = realloc(g->guards, total);
        if (guards == NULL)
            return cupel_fail(err, CUPEL_MEMORY, "no memory for the image of the guard bands");
        g->guards = guards;
        g->guards_capacity = total;
    }
    for (int band = 0; band <= g->count; band++) {
        unsigned char *start = band_start(g, band);
        cupel_dtype type = type_of_buffer(c, band == g->count ? band - 1 : band);
        cupel_poison_fill(cupel_poison_of(seed, poison), seed, type, start, band_size(g, band),
                          (size_t)(start - g->map));
        memcpy(g->guards + g->band_offset[band], start, band_size(g, band));
    }
    return CUPEL_OK;
}

cupel_code cupel_guarded_load(cupel_guarded *g, const cupel_case *c, cupel_poison poison, cupel_error *err) {
    size_t offsets[CUPEL_TENSOR_MAX];
    g->count = 0;
    size_t size = lay_out(c, offsets);
    CUPEL_TRY(reserve(g, size, err));
    g->size = size;
    g->count = c->buffer_count;
    for (int b = 0; b < c->buffer_count; b++) {
        g->buffers[b] = (placed){g->map + offsets[b], c->buffers[b].size};
        cupel_case_image(c, b, poison, g->buffers[b].start);
    }
    return fill_guards(g, c, poison, err);
}

unsigned char *cupel_guarded_buffer(const cupel_guarded *g, int b) {
    return g->buffers[b].start;
}

unsigned char *cupel_guarded_tensor(const cupel_guarded *g, const cupel_case *c, int tensor) {
    return g->buffers[c->tensors[tensor].buffer].start + c->tensors[tensor].offset;
}

void cupel_guarded_region(const cupel_guarded *g, unsigned char **start, size_t *size) {
    *start = g->map;
    *size = g->size;
}

int cupel_guarded_locate(const cupel_guarded *g, const void *address, int64_t *offset) {
    const unsigned char *at = address;
    if (g->map == NULL || at < g->map || at >= g->map + g->size) return -1;
    int nearest = -1;
    int64_t least = INT64_MAX;
    for (int b = 0; b < g->count; b++) {
        int64_t from = at - g->buffers[b].start, size = (int64_t)g->buffers[b].size;
        int64_t distance = from < 0 ? -from : from >= size ? from - size + 1 : 0;
        if (distance >= least) continue;
        least = distance;
        nearest = b;
        *offset = from;
    }
    return nearest;
}

/* The changed byte nearest to the buffer among size bytes from start of a band; false when none changed. */
static bool damage(const cupel_guarded *g, int band, size_t start, size_t size, bool towards_end,
                   const unsigned char **where) {
    const unsigned char *now = band_start(g, band) + start, *then = g->guards + g->band_offset[band] + start;
    if (memcmp(now, then, size) == 0) return false;
    size_t i = towards_end ? size - 1 : 0;
    while (now[i] == then[i]) i = towards_end ? i - 1 : i + 1;
    *where = now + i;
    return true;
}

/* A band between two buffers counts half for the one before it, half for the one behind it. */
static bool damage_behind(const cupel_guarded *g, int b, const unsigned char **where) {
    size_t size = band_size(g, b + 1);
    return damage(g, b + 1, 0, b + 1 == g->count ? size : size / 2, false, where);
}

static bool damage_before(const cupel_guarded *g, int b, const unsigned char **where) {
    size_t size = band_size(g, b), start = b == 0 ? 0 : size / 2;
    return damage(g, b, start, size - start, true, where);
}

cupel_code cupel_guarded_collect(const cupel_guarded *g, const cupel_case *c, cupel_arena *arena,
                                 cupel_observation *out, cupel_error *err) {
    out->buffer_count = g->count;
    for (int b = 0; b < g->count; b++) {
        cupel_buffer_after *after = &out->buffers[b];
        const placed *buffer = &g->buffers[b];
        const unsigned char *where;
        *after = (cupel_buffer_after){.size = c->buffers[b].size};
        after->bytes = cupel_arena_raw(arena, buffer->size, 1);
        if (after->bytes == NULL)
            return cupel_fail(err, CUPEL_MEMORY, "no memory for the buffers after the run");
        memcpy(after->bytes, buffer->start, buffer->size);
        int64_t behind = INT64_MAX;
        if (damage_behind(g, b, &where)) {
            after->guard_after_damaged = true;
            after->damage_offset = where - buffer->start;
            behind = after->damage_offset - (int64_t)buffer->size;
        }
        if (damage_before(g, b, &where)) {
            after->guard_before_damaged = true;
            if (buffer->start - where <= behind) after->damage_offset = where - buffer->start;
        }
    }
    return CUPEL_OK;
}
