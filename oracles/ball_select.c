/* Choices: comparisons, extrema, where, casts, and the exact integers. */
#include "ball.h"
#include "integers.h"

static bool only_finite(const cupel_ball *a) {
    return (a->classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
}

static cupel_ball truth(double value, bool open, uint8_t reason) {
    return cupel_ball_plain(value, open ? 1 : 0, CUPEL_CLASS_FINITE, reason);
}

/* Exact operands decide; otherwise disjoint enclosures do. */
cupel_ball cupel_ball_compare(cupel_op op, const cupel_ball *a, const cupel_ball *b, double value) {
    const uint8_t reason = cupel_reason_of(a, b);
    (void)op; /* where the enclosures touch, either outcome of any comparison is possible */
    const bool exact_a = cupel_ball_is_settled(a), exact_b = cupel_ball_is_settled(b);
    if (exact_a && exact_b) return truth(value, false, reason);
    if ((exact_a && isnan(a->value)) || (exact_b && isnan(b->value))) return truth(value, false, reason);
    if (only_finite(a) && only_finite(b)) {
        const bool apart = cupel_ball_hi(a) < cupel_ball_lo(b) || cupel_ball_hi(b) < cupel_ball_lo(a);
        return truth(value, !apart, reason);
    }
    /* a surely finite number against a sure infinity */
    const bool sure = (only_finite(a) && exact_b) || (only_finite(b) && exact_a);
    return truth(value, !sure, reason);
}

cupel_ball cupel_ball_extremum(const cupel_working *w, cupel_op op, const cupel_ball *a_,
                               const cupel_ball *b_, double value) {
    const cupel_ball flushed_a = cupel_ball_operand(w, a_), flushed_b = cupel_ball_operand(w, b_);
    const cupel_ball *a = &flushed_a, *b = &flushed_b;
    const bool largest = op == CUPEL_OP_MAXIMUM || op == CUPEL_OP_FMAX || op == CUPEL_OP_AMAX;
    cupel_ball r =
        cupel_ball_plain(value, 0, cupel_classes_extremum(op, cupel_ball_reach(a), cupel_ball_reach(b)),
                         cupel_reason_of(a, b));
    r.classes |= cupel_class_of(value);
    if (!(r.classes & CUPEL_CLASS_FINITE)) return r;
    if (!isfinite(value)) {
        r.radius = INFINITY;
        if (!r.reason) r.reason = CUPEL_REASON_UNBOUNDED;
        return r;
    }
    /* a side that cannot be finite, or loses when it is not, leaves the other's enclosure */
    const double none = largest ? -INFINITY : INFINITY;
    const bool fa = a->classes & CUPEL_CLASS_FINITE, fb = b->classes & CUPEL_CLASS_FINITE;
    const double alo = fa ? cupel_ball_lo(a) : none, ahi = fa ? cupel_ball_hi(a) : none;
    const double blo = fb ? cupel_ball_lo(b) : none, bhi = fb ? cupel_ball_hi(b) : none;
    double lo = largest ? fmax(alo, blo) : fmin(alo, blo), hi = largest ? fmax(ahi, bhi) : fmin(ahi, bhi);
    /* a side that may be non-finite may also drop out */
    if (!only_finite(a) && fb) lo = fmin(lo, blo), hi = fmax(hi, bhi);
    if (!only_finite(b) && fa) lo = fmin(lo, alo), hi = fmax(hi, ahi);
    r.radius = cupel_ball_radius_to(value, lo, hi);
    /* a finite result is one of the two; on the side of the choice, a sure number's bound holds for it */
    r.floor = fmin(a->floor, b->floor);
    r.ceiling = fmax(a->ceiling, b->ceiling);
    if (largest && only_finite(a)) r.floor = fmax(r.floor, a->floor);
    if (largest && only_finite(b)) r.floor = fmax(r.floor, b->floor);
    if (!largest && only_finite(a)) r.ceiling = fmin(r.ceiling, a->ceiling);
    if (!largest && only_finite(b)) r.ceiling = fmin(r.ceiling, b->ceiling);
    if (largest && cupel_ball_is_settled(b) && only_finite(a)) r.floor = fmax(r.floor, b->value);
    r.spread = r.radius;
    r.magnitude = fabs(value) + r.radius;
    if (r.radius > 0) {
        r.grain = 0;
        r.least = fmax(fabs(value) - r.radius, 0);
        r.trough = fmin(1, r.least);
        r.peak = fmax(1, r.magnitude);
    }
    return r;
}

cupel_ball cupel_ball_where(const cupel_ball *condition, const cupel_ball *yes, const cupel_ball *no,
                            double value) {
    cupel_ball r = condition->value != 0 ? *yes : *no;
    const cupel_ball *other = condition->value != 0 ? no : yes;
    if (condition->reason) r.reason = condition->reason;
    if (condition->radius == 0) return r;
    if (!r.reason) r.reason = other->reason;
    const uint8_t classes = (r.classes | other->classes) & CUPEL_CLASS_MASK;
    double radius = r.radius;
    if (isfinite(value)) {
        if (other->classes & CUPEL_CLASS_FINITE)
            radius = fmax(radius, cupel_ball_radius_to(value, cupel_ball_lo(other), cupel_ball_hi(other)));
    } else if (classes & CUPEL_CLASS_FINITE) {
        radius = INFINITY;
        if (!r.reason) r.reason = CUPEL_REASON_UNBOUNDED;
    }
    const double floor = fmin(r.floor, other->floor), ceiling = fmax(r.ceiling, other->ceiling);
    r = cupel_ball_plain(value, radius, classes, r.reason);
    r.floor = floor;
    r.ceiling = ceiling;
    return r;
}

cupel_ball cupel_ball_between(const cupel_ball *x, const cupel_ball *y, const cupel_ball *condition) {
    if (condition->value == 0 && condition->radius == 0 && !condition->reason) return *x;
    const cupel_ball open = cupel_ball_plain(1, 1, CUPEL_CLASS_FINITE, condition->reason);
    cupel_ball r = cupel_ball_where(&open, x, y, x->value);
    if (r.classes == CUPEL_CLASS_FINITE) { /* the hull itself, not what is as far on the other side */
        r.floor = fmin(cupel_ball_lo(x), cupel_ball_lo(y));
        r.ceiling = fmax(cupel_ball_hi(x), cupel_ball_hi(y));
    }
    return r;
}

cupel_ball cupel_ball_exclude(const cupel_ball *x, const cupel_ball *condition) {
    cupel_ball r = *x;
    r.direct = false; /* what kernels may leave out has a zero of either sign */
    r.classes &= (uint8_t) ~(CUPEL_ZERO_SIGN_FIXED | CUPEL_ZERO_SIGN_NEGATIVE);
    const bool surely_not = condition->value == 0 && condition->radius == 0;
    if (condition->reason)
        r.reason = condition->reason;
    else if (!surely_not)
        r.reason = CUPEL_REASON_EXCLUDED;
    return r;
}

/* The integer a cast to an integer type gives: truncated, saturated; NaN and what lies outside is the
 * device's business. */
static cupel_ball cast_to_integer(const cupel_working *w, cupel_dtype type, const cupel_ball *a,
                                  double value) {
    cupel_ball r = cupel_ball_plain(value + 0.0, 0, CUPEL_CLASS_FINITE, a->reason); /* integers know no -0 */
    const cupel_format *f = cupel_format_of(type);
    const double top = ldexp(1, (int)f->size * 8 - (f->kind == CUPEL_KIND_SIGNED ? 1 : 0));
    const double bottom = f->kind == CUPEL_KIND_SIGNED ? -top : 0;
    const double lo = cupel_ball_lo(a), hi = cupel_ball_hi(a);
    if (!only_finite(a) || !(lo > bottom - 1) || !(hi < top)) {
        if (!r.reason) r.reason = CUPEL_REASON_CONVENTION;
        return r;
    }
    r.radius = a->radius > 0 ? cupel_ball_radius_to(value, trunc(lo), trunc(hi)) : 0;
    if (fabs(value) + r.radius > w->integers && !r.reason) r.reason = CUPEL_REASON_UNABLE;
    return r;
}

static bool saturates(cupel_dtype type) {
    return type == CUPEL_E4M3 || type == CUPEL_E5M2;
}

/* fp8 above its largest number: that number (CUDA's constructors saturate, infinities too), or NaN (e4m3) or
 * the infinity (e5m2) as PyTorch's `to` has it. value is the saturated one. */
static cupel_ball cast_saturating(cupel_dtype type, const cupel_ball *a, double value) {
    const bool finite = a->classes & CUPEL_CLASS_FINITE;
    const bool up = a->classes & CUPEL_CLASS_POS_INF, down = a->classes & CUPEL_CLASS_NEG_INF;
    const double lo = down ? -INFINITY : finite ? cupel_ball_lo(a) : INFINITY;
    const double hi = up ? INFINITY : finite ? cupel_ball_hi(a) : -INFINITY;
    const bool above = up || (finite && hi > 0 && !isfinite(cupel_round(type, hi)));
    const bool below = down || (finite && lo < 0 && !isfinite(cupel_round(type, lo)));
    uint8_t classes = a->classes & CUPEL_CLASS_NAN;
    if (finite || up || down) classes |= CUPEL_CLASS_FINITE;
    if (type == CUPEL_E4M3 && (above || below)) classes |= CUPEL_CLASS_NAN;
    if (type == CUPEL_E5M2 && above) classes |= CUPEL_CLASS_POS_INF;
    if (type == CUPEL_E5M2 && below) classes |= CUPEL_CLASS_NEG_INF;
    cupel_ball r = cupel_ball_plain(value, 0, classes, a->reason);
    if (isfinite(value))
        r.radius = cupel_ball_radius_to(value, cupel_saturate(type, lo), cupel_saturate(type, hi));
    return r;
}

/* The extent of a conversion's results: nearest; of tf32 either neighbour, for cvt.rna, truncating loads and
 * PyTorch's own rounding differ. */
static double cast_down(cupel_dtype type, double x) {
    return type == CUPEL_TF32 ? cupel_round_down(type, x) : cupel_round(type, x);
}

static double cast_up(cupel_dtype type, double x) {
    return type == CUPEL_TF32 ? cupel_round_up(type, x) : cupel_round(type, x);
}

cupel_ball cupel_ball_cast(const cupel_working *w, cupel_dtype type, const cupel_ball *a_, double value) {
    const cupel_ball flushed = cupel_ball_operand(w, a_), *a = &flushed;
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return cast_to_integer(w, type, a, value);
    cupel_ball r = saturates(type)
                       ? cast_saturating(type, a, value)
                       : cupel_ball_plain(value, 0, (uint8_t)(a->classes | cupel_class_of(value)), a->reason);
    r.direct = a->direct;
    if (saturates(type) && value == 0) r.classes |= a->classes & (uint8_t)~CUPEL_CLASS_MASK;
    if (value != 0 || a->value != 0 || a->radius > 0) r.classes &= CUPEL_CLASS_MASK;
    if (!saturates(type) && isfinite(a->value)) {
        const double lo = cast_down(type, cupel_ball_lo(a)), hi = cast_up(type, cupel_ball_hi(a));
        r.radius = a->radius > 0 || lo != hi ? cupel_ball_radius_to(value, lo, hi) : 0;
        if (isinf(hi)) r.classes |= hi > 0 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF;
        if (isinf(lo)) r.classes |= lo > 0 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF;
        if (lo == INFINITY || hi == -INFINITY) r.classes &= (uint8_t)~CUPEL_CLASS_FINITE;
    }
    if (!isfinite(value)) r.radius = r.classes & CUPEL_CLASS_FINITE ? INFINITY : 0;
    if (isinf(r.radius) && !r.reason) r.reason = CUPEL_REASON_UNBOUNDED;
    if (w->flush && isfinite(value) && fabs(value) - r.radius < cupel_format_normal(type))
        r.radius = fmax(r.radius, fabs(value));
    /* a type wider than the working precision cannot hold more than the kernel had */
    if (isfinite(value) && r.radius == 0 && !cupel_working_holds(w, value)) r.radius = w->unit * fabs(value);
    r.spread = r.radius;
    r.magnitude = fabs(value) + r.radius;
    if (r.radius > 0) r.grain = 0;
    return r;
}

static bool is_bitwise(cupel_op op) {
    return op == CUPEL_OP_BITAND || op == CUPEL_OP_BITOR || op == CUPEL_OP_BITXOR || op == CUPEL_OP_SHL ||
           op == CUPEL_OP_SHR;
}

cupel_ball cupel_ball_integer(const cupel_working *w, cupel_dtype width, cupel_op op, const cupel_ball *a,
                              const cupel_ball *b, double value) {
    cupel_ball r = cupel_ball_plain(value, 0, CUPEL_CLASS_FINITE, cupel_reason_of(a, b));
    const double ra = a->radius, rb = b->radius;
    if (op == CUPEL_OP_ADD || op == CUPEL_OP_SUB) r.radius = ra + rb;
    if (op == CUPEL_OP_MUL) r.radius = fabs(a->value) * rb + fabs(b->value) * ra + ra * rb;
    const bool jumps =
        op == CUPEL_OP_FMOD || op == CUPEL_OP_REMAINDER || op == CUPEL_OP_POW || is_bitwise(op);
    if (jumps && (ra > 0 || rb > 0)) r.radius = INFINITY;
    if (isinf(r.radius) && !r.reason) r.reason = CUPEL_REASON_UNBOUNDED;
    /* by zero, a shift by 64: what the device does is no error of the kernel */
    const bool undefined = ((op == CUPEL_OP_FMOD || op == CUPEL_OP_REMAINDER) && fabs(b->value) <= rb) ||
                           cupel_width_excludes(op, width, a->value - ra, b->value - rb, b->value + rb) ||
                           (op == CUPEL_OP_POW && b->value < 0);
    if (undefined && !r.reason) r.reason = CUPEL_REASON_CONVENTION;
    if (!(fabs(value) + r.radius <= w->integers) && !r.reason) r.reason = CUPEL_REASON_UNABLE;
    return r;
}
