#include "emu_sample.h"

#include <stdbool.h>
#include <string.h>

#include "philox.h"

enum { STREAM_SAMPLE = 0x454d5503 };

typedef struct sample {
    const int64_t *grid;
    uint64_t *blocks;
    uint32_t count;
} sample;

static void add(sample *s, uint64_t block) {
    uint32_t at = s->count;
    while (at > 0 && s->blocks[at - 1] > block) at--;
    if (at > 0 && s->blocks[at - 1] == block) return;
    memmove(&s->blocks[at + 1], &s->blocks[at], (s->count - at) * sizeof *s->blocks);
    s->blocks[at] = block;
    s->count++;
}

static void add_at(sample *s, const int64_t at[3]) {
    add(s,
        (uint64_t)at[0] + (uint64_t)s->grid[0] * ((uint64_t)at[1] + (uint64_t)s->grid[1] * (uint64_t)at[2]));
}

/* At the end of one axis, beginning of the others; and on the middle of that side. */
static void add_ends(sample *s, int axis) {
    int64_t corner[3] = {0, 0, 0}, side[3];
    for (int i = 0; i < 3; i++) side[i] = s->grid[i] / 2;
    corner[axis] = side[axis] = s->grid[axis] - 1;
    add_at(s, corner);
    add_at(s, side);
}

static bool is_large(const int64_t grid[3], uint64_t *total) {
    const double most = 0x1p53;
    double blocks = 1;
    for (int i = 0; i < 3; i++) {
        if (grid[i] < 1) return false;
        blocks *= (double)grid[i];
    }
    if (blocks <= CUPEL_EMU_SAMPLE_ABOVE || blocks > most) return false;
    *total = (uint64_t)blocks;
    return true;
}

uint32_t cupel_emu_sample(const int64_t grid[3], uint64_t seed, uint64_t blocks[CUPEL_EMU_SAMPLE_MAX]) {
    sample s = {grid, blocks, 0};
    uint64_t total;
    if (!is_large(grid, &total)) return 0;
    add(&s, 0);
    add(&s, total - 1);
    add_at(&s, (const int64_t[]){grid[0] / 2, grid[1] / 2, grid[2] / 2});
    for (int axis = 0; axis < 3; axis++) add_ends(&s, axis);
    cupel_random random = cupel_random_start(seed, STREAM_SAMPLE);
    for (int i = 0; i < CUPEL_EMU_SAMPLE_DRAWN; i++) add(&s, cupel_random_below(&random, total));
    return s.count;
}
