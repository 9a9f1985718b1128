#include "formats.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Real formats of at most 4 bytes share one coding: sign, exponent biased by 1 - emin, fraction. Counting
 * codes upwards from zero walks through subnormals, normals and, one step past the largest number, the code
 * that overflow gives (infinity; e4m3 has NaN there). So rounding needs no case for a carry into the
 * exponent. */

static const cupel_format formats[] = {
#define FORMAT(id, text, bytes, kind_, bits, low, high, descr, cxx)                                          \
    [CUPEL_##id] = {.name = (text),                                                                          \
                    .size = (bytes),                                                                         \
                    .kind = CUPEL_KIND_##kind_,                                                              \
                    .precision = (bits),                                                                     \
                    .emin = (low),                                                                           \
                    .emax = (high),                                                                          \
                    .npy = (descr),                                                                          \
                    .cuda = (cxx)},
    CUPEL_DTYPES(FORMAT)
#undef FORMAT
};
static_assert(sizeof formats / sizeof *formats == CUPEL_DTYPE_COUNT, "every type has its row");

const cupel_format *cupel_format_of(cupel_dtype type) {
    return &formats[type];
}

bool cupel_dtype_is_wide(cupel_dtype type) {
    return type == CUPEL_I64 || type == CUPEL_U64;
}

bool cupel_dtype_parse(const char *name, cupel_dtype *out) {
    for (int t = 0; t < CUPEL_DTYPE_COUNT; t++) {
        if (strcmp(formats[t].name, name) != 0) continue;
        *out = (cupel_dtype)t;
        return true;
    }
    return false;
}

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double power_of_two(int e) {
    return double_of((uint64_t)(e + 1023) << 52);
}

double cupel_format_unit(cupel_dtype type) {
    return formats[type].precision ? power_of_two(-formats[type].precision) : 0.0;
}

double cupel_format_smallest(cupel_dtype type) {
    if (!formats[type].precision) return 1.0;
    return ldexp(1.0, formats[type].emin - formats[type].precision + 1);
}

double cupel_format_normal(cupel_dtype type) {
    return formats[type].precision ? power_of_two(formats[type].emin) : 1.0;
}

double cupel_format_largest(cupel_dtype type) {
    const cupel_format *f = &formats[type];
    switch (f->kind) {
    case CUPEL_KIND_REAL:
        if (type == CUPEL_E4M3) return 448.0; /* the all-ones code is NaN */
        return ldexp(2.0 - power_of_two(1 - f->precision), f->emax);
    case CUPEL_KIND_SIGNED: return ldexp(1.0, (int)f->size * 8 - 1) - (f->size < 8 ? 1.0 : 0.0);
    case CUPEL_KIND_UNSIGNED: return ldexp(1.0, (int)f->size * 8) - (f->size < 8 ? 1.0 : 0.0);
    case CUPEL_KIND_BOOLEAN: break;
    }
    return 1.0;
}

double cupel_format_ulp(cupel_dtype type, double x) {
    const cupel_format *f = &formats[type];
    if (f->kind != CUPEL_KIND_REAL) return 1.0;
    double a = fabs(x);
    if (isnan(a)) return a;
    if (a > cupel_format_largest(type)) a = cupel_format_largest(type);
    int e = a < cupel_format_normal(type) ? f->emin : ilogb(a);
    return ldexp(1.0, e - f->precision + 1);
}

/* ---- the coding of small real formats; always inlined with constants, so that loops over it vectorise ----
 */

typedef struct coding {
    int precision, emin;
    uint64_t overflow; /* one past the code of the largest number */
    uint64_t nan;
    bool infinity; /* overflow is the code of infinity */
} coding;

#define CODING_TF32 ((coding){11, -126, 0x3fc00, 0x3fe00, true})
#define CODING_F16 ((coding){11, -14, 0x7c00, 0x7e00, true})
#define CODING_BF16 ((coding){8, -126, 0x7f80, 0x7fc0, true})
#define CODING_E4M3 ((coding){4, -6, 0x7f, 0x7f, false})
#define CODING_E5M2 ((coding){3, -14, 0x7c, 0x7e, true})
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* A number of this size has the smallest subnormal as its own spacing in double: adding it rounds to that
 * grid. */
