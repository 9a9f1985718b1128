/* The screen of a campaign: made as lines for a terminal of a given size (cupel_status_screen_make), and kept
 * in place on standard error; where that is no terminal, one line now and then. */
#ifndef CUPEL_STATUS_SCREEN_H
#define CUPEL_STATUS_SCREEN_H

#include <stdio.h>

#include "campaign_stats.h"

enum { CUPEL_SCREEN_LINES = 64, CUPEL_SCREEN_WIDTH = 512 };

typedef struct cupel_screen_text {
    int count;
    char lines[CUPEL_SCREEN_LINES][CUPEL_SCREEN_WIDTH];
} cupel_screen_text;

/* At most rows lines of at most columns characters; what matters least goes first. */
void cupel_status_screen_make(const cupel_check_report *report, const cupel_campaign *campaign, int columns,
                              int rows, cupel_screen_text *out);

/* The same figures in one line. */
void cupel_status_screen_line(const cupel_check_report *report, const cupel_campaign *campaign, char *text,
                              size_t size);

typedef struct cupel_status_screen {
    FILE *out;
    bool terminal, quiet;
    int drawn;         /* lines that stand on the terminal */
    int columns, rows; /* of the terminal when they were drawn */
    double last;       /* when something was drawn */
    double interval;
    cupel_screen_text text;
} cupel_status_screen;

/* Draws to out; quiet: draws nothing. The screen is large: allocate it. */
void cupel_status_screen_begin(cupel_status_screen *screen, FILE *out, bool quiet);
/* Draws when that is due. */
void cupel_status_screen_update(cupel_status_screen *screen, const cupel_check_report *report,
                                const cupel_campaign *campaign);
/* Takes the screen away, so that other text can follow. */
void cupel_status_screen_clear(cupel_status_screen *screen);

#endif
