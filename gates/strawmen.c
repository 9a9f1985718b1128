/* Vacuity: what kernels that compute nothing would get away with. A gate whose every case accepts one of them
 * has shown nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judging.h"

static bool is_real(cupel_dtype type) {
    return cupel_format_of(type)->kind == CUPEL_KIND_REAL;
}

static cupel_strawman_element read_element(cupel_dtype type, const void *bytes) {
    if (is_real(type)) {
        const double x = cupel_decode(type, bytes);
        return (cupel_strawman_element){x, fabs(x) < 0x1p63 ? (int64_t)x : 0};
    }
    const int64_t n = cupel_decode_int(type, bytes);
    return (cupel_strawman_element){(double)n, n};
}

static void write_element(cupel_dtype type, cupel_strawman_element element, unsigned char bytes[8]) {
    memset(bytes, 0, 8);
    if (cupel_dtype_is_wide(type))
        memcpy(bytes, &element.whole, sizeof element.whole);
    else if (type == CUPEL_BOOL)
        bytes[0] = element.real != 0;
    else
        cupel_encode(type, element.real, bytes);
}

/* ---- one strawman and one case ---- */

/* The output that a kernel would have left. A permuted case mostly follows its original, whose output is
 * right there too: what counts is the one before that. */
static const cupel_strawman_output *previous_output(const cupel_judging *j, int tensor) {
    const bool permuted = j->evidence->traits & CUPEL_TRAIT_PERMUTED;
    return &j->scoreboard->strawmen.previous[tensor][permuted ? 1 : 0];
}

static cupel_strawman_element element_of(const cupel_judging *j, int strawman, const cupel_output_view *view,
                                         int64_t i) {
    const cupel_strawmen *all = &j->scoreboard->strawmen;
    const int tensor = view->tensor;
    if (strawman == CUPEL_STRAWMAN_CONSTANT) return all->constant[tensor];
    if (strawman == CUPEL_STRAWMAN_PREVIOUS) {
        const cupel_strawman_output *previous = previous_output(j, tensor);
        return previous->elements[i % previous->kept];
    }
    if (strawman < CUPEL_STRAWMAN_COPY) return (cupel_strawman_element){0, 0};
    const cupel_case_tensor *from = &j->evidence->c->tensors[strawman - CUPEL_STRAWMAN_COPY];
    const size_t size = cupel_format_of(from->type)->size;
    return read_element(from->type, (const char *)from->values + (size_t)(i % from->count) * size);
}

/* Is there such a strawman for this case? Inputs may be empty, and nothing comes before the first case. */
static bool is_there(const cupel_judging *j, int strawman) {
    const cupel_case *c = j->evidence->c;
    if (strawman >= CUPEL_STRAWMAN_COPY) {
        const int t = strawman - CUPEL_STRAWMAN_COPY;
        return t < c->tensor_count && (c->contract->tensors[t].roles & CUPEL_ROLE_INPUT) &&
               c->tensors[t].values && c->tensors[t].count > 0;
    }
    for (int v = 0; strawman != CUPEL_STRAWMAN_ZERO && v < j->view_count; v++) {
        const int tensor = j->views[v].tensor;
        if (strawman == CUPEL_STRAWMAN_CONSTANT && !j->scoreboard->strawmen.known[tensor]) return false;
        if (strawman == CUPEL_STRAWMAN_PREVIOUS && previous_output(j, tensor)->kept == 0) return false;
    }
    return true;
}

static bool is_rejected(const cupel_judging *j, int strawman) {
    for (int v = 0; v < j->view_count; v++) {
        const cupel_output_view *view = &j->views[v];
        for (int64_t i = 0; view->allowed && i < view->count; i++) {
            unsigned char bytes[8];
            if (view->allowed->reasons[i] != CUPEL_REASON_JUDGED || (view->allowed->classes[i] & CUPEL_KEEP))
                continue;
            write_element(view->output->type, element_of(j, strawman, view, i), bytes);
            if (cupel_judge_element(view->allowed, i, bytes) > CUPEL_NOT_JUDGED) return true;
        }
    }
    return false;
}

/* ---- what comes of a case ---- */

