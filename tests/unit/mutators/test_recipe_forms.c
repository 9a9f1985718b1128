/* The two written forms, the order of simplicity, traits and the line for people. */
#include <math.h>
#include <string.h>

#include "recipe_fixtures.h"
#include "schedule.h"

static void test_bytes_are_lossless(void **state) {
    (void)state;
    for (int f = 0; f < FIXTURE_COUNT; f++)
        for (uint64_t n = 0; n < 300; n++) {
            const cupel_contract *contract = fixture((enum fixture)f);
            cupel_recipe recipe = drawn(contract, n), back;
            uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
            size_t size = cupel_recipe_encode(contract, &recipe, bytes, sizeof bytes);
            assert_true(size > 4 && size < 2500);
            assert_true(cupel_recipe_decode(contract, bytes, size, &back));
            assert_memory_equal(&recipe, &back, sizeof back);
            assert_int_equal(cupel_recipe_encode(contract, &recipe, bytes, size - 1), 0);
            assert_int_equal(cupel_recipe_encode(contract, &recipe, bytes, size), size);
        }
}

static void test_decoded_bytes_are_a_fixed_point(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(11, 0);
    cupel_arena *arena = cupel_arena_create(0);
    for (int f = 0; f < FIXTURE_COUNT; f++)
        for (int n = 0; n < 300; n++) {
            const cupel_contract *contract = fixture((enum fixture)f);
            uint8_t bytes[CUPEL_RECIPE_BYTES_MAX], again[CUPEL_RECIPE_BYTES_MAX],
                third[CUPEL_RECIPE_BYTES_MAX];
            for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)cupel_random_u64(&random);
            bytes[0] = 'c', bytes[1] = 'r', bytes[2] = CUPEL_RECIPE_VERSION, bytes[3] = 0;
            cupel_recipe recipe, back;
            assert_true(cupel_recipe_decode(contract, bytes, 4 + cupel_random_below(&random, 3000), &recipe));
            size_t size = cupel_recipe_encode(contract, &recipe, again, sizeof again);
            assert_true(cupel_recipe_decode(contract, again, size, &back));
            assert_memory_equal(&recipe, &back, sizeof back);
            assert_int_equal(cupel_recipe_encode(contract, &back, third, sizeof third), size);
            assert_memory_equal(again, third, size);
            /* YAML keeps even what repair would change */
            char *text;
            cupel_error err = {0};
            cupel_arena_reset(arena);
            assert_int_equal(cupel_recipe_write(contract, &recipe, arena, &text, &err), CUPEL_OK);
            if (cupel_recipe_read(contract, "case.yaml", text, strlen(text), &back, &err) != CUPEL_OK)
                fail_msg("%d:%d %s\n%s", err.line, err.column, err.text, text);
            assert_memory_equal(&recipe, &back, sizeof back);
        }
    cupel_arena_free(arena);
}

static void test_other_bytes_are_refused(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_recipe recipe = simple(contract);
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    size_t size = cupel_recipe_encode(contract, &recipe, bytes, sizeof bytes);
    for (int i = 0; i < 4; i++) {
        bytes[i] ^= 1;
        assert_false(cupel_recipe_decode(contract, bytes, size, &recipe));
        bytes[i] ^= 1;
    }
    assert_false(cupel_recipe_decode(contract, bytes, 3, &recipe));
    assert_true(cupel_recipe_decode(contract, bytes, size, &recipe));
}

static const char *golden = "cupel-case: 1\n"
                            "contract: row-softmax\n"
                            "dims: {M: 3, N: 33}\n"
                            "types: {T: f16}\n"
                            "tensors:\n"
                            "  x:\n"
                            "    pattern: normal\n"
                            "    seed: 12\n"
                            "    amplitude: 0x1.5555555555555p-2 # 0.333333333\n"
                            "    special: neg_inf\n"
                            "    place: tile\n"
                            "    special_seed: 5\n"
                            "    edits:\n"
                            "      - [7, 0x7e00] # nan\n"
                            "  y:\n"
                            "    pattern: zero\n"
                            "aliases: [[x, y]]\n"
                            "schedule: random:7/12\n"
                            "history: other_values\n"
                            "permutation: 12\n"
                            "poison: 9\n";

