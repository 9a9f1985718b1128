/* Schedules: the canonical one forgives what a device mostly forgives, seeds show the races, and every seed
 * repeats exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"
#include "schedule.h"

enum { SEEDS = 64 };

static cupel_emu_module *module;
static field f;
static int *in, *out, *counter;

static int setup(void **state) {
    (void)state;
    module = candidate_load("warps.cu");
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
    counter = (int *)(void *)field_buffer(&f, 2);
    for (int i = 0; i < 256; i++) in[i] = i + 1;
    memset(out, 0, 4096);
    memset(counter, 0, 64);
}

static void run(const char *entry, shape s, int argc, const void *const *args) {
    field_run(&f, module, entry, s, argc, args);
    if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", entry, f.seen.text);
}

static int sum_to(int n) {
    return n * (n + 1) / 2;
}

static bool no_barrier_is_right(unsigned seed) {
    reset();
    run("no_barrier", (shape){.block = 256, .grid = 3, .schedule = seed}, 2, (const void *[]){&in, &out});
    return out[0] == sum_to(256) && out[1] == sum_to(256) && out[2] == sum_to(256);
}

static bool no_syncwarp_is_right(unsigned seed) {
    reset();
    run("no_syncwarp", (shape){.block = 32, .grid = 2, .schedule = seed}, 2, (const void *[]){&in, &out});
    return out[0] == sum_to(64) && out[1] == sum_to(64);
}

static bool shared_scalar_is_right(unsigned seed) {
    reset();
    run("shared_scalar", (shape){.block = 128, .schedule = seed}, 2, (const void *[]){&in, &out});
    for (int i = 0; i < 3 * 128; i++)
        if (out[i] != i / 128 + 1) return false;
    return true;
}

static bool carry_is_right(unsigned seed) {
    int n = 256;
    reset();
    run("carry", (shape){.block = 64, .schedule = seed}, 3, (const void *[]){&in, &out, &n});
    for (int i = 0; i < 64; i++)
        if (out[i] != sum_to(256)) return false;
    return true;
}

static void test_races(void **state) {
    (void)state;
    bool (*const kernels[])(unsigned) = {no_barrier_is_right, no_syncwarp_is_right, shared_scalar_is_right,
                                         carry_is_right};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (!kernels[k](0)) fail_msg("kernel %zu is wrong under the canonical schedule", k);
        int wrong = 0;
        for (unsigned seed = 1; seed <= SEEDS; seed++) wrong += !kernels[k](seed);
        assert_true(wrong > SEEDS / 8); /* found within a few tries */
    }
}

static bool is_permutation(const int *order, int n) {
    bool seen[256] = {false};
    for (int i = 0; i < n; i++) {
        if (order[i] < 0 || order[i] >= n || seen[order[i]]) return false;
        seen[order[i]] = true;
    }
    return true;
}

static bool is_identity(const int *order, int n) {
    for (int i = 0; i < n; i++)
        if (order[i] != i) return false;
    return true;
}

static void test_orders(void **state) {
    (void)state;
    int moved_blocks = 0, moved_threads = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        int first[200];
        for (int turn = 0; turn < 2; turn++) {
            reset();
            run("block_order", (shape){.block = 33, .grid = 200, .schedule = seed}, 2,
                (const void *[]){&out, &counter});
            assert_true(is_permutation(out, 200));
            if (turn == 1) assert_memory_equal(first, out, sizeof first);
            memcpy(first, out, sizeof first);
        }
        if (seed == 0) assert_true(is_identity(out, 200));
        moved_blocks += !is_identity(out, 200);
        for (int turn = 0; turn < 2; turn++) {
            reset();
            run("thread_order", (shape){.block = 200, .schedule = seed}, 2, (const void *[]){&out, &counter});
            assert_true(is_permutation(out, 200));
            if (turn == 1) assert_memory_equal(first, out, sizeof first);
            memcpy(first, out, sizeof first);
        }
        if (seed == 0) assert_true(is_identity(out, 200));
        moved_threads += !is_identity(out, 200);
    }
    assert_true(moved_blocks > SEEDS - 4 && moved_threads > SEEDS - 4);
}

/* When each of 200 threads of one block comes, and 200 blocks, under a schedule that has a name. */
static void orders_of(cupel_schedule_way way, int threads[200], int blocks[200]) {
    uint64_t n = way; /* the first of the sequence are the ways without a seed, in order */
    reset();
    run("block_order", (shape){.block = 33, .grid = 200, .schedule = n}, 2, (const void *[]){&out, &counter});
    memcpy(blocks, out, 200 * sizeof *blocks);
    reset();
    run("thread_order", (shape){.block = 200, .schedule = n}, 2, (const void *[]){&out, &counter});
    memcpy(threads, out, 200 * sizeof *threads);
}

static void test_named_orders(void **state) {
    (void)state;
    int threads[200], blocks[200];
    orders_of(CUPEL_SCHEDULE_REVERSE, threads, blocks);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(threads[i], 199 - i);
        assert_int_equal(blocks[i], 199 - i);
    }
    orders_of(CUPEL_SCHEDULE_LAST_WARP, threads, blocks);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(threads[i], i < 192 ? 8 + i : i - 192); /* the last of 7 warps has 8 lanes */
        assert_int_equal(blocks[i], i);
    }
}

static uint64_t racy_result(cupel_schedule schedule) {
    uint64_t sum = 0;
    int n = 256;
    reset();
    run("carry", (shape){.block = 64, .exact_schedule = cupel_schedule_pack(schedule)}, 3,
        (const void *[]){&in, &out, &n});
    for (int i = 0; i < 64; i++) sum = sum * 31 + (uint64_t)out[i];
    return sum;
}

/* The switches that a limit allows are the first ones of the schedule without a limit. */
static void test_limited_switches(void **state) {
    (void)state;
    int changed = 0;
    for (uint32_t seed = 1; seed <= 32; seed++) {
        cupel_schedule schedule = {CUPEL_SCHEDULE_RANDOM, seed, 0};
        uint64_t all = racy_result(schedule);
        schedule.limit = (1u << 24) - 1;
        assert_true(racy_result(schedule) == all);
        for (schedule.limit = 1; schedule.limit <= 4; schedule.limit++) {
            uint64_t few = racy_result(schedule);
            assert_true(racy_result(schedule) == few);
            changed += few != all;
        }
    }
    assert_true(changed > 16);
}

static void test_spinning(void **state) {
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        reset();
        run("spins", (shape){.block = 64, .schedule = seed}, 2, (const void *[]){&out, &counter});
        for (int i = 0; i < 64; i++) assert_int_equal(out[i], 5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_races),        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_named_orders), cmocka_unit_test(test_limited_switches),
        cmocka_unit_test(test_spinning),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
