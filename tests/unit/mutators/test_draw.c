/* What draws reach, how often, and that they repeat. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"
#include "schedule.h"

enum { DRAWS = 6000 };

typedef struct tally {
    int patterns[CUPEL_PATTERN_COUNT], specials[CUPEL_SPECIAL_COUNT], places[CUPEL_PLACE_COUNT], types[4];
    int every_input_special, some_special, edits, aliased, histories[CUPEL_HISTORY_COUNT],
        ways[CUPEL_SCHEDULE_WAY_COUNT], limited;
    int padded, transposed, stepped, offset, expanded, reversed, contiguous;
} tally;

static void count_tensor(tally *t, const cupel_tensor_recipe *tensor, int rank) {
    const cupel_layout *layout = &tensor->layout;
    bool ordered = true, gap = false;
    for (int axis = 0; axis < rank; axis++)
        ordered &= layout->order[axis] == axis, gap |= layout->gap[axis] != 0;
    t->padded += gap, t->transposed += !ordered, t->stepped += layout->step > 1,
        t->offset += layout->offset > 0;
    t->expanded += layout->expanded != 0, t->reversed += layout->reversed != 0;
    t->contiguous += cupel_layout_is_contiguous(layout, rank);
    t->patterns[tensor->pattern]++, t->specials[tensor->special]++;
    if (tensor->special != CUPEL_SPECIAL_NONE) t->places[tensor->placement]++;
    t->edits += tensor->edit_count > 0;
}

static void floor_of(const char *what, int count, int least) {
    if (count < least) fail_msg("%s: %d of %d draws, expected at least %d", what, count, DRAWS, least);
}

static void test_draws_reach_everything(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    tally t = {0};
    for (uint64_t n = 0; n < DRAWS; n++) {
        cupel_recipe recipe = drawn(contract, n);
        for (int i = 0; i < 2; i++) count_tensor(&t, &recipe.tensors[i], 3);
        t.types[recipe.types[0]]++;
        bool x = recipe.tensors[0].special != CUPEL_SPECIAL_NONE,
             y = recipe.tensors[1].special != CUPEL_SPECIAL_NONE;
        t.every_input_special += x && y, t.some_special += x || y;
        t.aliased += recipe.aliases != 0, t.histories[recipe.history]++;
        cupel_schedule schedule = cupel_schedule_unpack(recipe.schedule);
        t.ways[schedule.way]++, t.limited += schedule.limit != 0;
    }
    for (int i = 0; i < CUPEL_PATTERN_COUNT; i++)
        floor_of(cupel_pattern_name((cupel_pattern)i), t.patterns[i], DRAWS / 60);
    for (int i = 0; i < CUPEL_SPECIAL_COUNT; i++)
        floor_of(cupel_special_name((cupel_special)i), t.specials[i], DRAWS / 100);
    for (int i = 0; i < CUPEL_PLACE_COUNT; i++)
        floor_of(cupel_placement_name((cupel_placement)i), t.places[i], DRAWS / 60);
    for (int i = 0; i < 4; i++) floor_of("a type", t.types[i], DRAWS / 12);
    floor_of("special values in every input", t.every_input_special, DRAWS / 40);
    floor_of("special values", t.some_special, DRAWS / 8);
    floor_of("no special values", DRAWS - t.some_special, DRAWS / 2);
    floor_of("edits", t.edits, DRAWS / 20);
    floor_of("aliases", t.aliased, DRAWS / 8);
    for (int i = 0; i < CUPEL_SCHEDULE_WAY_COUNT; i++)
        floor_of(cupel_schedule_meaning((cupel_schedule_way)i), t.ways[i], DRAWS / 12);
    floor_of("few switches", t.limited, DRAWS / 20);
    for (int i = 1; i < CUPEL_HISTORY_COUNT; i++)
        floor_of(cupel_history_name((cupel_history)i), t.histories[i], DRAWS / 40);
    floor_of("no earlier call", t.histories[CUPEL_HISTORY_NONE], DRAWS / 2);
    floor_of("padded", t.padded, DRAWS / 10);
    floor_of("transposed", t.transposed, DRAWS / 10);
    floor_of("stepped", t.stepped, DRAWS / 10);
    floor_of("offset", t.offset, DRAWS / 10);
    floor_of("expanded", t.expanded, DRAWS / 20);
    floor_of("reversed", t.reversed, DRAWS / 20);
    floor_of("contiguous", t.contiguous, DRAWS / 2);
}

static void test_draws_reach_boundary_shapes(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX); /* block 200: only mining finds it */
    int d = cupel_contract_dim(contract, "N"), ordinary = 0, large = 0, small = 0;
    static int seen[8193];
    memset(seen, 0, sizeof seen);
    double total = 0;
    cupel_arena *arena = cupel_arena_create(0);
    for (uint64_t n = 0; n < DRAWS; n++) {
        cupel_recipe recipe = drawn(contract, n);
        seen[recipe.dims[d]]++;
        cupel_binding binding;
        assert_int_equal(cupel_recipe_binding(contract, &recipe, &binding, NULL), CUPEL_OK);
        int64_t elements = cupel_dimensions_total(&binding);
        total += (double)elements, large += elements > 30000, small += elements < 4096;
        ordinary += cupel_binding_is_ordinary_shape(&binding);
    }
    static const int64_t wanted[] = {1,    2,    3,    5,    7,    31,   32,   33,   97,   768,  769,
                                     1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192};
    static const int64_t mined[] = {199, 200, 201, 399, 400, 401};
    for (size_t i = 0; i < sizeof mined / sizeof *mined; i++) floor_of("beside the block", seen[mined[i]], 8);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (seen[wanted[i]] < 3) fail_msg("N = %d was drawn %d times", (int)wanted[i], seen[wanted[i]]);
    int values = 0, rare = 0;
    for (int i = 1; i <= 8192; i++) values += seen[i] > 0, rare += i > 200 && i % 97 == 7 ? seen[i] : 0;
    floor_of("different N", values, 500);
    floor_of("N % 97 == 7 and N > 200", rare, DRAWS / 600);
    floor_of("large cases", large, DRAWS / 100);
    floor_of("small cases", small, DRAWS / 2);
    /* 65,536 elements: it comes, and costs no more than the rest together */
    floor_of("the ordinary shape", ordinary, DRAWS / 150);
    assert_true(total / DRAWS < 4000);
    cupel_arena_free(arena);
}

