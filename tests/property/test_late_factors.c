/* A common factor or divisor may be applied before a sum, after it, or in part on either side, which moves
 * where the range ends: correct kernels in such forms, with magnitudes up to both ends of the range, are not
 * accused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "property.h"

enum { LONGEST = 40 };

/* Inputs x [m, n], w [n, k], and the scales c [m, 1], d [m, 1]. */
typedef struct recipe recipe;
typedef float element(property_problem *p, int64_t row, int64_t column, int form);
struct recipe {
    const char *expression;
    bool matrix;   /* the output is [m, k]; else [m] */
    bool running;  /* the output is [m, n]: element `column` is a sum over 0 .. column */
    bool moderate; /* x holds scores, or is squared: its magnitudes stay near 1 */
    int forms;
    element *shadow;
};

static float x_of(const property_problem *p, int64_t row, int64_t i) {
    return (float)p->inputs[0].values[row * p->n + i];
}
static float w_of(const property_problem *p, int64_t i, int64_t column) {
    return (float)p->inputs[1].values[i * p->k + column];
}
static float c_of(const property_problem *p, int64_t row) {
    return (float)p->inputs[2].values[row];
}
static float d_of(const property_problem *p, int64_t row) {
    return (float)p->inputs[3].values[row];
}

static float total(property_problem *p, const float *terms, int64_t n) {
    return property_sum(terms, n, (int)cupel_random_below(&p->random, ORDER_COUNT), &p->random);
}

/* sum(x * c): before, after. */
static float scaled(property_problem *p, int64_t row, int64_t n, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row);
    for (int64_t i = 0; i < n; i++) terms[i] = form ? x_of(p, row, i) : x_of(p, row, i) * c;
    return form ? total(p, terms, n) * c : total(p, terms, n);
}

static float late_scale(property_problem *p, int64_t row, int64_t column, int form) {
    (void)column;
    return scaled(p, row, p->n, form);
}

static float late_scan(property_problem *p, int64_t row, int64_t column, int form) {
    return scaled(p, row, column + 1, form);
}

/* sum(x / c): before, after, and by the reciprocal in both places. */
static float late_divisor(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row), inverse = 1.0f / c;
    (void)column;
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i);
        terms[i] = form == 0 ? x / c : form == 1 ? x * inverse : x;
    }
    const float s = total(p, terms, p->n);
    return form < 2 ? s : form == 2 ? s / c : s * inverse;
}

/* sum(x * c / d): each on either side, and their quotient. */
static float late_quotient(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row), d = d_of(p, row), both = c / d;
    (void)column;
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i);
        terms[i] = form == 0 ? x * c / d : form == 1 ? x * c : form == 2 ? x / d : form == 3 ? x * both : x;
    }
    const float s = total(p, terms, p->n);
    return form == 1 ? s / d : form == 2 ? s * c : form == 4 ? s * both : form == 5 ? s * c / d : s;
}

/* matmul(x * c, w): c on the row before, with the product, after. */
static float late_dequantise(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST], acc = 0;
    const float c = c_of(p, row);
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i), w = w_of(p, i, column);
        terms[i] = form == 0 ? x * c * w : form == 1 ? x * (c * w) : x * w;
        acc = fmaf(x, w, acc);
    }
    return form < 2 ? total(p, terms, p->n) : form == 2 ? total(p, terms, p->n) * c : acc * c;
}

/* matmul(x * c, w * d[0]): both outside, or one. */
static float late_pair(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row), d = d_of(p, 0);
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i), w = w_of(p, i, column);
        terms[i] = form == 0 ? (x * c) * (w * d) : form == 1 ? x * w : form == 2 ? (x * c) * w : x * (w * d);
    }
    const float s = total(p, terms, p->n);
    return form == 0 ? s : form == 1 ? s * (c * d) : form == 2 ? s * d : form == 3 ? s * c : s;
}

