/* Hints change nothing that a thread sees; the other kernels by hand. */
#include <string.h>

#include "feature.h"

static void hinted_scalars(const uint32_t *x, uint32_t *want) {
    memcpy(want, x, 24), memcpy(want + 6, x, 24);
    memcpy(want + 12, x, 6), memcpy(want + 14, x, 12);
    want[17] = 0;
    memcpy(want + 18, x, 8), memcpy(want + 20, x + 2, 8), memcpy(want + 22, x + 4, 8);
}

static void hinted_vectors(const uint32_t *x, uint32_t *want) {
    memcpy(want, x, 32);
    memcpy(want + 8, x, 16), memcpy(want + 12, x, 16);
}

static void constants(const uint32_t *x, uint32_t *want) {
    static const uint32_t digits[] = {3, 1, 4, 1, 5, 9, 2, 6}, powers[] = {1, 10, 100, 1000};
    want[0] = digits[x[0] & 7], want[1] = 0x40200000, want[2] = x[1] & 1 ? (uint32_t)-7 : 7, want[3] = 0;
    want[4] = 10 * ((x[2] & 3) + 1), want[5] = 5, want[6] = powers[x[3] & 3];
    want[7] = feature_bits((float)(1.0 / 3.0));
}

static void fences(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned i = 0; i < l->threads * l->blocks; i++) {
        unsigned rank = i % l->threads;
        want[2 * i] = x[FEATURE_INPUTS * (i - rank + l->threads - 1 - rank)];
        want[2 * i + 1] = x[FEATURE_INPUTS * i + 1];
    }
}

static void address_spaces(const uint32_t *x, uint32_t *want) {
    want[0] = 1, want[1] = 2, want[2] = 4, want[3] = 17, want[4] = x[3];
}

static void clocks(const uint32_t *x, uint32_t *want) {
    uint32_t n = x[0] & 15;
    want[0] = want[1] = 1, want[2] = n * (n + 1) / 2;
}

static void bytes(const uint32_t *x, uint32_t *want) {
    unsigned char all[24];
    for (int i = 0; i < 24; i++) all[i] = 0x5a;
    for (int i = 0; i < 12; i++) all[3 + i] = (unsigned char)(x[i / 4] >> 8 * (i % 4));
    memcpy(want, all, sizeof all);
}

static const feature features[] = {
    {.name = "hinted_scalars", .words = 24, .thread = hinted_scalars},
    {.name = "hinted_vectors", .words = 16, .thread = hinted_vectors},
    {.name = "constants", .words = 8, .thread = constants},
    {.name = "fences", .words = 2, .grid = fences},
    {.name = "address_spaces", .words = 5, .thread = address_spaces},
    {.name = "clocks", .words = 3, .thread = clocks},
    {.name = "bytes", .words = 6, .thread = bytes},
};
FEATURE_FILE(memory);
