/* No useless bound: kernels of the recurrences with one fault each leave the allowed sets, on short rows and
 * on long ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "recurrence_kernels.h"

enum { KEYS = 8, VALUES = 4, TRIES = 4 };

typedef struct operator_ {
    const char *expression;
    bool gated, by_channel, delta, ssd;
} operator_;

static const operator_ operators[] = {
    {"linear_attention(q, k, v)", false, false, false, false},
    {"gated_linear_attention(q, k, v, g)", true, true, false, false},
    {"delta_rule(q, k, v, beta)", false, false, true, false},
    {"gated_delta_rule(q, k, v, g, beta)", true, false, true, false},
    {"kda(q, k, v, g, beta)", true, true, true, false},
    {"ssd(v, dt, A, k, q)", true, false, false, true},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static const char *const fault_names[FAULT_COUNT] = {
    "none",      "chunk not decayed", "beta missing", "read before the update", "decay after the update",
    "f16 state", "bf16 state"};

static bool applies(const operator_ *o, recurrence_fault fault) {
    if (fault == FAULT_CHUNK_DECAY || fault == FAULT_LATE_DECAY) return o->gated;
    if (fault == FAULT_BETA) return o->delta;
    return fault != FAULT_NONE;
}

static double uniform(property_problem *p, double lo, double hi) {
    return cupel_round(p->type, lo + (hi - lo) * cupel_random_unit(&p->random));
}

static recurrence_case the_case;

/* Ordinary inputs: unit keys, mild decays, beta in 0..strength. */
static void prepare(property_problem *p, const operator_ *o, int64_t length, double strength, uint64_t seed,
                    cupel_arena *arena) {
    recurrence_case *c = &the_case;
    memset(c, 0, sizeof *c);
    *c = (recurrence_case){
        .l = length, .k = KEYS, .v = VALUES, .gated = o->gated, .delta = o->delta, .scale = 1};
    *p = (property_problem){.expression = o->expression,
                            .type = CUPEL_F32,
                            .rules = {.working = CUPEL_F32, .fast_math = true},
                            .n = length,
                            .arena = arena,
                            .rank = 2,
                            .shape = {length, VALUES},
                            .count = length * VALUES,
                            .random = cupel_random_start(seed, 5)};
    property_input *q = property_add(p, "q", 2, length, KEYS), *k = property_add(p, "k", 2, length, KEYS),
                   *v = property_add(p, "v", 2, length, VALUES), *g = NULL, *beta = NULL, *dt = NULL;
    if (o->ssd) dt = property_add(p, "dt", 1, length, 0), property_add(p, "A", 0, 0, 0)->values[0] = -0.5;
    if (o->gated && !o->ssd) g = property_add(p, "g", o->by_channel ? 2 : 1, length, KEYS);
    if (o->delta) beta = property_add(p, "beta", 1, length, 0);
    for (int64_t t = 0; t < length; t++) {
        double norm = 0;
        if (dt) dt->values[t] = uniform(p, 0.1, 0.3);
        if (beta) c->beta[t] = (float)(beta->values[t] = uniform(p, 0, strength));
        for (int i = 0; i < KEYS; i++) {
            q->values[t * KEYS + i] = uniform(p, -1, 1), k->values[t * KEYS + i] = uniform(p, -1, 1);
            norm += k->values[t * KEYS + i] * k->values[t * KEYS + i];
            if (g && (o->by_channel || i == 0))
                g->values[o->by_channel ? t * KEYS + i : t] = uniform(p, -0.1, 0);
        }
        for (int i = 0; i < KEYS; i++) {
            double *key = &k->values[t * KEYS + i];
            *key = cupel_round(CUPEL_F32, *key / sqrt(norm));
            c->q[t][i] = (float)q->values[t * KEYS + i];
            c->key[t][i] = dt ? (float)*key * (float)dt->values[t] : (float)*key;
            c->g[t][i] = dt  ? -0.5f * (float)dt->values[t]
                         : g ? (float)g->values[o->by_channel ? t * KEYS + i : t]
                             : 0;
        }
        for (int j = 0; j < VALUES; j++)
            c->value[t][j] = (float)(v->values[t * VALUES + j] = uniform(p, -1, 1));
    }
    property_answer(p);
}

/* Elements outside of so many tries. */
static int outside(const operator_ *o, recurrence_fault fault, int64_t length, double strength,
                   cupel_arena *arena) {
    int found = 0;
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        property_problem p;
        double worst = 0, results[RECURRENCE_LONGEST * VALUES];
        int64_t judged = 0, first = -1;
        prepare(&p, o, length, strength, seed, arena);
        if (fault == FAULT_CHUNK_DECAY)
            recurrence_chunked(&p, &the_case, length / 4, 1, fault, results);
        else
            recurrence_stepwise(&p, &the_case, 1, fault, results);
        found += property_judge(&p, results, &worst, &judged, &first);
        cupel_arena_reset(arena);
    }
    return found;
}

