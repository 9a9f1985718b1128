#include "judging.h"

/* Another shape, layout or variant is CMP-03's, another type PRC-01's. */
static int64_t exercised(const cupel_compared *c) {
    const int others = CUPEL_TRAIT_SHAPE | CUPEL_TRAIT_LAYOUT | CUPEL_TRAIT_VARIANT | CUPEL_TRAIT_TYPE;
    return c->evidence->traits & others ? -1 : c->judged;
}

const cupel_gate_info cupel_gate_cmp_01 = {
    .gate = CUPEL_GATE_CMP_01,
    .asserts = "every value pattern gives an allowed output",
    .exercised_by = "any case at the base type and an ordinary shape",
    .needs = "an oracle answer: an element that is judged",
    .not_exercised = "no case of an ordinary shape was judged",
    .not_applicable = "never",
    .cost = "no run of its own: it shares the two runs of the case and their comparison",
    .kernel_contracts = "C-PRC-02, C-CMP-01",
    .lethe = "CMP-01",
    .exercised = exercised,
};
