/* Gradients against central differences of fourth order, taken of the exact evaluator's values at some 28
 * digits: every function alone, then random expressions. */
#include "exact_fixture.h"

#include <math.h>
#include <mpfr.h>

#include "philox.h"

enum { ROWS = 2, LENGTH = 4, COUNT = ROWS * LENGTH, OUTPUTS = 64 };

static const double step = 0x1p-16;

typedef struct problem {
    double x[COUNT], w[COUNT], dy[OUTPUTS];
    int64_t i[COUNT];
} problem;

static void add_inputs(exact_fixture *f, const problem *p, const char *shape) {
    exact_input(f, "x", CUPEL_F64, "2,4", p->x);
    exact_input(f, "w", CUPEL_F64, "2,4", p->w);
    exact_input(f, "i", CUPEL_I64, "2,4", p->i);
    exact_input(f, "dy", CUPEL_F64, shape, p->dy);
}

/* sum(expression * dy) */
static void value_of(exact_fixture *f, mpfr_t out) {
    /* the session remembers elements, so each point gets its own */
    cupel_exact_close(f->session);
    assert_int_equal(cupel_exact_open(f->f.graph, &f->bindings, &f->rules, &f->session, &f->f.err), CUPEL_OK);
    const cupel_exact_element e = exact_element(f, 0);
    mpfr_set_str(out, e.digits, 10, MPFR_RNDN);
}

/* (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h */
static double difference(exact_fixture *f, double *at) {
    static const double weights[] = {8, -8, -1, 1}, moves[] = {1, -1, 2, -2};
    const double x = *at;
    mpfr_t total, value;
    mpfr_inits2(256, total, value, (mpfr_ptr)0);
    mpfr_set_zero(total, 1);
    for (int k = 0; k < 4; k++) {
        *at = x + moves[k] * step;
        value_of(f, value);
        mpfr_mul_d(value, value, weights[k], MPFR_RNDN);
        mpfr_add(total, total, value, MPFR_RNDN);
    }
    *at = x;
    mpfr_div_d(total, total, 12 * step, MPFR_RNDN);
    const double result = mpfr_get_d(total, MPFR_RNDN);
    mpfr_clears(total, value, (mpfr_ptr)0);
    return result;
}

/* Checks every derivative by `wrt` ("x" or "w"); shape: of the expression. */
static void compare(const char *expression, const char *shape, const char *wrt, problem *p) {
    exact_fixture sum, gradient;
    char text[2048];
    exact_start(&sum), exact_start(&gradient);
    add_inputs(&sum, p, shape), add_inputs(&gradient, p, shape);
    snprintf(text, sizeof text, "sum((%s) * dy)", expression);
    exact_build(&sum, text, CUPEL_F64, "");
    snprintf(text, sizeof text, "vjp(%s, %s, dy)", expression, wrt);
    exact_build(&gradient, text, CUPEL_F64, "2,4");
    double *at = *wrt == 'x' ? p->x : p->w;
    for (int k = 0; k < COUNT; k++) {
        const double expected = difference(&sum, &at[k]);
        const cupel_exact_element e = exact_element(&gradient, k);
        if (!(fabs(e.value - expected) <= 1e-11 * (1 + fabs(expected))))
            fail_msg("%s by %s[%d]: %.17g, differences give %.17g", text, wrt, k, e.value, expected);
        if (e.reason && e.reason != CUPEL_REASON_UNBOUNDED)
            fail_msg("%s by %s[%d] is not judged: %s", text, wrt, k, cupel_reason_text(e.reason));
    }
    exact_end(&sum), exact_end(&gradient);
}

/* Numbers away from each other and from whole numbers, so that no step crosses a kink. */
static void fill(problem *p, uint64_t seed, double low, double high) {
    cupel_random random = cupel_random_start(seed, 41);
    for (int k = 0; k < COUNT; k++) {
        const double at =
            ((double)k * 5 - floor((double)k * 5 / COUNT) * COUNT + 0.3 + 0.4 * cupel_random_unit(&random)) /
            COUNT;
        p->x[k] = round((low + (high - low) * at) * 0x1p20) * 0x1p-20 + 0x1p-9;
        p->w[k] = round((0.3 + 1.5 * cupel_random_unit(&random)) * 0x1p20) * 0x1p-20;
        p->i[k] = (int64_t)cupel_random_below(&random, 2);
    }
    for (int k = 0; k < OUTPUTS; k++)
        p->dy[k] = round((cupel_random_unit(&random) * 4 - 2) * 0x1p10) * 0x1p-10;
}

