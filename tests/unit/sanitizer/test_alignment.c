/* What is asked of an address is what the type of the source demands, in every way of compiling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sanitizer_fixture.h"

static field f;

/* An element goes from the input, mirrored and exchanged between neighbours, to the output. */
static void expect_copied(const unsigned char *in, const float *out, const char *kernel) {
    const size_t alignment = (size_t)out[1022], size = (size_t)out[1023], filled = (size_t)out[1021];
    assert_in_range(size, 2, 32);
    for (size_t t = 0; t < 64; t++) {
        const unsigned char *from = in + alignment + (63 - (t ^ 1)) % 16 * size,
                            *to = (const unsigned char *)out + alignment + t * size;
        if (memcmp(from, to, filled) != 0) fail_msg("%s: element %zu", kernel, t);
    }
}

static void expect_alignment(bool strict, bool fused, bool debug) {
    sanitizer_file file;
    int right = 0, wrong = 0;
    sanitizer_open_as("alignment.cu", strict, fused, debug, &file);
    for (int k = 0; k < file.kernel_count; k++) {
        const char *kernel = file.kernels[k];
        float *out, *scratch;
        unsigned char *in;
        field_reset(&f, 256, 1024, 256);
        in = (unsigned char *)field_buffer(&f, 0), out = field_buffer(&f, 1), scratch = field_buffer(&f, 2);
        for (int i = 0; i < 1020; i++) in[i] = (unsigned char)(i * 37 % 128);
        memset(in + 1020, 0, 4);
        field_run(&f, file.module, kernel, (shape){.block = 64}, 3, (const void *[]){&in, &out, &scratch});
        if (f.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s: %s", kernel, f.seen.text);
        if (strncmp(kernel, "right_", 6) == 0) {
            if (f.seen.access_count != 0) fail_msg("%s: accused", kernel);
            expect_copied(in, out, kernel);
            right++;
        } else {
            char mark[96];
            snprintf(mark, sizeof mark, "// %s\n", kernel);
            if (f.seen.access_count < 1) fail_msg("%s: not seen", kernel);
            assert_true(f.seen.accesses[0].kind == CUPEL_ACCESS_MISALIGNED_READ ||
                        f.seen.accesses[0].kind == CUPEL_ACCESS_MISALIGNED_WRITE);
            assert_int_equal(f.seen.accesses[0].place.line, sanitizer_line(&file, mark));
            wrong++;
        }
    }
    assert_int_equal(right, 20);
    assert_int_equal(wrong, 6);
    sanitizer_close(&file);
}

static void test_ordinary(void **state) {
    (void)state;
    expect_alignment(false, false, false);
}

static void test_fused(void **state) {
    (void)state;
    expect_alignment(false, true, false);
}

static void test_for_a_debugger(void **state) {
    (void)state;
    expect_alignment(false, false, true);
}

static void test_for_the_sanitizer(void **state) {
    (void)state;
    expect_alignment(true, false, false);
}

static void test_for_the_sanitizer_fused(void **state) {
    (void)state;
    expect_alignment(true, true, false);
}

static void test_for_the_sanitizer_and_a_debugger(void **state) {
    (void)state;
    expect_alignment(true, false, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ordinary),
                                       cmocka_unit_test(test_fused),
                                       cmocka_unit_test(test_for_a_debugger),
                                       cmocka_unit_test(test_for_the_sanitizer),
                                       cmocka_unit_test(test_for_the_sanitizer_fused),
                                       cmocka_unit_test(test_for_the_sanitizer_and_a_debugger)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
