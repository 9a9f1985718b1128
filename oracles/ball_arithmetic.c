/* Radius and classes of + - * / in the working precision. */
#include "ball.h"

/* No result of it is smaller; a lone number bounds itself. */
static double low_of(const cupel_ball *a) {
    return a->floor > -INFINITY || a->radius > 0 || !isfinite(a->value) ? a->floor : a->value;
}

/* No term of either is negative: each bounds a sum of both from below, in any order. */
static bool all_positive(const cupel_ball *a, const cupel_ball *b) {
    const bool plain = (a->sum || a->terms == 1 || a->positive) && (b->sum || b->terms == 1 || b->positive);
    return plain && low_of(a) >= 0 && low_of(b) >= 0;
}

/* An argument of + or -. Of one that is a + or - itself, the terms are counted one by one where they join:
 * in a chain as `joins` has it, beside a SUM always. */
static cupel_ball part_of(const cupel_working *w, const cupel_trait *t, bool beside_sum, int which,
                          const cupel_ball *a) {
    cupel_ball part = cupel_ball_operand(w, a);
    if (part.sum || part.terms == 1 || (t->joins ? t->joins >> which & 1 : beside_sum)) return part;
    const cupel_ball one = cupel_ball_plain(part.value, part.radius, 0, 0);
    part.terms = 1;
    part.magnitude = one.magnitude;
    part.spread = one.spread;
    part.grain = one.grain;
    part.least = one.least;
    return part;
}

/* The finite terms of a sum or chain count on where another term makes it infinite: in another order they
 * come first. */
static cupel_ball close_terms(const cupel_working *w, const cupel_trait *t, cupel_ball r, double top) {
    const double magnitude = r.magnitude;
    r = cupel_ball_close(w, t, r, top);
    if (!isfinite(r.value)) r.magnitude = magnitude;
    return r;
}

/* Some order overflows before it comes to an infinite term, which may have the other sign. */
static bool may_oppose_infinity(const cupel_working *w, const cupel_trait *t, const cupel_ball *a,
                                const cupel_ball *b, double extent) {
    const bool infinite = (a->classes | b->classes) & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF);
    return infinite && !(extent * t->overflow < w->largest);
}

/* x - amax(x) is never joined: no kernel starts a sum from the maximum of its results. What joins a SUM is a
 * sum for what comes after, whose factors may go inside; a chain of + and - alone is one only for its terms.
 */
cupel_ball cupel_ball_add(const cupel_working *w, const cupel_trait *t, bool subtract, const cupel_ball *a_,
                          const cupel_ball *b_, double value, bool exact) {
    const bool beside_sum = (a_->sum || b_->sum) && !t->below_maximum;
    const cupel_ball a = part_of(w, t, beside_sum, 0, a_), b = part_of(w, t, beside_sum, 1, b_);
    const double moved = a.radius + b.radius;
    cupel_ball r = cupel_ball_plain(value, moved, 0, cupel_reason_of(&a, &b));
    r.classes = cupel_classes_binary(subtract ? CUPEL_OP_SUB : CUPEL_OP_ADD, cupel_ball_reach(&a),
                                     cupel_ball_reach(&b));
    r.sum = beside_sum;
    const bool joined = r.sum || t->joins;
    if (t->below_maximum) r.ceiling = 0;
    if (!subtract) {
        /* variance + eps stays at or above eps, up to the rounding below */
        r.floor = low_of(&a) + low_of(&b);
        r.positive = all_positive(&a, &b);
        if (joined) r.floor = r.positive ? fmax(low_of(&a), low_of(&b)) : -INFINITY;
        if (isnan(r.floor)) r.floor = -INFINITY;
        r.floor -= 2 * w->unit * fabs(r.floor);
        if (isnan(r.floor)) r.floor = -INFINITY;
    }
    const double size_a = joined ? a.magnitude : isfinite(a.value) ? fabs(a.value) + a.radius : 0;
    const double size_b = joined ? b.magnitude : isfinite(b.value) ? fabs(b.value) + b.radius : 0;
    r.magnitude = size_a + size_b;
    r.spread = joined ? a.spread + b.spread : moved;
    r.terms = joined ? a.terms + b.terms : 2;
    r.grain = fmin(a.grain, b.grain);
    r.least = fmin(a.least, b.least);
    if (joined) {
        const bool exact_sum = r.spread == 0 && r.grain > 0 && r.magnitude <= ldexp(r.grain, w->precision);
        r.radius = exact_sum ? 0 : r.spread + (r.terms - 1) * w->unit * r.magnitude;
        const bool coarse = r.least * 2 * w->unit >= w->normal || (r.spread == 0 && r.grain >= w->normal);
        if (w->flush && !coarse) r.radius += (r.terms - 1) * w->normal;
    } else if (moved > 0 || !exact || !cupel_working_holds(w, value)) {
        r.radius = moved + w->unit * (fabs(value) + moved);
    }
    if (r.sum) {
        r.products = cupel_ball_is_product(&a) || cupel_ball_is_product(&b);
        r.carry = cupel_ball_carry(&a) + cupel_ball_carry(&b);
        r.depth = fmin(cupel_ball_depth(&a), cupel_ball_depth(&b));
        r.peak = fmax(1, fmax(r.magnitude, cupel_ball_extent(&a) + cupel_ball_extent(&b)));
    } else if (joined && isfinite(value)) { /* one factor for what comes after */
        r.peak = fmax(1, fabs(value) + r.radius);
        r.trough = fabs(value) + r.radius == 0 ? 1 : fmin(1, fmax(fabs(value) - r.radius, 0));
    }
    const double extent = r.products ? r.peak : joined ? r.magnitude : fabs(value) + moved;
    if (joined && may_oppose_infinity(w, t, &a, &b, extent)) r.classes |= CUPEL_CLASS_NAN;
    return close_terms(w, t, r, extent);
}

