#include "judging.h"

static int64_t exercised(const cupel_compared *c) {
    return c->evidence->discerned.order > 0 ? c->evidence->discerned.order : -1;
}

static bool applicable(const cupel_contract *contract, const char **why) {
    if (cupel_claimed_faults(contract) & CUPEL_SHADOW_ORDER_FAULTS) return true;
    *why = "no operation of the postcondition depends on order";
    return false;
}

const cupel_gate_info cupel_gate_ord_03 = {
    .gate = CUPEL_GATE_ORD_03,
    .asserts = "order-dependent operations keep their order",
    .exercised_by = "scans, recurrences and first-index ties on which another order gives another answer",
    .needs = "a scan, a recurrence, an argmax or argmin, or a stable argsort",
    .not_exercised = "no case had elements that another order gets wrong",
    .not_applicable = "no operation of the postcondition depends on order",
    .cost = "no run of its own: a sample of the cases is evaluated once or twice more by shadows with "
            "another order",
    .kernel_contracts = "none",
    .lethe = "ORD-03",
    .applicable = applicable,
    .exercised = exercised,
};
