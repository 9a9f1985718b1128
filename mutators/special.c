/* Special values laid over a pattern: which elements, and what they become. */
#include <math.h>

#include "recipe_impl.h"

static int64_t row_length(const cupel_special_plan *plan) {
    return plan->rank ? plan->shape[plan->rank - 1] : 1;
}

/* A run of 32 to 256 elements, aligned to its length, at the start, in the middle or at the end of a row. */
static void place_tile(cupel_special_plan *plan, uint64_t choice) {
    int64_t n = row_length(plan), length = INT64_C(32) << (choice & 3);
    switch (choice >> 2 & 3) {
    case 0:
    case 1: plan->first = 0; break;
    case 2: plan->first = n / 2 / length * length; break;
    default: plan->first = (n - 1) / length * length;
    }
    plan->last = plan->first + length < n ? plan->first + length : n;
    plan->all_rows = (choice >> 4 & 3) == 0;
}

void cupel_special_open(const cupel_values *values, const int64_t *shape, cupel_special_plan *plan) {
    const cupel_tensor_recipe *recipe = values->recipe;
    *plan = (cupel_special_plan){.special = recipe->special,
                                 .placement = recipe->placement,
                                 .allowed = values->facts->specials,
                                 .rank = values->facts->decl->rank};
    if (plan->special == CUPEL_SPECIAL_NONE) return;
    if (plan->special != CUPEL_SPECIAL_MIXED) plan->allowed &= 1 << plan->special;
    if (plan->allowed == 0) {
        plan->special = CUPEL_SPECIAL_NONE;
        return;
    }
    plan->key = cupel_philox(recipe->special_seed, CUPEL_STREAM_SPECIAL, (uint64_t)values->tensor);
    for (int axis = 0; axis < plan->rank; axis++) {
        plan->shape[axis] = shape[axis];
        plan->at[axis] = cupel_place_position(plan->key, CUPEL_STREAM_PLACE + (uint32_t)axis, shape[axis]);
    }
    plan->last = row_length(plan);
    if (plan->placement == CUPEL_PLACE_TILE)
        place_tile(plan, cupel_philox(plan->key, CUPEL_STREAM_PLACE + CUPEL_RANK_MAX, 0));
}

static double special_value(const cupel_special_plan *plan, uint64_t word) {
    static const double value[CUPEL_SPECIAL_COUNT] = {[CUPEL_SPECIAL_NEG_ZERO] = -0.0,
                                                      [CUPEL_SPECIAL_POS_INF] = INFINITY,
                                                      [CUPEL_SPECIAL_NEG_INF] = -INFINITY,
                                                      [CUPEL_SPECIAL_NAN] = NAN};
    if (plan->special != CUPEL_SPECIAL_MIXED) return value[plan->special];
    int kinds[CUPEL_SPECIAL_COUNT], count = 0;
    for (int kind = CUPEL_SPECIAL_NEG_ZERO; kind < CUPEL_SPECIAL_MIXED; kind++)
        if (plan->allowed >> kind & 1) kinds[count++] = kind;
    return value[kinds[word % (uint64_t)count]];
}

static bool chosen_row(const cupel_special_plan *plan, const int64_t *lead) {
    for (int axis = 0; axis + 1 < plan->rank; axis++)
        if (lead[axis] != plan->at[axis]) return false;
    return true;
}

void cupel_special_row(const cupel_special_plan *plan, const int64_t *lead, uint64_t row_key, int64_t n,
                       double *row) {
    if (plan->special == CUPEL_SPECIAL_NONE) return;
    uint64_t key = plan->key ^ row_key;
    bool here = chosen_row(plan, lead);
    int64_t single = plan->rank ? plan->at[plan->rank - 1] : 0, first = plan->first, last = plan->last;
    bool sparse = plan->placement == CUPEL_PLACE_SPARSE;
    switch (plan->placement) {
    case CUPEL_PLACE_SINGLE:
        if (!here) return;
        first = single, last = single + 1;
        break;
    case CUPEL_PLACE_ROW:
        if (!here) return;
        break;
    case CUPEL_PLACE_TILE:
        if (!here && !plan->all_rows) return;
        break;
    default: break;
    }
    for (int64_t j = first; j < last && j < n; j++) {
        uint64_t word = sparse || plan->special == CUPEL_SPECIAL_MIXED
                            ? cupel_philox(key, CUPEL_STREAM_SPECIAL, (uint64_t)j)
                            : 0;
        /* a sparse placement always has the chosen element, so that it is never empty */
        if (sparse && word >> 60 != 0 && !(here && j == single)) continue;
        row[j] = special_value(plan, word >> 8);
    }
}
