#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "attribution.h"
#include "likely_cause.h"
#include "races.h"
#include "report.h"
#include "wording.h"

static void print_share(int64_t part, int64_t whole, FILE *out) {
    if (whole <= 0)
        fprintf(out, "%8s", "-");
    else
        fprintf(out, "%7.1f%%", 100.0 * (double)part / (double)whole);
}

static void print_ratio(double ratio, FILE *out) {
    if (!(ratio > 0))
        fprintf(out, "%9s", "-");
    else
        fprintf(out, "%9.3g", ratio);
}

static const char *status_text(cupel_gate_status status) {
    static const char *const texts[] = {[CUPEL_STATUS_NOT_EXERCISED] = "not exercised",
                                        [CUPEL_STATUS_PASS] = "pass",
                                        [CUPEL_STATUS_FAIL] = "FAIL",
                                        [CUPEL_STATUS_NOT_APPLICABLE] = "not applicable",
                                        [CUPEL_STATUS_NOT_AVAILABLE] = "not available"};
    return texts[status];
}

static void print_gates(const cupel_check_report *report, FILE *out) {
    fprintf(out, "%-7s %-20s %-14s %10s %12s %8s %9s\n", "gate", "", "status", "cases", "judged", "share",
            "worst");
    for (int g = 0; g < CUPEL_GATE_COUNT; g++) {
        const cupel_check_gate *gate = &report->gates[g];
        const cupel_gate_tally *tally = &report->scoreboard.gates[g];
        fprintf(out, "%-7s %-20s %-14s", cupel_gate_id((cupel_gate)g), cupel_gate_title((cupel_gate)g),
                status_text(gate->status));
        if (gate->status == CUPEL_STATUS_PASS || gate->status == CUPEL_STATUS_FAIL) {
            fprintf(out, " %10" PRId64 " %12" PRId64 " ", tally->cases, tally->judged);
            print_share(tally->judged, tally->considered, out);
            fputc(' ', out);
            print_ratio(tally->worst_ratio, out);
        } else if (gate->why && gate->why[0]) {
            fprintf(out, " %s", gate->why);
        }
        fputc('\n', out);
    }
}

/* Nothing was shown about these either. */
static void print_unsupported(const cupel_check_report *report, FILE *out) {
    if (report->scoreboard.unsupported)
        fprintf(out, "not run   %" PRId64 " of %" PRId64 " cases could not be run: %s\n",
                report->scoreboard.unsupported, report->scoreboard.cases,
                report->unsupported[0] ? report->unsupported : "no reason is known");
}

static void print_sampled(const cupel_check_report *report, FILE *out) {
    if (report->scoreboard.sampled)
        fprintf(out,
                "blocks    %" PRId64 " of %" PRId64
                " cases ran a sample of their blocks, and nothing else of "
                "them was judged\n",
                report->scoreboard.sampled, report->scoreboard.cases);
}

/* Dims of which only a part of the claimed range was tried: nothing was shown about the rest. */
static void print_tried(const cupel_check_report *report, FILE *out) {
    bool any = false, larger = false;
    if (report->scoreboard.cases == 0) return;
    for (int d = 0; d < report->contract->dim_count; d++) {
        const cupel_dim *dim = &report->contract->dims[d];
        int64_t lo = report->scoreboard.smallest[d], hi = report->scoreboard.largest[d];
        if (lo <= dim->lo && hi >= dim->hi) continue;
        fprintf(out, "%s %s %" PRId64 "..%" PRId64 " of %" PRId64 "..%" PRId64 " claimed",
                any ? "," : "tried    ", dim->name, lo, hi, dim->lo, dim->hi);
        any = true;
        larger = larger || hi < dim->hi;
    }
    if (any) fprintf(out, "%s\n", larger ? " (larger cases: --elements)" : "");
}

static void print_patterns(const cupel_check_report *report, FILE *out) {
    bool any = false;
    for (int p = 0; p < CUPEL_PATTERN_COUNT; p++) {
        int64_t cases = report->scoreboard.cases_by_pattern[p];
        if (cases == 0) continue;
        fprintf(out, "%s %s %" PRId64,
                any ? "," : "\ncases by pattern:", cupel_pattern_name((cupel_pattern)p), cases);
        any = true;
    }
    if (any) fputc('\n', out);
}

/* Each variant was tried, or it was not: that is to be seen. */
static void print_variants(const cupel_check_report *report, FILE *out) {
    const cupel_contract *c = report->contract;
    for (int d = c->dim_count - c->variant_count; d < c->dim_count; d++) {
        const cupel_dim *dim = &c->dims[d];
        const int64_t *cases = report->scoreboard.cases_by_variant[d];
        fprintf(out, "variants  %s: %" PRId64 " in %" PRId64, dim->name, dim->first, cases[0]);
        for (int i = 0; i < dim->value_count; i++)
            if (dim->values[i] != dim->first)
                fprintf(out, ", %" PRId64 " in %" PRId64, dim->values[i],
                        cases[cupel_variant_rank(dim, dim->values[i])]);
        fprintf(out, " cases\n");
    }
}

