/* Checks in place of calls: which calls of the optimiser's text are replaced, and that kernels run with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"
#include "emu_inline.h"
#include "emu_load.h"
#include "schedule.h"

static char *rewritten(cupel_arena *arena, const char *text) {
    cupel_buffer out = {.arena = arena};
    cupel_error err;
    assert_int_equal(cupel_emu_inline_write(text, &out, &err), CUPEL_OK);
    return out.bytes;
}

/* Calls with these callees are gone, their arguments and line numbers stay. */
static void test_replaced(void **state) {
    (void)state;
    static const char *const calls[][2] = {
        {"  call void @cupel_emu_load1_noabort(i64 %2), !dbg !59\n", "(i64 %2), !dbg !59\n"},
        {"  call void @cupel_emu_load16_noabort(i64 %7), !dbg !1\n", "(i64 %7), !dbg !1\n"},
        {"  call void @__sanitizer_cov_trace_pc_guard(i32* @g) #6, !dbg !9\n", "(i32* @g) #6, !dbg !9\n"},
        {"  %3 = tail call float @fmaxf(float %1, float %2) #8\n", "(float %1, float %2) #8\n"},
        {"  %3 = call double @fmin(double %1, double %2)\n", "(double %1, double %2)\n"},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *text = rewritten(arena, calls[i][0]);
        assert_non_null(strstr(text, " asm "));
        assert_non_null(strstr(text, calls[i][1]));
        assert_null(strstr(text, "@cupel_emu_load"));
        assert_null(strstr(text, "@__sanitizer"));
        assert_null(strstr(text, "@fm"));
    }
    cupel_arena_free(arena);
}

/* Meetings give more than their result, which is taken out under the name that it had. */
static void test_meetings(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const char *text =
        rewritten(arena, "  %9 = tail call i64 @cupel_emu_shuffle_sync(i64 %2, i32 -1, i64 %8) #7, !dbg !3\n"
                         "  %10 = call i32 @cupel_emu_vote_sync(i32 3, i32 -1, i64 %9, i32* null)\n"
                         "  call void @cupel_emu_warp_sync(i32 -1), !dbg !4\n"
                         "  %11 = call i32 @cupel_emu_barrier_sync(i32 0, i32 0) #7\n"
                         "  ret void\n");
    static const char *const lines[] = {
        "(i64 %2, i32 -1, i64 %8) #7, !dbg !3\n  %9 = extractvalue { i64, i64, i32, i64 } %cupel.0, 0\n",
        "\n  %cupel.1 = call { i32, i32, i32, i64, i64 } asm ",
        "(i32 3, i32 -1, i64 %9, i32* null)\n  %10 = extractvalue { i32, i32, i32, i64, i64 } %cupel.1, 0\n",
        "(i32 -1), !dbg !4\n  %cupel.3 = call { i32, i32, i32 } asm ",
        "(i32 0, i32 0) #7\n  %11 = extractvalue { i32, i32, i32 } %cupel.3, 0\n  ret void\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_non_null(strstr(text, lines[i]));
    assert_int_equal(strncmp(text, "  %cupel.0 = call { i64, i64, i32, i64 } asm ", 43), 0);
    assert_null(strstr(text, "_sync"));
    cupel_arena_free(arena);
}

static void test_kept(void **state) {
    (void)state;
    static const char *const lines[] = {
        "declare void @cupel_emu_load4_noabort(i64)\n",
        "  call void @cupel_emu_store4_noabort(i64 %2)\n",
        "  call void @cupel_emu_loadN_noabort(i64 %2, i64 24)\n",
        "declare i64 @cupel_emu_shuffle_sync(i64, i32, i64)\n",
        "  call void @cupel_emu_grid_sync()\n",
        "  call void @__sanitizer_cov_trace_pc_guard_init(i32* @a, i32* @b)\n",
        "  %f = select i1 %c, float (float, float)* @fmaxf, float (float, float)* @fminf\n",
        "  %3 = call float %2(float (float, float)* @fmaxf, float 1.0)\n",
        "",
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *text = rewritten(arena, lines[i]);
        assert_int_equal(strncmp(text, lines[i], strlen(lines[i])), 0);
        assert_null(strstr(text, " asm sideeffect"));
    }
    cupel_arena_free(arena);
}

/* A candidate has places for what its loads remember, and its loads use no steps once they know. */
static void test_loads_remember(void **state) {
    (void)state;
    static field f;
    int n = 1000;
    cupel_emu_module *module = candidate_load("inline.cu");
    const cupel_emu_candidate_t *candidate = cupel_emu_module_candidate(module);
    assert_true(candidate->sites_stop - candidate->sites_start >= 2);
    for (int turn = 0; turn < 2; turn++) { /* in the second run what the first one left means nothing */
        field_reset(&f, 1000, 32, 0);
        void *x = field_buffer(&f, 0), *y = field_buffer(&f, 1);
        field_run(&f, module, "adds_twice", (shape){.block = 1}, 3, (const void *[]){&x, &y, &n});
        assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
        assert_int_equal(f.seen.access_total, 0);
        assert_true(field_buffer(&f, 1)[0] == 999000);
        assert_true(f.seen.steps >= 1000 && f.seen.steps < 1100);
        n = 1001; /* the one past the end is found, though 1,000 loads of that place were right */
        field_run(&f, module, "adds_twice", (shape){.block = 1}, 3, (const void *[]){&x, &y, &n});
        assert_int_equal(f.seen.access_total, 2);
        n = 1000;
    }
    cupel_emu_module_close(module);
}

/* What loads remember of shared memory ends with the block: the last block comes first and sets all. */
static void test_shared_memory_is_forgotten(void **state) {
    (void)state;
    static field f;
    cupel_emu_module *module = candidate_load("inline.cu");
    const uint64_t reverse = cupel_schedule_pack((cupel_schedule){.way = CUPEL_SCHEDULE_REVERSE});
    field_reset(&f, 0, 128, 0);
    const void *y = field_buffer(&f, 1);
    field_run(&f, module, "sums_shared", (shape){.grid = 2, .block = 64, .exact_schedule = reverse}, 1,
              (const void *[]){&y});
    assert_true(field_buffer(&f, 1)[64] == 64);
    assert_true(f.seen.access_total >= 63);
    assert_int_equal(f.seen.accesses[0].kind, CUPEL_ACCESS_UNINITIALISED_READ);
    cupel_emu_module_close(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replaced), cmocka_unit_test(test_meetings),
                                       cmocka_unit_test(test_kept), cmocka_unit_test(test_loads_remember),
                                       cmocka_unit_test(test_shared_memory_is_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
