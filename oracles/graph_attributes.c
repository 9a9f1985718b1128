/* What a node means in its surroundings: which sums its value passes through, which sums may be rescaled on
 * the way. */
#include <math.h>

#include "graph_emit.h"
#include "integers.h"

static bool moves_elements(cupel_op op) {
    return op == CUPEL_OP_VIEW || op == CUPEL_OP_RESHAPE || op == CUPEL_OP_CONCAT || op == CUPEL_OP_PAD ||
           op == CUPEL_OP_GATHER;
}

static void mark_inputs(cupel_graph *graph) {
    for (int i = 0; i < graph->node_count; i++) {
        cupel_node *node = &graph->nodes[i];
        if (node->arg_count == 0) {
            node->from_input = node->op != CUPEL_OP_KEEP;
        } else if (moves_elements(node->op)) {
            node->from_input = true;
            for (int k = 0; k < node->arg_count; k++)
                if (!graph->nodes[node->args[k]].from_input) node->from_input = false;
        }
    }
}

/* ---- a running maximum ---- */

/* Is node a - amax(a), however the maximum was broadcast and guarded against infinities? */
static bool is_below_maximum(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[cupel_graph_behind_views(graph, node)];
    if (n->op != CUPEL_OP_SUB) return false;
    int top = cupel_graph_behind_views(graph, n->args[1]);
    if (graph->nodes[top].op == CUPEL_OP_WHERE) {
        int then = cupel_graph_behind_views(graph, graph->nodes[top].args[1]);
        int otherwise = cupel_graph_behind_views(graph, graph->nodes[top].args[2]);
        top = graph->nodes[then].op == CUPEL_OP_AMAX ? then : otherwise;
    }
    if (graph->nodes[top].op != CUPEL_OP_AMAX) return false;
    return cupel_graph_behind_views(graph, graph->nodes[top].args[0]) ==
           cupel_graph_behind_views(graph, n->args[0]);
}

static bool is_running_exponential(const cupel_graph *graph, const cupel_node *n) {
    if (n->op != CUPEL_OP_EXP && n->op != CUPEL_OP_EXP2) return false;
    const cupel_node *argument = &graph->nodes[cupel_graph_behind_views(graph, n->args[0])];
    if (argument->op == CUPEL_OP_MUL || argument->op == CUPEL_OP_DIV) /* a scale beside the difference */
        return is_below_maximum(graph, argument->args[0]) || is_below_maximum(graph, argument->args[1]);
    return is_below_maximum(graph, n->args[0]);
}

/* carries[i]: the value has a factor exp(a - amax(a)). */
static void mark_rescalable(cupel_graph *graph, bool *carries) {
    for (int i = 0; i < graph->node_count; i++) {
        cupel_node *n = &graph->nodes[i];
        bool first = n->arg_count > 0 && carries[n->args[0]],
             second = n->arg_count > 1 && carries[n->args[1]];
        switch (n->op) {
        case CUPEL_OP_EXP:
        case CUPEL_OP_EXP2: carries[i] = is_running_exponential(graph, n); break;
        case CUPEL_OP_VIEW:
        case CUPEL_OP_RESHAPE:
        case CUPEL_OP_EXCLUDE:
        case CUPEL_OP_LOOSEN:
        case CUPEL_OP_BETWEEN:
        case CUPEL_OP_NEG:
        case CUPEL_OP_DIV: carries[i] = first; break;
        case CUPEL_OP_MUL: carries[i] = first || second; break;
        case CUPEL_OP_WHERE: carries[i] = second || carries[n->args[2]]; break;
        case CUPEL_OP_SUM:
        case CUPEL_OP_MATMUL: carries[i] = n->rescalable = first || second; break;
        default: break;
        }
    }
}

/* ---- chains of + and - ---- */

static bool is_linear_step(const cupel_node *n) {
    return n->kind == CUPEL_VALUE_REAL && (n->op == CUPEL_OP_ADD || n->op == CUPEL_OP_SUB);
}

/* Is it a + or -, behind views and signs? */
static bool leads_to_step(const cupel_graph *graph, int node) {
    for (;;) {
        node = cupel_graph_behind_views(graph, node);
        if (graph->nodes[node].op != CUPEL_OP_NEG) return is_linear_step(&graph->nodes[node]);
        node = graph->nodes[node].args[0];
    }
}

/* A step that the expression's author wrote: what stands inside of a composite (x - mean) has its order from
 * there, and x - amax(x) is taken as it is. */
static void mark_joins(cupel_graph *graph) {
    for (int i = 0; i < graph->node_count; i++) {
        cupel_node *n = &graph->nodes[i];
        if (!n->written || !is_linear_step(n) || is_below_maximum(graph, i)) continue;
        n->joins = (uint8_t)(leads_to_step(graph, n->args[0]) | leads_to_step(graph, n->args[1]) << 1);
    }
}

/* ---- narrowed operands ---- */

static bool multiplies(cupel_op op) {
    return op == CUPEL_OP_MUL || op == CUPEL_OP_DIV || op == CUPEL_OP_EXP || op == CUPEL_OP_EXP2;
}

