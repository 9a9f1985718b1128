/* What votes, matches, warp reductions and barriers mean. */
#include <string.h>

#include "feature.h"

static uint32_t mask_of(unsigned lanes) {
    return lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
}

static void vote(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        uint32_t set = 0, ballot = 0, low = 0;
        for (unsigned i = 0; i < w.lanes; i++) {
            uint32_t v = x[FEATURE_INPUTS * (w.first + i)];
            set |= (v >> 16 & 1) << i, ballot |= (uint32_t)(v != 0) << i, low |= (v & 1) << i;
        }
        for (unsigned i = 0; i < w.lanes; i++) {
            uint32_t *out = want + 6 * (w.first + i);
            out[0] = set == mask_of(w.lanes), out[1] = set != 0, out[2] = ballot;
            out[3] = 1, out[4] = 0, out[5] = i < 3 ? low & 7 : 0;
        }
    }
}

static void active_mask(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    (void)x;
    while (feature_next_warp(l, &w))
        for (unsigned i = 0; i < w.lanes; i++) {
            want[2 * (w.first + i)] = mask_of(w.lanes);
            want[2 * (w.first + i) + 1] = w.lanes;
        }
}

/* The six values that a lane of match_any compares. */
static void match_keys(const uint32_t *in, uint64_t *keys) {
    keys[0] = in[0] & 3, keys[1] = in[1] & 7;
    keys[2] = (uint64_t)(in[0] & 1) << 40 | (in[1] & 1);
    keys[3] = in[0] & 1, keys[4] = in[0] & 3, keys[5] = in[1] & 3;
}

static void match_any(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w))
        for (unsigned i = 0; i < w.lanes; i++)
            for (unsigned j = 0; j < w.lanes; j++) {
                uint64_t a[6], b[6];
                match_keys(x + FEATURE_INPUTS * (w.first + i), a);
                match_keys(x + FEATURE_INPUTS * (w.first + j), b);
                for (int k = 0; k < 6; k++) want[6 * (w.first + i) + k] |= (uint32_t)(a[k] == b[k]) << j;
            }
}

static void match_all(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        int low = 1, high = 1;
        for (unsigned i = 0; i < w.lanes; i++) {
            uint32_t first = x[FEATURE_INPUTS * w.first], v = x[FEATURE_INPUTS * (w.first + i)];
            low &= (v & 1) == (first & 1), high &= v >> 31 == first >> 31;
        }
        for (unsigned i = 0; i < w.lanes; i++) {
            uint32_t *out = want + 6 * (w.first + i);
            out[0] = low ? mask_of(w.lanes) : 0, out[1] = (uint32_t)low;
            out[2] = mask_of(w.lanes), out[3] = 1;
            out[4] = high ? mask_of(w.lanes) : 0, out[5] = (uint32_t)high;
        }
    }
}

static void reduce(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        const uint32_t *in = x + FEATURE_INPUTS * w.first;
        uint32_t r[10] = {0, 0, in[0], in[0], in[0], in[0], ~0u, 0, 0, 0};
        for (unsigned i = 0; i < w.lanes; i++) {
            uint32_t v = in[FEATURE_INPUTS * i];
            r[0] += v, r[1] = r[0];
            if (v < r[2]) r[2] = v;
            if ((int32_t)v < (int32_t)r[3]) r[3] = v;
            if (v > r[4]) r[4] = v;
            if ((int32_t)v > (int32_t)r[5]) r[5] = v;
            r[6] &= v, r[7] |= v, r[8] ^= v;
            if (i < 5) r[9] += in[FEATURE_INPUTS * i + 1];
        }
        for (unsigned i = 0; i < w.lanes; i++) {
            memcpy(want + 10 * (w.first + i), r, sizeof r);
            if (i >= 5) want[10 * (w.first + i) + 9] = 0;
        }
    }
}

static void sync_warp(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w))
        for (unsigned i = 0; i < w.lanes; i++) {
            const uint32_t *in = x + FEATURE_INPUTS * w.first;
            want[2 * (w.first + i)] = in[FEATURE_INPUTS * ((i + 1) % w.lanes)];
            want[2 * (w.first + i) + 1] = i & 1 ? in[FEATURE_INPUTS + 1] : 0;
        }
}

static void barrier(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        const uint32_t *in = x + FEATURE_INPUTS * b * l->threads;
        uint32_t sum = 0;
        for (unsigned i = 0; i < l->threads; i++) sum = 31 * sum + in[FEATURE_INPUTS * i + 1];
        for (unsigned i = 0; i < l->threads; i++) {
            uint32_t *out = want + 3 * (b * l->threads + i);
            out[0] = in[FEATURE_INPUTS * (l->threads - 1 - i)], out[1] = sum, out[2] = in[1];
        }
    }
}

static void barrier_count(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        uint32_t count = 0, all = 1, any = 0;
        for (unsigned i = 0; i < l->threads; i++) {
            uint32_t v = x[FEATURE_INPUTS * (b * l->threads + i)];
            count += v & 1, all &= v >> 31, any |= v == 7;
        }
        for (unsigned i = 0; i < l->threads; i++) {
            uint32_t *out = want + 4 * (b * l->threads + i);
            out[0] = count, out[1] = all, out[2] = any, out[3] = 1;
        }
    }
}

static void double_buffer(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < l->threads; i++) {
            sum += x[FEATURE_INPUTS * (b * l->threads + i)];
            want[b * l->threads + i] = sum;
        }
    }
}

static const feature features[] = {
    {.name = "vote", .words = 6, .grid = vote},
    {.name = "active_mask", .words = 2, .grid = active_mask},
    {.name = "match_any", .words = 6, .grid = match_any},
    {.name = "match_all", .words = 6, .grid = match_all},
    {.name = "reduce", .words = 10, .grid = reduce},
    {.name = "sync_warp", .words = 2, .grid = sync_warp},
    {.name = "barrier", .words = 3, .grid = barrier},
    {.name = "barrier_count", .words = 4, .grid = barrier_count},
    {.name = "double_buffer", .words = 1, .grid = double_buffer},
};
FEATURE_FILE(votes);
