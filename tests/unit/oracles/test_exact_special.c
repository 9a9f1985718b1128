/* Special values by PyTorch's conventions, exactness, precision that grows, empty tensors, element types. */
#include "exact_fixture.h"

#include <float.h>
#include <math.h>

static void special_values_follow_pytorch(void **state) {
    (void)state;
    const float inf = INFINITY, nan = NAN;
    /* expression over a[3] = {p, q, r}; the one result */
    const struct {
        const char *text;
        float a[3];
        double expected;
    } rows[] = {
        {"a[0] + a[1]", {inf, -inf}, nan},
        {"a[0] - a[1]", {inf, inf}, nan},
        {"a[0] * a[1]", {0, inf}, nan},
        {"a[0] * a[1]", {0, nan}, nan},
        {"a[0] * a[1]", {-2, inf}, -inf},
        {"a[0] / a[1]", {1, 0}, inf},
        {"a[0] / a[1]", {1, -0.0f}, -inf},
        {"a[0] / a[1]", {0, 0}, nan},
        {"a[0] / a[1]", {1, inf}, 0},
        {"a[0] / a[1]", {inf, inf}, nan},
        {"reciprocal(a[0])", {-0.0f}, -inf},
        {"maximum(a[0], a[1])", {nan, 1}, nan},
        {"minimum(a[0], a[1])", {1, nan}, nan},
        {"fmax(a[0], a[1])", {nan, 1}, 1},
        {"fmin(a[0], a[1])", {1, nan}, 1},
        {"fmax(a[0], a[1])", {nan, nan}, nan},
        {"relu(a[0])", {nan}, nan},
        {"relu(a[0])", {-inf}, 0},
        {"clamp(a[0], -1, 1)", {nan}, nan},
        {"clamp(a[0], -1, 1)", {inf}, 1},
        {"clamp(a[0], a[1], a[2])", {5, 2, 1}, 1},
        {"hardtanh(a[0])", {nan}, nan},
        {"softshrink(a[0])", {nan}, nan},
        {"softshrink(a[0])", {inf}, inf},
        {"hardshrink(a[0])", {nan}, nan},
        {"leaky_relu(a[0])", {-inf}, -inf},
        {"elu(a[0])", {-inf}, -1},
        {"gelu(a[0])", {inf}, inf},
        {"gelu(a[0])", {-inf}, nan},
        {"sigmoid(a[0])", {-inf}, 0},
        {"sigmoid(a[0])", {inf}, 1},
        {"silu(a[0])", {-inf}, nan},
        {"softplus(a[0])", {-inf}, 0},
        {"softplus(a[0])", {inf}, inf},
        {"tanh(a[0])", {-inf}, -1},
        {"erf(a[0])", {inf}, 1},
        {"erfc(a[0])", {-inf}, 2},
        {"exp(a[0])", {-inf}, 0},
        {"expm1(a[0])", {-inf}, -1},
        {"log(a[0])", {0}, -inf},
        {"log(a[0])", {-1}, nan},
        {"log(a[0])", {inf}, inf},
        {"log1p(a[0])", {-1}, -inf},
        {"log2(a[0])", {-0.0f}, -inf},
        {"sqrt(a[0])", {-1}, nan},
        {"sqrt(a[0])", {inf}, inf},
        {"rsqrt(a[0])", {0}, inf},
        {"rsqrt(a[0])", {-0.0f}, -inf},
        {"rsqrt(a[0])", {inf}, 0},
        {"sin(a[0])", {inf}, nan},
        {"tan(a[0])", {inf}, nan},
        {"cos(a[0])", {nan}, nan},
        {"asin(a[0])", {1.5f}, nan},
        {"atan(a[0])", {inf}, 1.5707963267948966},
        {"cosh(a[0])", {-inf}, inf},
        {"sinh(a[0])", {-inf}, -inf},
        {"a[0] ** 0", {nan}, 1},
        {"a[0] ** a[1]", {1, nan}, 1},
        {"a[0] ** a[1]", {-8, 3}, -512},
        {"a[0] ** 2", {-inf}, inf},
        {"a[0] ** 0.5", {-1}, nan},
        {"fmod(a[0], a[1])", {5, 0}, nan},
        {"fmod(a[0], a[1])", {-7, 3}, -1},
        {"a[0] % a[1]", {-7, 3}, 2},
        {"a[0] % a[1]", {7, -3}, -2},
        {"a[0] % a[1]", {inf, 3}, nan},
        {"round(a[0])", {2.5f}, 2},
        {"round(a[0])", {-3.5f}, -4},
        {"floor(a[0])", {-0.5f}, -1},
        {"trunc(a[0])", {-1.9f}, -1},
        {"floor(a[0])", {-inf}, -inf},
        {"sign(a[0])", {-inf}, -1},
        {"abs(a[0])", {-inf}, inf},
        {"cast(isnan(a[0]), i32)", {nan}, 1},
        {"cast(isinf(a[0]), i32)", {-inf}, 1},
        {"cast(isinf(a[0]), i32)", {nan}, 0},
        {"cast(isfinite(a[0]), i32)", {nan}, 0},
        {"cast(isfinite(a[0]), i32)", {3}, 1},
        {"cast(a[0] == a[0], i32)", {nan}, 0},
        {"cast(a[0] != a[0], i32)", {nan}, 1},
        {"cast(a[0] < a[1], i32)", {nan, 1}, 0},
        {"cast(a[0] == a[1], i32)", {0, -0.0f}, 1},
        {"where(a[0] > 0, a[1], a[2])", {nan, 1, 2}, 2},
        {"where(a[0], a[1], a[2])", {nan, 1, 2}, 1},
        {"sum(a)", {inf, 1, -inf}, nan},
        {"sum(a)", {inf, 1, 2}, inf},
        {"sum(a[3:])", {0}, 0},
        {"prod(a[3:])", {0}, 1},
        {"prod(a)", {inf, 0, 1}, nan},
        {"mean(a[3:])", {0}, nan},
        {"var(a[:1])", {3}, nan},
        {"var(a[:1], correction=0)", {3}, 0},
        {"var(a[:0])", {3}, nan},
        {"var(a)", {inf, 1, 2}, nan},
        {"amax(a)", {1, nan, 3}, nan},
        {"amin(a)", {1, -inf, 3}, -inf},
        {"argmax(a)", {1, nan, nan}, 1},
        {"argmax(a)", {3, 1, 3}, 0},
        {"argmin(a)", {2, 1, 1}, 1},
        {"argmin(a)", {2, -inf, nan}, 2},
        {"cast(all(a[3:]), i32)", {0}, 1},
        {"cast(any(a[3:]), i32)", {0}, 0},
        {"cast(any(a), i32)", {0, nan, 0}, 1},
        {"norm(a)", {inf, 1, 2}, inf},
        {"norm(a[3:])", {0}, 0},
        {"logsumexp(a, axis=0)", {-inf, -inf, -inf}, -inf},
        {"logsumexp(a, axis=0)", {inf, 1, 2}, inf},
        {"logsumexp(a, axis=0)", {nan, 1, 2}, nan},
        {"logsumexp(a[3:], axis=0)", {0}, -inf},
        {"softmax(a, axis=0)[0]", {-inf, 1, 1}, 0},
        {"softmax(a, axis=0)[0]", {-inf, -inf, -inf}, nan},
        {"softmax(a, axis=0)[1]", {inf, 1, 1}, nan},
        {"log_softmax(a, axis=0)[0]", {-inf, 1, 1}, -inf},
        {"layer_norm(a)[0]", {inf, 1, 1}, nan},
        {"rms_norm(a)[1]", {inf, 1, 1}, 0},
        {"rms_norm(a)[0]", {inf, 1, 1}, nan},
        {"l2_normalize(a)[0]", {0, 0, 0}, 0},
        {"cumsum(a, axis=0)[2]", {1, inf, 2}, inf},
        {"cummax(a, axis=0)[2]", {1, nan, 2}, nan},
        {"cummax(a, axis=0)[0]", {1, nan, 2}, 1},
        {"cummin(a, axis=0)[1]", {1, -inf, 2}, -inf},
        {"matmul(a, a)", {inf, 0, 0}, inf},
        {"matmul(a[:2], a[1:])", {0, inf, 1}, nan},
        {"cast(a[0], f16)", {65520}, inf},
        {"cast(a[0], f16)", {65519}, 65504},
        {"cast(a[0], bf16)", {1.00390625f}, 1},
        {"a[0] * a[1]", {0x1p-100f, 0x1p-100f}, 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "a", CUPEL_F32, "3", rows[r].a);
        exact_build(&x, rows[r].text, CUPEL_F32, "");
        const cupel_exact_element e = exact_element(&x, 0);
        const double expected = (double)(float)rows[r].expected;
        const bool same = isnan(expected) ? isnan(e.rounded) : e.rounded == expected;
        const uint8_t own = isnan(expected)    ? CUPEL_CLASS_NAN
                            : expected == inf  ? CUPEL_CLASS_POS_INF
                            : expected == -inf ? CUPEL_CLASS_NEG_INF
                                               : CUPEL_CLASS_FINITE;
        if (!same || !(e.classes & own))
            print_error("%s of %g, %g, %g: %g (%s), classes %d, reason %d; expected %g\n", rows[r].text,
                        rows[r].a[0], rows[r].a[1], rows[r].a[2], e.rounded, e.digits, e.classes, e.reason,
                        expected);
        assert_true(same);
        assert_true(e.classes & own);
        assert_int_not_equal(e.reason, CUPEL_REASON_UNABLE);
        exact_end(&x);
    }
}

