/* Engines over a candidate that is made up: what it covers and how close it comes is a function of the
 * recipe.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine.h"

static const char text[] = "cupel: 1\n"
                           "source: {file: k.cu}\n"
                           "id: made-up\n"
                           "dims: {A: 1..200, B: 1..200, C: 1..200}\n"
                           "inputs: {x: 'f32[A, B]', y: 'f32[C]'}\n"
                           "outputs: {z: 'f32[A, B]'}\n"
                           "ensures: {z: 'x'}\n"
                           "kernel: {entry: k, args: [x, y, z, A, B, C], grid: [A], block: [32]}\n";

/* libFuzzer's driver is left by a jump: what it holds is lost. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:engine_libfuzzer.c";
}

enum { EDGES = 8, SEEN_MAX = 4096 };

typedef struct made_up {
    const cupel_contract *contract;
    void (*behave)(struct made_up *m, const cupel_recipe *recipe, cupel_feedback *feedback);
    bool no_news;             /* the engine is told what is covered, not what is new */
    bool blind;               /* the engine is told nothing */
    uint64_t tried, found_at; /* 0: not found */
    uint64_t stop_after;      /* 0: when found */
    uint64_t fingerprint;     /* of all recipes in order */
    uint64_t first_n, last_n;
    uint8_t coverage[EDGES], covered[EDGES];
    int climbed;
    int64_t dims[SEEN_MAX][3];
} made_up;

static cupel_arena *arena;
static const cupel_contract *contract;

static int load(void **state) {
    (void)state;
    cupel_contracts contracts;
    cupel_error err;
    arena = cupel_arena_create(0);
    if (cupel_contracts_parse("k.yaml", text, strlen(text), true, arena, &contracts, &err) != CUPEL_OK) {
        print_message("%s\n", err.text);
        return 1;
    }
    contract = contracts.items[0];
    return 0;
}

static int unload(void **state) {
    (void)state;
    cupel_arena_free(arena);
    return 0;
}

static void imprint(made_up *m, const cupel_recipe *recipe) {
    static uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    size_t size = cupel_recipe_encode(contract, recipe, bytes, sizeof bytes);
    assert_true(size > 0);
    for (size_t i = 0; i < size; i++) m->fingerprint = (m->fingerprint ^ bytes[i]) * UINT64_C(1099511628211);
}

static bool try_one(void *self, uint64_t n, const cupel_recipe *recipe, cupel_feedback *feedback) {
    made_up *m = self;
    if (!m->tried) m->first_n = n;
    m->last_n = n;
    if (m->tried < SEEN_MAX)
        for (int d = 0; d < 3; d++) m->dims[m->tried][d] = recipe->dims[d];
    m->tried++;
    imprint(m, recipe);
    memset(m->coverage, 0, sizeof m->coverage);
    m->behave(m, recipe, feedback);
    if (feedback->finding && !m->found_at) m->found_at = m->tried;
    if (m->no_news) feedback->news = 0;
    if (m->blind) *feedback = (cupel_feedback){0};
    return m->stop_after ? m->tried < m->stop_after : !m->found_at;
}

static made_up search(const char *engine, made_up m, cupel_search s) {
    cupel_error err = {0};
    s.contract = contract;
    s.self = &m;
    s.try_one = try_one;
    s.limits.max_elements = 65536;
    assert_int_equal(cupel_engine_find(engine)->run(&s, &err), CUPEL_OK);
    return m;
}

/* ---- candidates ---- */

static void cover(made_up *m, int edge, cupel_feedback *feedback) {
    m->coverage[edge] = 1;
    if (!m->covered[edge]) feedback->news |= CUPEL_NEWS_EDGE;
    m->covered[edge] = 1;
    feedback->coverage = m->coverage;
    feedback->coverage_count = EDGES;
}

static void plain(made_up *m, const cupel_recipe *recipe, cupel_feedback *feedback) {
    (void)recipe;
    cover(m, 0, feedback);
}

/* Wrong only where three conditions hold, each in a branch behind the one before. */
static void nested(made_up *m, const cupel_recipe *recipe, cupel_feedback *feedback) {
    cover(m, 0, feedback);
    if (recipe->dims[0] / 20 != 9) return;
    cover(m, 1, feedback);
    if (recipe->dims[1] / 10 != 11) return;
    cover(m, 2, feedback);
    feedback->finding = recipe->dims[2] / 10 == 5;
}

/* No branch to see; the error grows towards one shape. */
static void climbing(made_up *m, const cupel_recipe *recipe, cupel_feedback *feedback) {
    static const int64_t peak[] = {87, 113, 59};
    double distance = 0;
    for (int d = 0; d < 3; d++) distance += fabs((double)(recipe->dims[d] - peak[d]));
    double ratio = exp2(-distance / 12);
    feedback->climb_count = 1;
    feedback->climbs[0] = (cupel_climb){3, (uint8_t)cupel_closeness_steps(ratio)};
    feedback->finding = distance <= 3;
    if (feedback->climbs[0].steps <= m->climbed) return;
    m->climbed = feedback->climbs[0].steps;
    feedback->news |= CUPEL_NEWS_CLIMB;
}

