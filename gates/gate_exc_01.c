#include "judging.h"

static int64_t exercised(const cupel_compared *c) {
    return c->evidence->traits & CUPEL_TRAIT_SPECIAL ? c->judged : -1;
}

static bool applicable(const cupel_contract *contract, const char **why) {
    for (int t = 0; t < contract->tensor_count; t++) {
        const cupel_tensor_decl *tensor = &contract->tensors[t];
        if ((tensor->roles & CUPEL_ROLE_INPUT) && !tensor->finite && !tensor->has_range &&
            cupel_claims_kind(contract, tensor, CUPEL_KIND_REAL))
            return true;
    }
    *why = "every input is finite by the contract";
    return false;
}

const cupel_gate_info cupel_gate_exc_01 = {
    .gate = CUPEL_GATE_EXC_01,
    .asserts = "NaN and infinities only where the allowed set has them",
    .exercised_by = "NaN, infinities and negative zeros in the inputs",
    .needs = "an input of real numbers that need not be finite",
    .not_exercised = "no case with special values was judged",
    .not_applicable = "every input is finite by the contract",
    .cost = "no run of its own: it shares the two runs of the case and their comparison",
    .kernel_contracts = "C-EXC-01",
    .lethe = "EXC-01",
    .applicable = applicable,
    .exercised = exercised,
};