/* matmul(x, w) * c: c on x, or on w, before the sum. */
static float early_scale(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row);
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i), w = w_of(p, i, column);
        terms[i] = form == 0 ? x * w : form == 1 ? (x * c) * w : form == 2 ? x * (w * c) : (x * w) * c;
    }
    return form == 0 ? total(p, terms, p->n) * c : total(p, terms, p->n);
}

/* sum(x * c) * d: both inside, both outside, their product on either side. */
static float two_sides(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row), d = d_of(p, row);
    (void)column;
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i);
        terms[i] = form == 0   ? x * c
                   : form == 1 ? x * c * d
                   : form == 2 ? x
                   : form == 3 ? x * (c * d)
                               : x * d;
    }
    const float s = total(p, terms, p->n);
    return form == 0 ? s * d : form == 2 ? s * c * d : form == 4 ? s * c : s;
}

/* Attention: probabilities first; divided at the end; online with rescaling; by the reciprocal. */
static float late_attention(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST], e[LONGEST], top = x_of(p, row, 0);
    for (int64_t i = 1; i < p->n; i++) top = fmaxf(top, x_of(p, row, i));
    if (form == 2) {
        float m = -INFINITY, l = 0, acc = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const float next = fmaxf(m, x_of(p, row, i)), r = expf(m - next),
                        weight = expf(x_of(p, row, i) - next);
            l = l * r + weight;
            acc = acc * r + weight * w_of(p, i, column);
            m = next;
        }
        return acc / l;
    }
    for (int64_t i = 0; i < p->n; i++) e[i] = expf(x_of(p, row, i) - top);
    const float l = total(p, e, p->n);
    for (int64_t i = 0; i < p->n; i++) terms[i] = (form == 0 ? e[i] / l : e[i]) * w_of(p, i, column);
    const float s = total(p, terms, p->n);
    return form == 0 ? s : form == 1 ? s / l : s * (1.0f / l);
}

/* matmul(rms_norm(x), w): the root after the dot product. */
static float late_root(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST], squares[LONGEST];
    for (int64_t i = 0; i < p->n; i++) squares[i] = x_of(p, row, i) * x_of(p, row, i);
    const float mean = total(p, squares, p->n) / (float)p->n + 1e-5f;
    const float scale = 1.0f / sqrtf(mean);
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i), w = w_of(p, i, column);
        terms[i] = form == 0 ? x * scale * w : x * w;
    }
    const float s = total(p, terms, p->n);
    return form == 0 ? s : form == 1 ? s * scale : s / sqrtf(mean);
}

/* mean(x * c) */
static float late_mean(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row), n = (float)p->n;
    (void)column;
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i);
        terms[i] = form == 0 ? x * c : form == 1 ? x : form == 2 ? (x / n) * c : x * (1.0f / n);
    }
    const float s = total(p, terms, p->n);
    return form == 0 ? s / n : form == 1 ? s / n * c : form == 2 ? s : s * c;
}

/* sum(matmul(x, w) * c): the factor outside both sums, inside both, or between them. */
static float late_nested(property_problem *p, int64_t row, int64_t column, int form) {
    float outer[LONGEST], terms[LONGEST];
    const float c = c_of(p, row);
    (void)column;
    for (int64_t j = 0; j < p->k; j++) {
        for (int64_t i = 0; i < p->n; i++) {
            const float x = x_of(p, row, i), w = w_of(p, i, j);
            terms[i] = form == 1 ? (x * c) * w : form == 2 ? x * (w * c) : x * w;
        }
        const float inner = total(p, terms, p->n);
        outer[j] = form == 0 ? inner * c : inner;
    }
    const float s = total(p, outer, p->k);
    return form == 3 ? s * c : s;
}

