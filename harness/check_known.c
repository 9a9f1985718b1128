/* What earlier runs found: their bundles are run first. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_impl.h"
#include "shrink.h"
#include "store.h"

/* Of a budget of time, the part that may go into bundles of earlier runs. */
static const double replay_share = 0.25, default_budget = 20;

enum { REPLAY_MAX = 256 };

typedef enum outcome { STILL_FAILS, HOLDS, NOT_TRIED } outcome;

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static bool is_late(const cupel_check *c) {
    const cupel_check_options *options = c->options;
    if (options->seconds > 0) return cupel_check_elapsed(c) > replay_share * options->seconds;
    return !options->cases && !options->endless && cupel_check_elapsed(c) > replay_share * default_budget;
}

/* Was the kernel compiled as it is now? Under another macro it is another kernel. */
static bool same_build(const cupel_check *c, const cupel_bundle_info *info) {
    const cupel_executor_options *exec = &c->options->supervisor.exec;
    bool same = strcmp(info->executor, c->report->executor) == 0 && info->define_count == exec->define_count;
    for (int i = 0; same && i < info->define_count; i++)
        same = strcmp(info->defines[i], exec->defines[i]) == 0;
    return same && strcmp(info->contract_id, c->contract->id) == 0;
}

/* A case that depends on chance gets three chances, unless the budget is short. */
static outcome try_bundle(cupel_check *c, const cupel_recipe *recipe, const char *signature,
                          cupel_trial *trial, double *seconds) {
    for (int i = 0; i < CUPEL_ATTEMPTS_MAX && !cupel_check_stopped(c); i++) {
        double before = cupel_shrink_now();
        cupel_arena_reset(c->arena);
        if (cupel_supervisor_try(c->supervisor, recipe, true, c->arena, trial, NULL) != CUPEL_OK ||
            trial->unsupported)
            return NOT_TRIED;
        *seconds = cupel_shrink_now() - before;
        if (cupel_shrink_finding(trial, signature)) return STILL_FAILS;
    }
    return cupel_check_stopped(c) ? NOT_TRIED : HOLDS;
}

static void keep_known(cupel_check *c, const cupel_bundle_info *info, const char *path, bool minimal,
                       const cupel_recipe *recipe, const cupel_trial *trial, double seconds) {
    cupel_check_finding *found =
        cupel_check_add(c, recipe, cupel_shrink_finding(trial, info->signature), seconds);
    if (!found) return;
    (void)cupel_gate_parse(info->gate, &found->finding.gate);
    snprintf(found->bundle, sizeof found->bundle, "%s", path);
    found->known = true;
    found->minimised = minimal;
    cupel_check_describe(c, found, trial);
    c->report->known++;
    if (c->listener && c->listener->found) c->listener->found(c->listener->self, found);
}

void cupel_check_tell_gone(cupel_check *c, const char *path) {
    cupel_check_note(c, false, "%s no longer fails", path);
    if (c->report->gone_count == CUPEL_CHECK_GONE_MAX) return;
    snprintf(c->report->gone[c->report->gone_count++], sizeof c->report->gone[0], "%s", path);
}

/* A recipe that the contract has outgrown proves nothing either way. */
static outcome replay(cupel_check *c, const char *path) {
    cupel_bundle_info *info = malloc(sizeof *info);
    cupel_recipe recipe, legal;
    cupel_trial trial = {0};
    double seconds = 0;
    outcome result = NOT_TRIED;
    if (info && cupel_bundle_open(path, info, NULL) == CUPEL_OK && same_build(c, info) &&
        cupel_bundle_recipe(path, c->contract, &recipe, NULL) == CUPEL_OK) {
        legal = recipe;
        if (cupel_shrink_repair(c->contract, &legal) && cupel_recipe_equal(c->contract, &recipe, &legal))
            result = try_bundle(c, &recipe, info->signature, &trial, &seconds);
        bool minimal =
            result == STILL_FAILS && !cupel_bundle_source_changed(info, c->contract) && !info->provisional;
        if (result == STILL_FAILS) {
            keep_known(c, info, path, minimal, &recipe, &trial, seconds);
            cupel_check_record(c, &recipe, &trial, seconds); /* what else the case shows now */
        }
        if (result == HOLDS) cupel_check_tell_gone(c, path);
    }
    free(info);
    return result;
}

void cupel_check_replay(cupel_check *c) {
    char folder[CUPEL_STORE_PATH], path[CUPEL_STORE_PATH + 256];
    struct dirent **names = NULL;
    int skipped = 0;
    if (!cupel_store_folder(c->options->directory, "crashes", c->contract->id, folder, sizeof folder)) return;
    cupel_bundle_sweep(folder);
    int count = scandir(folder, &names, is_visible, by_name);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        const char *limit = strstr(names[i]->d_name, "refused-");
        bool asked_anew = limit && cupel_resources_is_limit(limit); /* no run shows it */
        free(names[i]);
        if (!cupel_bundle_exists(path) || asked_anew) continue;
        bool tried = i < REPLAY_MAX && !is_late(c) && !cupel_check_stopped(c) && c->code == CUPEL_OK &&
                     replay(c, path) != NOT_TRIED;
        skipped += !tried;
    }
    free(names);
    if (skipped) cupel_check_note(c, false, "%d bundle(s) in %s were not run again", skipped, folder);
    cupel_check_minimise(c, 0);
}