/* Every fault shows on short rows; on rows of 512 too where the rank-one terms stay small. */
static void faults_are_caught(void **state) {
    (void)state;
    static const struct {
        int64_t length;
        double strength;
    } sizes[] = {{8, 1}, {16, 1}, {64, 0.2}, {512, 0.02}};
    cupel_arena *arena = cupel_arena_create(0);
    for (int i = 0; i < OPERATORS; i++) {
        for (recurrence_fault fault = 1; fault < FAULT_COUNT; fault++) {
            if (!applies(&operators[i], fault)) continue;
            int found[4];
            for (int s = 0; s < 4; s++)
                found[s] = outside(&operators[i], fault, sizes[s].length, sizes[s].strength, arena);
            print_message("%-36s %-24s outside: %5.1f%% %5.1f%% %5.1f%% %5.1f%%\n", operators[i].expression,
                          fault_names[fault], found[0] / (TRIES * VALUES * 0.08),
                          found[1] / (TRIES * VALUES * 0.16), found[2] / (TRIES * VALUES * 0.64),
                          found[3] / (TRIES * VALUES * 5.12));
            for (int s = 0; s < 4; s++) assert_true(found[s] > 0);
        }
    }
    cupel_arena_free(arena);
}

static property_problem line(const char *expression, const char *name, int64_t n, cupel_arena *arena) {
    property_problem p = {.expression = expression,
                          .type = CUPEL_F32,
                          .rules = {.working = CUPEL_F32, .fast_math = true},
                          .n = n,
                          .arena = arena,
                          .rank = 1,
                          .shape = {n},
                          .count = n,
                          .random = cupel_random_start(3, 5)};
    if (*name) property_add(&p, name, 1, n, 0);
    property_add(&p, "b", 1, n, 0);
    for (int i = 0; i < p.input_count; i++)
        for (int64_t t = 0; t < n; t++)
            p.inputs[i].values[t] = uniform(&p, i + 1 == p.input_count ? -1 : 0.9, 1);
    return p;
}

/* A carry that is added without its decay; a state in f16; the maximum taken off without its rescale. */
static void faulty_scans_are_caught(void **state) {
    (void)state;
    static const int64_t lengths[] = {8, 64, 512};
    cupel_arena *arena = cupel_arena_create(0);
    for (int i = 0; i < 3; i++) {
        const int64_t n = lengths[i];
        double results[RECURRENCE_LONGEST], worst = 0;
        int64_t judged = 0, first = -1;
        property_problem p = line("linear_scan(a, b)", "a", n, arena);
        property_answer(&p);
        float h = 0, own = 0;
        for (int64_t t = 0; t < n; t++) {
            own = t % 4 == 0 ? (float)p.inputs[1].values[t]
                             : (float)p.inputs[0].values[t] * own + (float)p.inputs[1].values[t];
            results[t] = own + h;
            if (t % 4 == 3) h = (float)results[t];
        }
        assert_true(property_judge(&p, results, &worst, &judged, &first) >= n / 3);
        h = 0;
        for (int64_t t = 0; t < n; t++)
            results[t] = h =
                (float)cupel_round(CUPEL_F16, t == 0 ? p.inputs[1].values[0]
                                                     : p.inputs[0].values[t] * h + p.inputs[1].values[t]);
        assert_true(property_judge(&p, results, &worst, &judged, &first) >= n / 3);
        property_problem logs = line("logcumsumexp(b, 0)", "", n, arena);
        for (int64_t t = 0; t < n; t++) logs.inputs[0].values[t] *= 20;
        property_answer(&logs);
        double top = -INFINITY, sum = 0;
        for (int64_t t = 0; t < n; t++) {
            top = fmax(top, logs.inputs[0].values[t]);
            sum += exp(logs.inputs[0].values[t] - top);
            results[t] = log(sum) + top;
        }
        assert_true(property_judge(&logs, results, &worst, &judged, &first) > 0);
        cupel_arena_reset(arena);
    }
    cupel_arena_free(arena);
}

/* What re-associates is outside where the order is claimed. */
static void another_order_is_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    property_problem p = line("linear_scan(a, b)", "a", 64, arena);
    p.rules.sequential = true;
    for (int64_t t = 0; t < 64; t++) p.inputs[0].values[t] = t == 40 ? -1 : 1;
    p.inputs[1].values[40] = 1e6;
    property_answer(&p);
    float a[64], b[64], h[64];
    double results[64], worst = 0;
    int64_t judged = 0, first = -1;
    for (int t = 0; t < 64; t++) a[t] = (float)p.inputs[0].values[t], b[t] = (float)p.inputs[1].values[t];
    recurrence_scan(&p, a, b, NULL, 64, 0, h);
    for (int t = 0; t < 64; t++) results[t] = h[t];
    assert_int_equal(property_judge(&p, results, &worst, &judged, &first), 0);
    recurrence_scan(&p, a, b, NULL, 64, 2, h);
    for (int t = 0; t < 64; t++) results[t] = h[t];
    assert_true(property_judge(&p, results, &worst, &judged, &first) > 0);
    p.rules.sequential = false;
    property_answer(&p);
    assert_int_equal(property_judge(&p, results, &worst, &judged, &first), 0);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_are_caught),
                                       cmocka_unit_test(faulty_scans_are_caught),
                                       cmocka_unit_test(another_order_is_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
