/* A dictionary brings a search to what a kernel's source speaks of; without one nothing changes. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"

static const char contract_text[] =
    "cupel: 1\nsource: {file: k.cu}\nid: conditions\n"
    "dims: {M: 1..1000, N: 1..4096, K: 1..2000}\n"
    "params: {alpha: {range: [-1000.5, 1000]}}\n"
    "inputs: {x: 'f32[N]', v: 'f32[K]', idx: 'i32[M]'}\n"
    "outputs: {y: 'f32[N]'}\n"
    "ensures: {y: '2 * x'}\n"
    "kernel: {entry: k, args: [x, v, idx, y, M, N, K, alpha], grid: ['ceil_div(N, 64)'], block: [64]}\n";

/* What a kernel with all the conditions below would be mined for, and some numbers more. */
static const cupel_dictionary mined = {
    .word_count = 12,
    .number_count = 4,
    .words = {{211, 17, CUPEL_WORD_MODULUS},
              {97, 7, CUPEL_WORD_MODULUS},
              {32, -1, CUPEL_WORD_MODULUS},
              {17, -1, CUPEL_WORD_COMPARED},
              {7, -1, CUPEL_WORD_COMPARED},
              {187, -1, CUPEL_WORD_COMPARED},
              {200, -1, CUPEL_WORD_COMPARED},
              {4711, -1, CUPEL_WORD_COMPARED},
              {112, -1, CUPEL_WORD_SIZE},
              {256, -1, CUPEL_WORD_SIZE},
              {3, -1, CUPEL_WORD_PLAIN},
              {16, -1, CUPEL_WORD_PLAIN}},
    .numbers = {88.5, 123.25, 1e30, 0.044715},
};

typedef struct sample {
    const cupel_contract *contract;
    const cupel_recipe *recipe;
    cupel_arena *arena;
    int64_t m, n, k;
} sample;

static bool any_value(const sample *s, const char *tensor, double lo, double hi) {
    const cupel_case *c = materialised(s->contract, s->recipe, s->arena);
    int t = cupel_contract_tensor(s->contract, tensor);
    for (int64_t i = 0; i < c->tensors[t].count; i++)
        if (value_at(c, t, i) >= lo && value_at(c, t, i) < hi) return true;
    return false;
}