/* Where every input is exact and so is the result, one answer is allowed. */
static void exact_operations_have_radius_zero(void **state) {
    (void)state;
    static const char *const exact[] = {"a + a",
                                        "a - 0.5",
                                        "a * 4",
                                        "sum(a)",
                                        "matmul(a, a)",
                                        "cast(a, f16)",
                                        "abs(a)",
                                        "round(a)",
                                        "amax(a)",
                                        "cumsum(a, axis=0)",
                                        "where(a < 1, a, 2)",
                                        "prod(a)",
                                        "-a",
                                        "cast(a, i32)",
                                        "argmax(a)",
                                        "clamp(a, 0, 1)",
                                        "a % 2",
                                        "relu(a) * a + 1",
                                        "cummax(a, 0)",
                                        "fmod(a, 2)"};
    static const char *const inexact[] = {"a * 0.1", "exp(a)",           "a / 3",       "mean(a)",
                                          "var(a)",  "sqrt(abs(a) + 1)", "sum(a * 0.1)"};
    static const float a[3] = {1, -2.5f, 6};
    for (int fast = 0; fast < 2; fast++) {
        exact_fixture x;
        exact_start(&x);
        x.rules.fast_math = fast;
        exact_input(&x, "a", CUPEL_F32, "3", a);
        for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
            if (fast && strchr(exact[i], '%')) continue; /* a - b * floor(a / b) may round */
            if (fast && strstr(exact[i], "fmod")) continue;
            const bool reduces = strstr(exact[i], "sum(a)") == exact[i] || strchr("mp", exact[i][0]) ||
                                 strstr(exact[i], "amax") || strstr(exact[i], "arg");
            exact_build(&x, exact[i], CUPEL_F32, reduces ? "" : "3");
            const cupel_exact_element e = exact_element(&x, 0);
            if (e.radius != 0 || e.lo != e.hi || e.lo != e.value)
                fail_msg("%s: radius %g", exact[i], e.radius);
        }
        for (size_t i = 0; i < sizeof inexact / sizeof *inexact; i++) {
            const bool reduces = strchr("mv", inexact[i][0]) || strstr(inexact[i], "sum");
            exact_build(&x, inexact[i], CUPEL_F32, reduces ? "" : "3");
            const cupel_exact_element e = exact_element(&x, 0);
            if (!(e.radius > 0) || !(e.lo < e.hi)) fail_msg("%s: radius %g", inexact[i], e.radius);
        }
        exact_end(&x);
    }
}

