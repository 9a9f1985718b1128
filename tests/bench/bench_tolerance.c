/* The experiment behind sound and evidence radius: how much of either good kernels use that the family lacks,
 * and how far outside the shadows with one fault each are, over operators, classes of values and row lengths.
 * bench_tolerance SEED writes a table (tests/records/tolerance.txt holds one). Not timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "good_radius.h"
#include "philox.h"

enum { M = 4, K = 8, CLASSES = 9, LENGTHS = 4, BUCKETS = 7 };

static const int64_t lengths[LENGTHS] = {7, 64, 512, 4096};
static const char *const class_names[CLASSES] = {"normal",   "mean100", "mean1e4", "mean1e4s.01", "const0.1",
                                                 "const1e3", "spike",   "logu",    "tiny"};

/* The prototype's generators. */
static double draw(cupel_random *r, int class, int64_t i) {
    const double u = cupel_random_unit(r) + 0x1p-60, v = cupel_random_unit(r);
    const double normal = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
    switch (class) {
    case 0: return normal;
    case 1: return normal + 100;
    case 2: return normal + 1e4;
    case 3: return normal * 0.01 + 1e4;
    case 4: return 0.1;
    case 5: return 1000.1;
    case 6: return i == 0 ? 1e6 : normal;
    case 7: return exp(40 * (u - 0.5)) * (v < 0.5 ? -1 : 1);
    default: return normal * 1e-6;
    }
}

typedef enum result_shape { ROWS, NUMBERS, MATRIX, ONE } result_shape;

/* Every function whose result is not a mere move or test of its arguments. In expressions SIZE stands for the
 * length of a row. */
