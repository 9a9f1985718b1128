#include "region.h"

#include <stdio.h>
#include <string.h>

enum { SWEEP_MIN = 40, SWEEP_MAX = 320, SWEEP_ROOM = 1280, LISTED_MAX = 6 };

/* ---- words ---- */

static int count_of(const cupel_region_outcome *outcomes, int count, cupel_region_outcome wanted) {
    int n = 0;
    for (int i = 0; i < count; i++) n += outcomes[i] == wanted;
    return n;
}

/* The smallest m for which values with equal remainders had equal outcomes, two periods at least; pattern
 * gets one period. */
static int period_of(const cupel_region_outcome *outcomes, int count, cupel_region_outcome *pattern) {
    for (int m = 2; m * 2 <= count; m++) {
        bool periodic = true;
        memset(pattern, 0, (size_t)m * sizeof *pattern);
        for (int i = 0; periodic && i < count; i++) {
            if (outcomes[i] == CUPEL_REGION_UNKNOWN) continue;
            if (pattern[i % m] == CUPEL_REGION_UNKNOWN) pattern[i % m] = outcomes[i];
            periodic = pattern[i % m] == outcomes[i];
        }
        if (periodic) return m;
    }
    return 0;
}

static void list_values(int64_t first, const cupel_region_outcome *outcomes, int count,
                        cupel_region_outcome wanted, int modulus, char *text, size_t size) {
    size_t used = 0;
    int listed = 0;
    for (int i = 0; i < count && used < size; i++) {
        if (outcomes[i] != wanted) continue;
        long long value = (long long)(modulus ? (first + i) % modulus : first + i);
        if (listed++ == LISTED_MAX) {
            snprintf(text + used, size - used, ", ..");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%lld", used ? ", " : "", value);
    }
}

void cupel_region_describe(const char *name, int64_t first, const cupel_region_outcome *outcomes, int count,
                           char *text, size_t size) {
    cupel_region_outcome pattern[SWEEP_ROOM] = {CUPEL_REGION_UNKNOWN};
    int failing = count_of(outcomes, count, CUPEL_REGION_FAILS),
        holding = count_of(outcomes, count, CUPEL_REGION_HOLDS);
    int period = holding ? period_of(outcomes, count, pattern) : 0;
    char list[160] = "";
    long long from = (long long)first;
    if (!holding && failing > 1) {
        snprintf(text, size, "%s >= %lld", name, from);
    } else if (period) {
        int inside = count_of(pattern, period, CUPEL_REGION_FAILS),
            outside = count_of(pattern, period, CUPEL_REGION_HOLDS);
        bool one_holds = outside == 1 && inside > 1;
        list_values(first, pattern, period, one_holds ? CUPEL_REGION_HOLDS : CUPEL_REGION_FAILS, period, list,
                    sizeof list);
        const char *form = one_holds     ? "%s %% %d != %s and %s >= %lld"
                           : inside == 1 ? "%s %% %d == %s and %s >= %lld"
                                         : "%s %% %d in {%s} and %s >= %lld";
        snprintf(text, size, form, name, period, list, name, from);
    } else if (failing == 1) {
        snprintf(text, size, "%s == %lld", name, from);
    } else {
        list_values(first, outcomes, count, CUPEL_REGION_FAILS, 0, list, sizeof list);
        snprintf(text, size, "%s in {%s}", name, list);
    }
}

/* ---- sweeps ---- */

typedef struct sweep {
    cupel_shrink *shrink;
    int dim;
    int count;        /* values tried, from the minimum up */
    int64_t holds_at; /* a larger value that does not fail, where every swept one does; 0: none seen */
    cupel_region_outcome outcomes[SWEEP_ROOM];
} sweep;

/* The minimal case with another value of the dim. Where the contract ties dims, others give way, or all that
 * are equal in the minimal case move together. */
static bool with_value(const cupel_shrink *shrink, int dim, int64_t value, bool together, cupel_recipe *r) {
    *r = shrink->best;
    if (value > shrink->contract->dims[dim].hi) return false;
    for (int d = 0; d < shrink->contract->dim_count; d++)
        if (d == dim || (together && shrink->best.dims[d] == shrink->best.dims[dim])) r->dims[d] = value;
    return cupel_shrink_repair(shrink->contract, r) && r->dims[dim] == value;
}

static cupel_region_outcome try_value(const sweep *s, int64_t value) {
    cupel_shrink *shrink = s->shrink;
    cupel_recipe r;
    if (!with_value(shrink, s->dim, value, false, &r) && !with_value(shrink, s->dim, value, true, &r))
        return CUPEL_REGION_UNKNOWN;
    const cupel_trial *trial = cupel_shrink_try(shrink, &r);
    if (!trial) return CUPEL_REGION_UNKNOWN;
    return cupel_shrink_finding(trial, shrink->signature) ? CUPEL_REGION_FAILS : CUPEL_REGION_HOLDS;
}

static bool can_go_on(const sweep *s) {
    return s->count < SWEEP_ROOM &&
           s->shrink->best.dims[s->dim] + s->count <= s->shrink->contract->dims[s->dim].hi &&
           !cupel_shrink_spent(s->shrink);
}

static void sweep_to(sweep *s, int wanted) {
    int64_t first = s->shrink->best.dims[s->dim];
    while (s->count < wanted && can_go_on(s)) {
        cupel_region_outcome outcome = try_value(s, first + s->count);
        if (cupel_shrink_spent(s->shrink) && outcome == CUPEL_REGION_UNKNOWN) return; /* not tried */
        s->outcomes[s->count++] = outcome;
    }
}

/* Where everything near the minimum fails: a tile, warp or vector width, at which tails vanish. */
static int64_t find_holding_value(sweep *s) {
    for (int64_t value = 2; value <= 4096 && !cupel_shrink_spent(s->shrink); value *= 2)
        if (value >= s->shrink->best.dims[s->dim] + s->count && try_value(s, value) == CUPEL_REGION_HOLDS)
            return value;
    return 0;
}

/* Far enough to see a period twice: the second failing value sets the pace, or else the first that holds. */
static void sweep_dim(sweep *s) {
    s->outcomes[0] = CUPEL_REGION_FAILS;
    s->count = 1;
    for (int second = 0; s->count < SWEEP_MAX && !second && can_go_on(s);) {
        sweep_to(s, s->count + 1);
        if (s->outcomes[s->count - 1] == CUPEL_REGION_FAILS) second = s->count - 1;
        int enough = second * 2 + second / 2 + 2;
        if (second) sweep_to(s, enough < SWEEP_MIN ? SWEEP_MIN : enough < SWEEP_MAX ? enough : SWEEP_MAX);
    }
    if (count_of(s->outcomes, s->count, CUPEL_REGION_HOLDS) > 0) {
        int hold = 0; /* as far again behind the first value that holds: a tile's width and its repetition */
        while (s->outcomes[hold] != CUPEL_REGION_HOLDS) hold++;
        if (hold * 2 + 4 <= SWEEP_MAX) sweep_to(s, hold * 2 + 4);
        return;
    }
    s->holds_at = find_holding_value(s);
    int64_t twice = (s->holds_at - s->shrink->best.dims[s->dim]) * 2 + 4;
    if (s->holds_at && twice <= SWEEP_ROOM) sweep_to(s, (int)twice);
}

/* Dims by how far the minimal case stands above their low end: the farthest tells most. At the smallest shape
 * any dim may. */
static int next_dim(const cupel_shrink *shrink, const bool *done) {
    const cupel_contract *contract = shrink->contract;
    int telling = -1;
    int64_t above = -1;
    for (int d = 0; d < contract->dim_count; d++) {
        int64_t distance = shrink->best.dims[d] - contract->dims[d].lo;
        if (done[d] || contract->dims[d].lo == contract->dims[d].hi || distance <= above) continue;
        above = distance;
        telling = d;
    }
    return telling;
}

/* How many of several kinds of plain values fail in the shape of r; -1 when not all could be tried. */
enum { VALUE_KINDS = 3 };
static int count_failing_values(cupel_shrink *shrink, const cupel_recipe *shape) {
    static const cupel_pattern patterns[VALUE_KINDS] = {CUPEL_PATTERN_INTEGERS, CUPEL_PATTERN_NORMAL,
                                                        CUPEL_PATTERN_UNIFORM};
    int failing = 0;
    for (int i = 0; i < VALUE_KINDS; i++) {
        cupel_recipe r = *shape;
        for (int t = 0; t < shrink->contract->tensor_count; t++) {
            r.tensors[t].pattern = patterns[i];
            r.tensors[t].seed = (uint32_t)(41 + t);
            r.tensors[t].amplitude = 1;
            r.tensors[t].centre = 0;
            r.tensors[t].edit_count = 0;
            r.tensors[t].special = CUPEL_SPECIAL_NONE;
        }
        if (!cupel_shrink_repair(shrink->contract, &r)) return -1;
        const cupel_trial *trial = cupel_shrink_try(shrink, &r);
        if (!trial) return -1;
        failing += cupel_shrink_finding(trial, shrink->signature) != NULL;
    }
    return failing;
}

/* Do other values hold at a value of the dim at which the minimal case's do? */
static bool holds_for_others(const sweep *s, int64_t value) {
    cupel_recipe r;
    return (with_value(s->shrink, s->dim, value, false, &r) ||
            with_value(s->shrink, s->dim, value, true, &r)) &&
           count_failing_values(s->shrink, &r) == 0;
}

/* The first and the last value seen to hold stand for all. */
static bool others_hold(const sweep *s) {
    int64_t first = s->shrink->best.dims[s->dim];
    int low = 0, high = s->count - 1;
    while (low < s->count && s->outcomes[low] != CUPEL_REGION_HOLDS) low++;
    while (high > low && s->outcomes[high] != CUPEL_REGION_HOLDS) high--;
    if (low == s->count) return !s->holds_at || holds_for_others(s, s->holds_at);
    return holds_for_others(s, first + low) && (high <= low || holds_for_others(s, first + high));
}

/* any_values: several kinds of values were tried and agree, so that the shape alone decides. */
static void describe_sweep(const sweep *s, bool smaller_tried, bool any_values, char *text, size_t size) {
    const cupel_dim *d = &s->shrink->contract->dims[s->dim];
    int64_t first = s->shrink->best.dims[s->dim];
    char where[256], except[64] = "";
    cupel_region_describe(d->name, first, s->outcomes, s->count, where, sizeof where);
    if (s->holds_at && count_of(s->outcomes, s->count, CUPEL_REGION_HOLDS) == 0)
        snprintf(except, sizeof except, ", but not %s = %lld", d->name, (long long)s->holds_at);
    snprintf(text, size, "%s %s%s%s (%s = %lld .. %lld tried)",
             any_values ? "fails only when" : "with values like these fails when", where, except,
             any_values ? "; any values" : "", d->name, (long long)(smaller_tried ? d->lo : first),
             (long long)(first + s->count - 1));
}

void cupel_region_sweep(cupel_shrink *shrink, bool smaller_tried, char *text, size_t size) {
    bool done[CUPEL_DIM_MAX] = {false};
    bool any_values = count_failing_values(shrink, &shrink->best) == VALUE_KINDS;
    text[0] = '\0';
    for (int dim; (dim = next_dim(shrink, done)) >= 0;) {
        sweep s = {.shrink = shrink, .dim = dim};
        bool above_low_end = shrink->best.dims[dim] > shrink->contract->dims[dim].lo;
        done[dim] = true;
        sweep_dim(&s);
        if (s.count < 2 && shrink->best.dims[dim] < shrink->contract->dims[dim].hi) return;
        bool tells = above_low_end || s.holds_at || count_of(s.outcomes, s.count, CUPEL_REGION_HOLDS) > 0;
        if (!tells) continue; /* fails for every value of this dim */
        any_values = any_values && others_hold(&s);
        describe_sweep(&s, smaller_tried, any_values, text, size);
        return;
    }
    snprintf(text, size, "%sfails at every shape tried%s", any_values ? "" : "with values like these ",
             any_values ? "; any values" : "");
}
