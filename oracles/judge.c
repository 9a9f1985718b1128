#include <math.h>

#include "oracle.h"

/* Both sides are classified before any comparison, and every comparison is one that a NaN fails. */

static cupel_judgement judge_not_finite(uint8_t classes, double x) {
    if (isnan(x)) return classes & CUPEL_CLASS_NAN ? CUPEL_ALLOWED : CUPEL_WRONG_NAN;
    const uint8_t own = x > 0 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF;
    if (classes & own) return CUPEL_ALLOWED;
    return (classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_NAN ? CUPEL_MISSING_NAN : CUPEL_WRONG_INF;
}

static cupel_judgement judge_finite(const cupel_allowed *allowed, int64_t i, double x, bool negative) {
    const uint8_t classes = allowed->classes[i];
    if (!(classes & CUPEL_CLASS_FINITE))
        return (classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_NAN ? CUPEL_MISSING_NAN : CUPEL_MISSING_INF;
    if (!(allowed->lo[i] <= x && x <= allowed->hi[i])) return CUPEL_WRONG_VALUE;
    if (x == 0 && (classes & CUPEL_ZERO_SIGN_FIXED) && negative != !!(classes & CUPEL_ZERO_SIGN_NEGATIVE))
        return CUPEL_WRONG_ZERO_SIGN;
    return CUPEL_ALLOWED;
}

/* 64-bit integers by their own bits: doubles tell few of them apart. */
static cupel_judgement judge_wide(const cupel_allowed *allowed, int64_t i, int64_t x) {
    const uint64_t least = allowed->least[i], most = allowed->most[i];
    const bool inside = allowed->type == CUPEL_U64 ? least <= (uint64_t)x && (uint64_t)x <= most
                                                   : (int64_t)least <= x && x <= (int64_t)most;
    return inside ? CUPEL_ALLOWED : CUPEL_WRONG_VALUE;
}

static double number_of(cupel_dtype type, const void *element) {
    if (cupel_format_of(type)->kind == CUPEL_KIND_REAL) return cupel_decode(type, element);
    const int64_t x = cupel_decode_int(type, element);
    return type == CUPEL_U64 ? (double)(uint64_t)x : (double)x;
}

static bool is_real(cupel_dtype type) {
    return cupel_format_of(type)->kind == CUPEL_KIND_REAL;
}

cupel_judgement cupel_judge_element(const cupel_allowed *allowed, int64_t i, const void *element) {
    if (allowed->reasons[i] != CUPEL_REASON_JUDGED) return CUPEL_NOT_JUDGED;
    if (allowed->classes[i] & CUPEL_KEEP) return CUPEL_ALLOWED; /* the caller compares bytes */
    if (allowed->type == CUPEL_BOOL && *(const unsigned char *)element > 1) return CUPEL_WRONG_VALUE;
    if (!is_real(allowed->type)) {
        const int64_t x = cupel_decode_int(allowed->type, element);
        if (allowed->least) return judge_wide(allowed, i, x);
        return judge_finite(allowed, i, (double)x, false);
    }
    const double x = cupel_decode(allowed->type, element);
    if (!isfinite(x)) return judge_not_finite(allowed->classes[i], x);
    return judge_finite(allowed, i, x, signbit(x) != 0);
}

double cupel_judge_ratio(const cupel_allowed *allowed, int64_t i, const void *element) {
    if (allowed->reasons[i] != CUPEL_REASON_JUDGED || (allowed->classes[i] & CUPEL_KEEP)) return NAN;
    if (!(allowed->classes[i] & CUPEL_CLASS_FINITE)) return NAN;
    const double value = allowed->value[i], lo = allowed->lo[i], hi = allowed->hi[i];
    const double x = number_of(allowed->type, element);
    if (!isfinite(x) || !isfinite(value) || isinf(allowed->radius[i])) return NAN;
    const double error = fabs(x - value);
    if (error == 0) return cupel_judge_element(allowed, i, element) == CUPEL_WRONG_VALUE ? INFINITY : 0;
    const double room = x > value ? hi - value : value - lo;
    /* rounding to the output type may leave the interval's end on the near side of the value: a value between
     * two neighbours */
    if (!(room > 0)) return lo <= x && x <= hi ? 1 : INFINITY;
    return error / room;
}
