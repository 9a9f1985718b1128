/* The grammar: golden trees, and errors with their places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

static void show(const cupel_expr *e, char *out) {
    if (!e) {
        strcat(out, "_");
        return;
    }
    switch (e->kind) {
    case CUPEL_EXPR_NUMBER: strcat(out, e->digits); return;
    case CUPEL_EXPR_NAME: strcat(out, e->name); return;
    case CUPEL_EXPR_STRING: sprintf(out + strlen(out), "\"%s\"", e->name); return;
    case CUPEL_EXPR_UNARY:
    case CUPEL_EXPR_BINARY: sprintf(out + strlen(out), "(%s", e->name); break;
    case CUPEL_EXPR_CALL: sprintf(out + strlen(out), "(call %s", e->name); break;
    case CUPEL_EXPR_INDEX: strcat(out, "(at"); break;
    case CUPEL_EXPR_SLICE: strcat(out, "(slice"); break;
    case CUPEL_EXPR_LIST: strcat(out, "(list"); break;
    }
    for (int i = 0; i < e->count; i++) {
        strcat(out, " ");
        if (e->kind == CUPEL_EXPR_CALL && e->keywords[i]) sprintf(out + strlen(out), "%s=", e->keywords[i]);
        show(e->children[i], out);
    }
    strcat(out, ")");
}

static void trees_follow_pythons_precedence(void **state) {
    (void)state;
    static const struct {
        const char *text, *tree;
    } rows[] = {
        {"a", "a"},
        {"a + b * c", "(+ a (* b c))"},
        {"a - b - c", "(- (- a b) c)"},
        {"a / b * c", "(* (/ a b) c)"},
        {"-a ** b", "(- (** a b))"},
        {"a ** -b", "(** a (- b))"},
        {"a ** b ** c", "(** a (** b c))"},
        {"2 ** -x ** 2", "(** 2 (- (** x 2)))"},
        {"-a * b", "(* (- a) b)"},
        {"a * -b", "(* a (- b))"},
        {"not a == b", "(not (== a b))"},
        {"not a and b or c", "(or (and (not a) b) c)"},
        {"a or b and not c", "(or a (and b (not c)))"},
        {"a & b == c", "(== (& a b) c)"},
        {"a | b ^ c & d", "(| a (^ b (& c d)))"},
        {"a << 1 + b", "(<< a (+ 1 b))"},
        {"a & b << c", "(& a (<< b c))"},
        {"~a & b", "(& (~ a) b)"},
        {"~-a", "(~ (- a))"},
        {"a % b", "(% a b)"},
        {"a <= b", "(<= a b)"},
        {"(a + b) * c", "(* (+ a b) c)"},
        {"f(a, axis=-1)", "(call f a axis=(- 1))"},
        {"f()", "(call f)"},
        {"f(a, b,)", "(call f a b)"},
        {"f(x == y)", "(call f (== x y))"},
        {"g(mode=\"tanh\", p='x')", "(call g mode=\"tanh\" p=\"x\")"},
        {"x[1]", "(at x 1)"},
        {"x[:, 1:]", "(at x (slice _ _ _) (slice 1 _ _))"},
        {"x[::2, a:b:c]", "(at x (slice _ _ 2) (slice a b c))"},
        {"x[1:][0]", "(at (at x (slice 1 _ _)) 0)"},
        {"-x[0] ** 2", "(- (** (at x 0) 2))"},
        {"f(x)[0]", "(at (call f x) 0)"},
        {"[a, [b], 1]", "(list a (list b) 1)"},
        {"[]", "(list)"},
        {"true and False", "(and true false)"},
        {"1e-5 + .5 + 2. + 1E3", "(+ (+ (+ 1e-5 .5) 2.) 1E3)"},
        {"0xff + 0X0A", "(+ 255 10)"},
        {"0x7fffffffffffffff - 0xe", "(- 9223372036854775807 14)"},
        {"inf - nan * pi", "(- inf (* nan pi))"},
        {"  a\n+\tb ", "(+ a b)"},
        {"sum(sum)", "(call sum sum)"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        cupel_arena *arena = cupel_arena_create(0);
        cupel_expr *expr;
        cupel_error err;
        char text[512] = "";
        if (cupel_expr_parse(cupel_span_of(rows[r].text, "t", 1, 1), arena, &expr, &err) != CUPEL_OK)
            fail_msg("%s: %s", rows[r].text, err.text);
        show(expr, text);
        assert_string_equal(text, rows[r].tree);
        cupel_arena_free(arena);
    }
}

static void errors_name_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *part;
    } rows[] = {
        {"", 1, 1, "expected a value, found the end"},
        {"a +", 1, 4, "expected a value, found the end"},
        {"a b", 1, 3, "expected an operator or the end of the expression, found 'b'"},
        {"a < b < c", 1, 7, "do not chain"},
        {"a = b", 1, 3, "write '=='"},
        {"a && b", 1, 3, "write 'and'"},
        {"a || b", 1, 3, "write 'or'"},
        {"!a", 1, 1, "write 'not'"},
        {"x.sum()", 1, 2, "write sum(x), not x.sum()"},
        {"a // b", 1, 3, "floor"},
        {"a @ b", 1, 3, "matmul"},
        {"a == not b", 1, 6, "parentheses"},
        {"(a", 1, 3, "expected ')'"},
        {"(a, b)", 1, 3, "lists are written with [ ]"},
        {"f(a", 1, 4, "expected ',' or ')'"},
        {"f(axis=1, a)", 1, 11, "named argument"},
        {"f(axis=1, axis=2)", 1, 11, "once"},
        {"x[", 1, 3, "expected a value"},
        {"x[]", 1, 3, "expected a value"},
        {"x[..., 0]", 1, 3, "name every axis"},
        {"(a)(b)", 1, 4, "name of a function"},
        {"x[0](b)", 1, 5, "name of a function"},
        {"3x", 1, 1, "expected a number"},
        {"1.2.3", 1, 1, "expected a number"},
        {"0x", 1, 1, "expected a number"},
        {"0x1p-3", 1, 1, "expected a number"},
        {"0xfg", 1, 1, "expected a number"},
        {"0x1ffffffffffffffff", 1, 1, "64 bits"},
        {"99999999999999999999", 1, 1, "64 bits"},
        {"1e999", 1, 1, "1.8e308"},
        {"\"abc", 1, 1, "no closing"},
        {"a + $b", 1, 5, "found '$'"},
        {"a\n  + ?", 2, 5, "found '?'"},
        {"a \xc3\xa9", 1, 3, "0xc3"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        cupel_arena *arena = cupel_arena_create(0);
        cupel_expr *expr;
        cupel_error err;
        cupel_code code = cupel_expr_parse(cupel_span_of(rows[r].text, "t", 1, 1), arena, &expr, &err);
        if (code != CUPEL_SYNTAX || err.line != rows[r].line || err.column != rows[r].column ||
            !strstr(err.text, rows[r].part))
            fail_msg("%s: code %d at %d:%d: %s", rows[r].text, code, err.line, err.column,
                     code ? err.text : "");
        cupel_arena_free(arena);
    }
}

static void places_start_where_the_text_starts(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_expr *expr;
    cupel_error err;
    assert_int_equal(cupel_expr_parse(cupel_span_of("a +\n f(b, c)", "k.cu", 7, 12), arena, &expr, &err),
                     CUPEL_OK);
    const cupel_expr *call = expr->children[1];
    assert_int_equal(call->place.line, 8);
    assert_int_equal(call->place.column, 2);
    assert_true(cupel_span_equals(call->place, "f(b, c)"));
    assert_true(cupel_span_equals(expr->place, "a +\n f(b, c)"));
    assert_int_equal(cupel_expr_parse(cupel_span_of("a + %", "k.cu", 7, 12), arena, &expr, &err),
                     CUPEL_SYNTAX);
    assert_int_equal(err.line, 7);
    assert_int_equal(err.column, 16);
    assert_string_equal(err.file, "k.cu");
    cupel_arena_free(arena);
}

/* Both ends of the limit on nesting, by recursion and by a chain. */
static void depth_and_length_are_bounded(void **state) {
    (void)state;
    static char text[70 * 1024];
    static const struct {
        const char *open, *close;
        int fits;
    } rows[] = {{"(", ")", 254}, {"-", "", 254}, {"[", "]", 254}, {"a+", "", 254}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int many = 0; many < 3; many++) {
            int count = many == 0 ? rows[r].fits : many == 1 ? 256 : 9000;
            text[0] = '\0';
            char *at = text;
            for (int i = 0; i < count; i++) at = stpcpy(at, rows[r].open);
            at = stpcpy(at, "a");
            for (int i = 0; i < count; i++) at = stpcpy(at, rows[r].close);
            cupel_arena *arena = cupel_arena_create(0);
            cupel_expr *expr;
            cupel_error err;
            cupel_code code = cupel_expr_parse(cupel_span_of(text, "t", 1, 1), arena, &expr, &err);
            assert_int_equal(code, many == 0 ? CUPEL_OK : CUPEL_SYNTAX);
            cupel_arena_free(arena);
        }
    }
    memset(text, ' ', sizeof text - 1);
    text[0] = 'a';
    cupel_arena *arena = cupel_arena_create(0);
    cupel_expr *expr;
    cupel_error err;
    text[64 * 1024] = '\0';
    assert_int_equal(cupel_expr_parse(cupel_span_of(text, "t", 1, 1), arena, &expr, &err), CUPEL_OK);
    text[64 * 1024] = ' ';
    text[64 * 1024 + 1] = '\0';
    assert_int_equal(cupel_expr_parse(cupel_span_of(text, "t", 1, 1), arena, &expr, &err), CUPEL_SYNTAX);
    cupel_arena_free(arena);
}

