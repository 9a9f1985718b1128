#include <signal.h>
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
    if (found->minimised)
        fprintf(stderr, "minimised %s %s: %s\n", cupel_gate_id(found->finding.gate), found->signature,
                found->described);
    else /* the gate is known when it is minimised */
        fprintf(stderr, "found %s: %s\n", found->signature, found->described);
    if (found->bundle_error[0])
        fprintf(stderr, "  could not be saved: %s\n", found->bundle_error);
    else
        fprintf(stderr, "  saved in %s\n", found->bundle);
}

/* The first SIGINT or SIGTERM ends the search, and what it found is reported; a second one ends the program.
 */
static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

static void watch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* a background job of a script stays deaf to Ctrl-C */
        sigaction(numbers[i], &action, NULL);
    }
}

static int dry_run(const cupel_contract *contract, const char *executor, bool json) {
    if (json) {
        cupel_report_json_plan(contract, executor, stdout);
        return 0;
    }
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
                                   .gates = settings->gates,
                                   .stop = &stopped};
    cupel_error err = {0};
    if (cupel_bundle_expect_folder(settings->directory ? settings->directory : ".", session->contract->id,
                                   &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    watch_signals();
    cupel_code code = cupel_check_run(session->contract, &options, &listener, report, &err);
    cupel_status_line_clear(&w.line);
    if (code != CUPEL_OK) return cupel_cli_complain(&err, settings->json);
    if (report->isolation[0] && !settings->quiet) fprintf(stderr, "note: %s\n", report->isolation);
    if (!settings->json)
        cupel_report_text(report, stdout);
    else if (cupel_report_json(report, stdout, &err) != CUPEL_OK)
        return ferror(stdout) ? cupel_check_error_status(err.code) /* the end of the program says so */
                              : cupel_cli_complain(&err, false);
    return cupel_check_exit_status(report->verdict);
}

int cupel_cli_check(const cupel_cli_settings *settings) {
    cupel_cli_session session;
    cupel_error err = {0};
    if (cupel_cli_session_open(settings, settings->operand, settings->contract, &session, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    int status = cupel_check_error_status(CUPEL_MEMORY);
    cupel_check_report *report = calloc(1, sizeof *report);
    if (settings->dry_run)
        status = dry_run(session.contract, session.supervisor.executor, settings->json);
    else if (report)
        status = check(settings, &session, report);
    free(report);
    cupel_cli_session_close(&session);
    return status;
}
