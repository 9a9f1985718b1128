/* Convolutions and their transposes on random shapes against plain nested loops, in both evaluators: small
 * integers must come out exactly, special values in the right classes, and padding that meets a weight that
 * is not finite must be excluded. And what is refused. */
#include "classes.h"
#include "exact_fixture.h"
#include "philox.h"

#include <math.h>

enum { D = 3, LIMIT = 20000 };

/* Three spatial axes always; those that an expression lacks have extent 1. */
typedef struct conv_case {
    int axes;
    bool transposed, bias;
    int64_t n, groups, in, out; /* channels a group */
    int64_t size[D], kernel[D], stride[D], padding[D], dilation[D], extra[D], result[D];
} conv_case;

static int64_t between(cupel_random *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)cupel_random_below(r, (uint64_t)(hi - lo + 1));
}

static bool draw(cupel_random *r, conv_case *c) {
    *c = (conv_case){
        .axes = (int)between(r, 1, D), .transposed = between(r, 0, 2) == 0, .bias = between(r, 0, 1)};
    c->n = between(r, 0, 3), c->groups = between(r, 1, 3), c->in = between(r, 1, 3),
    c->out = between(r, 1, 3);
    for (int i = 0; i < D; i++) {
        const bool there = i < c->axes;
        c->size[i] = there ? between(r, 1, 6) : 1;
        c->kernel[i] = there ? between(r, 1, 3) : 1;
        c->stride[i] = there ? between(r, 1, 3) : 1;
        c->dilation[i] = there ? between(r, 1, 2) : 1;
        c->padding[i] = there ? between(r, 0, 2) : 0;
        c->extra[i] = there && c->stride[i] > 1 ? between(r, 0, c->stride[i] - 1) : 0;
        const int64_t reach = c->dilation[i] * (c->kernel[i] - 1);
        const int64_t room = c->size[i] + 2 * c->padding[i] - reach - 1;
        c->result[i] = c->transposed
                           ? (c->size[i] - 1) * c->stride[i] - 2 * c->padding[i] + reach + c->extra[i] + 1
                       : room < 0 ? 0
                                  : room / c->stride[i] + 1;
        if (c->result[i] < 1) return false;
    }
    return true;
}

static int64_t volume(const int64_t *a) {
    return a[0] * a[1] * a[2];
}

/* The offset in x's axes of what output position `at` multiplies tap `tap` by; -1: padding, or a zero
 * between. */
static int64_t source_of(const conv_case *c, const int64_t *at, const int64_t *tap) {
    int64_t offset = 0;
    for (int i = 0; i < D; i++) {
        int64_t s = c->transposed ? at[i] + c->padding[i] - tap[i] * c->dilation[i]
                                  : at[i] * c->stride[i] - c->padding[i] + tap[i] * c->dilation[i];
        if (c->transposed && (s < 0 || s % c->stride[i])) return -1;
        if (c->transposed) s /= c->stride[i];
        if (s < 0 || s >= c->size[i]) return -1;
        offset = offset * c->size[i] + s;
    }
    return offset;
}

static void unravel(int64_t index, const int64_t *shape, int64_t *at) {
    for (int i = D; i-- > 0;) at[i] = index % shape[i], index /= shape[i];
}

/* Two kernels: one leaves padding out, one multiplies by it. touched: padding met a weight that is not
 * finite. */
static void reference(const conv_case *c, const float *x, const float *w, const float *bias, int64_t index,
                      double *skips, double *multiplies, bool *touched) {
    const int64_t plane = volume(c->result), channels = c->groups * c->out, taps = volume(c->kernel);
    const int64_t n = index / plane / channels, o = index / plane % channels, group = o / c->out;
    int64_t at[D], tap[D];
    unravel(index % plane, c->result, at);
    *skips = *multiplies = c->bias ? (double)bias[o] : 0;
    *touched = false;
    for (int64_t k = 0; k < c->in; k++) {
        for (int64_t t = 0; t < taps; t++) {
            unravel(t, c->kernel, tap);
            const int64_t channel = group * c->in + k;
            const double weight = (double)(c->transposed ? w[(channel * c->out + o % c->out) * taps + t]
                                                         : w[(o * c->in + k) * taps + t]);
            const int64_t source = source_of(c, at, tap);
            if (source < 0) {
                *touched |= !isfinite(weight);
                *multiplies += weight * 0;
                continue;
            }
            const double term =
                weight * (double)x[(n * c->groups * c->in + channel) * volume(c->size) + source];
            *skips += term;
            *multiplies += term;
        }
    }
}