static cupel_code collect(void *self, const cupel_expr *name, cupel_error *err) {
    (void)err;
    strcat(strcat(self, name->name), " ");
    return CUPEL_OK;
}

static void names_are_visited(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_expr *expr;
    cupel_error err;
    char names[128] = "";
    const char *text = "where(m, cast(x[:, N:], f16) + sum(sum, axis=k), keep) * cast(y, type=T)";
    assert_int_equal(cupel_expr_parse(cupel_span_of(text, "t", 1, 1), arena, &expr, &err), CUPEL_OK);
    assert_int_equal(cupel_expr_names(expr, collect, names, &err), CUPEL_OK);
    assert_string_equal(names, "m x N sum k y ");
    cupel_arena_free(arena);
}

static void numbers_keep_value_and_digits(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_expr *e;
    cupel_error err;
    assert_int_equal(cupel_expr_parse(cupel_span_of("0.1", "t", 1, 1), arena, &e, &err), CUPEL_OK);
    assert_true(e->real && e->number == 0.1);
    assert_string_equal(e->digits, "0.1");
    assert_int_equal(cupel_expr_parse(cupel_span_of("9223372036854775807", "t", 1, 1), arena, &e, &err),
                     CUPEL_OK);
    assert_true(!e->real && e->integer == INT64_MAX);
    assert_int_equal(cupel_expr_parse(cupel_span_of("True", "t", 1, 1), arena, &e, &err), CUPEL_OK);
    assert_true(!e->real && e->integer == 1);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_follow_pythons_precedence),
        cmocka_unit_test(errors_name_their_place),
        cmocka_unit_test(places_start_where_the_text_starts),
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(names_are_visited),
        cmocka_unit_test(numbers_keep_value_and_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