/* 2^100 + 2^-20 - 2^100 needs more than 96 bits; so does a sine far out, and a rounding close to a tie. */
static void precision_grows_until_the_answer_rounds_one_way(void **state) {
    (void)state;
    static const float a[3] = {0x1p100f, 0x1p-20f, -0x1p100f};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "3", a);
    exact_build(&x, "sum(a)", CUPEL_F32, "");
    cupel_exact_element e = exact_element(&x, 0);
    assert_true(e.rounded == 0x1p-20);
    assert_true(e.precision > 96);
    /* 1 + 2^-24 + tiny lies above the tie of 1 and its successor; 1 + 2^-24 - tiny below it */
    exact_build(&x, "1 + 5.9604644775390625e-8 + exp(-80)", CUPEL_F32, "");
    e = exact_element(&x, 0);
    assert_true(e.rounded == 1 + 0x1p-23);
    assert_true(e.precision > 96);
    exact_build(&x, "1 + 5.9604644775390625e-8 - exp(-80)", CUPEL_F32, "");
    e = exact_element(&x, 0);
    assert_true(e.rounded == 1);
    /* within the cap of f32 nothing tells exp(-200) from 0 */
    exact_build(&x, "1 + 5.9604644775390625e-8 + exp(-300)", CUPEL_F32, "");
    e = exact_element(&x, 0);
    assert_int_equal(e.reason, CUPEL_REASON_UNABLE);
    assert_int_equal(e.precision, 256);
    x.rules.working = CUPEL_F64;
    exact_build(&x, "1 + 1.1102230246251565404236316680908203125e-16 + exp(-300)", CUPEL_F64, "");
    e = exact_element(&x, 0);
    assert_true(e.rounded == 1 + 0x1p-52);
    assert_int_equal(e.reason, CUPEL_REASON_JUDGED);
    assert_true(e.precision > 256);
    exact_end(&x);
}

