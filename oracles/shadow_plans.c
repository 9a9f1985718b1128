/* The good plans, the faults, and which of these a graph can show. */
#include "shadow_impl.h"

/* Orders of reductions, multiply-adds fused and not, statistics and softmax in their usual forms, the
 * hardware's formulas. Each deviation from the plain kernel stands in at least two plans, beside different
 * orders. */
static const cupel_shadow_plan family[] = {
    {.name = "plain", .sentence = "sequential, nothing fused"},
    {.name = "reversed",
     .sentence = "sequential from the end, fused, products of rounded operands",
     .order = CUPEL_SHADOW_REVERSED,
     .fused = true,
     .joined = true,
     .operands = CUPEL_SHADOW_ROUNDED},
    {.name = "pairwise",
     .sentence = "pairs, x * (1/y), functions relative to 1",
     .order = CUPEL_SHADOW_PAIRWISE,
     .reciprocal = true,
     .loose = true,
     .other = true},
    {.name = "warp",
     .sentence = "32 lanes, fused, hardware functions, log2(e) folded in",
     .order = CUPEL_SHADOW_LANES,
     .lanes = 32,
     .fused = true,
     .hardware = true,
     .folded = true,
     .flush = true,
     .operands = CUPEL_SHADOW_TRUNCATED},
    {.name = "block",
     .sentence = "256 lanes, hardware functions and reciprocals",
     .order = CUPEL_SHADOW_LANES,
     .lanes = 256,
     .fused = true,
     .hardware = true,
     .reciprocal = true,
     .flush = true},
    {.name = "online",
     .sentence = "one pass: running maximum with rescaling, Welford",
     .fused = true,
     .online = true,
     .welford = true,
     .joined = true},
    {.name = "online-hardware",
     .sentence = "one pass with hardware functions",
     .order = CUPEL_SHADOW_LANES,
     .lanes = 32,
     .online = true,
     .welford = true,
     .hardware = true,
     .reciprocal = true,
     .flush = true},
    {.name = "shuffled",
     .sentence = "a random order, log2(e) folded in",
     .order = CUPEL_SHADOW_PERMUTED,
     .seed = 11,
     .fused = true,
     .folded = true,
     .loose = true,
     .other = true},
    {.name = "shuffled-again",
     .sentence = "another random order",
     .order = CUPEL_SHADOW_PERMUTED,
     .seed = 12,
     .hardware = true,
     .joined = true,
     .other = true},
    {.name = "tensor-cores",
     .sentence = "products cut as tensor cores do, of rounded operands",
     .tensor_cores = true,
     .joined = true,
     .fused = true,
     .operands = CUPEL_SHADOW_ROUNDED},
};

const cupel_shadow_plan *cupel_shadow_family(int *count) {
    *count = sizeof family / sizeof *family;
    return family;
}

const char *cupel_shadow_fault_name(cupel_shadow_fault fault) {
    static const char *const names[] = {
#define CUPEL_FAULT_TEXT(name, text, sentence) [CUPEL_SHADOW_##name] = (text),
        CUPEL_SHADOW_FAULTS(CUPEL_FAULT_TEXT)
#undef CUPEL_FAULT_TEXT
    };
    return names[fault];
}

const char *cupel_shadow_fault_sentence(cupel_shadow_fault fault) {
    static const char *const sentences[] = {
#define CUPEL_FAULT_TEXT(name, text, sentence) [CUPEL_SHADOW_##name] = (sentence),
        CUPEL_SHADOW_FAULTS(CUPEL_FAULT_TEXT)
#undef CUPEL_FAULT_TEXT
    };
    return sentences[fault];
}

static unsigned bit(cupel_shadow_fault fault) {
    return 1u << fault;
}

/* Narrower accumulators than the working precision. */
static unsigned accumulators(const cupel_rules *rules) {
    const int precision = cupel_format_of(rules->working)->precision;
    unsigned faults = 0;
    if (precision > cupel_format_of(CUPEL_F16)->precision) faults |= bit(CUPEL_SHADOW_F16_ACCUMULATOR);
    if (precision > cupel_format_of(CUPEL_BF16)->precision) faults |= bit(CUPEL_SHADOW_BF16_ACCUMULATOR);
    if (precision > cupel_format_of(CUPEL_F32)->precision) faults |= bit(CUPEL_SHADOW_F32_ACCUMULATOR);
    return faults;
}

static unsigned tails(int64_t row) {
    return (row > 1 ? bit(CUPEL_SHADOW_DROPPED_LAST) : 0) |
           (row > 32 && row % 32 ? bit(CUPEL_SHADOW_DROPPED_TAIL) : 0);
}

/* Does the format hold every number of the other? */
static bool holds(cupel_dtype format, cupel_dtype other) {
    const cupel_format *a = cupel_format_of(format), *b = cupel_format_of(other);
    return b->precision <= a->precision && b->emax <= a->emax &&
           b->emin - b->precision >= a->emin - a->precision;
}

/* The narrowest type that is known to hold a node's elements. */
static cupel_dtype stored_type(const cupel_graph *graph, const cupel_rules *rules, int node) {
    const cupel_node *n = &graph->nodes[cupel_graph_behind_views(graph, node)];
    const bool typed = n->op == CUPEL_OP_INPUT || n->op == CUPEL_OP_CAST || n->op == CUPEL_OP_LOOSEN;
    return typed && n->kind == CUPEL_VALUE_REAL && cupel_format_of(n->type)->kind == CUPEL_KIND_REAL
               ? n->type
               : rules->working;
}

