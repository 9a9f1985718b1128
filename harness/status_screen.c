#include "status_screen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "shrink.h"

static const double terminal_interval = 0.25, first_interval = 2, interval_growth = 1.5, last_interval = 60;

/* What goes first when the terminal is too low. */
enum { KEEP_HEAD, KEEP_FINDINGS, KEEP_GATES, KEEP_REASONS, KEEP_HINT, KEEP_CLASSES };

typedef struct painter {
    cupel_screen_text *text;
    int columns;
    uint8_t keep[CUPEL_SCREEN_LINES];
} painter;

/* Cuts a line down to columns characters, and makes control characters visible as '?'. */
static void fit(char *line, int columns) {
    int shown = 0;
    for (char *c = line; *c; c++) {
        bool continued = ((unsigned char)*c & 0xc0) == 0x80;
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
        if (!continued && shown++ == columns) {
            *c = '\0';
            return;
        }
    }
}

static void put(painter *p, int keep, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void put(painter *p, int keep, const char *format, ...) {
    if (p->text->count == CUPEL_SCREEN_LINES) return;
    char *line = p->text->lines[p->text->count];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, CUPEL_SCREEN_WIDTH, format, arguments);
    va_end(arguments);
    fit(line, p->columns);
    p->keep[p->text->count++] = (uint8_t)keep;
}

/* "1:02:03"; "-" for a negative number of seconds. */
static const char *span(double seconds, char text[32]) {
    if (seconds < 0) return strcpy(text, "-");
    int64_t whole = (int64_t)seconds;
    snprintf(text, 32, "%" PRId64 ":%02d:%02d", whole / 3600, (int)(whole / 60 % 60), (int)(whole % 60));
    return text;
}

/* "34 of 56 edges, 812 features". */
static void coverage_text(const cupel_check_report *report, char *text, size_t size) {
    char edges[64] = "";
    if (report->edge_count > 0)
        snprintf(edges, sizeof edges, "%" PRId64 " of %" PRId64 " edges, ", report->edges,
                 report->edge_count);
    snprintf(text, size, "%s%" PRId64 " features", edges, report->features);
}

static void left_text(const cupel_campaign *campaign, const cupel_figures *f, char *text, size_t size) {
    char time[32];
    text[0] = '\0';
    if (f->seconds_left >= 0)
        snprintf(text, size, "%s left", span(f->seconds_left, time));
    else if (campaign->limit_cases)
        snprintf(text, size, "%" PRIu64 " cases left", f->cases_left);
}

static void put_head(painter *p, const cupel_check_report *report, const cupel_campaign *campaign) {
    cupel_figures f = cupel_campaign_figures(campaign, report);
    char time[32], left[64], seen[128], feature[32], signature[32];
    left_text(campaign, &f, left, sizeof left);
    coverage_text(report, seen, sizeof seen);
    put(p, KEEP_HEAD, "cupel fuzz %s: %s on %s, engine %s, seed %" PRIu64, report->kernel,
        report->contract->id, report->executor, report->engine, report->seed);
    /* the search's figures stand still while a finding is minimised */
    char now[200];
    if (report->minimising)
        snprintf(now, sizeof now, "minimising %s", report->minimising);
    else
        snprintf(now, sizeof now, "%.0f a second now", f.rate);
    put(p, KEEP_HEAD, "%s%s%s  %" PRIu64 " cases, %s, %.0f overall", span(report->seconds, time),
        left[0] ? ", " : "", left, report->cases, now, f.rate_overall);
    put(p, KEEP_HEAD, "coverage %s  corpus %d (%d new)  worst ratio %.3g", seen, report->corpus.stored,
        report->corpus.found, report->worst_ratio);
    put(p, KEEP_HEAD, "last new feature %s ago, last new finding %s ago  %d worker restart(s), round %d",
        span(f.since_feature, feature), span(f.since_signature, signature), report->restarts, report->rounds);
}

static int findings_of(const cupel_check_report *report, int gate) {
    int count = 0;
    for (int i = 0; i < report->finding_count; i++)
        count += report->findings[i].minimised && (int)report->findings[i].finding.gate == gate;
    return count;
}

