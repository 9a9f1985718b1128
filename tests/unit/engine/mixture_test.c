/* What a directed search tries, and the front that it changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mixture.h"

static const char text[] = "cupel: 1\n"
                           "source: {file: k.cu}\n"
                           "id: made-up\n"
                           "dims: {A: 1..200, B: 1..4096}\n"
                           "inputs: {x: 'f32[A, B]'}\n"
                           "outputs: {z: 'f32[A, B]'}\n"
                           "ensures: {z: 'x'}\n"
                           "kernel: {entry: k, args: [x, z, A, B], grid: [A], block: [32]}\n";

static cupel_arena *arena;
static const cupel_contract *contract;
static cupel_front front; /* large */

static int load(void **state) {
    (void)state;
    cupel_contracts contracts;
    arena = cupel_arena_create(0);
    if (cupel_contracts_parse("k.yaml", text, strlen(text), true, arena, &contracts, NULL) != CUPEL_OK)
        return 1;
    contract = contracts.items[0];
    return 0;
}

static int unload(void **state) {
    (void)state;
    cupel_arena_free(arena);
    return 0;
}

static cupel_encoded numbered(uint8_t *bytes, unsigned news) {
    return (cupel_encoded){.bytes = bytes, .size = 1, .news = news};
}

static void front_takes_what_was_first(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(1, 1);
    cupel_encoded got;
    uint8_t bytes[] = {7};
    cupel_encoded recipe = numbered(bytes, 0);
    memset(&front, 0, sizeof front);
    cupel_front_add(&front, &recipe,
                    CUPEL_NEWS_CELL | CUPEL_NEWS_COUNT); /* cells are too many to lead anywhere */
    assert_false(cupel_front_pick(&front, &random, &got));
    cupel_front_add(&front, &recipe, CUPEL_NEWS_CLIMB);
    assert_true(cupel_front_pick(&front, &random, &got));
    assert_int_equal(got.size, 1);
    assert_int_equal(got.bytes[0], 7);
}

/* The newest gets its half; the others share the rest, whoever came late catching up. */
static void front_favours_the_newest(void **state) {
    (void)state;
    enum { MANY = CUPEL_FRONT_MAX + 9, PICKS = 8000 };
    cupel_random random = cupel_random_start(2, 1);
    int picked[MANY] = {0};
    uint8_t bytes[1];
    memset(&front, 0, sizeof front);
    for (int i = 0; i < MANY; i++) {
        bytes[0] = (uint8_t)i;
        cupel_encoded recipe = numbered(bytes, 0);
        cupel_front_add(&front, &recipe, CUPEL_NEWS_EDGE);
    }
    for (int i = 0; i < PICKS; i++) {
        cupel_encoded got;
        assert_true(cupel_front_pick(&front, &random, &got));
        picked[got.bytes[0]]++;
    }
    assert_in_range(picked[MANY - 1], PICKS / 2 - PICKS / 20, PICKS / 2 + PICKS / 20);
    for (int i = 0; i < 9; i++) assert_int_equal(picked[i], 0); /* the oldest gave their places */
    for (int i = 9; i < MANY - 1; i++) assert_in_range(picked[i], PICKS / 2 / 64, PICKS / 2 / 16);
}

/* How many of cases from..to-1 are the undirected search's. */
static int draws_among(uint64_t from, uint64_t to) {
    cupel_search search = {.contract = contract, .seed = 3};
    cupel_recipe parent, drawn, next;
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    int draws = 0;
    memset(&front, 0, sizeof front);
    assert_int_equal(cupel_recipe_simple(contract, &parent, NULL), CUPEL_OK);
    cupel_encoded encoded = {.bytes = bytes,
                             .size = cupel_recipe_encode(contract, &parent, bytes, sizeof bytes)};
    for (uint64_t n = from; n < to; n++) {
        assert_int_equal(cupel_engine_draw(&search, n, &drawn, NULL), CUPEL_OK);
        assert_int_equal(cupel_mixture_next(&search, n, &encoded, NULL, &front, &next, NULL), CUPEL_OK);
        draws += cupel_recipe_equal(contract, &drawn, &next);
    }
    return draws;
}

/* What bounds the price of direction: all of the first cases, and enough of the next, are the draws that an
 * undirected search makes. Without a dictionary the fresh recipes that would lean on it are draws too. */
static void draws_come_first_and_never_cease(void **state) {
    (void)state;
    assert_int_equal(draws_among(0, CUPEL_MIXTURE_DRAWS), CUPEL_MIXTURE_DRAWS);
    int early = draws_among(CUPEL_MIXTURE_DRAWS, CUPEL_MIXTURE_DRAWS + 1200);
    assert_in_range(early, 940, 1060); /* ten twelfths */
    int late = draws_among(5000, 6200);
    assert_in_range(late, 440, 560); /* five twelfths */
}

static void bytes_that_are_no_recipe_are_harmless(void **state) {
    (void)state;
    cupel_search search = {.contract = contract, .seed = 3};
    uint8_t bytes[] = {'\n'};
    cupel_encoded nothing = numbered(bytes, 0);
    cupel_recipe next, legal;
    memset(&front, 0, sizeof front);
    for (uint64_t n = 3000; n < 3200; n++) {
        assert_false(cupel_mixture_crosses(&search, n, &nothing, &nothing));
        assert_int_equal(cupel_mixture_next(&search, n, &nothing, &nothing, &front, &next, NULL), CUPEL_OK);
        legal = next;
        assert_int_equal(cupel_recipe_repair(contract, &legal, 0, NULL), CUPEL_OK);
        assert_true(cupel_recipe_equal(contract, &next, &legal));
    }
}

static void parts_have_seeds_of_their_own(void **state) {
    (void)state;
    cupel_search search = {.contract = contract, .seed = 3};
    unsigned whole = cupel_mixture_seed(&search);
    assert_int_equal(cupel_mixture_seed(&search), whole);
    assert_int_not_equal(whole, 0);
    search.first = 100;
    assert_int_not_equal(cupel_mixture_seed(&search), whole);
    search.first = 0, search.seed = 4;
    assert_int_not_equal(cupel_mixture_seed(&search), whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_takes_what_was_first),
        cmocka_unit_test(front_favours_the_newest),
        cmocka_unit_test(draws_come_first_and_never_cease),
        cmocka_unit_test(bytes_that_are_no_recipe_are_harmless),
        cmocka_unit_test(parts_have_seeds_of_their_own),
    };
    return cmocka_run_group_tests_name("mixture", tests, load, unload);
}