static void test_yaml_reads_and_writes_this(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_arena *arena = cupel_arena_create(0);
    cupel_recipe recipe;
    cupel_error err = {0};
    char *text;
    assert_int_equal(cupel_recipe_read(contract, "case.yaml", golden, strlen(golden), &recipe, &err),
                     CUPEL_OK);
    const cupel_tensor_recipe *x = &recipe.tensors[0];
    assert_int_equal(recipe.dims[1], 33);
    assert_int_equal(recipe.types[0], 1);
    assert_true(x->amplitude == 1.0 / 3);
    assert_int_equal(x->special, CUPEL_SPECIAL_NEG_INF);
    assert_int_equal(x->placement, CUPEL_PLACE_TILE);
    assert_int_equal(x->edits[0].bits, 0x7e00);
    assert_int_equal(recipe.aliases, 1);
    assert_int_equal(recipe.history, CUPEL_HISTORY_OTHER_VALUES);
    assert_int_equal(cupel_schedule_unpack(recipe.schedule).limit, 12);
    assert_int_equal(recipe.permutation, 12);
    assert_int_equal(cupel_recipe_write(contract, &recipe, arena, &text, &err), CUPEL_OK);
    assert_string_equal(text, golden);
    cupel_arena_free(arena);
}

static void expect_error(const char *text, int line, const char *message) {
    cupel_recipe recipe;
    cupel_error err = {0};
    cupel_code code =
        cupel_recipe_read(fixture(FIXTURE_SOFTMAX), "case.yaml", text, strlen(text), &recipe, &err);
    assert_int_not_equal(code, CUPEL_OK);
    if (strstr(err.text, message) == NULL) fail_msg("expected '%s', found '%s'", message, err.text);
    assert_int_equal(err.line, line);
    assert_true(err.column > 0);
    assert_string_equal(err.file, "case.yaml");
}

static void test_yaml_errors_have_a_place(void **state) {
    (void)state;
    expect_error("", 1, "found nothing");
    expect_error("cupel-case: 2\n", 1, "expected version 1");
    expect_error("cupel-case: 1\ncontract: other\n", 2, "expected a case of contract 'row-softmax'");
    expect_error("cupel-case: 1\ndims: {M: 1, n: 2}\n", 2, "unknown dim 'n'");
    expect_error("cupel-case: 1\ndims: {M: 1}\nschedule: 0\n", 3, "expected a value for dim N");
    expect_error("cupel-case: 1\ndims: {M: 1, M: 2}\n", 2, "stands here twice");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\nschedule: backwards\n", 3,
                 "expected a schedule such as");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\nschedule: 77\n", 3, "expected a schedule such as");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\nhistory: repeated\n", 3, "did you mean 'repeat'");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 1.5}\n", 2, "expected an integer");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\ntypes: {T: f64}\n", 3, "unknown claimed type 'f64'");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\ntensors:\n  x: {patern: one}\n", 4,
                 "did you mean 'pattern'");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\ntensors:\n  x: {pattern: normals}\n", 4,
                 "did you mean 'normal'");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\ntensors:\n  x: {amplitude: inf}\n", 4, "finite number");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\ntensors:\n  x: {order: [0, 0]}\n", 4, "every axis once");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\ntensors:\n  x: {edits: [[1]]}\n", 4, "whole number");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\naliases: [[y, x]]\n", 3, "may_alias");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2}\npoison: 4294967296\n", 3, "up to 4294967295");
    expect_error("cupel-case: 1\ndims: [1, 2]\n", 2, "expected a map, found a list");
    expect_error("cupel-case: 1\ndims: {M: 1, N: 2\n", 3, "not valid YAML");
    expect_error("dims: {M: 1, N: 2}\n", 2, "cupel-case");
    expect_error("cupel-case: 1\n", 2, "'dims'");
}

