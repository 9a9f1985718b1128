/* What is asked of whom: architectures, names of findings, needs of kernels by entry, and the child process:
 * a source that does not compile is a reason, never a finding. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "nvrtc.h"
#include "resource_use.h"

static cupel_arena *arena;

static const cupel_contract *contract_of(const char *text) {
    cupel_contracts contracts;
    cupel_error err = {0};
    if (cupel_contracts_parse("t.yaml", text, strlen(text), true, arena, &contracts, &err) != CUPEL_OK)
        fail_msg("%d:%d: %s\n%s", err.line, err.column, err.text, text);
    return contracts.items[0];
}

static const char head[] =
    "cupel: 1\nid: t\ntypes: {T: [f32, f16]}\ninputs: {x: \"T[N]\"}\noutputs: {y: \"T[N]\"}\n"
    "ensures: {y: x}\n";

static const cupel_contract *typed(const char *dims, const char *kernel, const char *source) {
    char *text = cupel_arena_printf(
        arena, "%sdims: {%s}\nlimits: [sm_80, sm_90]\nsource: {file: \"%s\"}\nkernel: %s\n", head, dims,
        source, kernel);
    return contract_of(text);
}

static void test_architectures(void **state) {
    (void)state;
    cupel_resources r;
    cupel_resources_architectures(typed("N: 1..4", "{entry: k, args: [x, y], grid: [1], block: [1]}", "t.cu"),
                                  100, &r);
    assert_int_equal(r.architecture_count, 2);
    assert_int_equal(r.architectures[0], 80);
    cupel_contract open = *typed("N: 1..4", "{entry: k, args: [x, y], grid: [1], block: [1]}", "t.cu");
    open.limit_count = 0;
    cupel_resources_architectures(&open, 0, &r);
    assert_int_equal(r.architectures[0], 90);
    cupel_resources_architectures(&open, 100, &r);
    assert_int_equal(r.architectures[0], 100);
    cupel_resources_architectures(&open, 50, &r);
    assert_int_equal(r.architectures[0], 90);
}

static void test_names(void **state) {
    (void)state;
    static const char launch[] = "{entry: k, args: [x, y], grid: [1], block: [1]}";
    const cupel_contract *one = typed("N: 1..4", launch, "t.cu"),
                         *two =
                             typed("N: 1..4", cupel_arena_printf(arena, "[%s, %s]", launch, launch), "t.cu");
    char name[64];
    cupel_limit limit;
    int at;
    cupel_resources_name(one, CUPEL_LIMIT_GRID_Y, 0, name, sizeof name);
    assert_string_equal(name, "grid.y");
    assert_true(cupel_resources_parse(one, name, &limit, &at));
    assert_int_equal(limit, CUPEL_LIMIT_GRID_Y);
    cupel_resources_name(two, CUPEL_LIMIT_SHARED, 1, name, sizeof name);
    assert_string_equal(name, "shared-2");
    assert_true(cupel_resources_parse(two, name, &limit, &at));
    assert_int_equal(at, 1);
    assert_int_equal(limit, CUPEL_LIMIT_SHARED);
    assert_false(cupel_resources_parse(one, name, &limit, &at));
    assert_true(cupel_resources_is_limit("refused-grid.y"));
    assert_false(cupel_resources_is_limit("refused"));
}

static void add(cupel_resources *r, int architecture, const char *entry, int registers, int64_t shared,
                int64_t bound) {
    cupel_compiled *made = &r->compiled[r->count++];
    *made = (cupel_compiled){
        .architecture = architecture, .registers = registers, .shared = shared, .max_threads = bound};
    snprintf(made->entry, sizeof made->entry, "%s", entry);
}

/* Only one type's kernel, on one device, has too few registers: the witness has that type. */
static void test_needs_by_entry(void **state) {
    (void)state;
    const cupel_contract *c = typed(
        "N: 1..4096", "{entry: k<$T>, args: [x, y], grid: [\"ceil_div(N, 512)\"], block: [512]}", "t.cu");
    cupel_resources r;
    cupel_limit_break breaks[CUPEL_BREAKS_MAX];
    cupel_resources_architectures(c, 0, &r);
    add(&r, 80, "k<float>", 32, 0, 0);
    add(&r, 80, "k<__half>", 128, 0, 0);
    add(&r, 90, "k<float>", 32, 0, 0);
    add(&r, 90, "k<__half>", 168, 0, 0);
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 1);
    assert_int_equal(breaks[0].limit, CUPEL_LIMIT_REGISTERS);
    assert_int_equal(breaks[0].architecture, 90);
    assert_int_equal(breaks[0].witness.types[0], 1);
    assert_non_null(strstr(breaks[0].text, "k<__half>: 512 threads a block with 168 registers each"));
    assert_true(cupel_resources_refuse(c, &r, &breaks[0].witness, 0, CUPEL_LIMIT_REGISTERS, NULL, 0));
    r.count--;
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 0);
}

