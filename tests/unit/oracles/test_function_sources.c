/* Every function of the language says where its error comes from. */
#include "function_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static cupel_function_source source_of(const char *name, cupel_arena *arena) {
    size_t count;
    cupel_error err = {0};
    cupel_function_source source = {0};
    const cupel_function_info *functions = cupel_functions(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        if (cupel_function_source_of(i, arena, &source, &err) != CUPEL_OK) fail_msg("%s: %s", name, err.text);
        return source;
    }
    fail_msg("no function %s", name);
    return source;
}

static void every_function_has_a_source(void **state) {
    (void)state;
    size_t count;
    const cupel_function_info *functions = cupel_functions(&count);
    for (size_t i = 0; i < count; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        if (functions[i].supported) {
            const cupel_function_source source = source_of(functions[i].name, arena);
            assert_true(source.brief[0] != '\0');
            assert_true(strlen(source.brief) + 1 < sizeof source.brief); /* not cut off */
            assert_int_equal(strncmp(source.sample, functions[i].name, strlen(functions[i].name)), 0);
        }
        cupel_arena_free(arena);
    }
}

static void sources_follow_the_composition(void **state) {
    (void)state;
    static const struct {
        const char *name, *brief;
    } rows[] = {
        {"embedding", "exact"},
        {"rope", "correctly rounded operations"},
        {"matmul", "sums in any order"},
        {"cumprod", "products in any order"},
        {"linear_scan", "recurrences re-associated"},
        {"softmax", "correctly rounded operations, sums in any order; by budget: exp"},
        {"mish", "correctly rounded operations; by budget: exp, log, tanh"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        assert_string_equal(source_of(rows[i].name, arena).brief, rows[i].brief);
        cupel_arena_free(arena);
    }
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_function_source exponential = source_of("exp", arena), softmax = source_of("softmax", arena);
    assert_string_equal(exponential.brief, cupel_budget_of(CUPEL_OP_EXP)->source);
    assert_true(softmax.uses[CUPEL_OP_AMAX] && softmax.uses[CUPEL_OP_SUM] && !softmax.uses[CUPEL_OP_VIEW]);
    assert_string_equal(cupel_primitive_bound(CUPEL_OP_AMAX), "exact");
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_has_a_source),
        cmocka_unit_test(sources_follow_the_composition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
