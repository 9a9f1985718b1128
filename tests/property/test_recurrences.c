/* Correct kernels of the linear recurrences stay inside the allowed sets: recurrent, by trees, in chunks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recurrence_kernels.h"

static long setting(const char *name, long fallback) {
    const char *text = getenv(name);
    const long value = text ? strtol(text, NULL, 10) : 0;
    return value > 0 ? value : fallback;
}

typedef enum kind { LINEAR, LINEAR_EXP, LOGS, SUMS, PRODUCTS, STATE } kind;

typedef struct operator_ {
    const char *name, *expression;
    kind kind;
    bool gated, by_channel, delta, ssd, reverse;
} operator_;

static const operator_ operators[] = {
    {"linear_scan", "linear_scan(a, b)", LINEAR, false, false, false, false, false},
    {"linear_scan reversed", "linear_scan(a, b, axis=1, reverse=true)", LINEAR, false, false, false, false,
     true},
    {"linear_scan of exp", "linear_scan(exp(a), b)", LINEAR_EXP, true, false, false, false, false},
    {"logcumsumexp", "logcumsumexp(b, -1)", LOGS, false, false, false, false, false},
    {"cumsum in order", "cumsum(b, -1)", SUMS, false, false, false, false, false},
    {"cumprod in order", "cumprod(b, -1)", PRODUCTS, false, false, false, false, false},
    {"linear_attention", "linear_attention(q, k, v, scale=0.3)", STATE, false, false, false, false, false},
    {"gated_linear_attention", "gated_linear_attention(q, k, v, g, scale=0.5)", STATE, true, true, false,
     false, false},
    {"delta_rule", "delta_rule(q, k, v, beta, scale=0.3)", STATE, false, false, true, false, false},
    {"gated_delta_rule", "gated_delta_rule(q, k, v, g, beta)", STATE, true, false, true, false, false},
    {"kda", "kda(q, k, v, g, beta, scale=0.3)", STATE, true, true, true, false, false},
    {"ssd", "ssd(v, dt, A, k, q)", STATE, true, false, false, true, false},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static double unit(property_problem *p) {
    return cupel_random_unit(&p->random);
}

static void fill(property_problem *p, property_input *in, int pattern) {
    property_fill(p, in, pattern);
}

/* Every case has a factor near the smallest numbers, and decays that move it there. */
static bool small_factors;

/* Decays below 1, mild or strong, or wild. */
static void fill_decays(property_problem *p, property_input *in, bool logs) {
    const int style = small_factors ? 2 : (int)cupel_random_below(&p->random, 6);
    if (style == 5) {
        fill(p, in, (int)cupel_random_below(&p->random, PATTERN_COUNT));
        return;
    }
    static const double strength[] = {1e-4, 0.05, 0.7, 5, 60};
    for (int64_t i = 0; i < in->count; i++) {
        const double g = -strength[style] * unit(p);
        in->values[i] = cupel_round(p->type, logs ? g : exp(g));
    }
    if (cupel_random_below(&p->random, 6) == 0 && in->count > 0)
        in->values[cupel_random_below(&p->random, (uint64_t)in->count)] = logs ? -INFINITY : 0;
}

static void normalise(property_problem *p, property_input *in) {
    const int64_t n = in->shape[1];
    for (int64_t t = 0; t < in->shape[0]; t++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += in->values[t * n + i] * in->values[t * n + i];
        for (int64_t i = 0; i < n; i++)
            in->values[t * n + i] = cupel_round(p->type, in->values[t * n + i] / (sqrt(sum) + 1e-6));
    }
}

static property_input *find(property_problem *p, const char *name) {
    for (int i = 0; i < p->input_count; i++)
        if (strcmp(p->inputs[i].name, name) == 0) return &p->inputs[i];
    return NULL;
}

static void shrink(property_problem *p, property_input *in) {
    const int power = -90 - (int)cupel_random_below(&p->random, 38);
    for (int64_t i = 0; i < in->count; i++) in->values[i] = cupel_round(p->type, ldexp(in->values[i], power));
}

