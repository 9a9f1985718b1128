/* From any recipe to a legal one. Idempotent: a repaired recipe is left as it is, and fields without effect
 * are cleared, so that equal cases are equal recipes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_impl.h"
#include "schedule.h"

static void repair_pattern(const cupel_tensor_facts *facts, cupel_tensor_recipe *tensor) {
    if ((unsigned)tensor->pattern >= CUPEL_PATTERN_COUNT) tensor->pattern = CUPEL_PATTERN_INTEGERS;
    cupel_pattern_flags uses = cupel_pattern_uses(tensor->pattern);
    if (!uses.seed) tensor->seed = 0;
    if (!uses.amplitude || !isfinite(tensor->amplitude)) tensor->amplitude = 0;
    if (!uses.centre || !isfinite(tensor->centre)) tensor->centre = 0;
    if (tensor->centre == 0) tensor->centre = 0.0;
    /* an amplitude of 0 would turn every random pattern into a constant */
    if (uses.amplitude && tensor->pattern != CUPEL_PATTERN_CONSTANT && tensor->amplitude == 0)
        tensor->amplitude = 1;
    if (tensor->amplitude == 0) tensor->amplitude = 0.0;
    if (facts->format->kind != CUPEL_KIND_REAL) return;
    double largest = cupel_format_largest(facts->type);
    tensor->amplitude = fmin(fmax(tensor->amplitude, -largest), largest);
    tensor->centre = fmin(fmax(tensor->centre, -largest), largest);
}

static void repair_special(const cupel_tensor_facts *facts, cupel_tensor_recipe *tensor) {
    if ((unsigned)tensor->special >= CUPEL_SPECIAL_COUNT) tensor->special = CUPEL_SPECIAL_NONE;
    if ((unsigned)tensor->placement >= CUPEL_PLACE_COUNT) tensor->placement = CUPEL_PLACE_SINGLE;
    if (tensor->special == CUPEL_SPECIAL_MIXED) {
        if (facts->specials == 0)
            tensor->special = CUPEL_SPECIAL_NONE;
        else if (facts->specials == 1 << CUPEL_SPECIAL_NEG_ZERO)
            tensor->special = CUPEL_SPECIAL_NEG_ZERO;
    } else if (!(facts->specials >> tensor->special & 1)) {
        tensor->special = CUPEL_SPECIAL_NONE;
    }
    if (tensor->special == CUPEL_SPECIAL_NONE)
        tensor->placement = CUPEL_PLACE_SINGLE, tensor->special_seed = 0;
    if (tensor->placement == CUPEL_PLACE_ALL && tensor->special != CUPEL_SPECIAL_MIXED)
        tensor->special_seed = 0;
}

static int by_index(const void *a, const void *b) {
    const cupel_edit *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Legal edits in the order of their indices; of several at one place the last one counts. */
static void repair_edits(const cupel_tensor_facts *facts, cupel_tensor_recipe *tensor) {
    int count = tensor->edit_count < 0                ? 0
                : tensor->edit_count > CUPEL_EDIT_MAX ? CUPEL_EDIT_MAX
                                                      : tensor->edit_count;
    uint64_t mask = facts->format->size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * facts->format->size) - 1;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        cupel_edit edit = {tensor->edits[i].index, tensor->edits[i].bits & mask};
        if (edit.index < 0 || edit.index >= facts->count || !cupel_facts_permit(facts, edit.bits)) continue;
        int same = 0;
        while (same < kept && tensor->edits[same].index != edit.index) same++;
        tensor->edits[same] = edit;
        if (same == kept) kept++;
    }
    qsort(tensor->edits, (size_t)kept, sizeof *tensor->edits, by_index);
    memset(tensor->edits + kept, 0, (size_t)(CUPEL_EDIT_MAX - kept) * sizeof *tensor->edits);
    tensor->edit_count = kept;
}

