/* What a failure needs of its values: elements in a certain order along a reduced axis, upstream gradients
 * that differ; and what looks like it and is not. */
#include "minimiser_fixture.h"

static const char sums[] = "cupel: 1\n"
                           "id: sums\n"
                           "source: {file: fake.cu}\n"
                           "dims: {M: 1..64, N: 1..512}\n"
                           "inputs: {x: 'f32[M, N]'}\n"
                           "outputs: {y: 'f32[M]'}\n"
                           "ensures: {y: 'sum(x, axis=1)'}\n"
                           "kernel: {entry: fake, args: [x, y, M, N], grid: [M], block: [32]}\n";
static const char rows_of_softmax[] = "cupel: 1\n"
                                      "id: rows\n"
                                      "source: {file: fake.cu}\n"
                                      "dims: {M: 1..64, N: 1..512}\n"
                                      "inputs: {x: 'f32[M, N]'}\n"
                                      "outputs: {y: 'f32[M, N]'}\n"
                                      "ensures: {y: 'softmax(x, axis=1)'}\n"
                                      "kernel: {entry: fake, args: [x, y, M, N], grid: [M], block: [32]}\n";
static const char gradient[] = "cupel: 1\n"
                               "id: gradient\n"
                               "source: {file: fake.cu}\n"
                               "dims: {M: 1..64, N: 1..512}\n"
                               "inputs: {x: 'f32[M, N]', dy: 'f32[M, N]'}\n"
                               "outputs: {y: 'f32[M, N]'}\n"
                               "ensures: {y: 'vjp(relu(x), x, dy)'}\n"
                               "kernel: {entry: fake, args: [x, dy, y, M, N], grid: [M], block: [32]}\n";

/* Does fails(row, n) hold for some row of an input? */
static bool some_row(const cupel_contract *contract, const cupel_recipe *recipe, const char *input,
                     bool (*fails)(const float *row, int64_t n)) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_case *c = NULL;
    bool found = false;
    assert_int_equal(cupel_case_materialise(contract, recipe, arena, &c, NULL), CUPEL_OK);
    const cupel_case_tensor *x = &c->tensors[cupel_contract_tensor(contract, input)];
    for (int64_t m = 0; m < x->shape[0]; m++)
        found = found || fails((const float *)x->values + m * x->shape[1], x->shape[1]);
    cupel_arena_free(arena);
    return found;
}

/* A sum that ends at the first zero. */
static bool stops_early(const float *row, int64_t n) {
    float rest = 0;
    int64_t i = 0;
    while (i < n && row[i] != 0) i++;
    for (; i < n; i++) rest += row[i] < 0 ? -row[i] : row[i];
    return rest > 0;
}
/* A sum without its last element. */
static bool ignores_last(const float *row, int64_t n) {
    return row[n - 1] != 0;
}
/* A sum that is wrong where elements differ, in whatever order. */
static bool elements_differ(const float *row, int64_t n) {
    for (int64_t i = 1; i < n; i++)
        if (row[i] != row[0]) return true;
    return false;
}
static bool stops_at_zero(const cupel_contract *contract, const cupel_recipe *recipe) {
    return some_row(contract, recipe, "x", stops_early);
}
static bool drops_last(const cupel_contract *contract, const cupel_recipe *recipe) {
    return some_row(contract, recipe, "x", ignores_last);
}
static bool hates_variety(const cupel_contract *contract, const cupel_recipe *recipe) {
    return some_row(contract, recipe, "x", elements_differ);
}
/* Gradients that use one element of dy for all, or that are wrong whatever it is. */
static bool takes_one_cotangent(const cupel_contract *contract, const cupel_recipe *recipe) {
    return some_row(contract, recipe, "dy", elements_differ);
}
static bool always(const cupel_contract *contract, const cupel_recipe *recipe) {
    (void)contract, (void)recipe;
    return true;
}

typedef struct row {
    const char *contract;
    defect fails;
    bool gradient;
    int needs;
    cupel_gate gate;
} row;