/* The sum state of a product of a sum and a factor: the factor may go inside, where it rounds every term
 * (`rounding` times u). */
static void scale_sum(const cupel_working *w, cupel_ball *r, const cupel_ball *sum, double factor,
                      double factor_radius, double rounding, bool exact_factor) {
    const double size = factor + factor_radius, magnitude = sum->magnitude * size;
    double spread = sum->spread * size + sum->magnitude * factor_radius;
    if (!exact_factor) spread += rounding * w->unit * magnitude;
    const double least = fmax(sum->least, sum->spread == 0 ? sum->grain : 0);
    const double grain = exact_factor ? sum->grain * factor : 0;
    /* a scaled term, or the product of the factor and some factors of a term, may fall below the normal
     * numbers */
    const double deep =
        sum->products ? fmin(1, sum->depth) * fmin(1, factor - factor_radius) : least * factor;
    if (!(least * factor >= w->normal && deep >= w->normal)) {
        if (w->flush)
            spread += sum->carry * w->normal;
        else if (sum->products || !(grain >= w->smallest))
            spread += (sum->products ? 2 : 1) * sum->carry * w->eta;
    }
    const bool exact = spread == 0 && grain > 0 && magnitude <= ldexp(grain, w->precision);
    r->sum = true;
    r->radius = fmax(r->radius, exact ? 0 : spread + (sum->terms - 1) * w->unit * magnitude);
    r->magnitude = fmax(r->magnitude, magnitude);
    r->spread = fmax(r->spread, spread);
    r->terms = fmax(r->terms, sum->terms);
    r->grain = grain;
    r->least = 0;
    r->products = true;
    r->carry = fmax(r->carry, sum->carry * fmax(1, size));
    r->depth = 0;
}

static bool is_power_of_two(double x) {
    int exponent;
    return isfinite(x) && x != 0 && fabs(frexp(x, &exponent)) == 0.5;
}

/* Half a subnormal (under flush the smallest normal) for each operation of the chain, times the largest
 * product of the other factors. A single product's own flush is the hull that cupel_ball_close takes. */
static double underflow_of(const cupel_working *w, const cupel_ball *r, const cupel_ball *a,
                           const cupel_ball *b) {
    if (r->trough >= w->normal) return 0;
    const bool chain = a->roundings > 0 || b->roundings > 0;
    const double operations = 1 + (a->roundings > 0) + (b->roundings > 0);
    return (w->flush && chain ? w->normal : w->eta) * operations * (chain ? r->peak : 1);
}

/* inf * x * y: the kernel may take x * y first, which may underflow to 0, and inf * 0 is NaN. So in a term of
 * a sum of products that is scaled. */
static bool may_lose_infinity(const cupel_working *w, const cupel_ball *r, const cupel_ball *a,
                              const cupel_ball *b) {
    const bool infinite =
        (a->classes | b->classes | r->classes) & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF);
    const bool chain = cupel_ball_is_product(a) || cupel_ball_is_product(b);
    return infinite && chain && r->trough < (w->flush ? w->normal : w->smallest);
}

/* inf * (x + y): inside the sum the infinity meets terms of either sign, or a 0. */
static bool may_split_infinity(const cupel_ball *sum, const cupel_ball *factor) {
    return sum->sum && sum->terms > 1 && (factor->classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF));
}

