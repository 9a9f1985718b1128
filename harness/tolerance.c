#include "tolerance.h"

#include <math.h>

static const cupel_tensor_decl *tolerance_of(const cupel_contract *contract, const char *output) {
    int t = cupel_contract_tensor(contract, output);
    return t >= 0 && contract->tensors[t].has_tolerance ? &contract->tensors[t] : NULL;
}

static double round_outward(cupel_dtype type, double x, bool up) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return up ? ceil(x) : floor(x);
    return up ? cupel_round_up(type, x) : cupel_round_down(type, x);
}

static void widen(const cupel_tensor_decl *decl, cupel_dtype type, double value, double *lo, double *hi,
                  double *radius) {
    if (!isfinite(value)) return;
    *radius = decl->tolerance_abs + decl->tolerance_rel * fabs(value);
    *lo = round_outward(type, value - *radius, false);
    *hi = round_outward(type, value + *radius, true);
}

/* 64-bit integers move by whole numbers, and stop at the type's ends. */
static void widen_integer(cupel_dtype type, double radius, uint64_t *least, uint64_t *most) {
    const uint64_t step = radius < 0x1p63 ? (uint64_t)radius : UINT64_C(1) << 63;
    const uint64_t bias = type == CUPEL_I64 ? UINT64_C(1) << 63 : 0; /* biased, both types count from 0 */
    const uint64_t lo = *least ^ bias, hi = *most ^ bias;
    *least = (lo > step ? lo - step : 0) ^ bias;
    *most = (hi < UINT64_MAX - step ? hi + step : UINT64_MAX) ^ bias;
}

void cupel_tolerance_apply(const cupel_contract *contract, cupel_allowed *allowed) {
    const cupel_tensor_decl *decl = tolerance_of(contract, allowed->name);
    if (!decl) return;
    for (int64_t i = 0; i < allowed->count; i++) {
        if (allowed->reasons[i] != CUPEL_REASON_JUDGED || !(allowed->classes[i] & CUPEL_CLASS_FINITE))
            continue;
        widen(decl, allowed->type, allowed->value[i], &allowed->lo[i], &allowed->hi[i], &allowed->radius[i]);
        if (allowed->least)
            widen_integer(allowed->type, allowed->radius[i], &allowed->least[i], &allowed->most[i]);
    }
}

void cupel_tolerance_apply_exact(const cupel_contract *contract, const cupel_graph_output *output,
                                 cupel_exact_element *element) {
    const cupel_tensor_decl *decl = tolerance_of(contract, output->name);
    if (!decl || element->reason != CUPEL_REASON_JUDGED || !(element->classes & CUPEL_CLASS_FINITE)) return;
    widen(decl, output->type, element->value, &element->lo, &element->hi, &element->radius);
    if (cupel_dtype_is_wide(output->type))
        widen_integer(output->type, element->radius, &element->least, &element->most);
}