/* A dim that is claimed as a list and chooses the kernel: each value has the needs of its own kernel. */
static void test_needs_by_dim(void **state) {
    (void)state;
    const cupel_contract *c = typed("N: 1..64, B: [64, 128, 256]",
                                    "{entry: \"k<$T, $B>\", args: [x, y], grid: [N], block: [B]}", "t.cu");
    cupel_resources r;
    cupel_limit_break breaks[CUPEL_BREAKS_MAX];
    cupel_resources_architectures(c, 0, &r);
    for (int b = 64; b <= 256; b *= 2) add(&r, 90, cupel_arena_printf(arena, "k<float, %d>", b), 32, 0, b);
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 0);
    assert_int_equal(r.unproven, 0);
    r.compiled[1].max_threads = 96; /* of k<float, 128> */
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 1);
    assert_int_equal(breaks[0].limit, CUPEL_LIMIT_LAUNCH_BOUNDS);
    assert_int_equal(breaks[0].witness.dims[1], 128);
    assert_string_equal(breaks[0].text, "k<float, 128>: 128 threads a block, __launch_bounds__ allows 96");
}

/* What the emulator knows counts on every device. */
static void test_emulated_needs(void **state) {
    (void)state;
    const cupel_contract *c =
        typed("N: 1..40000", "{entry: k, args: [x, y], grid: [1], block: [256], shared: N * 4}", "t.cu");
    cupel_resources r;
    cupel_limit_break breaks[CUPEL_BREAKS_MAX];
    cupel_resources_architectures(c, 0, &r);
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 0);
    add(&r, 0, "k", 0, 8000, 128);
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 2);
    assert_int_equal(breaks[0].limit, CUPEL_LIMIT_LAUNCH_BOUNDS);
    assert_int_equal(breaks[1].limit, CUPEL_LIMIT_SHARED);
    assert_int_equal(breaks[1].architecture, 80);
    assert_int_equal(breaks[1].witness.dims[0], (163 * 1024 - 8000) / 4 + 1);
}

/* A cooperative grid must be resident: bounded by threads, shared memory and registers together. */
static void test_cooperative(void **state) {
    (void)state;
    const char *launch = "{entry: k, args: [x, y], grid: [N], block: [256], shared: S, cooperative: true}";
    const cupel_contract *c = typed("N: 1..1056, S: 0..16384", launch, "t.cu");
    cupel_resources r;
    cupel_limit_break breaks[CUPEL_BREAKS_MAX];
    cupel_resources_architectures(c, 0, &r);
    /* on a device with 108 multiprocessors for 8 blocks of 256 threads each */
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 1);
    assert_int_equal(breaks[0].limit, CUPEL_LIMIT_RESIDENT);
    assert_int_equal(breaks[0].architecture, 80);
    assert_true(breaks[0].witness.dims[0] > 864);
    assert_non_null(
        strstr(breaks[0].text, "blocks, the largest device of sm_80 (108 multiprocessors) keeps "));
    c = typed("N: 1..864, S: 0..16384", launch, "t.cu");
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 0);
    assert_int_equal(r.unproven, 0);
    c = typed("N: 1..864, S: 0..32768", launch, "t.cu");
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 1);
    assert_true(breaks[0].witness.dims[1] > 16384);
    c = typed("N: 1..864, S: 0..16384", launch, "t.cu");
    cupel_resources_architectures(c, 0, &r);
    add(&r, 80, "k", 32, 0, 0);
    add(&r, 90, "k", 64, 0, 0); /* 4 blocks a multiprocessor */
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 1);
    assert_int_equal(breaks[0].architecture, 90);
    assert_int_equal(breaks[0].witness.dims[0], 4 * 132 + 1);
    /* other launches wait for no one */
    c = typed("N: 1..100000", "{entry: k, args: [x, y], grid: [N], block: [1024]}", "t.cu");
    assert_int_equal(cupel_resources_judge(c, &r, breaks), 0);
}

