/* Attribution by necessity (DESIGN section 4): a mismatch belongs to the trait without which it vanishes. */
#include "gate.h"

#include <math.h>
#include <signal.h>

/* One trait names the gate where several are necessary. What goes wrong under some schedules or after some
 * calls only is no matter of values; of the others, the rarer it is among a user's inputs, the earlier it
 * stands. Another order and a weaker accumulator are said by a shadow that returns what the kernel does, or
 * by what the failure needs: they tell more than the shape or type in which they show. */
static const struct {
    int traits;
    cupel_gate gate;
} trait_gates[] = {
    {CUPEL_TRAIT_SCHEDULE | CUPEL_TRAIT_HISTORY, CUPEL_GATE_ORD_02},
    {CUPEL_TRAIT_SPECIAL, CUPEL_GATE_EXC_01},
    {CUPEL_TRAIT_SUBNORMAL, CUPEL_GATE_EXC_02},
    {CUPEL_TRAIT_SEQUENCE, CUPEL_GATE_ORD_03},
    {CUPEL_TRAIT_SUMS, CUPEL_GATE_PRC_02},
    {CUPEL_TRAIT_TYPE, CUPEL_GATE_PRC_01},
    {CUPEL_TRAIT_SHAPE | CUPEL_TRAIT_LAYOUT | CUPEL_TRAIT_VARIANT, CUPEL_GATE_CMP_03},
    {CUPEL_TRAIT_ORDER, CUPEL_GATE_ORD_01},
    {CUPEL_TRAIT_COTANGENT | CUPEL_TRAIT_GRADIENT, CUPEL_GATE_CMP_02},
};

static cupel_gate by_traits(int traits) {
    for (size_t i = 0; i < sizeof trait_gates / sizeof *trait_gates; i++)
        if (traits & trait_gates[i].traits) return trait_gates[i].gate;
    return CUPEL_GATE_CMP_01;
}

static bool is_memory_fault(cupel_fault fault) {
    return fault == CUPEL_FAULT_CRASH || fault == CUPEL_FAULT_OUT_OF_BOUNDS || fault == CUPEL_FAULT_HEAP ||
           fault == CUPEL_FAULT_FP_MODE;
}

cupel_gate cupel_gate_by_necessity(cupel_finding_kind kind, cupel_fault fault, int necessary_traits) {
    switch (kind) {
    case CUPEL_FINDING_UNWRITTEN:
    case CUPEL_FINDING_NOT_KEPT:
    case CUPEL_FINDING_STRAY_WRITE:
    case CUPEL_FINDING_INPUT_CHANGED:
    case CUPEL_FINDING_STRAY_READ:
    case CUPEL_FINDING_BAD_ACCESS: return CUPEL_GATE_RES_01;
    case CUPEL_FINDING_NONDETERMINISM:
    case CUPEL_FINDING_RACE:
    case CUPEL_FINDING_VARIANTS:
    case CUPEL_FINDING_HISTORY: return CUPEL_GATE_ORD_02;
    case CUPEL_FINDING_REFUSED: return CUPEL_GATE_RES_02;
    case CUPEL_FINDING_FAULT: return is_memory_fault(fault) ? CUPEL_GATE_RES_01 : by_traits(necessary_traits);
    case CUPEL_FINDING_WRONG_VALUE:
    case CUPEL_FINDING_WRONG_CLASS:
    case CUPEL_FINDING_WRONG_ZERO_SIGN:
    case CUPEL_FINDING_INACCURATE:
    case CUPEL_FINDING_KIND_COUNT: break;
    }
    return by_traits(necessary_traits);
}

static bool is_address_signal(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == 0;
}

/* A zero in place of a subnormal result, whatever the inputs are. */
static bool is_flushed(const cupel_finding *finding) {
    return finding->kind == CUPEL_FINDING_WRONG_VALUE && finding->certified && finding->got == 0 &&
           cupel_format_of(finding->type)->kind == CUPEL_KIND_REAL && finding->exact.value != 0 &&
           fabs(finding->exact.value) < cupel_format_normal(finding->type);
}

/* What the finding itself adds to its traits. A flush says nothing where something else is needed: a tail
 * that is left at 0 may lie among subnormals. */
static int traits_of(const cupel_finding *finding, int necessary_traits) {
    int traits = finding->gradient ? CUPEL_TRAIT_GRADIENT : 0;
    if (necessary_traits == 0 && is_flushed(finding)) traits |= CUPEL_TRAIT_SUBNORMAL;
    if (CUPEL_SHADOW_ORDER_FAULTS >> finding->cause.fault & 1) traits |= CUPEL_TRAIT_SEQUENCE;
    if (CUPEL_SHADOW_SUM_FAULTS >> finding->cause.fault & 1) traits |= CUPEL_TRAIT_SUMS;
    return traits;
}

cupel_gate cupel_gate_of_finding(const cupel_finding *finding, int necessary_traits) {
    if (finding->kind == CUPEL_FINDING_FAULT && finding->fault == CUPEL_FAULT_CRASH &&
        !is_address_signal(finding->signal))
        return by_traits(necessary_traits);
    if (cupel_finding_is_about_values(finding->kind))
        necessary_traits |= traits_of(finding, necessary_traits);
    return cupel_gate_by_necessity(finding->kind, finding->fault, necessary_traits);
}