/* Integer parts of quotients that are whole: the enclosure never leaves both sides of the step. */
static void steps_at_their_edge_are_open_but_covered(void **state) {
    (void)state;
    static const float a[1] = {0.3f};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "1", a);
    exact_build(&x, "floor(log(exp(a)) / a)", CUPEL_F32, "1");
    const cupel_exact_element e = exact_element(&x, 0);
    assert_true(e.lo <= 0 && e.hi >= 1);
    assert_true(e.rounded == 0 || e.rounded == 1 || e.reason == CUPEL_REASON_UNABLE);
    exact_end(&x);
}

static void undecided_conditions_give_the_hull(void **state) {
    (void)state;
    static const float a[2] = {1, 3};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "2", a);
    exact_build(&x, "where(a[0] / a[1] * 3 > 1, 10, 20)", CUPEL_F32, "");
    cupel_exact_element e = exact_element(&x, 0);
    assert_true(e.lo <= 10 && e.hi >= 20);
    exact_build(&x, "where(a[0] < a[1], 10, 20)", CUPEL_F32, "");
    e = exact_element(&x, 0);
    assert_true(e.lo == 10 && e.hi == 10);
    /* the arguments differ by less than a kernel may be off: either index may win */
    exact_build(&x, "argmax(exp(a * 0.0000000001))", CUPEL_I32, "");
    e = exact_element(&x, 0);
    assert_true(e.reason != CUPEL_REASON_JUDGED || (e.lo <= 0 && e.hi >= 1));
    exact_end(&x);
}

