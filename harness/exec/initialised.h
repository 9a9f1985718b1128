/* Which bytes of guarded memory a candidate may touch, which it may store to, and which hold something that
 * it may read: the emulator's bit maps. */
#ifndef CUPEL_INITIALISED_H
#define CUPEL_INITIALISED_H

#include "guarded.h"

typedef struct cupel_initialised {
    uint8_t *valid, *writable, *readable; /* one bit a byte of the region, and 8 more bytes */
    size_t capacity;                      /* bytes of each map */
} cupel_initialised;

/* For the case that guarded holds. Start from all zeros; the maps are reused from case to case. */
CUPEL_MUST_USE cupel_code cupel_initialised_load(cupel_initialised *maps, const cupel_guarded *guarded,
                                                 const cupel_case *c, cupel_error *err);
/* After a run: each written buffer's `reached`, in arena. */
CUPEL_MUST_USE cupel_code cupel_initialised_collect(const cupel_initialised *maps,
                                                    const cupel_guarded *guarded, const cupel_case *c,
                                                    cupel_arena *arena, cupel_observation *out,
                                                    cupel_error *err);

void cupel_initialised_free(cupel_initialised *maps);

#endif
