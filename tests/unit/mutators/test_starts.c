/* Starting recipes: the files are good, they fit every contract, they hold what they say. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recipe_fixtures.h"
#include "schedule.h"
#include "starts.h"
#include "starts_family.h"

static cupel_start_family embedded(const cupel_starts_embedded_file *f, cupel_arena *arena) {
    cupel_start_family family;
    cupel_error err = {0};
    if (cupel_starts_read(f->name, (const char *)f->start, (size_t)(f->stop - f->start), arena, &family,
                          &err) != CUPEL_OK)
        fail_msg("%s:%d:%d: %s", err.file, err.line, err.column, err.text);
    return family;
}

/* Every file is read whole, and every start gives a recipe for some contract of its family. */
static void test_embedded_files(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    int families = 0, starts = 0, general = 0;
    for (const cupel_starts_embedded_file *f = cupel_starts_embedded_files; f->name != NULL; f++) {
        cupel_start_family family = embedded(f, arena);
        char name[64];
        snprintf(name, sizeof name, "%s.yaml", family.name);
        assert_string_equal(name, f->name);
        for (int i = 0; i < family.start_count; i++)
            for (int k = 0; k < i; k++)
                if (strcmp(family.starts[i].name, family.starts[k].name) == 0)
                    fail_msg("%s:%d: '%s' stands here twice", f->name, family.starts[i].line,
                             family.starts[i].name);
        general += family.general, families++, starts += family.start_count;
    }
    print_message("%d families, %d starts\n", families, starts);
    assert_int_equal(general, 1);
    assert_true(families >= 10 && starts >= 100);
    cupel_arena_free(arena);
}

typedef struct mistake {
    const char *text;
    int line;
    const char *message; /* a part of it */
} mistake;

static void test_mistakes_are_named(void **state) {
    (void)state;
    static const mistake table[] = {
        {"", 1, "found nothing"},
        {"- 1\n", 1, "expected a map"},
        {"family: a\nfunctions: any\n", 1, "'starts' is missing"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x}\nstart: 1\n", 5, "did you mean 'starts'"},
        {"family: a\nfamily: b\n", 2, "twice"},
        {"family: a\nfunctions: [softmx]\n", 2, "unknown function 'softmx'"},
        {"family: a\nfunctions: []\n", 2, "at least one function"},
        {"family: a\nfunctions: any\nstarts: []\n", 3, "at least one start"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x}\n  - {pattern: one}\n", 5, "needs a name"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, patern: one}\n", 4, "did you mean 'pattern'"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, pattern: norml}\n", 4, "did you mean 'normal'"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, special: inf}\n", 4, "unknown special value"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, place: row}\n", 4, "needs a 'special'"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, at: last}\n", 4, "needs a 'set'"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, amplitude: inf}\n", 4, "finite number"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, amplitude: 3x}\n", 4, "found '3x'"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, seed: 0}\n", 4, "expected a seed"},
        {"family: a\nfunctions: any\nstarts:\n  - name: x\n    extents: [1, tile*2]\n", 5,
         "expected an extent"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, extents: [-1]}\n", 4, "expected an extent"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, extents: []}\n", 4, "1 to 12 extents"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, others: [3]}\n", 4, "found a list"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x, others: source}\n", 4, "expected an extent"},
        {"family: a\nfunctions: any\nstarts:\n  - {name: x\n", 5, "not valid YAML"},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cupel_start_family family;
        cupel_error err = {0};
        assert_int_not_equal(
            cupel_starts_read("a.yaml", table[i].text, strlen(table[i].text), arena, &family, &err),
            CUPEL_OK);
        if (err.line != table[i].line || strstr(err.text, table[i].message) == NULL)
            fail_msg("%s\nline %d: %s", table[i].text, err.line, err.text);
        assert_string_equal(err.file, "a.yaml");
    }
    cupel_arena_free(arena);
}

static cupel_recipe *starts_of(const cupel_contract *contract, const cupel_limits *limits, cupel_arena *arena,
                               int *count) {
    cupel_recipe *recipes = NULL;
    cupel_error err = {0};
    if (cupel_starts_for(contract, limits, arena, count, &recipes, &err) != CUPEL_OK)
        fail_msg("%s", err.text);
    return recipes;
}

static void expect_good(const cupel_contract *contract, cupel_arena *arena) {
    int count, again_count;
    cupel_recipe *recipes = starts_of(contract, NULL, arena, &count),
                 *again = starts_of(contract, NULL, arena, &again_count);
    assert_true(count > 0 && count <= CUPEL_STARTS_MAX);
    assert_int_equal(count, again_count);
    for (int i = 0; i < count; i++) {
        cupel_recipe repaired = recipes[i];
        assert_memory_equal(&recipes[i], &again[i], sizeof *recipes);
        assert_int_equal(cupel_recipe_repair(contract, &repaired, INT64_C(1) << 40, NULL), CUPEL_OK);
        assert_true(cupel_recipe_equal(contract, &repaired, &recipes[i]));
        for (int k = 0; k < i; k++) {
            cupel_recipe like = recipes[k];
            like.schedule = recipes[i].schedule, like.poison = recipes[i].poison;
            like.history = recipes[i].history, like.calls = recipes[i].calls;
            assert_false(cupel_recipe_equal(contract, &like, &recipes[i]));
        }
    }
}

