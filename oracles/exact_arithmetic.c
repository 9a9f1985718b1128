/* + - * / of enclosures, ends rounded outward. */
#include "exact.h"

void cupel_exact_add(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b) {
    const bool negative =
        mpfr_zero_p(a->lo) && mpfr_zero_p(b->lo) && mpfr_signbit(a->lo) && mpfr_signbit(b->lo);
    mpfr_add(out->lo, a->lo, b->lo, MPFR_RNDD);
    mpfr_add(out->hi, a->hi, b->hi, MPFR_RNDU);
    cupel_exact_tidy(out, !negative);
}

void cupel_exact_subtract(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b) {
    const bool negative =
        mpfr_zero_p(a->lo) && mpfr_zero_p(b->lo) && mpfr_signbit(a->lo) && !mpfr_signbit(b->lo);
    mpfr_sub(out->lo, a->lo, b->hi, MPFR_RNDD);
    mpfr_sub(out->hi, a->hi, b->lo, MPFR_RNDU);
    cupel_exact_tidy(out, !negative);
}

typedef int operation(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* The hull of the operation at the four corners. */
static void corners(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b,
                    operation *op) {
    mpfr_srcptr as[] = {a->lo, a->hi}, bs[] = {b->lo, b->hi};
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(out->lo));
    bool nan = false;
    for (int i = 0; i < 4; i++) {
        op(t, as[i & 1], bs[i >> 1], MPFR_RNDD);
        if (i == 0 || mpfr_less_p(t, out->lo)) mpfr_set(out->lo, t, MPFR_RNDD);
        nan |= mpfr_nan_p(t) != 0;
        op(t, as[i & 1], bs[i >> 1], MPFR_RNDU);
        if (i == 0 || mpfr_greater_p(t, out->hi)) mpfr_set(out->hi, t, MPFR_RNDU);
    }
    mpfr_clear(t);
    if (!nan) return;
    mpfr_set_inf(out->lo, -1);
    mpfr_set_inf(out->hi, 1);
    out->open = true;
}

static void points(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b,
                   operation *op) {
    cupel_exact_both(out, op(out->lo, a->lo, b->lo, MPFR_RNDD));
}

void cupel_exact_multiply(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b) {
    const bool plain = cupel_exact_is_point(a) && cupel_exact_is_point(b);
    if (plain || cupel_exact_is_nan(a) || cupel_exact_is_nan(b)) {
        points(out, a, b, mpfr_mul);
    } else if (a == b) { /* a square is not negative, whatever the enclosure */
        const bool zero = cupel_exact_has_zero(a), above = mpfr_sgn(a->lo) >= 0;
        mpfr_t square;
        mpfr_init2(square, mpfr_get_prec(out->lo));
        mpfr_sqr(out->lo, above ? a->lo : a->hi, MPFR_RNDD);
        if (zero) mpfr_set_zero(out->lo, 1);
        mpfr_sqr(out->hi, a->lo, MPFR_RNDU);
        mpfr_sqr(square, a->hi, MPFR_RNDU);
        mpfr_max(out->hi, out->hi, square, MPFR_RNDU);
        mpfr_clear(square);
    } else {
        corners(out, a, b, mpfr_mul);
    }
}

void cupel_exact_divide(cupel_exact_value *out, const cupel_exact_value *a, const cupel_exact_value *b) {
    const bool plain = cupel_exact_is_point(a) && cupel_exact_is_point(b);
    if (plain || cupel_exact_is_nan(a) || cupel_exact_is_nan(b)) {
        points(out, a, b, mpfr_div);
    } else if (cupel_exact_has_zero(b) && !cupel_exact_is_point(b)) {
        mpfr_set_inf(out->lo, -1);
        mpfr_set_inf(out->hi, 1);
        out->open = true;
    } else {
        corners(out, a, b, mpfr_div);
    }
}
