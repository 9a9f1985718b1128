/* The bounded evaluator: plan, drive, write the allowed sets. */
#include <stdlib.h>

#include "allowed.h"
#include "bounded.h"

static bool is_linear(cupel_op op) {
    return op == CUPEL_OP_ADD || op == CUPEL_OP_SUB;
}
static bool is_scaling(cupel_op op) {
    return op == CUPEL_OP_MUL || op == CUPEL_OP_DIV;
}
static bool passes_state(cupel_op op) {
    return op == CUPEL_OP_VIEW || op == CUPEL_OP_RESHAPE || op == CUPEL_OP_NEG;
}

/* Which nodes contain a sum that further terms join; forward. */
static void plan_sums(cupel_bounded *b) {
    for (int i = 0; i < b->graph->node_count; i++) {
        const cupel_node *n = &b->graph->nodes[i];
        cupel_bounded_plan *p = &b->plans[i];
        p->trait = cupel_trait_of(b->graph, i);
        if (n->kind != CUPEL_VALUE_REAL) continue;
        switch (n->op) {
        case CUPEL_OP_SUM:
        case CUPEL_OP_CUMSUM:
        case CUPEL_OP_MATMUL: p->has_sum = !n->in_statistic; break;
        case CUPEL_OP_ADD:
        case CUPEL_OP_SUB:
            p->has_sum =
                !p->trait.below_maximum && (b->plans[n->args[0]].has_sum || b->plans[n->args[1]].has_sum);
            break;
        case CUPEL_OP_MUL: p->has_sum = b->plans[n->args[0]].has_sum || b->plans[n->args[1]].has_sum; break;
        case CUPEL_OP_DIV:
        case CUPEL_OP_NEG:
        case CUPEL_OP_VIEW:
        case CUPEL_OP_RESHAPE: p->has_sum = b->plans[n->args[0]].has_sum; break;
        default: break;
        }
    }
}

/* What consumers want to know of their arguments; backward. Counts consumers of needed nodes. */
static void plan_consumers(cupel_bounded *b) {
    for (int o = 0; o < b->graph->output_count; o++) {
        b->plans[b->graph->outputs[o].node].needed = true;
        b->plans[b->graph->outputs[o].node].consumers++;
    }
    for (int i = b->graph->node_count - 1; i >= 0; i--) {
        const cupel_node *n = &b->graph->nodes[i];
        const cupel_bounded_plan *p = &b->plans[i];
        if (!p->needed) continue;
        for (int k = 0; k < n->arg_count; k++) {
            cupel_bounded_plan *arg = &b->plans[n->args[k]];
            const cupel_op op = b->graph->nodes[n->args[k]].op;
            arg->needed = true;
            arg->consumers++;
            if (is_linear(n->op))
                arg->wants_magnitude |= p->has_sum && (arg->has_sum || is_linear(op) || passes_state(op));
            if (is_scaling(n->op))
                arg->wants_magnitude |= arg->has_sum, arg->wants_chain |= is_scaling(op) || passes_state(op);
            if (n->op == CUPEL_OP_EXP || n->op == CUPEL_OP_EXP2) arg->wants_magnitude |= p->trait.folded;
            if (passes_state(n->op))
                arg->wants_magnitude |= p->wants_magnitude, arg->wants_chain |= p->wants_chain;
        }
    }
}

static cupel_code evaluate(cupel_bounded *b, int node) {
    static cupel_code (*const families[])(cupel_bounded *, int) = {
#define CUPEL_FAMILY_OF(name, text, family) [CUPEL_OP_##name] = cupel_bounded_##family,
        CUPEL_PRIMITIVES(CUPEL_FAMILY_OF)
#undef CUPEL_FAMILY_OF
    };
    CUPEL_TRY(cupel_tensor_create(b, node));
    return families[b->graph->nodes[node].op](b, node);
}

/* Gives back one use of a node. */
static void release(cupel_bounded *b, int node) {
    if (--b->plans[node].consumers == 0) cupel_tensor_free(&b->tensors[node]);
}

static cupel_code write_output(cupel_bounded *b, int o, cupel_arena *arena, cupel_allowed *out) {
    const cupel_graph_output *output = &b->graph->outputs[o];
    const cupel_tensor *t = &b->tensors[output->node];
    const cupel_value_kind kind = b->graph->nodes[output->node].kind;
    CUPEL_TRY(cupel_allowed_create(output, arena, out, b->err));
    for (int64_t i = 0; i < t->count; i++) {
        cupel_ball ball = {.value = t->value[i],
                           .radius = cupel_radius_at(t, i),
                           .floor = t->floor,
                           .ceiling = t->ceiling,
                           .classes = t->classes ? t->classes[i] : CUPEL_CLASS_FINITE,
                           .reason = t->reasons ? t->reasons[i] : CUPEL_REASON_JUDGED};
        if (t->direct && ball.value == 0 && ball.radius == 0) ball.classes |= cupel_zero_sign_of(ball.value);
        const cupel_permitted permitted = cupel_ball_permit(&b->w, output->type, kind, &ball);
        cupel_allowed_set(out, i, ball.value, &permitted);
    }
    cupel_allowed_count(out);
    return CUPEL_OK;
}

static cupel_code run(cupel_bounded *b, cupel_arena *arena, cupel_allowed *outputs) {
    plan_sums(b);
    plan_consumers(b);
    for (int i = 0; i < b->graph->node_count; i++) {
        if (!b->plans[i].needed) continue;
        CUPEL_TRY(evaluate(b, i));
        for (int k = 0; k < b->graph->nodes[i].arg_count; k++) release(b, b->graph->nodes[i].args[k]);
        for (int o = 0; o < b->graph->output_count; o++) {
            if (b->graph->outputs[o].node != i) continue;
            CUPEL_TRY(write_output(b, o, arena, &outputs[o]));
            release(b, i);
        }
    }
    return CUPEL_OK;
}

cupel_code cupel_oracle_bounded(const cupel_graph *graph, const cupel_bindings *bindings,
                                const cupel_rules *rules, cupel_arena *arena, cupel_allowed *outputs,
                                cupel_error *err) {
    if (rules->working == CUPEL_F64)
        return cupel_fail(err, CUPEL_UNABLE,
                          "fp64 cannot bound kernels that compute in f64: use the exact evaluator");
    const size_t n = (size_t)graph->node_count + 1;
    cupel_bounded b = {.graph = graph, .bindings = bindings, .w = cupel_working_of(rules), .err = err};
    b.tensors = calloc(n, sizeof *b.tensors);
    b.plans = calloc(n, sizeof *b.plans);
    cupel_code code = b.tensors && b.plans
                          ? run(&b, arena, outputs)
                          : cupel_fail(err, CUPEL_MEMORY, "no memory for %d nodes", graph->node_count);
    for (int i = 0; b.tensors && i < graph->node_count; i++) cupel_tensor_free(&b.tensors[i]);
    free(b.tensors);
    free(b.plans);
    return code;
}
