/* Which variables a contract's kernels cannot have the values of. */
#include <string.h>

#include "source_testing.h"

#define READS "template <class T> __global__ void k(T *y) { *y = v[0]; }\n"

static void test_unfilled(void **state) {
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: nothing is missing */
    } files[] = {
        {"__device__ int v[2];\n" READS, NULL}, /* zero, by the language */
        {"__constant__ int v[2];\n" READS, "line 1: only the host can fill 'v'"},
        {"#define TABLE __constant__\nTABLE int v[2];\n" READS, "line 2: only the host can fill 'v'"},
        {"__constant__ int v[2] = {1, 2};\n" READS "void f() { cudaMemcpyToSymbol(v, p, 8); }\n", NULL},
        {"__constant__ int v[2], w;\ntemplate <class T> __global__ void k(T *y) { *y = 1; }\n", NULL},
        {"__device__ int v[2];\n" READS "void f() { cudaMemcpyToSymbol(v, p, 8); }\n", "the host fills 'v'"},
        {"__device__ int v[2], w;\n" READS "void f() { hipMemcpyToSymbol(HIP_SYMBOL(v), p, 8); }\n",
         "the host fills"},
        {"__device__ int v[2];\n" READS "void f() { cuModuleGetGlobal(&p, &n, m, \"v\"); }\n",
         "the host fills"},
        {"__device__ int v[2];\n__device__ int other;\n" READS
         "void f() { cudaMemcpyToSymbol(other, p, 4); }\n",
         NULL},
        {"__device__ int v[2];\n" READS "void f() { cudaMemcpyFromSymbol(p, v, 4); }\n", NULL},
        {"__device__ int v[2];\n" READS "__global__ void fill() { v[threadIdx.x] = 7; }\n",
         "a kernel that the contract does not launch fills 'v'"},
        {"__device__ int v[2];\n" READS
         "__device__ void set(int *p);\n__global__ void fill() { set(&v[1]); }\n",
         "does not launch fills 'v'"},
        {"__device__ int v[2];\n" READS
         "__global__ void reads(int *y) { if (v[0] == 3 && v[1] <= 2) *y = v[1]; }\n",
         NULL},
        /* the entries' own */
        {"__device__ int v;\ntemplate <class T> __global__ void k(T *y) { *y = v++; }\n"
         "__global__ void reset() { v = 0; }\nvoid f() { cudaMemcpyToSymbol(v, &zero, 4); }\n",
         NULL},
        {"__device__ unsigned v;\ntemplate <class T> __global__ void k(T *y) { if (atomicAdd(&v, 1) == 3) v "
         "= 0; }\n"
         "void f() { cudaMemcpyToSymbol(v, &zero, 4); }\n",
         NULL},
    };
    static const char *const entry = "k<int>";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cupel_error err = {0};
        fixture f = fixture_open();
        const cupel_source *source = fixture_load(&f, files[i].text);
        cupel_code code = cupel_source_unfilled(source, 1, &entry, 0, NULL, &err);
        if (code != (files[i].message ? CUPEL_UNSUPPORTED : CUPEL_OK))
            fail_msg("with %s: %s", files[i].text, err.text);
        if (files[i].message && !strstr(err.text, files[i].message)) fail_msg("%s", err.text);
        fixture_close(&f);
    }
}

static void test_filled_by_the_contract(void **state) {
    (void)state;
    static const char *const entry = "k<int>", *const filled[] = {"other", "ns::v"};
    cupel_error err = {0};
    fixture f = fixture_open();
    const cupel_source *source = fixture_load(&f, "__constant__ int v[2];\n" READS);
    assert_int_equal(cupel_source_unfilled(source, 1, &entry, 1, filled, &err), CUPEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "symbols: {v: TENSOR}"));
    assert_int_equal(cupel_source_unfilled(source, 1, &entry, 2, filled, &err), CUPEL_OK);
    fixture_close(&f);
}

static void test_filled_by_a_launch(void **state) {
    (void)state;
    static const char *const entries[] = {"k<int>", "fill"};
    cupel_error err = {0};
    fixture f = fixture_open();
    const cupel_source *source =
        fixture_load(&f, "__device__ int v[2];\n" READS "__global__ void fill() { v[threadIdx.x] = 7; }\n");
    assert_int_equal(cupel_source_unfilled(source, 2, entries, 0, NULL, &err), CUPEL_OK);
    assert_int_equal(cupel_source_unfilled(source, 1, entries, 0, NULL, &err), CUPEL_UNSUPPORTED);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unfilled),
                                       cmocka_unit_test(test_filled_by_the_contract),
                                       cmocka_unit_test(test_filled_by_a_launch)};
    return cmocka_run_group_tests_name("unfilled", tests, NULL, NULL);
}
