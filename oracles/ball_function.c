/* Functions of one argument, pow, fmod, remainder and atan2. */
#include "ball.h"
#include "function_value.h"
#include "integers.h"

/* Where the function's finite values lie: an infinite radius must not excuse what no kernel can return. */
static void range_of(cupel_op op, double *floor, double *ceiling) {
    switch (op) {
    case CUPEL_OP_ABS:
    case CUPEL_OP_SQRT:
    case CUPEL_OP_RSQRT:
    case CUPEL_OP_EXP:
    case CUPEL_OP_EXP2: *floor = 0; break;
    case CUPEL_OP_COSH: *floor = 0.5; break;
    case CUPEL_OP_ERFC: *floor = 0, *ceiling = 2.5; break;
    case CUPEL_OP_SIN:
    case CUPEL_OP_COS:
    case CUPEL_OP_TANH:
    case CUPEL_OP_ERF: *floor = -1.25, *ceiling = 1.25; break;
    case CUPEL_OP_SIGN: *floor = -1, *ceiling = 1; break;
    case CUPEL_OP_ATAN:
    case CUPEL_OP_ASIN: *floor = -2, *ceiling = 2; break;
    case CUPEL_OP_ACOS: *floor = 0, *ceiling = 4; break;
    default: break;
    }
}

/* How far the exact function moves when its argument moves inside [lo, hi] around a value whose image is y.
 */
static double motion(cupel_op op, double lo, double hi, double x, double y) {
    const double reach = fmax(hi - x, x - lo);
    switch (op) {
    case CUPEL_OP_SIN:
    case CUPEL_OP_COS: return fmin(reach, 2);
    case CUPEL_OP_TAN: {
        const double half_pi = 1.5707963267948966, slack = 1e-9 + fabs(x) * 1e-15;
        const double away = fabs(remainder(x, 2 * half_pi)); /* from the nearest zero, at most pi/2 */
        if (!(away + reach + slack < half_pi)) return INFINITY;
        const double cosine = cos(away + reach + slack);
        return reach / (cosine * cosine);
    }
    case CUPEL_OP_COSH: return reach * fabs(sinh(fmax(fabs(lo), fabs(hi))));
    case CUPEL_OP_ABS: return reach;
    default: break;
    }
    /* monotone; outside the domain its edge */
    if (op == CUPEL_OP_SQRT || op == CUPEL_OP_RSQRT || op == CUPEL_OP_LOG || op == CUPEL_OP_LOG2 ||
        op == CUPEL_OP_LOG10)
        lo = fmax(lo, 0), hi = fmax(hi, 0);
    if (op == CUPEL_OP_LOG1P) lo = fmax(lo, -1), hi = fmax(hi, -1);
    if (op == CUPEL_OP_ASIN || op == CUPEL_OP_ACOS) lo = fmin(fmax(lo, -1), 1), hi = fmin(fmax(hi, -1), 1);
    return fmax(fabs(cupel_function_value(op, lo) - y), fabs(cupel_function_value(op, hi) - y));
}

/* An operand that may be an infinity beside its own value: how far the function's limit there lies from y,
 * and as *top the limit's size. Zero where the limit is no number; its class says so. */
static double limits_apart(cupel_op op, const cupel_ball *a, double y, double *top) {
    double apart = 0;
    *top = fabs(y);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double limit = cupel_function_value(op, sign * INFINITY);
        if (!(a->classes & (sign < 0 ? CUPEL_CLASS_NEG_INF : CUPEL_CLASS_POS_INF)) || !isfinite(limit))
            continue;
        apart = fmax(apart, fabs(limit - y));
        *top = fmax(*top, fabs(limit));
    }
    return apart;
}

static bool moves_exactly(cupel_op op) {
    return op == CUPEL_OP_NEG || op == CUPEL_OP_ABS || op == CUPEL_OP_SIGN || op == CUPEL_OP_FLOOR ||
           op == CUPEL_OP_CEIL || op == CUPEL_OP_ROUND || op == CUPEL_OP_TRUNC;
}

