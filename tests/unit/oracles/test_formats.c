/* Element formats: exhaustive round trips, and rounding against MPFR as the independent route. */
#include "formats.h"
#include "philox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <mpfr.h>
#include <string.h>

static const cupel_dtype small_reals[] = {CUPEL_F16, CUPEL_BF16, CUPEL_E4M3, CUPEL_E5M2};

static bool same(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* value rounded by MPFR with the format's exponent range; e4m3's missing top code is applied by hand. */
static double by_mpfr(cupel_dtype type, double value, mpfr_rnd_t direction) {
    const cupel_format *f = cupel_format_of(type);
    mpfr_exp_t old_min = mpfr_get_emin(), old_max = mpfr_get_emax();
    mpfr_t r;
    mpfr_init2(r, f->precision);
    /* MPFR's significands lie in [1/2, 1): exponents are one more than ours */
    mpfr_set_emin(f->emin - f->precision + 2);
    mpfr_set_emax(f->emax + 1);
    int inexact = mpfr_set_d(r, value, direction);
    inexact = mpfr_check_range(r, inexact, direction);
    mpfr_subnormalize(r, inexact, direction);
    double got = mpfr_get_d(r, MPFR_RNDN);
    mpfr_set_emin(old_min);
    mpfr_set_emax(old_max);
    mpfr_clear(r);
    if (type == CUPEL_E4M3 && fabs(got) > 448.0 && !isinf(value)) {
        if (direction == MPFR_RNDN) return copysign(NAN, got);
        bool away = (direction == MPFR_RNDU) == (value > 0.0);
        return copysign(away ? INFINITY : 448.0, value);
    }
    return got;
}

static void check_rounding(cupel_dtype type, double x) {
    if (type == CUPEL_E4M3 && isinf(x)) return; /* no infinity to round to */
    double near = by_mpfr(type, x, MPFR_RNDN), down = by_mpfr(type, x, MPFR_RNDD),
           up = by_mpfr(type, x, MPFR_RNDU);
    double got = cupel_round(type, x), got_down = cupel_round_down(type, x), got_up = cupel_round_up(type, x);
    if (!same(got, near)) fail_msg("%s: %a rounds to %a, MPFR %a", cupel_format_of(type)->name, x, got, near);
    if (got_down != down) fail_msg("%s: %a down %a, MPFR %a", cupel_format_of(type)->name, x, got_down, down);
    if (got_up != up) fail_msg("%s: %a up %a, MPFR %a", cupel_format_of(type)->name, x, got_up, up);
    unsigned char element[8] = {0};
    cupel_encode(type, x, element);
    if (!same(cupel_decode(type, element), near))
        fail_msg("%s: %a encodes as %a", cupel_format_of(type)->name, x, cupel_decode(type, element));
}

static void every_small_pattern_survives_a_round_trip(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof small_reals / sizeof *small_reals; t++) {
        cupel_dtype type = small_reals[t];
        size_t size = cupel_format_of(type)->size, nans = 0;
        for (uint32_t code = 0; code < 1u << (8 * size); code++) {
            unsigned char in[2] = {(unsigned char)code, (unsigned char)(code >> 8)}, out[2] = {0, 0};
            double x = cupel_decode(type, in);
            cupel_encode(type, x, out);
            assert_int_equal(cupel_element_is_nan(type, in), isnan(x));
            assert_int_equal(cupel_element_sign(type, in), code >> (8 * size - 1));
            assert_int_equal(cupel_element_is_zero(type, in), x == 0.0);
            if (isnan(x)) {
                nans++;
                assert_true(cupel_element_is_nan(type, out));
            } else {
                assert_memory_equal(in, out, size);
                assert_true(same(cupel_round(type, x), x));
            }
        }
        size_t expected = type == CUPEL_E4M3 ? 2 : 2 * ((1u << (cupel_format_of(type)->precision - 1)) - 1);
        assert_int_equal(nans, expected);
    }
}

