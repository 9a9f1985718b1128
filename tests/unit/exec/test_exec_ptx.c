/* Inline PTX on the emulator: asynchronous copies that nobody waits for, that leave their memory or are not
 * aligned, matrix loads likewise, named barriers that cannot open; each with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exec_fixture.h"
#include "schedule.h"

/* The size of x chooses what the kernel does wrong; its first line is the file's line 14. */
static const char source[] =
    "/* cupel: 1\nid: k\ndims: {N: 1..60}\ninputs: {x: \"f32[N]\"}\noutputs: {y: \"f32[N]\"}\nensures: {y: "
    "\"x\"}\nkernel:\n"
    "  entry: k\n  args: [x, y, N]\n  grid: [1]\n  block: [64]\n*/\n#include <cuda_runtime.h>\n"
    "__device__ unsigned s(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }\n"
    "#define COPY(to, from, size) asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\" ::\"r\"(to), "
    "\"l\"(from), \"n\"(size))\n"
    "#define COMMIT() asm volatile(\"cp.async.commit_group;\")\n"
    "#define WAIT(n) asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(n) : \"memory\")\n"
    "__global__ void k(const float *x, float *y, int n) {\n"
    "  __shared__ __align__(16) float kept[128];\n"
    "  const int i = threadIdx.x;\n"
    "  const bool one = i == 0, first = i < 32;\n"
    "  unsigned r;\n"
    "  if (n == 51 && one) COPY(s(kept), x - 4, 16);\n"      /* 23 */
    "  if (n == 52 && one) COPY(s(kept + 1), x, 16);\n"      /* 24 */
    "  if (n == 53 && one) COPY(s(kept), x + 1, 16);\n"      /* 25 */
    "  if (n == 54 && one) COPY(s(kept + 126), x, 16);\n"    /* 26 */
    "  if (n == 55 && i < n) COPY(s(kept + i), x + i, 4);\n" /* 27: without a wait */
    "  COMMIT();\n"                                          /* 28 */
    "  if (n == 56 && i < n) COPY(s(kept + i), x + i, 4);\n" /* 29: in a group of its own */
    "  COMMIT();\n"                                          /* 30 */
    "  if (n == 56) WAIT(1);\n"                              /* 31: too few */
    "  if (n == 50 && i < n) { COPY(s(kept + i), x + i, 4); COMMIT(); WAIT(0); }\n" /* 32: right */
    "  if (n == 50 || n == 55 || n == 56) if (i < n) y[i] = kept[i];\n"             /* 33 */
    "  if (n < 55 && n > 50) WAIT(0);\n"                                            /* 34 */
    "  if (n == 57 && first) asm volatile(\"bar.sync 1, 64;\");\n"                  /* 35 */
    "  if (n == 58) asm volatile(\"bar.sync 1, %0;\" ::\"r\"(first ? 64 : 32));\n"  /* 36 */
    "  if (n == 59 && i % 2) asm volatile(\"barrier.sync 1, 64;\");\n"              /* 37 */
    "  if (n == 60) asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(r) : "
    "\"r\"(s(kept + 2)));\n" /* 38 */
    "}\n";

static void open_fixture(exec_fixture *x, int64_t n, uint64_t schedule) {
    exec_fixture_dim(x, "N", n);
    exec_fixture_run(x, schedule, CUPEL_POISON_NAN);
}

static bool right(exec_fixture *x, int count) {
    const float *y = exec_fixture_output(x, "y"), *v = x->c->tensors[0].values;
    bool all = true;
    for (int i = 0; i < count; i++) all &= y[i] == v[i];
    return all;
}

static void accesses_are_checked(void **state) {
    exec_fixture *x = *state;
    static const struct {
        int n, kind, line;
    } want[] = {{51, CUPEL_ACCESS_OUT_OF_BOUNDS_READ, 23},
                {52, CUPEL_ACCESS_MISALIGNED_WRITE, 24},
                {53, CUPEL_ACCESS_MISALIGNED_READ, 25},
                {54, CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE, 26},
                {60, CUPEL_ACCESS_MISALIGNED_READ, 38}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (unsigned schedule = 0; schedule < 4; schedule++) {
            open_fixture(x, want[i].n, cupel_schedule_nth(schedule));
            bool found = false;
            for (int a = 0; a < x->seen.access_count; a++)
                found |= (int)x->seen.accesses[a].kind == want[i].kind &&
                         x->seen.accesses[a].place.line == want[i].line;
            if (!found)
                fail_msg("N %d, schedule %u: %d kinds of accesses, the first at line %d: %s", want[i].n,
                         schedule, x->seen.access_count, x->seen.accesses[0].place.line, x->seen.text);
        }
}

static void a_copy_arrives_at_its_wait(void **state) {
    exec_fixture *x = *state;
    for (unsigned schedule = 0; schedule < 8; schedule++) {
        open_fixture(x, 50, cupel_schedule_nth(schedule));
        assert_int_equal(x->seen.outcome, CUPEL_RUN_FINISHED);
        assert_int_equal(x->seen.access_total, 0);
        assert_true(right(x, 50));
    }
}

/* No wait at all, and one that leaves the last group under way. */
static void a_missing_wait_shows(void **state) {
    exec_fixture *x = *state;
    for (int n = 55; n <= 56; n++) {
        open_fixture(x, n, 0);
        assert_false(right(x, n));
        assert_int_equal(x->seen.access_count, 1);
        assert_int_equal(x->seen.accesses[0].kind, CUPEL_ACCESS_UNINITIALISED_READ);
        assert_int_equal(x->seen.accesses[0].place.line, 33);
        uint64_t early;
        assert_int_equal(cupel_schedule_read("reverse", &early, NULL), CUPEL_OK);
        open_fixture(x, n, early); /* a device may be that fast */
        assert_true(right(x, n));
        assert_int_equal(x->seen.access_total, 0);
    }
}

static void barriers_that_cannot_open(void **state) {
    exec_fixture *x = *state;
    open_fixture(x, 57, 0);
    assert_int_equal(x->seen.outcome, CUPEL_RUN_FAULT);
    assert_int_equal(x->seen.fault, CUPEL_FAULT_DEADLOCK);
    assert_int_equal(x->seen.place.line, 35);
    assert_non_null(strstr(x->seen.text, "barrier 1 for 64 threads, of which 32 have come"));
    open_fixture(x, 58, 0);
    assert_int_equal(x->seen.fault, CUPEL_FAULT_DEADLOCK);
    assert_int_equal(x->seen.place.line, 36);
    assert_non_null(strstr(x->seen.text, "with different counts, 64 and 32"));
    open_fixture(x, 59, 0); /* lanes of a warp one by one: a device may count the warp */
    assert_int_equal(x->seen.outcome, CUPEL_RUN_UNSUPPORTED);
    assert_int_equal(x->seen.place.line, 37);
    open_fixture(x, 50, 0);
    assert_true(right(x, 50));
}

static int open_all(void **state) {
    static exec_fixture x;
    *state = &x;
    return exec_fixture_open(&x, source, 0) != CUPEL_OK;
}

static int close_all(void **state) {
    exec_fixture_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_arrives_at_its_wait),
        cmocka_unit_test(a_missing_wait_shows),
        cmocka_unit_test(accesses_are_checked),
        cmocka_unit_test(barriers_that_cannot_open),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
