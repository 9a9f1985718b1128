#include <stdlib.h>

#include "cli_search.h"
#include "status_screen.h"

typedef struct campaign {
    cupel_campaign stats;
    cupel_status_screen screen;
    cupel_cli_teller teller;
    bool told; /* that the statistics cannot be written */
    cupel_check_report report;
} campaign;

static void clear(void *display) {
    cupel_status_screen_clear(display);
}

static void write_stats(campaign *c, const cupel_check_report *report, bool now) {
    cupel_error err = {0};
    char text[700];
    cupel_campaign_update(&c->stats, report);
    if (cupel_campaign_write(&c->stats, report, now, &err) == CUPEL_OK || c->told) return;
    c->told = true;
    char line[800];
    snprintf(line, sizeof line, "statistics cannot be written: %s",
             cupel_error_format(&err, text, sizeof text));
    cupel_cli_tell_note(&c->teller, true, line);
}

static void on_progress(void *self, const cupel_check_report *report, const cupel_progress *progress) {
    campaign *c = self;
    (void)progress;
    write_stats(c, report, false);
    cupel_status_screen_update(&c->screen, report, &c->stats);
}

static void on_found(void *self, const cupel_check_finding *found) {
    campaign *c = self;
    cupel_cli_tell_found(&c->teller, found);
}

static void on_note(void *self, bool warning, const char *text) {
    campaign *c = self;
    cupel_cli_tell_note(&c->teller, warning, text);
}

static int fuzz(const cupel_cli_settings *settings, const cupel_cli_session *session,
                const volatile sig_atomic_t *stop) {
    campaign *c = calloc(1, sizeof *c);
    if (!c) return cupel_check_error_status(CUPEL_MEMORY);
    cupel_campaign_begin(&c->stats, settings->directory, settings->seconds, settings->cases);
    cupel_status_screen_begin(&c->screen, stderr, settings->quiet);
    c->teller = (cupel_cli_teller){settings->quiet, &c->screen, clear};
    cupel_check_listener listener = {c, on_progress, on_found, on_note};
    int status = cupel_cli_search(settings, session, true, stop, &listener, &c->teller, &c->report);
    if (c->report.contract && c->report.rounds > 0) write_stats(c, &c->report, true);
    free(c);
    return status;
}

int cupel_cli_fuzz(const cupel_cli_settings *settings) {
    const volatile sig_atomic_t *stop = cupel_cli_watch_signals();
    cupel_cli_session session;
    cupel_error err = {0};
    if (cupel_cli_session_open(settings, settings->operand, settings->contract, &session, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    int status = fuzz(settings, &session, stop);
    cupel_cli_session_close(&session);
    return status;
}