/* Values come from the formula of the format, not from its own decoder. */
static void decoding_follows_the_definition(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof small_reals / sizeof *small_reals; t++) {
        cupel_dtype type = small_reals[t];
        const cupel_format *f = cupel_format_of(type);
        int fraction_bits = f->precision - 1;
        for (uint32_t code = 0; code < 1u << (8 * f->size - 1); code++) {
            uint32_t e = code >> fraction_bits, m = code & ((1u << fraction_bits) - 1);
            double expected = e ? ldexp(1.0 + ldexp(m, -fraction_bits), (int)e - 1 + f->emin)
                                : ldexp(m, f->emin - fraction_bits);
            if (expected > cupel_format_largest(type)) continue;
            unsigned char in[2] = {(unsigned char)code, (unsigned char)(code >> 8)};
            assert_true(cupel_decode(type, in) == expected);
        }
    }
}

static void rounding_agrees_with_mpfr_beside_every_boundary(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof small_reals / sizeof *small_reals; t++) {
        cupel_dtype type = small_reals[t];
        for (double a = 0.0; a <= cupel_format_largest(type);) {
            double next =
                a < cupel_format_largest(type) ? cupel_next_up(type, a) : a + cupel_format_ulp(type, a);
            double middle = a + (next - a) / 2;
            double points[] = {a,      nextafter(a, INFINITY),      nextafter(middle, 0.0),
                               middle, nextafter(middle, INFINITY), nextafter(next, 0.0)};
            for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
                check_rounding(type, points[i]);
                check_rounding(type, -points[i]);
            }
            a = next;
        }
        double far[] = {1e300, 1.7976931348623157e308, 5e-324, 1e-300, INFINITY};
        for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
            check_rounding(type, far[i]);
            check_rounding(type, -far[i]);
        }
    }
}

/* OCP 8-bit Floating Point Specification 1.0, table 1: the exponents' ends and the special codes. */
static void fp8_is_as_its_specification_lists_it(void **state) {
    (void)state;
    static const struct {
        cupel_dtype type;
        unsigned char code;
        double value;
    } rows[] = {
        {CUPEL_E4M3, 0x00, 0},          {CUPEL_E4M3, 0x80, -0.0},      {CUPEL_E4M3, 0x01, 0x1p-9},
        {CUPEL_E4M3, 0x07, 0.875 / 64}, {CUPEL_E4M3, 0x08, 0x1p-6},    {CUPEL_E4M3, 0x38, 1},
        {CUPEL_E4M3, 0x7e, 448},        {CUPEL_E4M3, 0xfe, -448},      {CUPEL_E4M3, 0x7f, NAN},
        {CUPEL_E4M3, 0xff, NAN},        {CUPEL_E4M3, 0x78, 256},       {CUPEL_E5M2, 0x00, 0},
        {CUPEL_E5M2, 0x80, -0.0},       {CUPEL_E5M2, 0x01, 0x1p-16},   {CUPEL_E5M2, 0x03, 0x1.8p-15},
        {CUPEL_E5M2, 0x04, 0x1p-14},    {CUPEL_E5M2, 0x3c, 1},         {CUPEL_E5M2, 0x7b, 57344},
        {CUPEL_E5M2, 0x7c, INFINITY},   {CUPEL_E5M2, 0xfc, -INFINITY}, {CUPEL_E5M2, 0x7d, NAN},
        {CUPEL_E5M2, 0x7e, NAN},        {CUPEL_E5M2, 0xff, NAN},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (!same(cupel_decode(rows[r].type, &rows[r].code), rows[r].value))
            fail_msg("%s: code %02x", cupel_format_of(rows[r].type)->name, rows[r].code);
    /* to the ends of the two, and over them */
    assert_true(cupel_round(CUPEL_E4M3, 464) == 448 && isnan(cupel_round(CUPEL_E4M3, 464.0000001)));
    assert_true(cupel_saturate(CUPEL_E4M3, 1e9) == 448 && cupel_saturate(CUPEL_E4M3, -INFINITY) == -448);
    assert_true(cupel_round(CUPEL_E5M2, 61440) == INFINITY && cupel_round(CUPEL_E5M2, 61439.99) == 57344);
    assert_true(cupel_saturate(CUPEL_E5M2, INFINITY) == 57344 && isnan(cupel_saturate(CUPEL_E5M2, NAN)));
    assert_true(cupel_saturate(CUPEL_F16, 1e9) == INFINITY && cupel_saturate(CUPEL_E4M3, 3.3) == 3.25);
}

/* All binades, a prime step through the significands, the first and last ones too. */
static void tf32_agrees_with_mpfr_beside_its_boundaries(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 0x3fc00; code += code % 0x400 < 3 || code % 0x400 > 0x3fb ? 1 : 61) {
        const uint32_t element = code << 13, above = (code + 1) << 13;
        const double a = cupel_decode(CUPEL_TF32, &element);
        const double next = code + 1 < 0x3fc00 ? cupel_decode(CUPEL_TF32, &above) : 0x1p128;
        const double middle = a + (next - a) / 2;
        const double points[] = {a,      nextafter(a, INFINITY),      nextafter(middle, 0),
                                 middle, nextafter(middle, INFINITY), nextafter(next, 0)};
        for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
            check_rounding(CUPEL_TF32, points[i]);
            check_rounding(CUPEL_TF32, -points[i]);
        }
    }
    const float low_bits = 0x1.003ffep0f; /* what the hardware does not read */
    assert_true(cupel_decode(CUPEL_TF32, &low_bits) == 0x1p0);
    uint32_t stored = 0;
    cupel_encode(CUPEL_TF32, 1.2345678, &stored);
    assert_int_equal(stored & 0x1fff, 0);
}

