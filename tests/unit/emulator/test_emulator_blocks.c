/* Blocks in flight beside each other: those that wait come to their end under every schedule, races between
 * blocks show, what waits for ever is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"
#include "schedule.h"

enum { SEEDS = 48 };

static cupel_emu_module *module;
static field f;
static int *in, *out, *flag;

static int setup(void **state) {
    (void)state;
    module = candidate_load("blocks.cu");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cupel_emu_module_close(module);
    return 0;
}

static void reset(void) {
    field_reset(&f, 2048, 2048, 512);
    in = (int *)(void *)field_buffer(&f, 0);
    out = (int *)(void *)field_buffer(&f, 1);
    flag = (int *)(void *)field_buffer(&f, 2);
    for (int i = 0; i < 2048; i++) in[i] = 37 * (i + 1) % 257;
    memset(out, 0, 8192);
    memset(flag, 0, 2048);
    memset(f.readable, 0xff, sizeof f.readable);
}

static void run(const char *entry, shape s, int argc, const void *const *args) {
    reset();
    field_run(&f, module, entry, s, argc, args);
}

static void finishes(const char *entry, shape s, int argc, const void *const *args) {
    run(entry, s, argc, args);
    if (f.seen.outcome != CUPEL_RUN_FINISHED || f.seen.access_total != 0 || f.seen.text[0] != '\0')
        fail_msg("%s, schedule %d: %s", entry, (int)s.schedule, f.seen.text);
}

static void expect_fault(cupel_fault fault, const char *mark) {
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FAULT);
    assert_int_equal(f.seen.fault, fault);
    assert_int_equal(f.seen.place.line, candidate_line("blocks.cu", mark));
}

static void test_grid(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        int grid = 1 + (int)seed % 9;
        shape s = {.grid = grid, .cooperative = true, .schedule = seed};
        finishes("two_phases", s, 2, (const void *[]){&out, &flag});
        int all = 0;
        for (int i = 0; i < 32 * grid; i++) all += i;
        for (int i = 0; i < 32 * grid; i++) assert_int_equal(out[i], all + i);
    }
}

static void test_many_phases(void **state) {
    (void)state;
    int n = 40;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        finishes("many_phases", (shape){.grid = 5, .block = 40, .cooperative = true, .schedule = seed}, 3,
                 (const void *[]){&out, &flag, &n});
        for (int b = 0; b < 5; b++) assert_int_equal(out[b], n);
    }
}

static void test_grid_faults(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 12; seed++) {
        run("stays_away", (shape){.grid = 4, .cooperative = true, .schedule = seed}, 1,
            (const void *[]){&out});
        expect_fault(CUPEL_FAULT_DEADLOCK, "without block 1");
        assert_non_null(strstr(f.seen.text, "3 blocks wait for the whole grid; 1 have ended"));
        run("one_thread_stays_away", (shape){.grid = 2, .cooperative = true, .schedule = seed}, 1,
            (const void *[]){&out});
        assert_int_equal(f.seen.fault, CUPEL_FAULT_DEADLOCK);
        run("two_phases", (shape){.grid = 2, .schedule = seed}, 2, (const void *[]){&out, &flag});
        expect_fault(CUPEL_FAULT_ASSERT, "for the parts");
    }
}

/* A device refuses what it does not keep resident; what only this emulator cannot hold is not judged. */
static void test_grid_too_large(void **state) {
    (void)state;
    run("two_phases", (shape){.grid = 4225, .cooperative = true}, 2, (const void *[]){&out, &flag});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_REFUSED);
    assert_non_null(strstr(f.seen.text, "keeps 4224 resident at most"));
    run("two_phases", (shape){.grid = 133, .cooperative = true, .shared = 200000}, 2,
        (const void *[]){&out, &flag});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_REFUSED);
    run("stays_away", (shape){.grid = 200, .block = 1024, .cooperative = true}, 1, (const void *[]){&out});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
}

static void test_chain(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        finishes("chained", (shape){.grid = 32, .block = 64, .steps = 50000000, .schedule = seed}, 3,
                 (const void *[]){&in, &out, &flag});
        int sum = 0;
        for (int i = 0; i < 2048; i++) assert_int_equal(out[i], sum += in[i]);
    }
}

