#include <stdlib.h>

#include "cli_search.h"
#include "report.h"
#include "status_line.h"

typedef struct watcher {
    cupel_status_line line;
    cupel_cli_teller teller;
} watcher;

static void clear(void *display) {
    cupel_status_line_clear(display);
}

static void on_progress(void *self, const cupel_check_report *report, const cupel_progress *progress) {
    watcher *w = self;
    cupel_status_line_progress(&w->line, report, progress);
}

static void on_found(void *self, const cupel_check_finding *found) {
    watcher *w = self;
    cupel_cli_tell_found(&w->teller, found);
}

static void on_note(void *self, bool warning, const char *text) {
    watcher *w = self;
    cupel_cli_tell_note(&w->teller, warning, text);
}

static int dry_run(const cupel_contract *contract, const char *executor, bool json) {
    if (json) {
        cupel_report_json_plan(contract, executor, stdout);
        return 0;
    }
    printf("contract %s on %s\n", contract->id, executor);
    for (int d = 0; d < contract->dim_count; d++)
        printf("  dim %s: %lld..%lld\n", contract->dims[d].name, (long long)contract->dims[d].lo,
               (long long)contract->dims[d].hi);
    for (int t = 0; t < contract->type_count; t++) {
        printf("  type %s:", contract->types[t].name);
        for (int i = 0; i < contract->types[t].count; i++)
            printf(" %s", cupel_format_of(contract->types[t].claimed[i])->name);
        printf("\n");
    }
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        const char *why, *status = cupel_cli_gate_missing(contract, (cupel_gate)g, &why);
        printf("  %s %-20s %s%s%s\n", cupel_gate_id((cupel_gate)g), cupel_gate_title((cupel_gate)g),
               status ? status : "would be exercised", status ? ": " : "", status ? why : "");
    }
    return 0;
}

static int check(const cupel_cli_settings *settings, const cupel_cli_session *session,
                 const volatile sig_atomic_t *stop, cupel_check_report *report) {
    watcher w = {.line = cupel_status_line_start(stderr, settings->quiet)};
    w.teller = (cupel_cli_teller){settings->quiet, &w.line, clear};
    cupel_check_listener listener = {&w, on_progress, on_found, on_note};
    return cupel_cli_search(settings, session, false, stop, &listener, &w.teller, report);
}

int cupel_cli_check(const cupel_cli_settings *settings) {
    const volatile sig_atomic_t *stop = settings->dry_run ? NULL : cupel_cli_watch_signals();
    cupel_cli_session session;
    cupel_error err = {0};
    if (cupel_cli_session_open(settings, settings->operand, settings->contract, &session, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    int status = cupel_check_error_status(CUPEL_MEMORY);
    cupel_check_report *report = calloc(1, sizeof *report);
    if (settings->dry_run)
        status = dry_run(session.contract, session.supervisor.executor, settings->json);
    else if (report)
        status = check(settings, &session, stop, report);
    free(report);
    cupel_cli_session_close(&session);
    return status;
}