/* Neither nothing nor everything is rounded to. */
static void print_percent(int64_t part, int64_t whole, FILE *out) {
    const double percent = 100.0 * (double)part / (double)whole;
    if (part > 0 && percent < 0.1)
        fprintf(out, "under 0.1 %%");
    else if (part < whole && percent > 99.9)
        fprintf(out, "over 99.9 %%");
    else
        fprintf(out, "%.3g %%", percent);
}

/* One line for each output of which some elements are not judged, or judged by a radius that says little. */
static void print_outputs(const cupel_check_report *report, FILE *out) {
    for (int t = 0; t < report->contract->tensor_count; t++) {
        const cupel_output_tally *output = &report->scoreboard.outputs[t];
        const int64_t all = cupel_output_considered(output), judged = output->by_reason[CUPEL_REASON_JUDGED];
        if (judged == all && output->coarse == 0) continue;
        fprintf(out, "output    %s: ", report->contract->tensors[t].name);
        print_percent(judged, all, out);
        fprintf(out, " judged");
        const char *before = "; not judged: ";
        for (int r = CUPEL_REASON_JUDGED + 1; r < CUPEL_REASON_COUNT; r++) {
            if (output->by_reason[r] == 0) continue;
            fputs(before, out);
            print_percent(output->by_reason[r], all, out);
            fprintf(out, " %s", cupel_reason_word((cupel_reason)r));
            before = ", ";
        }
        if (output->coarse) {
            fprintf(out, "; radius above magnitude ");
            print_percent(output->coarse, judged, out);
        }
        fputc('\n', out);
    }
}

static void print_values(const cupel_check_finding *found, FILE *out) {
    const cupel_finding *finding = &found->finding;
    char got[96], allowed[192], distance[192];
    cupel_word_element(finding->type, finding->got_bits, got, sizeof got);
    fprintf(out, "  element   %s\n  got       %s\n", found->where, got);
    if (finding->certified) {
        cupel_word_allowed(finding->type, &finding->exact, allowed, sizeof allowed);
        fprintf(out, "  allowed   %s\n  exact     %s\n", allowed, finding->exact.digits);
    }
    cupel_word_distance(finding, distance, sizeof distance);
    if (distance[0]) fprintf(out, "  distance  %s\n", distance);
    fprintf(out, "  wrong     %" PRId64 " of %" PRId64 " judged elements\n", finding->wrong_elements,
            finding->judged_elements);
}

void cupel_report_path(const char *path, FILE *out) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%";
    if (path[0] == '-') fputs("./", out); /* not an option */
    if (path[0] && strspn(path, plain) == strlen(path)) {
        fputs(path, out);
        return;
    }
    fputc('\'', out);
    for (; *path; path++)
        if (*path == '\'')
            fputs("'\\''", out);
        else
            fputc(*path, out);
    fputc('\'', out);
}

static void print_notes(const cupel_check_finding *found, FILE *out) {
    if (found->gate_untested && found->minimised)
        fprintf(out, "  note      the budget was too small to test what the failure needs; the gate is the "
                     "bundle's\n");
    else if (found->gate_untested)
        fprintf(out,
                "  note      the check ended before it was tested what the failure needs: another gate may "
                "turn out; cupel minimise goes on\n");
    if (found->finding.gate == CUPEL_GATE_EXC_01)
        fprintf(out,
                "  hint      if NaN or infinity is not claimed, write `finite: true` for the input in the "
                "contract\n");
    if (!found->minimised && !found->gate_untested && found->try_seconds >= 1)
        fprintf(out, "  note      left as found, since one try takes %.0f s; cupel minimise goes on\n",
                found->try_seconds);
    else if (found->out_of_time && !found->gate_untested)
        fprintf(out, "  note      left as found, since the budget was used up; cupel minimise goes on\n");
}

/* A finding about the race itself begins with this. */
static void print_race(const cupel_finding *finding, FILE *out) {
    char lines[256];
    if (!finding->has_race || finding->kind == CUPEL_FINDING_RACE) return;
    cupel_race_describe(&finding->race, lines, sizeof lines);
    fprintf(out, "  race      %s, and nothing orders them\n", lines);
}

