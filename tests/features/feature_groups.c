/* What cooperative groups mean, from the CUDA C++ Programming Guide: ranks count threads of a group, in a
 * warp by lane; what a thread that does not exist would have to add is not looked at. */
#include <string.h>

#include "feature.h"

static unsigned rank_of(const feature_warp *w,
                        const feature_launch *l) { /* of a warp's first thread, in its block */
    return w->first % l->threads;
}

/* The threads of a warp that hold, as a mask. */
static unsigned mask_of(const uint32_t *in, unsigned lanes, int (*holds)(const uint32_t *x)) {
    unsigned mask = 0;
    for (unsigned lane = 0; lane < lanes; lane++)
        if (holds(in + FEATURE_INPUTS * lane)) mask |= 1u << lane;
    return mask;
}

static int odd(const uint32_t *x) {
    return x[0] & 1;
}

static unsigned tile_of(unsigned mask, unsigned lane, unsigned size) {
    return size == 32 ? mask : mask >> (lane & ~(size - 1)) & ((1u << size) - 1);
}

static void block(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++)
        for (unsigned t = 0; t < l->threads; t++) {
            const uint32_t *other = x + FEATURE_INPUTS * (b * l->threads + l->threads - 1 - t);
            unsigned bx = l->block[0], by = l->block[1];
            const uint32_t all[] = {t,
                                    l->threads,
                                    b % l->grid[0] + 100 * (b / l->grid[0]),
                                    t % bx + 100 * (t / bx % by) + 10000 * (t / bx / by),
                                    bx + 100 * by,
                                    other[0],
                                    l->threads,
                                    other[1],
                                    l->threads,
                                    t};
            memcpy(want + 10 * (b * l->threads + t), all, sizeof all);
        }
}

static void tiles(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        unsigned votes = mask_of(x + FEATURE_INPUTS * w.first, w.lanes, odd);
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            unsigned rank = rank_of(&w, l) + lane;
            uint32_t *out = want + 18 * (w.first + lane);
            for (unsigned size = 32; size > 0; size /= 2, out += 3) {
                out[0] = rank % size + 10100 * size;
                out[1] = rank / size + 10000 * ((l->threads + size - 1) / size);
                out[2] = tile_of(votes, lane, size);
            }
        }
    }
}

/* CUDA says nothing of the last tile of a block whose threads do not fill it. */
static void any_in_partial_tile(const feature_launch *l, unsigned rank, unsigned size, uint32_t *out,
                                int words) {
    if (rank / size < l->threads / size) return;
    for (int i = 0; i < words; i++) out[i] = FEATURE_ANY;
}

static void tiles_of_tiles(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        unsigned votes = mask_of(x + FEATURE_INPUTS * w.first, w.lanes, odd);
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            const uint32_t all[] = {lane % 4,       lane % 16 / 4 + 400, tile_of(votes, lane, 4) != 0,
                                    lane % 8 + 800, lane % 2 + 200,      1};
            uint32_t *out = want + 6 * (w.first + lane);
            memcpy(out, all, sizeof all);
            any_in_partial_tile(l, rank_of(&w, l) + lane, 16, out, 3);
            any_in_partial_tile(l, rank_of(&w, l) + lane, 8, out + 3, 2);
        }
    }
}

static int second_bit(const uint32_t *x) {
    return x[0] >> 1 & 1;
}

static void votes(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        const uint32_t *in = x + FEATURE_INPUTS * w.first;
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            uint32_t *out = want + 6 * (w.first + lane);
            const unsigned there = 0xff, odds = tile_of(mask_of(in, w.lanes, odd), lane, 8),
                           first = lane & ~7u;
            unsigned same = 0;
            for (unsigned o = first; o < first + 8 && o < w.lanes; o++)
                if (in[FEATURE_INPUTS * o] % 3 == in[FEATURE_INPUTS * lane] % 3) same |= 1u << (o - first);
            int alike = odds == 0 || odds == there;
            out[0] = odds != 0, out[1] = odds == there;
            out[2] = tile_of(mask_of(in, w.lanes, second_bit), lane, 8), out[3] = same;
            out[4] = alike ? there : 0, out[5] = (uint32_t)alike;
            any_in_partial_tile(l, rank_of(&w, l) + lane, 8, out, 6);
        }
    }
}

