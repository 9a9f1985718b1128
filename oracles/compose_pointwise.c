/* Elementwise functions that are one primitive, or nearly. */
#include <math.h>

#include "function_table.h"

#define ONE_PRIMITIVE(name, OP)                                                                              \
    int cupel_compose_##name(cupel_builder *b, const cupel_call *call) {                                     \
        return cupel_emit_unary(b, CUPEL_OP_##OP, cupel_call_node(b, call, 0));                              \
    }
ONE_PRIMITIVE(isfinite, ISFINITE)
ONE_PRIMITIVE(abs, ABS)
ONE_PRIMITIVE(neg, NEG)
ONE_PRIMITIVE(sign, SIGN)
ONE_PRIMITIVE(floor, FLOOR)
ONE_PRIMITIVE(ceil, CEIL)
ONE_PRIMITIVE(round, ROUND)
ONE_PRIMITIVE(trunc, TRUNC)
ONE_PRIMITIVE(sqrt, SQRT)
ONE_PRIMITIVE(rsqrt, RSQRT)
ONE_PRIMITIVE(exp, EXP)
ONE_PRIMITIVE(exp2, EXP2)
ONE_PRIMITIVE(expm1, EXPM1)
ONE_PRIMITIVE(log, LOG)
ONE_PRIMITIVE(log2, LOG2)
ONE_PRIMITIVE(log10, LOG10)
ONE_PRIMITIVE(log1p, LOG1P)
ONE_PRIMITIVE(sin, SIN)
ONE_PRIMITIVE(cos, COS)
ONE_PRIMITIVE(tan, TAN)
ONE_PRIMITIVE(asin, ASIN)
ONE_PRIMITIVE(acos, ACOS)
ONE_PRIMITIVE(atan, ATAN)
ONE_PRIMITIVE(sinh, SINH)
ONE_PRIMITIVE(cosh, COSH)
ONE_PRIMITIVE(tanh, TANH)
ONE_PRIMITIVE(erf, ERF)
ONE_PRIMITIVE(erfc, ERFC)
ONE_PRIMITIVE(isnan, ISNAN)
ONE_PRIMITIVE(isinf, ISINF)

#define TWO_ARGUMENTS(name, OP)                                                                              \
    int cupel_compose_##name(cupel_builder *b, const cupel_call *call) {                                     \
        return cupel_emit_binary(b, CUPEL_OP_##OP, cupel_call_node(b, call, 0),                              \
                                 cupel_call_node(b, call, 1));                                               \
    }
TWO_ARGUMENTS(atan2, ATAN2)
TWO_ARGUMENTS(fmod, FMOD)
TWO_ARGUMENTS(fmin, FMIN)
TWO_ARGUMENTS(fmax, FMAX)

int cupel_compose_reciprocal(cupel_builder *b, const cupel_call *call) {
    return div_(b, number_(b, 1.0), cupel_call_node(b, call, 0));
}

int cupel_compose_where(cupel_builder *b, const cupel_call *call) {
    return where_(b, cupel_call_node(b, call, 0), cupel_call_node(b, call, 1), cupel_call_node(b, call, 2));
}

/* Noted, because relu and clamp make the same node and have another derivative at a tie. */
int cupel_compose_minimum(cupel_builder *b, const cupel_call *call) {
    int y = minimum_(b, cupel_call_node(b, call, 0), cupel_call_node(b, call, 1));
    return composite_(b, CUPEL_FORM_PLAIN, y, -1, -1, -1);
}

int cupel_compose_maximum(cupel_builder *b, const cupel_call *call) {
    int y = maximum_(b, cupel_call_node(b, call, 0), cupel_call_node(b, call, 1));
    return composite_(b, CUPEL_FORM_PLAIN, y, -1, -1, -1);
}

static int clamped(cupel_builder *b, cupel_form form, int x, int bound) {
    int y = form == CUPEL_FORM_CLAMP_MIN ? maximum_(b, x, bound) : minimum_(b, x, bound);
    return composite_(b, form, y, x, bound, -1);
}

