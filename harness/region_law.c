#include "region_law.h"

#include <stdio.h>
#include <string.h>

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

static void list(cupel_law *law, int64_t first, const cupel_region_outcome *outcomes, int count) {
    law->kind = CUPEL_LAW_LISTED;
    for (int i = 0; i < count; i++) {
        if (outcomes[i] != CUPEL_REGION_FAILS) continue;
        if (law->listed < CUPEL_REGION_LISTED)
            law->list[law->listed++] = first + i;
        else
            law->more = true;
    }
}

void cupel_law_fit(int64_t lo, int64_t first, const cupel_region_outcome *outcomes, int count,
                   cupel_law *law) {
    int last = count - 1;
    memset(law, 0, sizeof *law);
    law->lo = lo;
    law->from = first;
    while (last > 0 && outcomes[last] != CUPEL_REGION_FAILS) last--;
    if (count_of(outcomes, count, CUPEL_REGION_HOLDS) == 0) {
        law->kind = first == lo ? CUPEL_LAW_ALWAYS : CUPEL_LAW_FROM;
    } else if ((law->period = period_of(outcomes, count, law->pattern))) {
        law->kind = CUPEL_LAW_RESIDUES;
    } else if (count_of(outcomes, last + 1, CUPEL_REGION_HOLDS) == 0) {
        law->kind = last == 0 ? CUPEL_LAW_EQUAL : CUPEL_LAW_BETWEEN;
        law->to = first + last;
    } else {
        list(law, first, outcomes, count);
    }
}

static cupel_region_outcome says(bool fails) {
    return fails ? CUPEL_REGION_FAILS : CUPEL_REGION_HOLDS;
}

static cupel_region_outcome class_of(const cupel_law *law, int64_t value) {
    int64_t at = (value - law->from) % law->period;
    return law->pattern[at < 0 ? at + law->period : at];
}

cupel_region_outcome cupel_law_predict(const cupel_law *law, int64_t value) {
    switch (law->kind) {
    case CUPEL_LAW_ALWAYS: return CUPEL_REGION_FAILS;
    case CUPEL_LAW_EQUAL: return says(value == law->from);
    case CUPEL_LAW_FROM: return says(value >= law->from);
    case CUPEL_LAW_BETWEEN: return says(value >= law->from && value <= law->to);
    case CUPEL_LAW_RESIDUES: return value < law->from ? CUPEL_REGION_HOLDS : class_of(law, value);
    case CUPEL_LAW_LISTED: break;
    }
    return CUPEL_REGION_UNKNOWN;
}

/* Does the lower bound exclude anything that the remainders do not? */
static bool bound_matters(const cupel_law *law) {
    for (int64_t v = law->from - 1; v >= law->lo && v >= law->from - law->period; v--)
        if (class_of(law, v) == CUPEL_REGION_FAILS) return true;
    return false;
}

/* The fewer of the remainders that fail and of those that hold are named. */
static void write_residues(const cupel_law *law, const char *name, char *text, size_t size) {
    int inside = count_of(law->pattern, law->period, CUPEL_REGION_FAILS),
        outside = count_of(law->pattern, law->period, CUPEL_REGION_HOLDS);
    bool holding = outside < inside;
    const char *one = holding ? "!= " : "== ", *some = holding ? "not in {" : "in {";
    int named = holding ? outside : inside, written = 0;
    size_t used = (size_t)snprintf(text, size, "%s %% %d %s", name, law->period, named > 1 ? some : one);
    for (int remainder = 0; remainder < law->period && used < size; remainder++) {
        if (class_of(law, remainder) != (holding ? CUPEL_REGION_HOLDS : CUPEL_REGION_FAILS)) continue;
        if (written == CUPEL_REGION_LISTED) {
            used += (size_t)snprintf(text + used, size - used, ", ..");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%d", written++ ? ", " : "", remainder);
    }
    if (named > 1 && used < size) used += (size_t)snprintf(text + used, size - used, "}");
    if (bound_matters(law) && used < size)
        snprintf(text + used, size - used, " and %s >= %lld", name, (long long)law->from);
}

static void write_list(const cupel_law *law, const char *name, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s = ", name);
    for (int i = 0; i < law->listed && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)law->list[i]);
    if (law->more && used < size) snprintf(text + used, size - used, ", ..");
}

void cupel_law_write(const cupel_law *law, const char *name, char *text, size_t size) {
    long long from = (long long)law->from, to = (long long)law->to;
    switch (law->kind) {
    case CUPEL_LAW_ALWAYS: snprintf(text, size, "%s", ""); break;
    case CUPEL_LAW_EQUAL: snprintf(text, size, "%s == %lld", name, from); break;
    case CUPEL_LAW_FROM: snprintf(text, size, "%s >= %lld", name, from); break;
    case CUPEL_LAW_BETWEEN:
        if (law->from == law->lo)
            snprintf(text, size, "%s <= %lld", name, to);
        else
            snprintf(text, size, "%lld <= %s <= %lld", from, name, to);
        break;
    case CUPEL_LAW_RESIDUES: write_residues(law, name, text, size); break;
    case CUPEL_LAW_LISTED: write_list(law, name, text, size); break;
    }
}
