/* Which shadows a contract is tried with, and which gate each fault belongs to. */
#include "calibrate_impl.h"

static unsigned bit(cupel_gate gate) {
    return 1u << gate;
}

/* The compiler asks for a line here when a fault is added. */
static unsigned gates_of_fault(cupel_shadow_fault fault) {
    switch (fault) {
    case CUPEL_SHADOW_F16_ACCUMULATOR:
    case CUPEL_SHADOW_BF16_ACCUMULATOR:
    case CUPEL_SHADOW_F32_ACCUMULATOR:
    case CUPEL_SHADOW_TF32_PRODUCTS:
    case CUPEL_SHADOW_TF32_CUT:
    case CUPEL_SHADOW_BF16_PRODUCTS:
    case CUPEL_SHADOW_BF16_CUT:
    case CUPEL_SHADOW_F16_PRODUCTS: return bit(CUPEL_GATE_PRC_02);
    case CUPEL_SHADOW_FLUSHED: return bit(CUPEL_GATE_EXC_02);
    case CUPEL_SHADOW_NO_MAXIMUM:
    case CUPEL_SHADOW_ONE_PASS: return bit(CUPEL_GATE_CMP_01);
    case CUPEL_SHADOW_NAN_SWALLOWED:
    case CUPEL_SHADOW_INF_CLAMPED: return bit(CUPEL_GATE_EXC_01);
    case CUPEL_SHADOW_DROPPED_TAIL: return bit(CUPEL_GATE_CMP_03);
    case CUPEL_SHADOW_DROPPED_LAST: return bit(CUPEL_GATE_CMP_01) | bit(CUPEL_GATE_CMP_03);
    case CUPEL_SHADOW_LAST_TIE:
    case CUPEL_SHADOW_REVERSED_SCAN:
    case CUPEL_SHADOW_EXCLUSIVE_SCAN:
    case CUPEL_SHADOW_DROPPED_CARRY:
    case CUPEL_SHADOW_SHORT_CARRY:
    case CUPEL_SHADOW_RAW_CARRY: return bit(CUPEL_GATE_ORD_03);
    case CUPEL_SHADOW_STOPS_AT_ZERO: return bit(CUPEL_GATE_ORD_01);
    case CUPEL_SHADOW_NO_FAULT:
    case CUPEL_SHADOW_FAULT_COUNT: break;
    }
    return 0;
}

static unsigned gates_of_misdeed(cupel_misdeed misdeed) {
    switch (misdeed) {
    case CUPEL_MISDEED_SCALED: return bit(CUPEL_GATE_CMP_01);
    case CUPEL_MISDEED_TAIL_CLEARED: return bit(CUPEL_GATE_CMP_03);
    case CUPEL_MISDEED_NAN_CLEARED: return bit(CUPEL_GATE_EXC_01);
    case CUPEL_MISDEED_COARSE_TYPE: return bit(CUPEL_GATE_PRC_01);
    case CUPEL_MISDEED_UNIFORM_COTANGENT: return bit(CUPEL_GATE_CMP_02);
    case CUPEL_MISDEED_BY_SCHEDULE:
    case CUPEL_MISDEED_FIRST_CALL: return bit(CUPEL_GATE_ORD_02);
    case CUPEL_MISDEED_PAST_END:
    case CUPEL_MISDEED_INPUT_CHANGED:
    case CUPEL_MISDEED_LAST_UNWRITTEN: return bit(CUPEL_GATE_RES_01);
    case CUPEL_MISDEED_NO_MISDEED:
    case CUPEL_MISDEED_COUNT: break;
    }
    return 0;
}

static bool applies(const cupel_contract *contract, cupel_gate gate) {
    const cupel_gate_info *info = cupel_gate_info_of(gate);
    const char *why;
    return !info->applicable || info->applicable(contract, &why);
}

/* Where an output is updated in place, what was there before is a number like any other: an element that is
 * never stored is a wrong value. */
static bool updates_in_place(const cupel_contract *contract) {
    const int both = CUPEL_ROLE_INPUT | CUPEL_ROLE_OUTPUT;
    for (int t = 0; t < contract->tensor_count; t++)
        if ((contract->tensors[t].roles & both) == both) return true;
    return false;
}

/* A wrong value of a gradient that needs nothing in particular is CMP-01 or CMP-02: both say it. */
static unsigned own_gates(const cupel_contract *contract, unsigned gates) {
    const bool plain = gates & bit(CUPEL_GATE_CMP_01);
    return plain && applies(contract, CUPEL_GATE_CMP_02) ? gates | bit(CUPEL_GATE_CMP_02) : gates;
}

/* Can it happen at all to a kernel of this contract? */
static bool is_possible(const cupel_contract *contract, cupel_misdeed misdeed) {
    bool types = false, read_only = false;
    for (int v = 0; v < contract->type_count; v++) types = types || contract->types[v].count > 1;
    for (int t = 0; t < contract->tensor_count; t++)
        read_only = read_only || contract->tensors[t].roles == CUPEL_ROLE_INPUT;
    switch (misdeed) {
    case CUPEL_MISDEED_COARSE_TYPE: return types;
    case CUPEL_MISDEED_INPUT_CHANGED: return read_only;
    case CUPEL_MISDEED_UNIFORM_COTANGENT: return applies(contract, CUPEL_GATE_CMP_02);
    default: return true;
    }
}