void cupel_report_finding(const cupel_check_finding *found, FILE *out) {
    const cupel_finding *finding = &found->finding;
    char place[512];
    fprintf(out, "%s %s: %s (%s)\n", cupel_gate_id(finding->gate), cupel_gate_title(finding->gate),
            cupel_finding_title(finding), finding->standing == CUPEL_STANDING_PROOF ? "proof" : "evidence");
    if (finding->text[0]) fprintf(out, "  %s\n", finding->text);
    fprintf(out, "  %-9s %s\n", found->minimised ? "minimal" : "case", found->described);
    if (cupel_word_has_values(finding)) print_values(found, out);
    cupel_word_place(cupel_word_place_of(finding), place, sizeof place);
    if (place[0]) fprintf(out, "  place     %s\n", place);
    print_race(finding, out);
    char cause[CUPEL_LIKELY_CAUSE_TEXT];
    cupel_likely_cause_describe(finding, cause, sizeof cause);
    if (cause[0]) fprintf(out, "  likely    %s\n", cause);
    /* a bundle of an earlier run says itself what was learnt then */
    if (found->minimised && found->report.tries > 0 && finding->standing == CUPEL_STANDING_PROOF) {
        char traits[256];
        cupel_traits_describe(finding->necessary_traits, found->report.region, traits, sizeof traits);
        if (!found->gate_untested) fprintf(out, "  needs     %s\n", traits);
        if (found->report.region[0]) fprintf(out, "  region    %s\n", found->report.region);
    }
    if (cupel_resources_is_limit(found->signature))
        fprintf(out, "  needs     the launch alone: no values matter\n");
    print_notes(found, out);
    if (found->known) fprintf(out, "  note      known from an earlier run, and still failing\n");
    if (found->bundle[0]) {
        fprintf(out, "  replay    cupel replay ");
        cupel_report_path(found->bundle, out);
        fputc('\n', out);
    }
    if (found->bundle_error[0]) fprintf(out, "  bundle    could not be saved: %s\n", found->bundle_error);
}

/* Is a finding of the same source line printed in full before it? */
static bool joins_earlier(const cupel_check_report *report, int i) {
    for (int k = 0; k < i; k++)
        if (cupel_word_same_line(&report->findings[k].finding, &report->findings[i].finding)) return true;
    return false;
}

/* What else goes wrong at the line of finding i, in short. */
static void print_joined(const cupel_check_report *report, int i, FILE *out) {
    const cupel_finding *first = &report->findings[i].finding;
    int more = 0;
    for (int k = i + 1; k < report->finding_count; k++)
        more += cupel_word_same_line(first, &report->findings[k].finding);
    if (more) fprintf(out, "  %d more finding%s at this line:\n", more, more == 1 ? "" : "s");
    for (int k = i + 1; k < report->finding_count; k++) {
        const cupel_check_finding *found = &report->findings[k];
        if (!cupel_word_same_line(first, &found->finding)) continue;
        fprintf(out, "    %s: %s (%s): %s\n", cupel_gate_id(found->finding.gate),
                cupel_finding_title(&found->finding),
                found->finding.standing == CUPEL_STANDING_PROOF ? "proof" : "evidence", found->described);
        if (!found->bundle[0]) continue;
        fprintf(out, "      cupel replay ");
        cupel_report_path(found->bundle, out);
        fputc('\n', out);
    }
}

static void print_gone(const cupel_check_report *report, FILE *out) {
    if (report->gone_count) fprintf(out, "\nfound by earlier runs, and failing no longer:\n");
    for (int i = 0; i < report->gone_count; i++) {
        fprintf(out, "  ");
        cupel_report_path(report->gone[i], out);
        fputc('\n', out);
    }
}

static void print_campaign(const cupel_check_report *report, FILE *out) {
    fprintf(out, "\ncampaign  engine %s, %d search(es), %d worker restart(s), ", report->engine,
            report->rounds, report->restarts);
    if (report->edge_count > 0)
        fprintf(out, "%" PRId64 " of %" PRId64 " edges, ", report->edges, report->edge_count);
    fprintf(out, "%" PRId64 " features\ncorpus    %d recipe(s), %d of them new\n", report->features,
            report->corpus.stored, report->corpus.found);
}

static void print_sanitizer(const cupel_check_report *report, FILE *out) {
    const cupel_side_counts *s = &report->sanitizer;
    if (!report->sanitized) return;
    int reports = 0;
    for (int i = 0; i < report->finding_count; i++)
        reports += report->findings[i].finding.has_race &&
                   !cupel_finding_is_about_values(report->findings[i].finding.kind);
    fprintf(out, "sanitizer %" PRId64 " input%s in %" PRId64 " run%s: ", s->inputs, s->inputs == 1 ? "" : "s",
            s->runs, s->runs == 1 ? "" : "s");
    if (reports)
        fprintf(out, "%d race%s", reports, reports == 1 ? "" : "s");
    else
        fprintf(out, "no race");
    if (s->skipped) fprintf(out, "; %" PRId64 " skipped", s->skipped);
    if (s->left) fprintf(out, "; no time for %" PRId64, s->left);
    if (report->sanitizer_trouble[0]) fprintf(out, "; not available: %s", report->sanitizer_trouble);
    fputc('\n', out);
}