static void draw_state(property_problem *p, const operator_ *o) {
    cupel_random *r = &p->random;
    const int pattern =
        small_factors || cupel_random_below(r, 2) ? 0 : (int)cupel_random_below(r, PATTERN_COUNT);
    p->k = 1 + (int64_t)cupel_random_below(r, 8);
    p->m = 1 + (int64_t)cupel_random_below(r, 4); /* columns of the state */
    const char *names[] = {"q", "k", "v"};
    const uint64_t tiny = cupel_random_below(r, small_factors ? 3 : 9); /* one of them, or none */
    for (int i = 0; i < 3; i++) {
        property_input *in = property_add(p, names[i], 2, p->n, i == 2 ? p->m : p->k);
        fill(p, in,
             small_factors || cupel_random_below(r, 3) ? pattern : (int)cupel_random_below(r, PATTERN_COUNT));
        if (i == 1 && cupel_random_below(r, 2)) normalise(p, in);
        if (tiny == (uint64_t)i) shrink(p, in);
    }
    if (o->ssd) {
        property_input *dt = property_add(p, "dt", 1, p->n, 0);
        for (int64_t i = 0; i < p->n; i++) dt->values[i] = cupel_round(p->type, unit(p));
        property_input *rate = property_add(p, "A", 0, 0, 0);
        rate->values[0] = cupel_round(p->type, -exp(4 * unit(p) - 2));
    } else if (o->gated) {
        fill_decays(p, property_add(p, "g", o->by_channel ? 2 : 1, p->n, p->k), true);
    }
    if (!o->delta) return;
    property_input *beta = property_add(p, "beta", 1, p->n, 0);
    const double width = cupel_random_below(r, 3) ? 1 : 4;
    for (int64_t i = 0; i < p->n; i++)
        beta->values[i] = cupel_round(p->type, width * unit(p) - (width > 1 ? 1.5 : 0));
}

static void draw(property_problem *p, const operator_ *o, uint64_t seed, cupel_arena *arena) {
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F32, CUPEL_F16, CUPEL_BF16};
    static const int64_t lengths[] = {1, 2, 3, 5, 8, 13, 17, 31, 40, 65};
    *p = (property_problem){
        .expression = o->expression, .arena = arena, .random = cupel_random_start(seed, 78)};
    cupel_random *r = &p->random;
    p->type = types[cupel_random_below(r, 4)];
    p->rules = (cupel_rules){.working = CUPEL_F32, .fast_math = cupel_random_below(r, 3) != 0};
    if (cupel_random_below(r, 5) == 0) p->rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    p->rules.sequential = cupel_random_below(r, 5) == 0;
    p->n = lengths[cupel_random_below(r, 10)];
    p->rank = 2;
    if (o->kind == STATE) {
        draw_state(p, o);
        p->shape[0] = p->n, p->shape[1] = p->m;
    } else {
        p->m = 1 + (int64_t)cupel_random_below(r, 3);
        if (o->kind < LOGS) fill_decays(p, property_add(p, "a", 2, p->m, p->n), o->kind == LINEAR_EXP);
        fill(p, property_add(p, "b", 2, p->m, p->n), (int)cupel_random_below(r, PATTERN_COUNT));
        p->shape[0] = p->m, p->shape[1] = p->n;
    }
    p->rules.sequential |= o->kind == SUMS || o->kind == PRODUCTS;
    p->count = p->shape[0] * p->shape[1];
}

static recurrence_case the_case;

static void read_case(property_problem *p, const operator_ *o) {
    recurrence_case *c = &the_case;
    memset(c, 0, sizeof *c);
    c->l = p->n, c->k = p->k, c->v = p->m, c->gated = o->gated, c->delta = o->delta;
    const char *scale = strstr(o->expression, "scale=");
    c->scale = scale ? strtof(scale + 6, NULL) : 1;
    const property_input *q = find(p, "q"), *k = find(p, "k"), *v = find(p, "v"), *g = find(p, "g"),
                         *beta = find(p, "beta"), *dt = find(p, "dt");
    for (int64_t t = 0; t < c->l; t++) {
        for (int64_t i = 0; i < c->k; i++) {
            c->q[t][i] = (float)q->values[t * c->k + i];
            c->key[t][i] = (float)k->values[t * c->k + i];
            if (g) c->g[t][i] = (float)g->values[o->by_channel ? t * c->k + i : t];
            if (!dt) continue;
            c->g[t][i] = (float)find(p, "A")->values[0] * (float)dt->values[t];
            c->key[t][i] *= (float)dt->values[t];
        }
        for (int64_t j = 0; j < c->v; j++) c->value[t][j] = (float)v->values[t * c->v + j];
        if (beta) c->beta[t] = (float)beta->values[t];
    }
}