static void list(char *text, size_t size, const char *name, const int64_t *values, int axes) {
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, ", %s=[", name);
    for (int i = 0; i < axes; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)values[i]);
    snprintf(text + used, size - used, "]");
}

static const char *shape_text(char *text, size_t size, int64_t first, int64_t second, const int64_t *rest,
                              int axes) {
    size_t used = (size_t)snprintf(text, size, "%lld,%lld", (long long)first, (long long)second);
    for (int i = 0; i < axes; i++)
        used += (size_t)snprintf(text + used, size - used, ",%lld", (long long)rest[i]);
    return text;
}

static void fill(cupel_random *r, float *x, int64_t n, int specials) {
    static const float odd[] = {INFINITY, -INFINITY, NAN, 0};
    for (int64_t i = 0; i < n; i++)
        x[i] = specials && between(r, 0, 40) < specials ? odd[between(r, 0, 3)] : (float)between(r, -4, 4);
}

/* What one element may be, against both kernels. */
static void check(const char *text, int64_t i, uint8_t reason, uint8_t classes, double value, double radius,
                  const double *kernels, bool touched) {
    if ((reason == CUPEL_REASON_EXCLUDED) != touched)
        fail_msg("%s [%d]: reason %d, touched %d", text, (int)i, reason, touched);
    if (touched) return;
    for (int k = 0; k < 2; k++) {
        if (reason != CUPEL_REASON_JUDGED || !(classes & cupel_class_of(kernels[k])))
            fail_msg("%s [%d]: reason %d, classes %d, kernel gives %g", text, (int)i, reason, classes,
                     kernels[k]);
        if (isfinite(kernels[k]) && (value != kernels[k] || radius != 0))
            fail_msg("%s [%d]: %g +- %g, kernel gives %g", text, (int)i, value, radius, kernels[k]);
    }
}

static void run_case(cupel_random *r, const conv_case *c) {
    static float x[LIMIT], w[LIMIT], bias[16];
    char text[400], shapes[3][64];
    const int64_t in = c->groups * c->in, out = c->groups * c->out, first = c->transposed ? in : out;
    const int64_t second = c->transposed ? c->out : c->in;
    const int specials = (int)between(r, 0, 2);
    fill(r, x, c->n * in * volume(c->size), specials);
    fill(r, w, first * second * volume(c->kernel), specials ? (int)between(r, 0, 2) : 0);
    fill(r, bias, out, 0);
    snprintf(text, sizeof text, "conv%s%dd(x, w%s, groups=%lld", c->transposed ? "_transpose" : "", c->axes,
             c->bias ? ", b" : "", (long long)c->groups);
    list(text, sizeof text, "stride", c->stride, c->axes);
    list(text, sizeof text, "padding", c->padding, c->axes);
    list(text, sizeof text, "dilation", c->dilation, c->axes);
    if (c->transposed) list(text, sizeof text, "output_padding", c->extra, c->axes);
    strcat(text, ")");
    exact_fixture f;
    exact_start(&f);
    exact_input(&f, "x", CUPEL_F32, shape_text(shapes[0], 64, c->n, in, c->size, c->axes), x);
    exact_input(&f, "w", CUPEL_F32, shape_text(shapes[1], 64, first, second, c->kernel, c->axes), w);
    snprintf(shapes[2], 64, "%lld", (long long)out);
    exact_input(&f, "b", CUPEL_F32, shapes[2], bias);
    char result[64];
    exact_build(&f, text, CUPEL_F32, shape_text(result, 64, c->n, out, c->result, c->axes));
    cupel_allowed bounded;
    assert_int_equal(cupel_oracle_bounded(f.f.graph, &f.bindings, &f.rules, f.f.arena, &bounded, &f.f.err),
                     CUPEL_OK);
    for (int64_t i = 0; i < bounded.count; i++) {
        double kernels[2];
        bool touched;
        reference(c, x, w, bias, i, &kernels[0], &kernels[1], &touched);
        check(text, i, bounded.reasons[i], bounded.classes[i], bounded.value[i], bounded.radius[i], kernels,
              touched);
        if (bounded.count > 40 && between(r, 0, 9)) continue;
        const cupel_exact_element e = exact_element(&f, i);
        check(text, i, e.reason, e.classes, e.value, e.radius, kernels, touched);
    }
    exact_end(&f);
}

