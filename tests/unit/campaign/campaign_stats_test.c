/* The figures of a campaign over time, and AFL's two files. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "campaign_stats.h"
#include "fake_kernel.h"
#include "text.h"

static const char text[] = "cupel: 1\n"
                           "id: counted\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..4096}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]'}\n"
                           "ensures: {y: 'x'}\n"
                           "kernel: {entry: fake, args: [x, y, N], grid: [1], block: [32]}\n";

typedef struct fixture {
    cupel_arena *arena;
    char base[64];
    cupel_campaign campaign;
    cupel_check_report report;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->arena = cupel_arena_create(0);
    snprintf(f->base, sizeof f->base, "stats-test-XXXXXX");
    assert_non_null(mkdtemp(f->base));
    f->report.contract = fake_contract(f->arena, text);
    f->report.executor = "emu";
    f->report.signature_seconds = -1;
    f->report.rounds = 1;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->base);
    int status = system(command);
    cupel_arena_free(f->arena);
    free(f);
    return status;
}

static void advance(fixture *f, double seconds, uint64_t cases) {
    f->report.seconds = seconds;
    f->report.cases = cases;
    cupel_campaign_update(&f->campaign, &f->report);
}

static char *file_text(fixture *f, const char *name) {
    char path[256], *content = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/stats/counted/%s", f->base, name);
    assert_int_equal(cupel_text_read(path, f->arena, &content, &length, NULL), CUPEL_OK);
    return content;
}

/* The value of "key  : value". */
static const char *value_of(const char *stats, const char *key, char value[256]) {
    for (const char *line = stats; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strlen(key);
        if (strncmp(line, key, length) || (line[length] != ' ' && line[length] != ':')) continue;
        const char *colon = strstr(line, ": ");
        snprintf(value, 256, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        return value;
    }
    fail_msg("there is no %s", key);
    return NULL;
}

static void rates_tell_now_from_overall(void **state) {
    fixture *f = *state;
    cupel_campaign_begin(&f->campaign, f->base, 1000, 0);
    for (int second = 0; second <= 100; second++) advance(f, second, (uint64_t)second * 100);
    for (int second = 101; second <= 110; second++) advance(f, second, 10000 + (uint64_t)(second - 100) * 10);
    cupel_figures figures = cupel_campaign_figures(&f->campaign, &f->report);
    assert_true(figures.rate > 9.9 && figures.rate < 10.1);
    assert_true(figures.rate_minute > 84 && figures.rate_minute < 86); /* 5000 and 100 cases */
    assert_true(figures.rate_overall > 91 && figures.rate_overall < 92);
    assert_true(figures.seconds_left > 889 && figures.seconds_left < 891);
    assert_true(figures.since_signature < 0);
    f->report.signature_seconds = 100;
    assert_true(cupel_campaign_figures(&f->campaign, &f->report).since_signature > 9.9);
}

static void files_have_afls_form(void **state) {
    fixture *f = *state;
    char value[256];
    cupel_campaign_begin(&f->campaign, f->base, 0, 0);
    f->report.edges = 3;
    f->report.edge_count = 4;
    f->report.corpus.stored = 9;
    f->report.finding_count = 2;
    f->report.findings[0].finding.fault = CUPEL_FAULT_HANG;
    snprintf(f->report.findings[0].bundle, sizeof f->report.findings[0].bundle, "a");
    snprintf(f->report.findings[1].bundle, sizeof f->report.findings[1].bundle, "b");
    advance(f, 10, 50);
    f->report.cases = 120;
    assert_int_equal(cupel_campaign_write(&f->campaign, &f->report, false, NULL), CUPEL_OK);
    const char *stats = file_text(f, "fuzzer_stats");
    assert_string_equal(value_of(stats, "execs_done", value), "120");
    assert_string_equal(value_of(stats, "run_time", value), "10");
    assert_string_equal(value_of(stats, "bitmap_cvg", value), "75.00%");
    assert_string_equal(value_of(stats, "edges_found", value), "3");
    assert_string_equal(value_of(stats, "total_edges", value), "4");
    assert_string_equal(value_of(stats, "saved_crashes", value), "1");
    assert_string_equal(value_of(stats, "saved_hangs", value), "1");
    assert_string_equal(value_of(stats, "corpus_count", value), "9");
    assert_string_equal(value_of(stats, "execs_since_crash", value), "70");
    assert_string_equal(value_of(stats, "afl_banner", value), "counted");
    assert_string_equal(value_of(stats, "target_mode", value), "emu");
    const char *plot = file_text(f, "plot_data"), *row = strchr(plot, '\n') + 1;
    assert_memory_equal(plot, "# relative_time, cycles_done, cur_item, corpus_count, pending_total,", 60);
    assert_string_equal(row, "10, 0, 0, 9, 0, 0, 75.00%, 1, 1, 0, 0.00, 120, 3\n");
}

static void files_are_written_when_due(void **state) {
    fixture *f = *state;
    char value[256];
    cupel_campaign_begin(&f->campaign, f->base, 0, 0);
    advance(f, 1, 10);
    assert_int_equal(cupel_campaign_write(&f->campaign, &f->report, false, NULL), CUPEL_OK);
    advance(f, 3, 30);
    assert_int_equal(cupel_campaign_write(&f->campaign, &f->report, false, NULL), CUPEL_OK);
    assert_string_equal(value_of(file_text(f, "fuzzer_stats"), "execs_done", value), "10");
    assert_int_equal(cupel_campaign_write(&f->campaign, &f->report, true, NULL), CUPEL_OK);
    assert_string_equal(value_of(file_text(f, "fuzzer_stats"), "execs_done", value), "30");
}

static void weeks_of_rows_stay_few(void **state) {
    fixture *f = *state;
    enum { STEPS = 5000 };
    cupel_campaign_begin(&f->campaign, f->base, 0, 0);
    f->campaign.directory = "/dev/null"; /* rows are kept whether or not they can be written */
    for (int i = 0; i < STEPS; i++) {
        advance(f, 5.0 * i, (uint64_t)i);
        assert_int_equal(cupel_campaign_write(&f->campaign, &f->report, false, NULL), CUPEL_IO);
    }
    const cupel_campaign *c = &f->campaign;
    assert_in_range(c->row_count, CUPEL_CAMPAIGN_ROWS / 2, CUPEL_CAMPAIGN_ROWS);
    assert_true(c->rows[0].seconds < 1);
    assert_true(c->rows[c->row_count - 1].seconds >= 5.0 * (STEPS - 1) - c->plot_interval);
    for (int i = 1; i < c->row_count; i++) assert_true(c->rows[i].seconds > c->rows[i - 1].seconds);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(rates_tell_now_from_overall),
        WITH_FIXTURE(files_have_afls_form),
        WITH_FIXTURE(files_are_written_when_due),
        WITH_FIXTURE(weeks_of_rows_stay_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