static void test_starts_are_legal_and_distinct(void **state) {
    (void)state;
    cupel_random random = cupel_random_start(3, 3);
    cupel_arena *arena = cupel_arena_create(0), *cases = cupel_arena_create(0);
    for (int i = 0; i < 25 + FIXTURE_COUNT; i++) {
        const cupel_contract *contract = i < FIXTURE_COUNT
                                             ? fixture((enum fixture)i)
                                             : parsed(random_contract_text(&random, arena), arena);
        expect_good(contract, cases);
        cupel_arena_reset(cases);
    }
    cupel_arena_free(cases);
    cupel_arena_free(arena);
}

static const cupel_contract *contract_of(const char *dims, const char *inputs, const char *output,
                                         const char *ensures, cupel_arena *arena) {
    return parsed(
        cupel_arena_printf(arena,
                           "cupel: 1\nsource: {file: k.cu}\nid: a\ndims: {%s}\ntypes: {T: [f32, f16]}\n"
                           "inputs: {%s}\noutputs: {y: '%s'}\nensures: {y: '%s'}\n"
                           "kernel: {entry: k<$T>, args: [y, M, N], grid: [M], block: [128]}\n",
                           dims, inputs, output, ensures),
        arena);
}

/* Elements of all tensors of a start. */
static int64_t elements(const cupel_contract *contract, const cupel_recipe *recipe) {
    cupel_binding binding;
    assert_int_equal(cupel_recipe_binding(contract, recipe, &binding, NULL), CUPEL_OK);
    return cupel_dimensions_total(&binding);
}

typedef struct seen {
    unsigned ways, histories;
    bool leading, row, equal_large, single, past_tile, one, narrow, empty;
    int64_t most;
} seen;

static seen look(const cupel_contract *contract, const char *input, cupel_arena *arena) {
    int count, t = cupel_contract_tensor(contract, input), d = cupel_contract_dim(contract, "N");
    cupel_recipe *recipes = starts_of(contract, NULL, arena, &count);
    cupel_arena *cases = cupel_arena_create(0);
    seen s = {0};
    for (int i = 0; i < count; i++) {
        const cupel_case *c = materialised(contract, &recipes[i], cases);
        int64_t n = recipes[i].dims[d], size = elements(contract, &recipes[i]), infinite = 0;
        if (size > s.most) s.most = size;
        s.ways |= 1u << cupel_schedule_unpack(recipes[i].schedule).way,
            s.histories |= 1u << recipes[i].history;
        s.past_tile |= n == 129, s.one |= n == 1, s.narrow |= recipes[i].types[0] == 1, s.empty |= size == 0;
        for (int64_t k = 0; k < c->tensors[t].count; k++) infinite += value_at(c, t, k) == -INFINITY;
        bool equal = c->tensors[t].count > 4;
        for (int64_t k = 1; k < c->tensors[t].count; k++) equal &= value_at(c, t, k) == value_at(c, t, 0);
        s.equal_large |= equal && value_at(c, t, 0) >= 1000;
        s.single |= infinite == 1, s.row |= infinite == n && n > 32;
        if (n == 257) /* longer than a tile of 128, in every row */
            s.leading |= infinite >= 128 * 3 && value_at(c, t, 0) == -INFINITY &&
                         value_at(c, t, 127) == -INFINITY && isfinite(value_at(c, t, n - 1));
    }
    cupel_arena_free(cases);
    return s;
}

static void test_softmax_gets_its_starts(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract =
        contract_of("M: 1..512, N: 1..8192", "x: 'T[M, N]'", "T[M, N]", "softmax(x, axis=-1)", arena);
    seen s = look(contract, "x", arena);
    assert_true(s.leading && s.row && s.equal_large && s.single && s.past_tile && s.one && s.narrow);
    assert_true(!s.empty && s.most <= 16384);
    /* every way of taking turns but the canonical one, every history */
    assert_int_equal(s.ways | 1, (1u << CUPEL_SCHEDULE_WAY_COUNT) - 1);
    assert_int_equal(s.histories, (1u << CUPEL_HISTORY_COUNT) - 1);
    cupel_arena_free(arena);
}

/* Nothing that the contract does not claim; empty tensors where it does. */
static void test_claims_are_kept(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract = contract_of(
        "M: 1..512, N: 0..60", "x: {type: T, shape: [M, N], range: [-2, 2]}", "T[M, N]", "exp(x)", arena);
    seen s = look(contract, "x", arena);
    assert_true(s.empty && !s.past_tile && !s.leading && !s.equal_large && !s.single);
    cupel_arena_free(arena);
}

