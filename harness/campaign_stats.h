/* Figures of a campaign over time: rates, what was last new, what is left of the budget; and the two files in
 * which AFL++ tells the same: DIR/stats/<contract id>/fuzzer_stats and plot_data. */
#ifndef CUPEL_CAMPAIGN_STATS_H
#define CUPEL_CAMPAIGN_STATS_H

#include "check.h"
#include "store.h"

enum { CUPEL_CAMPAIGN_SAMPLES = 64, CUPEL_CAMPAIGN_ROWS = 2048 };

/* A row of plot_data. */
typedef struct cupel_campaign_row {
    double seconds, rate, coverage;
    uint64_t cases;
    int64_t edges;
    int rounds, corpus, crashes, hangs;
} cupel_campaign_row;

typedef struct cupel_campaign {
    const char *directory; /* borrowed */
    double limit_seconds;  /* 0: none */
    uint64_t limit_cases;  /* 0: none */
    int64_t start_time;    /* seconds since 1970 */
    double seconds;        /* into the run, at the last update */
    int sample_count;      /* of all; the last ones are kept, one a second */
    struct {
        double seconds;
        uint64_t cases;
    } samples[CUPEL_CAMPAIGN_SAMPLES];
    int findings;            /* at the last update */
    uint64_t cases_at_found; /* when the last one came */
    double written, plotted; /* when the files were last written and a row was last added; negative: never */
    double plot_interval;    /* seconds; doubled whenever the rows are full */
    int row_count;
    cupel_campaign_row rows[CUPEL_CAMPAIGN_ROWS];
    char folder[CUPEL_STORE_PATH];
    bool folder_made;
} cupel_campaign;

typedef struct cupel_figures {
    double rate, rate_minute, rate_overall; /* cases a second: of the last five seconds, the last minute */
    double since_feature, since_signature;  /* seconds; negative: none yet */
    double seconds_left;                    /* negative: no limit */
    uint64_t cases_left;                    /* meaningful where limit_cases is */
} cupel_figures;

/* The campaign is large: allocate it. */
void cupel_campaign_begin(cupel_campaign *campaign, const char *directory, double limit_seconds,
                          uint64_t limit_cases);
/* Takes note of where the report stands. */
void cupel_campaign_update(cupel_campaign *campaign, const cupel_check_report *report);
cupel_figures cupel_campaign_figures(const cupel_campaign *campaign, const cupel_check_report *report);

/* Writes both files when that is due (now: in any case). Fails with IO. */
CUPEL_MUST_USE cupel_code cupel_campaign_write(cupel_campaign *campaign, const cupel_check_report *report,
                                               bool now, cupel_error *err);

#endif