static void integers(void **state) {
    (void)state;
    static const int32_t i[4] = {2000000000, 2000000000, -7, 3};
    static const int64_t big[2] = {INT64_C(9007199254740993), 5};
    static const struct {
        const char *text, *shape;
        double expected;
        int reason;
    } rows[] = {
        {"i[0] + i[1]", "", 4e9, CUPEL_REASON_CONVENTION},        /* does not fit i32 */
        {"(i[0] + i[1]) >> 1", "", 2e9, CUPEL_REASON_CONVENTION}, /* wrapped in PyTorch */
        {"(cast(i[0], i64) + i[1]) >> 1", "", 2e9, CUPEL_REASON_JUDGED},
        {"(sum(i[:2]) + 2) >> 1", "", 2000000001, CUPEL_REASON_JUDGED},
        {"(i[0] * 2) >> 1", "", 2e9, CUPEL_REASON_CONVENTION},
        {"sum(i[:2]) - i[0]", "", 2e9, CUPEL_REASON_JUDGED},
        {"i[2] % i[3]", "", 2, CUPEL_REASON_JUDGED},
        {"fmod(i[2], i[3])", "", -1, CUPEL_REASON_JUDGED},
        {"i[2] % 0", "", 0, CUPEL_REASON_CONVENTION},
        {"i[3] << 4", "", 48, CUPEL_REASON_JUDGED},
        {"i[3] << -1", "", 0, CUPEL_REASON_CONVENTION},
        {"i[2] >> 1", "", -4, CUPEL_REASON_JUDGED},
        {"cast(i[2] / 2, i32)", "", -3, CUPEL_REASON_JUDGED},
        {"i[2] / 2", "", -3, CUPEL_REASON_JUDGED}, /* an integer output truncates */
        {"cast(3e9, i32)", "", 0, CUPEL_REASON_CONVENTION},
        {"cast(nan, i32)", "", 0, CUPEL_REASON_CONVENTION},
        {"b[0] - b[0] + b[1]", "", 5, CUPEL_REASON_JUDGED},
        {"b[1] * 2", "", 10, CUPEL_REASON_JUDGED},
        {"gather(i, 0, i[2:])[0]", "", 0, CUPEL_REASON_CONVENTION}, /* index -7 */
        {"gather(i, 0, i[3:])[0]", "", 3, CUPEL_REASON_JUDGED},
    };
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "i", CUPEL_I32, "4", i);
    exact_input(&x, "b", CUPEL_I64, "2", big);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_build(&x, rows[r].text, CUPEL_I32, rows[r].shape);
        const cupel_exact_element e = exact_element(&x, 0);
        if (e.reason != rows[r].reason) fail_msg("%s: reason %d", rows[r].text, e.reason);
        if (e.reason == CUPEL_REASON_JUDGED &&
            (e.rounded != rows[r].expected || e.lo != e.hi || e.lo != e.rounded))
            fail_msg("%s: %g [%g, %g]", rows[r].text, e.rounded, e.lo, e.hi);
    }
    exact_end(&x);
}

static void outputs_of_every_supported_type(void **state) {
    (void)state;
    static const float a[2] = {0.1f, 70000};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "2", a);
    static const struct {
        cupel_dtype type;
        double first;
    } rows[] = {{CUPEL_F32, 0x1.99999ap-4},
                {CUPEL_F16, 0x1.998p-4},
                {CUPEL_BF16, 0x1.9ap-4},
                {CUPEL_I32, 0},
                {CUPEL_F64, 0x1.99999ap-4}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_build(&x, "a", rows[r].type, "2");
        assert_true(exact_element(&x, 0).rounded == rows[r].first);
    }
    exact_build(&x, "a", CUPEL_F16, "2");
    assert_true(exact_element(&x, 1).rounded == INFINITY);
    assert_int_equal(exact_element(&x, 1).classes & CUPEL_CLASS_MASK, CUPEL_CLASS_POS_INF);
    exact_build(&x, "cast(a, bool)", CUPEL_BOOL, "2");
    assert_true(exact_element(&x, 0).rounded == 1);
    exact_build(&x, "a", CUPEL_BOOL, "2"); /* 0.1 is true */
    assert_true(exact_element(&x, 0).rounded == 1);
    exact_end(&x);
}

