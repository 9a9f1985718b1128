/* `cupel explain`: what a counterexample shows, and why. */
#include <string.h>

#include "attribution.h"
#include "check.h"
#include "cli_bundle.h"
#include "explain_facts.h"
#include "explain_walk.h"
#include "likely_cause.h"
#include "shrink.h"
#include "wording.h"

static void print_case(const cupel_cli_bundle *o, const cupel_trial *trial) {
    char described[512];
    cupel_recipe_describe(o->session.contract, &o->recipe, described, sizeof described);
    printf("The case\n  %s\n", described);
    cupel_word_inputs(o->session.contract, trial->c, stdout);
    printf("\n");
}

static void print_values(const cupel_finding *finding, const cupel_trial *trial) {
    char where[128], got[96], allowed[192], distance[192];
    cupel_word_where(finding, trial, where, sizeof where);
    cupel_word_element(finding->type, finding->got_bits, got, sizeof got);
    cupel_word_allowed(finding->type, &finding->exact, allowed, sizeof allowed);
    cupel_word_distance(finding, distance, sizeof distance);
    printf("  element   %s\n  got       %s\n", where, got);
    if (finding->certified)
        printf("  allowed   %s\n  exact     %s\n  radius    %.6g\n", allowed, finding->exact.digits,
               finding->exact.radius);
    if (distance[0]) printf("  distance  %s\n", distance);
    printf("  wrong     %lld of %lld judged elements\n", (long long)finding->wrong_elements,
           (long long)finding->judged_elements);
}

static void print_finding(const cupel_cli_bundle *o, const cupel_finding *finding, const cupel_trial *trial) {
    char place[512];
    const cupel_place *at = cupel_word_place_of(finding);
    printf("What happened\n  %s\n", finding->text);
    if (cupel_word_has_values(finding)) print_values(finding, trial);
    cupel_word_place(at, place, sizeof place);
    if (place[0]) printf("  place     %s\n", place);
    char cause[CUPEL_LIKELY_CAUSE_TEXT];
    cupel_likely_cause_describe(finding, cause, sizeof cause);
    if (cause[0]) printf("  likely    %s\n", cause);
    cupel_explain_runs(finding, trial, "  ", stdout);
    printf("  standing  %s\n\n", finding->standing == CUPEL_STANDING_PROOF
                                     ? "proof: no conforming kernel does this"
                                     : "evidence: it is unusual, not impossible");
    printf("When it fails\n");
    if (o->info.traits) {
        char traits[256];
        cupel_traits_describe(o->info.traits, o->info.region, traits, sizeof traits);
        printf("  needs     %s\n", traits);
    }
    printf("  region    %s\n\n",
           o->info.region[0] ? o->info.region : "not known; cupel minimise looks for it");
}

static cupel_code print_walk(const cupel_finding *finding, const cupel_trial *trial, cupel_error *err) {
    char where[128];
    if (finding->output < 0 || finding->index < 0 || !trial->graph) return CUPEL_OK;
    cupel_word_where(finding, trial, where, sizeof where);
    printf("How the exact value of %s comes about (+-: how far a conforming kernel may be)\n", where);
    CUPEL_TRY(cupel_explain_walk(trial, finding->output, finding->index, stdout, err));
    printf("\n");
    return CUPEL_OK;
}

/* found: by this run, which knows neither the gate by necessity nor what larger cases told; the bundle does.
 */
static cupel_code print_all(const cupel_cli_bundle *o, const cupel_finding *found, const cupel_trial *trial,
                            cupel_error *err) {
    cupel_finding finding = *found;
    char signature[160];
    cupel_finding_signature(found, signature, sizeof signature);
    (void)cupel_gate_parse(o->info.gate, &finding.gate);
    cupel_likely_cause_recall(trial, cupel_cli_bundle_cause(o, signature), &finding);
    printf("%s %s: %s\n\nWhat was claimed\n", cupel_gate_id(finding.gate), cupel_gate_title(finding.gate),
           cupel_finding_title(&finding));
    cupel_word_claims(o->session.contract, &finding, stdout);
    print_case(o, trial);
    print_finding(o, &finding, trial);
    CUPEL_TRY(print_walk(&finding, trial, err));
    printf("Memory\n");
    cupel_explain_memory(trial, strcmp(o->session.supervisor.executor, "emu") == 0, stdout);
    printf("\nIf this is disputed\n");
    cupel_explain_dispute(o->session.contract, &finding, o->info.traits, stdout);
    return CUPEL_OK;
}

static cupel_code explain(cupel_cli_bundle *o, int *status, cupel_error *err) {
    cupel_trial trial = {0};
    CUPEL_TRY(cupel_supervisor_try(o->supervisor, &o->recipe, true, o->session.arena, &trial, err));
    if (trial.unsupported) return cupel_fail(err, CUPEL_UNSUPPORTED, "%s", trial.text);
    const cupel_finding *finding = cupel_shrink_finding(&trial, o->info.signature);
    bool another = !finding && trial.judged.finding_count > 0;
    if (another) finding = &trial.judged.findings[0];
    *status = finding ? 1 : 0;
    if (!finding) {
        print_case(o, &trial);
        printf("holds now: %s is gone\n", o->info.signature);
    } else {
        if (another) printf("%s is gone; the case fails in another way:\n\n", o->info.signature);
        CUPEL_TRY(print_all(o, finding, &trial, err));
    }
    if (cupel_bundle_source_changed(&o->info, o->session.contract))
        printf("\nthe kernel's source has changed since the bundle was written\n");
    return CUPEL_OK;
}

int cupel_cli_explain(const cupel_cli_settings *settings) {
    char bundle[1024];
    cupel_cli_bundle o;
    cupel_error err = {0};
    int status = 3;
    cupel_cli_bundle_name(settings->operand, bundle, sizeof bundle);
    if (cupel_cli_bundle_open("explain", settings, bundle, true, &o, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, settings->json);
    if (explain(&o, &status, &err) != CUPEL_OK) status = cupel_cli_complain(&err, settings->json);
    cupel_cli_bundle_close(&o);
    return status;
}