/* ---- the child process ---- */

static const char *write_source(const char *text) {
    char *path = cupel_arena_printf(arena, "/tmp/cupel-use-%ld.cu", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void compile(const char *text, cupel_resources *out) {
    const char *path = write_source(text);
    const cupel_contract *c = typed("N: 1..64", "{entry: k<$T>, args: [x, y], grid: [1], block: [64]}", path);
    const cupel_executor_options options = {0};
    cupel_resources_wait(cupel_resources_start(c, &options), c, 120, NULL, out);
    unlink(path);
}

static bool has_compiler(void) {
    const cupel_nvrtc *nvrtc;
    return cupel_nvrtc_find(&nvrtc, NULL) == CUPEL_OK;
}

static void test_child_compiles(void **state) {
    (void)state;
    cupel_resources r;
    compile("#include <cuda_fp16.h>\n"
            "template <class T> __global__ void __launch_bounds__(96) k(const T *x, T *y) {\n"
            "    __shared__ T s[64];\n    s[threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n"
            "    y[threadIdx.x] = s[63 - threadIdx.x];\n}\n",
            &r);
    if (!has_compiler()) {
        assert_true(strlen(r.missing) > 0);
        skip();
    }
    assert_string_equal(r.missing, "");
    assert_int_equal(r.count, 4); /* two types, two architectures */
    for (int i = 0; i < r.count; i++) {
        assert_int_equal(r.compiled[i].shared, strcmp(r.compiled[i].entry, "k<float>") == 0 ? 256 : 128);
        assert_int_equal(r.compiled[i].max_threads, 96);
        assert_true(r.compiled[i].registers > 0);
    }
}

/* Without its header one of the types does not compile: that is told, and the other one is read. */
static void test_one_type_fails(void **state) {
    (void)state;
    cupel_resources r;
    if (!has_compiler()) skip();
    compile("template <class T> __global__ void k(const T *x, T *y) { y[threadIdx.x] = x[threadIdx.x]; }\n",
            &r);
    assert_string_equal(r.missing, "");
    assert_int_equal(r.count, 2);
    assert_string_equal(r.compiled[0].entry, "k<float>");
    assert_non_null(strstr(r.note, "__half"));
}

static void test_child_fails(void **state) {
    (void)state;
    cupel_resources r;
    compile("template <class T> __global__ void k(const T *x, T *y) { undeclared(x, y); }\n", &r);
    assert_int_equal(r.count, 0);
    assert_true(strlen(r.missing) > 0);
    if (has_compiler()) assert_non_null(strstr(r.missing, "undeclared"));
}

/* More static shared memory than any kernel may have: the compiler refuses, and that is a reason here. */
static void test_too_much_static_shared(void **state) {
    (void)state;
    cupel_resources r;
    compile("template <class T> __global__ void k(const T *x, T *y) { __shared__ T s[100000];\n"
            "    s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[0] = s[5]; }\n",
            &r);
    assert_true(strlen(r.missing) > 0);
}

static void test_no_time(void **state) {
    (void)state;
    const cupel_contract *c =
        typed("N: 1..64", "{entry: k, args: [x, y], grid: [1], block: [64]}", "/tmp/cupel-absent.cu");
    const cupel_executor_options options = {0};
    cupel_resources r;
    cupel_resources_wait(cupel_resources_start(c, &options), c, 0, NULL, &r);
    assert_string_equal(r.missing, "compiling for a GPU took too long");
    const volatile sig_atomic_t stop = 1; /* it does not wait then, whatever time there is */
    cupel_resources_wait(cupel_resources_start(c, &options), c, 100, &stop, &r);
    assert_string_equal(r.missing, "interrupted before compiling for a GPU was done");
    cupel_resources_wait(NULL, c, 0, NULL, &r);
    assert_non_null(strstr(r.missing, "no process"));
    assert_int_equal(r.architecture_count, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_architectures),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_needs_by_entry), cmocka_unit_test(test_needs_by_dim),
        cmocka_unit_test(test_emulated_needs), cmocka_unit_test(test_cooperative),
        cmocka_unit_test(test_child_compiles), cmocka_unit_test(test_one_type_fails),
        cmocka_unit_test(test_child_fails),    cmocka_unit_test(test_too_much_static_shared),
        cmocka_unit_test(test_no_time)};
    arena = cupel_arena_create(0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cupel_arena_free(arena);
    return failed;
}
