/* Could the bound be too small where random inputs do not look? For every good kernel a climb: from the
 * random problem on which it uses most of its radius, one element changes at a time, and what uses more of it
 * is kept. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

enum { ELEMENTS = 4096 };

static long setting(const char *name, long fallback) {
    const char *text = getenv(name);
    const long value = text ? strtol(text, NULL, 10) : 0;
    return value > 0 ? value : fallback;
}

/* A problem of an operator with other values of its inputs. */
typedef struct candidate {
    uint64_t seed;
    int form;
    bool own; /* values replace those that the seed gives */
    int64_t count;
    double values[ELEMENTS];
} candidate;

/* All inputs one after the other. */
static void exchange(property_problem *p, candidate *c) {
    int64_t at = 0;
    for (int k = 0; k < p->input_count; k++) {
        const size_t size = (size_t)p->inputs[k].count * sizeof(double);
        if (at + p->inputs[k].count > ELEMENTS) break;
        if (c->own)
            memcpy(p->inputs[k].values, c->values + at, size);
        else
            memcpy(c->values + at, p->inputs[k].values, size);
        at += p->inputs[k].count;
    }
    c->count = at;
}

/* The largest error over radius; infinity, after telling, where an element is outside. */
static double used(const property_operator *op, candidate *c, cupel_arena *arena) {
    property_problem p;
    property_draw(&p, op, c->seed, arena);
    p.rules.subnormals = CUPEL_SUBNORMALS_KEEP;
    exchange(&p, c);
    property_answer(&p);
    double *results = cupel_arena_alloc(arena, (size_t)p.count * sizeof *results + 8), worst = 0;
    property_run(&p, op, c->form, results);
    int64_t judged = 0, first = -1;
    int outside = property_judge(&p, results, &worst, &judged, &first);
    if (outside == 0 && (first = property_excess(&p, results)) >= 0) outside = 1;
    if (outside > 0) {
        char line[512];
        property_describe(&p, results, first, line, sizeof line);
        print_error("%s case seed %llu form %d fast %d: %s\n", op->name, (unsigned long long)c->seed, c->form,
                    p.rules.fast_math, line);
        for (int k = 0; k < p.input_count && getenv("CUPEL_PROPERTY_VERBOSE"); k++)
            for (int64_t i = 0; i < p.inputs[k].count; i++)
                print_error("    %s[%lld] = %.17g\n", p.inputs[k].name, (long long)i, p.inputs[k].values[i]);
    }
    cupel_arena_reset(arena);
    return outside > 0 ? INFINITY : worst;
}

/* A real element moves a step, changes its size or sign, or becomes another's. */
static bool change(const property_operator *op, candidate *c, cupel_random *random, cupel_arena *arena) {
    property_problem p;
    property_draw(&p, op, c->seed, arena);
    int64_t at = (int64_t)cupel_random_below(random, (uint64_t)c->count), first = 0;
    int k = 0;
    while (at >= first + p.inputs[k].count) first += p.inputs[k++].count;
    const cupel_dtype type = p.inputs[k].type;
    const int64_t other = first + (int64_t)cupel_random_below(random, (uint64_t)p.inputs[k].count);
    cupel_arena_reset(arena);
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return false;
    double x = c->values[at];
    switch (cupel_random_below(random, 6)) {
    case 0: x *= 1 + cupel_format_unit(type) * 2; break;
    case 1: x *= 1 - cupel_format_unit(type) * 2; break;
    case 2: x *= exp(2 * cupel_random_unit(random) - 1); break;
    case 3: x = -x; break;
    case 4: x = c->values[other] * (1 + cupel_format_unit(type) * 4 * cupel_random_unit(random)); break;
    default: x = c->values[other]; break;
    }
    c->values[at] = cupel_round(type, x);
    return true;
}

static double climb(const property_operator *op, long draws, long steps, uint64_t seed, cupel_arena *arena) {
    static candidate best, next;
    cupel_random random = cupel_random_start(seed, 5);
    double most = -1;
    for (long k = 0; k < draws; k++) {
        next = (candidate){.seed = seed + (uint64_t)k * 131,
                           .form = (int)cupel_random_below(&random, (uint64_t)op->forms)};
        const double ratio = used(op, &next, arena);
        if (ratio > most) most = ratio, best = next;
    }
    if (best.count == 0) return most;
    best.own = true;
    for (long k = 0; k < steps && !isinf(most); k++) {
        next = best;
        if (!change(op, &next, &random, arena)) continue;
        const double ratio = used(op, &next, arena);
        if (ratio >= most) most = ratio, best = next;
    }
    return most;
}

static void no_climb_leaves_the_allowed_set(void **state) {
    (void)state;
    const long cases = setting("CUPEL_PROPERTY_CASES", 20000), seed = setting("CUPEL_PROPERTY_SEED", 1);
    const long each = cases / property_operator_count() + 10;
    cupel_arena *arena = cupel_arena_create(0);
    int failures = 0;
    for (int o = 0; o < property_operator_count(); o++) {
        const property_operator *op = property_operator_at(o);
        const double most =
            climb(op, each / 3, each - each / 3, (uint64_t)seed * 7000003 + (uint64_t)o * 1009, arena);
        failures += isinf(most);
        print_message("%-44s %.3f\n", op->name, most);
    }
    cupel_arena_free(arena);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_climb_leaves_the_allowed_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
