/* Functions of two arguments: arithmetic, comparisons, extrema, logic, bits. */
#include <math.h>

#include "exact.h"

static void undecided(cupel_exact_value *out) {
    mpfr_set_inf(out->lo, -1);
    mpfr_set_inf(out->hi, 1);
    out->open = true;
}

typedef int operation(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static void hull_of_corners(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b,
                            operation *op) {
    mpfr_srcptr as[] = {a->lo, a->hi}, bs[] = {b->lo, b->hi};
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(out->lo));
    for (int i = 0; i < 4; i++) {
        op(t, as[i & 1], bs[i >> 1], MPFR_RNDD);
        if (i == 0 || mpfr_less_p(t, out->lo)) mpfr_set(out->lo, t, MPFR_RNDD);
        op(t, as[i & 1], bs[i >> 1], MPFR_RNDU);
        if (i == 0 || mpfr_greater_p(t, out->hi)) mpfr_set(out->hi, t, MPFR_RNDU);
    }
    mpfr_clear(t);
    cupel_exact_tidy(out, false);
}

/* Of a positive base x ** y is monotone in each argument; of others only points are taken. */
static void power(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b) {
    if (cupel_exact_is_point(a) && cupel_exact_is_point(b)) {
        cupel_exact_both(out, mpfr_pow(out->lo, a->lo, b->lo, MPFR_RNDD));
    } else if (!cupel_exact_is_nan(a) && mpfr_sgn(a->lo) > 0 && !cupel_exact_is_nan(b)) {
        hull_of_corners(out, a, b, mpfr_pow);
    } else if (cupel_exact_is_point(b) && mpfr_integer_p(b->lo) && mpfr_sgn(a->hi) < 0) {
        hull_of_corners(out, a, b, mpfr_pow);
    } else {
        undecided(out);
    }
}

/* The angle is monotone along both axes where the box keeps off the cut and the origin. */
static void angle(cupel_exact_value *out, const cupel_exact_value *y, const cupel_exact_value *x) {
    if (cupel_exact_is_point(x) && cupel_exact_is_point(y)) {
        cupel_exact_both(out, mpfr_atan2(out->lo, y->lo, x->lo, MPFR_RNDD));
    } else if (cupel_exact_is_nan(x) || cupel_exact_is_nan(y)) {
        mpfr_set_nan(out->lo);
        mpfr_set_nan(out->hi);
    } else if (cupel_exact_has_zero(y) && mpfr_sgn(x->lo) <= 0) {
        undecided(out);
    } else {
        hull_of_corners(out, y, x, mpfr_atan2);
    }
}

/* a - b * q with the quotient truncated (fmod) or floored (Python's %). Of two points fmod is exact. */
static void modulo(cupel_op op, cupel_exact_value *out, const cupel_exact_value *a,
                   const cupel_exact_value *b) {
    if (!cupel_exact_is_point(a) || !cupel_exact_is_point(b)) {
        cupel_exact_value q;
        cupel_exact_init(&q);
        mpfr_set_prec(q.lo, mpfr_get_prec(out->lo));
        mpfr_set_prec(q.hi, mpfr_get_prec(out->lo));
        cupel_exact_divide(&q, a, b);
        op == CUPEL_OP_FMOD ? mpfr_rint_trunc(q.lo, q.lo, MPFR_RNDN) : mpfr_rint_floor(q.lo, q.lo, MPFR_RNDN);
        op == CUPEL_OP_FMOD ? mpfr_rint_trunc(q.hi, q.hi, MPFR_RNDN) : mpfr_rint_floor(q.hi, q.hi, MPFR_RNDN);
        if (mpfr_number_p(q.lo) && mpfr_equal_p(q.lo, q.hi)) {
            cupel_exact_value product;
            cupel_exact_init(&product);
            mpfr_set_prec(product.lo, mpfr_get_prec(out->lo));
            mpfr_set_prec(product.hi, mpfr_get_prec(out->lo));
            cupel_exact_multiply(&product, b, &q);
            cupel_exact_subtract(out, a, &product);
            cupel_exact_clear(&product);
        } else {
            undecided(out);
        }
        cupel_exact_clear(&q);
        return;
    }
    mpfr_fmod(out->lo, a->lo, b->lo, MPFR_RNDD);
    mpfr_fmod(out->hi, a->lo, b->lo, MPFR_RNDU);
    const int sign = mpfr_nan_p(out->lo) ? 0 : mpfr_sgn(out->lo);
    if (op == CUPEL_OP_FMOD || sign == 0 || (sign < 0) == (mpfr_sgn(b->lo) < 0)) return;
    mpfr_add(out->lo, out->lo, b->lo, MPFR_RNDD);
    mpfr_add(out->hi, out->hi, b->lo, MPFR_RNDU);
}

static bool takes_other(cupel_op op, const cupel_exact_value *a) {
    return (op == CUPEL_OP_FMIN || op == CUPEL_OP_FMAX) && cupel_exact_is_nan(a);
}

static void extremum(cupel_op op, cupel_exact_value *out, const cupel_exact_value *a,
                     const cupel_exact_value *b) {
    const bool largest = op == CUPEL_OP_MAXIMUM || op == CUPEL_OP_FMAX;
    const cupel_exact_value *chosen = takes_other(op, a)      ? b
                                      : takes_other(op, b)    ? a
                                      : cupel_exact_is_nan(a) ? a
                                      : cupel_exact_is_nan(b) ? b
                                                              : NULL;
    if (chosen) {
        mpfr_set(out->lo, chosen->lo, MPFR_RNDD);
        mpfr_set(out->hi, chosen->hi, MPFR_RNDU);
    } else if (largest) {
        mpfr_max(out->lo, a->lo, b->lo, MPFR_RNDD);
        mpfr_max(out->hi, a->hi, b->hi, MPFR_RNDU);
    } else {
        mpfr_min(out->lo, a->lo, b->lo, MPFR_RNDD);
        mpfr_min(out->hi, a->hi, b->hi, MPFR_RNDU);
    }
}

