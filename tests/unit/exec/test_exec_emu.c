/* The emulator as an executor, from a .cu file with a contract to an observation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec_fixture.h"
#include "schedule.h"

static const char saxpy[] =
    "/* cupel: 1\n"
    "id: saxpy\n"
    "dims: {N: 1..5000}\n"
    "types: {T: [f32, f16, f64]}\n"
    "params: {a: {range: [-2, 2]}}\n"
    "inputs: {x: \"T[N]\"}\n"
    "outputs: {y: \"T[N]\"}\n"
    "ensures: {y: \"x * 2\"}\n"
    "kernel:\n"
    "  entry: saxpy<$T>\n"
    "  args: [x, y, N]\n"
    "  grid: [\"ceil_div(N, 128)\"]\n"
    "  block: [128]\n"
    "*/\n"
    "#include <cuda_fp16.h>\n"
    "#include <vector>\n"
    "template <class T> __global__ void saxpy(const T *x, T *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i] + x[i];\n"
    "}\n"
    "int main() { std::vector<float> v(3); saxpy<float><<<1, 1>>>(nullptr, nullptr, 0); return 0; }\n";

static void test_values_in_every_type(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(exec_fixture_open(&x, saxpy, 0), CUPEL_OK);
    for (uint8_t type = 0; type < 3; type++) {
        x.recipe.types[0] = type;
        exec_fixture_dim(&x, "N", 777);
        for (unsigned schedule = 0; schedule < 4; schedule++) {
            exec_fixture_run(&x, cupel_schedule_nth(schedule),
                             schedule & 1 ? CUPEL_POISON_NAN : CUPEL_POISON_FINITE);
            if (x.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s", x.seen.text);
            assert_int_equal(x.seen.access_total, 0);
            assert_int_equal(x.seen.buffer_count, 2);
            const cupel_case_tensor *in = &x.c->tensors[0];
            const unsigned char *y = exec_fixture_output(&x, "y"), *v = in->values;
            size_t size = cupel_format_of(in->type)->size;
            for (int64_t i = 0; i < in->count; i++)
                assert_true(cupel_decode(in->type, y + (size_t)i * size) ==
                            2 * cupel_decode(in->type, v + (size_t)i * size));
            for (int b = 0; b < 2; b++)
                assert_false(x.seen.buffers[b].guard_before_damaged || x.seen.buffers[b].guard_after_damaged);
        }
    }
    size_t count;
    const uint8_t *coverage = cupel_executor_coverage(x.executor, &count);
    int edges = 0;
    for (size_t i = 0; i < count; i++) edges += coverage[i] != 0;
    assert_true(edges >= 3);
    coverage = cupel_executor_coverage(x.executor, &count);
    for (size_t i = 0; i < count; i++) assert_int_equal(coverage[i], 0); /* cleared by the call before */
    exec_fixture_close(&x);
}

/* A contract over one f32 input and output and a kernel body; args and launch as given. */
static cupel_code open_kernel(exec_fixture *x, const char *launch, const char *source) {
    static char text[8192];
    snprintf(text, sizeof text,
             "/* cupel: 1\nid: k\ndims: {N: 0..300000}\nparams: {p: {range: [-1, 1]}}\ninputs: {x: "
             "\"f32[N]\"}\noutputs: {y: \"f32[N]\"}\n"
             "ensures: {y: \"x\"}\nkernel:\n%s*/\n%s",
             launch, source);
    return exec_fixture_open(x, text, 0);
}

static const char plain[] = "  entry: k\n  args: [x, y, N]\n  grid: [\"ceil_div(N, 64)\"]\n  block: [64]\n";
static const char copy[] = "__global__ void k(const float *x, float *y, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n) y[i] = x[i];\n}\n";

static void test_guards_tell_a_stray_store(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(open_kernel(&x, plain,
                                 "__global__ void k(const float *x, float *y, int n) {\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    y[i] = i < n ? x[i] : 0;\n}\n"),
                     CUPEL_OK);
    exec_fixture_dim(&x, "N", 64);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
    assert_int_equal(x.seen.access_total, 0);
    exec_fixture_dim(&x, "N", 60);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    int y = x.c->tensors[1].buffer;
    assert_true(x.seen.buffers[y].guard_after_damaged);
    assert_int_equal(x.seen.buffers[y].damage_offset, 240);
    assert_false(x.seen.buffers[x.c->tensors[0].buffer].guard_before_damaged);
    assert_int_equal(x.seen.access_count, 1);
    assert_int_equal(x.seen.access_total, 4);
    assert_int_equal(x.seen.accesses[0].kind, CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE);
    assert_int_equal(x.seen.accesses[0].buffer, y);
    assert_int_equal(x.seen.accesses[0].offset, 240);
    assert_int_equal(x.seen.accesses[0].place.line, 16);
    assert_string_equal(strrchr(x.seen.accesses[0].place.file, '/'), strrchr(x.path, '/'));
    assert_non_null(strstr(x.seen.accesses[0].place.function, "k"));
    exec_fixture_close(&x);
}

/* The rest of a square that is rounded once against itself, rounded twice. */
static bool leaves_a_rest(const char *options, uint32_t poison) {
    exec_fixture x;
    char launch[256];
    bool rest = false;
    snprintf(launch, sizeof launch, "%s%s", plain, options);
    assert_int_equal(open_kernel(&x, launch,
                                 "__global__ void k(const float *x, float *y, int n) {\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i >= n) return;\n"
                                 "    float square = x[i] * x[i];\n"
                                 "    y[i] = x[i] * x[i] - square;\n}\n"),
                     CUPEL_OK);
    exec_fixture_dim(&x, "N", 64);
    x.recipe.tensors[0].pattern = CUPEL_PATTERN_NORMAL;
    x.recipe.tensors[0].amplitude = 1;
    x.recipe.poison = poison;
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
    const float *y = exec_fixture_output(&x, "y");
    for (int i = 0; i < 64; i++) rest = rest || y[i] != 0;
    exec_fixture_close(&x);
    return rest;
}

/* Where the contract leaves it open, the recipe says which of the two legal builds is run. */
static void test_both_builds(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("fma")) skip();
    for (uint32_t poison = 0; poison < 16; poison++)
        assert_int_equal(leaves_a_rest("", poison), poison % 8 == 6);
    assert_false(leaves_a_rest("  nvrtc: [-fmad=false]\n", 6));
    assert_true(leaves_a_rest("  nvrtc: [-fmad=true]\n", 0));
}