/* Wrong in a cell of traits that is one step from another rare one. */
static void by_cells(made_up *m, const cupel_recipe *recipe, cupel_feedback *feedback) {
    feedback->cell_count = 1;
    feedback->cells[0] = (uint32_t)(recipe->dims[0] / 4 * 77 + recipe->tensors[0].pattern);
    (void)m;
}

/* ---- tests ---- */

static void engines_are_found_by_name(void **state) {
    (void)state;
    assert_string_equal(cupel_engine_find("draw")->name, "draw");
    assert_null(cupel_engine_find("psychic"));
    assert_null(cupel_engine_missing("psychic"));
    assert_null(cupel_engine_missing("draw"));
    assert_int_equal(cupel_engine_find("libfuzzer") != NULL, HAS_LIBFUZZER);
    assert_string_equal(cupel_engine_default(), HAS_LIBFUZZER ? "libfuzzer" : "draw");
    if (HAS_LIBFUZZER)
        assert_null(cupel_engine_missing("libfuzzer"));
    else
        assert_non_null(strstr(cupel_engine_missing("libfuzzer"), "libclang-rt-14-dev"));
}

static void searches_repeat(void **state) {
    (void)state;
    static const char *const engines[] = {"draw", "libfuzzer"};
    for (int e = 0; e < 2; e++) {
        if (!cupel_engine_find(engines[e])) continue;
        static made_up m, one, two, other;
        m = (made_up){.behave = nested, .stop_after = UINT64_MAX};
        cupel_search s = {.seed = 9, .count = 3000};
        one = search(engines[e], m, s);
        two = search(engines[e], m, s);
        s.seed = 10;
        other = search(engines[e], m, s);
        assert_int_equal(one.tried, 3000);
        assert_int_equal(one.first_n, 0);
        assert_int_equal(one.last_n, 2999);
        assert_true(one.fingerprint == two.fingerprint);
        assert_true(one.fingerprint != other.fingerprint);
    }
}

/* Stopping is believed at once, and the number of cases is kept to. */
static void searches_end(void **state) {
    (void)state;
    static made_up m;
    for (uint64_t after = 1; after < 700; after = after * 3 + 1) {
        m = search(cupel_engine_default(), (made_up){.behave = plain, .stop_after = after},
                   (cupel_search){.seed = 1});
        assert_int_equal(m.tried, after);
        m = search(cupel_engine_default(), (made_up){.behave = plain, .stop_after = UINT64_MAX},
                   (cupel_search){.seed = 1, .first = 12, .count = after});
        assert_int_equal(m.tried, after);
        assert_int_equal(m.first_n, 12);
        assert_int_equal(m.last_n, 11 + after);
    }
}

static cupel_encoded encoded(int64_t a, int64_t b, int64_t c) {
    cupel_recipe recipe;
    uint8_t *bytes = malloc(CUPEL_RECIPE_BYTES_MAX);
    assert_non_null(bytes);
    assert_int_equal(cupel_recipe_simple(contract, &recipe, NULL), CUPEL_OK);
    recipe.dims[0] = a, recipe.dims[1] = b, recipe.dims[2] = c;
    return (cupel_encoded){bytes, cupel_recipe_encode(contract, &recipe, bytes, CUPEL_RECIPE_BYTES_MAX),
                           CUPEL_NEWS_EDGE};
}

static void free_encoded(cupel_encoded *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes;
        memcpy(&bytes, &list[i].bytes, sizeof bytes);
        free(bytes);
    }
}

/* Starts in order, then the very draws of the undirected search. */
static void starts_and_draws_come_first(void **state) {
    (void)state;
    static made_up directed, undirected;
    cupel_encoded starts[] = {encoded(5, 6, 7), encoded(8, 9, 10)};
    cupel_search s = {.seed = 4, .count = 200, .start_count = 2, .starts = starts};
    made_up m = {.behave = plain, .stop_after = UINT64_MAX};
    directed = search(cupel_engine_default(), m, s);
    undirected = search("draw", m, s);
    assert_int_equal(directed.dims[0][0], 5);
    assert_int_equal(directed.dims[1][2], 10);
    assert_true(directed.fingerprint == undirected.fingerprint);
    m.fingerprint = 0;
    s = (cupel_search){.seed = 4, .count = 198};
    undirected = search("draw", m, s);
    for (int i = 0; i < 198; i++)
        assert_memory_equal(directed.dims[i + 2], undirected.dims[i], sizeof undirected.dims[i]);
    free_encoded(starts, 2);
}

/* A worker that died goes on behind its case: the other starts are tried, nothing twice. */
static void later_parts_go_on(void **state) {
    (void)state;
    static made_up m;
    cupel_encoded starts[] = {encoded(5, 6, 7), encoded(8, 9, 10), encoded(11, 12, 13)};
    cupel_search s = {.seed = 4, .first = 2, .count = 40, .start_count = 3, .starts = starts};
    m = search(cupel_engine_default(), (made_up){.behave = plain, .stop_after = UINT64_MAX}, s);
    assert_int_equal(m.first_n, 2);
    assert_int_equal(m.dims[0][0], 11);
    static made_up whole;
    s.first = 0;
    whole = search(cupel_engine_default(), (made_up){.behave = plain, .stop_after = UINT64_MAX}, s);
    for (int i = 0; i < 38; i++) assert_memory_equal(m.dims[i], whole.dims[i + 2], sizeof m.dims[i]);
    free_encoded(starts, 3);
}

