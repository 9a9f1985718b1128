#include "minimiser.h"

#include <stdio.h>

#include "attribution.h"
#include "likely_cause.h"
#include "minimiser_passes.h"
#include "region.h"

enum { PASS_MAX = 32 };

/* How the budget is shared: the end of each phase as a part of the whole. Attribution has its own share,
 * since it names the gate; what a phase leaves is for the next. */
static const double passes_share = 0.35, attribution_share = 0.8, scan_share = 0.9;

static void phase(cupel_shrink *shrink, double start, const cupel_minimise_options *budget, double share) {
    shrink->deadline = start + budget->seconds * share;
    shrink->max_tries = (int)((double)budget->max_tries * share);
}

/* Runs every pass until a whole round changes nothing. A pass that achieved something moves to the front, so
 * that what works on this finding is tried first. False when the budget ended it. */
static bool run_passes(cupel_shrink *shrink) {
    size_t count;
    const cupel_minimiser_pass *passes = cupel_minimiser_passes(&count);
    size_t order[PASS_MAX];
    for (size_t i = 0; i < count; i++) order[i] = i;
    int before;
    do {
        before = shrink->accepted;
        size_t front = 0;
        for (size_t i = 0; i < count; i++) {
            int accepted = shrink->accepted;
            passes[order[i]].run(shrink);
            if (cupel_shrink_spent(shrink)) return false;
            if (shrink->accepted == accepted) continue;
            size_t worked = order[i];
            for (size_t k = i; k > front; k--) order[k] = order[k - 1];
            order[front++] = worked;
        }
    } while (shrink->accepted > before);
    return true;
}

/* The scan proves that no smaller value of a dim fails; where it finds one, the passes have new work. */
static bool prove_smallest(cupel_shrink *shrink) {
    for (;;) {
        int accepted = shrink->accepted;
        if (!cupel_minimiser_scan_dims(shrink)) return false;
        if (shrink->accepted == accepted) return true;
        if (!run_passes(shrink)) return false;
    }
}

/* What a shadow with one fault says of the minimal case: it may name the gate. One more try, where the
 * budget has one left; not of a fault, which may take its time. */
static void find_cause(cupel_shrink *shrink) {
    if (shrink->finding.fault != CUPEL_FAULT_NONE || shrink->finding.output < 0) return;
    const cupel_trial *trial = cupel_shrink_try(shrink, &shrink->best);
    if (trial && cupel_shrink_finding(trial, shrink->signature))
        cupel_likely_cause_find(trial, &shrink->finding);
}

cupel_code cupel_minimise(const cupel_contract *contract, const char *signature,
                          const cupel_predicate *predicate, const cupel_minimise_options *options,
                          cupel_recipe *recipe, cupel_finding *finding, cupel_minimise_report *report,
                          cupel_error *err) {
    cupel_minimise_options budget = {.max_tries = options && options->max_tries ? options->max_tries : 600,
                                     .seconds = options && options->seconds > 0 ? options->seconds : 8};
    double start = cupel_shrink_now();
    cupel_shrink shrink;
    CUPEL_TRY(cupel_shrink_open(&shrink, contract, signature, predicate, recipe, err));

    phase(&shrink, start, &budget, passes_share);
    bool fixed_point = run_passes(&shrink);
    phase(&shrink, start, &budget, attribution_share);
    int accepted = shrink.accepted, traits = 0;
    /* evidence accuses nobody: what it would need is not asked */
    bool proof = shrink.finding.standing == CUPEL_STANDING_PROOF;
    if (proof) traits = cupel_attribute(&shrink, recipe);
    phase(&shrink, start, &budget, scan_share);
    if (!fixed_point || shrink.accepted != accepted) fixed_point = run_passes(&shrink);
    report->smallest_proved = prove_smallest(&shrink) && fixed_point;
    phase(&shrink, start, &budget, 1);
    report->region[0] = '\0';
    if (proof) cupel_region_sweep(&shrink, report->smallest_proved, report->region, sizeof report->region);
    if (proof) cupel_region_variants(&shrink, report->region, sizeof report->region);

    /* a trait that the later phases removed from the minimal case was not necessary */
    traits &= cupel_recipe_traits(contract, &shrink.best) | CUPEL_TRAITS_OF_VALUES;
    report->tries = shrink.tries;
    find_cause(&shrink);
    *recipe = shrink.best;
    *finding = shrink.finding;
    finding->necessary_traits = report->necessary_traits = traits;
    finding->gate = cupel_gate_of_finding(finding, traits);
    report->accepted = shrink.accepted;
    cupel_shrink_close(&shrink);
    return CUPEL_OK;
}