static void test_zero_grid_is_refused_and_skip_if_skips(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(open_kernel(&x, plain, copy), CUPEL_OK);
    exec_fixture_dim(&x, "N", 0);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_REFUSED);
    assert_non_null(strstr(x.seen.text, "grid.x is 0"));
    exec_fixture_close(&x);
    assert_int_equal(open_kernel(&x,
                                 "  entry: k\n  args: [x, y, N]\n  grid: [\"ceil_div(N, 64)\"]\n  block: "
                                 "[64]\n  skip_if: \"N == 0\"\n",
                                 copy),
                     CUPEL_OK);
    exec_fixture_dim(&x, "N", 0);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_SKIPPED);
    exec_fixture_dim(&x, "N", 1);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
    exec_fixture_close(&x);
}

static void expect_mismatch(const char *launch, const char *source, const char *figure) {
    exec_fixture x;
    cupel_code code = open_kernel(&x, launch, source);
    if (code == CUPEL_OK) code = exec_fixture_try(&x);
    if (code != CUPEL_MISMATCH || strstr(x.err.text, figure) == NULL || x.err.line == 0)
        fail_msg("code %d, line %d: %s", code, x.err.line, x.err.text);
    exec_fixture_close(&x);
}

#define LAUNCH(args) "  entry: k\n  args: " args "\n  grid: [2]\n  block: [64]\n"

static void test_contract_and_kernel_disagree(void **state) {
    (void)state;
    expect_mismatch(LAUNCH("[x, y]"), copy, "takes 3 arguments");
    expect_mismatch(LAUNCH("[y, N, N]"), copy, "expected a tensor");
    expect_mismatch(LAUNCH("[x, y, x]"), copy, "expected a pointer");
    expect_mismatch(LAUNCH("[x, y, N]"), "__global__ void k(const double *x, float *y, int n) {}\n",
                    "holds f32");
    expect_mismatch(LAUNCH("[x, y, N]"), "__global__ void k(const int *x, float *y, int n) {}\n",
                    "holds f32");
    expect_mismatch(LAUNCH("[x, y, N]"),
                    "#include <cuda_fp16.h>\n__global__ void k(const __half *x, float *y, int n) {}\n",
                    "holds f32");
    expect_mismatch(LAUNCH("[x, y, N]"),
                    "#include <cuda_fp16.h>\n__global__ void k(const half2 *x, float *y, int n) {}\n",
                    "holds f32");
    expect_mismatch(LAUNCH("[x, y, {N: i64}]"), copy, "stated as i64");
    expect_mismatch(LAUNCH("[x, y, \"N * 4000000000 + 4000000000\"]"), copy, "does not fit");
    expect_mismatch(LAUNCH("[x, y, 0.1]"),
                    "#include <cuda_fp16.h>\n__global__ void k(const float *x, float *y, __half n) {}\n",
                    "{0.1: f16}");
    expect_mismatch(LAUNCH("[x, y, \"0 - 1\"]"),
                    "__global__ void k(const float *x, float *y, unsigned n) {}\n", "-1 does not fit");
    /* no case is that large here, but the contract claims it */
    expect_mismatch(LAUNCH("[x, y, N]"), "__global__ void k(const float *x, float *y, unsigned char n) {}\n",
                    "for N = 300000, which the contract claims");
}