/* A limit above the default asks for large cases. */
static void test_large_limits_spread_the_sizes(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_limits limits = {.max_elements = 80000};
    double total = 0;
    int quarters[4] = {0};
    for (uint64_t n = 0; n < 2000; n++) {
        cupel_recipe recipe;
        cupel_binding binding;
        assert_int_equal(cupel_recipe_draw(contract, &limits, 1, n, &recipe, NULL), CUPEL_OK);
        assert_int_equal(cupel_recipe_binding(contract, &recipe, &binding, NULL), CUPEL_OK);
        int64_t elements = cupel_dimensions_total(&binding);
        if (elements > limits.max_elements) continue; /* the ordinary shape */
        total += (double)elements;
        quarters[elements * 4 / (limits.max_elements + 1)]++;
    }
    assert_true(total / 2000 > 14000 && total / 2000 < 26000);
    for (int i = 0; i < 4; i++) floor_of("a quarter of the sizes", quarters[i], 30);
}

static void test_zero_and_ordinary_shapes_come(void **state) {
    (void)state;
    const cupel_contract *strided = fixture(FIXTURE_STRIDED), *init = fixture(FIXTURE_INIT);
    int empty = 0, ordinary = 0;
    for (uint64_t n = 0; n < 2000; n++) {
        cupel_recipe recipe = drawn(strided, n);
        empty += recipe.dims[0] == 0;
        recipe = drawn(init, n);
        ordinary += !(cupel_recipe_traits(init, &recipe) & CUPEL_TRAIT_SHAPE);
    }
    floor_of("empty tensors", empty, 20);
    floor_of("the ordinary shape", ordinary, 100);
}

