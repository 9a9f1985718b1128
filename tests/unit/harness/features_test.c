/* What counts as new in a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "worker_features.h"

static uint8_t bits[CUPEL_FEATURE_BITS / 8], edges[CUPEL_FEATURE_EDGES];

static void cells_are_new_once(void **state) {
    (void)state;
    static cupel_contract contract;
    static cupel_recipe recipe;
    static cupel_case c;
    memset(bits, 0, sizeof bits);
    cupel_features features = {bits, edges};
    contract.tensor_count = c.tensor_count = 2;
    contract.tensors[0].roles = CUPEL_ROLE_INPUT;
    contract.tensors[1].roles = CUPEL_ROLE_OUTPUT;
    c.contract = &contract;
    c.recipe = &recipe;
    c.tensors[0] = (cupel_case_tensor){.type = CUPEL_F32, .rank = 1, .shape = {100}};
    assert_true(cupel_features_of_case(&features, &c));
    assert_false(cupel_features_of_case(&features, &c));
    recipe.tensors[0].pattern = CUPEL_PATTERN_TIES;
    assert_true(cupel_features_of_case(&features, &c));
    recipe.tensors[0].special = CUPEL_SPECIAL_NAN;
    assert_true(cupel_features_of_case(&features, &c));
    c.tensors[0].type = CUPEL_F16;
    assert_true(cupel_features_of_case(&features, &c));
    c.tensors[0].shape[0] = 104; /* another multiple of four: the same class */
    assert_false(cupel_features_of_case(&features, &c));
    c.tensors[0].shape[0] = 101;
    assert_true(cupel_features_of_case(&features, &c));
    recipe.tensors[1].pattern = CUPEL_PATTERN_BITS; /* outputs have no pattern */
    assert_false(cupel_features_of_case(&features, &c));
}

static void edges_are_new_once(void **state) {
    (void)state;
    memset(edges, 0, sizeof edges);
    cupel_features features = {bits, edges};
    uint8_t coverage[10] = {0, 3, 0, 1};
    assert_true(cupel_features_of_coverage(&features, coverage, 10));
    assert_false(cupel_features_of_coverage(&features, coverage, 10));
    coverage[9] = 1; /* the last one counts too */
    assert_true(cupel_features_of_coverage(&features, coverage, 10));
    assert_false(cupel_features_of_coverage(&features, NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_are_new_once),
                                       cmocka_unit_test(edges_are_new_once)};
    return cmocka_run_group_tests_name("features", tests, NULL, NULL);
}