/* More blocks than are in flight together, each waiting for the one before it. */
static void test_long_chain(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 12; seed++) {
        finishes("one_after_the_other",
                 (shape){.grid = 20, .block = 1024, .steps = 50000000, .schedule = seed}, 1,
                 (const void *[]){&out});
        for (int b = 0; b < 20; b++) assert_int_equal(out[b], b + 1);
    }
}

/* No thread of theirs ever spins alone. */
static void test_waits_together(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        shape s = {.grid = 6, .block = 256, .steps = 50000000, .schedule = seed};
        finishes("waits_through_barriers", s, 1, (const void *[]){&out});
        for (int b = 0; b < 6; b++) assert_int_equal(out[b], b + 1);
        s.block = 32;
        finishes("waits_through_votes", s, 1, (const void *[]){&out});
        for (int b = 0; b < 6; b++) assert_int_equal(out[b], b + 1);
    }
}

static void test_locks_and_tickets(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        shape s = {.grid = 12, .block = 64, .steps = 50000000, .schedule = seed};
        finishes("locked_between_blocks", s, 2, (const void *[]){&out, &flag});
        assert_int_equal(out[0], 12);
        finishes("ticket", s, 2, (const void *[]){&out, &flag});
        for (int b = 0; b < 12; b++) assert_int_equal(out[b], b + 1);
        finishes("waits_for_the_last", s, 2, (const void *[]){&out, &flag});
    }
}

/* Some schedule shows each of them; the kind one, in which blocks follow each other, does not. */
static void test_races(void **state) {
    (void)state;
    int counted = 0, early = 0, unchained = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        run("counts_between_blocks", (shape){.grid = 6, .schedule = seed}, 1, (const void *[]){&out});
        counted += out[0] != 6;
        run("two_phases_too_early", (shape){.grid = 6, .schedule = seed}, 2, (const void *[]){&out, &flag});
        early += out[0] != 15;
        run("chained_without_waiting", (shape){.grid = 6, .schedule = seed}, 3,
            (const void *[]){&in, &out, &flag});
        unchained += out[5] != in[0] + in[1] + in[2] + in[3] + in[4];
        if (seed == 0) assert_int_equal(counted + unchained, 0);
    }
    assert_true(counted >= 4);
    assert_true(early >= 4);
    assert_true(unchained >= 4);
}

static void test_hang(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 3; seed += 3) {
        run("all_wait", (shape){.grid = 2, .block = 2, .schedule = seed}, 2, (const void *[]){&flag, &out});
        expect_fault(CUPEL_FAULT_HANG, "nobody sets it");
    }
}

/* What goes round in a circle through barriers is a hang, also where only one block does; what counts its
 * turns, or looks at the clock, is none however long it takes. */
static void test_meeting_for_ever(void **state) {
    (void)state;
    int n = 100000;
    uint64_t ticks = 60000000;
    for (int grid = 1; grid <= 3; grid++)
        for (unsigned seed = 0; seed <= 3; seed++) {
            shape s = {.grid = grid, .block = 128, .schedule = seed};
            run("meet_and_wait", s, 1, (const void *[]){&out});
            expect_fault(CUPEL_FAULT_HANG, "for ever, in two turns");
        }
    for (int grid = 1; grid <= 2; grid++) {
        shape s = {.grid = grid, .block = 64};
        finishes("meet_often", s, 2, (const void *[]){&out, &n});
        assert_int_equal(out[grid - 1], n);
        finishes("meet_by_the_clock", s, 2, (const void *[]){&out, &ticks});
        assert_int_equal(out[grid - 1], 1);
    }
}

/* A device with more room would come to an end: nothing is said. */
static void test_no_room(void **state) {
    (void)state;
    run("waits_for_the_last", (shape){.grid = 9, .block = 1024, .steps = 100000000}, 2,
        (const void *[]){&out, &flag});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
    assert_non_null(strstr(f.seen.text, "one of the 1 that have not begun"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_many_phases),
        cmocka_unit_test(test_grid_faults),
        cmocka_unit_test(test_grid_too_large),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_waits_together),
        cmocka_unit_test(test_locks_and_tickets),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_meeting_for_ever),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
