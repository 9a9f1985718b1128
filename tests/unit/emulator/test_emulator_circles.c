/* A hang is proven by a state that comes again, or it is none: what takes long comes to its end, what waits
 * in vain is named, and of what cannot be told nothing is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"

static cupel_emu_module *module;
static field f;
static int *in, *out, *flag;

static int setup(void **state) {
    (void)state;
    module = candidate_load("circles.cu");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cupel_emu_module_close(module);
    return 0;
}

static void run(const char *entry, shape s, int argc, const void *const *args) {
    field_reset(&f, 2048, 2048, 512);
    in = (int *)(void *)field_buffer(&f, 0);
    out = (int *)(void *)field_buffer(&f, 1);
    flag = (int *)(void *)field_buffer(&f, 2);
    for (int i = 0; i < 2048; i++) in[i] = 37 * (i + 1) % 257;
    memset(out, 0, 8192);
    memset(flag, 0, 2048);
    memset(f.readable, 0xff, sizeof f.readable);
    field_run(&f, module, entry, s, argc, args);
}

static void finishes(const char *entry, shape s, int argc, const void *const *args) {
    run(entry, s, argc, args);
    if (f.seen.outcome != CUPEL_RUN_FINISHED)
        fail_msg("%s, schedule %d: %s", entry, (int)s.schedule, f.seen.text);
}

static uint32_t generator(uint32_t x, int n) {
    for (int i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
    return x;
}

static void test_registers_alone(void **state) {
    (void)state;
    int n = 60000000;
    finishes("registers_only", (shape){.block = 1}, 2, (const void *[]){&out, &n});
    assert_int_equal((uint32_t)out[0], generator(0, n));
    n = 6000000;
    for (unsigned seed = 0; seed <= 3; seed += 3) {
        finishes("registers_only", (shape){.block = 33, .schedule = seed}, 2, (const void *[]){&out, &n});
        assert_int_equal((uint32_t)out[32], generator(32, n));
    }
}

static void test_memory_that_nobody_changes(void **state) {
    (void)state;
    int n = 12000000, sum = 0, numbers = 200000;
    finishes("reads_only", (shape){.block = 1}, 3, (const void *[]){&in, &out, &n});
    for (int i = 0; i < n; i++) sum += in[i * 7LL & 2047];
    assert_int_equal(out[0], sum);
    finishes("nested", (shape){.block = 1}, 3, (const void *[]){&in, &out, &numbers});
    finishes("in_local_memory", (shape){.block = 2}, 2, (const void *[]){&out, &n});
    assert_int_equal(out[1], n / 4 * 6);
    n = 20000000;
    finishes("creeps", (shape){.block = 1}, 2, (const void *[]){&out, &n});
    float root;
    memcpy(&root, out, sizeof root);
    assert_true(root > 1.41421f && root < 1.41422f);
}

static void test_long_meetings(void **state) {
    (void)state;
    static const struct {
        const char *entry;
        int who, argc;
    } rows[] = {{"pauses_of_one", 5, 3}, {"votes", 63, 2},         {"votes_of_one", 5, 2},
                {"pauses", 63, 2},       {"comes_by_name", 40, 3}, {"meets_when_one_says", 5, 2},
                {"pauses_of_one", 5, 3}};
    int n = 60000;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned seed = 0; seed <= 3; seed += 3) {
            finishes(rows[i].entry, (shape){.block = 64, .schedule = seed}, rows[i].argc,
                     rows[i].argc == 2 ? (const void *[]){&out, &n} : (const void *[]){&out, &flag, &n});
            assert_int_equal(out[rows[i].who], n);
        }
}

static void test_long_waits(void **state) {
    (void)state;
    int n = 12000000;
    for (unsigned seed = 0; seed <= 3; seed += 3) {
        finishes("gives_up_waiting", (shape){.block = 2, .schedule = seed}, 2, (const void *[]){&out, &n});
        assert_int_equal(out[1], n);
        int rounds = 1000000;
        finishes("waits_for_a_warp", (shape){.block = 96, .schedule = seed}, 2,
                 (const void *[]){&out, &rounds});
        assert_int_equal((uint32_t)out[32], generator(32, rounds));
        finishes("waits_for_a_block", (shape){.block = 1, .grid = 4, .schedule = seed}, 2,
                 (const void *[]){&out, &n});
        assert_int_equal((uint32_t)out[3], generator(1, n));
    }
}

/* All ways to work and to wait, watched from early on. Where one pauses for many who do not, it takes too
 * long.
 */