static void test_types_that_agree(void **state) {
    (void)state;
#define HALF_KERNEL                                                                                          \
    "#include <cuda_fp16.h>\n"                                                                               \
    "__global__ void k(const float *x, float *y, __half n) { y[0] = __half2float(n); }\n"
    static const char *const kernels[] = {
        "__global__ void k(const float4 *x, float *y, long long n) {}\n",
        "__global__ void k(const void *x, float2 *y, unsigned n) {}\n",
        "struct alignas(16) q { float v[4]; };\n__global__ void k(const q *x, float *y, float n) {}\n",
        HALF_KERNEL,
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        exec_fixture x;
        assert_int_equal(open_kernel(&x, LAUNCH("[x, y, N]"), kernels[i]), CUPEL_OK);
        exec_fixture_dim(&x, "N", 7);
        if (exec_fixture_try(&x) != CUPEL_OK) fail_msg("%s", x.err.text);
        assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
        if (i == 3) assert_true(*(const float *)exec_fixture_output(&x, "y") == 7);
        exec_fixture_close(&x);
    }
}

static void test_inline_ptx_is_named(void **state) {
    (void)state;
    exec_fixture x;
    cupel_code code = open_kernel(&x, plain,
                                  "__global__ void other(float *y) { asm(\"unheard.of;\"); }\n"
                                  "__global__ void k(const float *x, float *y, int n) {\n"
                                  "    asm volatile(\"wgmma.fence.sync.aligned;\");\n}\n");
    if (code == CUPEL_OK) code = exec_fixture_try(&x);
    assert_int_equal(code, CUPEL_UNSUPPORTED);
    assert_int_equal(x.err.line, 16);
    assert_non_null(strstr(x.err.text, "the PTX instruction 'wgmma.fence.sync.aligned'"));
    exec_fixture_close(&x);
    /* in a kernel that no launch uses it does not matter */
    code = open_kernel(&x, plain,
                       "__global__ void other(float *y) { asm(\"unheard.of;\"); }\n"
                       "__global__ void k(const float *x, float *y, int n) { y[0] = 1; }\n");
    if (code == CUPEL_OK) code = exec_fixture_try(&x);
    if (code != CUPEL_OK) fail_msg("%s", x.err.text);
    exec_fixture_close(&x);
}

static void test_several_launches_share_memory(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(
        open_kernel(&x,
                    "  - entry: first\n    args: [x, y, N]\n    grid: [1]\n    block: [32]\n"
                    "  - entry: second\n    args: [y, N]\n    grid: [1]\n    block: [32]\n    shared: \"N * "
                    "sizeof(f32)\"\n",
                    "__global__ void first(const float *x, float *y, int n) { for (int i = threadIdx.x; i < "
                    "n; i += 32) y[i] = x[i]; }\n"
                    "__global__ void second(float *y, int n) {\n    extern __shared__ float s[];\n"
                    "    for (int i = threadIdx.x; i < n; i += 32) s[i] = y[i] + 1;\n    __syncthreads();\n"
                    "    for (int i = threadIdx.x; i < n; i += 32) y[i] = s[i];\n}\n"),
        CUPEL_OK);
    exec_fixture_dim(&x, "N", 100);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    if (x.seen.outcome != CUPEL_RUN_FINISHED) fail_msg("%s", x.seen.text);
    const float *y = exec_fixture_output(&x, "y"), *v = x.c->tensors[0].values;
    for (int i = 0; i < 100; i++) assert_true(y[i] == v[i] + 1);
    assert_int_equal(x.seen.access_total, 0);
    exec_fixture_close(&x);
}

