/* Permuted inputs: what is moved, what is not, and when there is nothing to move. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"

static const char text[] = "cupel: 1\n"
                           "source: {file: k.cu}\n"
                           "id: weighted\n"
                           "dims: {M: 1..64, N: 1..64}\n"
                           "inputs: {x: 'f32[M, N]', w: 'f32[N]', s: {type: f32, shape: [N], sorted: true}}\n"
                           "outputs: {y: 'f32[M]', z: 'f32[1]'}\n"
                           "ensures: {y: 'sum(x * w, axis=-1)', z: 'reshape(sum(s), [1])'}\n"
                           "kernel: {entry: k, args: [x, w, s, y, z, M, N], grid: [M], block: [32]}\n";

enum { M = 3, N = 7, X = 0, W = 1, S = 2 };

static cupel_recipe weighted(const cupel_contract *contract, uint32_t permutation) {
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "M", M);
    set_dim(contract, &recipe, "N", N);
    recipe.tensors[X].pattern = recipe.tensors[W].pattern = recipe.tensors[S].pattern = CUPEL_PATTERN_NORMAL;
    recipe.tensors[W].seed = 9;
    recipe.permutation = permutation;
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_int_equal(recipe.permutation, permutation);
    return recipe;
}

static void expect_order(const float *before, const float *after, const int *order) {
    for (int i = 0; i < N; i++) assert_true(after[i] == before[order[i]]);
}

static void named_permutations(void **state) {
    (void)state;
    static const int orders[][N] = {{0, 1, 2, 3, 4, 5, 6},
                                    {6, 5, 4, 3, 2, 1, 0},
                                    {1, 2, 3, 4, 5, 6, 0},
                                    {3, 4, 5, 6, 0, 1, 2},
                                    {0, 2, 4, 6, 1, 3, 5}};
    cupel_arena *arena = cupel_arena_create(0), *other = cupel_arena_create(0);
    const cupel_contract *contract = parsed(text, other);
    cupel_recipe plain = weighted(contract, 0);
    cupel_case *before;
    assert_int_equal(cupel_case_materialise(contract, &plain, other, &before, NULL), CUPEL_OK);
    for (uint32_t p = 0; p < sizeof orders / sizeof *orders; p++) {
        cupel_recipe recipe = weighted(contract, p);
        const cupel_case *after = materialised(contract, &recipe, arena);
        const float *x = before->tensors[X].values, *moved = after->tensors[X].values;
        expect_order(before->tensors[W].values, after->tensors[W].values, orders[p]);
        for (int row = 0; row < M; row++) expect_order(x + row * N, moved + row * N, orders[p]);
        expect_order(before->tensors[S].values, after->tensors[S].values,
                     orders[0]); /* sorted stays sorted */
    }
    cupel_arena_free(arena);
    cupel_arena_free(other);
}

/* At random, but one permutation for every row and for the weights. */
static void random_permutations(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0), *other = cupel_arena_create(0);
    const cupel_contract *contract = parsed(text, other);
    cupel_recipe plain = weighted(contract, 0);
    cupel_case *before;
    assert_int_equal(cupel_case_materialise(contract, &plain, other, &before, NULL), CUPEL_OK);
    int unlike = 0;
    for (uint32_t p = 5; p < 25; p++) {
        cupel_recipe recipe = weighted(contract, p);
        const cupel_case *after = materialised(contract, &recipe, arena);
        const float *w = before->tensors[W].values, *moved = after->tensors[W].values;
        int order[N], seen = 0;
        for (int i = 0; i < N; i++)
            for (order[i] = 0; w[order[i]] != moved[i]; order[i]++) assert_true(order[i] < N - 1);
        for (int i = 0; i < N; i++) seen |= 1 << order[i], unlike += order[i] != i;
        assert_int_equal(seen, (1 << N) - 1);
        for (int row = 0; row < M; row++)
            expect_order((const float *)before->tensors[X].values + row * N,
                         (const float *)after->tensors[X].values + row * N, order);
    }
    assert_true(unlike > 80); /* of 140 */
    cupel_arena_free(arena);
    cupel_arena_free(other);
}

static void nothing_to_permute(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_recipe recipe = simple(contract);
    recipe.permutation = 3;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_case *c;
    cupel_error err = {0};
    assert_int_equal(cupel_case_materialise(contract, &recipe, arena, &c, &err), CUPEL_RANGE);
    assert_non_null(strstr(err.text, "reduces no axis wholly"));
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
    assert_int_equal(recipe.permutation, 0);
    cupel_arena_free(arena);
}

/* Every eighth draw is the one before, permuted; where nothing can be, a draw like any other. */
static void draws_come_in_pairs(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract = parsed(text, arena);
    for (uint64_t n = 0; n < 64; n++) {
        cupel_recipe recipe = drawn(contract, n), before = n > 0 ? drawn(contract, n - 1) : recipe;
        if (n % 8 != 7) {
            assert_int_equal(recipe.permutation, 0);
            continue;
        }
        const int64_t long_enough = before.dims[1];
        if (long_enough < 2) continue;
        assert_true(recipe.permutation > 0);
        assert_true(cupel_recipe_traits(contract, &recipe) & CUPEL_TRAIT_PERMUTED);
        recipe.permutation = 0;
        assert_true(cupel_recipe_equal(contract, &recipe, &before));
    }
    const cupel_contract *softmax = fixture(FIXTURE_SOFTMAX);
    for (uint64_t n = 7; n < 64; n += 8) {
        cupel_recipe recipe = drawn(softmax, n), before = drawn(softmax, n - 1);
        assert_int_equal(recipe.permutation, 0);
        assert_false(cupel_recipe_equal(softmax, &recipe, &before));
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_permutations), cmocka_unit_test(random_permutations),
        cmocka_unit_test(nothing_to_permute), cmocka_unit_test(draws_come_in_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
