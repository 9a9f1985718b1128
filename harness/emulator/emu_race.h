/* The races that the sanitizer has seen in a run: few are kept, each pair of places once. */
#ifndef CUPEL_EMU_RACE_H
#define CUPEL_EMU_RACE_H

#include "emu_shadow.h"
#include "observation.h"

typedef struct cupel_emu_race_side {
    cupel_race_use use;
    cupel_emu_mark mark;
} cupel_emu_race_side;

void cupel_emu_race_begin(void);
/* An access to size bytes at address, later, was not ordered after the one in earlier, to its first byte. */
void cupel_emu_race_add(const cupel_emu_race_side *earlier, const cupel_emu_race_side *later,
                        uintptr_t address, size_t size);
/* The thread updates size bytes at address atomically: a plain load of theirs by itself that was not ordered
 * with other atomics was the first guess of a loop around a compare-and-swap, which does not depend on it. */
void cupel_emu_race_excuse(uint32_t block, uint32_t thread, uintptr_t address, size_t size);
/* Puts them into the run's observation, with their lines. */
void cupel_emu_race_end(void);

#endif
