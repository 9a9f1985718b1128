/* What is mined out of kernels: which numbers, under which role, and which not. */
#include <math.h>

#include "mine.h"
#include "source_testing.h"

static cupel_dictionary mined(const char *text) {
    fixture f = fixture_open();
    cupel_dictionary out;
    cupel_error err = {0};
    write_file(f.path, text, strlen(text));
    if (cupel_dictionary_mine(f.path, NULL, f.arena, &out, &err) != CUPEL_OK) fail_msg("%s", err.text);
    fixture_close(&f);
    return out;
}

/* A kernel with these statements, after these declarations. */
static cupel_dictionary mined_from(const char *before, const char *statements) {
    char text[4096];
    snprintf(text, sizeof text, "%s\n__global__ void k(float *y, const float *x, int n, int m) {\n%s\n}\n",
             before, statements);
    return mined(text);
}

static const cupel_word *word_of(const cupel_dictionary *d, int64_t value) {
    for (int i = 0; i < d->word_count; i++)
        if (d->words[i].value == value) return &d->words[i];
    return NULL;
}

static bool holds_number(const cupel_dictionary *d, double value) {
    for (int i = 0; i < d->number_count; i++)
        if (d->numbers[i] == value) return true;
    return false;
}

static const char *const roles[] = {"plain", "compared", "size", "modulus"};

typedef struct expectation {
    const char *before, *statements;
    int64_t value;
    int role; /* -1: not there */
    int64_t residue;
} expectation;

static void expect(const expectation *e) {
    cupel_dictionary d = mined_from(e->before, e->statements);
    const cupel_word *w = word_of(&d, e->value);
    if (e->role < 0 && w) fail_msg("%s %s: %d was mined", e->before, e->statements, (int)e->value);
    if (e->role < 0) return;
    if (!w) fail_msg("%s %s: %d is missing", e->before, e->statements, (int)e->value);
    if ((int)w->role != e->role)
        fail_msg("%s %s: %d is %s, not %s", e->before, e->statements, (int)e->value, roles[w->role],
                 roles[e->role]);
    if (w->residue != e->residue)
        fail_msg("%s %s: residue %d, not %d", e->before, e->statements, (int)w->residue, (int)e->residue);
}

enum {
    PLAIN = CUPEL_WORD_PLAIN,
    COMPARED = CUPEL_WORD_COMPARED,
    SIZE = CUPEL_WORD_SIZE,
    MODULUS = CUPEL_WORD_MODULUS
};

