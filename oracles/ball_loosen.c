/* Operands of matrix products under `products`: a kernel may round or truncate them to a narrower type first,
 * or take them as they are. The exact value stays; the ball grows. */
#include "ball.h"

/* How far x lies from its truncation and from the nearest numbers of the type, whichever way a tie goes.
 * Beyond the largest number truncation (and saturation) gives that one. */
static double distance(cupel_dtype type, double x) {
    const double nearest = cupel_round(type, x);
    const double truncated = x < 0 ? cupel_round_up(type, x) : cupel_round_down(type, x);
    const double cut = fabs(x - truncated);
    return isfinite(nearest) ? fmax(cut, fabs(nearest - x)) : cut;
}

/* Are its bits the same in every legal order of its making? A product of two numbers has at least the bits of
 * either; a quotient has not. */
static bool is_settled(cupel_dtype type, const cupel_ball *a) {
    if (a->radius > 0) return false;
    const bool in_range = a->trough >= cupel_format_normal(type) && a->peak <= cupel_format_largest(type);
    return a->roundings == 0 || (a->roundings < 2 && in_range && cupel_round(type, a->value) == a->value);
}

/* Factors down to 2^-12 are thought of: a softmax's divisor of 4,096 keys, an eighth of a root. */
static const double least_factor = 0x1p-12;

double cupel_loosen_normal(cupel_dtype type, bool scaled) {
    return cupel_format_normal(type) / (scaled ? least_factor : 1);
}

double cupel_loosen_smallest(cupel_dtype type, bool scaled) {
    return cupel_format_smallest(type) / (scaled ? least_factor : 1);
}

static double outward(double bound, double away, cupel_dtype type) {
    const double moved = 2 * cupel_format_unit(type) * fabs(bound) + cupel_format_smallest(type);
    return bound == 0 || isinf(bound) ? bound : bound + away * moved;
}

double cupel_loosen_floor(cupel_dtype type, double floor) {
    return outward(floor, -1, type);
}

double cupel_loosen_ceiling(cupel_dtype type, double ceiling) {
    return outward(ceiling, 1, type);
}

double cupel_loosen_down(cupel_dtype type, double least) {
    const double lost = least * (1 - 2 * cupel_format_unit(type));
    return isinf(least) ? least : lost < cupel_format_normal(type) ? 0 : lost;
}

double cupel_loosen_up(cupel_dtype type, double most) {
    return most * (1 + 2 * cupel_format_unit(type));
}

/* Infinities where the enclosure, or what a legal order makes of its factors, passes the type's threshold. */
static void overflow(cupel_dtype type, bool scaled, const cupel_ball *a, cupel_ball *r) {
    const double factor = scaled ? 2 : 1; /* log2(e) */
    if (cupel_round(type, factor * (a->value + a->radius)) == INFINITY) r->classes |= CUPEL_CLASS_POS_INF;
    if (cupel_round(type, factor * (a->value - a->radius)) == -INFINITY) r->classes |= CUPEL_CLASS_NEG_INF;
    if (a->roundings > 0 && isinf(cupel_round(type, a->peak)) && !r->reason)
        r->reason = CUPEL_REASON_OVERFLOW;
}

cupel_ball cupel_ball_loosen(const cupel_working *w, cupel_dtype type, bool scaled, const cupel_ball *a_) {
    const cupel_ball a = cupel_ball_operand(w, a_);
    cupel_ball r = a;
    if (!isfinite(a.value) || (a.value == 0 && a.radius == 0)) return r;
    const double size = fabs(a.value) + a.radius, normal = cupel_loosen_normal(type, scaled);
    double lost;
    if (!scaled && is_settled(type, &a)) {
        lost = distance(type, a.value);
    } else {
        /* one ulp is at most 2 u of the value; the factors of a chain may be narrowed instead of it */
        const double low = fmin(fabs(a.value) - a.radius, a.roundings > 0 ? a.trough : INFINITY);
        const double below = low < normal ? cupel_loosen_smallest(type, scaled) : 0;
        lost = 2 * cupel_format_unit(type) * size * (1 + 0x1p-40);
        lost += below * (a.roundings > 0 ? a.peak : 1);
        lost = fmax(lost, size - cupel_format_largest(type));
    }
    overflow(type, scaled, &a, &r);
    r.radius += lost;
    if (w->flush && fabs(a.value) - r.radius < normal) r.radius = fmax(r.radius, fabs(a.value));
    if (r.radius == 0) return r;
    const double moved = r.radius - a.radius;
    r.loosened = lost;
    r.magnitude += moved;
    r.spread += moved;
    r.grain = 0;
    r.least = cupel_loosen_down(type, a.least);
    r.depth = cupel_loosen_down(type, a.depth);
    r.trough = cupel_loosen_down(type, a.trough);
    r.peak = cupel_loosen_up(type, a.peak);
    if (!(a.roundings > 0)) /* no chain: its own extent */
        r.trough = fmin(1, fmax(fabs(r.value) - r.radius, 0));
    if (!(a.roundings > 0) && !a.sum) {
        r.least = r.depth = fmax(fabs(r.value) - r.radius, 0);
        r.peak = fmax(1, fabs(r.value) + r.radius);
    }
    r.floor = cupel_loosen_floor(type, a.floor);
    r.ceiling = cupel_loosen_ceiling(type, a.ceiling);
    return r;
}
