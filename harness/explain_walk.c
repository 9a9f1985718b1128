#include "explain_walk.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wording.h"

enum {
    STEPS_MAX = 80,
    TERMS_MAX = 1 << 14, /* terms of one reduction that are looked at one by one */
    SHOWN_TERMS = 3,
    OPERAND_SIZE = 96
};

typedef struct step {
    int node;
    int64_t index;
} step;

typedef struct walk {
    const cupel_trial *trial;
    const cupel_graph *graph; /* every node is an output of its own, output n being node n */
    cupel_exact_session *session;
    const void *data[CUPEL_TENSOR_MAX]; /* of the inputs */
    cupel_bindings bindings;
    cupel_rules rules;
    FILE *out;
    int count, begun; /* lines printed; elements whose lines are still to come */
    step steps[STEPS_MAX];
    bool full;
    cupel_error *err;
} walk;

static cupel_code visit(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]);

static cupel_code exact_at(walk *w, int node, int64_t index, cupel_exact_element *out) {
    return cupel_exact_element_of(w->session, node, index, out, w->err);
}

/* ---- from an element of a node to the element that it is a copy of ---- */

static void position_of(const cupel_node *n, int64_t index, int64_t position[CUPEL_RANK_MAX]) {
    for (int axis = n->rank - 1; axis >= 0; axis--) {
        position[axis] = index % n->shape[axis];
        index /= n->shape[axis];
    }
}

static int64_t index_of(const cupel_node *n, const int64_t position[CUPEL_RANK_MAX]) {
    int64_t index = 0;
    for (int axis = 0; axis < n->rank; axis++) index = index * n->shape[axis] + position[axis];
    return index;
}

/* One step back through an operation that only moves elements; false where there is none. */
static bool step_back(const walk *w, int *node, int64_t *index) {
    const cupel_node *n = &w->graph->nodes[*node];
    int64_t position[CUPEL_RANK_MAX], at;
    position_of(n, *index, position);
    switch (n->op) {
    case CUPEL_OP_VIEW:
        at = n->offset;
        for (int axis = 0; axis < n->rank; axis++) at += position[axis] * n->stride[axis];
        *index = at;
        break;
    case CUPEL_OP_RESHAPE:
    case CUPEL_OP_EXCLUDE:
    case CUPEL_OP_LOOSEN:
    case CUPEL_OP_TOREAL: break;
    case CUPEL_OP_CONCAT: {
        int k = 0;
        while (position[n->axis] >= w->graph->nodes[n->args[k]].shape[n->axis])
            position[n->axis] -= w->graph->nodes[n->args[k++]].shape[n->axis];
        *node = n->args[k];
        *index = index_of(&w->graph->nodes[*node], position);
        return true;
    }
    case CUPEL_OP_PAD: {
        const cupel_node *inner = &w->graph->nodes[n->args[0]];
        for (int axis = 0; axis < n->rank; axis++) {
            position[axis] -= n->before[axis];
            if (position[axis] < 0 || position[axis] >= inner->shape[axis]) return false;
        }
        *index = index_of(inner, position);
        break;
    }
    default: return false;
    }
    *node = n->args[0];
    return true;
}

static void resolve(const walk *w, int *node, int64_t *index) {
    while (step_back(w, node, index)) continue;
}

/* ---- lines ---- */

static const char *infix(cupel_op op) {
    switch (op) {
    case CUPEL_OP_ADD: return "+";
    case CUPEL_OP_SUB: return "-";
    case CUPEL_OP_MUL: return "*";
    case CUPEL_OP_DIV: return "/";
    case CUPEL_OP_LT: return "<";
    case CUPEL_OP_LE: return "<=";
    case CUPEL_OP_EQ: return "==";
    case CUPEL_OP_NE: return "!=";
    case CUPEL_OP_AND: return "and";
    case CUPEL_OP_OR: return "or";
    default: return NULL;
    }
}

