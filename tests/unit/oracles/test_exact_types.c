/* Outputs of the types that doubles or nearest rounding do not exhaust: 64-bit integers, the wrap rules of
 * narrow ones, fp8 beyond its largest number, tf32, bool. */
#include "allowed.h"
#include "exact_fixture.h"

#include <inttypes.h>

typedef struct integer_row {
    const char *text;
    cupel_dtype type;
    uint64_t expected;
    int reason;
} integer_row;

#define OPEN CUPEL_REASON_CONVENTION

static void check(exact_fixture *x, const integer_row *row) {
    exact_build(x, row->text, row->type, "");
    const cupel_exact_element e = exact_element(x, 0);
    if (e.reason != row->reason) fail_msg("%s: reason %d", row->text, e.reason);
    if (e.reason != CUPEL_REASON_JUDGED) return;
    const bool wide = row->type == CUPEL_I64 || row->type == CUPEL_U64;
    uint64_t lo = e.least, hi = e.most;
    if (!wide) lo = (uint64_t)(int64_t)e.lo, hi = (uint64_t)(int64_t)e.hi;
    if (lo != row->expected || hi != row->expected)
        fail_msg("%s: [%" PRId64 ", %" PRId64 "], expected %" PRId64, row->text, (int64_t)lo, (int64_t)hi,
                 (int64_t)row->expected);
}

static const int64_t big[4] = {INT64_C(9007199254740993), INT64_MAX, INT64_MIN, -1};
static const uint64_t natural[4] = {UINT64_MAX, UINT64_C(9223372036854775809), 7, 3};
static const int32_t words[2] = {2000000000, -7};
static const uint32_t counts[2] = {4000000000u, 5};
static const uint16_t shorts[2] = {65535, 1};
static const uint8_t bytes[2] = {200, 100};
static const int8_t chars[2] = {100, -128};

static void start(exact_fixture *x) {
    exact_start(x);
    exact_input(x, "b", CUPEL_I64, "4", big);
    exact_input(x, "n", CUPEL_U64, "4", natural);
    exact_input(x, "i", CUPEL_I32, "2", words);
    exact_input(x, "u", CUPEL_U32, "2", counts);
    exact_input(x, "h", CUPEL_U16, "2", shorts);
    exact_input(x, "y", CUPEL_U8, "2", bytes);
    exact_input(x, "c", CUPEL_I8, "2", chars);
}

