/* A check's report for people (report_text.c) and for machines (report_json.c). */
#ifndef CUPEL_REPORT_H
#define CUPEL_REPORT_H

#include <stdio.h>

#include "check.h"

/* Gate table, cases per pattern, what was not judged, findings, verdict. */
void cupel_report_text(const cupel_check_report *report, FILE *out);

/* One finding in full: gate, minimal case, got / allowed / exact, where, replay. */
void cupel_report_finding(const cupel_check_finding *found, FILE *out);

/* The object of DESIGN section 8. */
CUPEL_MUST_USE cupel_code cupel_report_json(const cupel_check_report *report, FILE *out, cupel_error *err);

#endif
