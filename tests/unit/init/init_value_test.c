/* Numbers that stand in a kernel's code: read where the code tells, and not guessed at where it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "init_guess.h"

/* The first kernel of a text. */
static const cupel_init_kernel *kernel_of(const char *text, cupel_arena *arena) {
    char path[] = "/tmp/init_value_XXXXXX.cu";
    int fd = mkstemps(path, 3);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    cupel_init_file *file = cupel_arena_alloc(arena, sizeof *file);
    cupel_init_kernel *kernel;
    cupel_source_options options = {0};
    assert_int_equal(cupel_init_file_load(path, &options, arena, file, NULL), CUPEL_OK);
    assert_int_equal(cupel_init_kernel_read(file, 0, &kernel, NULL), CUPEL_OK);
    unlink(path);
    return kernel;
}

#define KERNEL(body) "__global__ void k(const float *x, float *y, int n) { " body " }\n"

static void eps(void **state) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {KERNEL("float s = rsqrtf(x[0] / n + 1e-6f);"), "1e-6"},
        {KERNEL("float s = 1.0f / sqrtf(1.0E-5f + x[0]);"), "1e-5"},
        {"#define EPS (1e-6f)\n" KERNEL("float s = rsqrtf(x[0] / n + EPS);"), "1e-6"},
        {"constexpr float kEps = 1e-12f;\n" KERNEL("float s = rsqrtf(x[0] + kEps);"), "1e-12"},
        {KERNEL("const float e = 1e-3; float v = x[0] + e; float s = rsqrtf(v);"), "0.001"},
        {"__device__ float r(float v) { return rsqrtf(v + 1e-6f); }\n" KERNEL("float s = r(x[0]);"), "1e-6"},
        {KERNEL("float s = rsqrtf(x[0] / n + 0x1p-20f);"), "9.5367431640625e-7"},
        {KERNEL("float s = rsqrtf(x[0]);"), "EDIT_ME"},
        {KERNEL("float s = rsqrtf(x[0] + x[1]);"), "EDIT_ME"},
        {KERNEL("float s = rsqrtf(x[0] + 1e-6f), t = sqrtf(x[1] + 1e-5f);"), "EDIT_ME"},
        {KERNEL("float s = sqrtf(x[0]) + 1e-5f;"), "EDIT_ME"},
        {"#define EPS OTHER\n" KERNEL("float s = rsqrtf(x[0] + EPS);"), "EDIT_ME"},
        {"#define EPS EPS\n" KERNEL("float s = rsqrtf(x[0] + EPS);"), "EDIT_ME"},
        {KERNEL("y[0] = x[0];"), "EDIT_ME"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        assert_string_equal(cupel_guess_eps(kernel_of(rows[i].text, arena)), rows[i].expected);
        cupel_arena_free(arena);
    }
}

static void factors(void **state) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {KERNEL("y[0] = x[0] > 0.0f ? x[0] : 0.2f * x[0];"), "0.2"},
        {"constexpr float SLOPE = 0.01f;\n" KERNEL("y[0] = x[0] > 0.f ? x[0] : SLOPE * x[0];"), "0.01"},
        {KERNEL("y[0] = x[0] > 0.0f ? x[0] : 1.0f * x[0];"), "none"},
        {KERNEL("y[0] = x[0] > 0.0f ? x[0] : 0x1p-3f * x[n & 0xfe];"), "0.125"},
        {KERNEL("y[0] = 0.5f * x[0] + 0.25f;"), "EDIT_ME"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        assert_string_equal(cupel_guess_factor(kernel_of(rows[i].text, arena), "none"), rows[i].expected);
        cupel_arena_free(arena);
    }
}

static void bounds(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_init_kernel *kernel = kernel_of(KERNEL("y[0] = fminf(fmaxf(x[0], -2.0f), 6.0f);"), arena);
    assert_string_equal(cupel_guess_bound(kernel, false), "-2");
    assert_string_equal(cupel_guess_bound(kernel, true), "6");
    kernel = kernel_of(KERNEL("y[0] = fmaxf(x[0], x[1]);"), arena);
    assert_string_equal(cupel_guess_bound(kernel, false), "EDIT_ME");
    assert_string_equal(cupel_guess_bound(kernel, true), "EDIT_ME");
    cupel_arena_free(arena);
}

/* Text of a kernel with a piece of odd code, many times: read in a time that grows with its length alone. */
static void odd(void **state) {
    static const char *const pieces[] = {"a<", "x[i+", "x+=(", "template<class T> ", "sqrtf(y[", "k<<<"};
    enum { TIMES = 4000 };
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        size_t length = strlen(pieces[i]);
        char *text = cupel_arena_alloc(arena, TIMES * length + 400);
        assert_non_null(text);
        size_t used =
            (size_t)sprintf(text, "__global__ void k(const float *x, float *y, int n) { int i = 0; ");
        for (int n = 0; n < TIMES; n++, used += length) memcpy(text + used, pieces[i], length);
        strcpy(text + used, " ; y[i] = x[i]; }\n");
        (void)cupel_guess_eps(kernel_of(text, arena));
        cupel_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(eps), cmocka_unit_test(factors),
                                       cmocka_unit_test(bounds), cmocka_unit_test(odd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
