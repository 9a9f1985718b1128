/* Element types: sizes, decoding, rounding. */
#ifndef CUPEL_FORMATS_H
#define CUPEL_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name, bytes, kind (R real, I signed, U unsigned, B bool), significand bits (hidden one included), smallest
 * normal exponent, largest exponent, NumPy descr, C++ type in CUDA. IEEE 754-2019 for the binary formats;
 * bf16 as 8-bit exponent and 7-bit fraction; e4m3 and e5m2 as in OCP 8-bit Floating Point Specification 1.0;
 * tf32 stored in 4 bytes. */
#define CUPEL_DTYPES(X)                                                                                      \
    X(F64, "f64", 8, REAL, 53, -1022, 1023, "<f8", "double")                                                 \
    X(F32, "f32", 4, REAL, 24, -126, 127, "<f4", "float")                                                    \
    X(TF32, "tf32", 4, REAL, 11, -126, 127, "<f4", "float")                                                  \
    X(F16, "f16", 2, REAL, 11, -14, 15, "<f2", "__half")                                                     \
    X(BF16, "bf16", 2, REAL, 8, -126, 127, "<u2", "__nv_bfloat16")                                           \
    X(E4M3, "e4m3", 1, REAL, 4, -6, 8, "|u1", "__nv_fp8_e4m3")                                               \
    X(E5M2, "e5m2", 1, REAL, 3, -14, 15, "|u1", "__nv_fp8_e5m2")                                             \
    X(I64, "i64", 8, SIGNED, 0, 0, 0, "<i8", "long long")                                                    \
    X(I32, "i32", 4, SIGNED, 0, 0, 0, "<i4", "int")                                                          \
    X(I16, "i16", 2, SIGNED, 0, 0, 0, "<i2", "short")                                                        \
    X(I8, "i8", 1, SIGNED, 0, 0, 0, "|i1", "signed char")                                                    \
    X(U64, "u64", 8, UNSIGNED, 0, 0, 0, "<u8", "unsigned long long")                                         \
    X(U32, "u32", 4, UNSIGNED, 0, 0, 0, "<u4", "unsigned int")                                               \
    X(U16, "u16", 2, UNSIGNED, 0, 0, 0, "<u2", "unsigned short")                                             \
    X(U8, "u8", 1, UNSIGNED, 0, 0, 0, "|u1", "unsigned char")                                                \
    X(BOOL, "bool", 1, BOOLEAN, 0, 0, 0, "|b1", "bool")

typedef enum cupel_dtype {
#define CUPEL_DTYPE_NAME(name, ...) CUPEL_##name,
    CUPEL_DTYPES(CUPEL_DTYPE_NAME)
#undef CUPEL_DTYPE_NAME
        CUPEL_DTYPE_COUNT
} cupel_dtype;

typedef enum cupel_dtype_kind {
    CUPEL_KIND_REAL,
    CUPEL_KIND_SIGNED,
    CUPEL_KIND_UNSIGNED,
    CUPEL_KIND_BOOLEAN
} cupel_dtype_kind;

typedef struct cupel_format {
    const char *name;
    size_t size;
    cupel_dtype_kind kind;
    int precision; /* significand bits, hidden bit included; 0 for integers */
    int emin;      /* exponent of the smallest normal number */
    int emax;      /* exponent of the largest finite number */
    const char *npy;
    const char *cuda;
} cupel_format;

const cupel_format *cupel_format_of(cupel_dtype type);

/* i64 and u64, of which doubles hold only a part. */
bool cupel_dtype_is_wide(cupel_dtype type);

/* False when there is no such type. */
bool cupel_dtype_parse(const char *name, cupel_dtype *out);

/* The unit roundoff 2^-precision, the smallest positive subnormal, the smallest normal and the largest finite
 * number. */
double cupel_format_unit(cupel_dtype type);
double cupel_format_smallest(cupel_dtype type);
double cupel_format_normal(cupel_dtype type);
double cupel_format_largest(cupel_dtype type);
/* The distance between numbers of the format near |x| (the spacing at x's binade; the smallest subnormal
 * below it). */
double cupel_format_ulp(cupel_dtype type, double x);

/* Decoding is exact for every real type; integers up to 2^53. Not for i64 and u64 (use cupel_decode_int). */
double cupel_decode(cupel_dtype type, const void *element);
int64_t cupel_decode_int(cupel_dtype type, const void *element);
void cupel_decode_many(cupel_dtype type, const void *elements, size_t count, double *out);

/* Round to nearest, ties to even, overflow to infinity (for e4m3: NaN), NaN to the quiet NaN; integers
 * truncate and saturate. */
void cupel_encode(cupel_dtype type, double value, void *element);
void cupel_encode_many(cupel_dtype type, const double *values, size_t count, void *elements);

/* value rounded to a real type, as a double; exact for representable values. Nearest even, and directed. */
double cupel_round(cupel_dtype type, double value);
double cupel_round_down(cupel_dtype type, double value); /* towards -inf; below -largest: -inf */
double cupel_round_up(cupel_dtype type, double value);

/* As cupel_round, but fp8 types saturate: what CUDA's constructors give, infinities included. NaN stays NaN.
 */
double cupel_saturate(cupel_dtype type, double value);

/* The neighbour of a representable value in the format, towards +inf or -inf. */
double cupel_next_up(cupel_dtype type, double value);
double cupel_next_down(cupel_dtype type, double value);

/* The number of format steps from a to b (both representable): the distance in ulp as users count it. */
double cupel_steps_between(cupel_dtype type, double a, double b);

/* What the bits of an element are. */
bool cupel_element_is_nan(cupel_dtype type, const void *element);
bool cupel_element_is_zero(cupel_dtype type, const void *element);
bool cupel_element_sign(cupel_dtype type, const void *element);

/* Are they the same bits, or both NaN, whatever the payload? */
bool cupel_elements_equal(cupel_dtype type, const void *a, const void *b);

#endif
