/* Commands that start from a bundle: replay and minimise. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle.h"
#include "cli.h"
#include "cli_bundle.h"
#include "gdb.h"
#include "likely_cause.h"
#include "npy.h"
#include "report.h"
#include "shrink.h"
#include "wording.h"

/* The output's bytes beside those in output.npy. */
static void compare_output(const cupel_cli_bundle *o, const char *bundle, const cupel_trial *trial,
                           const cupel_finding *finding) {
    char path[2048];
    cupel_npy saved;
    if (!trial->graph || trial->graph->output_count == 0 || trial->run_count == 0) return;
    int output = finding && finding->output >= 0 ? finding->output : 0;
    int tensor = cupel_contract_tensor(o->session.contract, trial->graph->outputs[output].name);
    snprintf(path, sizeof path, "%s/output.npy", bundle);
    if (tensor < 0 || access(path, F_OK) != 0) return;
    cupel_error problem = {0};
    if (cupel_npy_read(path, o->session.arena, &saved, &problem) != CUPEL_OK) {
        printf("output.npy is damaged: %s\n", problem.text);
        return;
    }
    const cupel_case_tensor *t = &trial->c->tensors[tensor];
    const cupel_observation *run = trial->runs[0].observation;
    if (t->buffer >= run->buffer_count || !run->buffers[t->buffer].bytes) return;
    const char *type = cupel_format_of(t->type)->npy;
    if (strcmp(saved.descr, type) != 0 || saved.count != t->count) {
        printf("output.npy does not fit the case: expected %" PRId64 " elements of type %s, found %" PRId64
               " of %s\n",
               t->count, type, saved.count, saved.descr);
        return;
    }
    size_t size = (size_t)t->count * cupel_format_of(t->type)->size;
    void *now = cupel_arena_raw(o->session.arena, size ? size : 1, 1);
    if (!now) return;
    cupel_case_gather(trial->c, tensor, run->buffers[t->buffer].bytes, now);
    bool same = memcmp(saved.data, now, size) == 0;
    printf("output bytes: %s\n", same ? "the same as in the bundle" : "differ from the bundle's");
}

static void print_findings(const cupel_cli_bundle *o, const char *bundle, const cupel_trial *trial) {
    for (int i = 0; i < trial->judged.finding_count; i++) {
        cupel_check_finding found = {.finding = trial->judged.findings[i], .recipe = o->recipe};
        cupel_gate gate;
        char signature[160];
        cupel_finding_signature(&found.finding, signature, sizeof signature);
        cupel_likely_cause_recall(trial, cupel_cli_bundle_cause(o, signature), &found.finding);
        /* the bundle knows the gate by necessity; a single run does not */
        if (strcmp(signature, o->info.signature) == 0 && cupel_gate_parse(o->info.gate, &gate))
            found.finding.gate = gate;
        cupel_recipe_describe(o->session.contract, &o->recipe, found.described, sizeof found.described);
        cupel_word_where(&found.finding, trial, found.where, sizeof found.where);
        snprintf(found.bundle, sizeof found.bundle, "%s", bundle);
        cupel_report_finding(&found, stdout);
        printf("\n");
    }
}

/* Is it a single access, of which this executor sees none? */
static bool is_unseen(const cupel_cli_bundle *o) {
    const cupel_executor_backend *backend = cupel_executor_find(o->session.supervisor.executor);
    return backend && !backend->checks_addresses &&
           (strncmp(o->info.signature, "bad-access", 10) == 0 ||
            strncmp(o->info.signature, "uninitialised-read", 18) == 0);
}

/* What no ordinary run shows is put in front of the sanitizer. */
static cupel_code try_bundle(cupel_cli_bundle *o, cupel_trial *trial, cupel_error *err) {
    cupel_sanitized_counts counts;
    CUPEL_TRY(cupel_supervisor_try(o->supervisor, &o->recipe, true, o->session.arena, trial, err));
    if (trial->unsupported || cupel_shrink_finding(trial, o->info.signature) ||
        !cupel_sanitized_may_show(o->info.signature) ||
        !cupel_sanitized_available(o->session.supervisor.executor))
        return CUPEL_OK;
    return cupel_sanitized_try(o->supervisor, o->session.contract, &o->session.supervisor, &o->recipe,
                               o->session.arena, trial, &counts, err);
}

