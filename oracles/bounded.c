/* The bounded evaluator: plan, drive, write the allowed sets. */
#include <stdlib.h>

#include "allowed.h"
#include "bounded.h"
#include "bounded_operand.h"
#include "bounded_view.h"
#include "integers.h"

static bool is_linear(cupel_op op) {
    return op == CUPEL_OP_ADD || op == CUPEL_OP_SUB;
}
static bool is_scaling(cupel_op op) {
    return op == CUPEL_OP_MUL || op == CUPEL_OP_DIV;
}
static bool is_sum(cupel_op op) {
    return op == CUPEL_OP_SUM || op == CUPEL_OP_CUMSUM || op == CUPEL_OP_MATMUL || op == CUPEL_OP_SCATTER_ADD;
}
static bool is_recurrence(cupel_op op) {
    return op == CUPEL_OP_LINEAR_SCAN || op == CUPEL_OP_STATE_SCAN;
}
static bool passes_state(cupel_op op) {
    return op == CUPEL_OP_VIEW || op == CUPEL_OP_RESHAPE || op == CUPEL_OP_NEG || op == CUPEL_OP_EXCLUDE ||
           op == CUPEL_OP_LOOSEN || op == CUPEL_OP_BETWEEN;
}

/* Do some of its elements come, with their state, from each argument, or with numbers of its own beside them?
 */
static bool joins_elements(cupel_op op) {
    return op == CUPEL_OP_CONCAT || op == CUPEL_OP_PAD || op == CUPEL_OP_GATHER;
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
        case CUPEL_OP_SCATTER_ADD:
        case CUPEL_OP_LINEAR_SCAN:
        case CUPEL_OP_STATE_SCAN:
        case CUPEL_OP_MATMUL: p->has_sum = !n->in_statistic; break;
        case CUPEL_OP_ADD:
        case CUPEL_OP_SUB:
            p->has_sum =
                !p->trait.below_maximum && (b->plans[n->args[0]].has_sum || b->plans[n->args[1]].has_sum);
            p->joins = p->has_sum || p->trait.joins;
            break;
        case CUPEL_OP_MUL: p->has_sum = b->plans[n->args[0]].has_sum || b->plans[n->args[1]].has_sum; break;
        case CUPEL_OP_DIV:
        case CUPEL_OP_NEG:
        case CUPEL_OP_VIEW:
        case CUPEL_OP_EXCLUDE:
        case CUPEL_OP_LOOSEN:
        case CUPEL_OP_BETWEEN:
        case CUPEL_OP_PAD:
        case CUPEL_OP_GATHER:
        case CUPEL_OP_RESHAPE: p->has_sum = b->plans[n->args[0]].has_sum; break;
        case CUPEL_OP_CONCAT:
            for (int k = 0; k < n->arg_count; k++) p->has_sum |= b->plans[n->args[k]].has_sum;
            break;
        default: break;
        }
    }
}

/* Is the node, behind what passes it on, a product or quotient? A divisor is then divided by factor by
 * factor; of any other, a softmax's sum for one, only the size counts. */
static bool has_factors(const cupel_graph *graph, int node) {
    while (passes_state(graph->nodes[node].op)) node = graph->nodes[node].args[0];
    const cupel_op op = graph->nodes[node].op;
    return is_scaling(op) || op == CUPEL_OP_WHERE || joins_elements(op);
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
            const bool chains = is_scaling(op) || passes_state(op) || joins_elements(op) || arg->has_sum;
            arg->needed = true;
            arg->consumers++;
            if (is_sum(n->op) || is_recurrence(n->op)) arg->wants_chain |= chains;
            if (is_linear(n->op))
                arg->wants_magnitude |= p->joins && (arg->has_sum || is_linear(op) || passes_state(op)),
                    arg->wants_chain |= p->has_sum && chains;
            if (is_scaling(n->op)) {
                const bool divisor = n->op == CUPEL_OP_DIV && k == 1;
                if (!divisor) arg->wants_magnitude |= arg->has_sum;
                arg->wants_chain |= divisor ? has_factors(b->graph, n->args[k]) : chains;
            }
            if (n->op == CUPEL_OP_WHERE && k > 0) arg->wants_chain |= chains;
            if (n->op == CUPEL_OP_EXP || n->op == CUPEL_OP_EXP2) arg->wants_magnitude |= p->trait.folded;
            if (joins_elements(n->op)) {
                arg->wants_magnitude |= p->wants_magnitude && (arg->has_sum || passes_state(op));
                arg->wants_chain |= p->wants_chain && chains;
            }
            if (passes_state(n->op) && k == 0)
                arg->wants_magnitude |= p->wants_magnitude, arg->wants_chain |= p->wants_chain;
        }
    }
}

typedef cupel_code evaluator(cupel_bounded *, int);

