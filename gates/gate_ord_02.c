/* What it asserts is judged in determinism.c and variants.c. */
#include "judging.h"

static bool applicable(const cupel_contract *contract, const char **why) {
    if (contract->deterministic == CUPEL_DETERMINISTIC_FALSE) {
        *why = "the contract does not claim it";
        return false;
    }
    if (contract->host && contract->deterministic == CUPEL_DETERMINISTIC_AUTO) {
        *why = "the compiled code is not read for floating-point atomics; deterministic: true asserts it";
        return false;
    }
    return true;
}

const cupel_gate_info cupel_gate_ord_02 = {
    .gate = CUPEL_GATE_ORD_02,
    .asserts = "the same bytes on every run and schedule",
    .exercised_by = "a second run under another schedule; with `deterministic: across_variants`, the same "
                    "case under the first variant",
    .needs = "two runs that end",
    .not_exercised = "no case ran twice",
    .not_applicable = "the contract does not claim it, or floating-point atomics leave the order open",
    .cost = "two runs; four to seven where their bytes differ",
    .kernel_contracts = "C-ORD-02, C-CMP-02",
    .lethe = "ORD-02",
    .applicable = applicable,
};