typedef struct sample {
    const char *expression, *shape;
    double low, high;
    bool both; /* by w too */
} sample;

static const sample samples[] = {
    {"abs(x)", "2,4", -3, 3, false},
    {"neg(x)", "2,4", -3, 3, false},
    {"sign(x) * x", "2,4", -3, 3, false},
    {"floor(x) + x", "2,4", -3, 3, false},
    {"x - round(x)", "2,4", -3, 3, false},
    {"sqrt(x)", "2,4", 0.1, 3, false},
    {"rsqrt(x)", "2,4", 0.1, 3, false},
    {"reciprocal(x)", "2,4", 0.1, 3, false},
    {"exp(x)", "2,4", -3, 3, false},
    {"exp2(x)", "2,4", -3, 3, false},
    {"expm1(x)", "2,4", -3, 3, false},
    {"log(x)", "2,4", 0.1, 3, false},
    {"log2(x)", "2,4", 0.1, 3, false},
    {"log10(x)", "2,4", 0.1, 3, false},
    {"log1p(x)", "2,4", -0.9, 3, false},
    {"sin(x)", "2,4", -3, 3, false},
    {"cos(x)", "2,4", -3, 3, false},
    {"tan(x)", "2,4", -1, 1, false},
    {"asin(x)", "2,4", -0.8, 0.8, false},
    {"acos(x)", "2,4", -0.8, 0.8, false},
    {"atan(x)", "2,4", -3, 3, false},
    {"atan2(x, w)", "2,4", -3, 3, true},
    {"sinh(x)", "2,4", -3, 3, false},
    {"cosh(x)", "2,4", -3, 3, false},
    {"tanh(x)", "2,4", -3, 3, false},
    {"erf(x)", "2,4", -2, 2, false},
    {"erfc(x)", "2,4", -2, 2, false},
    {"sigmoid(x)", "2,4", -9, 9, false},
    {"relu(x)", "2,4", -3, 3, false},
    {"leaky_relu(x, 0.1)", "2,4", -3, 3, false},
    {"elu(x, 1.5)", "2,4", -3, 3, false},
    {"selu(x)", "2,4", -3, 3, false},
    {"celu(x, 1.5)", "2,4", -3, 3, false},
    {"gelu(x)", "2,4", -3, 3, false},
    {"gelu(x, approximate=\"tanh\")", "2,4", -3, 3, false},
    {"silu(x)", "2,4", -9, 9, false},
    {"mish(x)", "2,4", -9, 9, false},
    {"softplus(x)", "2,4", -9, 9, false},
    {"softplus(x, 2, 1)", "2,4", -3, 0.4, false},
    {"softsign(x)", "2,4", -3, 3, false},
    {"hardtanh(x)", "2,4", -3, 3, false},
    {"hardsigmoid(x)", "2,4", -5, 5, false},
    {"hardswish(x)", "2,4", -5, 5, false},
    {"logsigmoid(x)", "2,4", -9, 9, false},
    {"tanhshrink(x)", "2,4", -3, 3, false},
    {"softshrink(x)", "2,4", -3, 3, false},
    {"hardshrink(x)", "2,4", -3, 3, false},
    {"pow(x, 2.7)", "2,4", 0.1, 3, false},
    {"x ** w", "2,4", 0.1, 3, true},
    {"2.5 ** x", "2,4", -3, 3, false},
    {"x ** 5", "2,4", -3, 3, false},
    {"x ** 3 + x ** -2 + x ** 0.5 + x ** -0.5 + x ** -1", "2,4", 0.2, 3, false},
    {"fmod(x, w)", "2,4", -3, 3, true},
    {"x % w", "2,4", -3, 3, true},
    {"clamp(x, -1.5, 1)", "2,4", -3, 3, false},
    {"clamp(x, min=w)", "2,4", -3, 3, true},
    {"clamp(w, max=x[0])", "2,4", -3, 3, true},
    {"minimum(x, w)", "2,4", -1, 3, true},
    {"maximum(x, w)", "2,4", -1, 3, true},
    {"fmin(x, w)", "2,4", -1, 3, true},
    {"fmax(x, w)", "2,4", -1, 3, true},
    {"where(x > w, x * w, x - w)", "2,4", -1, 3, true},
    {"cast(x, f64) * w", "2,4", -1, 3, true},
    {"x * w + x / w - w * w", "2,4", -1, 3, true},
    {"sum(x)", "", -3, 3, false},
    {"sum(x * w, axis=0)", "4", -3, 3, true},
    {"mean(x, axis=1, keepdim=true) * x", "2,4", -3, 3, false},
    {"prod(x, axis=-1)", "2", -2, 2, false},
    {"prod(x)", "", 0.3, 2, false},
    {"amax(x, axis=-1)", "2", -3, 3, false},
    {"amin(x, axis=0)", "4", -3, 3, false},
    {"amax(x)", "", -3, 3, false},
    {"var(x, axis=-1)", "2", -3, 3, false},
    {"var(x, axis=0, correction=0, keepdim=true)", "1,4", -3, 3, false},
    {"std(x)", "", -3, 3, false},
    {"norm(x)", "", -3, 3, false},
    {"norm(x, axis=0)", "4", -3, 3, false},
    {"norm(x, 1, axis=1)", "2", -3, 3, false},
    {"norm(x, 3, axis=1)", "2", -3, 3, false},
    {"norm(x, inf, axis=1)", "2", -3, 2.5, false},
    {"logsumexp(x, axis=-1)", "2", -3, 3, false},
    {"logsumexp(x, axis=[0, 1], keepdim=true)", "1,1", -3, 3, false},
    {"matmul(transpose(x), w)", "4,4", -3, 3, true},
    {"reshape(permute(x, [1, 0]), [2, 2, 2])", "2,2,2", -3, 3, false},
    {"broadcast_to(unsqueeze(x, 1), [2, 3, 4])", "2,3,4", -3, 3, false},
    {"concat([x, w, x], axis=1)", "2,12", -3, 3, true},
    {"stack([x, w])", "2,2,4", -3, 3, true},
    {"x[:, 1:4:2] * x[1, 2]", "2,2", -3, 3, false},
    {"slice(x, axis=1, start=1, stop=4, step=2)", "2,2", -3, 3, false},
    {"flip(x, [0, 1]) * w", "2,4", -3, 3, true},
    {"roll(x, 1, axis=1) * w", "2,4", -3, 3, true},
    {"pad(x, [1, 2, 0, 1], value=3)", "3,7", -3, 3, false},
    {"pad(x, [-1, 1])", "2,4", -3, 3, false},
    {"tril(x) + triu(w, diagonal=1)", "2,4", -3, 3, true},
    {"matmul(x, transpose(w))", "2,2", -3, 3, true},
    {"matmul(x, w[0])", "2", -3, 3, true},
    {"matmul(reshape(x, [2, 2, 2]), reshape(w, [2, 2, 2]))", "2,2,2", -3, 3, true},
    {"matmul(reshape(x, [2, 1, 2, 2]), reshape(w, [2, 2, 2]))", "2,2,2,2", -3, 3, true},
    {"linear(x, w, x[:, 0])", "2,2", -3, 3, true},
    {"outer(x[0], w[1])", "4,4", -3, 3, true},
    {"cumsum(x, axis=-1)", "2,4", -3, 3, false},
    {"cumsum(x, axis=0)", "2,4", -3, 3, false},
    {"cumprod(x, axis=1)", "2,4", -2, 2, false},
    {"softmax(x, axis=-1)", "2,4", -3, 3, false},
    {"logcumsumexp(x, axis=1)", "2,4", -3, 3, false},
    {"logcumsumexp(x * w, axis=0)", "2,4", -3, 3, true},
    {"linear_scan(x, w)", "2,4", -2, 2, true},
    {"linear_scan(exp(x * 0.3), w, axis=0, reverse=true)", "2,4", -2, 2, true},
    {"linear_scan(x, x * w, 1, true)", "2,4", -2, 2, true},
    {"linear_attention(reshape(x, [4, 2]), reshape(w, [4, 2]) * 0.3, reshape(x * w, [4, 2]), scale=0.25)",
     "4,2", -2, 2, true},
    {"gated_linear_attention(reshape(x, [4, 2]), reshape(w, [4, 2]) * 0.3, reshape(x * w, [4, 2]), "
     "-reshape(x * x, [4, 2]))",
     "4,2", -2, 2, true},
    {"delta_rule(reshape(x, [4, 2]), reshape(w, [4, 2]) * 0.3, reshape(x * w, [4, 2]), w[1])", "4,2", -2, 2,
     true},
    {"gated_delta_rule(reshape(x, [4, 2]), reshape(w, [4, 2]) * 0.3, reshape(x * w, [4, 2]), x[0], w[1], "
     "0.5)",
     "4,2", -2, 2, true},
    {"kda(reshape(x, [4, 2]), reshape(w, [4, 2]) * 0.3, reshape(x * w, [4, 2]), -reshape(x * x, [4, 2]), "
     "w[1])",
     "4,2", -2, 2, true},
    {"ssd(reshape(x * w, [4, 2]), x[0], w[1, 0], reshape(w, [4, 2]), reshape(x, [4, 2]))", "4,2", -2, 2,
     true},
    {"softmax(x, axis=0)", "2,4", -3, 3, false},
    {"log_softmax(x, axis=-1)", "2,4", -3, 3, false},
    {"layer_norm(x, w, x[0], 1e-2)", "2,4", -3, 3, true},
    {"rms_norm(x, w)", "2,4", -3, 3, true},
    {"l2_normalize(x)", "2,4", -3, 3, false},
    {"l2_normalize(x, eps=100)", "2,4", -3, 3, false},
    {"mse_loss(x, w)", "", -3, 3, true},
    {"l1_loss(x, w, reduction=\"sum\")", "", -3, 3, true},
    {"smooth_l1_loss(x, w, reduction=\"none\", beta=0.7)", "2,4", -3, 3, true},
    {"huber_loss(x, w, delta=0.7)", "", -3, 3, true},
    {"cross_entropy(x, w)", "", -3, 3, true},
    {"kl_div(x, w)", "", -3, 3, true},
    {"bce(x, w, reduction=\"none\")", "2,4", 0.1, 0.9, true},
    {"cosine_similarity(x, w)", "2", -3, 3, true},
    {"bce_with_logits(x, w)", "", -3, 3, true},
    {"hinge_loss(x, sign(w - 1))", "", -3, 3, false},
    {"cross_entropy(x, i[:, 0])", "", -3, 3, false},
    {"nll_loss(x, i[:, 0], reduction=\"sum\")", "", -3, 3, false},
    {"gather(x, 1, i)", "2,4", -3, 3, false},
    {"gather(x, 0, i[:1, :3]) * w[:1, :3]", "1,3", -3, 3, true},
    {"index_select(x, 1, i[0])", "2,4", -3, 3, false},
    {"embedding(i, transpose(x))", "2,4,2", -3, 3, false},
    {"scatter_add(x, 1, i, w)", "2,4", -3, 3, true},
    {"sort(x, axis=0, descending=true) * w", "2,4", -3, 3, true},
    {"topk(x, 2)", "2,2", -3, 3, false},
    {"cummax(x, axis=1)", "2,4", -3, 3, false},
    {"cummin(x, axis=0)", "2,4", -3, 3, false},
    {"max_pool1d(x, 2, stride=1)", "2,3", -3, 3, false},
    {"avg_pool1d(x, 3, stride=2, padding=1)", "2,2", -3, 3, false},
    {"avg_pool2d(reshape(x, [1, 2, 4]), 2, stride=1)", "1,1,3", -3, 3, false},
    {"conv1d(x, reshape(w, [1, 2, 4])[:, :, :3], padding=1)", "1,4", -3, 3, true},
    {"conv1d(x, reshape(w, [2, 1, 4])[:, :, :2], stride=2, padding=1, groups=2)", "2,3", -3, 3, true},
    {"conv1d(x, reshape(w, [4, 2, 1]), w[0], stride=2)", "4,2", -3, 3, true},
    {"conv2d(reshape(x, [1, 2, 4]), reshape(w, [2, 1, 2, 2]), dilation=[1, 2])", "2,1,2", -3, 3, true},
    {"conv_transpose1d(x, reshape(w, [2, 1, 4])[:, :, :3], stride=2, padding=1)", "1,7", -3, 3, true},
    {"einsum(\"ij,kj->ik\", x, w)", "2,2", -3, 3, true},
    {"batch_norm(x, x[0], 1 + x[1] ** 2, w[0], w[1])", "2,4", -3, 3, true},
    {"batch_norm(x, w[0], w[1], training=true, eps=1e-1)", "2,4", -3, 3, false},
    {"group_norm(reshape(x, [1, 4, 2]), 2, w[0], w[1], 1e-2)", "1,4,2", -3, 3, true},
    {"instance_norm(reshape(x, [1, 2, 4]))", "1,2,4", -3, 3, false},
    {"attention(x, w, flip(w, 1))", "2,4", -3, 3, true},
    {"attention(w, x, x + w, causal=true)", "2,4", -3, 3, true},
    {"rope(x, w[0], w[1])", "2,4", -3, 3, true},
    {"matmul(reshape(x, [2, 1, 4]), w[0])", "2,1", -3, 3, true},
    {"matmul(reshape(x, [2, 2, 2]), reshape(w, [4, 2])[:2])", "2,2,2", -3, 3, true},
    {"triplet_margin_loss(x, w, flip(x, 0), 3)", "", -3, 3, true},
};

