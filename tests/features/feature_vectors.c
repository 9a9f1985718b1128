/* What vector types are: their sizes and alignments (CUDA C++ Programming Guide, "Built-in Vector Types"),
 * and that a wide access moves the bytes of its elements. */
#include "feature.h"

static void vector_sizes(const uint32_t *x, uint32_t *want) {
    static const uint8_t sizes[24][2] = {{1, 1},   {2, 2},   {3, 1},   {4, 4}, {2, 2},   {4, 4},
                                         {4, 4},   {6, 2},   {8, 8},   {8, 8}, {12, 4},  {16, 16},
                                         {8, 8},   {16, 16}, {4, 4},   {8, 8}, {12, 4},  {16, 16},
                                         {16, 16}, {16, 16}, {16, 16}, {8, 8}, {16, 16}, {24, 8}};
    (void)x;
    for (int i = 0; i < 24; i++) want[i] = (uint32_t)sizes[i][0] << 8 | sizes[i][1];
}

static int32_t low(uint32_t x, int width) {
    return (int32_t)(x << (32 - width)) >> (32 - width);
}

static void vector_makers(const uint32_t *x, uint32_t *want) {
    want[0] = (uint32_t)low(x[0], 8), want[1] = (uint32_t)low(x[3], 8), want[2] = x[1] & 255;
    want[3] = (uint32_t)low(x[1], 16), want[4] = x[2] & 0xffff, want[5] = x[0] + x[2];
    want[6] = x[3] ^ x[0], want[7] = feature_bits(feature_float(x[0]) + 2.0f);
    want[8] = feature_bits(feature_float(x[3]));
    feature_put(want + 9, feature_long(x) - 1), feature_put_double(want + 11, feature_double(x) * 0.5);
    want[13] = x[4] + 5, want[14] = 0;
    want[15] = FEATURE_ANY;
}

/* The last word depends on the thread. */
static void makers_of_all(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned i = 0; i < l->threads * l->blocks; i++) {
        vector_makers(x + FEATURE_INPUTS * i, want + 16 * i);
        want[16 * i + 15] = i % l->threads % l->block[0] + 103;
    }
}

static uint32_t bytes_reversed(uint32_t x) {
    return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

static void vector_access(const uint32_t *x, uint32_t *want) {
    for (int i = 0; i < 4; i++) want[i] = x[3 - i], want[4 + i] = x[4 + i];
    want[8] = x[3], want[9] = x[2], want[10] = bytes_reversed(x[5]), want[11] = x[7];
}

static void vector_structures(const uint32_t *x, uint32_t *want) {
    want[0] = x[2];
    want[1] = feature_bits(feature_float(x[1]) + 1.0f);
    want[2] = feature_bits(feature_float(x[0])) ^ feature_bits(feature_float(x[3]) + 1.0f) ^ 3;
    want[3] = feature_bits(feature_float(x[2]) + 1.0f);
    for (int i = 0; i < 4; i++) want[4 + i] = x[4 + i] + (i == 1 ? x[4] : 0);
    for (int i = 0; i < 4; i++) want[8 + i] = feature_bits(feature_float(x[i]));
    want[12] = 16, want[13] = 16;
}

static const feature features[] = {
    {.name = "vector_sizes", .words = 24, .thread = vector_sizes},
    {.name = "vector_makers", .words = 16, .grid = makers_of_all},
    {.name = "vector_access", .words = 12, .thread = vector_access},
    {.name = "vector_structures", .words = 16, .thread = vector_structures},
};
FEATURE_FILE(vectors);
