/* Leaves, and moves of elements: what is moved are eight bytes, whatever they hold. */
#include <stdlib.h>
#include <string.h>

#include "shadow_impl.h"

enum { CELL = 8 }; /* double or int64_t */

static void copy(void *to, int64_t at, const void *from, int64_t index) {
    memcpy((char *)to + at * CELL, (const char *)from + index * CELL, CELL);
}

/* ---- leaves ---- */

/* An input as the working precision holds it. Only what is computed with is flushed; as a fault, everything.
 */
static double loaded(cupel_shadow *s, double x) {
    const bool holds = cupel_working_holds(&s->w, x) && !s->plan.noise;
    return holds && s->plan.fault != CUPEL_SHADOW_FLUSHED ? x : cupel_shadow_round(s, x);
}

static void input(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node];
    const char *data = s->bindings->data[n->input];
    const size_t size = cupel_format_of(n->type)->size;
    for (int64_t i = 0; i < t->count; i++) {
        const char *element = data + (size_t)i * size;
        if (n->kind == CUPEL_VALUE_INT)
            t->n[i] = cupel_decode_int(n->type, element);
        else if (n->kind == CUPEL_VALUE_BOOL)
            t->x[i] = cupel_decode_int(n->type, element) != 0;
        else
            t->x[i] = loaded(s, cupel_decode(n->type, element));
    }
}

cupel_code cupel_shadow_leaf(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    const cupel_shadow_tensor *t = &s->tensors[node];
    if (n->op == CUPEL_OP_INPUT) {
        input(s, node);
        return CUPEL_OK;
    }
    if (n->op == CUPEL_OP_KEEP) return CUPEL_OK; /* zeros; callers look at the allowed set */
    for (int64_t i = 0; i < t->count; i++) {
        if (n->op == CUPEL_OP_PHILOX)
            t->n[i] = cupel_philox_word(n->integer, i);
        else if (n->kind == CUPEL_VALUE_INT)
            t->n[i] = n->integer + (n->op == CUPEL_OP_IOTA ? i * n->step : 0);
        else
            t->x[i] = n->kind == CUPEL_VALUE_BOOL ? (double)n->integer : cupel_shadow_round(s, n->number);
    }
    return CUPEL_OK;
}

/* ---- moves ---- */

static void view(const cupel_node *n, const void *from, void *to) {
    int64_t index[CUPEL_RANK_MAX] = {0}, source = n->offset;
    for (int64_t i = 0; i < n->count; i++) {
        copy(to, i, from, source);
        for (int d = n->rank - 1; d >= 0; d--) {
            source += n->stride[d];
            if (++index[d] < n->shape[d]) break;
            source -= n->stride[d] * n->shape[d];
            index[d] = 0;
        }
    }
}

cupel_code cupel_shadow_moved(cupel_shadow *s, int node, int stop, const void *source, void **out) {
    const cupel_node *n = &s->graph->nodes[node];
    void *to = malloc(((size_t)n->count + 1) * CELL), *inner = NULL;
    if (!to) return cupel_fail(s->err, CUPEL_MEMORY, "no memory for %lld elements", (long long)n->count);
    *out = to;
    if (node == stop) {
        memcpy(to, source, (size_t)n->count * CELL);
        return CUPEL_OK;
    }
    const cupel_code code = cupel_shadow_moved(s, n->args[0], stop, source, &inner);
    if (code == CUPEL_OK && n->op == CUPEL_OP_VIEW) view(n, inner, to);
    if (code == CUPEL_OK && n->op == CUPEL_OP_RESHAPE) memcpy(to, inner, (size_t)n->count * CELL);
    free(inner);
    if (code != CUPEL_OK) {
        free(to);
        *out = NULL;
    }
    return code;
}

static void concat(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    int64_t outer = 1, inner = 1, at = 0;
    for (int d = 0; d < n->axis; d++) outer *= n->shape[d];
    for (int d = n->axis + 1; d < n->rank; d++) inner *= n->shape[d];
    const int64_t row = n->shape[n->axis] * inner;
    for (int k = 0; k < n->arg_count; k++) {
        const int64_t part = s->graph->nodes[n->args[k]].shape[n->axis] * inner;
        for (int64_t o = 0; o < outer; o++)
            memcpy((char *)s->tensors[node].data + (o * row + at) * CELL,
                   (const char *)cupel_shadow_arg(s, node, k)->data + o * part * CELL, (size_t)part * CELL);
        at += part;
    }
}

static void pad(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node], *from = &s->graph->nodes[n->args[0]];
    const cupel_shadow_tensor *t = &s->tensors[node];
    for (int64_t i = 0; i < t->count; i++) {
        int64_t rest = i, source = 0, stride = 1;
        bool inside = true;
        for (int d = n->rank - 1; d >= 0; d--) {
            const int64_t at = rest % n->shape[d] - n->before[d];
            rest /= n->shape[d];
            inside = inside && at >= 0 && at < from->shape[d];
            source += at * stride;
            stride *= from->shape[d];
        }
        if (inside)
            copy(t->data, i, cupel_shadow_arg(s, node, 0)->data, source);
        else if (n->kind == CUPEL_VALUE_INT)
            t->n[i] = (int64_t)n->number;
        else
            t->x[i] = cupel_shadow_round(s, n->number);
    }
}

/* torch.gather; an index outside leaves a zero, which is not judged. */
static void gather(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node], *from = &s->graph->nodes[n->args[0]];
    const cupel_shadow_tensor *t = &s->tensors[node];
    const int64_t *chosen = cupel_shadow_arg(s, node, 1)->n;
    for (int64_t i = 0; i < t->count; i++) {
        int64_t rest = i, source = 0, stride = 1;
        for (int d = n->rank - 1; d >= 0; d--) {
            source += (d == n->axis ? chosen[i] : rest % n->shape[d]) * stride;
            rest /= n->shape[d];
            stride *= from->shape[d];
        }
        if (chosen[i] >= 0 && chosen[i] < from->shape[n->axis])
            copy(t->data, i, cupel_shadow_arg(s, node, 0)->data, source);
    }
}

cupel_code cupel_shadow_shape(cupel_shadow *s, int node) {
    const cupel_node *n = &s->graph->nodes[node];
    void *to = s->tensors[node].data;
    switch (n->op) {
    case CUPEL_OP_VIEW: view(n, cupel_shadow_arg(s, node, 0)->data, to); break;
    case CUPEL_OP_CONCAT: concat(s, node); break;
    case CUPEL_OP_PAD: pad(s, node); break;
    case CUPEL_OP_GATHER: gather(s, node); break;
    default: memcpy(to, cupel_shadow_arg(s, node, 0)->data, (size_t)n->count * CELL); break;
    }
    return CUPEL_OK;
}
