/* Functions as kernels compute them: the library's, rounded to the working precision, or the special function
 * unit's. */
#include "function_value.h"
#include "shadow_impl.h"

/* splitmix64's step and mix (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t next_noise(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double cupel_shadow_anywhere(cupel_shadow *s, double size) {
    return (double)(int64_t)next_noise(&s->noise) * 0x1p-63 * size;
}

double cupel_shadow_disturb(cupel_shadow *s, double x) {
    return x + cupel_shadow_anywhere(s, x * s->w.unit);
}

double cupel_shadow_disturb_sum(cupel_shadow *s, double a, double b) {
    const double sum = a + b;
    return isfinite(sum) ? sum + cupel_shadow_anywhere(s, fmax(fabs(a), fabs(b)) * s->w.unit) : sum;
}

/* x to `bits` significant bits: what an approximation that is good to so many leaves. Veltkamp's splitting;
 * values near the end of single precision's range stay as they are. */
static double significant(double x, int bits) {
    if (!(fabs(x) < 0x1p127)) return x;
    const double scaled = x * (double)((UINT64_C(1) << (53 - bits)) + 1);
    return scaled - (scaled - x);
}

static double single(double x) {
    return (double)(float)x;
}

/* The reduced angle in turns is a single-precision product; the unit's result has a fixed absolute error. */
static double unit_sine(double x, double phase) {
    const double turns = single(x * single(0.15915494309189535));
    return single(nearbyint(sin(6.283185307179586 * turns + phase) * 0x1p22) * 0x1p-22);
}

static double unit_exp2(double x) {
    return single(significant(exp2(x), 22));
}

static double unit_log2(double x) {
    return single(significant(log2(x), 22));
}

static double unit_exp(double x) {
    return unit_exp2(single(x * single(1.4426950408889634)));
}

static double unit_reciprocal(double x) {
    return single(significant(1 / x, 23));
}

static double unit_rsqrt(double x) {
    return single(significant(1 / sqrt(x), 22));
}

/* Single precision in and out, by the special function unit where it has the function. */
static double unit_function(cupel_op op, double x) {
    switch (op) {
    case CUPEL_OP_SQRT: return single(significant(sqrt(x), 23));
    case CUPEL_OP_RSQRT: return unit_rsqrt(x);
    case CUPEL_OP_EXP: return unit_exp(x);
    case CUPEL_OP_EXP2: return unit_exp2(x);
    case CUPEL_OP_LOG: return single(unit_log2(x) * single(0.6931471805599453));
    case CUPEL_OP_LOG2: return unit_log2(x);
    case CUPEL_OP_LOG10: return single(unit_log2(x) * single(0.3010299956639812));
    case CUPEL_OP_SIN: return unit_sine(x, 0);
    case CUPEL_OP_COS: return unit_sine(x, 1.5707963267948966);
    case CUPEL_OP_TANH: {
        const double power = single(unit_exp(single(2 * x)) + 1);
        return single(1 - single(2 * unit_reciprocal(power)));
    }
    default: return single(cupel_function_value(op, x));
    }
}

static bool is_rounded(cupel_op op) {
    return op >= CUPEL_OP_TOREAL && op <= CUPEL_OP_ERFC;
}

double cupel_shadow_function(cupel_shadow *s, cupel_op op, double x) {
    if (!is_rounded(op)) return cupel_function_value(op, x);
    double y = s->plan.hardware ? unit_function(op, x) : cupel_function_value(op, x);
    if (s->plan.noise && isfinite(x) && isfinite(y)) /* as far off as the function may be */
        y += cupel_shadow_anywhere(s, cupel_budget_error(&s->w, op, x, x, fabs(y)));
    return cupel_shadow_round(s, y);
}

double cupel_shadow_divide(cupel_shadow *s, double x, double y) {
    if (s->plan.noise)
        return cupel_shadow_round(s, x / y + cupel_shadow_anywhere(s, x / y * s->w.unit * s->w.division));
    if (!s->plan.reciprocal) return cupel_shadow_round(s, x / y);
    const double inverse = s->plan.hardware ? unit_reciprocal(y) : 1 / y;
    return cupel_shadow_round(s, x * cupel_shadow_round(s, inverse));
}

double cupel_shadow_power(cupel_shadow *s, double x, double y) {
    if (s->plan.noise) {
        const double z = pow(x, y);
        const bool finite = isfinite(x) && isfinite(y) && isfinite(z);
        const double error = finite ? cupel_budget_power(&s->w, fabs(x), fabs(x), fabs(y), fabs(z)) : 0;
        return cupel_shadow_round(s, z + cupel_shadow_anywhere(s, error));
    }
    if (!s->plan.hardware) return cupel_shadow_round(s, pow(x, y));
    return cupel_shadow_round(s, unit_exp2(single(y * unit_log2(x))));
}
