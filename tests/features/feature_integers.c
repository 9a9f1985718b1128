/* What integer intrinsics mean, bit by bit. */
#include <stdlib.h>

#include "feature.h"

static unsigned count(uint64_t x) {
    unsigned n = 0;
    for (; x != 0; x >>= 1) n += x & 1;
    return n;
}

static unsigned zeros_above(uint64_t x, unsigned width) {
    unsigned n = 0;
    while (n < width && !(x >> (width - 1 - n) & 1)) n++;
    return n;
}

static unsigned first_set(uint64_t x, unsigned width) {
    for (unsigned i = 0; i < width; i++)
        if (x >> i & 1) return i + 1;
    return 0;
}

static uint64_t reversed(uint64_t x, unsigned width) {
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++) r |= (x >> i & 1) << (width - 1 - i);
    return r;
}

static uint32_t nth_set(uint32_t mask, int base, int offset) {
    int step = offset < 0 ? -1 : 1, at = base, seen = 0;
    if (offset == 0) return mask >> base & 1 ? (uint32_t)base : ~0u;
    while (at >= 0 && at < 32) {
        seen += mask >> at & 1;
        if (seen == abs(offset)) return (uint32_t)at;
        at += step;
    }
    return ~0u;
}

static void bit_counts(const uint32_t *x, uint32_t *want) {
    uint64_t w = feature_long(x + 1);
    want[0] = count(x[0]), want[1] = count(w);
    want[2] = zeros_above(x[0], 32), want[3] = zeros_above(w, 64);
    want[4] = first_set(x[0], 32), want[5] = first_set(w, 64);
    want[6] = (uint32_t)reversed(x[0], 32);
    feature_put(want + 7, reversed(w, 64));
    want[9] = nth_set(x[0], (int)(x[3] & 31), (int)(x[4] % 9) - 4);
    want[10] = 0, want[11] = 31 - zeros_above(x[0] | 1, 32);
}

static uint32_t permuted(uint32_t low, uint32_t high, uint32_t selector) {
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = selector >> 4 * i & 7; /* bit 3, the sign's in prmt, is ignored */
        uint32_t from = pick & 4 ? high : low;
        r += (from >> 8 * (pick & 3) & 255) << 8 * i;
    }
    return r;
}

static void byte_permute(const uint32_t *x, uint32_t *want) {
    want[0] = permuted(x[0], x[1], x[2]);
    want[1] = (x[0] & 0xffff) | x[1] << 16;
    want[2] = x[0] >> 24 | (x[0] >> 8 & 0xff00) | (x[0] << 8 & 0xff0000) | x[0] << 24;
    want[3] = (x[1] & 0xff) | x[0] >> 24 << 8 | (x[0] & 0xff) << 16 | x[1] >> 24 << 24;
}

/* One bit at a time out of high:low, shifted left by n (at most 32): its upper word. */
static uint32_t shifted(uint32_t low, uint32_t high, unsigned n) {
    for (unsigned i = 0; i < n; i++) high = high << 1 | low >> 31, low <<= 1;
    return high;
}

static void funnel_shift(const uint32_t *x, uint32_t *want) {
    unsigned n = x[2] & 31, clamped = x[2] > 32 ? 32 : x[2];
    want[0] = shifted(x[0], x[1], n), want[1] = shifted(x[0], x[1], 32 - n);
    want[2] = shifted(x[0], x[1], clamped), want[3] = shifted(x[0], x[1], 32 - clamped);
}

/* The upper half of a product of 64-bit numbers, by schoolbook multiplication. */
static uint64_t high_product(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t low = al * bl, m1 = ah * bl + (low >> 32), m2 = al * bh + (uint32_t)m1;
    return ah * bh + (m1 >> 32) + (m2 >> 32);
}

static int32_t signed24(uint32_t x) {
    return (int32_t)(x & 0x7fffff) - (int32_t)(x & 0x800000);
}

static void multiply_high(const uint32_t *x, uint32_t *want) {
    uint64_t a = feature_long(x), b = feature_long(x + 2), high = high_product(a, b);
    want[0] = (uint32_t)((uint64_t)((int64_t)(int32_t)x[0] * (int32_t)x[1]) >> 32);
    want[1] = (uint32_t)((uint64_t)x[0] * x[1] >> 32);
    feature_put(want + 2, high - (a >> 63 ? b : 0) - (b >> 63 ? a : 0));
    feature_put(want + 4, high);
    want[6] = (uint32_t)((int64_t)signed24(x[0]) * signed24(x[1]));
    want[7] = (uint32_t)((uint64_t)(x[0] & 0xffffff) * (x[1] & 0xffffff));
    want[8] = want[1];
}

static int64_t half_down(int64_t x) {
    return (x - (x & 1)) / 2;
}

static void averages(const uint32_t *x, uint32_t *want) {
    int64_t a = (int32_t)x[0], b = (int32_t)x[1], ua = x[0], ub = x[1];
    want[0] = (uint32_t)half_down(a + b), want[1] = (uint32_t)half_down(a + b + 1);
    want[2] = (uint32_t)half_down(ua + ub), want[3] = (uint32_t)half_down(ua + ub + 1);
    want[4] = (uint32_t)llabs(a - b) + x[2], want[5] = (uint32_t)llabs(ua - ub) + x[2];
}

