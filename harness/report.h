/* A check's report for people (report_text.c) and for machines (report_json.c). */
#ifndef CUPEL_REPORT_H
#define CUPEL_REPORT_H

#include <stdio.h>

#include "check.h"

/* Gate table, cases per pattern, what was not judged, findings, verdict. */
void cupel_report_text(const cupel_check_report *report, FILE *out);

/* One finding in full: gate, minimal case, got / allowed / exact, where, replay. */
void cupel_report_finding(const cupel_check_finding *found, FILE *out);

/* A path as a shell reads it back. */
void cupel_report_path(const char *path, FILE *out);

/* The object of DESIGN section 8. Fails where it cannot be written. */
CUPEL_MUST_USE cupel_code cupel_report_json(const cupel_check_report *report, FILE *out, cupel_error *err);

/* What a check would exercise: {"contract", "executor", "dims", "types", "gates"}. */
void cupel_report_json_plan(const cupel_contract *contract, const char *executor, FILE *out);

/* {"error": {"file", "line", "column", "text", "status"}}: a command that ended without a report. */
void cupel_report_json_error(const cupel_error *err, int status, FILE *out);

#endif