static cupel_ball test_of(cupel_op op, const cupel_ball *a, double value) {
    const uint8_t classes = a->classes & CUPEL_CLASS_MASK;
    const uint8_t infinities = CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF;
    const uint8_t yes = op == CUPEL_OP_ISNAN   ? CUPEL_CLASS_NAN
                        : op == CUPEL_OP_ISINF ? infinities
                                               : CUPEL_CLASS_FINITE;
    const bool open = (classes & yes) && (classes & ~yes & CUPEL_CLASS_MASK);
    return cupel_ball_plain(value, open ? 1 : 0, CUPEL_CLASS_FINITE, a->reason);
}

static cupel_ball integer_unary(const cupel_working *w, cupel_op op, const cupel_ball *a, double value) {
    cupel_ball r = cupel_ball_plain(value, op == CUPEL_OP_SIGN && a->radius > 0 ? 2 : a->radius,
                                    CUPEL_CLASS_FINITE, a->reason);
    if (fabs(value) + r.radius > w->integers && !r.reason) r.reason = CUPEL_REASON_UNABLE;
    return r;
}

/* The rounding of an integer to the working precision. */
static cupel_ball to_real(const cupel_working *w, const cupel_trait *t, const cupel_ball *a, double value) {
    double radius = a->radius;
    if (radius > 0 || !cupel_working_holds(w, value)) radius += w->unit * (fabs(value) + radius);
    return cupel_ball_close(w, t, cupel_ball_plain(value, radius, CUPEL_CLASS_FINITE, a->reason),
                            fabs(value));
}

static cupel_ball exact_move(const cupel_working *w, const cupel_trait *t, cupel_op op, const cupel_ball *a_,
                             double value) {
    const cupel_ball flushed = cupel_ball_operand(w, a_), *a = &flushed;
    double radius = 0;
    if (a->radius > 0 && isfinite(a->value))
        radius = motion(op, cupel_ball_lo(a), cupel_ball_hi(a), a->value, value);
    double top;
    if (isfinite(value)) radius = fmax(radius, limits_apart(op, a, value, &top));
    if (op == CUPEL_OP_NEG) {
        cupel_ball r = *a;
        r.value = value;
        r.classes =
            cupel_zero_sign_negate(a->classes) & (uint8_t) ~(CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF);
        if (a->classes & CUPEL_CLASS_POS_INF) r.classes |= CUPEL_CLASS_NEG_INF;
        if (a->classes & CUPEL_CLASS_NEG_INF) r.classes |= CUPEL_CLASS_POS_INF;
        r.floor = -a->ceiling;
        r.ceiling = -a->floor;
        return r;
    }
    cupel_ball r = cupel_ball_plain(value, radius, cupel_classes_unary(op, cupel_ball_reach(a)), a->reason);
    range_of(op, &r.floor, &r.ceiling);
    /* PyTorch's own backends differ on the sign of a NaN */
    if (op == CUPEL_OP_SIGN && (a->classes & CUPEL_CLASS_NAN) && !r.reason)
        r.reason = CUPEL_REASON_CONVENTION;
    if (!isfinite(value)) return cupel_ball_close(w, t, r, 0);
    return r;
}

/* What sums and products that it becomes part of need to know, once the radius is. */
static cupel_ball as_a_term(cupel_ball r) {
    r.spread = r.radius;
    r.magnitude = isfinite(r.value) ? fabs(r.value) + r.radius : 0;
    r.peak = fmax(1, r.magnitude);
    if (r.radius > 0) {
        r.grain = 0;
        r.least = isfinite(r.value) ? fmax(fabs(r.value) - r.radius, 0) : 0;
        r.depth = r.least;
        r.trough = fmin(1, r.least);
    }
    return r;
}

