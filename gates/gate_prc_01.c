#include "judging.h"

/* Every judged element, whatever its case exercises besides. */
static int64_t exercised(const cupel_compared *c) {
    return c->judged;
}

const cupel_gate_info cupel_gate_prc_01 = {
    .gate = CUPEL_GATE_PRC_01,
    .asserts = "each claimed element type holds its own bound",
    .exercised_by = "every type binding",
    .needs = "an oracle answer: an element that is judged",
    .not_exercised = "no case of a claimed type was judged",
    .not_applicable = "never",
    .cost = "no run of its own: it shares the two runs of the case and their comparison",
    .kernel_contracts = "none",
    .lethe = "PRC-01",
    .exercised = exercised,
};