static void test_order_is_total(void **state) {
    (void)state;
    enum { MANY = 120 };
    static cupel_recipe recipes[MANY];
    for (int f = 0; f < FIXTURE_COUNT; f++) {
        const cupel_contract *contract = fixture((enum fixture)f);
        for (int i = 0; i < MANY; i++) recipes[i] = drawn(contract, (uint64_t)i % 100); /* some twice */
        int order[MANY][MANY];
        for (int i = 0; i < MANY; i++)
            for (int k = 0; k < MANY; k++) {
                int c = cupel_recipe_compare(contract, &recipes[i], &recipes[k]);
                order[i][k] = (c > 0) - (c < 0);
                assert_int_equal(order[i][k] == 0, memcmp(&recipes[i], &recipes[k], sizeof recipes[i]) == 0);
                assert_int_equal(order[i][k] == 0, cupel_recipe_equal(contract, &recipes[i], &recipes[k]));
            }
        for (int i = 0; i < MANY; i++)
            for (int k = 0; k < MANY; k++) {
                assert_int_equal(order[i][k], -order[k][i]);
                for (int m = 0; m < MANY; m++)
                    if (order[i][k] < 0 && order[k][m] < 0) assert_true(order[i][m] < 0);
            }
    }
}

/* b differs from a by one thing only and must be the less simple one. */
static void assert_simpler(const cupel_recipe *a, const cupel_recipe *b) {
    assert_true(cupel_recipe_compare(fixture(FIXTURE_SOFTMAX), a, b) < 0);
}

static void test_order_prefers_what_people_prefer(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_recipe a = simple(contract), b = a;
    set_dim(contract, &a, "N", 33), set_dim(contract, &a, "M", 2);
    b = a, set_dim(contract, &b, "N", 34), assert_simpler(&a, &b);
    cupel_recipe c = b; /* smaller size outweighs everything else */
    c = a, c.tensors[0].special = CUPEL_SPECIAL_NAN, assert_simpler(&a, &c), assert_simpler(&c, &b);
    b = a, b.types[0] = 1, assert_simpler(&a, &b);
    b = a, b.aliases = 1, assert_simpler(&a, &b);
    b = a, b.schedule = cupel_schedule_nth(1), assert_simpler(&a, &b);
    a.schedule = cupel_schedule_nth(3), b.schedule = cupel_schedule_nth(5), assert_simpler(&a, &b);
    a.schedule = 0;
    b = a, b.history = CUPEL_HISTORY_REPEAT, assert_simpler(&a, &b);
    a.history = CUPEL_HISTORY_REPEAT, b.history = CUPEL_HISTORY_OTHER_BUFFERS, assert_simpler(&a, &b);
    a.history = CUPEL_HISTORY_NONE;
    b = a, b.tensors[0].pattern = CUPEL_PATTERN_NORMAL, assert_simpler(&a, &b);
    b = a, b.tensors[0].seed = 2, assert_simpler(&a, &b);
    b = a, b.tensors[0].amplitude = 4.25, assert_simpler(&a, &b);
    b = a, b.tensors[0].edit_count = 1, assert_simpler(&a, &b);
    b = a, b.tensors[0].layout.offset = 1, assert_simpler(&a, &b);
    b = a, b.tensors[0].layout.step = 2, assert_simpler(&a, &b);
    b = a, b.poison = 1, assert_simpler(&a, &b);
    b = a, b.permutation = 1, assert_simpler(&a, &b);
    a.permutation = 3, b.permutation = 5, assert_simpler(&a, &b);
}

static void test_traits(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_recipe a = simple(contract), b;
    uint64_t edit_bits[][2] = {{0x7fc00000, CUPEL_TRAIT_SPECIAL},
                               {0xff800000, CUPEL_TRAIT_SPECIAL},
                               {0x80000000, CUPEL_TRAIT_SPECIAL},
                               {0x00000001, CUPEL_TRAIT_SUBNORMAL},
                               {0x807fffff, CUPEL_TRAIT_SUBNORMAL},
                               {0x00800000, 0},
                               {0, 0},
                               {0x7f7fffff, 0}};
    for (size_t i = 0; i < sizeof edit_bits / sizeof *edit_bits; i++) {
        b = a, b.tensors[0].edits[b.tensors[0].edit_count++] = (cupel_edit){3, edit_bits[i][0]};
        assert_int_equal(cupel_recipe_traits(contract, &b), edit_bits[i][1]);
    }
    b = a, b.tensors[0].special = CUPEL_SPECIAL_NEG_ZERO;
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_SPECIAL);
    b = a, b.tensors[0].pattern = CUPEL_PATTERN_SUBNORMALS;
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_SUBNORMAL);
    b = a, b.types[0] = 2;
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_TYPE);
    b = a, set_dim(contract, &b, "N", 1025);
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_SHAPE);
    b = a, b.aliases = 1;
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_LAYOUT);
    b = a, b.tensors[1].layout.gap[1] = 3;
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_LAYOUT);
    b = a, b.history = CUPEL_HISTORY_REPEAT;
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_HISTORY);
    b = a, b.schedule = cupel_schedule_nth(1);
    assert_int_equal(cupel_recipe_traits(contract, &b), CUPEL_TRAIT_SCHEDULE);
}