/* Every 8 and 16 bits, and the ends of the wider ones. */
static void integers_are_decoded_exactly(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 65536; code++) {
        const uint16_t half = (uint16_t)code;
        const uint8_t byte = (uint8_t)code;
        unsigned char out[8];
        assert_true(cupel_decode(CUPEL_U16, &half) == code && cupel_decode_int(CUPEL_U16, &half) == code);
        assert_true(cupel_decode(CUPEL_I16, &half) == (code < 32768 ? (double)code : (double)code - 65536));
        cupel_encode(CUPEL_I16, cupel_decode(CUPEL_I16, &half), out);
        assert_memory_equal(out, &half, 2);
        assert_true(cupel_decode(CUPEL_U8, &byte) == (code & 255));
        assert_true(cupel_decode(CUPEL_I8, &byte) ==
                    ((code & 255) < 128 ? code & 255 : (code & 255) - 256.0));
        cupel_encode(CUPEL_I8, cupel_decode(CUPEL_I8, &byte), out);
        assert_memory_equal(out, &byte, 1);
    }
    const uint64_t all = UINT64_MAX;
    const int64_t odd = (INT64_C(1) << 53) + 1;
    assert_true(cupel_decode(CUPEL_U32, &all) == 4294967295.0 && cupel_decode(CUPEL_I32, &all) == -1);
    assert_true(cupel_decode(CUPEL_U64, &all) == 0x1p64 && cupel_decode(CUPEL_I64, &all) == -1);
    assert_true(cupel_decode_int(CUPEL_I64, &odd) == odd);
    for (int t = 0; t < CUPEL_DTYPE_COUNT; t++)
        assert_int_equal(cupel_dtype_is_wide((cupel_dtype)t), t == CUPEL_I64 || t == CUPEL_U64);
}

static void f32_and_tf32_agree_with_mpfr_at_random_points(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(20, 1);
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = cupel_random_u64(&random);
        int e = (int)cupel_random_below(&random, 290) - 155; /* f32's whole range and beyond on both sides */
        double x = ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, e);
        if (i % 3 == 0) x = (double)(float)x; /* exact */
        if (i % 3 == 1 && isfinite((float)x))
            x = ((double)(float)x + (double)nextafterf((float)x, INFINITY)) / 2;
        if (bits & 1) x = -x;
        if (!isfinite(x)) continue;
        check_rounding(CUPEL_F32, x);
        check_rounding(CUPEL_TF32, x);
    }
}