static evaluator *const families[] = {
#define CUPEL_FAMILY_OF(name, text, family) [CUPEL_OP_##name] = cupel_bounded_##family,
    CUPEL_PRIMITIVES(CUPEL_FAMILY_OF)
#undef CUPEL_FAMILY_OF
};

/* Does node read its k-th argument, a view or reshaped tensor, where that one's own argument lies? */
static bool reads_in_place(const cupel_bounded *b, int node, int k) {
    const cupel_node *n = &b->graph->nodes[node];
    if (n->op == CUPEL_OP_MATMUL) return cupel_operand_is_readable(b->graph, node, k);
    if (families[n->op] == cupel_bounded_binary) return cupel_view_is_readable(b->graph, n->args[k]);
    return n->op == CUPEL_OP_RESHAPE && b->plans[node].unwritten &&
           b->graph->nodes[n->args[k]].op == CUPEL_OP_VIEW;
}

/* Views stay where they are when every consumer can read them there; so do reshaped ones, of which the view
 * is then not written either. A copy of a convolution's windows would be as many times larger as its kernel,
 * one of a row's mean as long as the row. */
static void plan_views(cupel_bounded *b) {
    const cupel_graph *graph = b->graph;
    for (int i = 0; i < graph->node_count; i++)
        b->plans[i].unwritten = graph->nodes[i].op == CUPEL_OP_VIEW || graph->nodes[i].op == CUPEL_OP_RESHAPE;
    for (int o = 0; o < graph->output_count; o++) b->plans[graph->outputs[o].node].unwritten = false;
    for (int i = graph->node_count - 1; i >= 0; i--) {
        const cupel_node *n = &graph->nodes[i];
        for (int k = 0; b->plans[i].needed && k < n->arg_count; k++)
            if (b->plans[n->args[k]].unwritten && !reads_in_place(b, i, k))
                b->plans[n->args[k]].unwritten = false;
    }
    for (int i = 0; i < graph->node_count; i++) { /* the reshaped view may be wanted by others as well */
        const cupel_node *n = &graph->nodes[i];
        if (n->op == CUPEL_OP_RESHAPE && graph->nodes[n->args[0]].op == CUPEL_OP_VIEW)
            b->plans[i].unwritten &= b->plans[n->args[0]].unwritten;
    }
}

/* The tensor of a view that is not written: its argument's, whose arrays it borrows. */
static void borrow(cupel_bounded *b, int node) {
    cupel_tensor *from = cupel_bounded_arg(b, node, 0), *t = &b->tensors[node];
    cupel_tensor_size(from);
    *t = *from;
    t->terms += (double)t->scan;
    t->scan = 0;
}

/* Integers that leave the type they are computed in. */
static cupel_code check_width(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const bool moves = families[n->op] == cupel_bounded_shape || families[n->op] == cupel_bounded_leaf;
    if (n->kind != CUPEL_VALUE_INT || moves) return CUPEL_OK;
    for (int64_t i = 0; i < t->count; i++) {
        const double r = cupel_radius_at(t, i);
        if (cupel_width_holds(n->width, t->value[i] - r, t->value[i] + r)) continue;
        if (t->reasons && t->reasons[i] != CUPEL_REASON_JUDGED) continue;
        CUPEL_TRY(cupel_tensor_need_reasons(b, t));
        t->reasons[i] = CUPEL_REASON_CONVENTION;
    }
    return CUPEL_OK;
}

static cupel_code evaluate(cupel_bounded *b, int node) {
    if (b->plans[node].unwritten) {
        borrow(b, node);
        return CUPEL_OK;
    }
    CUPEL_TRY(cupel_tensor_create(b, node));
    CUPEL_TRY(families[b->graph->nodes[node].op](b, node));
    return check_width(b, node);
}

/* Gives back one use of a node; a view that is not written gives back its argument with its own last use. */
static void release(cupel_bounded *b, int node) {
    while (--b->plans[node].consumers == 0) {
        if (!b->plans[node].unwritten) {
            cupel_tensor_free(b, &b->tensors[node]);
            return;
        }
        b->tensors[node] = (cupel_tensor){0};
        node = b->graph->nodes[node].args[0];
    }
}

/* The ends of plain elements, in fp64 rounded outward and clipped, and rounded to f32 when that is the
 * output. False where one may leave the output's range. */
CUPEL_WIDE static bool ends_of(const double *value, const double *radius, double floor, double ceiling,
                               double largest, bool single, double *restrict lo, double *restrict hi,
                               int64_t n) {
    uint64_t beyond = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double v = value[i], r = radius[i], outward = r > 0 ? (fabs(v) + r) * 0x1p-52 : 0;
        const double low = (v - r) - outward, high = (v + r) + outward;
        const double below = low > floor ? low : floor, above = high < ceiling ? high : ceiling;
        lo[i] = single ? (double)(float)below : below;
        hi[i] = single ? (double)(float)above : above;
        beyond |= !(fabs(v) + r < largest);
    }
    return beyond == 0;
}

