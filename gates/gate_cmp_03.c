#include "judging.h"

static int64_t exercised(const cupel_compared *c) {
    return c->evidence->traits & (CUPEL_TRAIT_SHAPE | CUPEL_TRAIT_LAYOUT | CUPEL_TRAIT_VARIANT) ? c->judged
                                                                                                : -1;
}

static bool applicable(const cupel_contract *contract, const char **why) {
    for (int d = 0; d < contract->dim_count; d++)
        if (contract->dims[d].lo != contract->dims[d].hi) return true;
    for (int t = 0; t < contract->tensor_count; t++)
        if (contract->tensors[t].layouts || contract->tensors[t].align_element ||
            contract->tensors[t].align < 256)
            return true;
    if (contract->alias_count) return true;
    *why = "one shape and one layout are claimed";
    return false;
}

const cupel_gate_info cupel_gate_cmp_03 = {
    .gate = CUPEL_GATE_CMP_03,
    .asserts = "right for every shape, layout and variant claimed",
    .exercised_by = "shapes that are not ordinary, strides, offsets, shared buffers, variants but the first",
    .needs = "a dim with a range, or a claim about layout, alignment or aliasing",
    .not_exercised = "no case of another shape or layout was judged",
    .not_applicable = "one shape and one layout are claimed",
    .cost = "no run of its own: it shares the two runs of the case and their comparison",
    .kernel_contracts = "C-CMP-03",
    .lethe = "CMP-03",
    .applicable = applicable,
    .exercised = exercised,
};
