/* The supervisor over real candidates that misbehave in a process of their own: each fault is told apart,
 * nothing reaches the supervisor, and a right result afterwards is accepted. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host_fixture.h"

static const uint64_t memory = 200 << 20;

static cupel_trial try_in(host_fixture *f, int64_t n, bool fresh) {
    static cupel_trial trial;
    cupel_error err;
    cupel_recipe recipe = host_fixture_recipe(f, n);
    cupel_code code = cupel_supervisor_try(f->supervisor, &recipe, fresh, f->arena, &trial, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
    return trial;
}

static void expect_only(const cupel_trial *trial, const char *signature) {
    char text[160] = "nothing";
    if (trial->judged.finding_count) cupel_finding_signature(&trial->judged.findings[0], text, sizeof text);
    assert_string_equal(text, signature);
    assert_int_equal(trial->judged.finding_count, 1);
}

static void right_candidate_passes(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start(&f, "right", "");
    host_fixture_open(&f, 1, memory);
    for (int n = 1; n < 40; n++) {
        cupel_trial trial = try_in(&f, n, n % 13 == 0);
        assert_int_equal(trial.judged.finding_count, 0);
        assert_int_equal(trial.run_count, 2);
        assert_false(trial.unsupported);
    }
    host_fixture_stop(&f);
}

static void every_fault_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *symbol, *signature;
        cupel_gate gate;
    } rows[] = {{"null_store", "fault-crash-sigSEGV", CUPEL_GATE_RES_01},
                {"wild_store", "fault-crash-sigSEGV", CUPEL_GATE_RES_01},
                {"calls_nothing", "fault-crash-sigSEGV", CUPEL_GATE_RES_01},
                {"divides", "fault-crash-sigFPE", CUPEL_GATE_CMP_03},
                {"gives_up", "fault-crash-sigABRT", CUPEL_GATE_CMP_03},
                {"kills_itself", "fault-crash-sigKILL", CUPEL_GATE_CMP_03},
                {"leaves", "fault-exit", CUPEL_GATE_CMP_03},
                {"leaves_at_once", "fault-exit", CUPEL_GATE_CMP_03},
                {"damages_heap", "fault-heap-damage", CUPEL_GATE_RES_01},
                {"overruns_block", "fault-heap-damage", CUPEL_GATE_RES_01},
                {"overflows_stack", "fault-stack-overflow", CUPEL_GATE_CMP_03},
                {"flushes", "fault-floating-point-mode", CUPEL_GATE_RES_01},
                {"eats", "fault-memory-limit", CUPEL_GATE_CMP_03}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (SANITIZED && !strcmp(rows[i].symbol, "overruns_block"))
            continue; /* the sanitizers' allocator keeps its books elsewhere */
        host_fixture f;
        host_fixture_start(&f, rows[i].symbol, "");
        host_fixture_open(&f, 20, memory);
        for (int again = 0; again < 2; again++) {
            cupel_trial trial = try_in(&f, 33, again);
            expect_only(&trial, rows[i].signature);
            assert_int_equal(trial.judged.findings[0].gate, rows[i].gate);
            assert_int_equal(trial.judged.findings[0].standing, CUPEL_STANDING_PROOF);
        }
        host_fixture_stop(&f);
    }
}

static void hang_is_believed_only_with_patience(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start(&f, "hang", "");
    host_fixture_open(&f, 0.2, memory);
    cupel_trial trial = try_in(&f, 5, false);
    expect_only(&trial, "fault-hang");
    assert_non_null(strstr(trial.judged.findings[0].text, "2 seconds")); /* ten times the limit */
    host_fixture_stop(&f);

    host_fixture_start(&f, "slow", ""); /* over the limit, and yet it ends */
    host_fixture_open(&f, 0.2, memory);
    trial = try_in(&f, 5, false);
    assert_int_equal(trial.judged.finding_count, 0);
    host_fixture_stop(&f);
}

