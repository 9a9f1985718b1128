/* Expressions of other people's code: what is understood, what is refused, launches rounded up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "init_expression.h"

static const cupel_init_tree *read(const char *text, cupel_arena *arena) {
    cupel_tokens tokens;
    assert_int_equal(cupel_lexer_run(text, strlen(text), "test", arena, &tokens, NULL), CUPEL_OK);
    return cupel_init_tree_read(&tokens, 0, tokens.count, arena);
}

/* BLOCK is 256 and count is n; loop names itself. */
static const cupel_init_tree *value(const void *self, const char *name) {
    cupel_arena *arena = (cupel_arena *)(uintptr_t)self;
    if (strcmp(name, "BLOCK") == 0) return cupel_init_tree_number(256, arena);
    if (strcmp(name, "count") == 0) return cupel_init_tree_name("n", arena);
    if (strcmp(name, "loop") == 0) return cupel_init_tree_name("loop", arena);
    return NULL;
}

static void resolved(void **state) {
    static const struct {
        const char *text, *expected;
    } rows[] = {{"(n + 255) / 256", "ceil_div(n, 256)"},
                {"(count + BLOCK - 1) / BLOCK", "ceil_div(n, 256)"},
                {"(n + (BLOCK - 1)) / BLOCK", "ceil_div(n, 256)"},
                {"(n - 1 + b) / b", "(n - 1 + b) / b"}, /* not turned round: right as it stands */
                {"(n + 254) / 256", "(n + 254) / 256"},
                {"CEIL_DIV(M, 32)", "ceil_div(M, 32)"},
                {"(int)ceil(n / 256.0f)", "ceil_div(n, 256)"},
                {"std::ceil((float)n / BLOCK)", "ceil_div(n, 256)"},
                {"n / 256 + 1", "n / 256 + 1"},
                {"static_cast<size_t>(row) * n + col", "row * n + col"},
                {"size_t(row) * (n + 1)", "row * (n + 1)"},
                {"(unsigned)n", "n"},
                {"a - (b - c)", "a - (b - c)"},
                {"a - b - c", "a - b - c"},
                {"1 << 10", "1024"},
                {"32 * sizeof(float)", "128"},
                {"32 * sizeof(T)", "32 * sizeof(T)"},
                {"std::min(a, 4)", "min(a, 4)"},
                {"blockIdx.x * BLOCK", "blockIdx.x * 256"},
                {"loop + 1", "loop + 1"},
                {"x[i] + 1", "? + 1"},
                {"p->n * 2", "?"},
                {"x.size(0)", "?"},
                {"a ? b : c", "?"},
                {"a + ", "a + ?"},
                {"", "?"},
                {"3.5", "?"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        const cupel_init_tree *tree = cupel_init_tree_resolve(read(rows[i].text, arena), value, arena, arena);
        assert_string_equal(cupel_init_tree_text(tree, arena), rows[i].expected);
        cupel_arena_free(arena);
    }
}

static void known(void **state) {
    static const char *const yes[] = {"n", "ceil_div(n, 4)", "min(a, b) * 3", "32 * sizeof(T)"},
                             *const no[] = {"x[i]", "blockDim.x", "foo(n)", "min(a)", "n * x[0]"};
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(cupel_init_tree_known(read(yes[i], arena)));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(cupel_init_tree_known(read(no[i], arena)));
    cupel_arena_free(arena);
}

/* Code that is no code, and memory that runs out, end in a tree that is unknown. */
static void survives(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    char deep[1001];
    memset(deep, '(', 1000);
    deep[1000] = '\0';
    assert_false(cupel_init_tree_known(read(deep, arena)));
    memset(deep, '-', 1000);
    assert_false(cupel_init_tree_known(read(deep, arena)));
    static const char *const broken[] = {")",  "f(", "a[",  "static_cast<int", "sizeof(",
                                         "::", "a.", "* /", "f(,,,,,)"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_false(cupel_init_tree_known(read(broken[i], arena)));
    cupel_tokens tokens;
    assert_int_equal(cupel_lexer_run("a + b * c", 9, "test", arena, &tokens, NULL), CUPEL_OK);
    cupel_arena *small = cupel_arena_create(1);
    assert_false(cupel_init_tree_known(cupel_init_tree_read(&tokens, 0, tokens.count, small)));
    cupel_arena_free(small);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(resolved), cmocka_unit_test(known),
                                       cmocka_unit_test(survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