static void number_text(double value, char *text, size_t size) {
    if (isnan(value) || isinf(value))
        snprintf(text, size, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    else
        snprintf(text, size, "%.12g", value);
}

/* "[3] exp([2])    0.2425   +- 1.2e-08", and what an element is not judged for. */
static cupel_code line(walk *w, int node, int64_t index, const char *text, char operand[OPERAND_SIZE]) {
    cupel_exact_element exact = {0};
    char value[40];
    CUPEL_TRY(exact_at(w, node, index, &exact));
    w->steps[w->count] = (step){node, index};
    snprintf(operand, OPERAND_SIZE, "[%d]", ++w->count);
    number_text(exact.value, value, sizeof value);
    fprintf(w->out, "  %-5s %-44s %20s", operand, text, value);
    if (w->graph->nodes[node].kind == CUPEL_VALUE_REAL && exact.radius > 0)
        fprintf(w->out, "  +- %.3g", exact.radius);
    if (exact.reason != CUPEL_REASON_JUDGED) fprintf(w->out, "  (%s)", cupel_reason_text(exact.reason));
    fprintf(w->out, "\n");
    return CUPEL_OK;
}

/* ---- one node ---- */

static void input_name(const walk *w, const cupel_node *n, int64_t index, char *text, size_t size) {
    const cupel_contract *contract = w->trial->c->contract;
    int input = 0;
    for (int t = 0; t < contract->tensor_count; t++)
        if ((contract->tensors[t].roles & CUPEL_ROLE_INPUT) && input++ == n->input)
            cupel_word_index(contract->tensors[t].name, n->rank, n->shape, index, text, size);
}

static bool constant_text(const cupel_node *n, char *text, size_t size) {
    if (n->op != CUPEL_OP_CONSTANT) return false;
    if (n->kind != CUPEL_VALUE_REAL)
        snprintf(text, size, "%" PRId64, n->integer);
    else if (n->digits)
        snprintf(text, size, "%s", n->digits);
    else
        number_text(n->number, text, size);
    return true;
}

/* The terms of a reduction or a scan: count elements of its argument from first on. */
typedef struct terms {
    int node;
    int64_t first, count;
} terms;

static terms terms_of(const walk *w, const cupel_node *n, int64_t index) {
    const cupel_node *argument = &w->graph->nodes[n->args[0]];
    int64_t length = argument->rank > 0 ? argument->shape[argument->rank - 1] : 1;
    bool scan = n->op == CUPEL_OP_CUMSUM || n->op == CUPEL_OP_CUMPROD || n->op == CUPEL_OP_CUMMAX ||
                n->op == CUPEL_OP_CUMMIN;
    if (scan) return (terms){n->args[0], index / length * length, index % length + 1};
    return (terms){n->args[0], index * length, length};
}

/* Which term matters more to the reader: NaN and infinities first, then what is larger (for a minimum:
 * smaller). */
static double weight(cupel_op op, double value) {
    if (isnan(value)) return INFINITY;
    if (isinf(value)) value = copysign(DBL_MAX, value);
    if (op == CUPEL_OP_AMAX || op == CUPEL_OP_ARGMAX || op == CUPEL_OP_CUMMAX) return value;
    if (op == CUPEL_OP_AMIN || op == CUPEL_OP_ARGMIN || op == CUPEL_OP_CUMMIN) return -value;
    return fabs(value);
}

/* Numbers (within the terms) and values of the terms that matter most, in that order. */
static cupel_code most_important(walk *w, cupel_op op, const terms *t, int64_t at[SHOWN_TERMS],
                                 double values[SHOWN_TERMS], int *shown) {
    *shown = 0;
    for (int64_t k = 0; k < t->count && k < TERMS_MAX; k++) {
        cupel_exact_element exact = {0};
        CUPEL_TRY(exact_at(w, t->node, t->first + k, &exact));
        int place = *shown;
        while (place > 0 && weight(op, exact.value) > weight(op, values[place - 1])) place--;
        if (place == SHOWN_TERMS) continue;
        if (*shown < SHOWN_TERMS) ++*shown;
        for (int i = *shown - 1; i > place; i--) at[i] = at[i - 1], values[i] = values[i - 1];
        at[place] = k;
        values[place] = exact.value;
    }
    return CUPEL_OK;
}

static cupel_code reduction(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    const cupel_node *n = &w->graph->nodes[node];
    terms t = terms_of(w, n, index);
    int64_t at[SHOWN_TERMS];
    double values[SHOWN_TERMS];
    int shown;
    char text[160], inner[OPERAND_SIZE] = "";
    CUPEL_TRY(most_important(w, n->op, &t, at, values, &shown));
    if (shown > 0) CUPEL_TRY(visit(w, t.node, t.first + at[0], inner));
    snprintf(text, sizeof text, "%s of %" PRId64 " terms%s%s", cupel_op_name(n->op), t.count,
             shown > 0 ? ", one is " : "", inner);
    CUPEL_TRY(line(w, node, index, text, operand));
    if (shown < 2) return CUPEL_OK;
    fprintf(w->out, "        terms");
    for (int i = 0; i < shown; i++) {
        number_text(values[i], text, sizeof text);
        fprintf(w->out, "%s #%" PRId64 ": %s", i ? "," : "", at[i], text);
    }
    fprintf(w->out,
            t.count > TERMS_MAX ? ", .. (of the first %d)\n"
            : t.count > shown   ? ", ..\n"
                                : "\n",
            TERMS_MAX);
    return CUPEL_OK;
}

/* [batch.., M, K] x [batch.., K, N]: the largest product of the row and the column. */
static cupel_code product(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    const cupel_node *n = &w->graph->nodes[node], *a = &w->graph->nodes[n->args[0]];
    int64_t columns = n->shape[n->rank - 1], rows = n->shape[n->rank - 2], k_count = a->shape[a->rank - 1];
    int64_t column = index % columns, row = index / columns % rows, batch = index / columns / rows, best = 0;
    double largest = -1;
    char text[256], left[OPERAND_SIZE] = "", right[OPERAND_SIZE] = "";
    for (int64_t k = 0; k < k_count && k < TERMS_MAX; k++) {
        cupel_exact_element x = {0}, y = {0};
        CUPEL_TRY(exact_at(w, n->args[0], (batch * rows + row) * k_count + k, &x));
        CUPEL_TRY(exact_at(w, n->args[1], (batch * k_count + k) * columns + column, &y));
        if (weight(n->op, x.value * y.value) <= largest) continue;
        largest = weight(n->op, x.value * y.value);
        best = k;
    }
    if (k_count > 0) {
        CUPEL_TRY(visit(w, n->args[0], (batch * rows + row) * k_count + best, left));
        CUPEL_TRY(visit(w, n->args[1], (batch * k_count + best) * columns + column, right));
    }
    snprintf(text, sizeof text, "matmul: sum of %" PRId64 " products, one is %s * %s", k_count, left, right);
    return line(w, node, index, text, operand);
}

static cupel_code choice(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    const cupel_node *n = &w->graph->nodes[node];
    cupel_exact_element condition = {0};
    char first[OPERAND_SIZE] = "", second[OPERAND_SIZE] = "", text[256];
    CUPEL_TRY(exact_at(w, n->args[0], index, &condition));
    CUPEL_TRY(visit(w, n->args[0], index, first));
    CUPEL_TRY(visit(w, n->args[condition.value != 0 ? 1 : 2], index, second));
    snprintf(text, sizeof text, "where %s: %s", first, second);
    return line(w, node, index, text, operand);
}

static cupel_code gathered(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    const cupel_node *n = &w->graph->nodes[node], *source = &w->graph->nodes[n->args[0]];
    cupel_exact_element which = {0};
    int64_t position[CUPEL_RANK_MAX];
    char first[OPERAND_SIZE] = "", second[OPERAND_SIZE] = "", text[256];
    CUPEL_TRY(exact_at(w, n->args[1], index, &which));
    CUPEL_TRY(visit(w, n->args[1], index, second));
    position_of(n, index, position);
    position[n->axis] = (int64_t)which.value;
    if (which.value >= 0 && which.value < (double)source->shape[n->axis])
        CUPEL_TRY(visit(w, n->args[0], index_of(source, position), first));
    snprintf(text, sizeof text, "gather %s at %s", first, second);
    return line(w, node, index, text, operand);
}

/* Elementwise, and leaves. */
static cupel_code plain(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    const cupel_node *n = &w->graph->nodes[node];
    char arguments[2][OPERAND_SIZE] = {"", ""}, text[256];
    for (int k = 0; k < n->arg_count && k < 2 && n->op != CUPEL_OP_PAD; k++)
        CUPEL_TRY(visit(w, n->args[k], index, arguments[k]));
    if (n->op == CUPEL_OP_INPUT)
        input_name(w, n, index, text, sizeof text);
    else if (infix(n->op))
        snprintf(text, sizeof text, "%s %s %s", arguments[0], infix(n->op), arguments[1]);
    else if (n->op == CUPEL_OP_CAST)
        snprintf(text, sizeof text, "%s as %s", arguments[0], cupel_format_of(n->type)->name);
    else if (n->arg_count == 0 || n->op == CUPEL_OP_PAD)
        snprintf(text, sizeof text, "%s", n->op == CUPEL_OP_PAD ? "padding" : cupel_op_name(n->op));
    else
        snprintf(text, sizeof text, "%s(%s%s%s)", cupel_op_name(n->op), arguments[0],
                 n->arg_count > 1 ? ", " : "", arguments[1]);
    return line(w, node, index, text, operand);
}

/* By what the node does. */
static cupel_code write_node(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    switch (w->graph->nodes[node].op) {
    case CUPEL_OP_SUM:
    case CUPEL_OP_PROD:
    case CUPEL_OP_AMAX:
    case CUPEL_OP_AMIN:
    case CUPEL_OP_ARGMAX:
    case CUPEL_OP_ARGMIN:
    case CUPEL_OP_CUMSUM:
    case CUPEL_OP_CUMPROD:
    case CUPEL_OP_CUMMAX:
    case CUPEL_OP_CUMMIN: return reduction(w, node, index, operand);
    case CUPEL_OP_MATMUL: return product(w, node, index, operand);
    case CUPEL_OP_WHERE: return choice(w, node, index, operand);
    case CUPEL_OP_GATHER: return gathered(w, node, index, operand);
    default: return plain(w, node, index, operand);
    }
}

/* Visits what an element is made of, then the element; operand is how later lines call it. */
static cupel_code visit(walk *w, int node, int64_t index, char operand[OPERAND_SIZE]) {
    resolve(w, &node, &index);
    const cupel_node *n = &w->graph->nodes[node];
    if (constant_text(n, operand, OPERAND_SIZE)) return CUPEL_OK;
    for (int i = 0; i < w->count; i++)
        if (w->steps[i].node == node && w->steps[i].index == index) {
            snprintf(operand, OPERAND_SIZE, "[%d]", i + 1);
            return CUPEL_OK;
        }
    snprintf(operand, OPERAND_SIZE, "..");
    w->full = w->full || w->count + w->begun >= STEPS_MAX;
    if (w->full) return CUPEL_OK;
    w->begun++;
    cupel_code code = write_node(w, node, index, operand);
    w->begun--;
    return code;
}

/* ---- the whole ---- */

/* The graph with each node as an output, so that the exact evaluator can be asked for it. */
static cupel_graph_output *all_outputs(const cupel_graph *graph) {
    cupel_graph_output *outputs = calloc((size_t)graph->node_count + 1, sizeof *outputs);
    for (int i = 0; outputs && i < graph->node_count; i++) {
        const cupel_node *n = &graph->nodes[i];
        outputs[i] = (cupel_graph_output){.name = cupel_op_name(n->op),
                                          .node = i,
                                          .type = n->kind == CUPEL_VALUE_REAL ? CUPEL_F64 : CUPEL_I64,
                                          .rank = n->rank,
                                          .count = n->count};
        memcpy(outputs[i].shape, n->shape, sizeof n->shape);
    }
    return outputs;
}

static cupel_code open_session(walk *w) {
    const cupel_case *c = w->trial->c;
    for (int t = 0; t < c->tensor_count; t++)
        if (c->contract->tensors[t].roles & CUPEL_ROLE_INPUT)
            w->data[w->bindings.count++] = c->tensors[t].values;
    w->bindings.data = w->data;
    w->rules = cupel_binding_rules(&c->binding);
    return cupel_exact_open(w->graph, &w->bindings, &w->rules, &w->session, w->err);
}

cupel_code cupel_explain_walk(const cupel_trial *trial, int output, int64_t index, FILE *out,
                              cupel_error *err) {
    cupel_graph graph = *trial->graph;
    char operand[OPERAND_SIZE];
    walk w = {.trial = trial, .graph = &graph, .out = out, .err = err};
    graph.outputs = all_outputs(trial->graph);
    graph.output_count = graph.node_count;
    if (!graph.outputs) return cupel_fail(err, CUPEL_MEMORY, "no memory for an explanation");
    cupel_code code = open_session(&w);
    if (code == CUPEL_OK) code = visit(&w, trial->graph->outputs[output].node, index, operand);
    if (code == CUPEL_OK && w.count == 0) fprintf(out, "  the constant %s\n", operand);
    if (code == CUPEL_OK && w.full)
        fprintf(out, "  (.. stands for what would go beyond %d lines)\n", STEPS_MAX);
    cupel_exact_close(w.session);
    free(graph.outputs);
    return code;
}
