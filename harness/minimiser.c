#include "minimiser.h"

#include <stdio.h>

#include "attribution.h"
#include "likely_cause.h"
#include "minimiser_passes.h"
#include "region.h"

enum { PASS_MAX = 32 };

/* How the budget is shared: the end of each phase as a part of the whole. Attribution has its own share,
 * since it names the gate; what a phase leaves is for the next. */
static const double passes_share = 0.35, attribution_share = 0.8, scan_share = 0.9, region_share = 0.98;

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

/* The original case once more, and cases of moderate size with normal values: of the original's values and
 * types, or of the minimal case's. */
static bool make_witness(const cupel_shrink *shrink, const cupel_recipe *original, int which,
                         cupel_recipe *r) {
    enum { EXTENT = 64, PRODUCT = 1 << 14 };
    const cupel_contract *contract = shrink->contract;
    const int dims = contract->dim_count - contract->variant_count;
    *r = which == 2 ? shrink->best : *original;
    if (which == 0) return true;
    r->permutation = 0;
    for (int d = 0; d < dims; d++) r->dims[d] = contract->dims[d].hi < EXTENT ? contract->dims[d].hi : EXTENT;
    for (int64_t product = PRODUCT + 1; product > PRODUCT;) {
        int largest = 0;
        product = 1;
        for (int d = 0; d < dims; d++) {
            if (r->dims[d] > r->dims[largest]) largest = d;
            product *= r->dims[d] > 0 ? r->dims[d] : 1;
        }
        if (product <= PRODUCT || r->dims[largest] / 2 < contract->dims[largest].lo) break;
        r->dims[largest] /= 2;
    }
    for (int t = 0; t < contract->tensor_count; t++)
        r->tensors[t] = (cupel_tensor_recipe){.pattern = CUPEL_PATTERN_NORMAL,
                                              .amplitude = 1,
                                              .seed = (uint32_t)(97 * which + t),
                                              .layout = r->tensors[t].layout};
    return cupel_shrink_repair(contract, r);
}

/* What a shadow with one fault says of the minimal case: it may name the gate. Where several faults of sums
 * say the same, larger cases decide. A few more tries; not of a fault, which may take its time. */
static void find_cause(cupel_shrink *shrink, const cupel_recipe *original) {
    enum { WITNESSES = 3 };
    if (shrink->finding.fault != CUPEL_FAULT_NONE || shrink->finding.output < 0) return;
    const cupel_trial *trial = cupel_shrink_try(shrink, &shrink->best);
    if (!trial || !cupel_shrink_finding(trial, shrink->signature)) return;
    cupel_likely_cause_find(trial, &shrink->finding);
    const unsigned open = cupel_likely_cause_open(trial, &shrink->finding);
    for (int which = 0; open && which < WITNESSES; which++) {
        cupel_recipe witness;
        if (!make_witness(shrink, original, which, &witness)) continue;
        trial = cupel_shrink_try(shrink, &witness);
        if (trial && trial->allowed && cupel_likely_cause_weigh(trial, open, &shrink->finding)) return;
    }
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
    phase(&shrink, start, &budget, region_share);
    shrink.max_tries = budget.max_tries - budget.max_tries / 50; /* of a budget of a few the cause has none */
    report->region[0] = '\0';
    if (proof) cupel_region_sweep(&shrink, report->smallest_proved, report->region, sizeof report->region);
    if (proof) cupel_region_variants(&shrink, report->region, sizeof report->region);

    /* a trait that the later phases removed from the minimal case was not necessary */
    traits &= cupel_recipe_traits(contract, &shrink.best) | CUPEL_TRAITS_OF_VALUES;
    report->tries = shrink.tries;
    phase(&shrink, start, &budget, 1);
    find_cause(&shrink, recipe);
    *recipe = shrink.best;
    *finding = shrink.finding;
    finding->necessary_traits = report->necessary_traits = traits;
    finding->gate = cupel_gate_of_finding(finding, traits);
    report->accepted = shrink.accepted;
    cupel_shrink_close(&shrink);
    return CUPEL_OK;
}
