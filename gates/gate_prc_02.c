#include "judging.h"

static int64_t exercised(const cupel_compared *c) {
    return c->evidence->discerned.sums > 0 ? c->evidence->discerned.sums : -1;
}

static bool applicable(const cupel_contract *contract, const char **why) {
    if (!cupel_claims_real_output(contract, why)) return false;
    if (cupel_claimed_faults(contract) & CUPEL_SHADOW_SUM_FAULTS) return true;
    *why = "the postcondition holds no sum of real numbers";
    return false;
}

const cupel_gate_info cupel_gate_prc_02 = {
    .gate = CUPEL_GATE_PRC_02,
    .asserts = "accumulates in the declared precision",
    .exercised_by = "inputs on which a lower-precision accumulator leaves the allowed set",
    .needs = "a sum, matrix product, scan or recurrence of real numbers",
    .not_exercised = "a lower-precision accumulator stayed inside the allowed set in every case",
    .not_applicable = "no output holds real numbers, or the postcondition holds no sum of them",
    .cost = "no run of its own: a sample of the cases is evaluated one to three times more by shadows with a "
            "lower-precision accumulator",
    .kernel_contracts = "C-PRC-01",
    .lethe = "PRC-02",
    .applicable = applicable,
    .exercised = exercised,
};
