/* The arena: zeroed and aligned memory, limits, reuse, and no overlap between objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "philox.h"

static void objects_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    enum { COUNT = 300 };
    cupel_arena *arena = cupel_arena_create(0);
    cupel_random random = cupel_random_start(3, 0);
    unsigned char *objects[COUNT];
    size_t sizes[COUNT];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            sizes[i] = cupel_random_below(&random, i % 50 == 0 ? 300000 : 900);
            objects[i] = cupel_arena_alloc(arena, sizes[i]);
            assert_non_null(objects[i]);
            assert_int_equal((uintptr_t)objects[i] % 64, 0);
            for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(objects[i][k], 0);
            memset(objects[i], i & 0xFF, sizes[i]);
        }
        for (int i = 0; i < COUNT; i++)
            for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(objects[i][k], i & 0xFF);
        assert_true(cupel_arena_used(arena) > 0);
        cupel_arena_reset(arena);
        assert_int_equal(cupel_arena_used(arena), 0);
    }
    cupel_arena_free(arena);
}

static void a_limit_holds_and_is_given_back(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(10000);
    for (int round = 0; round < 3; round++) {
        size_t got = 0;
        while (cupel_arena_alloc(arena, 100)) got++;
        assert_true(got >= 10000 / 256 && got <= 100);
        assert_true(cupel_arena_used(arena) <= 10000);
        assert_null(cupel_arena_alloc(arena, 10001));
        assert_null(cupel_arena_text(
            arena, "some text that no longer fits into what is left of this arena .....", 65));
        cupel_arena_reset(arena);
    }
    cupel_arena_free(arena);
}

static void impossible_sizes_are_refused(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    assert_null(cupel_arena_raw(arena, SIZE_MAX, 2));
    assert_null(cupel_arena_raw(arena, SIZE_MAX / 8 + 1, 8));
    assert_null(cupel_arena_alloc(arena, SIZE_MAX));
    assert_non_null(cupel_arena_alloc(arena, 0));
    cupel_arena_free(arena);
    cupel_arena_free(NULL);
}

static void texts(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    assert_string_equal(cupel_arena_text(arena, "abcdef", 3), "abc");
    assert_string_equal(cupel_arena_printf(arena, "%s-%d", "x", 12), "x-12");
    assert_string_equal(cupel_arena_text(arena, "", 0), "");
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_aligned_zeroed_and_apart),
        cmocka_unit_test(a_limit_holds_and_is_given_back),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
