/* What it asserts is judged in resources.c. */
#include "judging.h"

static bool applicable(const cupel_contract *contract, const char **why) {
    if (!contract->host) return true;
    *why = "a host function has no launch";
    return false;
}

const cupel_gate_info cupel_gate_res_02 = {
    .gate = CUPEL_GATE_RES_02,
    .asserts = "the launch fits the device over the claimed shapes",
    .exercised_by = "every launch, the limits of launches over the whole claimed range, and compiled kernels",
    .needs = "a kernel that is launched; for registers the run-time compiler",
    .not_exercised = "nothing was launched",
    .not_applicable = "a host function has no launch",
    .cost = "no run: arithmetic over the claimed range, and one compilation for each architecture",
    .kernel_contracts = "none",
    .lethe = "RES-02",
    .applicable = applicable,
};
