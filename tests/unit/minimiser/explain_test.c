/* The walk through a postcondition: every line has the value that arithmetic gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain_facts.h"
#include "explain_walk.h"
#include "fake_kernel.h"
#include "likely_cause.h"

typedef struct fixture {
    cupel_arena *arena;
    cupel_recipe recipe;
    cupel_trial trial;
} fixture;

/* One output y over inputs x and w of M by N, x being the element's own index. */
static fixture fixture_open(const char *ensures, const char *shape, int64_t m, int64_t n) {
    fixture f = {.arena = cupel_arena_create(0)};
    char text[2048];
    snprintf(text, sizeof text,
             "cupel: 1\nid: walked\nsource: {file: fake.cu}\ndims: {M: 1..64, N: 1..64}\n"
             "inputs: {x: 'f32[M, N]', w: 'f32[N, M]'}\noutputs: {y: 'f32[%s]'}\nensures: {y: '%s'}\n"
             "kernel: {entry: k, args: [x, w, y, M, N], grid: [1], block: [32]}\n",
             shape, ensures);
    const cupel_contract *contract = fake_contract(f.arena, text);
    assert_int_equal(cupel_recipe_simple(contract, &f.recipe, NULL), CUPEL_OK);
    f.recipe.dims[0] = m;
    f.recipe.dims[1] = n;
    f.recipe.tensors[0] = f.recipe.tensors[1] = (cupel_tensor_recipe){
        .pattern = CUPEL_PATTERN_INDEX, .layout = f.recipe.tensors[0].layout, .amplitude = 1};
    assert_int_equal(cupel_case_materialise(contract, &f.recipe, f.arena, &f.trial.c, NULL), CUPEL_OK);
    assert_int_equal(cupel_binding_graph(&f.trial.c->binding, f.arena, &f.trial.graph, NULL), CUPEL_OK);
    return f;
}

static char *walk(const fixture *f, int64_t index) {
    char *text = NULL;
    size_t length = 0;
    cupel_error err = {0};
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    cupel_code code = cupel_explain_walk(&f->trial, 0, index, out, &err);
    assert_int_equal(fclose(out), 0);
    if (code != CUPEL_OK) fail_msg("%s", err.text);
    return text;
}

/* Is there a line that begins with start and whose value is value? */
static void expect_line(const char *text, const char *start, const char *value) {
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at = strstr(line, start);
        size_t length = strcspn(line, "\n");
        if (!at || at > line + length) continue;
        at += strlen(start);
        at += strspn(at, " ");
        if (strncmp(at, value, strlen(value)) == 0 && strchr(" \n", at[strlen(value)])) return;
    }
    fail_msg("no line '%s' with the value %s in:\n%s", start, value, text);
}

static double input(const fixture *f, int tensor, int64_t index) {
    float value;
    memcpy(&value, (const char *)f->trial.c->tensors[tensor].values + index * (int64_t)sizeof value,
           sizeof value);
    return value;
}

static void number(double value, char *text, size_t size) {
    snprintf(text, size, "%.12g", value);
}

static void sum_shows_count_and_largest_term(void **state) {
    (void)state;
    fixture f = fixture_open("sum(x * 2, axis=-1) + 1", "M", 2, 5);
    double total = 0, largest = 0;
    char value[40];
    for (int64_t i = 5; i < 10; i++) total += 2 * input(&f, 0, i);
    for (int64_t i = 5; i < 10; i++) largest = input(&f, 0, i) > largest ? input(&f, 0, i) : largest;
    char *text = walk(&f, 1);
    number(total, value, sizeof value);
    assert_non_null(strstr(text, "sum of 5 terms, one is"));
    expect_line(text, "sum of 5 terms, one is [2]", value);
    number(total + 1, value, sizeof value);
    expect_line(text, "[3] + 1", value);
    number(2 * largest, value, sizeof value);
    expect_line(text, "[1] * 2", value);
    free(text);
    cupel_arena_free(f.arena);
}

static void elements_are_followed_through_views_and_products(void **state) {
    (void)state;
    fixture f = fixture_open("matmul(x, w)", "M, M", 3, 4);
    double total = 0;
    char value[40];
    for (int64_t k = 0; k < 4; k++) total += input(&f, 0, 2 * 4 + k) * input(&f, 1, k * 3 + 1);
    char *text = walk(&f, 2 * 3 + 1);
    number(total, value, sizeof value);
    expect_line(text, "matmul: sum of 4 products, one is [1] * [2]", value);
    free(text);
    cupel_arena_free(f.arena);

    f = fixture_open("transpose(x)", "N, M", 3, 4);
    text = walk(&f, 1 * 3 + 2); /* y[1, 2] is x[2, 1] */
    number(input(&f, 0, 2 * 4 + 1), value, sizeof value);
    expect_line(text, "x[2, 1]", value);
    free(text);
    cupel_arena_free(f.arena);
}

