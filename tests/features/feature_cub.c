/* What CUB's algorithms mean: sums and prefix sums, one thread after the other. */
#include "feature.h"

static uint32_t input(const uint32_t *x, unsigned thread, int word) {
    return x[FEATURE_INPUTS * thread + (unsigned)word];
}

static void cub_block_reduce(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        uint32_t *out = want + 5 * b * l->threads, plus = 0;
        for (unsigned t = 0; t < l->threads; t++) {
            unsigned thread = b * l->threads + t;
            uint32_t v = input(x, thread, 0), w = input(x, thread, 1);
            out[0] += v, out[1] = w > out[1] ? w : out[1];
            if (t < (l->threads + 1) / 2) out[2] += v;
            out[3] += v + w + input(x, thread, 2);
            plus = t == 0 ? w : (v | 1) * plus + w;
        }
        out[4] = plus;
    }
}

static void cub_warp_reduce(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w))
        for (unsigned i = 0; i < w.lanes; i++) {
            uint32_t v = input(x, w.first + i, 0), u = input(x, w.first + i, 1);
            uint32_t *out = want + 3 * w.first;
            out[0] += v, out[1] = u > out[1] ? u : out[1];
            out[3 * (i / 8 * 8) + 2] += v;
        }
}

static void cub_block_scan(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        uint32_t sum = 0, largest = 0, pairs = 0;
        for (unsigned t = 0; t < l->threads; t++) {
            unsigned thread = b * l->threads + t;
            uint32_t *out = want + 8 * thread, v = input(x, thread, 0), w = input(x, thread, 1);
            out[1] = sum, out[7] = 1000 + sum;
            sum += v, largest = w > largest ? w : largest;
            out[0] = sum, out[3] = largest;
            out[4] = pairs, out[5] = pairs + input(x, thread, 2);
            pairs += input(x, thread, 2) + input(x, thread, 3);
            out[6] = pairs;
        }
        for (unsigned t = 0; t < l->threads; t++) want[8 * (b * l->threads + t) + 2] = sum;
    }
}

static void cub_warp_scan(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < w.lanes; i++) {
            want[2 * (w.first + i) + 1] = sum;
            sum += input(x, w.first + i, 0);
            want[2 * (w.first + i)] = sum;
        }
    }
}

static void cub_load_store(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        const uint32_t *block = x + FEATURE_INPUTS * b * l->threads;
        for (unsigned t = 0; t < l->threads; t++)
            for (unsigned i = 0; i < 4; i++) {
                uint32_t *out = want + 8 * (b * l->threads + t);
                unsigned at = i * l->threads + t;
                out[i] = block[4 * t + i];
                out[4 + i] = at < 4 * l->threads - 3 ? block[at] : 7;
            }
    }
}

static const feature features[] = {
    {.name = "cub_block_reduce", .words = 5, .grid = cub_block_reduce},
    {.name = "cub_warp_reduce", .words = 3, .grid = cub_warp_reduce},
    {.name = "cub_block_scan", .words = 8, .grid = cub_block_scan},
    {.name = "cub_warp_scan", .words = 2, .grid = cub_warp_scan},
    {.name = "cub_load_store", .words = 8, .grid = cub_load_store},
};
FEATURE_FILE(cub);
