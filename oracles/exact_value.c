/* Enclosures in MPFR: making, reading and rounding them. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

void cupel_exact_init(cupel_exact_value *v) {
    memset(v, 0, sizeof *v);
    mpfr_init2(v->lo, 96);
    mpfr_init2(v->hi, 96);
}

void cupel_exact_clear(cupel_exact_value *v) {
    mpfr_clear(v->lo);
    mpfr_clear(v->hi);
}

static bool grow_pool(cupel_exact_session *s) {
    if (s->pool_count == s->pool_capacity) {
        const size_t capacity = s->pool_capacity ? 2 * s->pool_capacity : 32;
        cupel_exact_value **grown = realloc(s->pool, capacity * sizeof *grown);
        if (!grown) return false;
        s->pool = grown;
        s->pool_capacity = capacity;
    }
    cupel_exact_value *fresh = malloc(sizeof *fresh);
    if (!fresh) return false;
    cupel_exact_init(fresh);
    s->pool[s->pool_count++] = fresh;
    return true;
}

cupel_exact_value *cupel_exact_borrow(cupel_exact_session *s) {
    const size_t place = s->pool_used++;
    if (place < s->pool_count || (s->code == CUPEL_OK && grow_pool(s))) return s->pool[place];
    if (s->code == CUPEL_OK) s->code = CUPEL_MEMORY;
    return &s->spare;
}

void cupel_exact_drain(cupel_exact_session *s) {
    for (size_t i = 0; i < s->pool_count; i++) {
        cupel_exact_clear(s->pool[i]);
        free(s->pool[i]);
    }
    free(s->pool);
    s->pool = NULL;
    s->pool_used = s->pool_count = s->pool_capacity = 0;
}

static void set_precision(cupel_exact_value *v, mpfr_prec_t bits) {
    if (mpfr_get_prec(v->lo) != bits) mpfr_set_prec(v->lo, bits);
    if (mpfr_get_prec(v->hi) != bits) mpfr_set_prec(v->hi, bits);
}

void cupel_exact_start(const cupel_exact_session *s, cupel_exact_value *v) {
    set_precision(v, s->precision);
    v->precision = s->precision;
    v->open = v->unsound = false;
}

bool cupel_exact_is_nan(const cupel_exact_value *v) {
    return mpfr_nan_p(v->lo);
}

bool cupel_exact_is_point(const cupel_exact_value *v) {
    return mpfr_nan_p(v->lo) ? mpfr_nan_p(v->hi) : mpfr_equal_p(v->lo, v->hi);
}

bool cupel_exact_has_zero(const cupel_exact_value *v) {
    return !mpfr_nan_p(v->lo) && mpfr_sgn(v->lo) <= 0 && mpfr_sgn(v->hi) >= 0;
}

static double clamped(mpfr_srcptr x) {
    double d = mpfr_get_d(x, MPFR_RNDN);
    if (isinf(d) && !mpfr_inf_p(x)) d = d > 0 ? DBL_MAX : -DBL_MAX;
    return d;
}

double cupel_exact_nearest(const cupel_exact_value *v, bool *exact) {
    if (cupel_exact_is_point(v)) {
        double d = clamped(v->lo);
        *exact = isnan(d) || mpfr_cmp_d(v->lo, d) == 0;
        return d;
    }
    *exact = false;
    if (mpfr_inf_p(v->lo) || mpfr_inf_p(v->hi)) { /* beyond the range of MPFR itself */
        if (mpfr_inf_p(v->lo) && mpfr_inf_p(v->hi)) return 0.0;
        return mpfr_inf_p(v->hi) ? DBL_MAX : -DBL_MAX;
    }
    double low = clamped(v->lo);
    if (low == clamped(v->hi)) return low;
    mpfr_t middle;
    mpfr_init2(middle, mpfr_get_prec(v->lo) + 2);
    mpfr_add(middle, v->lo, v->hi, MPFR_RNDN);
    mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    double d = clamped(middle);
    mpfr_clear(middle);
    return d;
}

