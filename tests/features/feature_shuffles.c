/* What shuffles mean, from the PTX ISA's description of shfl: the lanes of a segment of `width`, and the
 * lane's own value where the source lies outside. */
#include "feature.h"

enum { INDEX, UP, DOWN, XOR };

static unsigned source(int kind, unsigned lane, unsigned argument, unsigned width) {
    unsigned segment = lane & ~(width - 1), last = segment + width - 1;
    switch (kind) {
    case INDEX: return segment | (argument & (width - 1));
    case UP: return lane >= segment + argument ? lane - argument : lane;
    case DOWN: return lane + argument <= last ? lane + argument : lane;
    default: return (lane ^ argument) <= last ? lane ^ argument : lane;
    }
}

static void all_widths(const feature_launch *l, const uint32_t *x, uint32_t *want, int kind, unsigned fixed) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            const uint32_t *in = x + FEATURE_INPUTS * (w.first + lane);
            for (unsigned i = 0; i < 6; i++) {
                unsigned width = i == 5 && kind != INDEX ? 32 : 32u >> i;
                unsigned argument = kind == INDEX ? in[1] : in[1] & (kind == XOR ? 31 : width - 1);
                if (i == 5 && kind != INDEX) argument = fixed;
                unsigned from = source(kind, lane, argument, width);
                want[6 * (w.first + lane) + i] =
                    from < w.lanes ? x[FEATURE_INPUTS * (w.first + from)] : FEATURE_ANY;
            }
        }
    }
}

static void shuffle_index(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    all_widths(l, x, want, INDEX, 0);
}

static void shuffle_up(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    all_widths(l, x, want, UP, 1);
}

static void shuffle_down(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    all_widths(l, x, want, DOWN, 1);
}

static void shuffle_xor(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    all_widths(l, x, want, XOR, 16);
}

static void shuffle_types(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        const uint32_t *in = x + FEATURE_INPUTS * w.first;
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            uint32_t *out = want + 18 * (w.first + lane);
            out[0] = in[0], out[1] = in[1];
            for (int i = 2; i <= 4; i += 2) feature_put(out + i, feature_long(in + 2));
            for (int i = 6; i <= 8; i += 2) feature_put(out + i, feature_long(in + 4));
            out[10] = feature_bits(feature_float(in[0]));
            feature_put_double(out + 11, feature_double(in + 6));
            out[13] = out[15] = in[0] & 0xffff;
            out[14] = out[16] = (in[1] & 0xffff) | in[2] << 16;
            out[17] = (int16_t)in[3] > 0;
        }
    }
}

static void shuffle_masks(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            uint32_t *out = want + 3 * (w.first + lane);
            const uint32_t *in = x + FEATURE_INPUTS * w.first;
            unsigned other = lane ^ 2, below = source(DOWN, lane, 1, 16);
            out[0] = other < w.lanes ? in[FEATURE_INPUTS * other] + (lane & 1 ? 0 : 1) : FEATURE_ANY;
            out[1] = below < w.lanes ? in[FEATURE_INPUTS * below + 1] : FEATURE_ANY;
            out[2] = lane < 4 ? in[2] : 0;
        }
    }
}

static void shuffle_sum(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        uint32_t sum = 0, scan = 0;
        for (unsigned lane = 0; lane < w.lanes; lane++) sum += x[FEATURE_INPUTS * (w.first + lane)];
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            scan += x[FEATURE_INPUTS * (w.first + lane) + 1];
            want[2 * (w.first + lane)] = sum;
            want[2 * (w.first + lane) + 1] = scan;
        }
    }
}

static const feature features[] = {
    {.name = "shuffle_index", .words = 6, .grid = shuffle_index},
    {.name = "shuffle_up", .words = 6, .grid = shuffle_up},
    {.name = "shuffle_down", .words = 6, .grid = shuffle_down},
    {.name = "shuffle_xor", .words = 6, .grid = shuffle_xor},
    {.name = "shuffle_types", .words = 18, .grid = shuffle_types},
    {.name = "shuffle_masks", .words = 3, .grid = shuffle_masks},
    {.name = "shuffle_sum", .words = 2, .grid = shuffle_sum},
};
FEATURE_FILE(shuffles);