static void every_function(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        problem p;
        fill(&p, k, samples[k].low, samples[k].high);
        compare(samples[k].expression, samples[k].shape, "x", &p);
        if (samples[k].both) compare(samples[k].expression, samples[k].shape, "w", &p);
    }
}

/* An expression of the shape [2, 4] whose values stay moderate. */
static void random_expression(cupel_random *random, int depth, char *out, size_t size) {
    static const char *const templates[] = {
        "tanh(%s)",
        "sin(%s)",
        "softmax(%s, axis=-1)",
        "log_softmax(%s, axis=0)",
        "sigmoid(%s)",
        "gelu(%s)",
        "silu(%s)",
        "softplus(%s)",
        "layer_norm(%s, w, 0.5, 1e-1)",
        "rms_norm(%s, w, 1e-1)",
        "cumsum(%s, axis=1) * 0.25",
        "flip(%s, 1)",
        "reshape(transpose(%s), [2, 4])",
        "exp(tanh(%s))",
        "sqrt(1 + (%s) ** 2)",
        "concat([(%s)[:, 2:], x[:, :2]], axis=1)",
        "(%s) - mean(x, axis=1, keepdim=true)",
        "(%s) * logsumexp(w, axis=1, keepdim=true)",
        "pad((%s)[:, 1:], [1, 0], value=0.5)",
        "matmul(matmul(x, transpose(w)), %s) * 0.2",
        "(%s) / (1 + var(x, axis=-1, keepdim=true))",
        "(%s) + (%s)",
        "(%s) * tanh(%s)",
        "(%s) - sin(%s)",
        "(%s) / (2 + cos(%s))",
    };
    if (depth == 0) {
        snprintf(out, size, "%s", cupel_random_below(random, 2) ? "x" : "w");
        return;
    }
    char a[512], b[512], line[1100];
    random_expression(random, depth - 1, a, sizeof a);
    random_expression(random, depth - 1, b, sizeof b);
    const char *at = templates[cupel_random_below(random, sizeof templates / sizeof *templates)];
    size_t used = 0;
    const char *parts[] = {a, b};
    for (int k = 0; *at && used + 1 < sizeof line;) {
        if (at[0] == '%' && at[1] == 's') {
            used += (size_t)snprintf(line + used, sizeof line - used, "%s", parts[k++]);
            at += 2;
        } else {
            line[used++] = *at++;
        }
    }
    line[used < sizeof line ? used : sizeof line - 1] = 0;
    snprintf(out, size, "%s", line);
}

static void random_expressions(void **state) {
    (void)state;
    const char *text = getenv("CUPEL_PROPERTY_CASES");
    const long cases = text && atol(text) > 0 ? atol(text) / 500 + 1 : 40;
    for (long k = 0; k < cases; k++) {
        cupel_random random = cupel_random_start((uint64_t)k, 42);
        problem p;
        char expression[600];
        fill(&p, 1000 + (uint64_t)k, -2, 2);
        random_expression(&random, 1 + (int)(k % 4), expression, sizeof expression);
        if (strlen(expression) >= 500) continue; /* cut */
        compare(expression, "2,4", "x", &p);
        compare(expression, "2,4", "w", &p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function),
        cmocka_unit_test(random_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
