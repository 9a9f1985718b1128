/* An enclosure made with few bits must hold the one made with many: checked for every primitive, on arguments
 * that are themselves enclosures (literals that no binary precision holds). */
#include "exact_fixture.h"

#include <math.h>

#include "exact.h"
#include "philox.h"

static const char *const expressions[] = {
    "q + r",           "q - r",
    "q * r",           "q / r",
    "q * q",           "-q",
    "abs(q)",          "sqrt(abs(q))",
    "rsqrt(abs(q))",   "exp(q)",
    "exp2(q)",         "expm1(q)",
    "log(abs(q))",     "log2(abs(q))",
    "log10(abs(q))",   "log1p(abs(q))",
    "sin(q)",          "cos(q)",
    "tan(q)",          "asin(q / 40)",
    "acos(q / 40)",    "atan(q)",
    "sinh(q)",         "cosh(q)",
    "tanh(q)",         "erf(q)",
    "erfc(q)",         "abs(q) ** r",
    "atan2(q, r)",     "fmod(q, r)",
    "q % r",           "minimum(q, r)",
    "maximum(q, r)",   "fmin(q, r)",
    "floor(q)",        "ceil(q)",
    "round(q)",        "trunc(q)",
    "sign(q)",         "cast(q, f16)",
    "cast(q, bf16)",   "cast(q, i32)",
    "sum(q)",          "prod(q)",
    "amax(q)",         "amin(q)",
    "mean(q)",         "var(q)",
    "cumsum(q, 0)",    "cumprod(q, 0)",
    "cummax(q, 0)",    "matmul(q, r)",
    "softmax(q, 0)",   "log_softmax(q, 0)",
    "layer_norm(q)",   "norm(q)",
    "logsumexp(q, 0)", "gelu(q)",
    "mish(q)",         "where(q < r, q, r)",
    "cosh(q - q)",     "(q - 0.7 * a) * (q - 0.7 * a)",
    "rms_norm(q, r)",  "q ** 3",
    "cummin(r, 0)",
};

/* Elements of an expression at some precision. */
typedef struct ends {
    mpfr_t lo, hi;
    bool open;
} ends;

static void evaluate(exact_fixture *x, int precision, int64_t index, ends *out) {
    cupel_exact_value scratch;
    cupel_exact_init(&scratch);
    cupel_exact_forget(x->session);
    x->session->precision = precision;
    x->session->depth = 0;
    const cupel_exact_value *v = cupel_exact_get(x->session, x->f.graph->outputs[0].node, index, &scratch);
    assert_int_equal(x->session->code, CUPEL_OK);
    mpfr_set_prec(out->lo, mpfr_get_prec(v->lo));
    mpfr_set_prec(out->hi, mpfr_get_prec(v->hi));
    mpfr_set(out->lo, v->lo, MPFR_RNDN);
    mpfr_set(out->hi, v->hi, MPFR_RNDN);
    out->open = v->open;
    cupel_exact_clear(&scratch);
}

static bool holds(const ends *few, const ends *many) {
    if (mpfr_nan_p(many->lo)) return mpfr_nan_p(few->lo) || few->open;
    return mpfr_lessequal_p(few->lo, many->lo) && mpfr_lessequal_p(many->hi, few->hi) &&
           mpfr_lessequal_p(many->lo, many->hi);
}

static void few_bits_hold_many(void **state) {
    (void)state;
    enum { LENGTH = 5, ROUNDS = 12 };
    cupel_random random = cupel_random_start(11, 1);
    float a[LENGTH], b[LENGTH];
    ends few, many;
    mpfr_inits2(96, few.lo, few.hi, many.lo, many.hi, (mpfr_ptr)NULL);
    int open = 0, checked = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LENGTH; i++) {
            a[i] = (float)((cupel_random_unit(&random) - 0.5) * (round % 3 == 0 ? 100 : 4));
            b[i] = (float)((cupel_random_unit(&random) - 0.5) * 6);
        }
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "a", CUPEL_F32, "5", a);
        exact_input(&x, "b", CUPEL_F32, "5", b);
        fixture_define(&x.f, "q", "a * 0.7");
        fixture_define(&x.f, "r", "b / 3");
        for (size_t e = 0; e < sizeof expressions / sizeof *expressions; e++) {
            cupel_exact_close(x.session);
            x.session = NULL;
            const char *shape = "5";
            if (fixture_try(&x.f, expressions[e], CUPEL_F32, "5") != CUPEL_OK) shape = "";
            exact_build(&x, expressions[e], CUPEL_F32, shape);
            for (int precision = 20; precision <= 160; precision += 35) {
                const int64_t index =
                    (int64_t)cupel_random_below(&random, (uint64_t)x.f.graph->outputs[0].count);
                evaluate(&x, precision, index, &few);
                evaluate(&x, 700, index, &many);
                if (!few.open && !holds(&few, &many)) {
                    mpfr_printf("%.30Rg .. %.30Rg\n%.30Rg .. %.30Rg\n", few.lo, few.hi, many.lo, many.hi);
                    fail_msg("%s [%d] with %d bits", expressions[e], (int)index, precision);
                }
                open += few.open;
                checked++;
            }
        }
        exact_end(&x);
    }
    mpfr_clears(few.lo, few.hi, many.lo, many.hi, (mpfr_ptr)NULL);
    assert_true(open < checked / 20);
}

/* Rounding an MPFR number to a narrow type goes through double; rounding to odd keeps it correct beside every
 * tie. */
static void rounding_of_mpfr_numbers_is_correct(void **state) {
    (void)state;
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F16, CUPEL_BF16, CUPEL_TF32};
    cupel_random random = cupel_random_start(12, 1);
    mpfr_t x, tiny;
    mpfr_inits2(600, x, tiny, (mpfr_ptr)NULL);
    for (int i = 0; i < 20000; i++) {
        const cupel_dtype type = types[i % 4];
        const cupel_format *f = cupel_format_of(type);
        const int e = f->emin - f->precision - 2 +
                      (int)cupel_random_below(&random, (uint64_t)(f->emax - f->emin + f->precision + 2));
        const double low = cupel_round(type, ldexp(1 + cupel_random_unit(&random), e));
        const double high = cupel_next_up(type, low);
        if (!isfinite(high) || low > high) continue;
        const double middle = low + (high - low) / 2; /* exact in double */
        mpfr_set_d(tiny, ldexp(1, -300), MPFR_RNDN);
        mpfr_set_d(x, middle, MPFR_RNDN);
        const int side = i % 3 - 1; /* below the tie, on it, above it */
        mpfr_mul_si(tiny, tiny, side, MPFR_RNDN);
        mpfr_add(x, x, tiny, MPFR_RNDN);
        if (i & 64) mpfr_neg(x, x, MPFR_RNDN);
        const double expected = side < 0 ? low : side > 0 ? high : cupel_round(type, middle);
        const double got = cupel_exact_round(type, x);
        if (got != (i & 64 ? -expected : expected)) fail_msg("%s: %a, expected %a", f->name, got, expected);
    }
    mpfr_clears(x, tiny, (mpfr_ptr)NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_bits_hold_many),
        cmocka_unit_test(rounding_of_mpfr_numbers_is_correct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