static void results_and_memory_are_judged(void **state) {
    (void)state;
    static const struct {
        const char *symbol, *signature;
        cupel_gate gate;
    } rows[] = {{"wrong_value", "wrong-value-y", CUPEL_GATE_CMP_03},
                {"past_the_end", "stray-write-y", CUPEL_GATE_RES_01},
                {"before_the_start", "stray-write-y", CUPEL_GATE_RES_01},
                {"changes_input", "input-changed-x", CUPEL_GATE_RES_01},
                {"forgets_last", "unwritten-y", CUPEL_GATE_RES_01}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        host_fixture f;
        host_fixture_start(&f, rows[i].symbol, "");
        host_fixture_open(&f, 5, memory);
        cupel_trial trial = try_in(&f, 33, true);
        expect_only(&trial, rows[i].signature);
        assert_int_equal(trial.judged.findings[0].gate, rows[i].gate);
        host_fixture_stop(&f);
    }
}

static void value_findings_are_certified(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start(&f, "wrong_value", "");
    host_fixture_open(&f, 5, memory);
    cupel_trial trial = try_in(&f, 33, true);
    const cupel_finding *finding = cupel_trial_finding(&trial, "wrong-value-y");
    assert_non_null(finding);
    assert_true(finding->certified);
    assert_int_equal(finding->index, 16);
    assert_true(finding->exact.rounded == finding->got - 1);
    assert_int_equal(trial.unconfirmed, 0);
    assert_null(cupel_trial_finding(&trial, "wrong-value-z"));
    host_fixture_stop(&f);
}

static void determinism_needs_the_claim(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start(&f, "moody", "deterministic: true\n");
    host_fixture_open(&f, 5, memory);
    cupel_trial trial = try_in(&f, 9, true);
    assert_int_equal(trial.run_count, 4);
    expect_only(&trial, "nondeterminism-y"); /* a repetition differs, whatever the poison */
    host_fixture_stop(&f);
    host_fixture_start(
        &f, "moody",
        "tolerance: {y: {abs: 1e-6, rel: 1e-6}}\n"); /* else the sum is exact, and the mood a wrong value */
    host_fixture_open(&f, 5, memory);
    trial = try_in(&f, 9, true);
    assert_int_equal(trial.judged.finding_count, 0);
    host_fixture_stop(&f);
}

/* Where this machine allows it, candidates reach neither the file system nor the network; where not, the
 * supervisor says so. */
static void candidates_are_isolated(void **state) {
    (void)state;
    host_fixture f;
    host_fixture_start(&f, "escapes", "");
    host_fixture_open(&f, 5, memory);
    const char *warning = cupel_supervisor_isolation(f.supervisor);
    cupel_trial trial = try_in(&f, 9, true);
    if (warning[0]) print_message("%s\n", warning);
    assert_int_equal(trial.judged.finding_count > 0, strlen(warning) > 0);
    host_fixture_stop(&f);
}

/* ---- searches ---- */

typedef struct log {
    int suspects, progress;
    char signatures[64][160];
    uint8_t recipes[64][CUPEL_RECIPE_BYTES_MAX];
    size_t sizes[64];
    int kill_after; /* kill the search's worker after so many reports of progress; 0: never */
    host_fixture *fixture;
    cupel_progress last;
} search_log;

static bool on_suspect(void *self, const cupel_recipe *recipe, const cupel_judged *suspicion) {
    search_log *log = self;
    assert_true(suspicion->finding_count > 0);
    if (log->suspects < 64) {
        cupel_finding_signature(&suspicion->findings[0], log->signatures[log->suspects], 160);
        log->sizes[log->suspects] = cupel_recipe_encode(log->fixture->contract, recipe,
                                                        log->recipes[log->suspects], CUPEL_RECIPE_BYTES_MAX);
        assert_true(log->sizes[log->suspects] > 0);
    }
    log->suspects++;
    return true;
}

