/* `cupel calibrate`: can this contract tell right from wrong? */
#include <stdlib.h>
#include <unistd.h>

#include "calibrate_report.h"
#include "check.h"
#include "cli.h"
#include "cli_search.h"

static void tell_row(void *self, const cupel_calibrate_row *row) {
    (void)self;
    fprintf(stderr, "%s %s: %s\n", row->good ? "good" : "fault", row->name,
            cupel_calibration_name(row->outcome));
}

static cupel_code calibrate(const cupel_cli_settings *settings, cupel_cli_session *session,
                            cupel_calibrate_report *report, cupel_error *err) {
    const cupel_calibrate_options options = {.cases = settings->cases,
                                             .seed = settings->seed,
                                             .max_elements = settings->elements ? settings->elements : 65536,
                                             .stop = cupel_cli_watch_signals()};
    const cupel_calibrate_listener listener = {.row = tell_row};
    return cupel_calibrate(session->contract, &options, settings->quiet ? NULL : &listener, report, err);
}

int cupel_cli_calibrate(const cupel_cli_settings *settings) {
    cupel_cli_session session;
    cupel_error err = {0};
    if (cupel_cli_session_open(settings, settings->operand, settings->contract, &session, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    int status;
    bool written = true;
    cupel_calibrate_report *report = calloc(1, sizeof *report);
    cupel_code code = report ? calibrate(settings, &session, report, &err)
                             : cupel_fail(&err, CUPEL_MEMORY, "no memory for a report");
    if (code != CUPEL_OK) {
        status = cupel_cli_complain(&err, settings->json);
    } else {
        status = cupel_check_exit_status(report->verdict);
        if (settings->json)
            written = cupel_calibrate_report_json(report, stdout);
        else
            cupel_calibrate_report_text(report, stdout);
    }
    free(report);
    cupel_cli_session_close(&session);
    return written ? status : cupel_check_error_status(CUPEL_IO);
}
