/* Tuning constants: drawn, kept by both written forms, simplest where they are written first, and no part of
 * a shape. */
#include <string.h>

#include "recipe_fixtures.h"

static cupel_arena *arena;
static const cupel_contract *contract;

static int setup(void **state) {
    static const char text[] =
        "cupel: 1\nid: t\ndims: {M: 1..8, N: 1..500}\nvariants: {BLOCK: [128, 32, 96], ROWS: [2, 1]}\n"
        "requires: [\"BLOCK * ROWS <= 256\", \"BLOCK != 96 or ROWS == 1\"]\n"
        "inputs: {x: \"f32[M, N]\"}\noutputs: {y: \"f32[M]\"}\nensures: {y: \"sum(x, axis=-1)\"}\n"
        "source: {file: k.cu}\n"
        "kernel: {entry: \"k<$BLOCK>\", args: [x, y, N], grid: [M], block: [BLOCK, ROWS]}\n";
    cupel_contracts contracts;
    cupel_error err = {0};
    (void)state;
    arena = cupel_arena_create(0);
    if (cupel_contracts_parse("t.yaml", text, strlen(text), true, arena, &contracts, &err) != CUPEL_OK) {
        print_error("%d: %s\n", err.line, err.text);
        return -1;
    }
    contract = contracts.items[0];
    return 0;
}

static int teardown(void **state) {
    (void)state;
    cupel_arena_free(arena);
    return 0;
}

static void they_are_dims_behind_the_others(void **state) {
    (void)state;
    assert_int_equal(contract->dim_count, 4);
    assert_int_equal(contract->variant_count, 2);
    assert_true(contract->dims[2].variant && contract->dims[3].variant && !contract->dims[1].variant);
    assert_int_equal(contract->dims[2].first, 128);
    assert_int_equal(contract->dims[2].lo, 32); /* the list itself is kept in order */
    assert_int_equal(cupel_variant_rank(&contract->dims[2], 128), 0);
    assert_int_equal(cupel_variant_rank(&contract->dims[2], 32), 1);
    assert_int_equal(cupel_variant_rank(&contract->dims[2], 96), 2);
    int64_t dims[CUPEL_DIM_MAX] = {3, 400, 96, 1};
    cupel_variants_first(contract, dims);
    assert_memory_equal(dims, ((const int64_t[]){3, 400, 128, 2}), 4 * sizeof *dims);
}

static void the_first_is_the_simplest(void **state) {
    (void)state;
    cupel_recipe first = simple(contract), other = first;
    assert_int_equal(first.dims[2], 128);
    assert_int_equal(first.dims[3], 2);
    assert_int_equal(cupel_recipe_traits(contract, &first), 0);
    other.dims[2] = 32;
    assert_int_equal(cupel_recipe_traits(contract, &other), CUPEL_TRAIT_VARIANT);
    assert_true(cupel_recipe_compare(contract, &first, &other) < 0);
    cupel_recipe third = first;
    third.dims[2] = 96;
    assert_true(cupel_recipe_compare(contract, &other, &third) < 0);
    /* a smaller shape is simpler still */
    third.dims[1] = 3;
    assert_true(cupel_recipe_compare(contract, &third, &first) < 0);
    assert_int_equal(cupel_recipe_traits(contract, &third), CUPEL_TRAIT_VARIANT | CUPEL_TRAIT_SHAPE);
}

static void every_legal_combination_is_drawn(void **state) {
    (void)state;
    int seen[4][3] = {{0}};
    for (uint64_t n = 0; n < 400; n++) {
        cupel_recipe recipe = drawn(contract, n);
        seen[cupel_variant_rank(&contract->dims[2], recipe.dims[2])]
            [cupel_variant_rank(&contract->dims[3], recipe.dims[3])]++;
    }
    assert_true(seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1] && seen[2][1]);
    assert_int_equal(seen[2][0], 0); /* 96 with two rows is left out by requires */
}

static void both_forms_keep_them(void **state) {
    (void)state;
    for (uint64_t n = 0; n < 100; n++) {
        cupel_recipe recipe = drawn(contract, n), back;
        uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
        char *text;
        cupel_error err = {0};
        const size_t size = cupel_recipe_encode(contract, &recipe, bytes, sizeof bytes);
        assert_true(cupel_recipe_decode(contract, bytes, size, &back));
        assert_memory_equal(&recipe, &back, sizeof back);
        assert_int_equal(cupel_recipe_write(contract, &recipe, arena, &text, &err), CUPEL_OK);
        assert_non_null(strstr(text, "BLOCK: "));
        assert_int_equal(cupel_recipe_read(contract, "case.yaml", text, strlen(text), &back, &err), CUPEL_OK);
        assert_memory_equal(&recipe, &back, sizeof back);
    }
}

static void what_is_not_listed_is_mended(void **state) {
    (void)state;
    cupel_recipe recipe = simple(contract);
    recipe.dims[2] = 100; /* of 96 and 128 the nearer one, and with it one row */
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 1 << 20, NULL), CUPEL_OK);
    assert_true(recipe.dims[2] == 96 ? recipe.dims[3] == 1 : recipe.dims[2] == 128);
}

static void earlier_calls_have_the_same_variant(void **state) {
    (void)state;
    cupel_recipe recipe = simple(contract), earlier;
    recipe.dims[2] = 32;
    recipe.history = CUPEL_HISTORY_OTHER_SHAPE;
    recipe.calls = 3;
    for (int call = 0; call < 3; call++) {
        assert_int_equal(cupel_recipe_earlier(contract, &recipe, call, &earlier, NULL), CUPEL_OK);
        assert_int_equal(earlier.dims[2], 32);
        assert_int_equal(earlier.dims[3], 2);
        assert_int_not_equal(earlier.dims[1], recipe.dims[1]);
    }
}

static void people_see_them(void **state) {
    (void)state;
    char text[256];
    cupel_recipe recipe = simple(contract);
    cupel_recipe_describe(contract, &recipe, text, sizeof text);
    assert_non_null(strstr(text, "BLOCK=128 ROWS=2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_dims_behind_the_others),
                                       cmocka_unit_test(the_first_is_the_simplest),
                                       cmocka_unit_test(every_legal_combination_is_drawn),
                                       cmocka_unit_test(both_forms_keep_them),
                                       cmocka_unit_test(what_is_not_listed_is_mended),
                                       cmocka_unit_test(earlier_calls_have_the_same_variant),
                                       cmocka_unit_test(people_see_them)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
