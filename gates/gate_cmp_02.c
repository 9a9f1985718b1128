#include <string.h>

#include "judging.h"

static bool is_call(const cupel_expr *expr, const char *function) {
    return expr->kind == CUPEL_EXPR_CALL && expr->name && !strcmp(expr->name, function);
}

static const cupel_expr *define_of(const cupel_contract *contract, const cupel_expr *expr) {
    for (int d = 0; expr->kind == CUPEL_EXPR_NAME && d < contract->define_count; d++)
        if (!strcmp(contract->defines[d].name, expr->name)) return contract->defines[d].expr;
    return NULL;
}

/* Defines speak only of earlier ones, so that this ends; depth keeps it short whatever they say. */
static bool holds_vjp(const cupel_contract *contract, const cupel_expr *expr, int depth) {
    if (!expr || depth == 0) return false;
    if (is_call(expr, "vjp")) return true;
    if (holds_vjp(contract, define_of(contract, expr), depth - 1)) return true;
    for (int i = 0; i < expr->count; i++)
        if (holds_vjp(contract, expr->children[i], depth - 1)) return true;
    return false;
}

enum { DEPTH_MAX = 256 };

bool cupel_claims_gradient(const cupel_contract *contract, int tensor) {
    return tensor >= 0 && holds_vjp(contract, contract->tensors[tensor].ensures, DEPTH_MAX);
}

static uint32_t inputs_in(const cupel_contract *contract, const cupel_expr *expr, int depth) {
    uint32_t inputs = 0;
    if (!expr || depth == 0) return 0;
    for (int t = 0; expr->kind == CUPEL_EXPR_NAME && t < contract->tensor_count; t++)
        if ((contract->tensors[t].roles & CUPEL_ROLE_INPUT) && !strcmp(contract->tensors[t].name, expr->name))
            inputs |= 1u << t;
    inputs |= inputs_in(contract, define_of(contract, expr), depth - 1);
    for (int i = 0; i < expr->count; i++) inputs |= inputs_in(contract, expr->children[i], depth - 1);
    return inputs;
}

/* The third argument of a vjp, by place or by name. */
static const cupel_expr *cotangent_of(const cupel_expr *vjp) {
    for (int i = 0; i < vjp->count; i++) {
        const char *keyword = vjp->keywords ? vjp->keywords[i] : NULL;
        if (keyword ? !strcmp(keyword, "cotangent") : i == 2) return vjp->children[i];
    }
    return NULL;
}

static uint32_t cotangents_in(const cupel_contract *contract, const cupel_expr *expr, int depth) {
    if (!expr || depth == 0) return 0;
    uint32_t inputs = is_call(expr, "vjp") ? inputs_in(contract, cotangent_of(expr), depth - 1) : 0;
    for (int i = 0; i < expr->count; i++) inputs |= cotangents_in(contract, expr->children[i], depth - 1);
    return inputs;
}

uint32_t cupel_claimed_cotangents(const cupel_contract *contract) {
    uint32_t inputs = 0;
    for (int t = 0; t < contract->tensor_count; t++)
        inputs |= cotangents_in(contract, contract->tensors[t].ensures, DEPTH_MAX);
    for (int d = 0; d < contract->define_count; d++)
        inputs |= cotangents_in(contract, contract->defines[d].expr, DEPTH_MAX);
    return inputs;
}

/* Do elements differ, or is the one there is neither 0 nor 1? With equal ones, or zeros, a kernel may forget
 * to multiply by them, or read another's. */
static bool tells_apart(const cupel_case_tensor *tensor) {
    const size_t size = cupel_format_of(tensor->type)->size;
    if (!tensor->values || tensor->count == 0) return false;
    const double first = cupel_decode(tensor->type, tensor->values);
    if (tensor->count == 1) return first != 0 && first != 1;
    for (int64_t i = 1; i < tensor->count; i++)
        if (memcmp((const char *)tensor->values + (size_t)i * size, tensor->values, size) != 0) return true;
    return false;
}

static int64_t exercised(const cupel_compared *c) {
    if (c->gradient == 0) return -1;
    const uint32_t cotangents = cupel_claimed_cotangents(c->evidence->c->contract);
    for (int t = 0; t < c->evidence->c->tensor_count; t++)
        if ((cotangents >> t & 1) && tells_apart(&c->evidence->c->tensors[t])) return c->gradient;
    return -1;
}

static bool applicable(const cupel_contract *contract, const char **why) {
    bool gradient = false;
    for (int t = 0; t < contract->tensor_count; t++)
        gradient = gradient || cupel_claims_gradient(contract, t);
    *why = gradient ? "no upstream gradient is an input" : "the postcondition holds no vjp";
    return gradient && cupel_claimed_cotangents(contract) != 0;
}

const cupel_gate_info cupel_gate_cmp_02 = {
    .gate = CUPEL_GATE_CMP_02,
    .asserts = "a backward kernel's outputs match the exact vector-Jacobian product",
    .exercised_by = "upstream gradients that differ by element",
    .needs = "a postcondition with vjp, whose third argument names an input",
    .not_exercised = "all upstream gradients were uniform or zero, or no element of a gradient was judged",
    .not_applicable = "the postcondition holds no vjp, or no upstream gradient is an input",
    .cost = "no run of its own: it shares the two runs of the case and their comparison",
    .kernel_contracts = "none",
    .lethe = "CMP-02",
    .applicable = applicable,
    .exercised = exercised,
};