ALWAYS_INLINE double grid_of(coding c) {
    return power_of_two(52 + c.emin - c.precision + 1);
}

/* The code of |x| rounded to nearest, ties to even. */
ALWAYS_INLINE uint64_t pack(coding c, double x) {
    uint64_t magnitude = bits_of(x) & 0x7fffffffffffffff;
    int shift = 53 - c.precision;
    uint64_t half_below = ((uint64_t)1 << (shift - 1)) - 1;
    uint64_t rounded = magnitude + half_below + ((magnitude >> shift) & 1);
    uint64_t normal = (rounded - ((uint64_t)(1022 + c.emin) << 52)) >> shift;
    uint64_t small = bits_of(double_of(magnitude) + grid_of(c)) - bits_of(grid_of(c));
    uint64_t code = double_of(magnitude) < power_of_two(c.emin) ? small : normal;
    code = code < c.overflow ? code : c.overflow;
    return magnitude > 0x7ff0000000000000 ? c.nan : code;
}

ALWAYS_INLINE double unpack(coding c, uint64_t code) {
    int shift = 53 - c.precision;
    uint64_t normal = (code << shift) + ((uint64_t)(1022 + c.emin) << 52);
    uint64_t small = bits_of(double_of(code + bits_of(grid_of(c))) - grid_of(c));
    uint64_t bits = code >> (c.precision - 1) ? normal : small;
    uint64_t special = c.infinity && code == c.overflow ? 0x7ff0000000000000 : 0x7ff8000000000000;
    return double_of(code >= c.overflow ? special : bits);
}

ALWAYS_INLINE uint64_t pack_signed(coding c, double x, int sign_bit) {
    return pack(c, x) | (bits_of(x) >> 63) << sign_bit;
}

ALWAYS_INLINE double unpack_signed(coding c, uint64_t code, int sign_bit) {
    double magnitude = unpack(c, code & (((uint64_t)1 << sign_bit) - 1));
    return double_of(bits_of(magnitude) | (code >> sign_bit & 1) << 63);
}

/* Calls M(type, coding, storage type, sign bit, bits that the storage has below the code). */
#define SMALL_REALS(M)                                                                                       \
    M(TF32, CODING_TF32, uint32_t, 18, 13)                                                                   \
    M(F16, CODING_F16, uint16_t, 15, 0)                                                                      \
    M(BF16, CODING_BF16, uint16_t, 15, 0)                                                                    \
    M(E4M3, CODING_E4M3, uint8_t, 7, 0)                                                                      \
    M(E5M2, CODING_E5M2, uint8_t, 7, 0)

#define INTEGERS(M)                                                                                          \
    M(I64, int64_t)                                                                                          \
    M(I32, int32_t)                                                                                          \
    M(I16, int16_t) M(I8, int8_t) M(U64, uint64_t) M(U32, uint32_t) M(U16, uint16_t) M(U8, uint8_t)

void cupel_decode_many(cupel_dtype type, const void *elements, size_t count, double *out) {
    switch (type) {
    case CUPEL_F64: memcpy(out, elements, count * sizeof *out); return;
    case CUPEL_F32:
        for (size_t i = 0; i < count; i++) out[i] = (double)((const float *)elements)[i];
        return;
#define DECODE_REAL(id, coding_, storage, sign_bit, low)                                                     \
    case CUPEL_##id:                                                                                         \
        for (size_t i = 0; i < count; i++)                                                                   \
            out[i] = unpack_signed(coding_, (uint64_t)((const storage *)elements)[i] >> (low), sign_bit);    \
        return;
        SMALL_REALS(DECODE_REAL)
#undef DECODE_REAL
#define DECODE_INTEGER(id, storage)                                                                          \
    case CUPEL_##id:                                                                                         \
        for (size_t i = 0; i < count; i++) out[i] = (double)((const storage *)elements)[i];                  \
        return;
        INTEGERS(DECODE_INTEGER)
#undef DECODE_INTEGER
    case CUPEL_BOOL:
        for (size_t i = 0; i < count; i++) out[i] = ((const uint8_t *)elements)[i] != 0;
        return;
    case CUPEL_DTYPE_COUNT: break;
    }
}