static const struct operator_row {
    const char *expression;
    result_shape shape;
} operators[] = {
    {"layer_norm(x)", ROWS},
    {"rms_norm(x)", ROWS},
    {"l2_normalize(x)", ROWS},
    {"var(x, axis=-1)", NUMBERS},
    {"mean(x, axis=-1)", NUMBERS},
    {"sum(x, axis=-1)", NUMBERS},
    {"norm(x, axis=-1)", NUMBERS},
    {"cumsum(x, axis=-1)", ROWS},
    {"matmul(x, w)", MATRIX},
    {"gelu(matmul(x, w))", MATRIX},
    {"layer_norm(matmul(x, w))", MATRIX},
    {"softmax(x, axis=-1)", ROWS},
    {"log_softmax(x, axis=-1)", ROWS},
    {"logsumexp(x, axis=-1)", NUMBERS},
    {"amax(x, axis=-1)", NUMBERS},
    {"attention(x, x, x)", ROWS},
    {"cosine_similarity(x, x + 1, axis=-1)", NUMBERS},
    {"gelu(x)", ROWS},
    {"sigmoid(x)", ROWS},
    {"x * 0.3 + 1e-5", ROWS},
    /* from here on rows of at most 512 */
    {"abs(x)", ROWS},
    {"neg(x)", ROWS},
    {"sign(x)", ROWS},
    {"floor(x)", ROWS},
    {"ceil(x)", ROWS},
    {"round(x)", ROWS},
    {"trunc(x)", ROWS},
    {"exp(x)", ROWS},
    {"exp2(x)", ROWS},
    {"expm1(x)", ROWS},
    {"sin(x)", ROWS},
    {"cos(x)", ROWS},
    {"tan(x)", ROWS},
    {"atan(x)", ROWS},
    {"sinh(x)", ROWS},
    {"cosh(x)", ROWS},
    {"tanh(x)", ROWS},
    {"erf(x)", ROWS},
    {"erfc(x)", ROWS},
    {"relu(x)", ROWS},
    {"leaky_relu(x)", ROWS},
    {"elu(x)", ROWS},
    {"selu(x)", ROWS},
    {"celu(x)", ROWS},
    {"silu(x)", ROWS},
    {"mish(x)", ROWS},
    {"softplus(x)", ROWS},
    {"softsign(x)", ROWS},
    {"hardtanh(x)", ROWS},
    {"hardsigmoid(x)", ROWS},
    {"hardswish(x)", ROWS},
    {"logsigmoid(x)", ROWS},
    {"tanhshrink(x)", ROWS},
    {"softshrink(x)", ROWS},
    {"hardshrink(x)", ROWS},
    {"reciprocal(x)", ROWS},
    {"sqrt(abs(x))", ROWS},
    {"rsqrt(abs(x))", ROWS},
    {"log(abs(x))", ROWS},
    {"log2(abs(x))", ROWS},
    {"log10(abs(x))", ROWS},
    {"log1p(abs(x))", ROWS},
    {"asin(tanh(x))", ROWS},
    {"acos(tanh(x))", ROWS},
    {"gelu(x, approximate=\"tanh\")", ROWS},
    {"pow(abs(x), 1.7)", ROWS},
    {"fmod(x, 0.7)", ROWS},
    {"x % 0.7", ROWS},
    {"atan2(x, flip(x, 1))", ROWS},
    {"clamp(x, -1, 1)", ROWS},
    {"minimum(x, flip(x, 1))", ROWS},
    {"maximum(x, flip(x, 1))", ROWS},
    {"fmin(x, flip(x, 1))", ROWS},
    {"fmax(x, flip(x, 1))", ROWS},
    {"where(x > 0.5, x * 2, exp(-x))", ROWS},
    {"cast(x, f16)", ROWS},
    {"x / flip(x, 1)", ROWS},
    {"x * flip(x, 1) / 3", ROWS},
    {"prod(x, axis=-1)", NUMBERS},
    {"amin(x, axis=-1)", NUMBERS},
    {"argmax(x, axis=-1)", NUMBERS},
    {"argmin(x, axis=-1)", NUMBERS},
    {"std(x, axis=-1)", NUMBERS},
    {"norm(x, 3, axis=-1)", NUMBERS},
    {"cumprod(x, axis=-1)", ROWS},
    {"cummax(x, axis=-1)", ROWS},
    {"cummin(x, axis=-1)", ROWS},
    {"logcumsumexp(x, axis=-1)", ROWS},
    {"linear_scan(sigmoid(x), flip(x, 1))", ROWS},
    {"sort(x, axis=-1)", ROWS},
    {"argsort(x, axis=-1)", ROWS},
    {"sum(topk(x, 5, axis=-1), axis=-1)", NUMBERS},
    {"scatter_add(x, 1, broadcast_to(unsqueeze(arange(SIZE) % 5, 0), [4, SIZE]), x)", ROWS},
    {"einsum(\"ij,jk->ik\", x, w)", MATRIX},
    {"linear(x, transpose(w))", MATRIX},
    {"outer(x[:, 0], w[0])", MATRIX},
    {"reshape(conv1d(unsqueeze(x, 1), unsqueeze(x[:1, :3], 0), padding=1), [4, SIZE])", ROWS},
    {"reshape(conv2d(reshape(x, [1, 4, 1, SIZE]), reshape(x[:, :4], [4, 4, 1, 1])), [4, SIZE])", ROWS},
    {"reshape(conv3d(reshape(x, [1, 4, 1, 1, SIZE]), reshape(x[:, :4], [4, 4, 1, 1, 1])), [4, SIZE])", ROWS},
    {"reshape(conv_transpose1d(unsqueeze(x, 1), unsqueeze(x[:1, :3], 0), padding=1), [4, SIZE])", ROWS},
    {"reshape(conv_transpose2d(reshape(x, [1, 4, 1, SIZE]), reshape(x[:, :4], [4, 4, 1, 1])), [4, SIZE])",
     ROWS},
    {"reshape(conv_transpose3d(reshape(x, [1, 4, 1, 1, SIZE]), reshape(x[:, :4], [4, 4, 1, 1, 1])), [4, "
     "SIZE])",
     ROWS},
    {"reshape(max_pool1d(reshape(x, [4, 1, SIZE]), 3, 1, 1), [4, SIZE])", ROWS},
    {"reshape(avg_pool1d(reshape(x, [4, 1, SIZE]), 3, 1, 1), [4, SIZE])", ROWS},
    {"reshape(max_pool2d(reshape(x, [4, 1, 1, SIZE]), [1, 3], 1, [0, 1]), [4, SIZE])", ROWS},
    {"reshape(avg_pool2d(reshape(x, [4, 1, 1, SIZE]), [1, 3], 1, [0, 1]), [4, SIZE])", ROWS},
    {"reshape(max_pool3d(reshape(x, [4, 1, 1, 1, SIZE]), [1, 1, 3], 1, [0, 0, 1]), [4, SIZE])", ROWS},
    {"reshape(avg_pool3d(reshape(x, [4, 1, 1, 1, SIZE]), [1, 1, 3], 1, [0, 0, 1]), [4, SIZE])", ROWS},
    {"sum(adaptive_avg_pool2d(reshape(x, [1, 1, 4, SIZE]), [2, 3]))", ONE},
    {"reshape(batch_norm(reshape(x, [1, 4, SIZE]), x[:, 0], abs(x[:, 1])), [4, SIZE])", ROWS},
    {"reshape(group_norm(reshape(x, [1, 4, SIZE]), 2), [4, SIZE])", ROWS},
    {"reshape(instance_norm(reshape(x, [1, 4, SIZE])), [4, SIZE])", ROWS},
    {"attention(x, x, x, causal=true)", ROWS},
    {"reshape(linear_attention(unsqueeze(x, 2), unsqueeze(x, 2), unsqueeze(flip(x, 1), 2)), [4, SIZE])",
     ROWS},
    {"reshape(gated_linear_attention(unsqueeze(x, 2), unsqueeze(x, 2), unsqueeze(flip(x, 1), 2), "
     "unsqueeze(logsigmoid(x), 2)), [4, SIZE])",
     ROWS},
    {"reshape(delta_rule(unsqueeze(x, 2), l2_normalize(unsqueeze(x, 2)), unsqueeze(flip(x, 1), 2), "
     "sigmoid(flip(x, 1))), [4, SIZE])",
     ROWS},
    {"reshape(gated_delta_rule(unsqueeze(x, 2), l2_normalize(unsqueeze(x, 2)), unsqueeze(flip(x, 1), 2), "
     "logsigmoid(x), sigmoid(flip(x, 1))), [4, SIZE])",
     ROWS},
    {"reshape(kda(unsqueeze(x, 2), l2_normalize(unsqueeze(x, 2)), unsqueeze(flip(x, 1), 2), "
     "unsqueeze(logsigmoid(x), 2), sigmoid(flip(x, 1))), [4, SIZE])",
     ROWS},
    {"reshape(ssd(unsqueeze(flip(x, 1), 2), softplus(x), full([4], -0.5), unsqueeze(x, 2), unsqueeze(x, 2)), "
     "[4, SIZE])",
     ROWS},
    {"mse_loss(x, flip(x, 1))", ONE},
    {"l1_loss(x, flip(x, 1))", ONE},
    {"smooth_l1_loss(x, flip(x, 1))", ONE},
    {"huber_loss(x, flip(x, 1))", ONE},
    {"hinge_loss(x, flip(x, 1))", ONE},
    {"cross_entropy(x, arange(4))", ONE},
    {"nll_loss(log_softmax(x, axis=-1), arange(4))", ONE},
    {"kl_div(log_softmax(x, axis=-1), softmax(flip(x, 1), axis=-1))", ONE},
    {"bce(sigmoid(x), sigmoid(flip(x, 1)))", ONE},
    {"bce_with_logits(x, sigmoid(flip(x, 1)))", ONE},
    {"triplet_margin_loss(x, flip(x, 1), x * 2)", ONE},
    {"embedding(arange(4), x)", ROWS},
    {"x * dropout_mask(17, 0.5, [4, SIZE])", ROWS},
    {"quantize(x, 0.1, i8)", ROWS},
    {"dequantize(cast(clamp(round(x), -100, 100), i8), 0.1)", ROWS},
    {"rope(matmul(x, w), cos(matmul(x, w)[:, :4]), sin(matmul(x, w)[:, :4]))", MATRIX},
    {"vjp(softmax(x, axis=-1), x, flip(x, 1))", ROWS},
    {"vjp(log_softmax(x, axis=-1), x, flip(x, 1))", ROWS},
    {"vjp(layer_norm(x), x, flip(x, 1))", ROWS},
    {"vjp(rms_norm(x), x, flip(x, 1))", ROWS},
    {"vjp(gelu(x), x, flip(x, 1))", ROWS},
    {"vjp(silu(x), x, flip(x, 1))", ROWS},
    {"vjp(cumsum(x, axis=-1), x, flip(x, 1))", ROWS},
    {"vjp(linear_scan(sigmoid(x), x), x, flip(x, 1))", ROWS},
};
enum { WITH_LONG_ROWS = 20 };
enum { OPERATORS = sizeof operators / sizeof *operators };

