/* What inline PTX on single values means. */
#include <fenv.h>
#include <math.h>

#include "feature.h"
#include "formats.h"

#pragma STDC FENV_ACCESS ON

static int32_t clamped(int64_t v) {
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

static void ptx_integers(const uint32_t *x, uint32_t *want) {
    const int64_t a = (int32_t)x[0], b = (int32_t)x[1];
    const uint64_t ua = x[0], ub = x[1], c = (uint64_t)x[3] << 32 | x[2];
    want[0] = x[0] + x[1];
    want[1] = (uint32_t)clamped(a + b);
    want[2] = x[0] - x[1];
    want[3] = (uint32_t)(ua * ub);
    want[4] = (uint32_t)((uint64_t)(a * b) >> 32);
    want[5] = (uint32_t)(ua * ub >> 32);
    feature_put(want + 6, (uint64_t)(a * b));
    want[8] = (uint32_t)(ua * ub) + x[2];
    want[9] = (uint32_t)((uint64_t)(a * b) >> 32) + x[2];
    feature_put(want + 10, ua * ub + c);
    want[12] = a < b ? x[0] : x[1];
    want[13] = x[0] > x[1] ? x[0] : x[1];
    want[14] = x[2] + (uint32_t)(a < b ? b - a : a - b);
    want[15] = 0u - x[0];
    want[16] = a < 0 ? 0u - x[0] : x[0];
    want[17] = x[0] % (x[1] | 1);
    want[18] = (uint32_t)((int32_t)(x[0] >> 1) / (int32_t)(x[1] | 1));
    want[19] = x[2];
    for (int i = 0; i < 4; i++)
        want[19] += (uint32_t)((int32_t)(int8_t)(x[0] >> 8 * i) * (int32_t)(uint8_t)(x[1] >> 8 * i));
}

static uint32_t bit(uint32_t x, uint32_t i) {
    return i < 32 ? x >> i & 1 : 0;
}

static void ptx_fields(const uint32_t *x, uint32_t *want) {
    const uint32_t pos = x[1] & 255, len = x[2] & 255, at = x[1] & 31, many = x[2] & 31;
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t last = many == 0 ? 0 : at + many - 1 < 31 ? at + many - 1 : 31;
        want[5] |= (i < len ? bit(x[0], pos + i) : 0) << i;
        want[6] |= (many == 0 ? 0 : i < many && at + i < 32 ? bit(x[0], at + i) : bit(x[0], last)) << i;
        const uint32_t to = x[2] & 31, count = x[3] & 31;
        want[7] |= (i >= to && i < to + count ? bit(x[0], i - to) : bit(x[1], i)) << i;
        want[8] |= bit(x[0], i) << (31 - i);
        want[9] += bit(x[0], i);
        want[19] += bit(x[0], i) + bit(x[1], i);
    }
    uint32_t zeros = 0, u = (int32_t)x[0] < 0 ? ~x[0] : x[0];
    while (zeros < 32 && !bit(x[0], 31 - zeros)) zeros++;
    want[10] = zeros;
    want[11] = 0xffffffffu;
    for (uint32_t i = 0; i < 32; i++)
        if (bit(u, i)) want[11] = i;
}