static void signs_of_zeros(void **state) {
    (void)state;
    static const float a[2] = {-0.0f, 0};
    static const struct {
        const char *text;
        int flags; /* -1: not judged */
    } rows[] = {
        {"a[0]", CUPEL_ZERO_SIGN_FIXED | CUPEL_ZERO_SIGN_NEGATIVE},
        {"a[1]", CUPEL_ZERO_SIGN_FIXED},
        {"-a[1]", CUPEL_ZERO_SIGN_FIXED | CUPEL_ZERO_SIGN_NEGATIVE},
        {"a[0] * 2", CUPEL_ZERO_SIGN_FIXED | CUPEL_ZERO_SIGN_NEGATIVE},
        {"a[0] * -2", CUPEL_ZERO_SIGN_FIXED},
        {"a[0] / 3", CUPEL_ZERO_SIGN_FIXED | CUPEL_ZERO_SIGN_NEGATIVE},
        {"a[0] + a[0]", 0},
        {"sum(a)", 0},
        {"relu(a[0])", 0},
    };
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "2", a);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_build(&x, rows[r].text, CUPEL_F32, "");
        const cupel_exact_element e = exact_element(&x, 0);
        if ((e.classes & ~CUPEL_CLASS_MASK) != rows[r].flags)
            fail_msg("%s: classes %d", rows[r].text, e.classes);
    }
    exact_end(&x);
}

static void kept_elements_and_whole_outputs(void **state) {
    (void)state;
    static const float a[3] = {1, 2, 3};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "3", a);
    exact_build(&x, "where(a > 1.5, a * 2, keep)", CUPEL_F32, "3");
    cupel_allowed allowed;
    assert_int_equal(cupel_exact_output(x.session, 0, x.f.arena, &allowed, &x.f.err), CUPEL_OK);
    assert_int_equal(allowed.count, 3);
    assert_int_equal(allowed.judged, 3);
    assert_int_equal(allowed.classes[0] & CUPEL_KEEP, CUPEL_KEEP);
    assert_true(allowed.value[1] == 4 && allowed.lo[1] == 4 && allowed.hi[2] == 6);
    assert_int_equal(allowed.classes[1] & CUPEL_KEEP, 0);
    exact_build(&x, "where(a / 3 * 3 > 1, a, keep)", CUPEL_F32, "3");
    assert_int_equal(exact_element(&x, 0).reason, CUPEL_REASON_UNBOUNDED); /* kept or written: undecided */
    assert_int_equal(exact_element(&x, 1).reason, CUPEL_REASON_JUDGED);
    exact_end(&x);
}

static void empty_tensors(void **state) {
    (void)state;
    static const float nothing[1] = {0};
    static const struct {
        const char *text, *shape;
        int64_t count;
    } rows[] = {
        {"e + 1", "0,4", 0},
        {"sum(e, axis=1)", "0", 0},
        {"sum(e, axis=0)", "4", 4},
        {"softmax(e, axis=1)", "0,4", 0},
        {"matmul(transpose(e), e)", "4,4", 16},
        {"layer_norm(e)", "0,4", 0},
        {"cumsum(e, axis=0)", "0,4", 0},
        {"concat([e, full([1, 4], 2.0)])", "1,4", 4},
        {"flip(e, 0)", "0,4", 0},
        {"reshape(e, [4, 0])", "4,0", 0},
        {"pad(e, [0, 0, 1, 0])", "1,4", 4},
        {"amax(e, axis=1)", "0", 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "e", CUPEL_F32, "0,4", nothing);
        exact_build(&x, rows[r].text, CUPEL_F32, rows[r].shape);
        cupel_allowed allowed;
        assert_int_equal(cupel_exact_output(x.session, 0, x.f.arena, &allowed, &x.f.err), CUPEL_OK);
        assert_int_equal(allowed.count, rows[r].count);
        assert_int_equal(allowed.judged, rows[r].count);
        cupel_exact_element e;
        assert_int_equal(cupel_exact_element_of(x.session, 0, rows[r].count, &e, &x.f.err), CUPEL_RANGE);
        exact_end(&x);
    }
}

