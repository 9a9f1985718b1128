/* fp8 by the definition of its formats: the nearest code, ties to the even one, found by trying all codes. */
#include <math.h>

#include "feature.h"
#include "formats.h"

static double value(cupel_dtype type, unsigned code) {
    uint8_t byte = (uint8_t)code;
    return cupel_decode(type, &byte);
}

static uint32_t nan_code(cupel_dtype type) {
    return type == CUPEL_E4M3 ? 0x7f : 0x7e;
}

/* As if there were one more exponent: beyond the largest number's half step it is too large. */
static uint32_t coded(cupel_dtype type, double v, int saturates) {
    uint32_t sign = signbit(v) ? 0x80 : 0, largest = type == CUPEL_E4M3 ? 0x7e : 0x7b, best = 0;
    double a = fabs(v), step = type == CUPEL_E4M3 ? 32 : 8192;
    if (isnan(v)) return nan_code(type);
    double limit = value(type, largest) + step / 2;
    if (a > limit || (a == limit && largest & 1) || isinf(v))
        return sign | (saturates ? largest : largest + 1);
    if (a == limit && !saturates && !(largest & 1)) return sign | largest;
    for (uint32_t c = 1; c <= largest; c++) {
        double d = fabs(a - value(type, c)), e = fabs(a - value(type, best));
        if (d < e || (d == e && c % 2 == 0)) best = c;
    }
    return sign | best;
}

/* A NaN's sign is left open. */
static uint32_t unsigned_nan(cupel_dtype type, uint32_t code) {
    return isnan(value(type, code)) ? nan_code(type) : code;
}

static uint32_t pair(cupel_dtype type, const uint32_t *x) {
    return unsigned_nan(type, coded(type, feature_float(x[0]), 1)) |
           unsigned_nan(type, coded(type, feature_float(x[1]), 1)) << 8;
}

static void fp8_from_reals(const uint32_t *x, uint32_t *want) {
    double f = feature_float(x[0]), d = feature_double(x);
    want[0] = coded(CUPEL_E4M3, f, 1), want[1] = unsigned_nan(CUPEL_E4M3, coded(CUPEL_E4M3, f, 0));
    want[2] = coded(CUPEL_E5M2, f, 1), want[3] = coded(CUPEL_E5M2, f, 0);
    want[4] = coded(CUPEL_E4M3, d, 1), want[5] = coded(CUPEL_E5M2, d, 1);
    want[6] = pair(CUPEL_E4M3, x), want[7] = pair(CUPEL_E5M2, x);
}

static void fp8_from_halves(const uint32_t *x, uint32_t *want) {
    uint16_t bits = (uint16_t)x[0];
    double h = cupel_decode(CUPEL_F16, &bits), b = cupel_decode(CUPEL_BF16, &bits);
    want[0] = coded(CUPEL_E4M3, h, 1), want[1] = coded(CUPEL_E5M2, h, 1);
    want[2] = coded(CUPEL_E4M3, b, 1), want[3] = coded(CUPEL_E5M2, b, 1);
}

static void fp8_to_reals(const uint32_t *x, uint32_t *want) {
    want[0] = want[2] = feature_bits((float)value(CUPEL_E4M3, x[0] & 255));
    want[1] = feature_bits((float)value(CUPEL_E5M2, x[0] & 255));
    want[3] = feature_bits((float)value(CUPEL_E4M3, x[0] >> 8 & 255));
    want[4] = feature_bits((float)value(CUPEL_E4M3, x[1] & 255));
    want[5] = feature_bits((float)value(CUPEL_E5M2, x[1] & 255));
}

static void fp8_classes(const uint32_t *x, uint32_t *want) {
    double f = feature_float(x[0]);
    if (isnan(f)) f = 1;
    uint32_t code = coded(CUPEL_E4M3, f, 1);
    want[0] = feature_bits((float)value(CUPEL_E4M3, code));
    want[1] = feature_bits((float)value(CUPEL_E5M2, coded(CUPEL_E5M2, f, 1)));
    want[2] = code | coded(CUPEL_E4M3, 1, 1) << 8 | coded(CUPEL_E4M3, 2, 1) << 16 | (code ^ 0x80) << 24;
    want[3] = 421;
}

static const feature features[] = {
    {.name = "fp8_from_reals", .words = 8, .thread = fp8_from_reals},
    {.name = "fp8_from_halves", .words = 4, .thread = fp8_from_halves},
    {.name = "fp8_to_reals", .words = 6, .thread = fp8_to_reals},
    {.name = "fp8_classes", .words = 4, .thread = fp8_classes},
};
FEATURE_FILE(fp8);
