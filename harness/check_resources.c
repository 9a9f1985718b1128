/* RES-02 as a part of a check: the compiler for GPUs works beside the search; limits that a legal binding
 * breaks become findings when the search is over. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_impl.h"
#include "store.h"

/* How long the end of a check waits for the compiler: with a budget of time a little, else as long as it
 * takes on a slow machine. */
static const double wait_least = 4, wait_untimed = 120;

static bool is_asked(const cupel_check *c) {
    return !c->contract->host && (!c->options->gates || (c->options->gates >> CUPEL_GATE_RES_02 & 1));
}

void cupel_check_begin_resources(cupel_check *c) {
    if (is_asked(c)) c->resources_job = cupel_resources_start(c->contract, &c->options->supervisor.exec);
}

/* The binding as a recipe that is legal as it stands; false where the recipe layer would change it. */
static bool recipe_of(const cupel_contract *contract, const cupel_binding *binding, cupel_recipe *out) {
    if (cupel_recipe_simple(contract, out, NULL) != CUPEL_OK) return false;
    memcpy(out->dims, binding->dims, sizeof out->dims);
    memcpy(out->params, binding->params, sizeof out->params);
    for (int i = 0; i < contract->type_count; i++) out->types[i] = (uint8_t)binding->types[i];
    cupel_recipe legal = *out;
    if (cupel_recipe_repair(contract, &legal, INT64_MAX, NULL) != CUPEL_OK ||
        memcmp(legal.dims, out->dims, sizeof legal.dims) != 0 ||
        memcmp(legal.types, out->types, sizeof legal.types) != 0 ||
        memcmp(legal.params, out->params, sizeof legal.params) != 0)
        return false;
    *out = legal;
    return true;
}

/* Did a tried case show it already? */
static bool is_known(const cupel_check *c, const cupel_limit_break *broken) {
    for (int i = 0; i < c->report->finding_count; i++) {
        const cupel_check_finding *found = &c->report->findings[i];
        cupel_binding binding;
        if (found->finding.kind == CUPEL_FINDING_REFUSED &&
            cupel_recipe_binding(c->contract, &found->recipe, &binding, NULL) == CUPEL_OK &&
            cupel_resources_refuse(c->contract, &c->report->resources, &binding, broken->launch,
                                   broken->limit, NULL, 0))
            return true;
    }
    return false;
}

static void record(cupel_check *c, const cupel_limit_break *broken) {
    cupel_recipe recipe;
    cupel_finding finding = {.gate = CUPEL_GATE_RES_02,
                             .kind = CUPEL_FINDING_REFUSED,
                             .standing = CUPEL_STANDING_PROOF,
                             .output = -1,
                             .index = -1,
                             .ratio = NAN,
                             .steps = NAN};
    if (is_known(c, broken) || !recipe_of(c->contract, &broken->witness, &recipe)) return;
    cupel_resources_name(c->contract, broken->limit, broken->launch, finding.output_name,
                         sizeof finding.output_name);
    snprintf(finding.text, sizeof finding.text, "%s", broken->text);
    cupel_check_record_limit(c, &recipe, &finding);
}

/* Bundles of earlier runs that no limit found now stands for. */
static void tell_gone(cupel_check *c) {
    char path[CUPEL_STORE_PATH + 256], folder[CUPEL_STORE_PATH];
    if (!cupel_store_folder(c->options->directory, "crashes", c->contract->id, folder, sizeof folder)) return;
    for (int launch = 0; launch < c->contract->launch_count; launch++)
        for (int limit = 0; limit < CUPEL_LIMIT_COUNT; limit++) {
            char name[64], signature[160];
            cupel_resources_name(c->contract, (cupel_limit)limit, launch, name, sizeof name);
            snprintf(signature, sizeof signature, "refused-%s", name);
            snprintf(path, sizeof path, "%s/%s-%s", folder, cupel_gate_id(CUPEL_GATE_RES_02), signature);
            if (!cupel_check_known(c, signature) && cupel_bundle_exists(path)) cupel_check_tell_gone(c, path);
        }
}

void cupel_check_resources(cupel_check *c) {
    cupel_limit_break breaks[CUPEL_BREAKS_MAX];
    cupel_resources *resources = &c->report->resources;
    if (!is_asked(c) || c->resources_done) return;
    c->resources_done = true;
    double left = cupel_check_remaining(c);
    double seconds = cupel_check_stopped(c) ? 0
                     : left > wait_untimed  ? wait_untimed
                     : left > wait_least    ? left
                                            : wait_least;
    cupel_resources_wait(c->resources_job, c->contract, seconds, c->options->stop, resources);
    c->resources_job = NULL;
    if (cupel_check_stopped(c)) return;
    int count = cupel_resources_judge(c->contract, resources, breaks);
    for (int i = 0; i < count; i++) record(c, &breaks[i]);
    if (!resources->missing[0] && resources->unproven == 0) tell_gone(c);
}

void cupel_check_end_resources(cupel_check *c) {
    if (c->resources_job)
        cupel_resources_wait(c->resources_job, c->contract, 0, c->options->stop, &c->report->resources);
    c->resources_job = NULL;
}
