/* half and bfloat16 of emulated device code against MPFR with their own precision and exponent range. */
#include "device_testing.h"

#include <math.h>
#include <mpfr.h>

#include "philox.h"

typedef struct format {
    const char *type, *to_float, *from_float, *from_double;
    int precision, exponent_bits, emin, emax; /* MPFR's: 0.1xxx * 2^e */
} format;

static const format formats[] = {
    {"__half", "__half2float", "__float2half", "__double2half", 11, 5, -23, 16},
    {"__nv_bfloat16", "__bfloat162float", "__float2bfloat16", "__double2bfloat16", 8, 8, -132, 128},
};

static mpfr_exp_t usual_emin, usual_emax;

static void use_range(const format *f) {
    usual_emin = mpfr_get_emin(), usual_emax = mpfr_get_emax();
    mpfr_set_emin(f->emin), mpfr_set_emax(f->emax);
}
static void usual_range(void) {
    mpfr_set_emin(usual_emin), mpfr_set_emax(usual_emax);
}

/* The value of 16 bits, by the definition of the format. */
static double value_of(const format *f, unsigned bits) {
    int fraction_bits = f->precision - 1, bias = (1 << (f->exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << f->exponent_bits) - 1),
        fraction = (int)bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << f->exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static bool same(double a, double b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* The result in r, whose ternary value is t, brought into the format (its range is in use). */
static double rounded(mpfr_t r, int t) {
    mpfr_subnormalize(r, t, MPFR_RNDN);
    return mpfr_get_d(r, MPFR_RNDN);
}

static void conversions(void **state) {
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const format *f = &formats[k];
        char text[2048];
        snprintf(text, sizeof text,
                 "__global__ void widen(const %s *x, float *y, int n) { for (int i = 0; i < n; i++) y[i] = "
                 "%s(x[i]); }\n"
                 "__global__ void narrow(const float *x, %s *y, int n) { for (int i = 0; i < n; i++) y[i] = "
                 "%s(x[i]); }\n"
                 "__global__ void narrow2(const double *x, %s *y, int n) { for (int i = 0; i < n; i++) y[i] "
                 "= %s(x[i]); }\n",
                 f->type, f->to_float, f->type, f->from_float, f->type, f->from_double);
        device d;
        device_open(&d, text, 3, (const char *const[]){"widen", "narrow", "narrow2"});
        static uint16_t bits[65536], back[65536];
        static float wide[65536];
        static double wide2[65536];
        int n = 65536;
        for (int i = 0; i < n; i++) bits[i] = (uint16_t)i;
        const void *in = bits;
        void *out = wide;
        device_call(&d, 0, (void *[]){&in, &out, &n});
        for (int i = 0; i < n; i++)
            if (!same((double)wide[i], value_of(f, (unsigned)i)))
                fail_msg("%s: %04x is %a", f->to_float, i, (double)wide[i]);
        in = wide, out = back;
        device_call(&d, 1, (void *[]){&in, &out, &n});
        for (int i = 0; i < n; i++) assert_int_equal(back[i], isnan(wide[i]) ? 0x7fff : i);
        /* the middle between neighbours, and the numbers next to it, in float and in double */
        mpfr_t r;
        mpfr_init2(r, f->precision);
        for (int step = -1; step <= 1; step++) {
            for (int i = 0; i < n; i++) {
                double middle =
                    0.5 * value_of(f, (unsigned)i) + 0.5 * value_of(f, (unsigned)(i + 1) & 0xffff);
                if (!isfinite(middle)) middle = value_of(f, (unsigned)(i & 0x8000) | 0x7bff) * 1.001;
                wide[i] = step ? nextafterf((float)middle, step > 0 ? INFINITY : -INFINITY) : (float)middle;
                wide2[i] = step ? nextafter(middle, step * INFINITY) : middle;
            }
            for (int wider = 0; wider < 2; wider++) {
                in = wider ? (const void *)wide2 : (const void *)wide, out = back;
                device_call(&d, 1 + wider, (void *[]){&in, &out, &n});
                use_range(f);
                for (int i = 0; i < n; i++) {
                    double x = wider ? wide2[i] : (double)wide[i];
                    double want = isnan(x) ? x : rounded(r, mpfr_set_d(r, x, MPFR_RNDN));
                    if (!same(value_of(f, back[i]), want))
                        fail_msg("%s: %a became %04x", f->from_float, x, back[i]);
                }
                usual_range();
            }
        }
        mpfr_clear(r);
        device_close(&d);
    }
}

typedef struct operation {
    const char *expression;
    int kind;
} operation;
enum { ADD, SUB, MUL, DIV, FMA, SQRT, NEG };
static const operation operations[] = {
    {"__hadd(x, y)", ADD},
    {"x + y", ADD},
    {"__hadd2(T2(x, x), T2(y, y)).y", ADD},
    {"__hsub(x, y)", SUB},
    {"x - y", SUB},
    {"x * y", MUL},
    {"(T2(x, x) * T2(y, y)).x", MUL},
    {"__hdiv(x, y)", DIV},
    {"x / y", DIV},
    {"__hfma(x, y, z)", FMA},
    {"__hfma2(T2(x, x), T2(y, y), T2(z, z)).y", FMA},
    {"hsqrt(x)", SQRT},
    {"-x", NEG},
    {"(x += y, x)", ADD},
};
enum { OPERATIONS = sizeof operations / sizeof *operations, SAMPLES = 20000 };

static double reference(int kind, mpfr_t r, mpfr_t x, mpfr_t y, mpfr_t z) {
    switch (kind) {
    case ADD: return rounded(r, mpfr_add(r, x, y, MPFR_RNDN));
    case SUB: return rounded(r, mpfr_sub(r, x, y, MPFR_RNDN));
    case MUL: return rounded(r, mpfr_mul(r, x, y, MPFR_RNDN));
    case DIV: return rounded(r, mpfr_div(r, x, y, MPFR_RNDN));
    case FMA: return rounded(r, mpfr_fma(r, x, y, z, MPFR_RNDN));
    case SQRT: return rounded(r, mpfr_sqrt(r, x, MPFR_RNDN));
    default: return rounded(r, mpfr_neg(r, x, MPFR_RNDN));
    }
}

static void arithmetic_is_rounded_once(void **state) {
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const format *f = &formats[k];
        fixture text_memory = fixture_open();
        const char *names[OPERATIONS];
        char *text =
            cupel_arena_printf(text_memory.arena, "typedef %s T; typedef %s2 T2;\n", f->type, f->type);
        for (int o = 0; o < OPERATIONS; o++) {
            names[o] = cupel_arena_printf(text_memory.arena, "k%d", o);
            text = cupel_arena_printf(
                text_memory.arena,
                "%s__global__ void k%d(const T *xs, const T *ys, const T *zs, T *out, int n) {\n"
                "for (int i = 0; i < n; i++) { T x = xs[i], y = ys[i], z = zs[i]; (void)y, (void)z; out[i] = "
                "%s; } }\n",
                text, o, operations[o].expression);
        }
        device d;
        device_open(&d, text, OPERATIONS, names);
        static uint16_t x[SAMPLES], y[SAMPLES], z[SAMPLES], out[SAMPLES];
        cupel_random random = cupel_random_start(11, (uint32_t)k);
        for (int i = 0; i < SAMPLES; i++) {
            uint64_t bits = cupel_random_u64(&random);
            x[i] = (uint16_t)bits, y[i] = (uint16_t)(bits >> 16), z[i] = (uint16_t)(bits >> 32);
            if (i % 3 == 1)
                y[i] = (uint16_t)(x[i] ^ (y[i] & 0x83ff)); /* near each other: cancellation, ties */
            if (i % 3 == 2) z[i] &= 0x87ff;                /* a small addend decides a tie of the product */
        }
        mpfr_t r, mx, my, mz;
        mpfr_inits2(f->precision, r, mx, my, mz, (mpfr_ptr)0);
        const void *px = x, *py = y, *pz = z;
        void *pout = out;
        int n = SAMPLES;
        for (int o = 0; o < OPERATIONS; o++) {
            device_call(&d, o, (void *[]){&px, &py, &pz, &pout, &n});
            use_range(f);
            for (int i = 0; i < SAMPLES; i++) {
                double vx = value_of(f, x[i]), vy = value_of(f, y[i]), vz = value_of(f, z[i]);
                mpfr_set_d(mx, vx, MPFR_RNDN), mpfr_set_d(my, vy, MPFR_RNDN), mpfr_set_d(mz, vz, MPFR_RNDN);
                double want = reference(operations[o].kind, r, mx, my, mz), got = value_of(f, out[i]);
                if (isnan(want) ? !isnan(got) : got != want)
                    fail_msg("%s of %s at %a %a %a: %a instead of %a", operations[o].expression, f->type, vx,
                             vy, vz, got, want);
            }
            usual_range();
        }
        mpfr_clears(r, mx, my, mz, (mpfr_ptr)0);
        device_close(&d);
        fixture_close(&text_memory);
    }
}

