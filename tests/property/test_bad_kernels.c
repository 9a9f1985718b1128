/* No useless bound: every faulty kernel leaves the sound set on some recipe that a small search finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bad_kernels.h"

enum { TRIES = 3000 };

/* The recipes that it takes until the fault shows; 0 when it never does. */
static int tries_until_caught(const property_operator *op, cupel_arena *arena) {
    for (int k = 1; k <= TRIES; k++) {
        property_problem p;
        property_draw(&p, op, 77 + (uint64_t)k * 131, arena);
        if (k % 2 == 0)
            p.rules.fast_math = false; /* the narrower bound, where hardware may be asked for more */
        property_answer(&p);
        double *results = cupel_arena_alloc(arena, (size_t)p.count * sizeof *results + 8), worst = 0;
        property_run(&p, op, 0, results);
        int64_t judged = 0, first = -1;
        const int outside = property_judge(&p, results, &worst, &judged, &first);
        cupel_arena_reset(arena);
        if (outside > 0) return k;
    }
    return 0;
}

static void faults_are_caught(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    int missed = 0;
    for (int f = 0; f < bad_family_count; f++) {
        for (int o = 0; o < bad_families[f]->count; o++) {
            const property_operator *op = &bad_families[f]->operators[o];
            const int tries = tries_until_caught(op, arena);
            if (tries == 0) print_error("%s: %s is never outside\n", op->expression, op->name);
            if (tries == 0) missed++;
            if (tries > 30) print_message("%-40s %-32s %d recipes\n", op->expression, op->name, tries);
        }
    }
    cupel_arena_free(arena);
    assert_int_equal(missed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_are_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