static void shuffles(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            unsigned first = lane & 16, rank = lane & 15;
            const unsigned from[] = {first + 3, rank < 2 ? lane : lane - 2, rank + 5 > 15 ? lane : lane + 5,
                                     lane ^ 6};
            const uint32_t *in = x + FEATURE_INPUTS * w.first;
            uint32_t *out = want + 8 * (w.first + lane);
            for (int i = 0; i < 4; i++)
                out[i] = from[i] < w.lanes ? in[FEATURE_INPUTS * from[i]] : FEATURE_ANY;
            in += FEATURE_INPUTS * first;
            out[4] = in[0], out[7] = in[2];
            feature_put_double(out + 5, in[1]);
        }
    }
}

/* ---- groups that are given by a mask ---- */

typedef struct members {
    unsigned count, own; /* how many there are; the rank of the thread in question */
    const uint32_t *at[32];
} members;

static members members_of(unsigned mask, const uint32_t *in, unsigned lane) {
    members g = {0};
    for (unsigned i = 0; i < 32; i++) {
        if (!(mask >> i & 1)) continue;
        if (i == lane) g.own = g.count;
        g.at[g.count++] = in + FEATURE_INPUTS * i;
    }
    return g;
}

static int no_multiple_of_3(const uint32_t *x) {
    return x[0] % 3 != 0;
}

static void coalesced_of(const members *g, uint32_t *out) {
    uint32_t sum = 0, ballot = 0, same = 0;
    for (unsigned i = 0; i < g->count; i++) {
        sum += g->at[i][1], ballot |= (g->at[i][1] & 1) << i;
        if (((g->at[i][1] ^ g->at[g->own][1]) & 3) == 0) same |= 1u << i;
    }
    const unsigned up = g->own > 0 ? g->own - 1 : 0, down = g->own + 2 < g->count ? g->own + 2 : g->own;
    const unsigned all = g->count == 32 ? ~0u : (1u << g->count) - 1;
    out[0] = g->own + 100 * g->count, out[1] = g->at[0][1], out[2] = g->at[up][1], out[3] = g->at[down][1];
    out[4] = ballot, out[5] = (uint32_t)((ballot != 0) + 10 * (ballot == all)), out[6] = same, out[7] = sum;
}

static void coalesced(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        const uint32_t *in = x + FEATURE_INPUTS * w.first;
        unsigned mask = mask_of(in, w.lanes, no_multiple_of_3);
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            uint32_t *out = want + 8 * (w.first + lane);
            members g = members_of(mask, in, lane);
            for (int i = 0; i < 8; i++) out[i] = FEATURE_ANY;
            if (mask >> lane & 1) coalesced_of(&g, out);
        }
    }
}

static void partitions_of(const members *label, const members *side, unsigned labels, uint32_t *out) {
    uint32_t sum = 0, most = 0;
    for (unsigned i = 0; i < label->count; i++) sum ^= label->at[i][1];
    for (unsigned i = 0; i < side->count; i++) most = side->at[i][1] > most ? side->at[i][1] : most;
    out[0] = label->own + 100 * label->count, out[1] = labels, out[2] = sum;
    out[3] = side->own + 100 * side->count, out[4] = (side->at[0][0] >> 2 & 1) + 20, out[5] = most;
    out[6] = side->own % 2 + 10 * (side->own / 2), out[7] = side->at[side->own & ~1u][2];
}

static void partitions(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w)) {
        const uint32_t *in = x + FEATURE_INPUTS * w.first;
        unsigned by_label[5] = {0}, by_bit[2] = {0}, labels = 0;
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            labels += by_label[in[FEATURE_INPUTS * lane] % 5] == 0;
            by_label[in[FEATURE_INPUTS * lane] % 5] |= 1u << lane;
            by_bit[in[FEATURE_INPUTS * lane] >> 2 & 1] |= 1u << lane;
        }
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            members label = members_of(by_label[in[FEATURE_INPUTS * lane] % 5], in, lane),
                    side = members_of(by_bit[in[FEATURE_INPUTS * lane] >> 2 & 1], in, lane);
            partitions_of(&label, &side, labels, want + 8 * (w.first + lane));
            /* those for which it does not hold: all others of the tile, whether they exist or not */
            for (int i = 3; i < 8 && w.lanes < 32; i++) want[8 * (w.first + lane) + i] = FEATURE_ANY;
        }
    }
}

