/* What a graph refuses although it could be computed: numbers that no kernel can mean, gradients that are
 * none, intermediate results beyond what the tensors justify; and what stays allowed beside each. */
#include "graph_fixture.h"

static void start(fixture *f) {
    fixture_start(f);
    fixture_input(f, "x", CUPEL_F32, "3,4");
    fixture_input(f, "v", CUPEL_F32, "4");
    fixture_input(f, "k", CUPEL_I32, "3,4");
    fixture_input(f, "s", CUPEL_F32, "");
    fixture_number(f, "P", true, -2.5);
}

typedef struct refusal {
    const char *text;
    int column; /* where the error points */
    const char *message;
} refusal;

static void refused(const refusal *rows, size_t count) {
    for (size_t r = 0; r < count; r++) {
        fixture f;
        start(&f);
        if (fixture_try(&f, rows[r].text, CUPEL_F32, "3,4") == CUPEL_OK) fail_msg("%s passes", rows[r].text);
        if (!strstr(f.err.text, rows[r].message)) fail_msg("%s: %s", rows[r].text, f.err.text);
        if (f.err.column != rows[r].column) fail_msg("%s: column %d", rows[r].text, f.err.column);
        fixture_end(&f);
    }
}

static void accepted(const char *const *texts, size_t count, const char *shape) {
    for (size_t i = 0; i < count; i++) {
        fixture f;
        start(&f);
        if (fixture_try(&f, texts[i], CUPEL_F32, shape) != CUPEL_OK) fail_msg("%s: %s", texts[i], f.err.text);
        fixture_end(&f);
    }
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- numbers ---- */

static void numbers_without_a_meaning(void **state) {
    (void)state;
    static const refusal rows[] = {
        {"quantize(x, nan, i8)", 13, "expected a finite number above 0 as scale of quantize, found nan"},
        {"quantize(x, -1, i8)", 13, "above 0 as scale of quantize, found -1"},
        {"quantize(x, 0, i8)", 13, "above 0 as scale of quantize, found 0"},
        {"quantize(x, 1, i8, zero_point=1.5)", 31,
         "expected an integer as zero_point of quantize, found 1.5"},
        {"quantize(x, 1, i8, 1000000)", 20, "expected a zero_point in -128..127, found 1000000"},
        {"quantize(x, 1, u8, -1)", 20, "expected a zero_point in 0..255, found -1"},
        {"quantize(x, 1, e4m3, 1)", 22, "expected no zero_point beside the floating type e4m3"},
        {"quantize(x, 1, e4m3, k)", 22, "expected no zero_point"},
        {"quantize(x, 1, f32)", 16, "or an integer type of at most 32 bits, found f32"},
        {"quantize(x, 1, f64)", 16, "or an integer type of at most 32 bits, found f64"},
        {"dequantize(k, inf)", 15, "above 0 as scale of dequantize, found inf"},
        {"dequantize(k, 1, 0.5)", 18, "expected an integer as zero_point of dequantize, found 0.5"},
        {"layer_norm(x, eps=nan)", 19,
         "expected a finite number of at least 0 as eps of layer_norm, found nan"},
        {"layer_norm(x, eps=-1)", 19, "as eps of layer_norm, found -1"},
        {"rms_norm(x, eps=inf)", 17, "as eps of rms_norm, found inf"},
        {"l2_normalize(x, -1e-3)", 17, "as eps of l2_normalize, found -1e-3"},
        {"group_norm(x, 2, eps=-1)", 22, "as eps of group_norm"},
        {"attention(x, x, x, scale=nan)", 26, "expected a finite number as scale of attention, found nan"},
        {"attention(x, x, x, scale=inf)", 26, "found inf"},
        {"attention(x, x, x, causal=2)", 27, "expected true or false in attention("},
        {"where(dropout_mask(1, 1.5), x, 0)", 23,
         "expected a probability, 0..1, as p of dropout_mask, found 1.5"},
        {"where(dropout_mask(1, -1), x, 0)", 23, "found -1"},
        {"where(dropout_mask(1, nan), x, 0)", 23, "found nan"},
        {"dropout_mask(17, 0.5, [3000000000, 3000000000, 3000000000])", 23,
         "at most 2^40 elements, found the shape [3000000000, 3000000000, 3000000000]"},
        {"argsort(x, descending=3)", 23, "expected true or false in argsort("},
        {"sum(x, keepdim=-1)", 16, "expected true or false in sum("},
        {"norm(x, nan)", 9, "as p of norm, found nan"},
        {"elu(x, inf)", 8, "as alpha of elu, found inf"},
        {"celu(x, 0)", 9, "other than 0 as alpha of celu, found 0"},
        {"softplus(x, 0)", 13, "other than 0 as beta of softplus, found 0"},
        {"hardtanh(x, 1, -1)", 1, "expected min_val to be at most max_val in hardtanh, found 1 and -1"},
        {"softshrink(x, -1)", 15, "at least 0 as lambd of softshrink, found -1"},
        {"smooth_l1_loss(x, x, beta=-1)", 27, "at least 0 as beta of smooth_l1_loss, found -1"},
        {"huber_loss(x, x, delta=0)", 24, "above 0 as delta of huber_loss, found 0"},
        {"max_pool1d(x, 3, padding=9223372036854775807)", 26,
         "at least 0 and at most 2^40 as padding of max_pool1d, found [9223372036854775807]"},
        {"pad(x, [9223372036854775807, 0])", 8,
         "at most 2^40 that leave an extent of at least 0, found [9223"},
        {"einsum('ij->ijk', x)", 8, "found 'k' in no operand"},
        {"einsum('ij,ij->jj', x, x)", 8, "found 'j' again"},
        {"min(x, 1)", 5, "expected an integer (min), found a tensor; did you mean 'minimum'?"},
        {"max(1, v)", 8, "did you mean 'maximum'?"},
    };
    refused(rows, COUNT(rows));
}

/* Parameters have ranges of their own, tensors hold what they hold, and some infinities are answers. */
static void numbers_with_a_meaning(void **state) {
    (void)state;
    static const char *const texts[] = {
        "quantize(x, P, i8)",           "quantize(x, s, i8)",
        "quantize(x, 1, i8, -128)",     "quantize(x, 1, bf16)",
        "layer_norm(x, eps=0)",         "layer_norm(x, eps=P)",
        "attention(x, x, x, scale=-1)", "clamp(x, nan, inf)",
        "pad(x, [0, 0], value=nan)",    "where(dropout_mask(1, 1), x, 0)",
        "sort(x, descending=1)",        "hardtanh(x, 1, 1)",
        "softplus(x, threshold=inf)",   "x + norm(x, p=-inf)",
        "x + full([3, 4], inf)",
    };
    accepted(texts, COUNT(texts), "3,4");
}

/* ---- gradients ---- */

static void gradients_that_are_none(void **state) {
    (void)state;
    static const refusal rows[] = {
        {"vjp(argmax(x, axis=0), x, v)", 5, "to differentiate, found one of integers: it has no gradient"},
        {"vjp(argsort(x), x, x)", 5, "found one of integers"},
        {"vjp(quantize(x, 1, i8), x, x)", 5, "found one of integers"},
        {"vjp(cast(x, i32), x, x)", 5, "found one of integers"},
        {"vjp(x > 0, x, x)", 5, "found one of booleans"},
        {"vjp(x * x, x, v)", 15, "expected a cotangent of the shape [3, 4] of the expression, found [4]"},
        {"vjp(x * x, x, 1)", 15, "expected a cotangent of the shape [3, 4] of the expression, found []"},
        {"vjp(sum(x, axis=0), x, x)", 24, "the shape [4] of the expression, found [3, 4]"},
    };
    refused(rows, COUNT(rows));
}

/* Steps have the derivative 0, an index has none, one number is one number whatever its rank. */
static void gradients_that_are_some(void **state) {
    (void)state;
    static const char *const texts[] = {
        "vjp(x + round(x), x, x)", "vjp(gather(x, 0, argsort(x, axis=0)), x, x)",
        "vjp(cast(x, f16), x, x)", "vjp(sum(x), x, 1)",
        "vjp(sum(x), x, v[:1])",   "vjp(x * cast(quantize(x, 1, i8), f32), x, x)",
    };
    accepted(texts, COUNT(texts), "3,4");
}

/* ---- sizes ---- */

static void results_that_are_too_large(void **state) {
    (void)state;
    static const refusal rows[] = {
        {"x + sum(full([1000000, 1000000], 1))", 5, "expected intermediate results of at most"},
        {"x + sum(arange(10**12))", 9, "found 1000000000000"},
        {"x + sum(arange(400000000))", 9, "of at most 33557056 elements beside tensors of 41 in all"},
        {"x + sum(pad(v, [10**9, 10**9]))", 9, "found 2000000004"},
        {"x + sum(matmul(full([1, 2**36], 1.0), full([2**36, 1], 1.0)))", 16, "found 68719476736"},
    };
    refused(rows, COUNT(rows));
}

static void results_that_fit(void **state) {
    (void)state;
    static const char *const texts[] = {
        "x + sum(arange(2**25))",
        "x + sum(matmul(full([1, 2**30], 1.0), full([2**30, 1], 1.0)))", /* read where they lie */
    };
    accepted(texts, COUNT(texts), "3,4");
    /* scores of 2^26 for tensors of 2^21 */
    fixture f;
    fixture_start(&f);
    fixture_input(&f, "q", CUPEL_F32, "4,4096,32");
    assert_int_equal(fixture_try(&f, "attention(q, q, q)", CUPEL_F32, "4,4096,32"), CUPEL_OK);
    fixture_end(&f);
}

/* A gradient of a gradient of a .. has twice the operations each time: the sixteenth is refused for what it
 * is. */
static void nested_gradients_end(void **state) {
    (void)state;
    char text[1024] = "x";
    for (int i = 0; i < 16; i++) {
        char next[1024];
        snprintf(next, sizeof next, "vjp(%s * x, x, x)", text);
        memcpy(text, next, sizeof text);
    }
    fixture f;
    start(&f);
    assert_int_equal(fixture_try(&f, text, CUPEL_F32, "3,4"), CUPEL_RANGE);
    assert_non_null(strstr(f.err.text, "expected at most 20000 operations in a postcondition"));
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_without_a_meaning),  cmocka_unit_test(numbers_with_a_meaning),
        cmocka_unit_test(gradients_that_are_none),    cmocka_unit_test(gradients_that_are_some),
        cmocka_unit_test(results_that_are_too_large), cmocka_unit_test(results_that_fit),
        cmocka_unit_test(nested_gradients_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
