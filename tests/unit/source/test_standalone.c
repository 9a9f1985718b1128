/* The device code of some entries as a text of its own. */
#include "source_testing.h"

static const char source_text[] =
    "#include <vector>\n"
    "#include \"own.cuh\"\n"
    "#include <cuda_fp16.h>\n"
    "namespace ns {\n"
    "struct pair { float a, b; };\n"
    "__device__ pair operator+(pair x, pair y) { return {x.a + y.a, x.b + y.b}; }\n"
    "__device__ float helper(float x) { return x; }\n"
    "__device__ float idle(float x) { return helper(x); }\n"
    "struct host_only { std::vector<int> list; };\n"
    "template <class T> __global__ void wanted(const T *x, T *y) {\n"
    "    extern __shared__ float room[];\n"
    "    room[threadIdx.x] = helper(own(x[0]));\n"
    "    pair p{room[0], 0}, q = p + p;\n"
    "    y[0] = q.a;\n"
    "}\n"
    "__global__ void other(float *y) { y[0] = idle(1.0f); }\n"
    "}\n"
    "static std::vector<float> cache(4);\n"
    "int main() { ns::other<<<1, 1>>>(nullptr); }\n";

static char *standalone(fixture *f, const char *entry) {
    char path[128];
    static const char header[] = "#pragma once\n__device__ inline float own(float x) { return 2 * x; }\n";
    snprintf(path, sizeof path, "%s/own.cuh", f->folder);
    write_file(path, header, sizeof header - 1);
    cupel_source *source = fixture_load(f, source_text);
    char *text = NULL;
    cupel_error err;
    assert_int_equal(cupel_source_standalone(source, 1, &entry, &text, &err), CUPEL_OK);
    return text;
}

static void keeps_what_the_entry_needs(void **state) {
    (void)state;
    fixture f = fixture_open();
    const char *text = standalone(&f, "ns::wanted<float>");
    static const char *const kept[] = {"struct pair",  "operator+",       "float helper",
                                       "void wanted",  "float own(float", "extern __shared__ float room[];",
                                       "<cuda_fp16.h>"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strstr(text, kept[i])) fail_msg("'%s' is missing from:\n%s", kept[i], text);
    fixture_close(&f);
}

static void leaves_out_the_rest(void **state) {
    (void)state;
    fixture f = fixture_open();
    const char *text = standalone(&f, "ns::wanted<float>");
    static const char *const gone[] = {"std::vector", "void other", "float idle",  "main",
                                       "#line",       "cupel",      "#include \"", "\n\n\n"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strstr(text, gone[i])) fail_msg("'%s' is left in:\n%s", gone[i], text);
    fixture_close(&f);
}

static void another_entry_gets_its_own(void **state) {
    (void)state;
    fixture f = fixture_open();
    const char *text = standalone(&f, "ns::other");
    assert_non_null(strstr(text, "float idle"));
    assert_null(strstr(text, "void wanted"));
    fixture_close(&f);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_the_entry_needs),
        cmocka_unit_test(leaves_out_the_rest),
        cmocka_unit_test(another_entry_gets_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
