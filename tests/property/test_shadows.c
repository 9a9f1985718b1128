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

/* Plans that the family lacks. */
static const cupel_shadow_plan beyond[] = {
    {.name = "8 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 8, .fused = true, .welford = true},
    {.name = "64 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 64, .hardware = true, .folded = true},
    {.name = "128 lanes", .order = CUPEL_SHADOW_LANES, .lanes = 128, .reciprocal = true, .flush = true},
    {.name = "tree", .order = CUPEL_SHADOW_TREE, .seed = 5, .fused = true, .hardware = true, .loose = true},
    {.name = "kahan", .order = CUPEL_SHADOW_KAHAN, .reciprocal = true, .hardware = true, .flush = true},
    {.name = "welford", .welford = true, .online = true, .reciprocal = true},
};
enum { BEYOND = sizeof beyond / sizeof *beyond };

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
            for (int i = 0; i < plans + BEYOND; i++) {
                const cupel_shadow_plan *plan = i < plans ? &family[i] : &beyond[i - plans];
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_shadows_stay_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
