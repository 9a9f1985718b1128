/* Functions of one argument: exact moves, tests, and the functions of MPFR with both ends rounded outward. */
#include "exact.h"

typedef int function(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/* PyTorch's rsqrt(-0) is -inf; MPFR's is +inf. */
static int reciprocal_root(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t direction) {
    const bool negative = mpfr_zero_p(x) && mpfr_signbit(x);
    const int inexact = mpfr_rec_sqrt(out, x, direction);
    if (negative) mpfr_set_inf(out, -1);
    return inexact;
}

/* Functions that are monotone on their domain; rises: increasing. */
static function *monotone(cupel_op op, bool *rises) {
    *rises = op != CUPEL_OP_RSQRT && op != CUPEL_OP_ACOS && op != CUPEL_OP_ERFC;
    switch (op) {
    case CUPEL_OP_SQRT: return mpfr_sqrt;
    case CUPEL_OP_RSQRT: return reciprocal_root;
    case CUPEL_OP_EXP: return mpfr_exp;
    case CUPEL_OP_EXP2: return mpfr_exp2;
    case CUPEL_OP_EXPM1: return mpfr_expm1;
    case CUPEL_OP_LOG: return mpfr_log;
    case CUPEL_OP_LOG2: return mpfr_log2;
    case CUPEL_OP_LOG10: return mpfr_log10;
    case CUPEL_OP_LOG1P: return mpfr_log1p;
    case CUPEL_OP_ASIN: return mpfr_asin;
    case CUPEL_OP_ACOS: return mpfr_acos;
    case CUPEL_OP_ATAN: return mpfr_atan;
    case CUPEL_OP_SINH: return mpfr_sinh;
    case CUPEL_OP_TANH: return mpfr_tanh;
    case CUPEL_OP_ERF: return mpfr_erf;
    case CUPEL_OP_ERFC: return mpfr_erfc;
    default: return NULL;
    }
}

static void at_point(cupel_exact_value *out, mpfr_srcptr x, function *f) {
    cupel_exact_both(out, f(out->lo, x, MPFR_RNDD));
}

/* An enclosure that leaves the domain at one end: the exact value lies in the other part or has none. */
static void apply_monotone(cupel_exact_value *out, const cupel_exact_value *a, function *f, bool rises) {
    if (cupel_exact_is_point(a)) {
        at_point(out, a->lo, f);
        return;
    }
    f(out->lo, rises ? a->lo : a->hi, MPFR_RNDD);
    f(out->hi, rises ? a->hi : a->lo, MPFR_RNDU);
    if (mpfr_nan_p(out->lo) == mpfr_nan_p(out->hi)) return;
    if (mpfr_nan_p(out->lo)) mpfr_set_inf(out->lo, -1);
    if (mpfr_nan_p(out->hi)) mpfr_set_inf(out->hi, 1);
    out->open = true;
}

static void apply_cosh(cupel_exact_value *out, const cupel_exact_value *a) {
    if (cupel_exact_is_point(a)) {
        at_point(out, a->lo, mpfr_cosh);
        return;
    }
    mpfr_t other;
    mpfr_init2(other, mpfr_get_prec(out->lo));
    mpfr_cosh(out->lo, mpfr_sgn(a->lo) > 0 ? a->lo : a->hi, MPFR_RNDD);
    if (cupel_exact_has_zero(a)) mpfr_set_ui(out->lo, 1, MPFR_RNDD);
    mpfr_cosh(out->hi, a->lo, MPFR_RNDU);
    mpfr_cosh(other, a->hi, MPFR_RNDU);
    mpfr_max(out->hi, out->hi, other, MPFR_RNDU);
    mpfr_clear(other);
}

/* Sine and cosine move by no more than their argument. */
static void apply_wave(cupel_exact_value *out, const cupel_exact_value *a, function *f) {
    if (cupel_exact_is_point(a)) {
        at_point(out, a->lo, f);
        return;
    }
    mpfr_t width;
    mpfr_init2(width, mpfr_get_prec(out->lo));
    mpfr_sub(width, a->hi, a->lo, MPFR_RNDU);
    f(out->lo, a->lo, MPFR_RNDD);
    f(out->hi, a->lo, MPFR_RNDU);
    mpfr_sub(out->lo, out->lo, width, MPFR_RNDD);
    mpfr_add(out->hi, out->hi, width, MPFR_RNDU);
    if (mpfr_cmp_si(out->lo, -1) < 0) mpfr_set_si(out->lo, -1, MPFR_RNDD);
    if (mpfr_cmp_si(out->hi, 1) > 0) mpfr_set_si(out->hi, 1, MPFR_RNDU);
    mpfr_clear(width);
    cupel_exact_tidy(out, false);
}

/* The tangent rises between its poles; over a pole its right end lies below the left one. */
static void apply_tangent(cupel_exact_value *out, const cupel_exact_value *a) {
    apply_monotone(out, a, mpfr_tan, true);
    if (cupel_exact_is_point(a)) return;
    mpfr_t width;
    mpfr_init2(width, 64);
    mpfr_sub(width, a->hi, a->lo, MPFR_RNDU);
    if (mpfr_cmp_si(width, 1) >= 0 || mpfr_less_p(out->hi, out->lo)) {
        mpfr_set_inf(out->lo, -1);
        mpfr_set_inf(out->hi, 1);
        out->open = true;
    }
    mpfr_clear(width);
}

static void apply_function(cupel_op op, cupel_exact_value *out, const cupel_exact_value *a) {
    bool rises;
    function *f = monotone(op, &rises);
    if (f) {
        apply_monotone(out, a, f, rises);
    } else if (op == CUPEL_OP_COSH) {
        apply_cosh(out, a);
    } else if (op == CUPEL_OP_TAN) {
        apply_tangent(out, a);
    } else {
        apply_wave(out, a, op == CUPEL_OP_SIN ? mpfr_sin : mpfr_cos);
    }
}

/* Steps: the same at both ends, or the decision is open. Integers of more bits than the precision stay as
 * they are. */
static void apply_step(cupel_op op, cupel_exact_value *out, const cupel_exact_value *a) {
    mpfr_srcptr ends[] = {a->lo, a->hi};
    mpfr_ptr results[] = {out->lo, out->hi};
    for (int i = 0; i < 2; i++) {
        switch (op) {
        case CUPEL_OP_FLOOR: mpfr_rint_floor(results[i], ends[i], MPFR_RNDN); break;
        case CUPEL_OP_CEIL: mpfr_rint_ceil(results[i], ends[i], MPFR_RNDN); break;
        case CUPEL_OP_ROUND: mpfr_rint_roundeven(results[i], ends[i], MPFR_RNDN); break;
        case CUPEL_OP_TRUNC: mpfr_rint_trunc(results[i], ends[i], MPFR_RNDN); break;
        default: mpfr_set_si(results[i], mpfr_nan_p(ends[i]) ? 0 : mpfr_sgn(ends[i]), MPFR_RNDN); break;
        }
    }
    if (!cupel_exact_is_point(out)) out->open = true;
}

static void apply_absolute(cupel_exact_value *out, const cupel_exact_value *a) {
    if (cupel_exact_is_nan(a) || mpfr_sgn(a->lo) >= 0 || cupel_exact_is_point(a)) {
        mpfr_abs(out->lo, a->lo, MPFR_RNDD);
        mpfr_abs(out->hi, a->hi, MPFR_RNDU);
    } else if (mpfr_sgn(a->hi) <= 0) {
        mpfr_neg(out->lo, a->hi, MPFR_RNDD);
        mpfr_neg(out->hi, a->lo, MPFR_RNDU);
    } else {
        mpfr_neg(out->hi, a->lo, MPFR_RNDU);
        mpfr_max(out->hi, out->hi, a->hi, MPFR_RNDU);
        mpfr_set_zero(out->lo, 1);
    }
}

static bool test(cupel_op op, const cupel_exact_value *a) {
    const bool infinite = mpfr_inf_p(a->lo) && cupel_exact_is_point(a);
    switch (op) {
    case CUPEL_OP_ISNAN: return cupel_exact_is_nan(a);
    case CUPEL_OP_ISINF: return infinite;
    case CUPEL_OP_ISFINITE: return !cupel_exact_is_nan(a) && !infinite;
    default: return mpfr_zero_p(a->lo); /* NOT */
    }
}

void cupel_exact_unary(cupel_exact_session *s, int node, int64_t index, cupel_exact_value *out) {
    const cupel_node *n = &s->graph->nodes[node];
    cupel_exact_value *scratch = cupel_exact_borrow(s);
    const cupel_exact_value *a = cupel_exact_get(s, n->args[0], index, scratch);
    cupel_exact_start(s, out);
    switch (n->op) {
    case CUPEL_OP_ISNAN:
    case CUPEL_OP_ISINF:
    case CUPEL_OP_ISFINITE:
    case CUPEL_OP_NOT: cupel_exact_set_integer(out, test(n->op, a)); break;
    case CUPEL_OP_BITNOT: {
        const bool natural =
            n->width != CUPEL_DTYPE_COUNT && cupel_format_of(n->width)->kind == CUPEL_KIND_UNSIGNED;
        const uint64_t bits = ~cupel_exact_bits(a->lo);
        if (natural)
            cupel_exact_set_unsigned(out, bits & UINT64_MAX >> (64 - 8 * cupel_format_of(n->width)->size));
        else
            cupel_exact_set_integer(out, (int64_t)bits);
        break;
    }
    case CUPEL_OP_TOREAL:
        mpfr_set(out->lo, a->lo, MPFR_RNDD);
        mpfr_set(out->hi, a->hi, MPFR_RNDU);
        break;
    case CUPEL_OP_NEG:
        mpfr_neg(out->lo, a->hi, MPFR_RNDD);
        mpfr_neg(out->hi, a->lo, MPFR_RNDU);
        break;
    case CUPEL_OP_ABS: apply_absolute(out, a); break;
    case CUPEL_OP_SIGN:
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC: apply_step(n->op, out, a); break;
    default: apply_function(n->op, out, a); break;
    }
    bool exact;
    const double value = cupel_exact_nearest(out, &exact);
    out->ball = cupel_ball_unary(&s->w, &s->traits[node], n->op, n->kind, &a->ball, value, exact);
    /* PyTorch's sign(NaN) is 0 on some devices and was NaN on others */
    if (n->op == CUPEL_OP_SIGN && (a->ball.classes & CUPEL_CLASS_NAN) && !out->ball.reason)
        out->ball.reason = CUPEL_REASON_CONVENTION;
    out->unsound = a->unsound || (out->open && !(out->ball.radius > 0));
    out->open |= a->open;
    cupel_exact_return(s);
}
