/* Global memory that is written: races through it show under some schedules and never in a kernel that is
 * right, a hang is the block's own only when no other block could end it, inputs are not stored to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"
#include "schedule.h"

enum { SEEDS = 48, THREADS = 96 };

static cupel_emu_module *module;
static field f;
static int *in, *out, *flag;

static int setup(void **state) {
    (void)state;
    module = candidate_load("exchanges.cu");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cupel_emu_module_close(module);
    return 0;
}

static void reset(void) {
    field_reset(&f, 256, 1024, 16);
    in = (int *)(void *)field_buffer(&f, 0);
    out = (int *)(void *)field_buffer(&f, 1);
    flag = (int *)(void *)field_buffer(&f, 2);
    for (int i = 0; i < 256; i++) in[i] = 37 * (i + 1) % 257;
    memset(out, 0, 4096);
    memset(flag, 0, 64);
    memset(f.readable, 0xff, sizeof f.readable);
}

static void run(const char *entry, shape s, int argc, const void *const *args) {
    reset();
    field_run(&f, module, entry, s, argc, args);
    if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", entry, f.seen.text);
}

static shape block_of(uint64_t schedule) {
    return (shape){.block = THREADS, .grid = 3, .schedule = schedule};
}

static bool counts(uint64_t schedule) {
    run("counts", block_of(schedule), 1, (const void *[]){&out});
    return out[0] == 3 * THREADS;
}

static bool counts_atomically(uint64_t schedule) {
    run("counts_atomically", block_of(schedule), 1, (const void *[]){&out});
    return out[0] == 3 * THREADS;
}

static bool is_count(const char *entry, uint64_t schedule) {
    run(entry, (shape){.block = THREADS, .schedule = schedule}, 1, (const void *[]){&out});
    for (int i = 0; i < THREADS; i++)
        if (out[i] != THREADS) return false;
    return true;
}

static bool counts_in_a_variable(uint64_t schedule) {
    return is_count("counts_in_a_variable", schedule);
}

static bool counts_in_a_variable_atomically(uint64_t schedule) {
    return is_count("counts_in_a_variable_atomically", schedule);
}

static bool is_largest(const char *entry, uint64_t schedule) {
    run(entry, (shape){.block = THREADS, .schedule = schedule}, 2, (const void *[]){&in, &out});
    int largest = 0;
    for (int i = 0; i < THREADS; i++) largest = in[i] > largest ? in[i] : largest;
    return out[0] == largest;
}

static bool largest(uint64_t schedule) {
    return is_largest("largest", schedule);
}

static bool largest_exchanged(uint64_t schedule) {
    return is_largest("largest_exchanged", schedule);
}

static bool two_warps_add(uint64_t schedule) {
    run("two_warps_add", (shape){.block = 64, .grid = 2, .schedule = schedule}, 2,
        (const void *[]){&in, &out});
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += in[i];
    return out[0] == sum && out[1] == sum;
}

static bool locked(uint64_t schedule) {
    run("locked", (shape){.block = THREADS, .schedule = schedule}, 2, (const void *[]){&out, &flag});
    return out[0] == THREADS;
}

static bool rotated(const char *entry, uint64_t schedule) {
    /* the values are what the buffer holds from the start: zeros but for one */
    reset();
    out[50] = 1;
    field_run(&f, module, entry, (shape){.block = THREADS, .schedule = schedule}, 1, (const void *[]){&out});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    for (int i = 0; i < THREADS; i++)
        if (out[i] != (i == 47)) return false;
    return true;
}

static bool rotates(uint64_t schedule) {
    return rotated("rotates", schedule);
}

static bool locked_by_one(uint64_t schedule) {
    unsigned expected = 0;
    run("locked_by_one", (shape){.block = THREADS, .schedule = schedule, .steps = 20000000}, 2,
        (const void *[]){&out, &flag});
    for (unsigned i = 0; i < THREADS; i++) expected = expected * 3 + i;
    return (unsigned)out[0] == expected;
}

typedef struct kernel {
    const char *name;
    bool (*is_right)(uint64_t schedule);
} kernel;