static bool modulus(const sample *s) {
    return s->n % 211 == 17;
}
static bool equal(const sample *s) {
    return s->m == 187;
}
static bool modulus_and_above(const sample *s) {
    return s->n % 97 == 7 && s->n > 200;
}
static bool modulus_and_multiple(const sample *s) {
    return s->n % 97 == 7 && s->n % 32 == 0;
}
static bool modulus_and_no_multiple(const sample *s) {
    return s->n % 97 == 7 && s->n % 32 != 0;
}
static bool past_a_tile(const sample *s) {
    return s->k == 3 * 112 + 1;
}
static bool two_dims(const sample *s) {
    return s->n % 97 == 7 && s->k == 200;
}
static bool value_past_threshold(const sample *s) {
    return any_value(s, "x", 123.25, 123.26);
}
static bool value_below_negative(const sample *s) {
    return any_value(s, "v", -123.26, nextafter(-123.25, 0));
}
static bool integer_value(const sample *s) {
    return any_value(s, "idx", 4711, 4712);
}
static bool parameter(const sample *s) {
    double alpha = s->recipe->params[0];
    return alpha >= 88.5 && alpha < 89;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FEW_SEEDS /* for what the sanitizers see; the comparison is the release build's */
#endif
#endif
#ifdef FEW_SEEDS
enum { SEEDS = 3, TIMES = 1 };
#else
enum { SEEDS = 21, TIMES = 5 };
#endif
enum { MOST = 20000, CHAIN = 12 };

/* Mutations from the simplest recipe on, anew after a few, until the condition is met. */
static int mutations_until(const cupel_contract *contract, const cupel_dictionary *dictionary,
                           bool (*met)(const sample *), int most, uint64_t seed, cupel_arena *arena) {
    cupel_limits limits = {.dictionary = dictionary};
    cupel_random random = cupel_random_start(seed, 77);
    cupel_recipe start = simple(contract), recipe = start;
    for (int n = 0; n < most; n++) {
        if (n % CHAIN == 0) recipe = start;
        assert_int_equal(cupel_recipe_mutate(contract, &limits, &random, &recipe, NULL, NULL), CUPEL_OK);
        const sample s = {contract, &recipe, arena, recipe.dims[0], recipe.dims[1], recipe.dims[2]};
        if (met(&s)) return n + 1;
    }
    return most;
}

static int median(const cupel_contract *contract, const cupel_dictionary *dictionary,
                  bool (*met)(const sample *), int most, cupel_arena *arena) {
    int counts[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        counts[i] = mutations_until(contract, dictionary, met, most, (uint64_t)i, arena);
        for (int k = i; k > 0 && counts[k - 1] > counts[k]; k--) {
            int swapped = counts[k];
            counts[k] = counts[k - 1], counts[k - 1] = swapped;
        }
    }
    return counts[SEEDS / 2];
}

static void test_conditions_are_met_sooner(void **state) {
    (void)state;
    static const struct {
        const char *what;
        bool (*met)(const sample *);
    } table[] = {
        {"N % 211 == 17", modulus},
        {"M == 187", equal},
        {"N % 97 == 7 && N > 200", modulus_and_above},
        {"N % 97 == 7 && N % 32 == 0", modulus_and_multiple},
        {"N % 97 == 7 && N % 32 != 0", modulus_and_no_multiple},
        {"K == 3 * 112 + 1", past_a_tile},
        {"N % 97 == 7 && K == 200", two_dims},
        {"123.25 <= some x < 123.26", value_past_threshold},
        {"some v just beyond -123.25", value_below_negative},
        {"some idx == 4711", integer_value},
        {"88.5 <= alpha < 89", parameter},
    };
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract = parsed(contract_text, arena);
    cupel_arena *cases = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int with = median(contract, &mined, table[i].met, MOST, cases);
        int enough = TIMES * with + 1; /* no need to search on */
        int without = median(contract, NULL, table[i].met, enough, cases);
        print_message("%-30s %5d mutations with the dictionary, %s%d without\n", table[i].what, with,
                      without == enough ? "over " : "", without == enough ? TIMES * with : without);
        if (without < TIMES * with)
            fail_msg("%s: %d mutations with, %d without", table[i].what, with, without);
    }
    cupel_arena_free(cases);
    cupel_arena_free(arena);
}

/* What a dictionary must not change: draws, and mutation where it holds nothing. */
static void test_undirected_search_does_not_look(void **state) {
    (void)state;
    static const cupel_dictionary empty;
    const cupel_limits with = {.dictionary = &mined}, nothing = {.dictionary = &empty};
    const cupel_contract *contract = fixture(FIXTURE_STRIDED);
    for (uint64_t n = 0; n < 200; n++) {
        cupel_recipe a, b = drawn(contract, n);
        assert_int_equal(cupel_recipe_draw(contract, &with, 2024, n, &a, NULL), CUPEL_OK);
        assert_memory_equal(&a, &b, sizeof a);
        cupel_random first = cupel_random_start(n, 1), second = first;
        assert_int_equal(cupel_recipe_mutate(contract, NULL, &first, &a, NULL, NULL), CUPEL_OK);
        assert_int_equal(cupel_recipe_mutate(contract, &nothing, &second, &b, NULL, NULL), CUPEL_OK);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_equal(&first, &second, sizeof first);
    }
}

static void expect_legal(const cupel_contract *contract, const cupel_recipe *recipe) {
    cupel_recipe again = *recipe;
    assert_int_equal(cupel_recipe_repair(contract, &again, INT64_C(1) << 40, NULL), CUPEL_OK);
    assert_true(cupel_recipe_equal(contract, &again, recipe));
}

