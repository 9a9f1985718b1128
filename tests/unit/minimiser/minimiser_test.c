/* Quality of the final, minimised result: each test plants a defect and says what its simplest case is. */
#include "minimiser_fixture.h"
#include "schedule.h"

static bool rare(const cupel_contract *contract, const cupel_recipe *recipe) {
    int64_t n = fake_dim(contract, recipe, "N");
    return n % 97 == 7 && n > 200;
}

static void rare_residue_ends_at_its_first_value(void **state) {
    (void)state;
    result r = minimise(rows, rare, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    assert_int_equal(r.code, CUPEL_OK);
    assert_int_equal(N_OF(r), 201);
    assert_int_equal(M_OF(r), 1);
    assert_true(r.report.smallest_proved);
    assert_int_equal(r.report.necessary_traits, CUPEL_TRAIT_SHAPE);
    assert_int_equal(r.finding.gate, CUPEL_GATE_CMP_03);
    assert_non_null(strstr(r.report.region, "N % 97 == 7 and N >= 201"));
    assert_non_null(strstr(r.report.region, "any values"));
    cupel_arena_free(r.arena);
}

static void tail_defect_needs_the_shape(void **state) {
    (void)state;
    result r = minimise(rows, tail, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    assert_int_equal(N_OF(r), 1);
    assert_int_equal(r.report.necessary_traits, CUPEL_TRAIT_SHAPE);
    assert_int_equal(r.finding.gate, CUPEL_GATE_CMP_03);
    assert_non_null(strstr(r.report.region, "fails only when N % 128 != 0; any values"));
    cupel_arena_free(r.arena);
}

static bool always(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract, (void)recipe;
    return true;
}

static void everything_that_can_go_goes(void **state) {
    (void)state;
    result r = minimise(rows, always, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    assert_int_equal(N_OF(r), 1);
    assert_int_equal(M_OF(r), 1);
    assert_int_equal(r.recipe.types[0], 0);
    assert_int_equal(r.recipe.schedule, 0);
    assert_int_equal(r.recipe.history, CUPEL_HISTORY_NONE);
    for (int t = 0; t < r.contract->tensor_count; t++) {
        assert_int_equal(r.recipe.tensors[t].special, CUPEL_SPECIAL_NONE);
        assert_int_equal(r.recipe.tensors[t].edit_count, 0);
        assert_int_equal(r.recipe.tensors[t].pattern, CUPEL_PATTERN_ZERO);
    }
    assert_int_equal(r.report.necessary_traits, 0);
    assert_int_equal(r.finding.gate, CUPEL_GATE_CMP_01);
    cupel_arena_free(r.arena);
}

static cupel_schedule schedule_of(const cupel_recipe *recipe) {
    return cupel_schedule_unpack(recipe->schedule);
}

static bool not_canonical(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract;
    return recipe->schedule != 0;
}

static bool last_warp_or_later(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract;
    return schedule_of(recipe).way == CUPEL_SCHEDULE_LAST_WARP ||
           schedule_of(recipe).way == CUPEL_SCHEDULE_RANDOM;
}

static bool permuted_by_an_odd_seed(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract;
    return schedule_of(recipe).way >= CUPEL_SCHEDULE_ABREAST && schedule_of(recipe).seed % 4 == 3;
}

static bool twelve_switches(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract;
    cupel_schedule s = schedule_of(recipe);
    return s.way == CUPEL_SCHEDULE_RANDOM && s.seed >= 2 && (s.limit == 0 || s.limit >= 12);
}

static void schedules_become_as_simple_as_they_can(void **state) {
    (void)state;
    static const struct {
        defect fails;
        const char *schedule;
    } cases[] = {{not_canonical, "reverse"},
                 {last_warp_or_later, "last_warp"},
                 {permuted_by_an_odd_seed, "abreast:3"},
                 {twelve_switches, "random:2/12"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        result r = minimise(rows, cases[i].fails, NULL, CUPEL_FINDING_NONDETERMINISM, NULL, NULL);
        assert_int_equal(r.code, CUPEL_OK);
        cupel_schedule_write(r.recipe.schedule, text, sizeof text);
        assert_string_equal(text, cases[i].schedule);
        assert_int_equal(r.recipe.history, CUPEL_HISTORY_NONE);
        assert_int_equal(N_OF(r), 1);
        assert_int_equal(r.report.necessary_traits, CUPEL_TRAIT_SCHEDULE);
        assert_int_equal(r.finding.gate, CUPEL_GATE_ORD_02);
        cupel_arena_free(r.arena);
    }
}

static bool other_values_before(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract;
    return recipe->history >= CUPEL_HISTORY_OTHER_VALUES;
}

static bool three_calls_before(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract;
    return cupel_recipe_calls(recipe) >= 3;
}

static void histories_become_as_simple_as_they_can(void **state) {
    (void)state;
    result three = minimise(rows, three_calls_before, NULL, CUPEL_FINDING_HISTORY, NULL, NULL);
    assert_int_equal(three.recipe.history, CUPEL_HISTORY_REPEAT);
    assert_int_equal(three.recipe.calls, 3);
    cupel_arena_free(three.arena);
    result r = minimise(rows, other_values_before, NULL, CUPEL_FINDING_HISTORY, NULL, NULL);
    assert_int_equal(r.recipe.history, CUPEL_HISTORY_OTHER_VALUES);
    assert_int_equal(r.recipe.schedule, 0);
    assert_int_equal(r.report.necessary_traits, CUPEL_TRAIT_HISTORY);
    assert_int_equal(r.finding.gate, CUPEL_GATE_ORD_02);
    cupel_arena_free(r.arena);
    r = minimise(rows, always, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL); /* not what it needs */
    assert_int_equal(r.report.necessary_traits, 0);
    cupel_arena_free(r.arena);
}

static bool nan_in_x(const cupel_contract *contract, const cupel_recipe *recipe) {
    int x = cupel_contract_tensor(contract, "x");
    return (recipe->tensors[x].special == CUPEL_SPECIAL_NAN ||
            recipe->tensors[x].special == CUPEL_SPECIAL_MIXED) &&
           fake_dim(contract, recipe, "N") >= 3;
}

static void special_value_stays_where_it_is_needed(void **state) {
    (void)state;
    result r = minimise(rows, nan_in_x, NULL, CUPEL_FINDING_WRONG_CLASS, NULL, NULL);
    int x = cupel_contract_tensor(r.contract, "x"), w = cupel_contract_tensor(r.contract, "w");
    assert_int_equal(N_OF(r), 3);
    assert_int_equal(r.recipe.tensors[x].special, CUPEL_SPECIAL_NAN);
    assert_int_equal(r.recipe.tensors[x].placement, CUPEL_PLACE_SINGLE);
    assert_int_equal(r.recipe.tensors[w].special, CUPEL_SPECIAL_NONE);
    assert_int_equal(r.report.necessary_traits, CUPEL_TRAIT_SPECIAL);
    assert_int_equal(r.finding.gate, CUPEL_GATE_EXC_01);
    cupel_arena_free(r.arena);
}

static bool in_half(const cupel_contract *contract, const cupel_recipe *recipe) {
    return recipe->types[0] == 1 && fake_dim(contract, recipe, "N") >= 5;
}

static void to_half(const cupel_contract *contract, cupel_recipe *recipe) {
    (void)contract;
    recipe->types[0] = 1;
}

static void type_stays_where_it_is_needed(void **state) {
    (void)state;
    result r = minimise(rows, in_half, NULL, CUPEL_FINDING_WRONG_VALUE, to_half, NULL);
    assert_int_equal(N_OF(r), 5);
    assert_int_equal(r.recipe.types[0], 1);
    assert_int_equal(r.report.necessary_traits, CUPEL_TRAIT_TYPE);
    assert_int_equal(r.finding.gate, CUPEL_GATE_PRC_01);
    cupel_arena_free(r.arena);
}

static bool needs_spread(const cupel_contract *contract, const cupel_recipe *recipe) {
    int x = cupel_contract_tensor(contract, "x");
    return recipe->tensors[x].pattern >= CUPEL_PATTERN_NORMAL && recipe->tensors[x].amplitude >= 2;
}

static void values_become_simple(void **state) {
    (void)state;
    result r = minimise(rows, needs_spread, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    int x = cupel_contract_tensor(r.contract, "x");
    assert_int_equal(N_OF(r), 1);
    assert_int_equal(r.recipe.tensors[x].pattern, CUPEL_PATTERN_NORMAL);
    assert_true(r.recipe.tensors[x].amplitude == 2);
    assert_int_equal(r.recipe.tensors[x].seed, 0);
    assert_int_equal(r.finding.gate, CUPEL_GATE_CMP_01);
    cupel_arena_free(r.arena);
}

static bool long_row(const cupel_contract *contract, const cupel_recipe *recipe) {
    return fake_dim(contract, recipe, "N") > 4;
}
static bool short_row(const cupel_contract *contract, const cupel_recipe *recipe) {
    return fake_dim(contract, recipe, "N") <= 4;
}

static void slip_to_another_defect_is_kept_not_followed(void **state) {
    (void)state;
    result r = minimise(rows, long_row, short_row, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    assert_int_equal(N_OF(r), 5);
    assert_true(r.kernel.slips > 0);
    assert_string_equal(r.finding.output_name, "y");
    cupel_arena_free(r.arena);
}

static bool seven_by_seven(const cupel_contract *contract, const cupel_recipe *recipe) {
    return fake_dim(contract, recipe, "N") >= 7;
}

static void tied_dims_shrink_together(void **state) {
    (void)state;
    result r = minimise(square, seven_by_seven, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    assert_int_equal(M_OF(r), 7);
    assert_int_equal(N_OF(r), 7);
    assert_non_null(strstr(r.report.region, "M >= 7"));
    cupel_arena_free(r.arena);
}

static bool never(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract, (void)recipe;
    return false;
}

static void case_that_holds_is_refused(void **state) {
    (void)state;
    result r = minimise(rows, never, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, NULL);
    assert_int_equal(r.code, CUPEL_UNABLE);
    cupel_arena_free(r.arena);
}

static void budget_is_kept(void **state) {
    (void)state;
    cupel_minimise_options options = {.max_tries = 10, .seconds = 5};
    result r = minimise(rows, rare, NULL, CUPEL_FINDING_WRONG_VALUE, NULL, &options);
    assert_int_equal(r.code, CUPEL_OK);
    assert_true(r.kernel.calls <= 10);
    assert_false(r.report.smallest_proved);
    cupel_arena_free(r.arena);
}

static void seen_candidates_are_not_run_again(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    fake_kernel kernel = {
        .contract = fake_contract(arena, rows), .fails = rare, .kind = CUPEL_FINDING_WRONG_VALUE};
    cupel_predicate predicate = fake_predicate(&kernel);
    char signature[160];
    fake_signature(&kernel, signature, sizeof signature);
    cupel_recipe recipe;
    make_heavy(kernel.contract, &recipe);
    cupel_shrink shrink;
    assert_int_equal(cupel_shrink_open(&shrink, kernel.contract, signature, &predicate, &recipe, NULL),
                     CUPEL_OK);
    shrink.max_tries = 100;
    shrink.deadline = cupel_shrink_now() + 10;
    recipe.dims[1] = 100;
    assert_false(cupel_shrink_consider(&shrink, &recipe));
    int calls = kernel.calls;
    assert_false(cupel_shrink_consider(&shrink, &recipe));
    assert_int_equal(kernel.calls, calls);
    recipe.dims[1] = 101;
    assert_false(cupel_shrink_consider(&shrink, &recipe));
    assert_int_equal(kernel.calls, calls + 1);
    cupel_shrink_close(&shrink);
    cupel_arena_free(arena);
}

static bool up_to(void *self, int64_t n) {
    return n <= *(int64_t *)self;
}

static void find_integer_finds_every_threshold(void **state) {
    (void)state;
    for (int64_t limit = 0; limit < 40; limit++)
        for (int64_t threshold = 0; threshold < 80; threshold++)
            assert_int_equal(cupel_shrink_find_integer(up_to, &threshold, limit),
                             threshold < limit ? threshold : limit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_residue_ends_at_its_first_value),
        cmocka_unit_test(tail_defect_needs_the_shape),
        cmocka_unit_test(everything_that_can_go_goes),
        cmocka_unit_test(schedules_become_as_simple_as_they_can),
        cmocka_unit_test(histories_become_as_simple_as_they_can),
        cmocka_unit_test(special_value_stays_where_it_is_needed),
        cmocka_unit_test(type_stays_where_it_is_needed),
        cmocka_unit_test(values_become_simple),
        cmocka_unit_test(slip_to_another_defect_is_kept_not_followed),
        cmocka_unit_test(tied_dims_shrink_together),
        cmocka_unit_test(case_that_holds_is_refused),
        cmocka_unit_test(budget_is_kept),
        cmocka_unit_test(seen_candidates_are_not_run_again),
        cmocka_unit_test(find_integer_finds_every_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