static void convolutions_agree_with_nested_loops(void **state) {
    (void)state;
    const char *given = getenv("CUPEL_PROPERTY_CASES");
    const long cases = given ? strtol(given, NULL, 10) : 300;
    cupel_random r = cupel_random_start(5, 0);
    for (long k = 0; k < cases;) {
        conv_case c;
        if (!draw(&r, &c)) continue;
        run_case(&r, &c);
        k++;
    }
}

/* ---- what is refused ---- */

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"conv2d(v, w)", "expected x of shape [N, C, H, W] or [C, H, W] in conv2d, found [4]"},
        {"conv2d(x, v)", "expected a weight of shape [out, in / groups, ..] and 2 kernel extents for 4 "
                         "channels in 1 group, found [4]"},
        {"conv2d(x, w, groups=3)", "for 4 channels in 3 groups, found [6, 4, 3, 2]"},
        {"conv2d(x, w, groups=0)", "expected at least 1 group, found 0"},
        {"conv2d(x, w, v)", "expected a bias of shape [6], found [4]"},
        {"conv2d(x, w, stride=0)", "expected an integer of at least 1 and at most 2^40 as stride of conv2d, "
                                   "or a list of one for each axis, found [0]"},
        {"conv2d(x, w, stride=[1, 1, 1])", "found [1, 1, 1]"},
        {"conv2d(x, w, padding=-1)", "expected an integer of at least 0 and at most 2^40 as padding"},
        {"conv2d(x, w, padding=\"full\")", "expected \"valid\" or \"same\""},
        {"conv2d(x, w, stride=2, padding=\"same\")",
         "expected a stride of 1 beside padding=\"same\", found 2"},
        {"conv2d(x, w, dilation=3)", "one that reaches over 7 of 5 elements"},
        {"conv_transpose2d(x, w)", "[in, out / groups, ..]"},
        {"conv_transpose2d(x, u, output_padding=1)",
         "expected an output_padding below the stride or the dilation, found 1"},
        {"max_pool2d(x, 3, padding=2)", "expected a padding of at most half the window's extent, 3, found 2"},
        {"max_pool2d(x, 6)",
         "expected a window that fits into the padded extents of max_pool2d, found one of 6 for 5 elements"},
        {"max_pool1d(v, 1)", "expected x of shape [N, C, L] or [C, L] in max_pool1d, found [4]"},
        {"avg_pool2d(x, 2, divisor_override=0)", "expected a divisor_override other than 0"},
        {"adaptive_avg_pool2d(x, [70, 70])", "at most 4096 means"},
        {"einsum(\"ij->i\", v)", "expected a tensor of 2 axes, as the equation says, found the shape [4]"},
        {"einsum(\"i,i\", v)", "expected a term for the one tensor"},
        {"einsum(\"i\", v, v)", "expected a term for each of two tensors"},
        {"einsum(\"i,i,i\", v, v)", "expected one or two terms (of more, the order of contraction is open)"},
        {"einsum(\"i->j\", v)", "expected labels of the operands, each once"},
        {"einsum(\"i->ii\", v)", "expected labels of the operands, each once"},
        {"einsum(\"i-i\", v)", "expected \"->\""},
        {"einsum(\"i1\", v)", "expected letters"},
        {"einsum(\"i->i->i\", v)", "expected one result"},
        {"einsum(\"abcd,efgh->\", x, w)", NULL},
        {"einsum(\"abcd,efgh->abcdefgh\", x, w)", NULL},
        {"einsum(\"i,ij\", v, reshape(w, [36, 4]))",
         "expected equal extents of equal labels in einsum, found 4 and 36"},
        {"einsum(\"i,j->i\", v, v)",
         "to be in both operands of einsum (or to be summed before, with sum), found 'j' in one alone"},
        {"einsum(\"ai,bi->b\", unsqueeze(v, 0), x[0, :, :4, 0])", NULL},
        {"einsum(v, v)", "expected a string such as \"ij,jk->ik\""},
    };
    fixture f;
    fixture_start(&f);
    fixture_input(&f, "x", CUPEL_F32, "2,4,5,3");
    fixture_input(&f, "w", CUPEL_F32, "6,4,3,2");
    fixture_input(&f, "u", CUPEL_F32, "4,4,3,2");
    fixture_input(&f, "v", CUPEL_F32, "4");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cupel_code code = fixture_try(&f, rows[i].text, CUPEL_F32, "");
        assert_int_not_equal(code, CUPEL_MEMORY);
        if (rows[i].message && (code == CUPEL_OK || !strstr(f.err.text, rows[i].message)))
            fail_msg("%s: %s", rows[i].text, f.err.text);
    }
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_agree_with_nested_loops),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