static cupel_code replay(cupel_cli_bundle *o, const char *bundle, bool all, int *status, cupel_error *err) {
    cupel_trial trial = {0};
    CUPEL_TRY(try_bundle(o, &trial, err));
    if (trial.unsupported) return cupel_fail(err, CUPEL_UNSUPPORTED, "%s", trial.text);
    const cupel_finding *finding = cupel_shrink_finding(&trial, o->info.signature);
    print_findings(o, bundle, &trial);
    if (all) cupel_cli_table(o->session.contract, &trial, true, stdout);
    compare_output(o, bundle, &trial, finding);
    if (cupel_bundle_source_changed(&o->info, o->session.contract))
        printf("the kernel's source has changed since the bundle was written\n");
    if (finding)
        printf("still fails: %s\n", o->info.signature);
    else if (trial.judged.finding_count)
        printf("fails, but differently: %s is gone\n", o->info.signature);
    else if (is_unseen(o))
        printf("not shown: '%s' sees no single access; %s shows on --on emu\n",
               o->session.supervisor.executor, o->info.signature);
    else
        printf("holds now: %s is gone\n", o->info.signature);
    *status = trial.judged.finding_count ? 1 : 0;
    return CUPEL_OK;
}

/* A limit of a device is asked again; no run shows it, and its case may not even fit the memory. */
static cupel_code replay_limit(const cupel_cli_bundle *o, const char *bundle, int *status, cupel_error *err) {
    const cupel_contract *contract = o->session.contract;
    cupel_check_finding found = {.finding = {.gate = CUPEL_GATE_RES_02,
                                             .kind = CUPEL_FINDING_REFUSED,
                                             .standing = CUPEL_STANDING_PROOF,
                                             .output = -1,
                                             .index = -1},
                                 .recipe = o->recipe};
    cupel_binding binding;
    CUPEL_TRY(cupel_recipe_binding(contract, &o->recipe, &binding, err));
    cupel_resources *resources = cupel_arena_alloc(o->session.arena, sizeof *resources);
    if (!resources) return cupel_fail(err, CUPEL_MEMORY, "no memory for what is compiled");
    bool fails = cupel_resources_replay(contract, &o->session.supervisor.exec, &binding, o->info.signature,
                                        resources, found.finding.text, sizeof found.finding.text);
    if (!fails && resources->missing[0]) return cupel_fail(err, CUPEL_UNSUPPORTED, "%s", resources->missing);
    cupel_recipe_describe_shape(contract, &o->recipe, found.described, sizeof found.described);
    snprintf(found.signature, sizeof found.signature, "%s", o->info.signature);
    found.minimised = true;
    snprintf(found.bundle, sizeof found.bundle, "%s", bundle);
    if (fails) cupel_report_finding(&found, stdout);
    if (cupel_bundle_source_changed(&o->info, contract))
        printf("the kernel's source has changed since the bundle was written\n");
    printf(fails ? "\nstill fails: %s\n" : "holds now: %s is gone\n", o->info.signature);
    *status = fails;
    return CUPEL_OK;
}

