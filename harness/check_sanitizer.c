/* A check's sanitizer: what it takes, and what becomes of what it shows. The findings of a check are made at
 * its end, in the order of the recipes, so that a report does not depend on how fast it was. */
#include <stdio.h>
#include <string.h>

#include "check_impl.h"
#include "likely_cause.h"

/* Beyond the budget of a check it may take so long to come to its end, the saving of what it shows included;
 * a campaign's is as patient as its minimiser. */
static const double late_seconds = 1, campaign_late_seconds = 5, untimed = 1e9;

void cupel_check_begin_sanitizer(cupel_check *c) {
    const cupel_check_options *options = c->options;
    cupel_error err = {0};
    if (options->sanitizing == CUPEL_SANITIZER_OFF || !cupel_sanitized_available(c->report->executor)) return;
    c->report->sanitized = true;
    const int most = options->sanitizing == CUPEL_SANITIZER_ON ? CUPEL_SANITIZED_MOST : 0;
    if (cupel_side_open(c->contract, &options->supervisor, most, &c->side, &err) != CUPEL_OK)
        snprintf(c->report->sanitizer_trouble, sizeof c->report->sanitizer_trouble, "%.200s", err.text);
}

void cupel_check_sanitize(cupel_check *c, const cupel_recipe *recipe) {
    if (!c->side) return;
    cupel_side_add(c->side, recipe);
    cupel_side_poll(c->side);
}

static bool same_lines(const cupel_race *a, const cupel_race *b) {
    const int a1 = a->earlier.place.line, a2 = a->later.place.line, b1 = b->earlier.place.line,
              b2 = b->later.place.line;
    return (a1 == b1 && a2 == b2) || (a1 == b2 && a2 == b1);
}

/* Does a finding that rejects tell of this race, with its lines? */
static bool is_told(const cupel_check *c, const cupel_finding *finding) {
    if (finding->kind != CUPEL_FINDING_RACE) return false;
    for (int i = 0; i < c->report->finding_count; i++) {
        const cupel_finding *other = &c->report->findings[i].finding;
        if (other->kind == CUPEL_FINDING_NONDETERMINISM && other->has_race &&
            same_lines(&other->race, &finding->race))
            return true;
    }
    return false;
}

/* A result that depends on the schedule, and a wrong value, which a race may have made: which accesses are to
 * blame? A value's gate may have come from a cause that gives way to the race. */
static void explain(cupel_check *c, cupel_check_finding *found) {
    cupel_trial trial = {0};
    cupel_sanitized_counts counts;
    cupel_arena_reset(c->arena);
    if (cupel_supervisor_try(c->supervisor, &found->recipe, false, c->arena, &trial, NULL) != CUPEL_OK ||
        cupel_sanitized_add(cupel_side_supervisor(c->side), &trial, c->arena, &counts, NULL) != CUPEL_OK)
        return;
    c->report->sanitizer.inputs++;
    c->report->sanitizer.runs += counts.runs;
    const cupel_finding *again = cupel_trial_finding(&trial, found->signature);
    if (!again || !again->has_race) return;
    found->finding.has_race = true;
    found->finding.race = again->race;
    if (cupel_finding_is_about_values(found->finding.kind)) {
        cupel_likely_cause_find(&trial, &found->finding);
        if (found->minimised)
            found->finding.gate = cupel_gate_of_finding(&found->finding, found->finding.necessary_traits);
    }
    cupel_check_save(c, found, &trial);
}

static bool has_race(const cupel_check *c) {
    int count;
    const cupel_side_result *results = cupel_side_results(c->side, &count);
    for (int i = 0; i < count; i++)
        if (results[i].finding.kind == CUPEL_FINDING_RACE) return true;
    for (int i = 0; i < c->report->finding_count; i++)
        if (c->report->findings[i].finding.has_race) return true;
    return false;
}

/* Results that depend on the schedule first: where they show no race, and no other case does, values are
 * asked only where a cause is told that a race would refute. */
static void explain_all(cupel_check *c) {
    const int findings = c->report->finding_count;
    for (int i = 0; i < findings && !cupel_check_stopped(c); i++)
        if (c->report->findings[i].finding.kind == CUPEL_FINDING_NONDETERMINISM)
            explain(c, &c->report->findings[i]);
    const bool races = has_race(c);
    for (int i = 0; i < findings && !cupel_check_stopped(c); i++) {
        const cupel_finding *finding = &c->report->findings[i].finding;
        const bool told = finding->cause.fault != CUPEL_SHADOW_NO_FAULT;
        if (cupel_finding_is_about_values(finding->kind) && (races || told))
            explain(c, &c->report->findings[i]);
    }
}

/* The case is run once more for the bundle's sake. */
static void add_evidence(cupel_check *c, const cupel_side_result *result) {
    cupel_trial trial = {0};
    if (is_told(c, &result->finding)) return;
    cupel_check_finding *found = cupel_check_add(c, &result->recipe, &result->finding, 0);
    if (!found) return;
    found->minimised = true; /* it stays as it was found */
    cupel_arena_reset(c->arena);
    cupel_error err = {0};
    if (cupel_supervisor_try(c->supervisor, &found->recipe, false, c->arena, &trial, &err) == CUPEL_OK) {
        cupel_check_save(c, found, &trial);
        return;
    }
    static const cupel_trial no_trial = {0};
    cupel_check_describe(c, found, &no_trial);
    snprintf(found->bundle_error, sizeof found->bundle_error, "%.200s", err.text);
}

/* Once the user waits for the end, a few are saved still. */
static void take_results(cupel_check *c) {
    enum { LATE_MAX = 4 };
    int count, late = 0;
    const cupel_side_result *results = cupel_side_results(c->side, &count);
    while (c->side_taken < count && c->code == CUPEL_OK) {
        if (cupel_check_stopped(c) && late++ == LATE_MAX) return;
        add_evidence(c, &results[c->side_taken++]);
    }
}

/* A campaign has no other end than a stop: what it is shown is saved as it comes. */
void cupel_check_poll_sanitizer(cupel_check *c) {
    if (!c->side) return;
    cupel_side_poll(c->side);
    if (c->options->endless) take_results(c);
}

/* Seconds that it may still take. */
static double seconds_left(const cupel_check *c) {
    if (cupel_check_untimed(c)) return untimed;
    const double left = cupel_check_remaining(c),
                 least = c->options->endless ? campaign_late_seconds : late_seconds;
    return left > least ? left : least;
}

void cupel_check_end_sanitizer(cupel_check *c) {
    if (!c->side || c->code != CUPEL_OK) return;
    cupel_side_finish(c->side, seconds_left(c), c->options->stop);
    c->report->sanitizer = cupel_side_counted(c->side);
    const char *trouble = cupel_side_trouble(c->side);
    if (trouble)
        snprintf(c->report->sanitizer_trouble, sizeof c->report->sanitizer_trouble, "%.200s", trouble);
    if (!trouble) explain_all(c);
    take_results(c);
}