static void test_draws_repeat_and_are_independent(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_recipe forward[50], again;
    for (uint64_t n = 0; n < 50; n++) forward[n] = drawn(contract, n);
    int same = 0;
    for (uint64_t n = 50; n-- > 0;) {
        again = drawn(contract, n);
        assert_memory_equal(&again, &forward[n], sizeof again);
        assert_int_equal(cupel_recipe_draw(contract, NULL, 2025, n, &again, NULL), CUPEL_OK);
        same += memcmp(&again, &forward[n], sizeof again) == 0;
        for (uint64_t m = 0; m < n; m++) same += memcmp(&forward[m], &forward[n], sizeof again) == 0;
    }
    assert_int_equal(same, 0);
}

static void test_mutation_repeats(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    for (uint64_t n = 0; n < 50; n++) {
        cupel_random a = cupel_random_start(n, 0), b = cupel_random_start(n, 0);
        cupel_recipe x = drawn(contract, n), y = x;
        const char *name_x, *name_y;
        assert_int_equal(cupel_recipe_mutate(contract, NULL, &a, &x, &name_x, NULL), CUPEL_OK);
        assert_int_equal(cupel_recipe_mutate(contract, NULL, &b, &y, &name_y, NULL), CUPEL_OK);
        assert_memory_equal(&x, &y, sizeof x);
        assert_string_equal(name_x, name_y);
    }
}

/* Each mutator is chosen, where the contract has something for it. */
static void test_every_mutator_is_used(void **state) {
    (void)state;
    static const char *const expected[] = {
        "dim redraw",      "dim nudge",      "dim scale",      "dim copy",     "shape redraw",
        "type change",     "pattern change", "pattern reseed", "scale change", "amplitude step",
        "centre step",     "tensor copy",    "special change", "special move", "special remove",
        "edit add",        "edit value",     "edit move",      "edit remove",  "layout redraw",
        "layout offset",   "layout gap",     "layout flip",    "layout reset", "alias toggle",
        "schedule change", "history change", "poison change"};
    enum { EXPECTED = sizeof expected / sizeof *expected };
    int used[EXPECTED] = {0};
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    cupel_random random = cupel_random_start(4, 4);
    cupel_recipe recipe = drawn(contract, 1);
    for (int n = 0; n < 4000; n++) {
        const char *name;
        assert_int_equal(cupel_recipe_mutate(contract, NULL, &random, &recipe, &name, NULL), CUPEL_OK);
        for (int i = 0; i < EXPECTED; i++) used[i] += strcmp(name, expected[i]) == 0;
    }
    for (int i = 0; i < EXPECTED; i++)
        if (used[i] == 0) fail_msg("'%s' was never used", expected[i]);
}

static void test_children_mix_their_parents(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_random random = cupel_random_start(8, 8);
    int dims_a = 0, values_a = 0, cross = 0;
    for (uint64_t n = 0; n < 200; n++) {
        cupel_recipe a = drawn(contract, 2 * n), b = drawn(contract, 2 * n + 1), child;
        assert_int_equal(cupel_recipe_crossover(contract, NULL, &random, &a, &b, &child, NULL), CUPEL_OK);
        bool d = memcmp(child.dims, a.dims, sizeof a.dims) == 0,
             v = child.tensors[0].seed == a.tensors[0].seed;
        dims_a += d, values_a += v, cross += d != v;
    }
    assert_true(dims_a > 50 && dims_a < 150 && values_a > 50 && values_a < 150 && cross > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_reach_everything),
        cmocka_unit_test(test_draws_reach_boundary_shapes),
        cmocka_unit_test(test_large_limits_spread_the_sizes),
        cmocka_unit_test(test_zero_and_ordinary_shapes_come),
        cmocka_unit_test(test_draws_repeat_and_are_independent),
        cmocka_unit_test(test_mutation_repeats),
        cmocka_unit_test(test_every_mutator_is_used),
        cmocka_unit_test(test_children_mix_their_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
