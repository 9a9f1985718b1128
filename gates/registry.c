#include "gate.h"

#include <string.h>

static const struct {
    const char *id, *title;
} names[CUPEL_GATE_COUNT] = {
#define CUPEL_GATE_TEXT(name, id, title) [CUPEL_GATE_##name] = {id, title},
    CUPEL_GATES(CUPEL_GATE_TEXT)
#undef CUPEL_GATE_TEXT
};

const char *cupel_gate_id(cupel_gate gate) {
    return (unsigned)gate < CUPEL_GATE_COUNT ? names[gate].id : "?";
}

const char *cupel_gate_title(cupel_gate gate) {
    return (unsigned)gate < CUPEL_GATE_COUNT ? names[gate].title : "?";
}

bool cupel_gate_parse(const char *id, cupel_gate *out) {
    for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++)
        if (!strcmp(names[gate].id, id)) {
            *out = (cupel_gate)gate;
            return true;
        }
    return false;
}

static bool expr_calls(const cupel_expr *expr, const char *function) {
    if (!expr) return false;
    if (expr->kind == CUPEL_EXPR_CALL && expr->name && !strcmp(expr->name, function)) return true;
    for (int i = 0; i < expr->count; i++)
        if (expr_calls(expr->children[i], function)) return true;
    return false;
}

static bool has_gradient(const cupel_contract *contract, const char **why) {
    for (int t = 0; t < contract->tensor_count; t++)
        if (expr_calls(contract->tensors[t].ensures, "vjp")) return true;
    for (int d = 0; d < contract->define_count; d++)
        if (expr_calls(contract->defines[d].expr, "vjp")) return true;
    *why = "the postcondition holds no vjp";
    return false;
}

static bool has_several_shapes(const cupel_contract *contract, const char **why) {
    for (int d = 0; d < contract->dim_count; d++)
        if (contract->dims[d].lo != contract->dims[d].hi) return true;
    for (int t = 0; t < contract->tensor_count; t++)
        if (contract->tensors[t].layouts || contract->tensors[t].align_element ||
            contract->tensors[t].align < 256)
            return true;
    if (contract->alias_count) return true;
    *why = "one shape and one layout are claimed";
    return false;
}

static bool claims_determinism(const cupel_contract *contract, const char **why) {
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

static bool claims_type_of_kind(const cupel_contract *contract, const cupel_tensor_decl *tensor,
                                cupel_dtype_kind kind) {
    if (tensor->type_variable < 0) return cupel_format_of(tensor->type)->kind == kind;
    const cupel_type_variable *variable = &contract->types[tensor->type_variable];
    for (int i = 0; i < variable->count; i++)
        if (cupel_format_of(variable->claimed[i])->kind == kind) return true;
    return false;
}

static bool admits_special_values(const cupel_contract *contract, const char **why) {
    for (int t = 0; t < contract->tensor_count; t++) {
        const cupel_tensor_decl *tensor = &contract->tensors[t];
        if ((tensor->roles & CUPEL_ROLE_INPUT) && !tensor->finite && !tensor->has_range &&
            claims_type_of_kind(contract, tensor, CUPEL_KIND_REAL))
            return true;
    }
    *why = "every input is finite by the contract";
    return false;
}

static bool has_real_output(const cupel_contract *contract, const char **why) {
    for (int t = 0; t < contract->tensor_count; t++)
        if ((contract->tensors[t].roles & CUPEL_ROLE_OUTPUT) &&
            claims_type_of_kind(contract, &contract->tensors[t], CUPEL_KIND_REAL))
            return true;
    *why = "no output holds real numbers";
    return false;
}

static bool launches_on_a_device(const cupel_contract *contract, const char **why) {
    if (!contract->host) return true;
    *why = "a host function has no launch";
    return false;
}

static const cupel_gate_info infos[] = {
    {CUPEL_GATE_CMP_01, "every value pattern gives an allowed output",
     "any case at the base type and an ordinary shape", NULL, true, NULL},
    {CUPEL_GATE_CMP_02, "a backward kernel's outputs match the exact vector-Jacobian product",
     "contracts with vjp", has_gradient, false, "a count of its own comes in a later version"},
    {CUPEL_GATE_CMP_03, "right for every shape and layout claimed",
     "shapes that are not ordinary, strides, offsets, shared buffers", has_several_shapes, true, NULL},
    {CUPEL_GATE_ORD_01, "permuting a wholly reduced axis stays inside both allowed sets",
     "a second run on permuted inputs", NULL, false, "permuted runs come in a later version"},
    {CUPEL_GATE_ORD_02, "the same bytes on every run and schedule", "a second run under another schedule",
     claims_determinism, true, NULL},
    {CUPEL_GATE_ORD_03, "order-dependent operations keep their order",
     "scans, recurrences and first-index ties on which another order gives another answer", NULL, false,
     "shadows with another order come in a later version"},
    {CUPEL_GATE_PRC_01, "each claimed element type holds its own bound", "every type binding", NULL, true,
     NULL},
    {CUPEL_GATE_PRC_02, "accumulates in the declared precision",
     "inputs on which a lower-precision accumulator leaves the allowed set", has_real_output, false,
     "shadows with a weaker accumulator come in a later version"},
    {CUPEL_GATE_EXC_01, "NaN and infinities only where the allowed set has them",
     "NaN, infinities and negative zeros in the inputs", admits_special_values, true, NULL},
    {CUPEL_GATE_EXC_02, "subnormals are kept, or flushed where that is declared",
     "elements whose exact result is subnormal and must not be zero", has_real_output, true, NULL},
    {CUPEL_GATE_RES_01,
     "writes all of the output and nothing else, reads only inputs, leaves inputs unchanged",
     "guard bands and two poisons around every run", NULL, true, NULL},
    {CUPEL_GATE_RES_02, "the launch fits the device over the claimed shapes",
     "every launch, the limits of launches over the whole claimed range, and compiled kernels",
     launches_on_a_device, true, NULL},
};
_Static_assert(sizeof infos / sizeof *infos == CUPEL_GATE_COUNT, "one entry a gate, in order");

const cupel_gate_info *cupel_gate_registry(void) {
    return infos;
}
