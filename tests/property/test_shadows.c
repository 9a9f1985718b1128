/* Good shadows of every operator stay inside the allowed set: no false accusation, without a kernel written
 * by hand. Orders and forms beyond the evidence family are among them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "shadow_cases.h"

static long setting(const char *name, long fallback) {
    const char *text = getenv(name);
    const long value = text ? strtol(text, NULL, 10) : 0;
    return value > 0 ? value : fallback;
}

static void draw(property_problem *p, const shadow_case *c, uint64_t seed, cupel_arena *arena) {
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F32, CUPEL_F16, CUPEL_BF16};
    static const cupel_dtype narrow[] = {CUPEL_F16, CUPEL_BF16};
    static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 17, 31, 33, 64, 100};
    *p = (property_problem){.arena = arena, .random = cupel_random_start(seed, 79)};
    cupel_random *r = &p->random;
    p->type = types[cupel_random_below(r, 4)];
    p->rules = (cupel_rules){.working = CUPEL_F32, .fast_math = cupel_random_below(r, 3) != 0};
    if (cupel_random_below(r, 8) == 0) p->rules.working = narrow[cupel_random_below(r, 2)];
    if (cupel_random_below(r, 5) == 0) p->rules.subnormals = CUPEL_SUBNORMALS_FLUSH;
    p->rules.sequential = cupel_random_below(r, 4) == 0;
    p->m = 1 + (int64_t)cupel_random_below(r, 3);
    p->n = lengths[cupel_random_below(r, 11)];
    p->k = 1 + (int64_t)cupel_random_below(r, 5);
    shadow_case_answer(p, c, (int)cupel_random_below(r, PATTERN_COUNT));
}

static void tell(const property_problem *p, const cupel_shadow_output *run, int64_t i, uint64_t seed,
                 const char *plan) {
    char line[512];
    double *values = cupel_arena_alloc(p->arena, (size_t)run->count * sizeof *values + 8);
    cupel_decode_many(run->type, run->bytes, (size_t)run->count, values);
    property_describe(p, values, i, line, sizeof line);
    print_message("seed %llu plan %s working %s fast %d flush %d: %s\n", (unsigned long long)seed, plan,
                  cupel_format_of(p->rules.working)->name, p->rules.fast_math, p->rules.subnormals, line);
    for (int k = 0; k < p->input_count && getenv("CUPEL_PROPERTY_VERBOSE"); k++)
        for (int64_t j = 0; j < p->inputs[k].count && j < 8; j++)
            print_message("    %s[%lld] = %.9g\n", p->inputs[k].name, (long long)j, p->inputs[k].values[j]);
}

static void good_shadows_stay_inside(void **state) {
    (void)state;
    const long cases = setting("CUPEL_PROPERTY_CASES", 8000), seed = setting("CUPEL_PROPERTY_SEED", 1);
    const long each = cases / shadow_case_count + 1;
    int plans, failures = 0;
    const cupel_shadow_plan *family = cupel_shadow_family(&plans);
    cupel_arena *arena = cupel_arena_create(0);
    for (int c = 0; c < shadow_case_count; c++) {
        double worst = 0;
        for (long k = 0; k < each; k++) {
            property_problem p;
            const uint64_t case_seed = (uint64_t)seed * 1000003 + (uint64_t)k * 211 + (uint64_t)c;
            draw(&p, &shadow_cases[c], case_seed, arena);
            for (int i = 0; i < plans + SHADOW_BEYOND; i++) {
                const cupel_shadow_plan *plan = i < plans ? &family[i] : &shadow_beyond[i - plans];
                const cupel_shadow_output run = shadow_case_run(&p, plan);
                int64_t first = -1;
                const int outside = shadow_case_judge(&p, &run, &worst, &first);
                if (outside > 0 && failures++ < 40) tell(&p, &run, first, case_seed, plan->name);
            }
            cupel_arena_reset(arena);
        }
        print_message("%-50s largest error over radius %.3f\n", shadow_cases[c].name, worst);
    }
    cupel_arena_free(arena);
    assert_int_equal(failures, 0);
}

/* The same over the problems of the handwritten kernels: every function, at shapes of its own. */
static void good_shadows_agree_with_every_function(void **state) {
    (void)state;
    const long cases = setting("CUPEL_PROPERTY_CASES", 8000), seed = setting("CUPEL_PROPERTY_SEED", 1);
    const long each = cases / property_operator_count() + 1;
    int plans, failures = 0;
    const cupel_shadow_plan *family = cupel_shadow_family(&plans);
    cupel_arena *arena = cupel_arena_create(0);
    for (int o = 0; o < property_operator_count(); o++) {
        int shown = 0;
        for (long k = 0; k < each; k++) {
            property_problem p;
            const uint64_t case_seed = (uint64_t)seed * 1000003 + (uint64_t)k * 211 + (uint64_t)o;
            property_draw(&p, property_operator_at(o), case_seed, arena);
            property_answer(&p);
            for (int i = 0; i < plans + SHADOW_BEYOND; i++) {
                const cupel_shadow_plan *plan = i < plans ? &family[i] : &shadow_beyond[i - plans];
                const cupel_shadow_output run = shadow_case_run(&p, plan);
                double worst = 0;
                int64_t first = -1;
                if (shadow_case_judge(&p, &run, &worst, &first) == 0) continue;
                failures++;
                if (shown++ < 2) tell(&p, &run, first, case_seed, plan->name);
            }
            cupel_arena_reset(arena);
        }
    }
    cupel_arena_free(arena);
    assert_int_equal(failures, 0);
}

