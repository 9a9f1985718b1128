/* Runs of a large grid in which blocks may be left out: which blocks they are, and kernels whose blocks are
 * run whole all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu_sample.h"
#include "exec_fixture.h"
#include "schedule.h"

static bool holds(const uint64_t *blocks, uint32_t count, uint64_t block) {
    for (uint32_t i = 0; i < count; i++)
        if (blocks[i] == block) return true;
    return false;
}

static void test_which_blocks(void **state) {
    (void)state;
    uint64_t blocks[CUPEL_EMU_SAMPLE_MAX], again[CUPEL_EMU_SAMPLE_MAX];
    uint64_t first[CUPEL_EMU_SAMPLE_MAX];
    static const int64_t grids[][3] = {{17, 1, 1}, {1000, 1, 1}, {1, 40, 1}, {5, 7, 3}, {2, 2, 90}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        const int64_t x = grids[g][0], y = grids[g][1], z = grids[g][2];
        bool others = false;
        for (uint64_t seed = 1; seed < 20; seed++) {
            const uint32_t count = cupel_emu_sample(grids[g], seed, blocks);
            assert_in_range(count, 3, CUPEL_EMU_SAMPLE_MAX);
            assert_int_equal(cupel_emu_sample(grids[g], seed, again), count);
            assert_memory_equal(blocks, again, count * sizeof *blocks);
            for (uint32_t i = 1; i < count; i++) assert_true(blocks[i - 1] < blocks[i]);
            assert_int_equal(blocks[0], 0);
            assert_int_equal(blocks[count - 1], x * y * z - 1);
            assert_true(holds(blocks, count, (uint64_t)(x / 2 + x * (y / 2 + y * (z / 2)))));
            assert_true(holds(blocks, count, (uint64_t)(x - 1)));
            assert_true(holds(blocks, count, (uint64_t)(x - 1 + x * (y / 2 + y * (z / 2)))));
            assert_true(holds(blocks, count, (uint64_t)(x / 2 + x * (y - 1 + y * (z / 2)))));
            if (seed == 1) memcpy(first, blocks, sizeof first);
            others = others || memcmp(first, blocks, sizeof *blocks * count) != 0;
        }
        assert_true(others); /* some are drawn */
    }
    assert_int_equal(cupel_emu_sample((int64_t[]){16, 1, 1}, 1, blocks), 0);
    assert_int_equal(cupel_emu_sample((int64_t[]){0, 70000, 1}, 1, blocks), 0);
}

static void open_kernel(exec_fixture *x, const char *kernel, const char *source) {
    static char text[4096];
    snprintf(text, sizeof text,
             "/* cupel: 1\nid: k\ndims: {N: 0..300000}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
             "ensures: {y: \"x\"}\n%s*/\n%s",
             kernel, source);
    if (exec_fixture_open(x, text, 0) != CUPEL_OK) fail_msg("%s", x->err.text);
    exec_fixture_dim(x, "N", 64 * 99 + 5);
    x->sample = 7;
}

static const char single[] =
    "kernel:\n  entry: k\n  args: [x, y, N]\n  grid: [\"ceil_div(N, 64)\"]\n  block: [64]\n";
static const char copy[] = "__global__ void k(const float *x, float *y, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n) y[i] = x[i];\n}\n";

static bool is_reached(const exec_fixture *x, int64_t element) {
    const uint8_t *reached = x->seen.buffers[x->c->tensors[1].buffer].reached;
    return reached[4 * element >> 3] >> (4 * element & 7) & 1;
}

static void test_only_these_blocks(void **state) {
    (void)state;
    exec_fixture x;
    uint64_t blocks[CUPEL_EMU_SAMPLE_MAX];
    open_kernel(&x, single, copy);
    const uint32_t count = cupel_emu_sample((int64_t[]){100, 1, 1}, x.sample, blocks);
    for (unsigned schedule = 0; schedule < 8; schedule++) {
        exec_fixture_run(&x, cupel_schedule_nth(schedule), CUPEL_POISON_NAN);
        assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
        assert_true(x.seen.blocks_left_out);
        for (int64_t i = 0; i < 64 * 99 + 5; i++)
            assert_int_equal(is_reached(&x, i), holds(blocks, count, (uint64_t)i / 64));
    }
    x.sample = 0;
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_false(x.seen.blocks_left_out);
    for (int64_t i = 0; i < 64 * 99 + 5; i++) assert_true(is_reached(&x, i));
    x.sample = 7;
    exec_fixture_dim(&x, "N", 64 * 16);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_false(x.seen.blocks_left_out);
    exec_fixture_close(&x);
}

static void expect_whole(const char *kernel, const char *source) {
    exec_fixture x;
    open_kernel(&x, kernel, source);
    for (unsigned schedule = 0; schedule < 4; schedule++) {
        exec_fixture_run(&x, cupel_schedule_nth(schedule), CUPEL_POISON_NAN);
        assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
        assert_false(x.seen.blocks_left_out);
        for (int64_t i = 0; i < 64 * 99 + 5; i++)
            if (!is_reached(&x, i)) fail_msg("element %d is not stored", (int)i);
    }
    exec_fixture_close(&x);
}

static void test_blocks_that_work_together(void **state) {
    (void)state;
    expect_whole(single, "__global__ void k(const float *x, float *y, int n) {\n"
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    if (i < n) atomicExch(&y[i], x[i]);\n}\n");
    expect_whole(single, "__device__ int blocks;\n"
                         "__global__ void k(const float *x, float *y, int n) {\n"
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    if (threadIdx.x == 0) blocks = blockIdx.x;\n"
                         "    if (i < n) y[i] = x[i];\n}\n");
    expect_whole(
        "kernel:\n  - entry: k\n    args: [x, y, N]\n    grid: [\"ceil_div(N, 64)\"]\n    block: [64]\n"
        "  - entry: k\n    args: [x, y, N]\n    grid: [\"ceil_div(N, 64)\"]\n    block: [64]\n",
        copy);
    expect_whole("kernel:\n  entry: k\n  args: [x, y, N]\n  grid: [\"ceil_div(N, 64)\"]\n  block: [64]\n"
                 "  cooperative: true\n",
                 copy);
}

/* Atomics in shared memory are a block's own affair. */
static void test_shared_atomics(void **state) {
    (void)state;
    exec_fixture x;
    open_kernel(&x, single,
                "__global__ void k(const float *x, float *y, int n) {\n"
                "    __shared__ int count;\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    if (threadIdx.x == 0) count = 0;\n"
                "    __syncthreads();\n"
                "    atomicAdd(&count, 1);\n"
                "    __syncthreads();\n"
                "    if (i < n) y[i] = x[i] * count / 64;\n}\n");
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
    assert_true(x.seen.blocks_left_out);
    exec_fixture_close(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_blocks),
        cmocka_unit_test(test_only_these_blocks),
        cmocka_unit_test(test_blocks_that_work_together),
        cmocka_unit_test(test_shared_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
