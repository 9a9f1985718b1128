/* Poison: the content of memory that a kernel has no business reading. A pure function of (poison, seed,
 * type, position). */
#include <string.h>

#include "recipe_impl.h"

/* splitmix64 over the position: cheap, because guards, gaps and outputs of every case are filled. */
static uint64_t hash(uint32_t seed, uint64_t index) {
    uint64_t x = ((uint64_t)seed << 32 ^ index) + 0x9E3779B97F4A7C15u * (index + 1);
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* A quiet NaN with a payload that is never zero. */
static uint64_t nan_bits(const cupel_format *format, cupel_dtype type, uint64_t h) {
    if (type == CUPEL_E4M3) return 0x7F | (h & 0x80);
    int total = (int)format->size * 8, fraction = type == CUPEL_TF32 ? 23 : format->precision - 1;
    uint64_t sign = (h >> 63) << (total - 1);
    uint64_t quiet = (((UINT64_C(1) << (total - fraction)) - 1) >> 1) << fraction | UINT64_C(1)
                                                                                        << (fraction - 1);
    uint64_t payload = h & ((UINT64_C(1) << (fraction - 1)) - 1);
    return sign | quiet | payload | 1;
}

static uint64_t loud_bits(const cupel_format *format, cupel_dtype type, uint64_t h) {
    if (format->kind == CUPEL_KIND_REAL) return nan_bits(format, type, h);
    /* far below zero (signed) or far above every claim (unsigned); for a bool, neither true nor false */
    int total = (int)format->size * 8;
    return UINT64_C(3) << (total - 2) | (h & ((UINT64_C(1) << (total - 2)) - 1)) | 1;
}

/* Finite, of ordinary size, of either sign, with many significant bits. */
static uint64_t quiet_bits(const cupel_format *format, cupel_dtype type, uint64_t h) {
    if (format->kind == CUPEL_KIND_BOOLEAN) return h >> 63;
    int total = (int)format->size * 8;
    if (format->kind != CUPEL_KIND_REAL) {
        int64_t low = total == 8 ? 64 : 1000, span = total == 8 ? 63 : 30000;
        int64_t magnitude = low + (int64_t)(h % (uint64_t)span);
        bool negative = format->kind == CUPEL_KIND_SIGNED && h >> 63;
        return (uint64_t)(negative ? -magnitude : magnitude);
    }
    int fraction = type == CUPEL_TF32 ? 23 : format->precision - 1, bias = 1 - format->emin;
    uint64_t exponent = (uint64_t)(bias + 3 + (int)(h >> 40 & 3)); /* 8 to 128 */
    uint64_t bits =
        (h >> 63) << (total - 1) | exponent << fraction | (h & ((UINT64_C(1) << fraction) - 1)) | 1;
    return type == CUPEL_TF32 ? bits & ~UINT64_C(0x1FFF) : bits;
}

/* Near the largest finite number (a sixteenth of the range of exponents below it, so that sums of some stay
 * finite), or near the least one; of unsigned integers that is nearly nothing. */
static uint64_t extreme_bits(const cupel_format *format, cupel_dtype type, bool low, uint64_t h) {
    if (format->kind == CUPEL_KIND_BOOLEAN) return low ? 0 : 1;
    int total = (int)format->size * 8;
    if (format->kind != CUPEL_KIND_REAL) {
        uint64_t half = UINT64_C(1) << (total - 2), magnitude = half | (h & (half - 1));
        if (format->kind == CUPEL_KIND_SIGNED) return low ? (uint64_t) - (int64_t)magnitude : magnitude;
        return low ? h & 3 : magnitude;
    }
    int fraction = type == CUPEL_TF32 ? 23 : format->precision - 1, bias = 1 - format->emin;
    uint64_t exponent = (uint64_t)(2 * bias - (bias / 16 > 1 ? bias / 16 : 1));
    uint64_t bits =
        (uint64_t)low << (total - 1) | exponent << fraction | (h & ((UINT64_C(1) << fraction) - 1)) | 1;
    return type == CUPEL_TF32 ? bits & ~UINT64_C(0x1FFF) : bits;
}

static uint64_t poison_bits(cupel_poison poison, const cupel_format *format, cupel_dtype type, uint64_t h) {
    switch (poison) {
    case CUPEL_POISON_NAN: return loud_bits(format, type, h);
    case CUPEL_POISON_FINITE: return quiet_bits(format, type, h);
    case CUPEL_POISON_HIGH: return extreme_bits(format, type, false, h);
    case CUPEL_POISON_LOW: return extreme_bits(format, type, true, h);
    }
    return 0;
}

cupel_poison cupel_poison_of(uint32_t seed, cupel_poison poison) {
    if (poison != CUPEL_POISON_FINITE || seed % 4 != 3) return poison;
    return seed % 8 == 3 ? CUPEL_POISON_HIGH : CUPEL_POISON_LOW;
}

/* 0x7b7b.. is 61,280 as half, 1.3e36 as float and bfloat16, 1e286 as double, 352 as e4m3, and a large
 * positive integer of every size; 0xfbfb.. is the same below zero. */
unsigned char cupel_poison_byte(cupel_poison poison) {
    switch (poison) {
    case CUPEL_POISON_NAN: return 0xff;
    case CUPEL_POISON_FINITE: return 0;
    case CUPEL_POISON_HIGH: return 0x7b;
    case CUPEL_POISON_LOW: return 0xfb;
    }
    return 0;
}

/* A part of one element. */
static void fill_part(cupel_poison poison, uint32_t seed, cupel_dtype type, unsigned char *out,
                      size_t position, size_t bytes) {
    const cupel_format *format = cupel_format_of(type);
    const uint64_t bits = poison_bits(poison, format, type, hash(seed, position / format->size));
    memcpy(out, (const unsigned char *)&bits + position % format->size, bytes);
}

/* Whole elements. Inlined for each poison and size, so that what depends on the type alone is worked out
 * before the loop: this is a good part of a small case's time. */
static inline __attribute__((always_inline)) void fill_whole(cupel_poison poison, uint32_t seed,
                                                             cupel_dtype type, unsigned char *out,
                                                             uint64_t first, size_t count, size_t size) {
    const cupel_format format = *cupel_format_of(type);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = poison_bits(poison, &format, type, hash(seed, first + i));
        memcpy(out + i * size, &bits, size);
    }
}