enum { SEEDS = 3 };

static int by_size(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Median over seeds of the cases until a find; limit where it is not found. */
static uint64_t median(const char *engine, made_up m, cupel_search s, uint64_t limit) {
    uint64_t found[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        s.seed = seed + 1;
        s.count = limit;
        static made_up after;
        after = search(engine, m, s);
        found[seed] = after.found_at ? after.found_at : limit;
    }
    qsort(found, SEEDS, sizeof *found, by_size);
    return found[SEEDS / 2];
}

static void branches_guide(void **state) {
    (void)state;
    if (!HAS_LIBFUZZER) skip();
    enum { LIMIT = 20000 };
    uint64_t directed = median("libfuzzer", (made_up){.behave = nested}, (cupel_search){0}, LIMIT);
    print_message("nested conditions: %llu cases\n", (unsigned long long)directed);
    assert_true(directed < LIMIT / 2);
    assert_true(median("draw", (made_up){.behave = nested}, (cupel_search){0}, 5 * directed) == 5 * directed);
    /* the same search that is told nothing: it is the counters that guide */
    assert_true(median("libfuzzer", (made_up){.behave = nested, .blind = true}, (cupel_search){0},
                       5 * directed) == 5 * directed);
}

/* Without the front of the search it is libFuzzer's corpus alone that guides: the counters arrive. */
static void counters_guide(void **state) {
    (void)state;
    if (!HAS_LIBFUZZER) skip();
    enum { LIMIT = 20000 };
    uint64_t directed =
        median("libfuzzer", (made_up){.behave = nested, .no_news = true}, (cupel_search){0}, LIMIT);
    print_message("nested conditions, counters alone: %llu cases\n", (unsigned long long)directed);
    assert_true(directed < LIMIT);
    assert_true(median("libfuzzer", (made_up){.behave = nested, .blind = true}, (cupel_search){0},
                       3 * directed) == 3 * directed);
}

static void closeness_guides(void **state) {
    (void)state;
    if (!HAS_LIBFUZZER) skip();
    enum { LIMIT = 20000 };
    uint64_t directed = median("libfuzzer", (made_up){.behave = climbing}, (cupel_search){0}, LIMIT);
    print_message("closeness: %llu cases\n", (unsigned long long)directed);
    assert_true(directed < LIMIT / 2);
    assert_true(median("draw", (made_up){.behave = climbing}, (cupel_search){0}, 3 * directed) ==
                3 * directed);
    assert_true(median("libfuzzer", (made_up){.behave = climbing, .blind = true}, (cupel_search){0},
                       3 * directed) == 3 * directed);
}

/* What an earlier part found is worth changing: with the second of three conditions in the corpus the third
 * is near. */
static void corpus_is_used(void **state) {
    (void)state;
    if (!HAS_LIBFUZZER) skip();
    enum { LIMIT = 20000 };
    cupel_encoded corpus[] = {encoded(4, 4, 4), encoded(9, 9, 9), encoded(187, 113, 20)};
    cupel_search s = {.first = 5000, .corpus_count = 3, .corpus = corpus};
    uint64_t with = median("libfuzzer", (made_up){.behave = nested}, s, LIMIT);
    s.corpus_count = 0;
    uint64_t without = median("libfuzzer", (made_up){.behave = nested}, s, LIMIT);
    print_message("corpus: %llu cases with, %llu without\n", (unsigned long long)with,
                  (unsigned long long)without);
    assert_true(2 * with < without);
    free_encoded(corpus, 3);
}

/* More interesting recipes than there is room for marks do no harm. */
static void large_corpora_are_taken(void **state) {
    (void)state;
    if (!HAS_LIBFUZZER) skip();
    enum { MANY = 3000 };
    static cupel_encoded corpus[MANY];
    for (int i = 0; i < MANY; i++) corpus[i] = encoded(1 + i % 200, 1 + i / 200, 3);
    static made_up m;
    m = search(
        "libfuzzer", (made_up){.behave = by_cells, .stop_after = UINT64_MAX},
        (cupel_search){.seed = 2, .first = 500, .count = 1000, .corpus_count = MANY, .corpus = corpus});
    assert_int_equal(m.tried, 1000);
    free_encoded(corpus, MANY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_are_found_by_name),
        cmocka_unit_test(searches_repeat),
        cmocka_unit_test(searches_end),
        cmocka_unit_test(starts_and_draws_come_first),
        cmocka_unit_test(later_parts_go_on),
        cmocka_unit_test(branches_guide),
        cmocka_unit_test(counters_guide),
        cmocka_unit_test(closeness_guides),
        cmocka_unit_test(corpus_is_used),
        cmocka_unit_test(large_corpora_are_taken),
    };
    return cmocka_run_group_tests_name("engine", tests, load, unload);
}
