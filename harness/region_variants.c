#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "region.h"

/* Does the minimal case fail with the dim, a tuning constant, at value? known: it could be tried. */
static bool fails_with(cupel_shrink *shrink, int dim, int64_t value, bool *known) {
    cupel_recipe r = shrink->best;
    *known = value == shrink->best.dims[dim];
    if (*known) return true;
    r.dims[dim] = value;
    if (!cupel_shrink_repair(shrink->contract, &r) || r.dims[dim] != value) return false;
    const cupel_trial *trial = cupel_shrink_try(shrink, &r);
    *known = trial != NULL && !trial->unsupported;
    return *known && cupel_shrink_finding(trial, shrink->signature) != NULL;
}

static void append_value(char *list, size_t size, int64_t value) {
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%" PRId64, used ? ", " : "", value);
}

static void append_dim(cupel_shrink *shrink, int dim, char *text, size_t size) {
    const cupel_dim *d = &shrink->contract->dims[dim];
    char fails[160] = "", holds[160] = "";
    for (int i = 0; i < d->value_count; i++) {
        bool known;
        const bool failed = fails_with(shrink, dim, d->values[i], &known);
        if (known) append_value(failed ? fails : holds, sizeof fails, d->values[i]);
    }
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%sfails with %s = %s%s%s", used ? "; " : "", d->name, fails,
             holds[0] ? ", not with " : "", holds);
}

void cupel_region_variants(cupel_shrink *shrink, char *text, size_t size) {
    const cupel_contract *contract = shrink->contract;
    for (int d = contract->dim_count - contract->variant_count; d < contract->dim_count; d++)
        if (contract->dims[d].value_count > 1) append_dim(shrink, d, text, size);
}
