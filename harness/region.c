#include "region.h"

#include <stdio.h>
#include <string.h>

enum { SWEEP_MIN = 40, SWEEP_MAX = 320, LISTED_MAX = 6 };

/* Period and residues: the smallest m for which fails[i] == fails[i + m] throughout and at least two periods
 * were seen. */
static int period_of(const bool *fails, int count) {
    for (int m = 2; m * 2 <= count; m++) {
        bool periodic = true;
        for (int i = 0; periodic && i + m < count; i++) periodic = fails[i] == fails[i + m];
        if (periodic) return m;
    }
    return 0;
}

static int count_true(const bool *fails, int count) {
    int n = 0;
    for (int i = 0; i < count; i++) n += fails[i];
    return n;
}

static void list_values(int64_t first, const bool *fails, int count, bool wanted, int modulus, char *text,
                        size_t size) {
    size_t used = 0;
    int listed = 0;
    for (int i = 0; i < count && used < size; i++) {
        if (fails[i] != wanted) continue;
        long long value = (long long)(modulus ? (first + i) % modulus : first + i);
        if (listed++ == LISTED_MAX) {
            snprintf(text + used, size - used, ", ..");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%lld", used ? ", " : "", value);
    }
}

void cupel_region_describe(const char *name, int64_t first, const bool *fails, int count, char *text,
                           size_t size) {
    int failing = count_true(fails, count), period = period_of(fails, count);
    char list[160] = "";
    long long from = (long long)first;
    if (failing == count) {
        snprintf(text, size, "%s >= %lld", name, from);
    } else if (period) {
        int in_period = count_true(fails, period);
        bool one_misses = in_period == period - 1 && period > 2;
        list_values(first, fails, period, !one_misses, period, list, sizeof list);
        const char *form = one_misses       ? "%s %% %d != %s and %s >= %lld"
                           : in_period == 1 ? "%s %% %d == %s and %s >= %lld"
                                            : "%s %% %d in {%s} and %s >= %lld";
        snprintf(text, size, form, name, period, list, name, from);
    } else if (failing == 1) {
        snprintf(text, size, "%s == %lld", name, from);
    } else {
        list_values(first, fails, count, true, 0, list, sizeof list);
        snprintf(text, size, "%s in {%s}", name, list);
    }
}

/* The dim that says most about the region: farthest above its low end. */
static int telling_dim(const cupel_shrink *shrink) {
    const cupel_contract *contract = shrink->contract;
    int telling = -1;
    int64_t above = 0;
    for (int d = 0; d < contract->dim_count; d++)
        if (shrink->best.dims[d] - contract->dims[d].lo > above) {
            above = shrink->best.dims[d] - contract->dims[d].lo;
            telling = d;
        }
    return telling;
}

static bool fails_with(cupel_shrink *shrink, const cupel_recipe *recipe) {
    const cupel_trial *trial = cupel_shrink_try(shrink, recipe);
    return trial && cupel_shrink_finding(trial, shrink->signature);
}

/* Tries best.dims[dim] + 0, 1, 2, .. while the values are legal; returns how many were tried. The second
 * failing value sets how far to go: a little over two periods. */
static int sweep_dim(cupel_shrink *shrink, int dim, bool *fails) {
    const cupel_dim *d = &shrink->contract->dims[dim];
    int64_t first = shrink->best.dims[dim];
    int wanted = SWEEP_MAX, count = 0, second = 0;
    for (; count < wanted && first + count <= d->hi && !cupel_shrink_spent(shrink); count++) {
        cupel_recipe r = shrink->best;
        r.dims[dim] = first + count;
        cupel_binding binding;
        bool legal = cupel_recipe_binding(shrink->contract, &r, &binding, NULL) == CUPEL_OK &&
                     cupel_binding_legal(&binding);
        fails[count] = count == 0 || (legal && fails_with(shrink, &r));
        if (count > 0 && fails[count] && !second) {
            second = count;
            int enough = second * 2 + second / 2 + 2;
            wanted = enough < SWEEP_MIN ? SWEEP_MIN : enough < SWEEP_MAX ? enough : SWEEP_MAX;
        }
    }
    return count;
}

/* Do other values at the minimal shape fail as well? */
static const char *sweep_values(cupel_shrink *shrink) {
    static const cupel_pattern patterns[] = {CUPEL_PATTERN_INTEGERS, CUPEL_PATTERN_NORMAL,
                                             CUPEL_PATTERN_UNIFORM};
    int failing = 0, tried = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        cupel_recipe r = shrink->best;
        for (int t = 0; t < shrink->contract->tensor_count; t++) {
            r.tensors[t].pattern = patterns[i];
            r.tensors[t].seed = (uint32_t)(41 + t);
            r.tensors[t].amplitude = 1;
            r.tensors[t].centre = 0;
            r.tensors[t].edit_count = 0;
            r.tensors[t].special = CUPEL_SPECIAL_NONE;
        }
        if (cupel_shrink_spent(shrink) || !cupel_shrink_repair(shrink->contract, &r)) break;
        tried++;
        failing += fails_with(shrink, &r);
    }
    if (tried < (int)(sizeof patterns / sizeof *patterns)) return "";
    return failing == tried ? "; any values" : failing ? "; many values" : "; only with values like these";
}

void cupel_region_sweep(cupel_shrink *shrink, bool smaller_tried, char *text, size_t size) {
    bool fails[SWEEP_MAX];
    text[0] = '\0';
    const char *values = sweep_values(shrink);
    int dim = telling_dim(shrink);
    if (dim < 0) {
        snprintf(text, size, "already at the smallest claimed shape%s", values);
        return;
    }
    const cupel_dim *d = &shrink->contract->dims[dim];
    int count = sweep_dim(shrink, dim, fails);
    if (count < 2 && shrink->best.dims[dim] < d->hi) return;
    char where[256];
    cupel_region_describe(d->name, shrink->best.dims[dim], fails, count, where, sizeof where);
    snprintf(text, size, "fails only when %s%s (%s = %lld .. %lld tried)", where, values, d->name,
             (long long)(smaller_tried ? d->lo : shrink->best.dims[dim]),
             (long long)(shrink->best.dims[dim] + count - 1));
}