static bool exact_zero(const cupel_ball *a) {
    return a->value == 0 && a->radius == 0 && (a->classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
}

/* The chain's roundings that the operands' own radii do not show, because they happened to be exact. */
static double hidden_roundings(const cupel_ball *a, const cupel_ball *b) {
    return (a->radius == 0 ? a->roundings : 0) + (b->radius == 0 ? b->roundings : 0);
}

cupel_ball cupel_ball_multiply(const cupel_working *w, const cupel_trait *t, const cupel_ball *a_,
                               const cupel_ball *b_, double value, bool exact) {
    const cupel_ball a = cupel_ball_operand(w, a_), b = cupel_ball_operand(w, b_);
    const double size_b = fabs(b.value) + b.radius;
    const bool zero = exact_zero(&a) || exact_zero(&b);
    const double moved = zero ? 0 : a.radius * size_b + fabs(a.value) * b.radius;
    cupel_ball r = cupel_ball_plain(value, moved, 0, cupel_reason_of(&a, &b));
    r.classes = cupel_classes_binary(CUPEL_OP_MUL, cupel_ball_reach(&a), cupel_ball_reach(&b));
    if (t->square) { /* x*x: both factors are one number, so no NaN from inf * 0 and nothing negative */
        r.floor = 0;
        r.classes =
            (uint8_t)((a.classes & (CUPEL_CLASS_FINITE | CUPEL_CLASS_NAN)) |
                      (a.classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF) ? CUPEL_CLASS_POS_INF : 0));
    } else if (a.floor >= 0 && b.floor >= 0) {
        r.floor = 0;
    }
    r.direct = a.direct && b.direct;
    r.peak = a.peak * b.peak;
    r.trough = a.trough * b.trough;
    r.divisors = a.divisors * b.divisors;
    r.roundings = a.roundings + b.roundings + 1;
    const bool in_range =
        !(a.roundings > 0 || b.roundings > 0) || (r.trough >= w->normal && r.peak <= w->largest);
    if (moved > 0 || !(zero || (exact && in_range && cupel_working_holds(w, value)))) {
        r.radius = moved + (1 + hidden_roundings(&a, &b)) * w->unit * (fabs(value) + moved);
        r.radius += underflow_of(w, &r, &a, &b);
    }
    if (value == 0 && r.radius == 0 && r.direct)
        r.classes |= cupel_zero_sign_product(cupel_ball_reach(&a), cupel_ball_reach(&b));
    r.spread = r.radius;
    r.grain = r.radius == 0 ? r.grain : 0;
    r.magnitude = isfinite(value) ? fabs(value) + r.radius : 0;
    const bool powers = a.radius == 0 && b.radius == 0 && in_range;
    if (a.sum && isfinite(b.value))
        scale_sum(w, &r, &a, fabs(b.value), b.radius, 1, powers && is_power_of_two(b.value));
    if (b.sum && isfinite(a.value))
        scale_sum(w, &r, &b, fabs(a.value), a.radius, 1, powers && is_power_of_two(a.value));
    const double chain = cupel_ball_is_product(&a) || cupel_ball_is_product(&b) ? r.peak : 0;
    const double scaled = r.sum ? r.magnitude : 0;
    if (may_lose_infinity(w, &r, &a, &b) || may_split_infinity(&a, &b) || may_split_infinity(&b, &a))
        r.classes |= CUPEL_CLASS_NAN;
    if (r.sum && may_oppose_infinity(w, t, &a, &b, fmax(chain, scaled))) r.classes |= CUPEL_CLASS_NAN;
    return close_terms(w, t, r, fmax(fmax(fabs(value) + r.radius, chain), scaled));
}

