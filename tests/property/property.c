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
    return property_add_shaped(p, name, p->type, rank, (const int64_t[]){rows, columns});
}

static int64_t copy_shape(int rank, const int64_t *shape, int64_t *to) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= to[i] = shape[i];
    return count;
}

property_input *property_add_shaped(property_problem *p, const char *name, cupel_dtype type, int rank,
                                    const int64_t *shape) {
    property_input *in = &p->inputs[p->input_count++];
    *in = (property_input){.name = name, .type = type, .rank = rank};
    in->count = copy_shape(rank, shape, in->shape);
    in->values = cupel_arena_alloc(p->arena, (size_t)in->count * sizeof(double) + 8);
    memset(in->values, 0, (size_t)in->count * sizeof(double));
    return in;
}

void property_expect(property_problem *p, int rank, const int64_t *shape) {
    p->rank = rank;
    p->count = copy_shape(rank, shape, p->shape);
}

static double normal(cupel_random *random) {
    const double u = cupel_random_unit(random), v = cupel_random_unit(random);
    return sqrt(-2 * log(u + 0x1p-60)) * cos(6.283185307179586 * v);
}

static double draw(cupel_random *r, cupel_dtype type, int pattern, int64_t i) {
    const double largest = cupel_format_largest(type), smallest = cupel_format_normal(type);
    const double sign = cupel_random_below(r, 2) ? 1 : -1;
    switch (pattern) {
    case 0: return normal(r);
    case 1: return normal(r) * 0.01 + (type == CUPEL_F32 ? 1000 : 10);
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
    const cupel_dtype type = input->type;
    for (int64_t i = 0; i < input->count; i++)
        input->values[i] = cupel_round(type, draw(&p->random, type, pattern, i));
    const double specials[] = {
        NAN, INFINITY, -INFINITY, -0.0, 0.0, cupel_format_largest(type), cupel_format_smallest(type)};
    if (cupel_random_below(&p->random, 4) != 0) return;
    const int count = 1 + (int)cupel_random_below(&p->random, 3);
    for (int k = 0; k < count && input->count > 0; k++) {
        const int64_t at = (int64_t)cupel_random_below(&p->random, (uint64_t)input->count);
        input->values[at] = specials[cupel_random_below(&p->random, 7)];
    }
}

void property_fill_any(property_problem *p, property_input *input) {
    const bool same = cupel_random_below(&p->random, 2);
    property_fill(p, input, same ? p->pattern : (int)cupel_random_below(&p->random, PATTERN_COUNT));
}

void property_fill_integers(property_problem *p, property_input *input, int64_t low, int64_t high) {
    for (int64_t i = 0; i < input->count; i++)
        input->values[i] =
            (double)(low + (int64_t)cupel_random_below(&p->random, (uint64_t)(high - low + 1)));
}

int property_try_build(property_problem *p, cupel_error *err) {
    cupel_symbol_input *inputs = cupel_arena_alloc(p->arena, PROPERTY_INPUTS * sizeof *inputs);
    for (int i = 0; i < p->input_count; i++) {
        const property_input *in = &p->inputs[i];
        inputs[i] = (cupel_symbol_input){.name = in->name, .type = in->type, .rank = in->rank};
        memcpy(inputs[i].shape, in->shape, sizeof in->shape);
        void *bytes = cupel_arena_alloc(p->arena, (size_t)in->count * 8 + 8);
        cupel_encode_many(in->type, in->values, (size_t)in->count, bytes);
        p->data[i] = bytes;
    }
    cupel_expr *expr;
    const cupel_span text = cupel_span_of(p->expression, "property", 1, 1);
    CUPEL_TRY(cupel_expr_parse(text, p->arena, &expr, err));
    cupel_symbol_output *output = cupel_arena_alloc(p->arena, sizeof *output);
    *output = (cupel_symbol_output){.name = "y", .type = p->type, .rank = p->rank, .ensures = expr};
    memcpy(output->shape, p->shape, sizeof p->shape);
    cupel_symbol_number *dims = cupel_arena_alloc(p->arena, 3 * sizeof *dims);
    const char *const names[] = {"M", "N", "K"};
    const int64_t extents[] = {p->m, p->n, p->k};
    for (int i = 0; i < 3; i++)
        dims[i] =
            (cupel_symbol_number){.name = names[i], .integer = extents[i], .number = (double)extents[i]};
    const cupel_symbols symbols = {.input_count = p->input_count,
                                   .inputs = inputs,
                                   .number_count = 3,
                                   .numbers = dims,
                                   .output_count = 1,
                                   .outputs = output,
                                   .products_given = p->products_given,
                                   .products = p->products};
    CUPEL_TRY(cupel_graph_build(&symbols, p->arena, &p->graph, err));
    p->bindings = (cupel_bindings){p->input_count, p->data};
    return CUPEL_OK;
}

void property_build(property_problem *p) {
    cupel_error err = {0};
    if (property_try_build(p, &err) != CUPEL_OK) fail_msg("%s: %s", p->expression, err.text);
}

void property_answer(property_problem *p) {
    property_build(p);
    property_answer_built(p);
}

void property_answer_built(property_problem *p) {
    cupel_error err = {0};
    if (cupel_oracle_bounded(p->graph, &p->bindings, &p->rules, p->arena, &p->allowed, &err) != CUPEL_OK)
        fail_msg("%s: %s", p->expression, err.text);
    assert_int_equal(p->allowed.count, p->count);
}

int property_judge(const property_problem *p, const double *results, double *worst, int64_t *judged,
                   int64_t *first) {
    const bool real = cupel_format_of(p->type)->kind == CUPEL_KIND_REAL;
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
        if (!real || p->rules.subnormals == CUPEL_SUBNORMALS_FLUSH) continue; /* the hull's own end is 1 */
        /* before rounding to the output: how much of the radius correct kernels use */
        const double error = fabs(results[i] - p->allowed.value[i]), radius = p->allowed.radius[i];
        if (isfinite(error) && isfinite(radius) && radius > 0 && error / radius > *worst)
            *worst = error / radius;
    }
    return outside;
}