/* Settled by disjoint enclosures or by points; else the nearest doubles answer and the decision is open. */
static bool compare(cupel_op op, cupel_exact_value *out, const cupel_exact_value *a,
                    const cupel_exact_value *b) {
    if (cupel_exact_is_nan(a) || cupel_exact_is_nan(b)) return op == CUPEL_OP_NE;
    const bool apart = mpfr_less_p(a->hi, b->lo) || mpfr_greater_p(a->lo, b->hi);
    const bool points = cupel_exact_is_point(a) && cupel_exact_is_point(b);
    int order;
    if (apart || points) {
        order = mpfr_cmp(a->lo, b->lo);
    } else {
        bool exact;
        const double x = cupel_exact_nearest(a, &exact), y = cupel_exact_nearest(b, &exact);
        order = (x > y) - (x < y);
        out->open = true;
    }
    switch (op) {
    case CUPEL_OP_LT: return order < 0;
    case CUPEL_OP_LE: return order <= 0;
    case CUPEL_OP_EQ: return order == 0;
    default: return order != 0;
    }
}

/* Shifts are products and quotients by powers of two, so that what leaves the width shows. */
static void shift(cupel_op op, cupel_exact_value *out, const cupel_exact_value *a,
                  const cupel_exact_value *b) {
    const uint64_t amount = cupel_exact_bits(b->lo) & 63;
    mpfr_t quotient;
    mpfr_init2(quotient, 64);
    if (op == CUPEL_OP_SHL) {
        mpfr_mul_2ui(out->lo, a->lo, amount, MPFR_RNDD);
        mpfr_mul_2ui(out->hi, a->hi, amount, MPFR_RNDU);
    } else {
        mpfr_div_2ui(quotient, a->lo, amount, MPFR_RNDN); /* 64 bits stay 64 bits */
        mpfr_rint_floor(out->lo, quotient, MPFR_RNDD);
        mpfr_set(out->hi, out->lo, MPFR_RNDU);
    }
    mpfr_clear(quotient);
}

static void bitwise(cupel_op op, bool natural, cupel_exact_value *out, const cupel_exact_value *a,
                    const cupel_exact_value *b) {
    const uint64_t x = cupel_exact_bits(a->lo), y = cupel_exact_bits(b->lo);
    const uint64_t z = op == CUPEL_OP_BITAND ? x & y : op == CUPEL_OP_BITOR ? x | y : x ^ y;
    if (natural)
        cupel_exact_set_unsigned(out, z);
    else
        cupel_exact_set_integer(out, (int64_t)z);
}

static void compute(cupel_op op, cupel_dtype width, cupel_exact_value *out, const cupel_exact_value *a,
                    const cupel_exact_value *b) {
    switch (op) {
    case CUPEL_OP_ADD: cupel_exact_add(out, a, b); break;
    case CUPEL_OP_SUB: cupel_exact_subtract(out, a, b); break;
    case CUPEL_OP_MUL: cupel_exact_multiply(out, a, b); break;
    case CUPEL_OP_DIV: cupel_exact_divide(out, a, b); break;
    case CUPEL_OP_POW: power(out, a, b); break;
    case CUPEL_OP_ATAN2: angle(out, a, b); break;
    case CUPEL_OP_FMOD:
    case CUPEL_OP_REMAINDER: modulo(op, out, a, b); break;
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX: extremum(op, out, a, b); break;
    case CUPEL_OP_AND: cupel_exact_set_integer(out, !mpfr_zero_p(a->lo) && !mpfr_zero_p(b->lo)); break;
    case CUPEL_OP_OR: cupel_exact_set_integer(out, !mpfr_zero_p(a->lo) || !mpfr_zero_p(b->lo)); break;
    case CUPEL_OP_LT:
    case CUPEL_OP_LE:
    case CUPEL_OP_EQ:
    case CUPEL_OP_NE: cupel_exact_set_integer(out, compare(op, out, a, b)); break;
    case CUPEL_OP_SHL:
    case CUPEL_OP_SHR: shift(op, out, a, b); break;
    default: bitwise(op, width == CUPEL_U64, out, a, b); break;
    }
}

void cupel_exact_binary(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    const bool same = n->args[0] == n->args[1];
    cupel_exact_value *scratch_a = cupel_exact_borrow(s);
    cupel_exact_value *scratch_b = cupel_exact_borrow(s);
    const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index, scratch_a);
    const cupel_exact_value *b = same ? a : cupel_exact_get(s, n->args[1], index, scratch_b);
    cupel_exact_start(s, out);
    compute(n->op, n->width, out, a, b);
    bool exact;
    double value = cupel_exact_nearest(out, &exact);
    const cupel_value_kind kind = s->graph->nodes[n->args[0]].kind;
    if (kind == CUPEL_VALUE_INT && !isfinite(value)) value = 0; /* division by zero: not judged */
    out->ball = cupel_ball_binary(&s->w, &s->traits[node], n->op, kind, &a->ball, &b->ball, value, exact);
    out->unsound = a->unsound || b->unsound || (out->open && !(out->ball.radius > 0));
    out->open |= a->open || b->open;
    cupel_exact_return(s);
    cupel_exact_return(s);
}