/* Numbers at the ends of what a source can hold; legal recipes all the same, and every one repeats. */
static void test_results_are_legal(void **state) {
    (void)state;
    static const cupel_dictionary extremes = {
        .word_count = 6,
        .number_count = 5,
        .words = {{INT64_C(1) << 40, -1, CUPEL_WORD_COMPARED},
                  {INT64_C(1) << 40, 5, CUPEL_WORD_MODULUS},
                  {2, 0, CUPEL_WORD_MODULUS},
                  {3, 2, CUPEL_WORD_MODULUS},
                  {2, -1, CUPEL_WORD_SIZE},
                  {INT32_MAX, -1, CUPEL_WORD_PLAIN}},
        .numbers = {0x1.fffffffffffffp+1023, 0x1p-1074, 65504, 0x1p-149, 0x1.fffffep+127},
    };
    const cupel_limits limits = {.dictionary = &extremes}, small = {500, &mined};
    cupel_random random = cupel_random_start(5, 5);
    cupel_arena *arena = cupel_arena_create(0), *cases = cupel_arena_create(0);
    for (int i = 0; i < 40 + FIXTURE_COUNT; i++) {
        const cupel_contract *contract = i < FIXTURE_COUNT
                                             ? fixture((enum fixture)i)
                                             : parsed(random_contract_text(&random, arena), arena);
        cupel_recipe recipe = drawn(contract, 1);
        for (int k = 0; k < 60; k++) {
            const cupel_limits *l = k % 2 ? &limits : &small;
            cupel_random again = random;
            cupel_recipe fresh, twice;
            assert_int_equal(cupel_recipe_mutate(contract, l, &random, &recipe, NULL, NULL), CUPEL_OK);
            expect_legal(contract, &recipe);
            again = random;
            assert_int_equal(cupel_recipe_draw_directed(contract, l, &random, &fresh, NULL), CUPEL_OK);
            assert_int_equal(cupel_recipe_draw_directed(contract, l, &again, &twice, NULL), CUPEL_OK);
            assert_memory_equal(&fresh, &twice, sizeof fresh);
            expect_legal(contract, &fresh);
            if (k == 7) materialised(contract, &fresh, cases);
        }
    }
    cupel_arena_free(cases);
    cupel_arena_free(arena);
}

/* The others make room for a dim that is set to a word. */
static void test_room_is_made(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_recipe recipe = simple(contract);
    set_dim(contract, &recipe, "M", 512);
    set_dim(contract, &recipe, "N", 4711);
    cupel_dictionary_make_room(contract, &recipe, 1u << cupel_contract_dim(contract, "N"), 65536);
    assert_int_equal(cupel_recipe_repair(contract, &recipe, 65536, NULL), CUPEL_OK);
    assert_int_equal(recipe.dims[cupel_contract_dim(contract, "N")], 4711);
    assert_int_equal(recipe.dims[cupel_contract_dim(contract, "M")], 4);
}

/* One fresh draw in a few dozen meets what the source asks for. */
static void test_directed_draws(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0), *cases = cupel_arena_create(0);
    const cupel_contract *contract = parsed(contract_text, arena);
    const cupel_limits limits = {.dictionary = &mined};
    cupel_random random = cupel_random_start(9, 9);
    int residues = 0, equals = 0, values = 0, whole = 0, params = 0;
    for (int i = 0; i < 4000; i++) {
        cupel_recipe recipe;
        assert_int_equal(cupel_recipe_draw_directed(contract, &limits, &random, &recipe, NULL), CUPEL_OK);
        const sample s = {contract, &recipe, cases, recipe.dims[0], recipe.dims[1], recipe.dims[2]};
        residues += modulus(&s), equals += equal(&s), params += parameter(&s);
        values += value_past_threshold(&s), whole += integer_value(&s);
    }
    print_message("of 4000 directed draws: N %% 211 == 17 %d, M == 187 %d, x %d, idx %d, alpha %d\n",
                  residues, equals, values, whole, params);
    assert_true(residues >= 80 && equals >= 20 && values >= 40 && whole >= 20 && params >= 40);
    cupel_arena_free(cases);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions_are_met_sooner),
        cmocka_unit_test(test_undirected_search_does_not_look),
        cmocka_unit_test(test_results_are_legal),
        cmocka_unit_test(test_room_is_made),
        cmocka_unit_test(test_directed_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