static void test_relays(void **state) {
    (void)state;
    int finished = 0, n = 5000;
    for (int ways = 0; ways < 64; ways++)
        for (int grid = 1; grid <= 2; grid++) {
            const int who = ways * 29 % 64 * grid, all = ways + 64 * who;
            const shape s = {.grid = grid,
                             .block = 64,
                             .steps = 40000 + 100 * (uint64_t)ways,
                             .schedule = 3 * (uint64_t)(ways & 1)};
            run("relay", s, 4, (const void *[]){&out, &flag, &n, &all});
            if (f.seen.outcome == CUPEL_RUN_FAULT)
                fail_msg("ways %d, %d blocks: %s", ways, grid, f.seen.text);
            if (f.seen.outcome != CUPEL_RUN_FINISHED) continue;
            assert_int_equal(out[0], n);
            finished++;
        }
    assert_true(finished > 64);
}

/* Memory comes back to what it was in every turn, but not for those who look at the right time. */
static void test_memory_that_others_may_see(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 3; seed += 3)
        for (int block = 2; block <= 64; block *= 4) {
            run("blinks", (shape){.block = block, .schedule = seed, .steps = 100000}, 2,
                (const void *[]){&out, &flag});
            assert_int_not_equal(f.seen.outcome, CUPEL_RUN_FAULT);
        }
}

static void hangs(const char *entry, shape s, const char *mark, int argc, const void *const *args) {
    run(entry, s, argc, args);
    if (f.seen.outcome != CUPEL_RUN_FAULT || f.seen.fault != CUPEL_FAULT_HANG)
        fail_msg("%s, %d blocks of %d, schedule %d: outcome %d, %s", entry, s.grid, s.block, (int)s.schedule,
                 (int)f.seen.outcome, f.seen.text);
    if (mark != NULL) assert_int_equal(f.seen.place.line, candidate_line("circles.cu", mark));
}

static void test_hangs(void **state) {
    (void)state;
    unsigned mask = 0xffff, target = 0x12345;
    int n = 1000000, three = 3;
    static const int blocks[] = {1, 32, 96};
    for (unsigned seed = 0; seed <= 3; seed += 3)
        for (int b = 0; b < 3; b++)
            for (int grid = 1; grid <= 3; grid += 2) {
                const shape s = {.grid = grid, .block = blocks[b], .schedule = seed, .steps = 100000};
                hangs("one_flag", s, "one flag", 1, (const void *[]){&flag});
                hangs("two_flags", s, "two flags", 1, (const void *[]){&flag});
                hangs("backs_off", s, NULL, 1, (const void *[]){&flag});
                hangs("locked_out", s, NULL, 1, (const void *[]){&flag});
                hangs("in_local_circles", s, "local circles", 2, (const void *[]){&out, &three});
                hangs("in_a_function", s, "in a function", 1, (const void *[]){&flag});
                hangs("votes_for_ever", s, "nobody votes", 1, (const void *[]){&flag});
            }
    for (unsigned seed = 0; seed <= 3; seed += 3) {
        const shape one = {.block = 1, .schedule = seed}, some = {.block = 64, .schedule = seed};
        hangs("never_hits", one, "never hits", 3, (const void *[]){&out, &mask, &target});
        hangs("many_flags", some, "many flags", 1, (const void *[]){&flag});
        hangs("takes_and_puts_back", one, NULL, 1, (const void *[]){&flag});
        hangs("wakes_too_early", some, "lost", 1, (const void *[]){&out});
        hangs("waits_by_name", some, "by name", 1, (const void *[]){&flag});
        hangs("half_of_them", some, "half of them", 2, (const void *[]){&flag, &out});
        hangs("stands_after_work", some, "after work", 3, (const void *[]){&flag, &out, &n});
    }
}

/* It may wait for ever, or until its counter is large enough. Looking takes longer than counting: it is given
 * up before it has made all steps that a run has. */
static void test_counted_waits(void **state) {
    (void)state;
    for (int grid = 1; grid <= 2; grid++) {
        run("counts_its_turns", (shape){.grid = grid, .block = 2, .steps = grid == 1 ? 50000 : 1000000}, 2,
            (const void *[]){&flag, &out});
        assert_true(f.seen.steps < 400000000);
        assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
        assert_int_equal(f.seen.place.line, candidate_line("circles.cu", "counts"));
        assert_non_null(strstr(f.seen.text, "still at work"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_alone),
        cmocka_unit_test(test_memory_that_nobody_changes),
        cmocka_unit_test(test_long_meetings),
        cmocka_unit_test(test_long_waits),
        cmocka_unit_test(test_memory_that_others_may_see),
        cmocka_unit_test(test_relays),
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_counted_waits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
