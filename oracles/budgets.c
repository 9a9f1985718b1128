#include "budgets.h"

#include <math.h>
#include <string.h>

#define GUIDE "CUDA C Programming Guide, mathematical functions (largest over its editions), + 1/2"

/* op, f64, f32 precise, f32 fast, per |x|, absolute, relative, source. Functions whose fast form has a shape
 * of its own (LOG near 1, SIN, COS, TAN, pow) are finished in code below. */
static const cupel_budget budgets[] = {
    {CUPEL_OP_SQRT, 0.5, 0.5, 2.5, 0, 0, 0,
     "precise: correctly rounded; fast: " GUIDE " (sqrt.approx 1, x*rsqrt(x) 2.5)"},
    /* 1/sqrt(x) is the same function to an author: two roundings, or two approximations */
    {CUPEL_OP_RSQRT, 1.5, 2.5, 6.0, 0, 0, 0,
     GUIDE "; fast admits 1/sqrt with both approximate: 1.5 + 2.5, relative"},
    {CUPEL_OP_EXP, 1.5, 2.5, 3.5, 1.173, 0, 0,
     GUIDE " (__expf: 2 + floor(1.173|x|)); measured 2.44 near 0 on an H200; ex2(x*log2(e)) is the same"},
    {CUPEL_OP_EXP2, 1.5, 2.5, 2.5, 0, 0, 0, GUIDE " (ex2.approx 2)"},
    {CUPEL_OP_EXPM1, 1.5, 1.5, 1.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_LOG, 1.5, 1.5, 3.5, 0, 0, 0,
     GUIDE " (__logf 3); measured 3.34 on an H200; absolute 2^-21.41 in [1/2, 2]"},
    {CUPEL_OP_LOG2, 1.5, 1.5, 3.5, 0, 0, 0, GUIDE " (__log2f 2 to 3, absolute 2^-22 in [1/2, 2])"},
    {CUPEL_OP_LOG10, 1.5, 3.5, 3.5, 0, 0, 0,
     GUIDE " (__log10f 3, absolute 2^-22 in [1/2, 2] as log2 * log10(2))"},
    {CUPEL_OP_LOG1P, 1.5, 1.5, 2.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_SIN, 2.5, 2.5, 2.5, 0, 0, 0, GUIDE " (__sinf: 2^-21.41 in [-pi, pi]; beyond, 2|x|2^-23)"},
    {CUPEL_OP_COS, 2.5, 2.5, 2.5, 0, 0, 0, GUIDE " (__cosf: 2^-21.19 in [-pi, pi]; beyond, 2|x|2^-23)"},
    {CUPEL_OP_TAN, 2.5, 4.5, 4.5, 0, 0, 0, GUIDE " (__tanf: __sinf times the reciprocal of __cosf)"},
    {CUPEL_OP_ASIN, 2.5, 4.5, 4.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_ACOS, 2.5, 3.5, 3.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_ATAN, 2.5, 2.5, 2.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_ATAN2, 2.5, 3.5, 3.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_SINH, 2.5, 3.5, 3.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_COSH, 1.5, 2.5, 2.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_TANH, 1.5, 2.5, 2.5, 0, 0x1p-20, 0x1p-11,
     GUIDE
     "; fast: 1 - 2/(exp(2x) + 1) by the hardware, 2^-20.3; --use_fast_math: tanh.approx.f32 (PTX ISA)"},
    {CUPEL_OP_ERF, 2.5, 2.5, 2.5, 0, 0, 0, GUIDE},
    {CUPEL_OP_ERFC, 5.5, 4.5, 4.5, 0, 0, 0, GUIDE "; measured 4.49 on an H200"},
    {CUPEL_OP_POW, 2.5, 9.5, 9.5, 0, 0, 0, GUIDE " (powf 4 to 9; __powf: exp2(y * __log2f(x)))"},
};

enum { BUDGET_COUNT = sizeof budgets / sizeof *budgets };

const cupel_budget *cupel_budget_of(cupel_op op) {
    for (int i = 0; i < BUDGET_COUNT; i++) {
        if (budgets[i].op == op) return &budgets[i];
    }
    return NULL;
}

cupel_working cupel_working_of(const cupel_rules *rules) {
    const cupel_dtype type = rules->working;
    cupel_working w = {.type = type,
                       .precision = cupel_format_of(type)->precision,
                       .unit = cupel_format_unit(type),
                       .smallest = cupel_format_smallest(type),
                       .eta =
                           type == CUPEL_F64 ? cupel_format_smallest(type) : cupel_format_smallest(type) / 2,
                       .normal = cupel_format_normal(type),
                       .largest = cupel_format_largest(type),
                       .integers = 0x1p53,
                       .matrix_normal = type == CUPEL_F32 ? rules->matrix_normal : 0,
                       .fast = rules->fast_math,
                       .fast_functions = rules->fast_math && rules->fast_functions,
                       .flush = rules->subnormals == CUPEL_SUBNORMALS_FLUSH,
                       .safe = rules->range_safe,
                       .sequential = rules->sequential};
    /* x*(1/y) rounds twice; the hardware's division and reciprocal are 2 ulp, an ulp being at most 2u of the
     * quotient */
    w.division = w.fast && type != CUPEL_F64 ? 5.0 : 2.0;
    return w;
}