static void many_equals_one(void **state) {
    (void)state;
    enum { COUNT = 1037 };
    static double values[COUNT], decoded[COUNT];
    static unsigned char bytes[COUNT * 8];
    cupel_random random = cupel_random_start(3, 1);
    for (int t = 0; t < CUPEL_DTYPE_COUNT; t++) {
        cupel_dtype type = (cupel_dtype)t;
        size_t size = cupel_format_of(type)->size;
        for (int i = 0; i < COUNT; i++)
            values[i] = ldexp(cupel_random_unit(&random) - 0.5, (int)cupel_random_below(&random, 60) - 30);
        cupel_encode_many(type, values, COUNT, bytes);
        cupel_decode_many(type, bytes, COUNT, decoded);
        for (int i = 0; i < COUNT; i++) {
            unsigned char one[8];
            cupel_encode(type, values[i], one);
            assert_memory_equal(one, bytes + (size_t)i * size, size);
            assert_true(same(decoded[i], cupel_decode(type, one)));
            assert_true(decoded[i] == cupel_round(type, values[i]) || isnan(decoded[i]));
        }
    }
}

static void neighbours_and_steps(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof small_reals / sizeof *small_reals; t++) {
        cupel_dtype type = small_reals[t];
        double a = -cupel_format_largest(type), first = a, steps = 0;
        while (a < cupel_format_largest(type)) {
            double b = cupel_next_up(type, a);
            assert_true(b > a);
            assert_true(cupel_round(type, b) == b);
            assert_true(cupel_next_down(type, b) == a);
            assert_true(cupel_steps_between(type, a, b) == 1.0);
            steps++;
            assert_true(cupel_steps_between(type, first, b) == steps);
            a = b;
        }
        assert_true(cupel_next_up(type, a) == INFINITY);
        assert_true(cupel_next_down(type, INFINITY) == a);
        assert_true(steps == 2.0 * (type == CUPEL_E4M3   ? 0x7e
                                    : type == CUPEL_E5M2 ? 0x7b
                                    : type == CUPEL_F16  ? 0x7bff
                                                         : 0x7f7f));
    }
    assert_true(cupel_steps_between(CUPEL_F32, -0x1p-149, 0x1p-149) == 2.0);
    assert_true(cupel_next_up(CUPEL_F32, 1.0) == 1.0 + 0x1p-23);
    assert_true(cupel_next_down(CUPEL_F32, 1.0) == 1.0 - 0x1p-24);
    assert_true(cupel_next_up(CUPEL_F64, 0.0) == 5e-324);
    assert_true(cupel_steps_between(CUPEL_F64, 1.0, 1.0 + 0x1p-52) == 1.0);
    assert_true(isnan(cupel_steps_between(CUPEL_F32, NAN, 1.0)));
}

static void constants_of_the_formats(void **state) {
    (void)state;
    assert_true(cupel_format_largest(CUPEL_F16) == 65504.0);
    assert_true(cupel_format_largest(CUPEL_BF16) == 0x1.fep127);
    assert_true(cupel_format_largest(CUPEL_F32) == 0x1.fffffep127);
    assert_true(cupel_format_largest(CUPEL_F64) == 0x1.fffffffffffffp1023);
    assert_true(cupel_format_largest(CUPEL_E5M2) == 57344.0);
    assert_true(cupel_format_smallest(CUPEL_F32) == 0x1p-149);
    assert_true(cupel_format_smallest(CUPEL_F64) == 5e-324);
    assert_true(cupel_format_normal(CUPEL_F16) == 0x1p-14);
    assert_true(cupel_format_unit(CUPEL_F32) == 0x1p-24);
    assert_true(cupel_format_ulp(CUPEL_F16, 1.5) == 0x1p-10);
    assert_true(cupel_format_ulp(CUPEL_F16, 0.0) == 0x1p-24);
    assert_true(cupel_format_ulp(CUPEL_F16, INFINITY) == 32.0);
}

