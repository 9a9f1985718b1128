#include "source_testing.h"

#include "lexer.h"
#include "philox.h"

typedef struct expectation {
    const char *text;
    const char *kept, *gone; /* words that must stay and vanish; NULL: none */
} expectation;

/* Each line of the table is a file of its own. */
static const expectation expectations[] = {
    {"int main() { std::vector<int> v; k<<<1, 2>>>(v); }", NULL, "vector"},
    {"int main() try { gone(); } catch (...) { gone(); }", NULL, "gone"},
    {"__global__ void k(float *x) { kept(); }", "kept", NULL},
    {"template <typename T> __global__ void k(T *x) { kept(); }", "kept", NULL},
    {"template <typename T> void host(T *x) { k<T><<<1, 1>>>(x); }", NULL, "host"},
    {"__device__ float f(float x) { return kept; }", "kept", NULL},
    {"__host__ __device__ float f() { return kept; }", "kept", NULL},
    {"__host__ float f() { return gone; }", NULL, "gone"},
    {"constexpr int f(int x) { return kept; }", "kept", NULL},
    {"static inline int f(int x) { return gone; }", NULL, "gone"},
    {"std::vector<torch::Tensor> f(torch::Tensor x) { return {x}; }", NULL, "torch"},
    {"auto f = [](int x) { return gone; };", NULL, "gone"},
    {"int table[] = {1, 2, 3}; struct kept {};", "kept", "table"},
    {"static std::map<int, std::vector<int>> gone{{1, {2}}};", NULL, "gone"},
    {"const int kept = 3; constexpr float also = 1.f;", "kept", NULL},
    {"const std::string gone = \"x\";", NULL, "gone"},
    {"__constant__ float kept[4]; __device__ int also;", "kept", NULL},
    {"__device__ float kept = 3.f, other[2] = {1, 2};", "kept", NULL},
    {"typedef struct { int a; } kept; using other = int;", "kept", NULL},
    {"struct S { float kept; S(int n) : kept(n) { gone(); } };", "kept", "gone"},
    {"struct S { S(int n) : a{n}, b(f(n)) { gone(); } __device__ float k() const { return kept; } };", "kept",
     "gone"},
    {"struct S { void m() const noexcept { gone(); } virtual ~S() { gone(); } int kept; };", "kept", "gone"},
    {"struct S { __device__ S &operator=(const S &o) { return kept; } };", "kept", NULL},
    {"struct S { bool operator()(int a) const { return gone; } };", NULL, "gone"},
    {"struct S { friend std::ostream &operator<<(std::ostream &o, const S &s) { return gone; } };", NULL,
     "ostream"},
    {"struct S { S() = default; S(const S &) = delete; int kept; };", "default", NULL},
    {"struct S : A<int>, B { struct T { void m() { gone(); } int kept; }; };", "kept", "gone"},
    {"enum class kept : int { A = 1, B };", "kept", NULL},
    {"namespace a::b { namespace { void f() { gone(); } __global__ void kept() {} } }", "kept", "gone"},
    {"extern \"C\" { void f() { gone(); } __global__ void kept() {} }", "kept", "gone"},
    {"extern \"C\" void f() { gone(); } extern \"C\" __global__ void kept() {}", "kept", "gone"},
    {"PYBIND11_MODULE(NAME, m) { m.def(\"gone\"); }", NULL, "def"},
    {"TORCH_LIBRARY(a, m)\n{ gone(m); }\n__global__ void kept() {}", "kept", "gone"},
    {"REGISTER_OP(x)\n__global__ void kept() {}", "kept", "REGISTER_OP"},
    {"#define K(T) __global__ void k_##T() {}\nK(kept)\n", "K(kept)", NULL},
    {"#define L(T) void l_##T() { k<<<1, 1>>>(); }\nL(gone)\nL(gone);\n", NULL, "(gone)"},
    {"#define HD __host__ __device__\nHD int f() { return kept; }", "kept", NULL},
    {"#define KERNEL(n) __global__ void n\nKERNEL(k)(float *x) { kept(); }", "kept", NULL},
    {"#define ATTR static inline\nATTR int f() { return gone; }", NULL, "gone"},
    {"#if 0\nvoid broken( { don't\n#endif\n__global__ void k() { kept(); }\nvoid f() { gone(); }", "kept",
     "gone"},
    {"#ifdef A\nvoid f(int x) {\n#else\nvoid f(long x) {\n#endif\n gone(); }\n__global__ void k() { kept(); "
     "}",
     "kept", "gone"},
    {"#ifdef A\n__global__ void k() { kept(); }\n#else\nvoid f() { gone(); }\n#endif", "kept", "gone"},
    {"#ifdef __CUDACC__\n__global__ void k() {\n#else\nvoid k() {\n#endif\n kept(); }\nint main() { gone(); "
     "}",
     "kept", "gone"},
    {"void f() { const char *s = R\"({ } \")\"; gone(); }\n__global__ void k() { kept(); }", "kept", "gone"},
    {"void f() { char c = '{'; char d = '\\''; } __global__ void k() { kept(); }", "kept", "char"},
    {"template <int N = (1 > 0)> struct A; template <> struct A<1> { static const int kept = 1; };", "kept",
     NULL},
    {"template void launch<float>(float *); template __global__ void gone<float>(float *);", NULL, "void"},
    {"float (*pointer)(float) = gone; std::function<void(int)> g = [](int) {};", NULL, "pointer"},
    {"inline int operator+(const A &a, const A &b) { return gone; }", NULL, "gone"},
    {"[[nodiscard]] __device__ int f() { return kept; }", "kept", NULL},
    {"__attribute__((noinline)) __device__ int f() { return kept; }", "kept", NULL},
    {"__launch_bounds__(256) __global__ void k() { kept(); }", "kept", NULL},
    {"__global__ void __launch_bounds__(f(1, 2), 2) k() { kept(); }", "kept", NULL},
    {"__global__ auto k(int n) -> void { kept(); }", "kept", NULL},
    {"static __device__ __forceinline__ float4 f(float4 &&x) { return kept; }", "kept", NULL},
    {"void f(std::vector<int> a = {1, 2}, int b = g({3})) { gone(); } __global__ void k() { kept(); }",
     "kept", "gone"},
    {"using namespace torch; namespace cg = cooperative_groups; using namespace std; int x;", "std", "torch"},
    {"void f() {\n#pragma unroll\n for (;;) gone(); }\n__global__ void k() {\n#pragma unroll\n kept(); }",
     "kept", "unroll\n for"},
    {"void f() {\n#pragma omp gone\n#define kept 1\n}", "kept", "gone"},
    {"static_assert(sizeof(int) == 4, \"kept\"); int gone();", "kept", "gone"},
};

