/* Progress of a check on standard error: a gate table that is redrawn on a terminal, a line now and then
 * elsewhere. */
#ifndef CUPEL_STATUS_LINE_H
#define CUPEL_STATUS_LINE_H

#include <stdio.h>

#include "check.h"

typedef struct cupel_status_line {
    FILE *out;
    bool terminal, quiet;
    int drawn;   /* lines of the table that stand on the terminal */
    double last; /* when something was drawn */
    double interval;
} cupel_status_line;

/* Draws to out; quiet: draws nothing. */
cupel_status_line cupel_status_line_start(FILE *out, bool quiet);
void cupel_status_line_progress(cupel_status_line *line, const cupel_check_report *report,
                                const cupel_progress *progress);
/* Clears the table, so that other text can follow. */
void cupel_status_line_clear(cupel_status_line *line);

#endif