double cupel_decode(cupel_dtype type, const void *element) {
    double x = 0.0;
    cupel_decode_many(type, element, 1, &x);
    return x;
}

int64_t cupel_decode_int(cupel_dtype type, const void *element) {
    switch (type) {
#define DECODE_INTEGER(id, storage)                                                                          \
    case CUPEL_##id: return (int64_t) * (const storage *)element;
        INTEGERS(DECODE_INTEGER)
#undef DECODE_INTEGER
    case CUPEL_BOOL: return *(const uint8_t *)element != 0;
    default: return (int64_t)cupel_decode(type, element);
    }
}

/* Truncates and saturates; NaN gives 0. */
static int64_t to_signed(double x, int bits) {
    double bound = ldexp(1.0, bits - 1);
    if (isnan(x)) return 0;
    if (x >= bound) return (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    if (x <= -bound) return -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1;
    return (int64_t)x;
}

static uint64_t to_unsigned(double x, int bits) {
    if (!(x > 0.0)) return 0;
    if (x >= ldexp(1.0, bits)) return UINT64_MAX >> (64 - bits);
    return (uint64_t)x;
}

void cupel_encode_many(cupel_dtype type, const double *values, size_t count, void *elements) {
    switch (type) {
    case CUPEL_F64: memcpy(elements, values, count * sizeof *values); return;
    case CUPEL_F32:
        for (size_t i = 0; i < count; i++) ((float *)elements)[i] = (float)values[i];
        return;
#define ENCODE_REAL(id, coding_, storage, sign_bit, low)                                                     \
    case CUPEL_##id:                                                                                         \
        for (size_t i = 0; i < count; i++)                                                                   \
            ((storage *)elements)[i] = (storage)(pack_signed(coding_, values[i], sign_bit) << (low));        \
        return;
        SMALL_REALS(ENCODE_REAL)
#undef ENCODE_REAL
#define ENCODE_INTEGER(id, storage)                                                                          \
    case CUPEL_##id:                                                                                         \
        for (size_t i = 0; i < count; i++)                                                                   \
            ((storage *)elements)[i] = (storage)(-1) < 0                                                     \
                                           ? (storage)to_signed(values[i], (int)sizeof(storage) * 8)         \
                                           : (storage)to_unsigned(values[i], (int)sizeof(storage) * 8);      \
        return;
        INTEGERS(ENCODE_INTEGER)
#undef ENCODE_INTEGER
    case CUPEL_BOOL:
        for (size_t i = 0; i < count; i++) ((uint8_t *)elements)[i] = values[i] != 0.0;
        return;
    case CUPEL_DTYPE_COUNT: break;
    }
}

void cupel_encode(cupel_dtype type, double value, void *element) {
    cupel_encode_many(type, &value, 1, element);
}

/* ---- rounding ---- */

/* As cupel_round, but overflow gives infinity in every real format. */
static double round_nearest(cupel_dtype type, double x) {
    if (isnan(x) || isinf(x)) return x;
    switch (type) {
    case CUPEL_F32: return (double)(float)x;
#define ROUND_REAL(id, coding_, storage, sign_bit, low)                                                      \
    case CUPEL_##id: {                                                                                       \
        uint64_t code = pack(coding_, x);                                                                    \
        return copysign(code >= (coding_).overflow ? INFINITY : unpack(coding_, code), x);                   \
    }
        SMALL_REALS(ROUND_REAL)
#undef ROUND_REAL
    case CUPEL_F64: return x;
    default: break;
    }
    double largest = cupel_format_largest(type);
    double least = formats[type].kind == CUPEL_KIND_SIGNED ? -largest - 1.0 : 0.0;
    if (type == CUPEL_BOOL) return x != 0.0;
    double whole = trunc(x);
    return whole > largest ? largest : whole < least ? least : whole;
}

