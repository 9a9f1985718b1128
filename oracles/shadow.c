/* The shadows' driver: plans what is read when, evaluates node by node, writes the outputs. */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>

#include "shadow_impl.h"

/* What the rules do not admit is left out. */
static cupel_shadow_plan admitted(const cupel_rules *rules, const cupel_shadow_plan *plan) {
    cupel_shadow_plan p = *plan;
    p.hardware = p.hardware && rules->fast_math && rules->working != CUPEL_F64;
    p.flush = (p.flush && rules->subnormals == CUPEL_SUBNORMALS_FLUSH) || p.fault == CUPEL_SHADOW_FLUSHED;
    /* 1/y of a subnormal y is infinite, which `range: safe` forbids */
    p.reciprocal = p.reciprocal && !rules->range_safe;
    p.hardware = p.hardware && !rules->range_safe;
    return p;
}

cupel_dtype cupel_shadow_accumulator(const cupel_rules *rules, cupel_shadow_fault fault) {
    if (fault == CUPEL_SHADOW_F16_ACCUMULATOR) return CUPEL_F16;
    if (fault == CUPEL_SHADOW_BF16_ACCUMULATOR) return CUPEL_BF16;
    if (fault == CUPEL_SHADOW_F32_ACCUMULATOR) return CUPEL_F32;
    return rules->working;
}

double cupel_shadow_cost(const cupel_graph *graph) {
    double cost = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i], *first = n->arg_count > 0 ? &graph->nodes[n->args[0]] : n;
        const int64_t row = first->rank > 0 ? first->shape[first->rank - 1] : 1;
        cost += (double)n->count * (n->op == CUPEL_OP_MATMUL ? (double)row : 1);
        if (n->op == CUPEL_OP_SUM) cost += (double)first->count;
    }
    return cost;
}

/* ---- who reads whom ---- */

enum { EXTRAS_MAX = CUPEL_CHAIN_MAX + 4 };

/* The nodes that evaluating a node may read beside its arguments. */
static int extras(const cupel_shadow *s, int node, int out[EXTRAS_MAX]) {
    const cupel_shadow_pattern *p = &s->patterns[node];
    const cupel_node *inner = &s->graph->nodes[p->inner];
    int n = cupel_shadow_chain(s->graph, node, out);
    const int sum = cupel_shadow_join(s, node);
    for (int k = 0; sum >= 0 && k < s->graph->nodes[sum].arg_count; k++)
        out[n++] = s->graph->nodes[sum].args[k];
    switch (p->idea) {
    case CUPEL_IDEA_FUSED_SUM:
    case CUPEL_IDEA_FOLDED:
        out[n++] = inner->args[0];
        out[n++] = inner->args[1];
        break;
    case CUPEL_IDEA_SAME: out[n++] = p->inner; break;
    case CUPEL_IDEA_SQUARES: /* may be fused all the same */
        out[n++] = inner->args[0];
        out[n++] = p->source;
        break;
    case CUPEL_IDEA_MEAN:
    case CUPEL_IDEA_VARIANCE:
    case CUPEL_IDEA_RUNNING_MAXIMUM: out[n++] = p->source; break;
    default: break;
    }
    return n;
}

static void count_uses(cupel_shadow *s) {
    for (int o = 0; o < s->graph->output_count; o++) s->uses[s->graph->outputs[o].node]++;
    for (int i = s->graph->node_count - 1; i >= 0; i--) {
        if (s->uses[i] == 0) continue;
        const cupel_node *n = &s->graph->nodes[i];
        int more[EXTRAS_MAX];
        const int count = extras(s, i, more);
        for (int k = 0; k < n->arg_count; k++) s->uses[n->args[k]]++;
        for (int k = 0; k < count; k++) s->uses[more[k]]++;
    }
}

static void release(cupel_shadow *s, int node) {
    if (--s->uses[node] > 0) return;
    free(s->tensors[node].data);
    s->tensors[node].data = NULL;
}

static void release_reads(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    int more[EXTRAS_MAX];
    const int count = extras(s, node, more);
    for (int k = 0; k < n->arg_count; k++) release(s, n->args[k]);
    for (int k = 0; k < count; k++) release(s, more[k]);
}

/* ---- evaluating ---- */

static cupel_code evaluate(cupel_shadow *s, int node) {
    static cupel_code (*const families[])(cupel_shadow *, int) = {
#define CUPEL_FAMILY_OF(name, text, family) [CUPEL_OP_##name] = cupel_shadow_##family,
        CUPEL_PRIMITIVES(CUPEL_FAMILY_OF)
#undef CUPEL_FAMILY_OF
    };
    cupel_shadow_tensor *t = &s->tensors[node];
    t->count = s->graph->nodes[node].count;
    t->data = calloc((size_t)t->count + 1, sizeof(double));
    if (!t->data) return cupel_fail(s->err, CUPEL_MEMORY, "no memory for %lld elements", (long long)t->count);
    if (t->count == 0) return CUPEL_OK;
    return families[s->graph->nodes[node].op](s, node);
}