/* sum(x / sum(abs(x)) * c): the divisor is a sum itself, applied to every term or to their sum. */
static float late_sum_divisor(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST], sizes[LONGEST];
    const float c = c_of(p, row);
    (void)column;
    for (int64_t i = 0; i < p->n; i++) sizes[i] = fabsf(x_of(p, row, i));
    const float divisor = total(p, sizes, p->n), inverse = 1.0f / divisor;
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i);
        terms[i] = form == 0 ? x / divisor * c : form == 1 ? x * c : form == 2 ? x * inverse : x;
    }
    const float s = total(p, terms, p->n);
    return form == 0   ? s
           : form == 1 ? s / divisor
           : form == 2 ? s * c
           : form == 3 ? s * c / divisor
                       : s * inverse * c;
}

/* matmul(x, w) * c + d: the sum starts from d, or d comes last; c on either side. */
static float late_bias(property_problem *p, int64_t row, int64_t column, int form) {
    float terms[LONGEST];
    const float c = c_of(p, row), d = d_of(p, row);
    for (int64_t i = 0; i < p->n; i++) {
        const float x = x_of(p, row, i), w = w_of(p, i, column);
        terms[i] = form == 0 ? x * w : form == 1 ? (x * c) * w : x * (w * c);
    }
    if (form == 0) return total(p, terms, p->n) * c + d;
    if (form == 1) return total(p, terms, p->n) + d;
    float s = d;
    for (int64_t i = 0; i < p->n; i++) s += terms[i];
    return s;
}

static const recipe recipes[] = {
    {"sum(matmul(x, w) * c, axis=-1)", false, false, false, 4, late_nested},
    {"sum(x / sum(abs(x), axis=-1, keepdim=true) * c, axis=-1)", false, false, false, 5, late_sum_divisor},
    {"matmul(x, w) * c + d", true, false, false, 3, late_bias},
    {"sum(x * c, axis=-1)", false, false, false, 2, late_scale},
    {"cumsum(x * c, axis=-1)", false, true, false, 2, late_scan},
    {"sum(x / c, axis=-1)", false, false, false, 4, late_divisor},
    {"sum(x * c / d, axis=-1)", false, false, false, 6, late_quotient},
    {"sum(x * c, axis=-1) * d[:, 0]", false, false, false, 5, two_sides},
    {"mean(x * c, axis=-1)", false, false, false, 4, late_mean},
    {"matmul(x * c, w)", true, false, false, 4, late_dequantise},
    {"matmul(x * c, w * d[0])", true, false, false, 4, late_pair},
    {"matmul(x, w) * c", true, false, false, 4, early_scale},
    {"matmul(softmax(x, axis=-1), w)", true, false, true, 4, late_attention},
    {"matmul(rms_norm(x, eps=1e-5), w)", true, false, true, 3, late_root},
};
enum { RECIPE_COUNT = sizeof recipes / sizeof *recipes };

/* Magnitudes log-uniform over the whole range, near either end of it, or near 1; a row's vary by a few
 * binades, or by all. */
static void fill(property_problem *p, property_input *in, bool moderate) {
    cupel_random *r = &p->random;
    const double top = log2(cupel_format_largest(p->type)), bottom = log2(cupel_format_smallest(p->type));
    const double ends[] = {top, bottom, -top, 0};
    const int where = moderate ? 3 : (int)cupel_random_below(r, 5);
    const double middle = where < 4 ? ends[where] : bottom + (top - bottom) * cupel_random_unit(r);
    const double width = cupel_random_below(r, 4) ? 4 : moderate ? 8 : top;
    const bool one_sign = cupel_random_below(r, 2);
    for (int64_t i = 0; i < in->count; i++) {
        double exponent = middle + width * (cupel_random_unit(r) - 0.5);
        exponent = fmin(fmax(exponent, bottom), top - 0.01);
        const double sign = one_sign || cupel_random_below(r, 2) ? 1 : -1;
        in->values[i] = cupel_round(p->type, sign * exp2(exponent));
    }
}