double cupel_round(cupel_dtype type, double value) {
    double r = round_nearest(type, value);
    if (type == CUPEL_E4M3 && isinf(r)) return copysign(NAN, value);
    return r;
}

double cupel_saturate(cupel_dtype type, double value) {
    const double r = round_nearest(type, value);
    const bool saturates = type == CUPEL_E4M3 || type == CUPEL_E5M2;
    return saturates && isinf(r) ? copysign(cupel_format_largest(type), value) : r;
}

double cupel_round_down(cupel_dtype type, double value) {
    double r = round_nearest(type, value);
    return formats[type].kind == CUPEL_KIND_REAL && r > value ? cupel_next_down(type, r) : r;
}

double cupel_round_up(cupel_dtype type, double value) {
    double r = round_nearest(type, value);
    return formats[type].kind == CUPEL_KIND_REAL && r < value ? cupel_next_up(type, r) : r;
}

double cupel_next_up(cupel_dtype type, double value) {
    if (isnan(value) || value == INFINITY) return value;
    if (type == CUPEL_F64) return nextafter(value, INFINITY);
    double largest = cupel_format_largest(type);
    if (value == -INFINITY) return -largest;
    if (value >= largest) return formats[type].kind == CUPEL_KIND_REAL ? INFINITY : largest;
    double step = cupel_format_ulp(type, value);
    /* towards zero from a power of two the spacing is that of the binade below */
    if (value < 0.0 && formats[type].kind == CUPEL_KIND_REAL && -value > cupel_format_normal(type) &&
        (bits_of(value) & 0xfffffffffffff) == 0)
        step *= 0.5;
    return value + step;
}

double cupel_next_down(cupel_dtype type, double value) {
    if (formats[type].kind == CUPEL_KIND_REAL) return -cupel_next_up(type, -value);
    double least = formats[type].kind == CUPEL_KIND_SIGNED ? -cupel_format_largest(type) - 1.0 : 0.0;
    return value - 1.0 < least ? least : value - 1.0;
}

/* Position of |x| when the format's numbers from zero upwards are counted; infinity is one past the largest.
 */
static uint64_t ordinal(cupel_dtype type, double x) {
    double a = fabs(x);
    if (type == CUPEL_F64) return bits_of(a);
    if (formats[type].kind != CUPEL_KIND_REAL) return (uint64_t)a;
    if (isinf(a)) return ordinal(type, cupel_format_largest(type)) + 1;
    int binade = a < cupel_format_normal(type) ? 0 : ilogb(a) - formats[type].emin;
    uint64_t in_binade = (uint64_t)(a / cupel_format_ulp(type, a));
    return ((uint64_t)binade << (formats[type].precision - 1)) + in_binade;
}

double cupel_steps_between(cupel_dtype type, double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    uint64_t m = ordinal(type, a), n = ordinal(type, b);
    if ((a < 0.0) != (b < 0.0)) return (double)(m + n);
    return (double)(m > n ? m - n : n - m);
}

/* ---- bits ---- */

bool cupel_element_is_nan(cupel_dtype type, const void *element) {
    return formats[type].kind == CUPEL_KIND_REAL && isnan(cupel_decode(type, element));
}

bool cupel_element_is_zero(cupel_dtype type, const void *element) {
    if (formats[type].kind == CUPEL_KIND_REAL) return cupel_decode(type, element) == 0.0;
    return cupel_decode_int(type, element) == 0;
}

bool cupel_element_sign(cupel_dtype type, const void *element) {
    if (formats[type].kind == CUPEL_KIND_REAL) return signbit(cupel_decode(type, element));
    return formats[type].kind == CUPEL_KIND_SIGNED && cupel_decode_int(type, element) < 0;
}

bool cupel_elements_equal(cupel_dtype type, const void *a, const void *b) {
    return memcmp(a, b, formats[type].size) == 0 ||
           (cupel_element_is_nan(type, a) && cupel_element_is_nan(type, b));
}
