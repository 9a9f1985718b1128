/* Guarded memory for one run: every buffer of a case at its alignment, between poisoned guard bands. Shared
 * by backends that run in this process. */
#ifndef CUPEL_GUARDED_H
#define CUPEL_GUARDED_H

#include "materialise.h"
#include "observation.h"

enum { CUPEL_GUARD_BYTES = 4096 };

typedef struct cupel_guarded cupel_guarded;

/* One contiguous region for all buffers, reused from case to case (grows as needed). The last page is
 * followed by an inaccessible one. */
cupel_guarded *cupel_guarded_create(void);
void cupel_guarded_free(cupel_guarded *guarded);

/* Lays the case's buffers out and fills images and guards. */
CUPEL_MUST_USE cupel_code cupel_guarded_load(cupel_guarded *guarded, const cupel_case *c, cupel_poison poison,
                                             cupel_error *err);

/* Address of a buffer's first byte, and of a tensor's element [0, ..]. */
unsigned char *cupel_guarded_buffer(const cupel_guarded *guarded, int b);
unsigned char *cupel_guarded_tensor(const cupel_guarded *guarded, const cupel_case *c, int tensor);
/* The whole region, guards included. */
void cupel_guarded_region(const cupel_guarded *guarded, unsigned char **start, size_t *size);
/* The buffer that contains or is nearest to address, and the byte offset from its start; -1 when the address
 * is not in the region. */
int cupel_guarded_locate(const cupel_guarded *guarded, const void *address, int64_t *offset);

/* Copies contents into arena and compares guards. */
CUPEL_MUST_USE cupel_code cupel_guarded_collect(const cupel_guarded *guarded, const cupel_case *c,
                                                cupel_arena *arena, cupel_observation *out, cupel_error *err);

#endif