int cupel_cli_replay(const cupel_cli_settings *settings) {
    char bundle[1024];
    cupel_cli_bundle o;
    cupel_error err = {0};
    int status = 3;
    if (settings->gdb) return cupel_gdb_replay(settings);
    cupel_cli_bundle_name(settings->operand, bundle, sizeof bundle);
    if (cupel_cli_bundle_open("replay", settings, bundle, true, &o, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, false);
    cupel_code code = cupel_resources_is_limit(o.info.signature)
                          ? replay_limit(&o, bundle, &status, &err)
                          : replay(&o, bundle, settings->all, &status, &err);
    if (code != CUPEL_OK) status = cupel_cli_complain(&err, false);
    cupel_cli_bundle_close(&o);
    return status;
}

/* ---- minimise ---- */

static cupel_code try_case(void *self, const cupel_recipe *recipe, cupel_arena *arena, cupel_trial *out,
                           cupel_error *err) {
    cupel_cli_bundle *o = self;
    return cupel_supervisor_try(o->supervisor, recipe, false, arena, out, err);
}

static cupel_code write_minimal(cupel_cli_bundle *o, const cupel_cli_settings *settings, const char *bundle,
                                const cupel_trial *trial, cupel_check_finding *found, cupel_error *err) {
    char *place = realpath(bundle, NULL); /* a link to a bundle stays one */
    if (!place) return cupel_fail(err, CUPEL_IO, "%s is no longer there", bundle);
    cupel_bundle out = {.contract = o->session.contract,
                        .contract_path = o->kernel,
                        .executor = o->settings.executor,
                        .recipe = &found->recipe,
                        .trial = trial,
                        .finding = &found->finding,
                        .report = found->gate_untested ? NULL : &found->report,
                        .seed = o->info.seed,
                        .define_count = o->settings.defines.count,
                        .include_count = o->settings.includes.count,
                        .defines = o->settings.defines.items,
                        .includes = o->settings.includes.items,
                        .place = settings->directory ? NULL : place,
                        .provisional = found->gate_untested};
    cupel_code code = cupel_bundle_write(&out, settings->directory ? settings->directory : ".", found->bundle,
                                         sizeof found->bundle, err);
    if (code == CUPEL_OK && !settings->directory) snprintf(found->bundle, sizeof found->bundle, "%s", bundle);
    free(place);
    return code;
}

static cupel_code save_minimal(cupel_cli_bundle *o, const cupel_cli_settings *settings, const char *bundle,
                               cupel_check_finding *found, cupel_error *err) {
    cupel_trial trial = {0};
    CUPEL_TRY(cupel_supervisor_try(o->supervisor, &found->recipe, true, o->session.arena, &trial, err));
    const cupel_finding *again = cupel_shrink_finding(&trial, found->signature);
    if (!again)
        return cupel_fail(err, CUPEL_UNABLE,
                          "the minimal case does not fail in a fresh worker; the bundle stays as it is");
    cupel_finding finding = *again;
    finding.gate = found->finding.gate;
    finding.necessary_traits = found->finding.necessary_traits;
    finding.cause = found->finding.cause;
    found->finding = finding;
    /* nothing was learnt: what the bundle says about itself stays */
    if (found->gate_untested && cupel_recipe_equal(o->session.contract, &found->recipe, &o->recipe))
        snprintf(found->bundle, sizeof found->bundle, "%s", bundle);
    else
        CUPEL_TRY(write_minimal(o, settings, bundle, &trial, found, err));
    cupel_recipe_describe(o->session.contract, &found->recipe, found->described, sizeof found->described);
    cupel_word_where(&found->finding, &trial, found->where, sizeof found->where);
    found->minimised = true;
    cupel_report_finding(found, stdout);
    printf("  tries     %d, of which %d made it simpler\n", found->report.tries, found->report.accepted);
    return CUPEL_OK;
}

/* What the failure needs is tested before the last part of the budget: with that part untouched, the test had
 * its end. */
static bool ran_out(const cupel_minimise_options *budget, const cupel_minimise_report *report,
                    double seconds) {
    static const double last_part = 0.8;
    return report->tries >= budget->max_tries * last_part || seconds >= budget->seconds * last_part;
}

static cupel_code minimise(cupel_cli_bundle *o, const cupel_cli_settings *settings, const char *bundle,
                           cupel_error *err) {
    enum { TRIES = 20000, SECONDS = 60 };
    cupel_minimise_options budget = {
        .max_tries = settings->cases ? (int)(settings->cases < 1000000 ? settings->cases : 1000000) : TRIES,
        .seconds = settings->seconds > 0 ? settings->seconds : SECONDS};
    cupel_predicate predicate = {o, try_case, NULL};
    cupel_check_finding *found = calloc(1, sizeof *found);
    if (!found) return cupel_fail(err, CUPEL_MEMORY, "no memory for the minimiser");
    found->recipe = o->recipe;
    snprintf(found->signature, sizeof found->signature, "%s", o->info.signature);
    double start = cupel_shrink_now();
    cupel_code code = cupel_minimise(o->session.contract, o->info.signature, &predicate, &budget,
                                     &found->recipe, &found->finding, &found->report, err);
    if (code == CUPEL_OK && ran_out(&budget, &found->report, cupel_shrink_now() - start) &&
        cupel_gate_parse(o->info.gate, &found->finding.gate))
        found->gate_untested = true;
    if (code == CUPEL_OK) code = save_minimal(o, settings, bundle, found, err);
    free(found);
    return code;
}

int cupel_cli_minimise(const cupel_cli_settings *settings) {
    char bundle[1024];
    cupel_cli_bundle o;
    cupel_error err = {0};
    cupel_cli_bundle_name(settings->operand, bundle, sizeof bundle);
    if (cupel_cli_bundle_open("minimise", settings, bundle, true, &o, &err) != CUPEL_OK)
        return cupel_cli_complain(&err, false);
    cupel_code code = settings->directory
                          ? cupel_bundle_expect_folder(settings->directory, o.session.contract->id, &err)
                          : CUPEL_OK;
    if (code == CUPEL_UNABLE) err.code = CUPEL_IO; /* here the folder is all that is asked for */
    bool limit = code == CUPEL_OK && cupel_resources_is_limit(o.info.signature);
    if (limit) printf("%s: a limit of a device, which has no simpler case\n", bundle);
    bool race = code == CUPEL_OK && cupel_sanitized_is_race(o.info.signature);
    if (race) printf("%s: evidence of the sanitizer, which stays as it was found\n", bundle);
    if (code == CUPEL_OK && !limit && !race) code = minimise(&o, settings, bundle, &err);
    int status = code == CUPEL_OK ? 0 : cupel_cli_complain(&err, false);
    cupel_cli_bundle_close(&o);
    return status;
}
