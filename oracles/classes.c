#include "classes.h"

#include <math.h>

uint8_t cupel_class_of(double value) {
    if (isnan(value)) return CUPEL_CLASS_NAN;
    if (isinf(value)) return value > 0 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF;
    return CUPEL_CLASS_FINITE;
}

/* Representatives of what an operand may be: IEEE arithmetic on them gives the class of every combination.
 * Among finite values only the sign, and zero with its sign, decide. */
enum { ATOMS_MAX = 7 };

static int atoms_of(cupel_reach r, double atoms[ATOMS_MAX]) {
    int n = 0;
    if (r.classes & CUPEL_CLASS_FINITE) {
        if (r.lo < 0) atoms[n++] = -1;
        if (r.hi > 0) atoms[n++] = 1;
        if (r.lo <= 0 && r.hi >= 0) {
            const bool fixed = r.classes & CUPEL_ZERO_SIGN_FIXED,
                       negative = r.classes & CUPEL_ZERO_SIGN_NEGATIVE;
            if (!fixed || !negative) atoms[n++] = 0.0;
            if (!fixed || negative) atoms[n++] = -0.0;
        }
    }
    if (r.classes & CUPEL_CLASS_POS_INF) atoms[n++] = INFINITY;
    if (r.classes & CUPEL_CLASS_NEG_INF) atoms[n++] = -INFINITY;
    if (r.classes & CUPEL_CLASS_NAN) atoms[n++] = NAN;
    return n;
}

static double combine(cupel_op op, double a, double b) {
    switch (op) {
    case CUPEL_OP_ADD: return a + b;
    case CUPEL_OP_SUB: return a - b;
    case CUPEL_OP_MUL: return a * b;
    default: return a / b;
    }
}

uint8_t cupel_classes_binary(cupel_op op, cupel_reach a, cupel_reach b) {
    const bool finite = (a.classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE &&
                        (b.classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
    if (finite && (op != CUPEL_OP_DIV || b.lo > 0 || b.hi < 0)) return CUPEL_CLASS_FINITE;
    double as[ATOMS_MAX], bs[ATOMS_MAX];
    const int na = atoms_of(a, as), nb = atoms_of(b, bs);
    uint8_t classes = 0;
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb; j++) classes |= cupel_class_of(combine(op, as[i], bs[j]));
    }
    return classes;
}

/* Limits at -inf, at +inf; the domain (closed where the value there is finite); classes at its ends. */
typedef struct limits {
    uint8_t at_minus, at_plus;
    double low, high;        /* finite arguments outside give NaN */
    uint8_t at_low, at_high; /* at the ends themselves */
} limits;

#define F CUPEL_CLASS_FINITE
#define P CUPEL_CLASS_POS_INF
#define M CUPEL_CLASS_NEG_INF
#define Q CUPEL_CLASS_NAN

static limits limits_of(cupel_op op) {
    const double inf = INFINITY;
    switch (op) {
    case CUPEL_OP_SQRT: return (limits){Q, P, 0, inf, F, F};
    case CUPEL_OP_RSQRT: return (limits){Q, F, 0, inf, P, F};
    case CUPEL_OP_LOG:
    case CUPEL_OP_LOG2:
    case CUPEL_OP_LOG10: return (limits){Q, P, 0, inf, M, F};
    case CUPEL_OP_LOG1P: return (limits){Q, P, -1, inf, M, F};
    case CUPEL_OP_SIN:
    case CUPEL_OP_COS:
    case CUPEL_OP_TAN: return (limits){Q, Q, -inf, inf, F, F};
    case CUPEL_OP_ASIN:
    case CUPEL_OP_ACOS: return (limits){Q, Q, -1, 1, F, F};
    case CUPEL_OP_EXP:
    case CUPEL_OP_EXP2:
    case CUPEL_OP_EXPM1: return (limits){F, P, -inf, inf, F, F};
    case CUPEL_OP_SINH: return (limits){M, P, -inf, inf, F, F};
    case CUPEL_OP_COSH:
    case CUPEL_OP_ABS: return (limits){P, P, -inf, inf, F, F};
    case CUPEL_OP_NEG: return (limits){P, M, -inf, inf, F, F};
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC:
    case CUPEL_OP_CAST: return (limits){M, P, -inf, inf, F, F};
    default: return (limits){F, F, -inf, inf, F, F}; /* atan tanh erf erfc, sign */
    }
}

uint8_t cupel_classes_unary(cupel_op op, cupel_reach a) {
    const limits l = limits_of(op);
    uint8_t classes = a.classes & Q;
    if (a.classes & M) classes |= l.at_minus;
    if (a.classes & P) classes |= l.at_plus;
    if (a.classes & F) {
        if (a.lo < l.low || a.hi > l.high) classes |= Q;
        if (a.lo <= l.low && a.hi >= l.low) classes |= l.at_low;
        if (a.lo <= l.high && a.hi >= l.high) classes |= l.at_high;
        if (a.hi > l.low && a.lo < l.high) classes |= F;
    }
    /* 1/sqrt of a zero keeps the zero's sign */
    const bool zero = op == CUPEL_OP_RSQRT && (a.classes & F) && a.lo <= 0 && a.hi >= 0;
    if (!zero) return classes;
    const bool fixed = a.classes & CUPEL_ZERO_SIGN_FIXED, negative = a.classes & CUPEL_ZERO_SIGN_NEGATIVE;
    if (!fixed || negative) classes |= M;
    if (fixed && negative && a.hi == 0) classes &= (uint8_t)~P;
    return classes;
}

