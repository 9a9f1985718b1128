/* Searches through the supervisor, for each engine: starts come first, interesting recipes are handed out,
 * and a seed and a number of cases decide everything, a worker's deaths included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "host_fixture.h"

enum { KEPT_MAX = 512 };
static const uint64_t memory = 200 << 20;

typedef struct encoded_recipe {
    uint8_t bytes[CUPEL_RECIPE_BYTES_MAX];
    size_t size;
} encoded_recipe;

typedef struct search_log {
    const cupel_contract *contract;
    int suspects, interesting;
    uint64_t suspect_at[64];
    encoded_recipe kept[KEPT_MAX];
    cupel_progress last;
} search_log;

static bool on_suspect(void *self, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    search_log *log = self;
    (void)recipe;
    if (log->suspects < 64) log->suspect_at[log->suspects] = suspicion->n;
    log->suspects++;
    return true;
}

static bool on_progress(void *self, const cupel_progress *progress) {
    search_log *log = self;
    log->last = *progress;
    return true;
}

static void on_interesting(void *self, const cupel_recipe *recipe) {
    search_log *log = self;
    if (log->interesting < KEPT_MAX) {
        encoded_recipe *kept = &log->kept[log->interesting];
        kept->size = cupel_recipe_encode(log->contract, recipe, kept->bytes, sizeof kept->bytes);
        assert_true(kept->size > 0);
    }
    log->interesting++;
}

static void run(host_fixture *f, cupel_search_options options, search_log *log, cupel_scoreboard *board) {
    memset(log, 0, sizeof *log);
    log->contract = f->contract;
    options.limits.max_elements = 2000;
    cupel_search_callbacks callbacks = {log, on_suspect, on_progress, on_interesting};
    cupel_error err = {0};
    cupel_code code = cupel_supervisor_search(f->supervisor, &options, &callbacks, board, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
}

static const char *const engines[] = {"draw", "libfuzzer"};
enum { ENGINES = 2 };

static void open_candidate(host_fixture *f, const char *symbol) {
    host_fixture_start(f, symbol, "");
    host_fixture_open(f, 5, memory);
}

/* The recipe with N elements brings a cell of its own each time, so that the order shows. */
static void starts_are_tried_first(void **state) {
    (void)state;
    static search_log log;
    static cupel_scoreboard board;
    host_fixture f;
    open_candidate(&f, "right");
    cupel_recipe starts[4];
    for (int i = 0; i < 4; i++) {
        starts[i] = host_fixture_recipe(&f, 3 + i);
        starts[i].tensors[0].pattern = (cupel_pattern)(CUPEL_PATTERN_CONSTANT + i);
        starts[i].tensors[0].amplitude = 1;
    }
    for (int e = 0; e < ENGINES; e++) {
        if (!cupel_engine_find(engines[e])) continue;
        run(&f, (cupel_search_options){.engine = engines[e], .cases = 4, .start_count = 4, .starts = starts},
            &log, &board);
        assert_int_equal(board.cases, 4);
        assert_int_equal(board.smallest[0], 3);
        assert_int_equal(board.largest[0], 6);
        assert_int_equal(log.interesting, 4);
        assert_int_equal(log.last.corpus, 4);
        assert_true(log.last.features >= 4);
        for (int i = 0; i < 4; i++) {
            cupel_recipe seen, legal = starts[i];
            assert_int_equal(cupel_recipe_repair(f.contract, &legal, 2000, NULL), CUPEL_OK);
            assert_true(cupel_recipe_decode(f.contract, log.kept[i].bytes, log.kept[i].size, &seen));
            assert_true(cupel_recipe_equal(f.contract, &seen, &legal));
        }
    }
    host_fixture_stop(&f);
}

/* Nothing that is interesting comes twice, and it comes in one order. */
static void searches_repeat(void **state) {
    (void)state;
    static const char *symbols[] = {"right", "swallows_nan", "leaves_rarely"};
    static search_log one, two;
    static cupel_scoreboard first, second;
    for (int s = 0; s < 3; s++)
        for (int e = 0; e < ENGINES; e++) {
            if (!cupel_engine_find(engines[e])) continue;
            host_fixture f;
            open_candidate(&f, symbols[s]);
            cupel_recipe start = host_fixture_recipe(&f, 1500);
            cupel_search_options options = {
                .engine = engines[e], .seed = 5, .cases = 700, .start_count = 1, .starts = &start};
            run(&f, options, &one, &first);
            run(&f, options, &two, &second);
            assert_memory_equal(&first, &second, sizeof first);
            assert_int_equal(first.cases, 700);
            assert_int_equal(one.suspects, two.suspects);
            assert_int_equal(one.suspects > 0, s > 0);
            assert_memory_equal(one.suspect_at, two.suspect_at, sizeof one.suspect_at);
            assert_int_equal(one.last.restarts, two.last.restarts);
            assert_int_equal(one.last.restarts > 0, s == 2);
            assert_int_equal(one.last.features, two.last.features);
            assert_true(one.interesting > 20);
            assert_int_equal(one.interesting, two.interesting);
            assert_int_equal(one.last.corpus, one.interesting);
            assert_memory_equal(one.kept, two.kept, sizeof one.kept);
            for (int i = 0; i < one.interesting && i < KEPT_MAX; i++)
                for (int k = 0; k < i; k++)
                    assert_false(one.kept[i].size == one.kept[k].size &&
                                 !memcmp(one.kept[i].bytes, one.kept[k].bytes, one.kept[i].size));
            host_fixture_stop(&f);
        }
}

/* A death among the starts: the others are tried all the same, each once. */
static void starts_survive_a_death(void **state) {
    (void)state;
    static search_log log;
    static cupel_scoreboard board;
    host_fixture f;
    open_candidate(&f, "gives_up");
    cupel_recipe starts[3];
    for (int i = 0; i < 3; i++) starts[i] = host_fixture_recipe(&f, 5 + i);
    for (int e = 0; e < ENGINES; e++) {
        if (!cupel_engine_find(engines[e])) continue;
        run(&f, (cupel_search_options){.engine = engines[e], .cases = 3, .start_count = 3, .starts = starts},
            &log, &board);
        assert_int_equal(board.cases, 3);
        assert_int_equal(board.smallest[0], 5);
        assert_int_equal(board.largest[0], 7);
    }
    host_fixture_stop(&f);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return cupel_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_are_tried_first),
        cmocka_unit_test(searches_repeat),
        cmocka_unit_test(starts_survive_a_death),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