static void table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const expectation *e = &expectations[i];
        fixture f = fixture_open();
        cupel_source *source = fixture_load(&f, e->text);
        if (e->kept && !holds(source, e->kept))
            fail_msg("lost '%s' of: %s\nleft: %s", e->kept, e->text, source->text);
        const char *after_defines = source->text;
        for (const char *p = source->text; (p = strstr(p, "#define")) != NULL; p++)
            after_defines = strchr(p, '\n');
        if (e->gone && strstr(after_defines, e->gone))
            fail_msg("kept '%s' of: %s\nleft: %s", e->gone, e->text, source->text);
        fixture_close(&f);
    }
}

static void kernels_are_listed(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(
        &f,
        "#include <x>\ntemplate <class T>\n__global__ void\nfirst(const T *x,\n   int  n) {}\nvoid no() {}\n"
        "namespace a { namespace { __global__ void second() {} } }\n__global__ void declared(int);\n");
    assert_int_equal(s->kernel_count, 2);
    assert_string_equal(s->kernels[0].name, "first");
    assert_true(s->kernels[0].is_template);
    assert_int_equal(s->kernels[0].line, 4);
    assert_string_equal(s->kernels[0].parameters, "const T *x, int n");
    assert_string_equal(s->kernels[1].name, "a::second");
    assert_false(s->kernels[1].is_template);
    fixture_close(&f);
}

static void includes(void **state) {
    (void)state;
    fixture f = fixture_open();
    char path[128];
    const char *header = "#pragma once\n#include \"a.cu\"\n#include \"b.cuh\"\n#include "
                         "<iostream>\n__device__ int from_header;\nvoid gone();\n";
    snprintf(path, sizeof path, "%s/b.cuh", f.folder);
    write_file(path, header, strlen(header));
    cupel_source *s = fixture_load(
        &f, "#include <cuda_fp16.h>\n#include <torch/extension.h>\n#include \"b.cuh\"\n#include \"b.cuh\"\n"
            "#include \"missing.h\"\n__global__ void k() {}\n");
    assert_true(holds(s, "#include <cuda_fp16.h>"));
    assert_false(holds(s, "torch"));
    assert_false(holds(s, "missing"));
    assert_false(holds(s, "iostream"));
    assert_false(holds(s, "gone"));
    char *first = strstr(s->text, "from_header");
    assert_non_null(first);
    assert_null(strstr(first + 1, "from_header"));
    assert_int_equal(s->kernels[0].line, 6);
    fixture_close(&f);
}

static void foreign_line_ends(void **state) {
    (void)state;
    fixture f = fixture_open();
    cupel_source *s = fixture_load(
        &f, "\xef\xbb\xbf#include <torch/gone.h>\r\n#define HD __host__ \\\r\n  __device__\r\n// c \\\r\n"
            "void gone() {\r\n void f() {\r\n gone(); }\r\n#if 0\r\n{\r\n#endif\r\nHD int f() { return kept; "
            "}\r\n"
            "__global__ void k() {}\r\n");
    assert_false(holds(s, "torch") || holds(s, "\xef") || holds(s, " gone();"));
    assert_true(holds(s, "HD int f() { return kept; }"));
    assert_int_equal(s->kernel_count, 1);
    assert_int_equal(s->kernels[0].line, 12);
    fixture_close(&f);
}