/* Operands that lose digits when they are taken in a narrower type. */
static unsigned operands(const cupel_graph *graph, const cupel_rules *rules, const cupel_node *product) {
    static const struct {
        cupel_dtype type;
        unsigned faults;
    } narrow[] = {{CUPEL_TF32, 1u << CUPEL_SHADOW_TF32_PRODUCTS | 1u << CUPEL_SHADOW_TF32_CUT},
                  {CUPEL_BF16, 1u << CUPEL_SHADOW_BF16_PRODUCTS | 1u << CUPEL_SHADOW_BF16_CUT},
                  {CUPEL_F16, 1u << CUPEL_SHADOW_F16_PRODUCTS}};
    unsigned faults = 0;
    if (rules->working != CUPEL_F32) return 0;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        for (int k = 0; k < 2; k++)
            if (!holds(narrow[i].type, stored_type(graph, rules, product->args[k])))
                faults |= narrow[i].faults;
    return faults;
}

/* The product that a SUM takes its terms from. */
static unsigned summed_operands(const cupel_graph *graph, const cupel_rules *rules, const cupel_node *sum) {
    const int index = (int)(sum - graph->nodes);
    const cupel_shadow_pattern pattern = cupel_shadow_pattern_of(graph, index, NULL);
    return pattern.idea == CUPEL_IDEA_FUSED_SUM ? operands(graph, rules, &graph->nodes[pattern.inner]) : 0;
}

/* Carries are lost between blocks of two elements at least. */
static unsigned scans(int64_t row) {
    unsigned faults = 0;
    if (row > 1) faults |= bit(CUPEL_SHADOW_REVERSED_SCAN) | bit(CUPEL_SHADOW_EXCLUSIVE_SCAN);
    if (row > 2) faults |= bit(CUPEL_SHADOW_DROPPED_CARRY);
    if (row > 4) faults |= bit(CUPEL_SHADOW_SHORT_CARRY);
    return faults;
}

static unsigned recurrences(int64_t steps) {
    return steps > 1 ? bit(CUPEL_SHADOW_REVERSED_SCAN) : 0;
}

static unsigned stops(int64_t row) {
    return row > 1 ? bit(CUPEL_SHADOW_STOPS_AT_ZERO) : 0;
}

static unsigned faults_of(const cupel_graph *graph, const cupel_rules *rules, const cupel_node *n) {
    const cupel_node *argument = n->arg_count > 0 ? &graph->nodes[n->args[0]] : n;
    const int64_t row = argument->rank > 0 ? argument->shape[argument->rank - 1] : 1;
    const bool real = n->kind == CUPEL_VALUE_REAL, of_reals = argument->kind == CUPEL_VALUE_REAL;
    switch (n->op) {
    case CUPEL_OP_SUM:
        if (row == 0) return 0; /* to which the parts of a gradient are joined: no accumulator is theirs */
        return tails(row) | (real ? accumulators(rules) | summed_operands(graph, rules, n) | stops(row) : 0);
    case CUPEL_OP_MATMUL:
        return tails(row) | (real ? accumulators(rules) | operands(graph, rules, n) | stops(row) : 0);
    case CUPEL_OP_PROD: return tails(row);
    case CUPEL_OP_CUMSUM: return scans(row) | (real ? accumulators(rules) : 0);
    case CUPEL_OP_CUMPROD: return scans(row);
    case CUPEL_OP_LINEAR_SCAN:
        return scans(row) | accumulators(rules) | (row > 2 ? bit(CUPEL_SHADOW_RAW_CARRY) : 0);
    case CUPEL_OP_STATE_SCAN: /* decays are of the shape [.., steps, keys] */
        return recurrences(argument->shape[argument->rank - 2]) | accumulators(rules);
    case CUPEL_OP_SCATTER_ADD: return real ? accumulators(rules) : 0;
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN: return tails(row) | (of_reals ? bit(CUPEL_SHADOW_NAN_SWALLOWED) : 0);
    case CUPEL_OP_ARGMAX:
    case CUPEL_OP_ARGMIN:
        return tails(row) | (row > 1 ? bit(CUPEL_SHADOW_LAST_TIE) : 0) |
               (of_reals ? bit(CUPEL_SHADOW_NAN_SWALLOWED) : 0);
    case CUPEL_OP_ARGSORT: /* where it is stable */
        return row > 1 && n->integer == 1 ? bit(CUPEL_SHADOW_LAST_TIE) : 0;
    case CUPEL_OP_CUMMAX:
    case CUPEL_OP_CUMMIN: return scans(row) | (of_reals ? bit(CUPEL_SHADOW_NAN_SWALLOWED) : 0);
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_LT:
    case CUPEL_OP_LE: return of_reals ? bit(CUPEL_SHADOW_NAN_SWALLOWED) : 0;
    default: return 0;
    }
}

unsigned cupel_shadow_applicable(const cupel_graph *graph, const cupel_rules *rules) {
    unsigned faults = 0;
    for (int o = 0; o < graph->output_count; o++) {
        if (cupel_format_of(graph->outputs[o].type)->kind != CUPEL_KIND_REAL) continue;
        faults |= bit(CUPEL_SHADOW_INF_CLAMPED);
        if (rules->subnormals == CUPEL_SUBNORMALS_KEEP) faults |= bit(CUPEL_SHADOW_FLUSHED);
    }
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        faults |= faults_of(graph, rules, n);
        if (cupel_shadow_is_below_maximum(graph, i)) faults |= bit(CUPEL_SHADOW_NO_MAXIMUM);
        if (cupel_shadow_pattern_of(graph, i, NULL).idea == CUPEL_IDEA_VARIANCE)
            faults |= bit(CUPEL_SHADOW_ONE_PASS);
    }
    return faults;
}
