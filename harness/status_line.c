#include "status_line.h"

#include <inttypes.h>
#include <unistd.h>

#include "shrink.h"

static const double terminal_interval = 0.2, plain_interval = 2;

cupel_status_line cupel_status_line_start(FILE *out, bool quiet) {
    bool terminal = isatty(fileno(out)) == 1;
    return (cupel_status_line){.out = out,
                               .terminal = terminal,
                               .quiet = quiet,
                               .last = cupel_shrink_now(),
                               .interval = terminal ? terminal_interval : plain_interval};
}

void cupel_status_line_clear(cupel_status_line *line) {
    if (line->drawn > 0) fprintf(line->out, "\x1b[%dA\x1b[J", line->drawn);
    line->drawn = 0;
    fflush(line->out);
}

static double rate_of(const cupel_progress *progress) {
    return progress->seconds > 0 ? (double)progress->cases / progress->seconds : 0;
}

/* A finding belongs to no gate before it is known what it needs: no gate is said to fail meanwhile. */
static void draw_findings(cupel_status_line *line, const cupel_check_report *report) {
    enum { SHOWN_MAX = 4 };
    int from = report->finding_count > SHOWN_MAX ? report->finding_count - SHOWN_MAX : 0;
    for (int i = from; i < report->finding_count; i++) {
        const cupel_check_finding *found = &report->findings[i];
        fprintf(line->out, "  finding %s: %s\n", found->signature,
                found->minimised ? cupel_gate_id(found->finding.gate) : "its gate is not known yet");
        line->drawn++;
    }
}

static void draw_table(cupel_status_line *line, const cupel_check_report *report,
                       const cupel_progress *progress) {
    cupel_status_line_clear(line);
    fprintf(line->out,
            "%s  %" PRIu64
            " cases, %.0f a second, %.1f s, nothing new for %.1f s, %d worker restart(s), %d finding(s)\n",
            report->contract->id, progress->cases, rate_of(progress), report->seconds,
            progress->seconds_since_feature, progress->restarts, report->finding_count);
    line->drawn = 1;
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        const cupel_gate_tally *tally = &progress->scoreboard->gates[g];
        if (tally->cases == 0) continue;
        fprintf(line->out, "  %s %-20s %9" PRId64 " cases %12" PRId64 " judged  worst %.3g\n",
                cupel_gate_id((cupel_gate)g), cupel_gate_title((cupel_gate)g), tally->cases, tally->judged,
                tally->worst_ratio);
        line->drawn++;
    }
    draw_findings(line, report);
    fflush(line->out);
}

static void draw_line(cupel_status_line *line, const cupel_check_report *report,
                      const cupel_progress *progress) {
    int gates = 0;
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) gates += progress->scoreboard->gates[g].cases > 0;
    fprintf(line->out,
            "%6.1f s  %" PRIu64 " cases (%.0f a second), %d gates exercised, worst ratio %.3g, %d finding(s)",
            report->seconds, progress->cases, rate_of(progress), gates, progress->worst_ratio,
            report->finding_count);
    if (progress->scoreboard->unsupported)
        fprintf(line->out, ", %" PRId64 " not run", progress->scoreboard->unsupported);
    fputc('\n', line->out);
    fflush(line->out);
}

void cupel_status_line_progress(cupel_status_line *line, const cupel_check_report *report,
                                const cupel_progress *progress) {
    double now = cupel_shrink_now();
    if (line->quiet || now - line->last < line->interval) return;
    line->last = now;
    if (line->terminal)
        draw_table(line, report, progress);
    else
        draw_line(line, report, progress);
}