static void test_missing_barrier(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(
        open_kernel(&x, "  entry: k\n  args: [x, y, N]\n  grid: [3]\n  block: [256]\n",
                    "__global__ void k(const float *x, float *y, int n) {\n    __shared__ float s[256];\n"
                    "    s[threadIdx.x] = threadIdx.x;\n" /* and no barrier */
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "    if (i < n) y[i] = s[255 - threadIdx.x];\n}\n"),
        CUPEL_OK);
    exec_fixture_dim(&x, "N", 700);
    int wrong = 0;
    for (unsigned schedule = 0; schedule < 20; schedule++) {
        exec_fixture_run(&x, cupel_schedule_nth(schedule), CUPEL_POISON_NAN);
        const float *y = exec_fixture_output(&x, "y");
        bool right = x.seen.outcome == CUPEL_RUN_FINISHED;
        for (int i = 0; i < 700; i++) right &= y[i] == (float)(255 - i % 256);
        if (schedule == 0) assert_true(right); /* a device mostly forgives it */
        wrong += !right;
    }
    assert_true(wrong >= 5);
    exec_fixture_close(&x);
}

static void test_hang_ends_and_the_next_run_is_right(void **state) {
    (void)state;
    exec_fixture x;
    assert_int_equal(open_kernel(&x, plain,
                                 "__global__ void k(const float *x, float *y, int n) {\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    while (n == 7) y[0] += 1;\n"
                                 "    if (i < n) y[i] = x[i];\n}\n"),
                     CUPEL_OK);
    exec_fixture_dim(&x, "N", 7);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_FAULT);
    assert_int_equal(x.seen.fault, CUPEL_FAULT_HANG);
    assert_int_equal(x.seen.place.line, 16);
    exec_fixture_dim(&x, "N", 8);
    exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
    assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
    const float *y = exec_fixture_output(&x, "y"), *v = x.c->tensors[0].values;
    for (int i = 0; i < 8; i++) assert_true(y[i] == v[i]);
    exec_fixture_close(&x);
}

/* Variables that a launch fills, in namespaces and without; what is too large, or not there. */
static void test_variables(void **state) {
    (void)state;
    static const struct {
        const char *name, *declared;
    } forms[] = {{"v", "__constant__ float v[100];"},
                 {"v", "__device__ float v[100];"},
                 {"n::v", "namespace n { __constant__ float v[100]; }"},
                 {"a::b::v", "namespace a { namespace b { __device__ float v[100]; } }"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        exec_fixture x;
        char launch[256], source[512];
        snprintf(launch, sizeof launch,
                 "  entry: k\n  args: [y, N]\n  grid: [1]\n  block: [128]\n  symbols: {\"%s\": x}\n",
                 forms[i].name);
        snprintf(source, sizeof source,
                 "%s\n__global__ void k(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = "
                 "%s[threadIdx.x]; }\n"
                 "void f() { cudaMemcpyToSymbol(v, 0, 0); }\n",
                 forms[i].declared, forms[i].name);
        if (open_kernel(&x, launch, source) != CUPEL_OK) fail_msg("%s", x.err.text);
        for (int n = 100; n > 97; n--) {
            exec_fixture_dim(&x, "N", n);
            exec_fixture_run(&x, 0, CUPEL_POISON_NAN);
            assert_int_equal(x.seen.outcome, CUPEL_RUN_FINISHED);
            assert_memory_equal(exec_fixture_output(&x, "y"), x.c->tensors[0].values, (size_t)n * 4);
        }
        exec_fixture_dim(&x, "N", 101);
        assert_int_equal(exec_fixture_try(&x), CUPEL_CONTRACT);
        assert_non_null(strstr(x.err.text, "at most 400 bytes"));
        exec_fixture_close(&x);
    }
    exec_fixture x;
    assert_int_equal(
        open_kernel(&x, "  entry: k\n  args: [y]\n  grid: [1]\n  block: [1]\n  symbols: {w: x}\n",
                    "__constant__ float v[1] = {1};\n__global__ void k(float *y) { y[0] = v[0]; }\n"),
        CUPEL_OK);
    assert_int_equal(exec_fixture_try(&x), CUPEL_MISMATCH);
    assert_non_null(strstr(x.err.text, "no device variable 'w'"));
    exec_fixture_close(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_in_every_type),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_guards_tell_a_stray_store),
        cmocka_unit_test(test_both_builds),
        cmocka_unit_test(test_zero_grid_is_refused_and_skip_if_skips),
        cmocka_unit_test(test_contract_and_kernel_disagree),
        cmocka_unit_test(test_types_that_agree),
        cmocka_unit_test(test_inline_ptx_is_named),
        cmocka_unit_test(test_several_launches_share_memory),
        cmocka_unit_test(test_missing_barrier),
        cmocka_unit_test(test_hang_ends_and_the_next_run_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