static void test_describe(void **state) {
    (void)state;
    const cupel_contract *contract = fixture(FIXTURE_SOFTMAX);
    cupel_recipe recipe;
    char text[256], tiny[8];
    assert_int_equal(cupel_recipe_read(contract, "g", golden, strlen(golden), &recipe, NULL), CUPEL_OK);
    cupel_recipe_describe(contract, &recipe, text, sizeof text);
    assert_string_equal(
        text, "M=3 N=33 T=f16; x: normal of 0.333333, a tile of -inf, x[0, 7] = nan; x and y share a buffer; "
              "reduced axes permuted (12); schedule random:7/12; after an earlier call with other values in "
              "the same buffers");
    recipe.tensors[0].edit_count = 6; /* one of them beyond the tensor */
    static const struct {
        int64_t index;
        double value;
    } edits[] = {{34, -INFINITY}, {98, -0.0}, {99, 1}, {0, 0.5}, {1, 1}, {2, 1}};
    for (int e = 0; e < 6; e++) {
        recipe.tensors[0].edits[e] = (cupel_edit){.index = edits[e].index};
        cupel_encode(CUPEL_F16, edits[e].value, &recipe.tensors[0].edits[e].bits);
    }
    cupel_recipe_describe(contract, &recipe, text, sizeof text);
    assert_non_null(strstr(text, "-inf, x[1, 1] = -inf, x[2, 32] = -0, x[0, 0] = 0.5, 2 more elements set;"));
    recipe.aliases = 0;
    for (int t = 0; t < contract->tensor_count; t++) recipe.tensors[t].layout = recipe.tensors[0].layout;
    recipe.tensors[1].layout.offset = 1;
    recipe.tensors[0].edit_count = 0;
    cupel_recipe_describe(contract, &recipe, text, sizeof text);
    assert_non_null(strstr(text, "; y: offset by 1;"));
    cupel_recipe_describe_shape(contract, &recipe, text, sizeof text);
    assert_string_equal(text, "M=3 N=33 T=f16");
    cupel_recipe_describe(contract, &recipe, tiny, sizeof tiny);
    assert_string_equal(tiny, "M=3 N=3");
}