static void draw(property_problem *p, const recipe *r, uint64_t seed, cupel_arena *arena) {
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F32, CUPEL_F16, CUPEL_BF16};
    *p = (property_problem){
        .expression = r->expression, .arena = arena, .random = cupel_random_start(seed, 91)};
    p->type = types[cupel_random_below(&p->random, 4)];
    p->rules = (cupel_rules){.working = CUPEL_F32};
    if (cupel_random_below(&p->random, 4) == 0) p->rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    p->m = 1 + (int64_t)cupel_random_below(&p->random, 3);
    p->n = 1 + (int64_t)cupel_random_below(&p->random, LONGEST);
    p->k = 1 + (int64_t)cupel_random_below(&p->random, 3);
    fill(p, property_add(p, "x", 2, p->m, p->n), r->moderate);
    fill(p, property_add(p, "w", 2, p->n, p->k), false);
    fill(p, property_add(p, "c", 2, p->m, 1), false);
    fill(p, property_add(p, "d", 2, p->m, 1), false);
    p->rank = r->matrix || r->running ? 2 : 1;
    p->shape[0] = p->m;
    p->shape[1] = r->matrix ? p->k : r->running ? p->n : 0;
    p->count = p->m * (p->rank == 2 ? p->shape[1] : 1);
}

static const recipe *running; /* for the shadow, whose type knows no recipe */

static void shadow(property_problem *p, int form, double *results) {
    const int64_t columns = p->rank == 2 ? p->shape[1] : 1;
    for (int64_t i = 0; i < p->count; i++) results[i] = running->shadow(p, i / columns, i % columns, form);
}

