#include "cli_search.h"

#include <signal.h>
#include <string.h>

#include "report.h"

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

const volatile sig_atomic_t *cupel_cli_watch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* a background job of a script stays deaf to Ctrl-C */
        sigaction(numbers[i], &action, NULL);
    }
    return &stopped;
}

static void make_room(const cupel_cli_teller *teller) {
    if (teller->clear) teller->clear(teller->display);
}

void cupel_cli_tell_found(const cupel_cli_teller *teller, const cupel_check_finding *found) {
    if (teller->quiet) return;
    make_room(teller);
    const char *gate = cupel_gate_id(found->finding.gate);
    if (found->known && found->minimised && found->report.tries == 0)
        fprintf(stderr, "known %s %s: still fails: %s\n", gate, found->signature, found->described);
    else if (found->minimised)
        fprintf(stderr, "minimised %s %s: %s\n", gate, found->signature, found->described);
    else /* the gate is known when it is minimised */
        fprintf(stderr, "found %s: %s\n", found->signature, found->described);
    if (found->bundle_error[0])
        fprintf(stderr, "  could not be saved: %s\n", found->bundle_error);
    else
        fprintf(stderr, "  saved in %s\n", found->bundle);
}

void cupel_cli_tell_note(const cupel_cli_teller *teller, bool warning, const char *text) {
    if (teller->quiet && !warning) return;
    make_room(teller);
    fprintf(stderr, "%s: %s\n", warning ? "warning" : "note", text);
}

/* Where nothing can be saved the search still has an answer; what is no folder at all is a mistake. */
static cupel_code expect_folder(const cupel_cli_settings *settings, const cupel_cli_session *session,
                                const cupel_cli_teller *teller, cupel_error *err) {
    cupel_code code = cupel_bundle_expect_folder(settings->directory ? settings->directory : ".",
                                                 session->contract->id, err);
    if (code != CUPEL_UNABLE) return code;
    cupel_cli_tell_note(teller, true, err->text);
    return CUPEL_OK;
}

const char *cupel_cli_gate_missing(const cupel_contract *contract, cupel_gate gate, const char **why) {
    static const cupel_scoreboard nothing_tried;
    switch (cupel_gate_status_of(contract, &nothing_tried, gate, 0, why)) {
    case CUPEL_STATUS_NOT_APPLICABLE: return "not applicable";
    case CUPEL_STATUS_NOT_AVAILABLE: return "not available";
    default: return NULL;
    }
}

/* Gates that were asked for: one at least must have something to say; the others are named. */
static cupel_code expect_gates(const cupel_cli_settings *settings, const cupel_contract *contract,
                               const cupel_cli_teller *teller, cupel_error *err) {
    char text[512] = "";
    bool any = settings->gates == 0;
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        if (!(settings->gates >> g & 1)) continue;
        const char *why, *status = cupel_cli_gate_missing(contract, (cupel_gate)g, &why);
        any = any || !status;
        if (!status) continue;
        snprintf(text, sizeof text, "--gates: %s is %s%s: %s", cupel_gate_id((cupel_gate)g), status,
                 strcmp(status, "not applicable") == 0 ? " to this contract" : "", why);
        if (settings->gates & (settings->gates - 1)) cupel_cli_tell_note(teller, true, text);
    }
    if (any) return CUPEL_OK;
    bool one = (settings->gates & (settings->gates - 1)) == 0;
    return cupel_fail(err, CUPEL_USAGE, "%s", one ? text : "--gates: none of these gates can be exercised");
}

int cupel_cli_search(const cupel_cli_settings *settings, const cupel_cli_session *session, bool endless,
                     const volatile sig_atomic_t *stop, const cupel_check_listener *listener,
                     const cupel_cli_teller *teller, cupel_check_report *report) {
    cupel_check_options options = {.kernel = settings->operand,
                                   .directory = settings->directory,
                                   .engine = settings->engine,
                                   .supervisor = session->supervisor,
                                   .seed = settings->seed,
                                   .cases = settings->cases,
                                   .seconds = settings->seconds,
                                   .endless = endless,
                                   .limits = {.max_elements = settings->elements},
                                   .standing = settings->standing,
                                   .sanitizing = settings->sanitizing,
                                   .gates = settings->gates,
                                   .stop = stop};
    options.supervisor.stop = stop;
    cupel_error err = {0};
    if (expect_gates(settings, session->contract, teller, &err) != CUPEL_OK ||
        expect_folder(settings, session, teller, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    cupel_code code = cupel_check_run(session->contract, &options, listener, report, &err);
    make_room(teller);
    if (code != CUPEL_OK) return cupel_cli_complain(&err, settings->json);
    if (report->isolation[0] && !settings->quiet) fprintf(stderr, "note: %s\n", report->isolation);
    if (!settings->json)
        cupel_report_text(report, stdout);
    else if (cupel_report_json(report, stdout, &err) != CUPEL_OK)
        return ferror(stdout) ? cupel_check_error_status(err.code) /* the end of the program says so */
                              : cupel_cli_complain(&err, false);
    return cupel_check_exit_status(report->verdict);
}