static void integers_truncate_and_saturate(void **state) {
    (void)state;
    static const struct {
        cupel_dtype type;
        double value;
        int64_t expected;
    } rows[] = {
        {CUPEL_I32, 2.9, 2},
        {CUPEL_I32, -2.9, -2},
        {CUPEL_I32, 3e9, INT32_MAX},
        {CUPEL_I32, -3e9, INT32_MIN},
        {CUPEL_I32, NAN, 0},
        {CUPEL_I8, 127.5, 127},
        {CUPEL_I8, 128.0, 127},
        {CUPEL_I8, -128.9, -128},
        {CUPEL_U8, -1.0, 0},
        {CUPEL_U8, 255.9, 255},
        {CUPEL_U8, 1e9, 255},
        {CUPEL_I64, 1e300, INT64_MAX},
        {CUPEL_I64, -1e300, INT64_MIN},
        {CUPEL_BOOL, 0.5, 1},
        {CUPEL_BOOL, -0.0, 0},
        {CUPEL_I64, 0x1p62, INT64_C(1) << 62},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char element[8];
        cupel_encode(rows[i].type, rows[i].value, element);
        assert_true(cupel_decode_int(rows[i].type, element) == rows[i].expected);
        if (rows[i].type != CUPEL_I64 && !isnan(rows[i].value))
            assert_true(cupel_round(rows[i].type, rows[i].value) == (double)rows[i].expected);
    }
    assert_true(cupel_next_up(CUPEL_I32, 5.0) == 6.0 && cupel_next_down(CUPEL_U8, 0.0) == 0.0);
}

static void equal_elements_are_the_same_bits_or_nan(void **state) {
    (void)state;
    const uint32_t nan = 0x7fc00001, other_nan = 0xffc00002, zero = 0, negative = 0x80000000;
    const int32_t one = 1, two = 2;
    assert_true(cupel_elements_equal(CUPEL_F32, &nan, &other_nan));
    assert_false(cupel_elements_equal(CUPEL_I32, &nan, &other_nan));
    assert_false(cupel_elements_equal(CUPEL_F32, &nan, &zero));
    assert_false(cupel_elements_equal(CUPEL_F32, &zero, &negative));
    assert_false(cupel_elements_equal(CUPEL_I32, &one, &two));
    assert_true(cupel_elements_equal(CUPEL_I32, &one, &one));
}

static void names_are_found(void **state) {
    (void)state;
    for (int t = 0; t < CUPEL_DTYPE_COUNT; t++) {
        cupel_dtype found = CUPEL_DTYPE_COUNT;
        assert_true(cupel_dtype_parse(cupel_format_of((cupel_dtype)t)->name, &found));
        assert_int_equal(found, t);
    }
    cupel_dtype untouched = CUPEL_F16;
    assert_false(cupel_dtype_parse("float", &untouched));
    assert_int_equal(untouched, CUPEL_F16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_pattern_survives_a_round_trip),
        cmocka_unit_test(decoding_follows_the_definition),
        cmocka_unit_test(rounding_agrees_with_mpfr_beside_every_boundary),
        cmocka_unit_test(f32_and_tf32_agree_with_mpfr_at_random_points),
        cmocka_unit_test(fp8_is_as_its_specification_lists_it),
        cmocka_unit_test(tf32_agrees_with_mpfr_beside_its_boundaries),
        cmocka_unit_test(integers_are_decoded_exactly),
        cmocka_unit_test(many_equals_one),
        cmocka_unit_test(neighbours_and_steps),
        cmocka_unit_test(constants_of_the_formats),
        cmocka_unit_test(integers_truncate_and_saturate),
        cmocka_unit_test(equal_elements_are_the_same_bits_or_nan),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