/* Good kernels in orders that the family lacks. */
static const cupel_shadow_plan beyond[] = {
    {.name = "8 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 8, .fused = true},
    {.name = "64 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 64, .hardware = true},
    {.name = "128 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 128, .fused = true, .reciprocal = true},
    {.name = "tree", .order = CUPEL_SHADOW_TREE, .seed = 5},
    {.name = "another tree", .order = CUPEL_SHADOW_TREE, .seed = 6, .fused = true, .folded = true},
    {.name = "kahan", .order = CUPEL_SHADOW_KAHAN},
    {.name = "welford", .welford = true, .online = true},
};
enum { BEYOND = sizeof beyond / sizeof *beyond };

/* One problem: inputs, graph, answers. */
typedef struct problem {
    cupel_arena *arena;
    cupel_graph *graph;
    cupel_bindings bindings;
    cupel_rules rules;
    cupel_allowed allowed;
    double *evidence; /* NULL: none */
} problem;

static void die(const char *what, const cupel_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

static const void *values(problem *p, int64_t count, int class, uint64_t seed) {
    float *x = cupel_arena_alloc(p->arena, (size_t)count * sizeof *x + 8);
    cupel_random random = cupel_random_start(seed, 90);
    if (!x) exit(1);
    for (int64_t i = 0; i < count; i++) x[i] = (float)draw(&random, class, i);
    return x;
}

static void answer(problem *p, const struct operator_row *op, int class, int64_t n, uint64_t seed) {
    cupel_error err = {0};
    cupel_expr *expr;
    if (cupel_expr_parse(cupel_span_of(op->expression, "bench", 1, 1), p->arena, &expr, &err) != CUPEL_OK)
        die(op->expression, &err);
    const cupel_symbol_input inputs[] = {{.name = "x", .type = CUPEL_F32, .rank = 2, .shape = {M, n}},
                                         {.name = "w", .type = CUPEL_F32, .rank = 2, .shape = {n, K}}};
    cupel_symbol_output output = {.name = "y", .type = CUPEL_F32, .rank = 2, .ensures = expr};
    output.rank = op->shape == ONE ? 0 : op->shape == NUMBERS ? 1 : 2;
    if (output.rank > 0) output.shape[0] = M;
    if (output.rank > 1) output.shape[1] = op->shape == MATRIX ? K : n;
    const cupel_symbol_number size = {.name = "SIZE", .integer = n};
    const cupel_symbols symbols = {.input_count = 2,
                                   .inputs = inputs,
                                   .number_count = 1,
                                   .numbers = &size,
                                   .output_count = 1,
                                   .outputs = &output};
    if (cupel_graph_build(&symbols, p->arena, &p->graph, &err) != CUPEL_OK) die(op->expression, &err);
    const void **data = cupel_arena_alloc(p->arena, 2 * sizeof *data);
    data[0] = values(p, M * n, class, seed);
    data[1] = values(p, n * K, 0, seed + 1);
    p->bindings = (cupel_bindings){2, data};
    p->rules = (cupel_rules){.working = CUPEL_F32, .fast_math = true};
    if (cupel_oracle_bounded(p->graph, &p->bindings, &p->rules, p->arena, &p->allowed, &err) != CUPEL_OK ||
        cupel_good_radius_find(p->graph, &p->bindings, &p->rules, &p->allowed, p->arena, &p->evidence,
                               &err) != CUPEL_OK)
        die(op->expression, &err);
}

/* Errors in radii, as the prototype has them: the sound one with two ulps of slack as well. */
typedef struct distance {
    double sound, evidence;
} distance;

static distance measure(const problem *p, const cupel_shadow_plan *plan) {
    cupel_shadow_output run;
    cupel_error err = {0};
    if (cupel_shadow_run(p->graph, &p->bindings, &p->rules, plan, p->arena, &run, &err) != CUPEL_OK)
        die("shadow", &err);
    distance d = {0, 0};
    for (int64_t i = 0; i < run.count; i++) {
        if (p->allowed.reasons[i] != CUPEL_REASON_JUDGED) continue;
        const double value = p->allowed.value[i], slack = 2 * cupel_format_ulp(CUPEL_F32, value);
        double error = fabs(run.values[i] - value);
        if (isnan(error)) error = run.values[i] == value ? 0 : INFINITY; /* equal infinities */
        d.sound = fmax(d.sound, error / (p->allowed.radius[i] + slack));
        if (p->evidence && isfinite(p->evidence[i])) d.evidence = fmax(d.evidence, error / p->evidence[i]);
    }
    return d;
}

/* ---- what is kept of an operator ---- */

/* Largest ratio of each case, by powers of ten from 1e-3 to 1e3. */
typedef struct spread {
    int cases, buckets[BUCKETS];
    double least, largest;
} spread;

static void add(spread *s, double ratio) {
    int at = 0;
    for (double limit = 1e-2; at < BUCKETS - 1 && ratio >= limit; limit *= 10) at++;
    s->buckets[at]++;
    s->least = s->cases == 0 ? ratio : fmin(s->least, ratio);
    s->largest = fmax(s->largest, ratio);
    s->cases++;
}

typedef struct tally {
    spread good_sound, good_evidence, fault_sound[CUPEL_SHADOW_FAULT_COUNT],
        fault_evidence[CUPEL_SHADOW_FAULT_COUNT];
    int64_t elements, judged, loose, evident, sharper;
} tally;

static void count_elements(const problem *p, tally *t) {
    for (int64_t i = 0; i < p->allowed.count; i++) {
        t->elements++;
        if (p->allowed.reasons[i] != CUPEL_REASON_JUDGED) continue;
        t->judged++;
        t->loose += p->allowed.radius[i] > fabs(p->allowed.value[i]);
        t->evident += p->evidence && isfinite(p->evidence[i]);
        t->sharper += p->evidence && p->evidence[i] < 0.5 * p->allowed.radius[i];
    }
}

static void try_case(tally *t, const struct operator_row *op, int class, int64_t n, uint64_t seed) {
    problem p = {.arena = cupel_arena_create(0)};
    if (!p.arena) exit(1);
    answer(&p, op, class, n, seed);
    count_elements(&p, t);
    distance good = {0, 0};
    for (int i = 0; i < BEYOND; i++) {
        const distance d = measure(&p, &beyond[i]);
        good.sound = fmax(good.sound, d.sound);
        good.evidence = fmax(good.evidence, d.evidence);
    }
    add(&t->good_sound, good.sound);
    if (p.evidence) add(&t->good_evidence, good.evidence);
    /* there are no subnormals, infinities or NaN among these values */
    const unsigned faults =
        cupel_shadow_applicable(p.graph, &p.rules) &
        ~(1u << CUPEL_SHADOW_FLUSHED | 1u << CUPEL_SHADOW_INF_CLAMPED | 1u << CUPEL_SHADOW_NAN_SWALLOWED);
    for (int f = CUPEL_SHADOW_NO_FAULT + 1; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        if (!(faults >> f & 1)) continue;
        const cupel_shadow_plan plan = {
            .order = CUPEL_SHADOW_LANES, .lanes = 256, .fault = (cupel_shadow_fault)f};
        const distance d = measure(&p, &plan);
        add(&t->fault_sound[f], d.sound);
        if (p.evidence) add(&t->fault_evidence[f], d.evidence);
    }
    cupel_arena_free(p.arena);
}

static void print_spread(const char *name, const spread *s) {
    if (s->cases == 0) return;
    printf("  %-34s %8.2g .. %8.2g  |", name, s->least, s->largest);
    for (int i = 0; i < BUCKETS; i++) printf(" %4d", s->buckets[i]);
    printf("\n");
}

static void print_tally(const struct operator_row *op, const tally *t) {
    printf("\n%s\n  judged %.1f%%, radius above magnitude %.1f%%, with an evidence radius %.1f%%, that one "
           "below "
           "half of the sound one %.1f%%\n",
           op->expression, 100.0 * (double)t->judged / (double)t->elements,
           100.0 * (double)t->loose / (double)t->elements, 100.0 * (double)t->evident / (double)t->elements,
           100.0 * (double)t->sharper / (double)t->elements);
    print_spread("good / sound", &t->good_sound);
    print_spread("good / evidence", &t->good_evidence);
    for (int f = CUPEL_SHADOW_NO_FAULT + 1; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        char name[64];
        snprintf(name, sizeof name, "%s / sound", cupel_shadow_fault_name((cupel_shadow_fault)f));
        print_spread(name, &t->fault_sound[f]);
        snprintf(name, sizeof name, "%s / evidence", cupel_shadow_fault_name((cupel_shadow_fault)f));
        print_spread(name, &t->fault_evidence[f]);
    }
}

/* The prototype's table: a layer norm, each length and class by itself. */
static void print_layer_norm(uint64_t seed) {
    printf("\nlayer_norm(x), one case a line\n  %5s %-12s %10s %14s %16s %20s\n", "n", "values", "good/sound",
           "good/evidence", "one-pass/sound", "one-pass/evidence");
    for (int l = 0; l < LENGTHS; l++) {
        for (int class = 0; class < CLASSES; class ++) {
            tally t = {0};
            try_case(&t, &operators[0], class, lengths[l], seed);
            printf("  %5lld %-12s %10.2g %14.2g %16.2g %20.2g\n", (long long)lengths[l], class_names[class],
                   t.good_sound.largest, t.good_evidence.largest,
                   t.fault_sound[CUPEL_SHADOW_ONE_PASS].largest,
                   t.fault_evidence[CUPEL_SHADOW_ONE_PASS].largest);
        }
    }
}

int main(int count, char **arguments) {
    const uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    printf("seed %llu; rows of 7, 64 and 512, of the first operators 4096 too; values:",
           (unsigned long long)seed);
    for (int class = 0; class < CLASSES; class ++) printf(" %s", class_names[class]);
    printf("\nThe largest error over radius of each case: least .. largest | cases below 1e-2, 1e-1, 1, 10, "
           "100, "
           "1e3, above\n");
    print_layer_norm(seed);
    for (int o = 0; o < OPERATORS; o++) {
        static tally t;
        memset(&t, 0, sizeof t);
        for (int l = 0; l < (o < WITH_LONG_ROWS ? LENGTHS : LENGTHS - 1); l++)
            for (int class = 0; class < CLASSES; class ++)
                try_case(&t, &operators[o], class, lengths[l], seed + (uint64_t)(o * 100 + l * 10 + class));
        print_tally(&operators[o], &t);
    }
    return 0;
}
