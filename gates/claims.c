/* What several gates ask of a contract. */
#include "judging.h"

bool cupel_claims_kind(const cupel_contract *contract, const cupel_tensor_decl *tensor,
                       cupel_dtype_kind kind) {
    if (tensor->type_variable < 0) return cupel_format_of(tensor->type)->kind == kind;
    const cupel_type_variable *variable = &contract->types[tensor->type_variable];
    for (int i = 0; i < variable->count; i++)
        if (cupel_format_of(variable->claimed[i])->kind == kind) return true;
    return false;
}

bool cupel_claims_real_output(const cupel_contract *contract, const char **why) {
    for (int t = 0; t < contract->tensor_count; t++)
        if ((contract->tensors[t].roles & CUPEL_ROLE_OUTPUT) &&
            cupel_claims_kind(contract, &contract->tensors[t], CUPEL_KIND_REAL))
            return true;
    *why = "no output holds real numbers";
    return false;
}

/* Contracts that were read have a postcondition for every output. */
static bool is_complete(const cupel_contract *contract) {
    for (int t = 0; t < contract->tensor_count; t++)
        if ((contract->tensors[t].roles & CUPEL_ROLE_OUTPUT) && !contract->tensors[t].ensures) return false;
    return true;
}

cupel_graph *cupel_claimed_graph(const cupel_contract *contract, cupel_arena *arena, cupel_rules *rules) {
    cupel_binding binding;
    cupel_graph *graph = NULL;
    if (!is_complete(contract) || cupel_binding_ordinary(contract, &binding, NULL) != CUPEL_OK ||
        cupel_binding_graph(&binding, arena, &graph, NULL) != CUPEL_OK)
        return NULL;
    *rules = cupel_binding_rules(&binding);
    return graph;
}

unsigned cupel_claimed_faults(const cupel_contract *contract) {
    cupel_arena *arena = cupel_arena_create(0);
    cupel_rules rules;
    const cupel_graph *graph = arena ? cupel_claimed_graph(contract, arena, &rules) : NULL;
    const unsigned faults = graph ? cupel_shadow_applicable(graph, &rules) : ~0u;
    cupel_arena_free(arena);
    return faults;
}
