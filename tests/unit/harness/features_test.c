/* What counts as new in a search. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "worker_features.h"

static uint8_t bits[CUPEL_FEATURE_BITS / 8], edges[CUPEL_FEATURE_EDGES], closeness[CUPEL_CLOSENESS_ROWS];
static cupel_features features = {bits, edges, closeness};

static void clear(void) {
    memset(bits, 0, sizeof bits);
    memset(edges, 0, sizeof edges);
    memset(closeness, 0, sizeof closeness);
}

static void cells_are_new_once(void **state) {
    (void)state;
    static cupel_contract contract;
    static cupel_recipe recipe;
    static cupel_case c;
    cupel_feedback feedback = {0};
    clear();
    contract.tensor_count = c.tensor_count = 2;
    contract.tensors[0].roles = CUPEL_ROLE_INPUT;
    contract.tensors[1].roles = CUPEL_ROLE_OUTPUT;
    c.contract = &contract;
    c.recipe = &recipe;
    c.tensors[0] = (cupel_case_tensor){.type = CUPEL_F32, .rank = 1, .shape = {100}};
    assert_true(cupel_features_of_case(&features, &c, &feedback));
    assert_false(cupel_features_of_case(&features, &c, &feedback));
    recipe.tensors[0].pattern = CUPEL_PATTERN_TIES;
    assert_true(cupel_features_of_case(&features, &c, &feedback));
    recipe.tensors[0].special = CUPEL_SPECIAL_NAN;
    assert_true(cupel_features_of_case(&features, &c, &feedback));
    c.tensors[0].type = CUPEL_F16;
    assert_true(cupel_features_of_case(&features, &c, &feedback));
    c.tensors[0].shape[0] = 104; /* another multiple of four: the same class */
    assert_false(cupel_features_of_case(&features, &c, &feedback));
    c.tensors[0].shape[0] = 101;
    assert_true(cupel_features_of_case(&features, &c, &feedback));
    recipe.tensors[1].pattern = CUPEL_PATTERN_BITS; /* outputs have no pattern */
    assert_false(cupel_features_of_case(&features, &c, &feedback));
}

static void edges_are_new_once(void **state) {
    (void)state;
    clear();
    uint8_t coverage[10] = {0, 3, 0, 1};
    assert_int_equal(cupel_features_of_coverage(&features, coverage, 10), CUPEL_NEWS_EDGE);
    assert_int_equal(cupel_features_of_coverage(&features, coverage, 10), 0);
    coverage[9] = 1; /* the last one counts too */
    assert_true(cupel_features_of_coverage(&features, coverage, 10));
    assert_false(cupel_features_of_coverage(&features, NULL, 0));
    assert_int_equal(cupel_features_edges(&features), 3);
    coverage[1] = 2; /* taken less often: another class */
    assert_int_equal(cupel_features_of_coverage(&features, coverage, 10), CUPEL_NEWS_COUNT);
    coverage[3] = 1;
    assert_false(cupel_features_of_coverage(&features, coverage, 10));
    assert_int_equal(cupel_features_edges(&features), 3);
    assert_int_equal(cupel_features_count(&features), 4);
}

static void counts_have_eight_classes(void **state) {
    (void)state;
    static const int first[] = {1, 2, 3, 4, 8, 16, 32, 128, 256};
    for (int class = 0; class < CUPEL_COUNT_CLASSES; class ++) {
        assert_int_equal(cupel_count_class((uint8_t)first[class]), class);
        assert_int_equal(cupel_count_class((uint8_t)(first[class + 1] - 1)), class);
    }
}

static void steps_are_half_octaves(void **state) {
    (void)state;
    assert_int_equal(cupel_closeness_steps(1), CUPEL_CLOSENESS_STEPS);
    assert_int_equal(cupel_closeness_steps(3), CUPEL_CLOSENESS_STEPS);
    assert_int_equal(cupel_closeness_steps(0.99), CUPEL_CLOSENESS_STEPS - 1);
    assert_int_equal(cupel_closeness_steps(0.72), CUPEL_CLOSENESS_STEPS - 1);
    assert_int_equal(cupel_closeness_steps(0.70), CUPEL_CLOSENESS_STEPS - 2);
    assert_int_equal(cupel_closeness_steps(0.5), CUPEL_CLOSENESS_STEPS - 2);
    assert_int_equal(cupel_closeness_steps(0x1p-20), 0);
    assert_int_equal(cupel_closeness_steps(0x1.7p-20), 1);
    assert_int_equal(cupel_closeness_steps(0x1p-19), 2);
    assert_int_equal(cupel_closeness_steps(0x1p-21), 0);
    /* what says nothing is no step */
    assert_int_equal(cupel_closeness_steps(0), 0);
    assert_int_equal(cupel_closeness_steps(-1), 0);
    assert_int_equal(cupel_closeness_steps(NAN), 0);
    assert_int_equal(cupel_closeness_steps(INFINITY), 0);
    for (double ratio = 1; ratio > 1e-9; ratio *= 0.9)
        assert_true(cupel_closeness_steps(ratio * 0.9) <= cupel_closeness_steps(ratio));
}

/* Coming closer is news, an output and a gate at a time; falling back is none. */
static void closeness_climbs(void **state) {
    (void)state;
    clear();
    cupel_feedback feedback = {0};
    cupel_judged judged = {.closeness_count = 2,
                           .closeness = {{CUPEL_GATE_CMP_01, 0.1}, {CUPEL_GATE_CMP_01, 0}}};
    assert_true(cupel_features_of_closeness(&features, &judged, &feedback));
    assert_int_equal(feedback.climb_count, 2);
    assert_int_equal(feedback.climbs[0].steps, cupel_closeness_steps(0.1));
    assert_int_equal(feedback.climbs[1].steps, 0);
    assert_int_not_equal(feedback.climbs[0].row, feedback.climbs[1].row);
    assert_false(cupel_features_of_closeness(&features, &judged, &feedback));
    judged.closeness[0].ratio = 0.05;
    assert_false(cupel_features_of_closeness(&features, &judged, &feedback));
    judged.closeness[0].ratio = 0.2;
    assert_true(cupel_features_of_closeness(&features, &judged, &feedback));
    judged.closeness[0].gate = CUPEL_GATE_EXC_01; /* another gate has climbed nothing yet */
    assert_true(cupel_features_of_closeness(&features, &judged, &feedback));
    judged.closeness[1].ratio = INFINITY; /* unknown */
    assert_false(cupel_features_of_closeness(&features, &judged, &feedback));
    assert_int_equal(cupel_features_count(&features), 2 * cupel_closeness_steps(0.2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_new_once), cmocka_unit_test(edges_are_new_once),
        cmocka_unit_test(counts_have_eight_classes), cmocka_unit_test(steps_are_half_octaves),
        cmocka_unit_test(closeness_climbs)};
    return cmocka_run_group_tests_name("features", tests, NULL, NULL);
}
