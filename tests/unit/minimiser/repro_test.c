/* Reproduction files: how they hold values, defines and sources. That they show the failure is for
 * tests/e2e/repro.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "repro.h"

static const char contract_text[] =
    "cupel: 1\nid: shown\nabout: ends a comment */ early\n"
    "source: {file: repro_test_source.c, defines: {SCALE: 2}}\ndims: {N: 1..2000000}\n"
    "inputs: {x: 'f32[N]'}\noutputs: {y: 'f32[N]'}\nensures: {y: 'x'}\n"
    "kernel: {symbol: copy, args: [x, y, {N: i64}]}\n";
static const char source[] =
    "#include <math.h>\n#include \"repro_test_header.h\"\n#include \"repro_test_header.h\"\n"
    "void copy(const float *x, float *y, long long n) { (void)x, (void)y, (void)n; }\n";
static const char header[] = "#pragma once\ntypedef int once_only;\n";

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

typedef struct fixture {
    cupel_arena *arena;
    const cupel_contract *contract;
    cupel_recipe recipe;
    cupel_trial trial;
    cupel_finding finding;
    cupel_bundle bundle;
} fixture;

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    write_text("repro_test_source.c", source);
    write_text("repro_test_header.h", header);
    f.arena = cupel_arena_create(0);
    f.contract = fake_contract(f.arena, contract_text);
    assert_int_equal(cupel_recipe_simple(f.contract, &f.recipe, NULL), CUPEL_OK);
    f.finding = (cupel_finding){.kind = CUPEL_FINDING_WRONG_VALUE,
                                .output_name = "y",
                                .index = 0,
                                .run_a = {.index = -1},
                                .run_b = {.index = -1},
                                .text = "a text that ends a comment */ early, and begins one /* again"};
    f.bundle = (cupel_bundle){.contract = f.contract,
                              .contract_path = "fake.yaml",
                              .executor = "host",
                              .recipe = &f.recipe,
                              .trial = &f.trial,
                              .finding = &f.finding};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    cupel_arena_free(f->arena);
    unlink("repro_test_source.c");
    unlink("repro_test_header.h");
    return 0;
}

static const char *written(fixture *f, cupel_pattern pattern, int64_t n) {
    char *text;
    const char *name;
    cupel_error err = {0};
    f->recipe.dims[0] = n;
    f->recipe.tensors[0].pattern = pattern;
    f->recipe.tensors[0].amplitude = 1;
    assert_int_equal(cupel_case_materialise(f->contract, &f->recipe, f->arena, &f->trial.c, NULL), CUPEL_OK);
    if (cupel_repro_write(&f->bundle, f->arena, &text, &name, &err) != CUPEL_OK) fail_msg("%s", err.text);
    assert_string_equal(name, "repro.c");
    return text;
}

static void expect(const char *text, const char *part, bool there) {
    if ((strstr(text, part) != NULL) != there) fail_msg("'%s' is %s", part, there ? "missing" : "there");
}

static void values_are_short_where_they_can_be(void **state) {
    expect(written(*state, CUPEL_PATTERN_ZERO, 1000000), "{repro_bits_0, NULL, 1, NULL}", true);
    expect(written(*state, CUPEL_PATTERN_NORMAL, 100), "{repro_bits_0, NULL, 100, NULL}", true);
    expect(written(*state, CUPEL_PATTERN_NORMAL, 500000), "{NULL, NULL, 0, \"inputs/x.npy\"}", true);
}

static void runs_stand_for_long_stretches(void **state) {
    fixture *f = *state;
    cupel_tensor_recipe *x = &f->recipe.tensors[0];
    x->edit_count = 1;
    x->edits[0] = (cupel_edit){.index = 7, .bits = 0x40400000};
    const char *text = written(f, CUPEL_PATTERN_ZERO, 1000);
    expect(text, "0x00000000, 0x40400000, 0x00000000,", true);
    expect(text, "7, 1, 992,", true);
}

static void the_comment_does_not_end_early(void **state) {
    const char *text = written(*state, CUPEL_PATTERN_ZERO, 3), *end = strstr(text, "*/");
    expect(text, "a comment * / early, and begins one / * again", true);
    expect(text, "Compile and run", true);
    assert_true(end > strstr(text, "Compile and run"));
}

static void the_source_stands_in_it_once(void **state) {
    const char *text = written(*state, CUPEL_PATTERN_ZERO, 3);
    expect(text, "#define SCALE 2\n", true);
    expect(text, "#include \"", false);
    expect(text, "pragma once", false);
    const char *first = strstr(text, "typedef int once_only;");
    assert_non_null(first);
    assert_null(strstr(first + 1, "typedef int once_only;"));
    expect(text, "copy(REPRO_AT(repro_at(0)), REPRO_AT(repro_at(1)), 3LL);", true);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_are_short_where_they_can_be, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_stand_for_long_stretches, setup, teardown),
        cmocka_unit_test_setup_teardown(the_comment_does_not_end_early, setup, teardown),
        cmocka_unit_test_setup_teardown(the_source_stands_in_it_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
