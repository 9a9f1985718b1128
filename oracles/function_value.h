/* The functions of one argument in double: one table for the evaluators that compute in fp64. In a header, so
 * that the loops over whole tensors keep them inline. */
#ifndef CUPEL_FUNCTION_VALUE_H
#define CUPEL_FUNCTION_VALUE_H

#include <math.h>

#include "graph.h"

/* The value of a unary primitive at x; x itself where the operation changes no value (TOREAL). */
static inline double cupel_function_value(cupel_op op, double x) {
    switch (op) {
    case CUPEL_OP_NEG: return -x;
    case CUPEL_OP_ABS: return fabs(x);
    case CUPEL_OP_SIGN: return isnan(x) ? x : (double)((x > 0) - (x < 0));
    case CUPEL_OP_FLOOR: return floor(x);
    case CUPEL_OP_CEIL: return ceil(x);
    case CUPEL_OP_ROUND: return nearbyint(x);
    case CUPEL_OP_TRUNC: return trunc(x);
    case CUPEL_OP_ISNAN: return isnan(x);
    case CUPEL_OP_ISINF: return isinf(x) != 0;
    case CUPEL_OP_ISFINITE: return isfinite(x);
    case CUPEL_OP_NOT: return x == 0;
    case CUPEL_OP_BITNOT: return -x - 1;
    case CUPEL_OP_SQRT: return sqrt(x);
    case CUPEL_OP_RSQRT: return 1 / sqrt(x);
    case CUPEL_OP_EXP: return exp(x);
    case CUPEL_OP_EXP2: return exp2(x);
    case CUPEL_OP_EXPM1: return expm1(x);
    case CUPEL_OP_LOG: return log(x);
    case CUPEL_OP_LOG2: return log2(x);
    case CUPEL_OP_LOG10: return log10(x);
    case CUPEL_OP_LOG1P: return log1p(x);
    case CUPEL_OP_SIN: return sin(x);
    case CUPEL_OP_COS: return cos(x);
    case CUPEL_OP_TAN: return tan(x);
    case CUPEL_OP_ASIN: return asin(x);
    case CUPEL_OP_ACOS: return acos(x);
    case CUPEL_OP_ATAN: return atan(x);
    case CUPEL_OP_SINH: return sinh(x);
    case CUPEL_OP_COSH: return cosh(x);
    case CUPEL_OP_TANH: return tanh(x);
    case CUPEL_OP_ERF: return erf(x);
    case CUPEL_OP_ERFC: return erfc(x);
    default: return x; /* TOREAL */
    }
}

#endif
