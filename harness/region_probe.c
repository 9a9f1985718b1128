#include "region_probe.h"

#include <string.h>

#include "recipe_impl.h"

enum { TRIES_OF_A_FILLING = 6, DRAWS_MAX = 6 };

/* ---- filling ---- */

/* Where element `index` of a tensor of shape `from` lies in one of shape `to`: as far from the start of each
 * axis, or from its end; at the last element where it would lie outside. */
static int64_t moved(int rank, const int64_t *from, const int64_t *to, int64_t index, bool from_end) {
    int64_t place[CUPEL_RANK_MAX], at = 0;
    for (int axis = rank - 1; axis >= 0; axis--) {
        int64_t extent = from[axis] > 0 ? from[axis] : 1;
        place[axis] = index % extent;
        index /= extent;
        if (from_end) place[axis] += to[axis] - from[axis];
        if (place[axis] >= to[axis]) place[axis] = to[axis] - 1;
        if (place[axis] < 0) place[axis] = 0;
    }
    for (int axis = 0; axis < rank; axis++) at = at * to[axis] + place[axis];
    return at;
}

static void move_edits(const cupel_contract *contract, const cupel_recipe *best, cupel_recipe *r,
                       bool from_end) {
    cupel_binding old, new;
    int64_t from[CUPEL_RANK_MAX], to[CUPEL_RANK_MAX], count;
    if (cupel_recipe_binding(contract, best, &old, NULL) != CUPEL_OK ||
        cupel_recipe_binding(contract, r, &new, NULL) != CUPEL_OK)
        return;
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_recipe *tensor = &r->tensors[t];
        if (tensor->edit_count == 0 || cupel_binding_shape(&old, t, from, &count, NULL) != CUPEL_OK ||
            cupel_binding_shape(&new, t, to, &count, NULL) != CUPEL_OK || count == 0)
            continue;
        for (int e = 0; e < tensor->edit_count; e++)
            tensor->edits[e].index =
                moved(contract->tensors[t].rank, from, to, tensor->edits[e].index, from_end);
    }
}

static void set_pattern(cupel_tensor_recipe *tensor, cupel_pattern pattern, uint32_t seed) {
    tensor->pattern = pattern;
    tensor->seed = seed;
    tensor->amplitude = pattern == CUPEL_PATTERN_CONSTANT ? -3 : 1;
    tensor->centre = 0;
    tensor->edit_count = 0;
    tensor->special = CUPEL_SPECIAL_NONE;
    memset(tensor->edits, 0, sizeof tensor->edits);
}

/* draw: which of the many of its kind; for OWN an odd one moves single elements with the end. */
static bool fill(const cupel_shrink *shrink, cupel_filling filling, uint32_t draw, cupel_recipe *r) {
    static const cupel_pattern patterns[CUPEL_FILLING_COUNT] = {
        [CUPEL_FILLING_ZERO] = CUPEL_PATTERN_ZERO,         [CUPEL_FILLING_CONSTANT] = CUPEL_PATTERN_CONSTANT,
        [CUPEL_FILLING_INTEGERS] = CUPEL_PATTERN_INTEGERS, [CUPEL_FILLING_UNIFORM] = CUPEL_PATTERN_UNIFORM,
        [CUPEL_FILLING_NORMAL] = CUPEL_PATTERN_NORMAL,
    };
    const cupel_contract *contract = shrink->contract;
    int64_t dims[CUPEL_DIM_MAX];
    memcpy(dims, r->dims, sizeof dims);
    if (filling <= CUPEL_FILLING_FRESH) move_edits(contract, &shrink->best, r, draw % 2);
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_recipe *tensor = &r->tensors[t];
        uint32_t seed = (uint32_t)cupel_philox(UINT64_C(0x7265676f), (uint32_t)t, draw);
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT) || filling == CUPEL_FILLING_OWN) continue;
        if (filling != CUPEL_FILLING_FRESH) set_pattern(tensor, patterns[filling], seed);
        tensor->seed = seed;
        if (tensor->special != CUPEL_SPECIAL_NONE) tensor->special_seed = seed;
    }
    return cupel_shrink_repair(contract, r) && memcmp(dims, r->dims, sizeof dims) == 0;
}

