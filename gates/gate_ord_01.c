#include "judging.h"
#include "reduced_axes.h"

static int64_t exercised(const cupel_compared *c) {
    return c->evidence->traits & CUPEL_TRAIT_PERMUTED ? c->judged : -1;
}

static bool applicable(const cupel_contract *contract, const char **why) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_rules rules;
    const cupel_graph *graph = arena ? cupel_claimed_graph(contract, arena, &rules) : NULL;
    cupel_reduced_axes axes;
    const bool any = !graph || (cupel_reduced_axes_find(graph, &axes) && axes.group_count > 0);
    cupel_arena_free(arena);
    if (!any) *why = "no axis of an input is wholly reduced";
    return any;
}

const cupel_gate_info cupel_gate_ord_01 = {
    .gate = CUPEL_GATE_ORD_01,
    .asserts = "permuting a wholly reduced axis stays inside both allowed sets",
    .exercised_by = "a case with permuted inputs, beside the same case as it was",
    .needs = "an axis of an input over which every path to the outputs goes through a sum, a maximum or "
             "another reduction that knows no order",
    .not_exercised = "no permuted case was judged",
    .not_applicable = "no axis of an input is wholly reduced",
    .cost = "two runs: a permuted case is one of its own, in one of eight that are drawn",
    .kernel_contracts = "C-ORD-01",
    .lethe = "ORD-01",
    .applicable = applicable,
    .exercised = exercised,
};