static bool is_linear(cupel_op op) {
    return op == CUPEL_OP_ADD || op == CUPEL_OP_SUB || op == CUPEL_OP_NEG || op == CUPEL_OP_VIEW ||
           op == CUPEL_OP_RESHAPE || op == CUPEL_OP_EXCLUDE || op == CUPEL_OP_LOOSEN ||
           op == CUPEL_OP_WHERE || op == CUPEL_OP_AMAX || op == CUPEL_OP_AMIN || op == CUPEL_OP_SUM ||
           op == CUPEL_OP_MATMUL;
}

/* Is there a factor in it that may go to the product's other side? */
static bool holds_factor(const cupel_graph *graph, int node) {
    const cupel_node *n = &graph->nodes[node];
    while (n->op == CUPEL_OP_VIEW || n->op == CUPEL_OP_RESHAPE || n->op == CUPEL_OP_EXCLUDE ||
           n->op == CUPEL_OP_LOOSEN || n->op == CUPEL_OP_NEG)
        n = &graph->nodes[n->args[0]];
    return n->op == CUPEL_OP_MUL || n->op == CUPEL_OP_DIV;
}

/* Which operands a kernel may scale before it narrows them: a factor of the product (a score's scale, and the
 * log2(e) of its exponential, a softmax's divisor) goes to either side of it. Backward. */
static void mark_scaled(cupel_graph *graph, const bool *carries) {
    for (int i = graph->node_count; i-- > 0;) {
        cupel_node *n = &graph->nodes[i];
        for (int k = 0; k < n->arg_count; k++) {
            cupel_node *argument = &graph->nodes[n->args[k]];
            argument->scaled |= multiplies(n->op) || (is_linear(n->op) && n->scaled);
            if (n->op == CUPEL_OP_MATMUL) argument->scaled |= holds_factor(graph, n->args[1 - k]);
        }
    }
    for (int i = 0; i < graph->node_count; i++) {
        cupel_node *n = &graph->nodes[i];
        n->scaled = n->op == CUPEL_OP_LOOSEN && (n->scaled || carries[n->args[0]]);
    }
}

/* ---- sums on the way ---- */

/* Does the op hand its arguments' magnitude on? A function such as exp makes another number of it. */
static bool hands_on(cupel_op op) {
    switch (op) {
    case CUPEL_OP_NEG:
    case CUPEL_OP_ABS:
    case CUPEL_OP_FLOOR:
    case CUPEL_OP_CEIL:
    case CUPEL_OP_ROUND:
    case CUPEL_OP_TRUNC:
    case CUPEL_OP_TOREAL:
    case CUPEL_OP_ADD:
    case CUPEL_OP_SUB:
    case CUPEL_OP_MUL:
    case CUPEL_OP_DIV:
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX:
    case CUPEL_OP_WHERE:
    case CUPEL_OP_EXCLUDE:
    case CUPEL_OP_LOOSEN:
    case CUPEL_OP_BETWEEN:
    case CUPEL_OP_CAST:
    case CUPEL_OP_SUM:
    case CUPEL_OP_PROD:
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN:
    case CUPEL_OP_CUMSUM:
    case CUPEL_OP_CUMPROD:
    case CUPEL_OP_CUMMAX:
    case CUPEL_OP_CUMMIN:
    case CUPEL_OP_SCATTER_ADD:
    case CUPEL_OP_SORT:
    case CUPEL_OP_LINEAR_SCAN:
    case CUPEL_OP_STATE_SCAN:
    case CUPEL_OP_MATMUL: return true;
    default: return moves_elements(op);
    }
}

/* The number of terms that a sum adds up; 1 for other ops. */
static double terms_of(const cupel_graph *graph, const cupel_node *n) {
    if (n->op == CUPEL_OP_SCATTER_ADD) {
        const cupel_node *source = &graph->nodes[n->args[2]];
        return 1.0 + (double)source->shape[source->rank - 1];
    }
    const cupel_node *first = n->arg_count > 0 ? &graph->nodes[n->args[0]] : NULL;
    if (n->op == CUPEL_OP_LINEAR_SCAN) return fmax(1, (double)n->shape[n->rank - 1]);
    if (n->op == CUPEL_OP_STATE_SCAN) return fmax(1, (double)first->shape[first->rank - 2]);
    if (n->op != CUPEL_OP_SUM && n->op != CUPEL_OP_CUMSUM && n->op != CUPEL_OP_MATMUL) return 1.0;
    const cupel_node *argument = &graph->nodes[n->args[0]];
    double length = (double)argument->shape[argument->rank - 1];
    return length > 1.0 ? length : 1.0;
}

static void count_terms(cupel_graph *graph) {
    for (int i = 0; i < graph->node_count; i++) graph->nodes[i].terms = 1.0;
    for (int i = graph->node_count; i-- > 0;) {
        const cupel_node *n = &graph->nodes[i];
        if (!hands_on(n->op)) continue;
        double through = n->terms * terms_of(graph, n);
        for (int k = 0; k < n->arg_count; k++) {
            cupel_node *argument = &graph->nodes[n->args[k]];
            if (through > argument->terms) argument->terms = through;
        }
    }
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].terms < 4.0) graph->nodes[i].terms = 4.0;
}

bool cupel_graph_attributes(cupel_graph *graph, cupel_arena *arena) {
    bool *carries = cupel_arena_alloc(arena, (size_t)graph->node_count * sizeof *carries);
    if (!carries) return false;
    mark_inputs(graph);
    cupel_width_mark(graph);
    mark_rescalable(graph, carries);
    mark_scaled(graph, carries);
    mark_joins(graph);
    count_terms(graph);
    return true;
}