#define FILL_FOR_SIZE(poison, size)                                                                          \
    case size:                                                                                               \
        fill_whole(poison, seed, type, out, first, count, size);                                             \
        break
#define FILL_FOR_POISON(poison)                                                                              \
    case poison:                                                                                             \
        switch (cupel_format_of(type)->size) {                                                               \
            FILL_FOR_SIZE(poison, 1);                                                                        \
            FILL_FOR_SIZE(poison, 2);                                                                        \
            FILL_FOR_SIZE(poison, 4);                                                                        \
            FILL_FOR_SIZE(poison, 8);                                                                        \
        }                                                                                                    \
        break

static void fill_elements(cupel_poison poison, uint32_t seed, cupel_dtype type, unsigned char *out,
                          uint64_t first, size_t count) {
    switch (poison) {
        FILL_FOR_POISON(CUPEL_POISON_NAN);
        FILL_FOR_POISON(CUPEL_POISON_FINITE);
        FILL_FOR_POISON(CUPEL_POISON_HIGH);
        FILL_FOR_POISON(CUPEL_POISON_LOW);
    }
}

void cupel_poison_fill(cupel_poison poison, uint32_t seed, cupel_dtype type, void *memory, size_t bytes,
                       size_t position) {
    const size_t size = cupel_format_of(type)->size, skip = position % size;
    unsigned char *out = memory;
    if (skip != 0) {
        const size_t part = size - skip < bytes ? size - skip : bytes;
        fill_part(poison, seed, type, out, position, part);
        out += part, position += part, bytes -= part;
    }
    fill_elements(poison, seed, type, out, position / size, bytes / size);
    const size_t whole = bytes / size * size;
    if (whole != bytes) fill_part(poison, seed, type, out + whole, position + whole, bytes - whole);
}
