#include <stdlib.h>

#include "cli.h"
#include "report.h"
#include "status_line.h"

typedef struct watcher {
    cupel_status_line line;
    bool quiet;
} watcher;

static void on_progress(void *self, const cupel_check_report *report, const cupel_progress *progress) {
    watcher *w = self;
    cupel_status_line_progress(&w->line, report, progress);
}

/* Findings are told as they are saved: a check that is killed afterwards has lost none of them. */
static void on_found(void *self, const cupel_check_finding *found) {
    watcher *w = self;
    if (w->quiet) return;
    cupel_status_line_clear(&w->line);
    fprintf(stderr, "%s %s %s: %s\n  saved in %s\n", found->minimised ? "minimised" : "found",
            cupel_gate_id(found->finding.gate), found->signature, found->described,
            found->bundle[0] ? found->bundle : found->bundle_error);
}

static int dry_run(const cupel_contract *contract, const char *executor) {
    const cupel_gate_info *registry = cupel_gate_registry();
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
        const char *why = "";
        bool applies =
            registry[g].available && (!registry[g].applicable || registry[g].applicable(contract, &why));
        printf("  %s %-20s %s%s%s\n", cupel_gate_id((cupel_gate)g), cupel_gate_title((cupel_gate)g),
               applies                 ? "would be exercised"
               : registry[g].available ? "not applicable: "
                                       : "not available: ",
               applies                 ? ""
               : registry[g].available ? (why ? why : "")
                                       : (registry[g].missing ? registry[g].missing : ""),
               "");
    }
    return 0;
}

static int check(const cupel_cli_settings *settings, const cupel_cli_session *session,
                 cupel_check_report *report) {
    watcher w = {.line = cupel_status_line_start(stderr, settings->quiet), .quiet = settings->quiet};
    cupel_check_listener listener = {&w, on_progress, on_found};
    cupel_check_options options = {.kernel = settings->operand,
                                   .directory = settings->directory,
                                   .engine = settings->engine,
                                   .supervisor = session->supervisor,
                                   .seed = settings->seed,
                                   .cases = settings->cases,
                                   .seconds = settings->seconds,
                                   .limits = {.max_elements = settings->elements},
                                   .standing = settings->standing,
                                   .gates = settings->gates};
    cupel_error err = {0};
    cupel_code code = cupel_check_run(session->contract, &options, &listener, report, &err);
    cupel_status_line_clear(&w.line);
    if (code != CUPEL_OK) return cupel_cli_complain(&err);
    if (report->isolation[0] && !settings->quiet) fprintf(stderr, "note: %s\n", report->isolation);
    if (!settings->json)
        cupel_report_text(report, stdout);
    else if (cupel_report_json(report, stdout, &err) != CUPEL_OK)
        return cupel_cli_complain(&err);
    return cupel_check_exit_status(report->verdict);
}

int cupel_cli_check(const cupel_cli_settings *settings) {
    cupel_cli_session session;
    cupel_error err = {0};
    if (cupel_cli_session_open(settings, settings->operand, settings->contract, &session, &err) != CUPEL_OK)
        return cupel_cli_complain(&err);
    int status = 3;
    cupel_check_report *report = calloc(1, sizeof *report);
    if (settings->dry_run)
        status = dry_run(session.contract, session.supervisor.executor);
    else if (report)
        status = check(settings, &session, report);
    free(report);
    cupel_cli_session_close(&session);
    return status;
}
