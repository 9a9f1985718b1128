#include "judging.h"

static int64_t exercised(const cupel_compared *c) {
    return c->subnormal > 0 ? c->subnormal : -1;
}

const cupel_gate_info cupel_gate_exc_02 = {
    .gate = CUPEL_GATE_EXC_02,
    .asserts = "subnormals are kept, or flushed where that is declared",
    .exercised_by = "elements whose exact result is subnormal and must not be zero",
    .needs = "an output of real numbers",
    .not_exercised = "no result was subnormal",
    .not_applicable = "no output holds real numbers",
    .cost = "no run of its own: it shares the two runs of the case and their comparison",
    .kernel_contracts = "C-PRC-03",
    .lethe = "EXC-02",
    .applicable = cupel_claims_real_output,
    .exercised = exercised,
};