/* A finding belongs to no gate before it is known what it needs: no gate is said to fail meanwhile. */
static void put_gates(painter *p, const cupel_check_report *report) {
    put(p, KEEP_GATES, "%-7s %-20s %10s %14s %9s %9s", "gate", "", "cases", "judged", "worst", "findings");
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        const cupel_gate_tally *tally = &report->scoreboard.gates[g];
        int findings = findings_of(report, g);
        if (tally->cases == 0 && findings == 0) continue;
        char worst[32] = "-";
        if (tally->worst_ratio > 0) snprintf(worst, sizeof worst, "%.3g", tally->worst_ratio);
        put(p, KEEP_GATES, "%-7s %-20s %10" PRId64 " %14" PRId64 " %9s %9d", cupel_gate_id((cupel_gate)g),
            cupel_gate_title((cupel_gate)g), tally->cases, tally->judged, worst, findings);
    }
}

/* The three most frequent reasons, each with its part of all elements. */
static void put_reasons(painter *p, const cupel_check_report *report) {
    enum { SHOWN = 3 };
    const cupel_scoreboard *board = &report->scoreboard;
    if (board->unsupported)
        put(p, KEEP_REASONS, "not run %5.1f%% of the cases: %s",
            100 * (double)board->unsupported / (double)(board->cases > 0 ? board->cases : board->unsupported),
            report->unsupported);
    int64_t counts[CUPEL_REASON_COUNT];
    double all = 0;
    bool shown[CUPEL_REASON_COUNT] = {false};
    for (int r = 0; r < CUPEL_REASON_COUNT; r++) {
        counts[r] = cupel_scoreboard_by_reason(board, (cupel_reason)r);
        all += (double)counts[r];
    }
    for (int n = 0; n < SHOWN; n++) {
        int most = -1;
        for (int r = CUPEL_REASON_JUDGED + 1; r < CUPEL_REASON_COUNT; r++)
            if (!shown[r] && counts[r] > 0 && (most < 0 || counts[r] > counts[most])) most = r;
        if (most < 0) return;
        shown[most] = true;
        put(p, KEEP_REASONS, "not judged %5.1f%%: %s", 100 * (double)counts[most] / all,
            cupel_reason_text((cupel_reason)most));
    }
}

static void put_findings(painter *p, const cupel_check_report *report) {
    enum { SHOWN = 12 };
    put(p, KEEP_HEAD, "findings %d (%d known from earlier runs; %d of those no longer fail)",
        report->finding_count, report->known, report->gone_count);
    int from = report->finding_count > SHOWN ? report->finding_count - SHOWN : 0;
    for (int i = report->finding_count - 1; i >= from; i--) { /* the newest first */
        const cupel_check_finding *found = &report->findings[i];
        put(p, KEEP_FINDINGS, "  %s %s: %s", found->minimised ? cupel_gate_id(found->finding.gate) : "new",
            found->signature, found->bundle_error[0] ? found->bundle_error : found->bundle);
    }
}

/* Drops the last line of the class that matters least until the rest fits. */
static void drop_lines(painter *p, int rows) {
    cupel_screen_text *text = p->text;
    for (int keep = KEEP_CLASSES - 1; keep >= KEEP_HEAD && text->count > rows; keep--)
        for (int i = text->count - 1; i >= 0 && text->count > rows; i--) {
            if (p->keep[i] != keep) continue;
            text->count--;
            memmove(&text->lines[i], &text->lines[i + 1], (size_t)(text->count - i) * sizeof text->lines[0]);
            memmove(&p->keep[i], &p->keep[i + 1], (size_t)(text->count - i));
        }
}

void cupel_status_screen_make(const cupel_check_report *report, const cupel_campaign *campaign, int columns,
                              int rows, cupel_screen_text *out) {
    painter p = {.text = out, .columns = columns};
    out->count = 0;
    put_head(&p, report, campaign);
    put_gates(&p, report);
    put_reasons(&p, report);
    put_findings(&p, report);
    put(&p, KEEP_HINT, "Ctrl-C ends it with a report");
    drop_lines(&p, rows);
}