static int64_t lane(uint32_t x, int i, int width, int is_signed) {
    int64_t v = x >> width * i & ((1u << width) - 1);
    return is_signed && v >> (width - 1) ? v - ((int64_t)1 << width) : v;
}

static uint32_t dot4(const uint32_t *x, int is_signed) {
    int64_t sum = x[2];
    for (int i = 0; i < 4; i++) sum += lane(x[0], i, 8, is_signed) * lane(x[1], i, 8, is_signed);
    return (uint32_t)sum;
}

static uint32_t dot2(const uint32_t *x, int first, int is_signed) {
    int64_t sum = x[2];
    for (int i = 0; i < 2; i++) sum += lane(x[0], i, 16, is_signed) * lane(x[1], first + i, 8, is_signed);
    return (uint32_t)sum;
}

static void dot_products(const uint32_t *x, uint32_t *want) {
    want[0] = want[2] = dot4(x, 1), want[1] = want[3] = dot4(x, 0);
    want[4] = want[8] = dot2(x, 0, 1), want[5] = want[9] = dot2(x, 2, 1);
    want[6] = want[10] = dot2(x, 0, 0), want[7] = want[11] = dot2(x, 2, 0);
}

static void minima(const uint32_t *x, uint32_t *want) {
    int32_t a = (int32_t)x[0], b = (int32_t)x[1];
    uint64_t u = feature_long(x), v = feature_long(x + 2);
    uint32_t low = x[0] < x[1] ? x[0] : x[1], high = x[0] < x[1] ? x[1] : x[0];
    want[0] = (uint32_t)(a < b ? a : b), want[1] = (uint32_t)(a < b ? b : a);
    want[2] = want[4] = want[10] = low, want[3] = want[5] = want[11] = high;
    feature_put(want + 6, (int64_t)u < (int64_t)v ? u : v);
    feature_put(want + 8, u < v ? v : u);
    feature_put(want + 12, (int64_t)u < (int64_t)v ? v : u);
    feature_put(want + 14, u < v ? u : v);
}

static void magnitudes(const uint32_t *x, uint32_t *want) {
    uint32_t a = x[0] | 1;
    uint64_t b = feature_long(x) | 1, c = feature_long(x + 2) | 1;
    want[0] = a >> 31 ? 0 - a : a;
    feature_put(want + 1, b >> 63 ? 0 - b : b);
    feature_put(want + 3, c >> 63 ? 0 - c : c);
}

static void reinterpret(const uint32_t *x, uint32_t *want) {
    want[0] = x[0];
    want[1] = feature_float(x[1]) == 0.0f ? 0 : 0x3fc00000;
    want[2] = x[0], want[3] = x[1];
    want[4] = x[1], want[5] = x[0];
    want[6] = x[1], want[7] = x[0];
    want[8] = 0x40200000;
    want[9] = x[1] >> 16, want[10] = x[1] >> 8 & 255, want[11] = x[1], want[12] = x[1] >> 16;
}

static void arithmetic(const uint32_t *x, uint32_t *want) {
    int64_t a = (int32_t)x[0], b = (int32_t)(x[1] | 1);
    uint64_t u = feature_long(x), v = feature_long(x + 2);
    int overflows = a == INT32_MIN && b == -1;
    want[0] = overflows ? 0 : (uint32_t)(a / b), want[1] = overflows ? 0 : (uint32_t)(a % b);
    want[2] = x[0] / (x[1] | 1), want[3] = x[0] % (x[1] | 1);
    feature_put(want + 4, u / (v | 1));
    feature_put(want + 6, u % (v | 1));
    feature_put(want + 8, u * v);
    want[10] = (uint32_t)(x[0] >> (x[2] & 31));
    if (x[0] >> 31 && (x[2] & 31)) want[10] |= ~0u << (32 - (x[2] & 31));
    want[11] = x[0] >> (x[2] & 31);
    want[12] = (uint32_t)lane(x[0], 0, 8, 1), want[13] = (uint32_t)lane(x[0], 0, 16, 1);
}

static const feature features[] = {
    {.name = "bit_counts", .words = 12, .thread = bit_counts},
    {.name = "byte_permute", .words = 4, .thread = byte_permute},
    {.name = "funnel_shift", .words = 4, .thread = funnel_shift},
    {.name = "multiply_high", .words = 9, .thread = multiply_high},
    {.name = "averages", .words = 6, .thread = averages},
    {.name = "dot_products", .words = 12, .thread = dot_products},
    {.name = "minima", .words = 16, .thread = minima},
    {.name = "magnitudes", .words = 5, .thread = magnitudes},
    {.name = "reinterpret", .words = 13, .thread = reinterpret},
    {.name = "arithmetic", .words = 14, .thread = arithmetic},
};
FEATURE_FILE(integers);
