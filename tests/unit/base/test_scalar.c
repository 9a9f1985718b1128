/* Scalar expressions: grammar, C's arithmetic, overflow, places of errors; random trees against a second
 * evaluation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "philox.h"
#include "scalar.h"

static bool name_value(const void *self, const char *name, cupel_scalar *out) {
    (void)self;
    static const struct {
        const char *name;
        cupel_scalar value;
    } known[] = {{"N", {.i = 1000}},
                 {"M", {.i = -7}},
                 {"zero", {.i = 0}},
                 {"big", {.i = INT64_MAX}},
                 {"eps", {.real = true, .d = 1e-5}},
                 {"least", {.i = INT64_MIN}},
                 {"orange", {.i = 5}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].value;
            return true;
        }
    return false;
}
static bool stride_value(const void *self, const char *tensor, int axis, int64_t *out) {
    (void)self;
    *out = 100 + axis;
    return strcmp(tensor, "x") == 0;
}
static bool size_value(const void *self, const char *tensor, int64_t *out) {
    (void)self;
    *out = 77;
    return strcmp(tensor, "x") == 0;
}
static bool size_of_value(const void *self, const char *type, int64_t *out) {
    (void)self;
    *out = 2;
    return strcmp(type, "T") == 0;
}
static const cupel_scalar_env env = {NULL, name_value, stride_value, size_value, size_of_value};

static cupel_code evaluate(cupel_arena *arena, const char *text, cupel_scalar *out, cupel_error *err) {
    cupel_scalar_expr *expr;
    CUPEL_TRY(cupel_scalar_parse(cupel_span_of(text, "k.cu", 7, 12), arena, &expr, err));
    return cupel_scalar_eval(expr, &env, out, err);
}

static void integers(void **state) {
    cupel_arena *arena = *state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"-7 / 2", -3},
        {"M % 2", -1},
        {"7 / -2", -3},
        {"ceil_div(N, 256)", 4},
        {"ceil_div(-7, 2)", -3},
        {"ceil_div(7, -2)", -3},
        {"ceil_div(-7, -2)", 4},
        {"floor_div(-7, 2)", -4},
        {"floor_div(7, -2)", -4},
        {"floor_div(-8, 2)", -4},
        {"min(3, N, M)", -7},
        {"max(3, N, M)", 1000},
        {"next_pow2(0)", 1},
        {"next_pow2(1)", 1},
        {"next_pow2(N)", 1024},
        {"next_pow2(1024)", 1024},
        {"next_pow2(1025)", 2048},
        {"0x1F", 31},
        {"010", 8},
        {"100ULL", 100},
        {"1 << 10", 1024},
        {"-8 >> 1", -4},
        {"6 & 3 | 8 ^ 1", 11},
        {"1 + 1 << 2", 8},
        {"N % 4 == 0", 1},
        {"N % 3 == 0", 0},
        {"not N", 0},
        {"not N == 1000", 0},
        {"zero or N > 3 and M < 0", 1},
        {"1 or zero and zero", 1},
        {"zero == 0 or N / zero > 2", 1},
        {"zero != 0 and N / zero > 2", 0},
        {"N >= 1000", 1},
        {"N <= 999", 0},
        {"N != 1000", 0},
        {"-2 ** 2", -4},
        {"2 ** 3 ** 2", 512},
        {"(-1) ** 1000000001", -1},
        {"zero ** 0", 1},
        {"--3", 3},
        {"+3", 3},
        {"orange", 5},
        {"true", 1},
        {"stride(x, 1)", 101},
        {"stride(x, -1)", 99},
        {"size(x) * sizeof(T)", 154},
        {"big", INT64_MAX},
        {"9223372036854775807", INT64_MAX},
        {"(N < 5) == (M > 0)", 1},
        {"  N\n + 1 ", 1001},
        {"big > 9223372036854775806", 1},
        {"9007199254740993 > 9007199254740992.0", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cupel_scalar value;
        cupel_error err = {0};
        cupel_code code = evaluate(arena, cases[i].text, &value, &err);
        if (code != CUPEL_OK) fail_msg("%s: %s", cases[i].text, err.text);
        if (value.real || value.i != cases[i].value)
            fail_msg("%s: expected %lld, got %lld", cases[i].text, (long long)cases[i].value,
                     (long long)value.i);
    }
}

static void reals(void **state) {
    cupel_arena *arena = *state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1.5 * 2", 3},       {"N / 3.0", 1000 / 3.0},
        {"1e-5", 1e-5},       {"1.1f", (double)1.1f},
        {".5", 0.5},          {"eps + 1", 1e-5 + 1},
        {"-eps", -1e-5},      {"7.5 % 2", 1.5},
        {"2 ** -1.0", 0.5},   {"0x1p-3", 0.125},
        {"min(1, 0.5)", 0.5}, {"max(2, 0.5)", 2},
        {"1e+3", 1000},       {"3.f", 3},
        {"1.0L", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cupel_scalar value;
        cupel_error err = {0};
        cupel_code code = evaluate(arena, cases[i].text, &value, &err);
        if (code != CUPEL_OK) fail_msg("%s: %s", cases[i].text, err.text);
        if (!value.real || value.d != cases[i].value) fail_msg("%s: got %g", cases[i].text, value.d);
    }
}

/* column counts from the start of the text at 7:12 */
static void errors(void **state) {
    cupel_arena *arena = *state;
    static const struct {
        const char *text;
        cupel_code code;
        int column;
        const char *message;
    } cases[] = {
        {"big + 1", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"0 - (least + 0) * 2", CUPEL_RANGE, 16, "exceeds 64-bit"},
        {"-least", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"least / -1", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"least % -1", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"least - 1", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"3 ** 41", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"1 << 63", CUPEL_RANGE, 12, "exceeds 64-bit"},
        {"1 << 64", CUPEL_RANGE, 12, "0..63"},
        {"1 >> -1", CUPEL_RANGE, 12, "0..63"},
        {"2 ** -1", CUPEL_RANGE, 12, "at least 0"},
        {"next_pow2(big)", CUPEL_RANGE, 12, "exceeds"},
        {"1 + N / zero", CUPEL_RANGE, 16, "divides by zero"},
        {"N % zero", CUPEL_RANGE, 12, "divides by zero"},
        {"1.0 / zero", CUPEL_RANGE, 12, "divides by zero"},
        {"ceil_div(N, zero)", CUPEL_RANGE, 12, "divides by zero"},
        {"ceil_div(N, 1.5)", CUPEL_RANGE, 24, "expected an integer"},
        {"1.5 & 1", CUPEL_RANGE, 12, "expected integers"},
        {"N + K", CUPEL_CONTRACT, 16, "found 'K', which has no value"},
        {"stride(y, 0)", CUPEL_CONTRACT, 12, "has no value"},
        {"sizeof(U)", CUPEL_CONTRACT, 12, "has no value"},
        {"9223372036854775808", CUPEL_SYNTAX, 12, "below 2^63"},
        {"1e999", CUPEL_SYNTAX, 12, "finite"},
        {"", CUPEL_SYNTAX, 12, "found nothing"},
        {"   ", CUPEL_SYNTAX, 12, "found nothing"},
        {"N +", CUPEL_SYNTAX, 15, "found the end"},
        {"(N", CUPEL_SYNTAX, 14, "expected ')'"},
        {"N)", CUPEL_SYNTAX, 13, "found ')'"},
        {"N M", CUPEL_SYNTAX, 14, "an operator or the end"},
        {"N && M", CUPEL_SYNTAX, 14, "write 'and'"},
        {"N // 2", CUPEL_SYNTAX, 14, "floor_div"},
        {"N = 2", CUPEL_SYNTAX, 14, "write '=='"},
        {"1 < N < 5", CUPEL_SYNTAX, 18, "do not chain"},
        {"cdiv(N, 2)", CUPEL_SYNTAX, 12, "expected a function"},
        {"ceildiv(N, 2)", CUPEL_SYNTAX, 12, "did you mean 'ceil_div'"},
        {"ceil_div(N)", CUPEL_SYNTAX, 12, "found 1 argument"},
        {"ceil_div(N, 1, 2)", CUPEL_SYNTAX, 12, "more than 2 arguments"},
        {"stride(3, 0)", CUPEL_SYNTAX, 19, "a tensor's name"},
        {"12abc", CUPEL_SYNTAX, 12, "expected a number"},
        {"09", CUPEL_SYNTAX, 12, "expected a number"},
        {"1.2.3", CUPEL_SYNTAX, 12, "expected a number"},
        {"5f", CUPEL_SYNTAX, 12, "expected a number"},
        {"and 3", CUPEL_SYNTAX, 12, "a value"},
        {"1 + not 2", CUPEL_SYNTAX, 16, "a value"},
        {"x[0]", CUPEL_SYNTAX, 13, "found '['"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cupel_scalar value;
        cupel_error err = {0};
        cupel_code code = evaluate(arena, cases[i].text, &value, &err);
        if (code != cases[i].code || err.line != 7 || err.column != cases[i].column ||
            !strstr(err.text, cases[i].message) || strcmp(err.file, "k.cu") != 0)
            fail_msg("'%s': code %d, %s:%d:%d: %s", cases[i].text, (int)code, err.file, err.line, err.column,
                     err.text);
    }
}

static void second_line_has_its_own_place(void **state) {
    cupel_scalar value;
    cupel_error err = {0};
    assert_int_equal(evaluate(*state, "N +\n  K", &value, &err), CUPEL_CONTRACT);
    assert_int_equal(err.line, 8);
    assert_int_equal(err.column, 3);
}

/* Deep and long texts end in an error, or in a value, never in an exhausted stack. */
static void hostile_nesting(void **state) {
    cupel_arena *arena = *state;
    static const char *const units[] = {"(", "-", "not ", "min(1,", "2**", "1+", "1<", "1 or ", "1,"};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (size_t count = 100; count <= 20000; count *= 10) {
            size_t n = strlen(units[u]);
            char *text = cupel_arena_alloc(arena, n * count + 2);
            for (size_t i = 0; i < count; i++) memcpy(text + i * n, units[u], n);
            text[n * count] = '1';
            cupel_scalar value;
            cupel_error err = {0};
            cupel_code code = evaluate(arena, text, &value, &err);
            if (count > 1000) assert_int_equal(code, CUPEL_SYNTAX);
            if (code != CUPEL_OK) assert_true(err.line > 0);
        }
}

/* Writes a random integer expression, fully parenthesised, and evaluates it on the way with 128-bit
 * arithmetic. */
static bool random_tree(cupel_random *random, int depth, char *out, size_t size, __int128 *value) {
    if (depth == 0) {
        int64_t v = (int64_t)cupel_random_below(random, 2000) - 1000;
        if (cupel_random_below(random, 8) == 0) v = (int64_t)(cupel_random_u64(random) >> 1);
        snprintf(out, size, v < 0 ? "(%lld)" : "%lld", (long long)v);
        *value = v;
        return true;
    }
    char *a = calloc(1, size), *b = calloc(1, size);
    __int128 x, y;
    bool defined = random_tree(random, depth - 1, a, size, &x);
    defined = random_tree(random, depth - 1, b, size, &y) && defined;
    static const char ops[] = "+-*/%";
    char op = ops[cupel_random_below(random, 5)];
    snprintf(out, size, "(%s %c %s)", a, op, b);
    free(a);
    free(b);
    *value = 0;
    if (!defined || ((op == '/' || op == '%') && y == 0)) return false;
    *value = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : op == '/' ? x / y : x % y;
    bool overflow =
        *value > INT64_MAX || *value < INT64_MIN || ((op == '%' || op == '/') && y == -1 && x == INT64_MIN);
    return !overflow;
}

static void random_trees_agree_with_wide_arithmetic(void **state) {
    cupel_arena *arena = *state;
    cupel_random random = cupel_random_start(11, 0);
    int defined_count = 0;
    for (int round = 0; round < 3000; round++) {
        char text[4096];
        __int128 expected;
        bool defined = random_tree(&random, 1 + round % 4, text, sizeof text, &expected);
        cupel_scalar value;
        cupel_error err = {0};
        cupel_code code = evaluate(arena, text, &value, &err);
        if (defined != (code == CUPEL_OK)) fail_msg("%s: %s", text, err.text);
        if (defined && (value.real || value.i != (int64_t)expected))
            fail_msg("%s: got %lld", text, (long long)value.i);
        defined_count += defined;
    }
    assert_true(defined_count > 500 && defined_count < 2900);
}

static void any_bytes_give_a_value_or_a_placed_error(void **state) {
    cupel_arena *arena = *state;
    static const char alphabet[] = "N0159.xe+-*/%()<>=&|^, \nmindivst_!\xc3\xa9\0u";
    cupel_random random = cupel_random_start(5, 0);
    for (int round = 0; round < 20000; round++) {
        char text[24];
        size_t length = cupel_random_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[cupel_random_below(&random, sizeof alphabet - 1)];
        cupel_scalar_expr *expr;
        cupel_error err = {0};
        cupel_span span = {text, length, "f", 1, 1};
        cupel_scalar value;
        cupel_code code = cupel_scalar_parse(span, arena, &expr, &err);
        if (code == CUPEL_OK) code = cupel_scalar_eval(expr, &env, &value, &err);
        if (code != CUPEL_OK) assert_true(err.line >= 1 && err.column >= 1 && err.text[0]);
        cupel_arena_reset(arena);
    }
}

static cupel_code collect_name(void *self, const char *name, cupel_span place, cupel_error *err) {
    (void)err;
    sprintf((char *)self + strlen(self), "%s@%d ", name, place.column);
    return CUPEL_OK;
}
static cupel_code collect_query(void *self, cupel_scalar_query query, const char *name, cupel_span place,
                                cupel_error *err) {
    (void)err;
    sprintf((char *)self + strlen(self), "%d%s@%d ", (int)query, name, place.column);
    return CUPEL_OK;
}
static void collect_literal(void *self, int64_t value) {
    sprintf((char *)self + strlen(self), "%lld ", (long long)value);
}

static void visitors(void **state) {
    cupel_scalar_expr *expr;
    cupel_error err;
    cupel_span span =
        cupel_span_of("min(N, 97) + stride(x, 0) * sizeof(T) - M % 7 + size(y) + true + 1.5", "f", 1, 1);
    assert_int_equal(cupel_scalar_parse(span, *state, &expr, &err), CUPEL_OK);
    char names[200] = "", queries[200] = "", literals[200] = "";
    assert_int_equal(cupel_scalar_names(expr, collect_name, names, &err), CUPEL_OK);
    assert_string_equal(names, "N@5 M@41 ");
    assert_int_equal(cupel_scalar_queries(expr, collect_query, queries, &err), CUPEL_OK);
    assert_string_equal(queries, "0x@21 2T@36 1y@54 ");
    cupel_scalar_literals(expr, collect_literal, literals);
    assert_string_equal(literals, "97 0 7 ");
    assert_true(cupel_span_equals(cupel_scalar_text(expr), span.text));
}

static int set_up(void **state) {
    return (*state = cupel_arena_create(0)) ? 0 : -1;
}
static int tear_down(void **state) {
    cupel_arena_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(second_line_has_its_own_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_nesting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_trees_agree_with_wide_arithmetic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_bytes_give_a_value_or_a_placed_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(visitors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
