/* When the host may have a hand in what device variables hold between two launches. */
#include "source_testing.h"

#define KERNEL                                                                                               \
    "__device__ int calls;\n__device__ int other;\n"                                                         \
    "__device__ int next() { return calls++; }\n"                                                            \
    "template <class T> __global__ void k(T *y) { *y = next(); }\n"

static void test_host_state(void **state) {
    (void)state;
    static const struct {
        const char *more;
        bool expected;
    } files[] = {
        {"", false},
        {"void f() { cudaMemcpyToSymbol(calls, &zero, 4); }\n", true},
        {"void f() { cudaMemcpyToSymbolAsync(calls, &zero, 4); }\n", true},
        {"void f() { hipGetSymbolAddress((void **)&p, HIP_SYMBOL(calls)); }\n", true},
        {"void f() { cuModuleGetGlobal(&p, &size, module, \"calls\"); }\n", true},
        {"// cudaMemcpyToSymbol is not used here\n", false},
        {"const char *why = \"cudaMemcpyToSymbol\";\n", false},
        {"void f() { cudaMemcpy(p, q, 4, cudaMemcpyHostToDevice); k<<<1, 1>>>(p); }\n", false},
        {"__global__ void reset() { calls = 0; }\n", true},
        {"__device__ void clear() { calls = 0; }\n__global__ void reset() { clear(); }\n", true},
        {"__global__ void unrelated() { other = 0; }\n", false},
        {"__global__ void unrelated(float *calls_too) { *calls_too = 0; }\n", false},
    };
    static const char *const entry = "k<int>";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[2048];
        bool found = !files[i].expected;
        cupel_error err = {0};
        fixture f = fixture_open();
        snprintf(text, sizeof text, "%s%s", KERNEL, files[i].more);
        const cupel_source *source = fixture_load(&f, text);
        assert_int_equal(cupel_source_host_state(source, 1, &entry, &found, &err), CUPEL_OK);
        if (found != files[i].expected) fail_msg("with %s", files[i].more);
        fixture_close(&f);
    }
}

/* A kernel of the same call is no stranger. */
static void test_both_kernels_are_launched(void **state) {
    (void)state;
    static const char *const entries[] = {"k<int>", "reset"};
    bool found = true;
    cupel_error err = {0};
    fixture f = fixture_open();
    const cupel_source *source = fixture_load(&f, KERNEL "__global__ void reset() { calls = 0; }\n");
    assert_int_equal(cupel_source_host_state(source, 2, entries, &found, &err), CUPEL_OK);
    assert_false(found);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host_state),
                                       cmocka_unit_test(test_both_kernels_are_launched)};
    return cmocka_run_group_tests_name("host state", tests, NULL, NULL);
}