static void ptx_bits(const uint32_t *x, uint32_t *want) {
    const uint64_t both = (uint64_t)x[1] << 32 | x[0];
    want[0] = x[0] ^ x[1] ^ x[2];
    for (uint32_t i = 0; i < 32; i++)
        want[1] |= (0xE4u >> (bit(x[0], i) << 2 | bit(x[1], i) << 1 | bit(x[2], i)) & 1) << i;
    for (int i = 0; i < 4; i++) {
        const uint32_t pick = x[2] >> 4 * i & 15, byte = (uint32_t)(both >> 8 * (pick & 7)) & 255;
        want[2] |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    const uint32_t left = x[2] & 31, right = (x[2] & 63) > 32 ? 32 : x[2] & 63;
    want[3] = left ? x[1] << left | x[0] >> (32 - left) : x[1];
    want[4] = (uint32_t)(both >> right);
    ptx_fields(x, want);
    want[12] = x[0] & x[1];
    want[13] = x[0] ^ x[1];
    want[14] = ~x[0];
    const uint32_t by = x[1] & 63;
    want[15] = by > 31 ? 0 : x[0] << by;
    want[16] = by > 31 ? ((int32_t)x[0] < 0 ? ~0u : 0u) : (uint32_t)((int32_t)x[0] >> by);
    want[17] = x[1] > 31 ? 0 : x[0] >> x[1];
    want[18] = x[0] << 16 | x[0] >> 16;
}

static void ptx_carries(const uint32_t *x, uint32_t *want) {
    const uint64_t a = (uint64_t)x[1] << 32 | x[0], b = (uint64_t)x[3] << 32 | x[2];
    feature_put(want, a + b);
    feature_put(want + 2, a - b);
    feature_put(want + 4, (uint64_t)x[0] * x[1] + b);
}

static void ptx_predicates(const uint32_t *x, uint32_t *want) {
    const int32_t a = (int32_t)x[0];
    want[0] = (uint32_t)(a < -100 ? -100 : a > 1000 ? 1000 : a);
    want[1] = x[0] <= x[1] ? 2 : 1;
    want[2] = (x[0] & 1) != (x[2] & 1) || (x[0] & 1) == (x[1] & 1);
    want[3] = feature_float(x[0]) > feature_float(x[1]) ? ~0u : 0u;
    want[4] = x[0] + x[1] + (x[0] & 1 ? 1 : 2);
}

/* One operation in a rounding mode of the processor's. */
static uint32_t with(int mode, char operation, float a, float b, float c) {
    volatile float x = a, y = b, z = c, r;
    fesetround(mode);
    switch (operation) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = x * y; break;
    case '/': r = x / y; break;
    case 's': r = sqrtf(x); break;
    default: r = fmaf(x, y, z); break;
    }
    fesetround(FE_TONEAREST);
    return feature_bits(r);
}

static float flushed(float a) {
    return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a;
}

