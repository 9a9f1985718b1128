/* Static shared arrays in front of the sanitizer: each is followed by a red zone, which belongs to nothing,
 * so that an index past one array does not land in the next one. The zones are put between the compiler's
 * halves, as arrays of their own behind the author's in the section of shared memory; emu_load.c finds them
 * by their names. */
#ifndef CUPEL_EMU_RED_ZONE_H
#define CUPEL_EMU_RED_ZONE_H

#include "buffer.h"

#define CUPEL_EMU_RED_ZONE_NAME "cupel_red_zone."

/* Bytes of a zone: more than a row of most tiles. */
enum { CUPEL_EMU_RED_ZONE_BYTES = 1024 };

/* Appends to out the optimiser's text with a red zone behind every variable of shared memory. Fails with
 * MEMORY. */
CUPEL_MUST_USE cupel_code cupel_emu_red_zone_write(const char *text, cupel_buffer *out, cupel_error *err);

#endif