static void a_choice_shows_the_branch_that_counts(void **state) {
    (void)state;
    fixture f = fixture_open("where(x < 0, exp(x), x + 1)", "M, N", 1, 3);
    char *text = walk(&f, 2);
    assert_non_null(strstr(text, " < 0"));
    assert_non_null(strstr(text, " + 1"));
    assert_null(strstr(text, "exp"));
    free(text);
    cupel_arena_free(f.arena);
}

/* Long ways stay within what a reader can take in. */
static void long_walks_end(void **state) {
    (void)state;
    char ensures[1200] = "x";
    for (int i = 0; i < 120; i++) strcat(ensures, " + 1");
    fixture f = fixture_open(ensures, "M, N", 1, 1);
    char *text = walk(&f, 0);
    int lines = 0;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    assert_in_range(lines, 1, 90);
    assert_non_null(strstr(text, ".. stands for"));
    free(text);
    cupel_arena_free(f.arena);
}

static void memory_facts_name_accesses_and_guards(void **state) {
    (void)state;
    fixture f = fixture_open("x", "M, N", 1, 3);
    cupel_observation seen = {.buffer_count = f.trial.c->buffer_count, .access_count = 1};
    char *text = NULL;
    size_t length = 0;
    seen.accesses[0] = (cupel_access){.kind = CUPEL_ACCESS_OUT_OF_BOUNDS_READ,
                                      .place = {.file = "k.cu", .line = 7, .function = "k"},
                                      .offset = 12,
                                      .size = 4,
                                      .count = 3};
    seen.buffers[2].guard_after_damaged = true;
    seen.buffers[2].damage_offset = 13;
    f.trial.run_count = 1;
    f.trial.runs[0].observation = &seen;
    FILE *out = open_memstream(&text, &length);
    cupel_explain_memory(&f.trial, true, out);
    fclose(out);
    assert_non_null(strstr(text, "at byte 12 of x (12 bytes), 3 times; first: k.cu:7"));
    assert_non_null(strstr(text, "the guard behind y was written to, at byte 13"));
    assert_null(strstr(text, "every access"));
    free(text);
    seen.access_count = 0;
    seen.buffers[2].guard_after_damaged = false;
    out = open_memstream(&text, &length);
    cupel_explain_memory(&f.trial, true, out);
    fclose(out);
    assert_non_null(strstr(text, "every access lay inside its buffer"));
    free(text);
    cupel_arena_free(f.arena);
}

/* What larger cases told survives in a bundle. */
static void causes_are_written_and_read(void **state) {
    (void)state;
    static const struct {
        cupel_cause cause;
        const char *kept, *said;
    } cases[] = {
        {{.fault = CUPEL_SHADOW_NO_FAULT}, "no-fault", ""},
        {{.fault = CUPEL_SHADOW_NO_FAULT, .race = true},
         "race",
         "a race between accesses that nothing orders"},
        {{.fault = CUPEL_SHADOW_F16_ACCUMULATOR, .everywhere = true},
         "f16-accumulator bits everywhere",
         "the same bits as with an fp16 accumulator"},
        {{.fault = CUPEL_SHADOW_TF32_PRODUCTS,
          .others = 1u << CUPEL_SHADOW_F16_PRODUCTS | 1u << CUPEL_SHADOW_BF16_CUT},
         "tf32-products bits bf16-cut f16-products",
         "the same bits as with operands of products rounded to tf32, wherever the result is wrong; as "
         "likely: operands of products cut to bf16, operands of products rounded to fp16"},
        {{.fault = CUPEL_SHADOW_BF16_ACCUMULATOR, .everywhere = true, .basis = CUPEL_CAUSE_GRID},
         "bf16-accumulator grid everywhere",
         "a bf16 accumulator, in an order of its own: on a larger case every result is a number of that "
         "type, and within its error"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cupel_finding finding = {.cause = cases[i].cause};
        cupel_cause again;
        char text[CUPEL_LIKELY_CAUSE_TEXT];
        cupel_likely_cause_write(&finding.cause, text, sizeof text);
        assert_string_equal(text, cases[i].kept);
        assert_true(cupel_likely_cause_read(text, &again));
        assert_int_equal(again.fault, finding.cause.fault);
        assert_int_equal(again.race, finding.cause.race);
        assert_int_equal(again.everywhere, finding.cause.everywhere);
        assert_int_equal(again.basis, finding.cause.basis);
        assert_int_equal(again.others, finding.cause.others);
        cupel_likely_cause_describe(&finding, text, sizeof text);
        assert_string_equal(text, cases[i].said);
    }
    static const char *const wrong[] = {"", "no-such-fault", "f16-accumulator by-guess", "bits"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cupel_cause out;
        assert_false(cupel_likely_cause_read(wrong[i], &out));
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_shows_count_and_largest_term),
        cmocka_unit_test(elements_are_followed_through_views_and_products),
        cmocka_unit_test(a_choice_shows_the_branch_that_counts),
        cmocka_unit_test(long_walks_end),
        cmocka_unit_test(memory_facts_name_accesses_and_guards),
        cmocka_unit_test(causes_are_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
