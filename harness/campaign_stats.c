#include "campaign_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const double write_interval = 5, plot_interval = 5, window = 5, minute = 60;

void cupel_campaign_begin(cupel_campaign *campaign, const char *directory, double limit_seconds,
                          uint64_t limit_cases) {
    memset(campaign, 0, sizeof *campaign);
    campaign->directory = directory;
    campaign->limit_seconds = limit_seconds;
    campaign->limit_cases = limit_cases;
    campaign->start_time = (int64_t)time(NULL);
    campaign->written = campaign->plotted = -1;
    campaign->plot_interval = plot_interval;
}

/* ---- figures ---- */

void cupel_campaign_update(cupel_campaign *campaign, const cupel_check_report *report) {
    campaign->seconds = report->seconds;
    if (report->finding_count > campaign->findings) campaign->cases_at_found = report->cases;
    campaign->findings = report->finding_count;
    int last = (campaign->sample_count + CUPEL_CAMPAIGN_SAMPLES - 1) % CUPEL_CAMPAIGN_SAMPLES;
    if (campaign->sample_count && report->seconds - campaign->samples[last].seconds < 1) return;
    int next = campaign->sample_count++ % CUPEL_CAMPAIGN_SAMPLES;
    campaign->samples[next].seconds = report->seconds;
    campaign->samples[next].cases = report->cases;
}

/* Cases a second since the newest sample that is at least this old, else since the oldest. */
static double rate_over(const cupel_campaign *campaign, const cupel_check_report *report, double seconds) {
    int kept =
        campaign->sample_count < CUPEL_CAMPAIGN_SAMPLES ? campaign->sample_count : CUPEL_CAMPAIGN_SAMPLES;
    for (int i = 1; i <= kept; i++) {
        int at = (campaign->sample_count - i) % CUPEL_CAMPAIGN_SAMPLES;
        double past = report->seconds - campaign->samples[at].seconds;
        if (past >= seconds || (i == kept && past > 0))
            return (double)(report->cases - campaign->samples[at].cases) / past;
    }
    return 0;
}

cupel_figures cupel_campaign_figures(const cupel_campaign *campaign, const cupel_check_report *report) {
    cupel_figures f = {.rate = rate_over(campaign, report, window),
                       .rate_minute = rate_over(campaign, report, minute),
                       .since_feature = report->features > 0 ? report->feature_seconds : -1,
                       .since_signature = -1,
                       .seconds_left = -1};
    if (report->seconds > 0) f.rate_overall = (double)report->cases / report->seconds;
    if (report->signature_seconds >= 0) f.since_signature = report->seconds - report->signature_seconds;
    if (campaign->limit_seconds > 0) {
        f.seconds_left = campaign->limit_seconds - report->seconds;
        if (f.seconds_left < 0) f.seconds_left = 0;
    }
    if (campaign->limit_cases > report->cases) f.cases_left = campaign->limit_cases - report->cases;
    return f;
}

/* ---- AFL's files ---- */

static void count_saved(const cupel_check_report *report, int *crashes, int *hangs) {
    *crashes = *hangs = 0;
    for (int i = 0; i < report->finding_count; i++) {
        const cupel_check_finding *found = &report->findings[i];
        if (!found->bundle[0]) continue;
        ++*(found->finding.fault == CUPEL_FAULT_HANG ? hangs : crashes);
    }
}

static double coverage(const cupel_check_report *report) {
    return report->edge_count > 0 ? 100.0 * (double)report->edges / (double)report->edge_count : 0;
}

/* When the rows are full every other one goes, and they come half as often from then on. */
static void add_row(cupel_campaign *campaign, const cupel_check_report *report, double rate) {
    if (campaign->row_count == CUPEL_CAMPAIGN_ROWS) {
        campaign->row_count /= 2;
        for (int i = 0; i < campaign->row_count; i++) campaign->rows[i] = campaign->rows[2 * i];
        campaign->plot_interval *= 2;
    }
    cupel_campaign_row *row = &campaign->rows[campaign->row_count++];
    *row = (cupel_campaign_row){.seconds = report->seconds,
                                .rate = rate,
                                .coverage = coverage(report),
                                .cases = report->cases,
                                .edges = report->edges,
                                .rounds = report->rounds,
                                .corpus = report->corpus.stored};
    count_saved(report, &row->crashes, &row->hangs);
}

static char *plot_text(const cupel_campaign *campaign, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out) return NULL;
    fputs("# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, "
          "saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found\n",
          out);
    for (int i = 0; i < campaign->row_count; i++) {
        const cupel_campaign_row *row = &campaign->rows[i];
        fprintf(out, "%.0f, %d, 0, %d, 0, 0, %.2f%%, %d, %d, 0, %.2f, %" PRIu64 ", %" PRId64 "\n",
                row->seconds, row->rounds > 0 ? row->rounds - 1 : 0, row->corpus, row->coverage, row->crashes,
                row->hangs, row->rate, row->cases, row->edges);
    }
    return fclose(out) == 0 ? text : (free(text), NULL);
}

/* afl-whatsup reads the file as shell assignments in double quotes. */
static void print_plain(FILE *out, const char *text) {
    for (; *text; text++) fputc(strchr("\"$`\\", *text) || (unsigned char)*text < ' ' ? '_' : *text, out);
}

static void print_command_line(FILE *out) {
    char words[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "rb");
    size_t length = file ? fread(words, 1, sizeof words - 1, file) : 0;
    if (file) fclose(file);
    for (size_t i = 0; i + 1 < length; i++)
        if (words[i] == '\0' || words[i] == '\n') words[i] = ' ';
    fprintf(out, "command_line      : %s\n", words);
}

