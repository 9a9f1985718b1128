/* What atomic operations of a whole block leave: no order changes it. */
#include <math.h>
#include <string.h>

#include "feature.h"

/* Calls one for each block with its inputs; every thread of the block is expected to write the same words. */
static void each(const feature_launch *l, const uint32_t *x, uint32_t *want, unsigned words,
                 void (*one)(const uint32_t *block, unsigned threads, uint32_t *want)) {
    for (unsigned b = 0; b < l->blocks; b++) {
        uint32_t all[FEATURE_WORDS_MAX] = {0};
        one(x + FEATURE_INPUTS * b * l->threads, l->threads, all);
        for (unsigned t = 0; t < l->threads; t++)
            memcpy(want + words * (b * l->threads + t), all, words * sizeof *want);
    }
}

static void integers_of(const uint32_t *x, unsigned threads, uint32_t *want) {
    uint32_t sum = 0, and = ~0u, or = 0, xor = 0, low = ~0u, high = 0;
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (unsigned t = 0; t < threads; t++, x += FEATURE_INPUTS) {
        int32_t v = (int32_t)x[0];
        sum += x[0], and &= x[0] | 0xff, or |= x[0] & 0xff00, xor ^= x[0];
        low = x[0] < low ? x[0] : low, high = x[0] > high ? x[0] : high;
        least = v < least ? v : least, most = v > most ? v : most;
    }
    const uint32_t all[] = {
        7 + sum, 7 - sum, (uint32_t)least, (uint32_t)most, 100 + sum, 100 - sum, low, high, and,
        or,      xor,     3 * threads};
    memcpy(want, all, sizeof all);
}

static void longs_of(const uint32_t *x, unsigned threads, uint32_t *want) {
    uint64_t sum = 1, low = UINT64_MAX, high = 0, and = UINT64_MAX, xor = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (unsigned t = 0; t < threads; t++, x += FEATURE_INPUTS) {
        uint64_t v = feature_long(x);
        int64_t s = (int64_t)v;
        sum += v, and &= v | 1, xor ^= v;
        low = v < low ? v : low, high = v > high ? v : high;
        least = s < least ? s : least, most = s > most ? s : most;
    }
    const uint64_t all[] = {sum, low, high, and, xor, (uint64_t)least, (uint64_t)most};
    for (int i = 0; i < 7; i++) feature_put(want + 2 * i, all[i]);
}

static void reals_of(const uint32_t *x, unsigned threads, uint32_t *want) {
    unsigned ones = 0;
    for (unsigned t = 0; t < threads; t++) ones += x[FEATURE_INPUTS * t] & 1;
    want[0] = feature_bits(1.0f + (float)ones), want[1] = feature_bits(2.0f * (float)ones);
    feature_put_double(want + 2, 2.0 + 0.5 * ones);
    want[4] = want[6] = feature_bits((float)ones), want[5] = feature_bits(2.0f * (float)ones);
    want[7] = feature_bits((float)ones + 1000.0f * (float)threads);
}

static void tickets_of(const uint32_t *x, unsigned threads, uint32_t *want) {
    uint32_t down = 5;
    (void)x;
    for (unsigned t = 0; t < threads; t++) down = down == 0 || down > 6 ? 6 : down - 1;
    want[0] = want[1] = threads, want[2] = threads % 5, want[3] = down, want[4] = 1;
}

static void exchanges_of(const uint32_t *x, unsigned threads, uint32_t *want) {
    float largest = -INFINITY;
    uint64_t product = 1;
    for (unsigned t = 0; t < threads; t++, x += FEATURE_INPUTS) {
        float v = feature_float(x[0]);
        v = isnan(v) ? 0 : v + 0.0f;
        largest = v > largest ? v : largest;
        product *= x[1] | 1;
    }
    want[0] = feature_bits(largest);
    feature_put(want + 1, product);
    want[3] = (3 + 7 * threads) & 0xffff, want[4] = threads;
    want[5] = 0x3fc00000 ^ 0x40200000, want[6] = 0, want[7] = 9;
}

static void wide_of(const uint32_t *x, unsigned threads, uint32_t *want) {
    uint64_t sum = 0;
    for (unsigned t = 0; t < threads; t++) sum += x[FEATURE_INPUTS * t];
    feature_put(want, sum), feature_put(want + 2, 1 + threads);
}

static void atomic_global(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    for (unsigned b = 0; b < l->blocks; b++) {
        uint32_t *out = want + 8 * b * l->threads, sum = 0, high = 0;
        float v = 0, n = (float)l->threads;
        for (unsigned t = 0; t < l->threads; t++) {
            uint32_t in = x[FEATURE_INPUTS * (b * l->threads + t)];
            v += (float)(in & 15), sum += in, high = in > high ? in : high;
        }
        out[0] = feature_bits(v), out[1] = feature_bits(n);
        out[2] = feature_bits(0.0f - v), out[3] = feature_bits(0.5f * n);
        out[4] = feature_bits(2 * n), out[5] = feature_bits(v), out[6] = sum, out[7] = high;
    }
}

#define EACH(name, words, one)                                                                               \
    static void name(const feature_launch *l, const uint32_t *x, uint32_t *want) {                           \
        each(l, x, want, words, one);                                                                        \
    }
EACH(atomic_integers, 14, integers_of)
EACH(atomic_longs, 14, longs_of)
EACH(atomic_reals, 8, reals_of)
EACH(atomic_tickets, 6, tickets_of)
EACH(atomic_exchanges, 8, exchanges_of)
EACH(atomic_wide, 4, wide_of)

static const feature features[] = {
    {.name = "atomic_integers", .words = 14, .grid = atomic_integers},
    {.name = "atomic_longs", .words = 14, .grid = atomic_longs},
    {.name = "atomic_reals", .words = 8, .grid = atomic_reals},
    {.name = "atomic_tickets", .words = 6, .grid = atomic_tickets},
    {.name = "atomic_exchanges", .words = 8, .grid = atomic_exchanges},
    {.name = "atomic_global", .words = 8, .grid = atomic_global},
    {.name = "atomic_wide", .words = 4, .grid = atomic_wide},
};
FEATURE_FILE(atomics);
