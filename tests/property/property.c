#include "property.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

property_input *property_add(property_problem *p, const char *name, int rank, int64_t rows, int64_t columns) {
    property_input *in = &p->inputs[p->input_count++];
    *in = (property_input){.name = name, .rank = rank, .shape = {rows, columns}};
    in->count = rank == 2 ? rows * columns : rank == 1 ? rows : 1;
    in->values = cupel_arena_alloc(p->arena, (size_t)in->count * sizeof(double));
    return in;
}

static double normal(cupel_random *random) {
    const double u = cupel_random_unit(random), v = cupel_random_unit(random);
    return sqrt(-2 * log(u + 0x1p-60)) * cos(6.283185307179586 * v);
}

static double draw(property_problem *p, int pattern, int64_t i) {
    cupel_random *r = &p->random;
    const double largest = cupel_format_largest(p->type), smallest = cupel_format_normal(p->type);
    const double sign = cupel_random_below(r, 2) ? 1 : -1;
    switch (pattern) {
    case 0: return normal(r);
    case 1: return normal(r) * 0.01 + (p->type == CUPEL_F32 ? 1000 : 10);
    case 2: return (double)cupel_random_below(r, 17) - 8;
    case 3: return exp((cupel_random_unit(r) - 0.5) * 2 * log(largest)) * sign;
    case 4: return largest * cupel_random_unit(r) * sign;
    case 5: return smallest * 4 * cupel_random_unit(r) * sign;
    case 6: return i % 2 ? 100 + normal(r) : -100 - normal(r) * 0.001;
    case 7: return i == 0 ? 1e4 : normal(r);
    case 8: return 0.1;
    case 9: return exp(20 * (cupel_random_unit(r) - 0.5)) * sign;
    case 10: return normal(r) * 30;
    default: return (double)(cupel_random_below(r, 512)) * 0.125;
    }
}

void property_fill(property_problem *p, property_input *input, int pattern) {
    for (int64_t i = 0; i < input->count; i++) input->values[i] = cupel_round(p->type, draw(p, pattern, i));
    const double specials[] = {
        NAN, INFINITY, -INFINITY, -0.0, 0.0, cupel_format_largest(p->type), cupel_format_smallest(p->type)};
    if (cupel_random_below(&p->random, 4) != 0) return;
    const int count = 1 + (int)cupel_random_below(&p->random, 3);
    for (int k = 0; k < count && input->count > 0; k++) {
        const int64_t at = (int64_t)cupel_random_below(&p->random, (uint64_t)input->count);
        input->values[at] = specials[cupel_random_below(&p->random, 7)];
    }
}

void property_build(property_problem *p) {
    cupel_error err = {0};
    cupel_symbol_input *inputs = cupel_arena_alloc(p->arena, PROPERTY_INPUTS * sizeof *inputs);
    for (int i = 0; i < p->input_count; i++) {
        const property_input *in = &p->inputs[i];
        inputs[i] = (cupel_symbol_input){.name = in->name, .type = p->type, .rank = in->rank};
        memcpy(inputs[i].shape, in->shape, sizeof in->shape);
        void *bytes = cupel_arena_alloc(p->arena, (size_t)in->count * 8 + 8);
        cupel_encode_many(p->type, in->values, (size_t)in->count, bytes);
        p->data[i] = bytes;
    }
    cupel_expr *expr;
    const cupel_span text = cupel_span_of(p->expression, "property", 1, 1);
    if (cupel_expr_parse(text, p->arena, &expr, &err) != CUPEL_OK)
        fail_msg("%s: %s", p->expression, err.text);
    cupel_symbol_output *output = cupel_arena_alloc(p->arena, sizeof *output);
    *output = (cupel_symbol_output){.name = "y", .type = p->type, .rank = p->rank, .ensures = expr};
    memcpy(output->shape, p->shape, sizeof p->shape);
    const cupel_symbols symbols = {
        .input_count = p->input_count, .inputs = inputs, .output_count = 1, .outputs = output};
    if (cupel_graph_build(&symbols, p->arena, &p->graph, &err) != CUPEL_OK)
        fail_msg("%s: %s", p->expression, err.text);
    p->bindings = (cupel_bindings){p->input_count, p->data};
}

void property_answer(property_problem *p) {
    cupel_error err = {0};
    property_build(p);
    if (cupel_oracle_bounded(p->graph, &p->bindings, &p->rules, p->arena, &p->allowed, &err) != CUPEL_OK)
        fail_msg("%s: %s", p->expression, err.text);
    assert_int_equal(p->allowed.count, p->count);
}

int property_judge(const property_problem *p, const double *results, double *worst, int64_t *judged,
                   int64_t *first) {
    int outside = 0;
    for (int64_t i = 0; i < p->count; i++) {
        unsigned char element[8];
        cupel_encode(p->type, results[i], element);
        const cupel_judgement verdict = cupel_judge_element(&p->allowed, i, element);
        if (verdict == CUPEL_NOT_JUDGED) continue;
        (*judged)++;
        if (verdict != CUPEL_ALLOWED) {
            if (outside++ == 0) *first = i;
            continue;
        }
        /* before rounding to the output: how much of the radius correct kernels use */
        const double error = fabs(results[i] - p->allowed.value[i]), radius = p->allowed.radius[i];
        if (isfinite(error) && isfinite(radius) && radius > 0 && error / radius > *worst)
            *worst = error / radius;
    }
    return outside;
}

void property_describe(const property_problem *p, const double *results, int64_t i, char *line, size_t size) {
    const cupel_allowed *a = &p->allowed;
    snprintf(line, size,
             "%s %s m=%lld n=%lld k=%lld [%lld]: got %a = %.9g, exact %.17g, allowed [%.9g, %.9g] radius "
             "%.3g classes %d",
             p->expression, cupel_format_of(p->type)->name, (long long)p->m, (long long)p->n, (long long)p->k,
             (long long)i, results[i], results[i], a->value[i], a->lo[i], a->hi[i], a->radius[i],
             a->classes[i]);
}

