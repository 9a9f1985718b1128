/* No false accusation: correct kernels in many forms stay inside the allowed set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

/* Cases of all operators together; CUPEL_PROPERTY_CASES raises it for the long run, CUPEL_PROPERTY_SEED moves
 * it. */
static long setting(const char *name, long fallback) {
    const char *text = getenv(name);
    const long value = text ? strtol(text, NULL, 10) : 0;
    return value > 0 ? value : fallback;
}

static void good_kernels_stay_inside(void **state) {
    (void)state;
    const long cases = setting("CUPEL_PROPERTY_CASES", 20000), seed = setting("CUPEL_PROPERTY_SEED", 1);
    const long each = cases / property_operator_count() + 1;
    cupel_arena *arena = cupel_arena_create(0);
    int failures = 0;
    const char *only = getenv("CUPEL_PROPERTY_ONLY"); /* operators with this in their name */
    print_message("seed %ld, %ld cases for each of %d operators\n", seed, each, property_operator_count());
    for (int o = 0; o < property_operator_count(); o++) {
        const property_operator *op = property_operator_at(o);
        if (only && !strstr(op->name, only)) continue;
        double worst = 0;
        int shown = 0;
        int64_t judged = 0, all = 0;
        for (long c = 0; c < each; c++) {
            property_problem p;
            const uint64_t case_seed = (uint64_t)seed * 1000003 + (uint64_t)c * 97 + (uint64_t)o;
            property_draw(&p, op, case_seed, arena);
            property_answer(&p);
            double *results = cupel_arena_alloc(arena, (size_t)p.count * sizeof(double) + 8);
            const int form = (int)cupel_random_below(&p.random, (uint64_t)op->forms);
            property_run(&p, op, form, results);
            int64_t first = -1;
            all += p.count;
            const double before = worst;
            int outside = property_judge(&p, results, &worst, &judged, &first);
            if (outside == 0 && (first = property_excess(&p, results)) >= 0) outside = 1;
            if (outside > 0 && ++failures && shown++ < 3) {
                char line[512];
                property_describe(&p, results, first, line, sizeof line);
                print_message("case seed %llu form %d fast %d flush %d: %s\n", (unsigned long long)case_seed,
                              form, p.rules.fast_math, p.rules.subnormals, line);
            }
            if (worst > before && worst > 0.95 && getenv("CUPEL_PROPERTY_VERBOSE"))
                print_message("%s case seed %llu form %d %s reaches %.3f (pattern n=%lld)\n", op->name,
                              (unsigned long long)case_seed, form, cupel_format_of(p.type)->name, worst,
                              (long long)p.n);
            cupel_arena_reset(arena);
        }
        print_message("%-20s judged %5.1f%%  largest error over radius %.3f\n", op->name,
                      100.0 * (double)judged / (double)all, worst);
        assert_true(judged > 0);
    }
    cupel_arena_free(arena);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_kernels_stay_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
