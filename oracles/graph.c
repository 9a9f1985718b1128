#include "graph.h"

#include <string.h>

#include "compose.h"
#include "graph_size.h"

int cupel_graph_behind_views(const cupel_graph *graph, int node) {
    while (graph->nodes[node].op == CUPEL_OP_VIEW || graph->nodes[node].op == CUPEL_OP_RESHAPE)
        node = graph->nodes[node].args[0];
    return node;
}

int64_t cupel_graph_element_behind(const cupel_graph *graph, int *node, int64_t index) {
    for (;; *node = graph->nodes[*node].args[0]) {
        const cupel_node *n = &graph->nodes[*node];
        if (n->op == CUPEL_OP_RESHAPE) continue;
        if (n->op != CUPEL_OP_VIEW) return index;
        int64_t source = n->offset;
        for (int d = n->rank - 1; d >= 0; d--) {
            source += index % n->shape[d] * n->stride[d];
            index /= n->shape[d];
        }
        index = source;
    }
}

static bool same_shape(const cupel_node *node, const cupel_symbol_output *output) {
    return node->rank == output->rank &&
           memcmp(node->shape, output->shape, (size_t)node->rank * sizeof *node->shape) == 0;
}

/* The node of one output. A single element is taken for any shape of one element: sum(x) for T[1]. */
static int build_output(cupel_builder *b, const cupel_symbol_output *output) {
    cupel_operand value = cupel_translate(b, output->ensures);
    b->place = output->ensures->place;
    int node = cupel_operand_node(b, &value);
    if (node < 0) return -1;
    if (output->type == CUPEL_BOOL && b->nodes[node].op != CUPEL_OP_KEEP)
        node = cupel_emit_as(b, CUPEL_VALUE_BOOL, node);
    if (node < 0) return -1;
    if (b->nodes[node].op == CUPEL_OP_KEEP) node = cupel_emit_broadcast(b, node, output->rank, output->shape);
    if (node < 0 || same_shape(&b->nodes[node], output)) return node;
    int64_t count = 1;
    for (int i = 0; i < output->rank; i++) count *= output->shape[i] == 1 ? 1 : 2;
    if (count == 1 && b->nodes[node].count == 1)
        return cupel_emit_reshape(b, node, output->rank, output->shape);
    const char *expected = cupel_emit_shape_text(b, output->rank, output->shape);
    const char *found = cupel_emit_shape_text(b, b->nodes[node].rank, b->nodes[node].shape);
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    bool broadcasts = cupel_emit_common(b->nodes[node].rank, b->nodes[node].shape, output->rank,
                                        output->shape, &rank, shape);
    return cupel_emit_fail(b, CUPEL_CONTRACT, b->place,
                           "expected the shape %s of the output '%s', found %s%s", expected, output->name,
                           found, broadcasts ? " (broadcast_to widens it, keepdim=true keeps axes)" : "");
}

/* keep is the absence of a value, so nothing can be computed from it: it may pass through where and
 * rearrangements only. */
static void check_keep(cupel_builder *b) {
    bool *kept = cupel_arena_alloc(b->arena, (size_t)b->count * sizeof *kept);
    if (!kept) {
        cupel_emit_fail(b, CUPEL_MEMORY, b->place, "out of memory");
        return;
    }
    for (int i = 0; i < b->count; i++) {
        const cupel_node *node = &b->nodes[i];
        kept[i] = node->op == CUPEL_OP_KEEP;
        bool moves = node->op == CUPEL_OP_VIEW || node->op == CUPEL_OP_RESHAPE || node->op == CUPEL_OP_CONCAT;
        for (int k = 0; k < node->arg_count; k++) {
            if (!kept[node->args[k]]) continue;
            kept[i] = true;
            if (moves || (node->op == CUPEL_OP_WHERE && k > 0)) continue;
            cupel_emit_fail(b, CUPEL_CONTRACT, node->place,
                            "expected keep as a whole branch of where, found it in '%s'",
                            cupel_op_name(node->op));
            return;
        }
    }
}

/* Drops the nodes that no output needs, such as the view that another view was folded into, and renumbers the
 * others. */
static bool prune(cupel_builder *b, int *outputs, int output_count) {
    int *place = cupel_arena_alloc(b->arena, (size_t)b->count * sizeof *place);
    if (!place) return false;
    for (int i = 0; i < output_count; i++) place[outputs[i]] = 1;
    for (int i = b->count; i-- > 0;)
        for (int k = 0; place[i] && k < b->nodes[i].arg_count; k++) place[b->nodes[i].args[k]] = 1;
    int kept = 0;
    for (int i = 0; i < b->count; i++) {
        if (!place[i]) continue;
        cupel_node node = b->nodes[i];
        for (int k = 0; k < node.arg_count; k++) node.args[k] = place[node.args[k]];
        b->nodes[kept] = node;
        place[i] = kept++;
    }
    for (int i = 0; i < output_count; i++) outputs[i] = place[outputs[i]];
    b->count = kept;
    return true;
}

static cupel_code finish(cupel_builder *b, int *nodes, cupel_graph **out) {
    const cupel_symbols *symbols = b->symbols;
    cupel_graph *graph = cupel_arena_alloc(b->arena, sizeof *graph);
    if (!graph) return cupel_fail(b->err, CUPEL_MEMORY, "out of memory");
    graph->outputs = cupel_arena_alloc(b->arena, (size_t)symbols->output_count * sizeof *graph->outputs);
    if (!graph->outputs) return cupel_fail(b->err, CUPEL_MEMORY, "out of memory");
    if (!prune(b, nodes, symbols->output_count)) return cupel_fail(b->err, CUPEL_MEMORY, "out of memory");
    graph->node_count = b->count;
    graph->nodes = b->nodes;
    graph->input_count = symbols->input_count;
    graph->output_count = symbols->output_count;
    for (int i = 0; i < symbols->output_count; i++) {
        const cupel_symbol_output *from = &symbols->outputs[i];
        cupel_graph_output *to = &graph->outputs[i];
        to->name = from->name;
        to->node = nodes[i];
        to->type = from->type;
        to->rank = from->rank;
        memcpy(to->shape, from->shape, sizeof to->shape);
        to->count = b->nodes[nodes[i]].count;
    }
    if (!cupel_graph_attributes(graph, b->arena)) return cupel_fail(b->err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_graph_size_check(graph, symbols, b->arena, b->err));
    *out = graph;
    return CUPEL_OK;
}

cupel_code cupel_graph_build(const cupel_symbols *symbols, cupel_arena *arena, cupel_graph **out,
                             cupel_error *err) {
    cupel_builder b = {.symbols = symbols, .arena = arena, .err = err};
    b.define_states = cupel_arena_alloc(arena, (size_t)symbols->define_count * sizeof *b.define_states);
    b.define_values = cupel_arena_alloc(arena, (size_t)symbols->define_count * sizeof *b.define_values);
    int *nodes = cupel_arena_alloc(arena, (size_t)symbols->output_count * sizeof *nodes);
    if (!b.define_states || !b.define_values || !nodes) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < symbols->output_count && b.code == CUPEL_OK; i++)
        nodes[i] = build_output(&b, &symbols->outputs[i]);
    if (b.code == CUPEL_OK) check_keep(&b);
    if (b.code != CUPEL_OK) return b.code;
    return finish(&b, nodes, out);
}
