/* Compiling for a GPU, without one: kernels under seeds/ (one file in EVERY; with the argument "all", each),
 * parameter types, atomics, messages. Skipped where NVRTC is missing. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda_compile.h"
#include "cuda_text.h"
#include "launch_plan.h"
#include "nvrtc.h"

static void need_nvrtc(void) {
    const cupel_nvrtc *nvrtc;
    cupel_error err;
    if (cupel_nvrtc_find(&nvrtc, &err) == CUPEL_OK && nvrtc->toolkit[0] != '\0') return;
    print_message("skipped: %s\n", err.code == CUPEL_UNSUPPORTED ? err.text : "CUDA's headers are missing");
    skip();
}

static cupel_code compile_for(cupel_source *source, const cupel_binding *binding, const char *cache,
                              cupel_arena *arena, cupel_entry_set *entries, cupel_cuda_code *out,
                              cupel_error *err) {
    const cupel_contract *contract = binding->contract;
    CUPEL_TRY(cupel_launch_plan_entries(binding, arena, entries, err));
    cupel_cuda_compile_request request = {.source = source,
                                          .architecture = 90,
                                          .define_count = contract->source_define_count,
                                          .defines = entries->defines,
                                          .entry_count = entries->count,
                                          .entries = entries->distinct,
                                          .cache = cache};
    return cupel_cuda_compile(&request, arena, out, err);
}

static void check_code(const cupel_binding *binding, const cupel_entry_set *entries,
                       const cupel_cuda_code *code) {
    cupel_error err;
    assert_true(code->cubin_size > 64);
    assert_memory_equal(code->cubin, "\177ELF", 4);
    for (int l = 0; l < binding->contract->launch_count; l++)
        if (cupel_arguments_check(binding, &binding->contract->launches[l],
                                  &code->kernels[entries->of_launch[l]].kernel, &err) != CUPEL_OK)
            fail_msg("%s: %s", binding->contract->id, err.text);
}

/* The base types, and each other claimed type of the first variable. */
static void compile_contract(const cupel_contract *contract, cupel_arena *arena) {
    cupel_error err = {0};
    cupel_source *source;
    cupel_source_options options = {.include_count = contract->source_include_count,
                                    .includes = contract->source_includes,
                                    .for_device = true};
    cupel_binding binding;
    assert_int_equal(cupel_binding_ordinary(contract, &binding, &err), CUPEL_OK);
    assert_int_equal(cupel_source_load(contract->source, &options, arena, &source, &err), CUPEL_OK);
    int count = contract->type_count > 0 ? contract->types[0].count : 1;
    for (int t = 0; t < count; t++) {
        cupel_entry_set entries;
        cupel_cuda_code code;
        if (contract->type_count > 0) binding.types[0] = t;
        if (compile_for(source, &binding, NULL, arena, &entries, &code, &err) != CUPEL_OK)
            fail_msg("%s: %s:%d: %s", contract->id, err.file, err.line, err.text);
        check_code(&binding, &entries, &code);
    }
}

enum { EVERY = 8 };
static bool all_seeds;

static int is_kernel(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".cu") == 0;
}

static void test_seeds_compile(void **state) {
    (void)state;
    need_nvrtc();
    int compiled = 0;
    struct dirent **files;
    const int count = scandir(CUPEL_SEED_KERNELS, &files, is_kernel, alphasort);
    for (int f = 0; f < count; f++) {
        if (all_seeds || f % EVERY == 0) {
            cupel_arena *arena = cupel_arena_create(0);
            cupel_contracts contracts = {0};
            cupel_error err = {0};
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", CUPEL_SEED_KERNELS, files[f]->d_name);
            if (cupel_contracts_load(path, arena, &contracts, &err) != CUPEL_OK) fail_msg("%s", err.text);
            for (int i = 0; i < contracts.count; i++, compiled++) compile_contract(contracts.items[i], arena);
            cupel_arena_free(arena);
        }
        free(files[f]);
    }
    assert_true(count > 0);
    free(files);
    assert_true(compiled > (all_seeds ? 100 : 10));
}

/* ---- one source of the test's own ---- */

typedef struct one {
    cupel_arena *arena;
    cupel_source *source;
    cupel_cuda_code code;
    cupel_error err;
    char path[64];
} one;

static cupel_code compile_text(one *x, const char *text, const char *entry, const char *cache) {
    memset(x, 0, sizeof *x);
    snprintf(x->path, sizeof x->path, "/tmp/cupel-cuda-XXXXXX.cu");
    int fd = mkstemps(x->path, 3);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    x->arena = cupel_arena_create(0);
    const cupel_source_options options = {.for_device = true};
    assert_int_equal(cupel_source_load(x->path, &options, x->arena, &x->source, &x->err), CUPEL_OK);
    cupel_cuda_compile_request request = {
        .source = x->source, .architecture = 90, .entry_count = 1, .entries = &entry, .cache = cache};
    return cupel_cuda_compile(&request, x->arena, &x->code, &x->err);
}

static void done(one *x) {
    unlink(x->path);
    cupel_arena_free(x->arena);
}

