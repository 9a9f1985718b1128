/* Counterexample bundles: crashes/<contract id>/<gate>-<signature>/ (DESIGN section 7). */
#ifndef CUPEL_BUNDLE_H
#define CUPEL_BUNDLE_H

#include "minimiser.h"

typedef struct cupel_bundle {
    const cupel_contract *contract;
    const char *contract_path, *executor;
    const cupel_recipe *recipe;
    const cupel_trial *trial; /* of the minimised recipe, certified */
    const cupel_finding *finding;
    const cupel_minimise_report *report; /* may be NULL */
    uint64_t seed;
    int define_count, include_count; /* -D and -I of the command line */
    const char *const *defines, *const *includes;
    const char *place; /* NULL: directory/crashes/ID/GATE-SIGNATURE; else the bundle's own folder */
    bool provisional;  /* as the search found it: replaced by any later bundle of this name */
} cupel_bundle;

/* Writes the bundle under directory (the -o folder) and gives its path: everything goes to a temporary folder
 * that is flushed and renamed, so nothing half-written is ever seen. An existing bundle of the same name is
 * replaced only by a simpler case; anything else in its place (a file, a link, a bundle of another contract)
 * is an error. */
CUPEL_MUST_USE cupel_code cupel_bundle_write(const cupel_bundle *bundle, const char *directory, char *path,
                                             size_t size, cupel_error *err);

/* Takes a bundle away (a provisional one, when attribution has found another gate): it vanishes at once. */
void cupel_bundle_remove(const char *path);

/* Removes the temporary folders, in the folder of a contract's bundles, of processes that are gone. */
void cupel_bundle_sweep(const char *root);

/* Can bundles of a contract be written under directory, which may not be there yet? Makes nothing. Fails with
 * IO where a part of the way is no folder, with UNABLE where it may not be written. */
CUPEL_MUST_USE cupel_code cupel_bundle_expect_folder(const char *directory, const char *contract_id,
                                                     cupel_error *err);

enum { CUPEL_BUNDLE_TEXTS_MAX = 32 };

/* What replay needs from a bundle folder. */
typedef struct cupel_bundle_info {
    /* where the contract was, or where it is now when bundle and contract moved together */
    char contract_path[1024];
    char source_hash[32]; /* may be empty */
    char region[512];     /* where it fails, in words; empty where that is not known */
    int traits;           /* CUPEL_TRAIT_* that are necessary */
    char cause[256];      /* likely_cause.h; may be empty */
    char contract_id[128], executor[16], signature[160], gate[16];
    bool provisional;
    uint64_t seed;
    int define_count, include_count;
    char defines[CUPEL_BUNDLE_TEXTS_MAX][256], includes[CUPEL_BUNDLE_TEXTS_MAX][1024];
} cupel_bundle_info;
CUPEL_MUST_USE cupel_code cupel_bundle_open(const char *path, cupel_bundle_info *out, cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_bundle_recipe(const char *path, const cupel_contract *contract,
                                              cupel_recipe *out, cupel_error *err);

/* Is the contract's source another than when the bundle was written? false where that is not known. */
bool cupel_bundle_source_changed(const cupel_bundle_info *info, const cupel_contract *contract);

/* Does a bundle lie in this folder? */
bool cupel_bundle_exists(const char *path);

#endif