/* Plain elements of a real output: both ends rounded to the type, as cupel_ball_permit does. False: by the
 * rules. */
static bool write_plain(const cupel_bounded *b, const cupel_tensor *t, cupel_allowed *out, int64_t begin,
                        int64_t n) {
    static const double none[CUPEL_BOUNDED_BLOCK];
    const double *value = t->value + begin, *radius = t->radius ? t->radius + begin : none;
    double *lo = out->lo + begin, *hi = out->hi + begin;
    const double largest = cupel_format_largest(out->type) * (1 - 0x1p-7);
    if (b->w.flush || out->type == CUPEL_TF32 ||
        !ends_of(value, radius, t->floor, t->ceiling, largest, out->type == CUPEL_F32, lo, hi, n))
        return false;
    if (out->value != t->value) memcpy(out->value + begin, value, (size_t)n * sizeof *value);
    if (out->radius != t->radius) memcpy(out->radius + begin, radius, (size_t)n * sizeof *radius);
    for (int64_t i = 0; out->type != CUPEL_F32 && i < n; i++) {
        lo[i] = cupel_round(out->type, lo[i]);
        hi[i] = radius[i] > 0 ? cupel_round(out->type, hi[i]) : lo[i];
    }
    memset(out->classes + begin, CUPEL_CLASS_FINITE, (size_t)n);
    memset(out->reasons + begin, CUPEL_REASON_JUDGED, (size_t)n);
    for (int64_t i = 0; t->direct && i < n; i++) {
        if (value[i] == 0 && radius[i] == 0) out->classes[begin + i] |= cupel_zero_sign_of(value[i]);
    }
    return true;
}

static void write_by_rules(const cupel_bounded *b, cupel_value_kind kind, const cupel_tensor *t,
                           cupel_allowed *out, int64_t begin, int64_t n) {
    for (int64_t i = begin; i < begin + n; i++) {
        cupel_ball ball = {.value = t->value[i],
                           .radius = cupel_radius_at(t, i),
                           .floor = t->floor,
                           .ceiling = t->ceiling,
                           .classes = t->classes ? t->classes[i] : CUPEL_CLASS_FINITE,
                           .reason = t->reasons ? t->reasons[i] : CUPEL_REASON_JUDGED};
        if (t->direct && ball.value == 0 && ball.radius == 0) ball.classes |= cupel_zero_sign_of(ball.value);
        const cupel_permitted permitted = cupel_ball_permit(&b->w, out->type, kind, &ball);
        cupel_allowed_set(out, i, ball.value, &permitted);
    }
}

/* Values and radii that nothing else reads become the output's own. */
static cupel_code write_output(cupel_bounded *b, int o, cupel_allowed *out) {
    const cupel_graph_output *output = &b->graph->outputs[o];
    cupel_tensor *t = &b->tensors[output->node];
    const cupel_value_kind kind = b->graph->nodes[output->node].kind;
    const bool real = kind == CUPEL_VALUE_REAL && cupel_format_of(output->type)->kind == CUPEL_KIND_REAL;
    const bool last_use = b->plans[output->node].consumers == 1;
    cupel_allowed_describe(output, out);
    if (last_use) out->value = t->value, out->radius = t->radius;
    CUPEL_TRY(cupel_tensor_take_output(b, out));
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t n = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count - begin : CUPEL_BOUNDED_BLOCK;
        if (!real || !cupel_tensor_is_plain(t, begin, n) || !write_plain(b, t, out, begin, n))
            write_by_rules(b, kind, t, out, begin, n);
    }
    cupel_allowed_count(out);
    if (last_use) t->value = t->radius = NULL;
    return CUPEL_OK;
}

static cupel_code run(cupel_bounded *b, cupel_allowed *outputs) {
    plan_sums(b);
    plan_consumers(b);
    plan_views(b);
    for (int i = 0; i < b->graph->node_count; i++) {
        if (!b->plans[i].needed) continue;
        CUPEL_TRY(evaluate(b, i));
        for (int k = 0; k < b->graph->nodes[i].arg_count && !b->plans[i].unwritten; k++)
            release(b, b->graph->nodes[i].args[k]);
        for (int o = 0; o < b->graph->output_count; o++) {
            if (b->graph->outputs[o].node != i) continue;
            CUPEL_TRY(write_output(b, o, &outputs[o]));
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
    cupel_bounded b = {
        .graph = graph, .bindings = bindings, .w = cupel_working_of(rules), .arena = arena, .err = err};
    b.tensors = calloc(n, sizeof *b.tensors);
    b.plans = calloc(n, sizeof *b.plans);
    cupel_code code = b.tensors && b.plans
                          ? run(&b, outputs)
                          : cupel_fail(err, CUPEL_MEMORY, "no memory for %d nodes", graph->node_count);
    free(b.tensors);
    free(b.plans);
    return code;
}