static const row table[] = {
    {sums, stops_at_zero, false, CUPEL_TRAIT_ORDER, CUPEL_GATE_ORD_01},
    {sums, drops_last, false, 0, CUPEL_GATE_CMP_01},    /* equal elements fail too */
    {sums, hates_variety, false, 0, CUPEL_GATE_CMP_01}, /* so does every order */
    {sums, always, false, 0, CUPEL_GATE_CMP_01},
    {rows_of_softmax, stops_at_zero, false, 0, CUPEL_GATE_CMP_01}, /* no axis is wholly reduced */
    {gradient, takes_one_cotangent, true, CUPEL_TRAIT_COTANGENT, CUPEL_GATE_CMP_02},
    {gradient, always, true, 0, CUPEL_GATE_CMP_02}, /* a wrong gradient all the same */
    {gradient, tail, true, CUPEL_TRAIT_SHAPE, CUPEL_GATE_CMP_03},
};

static void plain(const cupel_contract *contract, cupel_recipe *recipe) {
    assert_int_equal(cupel_recipe_simple(contract, recipe, NULL), CUPEL_OK);
    recipe->dims[0] = 3, recipe->dims[1] = 7;
    recipe->permutation = 5;
    assert_int_equal(cupel_recipe_repair(contract, recipe, 0, NULL), CUPEL_OK);
}

static void failures_need_what_they_need(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cupel_arena *arena = cupel_arena_create(0);
        fake_kernel kernel = {.contract = fake_contract(arena, table[i].contract),
                              .fails = table[i].fails,
                              .kind = CUPEL_FINDING_WRONG_VALUE,
                              .gradient = table[i].gradient};
        cupel_recipe recipe;
        cupel_finding finding;
        cupel_minimise_report report = {0};
        const cupel_minimise_options plenty = {.max_tries = 4000, .seconds = 1e9};
        const cupel_predicate predicate = fake_predicate(&kernel);
        char signature[160];
        fake_signature(&kernel, signature, sizeof signature);
        plain(kernel.contract, &recipe);
        if (table[i].fails == tail) recipe.dims[1] = 200;
        assert_int_equal(
            cupel_minimise(kernel.contract, signature, &predicate, &plenty, &recipe, &finding, &report, NULL),
            CUPEL_OK);
        if (report.necessary_traits != table[i].needs || finding.gate != table[i].gate)
            fail_msg("defect %d: needs %d, is %s", (int)i, report.necessary_traits,
                     cupel_gate_id(finding.gate));
        assert_int_equal(recipe.permutation, 0);
        cupel_arena_free(arena);
    }
}

static void needs_have_words(void **state) {
    (void)state;
    char text[256];
    cupel_traits_describe(CUPEL_TRAIT_ORDER | CUPEL_TRAIT_COTANGENT, "", text, sizeof text);
    assert_string_equal(
        text, "the order of elements along a reduced axis, upstream gradients that differ by element");
    /* "nothing" does not deny what is said of sizes and variants beside it */
    static const struct {
        const char *region, *needs;
    } rows[] = {
        {"", "nothing in particular"},
        {"with values like these fails at every shape tried", "nothing in particular"},
        {"depends on the values: most others like them do not fail, even at this shape",
         "nothing in particular"},
        {"with values like these at M = 1 fails at every shape tried", "nothing in particular"},
        {"with values like these fails when N >= 257 (N = 1 .. 300 tried)",
         "nothing but what the region says"},
        {"fails only when N % 2 == 1; any values (N = 1 .. 40 tried)", "nothing but what the region says"},
        {"with values like these fails at N = 5, 9, 12, .. (N = 1 .. 40 tried)",
         "nothing but what the region says"},
        {"at N <= 258 fails at every shape tried", "nothing but what the region says"},
        {"fails at every shape tried; fails with BLOCK = 96, not with 64, 128",
         "nothing but what the region says"},
        {"fails at every shape tried; fails with BLOCK = 64, 96", "nothing in particular"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cupel_traits_describe(0, rows[i].region, text, sizeof text);
        assert_string_equal(text, rows[i].needs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(failures_need_what_they_need),
                                       cmocka_unit_test(needs_have_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