/* The middle of the first output is the constant of all cases; the last output is the one before the next. */
static void remember(cupel_judging *j) {
    cupel_strawmen *all = &j->scoreboard->strawmen;
    for (int v = 0; v < j->view_count; v++) {
        const cupel_output_view *view = &j->views[v];
        const unsigned char *after = view->after[0];
        if (!after || view->count == 0) continue;
        const int tensor = view->tensor;
        if (!all->known[tensor])
            all->constant[tensor] =
                read_element(view->output->type, after + (size_t)(view->count / 2) * view->size);
        all->known[tensor] = true;
        if (j->evidence->traits & CUPEL_TRAIT_PERMUTED) continue;
        cupel_strawman_output *last = all->previous[tensor];
        last[1] = last[0];
        last->kept = view->count < CUPEL_STRAWMAN_KEPT ? (int)view->count : CUPEL_STRAWMAN_KEPT;
        for (int i = 0; i < last->kept; i++)
            last->elements[i] = read_element(view->output->type, after + (size_t)i * view->size);
    }
}

void cupel_strawmen_try(cupel_judging *j, unsigned gates) {
    cupel_strawmen *all = &j->scoreboard->strawmen;
    for (int s = 0; gates && s < CUPEL_STRAWMAN_COUNT; s++) {
        const uint32_t bit = 1u << s;
        bool open = false;
        for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++)
            open = open || ((gates >> gate & 1) && !(all->rejected[gate] & bit));
        if (!open || !is_there(j, s)) continue;
        const bool rejected = is_rejected(j, s);
        for (int gate = 0; gate < CUPEL_GATE_COUNT; gate++) {
            if (!(gates >> gate & 1)) continue;
            all->tried[gate] |= bit;
            if (rejected) all->rejected[gate] |= bit;
        }
    }
    if (gates && !j->evidence->blocks_left_out) remember(j);
}

/* ---- what comes of a check ---- */

/* The input that a node shows as it is; -1. */
static int copied_input(const cupel_graph *graph, int node) {
    for (;;) {
        const cupel_node *n = &graph->nodes[node];
        if (n->op == CUPEL_OP_INPUT) return n->input;
        if (n->arg_count != 1 ||
            (n->op != CUPEL_OP_RESHAPE && n->op != CUPEL_OP_CAST && n->op != CUPEL_OP_TOREAL))
            return -1;
        node = n->args[0];
    }
}

static bool depends_on_inputs(const cupel_graph *graph) {
    bool *reads = calloc((size_t)graph->node_count + 1, sizeof *reads), any = false;
    for (int i = 0; reads && i < graph->node_count; i++) {
        reads[i] = graph->nodes[i].op == CUPEL_OP_INPUT;
        for (int k = 0; k < graph->nodes[i].arg_count; k++)
            reads[i] = reads[i] || reads[graph->nodes[i].args[k]];
    }
    for (int o = 0; reads && o < graph->output_count; o++) any = any || reads[graph->outputs[o].node];
    free(reads);
    return any;
}

/* Strawmen that do what the contract asks for: where it speaks of no input, any that it accepts; where it
 * asks for a copy, the copy. */
static uint32_t legitimate(const cupel_contract *contract) {
    uint32_t skipped = 0;
    cupel_rules rules;
    cupel_arena *arena = cupel_arena_create(0);
    const cupel_graph *graph = arena ? cupel_claimed_graph(contract, arena, &rules) : NULL;
    if (graph && !depends_on_inputs(graph)) skipped = ~0u;
    for (int t = 0, input = 0; graph && t < contract->tensor_count; t++) {
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        bool copy = true;
        for (int o = 0; o < graph->output_count; o++)
            copy = copy && copied_input(graph, graph->outputs[o].node) == input;
        if (copy) skipped |= 1u << (CUPEL_STRAWMAN_COPY + t);
        input++;
    }
    cupel_arena_free(arena);
    return skipped;
}

bool cupel_gate_is_vacuous(const cupel_contract *contract, const cupel_scoreboard *scoreboard,
                           cupel_gate gate, const char **why) {
    static const char *const reasons[] = {
        [CUPEL_STRAWMAN_ZERO] = "vacuous: every case of it accepts a kernel that writes zeros",
        [CUPEL_STRAWMAN_CONSTANT] = "vacuous: every case of it accepts a kernel that writes one constant",
        [CUPEL_STRAWMAN_PREVIOUS] = "vacuous: every case of it accepts the output of the case before",
        [CUPEL_STRAWMAN_COPY] = "vacuous: every case of it accepts a copy of an input"};
    uint32_t accepted = scoreboard->strawmen.tried[gate] & ~scoreboard->strawmen.rejected[gate];
    if (accepted) accepted &= ~legitimate(contract);
    if (!accepted) return false;
    const int first = __builtin_ctz(accepted);
    *why = reasons[first < CUPEL_STRAWMAN_COPY ? first : CUPEL_STRAWMAN_COPY];
    return true;
}