void property_run(property_problem *p, const property_operator *op, int form, double *results) {
#if defined(__SSE2__)
    /* under flush a kernel may flush, or not */
    const bool flush =
        p->rules.subnormals == CUPEL_SUBNORMALS_FLUSH && cupel_random_below(&p->random, 4) != 0;
    const unsigned before = _mm_getcsr();
    if (flush) _mm_setcsr(before | 0x8040); /* results and operands */
    op->shadow(p, form, results);
    _mm_setcsr(before);
#else
    op->shadow(p, form, results);
#endif
}

float property_nudge(float x, int steps, cupel_random *random) {
    if (!isfinite(x) || x == 0) return x;
    const int by = (int)cupel_random_below(random, (uint64_t)(2 * steps + 1)) - steps;
    for (int i = 0; i < by; i++) x = nextafterf(x, INFINITY);
    for (int i = 0; i < -by; i++) x = nextafterf(x, -INFINITY);
    return x;
}

/* Forms: 0 the library's, 1 ex2.approx(x * log2(e)), 2 the same one ulp off. */
float property_exp(float x, int form, cupel_random *random) {
    if (form == 0) return expf(x);
    return property_nudge(exp2f(x * 1.44269504f), form - 1, random);
}

float property_divide(float x, float y, int form, cupel_random *random) {
    if (form == 0) return x / y;
    if (form == 1) return x * (1.0f / y);
    int exponent;
    if (frexpf(y, &exponent) == 0.5f) return x / y; /* the hardware's reciprocal of a power of two is exact */
    return x * property_nudge(1.0f / y, 1, random);
}

float property_rsqrt(float x, int form, cupel_random *random) {
    if (form == 0) return 1.0f / sqrtf(x);
    return property_nudge((float)(1 / sqrt((double)x)), 1, random);
}

static float lanes(const float *x, int64_t n, int count) {
    float partial[256] = {0};
    for (int64_t i = 0; i < n; i++) partial[i % count] += x[i];
    for (int half = count / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) partial[i] += partial[i + half];
    }
    return partial[0];
}

static float pairwise(const float *x, int64_t n) {
    if (n == 0) return 0;
    if (n == 1) return x[0];
    return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

static float random_tree(const float *x, int64_t n, cupel_random *random) {
    if (n == 0) return 0;
    if (n == 1) return x[0];
    const int64_t cut = 1 + (int64_t)cupel_random_below(random, (uint64_t)(n - 1));
    return random_tree(x, cut, random) + random_tree(x + cut, n - cut, random);
}

static float kahan(const float *x, int64_t n) {
    float sum = 0, lost = 0;
    for (int64_t i = 0; i < n; i++) {
        const float y = x[i] - lost, t = sum + y;
        lost = isfinite(t) ? (t - sum) - y : 0;
        sum = t;
    }
    return sum;
}

float property_sum(const float *x, int64_t n, int order, cupel_random *random) {
    float s = 0;
    switch (order % ORDER_COUNT) {
    case 0:
        for (int64_t i = 0; i < n; i++) s += x[i];
        return s;
    case 1:
        for (int64_t i = n; i-- > 0;) s += x[i];
        return s;
    case 2: return pairwise(x, n);
    case 3: return lanes(x, n, 32);
    case 4: return lanes(x, n, 256);
    case 5: return kahan(x, n);
    case 6: return lanes(x, n, 8);
    default: return random_tree(x, n, random);
    }
}

void property_draw(property_problem *p, const property_operator *op, uint64_t seed, cupel_arena *arena) {
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F32, CUPEL_F16, CUPEL_BF16};
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 17, 31, 33, 64, 100};
    *p = (property_problem){
        .expression = op->expression, .arena = arena, .random = cupel_random_start(seed, 77)};
    cupel_random *r = &p->random;
    p->type = types[cupel_random_below(r, 4)];
    p->rules = (cupel_rules){.working = CUPEL_F32, .fast_math = cupel_random_below(r, 3) != 0};
    if (cupel_random_below(r, 5) == 0) p->rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    p->m = 1 + (int64_t)cupel_random_below(r, 3);
    p->n = lengths[cupel_random_below(r, 11)];
    p->k = op->kind == 3 ? 1 + (int64_t)cupel_random_below(r, 5) : p->n;
    const int pattern = (int)cupel_random_below(r, PATTERN_COUNT);
    property_input *x = property_add(p, "x", 2, p->m, p->n);
    property_fill(p, x, pattern);
    if (op->inputs > 1) {
        property_input *w = op->kind == 3   ? property_add(p, "w", 2, p->n, p->k)
                            : op->kind == 0 ? property_add(p, "w", 2, p->m, p->n)
                                            : property_add(p, "w", 1, p->n, 0);
        property_fill(p, w, cupel_random_below(r, 2) ? pattern : (int)cupel_random_below(r, PATTERN_COUNT));
    }
    if (op->inputs > 2) {
        property_input *b =
            op->kind == 0 ? property_add(p, "b", 2, p->m, p->n) : property_add(p, "b", 1, p->k, 0);
        property_fill(p, b, cupel_random_below(r, 2) ? pattern : (int)cupel_random_below(r, PATTERN_COUNT));
    }
    p->rank = op->kind == 2 ? 1 : 2;
    p->shape[0] = p->m;
    p->shape[1] = op->kind == 2 ? 0 : p->k;
    p->count = op->kind == 2 ? p->m : p->m * p->k;
}