static void integers_of_64_bits_are_exact(void **state) {
    (void)state;
    static const integer_row rows[] = {
        {"b[0]", CUPEL_I64, UINT64_C(9007199254740993), 0},
        {"b[0] * 1000 + 1", CUPEL_I64, UINT64_C(9007199254740993001), 0},
        {"b[0] * 1025", CUPEL_I64, 0, OPEN}, /* beyond 2^63 */
        {"b[1]", CUPEL_I64, INT64_MAX, 0},
        {"b[1] + 1", CUPEL_I64, 0, OPEN},
        {"b[2]", CUPEL_I64, (uint64_t)INT64_MIN, 0},
        {"-b[2]", CUPEL_I64, 0, OPEN},
        {"abs(b[2] + 1)", CUPEL_I64, INT64_MAX, 0},
        {"sum(b)", CUPEL_I64, UINT64_C(9007199254740991), 0}, /* partial sums may wrap and come back */
        {"b[1] ^ b[0]", CUPEL_I64, (uint64_t)(INT64_MAX ^ INT64_C(9007199254740993)), 0},
        {"b[2] >> 62", CUPEL_I64, (uint64_t)-2, 0},
        {"b[0] << 9", CUPEL_I64, UINT64_C(9007199254740993) << 9, 0},
        {"b[0] << 10", CUPEL_I64, 0, OPEN},
        {"b[0] << 64", CUPEL_I64, 0, OPEN},
        {"b[1] % 1000000007", CUPEL_I64, INT64_MAX % 1000000007, 0},
        {"b[3] % 10", CUPEL_I64, 9, 0},
        {"maximum(b[0], b[0] - 1)", CUPEL_I64, UINT64_C(9007199254740993), 0},
        {"max_pool1d(unsqueeze(b[2:3], 0), 3, 1, 1)[0, 0]", CUPEL_I64, (uint64_t)INT64_MIN,
         0}, /* padding is less */
        {"max_pool1d(unsqueeze(n[2:3], 0), 3, 1, 1)[0, 0]", CUPEL_U64, 7, 0},
        {"max_pool1d(unsqueeze(c[1:], 0), 3, 1, 1)[0, 0]", CUPEL_I8, (uint64_t)-128, 0},
        {"max_pool1d(unsqueeze(y[1:], 0), 3, 1, 1)[0, 0]", CUPEL_U8, 100, 0},
        {"max_pool1d(unsqueeze(y[1:] > 200, 0), 3, 1, 1)[0, 0]", CUPEL_I32, 0, 0},
        {"amin(b[:2])", CUPEL_I64, UINT64_C(9007199254740993), 0},
        {"argmax(b[0] - arange(3))", CUPEL_I64, 0, 0}, /* neighbours that doubles do not tell apart */
        {"argmin(b[0] - arange(3))", CUPEL_I64, 2, 0},
        {"where(b[0] == b[0] - 1, 1, 2)", CUPEL_I64, 2, 0},
        {"where(b[0] - 1 < b[0], 1, 2)", CUPEL_I32, 1, 0},
        {"cumsum(concat([b[:1], b[:1]]), 0)[1]", CUPEL_I64, UINT64_C(18014398509481986), 0},
        {"prod(b[:1]) * 3", CUPEL_I64, UINT64_C(27021597764222979), 0},
        {"~b[1]", CUPEL_I64, (uint64_t)INT64_MIN, 0},
        {"b[0] & 255", CUPEL_I32, 1, 0},
        {"cast(9007199254740993, i64)", CUPEL_I64, UINT64_C(9007199254740993), 0},
        {"n[0]", CUPEL_U64, UINT64_MAX, 0},
        {"n[1] - 1", CUPEL_U64, UINT64_C(9223372036854775808), 0},
        {"n[0] + 1", CUPEL_U64, 0, OPEN},
        {"n[3] - n[2]", CUPEL_U64, 0, OPEN}, /* wraps */
        {"n[0] >> 1", CUPEL_U64, INT64_MAX, 0},
        {"n[0] ^ n[1]", CUPEL_U64, UINT64_C(9223372036854775806), 0},
        {"~n[2]", CUPEL_U64, ~UINT64_C(7), 0},
        {"n[0] % n[2]", CUPEL_U64, UINT64_MAX % 7, 0},
        {"where(n[0] > b[3], 1, 2)", CUPEL_I32, 0, OPEN}, /* C makes -1 the largest of all */
        {"n[0]", CUPEL_I64, 0, OPEN},
    };
    exact_fixture x;
    start(&x);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) check(&x, &rows[r]);
    exact_end(&x);
}

static void what_leaves_its_own_type_is_open(void **state) {
    (void)state;
    static const integer_row rows[] = {
        {"y[0] + y[1]", CUPEL_I32, 0, OPEN},           /* 300 is 44 to PyTorch, 300 to C */
        {"cast(y[0], i32) + y[1]", CUPEL_I32, 300, 0}, /* stated */
        {"y[1] - y[0]", CUPEL_I32, 0, OPEN},           /* wraps */
        {"y[0] - y[1]", CUPEL_U8, 100, 0},
        {"c[0] + c[0]", CUPEL_I32, 0, OPEN},
        {"-c[1]", CUPEL_I32, 0, OPEN},
        {"abs(c[0])", CUPEL_I8, 100, 0},
        {"y[0] + c[0]", CUPEL_I32, 300, 0}, /* i16 */
        {"h[0] + h[1]", CUPEL_I32, 0, OPEN},
        {"h[0] + c[0]", CUPEL_I32, 65635, 0}, /* i32 */
        {"u[0] + u[1]", CUPEL_U32, 4000000005u, 0},
        {"u[0] + u[0]", CUPEL_U64, 0, OPEN},
        {"u[0] + i[1]", CUPEL_I64, 3999999993u, 0}, /* as C and as NumPy */
        {"u[1] + i[1]", CUPEL_I64, 0, OPEN},        /* -2 to NumPy, 4294967294 to C */
        {"where(u[1] > i[1], 1, 2)", CUPEL_I32, 0, OPEN},
        {"where(u[1] > -1, 1, 2)", CUPEL_I32, 0, OPEN},
        {"where(y[0] > -1, 1, 2)", CUPEL_I32, 1, 0}, /* int to both */
        {"sum(y)", CUPEL_I32, 300, 0},               /* 64 bits */
        {"sum(concat([i[:1], i[:1]]))", CUPEL_I64, 4000000000u, 0},
        {"matmul(cast(c, i32), c)", CUPEL_I32, 26384, 0},
        {"matmul(c, c)", CUPEL_I32, 26384, 0}, /* accumulates in 32 bits */
        {"matmul(c, c)", CUPEL_I8, 0, OPEN},
        {"~y[0]", CUPEL_U8, 55, 0},
        {"~c[0]", CUPEL_I8, (uint64_t)-101, 0},
        {"y[0] << 1", CUPEL_I32, 0, OPEN},
        {"y[0] >> 3", CUPEL_U8, 25, 0},
        {"i[0] >> 32", CUPEL_I32, 0, OPEN},
        {"clamp(round(cast(c[0], f32) * 1.5), -128, 127)", CUPEL_I8, 127, 0},
        {"cast(c[0], f32) * 1.5", CUPEL_I8, 0, OPEN},
        {"cast(c[1], f32) / 3", CUPEL_I8, (uint64_t)-42, 0}, /* truncated */
        {"sum(y > 150)", CUPEL_I64, 1, 0},
        {"(y[0] > 150) + (y[1] > 50)", CUPEL_I32, 2, 0},
    };
    exact_fixture x;
    start(&x);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) check(&x, &rows[r]);
    exact_end(&x);
}