/* Running maximum with rescaling; or logarithms added in pairs. */
static void log_sums(property_problem *p, const float *x, int64_t n, int form, float *y) {
    const int approximate = p->rules.fast_math ? form % 3 : 0;
    float m = -INFINITY, s = 0;
    for (int64_t i = 0; i < n; i++) {
        if (form % 2) {
            const float top = isnan(x[i]) || isnan(m) ? NAN : fmaxf(x[i], m), low = fminf(x[i], m);
            m = isinf(top) && (top == low || top > 0) ? top : i == 0 ? x[0] : top + log1pf(expf(low - top));
            y[i] = isnan(top) ? NAN : m;
            m = y[i];
            continue;
        }
        const float next = isnan(x[i]) || x[i] > m ? x[i] : m, reference = isinf(next) ? 0 : next;
        if (isinf(next) && next > 0) {
            s = INFINITY;
        } else {
            const float rescale =
                isinf(m) && m < 0 ? 0 : property_exp(m - reference, approximate, &p->random);
            s = s * rescale + property_exp(x[i] - reference, approximate, &p->random);
        }
        m = next;
        y[i] = logf(s) + reference;
    }
}

static void running(const float *x, int64_t n, bool products, float *y) {
    for (int64_t i = 0; i < n; i++) y[i] = i == 0 ? x[0] : products ? y[i - 1] * x[i] : y[i - 1] + x[i];
}

static void run_lines(property_problem *p, const operator_ *o, int form, double *results) {
    const property_input *a = find(p, "a"), *b = find(p, "b");
    for (int64_t row = 0; row < p->m; row++) {
        float decays[RECURRENCE_LONGEST], x[RECURRENCE_LONGEST], g[RECURRENCE_LONGEST], h[RECURRENCE_LONGEST];
        for (int64_t i = 0; i < p->n; i++) {
            const int64_t from = row * p->n + (o->reverse ? p->n - 1 - i : i);
            x[i] = (float)b->values[from];
            if (!a) continue;
            g[i] = (float)a->values[from];
            decays[i] = o->kind == LINEAR_EXP
                            ? property_exp(g[i], p->rules.fast_math ? form % 3 : 0, &p->random)
                            : g[i];
        }
        if (o->kind == SUMS || o->kind == PRODUCTS)
            running(x, p->n, o->kind == PRODUCTS, h);
        else if (o->kind == LOGS)
            log_sums(p, x, p->n, form, h);
        else
            recurrence_scan(p, decays, x, o->kind == LINEAR_EXP ? g : NULL, p->n,
                            p->rules.sequential ? form % 2 : form, h);
        for (int64_t i = 0; i < p->n; i++) results[row * p->n + (o->reverse ? p->n - 1 - i : i)] = h[i];
    }
}

/* The operator's kernel; property_run calls it, on hardware that flushes where that is the rule. */
static const operator_ *current;
static void kernel(property_problem *p, int form, double *results) {
    if (current->kind != STATE) {
        run_lines(p, current, form, results);
        return;
    }
    read_case(p, current);
    static const int64_t chunks[] = {1, 2, 3, 8, 16, 64};
    if (form % 2 || p->rules.sequential)
        recurrence_stepwise(p, &the_case, form / 2, FAULT_NONE, results);
    else
        recurrence_chunked(p, &the_case, chunks[cupel_random_below(&p->random, 6)], form / 2, FAULT_NONE,
                           results);
}

static void run_operators(bool gated_states) {
    const long cases = setting("CUPEL_PROPERTY_CASES", 4000), seed = setting("CUPEL_PROPERTY_SEED", 1);
    cupel_arena *arena = cupel_arena_create(0);
    int failures = 0;
    for (int i = 0; i < OPERATORS; i++) {
        if (gated_states && !(operators[i].kind == STATE && operators[i].gated)) continue;
        current = &operators[i];
        double worst = 0;
        int64_t judged = 0, all = 0;
        for (long c = 0; c < cases / OPERATORS + 1; c++) {
            property_problem p;
            const uint64_t case_seed = (uint64_t)seed * 1000003 + (uint64_t)c * 97 + (uint64_t)i;
            draw(&p, current, case_seed, arena);
            property_answer(&p);
            double *results = cupel_arena_alloc(arena, (size_t)p.count * sizeof(double) + 8);
            const int form = (int)cupel_random_below(&p.random, 420);
            const property_operator op = {.shadow = kernel};
            property_run(&p, &op, form, results);
            int64_t first = -1;
            all += p.count;
            if ((property_judge(&p, results, &worst, &judged, &first) > 0 ||
                 (first = property_excess(&p, results)) >= 0) &&
                failures++ < 20) {
                char line[512];
                property_describe(&p, results, first, line, sizeof line);
                print_message("case seed %llu form %d fast %d flush %d: %s\n", (unsigned long long)case_seed,
                              form, p.rules.fast_math, p.rules.subnormals, line);
            }
            cupel_arena_reset(arena);
        }
        print_message("%-24s judged %5.1f%%  largest error over radius %.3f\n", current->name,
                      100.0 * (double)judged / (double)all, worst);
        assert_true(judged > 0);
    }
    cupel_arena_free(arena);
    assert_int_equal(failures, 0);
}