/* The faults that the expressions can show at any of the first recipes of the search. */
static cupel_code possible_faults(const cupel_contract *contract, const cupel_search *search,
                                  cupel_arena *arena, unsigned *faults, cupel_error *err) {
    enum { LOOKED_AT = 128 };
    *faults = 0;
    for (uint64_t n = 0; n < search->start_count + LOOKED_AT && n < search->count; n++) {
        cupel_recipe recipe;
        cupel_binding binding;
        cupel_graph *graph;
        cupel_arena_reset(arena);
        CUPEL_TRY(cupel_engine_start(search, n, &recipe, err));
        CUPEL_TRY(cupel_recipe_binding(contract, &recipe, &binding, err));
        if (cupel_binding_graph(&binding, arena, &graph, NULL) != CUPEL_OK) continue;
        const cupel_rules rules = cupel_binding_rules(&binding);
        *faults |= cupel_shadow_applicable(graph, &rules);
    }
    return CUPEL_OK;
}

static void add(cupel_calibrate_shadow *out, int *count, cupel_calibrate_shadow shadow) {
    if (*count < CUPEL_CALIBRATE_ROWS_MAX) out[(*count)++] = shadow;
}

static cupel_code ordinary_faults(const cupel_contract *contract, cupel_arena *arena, unsigned *faults,
                                  cupel_rules *rules, cupel_error *err) {
    cupel_binding binding;
    cupel_graph *graph;
    cupel_arena_reset(arena);
    CUPEL_TRY(cupel_binding_ordinary(contract, &binding, err));
    CUPEL_TRY(cupel_binding_graph(&binding, arena, &graph, err));
    *rules = cupel_binding_rules(&binding);
    *faults = cupel_shadow_applicable(graph, rules);
    return CUPEL_OK;
}

static void add_good(const cupel_rules *rules, cupel_calibrate_shadow *out, int *count) {
    int good;
    const cupel_shadow_plan *family = cupel_shadow_family(&good);
    for (int i = 0; i < good; i++) {
        if (!cupel_shadow_counts(rules, &family[i])) continue;
        add(out, count,
            (cupel_calibrate_shadow){.stand_in = {.plan = family[i]},
                                     .name = family[i].name,
                                     .sentence = family[i].sentence,
                                     .good = true});
    }
}

static void add_faults(const cupel_contract *contract, unsigned faults, unsigned ordinary,
                       cupel_calibrate_shadow *out, int *count) {
    for (int f = CUPEL_SHADOW_NO_FAULT + 1; f < CUPEL_SHADOW_FAULT_COUNT; f++) {
        const cupel_shadow_fault fault = (cupel_shadow_fault)f;
        unsigned gates = gates_of_fault(fault);
        if (!(faults >> f & 1)) continue;
        /* a fault of shapes that shows in the ordinary one needs no other shape */
        if (gates == bit(CUPEL_GATE_CMP_03) && (ordinary >> f & 1)) gates |= bit(CUPEL_GATE_CMP_01);
        add(out, count,
            (cupel_calibrate_shadow){.stand_in = {.plan = {.fault = fault}},
                                     .name = cupel_shadow_fault_name(fault),
                                     .sentence = cupel_shadow_fault_sentence(fault),
                                     .own = own_gates(contract, gates)});
    }
}

static void add_misdeeds(const cupel_contract *contract, cupel_calibrate_shadow *out, int *count) {
    for (int m = CUPEL_MISDEED_NO_MISDEED + 1; m < CUPEL_MISDEED_COUNT; m++) {
        const cupel_misdeed misdeed = (cupel_misdeed)m;
        unsigned gates = gates_of_misdeed(misdeed);
        if (!is_possible(contract, misdeed)) continue;
        if (misdeed == CUPEL_MISDEED_LAST_UNWRITTEN && updates_in_place(contract))
            gates |= bit(CUPEL_GATE_CMP_01);
        add(out, count,
            (cupel_calibrate_shadow){.stand_in = {.misdeed = misdeed},
                                     .name = cupel_misdeed_name(misdeed),
                                     .sentence = cupel_misdeed_sentence(misdeed),
                                     .own = own_gates(contract, gates)});
    }
}

cupel_code cupel_calibrate_shadows(const cupel_contract *contract, const cupel_search *search,
                                   cupel_arena *arena, cupel_calibrate_shadow *out, int *count,
                                   cupel_error *err) {
    unsigned faults, ordinary;
    cupel_rules rules;
    CUPEL_TRY(possible_faults(contract, search, arena, &faults, err));
    CUPEL_TRY(ordinary_faults(contract, arena, &ordinary, &rules, err));
    *count = 0;
    add_good(&rules, out, count);
    add_faults(contract, faults, ordinary, out, count);
    add_misdeeds(contract, out, count);
    return CUPEL_OK;
}
