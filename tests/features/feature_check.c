#include "feature_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats.h"

/* ---- values ---- */

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

float feature_float(uint32_t x) {
    float f;
    memcpy(&f, &x, sizeof f);
    return f;
}

double feature_double(const uint32_t *x) {
    double d;
    uint64_t u = feature_long(x);
    memcpy(&d, &u, sizeof d);
    return d;
}

uint64_t feature_long(const uint32_t *x) {
    return (uint64_t)x[1] << 32 | x[0];
}

uint32_t feature_bits(float f) {
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    return isnan(f) ? 0x7fc00000u : x;
}

void feature_put(uint32_t *want, uint64_t v) {
    want[0] = (uint32_t)v, want[1] = (uint32_t)(v >> 32);
}

void feature_put_double(uint32_t *want, double d) {
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    feature_put(want, isnan(d) ? 0x7ff8000000000000u : u);
}

static uint32_t word(uint64_t h, size_t i) {
    static const uint32_t edges[] = {
        0,          0x80000000, 1,          0xffffffff, 0x7fffffff, 0x80000001, 31,         32,
        0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x807fffff, 0x3f800000,
        0xbf800000, 0x3f000000, 0x40200000, 0xc0200000, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000,
        0x3f800001, 0x477fe000, 0x477ff000, 0x33800000, 0x33000001, 0x38800000, 0x387fffff, 0x43e00000,
        0x7c007bff, 0xfc00fbff, 0x03ff0400, 0x3c003c01, 0x7e007c01, 0x00010001, 0x7f7f7f80, 0x80808080};
    uint32_t random = (uint32_t)(h >> 32);
    switch (h & 7) {
    case 0: return random;
    case 1: return random % 67;
    case 2: return edges[random % (sizeof edges / sizeof *edges)];
    case 3: return 0u - random % 67;
    case 4: return feature_bits((float)((int32_t)random >> 8) / 65536.0f);   /* -128 to 128 */
    case 5: return feature_bits((float)((int32_t)random >> 8) / 8388608.0f); /* -1 to 1 */
    default: /* the upper half of a double of ordinary size, or a float from 1e-3 to 1e3 */
        return i & 1 ? (random & 0x800fffffu) | (1018 + (random >> 20 & 15)) << 20
                     : (random & 0x807fffffu) | (117 + (random >> 23 & 255) % 20) << 23;
    }
}

void feature_fill(uint32_t *x, size_t count, unsigned set) {
    for (size_t i = 0; i < count; i++) x[i] = word(mix(mix(set) ^ i), i);
}

bool feature_next_warp(const feature_launch *l, feature_warp *w) {
    if (w->next >= l->threads * l->blocks) return false;
    unsigned in_block = w->next % l->threads, left = l->threads - in_block;
    w->first = w->next;
    w->lanes = left < 32 ? left : 32;
    w->next += w->lanes;
    return true;
}

/* ---- comparison ---- */

static void tell(feature_result *result, const feature_launch *l, size_t thread, const uint32_t *x, int word,
                 const char *got, const char *want) {
    const uint32_t *in = x + thread * FEATURE_INPUTS;
    if (result->wrong++ != 0) return;
    snprintf(result->text, sizeof result->text,
             "block %ux%ux%u, thread %zu of the grid, word %d is %s, expected %s (input %08x %08x %08x %08x "
             "%08x %08x)",
             l->block[0], l->block[1], l->block[2], thread, word, got, want, in[0], in[1], in[2], in[3],
             in[4], in[5]);
}

static void check_words(const feature *f, const feature_launch *l, const uint32_t *x, const uint32_t *got,
                        const uint32_t *want, feature_result *result) {
    size_t threads = (size_t)l->threads * l->blocks, words = (size_t)f->words;
    for (size_t i = 0; i < threads * words; i++) {
        char a[16], b[16];
        result->compared++;
        if (got[i] == want[i] || want[i] == FEATURE_ANY) continue;
        snprintf(a, sizeof a, "%08x", got[i]), snprintf(b, sizeof b, "%08x", want[i]);
        tell(result, l, i / words, x, (int)(i % words), a, b);
    }
}

/* The distance over what is allowed; 0 where they are the same. */
static double share(double got, const feature_real *want, cupel_dtype type) {
    if (isnan(want->value)) return isnan(got) ? 0 : INFINITY;
    if (isnan(got)) return INFINITY;
    double largest = cupel_format_largest(type), allowed = want->absolute;
    if (isinf(want->value)) return got == want->value ? 0 : INFINITY;
    allowed += want->ulps * cupel_format_ulp(type, want->value);
    if (isinf(got))
        return fabs(want->value) + allowed >= largest && (got > 0) == (want->value > 0) ? 1 : INFINITY;
    double distance = fabs(got - want->value);
    if (distance == 0) return 0;
    return distance / allowed;
}

static void check_reals(const feature *f, const feature_launch *l, const uint32_t *x, const uint32_t *got,
                        feature_result *result) {
    size_t threads = (size_t)l->threads * l->blocks;
    int count = f->doubles ? f->words / 2 : f->words;
    for (size_t t = 0; t < threads; t++) {
        feature_real want[FEATURE_WORDS_MAX] = {{0}};
        f->real(x + t * FEATURE_INPUTS, want);
        for (int w = 0; w < count; w++) {
            const uint32_t *at = got + t * (size_t)f->words + (f->doubles ? 2 * w : w);
            double value = f->doubles ? feature_double(at) : (double)feature_float(*at);
            double part = share(value, &want[w], f->doubles ? CUPEL_F64 : CUPEL_F32);
            char a[40], b[80];
            result->compared++;
            if (part <= 1 && part > result->worst) result->worst = part;
            if (part <= 1) continue;
            snprintf(a, sizeof a, "%.17g", value);
            snprintf(b, sizeof b, "%.17g within %g ulp", want[w].value, want[w].ulps);
            tell(result, l, t, x, w, a, b);
        }
    }
}

void feature_check(const feature *f, const feature_launch *l, const uint32_t *x, const uint32_t *got,
                   uint32_t *want, feature_result *result) {
    size_t threads = (size_t)l->threads * l->blocks;
    if (f->real != NULL) {
        check_reals(f, l, x, got, result);
        return;
    }
    if (f->grid != NULL) f->grid(l, x, want);
    for (size_t t = 0; f->thread != NULL && t < threads; t++)
        f->thread(x + t * FEATURE_INPUTS, want + t * (size_t)f->words);
    check_words(f, l, x, got, want, result);
}