void cupel_status_screen_line(const cupel_check_report *report, const cupel_campaign *campaign, char *text,
                              size_t size) {
    cupel_figures f = cupel_campaign_figures(campaign, report);
    char left[64], seen[128];
    int gates = 0;
    left_text(campaign, &f, left, sizeof left);
    coverage_text(report, seen, sizeof seen);
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) gates += report->scoreboard.gates[g].cases > 0;
    snprintf(text, size,
             "%6.1f s  %" PRIu64
             " cases (%.0f a second now, %.0f overall), %s, corpus %d, %d gates exercised, "
             "worst ratio %.3g, %d finding(s), nothing new for %.0f s, %d worker restart(s)%s%s",
             report->seconds, report->cases, f.rate, f.rate_overall, seen, report->corpus.stored, gates,
             report->worst_ratio, report->finding_count, report->feature_seconds, report->restarts,
             left[0] ? ", " : "", left);
}

/* ---- drawing ---- */

void cupel_status_screen_begin(cupel_status_screen *screen, FILE *out, bool quiet) {
    const char *kind = getenv("TERM");
    memset(screen, 0, sizeof *screen);
    screen->out = out;
    screen->terminal = isatty(fileno(out)) == 1 && !(kind && strcmp(kind, "dumb") == 0);
    screen->quiet = quiet;
    screen->last = cupel_shrink_now();
    screen->interval = screen->terminal ? terminal_interval : first_interval;
}

void cupel_status_screen_clear(cupel_status_screen *screen) {
    if (screen->drawn > 0) fprintf(screen->out, "\r\x1b[%dA\x1b[J", screen->drawn);
    screen->drawn = 0;
    fflush(screen->out);
}

/* The terminal's size; what most terminals have where it does not say. */
static void measure(const cupel_status_screen *screen, int *columns, int *rows) {
    struct winsize size = {0};
    bool told = ioctl(fileno(screen->out), TIOCGWINSZ, &size) == 0;
    *columns = told && size.ws_col > 0 ? size.ws_col : 80;
    *rows = told && size.ws_row > 0 ? size.ws_row : 24;
}

static void draw(cupel_status_screen *screen, const cupel_check_report *report,
                 const cupel_campaign *campaign) {
    enum { KEPT_FREE = 1 + 2 }; /* the last column, where some terminals wrap, and an echoed ^C in mid-line */
    int columns, rows;
    measure(screen, &columns, &rows);
    /* the last row stays free for the cursor */
    cupel_status_screen_make(report, campaign, columns > KEPT_FREE ? columns - KEPT_FREE : 1,
                             rows > 1 ? rows - 1 : 1, &screen->text);
    bool resized = screen->drawn > 0 && (columns != screen->columns || rows != screen->rows);
    if (resized) /* where the old lines are now nobody knows */
        fputs("\x1b[H\x1b[2J", screen->out);
    else if (screen->drawn > 0)
        fprintf(screen->out, "\r\x1b[%dA", screen->drawn); /* an echoed ^C has moved the cursor */
    for (int i = 0; i < screen->text.count; i++) fprintf(screen->out, "%s\x1b[K\n", screen->text.lines[i]);
    fputs("\x1b[J", screen->out);
    screen->drawn = screen->text.count;
    screen->columns = columns;
    screen->rows = rows;
    fflush(screen->out);
}

void cupel_status_screen_update(cupel_status_screen *screen, const cupel_check_report *report,
                                const cupel_campaign *campaign) {
    double now = cupel_shrink_now();
    if (screen->quiet || now - screen->last < screen->interval) return;
    screen->last = now;
    if (screen->terminal) {
        draw(screen, report, campaign);
        return;
    }
    char line[CUPEL_SCREEN_WIDTH];
    cupel_status_screen_line(report, campaign, line, sizeof line);
    fprintf(screen->out, "%s\n", line);
    fflush(screen->out);
    screen->interval *= interval_growth;
    if (screen->interval > last_interval) screen->interval = last_interval;
}
