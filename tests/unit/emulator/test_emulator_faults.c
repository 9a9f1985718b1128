/* Faults: each is named with its place, and a correct kernel is right afterwards in the same process. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "candidate.h"
#include "schedule.h"

static cupel_emu_module *module;
static field f;

static int setup(void **state) {
    (void)state;
    module = candidate_load("kernels.cu");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cupel_emu_module_close(module);
    return 0;
}

/* The line of kernels.cu that ends with a comment. */
static void run(const char *entry, shape s, int argc, const void *const *args) {
    field_run(&f, module, entry, s, argc, args);
}

static void correct_kernel_is_right(void) {
    int n = 1000;
    field_reset(&f, n, n, 0);
    const float *x = field_buffer(&f, 0);
    float *y = field_buffer(&f, 1);
    run("scale", (shape){.grid = 4, .block = 256}, 3, (const void *[]){&x, &y, &n});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_int_equal(f.seen.access_total, 0);
    assert_string_equal(f.seen.text, "");
    assert_true(f.seen.steps >= 3000);
    for (int i = 0; i < n; i++) assert_true(y[i] == 2 * (float)i);
    for (int i = n; i < n + 100; i++) assert_int_equal(((uint32_t *)(void *)y)[i], 0x5a5a5a5a);
}

static void expect_fault(cupel_fault fault, const char *function, const char *mark) {
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FAULT);
    assert_int_equal(f.seen.fault, fault);
    if (function != NULL && strstr(f.seen.place.function, function) == NULL)
        fail_msg("in '%s' (%s:%d), not %s", f.seen.place.function, f.seen.place.file, f.seen.place.line,
                 function);
    if (mark != NULL) {
        assert_non_null(strstr(f.seen.place.file, "kernels.cu"));
        assert_int_equal(f.seen.place.line, candidate_line("kernels.cu", mark));
    }
    assert_true(f.seen.text[0] != '\0');
    correct_kernel_is_right();
}

static void test_correct(void **state) {
    (void)state;
    correct_kernel_is_right();
}

static void test_null_store(void **state) {
    (void)state;
    int n = 5;
    field_reset(&f, 10, 10, 0);
    float *y = field_buffer(&f, 1);
    run("null_store", (shape){.block = 8}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.signal, SIGSEGV);
    expect_fault(CUPEL_FAULT_CRASH, "null_store", "null");
}

static void test_wild_store(void **state) {
    (void)state;
    int n = 5;
    field_reset(&f, 10, 10, 0);
    float *y = field_buffer(&f, 1);
    run("wild_store", (shape){0}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.access_count, 1);
    assert_int_equal(f.seen.accesses[0].kind, CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE);
    expect_fault(CUPEL_FAULT_OUT_OF_BOUNDS, "wild_store", "wild");
}

static void expect_access(cupel_access_kind kind, cupel_space space, const char *mark, int buffer,
                          int64_t offset, uint32_t thread) {
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_int_equal(f.seen.access_count, 1);
    const cupel_access *access = &f.seen.accesses[0];
    assert_int_equal(access->kind, kind);
    assert_int_equal(access->space, space);
    assert_int_equal(access->place.line, candidate_line("kernels.cu", mark));
    assert_int_equal(access->buffer, buffer);
    assert_int_equal(access->offset, offset);
    assert_int_equal(access->place.thread[0], thread);
}

static void test_store_past_the_end(void **state) {
    (void)state;
    int n = 100;
    field_reset(&f, n, n, 0);
    const float *x = field_buffer(&f, 0);
    float *y = field_buffer(&f, 1);
    run("past_the_end", (shape){.block = 64, .grid = 2}, 3, (const void *[]){&x, &y, &n});
    expect_access(CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE, CUPEL_SPACE_GLOBAL, "writes y[n]", 1, 400, 36);
    assert_int_equal(f.seen.accesses[0].place.block[0], 1);
    assert_true(y[99] == 198); /* the run went on */
    correct_kernel_is_right();
}

static void test_load_past_the_end(void **state) {
    (void)state;
    int n = 100;
    field_reset(&f, n, n, 0);
    const float *x = field_buffer(&f, 0);
    float *y = field_buffer(&f, 1);
    run("reads_past", (shape){.block = 128}, 3, (const void *[]){&x, &y, &n});
    expect_access(CUPEL_ACCESS_OUT_OF_BOUNDS_READ, CUPEL_SPACE_GLOBAL, "reads x[n]", 0, 400, 99);
}

