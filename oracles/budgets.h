/* How far a conforming kernel's functions may be from the truth: the editable table behind every radius.
 * "An ulp" is the spacing of the working precision at the result; the published maxima are not guaranteed
 * bounds, so each is widened by half an ulp and by what has been measured on a device (the source column says
 * so). */
#ifndef CUPEL_BUDGETS_H
#define CUPEL_BUDGETS_H

#include "oracle.h"

/* The working precision and rules as the formulas want them. */
typedef struct cupel_working {
    cupel_dtype type;
    int precision;   /* bits p */
    double unit;     /* u = 2^-p, half the spacing above 1 */
    double smallest; /* the smallest subnormal */
    double eta;      /* half of it, the error of one rounding there; rounded up to all of it for f64 */
    double normal;   /* the smallest normal */
    double largest;  /* the largest finite */
    double division; /* the roundings of one division, in u: correct quotients and x*(1/y) are both within */
    double integers; /* integers up to this magnitude are exact in the evaluator: 2^53 for doubles */
    double matrix_normal; /* rules->matrix_normal, where the working precision is f32; else 0 */
    bool fast, fast_functions, flush, safe;
    bool sequential; /* scans and recurrences go step by step */
} cupel_working;

cupel_working cupel_working_of(const cupel_rules *rules);

typedef struct cupel_budget {
    cupel_op op;
    double f64_ulps;        /* double precision */
    double precise_ulps;    /* single precision, math: precise */
    double fast_ulps;       /* single precision, math: fast */
    double fast_slope;      /* and so many ulps for each unit of |x| */
    double fast_absolute;   /* and so much whatever the result's size */
    double option_relative; /* and so much of it, where the contract names --use_fast_math besides */
    const char *source;
} cupel_budget;

/* The row of a function, or NULL for an operation that has none (it is rounded correctly or exact). */
const cupel_budget *cupel_budget_of(cupel_op op);

/* The largest absolute error that a conforming kernel's op makes by itself (no error of its argument) when
 * its argument lies in [lo, hi] and the result's magnitude is at most y. Half and bfloat16 functions are
 * evaluated in single precision and rounded. Never less than half the smallest subnormal when y > 0. Rounded
 * up. May be infinite. */
double cupel_budget_error(const cupel_working *working, cupel_op op, double lo, double hi, double y);

/* The same for x ** y with |x| in [lo, hi], |y| <= exponent and a result up to result. */
double cupel_budget_power(const cupel_working *working, double lo, double hi, double exponent, double result);

/* The spacing of the working precision at |y|, never below its smallest subnormal. */
double cupel_working_ulp(const cupel_working *working, double y);

/* May a kernel hold x exactly? True for zero, and for finite numbers of the working precision. */
bool cupel_working_holds(const cupel_working *working, double x);

#endif
