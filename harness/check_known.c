/* What earlier runs found: their bundles are run first. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check_impl.h"
#include "likely_cause.h"
#include "shrink.h"
#include "store.h"

/* Of a budget of time, the part that may go into bundles of earlier runs. */
static const double replay_share = 0.25, default_budget = 20;

enum { REPLAY_MAX = 256 };

/* LEFT_OUT: it says nothing of this kernel as it is; NOT_TRIED: it may. */
typedef enum outcome { STILL_FAILS, HOLDS, LEFT_OUT, NOT_TRIED } outcome;

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
                          cupel_trial *trial, double *seconds, cupel_error *why) {
    for (int i = 0; i < CUPEL_ATTEMPTS_MAX && !cupel_check_stopped(c); i++) {
        double before = cupel_shrink_now();
        cupel_arena_reset(c->arena);
        if (cupel_supervisor_try(c->supervisor, recipe, true, c->arena, trial, why) != CUPEL_OK)
            return NOT_TRIED;
        if (trial->unsupported) {
            (void)cupel_fail(why, CUPEL_UNSUPPORTED, "%s", trial->text);
            return NOT_TRIED;
        }
        *seconds = cupel_shrink_now() - before;
        if (cupel_shrink_finding(trial, signature)) return STILL_FAILS;
        if (!cupel_sanitized_may_show(signature)) continue;
        if (!c->side) {
            (void)cupel_fail(why, CUPEL_UNSUPPORTED, "maybe only the sanitizer shows it, which is off");
            return LEFT_OUT;
        }
        cupel_sanitized_counts counts;
        if (cupel_sanitized_add(cupel_side_supervisor(c->side), trial, c->arena, &counts, why) != CUPEL_OK)
            return NOT_TRIED;
        if (cupel_shrink_finding(trial, signature)) return STILL_FAILS;
    }
    if (!cupel_check_stopped(c)) return HOLDS;
    (void)cupel_fail(why, CUPEL_UNABLE, "interrupted");
    return NOT_TRIED;
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
    /* of the same kernel: keep_known is not called for another */
    cupel_likely_cause_recall(trial, info->cause, &found->finding);
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
static outcome read_recipe(const cupel_check *c, const char *path, cupel_recipe *recipe, cupel_error *why) {
    if (cupel_bundle_recipe(path, c->contract, recipe, why) != CUPEL_OK)
        return why->code == CUPEL_RANGE ? LEFT_OUT : NOT_TRIED;
    cupel_recipe legal = *recipe;
    if (cupel_shrink_repair(c->contract, &legal) && cupel_recipe_equal(c->contract, recipe, &legal))
        return HOLDS;
    (void)cupel_fail(why, CUPEL_RANGE, "its case lies outside the contract");
    return LEFT_OUT;
}

static outcome replay_read(cupel_check *c, const char *path, const cupel_bundle_info *info,
                           cupel_error *why) {
    cupel_recipe recipe;
    cupel_trial trial = {0};
    double seconds = 0;
    if (!same_build(c, info)) {
        (void)cupel_fail(why, CUPEL_MISMATCH, "it belongs to another contract, executor or set of macros");
        return LEFT_OUT;
    }
    outcome result = read_recipe(c, path, &recipe, why);
    if (result != HOLDS) return result;
    result = try_bundle(c, &recipe, info->signature, &trial, &seconds, why);
    if (result == HOLDS) cupel_check_tell_gone(c, path);
    if (result != STILL_FAILS) return result;
    bool minimal = !cupel_bundle_source_changed(info, c->contract) && !info->provisional;
    keep_known(c, info, path, minimal, &recipe, &trial, seconds);
    cupel_check_record(c, &recipe, &trial, seconds); /* what else the case shows now */
    return result;
}

/* A bundle that was not run again is named, with the reason. One that may well fail still stands in the way
 * of acceptance. */
static void tell_skipped(cupel_check *c, const char *path, const char *why, bool counts) {
    cupel_check_report *report = c->report;
    cupel_check_note(c, true, "%s was not run again: %s", path, why);
    if (counts && report->skipped++ == 0)
        snprintf(report->skipped_text, sizeof report->skipped_text, "%.250s (%.140s)", path, why);
}

static void replay(cupel_check *c, const char *path) {
    cupel_error why = {0};
    char text[512];
    outcome result = NOT_TRIED;
    cupel_bundle_info *info = malloc(sizeof *info);
    if (!info)
        (void)cupel_fail(&why, CUPEL_MEMORY, "no memory");
    else if (cupel_bundle_open(path, info, &why) == CUPEL_OK)
        result = replay_read(c, path, info, &why);
    free(info);
    if (result == LEFT_OUT || result == NOT_TRIED)
        tell_skipped(c, path, cupel_error_format(&why, text, sizeof text), result == NOT_TRIED);
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* At least one is always tried, however short the budget. */
static void replay_entry(cupel_check *c, const char *path, int *tried) {
    const char *why = cupel_check_stopped(c)     ? "interrupted"
                      : *tried >= REPLAY_MAX     ? "there are too many"
                      : *tried > 0 && is_late(c) ? "out of time"
                                                 : NULL;
    if (c->code != CUPEL_OK) return;
    if (!cupel_bundle_exists(path)) {
        if (is_folder(path)) cupel_check_note(c, true, "%s holds no bundle.json and is left out", path);
        return;
    }
    *tried += why == NULL;
    if (why)
        tell_skipped(c, path, why, true);
    else
        replay(c, path);
}

void cupel_check_replay(cupel_check *c) {
    char folder[CUPEL_STORE_PATH], path[CUPEL_STORE_PATH + 256];
    struct dirent **names = NULL;
    int tried = 0;
    if (!cupel_store_folder(c->options->directory, "crashes", c->contract->id, folder, sizeof folder)) return;
    cupel_bundle_sweep(folder);
    int count = scandir(folder, &names, is_visible, by_name);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        const char *limit = strstr(names[i]->d_name, "refused-");
        bool asked_anew = limit && cupel_resources_is_limit(limit); /* no run shows it */
        free(names[i]);
        if (!asked_anew) replay_entry(c, path, &tried);
    }
    free(names);
    cupel_check_minimise(c, 0);
}