/* Comparisons, directed conversions, integers and the rest, at values that tell them apart. */
static void odds_and_ends(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        double want;
    } cases[] = {
        {"__hgt(H(1.f), H(0.5f))", 1},
        {"__hgt(H(NAN), H(1.f))", 0},
        {"__hgtu(H(NAN), H(1.f))", 1},
        {"H(2.f) == H(2.f)", 1},
        {"H(NAN) != H(NAN)", 1},
        {"__hbeq2(half2(H(1.f), H(2.f)), half2(H(1.f), H(3.f)))", 0},
        {"float(__hmax(H(NAN), H(3.f)))", 3},
        {"__hisnan(__hmax_nan(H(NAN), H(3.f)))", 1},
        {"float(__hmin2(half2(H(1.f), H(5.f)), half2(H(2.f), H(4.f))).y)", 4},
        {"float(__float2half_rz(1.0009f))", 1},
        {"float(__float2half_ru(1.0001f))", 1.0009765625},
        {"float(__float2half_rd(-1.0001f))", -1.0009765625},
        {"float(__float2half_rz(1e6f))", 65504},
        {"float(__float2half_rn(65519.f))", 65504},
        {"isinf(float(__float2half_rn(65520.f)))", 1},
        {"float(__float2half_ru(1e-10f))", 0x1p-24},
        {"float(__float2half_rd(-1e-10f))", -0x1p-24},
        {"__half2int_rn(H(2.5f))", 2},
        {"__half2int_rz(H(-2.5f))", -2},
        {"__half2uint_rn(H(-3.f))", 0},
        {"float(__int2half_rn(2049))", 2048},
        {"float(__int2half_ru(2049))", 2050},
        {"float(H(2051))", 2052},
        {"float(H((1ll << 11) + 1))", 2048},
        {"__half_as_ushort(H(1.f))", 0x3c00},
        {"float(__ushort_as_half(0x3c00))", 1},
        {"__low2float(__floats2half2_rn(1.f, 2.f))", 1},
        {"float(__high2half(make_half2(H(1.f), H(2.f))))", 2},
        {"float(__lowhigh2highlow(half2(H(1.f), H(2.f))).x)", 2},
        {"__half22float2(__float22half2_rn(make_float2(3.f, 4.f))).y", 4},
        {"float(hexp(H(0.f)))", 1},
        {"float(hrsqrt(H(4.f)))", 0.5},
        {"float(h2sqrt(half2(H(4.f), H(9.f))).y)", 3},
        {"float(__hfma_relu(H(1.f), H(-2.f), H(1.f)))", 0},
        {"float(__hadd_sat(H(1.f), H(2.f)))", 1},
        {"sizeof(half2)", 4},
        {"alignof(half2)", 4},
        {"float(B(1.00390625f))", 1},
        {"float(B(1.01171875f))", 1.015625},
        {"__bfloat162int_rn(B(3.f))", 3},
        {"float(__float2bfloat16_rz(1.999999f))", 1.9921875},
        {"__bfloat16_as_ushort(B(1.f))", 0x3f80},
        {"__bfloat1622float2(__floats2bfloat162_rn(1.f, 2.f)).y", 2},
        {"float(__halves2bfloat162(B(5.f), B(6.f)).x)", 5},
        {"(std::is_trivially_default_constructible<half2>::value)", 1},
        {"float(__habs(H(-3.f)))", 3},
        {"float(__hneg2(half2(H(1.f), H(2.f))).y)", -2},
        {"(H(1.f) < H(2.f) && half2(H(1.f), H(1.f)) <= half2(H(1.f), H(2.f)))", 1},
        {"float(hfloor(H(-1.5f)))", -2},
        {"(bool)H(0.5f)", 1},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    fixture m = fixture_open();
    char *text = cupel_arena_printf(
        m.arena, "typedef half H; typedef nv_bfloat16 B;\n__global__ void k(double *out) {\n");
    for (int i = 0; i < CASES; i++)
        text = cupel_arena_printf(m.arena, "%sout[%d] = %s;\n", text, i, cases[i].expression);
    device d;
    device_open(&d, cupel_arena_printf(m.arena, "%s}\n", text), 1, (const char *const[]){"k"});
    double out[CASES];
    void *pout = out;
    device_call(&d, 0, (void *[]){&pout});
    for (int i = 0; i < CASES; i++)
        if (out[i] != cases[i].want) fail_msg("%s is %a, not %a", cases[i].expression, out[i], cases[i].want);
    device_close(&d);
    fixture_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions),
                                       cmocka_unit_test(arithmetic_is_rounded_once),
                                       cmocka_unit_test(odds_and_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
