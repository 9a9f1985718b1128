#include "initialised.h"

#include <stdlib.h>
#include <string.h>

static void set_bits(uint8_t *map, size_t start, size_t count) {
    size_t stop = start + count;
    while (start < stop && (start & 7) != 0) map[start >> 3] |= (uint8_t)(1u << (start & 7)), start++;
    size_t whole = (stop - start) / 8;
    if (start < stop) memset(map + (start >> 3), 0xff, whole);
    for (start += 8 * whole; start < stop; start++) map[start >> 3] |= (uint8_t)(1u << (start & 7));
}

static bool is_contiguous(const cupel_case_tensor *t) {
    int64_t expected = 1;
    for (int axis = t->rank; axis-- > 0;) {
        if (t->shape[axis] != 1 && t->stride[axis] != expected) return false;
        expected *= t->shape[axis];
    }
    return true;
}

/* Every element of a tensor of any layout, start being the place of element [0, 0, ..]. */
static void set_elements(uint8_t *map, const cupel_case_tensor *t, int64_t start) {
    int64_t size = (int64_t)cupel_format_of(t->type)->size, index[CUPEL_RANK_MAX] = {0}, at = 0;
    if (is_contiguous(t)) {
        set_bits(map, (size_t)start, (size_t)(t->count * size));
        return;
    }
    for (int64_t i = 0; i < t->count; i++) {
        set_bits(map, (size_t)(start + at * size), (size_t)size);
        for (int axis = t->rank; axis-- > 0;) {
            at += t->stride[axis];
            if (++index[axis] < t->shape[axis]) break;
            at -= t->stride[axis] * t->shape[axis];
            index[axis] = 0;
        }
    }
}

static cupel_code reserve(cupel_initialised *maps, size_t bytes, cupel_error *err) {
    if (bytes <= maps->capacity) return CUPEL_OK;
    bytes += bytes / 2;
    uint8_t *valid = realloc(maps->valid, bytes);
    if (valid != NULL) maps->valid = valid;
    uint8_t *writable = realloc(maps->writable, bytes);
    if (writable != NULL) maps->writable = writable;
    uint8_t *readable = realloc(maps->readable, bytes);
    if (readable != NULL) maps->readable = readable;
    if (valid == NULL || writable == NULL || readable == NULL)
        return cupel_fail(err, CUPEL_MEMORY, "no memory for the checker's maps");
    maps->capacity = bytes;
    return CUPEL_OK;
}

cupel_code cupel_initialised_load(cupel_initialised *maps, const cupel_guarded *guarded, const cupel_case *c,
                                  cupel_error *err) {
    unsigned char *region;
    size_t size;
    cupel_guarded_region(guarded, &region, &size);
    size_t bytes = size / 8 + 16;
    CUPEL_TRY(reserve(maps, bytes, err));
    memset(maps->valid, 0, bytes);
    memset(maps->writable, 0, bytes);
    memset(maps->readable, 0, bytes);
    for (int b = 0; b < c->buffer_count; b++) {
        size_t start = (size_t)(cupel_guarded_buffer(guarded, b) - region);
        set_bits(maps->valid, start, c->buffers[b].size);
        if (c->buffers[b].written) set_bits(maps->writable, start, c->buffers[b].size);
    }
    for (int t = 0; t < c->tensor_count; t++)
        if (c->tensors[t].values != NULL && c->tensors[t].count > 0)
            set_elements(maps->readable, &c->tensors[t], cupel_guarded_tensor(guarded, c, t) - region);
    return CUPEL_OK;
}

cupel_code cupel_initialised_collect(const cupel_initialised *maps, const cupel_guarded *guarded,
                                     const cupel_case *c, cupel_arena *arena, cupel_observation *out,
                                     cupel_error *err) {
    unsigned char *region;
    size_t region_size;
    cupel_guarded_region(guarded, &region, &region_size);
    for (int b = 0; b < c->buffer_count; b++) {
        if (!c->buffers[b].written) continue;
        size_t start = (size_t)(cupel_guarded_buffer(guarded, b) - region),
               bytes = (c->buffers[b].size + 7) / 8;
        const uint8_t *from = maps->readable + (start >> 3);
        unsigned shift = start & 7;
        uint8_t *reached = cupel_arena_raw(arena, bytes + 1, 1);
        if (reached == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for what the run stored");
        if (shift == 0)
            memcpy(reached, from, bytes);
        else
            for (size_t i = 0; i < bytes; i++)
                reached[i] = (uint8_t)(from[i] >> shift | from[i + 1] << (8 - shift));
        out->buffers[b].reached = reached;
    }
    return CUPEL_OK;
}

void cupel_initialised_free(cupel_initialised *maps) {
    free(maps->valid);
    free(maps->writable);
    free(maps->readable);
    *maps = (cupel_initialised){0};
}