uint8_t cupel_classes_function2(cupel_op op, cupel_reach a, cupel_reach b) {
    const bool finite = a.classes == F && b.classes == F;
    switch (op) {
    case CUPEL_OP_ATAN2: {
        const bool numbers = (a.classes & (F | P | M)) && (b.classes & (F | P | M));
        return (uint8_t)(((a.classes | b.classes) & Q) | (numbers ? F : 0));
    }
    case CUPEL_OP_FMOD:
    case CUPEL_OP_REMAINDER:
        /* a remainder takes the divisor's sign by adding it, also when it is infinite */
        if (op == CUPEL_OP_REMAINDER && (b.classes & (P | M))) return F | Q | P | M;
        if ((a.classes & F) && (b.classes & (F | P | M)) && !((a.classes | b.classes) & Q) &&
            !(a.classes & (P | M)) && !(b.lo <= 0 && b.hi >= 0 && (b.classes & F)))
            return F;
        return F | Q | (op == CUPEL_OP_REMAINDER ? P | M : 0);
    default: /* pow: a positive base is safe; zeros, negatives and infinities are taken conservatively */
        if (finite && a.lo > 0) return F;
        return F | P | M | Q;
    }
}

cupel_sum_classes cupel_sum_classes_start(void) {
    return (cupel_sum_classes){.all_may_be_finite = true};
}

void cupel_sum_classes_add(cupel_sum_classes *t, uint8_t term) {
    term &= CUPEL_CLASS_MASK;
    t->may_pos += (term & P) != 0;
    t->may_neg += (term & M) != 0;
    t->may_both += (term & (P | M)) == (P | M);
    t->must_pos += term == P;
    t->must_neg += term == M;
    t->may_nan |= (term & Q) != 0;
    t->must_nan |= term == Q;
    t->all_may_be_finite &= (term & F) != 0;
}

uint8_t cupel_sum_classes_end(const cupel_sum_classes *t, bool may_overflow) {
    uint8_t classes = 0;
    if (t->must_nan || (t->must_pos && t->must_neg)) return Q;
    if (t->all_may_be_finite) classes |= F;
    if (t->may_pos && !t->must_neg) classes |= P;
    if (t->may_neg && !t->must_pos) classes |= M;
    /* infinities of both signs in two different terms */
    const bool opposed = t->may_pos && t->may_neg && (t->may_pos + t->may_neg - t->may_both > 1);
    if (t->may_nan || opposed) classes |= Q;
    if (may_overflow && (t->may_pos || t->may_neg)) classes |= Q;
    return classes;
}

uint8_t cupel_classes_extremum(cupel_op op, cupel_reach a, cupel_reach b) {
    const bool largest = op == CUPEL_OP_MAXIMUM || op == CUPEL_OP_FMAX || op == CUPEL_OP_AMAX;
    const bool nan_wins = op != CUPEL_OP_FMAX && op != CUPEL_OP_FMIN;
    const uint8_t strong = largest ? P : M, weak = largest ? M : P;
    uint8_t classes = 0;
    for (uint8_t x = F; x <= Q; x = (uint8_t)(x << 1)) {
        if (!(a.classes & x)) continue;
        for (uint8_t y = F; y <= Q; y = (uint8_t)(y << 1)) {
            if (!(b.classes & y)) continue;
            if (x == Q || y == Q) {
                classes |= nan_wins ? Q : x == Q ? y : x;
            } else if (x == strong || y == strong) {
                classes |= strong;
            } else {
                classes |= x == weak ? y : x;
            }
        }
    }
    return classes;
}

uint8_t cupel_zero_sign_of(double zero) {
    return (uint8_t)(CUPEL_ZERO_SIGN_FIXED | (signbit(zero) ? CUPEL_ZERO_SIGN_NEGATIVE : 0));
}

uint8_t cupel_zero_sign_negate(uint8_t classes) {
    return classes & CUPEL_ZERO_SIGN_FIXED ? classes ^ CUPEL_ZERO_SIGN_NEGATIVE : classes;
}

/* +1 or -1, 0 when open. */
static int sign_of(cupel_reach r) {
    const uint8_t classes = r.classes & CUPEL_CLASS_MASK;
    if (r.classes & CUPEL_ZERO_SIGN_FIXED) return r.classes & CUPEL_ZERO_SIGN_NEGATIVE ? -1 : 1;
    if (classes == P || (classes == F && r.lo > 0)) return 1;
    if (classes == M || (classes == F && r.hi < 0)) return -1;
    return 0;
}

uint8_t cupel_zero_sign_product(cupel_reach a, cupel_reach b) {
    const int sign = sign_of(a) * sign_of(b);
    if (sign == 0) return 0;
    return (uint8_t)(CUPEL_ZERO_SIGN_FIXED | (sign < 0 ? CUPEL_ZERO_SIGN_NEGATIVE : 0));
}