/* Children of this process, by a look at /proc. */
static void kill_children(void) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (!file) return;
    int pid;
    if (fgets(line, sizeof line, file))
        for (char *at = line; sscanf(at, "%d", &pid) == 1; at = strchr(at, ' ') + 1) kill(pid, SIGKILL);
    fclose(file);
}

static bool on_progress(void *self, const cupel_progress *progress) {
    search_log *log = self;
    log->last = *progress;
    if (log->kill_after && ++log->progress == log->kill_after) kill_children();
    return true;
}

static search_log run_search(host_fixture *f, uint64_t seed, uint64_t cases, int kill_after,
                             cupel_scoreboard *board) {
    static search_log log;
    memset(&log, 0, sizeof log);
    log.kill_after = kill_after;
    log.fixture = f;
    cupel_search_options options = {
        .engine = "draw", .seed = seed, .cases = cases, .limits = {.max_elements = 2000}};
    cupel_search_callbacks callbacks = {.self = &log, .suspect = on_suspect, .progress = on_progress};
    cupel_error err;
    cupel_code code = cupel_supervisor_search(f->supervisor, &options, &callbacks, board, &err);
    if (code != CUPEL_OK) print_message("%s\n", err.text);
    assert_int_equal(code, CUPEL_OK);
    return log;
}

static void search_of_right_candidate(void **state) {
    (void)state;
    host_fixture f;
    static cupel_scoreboard board;
    host_fixture_start(&f, "right", "");
    host_fixture_open(&f, 5, memory);
    search_log log = run_search(&f, 1, 2000, 0, &board);
    assert_int_equal(log.suspects, 0);
    assert_int_equal(board.cases, 2000);
    assert_int_equal(log.last.cases, 2000);
    assert_int_equal(log.last.restarts, 0);
    assert_true(board.gates[CUPEL_GATE_CMP_03].judged > 1000);
    assert_true(board.gates[CUPEL_GATE_EXC_01].judged > 100);
    assert_int_equal(board.unsupported, 0);
    int64_t patterns = 0;
    for (int p = 0; p < CUPEL_PATTERN_COUNT; p++) patterns += board.cases_by_pattern[p];
    assert_int_equal(patterns, 2000);
    host_fixture_stop(&f);
}

/* Deaths of the worker change nothing about which cases are tried: seed and number of cases decide. */
static void searches_repeat(void **state) {
    (void)state;
    static const char *symbols[] = {"swallows_nan", "leaves_rarely"};
    for (int s = 0; s < 2; s++) {
        host_fixture f;
        static cupel_scoreboard one, two;
        static search_log first;
        host_fixture_start(&f, symbols[s], "");
        host_fixture_open(&f, 5, memory);
        first = run_search(&f, 7, 300, 0, &one);
        search_log second = run_search(&f, 7, 300, 0, &two);
        assert_true(first.suspects > 0);
        assert_int_equal(first.suspects, second.suspects);
        assert_int_equal(first.last.restarts, second.last.restarts);
        assert_int_equal(first.last.restarts > 0, s == 1);
        assert_memory_equal(&one, &two, sizeof one);
        assert_int_equal(one.cases, 300);
        for (int i = 0; i < first.suspects && i < 64; i++) {
            assert_string_equal(first.signatures[i], second.signatures[i]);
            assert_int_equal(first.sizes[i], second.sizes[i]);
            assert_memory_equal(first.recipes[i], second.recipes[i], first.sizes[i]);
        }
        host_fixture_stop(&f);
    }
}

static void suspects_are_capped_by_signature(void **state) {
    (void)state;
    host_fixture f;
    static cupel_scoreboard board;
    host_fixture_start(&f, "wrong_value", "");
    host_fixture_open(&f, 5, memory);
    search_log log = run_search(&f, 3, 600, 0, &board);
    assert_in_range(log.suspects, 16, 64); /* 16 a signature: values, classes */
    int values = 0;
    for (int i = 0; i < log.suspects; i++) values += !strcmp(log.signatures[i], "wrong-value-y");
    assert_int_equal(values, 16);
    assert_int_equal(board.cases, 600); /* the search goes on behind a finding */
    host_fixture_stop(&f);
}