/* torch.clamp: min(max(x, min), max), so that with crossed bounds the upper one wins; NaN stays. */
int cupel_compose_clamp(cupel_builder *b, const cupel_call *call) {
    int x = cupel_call_node(b, call, 0);
    if (!cupel_call_has(call, 1) && !cupel_call_has(call, 2))
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->place, "expected at least one of min and max in %s",
                               call->info->signature);
    if (cupel_call_has(call, 1)) x = clamped(b, CUPEL_FORM_CLAMP_MIN, x, cupel_call_node(b, call, 1));
    if (cupel_call_has(call, 2)) x = clamped(b, CUPEL_FORM_CLAMP_MAX, x, cupel_call_node(b, call, 2));
    return x;
}

int cupel_compose_cast(cupel_builder *b, const cupel_call *call) {
    return cupel_emit_cast(b, call->args[1].type, cupel_call_node(b, call, 0));
}

/* Is the exponent a number that is known now? Only small whole numbers and halves matter. */
static bool known_exponent(const cupel_operand *o, double *out) {
    *out = o->form == CUPEL_OPERAND_REAL ? o->number : (double)o->integer;
    return o->form == CUPEL_OPERAND_REAL || o->form == CUPEL_OPERAND_INTEGER;
}

/* x ** 0.5 is a root (PyTorch) or C's power, which differ at -inf, where C has inf and 0, and at -0, of which
 * the reciprocal root is -inf: kernels of both kinds are right, so these are not judged. */
static int root_power(cupel_builder *b, int x, double exponent) {
    int differ = is_minus_infinity_(b, x);
    if (exponent > 0) return cupel_emit_exclude(b, sqrt_(b, x), differ);
    int zero = cupel_emit_binary(b, CUPEL_OP_EQ, x, number_(b, 0.0));
    return cupel_emit_exclude(b, rsqrt_(b, x), or_(b, differ, zero));
}

/* PyTorch's pow: the common exponents are products, roots and their reciprocals; all others the function. */
int cupel_compose_power(cupel_builder *b, int x, const cupel_operand *exponent) {
    double p;
    if (b->code != CUPEL_OK || x < 0) return -1;
    if (exponent->form == CUPEL_OPERAND_REAL) x = cupel_emit_as(b, CUPEL_VALUE_REAL, x);
    if (x >= 0 && b->nodes[x].kind == CUPEL_VALUE_BOOL) x = cupel_emit_as(b, CUPEL_VALUE_INT, x);
    if (x < 0) return -1;
    bool integral = b->nodes[x].kind != CUPEL_VALUE_REAL;
    if (known_exponent(exponent, &p)) {
        if (integral && p < 0)
            return cupel_emit_fail(b, CUPEL_CONTRACT, exponent->place,
                                   "expected an exponent of at least 0 for integers, found %g", p);
        if (p == 0.0) { /* of NaN too */
            int one = integral ? cupel_emit_integer(b, 1) : number_(b, 1.0);
            return cupel_emit_broadcast(b, one, b->nodes[x].rank, b->nodes[x].shape);
        }
        if (p == 1.0) return x;
        if (p == 2.0) return mul_(b, x, x);
        if (p == 3.0) return mul_(b, mul_(b, x, x), x);
        if (p == 0.5 || p == -0.5) return root_power(b, x, p);
        if (p == -1.0) return div_(b, number_(b, 1.0), x);
        if (p == -2.0) return div_(b, number_(b, 1.0), mul_(b, x, x));
    }
    return cupel_emit_binary(b, CUPEL_OP_POW, x, cupel_operand_node(b, exponent));
}

int cupel_compose_pow(cupel_builder *b, const cupel_call *call) {
    return cupel_compose_power(b, cupel_call_node(b, call, 0), &call->args[1]);
}