int64_t property_excess(const property_problem *p, const double *results) {
    int64_t worst = -1;
    double most = 1 + 1e-9;
    if (cupel_format_of(p->type)->kind != CUPEL_KIND_REAL) return -1; /* converted already */
    for (int64_t i = 0; i < p->count; i++) {
        if (p->allowed.reasons[i]) continue;
        const double ratio = fabs(results[i] - p->allowed.value[i]) / p->allowed.radius[i];
        const bool flushed = p->rules.subnormals == CUPEL_SUBNORMALS_FLUSH && results[i] == 0;
        if (!flushed && isfinite(results[i]) && isfinite(ratio) && ratio > most) most = ratio, worst = i;
    }
    return worst;
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

static void run(property_problem *p, const property_operator *op, int form, double *results) {
    if (op->shadow) {
        op->shadow(p, form, results);
        return;
    }
    for (int64_t i = 0; i < p->count; i++) {
        const float x = (float)p->inputs[0].values[i];
        const float w = p->input_count > 1 ? (float)p->inputs[1].values[i] : 0;
        const float b = p->input_count > 2 ? (float)p->inputs[2].values[i] : 0;
        results[i] = op->scalar(p, form, x, w, b);
    }
}

void property_run(property_problem *p, const property_operator *op, int form, double *results) {
#if defined(__SSE2__)
    /* under flush a kernel may flush, or not */
    const bool flush =
        p->rules.subnormals == CUPEL_SUBNORMALS_FLUSH && cupel_random_below(&p->random, 4) != 0;
    const unsigned before = _mm_getcsr();
    if (flush) _mm_setcsr(before | 0x8040); /* results and operands */
    run(p, op, form, results);
    _mm_setcsr(before);
#else
    run(p, op, form, results);
#endif
}

/* x, and w and b in the shapes of the kind. */
static void draw_inputs(property_problem *p, const property_operator *op) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    const bool pointwise = op->kind == PROPERTY_POINTWISE, product = op->kind == PROPERTY_PRODUCT;
    if (op->inputs > 1)
        property_fill_any(p, product     ? property_add(p, "w", 2, p->n, p->k)
                             : pointwise ? property_add(p, "w", 2, p->m, p->n)
                                         : property_add(p, "w", 1, p->n, 0));
    if (op->inputs > 2)
        property_fill_any(p,
                          pointwise ? property_add(p, "b", 2, p->m, p->n) : property_add(p, "b", 1, p->k, 0));
    property_expect(p, op->kind == PROPERTY_NUMBERS ? 1 : 2, (const int64_t[]){p->m, p->k});
}

void property_draw(property_problem *p, const property_operator *op, uint64_t seed, cupel_arena *arena) {
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F32, CUPEL_F16, CUPEL_BF16};
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 17, 31, 33, 64, 100};
    *p = (property_problem){
        .op = op, .expression = op->expression, .arena = arena, .random = cupel_random_start(seed, 77)};
    cupel_random *r = &p->random;
    p->type = types[cupel_random_below(r, 4)];
    p->rules = (cupel_rules){.working = CUPEL_F32, .fast_math = cupel_random_below(r, 3) != 0};
    if (cupel_random_below(r, 5) == 0) p->rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    p->m = 1 + (int64_t)cupel_random_below(r, 3);
    p->n = lengths[cupel_random_below(r, 11)];
    p->k = op->kind == PROPERTY_PRODUCT ? 1 + (int64_t)cupel_random_below(r, 5) : p->n;
    p->pattern = (int)cupel_random_below(r, PATTERN_COUNT);
    if (op->kind == PROPERTY_OWN)
        op->prepare(p);
    else
        draw_inputs(p, op);
    if (op->output != CUPEL_F64) p->type = op->output;
}