cupel_ball cupel_ball_divide(const cupel_working *w, const cupel_trait *t, const cupel_ball *a_,
                             const cupel_ball *b_, double value, bool exact) {
    const cupel_ball a = cupel_ball_operand(w, a_), b = cupel_ball_operand(w, b_);
    const cupel_reach divisor = cupel_ball_reach(&b);
    const bool touches_zero = (b.classes & CUPEL_CLASS_FINITE) && divisor.lo <= 0 && divisor.hi >= 0;
    const double least = touches_zero ? 0 : fmin(fabs(divisor.lo), fabs(divisor.hi));
    /* |a'/b' - a/b| <= (|a' - a| + |a/b| |b' - b|) / |b'| */
    const double moved = a.radius == 0 && b.radius == 0 ? 0 : (a.radius + fabs(value) * b.radius) / least;
    cupel_ball r = cupel_ball_plain(value, moved, 0, cupel_reason_of(&a, &b));
    r.classes = cupel_classes_binary(CUPEL_OP_DIV, cupel_ball_reach(&a), divisor);
    if (a.floor >= 0 && divisor.lo >= 0) r.floor = 0;
    const double inverse = least > 0 ? 1 / least : touches_zero && b.value != 0 ? INFINITY : 1;
    r.direct = a.direct && b.direct;
    /* a product is divided by as a whole or factor by factor */
    const bool factors = b.roundings > 0 && isfinite(b.value);
    const double size_b = isfinite(b.value) && b.value != 0 ? fabs(b.value) + b.radius : 0;
    r.peak = a.peak * fmax(fmax(1, inverse), factors ? 1 / b.trough : 0);
    r.trough = a.trough * fmin(fmin(1, size_b > 0 ? 1 / size_b : 1), factors ? 1 / b.peak : 1);
    if (isfinite(b.value))
        r.divisors = a.divisors * fmax(1, b.roundings > 0 ? b.peak : fabs(b.value) + b.radius);
    /* x / (y z) may be x / y / z, each of them divided by */
    r.roundings = a.roundings + (b.roundings + 1) * w->division + (t->root_divisor ? 2 * 2.5 : 0);
    const bool power = (!w->fast || t->constant_divisor) && is_power_of_two(b.value) && b.radius == 0;
    const bool chained = a.roundings > 0 || b.roundings > 0;
    const bool in_range =
        chained ? r.trough >= w->normal && r.peak <= w->largest : cupel_working_holds(w, 1 / b.value);
    const bool vanishes = isinf(b.value) && !(b.classes & (CUPEL_CLASS_FINITE | CUPEL_CLASS_NAN)) &&
                          (a.classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
    const bool zero = vanishes || (exact_zero(&a) && (b.classes & CUPEL_CLASS_MASK) != CUPEL_CLASS_NAN);
    if (moved > 0 || !(zero || (power && exact && in_range && cupel_working_holds(w, value)))) {
        const double rounds =
            r.roundings - (a.radius > 0 ? a.roundings : 0) - (b.radius > 0 ? b.roundings : 0);
        r.radius = moved + rounds * w->unit * (fabs(value) + moved);
        const double lost = cupel_quotient_loss(w, chained);
        if (chained) {
            if (r.trough < w->normal) r.radius += lost * (2 + (a.roundings > 0) + (b.roundings > 0)) * r.peak;
        } else { /* the quotient itself, and the reciprocal that the dividend multiplies */
            if (!(fabs(value) - r.radius >= w->normal)) r.radius += lost;
            if (!(1 / (fabs(b.value) + b.radius) >= w->normal)) r.radius += lost * (fabs(a.value) + a.radius);
        }
    }
    /* a divisor that may be infinite beside its own value */
    if ((b.classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF)) && isfinite(value))
        r.radius = fmax(r.radius, fabs(value));
    /* the hardware's division gives 0 (and NaN for an infinite dividend) for huge divisors; so does a flushed
     * reciprocal */
    const double huge = isfinite(b.value) ? fabs(b.value) + b.radius : 0;
    if ((w->fast || w->flush) && w->type != CUPEL_F64 && huge * w->normal > 1) {
        if (isfinite(value)) r.radius = fmax(r.radius, fabs(value));
        if (a.classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF)) r.classes |= CUPEL_CLASS_NAN;
    }
    if (value == 0 && r.radius == 0 && r.direct)
        r.classes |= cupel_zero_sign_product(cupel_ball_reach(&a), divisor);
    r.spread = r.radius;
    r.magnitude = isfinite(value) ? fabs(value) + r.radius : 0;
    if (r.radius > 0) r.grain = 0;
    if (a.sum && (isfinite(value) || isfinite(b.value)) && least > 0)
        scale_sum(w, &r, &a, 1 / least, moved > 0 ? b.radius / least / least : 0, w->division,
                  power && in_range && b.radius == 0);
    /* an infinity over a product of divisors that may be infinite, too */
    const bool crowded = a.divisors > 1 && !(r.divisors * t->overflow < w->largest);
    const bool infinite = a.classes & (CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF);
    const bool split = a.sum && a.terms > 1 && touches_zero; /* x/0 + y/0 */
    if (may_lose_infinity(w, &r, &a, &b) || (crowded && infinite) || split) r.classes |= CUPEL_CLASS_NAN;
    double top = fmax(inverse, cupel_ball_is_product(&a) || b.roundings > 0 ? r.peak : 0);
    if (crowded) top = fmax(top, r.divisors);
    if (!(b.classes & CUPEL_CLASS_FINITE)) top = 0;
    top = fmax(top, r.sum ? r.magnitude : 0);
    if (r.sum && may_oppose_infinity(w, t, &a, &a, top)) r.classes |= CUPEL_CLASS_NAN;
    return close_terms(w, t, r, top);
}