/* ---- the evidence radius ---- */

/* Kernels written by hand, and shadows that the family lacks, stay inside the evidence radius. */
static void good_kernels_are_not_evident(void **state) {
    (void)state;
    const long cases = setting("CUPEL_PROPERTY_CASES", 16000), seed = setting("CUPEL_PROPERTY_SEED", 1);
    const long each = cases / property_operator_count() + 1;
    cupel_arena *arena = cupel_arena_create(0);
    int failures = 0, evident = 0;
    double closest = 0;
    for (int o = 0; o < property_operator_count(); o++) {
        const property_operator *op = property_operator_at(o);
        double worst = 0;
        for (long k = 0; k < each; k++) {
            property_problem p;
            double *radius;
            const uint64_t case_seed = (uint64_t)seed * 1000003 + (uint64_t)k * 307 + (uint64_t)o;
            property_draw(&p, op, case_seed, arena);
            property_answer(&p);
            if (shadow_case_evidence(&p, &radius)) {
                double *results = cupel_arena_alloc(arena, (size_t)p.count * sizeof(double) + 8);
                int64_t at = 0;
                const int form = (int)cupel_random_below(&p.random, (uint64_t)op->forms);
                property_run(&p, op, form, results);
                double ratio = shadow_case_evidence_ratio(&p, radius, results, &at);
                for (int i = 0; i < SHADOW_BEYOND; i++) {
                    const cupel_shadow_output run = shadow_case_run(&p, &shadow_beyond[i]);
                    ratio = fmax(ratio, shadow_case_evidence_ratio(&p, radius, run.values, &at));
                }
                evident++;
                worst = fmax(worst, ratio);
                if (ratio > 1 && failures++ < 30) {
                    char line[512];
                    property_describe(&p, results, at, line, sizeof line);
                    print_message("seed %llu form %d ratio %.2f evidence %.3g: %s\n",
                                  (unsigned long long)case_seed, form, ratio, radius[at], line);
                }
            }
            cupel_arena_reset(arena);
        }
        if (worst > 0.5) print_message("%-40s largest error over evidence radius %.3f\n", op->name, worst);
        closest = fmax(closest, worst);
    }
    print_message("%d cases had an evidence radius; the closest good kernel %.3f\n", evident, closest);
    cupel_arena_free(arena);
    assert_true(evident > 0);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_shadows_stay_inside),
        cmocka_unit_test(good_shadows_agree_with_every_function),
        cmocka_unit_test(good_kernels_are_not_evident),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
