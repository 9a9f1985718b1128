/* What inline PTX on memory and among threads means. */
#include "feature.h"

static void ptx_loads(const uint32_t *x, uint32_t *want) {
    for (int i = 0; i < 6; i++) want[i] = x[i];
    want[6] = x[1], want[7] = x[2], want[8] = x[3], want[9] = x[4];
    want[10] = (uint32_t)(int32_t)(int8_t)(x[0] >> 8);
    want[11] = x[0] >> 16, want[12] = x[0] & 0xffff;
    want[13] = x[2], want[14] = x[3], want[15] = x[7];
}

static void ptx_stores(const uint32_t *x, uint32_t *want) {
    for (int i = 0; i < 4; i++) want[i] = x[3 - i];
    want[4] = x[4], want[5] = x[0], want[6] = x[5];
    want[7] = (x[0] & 255) | (x[1] & 255) << 8 | x[2] << 16;
    want[8] = x[7], want[9] = x[6] & 0xffff, want[10] = want[11] = 1;
}

static void ptx_atomics(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned block = 0; block < l->blocks; block++) {
        const uint32_t *in = x + (size_t)block * l->threads * FEATURE_INPUTS;
        uint32_t sum = 0, most = 0, set = 0;
        for (unsigned t = 0; t < l->threads; t++) {
            const uint32_t *one = in + t * FEATURE_INPUTS;
            sum += one[0], most = one[1] > most ? one[1] : most, set |= one[2] & one[3];
        }
        for (unsigned t = 0; t < l->threads; t++) {
            const uint32_t *one = in + t * FEATURE_INPUTS;
            uint32_t *out = want + 6 * ((size_t)block * l->threads + t);
            out[0] = sum, out[1] = most, out[2] = set, out[3] = 0, out[4] = l->threads % 5;
            out[5] = (one[6] + one[5]) ^ one[6];
        }
    }
}

static void ptx_async_copies(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned t = 0; t < l->threads * l->blocks; t++) {
        const unsigned first = t - t % l->threads, next = first + (t % l->threads + 1) % l->threads;
        const uint32_t *one = x + t * FEATURE_INPUTS, *other = x + next * FEATURE_INPUTS;
        uint32_t *out = want + 9 * t;
        for (int i = 0; i < 7; i++) out[i] = i < 4 && !(one[0] & 16) ? 0 : one[i];
        out[7] = other[5], out[8] = 0;
    }
}

static void of_lane(const uint32_t *first, unsigned lane, unsigned lanes, uint32_t *out) {
    const uint32_t *own = first + (size_t)lane * FEATURE_INPUTS;
    out[0] = lanes == 32 ? first[(lane ^ 1) * FEATURE_INPUTS] : 0;
    out[1] = first[0];
    out[3] = lane % 8 >= 2; /* segments of eight lanes */
    out[2] = out[3] ? first[(lane - 2) * FEATURE_INPUTS] : own[0];
    out[4] = out[5] = out[6] = out[7] = 0;
    for (unsigned i = 0; i < lanes; i++) {
        const uint32_t other = first[i * FEATURE_INPUTS];
        out[4] |= (other & 1) << i;
        out[5] |= (other & 0x10000) != 0;
        out[6] |= (uint32_t)((other & 3) == (own[0] & 3)) << i;
        out[7] += other;
    }
    out[8] = lane == 0, out[9] = lane, out[10] = (1u << lane) - 1;
}

static void ptx_warps(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w))
        for (unsigned i = 0; i < w.lanes; i++) {
            const unsigned thread = w.first + i, block = thread / l->threads, rank = thread % l->threads;
            uint32_t *out = want + 12 * thread;
            of_lane(x + (size_t)w.first * FEATURE_INPUTS, i, w.lanes, out);
            out[11] = block % l->grid[0] * l->block[0] + rank % l->block[0];
        }
}

static void ptx_named_barriers(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    if (l->threads < 64) return;
    for (unsigned block = 0; block < l->blocks; block++)
        for (unsigned rank = 32; rank < 64; rank++) {
            const unsigned first = block * l->threads;
            for (unsigned round = 0; round < 2; round++)
                want[2 * (first + rank) + round] = x[(first + 63 - rank) * FEATURE_INPUTS + round];
        }
}

static const feature features[] = {
    {.name = "ptx_loads", .words = 16, .thread = ptx_loads},
    {.name = "ptx_stores", .words = 12, .thread = ptx_stores},
    {.name = "ptx_atomics", .words = 6, .grid = ptx_atomics},
    {.name = "ptx_async_copies", .words = 9, .grid = ptx_async_copies},
    {.name = "ptx_warps", .words = 12, .grid = ptx_warps},
    {.name = "ptx_named_barriers", .words = 2, .grid = ptx_named_barriers},
};
FEATURE_FILE(ptx_block);