static void test_misaligned(void **state) {
    (void)state;
    for (int turn = 0; turn < 2; turn++) { /* the second time the instruction has been rewritten already */
        field_reset(&f, 16, 16, 0);
        const float *x = field_buffer(&f, 0);
        float *y = field_buffer(&f, 1);
        run("misaligned", (shape){.block = 1}, 2, (const void *[]){&x, &y});
        expect_access(CUPEL_ACCESS_MISALIGNED_READ, CUPEL_SPACE_GLOBAL, "misaligned", 0, 4, 0);
        assert_int_equal(f.seen.accesses[0].size, 16);
        assert_true(y[0] == 1 && y[3] == 4);
    }
    correct_kernel_is_right();
}

static void test_endless(void **state) {
    (void)state;
    uint64_t steps[2];
    for (int turn = 0; turn < 2; turn++) {
        field_reset(&f, 16, 16, 0);
        float *y = field_buffer(&f, 1);
        run("endless", (shape){.block = 1, .steps = 500000}, 1, (const void *[]){&y});
        steps[turn] = f.seen.steps;
        expect_fault(CUPEL_FAULT_HANG, "endless", "endless");
    }
    assert_int_equal(steps[0], steps[1]);
}

/* One of several blocks might wait for another; here all of them are in flight and none changes anything. */
static void test_endless_in_a_grid(void **state) {
    (void)state;
    field_reset(&f, 16, 16, 0);
    float *y = field_buffer(&f, 1);
    run("endless", (shape){.block = 1, .grid = 2, .steps = 500000}, 1, (const void *[]){&y});
    expect_fault(CUPEL_FAULT_HANG, "endless", "endless");
    correct_kernel_is_right();
}

static void test_endless_without_a_branch(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("straight_endless", (shape){.block = 1, .steps = 500000}, 1, (const void *[]){&y}); /* up to 2^24 */
    expect_fault(CUPEL_FAULT_HANG, "straight_endless", "no branch");
}

/* Loops that use no steps are found by the processor time that they take, in a grid of any size. */
static void test_endless_without_a_step(void **state) {
    (void)state;
    int n = 5;
    clock_t start = clock();
    field_reset(&f, 16, 64, 0);
    const float *x = field_buffer(&f, 0);
    float *y = field_buffer(&f, 1);
    run("empty_endless", (shape){0}, 1, (const void *[]){&y});
    expect_fault(CUPEL_FAULT_HANG, "empty_endless", "nothing at all");
    field_reset(&f, 16, 64, 0);
    run("empty_while", (shape){.grid = 2}, 2, (const void *[]){&y, &n});
    expect_fault(CUPEL_FAULT_HANG, NULL, "nothing for n");
    field_reset(&f, 16, 64, 0);
    run("empty_in_the_middle", (shape){.grid = 2}, 3, (const void *[]){&x, &y, &n});
    assert_true(y[0] == 0); /* was stored before */
    expect_fault(CUPEL_FAULT_HANG, NULL, "nothing after all");
    field_reset(&f, 16, 64, 0);
    run("multiplies_for_ever", (shape){0}, 2, (const void *[]){&y, &n});
    expect_fault(CUPEL_FAULT_HANG, NULL, "nothing of use");
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 4 * 2);
    n = 0;
    field_reset(&f, 16, 64, 0);
    run("empty_while", (shape){.grid = 2}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
}

