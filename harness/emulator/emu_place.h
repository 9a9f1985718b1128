/* From an address in a candidate to function, file and line, through its DWARF line table. */
#ifndef CUPEL_EMU_PLACE_H
#define CUPEL_EMU_PLACE_H

#include <stdint.h>

#include "observation.h"

typedef struct cupel_emu_places cupel_emu_places;

/* For the object at path, loaded at base. Works without debug information too, then with less to say; NULL
 * when out of memory. */
cupel_emu_places *cupel_emu_places_open(const char *path, uintptr_t base);
void cupel_emu_places_close(cupel_emu_places *places); /* accepts NULL */

/* Fills in function, file and line for the call that returns to pc. Inlined functions of our own headers are
 * left out: the place is the author's line. Answers are remembered. */
void cupel_emu_places_find(cupel_emu_places *places, const void *pc, cupel_place *out);

#endif