static cupel_ball function_of(const cupel_working *w, const cupel_trait *t, cupel_op op, const cupel_ball *a_,
                              double value) {
    const cupel_ball a = cupel_ball_operand(w, a_);
    double lo = cupel_ball_lo(&a), hi = cupel_ball_hi(&a);
    if (t->folded && isfinite(a.value)) {
        /* both sides of the difference rounded after scaling, by a constant that is itself rounded */
        const double fold = w->unit * (a.magnitude + 2 * fmax(fabs(lo), fabs(hi))) * (1 + 0x1p-20);
        lo -= fold;
        hi += fold;
    }
    const bool moves = a.radius > 0 || t->folded;
    const double moved = moves && isfinite(a.value) ? motion(op, lo, hi, a.value, value) : 0;
    cupel_ball r = cupel_ball_plain(value, moved, 0, a.reason);
    r.classes = cupel_classes_unary(op, cupel_ball_reach(&a));
    range_of(op, &r.floor, &r.ceiling);
    if (isfinite(a.value) && isfinite(value)) {
        const bool root = op == CUPEL_OP_SQRT && !w->fast && moved == 0 && cupel_working_holds(w, value) &&
                          value * value == a.value;
        if (!root) r.radius += cupel_budget_error(w, op, lo, hi, fabs(value) + moved);
        if (root) r.radius = 0;
    } else if (isfinite(value) && !cupel_working_holds(w, value)) {
        r.radius = cupel_budget_error(w, op, 0, 0, fabs(value)); /* atan(inf) is pi/2, which no format has */
    }
    if (isfinite(value)) {
        double top;
        const double apart = limits_apart(op, &a, value, &top);
        if (apart > 0) r.radius = fmax(r.radius, apart + cupel_budget_error(w, op, 0, 0, top));
    }
    /* other limits are reached by every implementation: exp(-inf) = 0, tanh(inf) = 1 */
    return cupel_ball_close(w, t, as_a_term(r), fabs(value) + r.radius);
}

cupel_ball cupel_ball_unary(const cupel_working *w, const cupel_trait *t, cupel_op op, cupel_value_kind kind,
                            const cupel_ball *a, double value, bool exact) {
    (void)exact; /* the functions' results are taken as inexact, whatever they are */
    switch (op) {
    case CUPEL_OP_ISNAN:
    case CUPEL_OP_ISINF:
    case CUPEL_OP_ISFINITE: return test_of(op, a, value);
    case CUPEL_OP_NOT: return cupel_ball_plain(value, a->radius, CUPEL_CLASS_FINITE, a->reason);
    case CUPEL_OP_TOREAL: return to_real(w, t, a, value);
    default: break;
    }
    if (kind != CUPEL_VALUE_REAL) return integer_unary(w, op, a, value);
    return moves_exactly(op) ? exact_move(w, t, op, a, value) : function_of(w, t, op, a, value);
}

/* A zero whose sign is not known. */
static bool has_open_zero(const cupel_ball *a) {
    return a->value == 0 && !(a->classes & CUPEL_ZERO_SIGN_FIXED);
}

