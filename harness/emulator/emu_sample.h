/* Which blocks of a large grid stand for all of them where a search only filters: the first, the last, the
 * one in the middle, those at the ends of the axes, where tiles are partial, and a few that are drawn. */
#ifndef CUPEL_EMU_SAMPLE_H
#define CUPEL_EMU_SAMPLE_H

#include <stdint.h>

enum {
    CUPEL_EMU_SAMPLE_ABOVE = 16, /* blocks; smaller grids are run whole */
    CUPEL_EMU_SAMPLE_DRAWN = 4,
    CUPEL_EMU_SAMPLE_MAX = 3 + 2 * 3 + CUPEL_EMU_SAMPLE_DRAWN
};

/* The sample of a grid, as ascending numbers x + grid.x * (y + grid.y * z), the same for the same seed.
 * Returns how many; 0 where the grid is to be run whole, or is none. */
uint32_t cupel_emu_sample(const int64_t grid[3], uint64_t seed, uint64_t blocks[CUPEL_EMU_SAMPLE_MAX]);

#endif
