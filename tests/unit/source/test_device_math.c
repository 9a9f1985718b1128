/* Math functions and intrinsics of emulated device code against MPFR. */
#include "device_testing.h"

#include <math.h>
#include <mpfr.h>

#include "philox.h"

enum { SAMPLES = 4000 };

typedef void reference(mpfr_t out, mpfr_t x, mpfr_t y);

#define UNARY(name, call)                                                                                    \
    static void name(mpfr_t out, mpfr_t x, mpfr_t y) {                                                       \
        (void)y, call(out, x, MPFR_RNDN);                                                                    \
    }
UNARY(ref_exp, mpfr_exp)
UNARY(ref_exp10, mpfr_exp10)
UNARY(ref_log, mpfr_log)
UNARY(ref_log2, mpfr_log2)
UNARY(ref_log10, mpfr_log10)
UNARY(ref_sin, mpfr_sin)
UNARY(ref_cos, mpfr_cos)
UNARY(ref_tan, mpfr_tan)
UNARY(ref_sqrt, mpfr_sqrt)
UNARY(ref_rsqrt, mpfr_rec_sqrt)
UNARY(ref_tanh, mpfr_tanh)
UNARY(ref_erf, mpfr_erf)
UNARY(ref_erfc, mpfr_erfc)
UNARY(ref_cbrt, mpfr_cbrt)
UNARY(ref_expm1, mpfr_expm1)
UNARY(ref_log1p, mpfr_log1p)
static void ref_div(mpfr_t out, mpfr_t x, mpfr_t y) {
    mpfr_div(out, x, y, MPFR_RNDN);
}
static void ref_pow(mpfr_t out, mpfr_t x, mpfr_t y) {
    mpfr_pow(out, x, y, MPFR_RNDN);
}
static void ref_rcp(mpfr_t out, mpfr_t x, mpfr_t y) {
    (void)y, mpfr_ui_div(out, 1, x, MPFR_RNDN);
}
static void pi_times(mpfr_t out, mpfr_t x) {
    mpfr_const_pi(out, MPFR_RNDN);
    mpfr_mul(out, out, x, MPFR_RNDN);
}
static void ref_sinpi(mpfr_t out, mpfr_t x, mpfr_t y) {
    (void)y, pi_times(out, x), mpfr_sin(out, out, MPFR_RNDN);
}
static void ref_cospi(mpfr_t out, mpfr_t x, mpfr_t y) {
    (void)y, pi_times(out, x), mpfr_cos(out, out, MPFR_RNDN);
}
static void ref_normcdf(mpfr_t out, mpfr_t x, mpfr_t y) {
    (void)y;
    mpfr_sqrt_ui(out, 2, MPFR_RNDN);
    mpfr_div(out, x, out, MPFR_RNDN);
    mpfr_neg(out, out, MPFR_RNDN);
    mpfr_erfc(out, out, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
}

/* Budgets as CUDA documents them: ulps (at the result), and an absolute error that is allowed besides. */
typedef struct function {
    const char *expression;
    reference *exact;
    float low, high; /* of x; a negative low means both signs, a positive one draws over the exponents */
    double ulps, ulps_per_x, absolute;
} function;

static const function functions[] = {
    {"__expf(x)", ref_exp, -80, 80, 2, 1.16, 0},
    {"__exp10f(x)", ref_exp10, -37, 37, 2, 2.97, 0},
    {"__logf(x)", ref_log, 1e-30f, 1e30f, 3, 0, 0x1p-21},
    {"__log2f(x)", ref_log2, 1e-30f, 1e30f, 2, 0, 0x1p-22},
    {"__log10f(x)", ref_log10, 1e-30f, 1e30f, 2, 0, 0x1p-23},
    {"__sinf(x)", ref_sin, -3.14159f, 3.14159f, 0, 0, 0x1p-21},
    {"__cosf(x)", ref_cos, -3.14159f, 3.14159f, 0, 0, 0x1p-21},
    {"__fdividef(x, y)", ref_div, -1e10f, 1e10f, 2, 0, 0},
    {"__frcp_rn(x)", ref_rcp, 1e-30f, 1e30f, 0.5, 0, 0},
    {"__fsqrt_rn(x)", ref_sqrt, 1e-30f, 1e30f, 0.5, 0, 0},
    {"__frsqrt_rn(x)", ref_rsqrt, 1e-30f, 1e30f, 0.5, 0, 0},
    {"expf(x)", ref_exp, -100, 88, 1, 0, 0},
    {"exp(x)", ref_exp, -100, 88, 1, 0, 0},
    {"logf(x)", ref_log, 1e-38f, 1e38f, 1, 0, 0},
    {"sinf(x)", ref_sin, -1e4f, 1e4f, 2, 0, 0},
    {"cosf(x)", ref_cos, -1e4f, 1e4f, 2, 0, 0},
    {"tanf(x)", ref_tan, -100, 100, 4, 0, 0},
    {"sqrtf(x)", ref_sqrt, 1e-38f, 1e38f, 0.5, 0, 0},
    {"rsqrtf(x)", ref_rsqrt, 1e-38f, 1e38f, 2, 0, 0},
    {"tanhf(x)", ref_tanh, -10, 10, 2, 0, 0},
    {"erff(x)", ref_erf, -4, 4, 2, 0, 0},
    {"erfcf(x)", ref_erfc, -4, 9, 4, 0, 0},
    {"cbrtf(x)", ref_cbrt, -1e10f, 1e10f, 1, 0, 0},
    {"expm1f(x)", ref_expm1, -20, 80, 1, 0, 0},
    {"log1pf(x)", ref_log1p, 1e-10f, 1e10f, 1, 0, 0},
    {"powf(x, y)", ref_pow, 1e-3f, 1e3f, 4, 0, 0},
    {"sinpif(x)", ref_sinpi, -100, 100, 1, 0, 0},
    {"cospif(x)", ref_cospi, -100, 100, 1, 0, 0},
    {"normcdff(x)", ref_normcdf, -10, 10, 5, 0, 0},
    {"x / y", ref_div, -1e10f, 1e10f, 0.5, 0, 0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static char *kernels(fixture *f, int count, const char *const *expressions, const char *type) {
    char *text = cupel_arena_text(f->arena, "", 0);
    for (int i = 0; i < count; i++)
        text = cupel_arena_printf(
            f->arena,
            "%s__global__ void k%d(const %s *xs, const %s *ys, const %s *zs, float *out, int n) {\n"
            "  for (int i = 0; i < n; i++) { %s x = xs[i], y = ys[i], z = zs[i]; (void)x, (void)y, (void)z; "
            "out[i] = %s; }\n}\n",
            text, i, type, type, type, type, expressions[i]);
    return text;
}

static void open_kernels(device *d, int count, const char *const *expressions, const char *type) {
    fixture f = fixture_open();
    const char *entries[128];
    for (int i = 0; i < count; i++) entries[i] = cupel_arena_printf(f.arena, "k%d", i);
    device_open(d, kernels(&f, count, expressions, type), count, entries);
    fixture_close(&f);
}

static float draw(cupel_random *random, float low, float high) {
    double u = cupel_random_unit(random);
    if (low > 0) return (float)exp(log((double)low) + u * (log((double)high) - log((double)low)));
    return (float)(low + u * ((double)high - low));
}

/* |got - exact| in units of the float spacing at exact. */
static double ulps_apart(float got, mpfr_t exact, double *absolute) {
    mpfr_t difference;
    mpfr_init2(difference, 200);
    mpfr_sub_d(difference, exact, (double)got, MPFR_RNDN);
    *absolute = fabs(mpfr_get_d(difference, MPFR_RNDN));
    long exponent = mpfr_zero_p(exact) ? -126 : mpfr_get_exp(exact) - 1;
    double spacing = ldexp(1.0, (int)(exponent < -126 ? -126 : exponent) - 23);
    mpfr_clear(difference);
    return *absolute / spacing;
}

static void functions_keep_their_budgets(void **state) {
    (void)state;
    device d;
    const char *expressions[FUNCTIONS];
    static float x[SAMPLES], y[SAMPLES], out[SAMPLES];
    for (int k = 0; k < FUNCTIONS; k++) expressions[k] = functions[k].expression;
    open_kernels(&d, FUNCTIONS, expressions, "float");
    mpfr_t exact, mx, my;
    mpfr_inits2(200, exact, mx, my, (mpfr_ptr)0);
    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        cupel_random random = cupel_random_start(3, (uint32_t)k);
        for (int i = 0; i < SAMPLES; i++) {
            x[i] = draw(&random, f->low, f->high);
            y[i] = f->exact == ref_pow ? draw(&random, -5, 5) : draw(&random, f->low, f->high);
        }
        const void *px = x, *py = y;
        void *pout = out;
        int n = SAMPLES;
        device_call(&d, k, (void *[]){&px, &py, &py, &pout, &n});
        double worst = 0;
        for (int i = 0; i < SAMPLES; i++) {
            mpfr_set_flt(mx, x[i], MPFR_RNDN);
            mpfr_set_flt(my, y[i], MPFR_RNDN);
            f->exact(exact, mx, my);
            double absolute, ulps = ulps_apart(out[i], exact, &absolute);
            double allowed = f->ulps + floor(f->ulps_per_x * fabs((double)x[i]));
            if (ulps > allowed + 1e-6 && absolute > f->absolute)
                fail_msg("%s at x=%a y=%a: %a, %.3f ulps away", f->expression, (double)x[i], (double)y[i],
                         (double)out[i], ulps);
            if (ulps > worst) worst = ulps;
        }
        assert_true(worst > 0); /* the comparison compares */
    }
    mpfr_clears(exact, mx, my, (mpfr_ptr)0);
    device_close(&d);
}

/* __f<operation>_<mode> against MPFR rounding the exact result once, subnormals and overflow included. */
static void directed_roundings(void **state) {
    (void)state;
    static const char *const operations[] = {"__fadd_", "__fsub_",  "__fmul_", "__fdiv_",
                                             "__fmaf_", "__fsqrt_", "__frcp_"};
    static const char *const arguments[] = {"(x, y)",    "(x, y)", "(x, y)", "(x, y)",
                                            "(x, y, z)", "(x)",    "(x)"};
    static const char *const modes[] = {"rn", "rz", "ru", "rd"};
    static const mpfr_rnd_t roundings[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};
    char expressions[28][32];
    const char *list[28];
    for (int k = 0; k < 28; k++) {
        snprintf(expressions[k], 32, "%s%s%s", operations[k / 4], modes[k % 4], arguments[k / 4]);
        list[k] = expressions[k];
    }
    device d;
    static float x[SAMPLES], y[SAMPLES], z[SAMPLES], out[SAMPLES];
    open_kernels(&d, 28, list, "float");
    cupel_random random = cupel_random_start(5, 0);
    for (int i = 0; i < SAMPLES; i++) { /* random bits, near each other, with few bits, small */
        uint32_t bits[3];
        for (int k = 0; k < 3; k++) bits[k] = (uint32_t)cupel_random_u64(&random);
        if (i % 4 == 1) bits[1] = (bits[0] & 0xff000000u) | (bits[1] & 0xffffffu);
        if (i % 4 == 2) bits[0] &= 0xfff00000u, bits[1] &= 0xfff00000u, bits[2] &= 0xffff0000u;
        if (i % 4 == 3) bits[0] &= 0x8fffffffu, bits[2] &= 0x8fffffffu;
        memcpy(&x[i], &bits[0], 4), memcpy(&y[i], &bits[1], 4), memcpy(&z[i], &bits[2], 4);
        if (!isfinite(x[i]) || !isfinite(y[i]) || !isfinite(z[i])) x[i] = 1, y[i] = 3, z[i] = 0x1p-30f;
    }
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t mx, my, mz, r;
    mpfr_inits2(24, mx, my, mz, r, (mpfr_ptr)0);
    mpfr_set_emin(-148), mpfr_set_emax(128);
    for (int k = 0; k < 28; k++) {
        const void *px = x, *py = y, *pz = z;
        void *pout = out;
        int n = SAMPLES;
        mpfr_rnd_t mode = roundings[k % 4];
        device_call(&d, k, (void *[]){&px, &py, &pz, &pout, &n});
        for (int i = 0; i < SAMPLES; i++) {
            mpfr_set_flt(mx, x[i], MPFR_RNDN), mpfr_set_flt(my, y[i], MPFR_RNDN),
                mpfr_set_flt(mz, z[i], MPFR_RNDN);
            int t = 0;
            switch (k / 4) {
            case 0: t = mpfr_add(r, mx, my, mode); break;
            case 1: t = mpfr_sub(r, mx, my, mode); break;
            case 2: t = mpfr_mul(r, mx, my, mode); break;
            case 3: t = mpfr_div(r, mx, my, mode); break;
            case 4: t = mpfr_fma(r, mx, my, mz, mode); break;
            case 5: t = mpfr_sqrt(r, mx, mode); break;
            default: t = mpfr_ui_div(r, 1, mx, mode); break;
            }
            mpfr_subnormalize(r, t, mode);
            float want = mpfr_get_flt(r, MPFR_RNDN);
            bool same = isnan(want) ? isnan(out[i]) : want == out[i];
            if (!same)
                fail_msg("%s at %a %a %a: %a instead of %a", list[k], (double)x[i], (double)y[i],
                         (double)z[i], (double)out[i], (double)want);
        }
    }
    mpfr_set_emin(emin), mpfr_set_emax(emax);
    mpfr_clears(mx, my, mz, r, (mpfr_ptr)0);
    device_close(&d);
}

/* Special values where the documentation fixes them. */
static void special_values(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        float x, y, want;
    } cases[] = {
        {"fmaxf(x, y)", NAN, 2, 2},
        {"fminf(x, y)", 2, NAN, 2},
        {"max(x, y)", NAN, 3, 3},
        {"fmaxf(x, y)", NAN, NAN, NAN},
        {"1.f / fmaxf(x, y)", -0.f, 0, INFINITY}, /* zeros are ordered, whichever comes first */
        {"1.f / fmaxf(x, y)", 0, -0.f, INFINITY},
        {"1.f / fminf(x, y)", -0.f, 0, -INFINITY},
        {"1.f / fminf(x, y)", 0, -0.f, -INFINITY},
        {"1.f / max(x, y)", -0.f, 0, INFINITY},
        {"1.f / (float)fmax((double)x, (double)y)", -0.f, 0, INFINITY},
        {"__expf(x)", -INFINITY, 0, 0},
        {"__expf(x)", INFINITY, 0, INFINITY},
        {"__logf(x)", 0, 0, -INFINITY},
        {"__logf(x)", -1, 0, NAN},
        {"rsqrtf(x)", 0, 0, INFINITY},
        {"rsqrtf(x)", INFINITY, 0, 0},
        {"__fdividef(x, y)", 3, 0x1p127f, 0},
        {"__fdividef(x, y)", INFINITY, 0x1p127f, NAN},
        {"__saturatef(x)", NAN, 0, 0},
        {"__saturatef(x)", 7, 0, 1},
        {"__saturatef(x)", -7, 0, 0},
        {"(float)(int)x", NAN, 0, 0},
        {"(float)(int)x", 1e20f, 0, 2147483648.f},
        {"(float)(unsigned)x", -5, 0, 0},
        {"(float)__float2int_rn(x)", 2.5f, 0, 2},
        {"(float)__float2int_rz(x)", -2.7f, 0, -2},
        {"(float)__float2int_ru(x)", 2.1f, 0, 3},
        {"(float)__float2int_rd(x)", -2.1f, 0, -3},
        {"(float)__float2uint_rn(x)", -3, 0, 0},
        {"rintf(x)", 3.5f, 0, 4},
        {"roundf(x)", 2.5f, 0, 3},
        {"__int2float_rz((int)x + 16777217)", 0, 0, 16777216},
        {"sinpif(x)", 1, 0, 0},
        {"__int2float_ru((int)x + 16777217)", 0, 0, 16777218},
        {"std::max(x, y)", 1, 2, 2},
        {"fminf(x, INFINITY)", 1, 0, 1},
        {"__frcp_rn(x)", 0, 0, INFINITY},
        {"exp2f(x)", -149, 0, 0x1p-149f},
        {"fabsf(x) + abs(x)", -2, 0, 4},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    const char *expressions[CASES];
    for (int k = 0; k < CASES; k++) expressions[k] = cases[k].expression;
    device d;
    open_kernels(&d, CASES, expressions, "float");
    for (int k = 0; k < CASES; k++) {
        const void *px = &cases[k].x, *py = &cases[k].y;
        float out = 0;
        void *pout = &out;
        int n = 1;
        device_call(&d, k, (void *[]){&px, &py, &py, &pout, &n});
        bool same = isnan(cases[k].want) ? isnan(out) : out == cases[k].want;
        if (!same)
            fail_msg("%s at %g %g: %g", cases[k].expression, (double)cases[k].x, (double)cases[k].y,
                     (double)out);
    }
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_keep_their_budgets),
                                       cmocka_unit_test(directed_roundings),
                                       cmocka_unit_test(special_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