/* The power of two at or below |y|; 0 for 0. Exponents by the bits, so that loops over it stay cheap. */
static double binade(double y) {
    uint64_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    memcpy(&y, &bits, sizeof y);
    return y;
}

double cupel_working_ulp(const cupel_working *working, double y) {
    if (!(fabs(y) <= working->largest))
        y = working->largest; /* infinite or NaN: the widest spacing there is */
    return fmax(2 * working->unit * binade(y), working->smallest);
}

bool cupel_working_holds(const cupel_working *working, double x) {
    switch (working->type) {
    case CUPEL_F64: return isfinite(x);
    case CUPEL_F32: return isfinite(x) && (double)(float)x == x;
    default: return isfinite(x) && cupel_round(working->type, x) == x;
    }
}

/* The single precision functions, of which half and bfloat16 take the result. */
static cupel_working function_precision(const cupel_working *working) {
    if (working->type == CUPEL_F64 || working->type == CUPEL_F32) return *working;
    return cupel_working_of(
        &(cupel_rules){.working = CUPEL_F32,
                       .fast_math = working->fast,
                       .fast_functions = working->fast_functions,
                       .subnormals = working->flush ? CUPEL_SUBNORMALS_FLUSH : CUPEL_SUBNORMALS_KEEP});
}

/* The absolute error of the hardware's sine or cosine anywhere in [lo, hi]. */
static double trigonometric_error(double lo, double hi, double within_pi) {
    const double x = fmax(fabs(lo), fabs(hi));
    return x <= 3.1415926 ? within_pi : fmax(within_pi, 2 * x * 0x1p-23);
}

static double tangent_error(double lo, double hi, double y) {
    const double sine = trigonometric_error(lo, hi, 0x1p-21) + 0x1p-23;
    const double cosine = 1 / sqrt(1 + y * y) - sine; /* |cos x| where |tan x| is largest, less its error */
    return cosine > 0 ? (sine + y * sine) / cosine : INFINITY;
}

/* What the fast forms add to their row's ulps. */
static double fast_extra(cupel_op op, double lo, double hi, double y) {
    const bool near_one = lo <= 2 && hi >= 0.5;
    switch (op) {
    case CUPEL_OP_LOG: return near_one ? 0x1p-21 : 0; /* 2^-21.41 and the product's rounding */
    case CUPEL_OP_LOG2:
    case CUPEL_OP_LOG10: return near_one ? 0x1p-22 : 0;
    case CUPEL_OP_SIN: return trigonometric_error(lo, hi, 0x1.82p-22); /* 2^-21.41 */
    case CUPEL_OP_COS: return trigonometric_error(lo, hi, 0x1.c2p-22); /* 2^-21.19 */
    case CUPEL_OP_TAN: return tangent_error(lo, hi, y);
    default: return 0;
    }
}

double cupel_budget_error(const cupel_working *working, cupel_op op, double lo, double hi, double y) {
    const cupel_budget *row = cupel_budget_of(op);
    const cupel_working f = function_precision(working);
    double ulps = 0.5, absolute = 0;
    if (row && f.type == CUPEL_F64) {
        ulps = row->f64_ulps;
    } else if (row && f.fast) {
        ulps = row->fast_ulps;
        if (row->fast_slope > 0) ulps += row->fast_slope * fmax(fabs(lo), fabs(hi)); /* not 0 * inf */
        absolute = row->fast_absolute + fast_extra(op, lo, hi, y);
        if (f.fast_functions) absolute += row->option_relative * y;
    } else if (row) {
        ulps = row->precise_ulps;
    }
    /* a result that crosses a power of two is rounded to the wider spacing beyond it */
    double error = ulps * cupel_working_ulp(&f, y * (1 + 2 * ulps * f.unit)) + absolute;
    /* two approximations in a row are relative: ulps of an intermediate that sits low in its binade */
    if (row && op == CUPEL_OP_RSQRT && f.fast) error = fmax(error, 11 * f.unit * y);
    if (f.type != working->type) error += working->unit * (y + error) + working->eta;
    return error * (1 + 0x1p-50);
}

double cupel_budget_power(const cupel_working *working, double lo, double hi, double exponent,
                          double result) {
    const cupel_working f = function_precision(working);
    const cupel_budget *row = cupel_budget_of(CUPEL_OP_POW);
    const double ulps = f.type == CUPEL_F64 ? row->f64_ulps : row->precise_ulps;
    double error = ulps * cupel_working_ulp(&f, result * (1 + 2 * ulps * f.unit));
    if (f.fast && f.type != CUPEL_F64) {
        /* exp2(y * log2(x)): the errors of the logarithm and of the product are relative errors of the result
         */
        const double log2_size = lo > 0 ? fmax(fabs(log2(lo)), fabs(log2(hi))) : 150;
        const double log2_error = cupel_budget_error(&f, CUPEL_OP_LOG2, lo, hi, log2_size);
        const double shift = 0.6931472 * (exponent * log2_error + f.unit * exponent * log2_size);
        error += shift < 700 ? result * expm1(shift) : INFINITY;
    }
    if (f.type != working->type) error += working->unit * (result + error) + working->eta;
    return error * (1 + 0x1p-50);
}