/* What fp64 left open is filled in, the rest is as it was. */
static void the_filter_is_completed(void **state) {
    (void)state;
    exact_fixture x;
    start(&x);
    exact_build(&x, "b - 1", CUPEL_I64, "4");
    cupel_allowed allowed;
    assert_int_equal(cupel_oracle_bounded(x.f.graph, &x.bindings, &x.rules, x.f.arena, &allowed, &x.f.err),
                     CUPEL_OK);
    assert_int_equal(allowed.by_reason[CUPEL_REASON_UNABLE], 3);
    assert_int_equal(cupel_exact_complete(x.session, 0, 100, &allowed, &x.f.err), CUPEL_OK);
    assert_int_equal(allowed.by_reason[CUPEL_REASON_UNABLE], 0);
    assert_int_equal(allowed.by_reason[CUPEL_REASON_CONVENTION], 1); /* INT64_MIN - 1 */
    static const int64_t right[4] = {INT64_C(9007199254740992), INT64_MAX - 1, 0, -2};
    static const int64_t wrong[4] = {INT64_C(9007199254740993), INT64_MAX, 1, -3};
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(cupel_judge_element(&allowed, i, &right[i]),
                         i == 2 ? CUPEL_NOT_JUDGED : CUPEL_ALLOWED);
        if (i == 2) continue;
        assert_int_equal(cupel_judge_element(&allowed, i, &wrong[i]), CUPEL_WRONG_VALUE);
        assert_true(cupel_judge_ratio(&allowed, i, &right[i]) == 0);
        assert_true(isinf(cupel_judge_ratio(&allowed, i, &wrong[i])));
    }
    exact_end(&x);
}

/* Which of the 256 codes may stand for an element of x, by both evaluators. */
static void allowed_codes(exact_fixture *x, const char *text, cupel_dtype type, int64_t index, bool *may) {
    cupel_allowed both[2];
    exact_build(x, text, type, "6");
    assert_int_equal(
        cupel_oracle_bounded(x->f.graph, &x->bindings, &x->rules, x->f.arena, &both[0], &x->f.err), CUPEL_OK);
    assert_int_equal(cupel_exact_output(x->session, 0, x->f.arena, &both[1], &x->f.err), CUPEL_OK);
    for (int code = 0; code < 256; code++) {
        const unsigned char element = (unsigned char)code;
        may[code] = cupel_judge_element(&both[1], index, &element) == CUPEL_ALLOWED;
        if (may[code] != (cupel_judge_element(&both[0], index, &element) == CUPEL_ALLOWED))
            fail_msg("%s[%d]: evaluators differ on code %02x", text, (int)index, code);
    }
}

/* OCP 8-bit Floating Point Specification 1.0, table 2 for the conversions' modes. */
static void fp8_may_saturate_or_not(void **state) {
    (void)state;
    static const float a[6] = {464, 465, -1e9f, INFINITY, NAN, 1e9f};
    static const struct {
        cupel_dtype type;
        int index;
        unsigned char codes[3];
        int count;
    } rows[] = {
        {CUPEL_E4M3, 0, {0x7e}, 1}, /* a tie, to 448 */
        {CUPEL_E4M3, 1, {0x7e, 0x7f, 0xff}, 3},
        {CUPEL_E4M3, 2, {0xfe, 0x7f, 0xff}, 3},
        {CUPEL_E4M3, 3, {0x7e, 0x7f, 0xff}, 3},
        {CUPEL_E4M3, 4, {0x7f, 0xff}, 2},
        {CUPEL_E5M2, 2, {0xfb, 0xfc}, 2},
        {CUPEL_E5M2, 3, {0x7b, 0x7c}, 2},
        {CUPEL_E5M2, 5, {0x7b, 0x7c}, 2},
    };
    static const char *const texts[] = {"a", "cast(a, %s)"};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "6", a);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t t = 0; t < 2; t++) { /* as the output's own conversion, and stated before it */
            char text[64];
            snprintf(text, sizeof text, texts[t], cupel_format_of(rows[r].type)->name);
            bool may[256], wanted[256] = {false};
            allowed_codes(&x, text, rows[r].type, rows[r].index, may);
            for (int k = 0; k < rows[r].count; k++) wanted[rows[r].codes[k]] = true;
            for (int code = 0; code < 256; code++)
                if (may[code] != wanted[code])
                    fail_msg("%s of %g: code %02x is %sallowed", text, (double)a[rows[r].index], code,
                             may[code] ? "" : "not ");
        }
    exact_end(&x);
}