static void test_races(void **state) {
    (void)state;
    static const kernel kernels[] = {{"counts", counts},
                                     {"counts_in_a_variable", counts_in_a_variable},
                                     {"largest", largest},
                                     {"largest_exchanged", largest_exchanged},
                                     {"two_warps_add", two_warps_add}};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        int wrong[CUPEL_SCHEDULE_WAY_COUNT] = {0};
        if (!kernels[k].is_right(0)) fail_msg("%s: wrong under the canonical schedule", kernels[k].name);
        for (unsigned seed = 1; seed <= SEEDS; seed++)
            wrong[cupel_schedule_unpack(cupel_schedule_nth(seed)).way] += !kernels[k].is_right(seed);
        if (wrong[CUPEL_SCHEDULE_ABREAST] == 0 || wrong[CUPEL_SCHEDULE_RANDOM] == 0)
            fail_msg("%s: its race does not show", kernels[k].name);
    }
}

static void test_right_ones(void **state) {
    (void)state;
    static const kernel kernels[] = {{"counts_atomically", counts_atomically},
                                     {"counts_in_a_variable_atomically", counts_in_a_variable_atomically},
                                     {"locked", locked},
                                     {"locked_by_one", locked_by_one},
                                     {"rotates", rotates}};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        for (unsigned seed = 0; seed <= SEEDS; seed++)
            if (!kernels[k].is_right(seed)) fail_msg("%s: wrong under schedule %u", kernels[k].name, seed);
}

/* A store in place that comes too early is wrong in order, too: nothing makes that kind. */
static void test_in_place_too_early(void **state) {
    (void)state;
    int wrong = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) wrong += !rotated("rotates_too_early", seed);
    assert_true(wrong > SEEDS / 4);
}

static void test_input_put_back(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 6; seed++) {
        run("puts_back", (shape){.schedule = seed}, 2, (const void *[]){&in, &out});
        assert_int_equal(f.seen.access_count, 2);
        assert_int_equal(f.seen.accesses[0].kind, CUPEL_ACCESS_INPUT_WRITE);
        assert_int_equal(f.seen.accesses[0].buffer, 0);
        assert_int_equal(f.seen.accesses[0].count, 32);
        assert_int_equal(in[5], 37 * 6 % 257);
        assert_int_equal(out[5], 2 * (37 * 6 % 257));
    }
    run("counts_atomically", (shape){0}, 1, (const void *[]){&out});
    assert_int_equal(f.seen.access_count, 0);
}

static void stand_still(int step, uint64_t schedule) {
    int n = 200;
    reset();
    field_run(&f, module, "stands_still",
              (shape){.block = 64, .grid = 3, .steps = 2000000, .schedule = schedule}, 4,
              (const void *[]){&in, &out, &n, &step});
}

static void test_own_hang(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 6; seed += 3) {
        stand_still(0, seed);
        assert_int_equal(f.seen.outcome, CUPEL_RUN_FAULT);
        assert_int_equal(f.seen.fault, CUPEL_FAULT_HANG);
        stand_still(64, seed);
        assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    }
}

/* Blocks that wait for another one, which goes on meanwhile. */
static void test_waits_between_blocks(void **state) {
    (void)state;
    for (unsigned seed = 0; seed <= 6; seed++) {
        shape s = {.block = 32, .grid = 2, .steps = 1000000, .schedule = seed};
        reset();
        field_run(&f, module, "waits_for_next_block", s, 2, (const void *[]){&out, &flag});
        assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
        reset();
        field_run(&f, module, "waits_for_variable", s, 1, (const void *[]){&out});
        assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
        reset();
        field_run(&f, module, "waits_atomically", s, 2, (const void *[]){&out, &flag});
        assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
        assert_int_equal(out[0], 1);
        assert_int_equal(out[1], 1);
    }
}

/* Many blocks that take their time together come to an end. */
static void test_long_grid(void **state) {
    (void)state;
    int n = 200, step = 1;
    reset();
    field_run(&f, module, "stands_still", (shape){.block = 64, .grid = 1000, .steps = 1000000}, 4,
              (const void *[]){&in, &out, &n, &step});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_right_ones),
        cmocka_unit_test(test_in_place_too_early),
        cmocka_unit_test(test_input_put_back),
        cmocka_unit_test(test_own_hang),
        cmocka_unit_test(test_waits_between_blocks),
        cmocka_unit_test(test_long_grid),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