/* Whoever stores something new now and then is at work; for how long is not ours to say. */
static void test_work_without_an_end_is_no_hang(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("counts_for_ever", (shape){.block = 1, .steps = 100000}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
    assert_non_null(strstr(f.seen.text, "still at work"));
    correct_kernel_is_right();
}

/* Past the steps that it was given, and done all the same; one thread may be silent for long. */
static void test_late_end(void **state) {
    (void)state;
    int n = 3000000;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("long_way", (shape){.block = 1, .steps = 100000}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_true(y[0] == 2);
}

/* Slow and without an access for longer than an endless loop takes to be found. */
static void test_slow_is_not_endless(void **state) {
    (void)state;
    int n = 1000000000;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("long_way", (shape){.block = 1, .steps = UINT64_C(10000000000)}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_true(f.seen.steps >= (uint64_t)n);
    assert_true(y[0] == 2);
}

static void test_leaving_a_local_array(void **state) {
    (void)state;
    static const int far[] = {1200000 / 4, 20000 / 4, -140000 / 4};
    int n = 60000; /* floats: more than a stack */
    field_reset(&f, 16, 64, 0);
    const float *x = field_buffer(&f, 0);
    float *y = field_buffer(&f, 1);
    run("leaves_local", (shape){.block = 4}, 3, (const void *[]){&x, &y, &n});
    assert_int_equal(f.seen.access_count, 1);
    assert_int_equal(f.seen.accesses[0].space, CUPEL_SPACE_LOCAL);
    expect_fault(CUPEL_FAULT_OUT_OF_BOUNDS, "leaves_local", "leaves r");
    for (int i = 0; i < 3; i++) {
        field_reset(&f, 16, 64, 0);
        run("leaves_local_at_once", (shape){.block = 4}, 2, (const void *[]){&y, &far[i]});
        assert_int_equal(f.seen.access_count, 1);
        assert_int_not_equal(f.seen.accesses[0].space, CUPEL_SPACE_SHARED);
        if (i != 0) assert_int_equal(f.seen.accesses[0].space, CUPEL_SPACE_LOCAL);
        expect_fault(CUPEL_FAULT_OUT_OF_BOUNDS, "leaves_local_at_once", "far from r");
    }
}

static void test_deadlock(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("deadlock", (shape){.block = 64}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.place.thread[0], 3);
    expect_fault(CUPEL_FAULT_DEADLOCK, "deadlock", "lane alone");
}

static void test_stack_overflow(void **state) {
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        field_reset(&f, 16, 64, 0);
        float *y = field_buffer(&f, 1);
        run("overflow", (shape){.block = 2}, 1, (const void *[]){&y});
        expect_fault(CUPEL_FAULT_STACK_OVERFLOW, "deep", NULL);
    }
}

/* A device has 512 KiB of local memory for a thread. What calls have left on the stack before is no
 * recursion. */
static void test_large_local_arrays(void **state) {
    (void)state;
    static const char *const entries[] = {"keeps_160000", "keeps_400000", "keeps_524288"};
    static const char *const marks[] = {"keeps 160000", "keeps 400000", "keeps 524288"};
    for (int deep = 0; deep < 2; deep++)
        for (int i = 0; i < 3; i++) {
            const int n = 3, calls = 100;
            field_reset(&f, 16, 64, 0);
            float *y = field_buffer(&f, 1);
            if (deep) {
                run("goes_down", (shape){.block = 4}, 2, (const void *[]){&y, &calls});
                assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
                field_reset(&f, 16, 64, 0);
            }
            run(entries[i], (shape){.block = 4}, 2, (const void *[]){&y, &n});
            assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
            assert_int_equal(f.seen.fault, CUPEL_FAULT_NONE);
            assert_int_equal(f.seen.signal, 0);
            assert_int_equal(f.seen.access_total, 0);
            assert_non_null(strstr(f.seen.text, "more than 128 KiB of local memory"));
            assert_non_null(strstr(f.seen.place.function, "keeps"));
            assert_non_null(strstr(f.seen.place.file, "kernels.cu"));
            assert_int_equal(f.seen.place.line, candidate_line("kernels.cu", marks[i]));
            correct_kernel_is_right();
        }
}

static void test_assert_and_trap(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("asserts", (shape){0}, 1, (const void *[]){&y});
    assert_non_null(strstr(f.seen.text, "i < n"));
    assert_int_equal(f.seen.place.thread[0], 2);
    expect_fault(CUPEL_FAULT_ASSERT, "asserts", "assertion");
    field_reset(&f, 16, 64, 0);
    run("traps", (shape){0}, 1, (const void *[]){&y});
    expect_fault(CUPEL_FAULT_ASSERT, "traps", NULL);
}

static void test_local_atomic(void **state) {
    (void)state;
    int i = 2;
    field_reset(&f, 16, 64, 0);
    int *y = (int *)(void *)field_buffer(&f, 1);
    run("counts_locally", (shape){0}, 2, (const void *[]){&y, &i});
    expect_fault(CUPEL_FAULT_ASSERT, "counts_locally", "in local memory");
    field_reset(&f, 16, 64, 0);
    run("counts_anywhere", (shape){0}, 2, (const void *[]){&y, &i});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_int_equal(y[0], 1);
}

/* A device gives some number quietly: nothing is known about the run, and nobody is accused. */
static void test_divisions_without_a_result(void **state) {
    (void)state;
    static const struct { int a, b; } rows[] = {{7, 0}, {-2147483647 - 1, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int rest = 0; rest < 2; rest++) {
            field_reset(&f, 16, 64, 0);
            float *y = field_buffer(&f, 1);
            const char *entry = rest ? "remains" : "divides";
            run(entry, (shape){0}, 3, (const void *[]){&y, &rows[i].a, &rows[i].b});
            assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
            assert_int_equal(f.seen.fault, CUPEL_FAULT_NONE);
            assert_int_equal(f.seen.signal, 0);
            assert_non_null(strstr(f.seen.text, "an integer division by zero"));
            assert_non_null(strstr(f.seen.place.function, entry));
            assert_int_equal(f.seen.place.line,
                             candidate_line("kernels.cu", rest ? "remainder" : "division"));
        }
    const int a = 7, b = 2;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("divides", (shape){0}, 3, (const void *[]){&y, &a, &b});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    assert_int_equal(*(int *)(void *)y, 3);
}

static void test_device_globals_start_anew(void **state) {
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        field_reset(&f, 16, 64, 0);
        float *y = field_buffer(&f, 1);
        run("remembers", (shape){.block = 1}, 1, (const void *[]){&y});
        assert_int_equal(f.seen.access_total, 0);
        assert_int_equal(*(int *)(void *)y, 1);
    }
}

static void test_constants_and_locals(void **state) {
    (void)state;
    int n = 3;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("constants", (shape){.block = 8}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.access_total, 0);
    assert_true(y[6] == 3);
    run("local_array", (shape){.block = 8}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.access_total, 0);
    for (int i = 0; i < 8; i++) assert_true(y[i] == (float)((i + 3) % 8 * 3));
}

/* What the checker remembers of shared memory ends with the block: the last block comes first and sets all,
 * the first one then finds nothing. */
static void test_uninitialised_in_a_later_block(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    uint64_t reverse = cupel_schedule_pack((cupel_schedule){.way = CUPEL_SCHEDULE_REVERSE});
    run("block_one_sets", (shape){.grid = 2, .exact_schedule = reverse}, 1, (const void *[]){&y});
    assert_true(y[32] == 32);
    assert_int_equal(f.seen.access_count, 1);
    assert_int_equal(f.seen.accesses[0].kind, CUPEL_ACCESS_UNINITIALISED_READ);
    assert_int_equal(f.seen.accesses[0].space, CUPEL_SPACE_SHARED);
    assert_int_equal(f.seen.accesses[0].place.line, candidate_line("kernels.cu", "unset in block 0"));
    assert_int_equal(f.seen.accesses[0].place.block[0], 0);
}

/* ... and with the barrier: the reads behind it have been seen even where they read what was read before. */
static void test_late_race_wants_care(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    cupel_emu_launch launch = {.kernel = cupel_emu_module_kernel(module, "races_late"),
                               .args = (void *[]){&y},
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1}};
    cupel_emu_run_begin(module, &f.memory, 0, 0, 0xff, 1000000, &f.seen);
    assert_true(cupel_emu_run_launch(&launch));
    assert_true(cupel_emu_run_end(false));
}

static void test_uninitialised(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("reads_output", (shape){.block = 4}, 1, (const void *[]){&y});
    expect_access(CUPEL_ACCESS_UNINITIALISED_READ, CUPEL_SPACE_GLOBAL, "uninitialised", 1, 0, 0);
    assert_int_equal(f.seen.accesses[0].count, 4);
    field_reset(&f, 16, 64, 0);
    run("shared_unset", (shape){.block = 64}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.access_count, 1);
    assert_int_equal(f.seen.accesses[0].kind, CUPEL_ACCESS_UNINITIALISED_READ);
    assert_int_equal(f.seen.accesses[0].space, CUPEL_SPACE_SHARED);
    assert_true(f.seen.accesses[0].place.thread[0] >= 16);
    assert_true(y[15] == 1 && y[16] != y[16]);
    field_reset(&f, 16, 64, 0);
    run("shared_unset", (shape){.block = 64, .zero_poison = true}, 1, (const void *[]){&y});
    assert_true(y[15] == 1 && y[16] == 0);
}

static void test_dynamic_shared(void **state) {
    (void)state;
    int n = 64;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("dynamic_past", (shape){.block = 64, .shared = 256}, 2, (const void *[]){&y, &n});
    expect_access(CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE, CUPEL_SPACE_SHARED, "one past", -1, 256, 0);
    assert_true(y[63] == 63);
    run("dynamic_past", (shape){.block = 64, .shared = 260}, 2, (const void *[]){&y, &n});
    assert_int_equal(f.seen.access_total, 0);
}

static void test_memcpy(void **state) {
    (void)state;
    int n = 64;
    field_reset(&f, 16, 16, 0);
    const float *x = field_buffer(&f, 0);
    float *y = field_buffer(&f, 1);
    run("copies", (shape){.block = 1}, 3, (const void *[]){&x, &y, &n});
    assert_int_equal(f.seen.access_total, 0);
    assert_true(y[15] == 15);
    n = 68;
    run("copies", (shape){.block = 1}, 3, (const void *[]){&x, &y, &n});
    assert_int_equal(f.seen.access_count, 2);
    assert_int_equal(f.seen.accesses[1].kind, CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE);
    assert_int_equal(f.seen.accesses[1].offset, 64);
}

static void test_float_atomics(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("adds_apart", (shape){0}, 1, (const void *[]){&y});
    assert_false(f.seen.float_atomics);
    run("adds", (shape){.block = 1}, 1, (const void *[]){&y});
    assert_false(f.seen.float_atomics);
    run("adds", (shape){.block = 2}, 1, (const void *[]){&y});
    assert_true(f.seen.float_atomics);
    run("adds", (shape){.block = 1, .grid = 2}, 1, (const void *[]){&y});
    assert_true(f.seen.float_atomics);
    run("exchanges", (shape){.block = 1}, 1, (const void *[]){&y});
    assert_false(f.seen.float_atomics);
    run("exchanges", (shape){.block = 2}, 1, (const void *[]){&y});
    assert_true(f.seen.float_atomics); /* a sum may be made that way */
}

static void expect_refusal(const char *entry, shape s, const char *figure) {
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run(entry, s, 1, (const void *[]){&y});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_REFUSED);
    assert_non_null(strstr(f.seen.text, figure));
}

