/* Chains of + and -: x + r + b, whose terms a kernel adds in any order. */
#include "shadow_impl.h"

static bool is_step(const cupel_node *n) {
    return n->kind == CUPEL_VALUE_REAL && (n->op == CUPEL_OP_ADD || n->op == CUPEL_OP_SUB);
}

/* Where a term of a chain stands, and with which sign. */
typedef struct term {
    int node;
    int64_t index;
    bool negative;
} term;

/* Goes behind views and signs. */
static term behind(const cupel_graph *graph, term at) {
    for (;;) {
        at.index = cupel_graph_element_behind(graph, &at.node, at.index);
        const cupel_node *n = &graph->nodes[at.node];
        if (n->op != CUPEL_OP_NEG || n->kind != CUPEL_VALUE_REAL) return at;
        at.node = n->args[0];
        at.negative = !at.negative;
    }
}

/* The terms of one element of a chain, in the order in which they are written. joins: the bits of the step's
 * arguments that are steps. False when there are more than CUPEL_CHAIN_MAX. */
static bool collect(const cupel_graph *graph, term step, term *out, int *count) {
    const cupel_node *n = &graph->nodes[step.node];
    for (int k = 0; k < 2; k++) {
        const bool negative = step.negative != (k == 1 && n->op == CUPEL_OP_SUB);
        const term argument = {n->args[k], step.index, negative};
        const bool joins = n->joins >> k & 1;
        if (joins) {
            if (!collect(graph, behind(graph, argument), out, count)) return false;
        } else {
            if (*count == CUPEL_CHAIN_MAX) return false;
            out[(*count)++] = argument;
        }
    }
    return true;
}

int cupel_shadow_chain(const cupel_graph *graph, int node, int terms[CUPEL_CHAIN_MAX]) {
    term found[CUPEL_CHAIN_MAX];
    int count = 0;
    if (!is_step(&graph->nodes[node]) || !graph->nodes[node].joins || graph->nodes[node].count == 0) return 0;
    if (!collect(graph, (term){.node = node}, found, &count)) return 0;
    for (int i = 0; i < count; i++) terms[i] = found[i].node;
    return count;
}

bool cupel_shadow_chain_sum(cupel_shadow *s, int node) {
    const cupel_shadow_tensor *t = &s->tensors[node];
    term terms[CUPEL_CHAIN_MAX];
    double values[CUPEL_CHAIN_MAX];
    int nodes[CUPEL_CHAIN_MAX];
    if (s->plan.fault != CUPEL_SHADOW_NO_FAULT || s->plan.order == CUPEL_SHADOW_SEQUENTIAL) return false;
    if (cupel_shadow_chain(s->graph, node, nodes) == 0) return false;
    for (int64_t i = 0; i < t->count; i++) {
        int count = 0;
        if (!collect(s->graph, (term){.node = node, .index = i}, terms, &count)) return false;
        for (int k = 0; k < count; k++) {
            const double x = s->tensors[terms[k].node].x[terms[k].index];
            values[k] = terms[k].negative ? -x : x;
        }
        t->x[i] = cupel_shadow_sum(s, values, NULL, count);
    }
    return true;
}
