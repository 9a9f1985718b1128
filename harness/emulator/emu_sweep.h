/* Folders that compilers at work leave in the cache when they are killed. */
#ifndef CUPEL_EMU_SWEEP_H
#define CUPEL_EMU_SWEEP_H

#include <time.h>

/* Removes the cache's folders compile-XXXXXX and unpack-XXXXXX that nobody has touched since before. What
 * cannot be removed stays. */
void cupel_emu_sweep(const char *cache, time_t before);

#endif