/* Pairs that may share a buffer here; a tensor takes part in one pair at most. */
static void repair_aliases(const cupel_binding *binding, cupel_recipe *recipe) {
    const cupel_contract *contract = binding->contract;
    uint32_t taken = 0;
    for (int i = 0; i < 32; i++) {
        if (!(recipe->aliases >> i & 1)) continue;
        uint32_t pair = 0;
        if (i < contract->alias_count) pair = 1u << contract->aliases[i][0] | 1u << contract->aliases[i][1];
        if (pair == 0 || taken & pair || !cupel_alias_possible(binding, i))
            recipe->aliases &= ~(1u << i);
        else
            taken |= pair;
    }
}

/* One number for each schedule. */
static void repair_run(const cupel_contract *contract, cupel_recipe *recipe) {
    recipe->schedule = cupel_schedule_pack(cupel_schedule_unpack(recipe->schedule));
    cupel_history_repair(contract, recipe);
}

static cupel_code repair_tensor(const cupel_binding *binding, cupel_recipe *recipe, int t, cupel_error *err) {
    const cupel_contract *contract = binding->contract;
    cupel_tensor_recipe *tensor = &recipe->tensors[t];
    cupel_tensor_facts facts;
    CUPEL_TRY(cupel_facts_of(binding, t, &facts, err));
    int partner = cupel_alias_partner(contract, recipe, t);
    bool follows = partner >= 0 && partner < t;
    if (follows) tensor->layout = recipe->tensors[partner].layout;
    int64_t demand;
    int claims = cupel_layout_claims(contract, recipe, binding, t, &demand);
    cupel_layout_repair(&tensor->layout, facts.decl->rank, facts.shape, claims, demand,
                        (int64_t)facts.format->size);
    bool has_values = facts.decl->roles & CUPEL_ROLE_INPUT &&
                      !(follows && contract->tensors[partner].roles & CUPEL_ROLE_INPUT);
    if (!has_values) {
        cupel_layout layout = tensor->layout;
        *tensor = (cupel_tensor_recipe){.layout = layout};
        return CUPEL_OK;
    }
    repair_pattern(&facts, tensor);
    repair_special(&facts, tensor);
    repair_edits(&facts, tensor);
    return CUPEL_OK;
}

cupel_code cupel_recipe_repair(const cupel_contract *contract, cupel_recipe *recipe, int64_t max_elements,
                               cupel_error *err) {
    cupel_binding binding = {.contract = contract};
    for (int i = 0; i < CUPEL_DIM_MAX; i++) {
        if (i >= contract->dim_count) recipe->dims[i] = 0;
        binding.dims[i] = recipe->dims[i];
    }
    for (int i = 0; i < CUPEL_TYPE_MAX; i++) {
        if (i >= contract->type_count || recipe->types[i] >= contract->types[i].count) recipe->types[i] = 0;
        binding.types[i] = recipe->types[i];
    }
    for (int i = 0; i < CUPEL_PARAM_MAX; i++) {
        recipe->params[i] =
            i < contract->param_count ? cupel_param_nearest(&contract->params[i], recipe->params[i]) : 0;
        binding.params[i] = recipe->params[i];
    }
    CUPEL_TRY(
        cupel_dimensions_repair(&binding, max_elements > 0 ? max_elements : CUPEL_DEFAULT_MAX_ELEMENTS, err));
    for (int i = 0; i < contract->dim_count; i++) recipe->dims[i] = binding.dims[i];
    repair_aliases(&binding, recipe);
    repair_run(contract, recipe);
    cupel_permutation_repair(&binding, recipe);
    for (int t = 0; t < CUPEL_TENSOR_MAX; t++) {
        if (t < contract->tensor_count)
            CUPEL_TRY(repair_tensor(&binding, recipe, t, err));
        else
            memset(&recipe->tensors[t], 0, sizeof recipe->tensors[t]);
    }
    return CUPEL_OK;
}
