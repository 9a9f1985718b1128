/* The same call, others in between, and the first again. */
#include <string.h>

#include "recipe_fixtures.h"

static cupel_recipe again(int calls) {
    cupel_recipe recipe = drawn(fixture(FIXTURE_SOFTMAX), 7);
    recipe.history = CUPEL_HISTORY_FIRST_AGAIN;
    recipe.calls = (uint8_t)calls;
    return recipe;
}

static cupel_recipe earlier(const cupel_recipe *recipe, int call) {
    cupel_recipe out;
    assert_int_equal(cupel_recipe_earlier(fixture(FIXTURE_SOFTMAX), recipe, call, &out, NULL), CUPEL_OK);
    return out;
}

static bool same_shape(const cupel_recipe *a, const cupel_recipe *b) {
    return memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

static void the_first_call_is_the_judged_one(void **state) {
    (void)state;
    const cupel_recipe recipe = again(4), first = earlier(&recipe, 0), second = earlier(&recipe, 1),
                       third = earlier(&recipe, 2), fourth = earlier(&recipe, 3);
    assert_true(same_shape(&first, &recipe));
    assert_memory_equal(first.tensors, recipe.tensors, sizeof recipe.tensors);
    assert_false(same_shape(&second, &recipe));
    assert_true(same_shape(&third, &recipe));
    assert_int_not_equal(memcmp(&third.tensors[0], &recipe.tensors[0], sizeof third.tensors[0]), 0);
    assert_int_not_equal(memcmp(&fourth.tensors[0], &third.tensors[0], sizeof third.tensors[0]), 0);
    const bool elsewhere[] = {false, false, false, true};
    for (int call = 0; call < 4; call++)
        assert_int_equal(cupel_recipe_elsewhere(&recipe, call), elsewhere[call]);
}

static void it_takes_two_calls_at_least(void **state) {
    (void)state;
    cupel_recipe recipe = again(1);
    char text[80];
    assert_int_equal(cupel_recipe_calls(&recipe), 2);
    cupel_history_write(&recipe, text, sizeof text);
    assert_string_equal(text, "first_again:2");
    cupel_recipe read = {0};
    assert_true(cupel_history_read("first_again", &read));
    assert_int_equal(read.calls, 2);
    assert_true(cupel_history_read("first_again:11", &read));
    assert_int_equal(read.calls, 11);
    cupel_history_describe(&read, text, sizeof text);
    assert_string_equal(text, "11 earlier calls, the first of them the same");
}

static void others_stay_as_they_were(void **state) {
    (void)state;
    cupel_recipe recipe = again(2);
    recipe.history = CUPEL_HISTORY_OTHER_BUFFERS;
    assert_true(cupel_recipe_elsewhere(&recipe, 0) && cupel_recipe_elsewhere(&recipe, 1));
    recipe.history = CUPEL_HISTORY_REPEAT;
    assert_false(cupel_recipe_elsewhere(&recipe, 1));
}

/* Whatever is kept for so many calls shows at some count; few calls are cheap and come often. */
static void every_kind_and_count_is_drawn(void **state) {
    (void)state;
    enum { DRAWS = 60000 };
    int64_t seen[CUPEL_HISTORY_COUNT][CUPEL_CALLS_MAX + 1] = {{0}}, calls = 0;
    cupel_random random = cupel_random_start(5, 0);
    for (int i = 0; i < DRAWS; i++) {
        cupel_recipe recipe = {0};
        cupel_draw_history(&random, &recipe);
        seen[recipe.history][cupel_recipe_calls(&recipe)]++;
        calls += cupel_recipe_calls(&recipe);
    }
    assert_int_equal(CUPEL_CALLS_MAX, 12);
    assert_int_equal(seen[CUPEL_HISTORY_NONE][0], 0);
    for (int h = CUPEL_HISTORY_REPEAT; h < CUPEL_HISTORY_COUNT; h++)
        for (int n = h == CUPEL_HISTORY_FIRST_AGAIN ? 2 : 1; n <= CUPEL_CALLS_MAX; n++) {
            assert_true(seen[h][n] > 0);
            assert_true(n < 3 || seen[h][n] < seen[h][2]);
        }
    assert_true(calls < 3 * DRAWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_call_is_the_judged_one), cmocka_unit_test(it_takes_two_calls_at_least),
        cmocka_unit_test(others_stay_as_they_were), cmocka_unit_test(every_kind_and_count_is_drawn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