static const char typed[] =
    "#include <cuda_fp16.h>\n"
    "#include <cuda_bf16.h>\n"
    "#include <vector>\n"
    "#include <cstdint>\n"
    "enum mode { A, B };\n"
    "struct pair { float a, b; };\n"
    "template <class T> __global__ void all(const T *x, half2 *y, int n, unsigned char c, bool b, float f,\n"
    "    double d, __half h, __nv_bfloat16 g, int64_t l, size_t s, mode m, pair p, const void *v) {}\n"
    "int main() { std::vector<float> v(3); all<float><<<1, 1>>>(nullptr); }\n";

static void test_parameter_types(void **state) {
    (void)state;
    need_nvrtc();
    one x;
    if (compile_text(&x, typed, "all<float>", NULL) != CUPEL_OK) fail_msg("%s", x.err.text);
    const cupel_emu_kernel *kernel = &x.code.kernels[0].kernel;
    static const struct {
        uint32_t size, kind, pointee, pointee_kind, is_const;
        const char *type;
    } wanted[] = {{8, 1, 4, 4, 1, "const float *"},
                  {8, 1, 4, 0, 0, "__half2 *"},
                  {4, 2, 0, 0, 0, "int"},
                  {1, 3, 0, 0, 0, "unsigned char"},
                  {1, 5, 0, 0, 0, "bool"},
                  {4, 4, 0, 0, 0, "float"},
                  {8, 4, 0, 0, 0, "double"},
                  {2, 0, 0, 0, 0, "__half"},
                  {2, 0, 0, 0, 0, "__nv_bfloat16"},
                  {8, 2, 0, 0, 0, NULL},
                  {8, 3, 0, 0, 0, NULL},
                  {4, 3, 0, 0, 0, NULL},
                  {8, 0, 0, 0, 0, NULL},
                  {8, 1, 0, 0, 1, "const void *"}};
    assert_int_equal(kernel->param_count, sizeof wanted / sizeof *wanted);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const cupel_emu_param *p = &kernel->params[i];
        assert_int_equal(p->size, wanted[i].size);
        assert_int_equal(p->kind, wanted[i].kind);
        assert_int_equal(p->pointee, wanted[i].pointee);
        assert_int_equal(p->pointee_kind, wanted[i].pointee_kind);
        assert_int_equal(p->is_const, wanted[i].is_const);
        if (wanted[i].type != NULL) assert_string_equal(p->type, wanted[i].type);
    }
    assert_false(x.code.keeps_state);
    done(&x);
}