/* The exact evaluator, which decides. */
static void answer_exactly(property_problem *p) {
    cupel_error err = {0};
    cupel_exact_session *session;
    if (cupel_exact_open(p->graph, &p->bindings, &p->rules, &session, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
    if (cupel_exact_output(session, 0, p->arena, &p->allowed, &err) != CUPEL_OK) fail_msg("%s", err.text);
    cupel_exact_close(session);
}

static int failures;

static void judge(property_problem *p, const double *results, const char *by, uint64_t seed, int form,
                  int64_t *judged) {
    double worst = 0;
    int64_t first = -1;
    if (property_judge(p, results, &worst, judged, &first) == 0 || failures++ >= 20) return;
    char line[512];
    property_describe(p, results, first, line, sizeof line);
    print_message("%s, case seed %llu form %d flush %d: %s\n", by, (unsigned long long)seed, form,
                  p->rules.subnormals, line);
}

/* What the filter judges the exact evaluator judges, and no more widely. */
static void contain(const property_problem *p, const cupel_allowed *b, const cupel_allowed *e,
                    uint64_t seed) {
    const double tiny = cupel_format_smallest(p->rules.working);
    for (int64_t i = 0; i < p->count; i++) {
        if (b->reasons[i] || e->reasons[i] == CUPEL_REASON_UNABLE) continue;
        const bool narrow = b->radius[i] < e->radius[i] * (1 - 1e-3) - tiny;
        if ((!e->reasons[i] && !narrow) || failures++ >= 20) continue;
        print_message("%s case seed %llu [%lld]: bounded %.9g +- %.6g, exact %.9g +- %.6g reason %d\n",
                      p->expression, (unsigned long long)seed, (long long)i, b->value[i], b->radius[i],
                      e->value[i], e->radius[i], e->reasons[i]);
    }
}

static void late_forms_stay_inside(void **state) {
    (void)state;
    const char *text = getenv("CUPEL_PROPERTY_CASES");
    const long wanted = text ? strtol(text, NULL, 10) : 0,
               cases = (wanted > 0 ? wanted : 9000) / RECIPE_COUNT;
    cupel_arena *arena = cupel_arena_create(0);
    for (int k = 0; k < RECIPE_COUNT; k++) {
        running = &recipes[k];
        int64_t judged = 0, all = 0, filtered = 0;
        for (long c = 0; c < cases; c++) {
            property_problem p;
            const uint64_t seed = (uint64_t)c * 131 + (uint64_t)k;
            draw(&p, running, seed, arena);
            property_answer(&p);
            const cupel_allowed bounded = p.allowed;
            answer_exactly(&p);
            const cupel_allowed exact = p.allowed;
            const property_operator op = {
                running->expression, running->expression, 4, 0, running->forms, shadow, NULL, NULL, 0};
            double *results = cupel_arena_alloc(arena, (size_t)p.count * sizeof(double) + 8);
            all += p.count;
            contain(&p, &bounded, &exact, seed);
            for (int form = 0; form < running->forms; form++) {
                property_run(&p, &op, form, results);
                p.allowed = bounded;
                judge(&p, results, "filter", seed, form, &filtered);
                p.allowed = exact;
                judge(&p, results, "exact", seed, form, &judged);
            }
            cupel_arena_reset(arena);
        }
        all *= running->forms;
        print_message("%-58s judged %4.1f%%, by the filter %4.1f%%\n", running->expression,
                      100.0 * (double)judged / (double)all, 100.0 * (double)filtered / (double)all);
        assert_true(judged * 5 > all); /* the rule leaves something to judge */
    }
    cupel_arena_free(arena);
    assert_int_equal(failures, 0);
}

/* One row of n equal elements x, one column of n equal elements w, one scale c, in f32. */
typedef struct fixed_case {
    const char *expression;
    int64_t n;
    double x, w, c;
    bool matrix;
    double shrink; /* this factor on x and w takes the case far from the end of the range */
} fixed_case;

static void answer_fixed(property_problem *p, const fixed_case *f, double scale, cupel_arena *arena) {
    *p = (property_problem){.expression = f->expression, .arena = arena, .type = CUPEL_F32};
    p->rules = (cupel_rules){.working = CUPEL_F32};
    p->m = p->k = p->count = p->shape[0] = 1;
    p->n = f->n;
    p->rank = f->matrix ? 2 : 1;
    p->shape[1] = f->matrix;
    property_input *x = property_add(p, "x", 2, 1, f->n), *w = property_add(p, "w", 2, f->n, 1),
                   *c = property_add(p, "c", 2, 1, 1);
    for (int64_t i = 0; i < f->n; i++) {
        x->values[i] = (float)(f->x * scale);
        w->values[i] = (float)(f->w * scale);
    }
    c->values[0] = (float)f->c;
    property_answer(p);
}

/* The infinity that a late factor, divisor or root makes of a sum is no error near the end of the range, and
 * is one far from it. */
static void minimal_cases(void **state) {
    (void)state;
    static const fixed_case cases[] = {
        {"matmul(softmax(x, axis=-1), w)", 8, 0, 5e37, 0, true, 0x1p-20},
        {"sum(x / 9, axis=-1)", 9, -3.82439e37, 0, 0, false, 0x1p-20},
        {"sum(x * 0.0625, axis=-1)", 9, -3.82439e37, 0, 0, false, 0x1p-20},
        {"matmul(x * c, w)", 2, -8, 3.74066e37, 0.001, true, 0x1p-20},
        {"matmul(rms_norm(x, eps=1e-5), w)", 2, 1e18, -1e21, 0, true, 0x1p-20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double result = INFINITY;
        double worst = 0;
        int64_t judged = 0, first = -1;
        cupel_arena *arena = cupel_arena_create(0);
        property_problem p;
        answer_fixed(&p, &cases[i], 1, arena);
        assert_int_equal(property_judge(&p, &result, &worst, &judged, &first), 0);
        answer_exactly(&p);
        assert_int_equal(property_judge(&p, &result, &worst, &judged, &first), 0);
        assert_int_equal(judged, 0);
        answer_fixed(&p, &cases[i], cases[i].shrink, arena);
        assert_int_equal(property_judge(&p, &result, &worst, &judged, &first), 1);
        answer_exactly(&p);
        assert_int_equal(property_judge(&p, &result, &worst, &judged, &first), 1);
        assert_int_equal(judged, 2);
        cupel_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(late_forms_stay_inside),
                                       cmocka_unit_test(minimal_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