static void test_refusals(void **state) {
    (void)state;
    expect_refusal("bounded", (shape){.block = 1025}, "1025");
    expect_refusal("bounded", (shape){.block = 65}, "65 threads");
    expect_refusal("bounded", (shape){.block = -1}, "block.x is -1");
    expect_refusal("constants", (shape){.shared = 227 * 1024 + 1}, "232449");
    expect_refusal("big_static", (shape){0}, "65536");
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("constants", (shape){.shared = 227 * 1024}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
    run("bounded", (shape){.block = 64}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_FINISHED);
}

static void test_too_large_to_emulate(void **state) {
    (void)state;
    field_reset(&f, 16, 64, 0);
    float *y = field_buffer(&f, 1);
    run("constants", (shape){.grid = 2000000000, .block = 64}, 1, (const void *[]){&y});
    assert_int_equal(f.seen.outcome, CUPEL_RUN_UNSUPPORTED);
    assert_non_null(strstr(f.seen.text, "128000000000 threads"));
    correct_kernel_is_right();
}

static void test_coverage(void **state) {
    (void)state;
    size_t count;
    uint8_t *counts = cupel_emu_module_coverage(module, &count);
    assert_true(count > 30);
    memset(counts, 0, count);
    correct_kernel_is_right();
    int full = 0, seen = 0;
    for (size_t i = 1; i < count; i++) full += counts[i] == 255, seen += counts[i] != 0;
    assert_int_equal(counts[0], 0);
    assert_true(full >= 1 && seen >= 2 && seen < 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correct),
        cmocka_unit_test(test_null_store),
        cmocka_unit_test(test_wild_store),
        cmocka_unit_test(test_store_past_the_end),
        cmocka_unit_test(test_load_past_the_end),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_endless_in_a_grid),
        cmocka_unit_test(test_endless_without_a_branch),
        cmocka_unit_test(test_endless_without_a_step),
        cmocka_unit_test(test_work_without_an_end_is_no_hang),
        cmocka_unit_test(test_late_end),
        cmocka_unit_test(test_slow_is_not_endless),
        cmocka_unit_test(test_leaving_a_local_array),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_stack_overflow),
        cmocka_unit_test(test_large_local_arrays),
        cmocka_unit_test(test_assert_and_trap),
        cmocka_unit_test(test_local_atomic),
        cmocka_unit_test(test_divisions_without_a_result),
        cmocka_unit_test(test_device_globals_start_anew),
        cmocka_unit_test(test_constants_and_locals),
        cmocka_unit_test(test_uninitialised),
        cmocka_unit_test(test_uninitialised_in_a_later_block),
        cmocka_unit_test(test_late_race_wants_care),
        cmocka_unit_test(test_dynamic_shared),
        cmocka_unit_test(test_memcpy),
        cmocka_unit_test(test_float_atomics),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_large_to_emulate),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