static void reductions_of(const uint32_t *in, unsigned own, uint32_t *out) {
    int32_t least = INT32_MAX, most = INT32_MIN;
    uint32_t sum = 0, and = ~0u, or = 0, xor = 0, small = 0, top = 0, product = 1, best = 0, first = 0;
    uint64_t wide = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t v = in[FEATURE_INPUTS * i];
        if (i == own) out[15] = sum;
        sum += v, and &= v, or |= v, xor ^= v, small += v & 255, product *= v | 1, wide += (uint64_t)v << 20;
        if (i == own) out[14] = sum;
        least = (int32_t)v < least ? (int32_t)v : least, most = (int32_t)v > most ? (int32_t)v : most;
        top = (v & 255) > top ? v & 255 : top;
        if ((v & 7) > best || i == 0) best = v & 7, first = i;
    }
    out[0] = sum, out[1] = (uint32_t)least, out[2] = (uint32_t)most, out[3] = and, out[4] = or, out[5] = xor;
    out[6] = feature_bits((float)small), out[11] = product, out[12] = best, out[13] = first;
    feature_put_double(out + 7, top);
    feature_put(out + 9, wide);
}

static void reductions(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w))
        for (unsigned lane = 0; lane < w.lanes; lane++) {
            uint32_t *out = want + 16 * (w.first + lane);
            unsigned first = lane & ~7u;
            for (int i = 0; i < 16; i++) out[i] = FEATURE_ANY;
            if (first + 8 <= w.lanes)
                reductions_of(x + FEATURE_INPUTS * (w.first + first), lane - first, out);
        }
}

static void copies(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++)
        for (unsigned t = 0; t < l->threads; t++) {
            const uint32_t *in = x + FEATURE_INPUTS * b * l->threads;
            unsigned other = l->threads - 1 - t;
            uint32_t *out = want + 3 * (b * l->threads + t);
            out[0] = in[FEATURE_INPUTS * other], out[1] = in[1 + other];
            out[2] = t / 4 * 4 + 4 <= l->threads ? in[3 - t % 4] : FEATURE_ANY;
        }
}

static void one(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++)
        for (unsigned t = 0; t < l->threads; t++) {
            uint32_t *out = want + 3 * (b * l->threads + t);
            out[0] = 3 * ((l->threads + 3) / 4);
            out[1] = x[FEATURE_INPUTS * (b * l->threads + (t & ~3u))] + 1;
            out[2] = 77;
        }
}

static void grid(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    unsigned all = l->threads * l->blocks;
    for (unsigned t = 0; t < all; t++) {
        const uint32_t *own = x + FEATURE_INPUTS * t, *other = x + FEATURE_INPUTS * (all - 1 - t);
        const uint32_t out[] = {t, all,    t / l->threads, l->blocks + 100 * l->grid[0],
                                1, own[1], other[0],       other[1]};
        memcpy(want + 8 * t, out, sizeof out);
    }
}

static const feature features[] = {
    {.name = "group_block", .words = 10, .grid = block},
    {.name = "group_tiles", .words = 18, .grid = tiles},
    {.name = "group_tiles_of_tiles", .words = 6, .grid = tiles_of_tiles},
    {.name = "group_votes", .words = 6, .grid = votes},
    {.name = "group_shuffles", .words = 8, .grid = shuffles},
    {.name = "group_coalesced", .words = 8, .grid = coalesced},
    {.name = "group_partitions", .words = 8, .grid = partitions},
    {.name = "group_reductions", .words = 16, .grid = reductions},
    {.name = "group_copies", .words = 3, .grid = copies},
    {.name = "group_one", .words = 3, .grid = one},
    {.name = "group_grid", .words = 8, .grid = grid, .together = 1},
};

FEATURE_FILE(groups);
