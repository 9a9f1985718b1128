#include "source_testing.h"

#include "lexer.h"
#include "philox.h"

static cupel_tokens lex(cupel_arena *arena, const char *text) {
    cupel_tokens tokens;
    cupel_error err;
    assert_int_equal(cupel_lexer_run(text, strlen(text), "f.cu", arena, &tokens, &err), CUPEL_OK);
    return tokens;
}

static void expect(const char *text, size_t count, const char *const *spellings,
                   const cupel_token_kind *kinds) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_tokens tokens = lex(arena, text);
    assert_int_equal(tokens.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(cupel_lexer_text(&tokens, i, arena), spellings[i]);
        if (kinds) assert_int_equal(tokens.at[i].kind, kinds[i]);
    }
    cupel_arena_free(arena);
}

#define EXPECT(text, ...)                                                                                    \
    expect(text, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                                \
           (const char *const[]){__VA_ARGS__}, NULL)

static void marks_and_words(void **state) {
    (void)state;
    EXPECT("a::b->c <<<1, 2>>>(x)", "a", "::", "b", "->", "c", "<", "<", "<", "1", ",", "2", ">", ">", ">",
           "(", "x", ")");
    EXPECT("x<=y==z!=w&&v||u>=t...", "x", "<=", "y", "==", "z", "!=", "w", "&&", "v", "||", "u", ">=", "t",
           "...");
    EXPECT("1'000u 0x1p-3f .5e+7 3.f 1e5+x", "1'000u", "0x1p-3f", ".5e+7", "3.f", "1e5", "+", "x");
}

static void comments_vanish(void **state) {
    (void)state;
    EXPECT("a/* { \" */b // } ' \\\n still a comment\nc/**/d", "a", "b", "c", "d");
    EXPECT("a /* never closed", "a");
}

static void literals(void **state) {
    (void)state;
    EXPECT("\"a\\\"}\" '\\'' '\"' L\"w\" u8\"x\" u'c'", "\"a\\\"}\"", "'\\''", "'\"'", "L\"w\"", "u8\"x\"",
           "u'c'");
    EXPECT("R\"(a)\"b LR\"(q)\"", "R\"(a)\"", "b", "LR\"(q)\"");
    EXPECT("R\"xy(\n)\" )x\" )xy\" z", "R\"xy(\n)\" )x\" )xy\"", "z");
    EXPECT("it's\nnext", "it", "'s", "next"); /* prose in an #if 0 block: the quote ends with its line */
}

static void directives_are_one_token(void **state) {
    (void)state;
    const cupel_token_kind kinds[] = {CUPEL_TOKEN_DIRECTIVE, CUPEL_TOKEN_WORD, CUPEL_TOKEN_MARK,
                                      CUPEL_TOKEN_WORD, CUPEL_TOKEN_DIRECTIVE};
    const char *const spellings[] = {"#define A(x) \\\n  { x /* \n */ }", "a", "#", "b", "# if 0 "};
    expect("#define A(x) \\\n  { x /* \n */ }\na # b\n  # if 0 // why", 5, spellings, kinds);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_tokens tokens = lex(arena, "#  include <x.h>\n#define\n");
    char name[16];
    cupel_lexer_directive(&tokens, 0, name, sizeof name);
    assert_string_equal(name, "include");
    cupel_lexer_directive(&tokens, 1, name, sizeof name);
    assert_string_equal(name, "define");
    cupel_arena_free(arena);
}

static void line_directives_move_the_count(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_tokens tokens = lex(arena, "a\n#line 40 \"other.cuh\"\nb\n\nc\n#line 3\nd\n");
    assert_int_equal(tokens.count, 6);
    assert_int_equal(tokens.at[0].line, 1);
    assert_string_equal(tokens.at[0].file, "f.cu");
    assert_int_equal(tokens.at[2].line, 40);
    assert_string_equal(tokens.at[2].file, "other.cuh");
    assert_int_equal(tokens.at[3].line, 42);
    assert_int_equal(tokens.at[5].line, 3);
    assert_string_equal(tokens.at[5].file, "other.cuh");
    cupel_arena_free(arena);
}

/* Any text is lexed to its end, tokens in order and apart, each on the line that its offset says. */
static void random_text(void **state) {
    (void)state;
    static const char *const pieces[] = {"a",    "\"",  "'",    "\\",         "\n", "/*", "*/",   "//",
                                         "R\"(", ")\"", "#",    "#define x ", "{",  "}",  "1'0",  "<",
                                         " ",    "\t",  "\\\n", "::",         "u8", ".5", "\r\n", "line 3"};
    cupel_random random = cupel_random_start(7, 1);
    for (int round = 0; round < 3000; round++) {
        cupel_arena *arena = cupel_arena_create(0);
        char text[512] = "";
        size_t pieces_used = cupel_random_below(&random, 40);
        for (size_t i = 0; i < pieces_used; i++)
            strcat(text, pieces[cupel_random_below(&random, sizeof pieces / sizeof *pieces)]);
        cupel_tokens tokens = lex(arena, text);
        size_t at = 0;
        bool moved = strstr(text, "line") != NULL;
        for (size_t i = 0; i < tokens.count; i++) {
            const cupel_token *t = &tokens.at[i];
            assert_true(t->offset >= at && t->length > 0 && t->offset + t->length <= strlen(text));
            int line = 1;
            for (size_t k = 0; k < t->offset; k++) line += text[k] == '\n';
            if (!moved) assert_int_equal(t->line, line);
            at = t->offset + t->length;
        }
        cupel_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_and_words),
        cmocka_unit_test(comments_vanish),
        cmocka_unit_test(literals),
        cmocka_unit_test(directives_are_one_token),
        cmocka_unit_test(line_directives_move_the_count),
        cmocka_unit_test(random_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