static void test_atomics_and_state(void **state) {
    (void)state;
    need_nvrtc();
    static const struct {
        const char *text;
        bool adds, swaps, keeps;
    } cases[] = {
        {"__global__ void k(float *y) { atomicAdd(y, 1.0f); }", true, false, false},
        {"__global__ void k(float *y) { float v = atomicAdd(y, 1.0f); y[1] = v; }", true, false, false},
        {"#include <cuda_fp16.h>\n__global__ void k(__half2 *y) { atomicAdd(y, y[1]); }", true, false, false},
        {"__global__ void k(double *y) { atomicAdd(y, 1.0); }", true, false, false},
        {"__device__ __noinline__ void add(float *y) { atomicAdd(y, 1.0f); }\n"
         "__global__ void k(float *y) { add(y); }",
         true, false, false},
        {"__global__ void other(float *y) { atomicAdd(y, 1.0f); }\n"
         "__global__ void k(float *y) { y[0] += 1.0f; }",
         false, false, false},
        {"__global__ void k(int *y) { atomicAdd(y, 1); y[1] = 2; }", false, false, false},
        {"__global__ void k(int *y) { atomicCAS(y, 1, 2); }", false, true, false},
        {"__device__ int calls;\n__global__ void k(int *y) { y[0] = ++calls; }", false, false, true},
        {"__constant__ int c[2] = {1, 2};\n__global__ void k(int *y) { y[0] = c[y[1] & 1]; }", false, false,
         false},
        {"#include <cassert>\n__global__ void k(int *y) { assert(y[0] > 0); }", false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        one x;
        if (compile_text(&x, cases[i].text, "k", NULL) != CUPEL_OK) fail_msg("case %zu: %s", i, x.err.text);
        const cupel_cuda_kernel *kernel = &x.code.kernels[0];
        if (kernel->adds_float_atomically != cases[i].adds || kernel->swaps_atomically != cases[i].swaps ||
            x.code.keeps_state != cases[i].keeps)
            fail_msg("case %zu: adds %d, swaps %d, keeps %d", i, kernel->adds_float_atomically,
                     kernel->swaps_atomically, x.code.keeps_state);
        done(&x);
    }
}

static void test_messages(void **state) {
    (void)state;
    need_nvrtc();
    one x;
    assert_int_equal(compile_text(&x, "__global__ void k(int *y) {\n    y[0] = nothing;\n}\n", "k", NULL),
                     CUPEL_BUILD);
    assert_string_equal(x.err.file, x.path);
    assert_int_equal(x.err.line, 2);
    assert_non_null(strstr(x.err.text, "nothing"));
    done(&x);
    assert_int_equal(compile_text(&x, "__global__ void kernel(int *y) {}\n", "kernal", NULL), CUPEL_MISMATCH);
    assert_non_null(strstr(x.err.text, "did you mean 'kernel'"));
    done(&x);
    assert_int_equal(compile_text(&x, "template <int n> __global__ void k(int *y) {}\n", "k<float>", NULL),
                     CUPEL_MISMATCH);
    done(&x);
    /* in a template, the place is the author's */
    assert_int_equal(compile_text(&x,
                                  "template <class T> __device__ T f(T v) { return v.no; }\n"
                                  "template <class T> __global__ void k(T *y) { y[0] = f(y[1]); }\n",
                                  "k<float>", NULL),
                     CUPEL_BUILD);
    assert_int_equal(x.err.line, 1);
    done(&x);
    assert_int_equal(compile_text(&x,
                                  "#include <cooperative_groups/no_such.h>\n__global__ void k(int *y) {}\n",
                                  "k", NULL),
                     CUPEL_UNSUPPORTED);
    done(&x);
}

/* What the host library's headers would have given, dynamic shared memory and PTX as written. */
static void test_device_code(void **state) {
    (void)state;
    need_nvrtc();
    one x;
    static const char text[] =
        "#include <algorithm>\n#include <cfloat>\n#include <cmath>\n#include <limits>\n#include "
        "<type_traits>\n"
        "#include <cooperative_groups.h>\n#include <mma.h>\n"
        "namespace cg = cooperative_groups;\n"
        "template <class T> __global__ void k(T *y, int n) {\n"
        "    extern __shared__ float tile[];\n"
        "    auto block = cg::this_thread_block();\n"
        "    tile[threadIdx.x] = std::max(std::exp(y[0]), FLT_MAX) + "
        "std::numeric_limits<float>::infinity();\n"
        "    static_assert(std::is_same<T, float>::value, \"\");\n"
        "    block.sync();\n"
        "    unsigned lane;\n"
        "    asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
        "    y[n] = tile[lane] * M_PI + INFINITY + std::isnan(y[1]) + std::min(n, (int)lane);\n"
        "}\n";
    if (compile_text(&x, text, "k<float>", NULL) != CUPEL_OK)
        fail_msg("%s:%d: %s", x.err.file, x.err.line, x.err.text);
    done(&x);
}

static void test_cache(void **state) {
    (void)state;
    need_nvrtc();
    char cache[] = "/tmp/cupel-cuda-XXXXXX", command[128];
    assert_non_null(mkdtemp(cache));
    static const char text[] = "template <int n> __global__ void k(float *y) { atomicAdd(y + n, 1.0f); }\n";
    one x;
    assert_int_equal(compile_text(&x, text, "k<3>", cache), CUPEL_OK);
    cupel_cuda_compile_request request = {.source = x.source,
                                          .architecture = 90,
                                          .entry_count = 1,
                                          .entries = (const char *const[]){"k<3>"},
                                          .cache = cache};
    cupel_cuda_code again;
    for (int round = 0; round < 2; round++) { /* found; then damaged, and so compiled anew */
        assert_int_equal(cupel_cuda_compile(&request, x.arena, &again, &x.err), CUPEL_OK);
        assert_int_equal(again.cubin_size, x.code.cubin_size);
        assert_memory_equal(again.cubin, x.code.cubin, again.cubin_size);
        assert_string_equal(again.kernels[0].lowered, x.code.kernels[0].lowered);
        assert_int_equal(again.kernels[0].kernel.param_count, 1);
        assert_true(again.kernels[0].adds_float_atomically);
        snprintf(command, sizeof command, "for f in %s/*.gpu; do truncate -s 100 $f; done", cache);
        assert_int_equal(system(command), 0);
    }
    done(&x);
    snprintf(command, sizeof command, "rm -r %s", cache);
    assert_int_equal(system(command), 0);
}

static void test_log(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_cuda_diagnostic *found;
    cupel_error err;
    int count;
    assert_int_equal(cupel_cuda_text_errors("my file.cu(12): error: expected a \";\"\n  x\n  ^\n\n"
                                            "/toolkit/cuda_fp16.hpp(99): error: no match\n"
                                            "          detected during:\n"
                                            "            instantiation of \"f\" at line 5 of /toolkit/x.h\n"
                                            "            instantiation of \"g\" at line 7 of k.cu\n\n"
                                            "k.cu(1): warning: error: is not one\n2 errors detected\n",
                                            "/toolkit", arena, &count, &found, &err),
                     CUPEL_OK);
    assert_int_equal(count, 2);
    assert_string_equal(found[0].file, "my file.cu");
    assert_int_equal(found[0].line, 12);
    assert_string_equal(found[0].text, "expected a \";\"");
    assert_string_equal(found[1].file, "k.cu");
    assert_int_equal(found[1].line, 7);
    cupel_arena_free(arena);
}

int main(int argc, char **argv) {
    all_seeds = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds_compile),
                                       cmocka_unit_test(test_parameter_types),
                                       cmocka_unit_test(test_atomics_and_state),
                                       cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_device_code),
                                       cmocka_unit_test(test_cache),
                                       cmocka_unit_test(test_log)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