/* Sharing must keep the work linear: 60 squarings by defines would otherwise take 2^60 steps. */
static void shared_subexpressions_are_computed_once(void **state) {
    (void)state;
    static const float a[1] = {1};
    static char names[60][8], texts[60][24];
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "1", a);
    cupel_symbol_define defines[60];
    for (int i = 0; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "d%d", i);
        if (i)
            snprintf(texts[i], sizeof texts[i], "d%d / 2 + d%d / 2", i - 1, i - 1);
        else
            snprintf(texts[i], sizeof texts[i], "exp(a)");
        defines[i] = (cupel_symbol_define){names[i], fixture_parse(&x.f, texts[i])};
    }
    x.f.symbols.defines = defines;
    x.f.symbols.define_count = 60;
    exact_build(&x, "d59", CUPEL_F32, "1");
    const cupel_exact_element e = exact_element(&x, 0);
    assert_true(fabs(e.value - 2.718281828459045) < 1e-15);
    exact_end(&x);
}

/* Defines nest what one expression may not: the evaluator answers, on any stack of 8 MiB. */
static void deep_graphs_are_answered(void **state) {
    (void)state;
    static const float a[1] = {0.5f};
    for (int functions = 0; functions < 2; functions++) {
        exact_fixture x;
        exact_start(&x);
        exact_input(&x, "a", CUPEL_F32, "1", a);
        static char names[8][8], texts[8][2048];
        cupel_symbol_define defines[8];
        for (int i = 0; i < 8; i++) {
            snprintf(names[i], sizeof names[i], "d%d", i);
            texts[i][0] = '\0';
            for (int k = 0; k < (functions ? 110 : 80); k++)
                strcat(texts[i], functions ? "sigmoid(" : "-(0.1+");
            strcat(texts[i], i ? names[i - 1] : "a");
            for (int k = 0; k < (functions ? 110 : 80); k++) strcat(texts[i], ")");
            defines[i] = (cupel_symbol_define){names[i], fixture_parse(&x.f, texts[i])};
        }
        x.f.symbols.defines = defines;
        x.f.symbols.define_count = 8;
        if (fixture_try(&x.f, functions ? "d7" : "d3", CUPEL_F32, "1") == CUPEL_OK) {
            assert_int_equal(cupel_exact_open(x.f.graph, &x.bindings, &x.rules, &x.session, &x.f.err),
                             CUPEL_OK);
            cupel_exact_element e;
            const cupel_code code = cupel_exact_element_of(x.session, 0, 0, &e, &x.f.err);
            assert_int_equal(code, CUPEL_OK);
        }
        exact_end(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values_follow_pytorch),
        cmocka_unit_test(exact_operations_have_radius_zero),
        cmocka_unit_test(precision_grows_until_the_answer_rounds_one_way),
        cmocka_unit_test(steps_at_their_edge_are_open_but_covered),
        cmocka_unit_test(undecided_conditions_give_the_hull),
        cmocka_unit_test(integers),
        cmocka_unit_test(outputs_of_every_supported_type),
        cmocka_unit_test(signs_of_zeros),
        cmocka_unit_test(kept_elements_and_whole_outputs),
        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(shared_subexpressions_are_computed_once),
        cmocka_unit_test(deep_graphs_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