/* Every word that is left stands on the line where its author wrote it. */
static void words_keep_their_lines(void **state) {
    (void)state;
    static const char *const names[] = {
        "torch_extension", "whole_program", "qualifier_macros", "dynamic_shared", "vectorised",
        "warp_primitives", "matmul_tiled",  "math_and_bits",    "llm_style",      "odd_corners"};
    size_t checked = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        cupel_arena *arena = cupel_arena_create(0);
        char path[256];
        snprintf(path, sizeof path, "%s/%s.cu", CUPEL_TEST_FILES, names[k]);
        cupel_source *source;
        cupel_error err;
        cupel_tokens left, original;
        char *text;
        size_t length;
        assert_int_equal(cupel_source_load(path, NULL, arena, &source, &err), CUPEL_OK);
        assert_int_equal(cupel_lexer_run(source->text, source->length, path, arena, &left, &err), CUPEL_OK);
        assert_int_equal(cupel_text_read(path, arena, &text, &length, &err), CUPEL_OK);
        assert_int_equal(cupel_lexer_run(text, length, path, arena, &original, &err), CUPEL_OK);
        for (size_t i = 0; i < left.count; i++) {
            const cupel_token *t = &left.at[i];
            bool own = strncmp(left.text + t->offset, "cupel_", 6) == 0 || t->kind != CUPEL_TOKEN_WORD;
            if (own || strcmp(t->file, path) != 0) continue;
            bool found = false;
            for (size_t o = 0; o < original.count && !found; o++)
                found = original.at[o].line == t->line && original.at[o].length == t->length &&
                        memcmp(original.text + original.at[o].offset, left.text + t->offset, t->length) == 0;
            bool inserted = cupel_lexer_is(&left, i, "static") || cupel_lexer_is(&left, i, "inline") ||
                            cupel_lexer_is(&left, i, "__device__") || cupel_lexer_is(&left, i, "return");
            static const char *const of_calls[] = {"do", "while", "float", "long", "if", "unsigned"};
            for (size_t o = 0; o < sizeof of_calls / sizeof *of_calls; o++)
                inserted |= cupel_lexer_is(&left, i, of_calls[o]); /* what inline PTX becomes */
            if (!found && !inserted)
                fail_msg("%s:%d: '%.*s' was not there", path, t->line, (int)t->length, left.text + t->offset);
            checked++;
        }
        cupel_arena_free(arena);
    }
    assert_true(checked > 1000);
}

/* Whatever is done to a file, it is read to its end, without a crash, and keeps its lines. */
static void damaged_files(void **state) {
    (void)state;
    static const char *const names[] = {"whole_program", "odd_corners", "dynamic_shared", "qualifier_macros",
                                        "inline_ptx"};
    static const char *const pieces[] = {"{",        "}",
                                         "(",        ")",
                                         "<",        ">",
                                         "#if X\n",  "#else\n",
                                         "#endif\n", "\"",
                                         "R\"(",     "template <",
                                         "extern ",  "__shared__ ",
                                         "asm(",     "namespace ",
                                         "struct ",  "operator",
                                         ":",        ";",
                                         "=",        "#define A A\n",
                                         "/*"};
    cupel_random random = cupel_random_start(13, 0);
    for (int round = 0; round < 400; round++) {
        fixture f = fixture_open();
        char path[256], *text, *damaged;
        size_t length, n = 0;
        cupel_error err;
        cupel_source *source;
        snprintf(path, sizeof path, "%s/%s.cu", CUPEL_TEST_FILES, names[round % 5]);
        assert_int_equal(cupel_text_read(path, f.arena, &text, &length, &err), CUPEL_OK);
        damaged = cupel_arena_raw(f.arena, 2 * length + 4096, 1);
        for (size_t i = 0; i < length; i++) {
            uint64_t choice = cupel_random_below(&random, 400);
            const char *piece = pieces[cupel_random_below(&random, sizeof pieces / sizeof *pieces)];
            if (choice == 0) i += cupel_random_below(&random, 60);
            if (choice == 1 && n < 2 * length) n += (size_t)sprintf(damaged + n, "%s", piece);
            if (i < length) damaged[n++] = text[i];
        }
        write_file(f.path, damaged, n);
        if (cupel_source_load(f.path, NULL, f.arena, &source, &err) == CUPEL_OK) {
            size_t lines = 0, left = 0;
            for (size_t i = 0; i < n; i++) lines += damaged[i] == '\n';
            for (size_t i = 0; i < source->length; i++) left += source->text[i] == '\n';
            assert_true(left >= lines); /* more where a header stands */
        }
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(table),
                                       cmocka_unit_test(kernels_are_listed),
                                       cmocka_unit_test(includes),
                                       cmocka_unit_test(foreign_line_ends),
                                       cmocka_unit_test(words_keep_their_lines),
                                       cmocka_unit_test(damaged_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