typedef struct stat_line {
    const char *key;
    uint64_t value;
} stat_line;

static void print_lines(FILE *out, const stat_line *lines, size_t count) {
    for (size_t i = 0; i < count; i++) fprintf(out, "%-18s: %" PRIu64 "\n", lines[i].key, lines[i].value);
}
#define PRINT_LINES(out, ...)                                                                                \
    print_lines(out, (const stat_line[]){__VA_ARGS__},                                                       \
                sizeof((const stat_line[]){__VA_ARGS__}) / sizeof(stat_line))

static uint64_t moment(const cupel_campaign *campaign, double seconds) {
    return seconds < 0 ? 0 : (uint64_t)campaign->start_time + (uint64_t)seconds;
}

static uint64_t peak_megabytes(void) {
    struct rusage own = {0};
    (void)getrusage(RUSAGE_SELF, &own);
    return (uint64_t)own.ru_maxrss >> 10;
}

/* The order and the names are those of AFL++ 4.04c; docs/campaigns.md says what each means here. */
static char *stats_text(const cupel_campaign *campaign, const cupel_check_report *report, size_t *length) {
    cupel_figures f = cupel_campaign_figures(campaign, report);
    int crashes, hangs;
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out) return NULL;
    count_saved(report, &crashes, &hangs);
    double found = f.since_feature < 0 ? -1 : report->seconds - f.since_feature;
    PRINT_LINES(out, {"start_time", (uint64_t)campaign->start_time}, {"last_update", (uint64_t)time(NULL)},
                {"run_time", (uint64_t)report->seconds}, {"fuzzer_pid", (uint64_t)getpid()},
                {"cycles_done", report->rounds > 0 ? (uint64_t)report->rounds - 1 : 0},
                {"cycles_wo_finds", 0},
                {"time_wo_finds", f.since_feature < 0 ? 0 : (uint64_t)f.since_feature},
                {"execs_done", report->cases});
    fprintf(out, "%-18s: %.2f\n%-18s: %.2f\n", "execs_per_sec", f.rate_overall, "execs_ps_last_min",
            f.rate_minute);
    PRINT_LINES(out, {"corpus_count", (uint64_t)report->corpus.stored}, {"corpus_favored", 0},
                {"corpus_found", (uint64_t)report->corpus.found}, {"corpus_imported", 0},
                {"corpus_variable", 0}, {"max_depth", 0}, {"cur_item", 0}, {"pending_favs", 0},
                {"pending_total", 0});
    fprintf(out, "%-18s: %.2f%%\n%-18s: %.2f%%\n", "stability", 0.0, "bitmap_cvg", coverage(report));
    PRINT_LINES(out, {"saved_crashes", (uint64_t)crashes}, {"saved_hangs", (uint64_t)hangs},
                {"last_find", moment(campaign, found)},
                {"last_crash", moment(campaign, report->signature_seconds)}, {"last_hang", 0},
                {"execs_since_crash", report->cases - campaign->cases_at_found}, {"exec_timeout", 0},
                {"slowest_exec_ms", 0}, {"peak_rss_mb", peak_megabytes()}, {"cpu_affinity", 0},
                {"edges_found", (uint64_t)report->edges}, {"total_edges", (uint64_t)report->edge_count},
                {"var_byte_count", 0}, {"havoc_expansion", 0}, {"auto_dict_entries", 0},
                {"testcache_size", 0}, {"testcache_count", 0}, {"testcache_evict", 0});
    fprintf(out, "%-18s: ", "afl_banner");
    print_plain(out, report->contract->id);
    fprintf(out, "\n%-18s: cupel\n%-18s: %s\n", "afl_version", "target_mode", report->executor);
    print_command_line(out);
    return fclose(out) == 0 ? text : (free(text), NULL);
}

static cupel_code write_text(const cupel_campaign *campaign, const char *name, char *text, size_t length,
                             cupel_error *err) {
    if (!text) return cupel_fail(err, CUPEL_MEMORY, "no memory for %s", name);
    cupel_code code = cupel_store_write(campaign->folder, name, text, length, false, err);
    free(text);
    return code;
}

static cupel_code make_folder(cupel_campaign *campaign, const cupel_check_report *report, cupel_error *err) {
    if (campaign->folder_made) return CUPEL_OK;
    if (!cupel_store_folder(campaign->directory, "stats", report->contract->id, campaign->folder,
                            sizeof campaign->folder))
        return cupel_fail(err, CUPEL_IO, "the path of the folder stats is too long");
    CUPEL_TRY(cupel_store_make(campaign->folder, err));
    cupel_store_sweep(campaign->folder);
    campaign->folder_made = true;
    return CUPEL_OK;
}

cupel_code cupel_campaign_write(cupel_campaign *campaign, const cupel_check_report *report, bool now,
                                cupel_error *err) {
    size_t length = 0;
    if (!now && campaign->written >= 0 && report->seconds - campaign->written < write_interval)
        return CUPEL_OK;
    campaign->written = report->seconds;
    if (now || campaign->plotted < 0 || report->seconds - campaign->plotted >= campaign->plot_interval) {
        campaign->plotted = report->seconds;
        add_row(campaign, report, rate_over(campaign, report, window));
    }
    CUPEL_TRY(make_folder(campaign, report, err));
    char *text = stats_text(campaign, report, &length);
    CUPEL_TRY(write_text(campaign, "fuzzer_stats", text, length, err));
    text = plot_text(campaign, &length);
    return write_text(campaign, "plot_data", text, length, err);
}