static bool family_applies(const char *name, const cupel_contract *contract, cupel_arena *arena) {
    for (const cupel_starts_embedded_file *f = cupel_starts_embedded_files; f->name != NULL; f++) {
        cupel_start_family family = embedded(f, arena);
        if (strcmp(family.name, name) == 0) return cupel_starts_apply(contract, &family);
    }
    fail_msg("no family %s", name);
    return false;
}

static void test_families_are_found(void **state) {
    (void)state;
    static const struct {
        const char *ensures, *yes, *no;
    } table[] = {
        {"softmax(x, axis=-1)", "softmax", "pointwise"},
        {"2 * softmax(x, axis=-1)", "pointwise", "norm"},
        {"relu(x - amax(x, axis=-1, keepdim=true))", "reduction", "softmax"},
        {"cumsum(x, axis=-1)", "scan", "reduction"},
        {"rms_norm(x)", "norm", "scan"},
        {"matmul(matmul(x, transpose(x)), x)", "product", "norm"},
        {"x", "general", "pointwise"},
    };
    cupel_arena *arena = cupel_arena_create(0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const cupel_contract *contract =
            contract_of("M: 1..512, N: 1..512", "x: 'T[M, N]'", "T[M, N]", table[i].ensures, arena);
        assert_true(family_applies(table[i].yes, contract, arena));
        assert_false(family_applies(table[i].no, contract, arena));
        assert_true(family_applies("general", contract, arena));
    }
    cupel_arena_free(arena);
}

/* Through `define` too. */
static void test_families_behind_definitions(void **state) {
    (void)state;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract =
        parsed("cupel: 1\nsource: {file: k.cu}\nid: a\ndims: {M: 1..9, N: 1..9}\ninputs: {x: 'f32[M, N]'}\n"
               "outputs: {y: 'f32[M, N]'}\ndefine: {s: 'softmax(x, axis=-1)'}\nensures: {y: s}\n"
               "kernel: {entry: k, args: [x, y], grid: [M], block: [32]}\n",
               arena);
    assert_true(family_applies("softmax", contract, arena));
    cupel_arena_free(arena);
}

/* The sizes that the kernel's source speaks of are tiles as well. */
static void test_tiles_of_the_source(void **state) {
    (void)state;
    static const cupel_dictionary mined = {
        .word_count = 2, .words = {{7, -1, CUPEL_WORD_COMPARED}, {50, -1, CUPEL_WORD_SIZE}}};
    const cupel_limits with = {.dictionary = &mined};
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract =
        contract_of("M: 1..512, N: 1..8192", "x: 'T[M, N]'", "T[M, N]", "cumsum(x, axis=-1)", arena);
    for (int pass = 0; pass < 2; pass++) {
        int count, beside = 0;
        cupel_recipe *recipes = starts_of(contract, pass ? &with : NULL, arena, &count);
        for (int i = 0; i < count; i++) beside += recipes[i].dims[1] == 51 || recipes[i].dims[1] == 101;
        assert_true(pass ? beside >= 2 : beside == 0);
    }
    cupel_arena_free(arena);
}

/* A remainder that the source compares, past what else it compares; what it compares, and one more. */
static void test_extents_of_the_source(void **state) {
    (void)state;
    static const cupel_dictionary mined = {
        .word_count = 3,
        .words = {{97, 7, CUPEL_WORD_MODULUS}, {200, -1, CUPEL_WORD_COMPARED}, {61, -1, CUPEL_WORD_PLAIN}}};
    const cupel_limits with = {.dictionary = &mined};
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_contract *contract =
        contract_of("M: 1..512, N: 1..8192", "x: 'T[M, N]'", "T[M, N]", "2 * x", arena);
    for (int pass = 0; pass < 2; pass++) {
        int count, rare = 0, equal = 0, above = 0, plain = 0;
        cupel_recipe *recipes = starts_of(contract, pass ? &with : NULL, arena, &count);
        for (int i = 0; i < count; i++) {
            int64_t n = recipes[i].dims[1];
            rare += n % 97 == 7 && n > 200, equal += n == 200, above += n == 201, plain += n == 61;
        }
        assert_true((rare > 0) == pass && (equal > 0) == pass && (above > 0) == pass && plain == 0);
    }
    cupel_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedded_files),
        cmocka_unit_test(test_mistakes_are_named),
        cmocka_unit_test(test_starts_are_legal_and_distinct),
        cmocka_unit_test(test_softmax_gets_its_starts),
        cmocka_unit_test(test_claims_are_kept),
        cmocka_unit_test(test_families_are_found),
        cmocka_unit_test(test_families_behind_definitions),
        cmocka_unit_test(test_tiles_of_the_source),
        cmocka_unit_test(test_extents_of_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