static cupel_ball power(const cupel_working *w, const cupel_trait *t, const cupel_ball *a,
                        const cupel_ball *b, double value) {
    cupel_ball r = cupel_ball_plain(value, 0, 0, cupel_reason_of(a, b));
    const double lo = cupel_ball_lo(a), hi = cupel_ball_hi(a), y_lo = cupel_ball_lo(b),
                 y_hi = cupel_ball_hi(b);
    const bool exact_operands = cupel_ball_is_settled(a) && cupel_ball_is_settled(b);
    const bool numbers = ((a->classes | b->classes) & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
    r.classes = cupel_classes_function2(CUPEL_OP_POW, cupel_ball_reach(a), cupel_ball_reach(b));
    if (exact_operands) r.classes = cupel_class_of(value);
    if (exact_operands && has_open_zero(a) && isinf(value))
        r.classes = CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF;
    /* exp2(y * log2(x)) knows no negative base */
    const bool hardware = w->fast && w->type != CUPEL_F64;
    if (hardware && (!(lo > 0) || !isfinite(a->value) || !isfinite(b->value))) r.classes |= CUPEL_CLASS_NAN;
    if (hardware && lo <= 0 && (r.classes & CUPEL_CLASS_NEG_INF))
        r.classes |= CUPEL_CLASS_POS_INF; /* log2 sees no sign of a zero */
    if (isfinite(value) && numbers) {
        double moved = 0;
        if (!exact_operands && lo > 0) {
            const double corners[] = {pow(lo, y_lo), pow(lo, y_hi), pow(hi, y_lo), pow(hi, y_hi)};
            for (int i = 0; i < 4; i++) moved = fmax(moved, fabs(corners[i] - value));
        } else if (!exact_operands) { /* an integer exponent: monotone in |x| */
            const double size = fmax(fabs(lo), fabs(hi));
            moved = b->radius == 0 && b->value == nearbyint(b->value) && b->value > 0
                        ? b->value * pow(size, b->value - 1) * a->radius
                        : INFINITY;
        }
        const double far = fmax(fabs(lo), fabs(hi)), near = lo <= 0 && hi >= 0 ? 0 : fmin(fabs(lo), fabs(hi));
        r.radius =
            moved + cupel_budget_power(w, near, far, fmax(fabs(y_lo), fabs(y_hi)), fabs(value) + moved);
        if (a->value == 1 && a->radius == 0 && !hardware) r.radius = 0;
    } else if (isfinite(value) && !exact_operands) {
        r.radius = INFINITY; /* inf ** -tiny is 0, and 1 where the exponent is rounded to 0 */
    }
    /* 1 ** inf: the hardware's logarithm near 1 is absolute */
    if (hardware && isinf(b->value) && lo <= 1 + 0x1p-21 && hi >= 1 - 0x1p-21) {
        r.classes |= CUPEL_CLASS_FINITE | CUPEL_CLASS_POS_INF | CUPEL_CLASS_NAN;
        r.radius = INFINITY;
    }
    return cupel_ball_close(w, t, as_a_term(r), fabs(value) + r.radius);
}

/* fmod and remainder are exact for exact operands; else they jump, and the whole range is possible. */
static cupel_ball modulo(const cupel_working *w, const cupel_trait *t, cupel_op op, const cupel_ball *a,
                         const cupel_ball *b, double value) {
    cupel_ball r = cupel_ball_plain(value, 0, 0, cupel_reason_of(a, b));
    r.classes = cupel_classes_function2(op, cupel_ball_reach(a), cupel_ball_reach(b));
    const bool exact_operands = cupel_ball_is_settled(a) && cupel_ball_is_settled(b);
    if (exact_operands && isfinite(a->value) && isfinite(b->value)) r.classes = cupel_class_of(value);
    /* infinity less its multiples is NaN by any formula */
    if (!(a->classes & CUPEL_CLASS_FINITE) || (b->classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_NAN)
        r.classes = CUPEL_CLASS_NAN;
    if (!exact_operands || (op == CUPEL_OP_REMAINDER && !cupel_working_holds(w, value)))
        r.radius = 2 * (fabs(b->value) + b->radius);
    /* what an infinite divisor leaves is the dividend itself, or with the divisor's sign that infinity */
    if (!exact_operands && (b->classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF)) && isfinite(value))
        r.radius = fmax(r.radius, 2 * (fabs(a->value) + a->radius));
    if (w->fast) r.radius = fmax(r.radius, w->unit * fabs(a->value)); /* a - b * trunc(a/b) */
    /* kernels add b to a remainder of the other sign, which may have been flushed */
    const bool flushes = w->flush && op == CUPEL_OP_REMAINDER && fabs(fmod(a->value, b->value)) < w->normal;
    if (flushes && isfinite(value)) r.radius = fmax(r.radius, fabs(value));
    return cupel_ball_close(w, t, as_a_term(r), fabs(value) + r.radius);
}

static cupel_ball arctangent(const cupel_working *w, const cupel_trait *t, const cupel_ball *a,
                             const cupel_ball *b, double value) {
    cupel_ball r = cupel_ball_plain(value, 0, 0, cupel_reason_of(a, b));
    r.classes = cupel_classes_function2(CUPEL_OP_ATAN2, cupel_ball_reach(a), cupel_ball_reach(b));
    r.floor = -4, r.ceiling = 4;
    if (isfinite(value)) {
        /* the angle moves by at most asin(distance / length) */
        double moved = 0;
        const uint8_t classes = (a->classes | b->classes) & CUPEL_CLASS_MASK;
        const bool settled = cupel_ball_is_settled(a) && cupel_ball_is_settled(b);
        /* the sign of a zero decides between 0 and pi */
        const bool either_side =
            (has_open_zero(a) && cupel_ball_lo(b) <= 0) || (a->value == 0 && has_open_zero(b));
        if (either_side || (classes != CUPEL_CLASS_FINITE && !settled)) {
            moved = 8;
        } else if (isfinite(a->value) && isfinite(b->value) && (a->radius > 0 || b->radius > 0)) {
            const double ratio = hypot(a->radius, b->radius) / hypot(a->value, b->value);
            const bool cut = b->value < b->radius && fabs(a->value) <= a->radius;
            moved = ratio < 1 && !cut ? asin(ratio) : 8;
        }
        r.radius =
            moved + cupel_budget_error(w, CUPEL_OP_ATAN2, -INFINITY, INFINITY, fmin(fabs(value) + moved, 4));
    }
    return cupel_ball_close(w, t, as_a_term(r), 4);
}

static bool is_open(const cupel_trait *t, cupel_op op, const cupel_ball *a, const cupel_ball *b) {
    return cupel_width_excludes(op, t->width, a->value - a->radius, b->value - b->radius,
                                b->value + b->radius);
}

cupel_ball cupel_ball_binary(const cupel_working *w, const cupel_trait *t, cupel_op op, cupel_value_kind kind,
                             const cupel_ball *a, const cupel_ball *b, double value, bool exact) {
    switch (op) {
    case CUPEL_OP_LT:
    case CUPEL_OP_LE:
    case CUPEL_OP_EQ:
    case CUPEL_OP_NE: {
        const bool real = kind == CUPEL_VALUE_REAL;
        const cupel_ball u = real ? cupel_ball_operand(w, a) : *a, v = real ? cupel_ball_operand(w, b) : *b;
        cupel_ball r = cupel_ball_compare(op, &u, &v, value);
        if (!real && !r.reason && is_open(t, op, a, b)) r.reason = CUPEL_REASON_CONVENTION;
        return r;
    }
    case CUPEL_OP_AND:
    case CUPEL_OP_OR: {
        const bool one_decides = op == CUPEL_OP_AND
                                     ? (a->value == 0 && a->radius == 0) || (b->value == 0 && b->radius == 0)
                                     : (a->value != 0 && a->radius == 0) || (b->value != 0 && b->radius == 0);
        const bool open = !one_decides && (a->radius > 0 || b->radius > 0);
        return cupel_ball_plain(value, open ? 1 : 0, CUPEL_CLASS_FINITE, cupel_reason_of(a, b));
    }
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX: {
        cupel_ball r = cupel_ball_extremum(w, op, a, b, value);
        if (kind == CUPEL_VALUE_INT && !r.reason && is_open(t, op, a, b)) r.reason = CUPEL_REASON_CONVENTION;
        return r;
    }
    default: break;
    }
    if (kind != CUPEL_VALUE_REAL) return cupel_ball_integer(w, t->width, op, a, b, value);
    const cupel_ball x = cupel_ball_operand(w, a), y = cupel_ball_operand(w, b);
    switch (op) {
    case CUPEL_OP_ADD:
    case CUPEL_OP_SUB: return cupel_ball_add(w, t, op == CUPEL_OP_SUB, a, b, value, exact);
    case CUPEL_OP_MUL: return cupel_ball_multiply(w, t, a, b, value, exact);
    case CUPEL_OP_DIV: return cupel_ball_divide(w, t, a, b, value, exact);
    case CUPEL_OP_POW: return power(w, t, &x, &y, value);
    case CUPEL_OP_ATAN2: return arctangent(w, t, &x, &y, value);
    default: return modulo(w, t, op, &x, &y, value);
    }
}