static float least(float a, float b) {
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static void ptx_floats(const uint32_t *x, uint32_t *want) {
    const float a = feature_float(x[0]), b = feature_float(x[1]), c = feature_float(x[2]);
    want[0] = with(FE_TONEAREST, '+', a, b, 0);
    want[1] = with(FE_TOWARDZERO, '+', a, b, 0);
    want[2] = with(FE_UPWARD, '+', a, b, 0);
    want[3] = with(FE_DOWNWARD, '-', a, b, 0);
    want[4] = with(FE_TONEAREST, '*', a, b, 0);
    want[5] = with(FE_TOWARDZERO, '*', a, b, 0);
    want[6] = with(FE_TONEAREST, 'f', a, b, c);
    want[7] = with(FE_DOWNWARD, 'f', a, b, c);
    want[8] = feature_bits(least(a, b));
    want[9] = isnan(a) || isnan(b) ? feature_bits(NAN) : feature_bits(-least(-a, -b));
    want[10] = with(FE_TONEAREST, '/', a, b, 0);
    want[11] = with(FE_TONEAREST, 's', a, 0, 0);
    want[12] = with(FE_TONEAREST, '/', 1, a, 0);
    const float sum = a + b;
    want[13] = feature_bits(sum > 0 ? (sum < 1 ? sum : 1) : 0.0f);
    want[14] = feature_bits(flushed(flushed(a) * flushed(b)));
    want[15] = feature_bits(copysignf(b, a));
    want[16] = with(FE_TONEAREST, '+', a, 1.5f, 0);
    want[17] = feature_bits(fabsf(a));
}

static double in_mode(int mode, char operation, double a, double b, double c) {
    volatile double x = a, y = b, z = c, r;
    fesetround(mode);
    switch (operation) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = x * y; break;
    case '/': r = x / y; break;
    case 's': r = sqrt(x); break;
    default: r = fma(x, y, z); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static void ptx_doubles(const uint32_t *x, uint32_t *want) {
    const double a = feature_double(x), b = feature_double(x + 2), c = feature_double(x + 4);
    feature_put_double(want, in_mode(FE_TONEAREST, '+', a, b, 0));
    feature_put_double(want + 2, in_mode(FE_TOWARDZERO, '+', a, b, 0));
    feature_put_double(want + 4, in_mode(FE_DOWNWARD, '-', a, b, 0));
    feature_put_double(want + 6, in_mode(FE_TONEAREST, '*', a, b, 0));
    feature_put_double(want + 8, in_mode(FE_UPWARD, '*', a, b, 0));
    feature_put_double(want + 10, in_mode(FE_TONEAREST, 'f', a, b, c));
    feature_put_double(want + 12, in_mode(FE_TOWARDZERO, 'f', a, b, c));
    feature_put_double(want + 14, in_mode(FE_TONEAREST, '/', a, b, 0));
    feature_put_double(want + 16, in_mode(FE_DOWNWARD, '/', a, b, 0));
    feature_put_double(want + 18, in_mode(FE_UPWARD, '/', 1, a, 0));
    feature_put_double(want + 20, in_mode(FE_TONEAREST, 's', a, 0, 0));
    feature_put_double(want + 22, in_mode(FE_TOWARDZERO, 's', a, 0, 0));
    const double greatest = fmax(a, b);
    feature_put_double(want + 24, greatest == 0 ? 0.0 : greatest);
    feature_put_double(want + 26, fabs(a));
}

/* A number of a 16-bit format; NaN as a device gives it. */
static uint32_t narrow(cupel_dtype type, double v) {
    uint16_t h;
    if (isnan(v)) return 0x7fff;
    cupel_encode(type, v, &h);
    return h;
}

/* The half next to v towards zero. */
static uint32_t half_towards_zero(float v) {
    uint16_t h = (uint16_t)narrow(CUPEL_F16, v);
    if (isnan(v) || isinf(v)) return h;
    if (isinf(cupel_decode(CUPEL_F16, &h))) return (h & 0x8000u) | 0x7bff;
    return fabs(cupel_decode(CUPEL_F16, &h)) > fabs((double)v) ? h - 1u : h;
}

static uint32_t whole(double v, double low, double high) {
    if (isnan(v)) return 0;
    return (uint32_t)(int64_t)(v < low ? low : v > high ? high : v);
}

/* Ten bits of fraction, ties away from zero. */
static uint32_t tf32(uint32_t x) {
    const float f = feature_float(x);
    if (isnan(f)) return 0;
    if (isinf(f)) return x;
    return (x + 0x1000) & ~0x1fffu;
}

/* The nearest e4m3, by trial of all: ties to the even code; too large ones become 448. */
static uint32_t e4m3(float v) {
    if (isnan(v)) return 0x7f;
    uint32_t best = 0;
    double distance = INFINITY;
    for (uint32_t code = 0; code < 0x7f; code++) {
        const int exponent = (int)(code >> 3), digits = (int)(code & 7);
        const double value = exponent ? ldexp(8 + digits, exponent - 10) : ldexp(digits, -9);
        const double d = fabs(fmin(fabs((double)v), 448) - value);
        if (d < distance || (d == distance && code % 2 == 0)) best = code, distance = d;
    }
    return best | (signbit(v) ? 0x80u : 0u);
}

static void ptx_conversions(const uint32_t *x, uint32_t *want) {
    const float a = feature_float(x[0]), b = feature_float(x[1]);
    const float pa = isnan(a) ? 1 : a, pb = isnan(b) ? 1 : b;
    const uint16_t h = (uint16_t)x[0];
    want[0] = whole(rint(a), INT32_MIN, INT32_MAX);
    want[1] = whole(trunc(a), 0, UINT32_MAX);
    want[2] = whole(floor(a), INT32_MIN, INT32_MAX);
    want[3] = feature_bits((float)(int32_t)x[0]);
    fesetround(FE_TOWARDZERO);
    volatile float zero = (float)(double)x[0];
    fesetround(FE_TONEAREST);
    want[4] = feature_bits(zero);
    want[5] = narrow(CUPEL_F16, a);
    want[6] = half_towards_zero(a);
    want[7] = narrow(CUPEL_F16, a) << 16 | narrow(CUPEL_F16, b);
    want[8] = narrow(CUPEL_BF16, a) << 16 | narrow(CUPEL_BF16, b);
    want[9] = tf32(x[0]);
    want[10] = feature_bits((float)cupel_decode(CUPEL_F16, &h));
    want[11] = feature_bits(a > 0 ? (a < 1 ? a : 1) : 0.0f);
    want[12] = feature_bits(rintf(a));
    want[13] = (uint32_t)(int32_t)(int8_t)x[0];
    want[14] = (int32_t)x[0] < 0 ? 0 : (int32_t)x[0] > 255 ? 255 : x[0];
    want[15] = x[0] << 4;
    want[16] = e4m3(a) << 8 | e4m3(b);
    want[17] = narrow(CUPEL_F16, pa > 0 ? pa : 0) << 16 | narrow(CUPEL_F16, pb > 0 ? pb : 0);
}

static void ptx_halves(const uint32_t *x, uint32_t *want) {
    for (int k = 0; k < 2; k++) {
        const uint16_t h[3] = {(uint16_t)(x[0] >> 16 * k), (uint16_t)(x[1] >> 16 * k),
                               (uint16_t)(x[2] >> 16 * k)};
        const double a = cupel_decode(CUPEL_F16, &h[0]), b = cupel_decode(CUPEL_F16, &h[1]),
                     c = cupel_decode(CUPEL_F16, &h[2]);
        /* exact in long double but for the sum of numbers far apart, where the larger one decides */
        const long double sum = (long double)a * b + c;
        const double fused = (double)sum;
        want[0] |= narrow(CUPEL_F16, a + b) << 16 * k;
        want[1] |= narrow(CUPEL_F16, a * b) << 16 * k;
        want[2] |= narrow(CUPEL_F16, fused) << 16 * k;
        want[3] |= narrow(CUPEL_F16, -least((float)-a, (float)-b)) << 16 * k;
        want[4] |= narrow(CUPEL_F16, isnan(fused) || fused > 0 ? fused : 0) << 16 * k;
    }
}

static feature_real near(double value, double ulps, double absolute) {
    return (feature_real){.value = value, .ulps = ulps, .absolute = absolute};
}

/* Errors as PTX ISA states them. */
static void ptx_approximations(const uint32_t *x, feature_real *want) {
    const float a = feature_float(x[4]), p = fabsf(feature_float(x[6]));
    want[0] = near(exp2(a), 2.5, 0x1p-126);
    want[1] = near(log2(p), 2, 0x1p-22);
    want[2] = near(1 / sqrt(p), 2.5, 0);
    want[3] = near(1 / (double)flushed(p), 1.5, 0x1p-126);
    want[4] = near(sin(a), 0, fabsf(a) <= 3.1416f ? 0x1p-20 : INFINITY);
    want[5] = near(cos(a), 0, fabsf(a) <= 3.1416f ? 0x1p-20 : INFINITY);
    want[6] = near(tanh(a), 0x1p13, 0);
    want[7] = near(sqrt(p), 2.5, 0);
}

static const feature features[] = {
    {.name = "ptx_integers", .words = 20, .thread = ptx_integers},
    {.name = "ptx_bits", .words = 20, .thread = ptx_bits},
    {.name = "ptx_carries", .words = 6, .thread = ptx_carries},
    {.name = "ptx_predicates", .words = 5, .thread = ptx_predicates},
    {.name = "ptx_floats", .words = 18, .thread = ptx_floats},
    {.name = "ptx_doubles", .words = 28, .thread = ptx_doubles},
    {.name = "ptx_conversions", .words = 18, .thread = ptx_conversions},
    {.name = "ptx_halves", .words = 5, .thread = ptx_halves},
    {.name = "ptx_approximations", .words = 8, .real = ptx_approximations},
};
FEATURE_FILE(ptx_scalar);