/* Room for any double and any 64-bit integer. */
static void make_room(cupel_exact_value *v) {
    if (mpfr_get_prec(v->lo) < 64) mpfr_set_prec(v->lo, 64);
    if (mpfr_get_prec(v->hi) < 64) mpfr_set_prec(v->hi, 64);
}

void cupel_exact_set_double(cupel_exact_value *v, double x) {
    make_room(v);
    mpfr_set_d(v->lo, x, MPFR_RNDN);
    mpfr_set_d(v->hi, x, MPFR_RNDN);
}

void cupel_exact_set_integer(cupel_exact_value *v, int64_t x) {
    make_room(v);
    mpfr_set_si(v->lo, x, MPFR_RNDN);
    mpfr_set_si(v->hi, x, MPFR_RNDN);
}

void cupel_exact_set_unsigned(cupel_exact_value *v, uint64_t x) {
    make_room(v);
    mpfr_set_ui(v->lo, x, MPFR_RNDN);
    mpfr_set_ui(v->hi, x, MPFR_RNDN);
}

uint64_t cupel_exact_bits(mpfr_srcptr x) {
    return mpfr_sgn(x) < 0 ? (uint64_t)mpfr_get_si(x, MPFR_RNDZ) : mpfr_get_ui(x, MPFR_RNDZ);
}

bool cupel_exact_fits(cupel_dtype type, const cupel_exact_value *v) {
    const cupel_format *f = cupel_format_of(type);
    if (!mpfr_number_p(v->lo) || !mpfr_number_p(v->hi)) return false;
    const int bits = (int)f->size * 8;
    if (f->kind == CUPEL_KIND_BOOLEAN) return mpfr_sgn(v->lo) >= 0 && mpfr_cmp_ui(v->hi, 1) <= 0;
    if (f->kind == CUPEL_KIND_UNSIGNED)
        return mpfr_sgn(v->lo) >= 0 && mpfr_cmp_ui(v->hi, UINT64_MAX >> (64 - bits)) <= 0;
    const int64_t top = (int64_t)(UINT64_MAX >> (65 - bits));
    return mpfr_cmp_si(v->lo, -top - 1) >= 0 && mpfr_cmp_si(v->hi, top) <= 0;
}

void cupel_exact_copy(cupel_exact_value *to, const cupel_exact_value *from) {
    set_precision(to, mpfr_get_prec(from->lo));
    mpfr_set(to->lo, from->lo, MPFR_RNDN);
    mpfr_set(to->hi, from->hi, MPFR_RNDN);
    to->ball = from->ball;
    to->precision = from->precision;
    to->open = from->open;
    to->unsound = from->unsound;
}

/* Rounding first to double would round twice. Truncating to double and setting the last bit when something
 * was cut off ("round to odd") keeps what the second rounding needs: doubles have two bits more than any
 * narrower format. */
double cupel_exact_round(cupel_dtype type, mpfr_srcptr x) {
    if (type == CUPEL_F64) return mpfr_get_d(x, MPFR_RNDN);
    double d = mpfr_get_d(x, MPFR_RNDZ);
    if (isfinite(d) && mpfr_cmp_d(x, d) != 0) {
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        bits |= 1;
        memcpy(&d, &bits, sizeof d);
        if (mpfr_sgn(x) < 0) d = -fabs(d);
    }
    return cupel_round(type, d);
}

void cupel_exact_tidy(cupel_exact_value *v, bool is_sum) {
    const bool nan_lo = mpfr_nan_p(v->lo), nan_hi = mpfr_nan_p(v->hi);
    if (nan_lo != nan_hi) { /* only one end knows better: anything is possible */
        mpfr_set_inf(v->lo, -1);
        mpfr_set_inf(v->hi, 1);
        v->open = true;
    }
    /* x - x is -0 when rounded down */
    if (is_sum && mpfr_zero_p(v->lo) && mpfr_zero_p(v->hi)) {
        mpfr_set_zero(v->lo, 1);
        mpfr_set_zero(v->hi, 1);
    }
}
