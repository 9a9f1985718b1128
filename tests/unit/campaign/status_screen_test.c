/* The screen of a campaign: its figures, and that it fits any terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "status_screen.h"

static const char text[] = "cupel: 1\n"
                           "id: shown\n"
                           "source: {file: fake.cu}\n"
                           "dims: {N: 1..4096}\n"
                           "inputs: {x: 'f32[N]'}\n"
                           "outputs: {y: 'f32[N]'}\n"
                           "ensures: {y: 'x'}\n"
                           "kernel: {entry: fake, args: [x, y, N], grid: [1], block: [32]}\n";

typedef struct fixture {
    cupel_arena *arena;
    cupel_campaign campaign;
    cupel_check_report report;
    cupel_screen_text screen;
} fixture;

static void add_finding(cupel_check_report *report, const char *signature, bool minimised) {
    cupel_check_finding *found = &report->findings[report->finding_count++];
    found->finding.gate = CUPEL_GATE_CMP_03;
    found->minimised = minimised;
    snprintf(found->signature, sizeof found->signature, "%s", signature);
    snprintf(found->bundle, sizeof found->bundle, "crashes/shown/CMP-03-%s", signature);
}

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->arena = cupel_arena_create(0);
    cupel_campaign_begin(&f->campaign, ".", 3600, 0);
    cupel_check_report *report = &f->report;
    report->contract = fake_contract(f->arena, text);
    report->kernel = "k\x1b[2J\xc3\xa9.cu"; /* a name that would clear the screen */
    report->executor = "emu";
    report->engine = "libfuzzer";
    report->seconds = 62;
    report->cases = 620;
    report->edges = 34, report->edge_count = 56, report->features = 812;
    report->signature_seconds = 12;
    report->restarts = 3;
    report->corpus.stored = 45;
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) report->scoreboard.gates[g].cases = 10;
    report->scoreboard.outputs[1].by_reason[CUPEL_REASON_JUDGED] = 100;
    report->scoreboard.outputs[1].by_reason[CUPEL_REASON_OVERFLOW] = 300;
    add_finding(report, "wrong-value-y", true);
    add_finding(report, "wrong-class-y", false);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    cupel_arena_free(f->arena);
    free(f);
    return 0;
}

static const char *line_with(const fixture *f, const char *words) {
    for (int i = 0; i < f->screen.count; i++)
        if (strstr(f->screen.lines[i], words)) return f->screen.lines[i];
    return NULL;
}

static void every_figure_is_shown(void **state) {
    fixture *f = *state;
    cupel_status_screen_make(&f->report, &f->campaign, 200, 60, &f->screen);
    assert_non_null(line_with(f, "on emu, engine libfuzzer, seed 0"));
    assert_non_null(line_with(f, "0:01:02, 0:58:58 left  620 cases, 0 a second now, 10 overall"));
    assert_non_null(line_with(f, "34 of 56 edges, 812 features  corpus 45"));
    assert_non_null(line_with(f, "last new finding 0:00:50 ago  3 worker restart(s)"));
    assert_non_null(line_with(f, "not judged  75.0%"));
    assert_non_null(line_with(f, "CMP-03 wrong-value-y: crashes/shown/CMP-03-wrong-value-y"));
    assert_non_null(line_with(f, "new wrong-class-y")); /* its gate is not known yet */
    const char *gate = line_with(f, "shape polymorphism");
    assert_non_null(gate);
    assert_int_equal(gate[strlen(gate) - 1], '1');
    assert_null(line_with(f, "not run"));
    f->report.scoreboard.cases = 620;
    f->report.scoreboard.unsupported = 155;
    snprintf(f->report.unsupported, sizeof f->report.unsupported, "blocks that wait for each other");
    cupel_status_screen_make(&f->report, &f->campaign, 200, 60, &f->screen);
    assert_non_null(line_with(f, "not run  25.0% of the cases: blocks that wait for each other"));
    f->report.minimising = "wrong-class-y";
    cupel_status_screen_make(&f->report, &f->campaign, 200, 60, &f->screen);
    assert_non_null(line_with(f, "620 cases, minimising wrong-class-y, 10 overall"));
}

static void it_fits_any_terminal(void **state) {
    fixture *f = *state;
    for (int columns = 1; columns <= 100; columns += 9)
        for (int rows = 1; rows <= 40; rows++) {
            cupel_status_screen_make(&f->report, &f->campaign, columns, rows, &f->screen);
            assert_in_range(f->screen.count, 1, rows);
            for (int i = 0; i < f->screen.count; i++) {
                int shown = 0;
                for (const char *c = f->screen.lines[i]; *c; c++) {
                    assert_true((unsigned char)*c >= ' ');
                    shown += ((unsigned char)*c & 0xc0) != 0x80;
                }
                assert_true(shown <= columns);
            }
        }
}

static void what_matters_least_goes_first(void **state) {
    fixture *f = *state;
    cupel_status_screen_make(&f->report, &f->campaign, 100, 60, &f->screen);
    int full = f->screen.count;
    assert_non_null(line_with(f, "Ctrl-C"));
    cupel_status_screen_make(&f->report, &f->campaign, 100, full - 1, &f->screen);
    assert_null(line_with(f, "Ctrl-C"));
    assert_non_null(line_with(f, "not judged"));
    cupel_status_screen_make(&f->report, &f->campaign, 100, 9, &f->screen);
    assert_null(line_with(f, "not judged"));
    assert_null(line_with(f, "RES-02"));
    assert_non_null(line_with(f, "wrong-value-y"));
    assert_non_null(line_with(f, "620 cases"));
    cupel_status_screen_make(&f->report, &f->campaign, 100, 5, &f->screen);
    assert_null(line_with(f, "wrong-value-y"));
    assert_non_null(line_with(f, "findings 2"));
}

static void one_line_tells_the_same(void **state) {
    fixture *f = *state;
    char line[CUPEL_SCREEN_WIDTH];
    cupel_status_screen_line(&f->report, &f->campaign, line, sizeof line);
    assert_non_null(strstr(line, "620 cases"));
    assert_non_null(strstr(line, "34 of 56 edges, 812 features, corpus 45, 12 gates exercised"));
    assert_non_null(strstr(line, "2 finding(s)"));
    assert_non_null(strstr(line, "3 worker restart(s), 0:58:58 left"));
}

/* Where standard error is a file there are lines and no escape sequences; quiet there is nothing. */
static void a_file_gets_no_escape_sequences(void **state) {
    fixture *f = *state;
    static cupel_status_screen screen;
    char content[4096];
    FILE *out = tmpfile();
    assert_non_null(out);
    for (int quiet = 1; quiet >= 0; quiet--) {
        cupel_status_screen_begin(&screen, out, quiet);
        screen.interval = 0;
        cupel_status_screen_update(&screen, &f->report, &f->campaign);
        cupel_status_screen_clear(&screen);
        long size = ftell(out);
        if (quiet)
            assert_int_equal(size, 0);
        else
            assert_true(size > 0);
    }
    rewind(out);
    size_t length = fread(content, 1, sizeof content - 1, out);
    content[length] = '\0';
    fclose(out);
    assert_null(strchr(content, '\x1b'));
    assert_ptr_equal(strchr(content, '\n'), content + length - 1);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(every_figure_is_shown),           WITH_FIXTURE(it_fits_any_terminal),
        WITH_FIXTURE(what_matters_least_goes_first),   WITH_FIXTURE(one_line_tells_the_same),
        WITH_FIXTURE(a_file_gets_no_escape_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