static void test_roles(void **state) {
    (void)state;
    static const expectation table[] = {
        {"", "if (n > 200) y[0] = 3;", 200, COMPARED, -1},
        {"", "if (187 == m) y[0] = 3;", 187, COMPARED, -1},
        {"", "if (n - 12 == 25) y[0] = 3;", 25, COMPARED, -1},
        {"", "if (n - 12 == 25) y[0] = 3;", 12, PLAIN, -1},
        {"", "while (n <= 0x1F3) n++;", 499, COMPARED, -1},
        {"", "switch (n) { case 77: y[0] = 3; }", 77, COMPARED, -1},
        {"", "n = min(n, 300);", 300, COMPARED, -1},
        {"", "if (n < 40 * m) y[0] = 3;", 40, PLAIN, -1},
        {"", "if (n % 97 == 7) y[0] = 3;", 97, MODULUS, 7},
        {"", "if (n % 97 == 7) y[0] = 3;", 7, COMPARED, -1},
        {"", "if ((n % 211) != 17u) y[0] = 3;", 211, MODULUS, 17},
        {"", "if (19 == n % 211) y[0] = 3;", 211, MODULUS, 19},
        {"", "if (n % 97) y[0] = 3;", 97, MODULUS, -1},
        {"", "int r = n % 97; if (r == 7) y[0] = 3;", 97, MODULUS, -1},
        {"", "n %= 97;", 97, MODULUS, -1},
        {"", "if ((n & 63) == 5) y[0] = 3;", 64, MODULUS, 5},
        {"#define P 128", "if (n & (P - 1)) y[0] = 3;", 128, MODULUS, -1},
        {"", "n = m & 20;", 20, PLAIN, -1},
        {"", "int b = (n + 47) / 48;", 48, SIZE, -1},
        {"", "int b = (n + 47) / 48;", 47, PLAIN, -1},
        {"", "int b = n >> 7;", 128, SIZE, -1},
        {"", "for (int i = 0; i < n; i += 250) y[i] = 3;", 250, SIZE, -1},
        {"", "for (int i = 0; i < 24; i++) y[i] = 3;", 24, SIZE, -1},
        {"", "for (int i = 0; i < 24; i++) if (n == 24) y[i] = 3;", 24, COMPARED, -1},
        {"", "__shared__ float t[24][25];", 24, SIZE, -1},
        {"", "__shared__ float t[24][25];", 25, SIZE, -1},
        {"", "int i = blockIdx.x * 192 + threadIdx.x;", 192, SIZE, -1},
        {"template <int B = 384> __device__ int f() { return B; }", "", 384, SIZE, -1},
        {"template <class T, int B> __device__ int f() { return B; }", "n = f<float, 160>();", 160, SIZE, -1},
        {"", "y[13] = 3;", 13, PLAIN, -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) expect(&table[i]);
}

static void test_constants(void **state) {
    (void)state;
    static const expectation table[] = {
        {"#define TILE 48", "if (n == 3 * TILE + 1) y[0] = 3;", 145, COMPARED, -1},
        {"#define TILE 48", "if (n == 3 * TILE + 1) y[0] = 3;", 48, PLAIN, -1},
        {"constexpr int WARP = 32;", "if (n > 4 * WARP) y[0] = 3;", 128, COMPARED, -1},
        {"static const int LIMIT = 1 << 10;", "if (n > LIMIT) y[0] = 3;", 1024, COMPARED, -1},
        {"enum { A = 50, B, C = 90 };", "if (n == B || m == C) y[0] = 3;", 51, COMPARED, -1},
        {"enum { A = 50, B, C = 90 };", "if (n == B || m == C) y[0] = 3;", 90, COMPARED, -1},
        {"enum class Mode : int { kFast = 600 };", "if (n == (int)Mode::kFast) y[0] = 3;", 600, COMPARED, -1},
        {"", "const int a = 70, b = a + 3; if (n == b) y[0] = 3;", 73, COMPARED, -1},
        {"", "constexpr int vec = 48 / sizeof(float); if (n % vec) y[0] = 3;", 12, MODULUS, -1},
        {"", "if (n == 0b1010110u) y[0] = 3;", 86, COMPARED, -1},
        {"", "if (n == 1'000'003LL) y[0] = 3;", 1000003, COMPARED, -1},
        {"", "if (n == 0127) y[0] = 3;", 87, COMPARED, -1},
        {"#define IS_ODD_ONE(i) ((i) % 89 == 5)", "if (IS_ODD_ONE(n)) y[0] = 3;", 89, MODULUS, 5},
        {"struct S { static constexpr int kTile = 56; };", "n /= S::kTile;", 56, SIZE, -1},
        /* the nearest definition before the use */
        {"__device__ int f(int n) { constexpr int T = 21; return n == T; }",
         "constexpr int T = 23; if (n == T + 100) y[0] = 3;", 123, COMPARED, -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) expect(&table[i]);
}

static void test_what_is_left_out(void **state) {
    (void)state;
    static const expectation table[] = {
        {"void launch(int n) { if (n == 4711) k<<<1, 777>>>(0, 0, n, n); }", "", 4711, -1, 0},
        {"void launch(int n) { if (n == 4711) k<<<1, 777>>>(0, 0, n, n); }", "", 777, -1, 0},
        {"#define HOST_ONLY 4711\nint main() { return HOST_ONLY; }", "", 4711, -1, 0},
        {"/* cupel: 1\nid: a\ndims: {N: 1..4711}\n*/", "", 4711, -1, 0},
        {"// 4711", "/* 4711 */ y[0] = 3;", 4711, -1, 0},
        {"#if 0\n__device__ int dead = 4711;\n#endif", "", 4711, -1, 0},
        {"", "if (n == 0 || m == 1) y[1] = 0;", 0, -1, 0},
        {"", "if (n == 0 || m == 1) y[1] = 0;", 1, -1, 0},
        {"", "n = 2 * m / 2 % 2;", 2, -1, 0},
        {"", "n = __ballot_sync(0xffffffffu, m);", 4294967295, -1, 0},
        {"", "const char *s = \"4711\"; char c = 'a';", 4711, -1, 0},
        {"#define A (B + B)\n#define B (A + A)", "n = A;", 2, -1, 0},
        {"", "long n = 99999999999999999;", 99999999999999999, -1, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) expect(&table[i]);
}

static void test_numbers(void **state) {
    (void)state;
    cupel_dictionary d = mined_from("constexpr double far = 12.5e2;",
                                    "float t = 1e30f; float u = 0.1f * 0x1.8p3f;"
                                    "if (x[0] > 88.0f || x[1] < -104.25) y[0] = 1.0f * 0.0f + FLT_MAX;"
                                    "float v = -INFINITY; float huge = 1e999; y[2] = 3.f;");
    static const double wanted[] = {
        88, 104.25, 1250, (double)1e30f, (double)0.1f, 12, (double)0x1.fffffep127f, 3};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!holds_number(&d, wanted[i])) fail_msg("%g is missing", wanted[i]);
    assert_int_equal(d.number_count, sizeof wanted / sizeof *wanted);
    /* thresholds first */
    assert_true(d.numbers[0] == 88 && d.numbers[1] == 104.25);
    for (int i = 0; i < d.number_count; i++) assert_true(isfinite(d.numbers[i]) && d.numbers[i] > 0);
}

/* With more than there is room for, moduli and compared constants stay. */
static void test_priority(void **state) {
    (void)state;
    char text[16384] = "";
    size_t n = 0;
    for (int i = 0; i < 300; i++) n += (size_t)snprintf(text + n, sizeof text - n, "y[%d] = 3;\n", 100 + i);
    snprintf(text + n, sizeof text - n, "if (n == 5000 || n %% 6000 == 5) y[0] = 3; n /= 7000;");
    char whole[20000];
    snprintf(whole, sizeof whole, "__global__ void k(float *y, int n) {\n%s\n}\n", text);
    cupel_dictionary d = mined(whole);
    assert_int_equal(d.word_count, CUPEL_DICTIONARY_WORDS);
    assert_int_equal(d.words[0].value, 6000);
    assert_int_equal(d.words[0].residue, 5);
    assert_int_equal(d.words[1].value, 5000);
    assert_non_null(word_of(&d, 7000));
}

static void test_two_residues_of_one_modulus(void **state) {
    (void)state;
    cupel_dictionary d = mined_from("", "if (n % 97 == 7 || n % 97 == 8) y[0] = 3; if (n == 97) y[0] = 4;");
    int seen = 0;
    for (int i = 0; i < d.word_count; i++)
        if (d.words[i].value == 97)
            seen += d.words[i].role == CUPEL_WORD_MODULUS ? (int)d.words[i].residue : 100;
    assert_int_equal(seen, 15);
}

static void test_host_candidates_and_objects(void **state) {
    (void)state;
    fixture f = fixture_open();
    char path[128];
    cupel_dictionary d;
    cupel_error err = {0};
    static const char text[] =
        "#define LIMIT 77\nvoid f(float *y, int n) { if (n % 31 == 4 && n > LIMIT) y[0] = 3; }";
    snprintf(path, sizeof path, "%s/a.c", f.folder);
    write_file(path, text, strlen(text));
    assert_int_equal(cupel_dictionary_mine(path, NULL, f.arena, &d, &err), CUPEL_OK);
    assert_int_equal(word_of(&d, 31)->residue, 4);
    assert_int_equal(word_of(&d, 77)->role, CUPEL_WORD_COMPARED);
    assert_int_equal(cupel_dictionary_mine("/nowhere/a.so", NULL, f.arena, &d, &err), CUPEL_OK);
    assert_int_equal(d.word_count, 0);
    snprintf(path, sizeof path, "%s/none.cu", f.folder);
    d.word_count = 5;
    assert_int_equal(cupel_dictionary_mine(path, NULL, f.arena, &d, &err), CUPEL_IO);
    assert_int_equal(d.word_count, 0);
    fixture_close(&f);
}

/* The author's own headers belong to the kernel. */
static void test_headers(void **state) {
    (void)state;
    fixture f = fixture_open();
    char path[128];
    static const char header[] = "#pragma once\nconstexpr int kTile = 72;\n",
                      text[] = "#include \"tile.cuh\"\n__global__ void k(float *y, int n) { n /= kTile; }\n";
    cupel_dictionary d;
    snprintf(path, sizeof path, "%s/tile.cuh", f.folder);
    write_file(path, header, strlen(header));
    write_file(f.path, text, strlen(text));
    assert_int_equal(cupel_dictionary_mine(f.path, NULL, f.arena, &d, NULL), CUPEL_OK);
    assert_int_equal(word_of(&d, 72)->role, CUPEL_WORD_SIZE);
    fixture_close(&f);
}

/* Macros of the command line are constants too. */
static void test_defines(void **state) {
    (void)state;
    fixture f = fixture_open();
    static const char text[] = "__global__ void k(float *y, int n) { if (n % TILE == FAST) y[n] = 3; }";
    static const char *const defines[] = {"TILE=(3 * 29)", "FAST"};
    const cupel_source_options options = {.define_count = 2, .defines = defines};
    cupel_dictionary d;
    write_file(f.path, text, strlen(text));
    assert_int_equal(cupel_dictionary_mine(f.path, &options, f.arena, &d, NULL), CUPEL_OK);
    assert_int_equal(d.words[0].value, 87);
    assert_int_equal(d.words[0].residue, 1);
    assert_int_equal(cupel_dictionary_mine(f.path, NULL, f.arena, &d, NULL), CUPEL_OK);
    assert_null(word_of(&d, 87));
    fixture_close(&f);
}

/* Nothing is ever rejected, whatever the text: pieces of a real kernel, cut anywhere. */
static void test_cut_text(void **state) {
    (void)state;
    static const char text[] =
        "#define A (4 * B)\nenum { E = 3, F }; template <int N = 1 << 5> struct S {};\n"
        "__global__ void k(float *y, int n) { __shared__ float t[A][F + 2]; if (n % (7 == 3 && "
        "(n & 31) == -2 || sizeof(float4) / 4 > n >> 3) y[n /= 12] += 1.5e+3f - 0x; }";
    fixture f = fixture_open();
    for (size_t length = 0; length < sizeof text; length++) {
        cupel_dictionary d;
        write_file(f.path, text, length);
        assert_int_equal(cupel_dictionary_mine(f.path, NULL, f.arena, &d, NULL), CUPEL_OK);
        cupel_arena_reset(f.arena);
    }
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_what_is_left_out),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_two_residues_of_one_modulus),
        cmocka_unit_test(test_host_candidates_and_objects),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_defines),
        cmocka_unit_test(test_cut_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