static void search_finds_the_rare_shape(void **state) {
    (void)state;
    host_fixture f;
    static cupel_scoreboard board;
    host_fixture_start(&f, "rare", "");
    host_fixture_open(&f, 5, memory);
    search_log log = run_search(&f, 1, 6000, 0, &board);
    assert_true(log.suspects > 0);
    host_fixture_stop(&f);
}

/* A killed worker is replaced; its death becomes a suspicion that the trial in a fresh worker refutes. */
static void search_survives_a_kill(void **state) {
    (void)state;
    host_fixture f;
    static cupel_scoreboard board;
    host_fixture_start(&f, "prints", "");
    host_fixture_open(&f, 5, memory);
    search_log log = run_search(&f, 1, 3000, 1, &board);
    assert_int_equal(log.last.restarts, 1);
    assert_int_equal(log.suspects, 1);
    assert_string_equal(log.signatures[0], "fault-crash-sigKILL");
    assert_in_range(board.cases, 2999, 3000);
    cupel_recipe recipe;
    assert_true(cupel_recipe_decode(f.contract, log.recipes[0], log.sizes[0], &recipe));
    static cupel_trial trial;
    assert_int_equal(cupel_supervisor_try(f.supervisor, &recipe, true, f.arena, &trial, NULL), CUPEL_OK);
    assert_int_equal(trial.judged.finding_count, 0);
    host_fixture_stop(&f);
}

/* ---- opening ---- */

static void opening_tells_what_is_wrong(void **state) {
    (void)state;
    host_fixture f;
    cupel_error err;
    host_fixture_start(&f, "no_such_function", "");
    cupel_supervisor_options options = {.exec = {.cache = f.folder}, .contract_path = f.path};
    assert_int_equal(cupel_supervisor_open(f.contract, &options, &f.supervisor, &err), CUPEL_MISMATCH);
    assert_non_null(strstr(err.text, "no_such_function"));
    assert_int_equal(err.line, 8);
    options.executor = "abacus";
    assert_int_equal(cupel_supervisor_open(f.contract, &options, &f.supervisor, &err), CUPEL_USAGE);
    options = (cupel_supervisor_options){.exec = {.cache = "/proc/no"}, .contract_path = f.path};
    assert_int_equal(cupel_supervisor_open(f.contract, &options, &f.supervisor, &err), CUPEL_IO);
    f.supervisor = NULL;
    host_fixture_stop(&f);
}

static void unknown_engines_are_refused(void **state) {
    (void)state;
    host_fixture f;
    static cupel_scoreboard board;
    host_fixture_start(&f, "right", "");
    host_fixture_open(&f, 5, memory);
    cupel_search_options options = {.engine = "psychic", .cases = 1};
    cupel_search_callbacks callbacks = {.suspect = on_suspect, .progress = on_progress};
    assert_int_equal(cupel_supervisor_search(f.supervisor, &options, &callbacks, &board, NULL), CUPEL_USAGE);
    host_fixture_stop(&f);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--worker")) return cupel_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_candidate_passes),
        cmocka_unit_test(every_fault_is_told_apart),
        cmocka_unit_test(hang_is_believed_only_with_patience),
        cmocka_unit_test(results_and_memory_are_judged),
        cmocka_unit_test(value_findings_are_certified),
        cmocka_unit_test(determinism_needs_the_claim),
        cmocka_unit_test(candidates_are_isolated),
        cmocka_unit_test(search_of_right_candidate),
        cmocka_unit_test(searches_repeat),
        cmocka_unit_test(suspects_are_capped_by_signature),
        cmocka_unit_test(search_finds_the_rare_shape),
        cmocka_unit_test(search_survives_a_kill),
        cmocka_unit_test(opening_tells_what_is_wrong),
        cmocka_unit_test(unknown_engines_are_refused),
    };
    return cmocka_run_group_tests_name("supervisor", tests, NULL, NULL);
}
