#include "recipe.h"

#include <math.h>
#include <string.h>

#include "recipe_impl.h"

const char *cupel_pattern_name(cupel_pattern pattern) {
    static const char *const names[CUPEL_PATTERN_COUNT] = {
#define CUPEL_PATTERN_TEXT(name, text, weight) text,
        CUPEL_PATTERNS(CUPEL_PATTERN_TEXT)
#undef CUPEL_PATTERN_TEXT
    };
    return (unsigned)pattern < CUPEL_PATTERN_COUNT ? names[pattern] : "?";
}

const char *cupel_special_name(cupel_special special) {
    static const char *const names[CUPEL_SPECIAL_COUNT] = {"none",    "neg_zero", "pos_inf",
                                                           "neg_inf", "nan",      "mixed"};
    return (unsigned)special < CUPEL_SPECIAL_COUNT ? names[special] : "?";
}

const char *cupel_placement_name(cupel_placement placement) {
    static const char *const names[CUPEL_PLACE_COUNT] = {"single", "sparse", "row", "tile", "all"};
    return (unsigned)placement < CUPEL_PLACE_COUNT ? names[placement] : "?";
}

/* How far a choice is from a value: an infinity and a NaN are near themselves alone. */
static double apart(double choice, double value) {
    if (choice == value || (isnan(choice) && isnan(value))) return 0;
    return isfinite(choice) && isfinite(value) ? fabs(choice - value) : INFINITY;
}

double cupel_param_nearest(const cupel_param *param, double value) {
    if (param->kind == CUPEL_PARAM_FIXED) return param->lo;
    if (param->kind == CUPEL_PARAM_RANGE) {
        if (isnan(value)) return param->lo;
        if (param->integral) value = rint(value);
        return value < param->lo ? param->lo : value > param->hi ? param->hi : value;
    }
    double best = param->values[0];
    for (int i = 1; i < param->value_count; i++)
        if (apart(param->values[i], value) < apart(best, value)) best = param->values[i];
    return best;
}

cupel_code cupel_recipe_binding(const cupel_contract *contract, const cupel_recipe *recipe,
                                cupel_binding *out, cupel_error *err) {
    *out = (cupel_binding){.contract = contract};
    memcpy(out->dims, recipe->dims, sizeof out->dims);
    memcpy(out->params, recipe->params, sizeof out->params);
    out->fused = cupel_recipe_fuses(contract, recipe);
    for (int i = 0; i < contract->type_count; i++) {
        if (recipe->types[i] >= contract->types[i].count)
            return cupel_fail(err, CUPEL_RANGE, "type %s has no choice %d", contract->types[i].name,
                              recipe->types[i]);
        out->types[i] = recipe->types[i];
    }
    return cupel_binding_complete(out, err);
}

/* Small integers that lie in the tensor's range, around its middle where 0 is not in it. */
static void simple_values(const cupel_tensor_decl *decl, cupel_tensor_recipe *tensor) {
    tensor->pattern = CUPEL_PATTERN_INTEGERS;
    tensor->seed = 1;
    tensor->amplitude = 4;
    if (!decl->has_range) return;
    double half = (decl->range_hi - decl->range_lo) / 2;
    bool zero_well_inside = decl->range_lo <= -1 && decl->range_hi >= 1;
    if (!zero_well_inside && isfinite(half)) tensor->centre = rint(decl->range_lo + half);
    if (half < 4) tensor->amplitude = half >= 1 ? floor(half) : 1;
}

bool cupel_recipe_fuses(const cupel_contract *contract, const cupel_recipe *recipe) {
    if (contract->host) return false;
    if (contract->options.fmad != CUPEL_FMAD_UNSAID) return contract->options.fmad == CUPEL_FMAD_ON;
    return recipe->poison % 8 == 6;
}

cupel_code cupel_recipe_simple(const cupel_contract *contract, cupel_recipe *out, cupel_error *err) {
    cupel_binding ordinary;
    CUPEL_TRY(cupel_binding_ordinary(contract, &ordinary, err));
    memset(out, 0, sizeof *out);
    for (int i = 0; i < contract->dim_count; i++) out->dims[i] = ordinary.dims[i];
    for (int i = 0; i < contract->type_count; i++) out->types[i] = (uint8_t)ordinary.types[i];
    for (int i = 0; i < contract->param_count; i++) {
        const cupel_param *param = &contract->params[i];
        out->params[i] = param->kind == CUPEL_PARAM_ONE_OF ? param->values[0] : cupel_param_nearest(param, 1);
    }
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_layout_reset(&out->tensors[t].layout);
        if (contract->tensors[t].roles & CUPEL_ROLE_INPUT)
            simple_values(&contract->tensors[t], &out->tensors[t]);
    }
    return cupel_recipe_repair(contract, out, INT64_C(1) << 40, err);
}