/* A history in both forms; bytes of before there were counts, or histories, are read as they were meant. */
static void test_histories(void **state) {
    (void)state;
    const cupel_contract *contract = fixture((enum fixture)0);
    cupel_recipe recipe = drawn(contract, 3), back;
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    char text[64];
    static const struct {
        const char *text;
        cupel_history history;
        int calls;
    } good[] = {{"none", CUPEL_HISTORY_NONE, 0},
                {"repeat", CUPEL_HISTORY_REPEAT, 1},
                {"repeat:11", CUPEL_HISTORY_REPEAT, 11},
                {"repeat:12", CUPEL_HISTORY_REPEAT, 12},
                {"other_values:2", CUPEL_HISTORY_OTHER_VALUES, 2},
                {"other_shape", CUPEL_HISTORY_OTHER_SHAPE, 1}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(cupel_history_read(good[i].text, &recipe));
        assert_int_equal(recipe.history, good[i].history);
        assert_int_equal(cupel_recipe_calls(&recipe), good[i].calls);
        cupel_history_write(&recipe, text, sizeof text);
        assert_string_equal(text, good[i].text);
        size_t size = cupel_recipe_encode(contract, &recipe, bytes, sizeof bytes);
        assert_true(cupel_recipe_decode(contract, bytes, size, &back));
        assert_true(cupel_recipe_equal(contract, &recipe, &back));
        size -= sizeof recipe.permutation;                                  /* which stands behind */
        assert_true(cupel_recipe_decode(contract, bytes, size - 1, &back)); /* one call, then */
        assert_int_equal(back.history, good[i].history);
        assert_int_equal(cupel_recipe_calls(&back), good[i].calls > 0);
        assert_true(cupel_recipe_decode(contract, bytes, size - 2, &back));
        assert_int_equal(back.history, CUPEL_HISTORY_NONE);
    }
    static const char *const bad[] = {
        "",       "repeat:", "repeat:0",  "repeat:13",          "repeat:3x",      "repeat: 3",
        "none:1", "other",   "repeat:-1", "repeat:99999999999", "other_shape:1:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(cupel_history_read(bad[i], &recipe));
}

/* Choices that are no finite numbers are kept in both forms, drawn, and told apart; others read as before. */
static void test_params_that_are_not_finite(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract =
        parsed("cupel: 1\n"
               "source: {file: k.cu}\n"
               "id: filled\n"
               "dims: {N: 1..64}\n"
               "params: {fill: {one_of: [0, -inf, nan, -1e4]}, end: inf}\n"
               "inputs: {x: 'f32[N]'}\n"
               "outputs: {y: 'f32[N]'}\n"
               "ensures: {y: 'where(x < end, x, fill)'}\n"
               "kernel: {entry: k, args: [x, y, fill, N], grid: [1], block: [32]}\n",
               arena);
    static const double choices[] = {0, -INFINITY, NAN, -1e4};
    int seen[4] = {0};
    for (int i = 0; i < 4; i++) {
        cupel_recipe recipe = drawn(contract, 3), back;
        uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
        char *text = NULL;
        recipe.params[0] = choices[i];
        assert_int_equal(cupel_recipe_repair(contract, &recipe, 0, NULL), CUPEL_OK);
        assert_int_equal(isnan(recipe.params[0]), isnan(choices[i]));
        assert_true(isnan(choices[i]) || recipe.params[0] == choices[i]);
        assert_true(recipe.params[1] == INFINITY);
        const size_t size = cupel_recipe_encode(contract, &recipe, bytes, sizeof bytes);
        assert_true(cupel_recipe_decode(contract, bytes, size, &back));
        assert_true(cupel_recipe_equal(contract, &recipe, &back));
        assert_int_equal(cupel_recipe_write(contract, &recipe, arena, &text, NULL), CUPEL_OK);
        assert_int_equal(cupel_recipe_read(contract, "case.yaml", text, strlen(text), &back, NULL), CUPEL_OK);
        assert_true(cupel_recipe_equal(contract, &recipe, &back));
        recipe.params[0] = INFINITY; /* is none of them */
        cupel_recipe_encode(contract, &recipe, bytes, sizeof bytes);
        assert_true(cupel_recipe_decode(contract, bytes, size, &back));
        assert_true(back.params[0] == 0);
    }
    for (uint64_t n = 0; n < 100; n++) {
        const double fill = drawn(contract, n).params[0];
        for (int i = 0; i < 4; i++) seen[i] += fill == choices[i] || (isnan(fill) && isnan(choices[i]));
    }
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0 && seen[3] > 0);
    assert_int_equal(seen[0] + seen[1] + seen[2] + seen[3], 100);
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_lossless),
        cmocka_unit_test(test_decoded_bytes_are_a_fixed_point),
        cmocka_unit_test(test_histories),
        cmocka_unit_test(test_params_that_are_not_finite),
        cmocka_unit_test(test_other_bytes_are_refused),
        cmocka_unit_test(test_yaml_reads_and_writes_this),
        cmocka_unit_test(test_yaml_errors_have_a_place),
        cmocka_unit_test(test_order_is_total),
        cmocka_unit_test(test_order_prefers_what_people_prefer),
        cmocka_unit_test(test_traits),
        cmocka_unit_test(test_describe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