static void good_kernels_stay_inside(void **state) {
    (void)state;
    small_factors = false;
    run_operators(false);
}

/* A factor that a chunk scales by exp(G) may underflow there, and the other factor's exp(-G) magnifies that.
 */
static void split_decays_may_underflow(void **state) {
    (void)state;
    small_factors = true;
    run_operators(true);
    small_factors = false;
}

typedef struct totals {
    int64_t judged, value, classes, reasons, smaller, looser;
    double widest;
} totals;

static void complain(const property_problem *p, const char *what, int64_t i, const cupel_allowed *e,
                     int64_t *count) {
    const cupel_allowed *b = &p->allowed;
    if ((*count)++ >= 3) return;
    print_message(
        "%s: %s n=%lld k=%lld %s flush %d [%lld]: bounded %.17g +- %.6g classes %d reason %d, exact "
        "%.17g +- %.6g classes %d reason %d\n",
        what, p->expression, (long long)p->n, (long long)p->k, cupel_format_of(p->type)->name,
        p->rules.subnormals, (long long)i, b->value[i], b->radius[i], b->classes[i], b->reasons[i],
        e->value[i], e->radius[i], e->classes[i], e->reasons[i]);
}

/* What the filter judges, the exact evaluator judges, with no class more and no larger radius. */
static void compare(const property_problem *p, const cupel_allowed *e, totals *t) {
    const cupel_allowed *b = &p->allowed;
    for (int64_t i = 0; i < p->count; i++) {
        if (b->reasons[i] || e->reasons[i] == CUPEL_REASON_UNABLE) continue;
        /* a decay that underflows even MPFR's range, times an infinity */
        if (!isfinite(b->value[i]) && e->reasons[i] == CUPEL_REASON_UNBOUNDED) continue;
        if (e->reasons[i]) complain(p, "judged by the filter alone", i, e, &t->reasons);
        t->judged++;
        if (e->classes[i] & ~b->classes[i] & CUPEL_CLASS_MASK) complain(p, "classes", i, e, &t->classes);
        if (!isfinite(e->value[i]) || !isfinite(b->value[i])) continue;
        const double rb = b->radius[i], re = e->radius[i];
        if (!(fabs(b->value[i] - e->value[i]) <= fabs(e->value[i]) * 0x1p-40 + re * 0x1p-12))
            complain(p, "value", i, e, &t->value);
        if (rb < re * (1 - 1e-3) - 1e-50) complain(p, "smaller radius", i, e, &t->smaller);
        t->looser += rb > re * 1.05 + 1e-38;
        if (re > 1e-38 && rb / re > t->widest) t->widest = rb / re;
    }
}

static void evaluators_agree(void **state) {
    (void)state;
    const long cases = setting("CUPEL_PROPERTY_CASES", 240);
    cupel_arena *arena = cupel_arena_create(0);
    for (int i = 0; i < 2 * OPERATORS; i++) {
        current = &operators[i / 2];
        totals t = {0};
        for (long c = 0; c < cases / OPERATORS; c++) {
            property_problem p;
            draw(&p, current, 5000011ULL + (uint64_t)c * 131 + (uint64_t)i, arena);
            p.rules.sequential = i % 2;
            if (current->kind == SUMS || current->kind == PRODUCTS) p.rules.sequential = true;
            property_answer(&p);
            cupel_error err = {0};
            cupel_exact_session *session;
            cupel_allowed exact;
            assert_int_equal(cupel_exact_open(p.graph, &p.bindings, &p.rules, &session, &err), CUPEL_OK);
            assert_int_equal(cupel_exact_output(session, 0, arena, &exact, &err), CUPEL_OK);
            compare(&p, &exact, &t);
            cupel_exact_close(session);
            cupel_arena_reset(arena);
        }
        print_message("%-24s%s judged %6lld looser %lld, widest %.3f\n", current->name,
                      i % 2 ? " in order" : "", (long long)t.judged, (long long)t.looser, t.widest);
        assert_int_equal(t.value + t.classes + t.reasons + t.smaller, 0);
        assert_true(t.judged > 0);
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_kernels_stay_inside),
                                       cmocka_unit_test(split_decays_may_underflow),
                                       cmocka_unit_test(evaluators_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