static cupel_region_outcome try_draw(cupel_shrink *shrink, const cupel_recipe *shape, cupel_filling filling,
                                     uint32_t draw) {
    cupel_recipe r = *shape;
    if (!fill(shrink, filling, draw, &r)) return CUPEL_REGION_UNKNOWN;
    const cupel_trial *trial = cupel_shrink_try(shrink, &r);
    if (!trial || trial->unsupported) return CUPEL_REGION_UNKNOWN;
    return cupel_shrink_finding(trial, shrink->signature) ? CUPEL_REGION_FAILS : CUPEL_REGION_HOLDS;
}

cupel_region_outcome cupel_probe_try(cupel_shrink *shrink, const cupel_recipe *shape, cupel_filling filling,
                                     int draws) {
    uint32_t first = 0; /* of this shape: no two shapes share their draws */
    for (int d = 0; d < shrink->contract->dim_count; d++)
        first = (uint32_t)cupel_philox(first, (uint32_t)d, (uint64_t)shape->dims[d]);
    for (int i = 0; i < draws; i++) {
        uint32_t draw = filling == CUPEL_FILLING_OWN ? (uint32_t)i : first + (uint32_t)i;
        cupel_region_outcome outcome = try_draw(shrink, shape, filling, draw);
        if (outcome != CUPEL_REGION_HOLDS) return outcome;
    }
    return CUPEL_REGION_HOLDS;
}

/* ---- choosing ---- */

/* How many of several draws fail at the minimal shape. */
static int failing_draws(cupel_shrink *shrink, cupel_filling filling) {
    int failing = 0;
    for (uint32_t draw = 0; draw < TRIES_OF_A_FILLING; draw++)
        failing += try_draw(shrink, &shrink->best, filling, draw * 2) == CUPEL_REGION_FAILS;
    return failing;
}

/* Params are values too: the ends of those that are drawn. */
static bool fails_for_params(cupel_shrink *shrink) {
    for (int p = 0; p < shrink->contract->param_count; p++) {
        const cupel_param *param = &shrink->contract->params[p];
        for (int end = 0; end < 2 && param->kind != CUPEL_PARAM_FIXED; end++) {
            cupel_recipe r = shrink->best;
            r.params[p] = param->kind == CUPEL_PARAM_RANGE ? (end ? param->hi : param->lo)
                                                           : param->values[end ? param->value_count - 1 : 0];
            if (try_draw(shrink, &r, CUPEL_FILLING_OWN, 0) != CUPEL_REGION_FAILS) return false;
        }
    }
    return true;
}

bool cupel_probe_any_values(cupel_shrink *shrink) {
    for (int filling = CUPEL_FILLING_ZERO; filling < CUPEL_FILLING_COUNT; filling++)
        if (try_draw(shrink, &shrink->best, (cupel_filling)filling, 0) != CUPEL_REGION_FAILS) return false;
    return failing_draws(shrink, CUPEL_FILLING_NORMAL) == TRIES_OF_A_FILLING && fails_for_params(shrink);
}

/* Are the values the same at every shape, but for single elements? */
static bool is_uniform(const cupel_shrink *shrink, bool *edits) {
    bool uniform = true;
    *edits = false;
    for (int t = 0; t < shrink->contract->tensor_count; t++) {
        const cupel_tensor_recipe *tensor = &shrink->best.tensors[t];
        if (!(shrink->contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        uniform = uniform && !cupel_pattern_uses(tensor->pattern).seed &&
                  tensor->pattern <= CUPEL_PATTERN_CONSTANT &&
                  (tensor->special == CUPEL_SPECIAL_NONE || tensor->placement == CUPEL_PLACE_ALL);
        *edits = *edits || tensor->edit_count > 0;
    }
    return uniform;
}

bool cupel_probe_choose(cupel_shrink *shrink, bool any_values, cupel_filling *filling, int *draws) {
    static const cupel_filling random[] = {CUPEL_FILLING_FRESH, CUPEL_FILLING_NORMAL};
    bool edits;
    *draws = 1;
    *filling = CUPEL_FILLING_NORMAL;
    if (any_values) return true;
    *filling = CUPEL_FILLING_OWN;
    if (is_uniform(shrink, &edits)) {
        *draws = edits ? 2 : 1;
        return true;
    }
    int failing[2];
    for (int i = 0; i < 2; i++) {
        failing[i] = failing_draws(shrink, random[i]);
        *filling = random[i];
        *draws = 2;
        if (failing[i] == TRIES_OF_A_FILLING) return true;
    }
    *filling = random[failing[1] > failing[0]];
    *draws = DRAWS_MAX;
    return failing[0] * 2 > TRIES_OF_A_FILLING || failing[1] * 2 > TRIES_OF_A_FILLING;
}
