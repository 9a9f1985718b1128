/* The reader of device binaries against what cuobjdump prints for the same files, for three architectures;
 * damaged files; the table of devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cubin.h"
#include "device_limits.h"
#include "text.h"

static char *read_file(cupel_arena *arena, const char *name, size_t *size) {
    char path[512], *text;
    cupel_error err = {0};
    snprintf(path, sizeof path, "%s/%s", CUPEL_FILES, name);
    if (cupel_text_read(path, arena, &text, size, &err) != CUPEL_OK) fail_msg("%s", err.text);
    return text;
}

static cupel_cubin read_cubin(cupel_arena *arena, const char *name) {
    size_t size;
    cupel_cubin cubin;
    cupel_error err = {0};
    const char *bytes = read_file(arena, name, &size);
    if (cupel_cubin_read(bytes, size, arena, &cubin, &err) != CUPEL_OK) fail_msg("%s: %s", name, err.text);
    return cubin;
}

/* " Function NAME:" and in the next line "REG:n STACK:n SHARED:n LOCAL:n ..". */
static int compare_with_tool(cupel_arena *arena, const char *stem) {
    char name[96];
    size_t size;
    int compared = 0;
    snprintf(name, sizeof name, "%s.cubin", stem);
    cupel_cubin cubin = read_cubin(arena, name);
    snprintf(name, sizeof name, "%s.expected", stem);
    for (const char *at = read_file(arena, name, &size); (at = strstr(at, " Function ")); compared++) {
        char function[128];
        long long registers, stack, shared;
        assert_int_equal(sscanf(at, " Function %127[^:]: REG:%lld STACK:%lld SHARED:%lld", function,
                                &registers, &stack, &shared),
                         4);
        at += strlen(" Function ");
        const cupel_cubin_kernel *kernel = cupel_cubin_find(&cubin, function);
        assert_non_null(kernel);
        assert_int_equal(kernel->registers, registers);
        assert_int_equal(kernel->stack, stack);
        assert_int_equal(kernel->shared + kernel->reserved, shared);
    }
    assert_int_equal(compared, cubin.count);
    return compared;
}

static void test_agrees_with_cuobjdump(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    assert_int_equal(compare_with_tool(arena, "resources_80"), 6);
    assert_int_equal(compare_with_tool(arena, "resources_90"), 6);
    assert_int_equal(compare_with_tool(arena, "resources_100"), 6);
    assert_int_equal(compare_with_tool(arena, "tensor_100"), 2);
    cupel_arena_free(arena);
}

/* What resources.cu says itself. */
static void expect(const cupel_cubin *cubin, const char *name, int64_t shared, int64_t max_threads,
                   int64_t parameters, bool stack, int barriers) {
    const cupel_cubin_kernel *kernel = cupel_cubin_find(cubin, name);
    assert_non_null(kernel);
    assert_int_equal(kernel->shared, shared);
    assert_int_equal(kernel->max_threads, max_threads);
    assert_int_equal(kernel->parameters, parameters);
    assert_int_equal(kernel->stack > 0, stack);
    assert_int_equal(kernel->barriers, barriers);
    assert_false(kernel->tensor_memory);
}

static void test_properties(void **state) {
    (void)state;
    static const int architectures[] = {80, 90, 100};
    cupel_arena *arena = cupel_arena_create(0);
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "resources_%d.cubin", architectures[i]);
        cupel_cubin cubin = read_cubin(arena, name);
        assert_int_equal(cubin.architecture, architectures[i]);
        expect(&cubin, "plain", 0, 0, 12, false, 0);
        expect(&cubin, "bounded", 1200, 128, 8, false, 1);
        expect(&cubin, "spilling", 0, 1024, 12, true, 0);
        expect(&cubin, "indexed", 0, 0, 12, true, 0);
        expect(&cubin, "_Z5typedIdEvPT_", 264 + 8, 256, 8, false, 1);
    }
    cupel_cubin cubin = read_cubin(arena, "tensor_100.cubin");
    assert_true(cupel_cubin_find(&cubin, "tensor")->tensor_memory);
    assert_int_equal(cupel_cubin_find(&cubin, "tensor")->shared, 4);
    assert_false(cupel_cubin_find(&cubin, "scalar")->tensor_memory);
    assert_null(cupel_cubin_find(&cubin, "absent"));
    cupel_arena_free(arena);
}

/* Whatever the bytes are, the answer is a table or an error. */
static void test_damaged_files(void **state) {
    (void)state;
    cupel_arena *keep = cupel_arena_create(0), *arena = cupel_arena_create(0);
    size_t size;
    unsigned char *bytes = (unsigned char *)read_file(keep, "resources_90.cubin", &size);
    cupel_cubin cubin;
    int refused = 0;
    for (size_t length = 0; length < size; length += 211) {
        cupel_arena_reset(arena);
        bool whole = cupel_cubin_read(bytes, length, arena, &cubin, NULL) == CUPEL_OK;
        refused += !whole;
        /* behind the tables lies only what a loader needs */
        assert_true(!whole || (length > size - 1024 && cubin.count == 6));
    }
    for (size_t at = 0; at < size; at += at < 4096 ? 5 : 37) {
        unsigned char before = bytes[at];
        for (int way = 0; way < 2; way++) {
            bytes[at] = way ? 0xff : before ^ 0x41;
            cupel_arena_reset(arena);
            refused += cupel_cubin_read(bytes, size, arena, &cubin, NULL) != CUPEL_OK;
        }
        bytes[at] = before;
    }
    assert_true(refused > 150);
    assert_int_equal(cupel_cubin_read("\177ELF", 4, arena, &cubin, NULL), CUPEL_SYNTAX);
    cupel_arena_free(arena);
    cupel_arena_free(keep);
}

static void test_devices(void **state) {
    (void)state;
    assert_int_equal(cupel_device_limits_parse("sm_90"), 90);
    assert_int_equal(cupel_device_limits_parse("sm_90a"), 90);
    assert_int_equal(cupel_device_limits_parse("100"), 100);
    assert_int_equal(cupel_device_limits_parse("sm_9"), 0);
    assert_int_equal(cupel_device_limits_parse("sm_900"), 0);
    assert_int_equal(cupel_device_limits_parse(""), 0);
    assert_int_equal(cupel_device_limits_of(80)->shared_optin, 163 * 1024);
    assert_int_equal(cupel_device_limits_of(90)->shared_optin, 227 * 1024);
    assert_int_equal(cupel_device_limits_of(100)->shared_optin, 227 * 1024);
    assert_null(cupel_device_limits_of(91));
    const cupel_device_limits *device = cupel_device_limits_of(90);
    assert_int_equal(cupel_device_limits_threads(device, 0), 1024);
    assert_int_equal(cupel_device_limits_threads(device, 64), 1024);
    assert_int_equal(cupel_device_limits_threads(device, 65), 896); /* 72 a thread are given */
    assert_int_equal(cupel_device_limits_threads(device, 128), 512);
    assert_int_equal(cupel_device_limits_threads(device, 255), 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_cuobjdump),
                                       cmocka_unit_test(test_properties),
                                       cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