/* Behind a conversion the value is the saturated one: dequantised values are judged. */
static void conversions_inside_an_expression_are_judged(void **state) {
    (void)state;
    static const float a[6] = {1000, 1.03125f, 1e-9f, -500, 3, 448};
    static const float right[6] = {896, 2, 0, -896, 6, 896};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "6", a);
    exact_build(&x, "cast(a, e4m3) * 2", CUPEL_F32, "6");
    cupel_allowed allowed;
    assert_int_equal(cupel_exact_output(x.session, 0, x.f.arena, &allowed, &x.f.err), CUPEL_OK);
    assert_int_equal(allowed.judged, 6);
    for (int64_t i = 0; i < 6; i++) {
        const float off = right[i] + 0.25f;
        assert_int_equal(cupel_judge_element(&allowed, i, &right[i]), CUPEL_ALLOWED);
        assert_int_equal(cupel_judge_element(&allowed, i, &off), CUPEL_WRONG_VALUE);
    }
    exact_end(&x);
}

/* A result in tf32 is read with its low 13 bits ignored; rounded up, down, or not at all. */
static void tf32_takes_either_neighbour(void **state) {
    (void)state;
    static const float a[2] = {1 + 0x1p-12f, -3};
    const float allowed_values[] = {1, 1 + 0x1p-12f, 1 + 0x1p-10f, 1 + 0x1.8p-11f};
    const float wrong_values[] = {1 - 0x1p-12f, 1 + 0x1p-9f};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "2", a);
    exact_build(&x, "a", CUPEL_TF32, "2");
    cupel_allowed both[2];
    assert_int_equal(cupel_oracle_bounded(x.f.graph, &x.bindings, &x.rules, x.f.arena, &both[0], &x.f.err),
                     CUPEL_OK);
    assert_int_equal(cupel_exact_output(x.session, 0, x.f.arena, &both[1], &x.f.err), CUPEL_OK);
    for (int b = 0; b < 2; b++) {
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(cupel_judge_element(&both[b], 0, &allowed_values[k]), CUPEL_ALLOWED);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(cupel_judge_element(&both[b], 0, &wrong_values[k]), CUPEL_WRONG_VALUE);
        assert_int_equal(cupel_judge_element(&both[b], 1, &a[1]), CUPEL_ALLOWED);
    }
    exact_end(&x);
}

/* A C++ bool is 0 or 1. */
static void a_bool_is_one_of_two_bytes(void **state) {
    (void)state;
    static const float a[2] = {1, -1};
    exact_fixture x;
    exact_start(&x);
    exact_input(&x, "a", CUPEL_F32, "2", a);
    exact_build(&x, "a > 0", CUPEL_BOOL, "2");
    cupel_allowed allowed;
    assert_int_equal(cupel_exact_output(x.session, 0, x.f.arena, &allowed, &x.f.err), CUPEL_OK);
    for (int byte = 0; byte < 256; byte++) {
        const unsigned char element = (unsigned char)byte;
        assert_int_equal(cupel_judge_element(&allowed, 0, &element),
                         byte == 1 ? CUPEL_ALLOWED : CUPEL_WRONG_VALUE);
        assert_int_equal(cupel_judge_element(&allowed, 1, &element),
                         byte == 0 ? CUPEL_ALLOWED : CUPEL_WRONG_VALUE);
    }
    exact_end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_64_bits_are_exact),
        cmocka_unit_test(what_leaves_its_own_type_is_open),
        cmocka_unit_test(the_filter_is_completed),
        cmocka_unit_test(fp8_may_saturate_or_not),
        cmocka_unit_test(conversions_inside_an_expression_are_judged),
        cmocka_unit_test(tf32_takes_either_neighbour),
        cmocka_unit_test(a_bool_is_one_of_two_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