/* An infinity clamped to the largest number is a fault. */
static double clamped(const cupel_shadow *s, cupel_dtype type, double x) {
    if (s->plan.fault != CUPEL_SHADOW_INF_CLAMPED || cupel_format_of(type)->kind != CUPEL_KIND_REAL) return x;
    const double rounded = cupel_round(type, x);
    return isinf(rounded) ? copysign(cupel_format_largest(type), x) : x;
}

static cupel_code write_output(cupel_shadow *s, const cupel_graph_output *output, cupel_arena *arena,
                               cupel_shadow_output *out) {
    const cupel_shadow_tensor *t = &s->tensors[output->node];
    const size_t size = cupel_format_of(output->type)->size, count = (size_t)t->count;
    *out = (cupel_shadow_output){.type = output->type, .count = t->count};
    out->bytes = cupel_arena_alloc(arena, count * size + 8);
    out->values = cupel_arena_raw(arena, count + 1, sizeof *out->values);
    if (!out->bytes || !out->values)
        return cupel_fail(s->err, CUPEL_MEMORY, "no memory for %lld elements", (long long)t->count);
    const bool integers = s->graph->nodes[output->node].kind == CUPEL_VALUE_INT;
    const bool bits =
        integers && cupel_format_of(output->type)->kind != CUPEL_KIND_REAL && output->type != CUPEL_BOOL;
    for (size_t i = 0; i < count; i++) {
        out->values[i] = integers ? (double)t->n[i] : clamped(s, output->type, t->x[i]);
        if (bits) /* the low bytes: a conversion to a narrower integer wraps */
            memcpy(out->bytes + i * size, &t->n[i], size);
        else
            cupel_encode(output->type, out->values[i], out->bytes + i * size);
    }
    return CUPEL_OK;
}

static cupel_code run(cupel_shadow *s, cupel_arena *arena, cupel_shadow_output *outputs) {
    for (int i = 0; i < s->graph->node_count; i++) {
        if (s->uses[i] == 0) continue;
        CUPEL_TRY(evaluate(s, i));
        release_reads(s, i);
        for (int o = 0; o < s->graph->output_count; o++) {
            if (s->graph->outputs[o].node != i) continue;
            CUPEL_TRY(write_output(s, &s->graph->outputs[o], arena, &outputs[o]));
            release(s, i);
        }
    }
    return CUPEL_OK;
}

static int64_t longest_row(const cupel_graph *graph, int lanes) {
    int64_t longest = lanes > 256 ? lanes : 256;
    for (int i = 0; i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        if (n->rank > 0 && n->shape[n->rank - 1] > longest) longest = n->shape[n->rank - 1];
    }
    return longest;
}

static cupel_code prepare(cupel_shadow *s) {
    const size_t n = (size_t)s->graph->node_count + 1,
                 row = (size_t)(s->longest = longest_row(s->graph, s->plan.lanes));
    s->tensors = calloc(n, sizeof *s->tensors);
    s->patterns = calloc(n, sizeof *s->patterns);
    s->uses = calloc(n, sizeof *s->uses);
    s->left = calloc(4 * row, sizeof(double));
    bool *maxima = calloc(n, sizeof *maxima);
    if (!s->tensors || !s->patterns || !s->uses || !s->left || !maxima) {
        free(maxima);
        return cupel_fail(s->err, CUPEL_MEMORY, "no memory for %d nodes", s->graph->node_count);
    }
    s->right = s->left + row;
    s->partial = s->right + row;
    s->permutation = (int64_t *)(void *)(s->partial + row);
    cupel_shadow_maxima(s->graph, maxima);
    for (int i = 0; i < s->graph->node_count; i++)
        s->patterns[i] = cupel_shadow_pattern_of(s->graph, i, maxima);
    free(maxima);
    count_uses(s);
    return CUPEL_OK;
}

cupel_code cupel_shadow_run(const cupel_graph *graph, const cupel_bindings *bindings,
                            const cupel_rules *rules, const cupel_shadow_plan *plan, cupel_arena *arena,
                            cupel_shadow_output *outputs, cupel_error *err) {
    cupel_shadow s = {.graph = graph,
                      .bindings = bindings,
                      .w = cupel_working_of(rules),
                      .sequential = rules->sequential,
                      .plan = admitted(rules, plan),
                      .accumulator = cupel_shadow_accumulator(rules, plan->fault),
                      .noise = plan->seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                      .permuted = -1,
                      .err = err};
    cupel_code code = prepare(&s);
    if (code == CUPEL_OK) code = run(&s, arena, outputs);
    for (int i = 0; s.tensors && i < graph->node_count; i++) free(s.tensors[i].data);
    free(s.tensors);
    free(s.patterns);
    free(s.uses);
    free(s.left);
    return code;
}
