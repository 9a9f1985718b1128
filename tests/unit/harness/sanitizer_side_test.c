/* The sanitizer's worker beside a search: what it takes, what it shows, and that its end harms nobody. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sanitizer_side.h"
#include "supervisor_impl.h"

/* Each thread reads its neighbour's value without a barrier, which gives the right result nearly always. */
static const char kernel[] = "/* cupel: 1\n"
                             "id: neighbours\n"
                             "dims: {N: 1..64}\n"
                             "inputs: {x: 'f32[N]'}\n"
                             "outputs: {y: 'f32[N]'}\n"
                             "ensures: {y: 'x'}\n"
                             "kernel: {entry: copy, args: [x, y, N], grid: [1], block: [64]}\n"
                             "*/\n"
                             "__global__ void copy(const float *x, float *y, int n) {\n"
                             "    __shared__ float values[64];\n"
                             "    const int t = threadIdx.x;\n"
                             "    values[t] = t < n ? x[t] : 0.0f;\n"
                             "    if (63 - t < n) y[63 - t] = values[63 - t];\n"
                             "}\n";
enum { STORE_LINE = 12, LOAD_LINE = 13 };

static char folder[64], path[96], cache[96];
static cupel_arena *arena;
static const cupel_contract *contract;
static cupel_supervisor_options options;

static int setup(void **state) {
    (void)state;
    cupel_contracts contracts;
    cupel_error err = {0};
    snprintf(folder, sizeof folder, "/tmp/cupel-side-test-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/copy.cu", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    FILE *file = fopen(path, "w");
    if (!file || fputs(kernel, file) < 0 || fclose(file) != 0) return 1;
    arena = cupel_arena_create(0);
    if (!arena || cupel_contracts_load(path, arena, &contracts, &err) != CUPEL_OK) fail_msg("%s", err.text);
    contract = contracts.items[0];
    options = (cupel_supervisor_options){.executor = "emu", .exec = {.cache = cache}, .contract_path = path};
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    cupel_arena_free(arena);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static cupel_recipe recipe_of(int64_t n) {
    cupel_recipe recipe;
    cupel_error err = {0};
    if (cupel_recipe_simple(contract, &recipe, &err) != CUPEL_OK) fail_msg("%s", err.text);
    recipe.dims[0] = n;
    return recipe;
}

static cupel_side *open_side(int most) {
    cupel_side *side = NULL;
    cupel_error err = {0};
    if (cupel_side_open(contract, &options, most, &side, &err) != CUPEL_OK) fail_msg("%s", err.text);
    return side;
}

static void add(cupel_side *side, int64_t n) {
    const cupel_recipe recipe = recipe_of(n);
    cupel_side_add(side, &recipe);
    cupel_side_poll(side);
}

static void expect_the_race(const cupel_side *side, int64_t n) {
    int count;
    const cupel_side_result *results = cupel_side_results(side, &count);
    assert_null(cupel_side_trouble(side));
    assert_int_equal(count, 1);
    assert_int_equal(results[0].finding.kind, CUPEL_FINDING_RACE);
    assert_int_equal(results[0].recipe.dims[0], n);
    const int one = results[0].finding.race.earlier.place.line,
              two = results[0].finding.race.later.place.line;
    assert_true((one == STORE_LINE && two == LOAD_LINE) || (one == LOAD_LINE && two == STORE_LINE));
}

/* The first recipe that shows a race stands for it. */
static void shows_each_race_once(void **state) {
    (void)state;
    cupel_side *side = open_side(0);
    for (int64_t n = 60; n < 64; n++) add(side, n);
    cupel_side_finish(side, 1e9, NULL);
    expect_the_race(side, 60);
    const cupel_side_counts counts = cupel_side_counted(side);
    assert_int_equal(counts.inputs, 4);
    assert_int_equal(counts.runs, 4);
    assert_int_equal(counts.skipped, 0);
    assert_int_equal(counts.left, 0);
    cupel_side_close(side);
}

static void takes_no_more_than_it_is_told(void **state) {
    (void)state;
    cupel_side *side = open_side(2);
    for (int64_t n = 60; n < 64; n++) add(side, n);
    cupel_side_finish(side, 1e9, NULL);
    assert_int_equal(cupel_side_counted(side).inputs, 2);
    cupel_side_close(side);
}

/* What is stopped was not reached, and says so. */
static void stops_at_once(void **state) {
    (void)state;
    static const volatile sig_atomic_t stop = 1;
    cupel_side *side = open_side(0);
    for (int64_t n = 60; n < 64; n++) add(side, n);
    cupel_side_finish(side, 1e9, &stop);
    const cupel_side_counts counts = cupel_side_counted(side);
    assert_int_equal(counts.inputs + counts.left, 4);
    cupel_side_close(side);
}

static void survives_the_death_of_its_worker(void **state) {
    (void)state;
    cupel_side *side = open_side(0);
    add(side, 60);
    kill(cupel_worker_pid(cupel_side_supervisor(side)->lone.worker), SIGKILL);
    add(side, 61);
    cupel_side_finish(side, 1e9, NULL);
    cupel_side_close(side);

    side = open_side(0);
    add(side, 62);
    cupel_side_finish(side, 1e9, NULL);
    kill(cupel_worker_pid(cupel_side_supervisor(side)->lone.worker), SIGKILL);
    add(side, 63);
    add(side, 61);
    cupel_side_finish(side, 1e9, NULL);
    const cupel_side_counts counts = cupel_side_counted(side);
    assert_int_equal(counts.inputs + counts.skipped, 3);
    assert_true(counts.skipped <= 1);
    expect_the_race(side, 62);
    cupel_side_close(side);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return cupel_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_each_race_once), cmocka_unit_test(takes_no_more_than_it_is_told),
        cmocka_unit_test(stops_at_once), cmocka_unit_test(survives_the_death_of_its_worker)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