/* Each line begins alike: what it says depends on the compiler that is installed. */
static void print_resources(const cupel_check_report *report, FILE *out) {
    const cupel_resources *r = &report->resources;
    for (int i = 0; i < r->count && r->compiler[0]; i++) {
        const cupel_compiled *k = &r->compiled[i];
        fprintf(out,
                "resources sm_%d %s: %d registers and %" PRId64 " bytes of local memory a thread, %" PRId64
                " bytes of shared memory a block",
                k->architecture, k->entry, k->registers, k->local, k->shared);
        if (k->max_threads > 0) fprintf(out, " of at most %" PRId64 " threads", k->max_threads);
        fprintf(out, "%s (%s)\n", k->tensor_memory ? ", tensor memory" : "", r->compiler);
    }
    if (r->dropped) fprintf(out, "resources %d further kernels are not listed\n", r->dropped);
    if (r->missing[0]) fprintf(out, "resources not available: %s\n", r->missing);
    if (r->asked)
        fprintf(out, "resources %d of %d limits of launches hold for every claimed shape\n", r->proven,
                r->asked);
    if (r->note[0]) fprintf(out, "resources %s\n", r->note);
}

static bool same_kind(const cupel_finding *a, const cupel_finding *b) {
    return a->gate == b->gate && strcmp(cupel_finding_title(a), cupel_finding_title(b)) == 0;
}

/* Findings that do not reject: whoever reads the verdict alone shall know of them. */
static void print_evidence(const cupel_check_report *report, FILE *out) {
    const int all = report->finding_count;
    if (all == 0) return;
    fprintf(out, ", with %d finding%s as evidence:", all, all == 1 ? "" : "s");
    for (int i = 0, listed = 0; i < all; i++) {
        const cupel_finding *finding = &report->findings[i].finding;
        int before = 0, same = 0;
        for (int k = 0; k < i; k++) before += same_kind(&report->findings[k].finding, finding);
        for (int k = i; k < all; k++) same += same_kind(&report->findings[k].finding, finding);
        if (before > 0) continue;
        fprintf(out, "%s %s %s", listed++ ? "," : "", cupel_gate_id(finding->gate),
                cupel_finding_title(finding));
        if (same > 1) fprintf(out, " (%d)", same);
    }
}

static void print_verdict(const cupel_check_report *report, FILE *out) {
    static const char *const words[] = {[CUPEL_VERDICT_ACCEPTED] = "ACCEPTED",
                                        [CUPEL_VERDICT_REJECTED] = "REJECTED",
                                        [CUPEL_VERDICT_INCONCLUSIVE] = "INCONCLUSIVE"};
    fprintf(out, "\n%s", words[report->verdict]);
    if (report->verdict == CUPEL_VERDICT_REJECTED) {
        fprintf(out, " by");
        for (int g = 0, listed = 0; g < CUPEL_GATE_COUNT; g++)
            if (report->gates[g].findings)
                fprintf(out, "%s %s", listed++ ? "," : "", cupel_gate_id((cupel_gate)g));
    }
    if (report->reason[0]) fprintf(out, ": %s", report->reason);
    if (report->verdict != CUPEL_VERDICT_REJECTED) print_evidence(report, out);
    fprintf(out, " (%" PRIu64 " cases, %.1f s)\n", report->cases, report->seconds);
}

void cupel_report_text(const cupel_check_report *report, FILE *out) {
    fprintf(out, "%s: contract %s on %s, seed %" PRIu64 "\n\n", report->kernel, report->contract->id,
            report->executor, report->seed);
    print_gates(report, out);
    print_patterns(report, out);
    print_variants(report, out);
    print_outputs(report, out);
    print_unsupported(report, out);
    print_sampled(report, out);
    print_tried(report, out);
    print_sanitizer(report, out);
    print_resources(report, out);
    const cupel_executor_backend *backend = cupel_executor_find(report->executor);
    if (backend && backend->varies_schedules && !backend->checks_addresses)
        fprintf(out,
                "addresses not checked by the device: a read outside of the buffers that changes no result "
                "shows on --on emu alone\n");
    for (int i = 0; i < report->finding_count; i++) {
        if (joins_earlier(report, i)) continue;
        fputc('\n', out);
        cupel_report_finding(&report->findings[i], out);
        print_joined(report, i, out);
    }
    print_gone(report, out);
    if (report->endless) print_campaign(report, out);
    if (report->dropped) fprintf(out, "\n%d further findings are not listed\n", report->dropped);
    if (report->false_alarms)
        fprintf(out, "\n%d suspicion(s) were refuted by the exact oracle and are not findings\n",
                report->false_alarms);
    print_verdict(report, out);
}
