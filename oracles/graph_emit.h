/* Making nodes: equal nodes are made once, kinds and shapes are brought together. Private to the graph's
 * builder and composers.
 *
 * Errors are sticky: the first one is kept in the builder, and from then on every emitter returns -1 and does
 * nothing. So a composer can be written as the formula it stands for, and its caller checks once. */
#ifndef CUPEL_GRAPH_EMIT_H
#define CUPEL_GRAPH_EMIT_H

#include "graph.h"

/* Composites whose derivative PyTorch writes in closed form, or whose value at a kink it fixes: composers say
 * so of the node they made (cupel_emit_composite), and gradient_composite.c has the forms. PLAIN: the
 * primitive's own rule. args of each form: there. */
typedef enum cupel_form {
    CUPEL_FORM_PLAIN,
    CUPEL_FORM_SIGMOID,
    CUPEL_FORM_SILU,
    CUPEL_FORM_GELU,
    CUPEL_FORM_GELU_TANH,
    CUPEL_FORM_SOFTPLUS,
    CUPEL_FORM_LOGSIGMOID,
    CUPEL_FORM_MISH,
    CUPEL_FORM_ELU,
    CUPEL_FORM_LEAKY_RELU,
    CUPEL_FORM_RELU,
    CUPEL_FORM_CLAMP_MIN,
    CUPEL_FORM_CLAMP_MAX,
    CUPEL_FORM_HARDTANH,
    CUPEL_FORM_HARDSIGMOID,
    CUPEL_FORM_HARDSWISH,
    CUPEL_FORM_BCE,
    CUPEL_FORM_SOFTMAX,
    CUPEL_FORM_LOG_SOFTMAX,
    CUPEL_FORM_LOGSUMEXP,
    CUPEL_FORM_NORMALISED,
    CUPEL_FORM_RMS_NORMALISED,
    CUPEL_FORM_L2_NORMALISED,
    CUPEL_FORM_VARIANCE,
    CUPEL_FORM_ROOT,
    CUPEL_FORM_NORM,
    CUPEL_FORM_IDENTITY,
    CUPEL_FORM_BCE_WITH_LOGITS,
    CUPEL_FORM_FIRST_MAXIMUM,
    CUPEL_FORM_ATTENTION,
    CUPEL_FORM_CONVOLUTION,
    CUPEL_FORM_LOGCUMSUMEXP
} cupel_form;

enum { CUPEL_COMPOSITE_ARGS = 4 };

typedef struct cupel_composite {
    int node;
    cupel_form form;
    int args[CUPEL_COMPOSITE_ARGS];
    unsigned axes; /* that it reduces over, of args[0] */
    double number; /* VARIANCE: its divisor; NORM: its order; ATTENTION: 1 where rows without keys are 0 */
    const void *detail; /* CONVOLUTION: what compose_conv.c knows of it */
} cupel_composite;

typedef struct cupel_builder {
    const cupel_symbols *symbols;
    cupel_arena *arena;
    cupel_error *err;
    cupel_code code; /* of the first error */
    cupel_node *nodes;
    int count, capacity;
    int *slots; /* hash table of nodes, -1: free */
    int slot_count;
    cupel_span place;            /* of the expression that is being built */
    int statistic;               /* > 0 while a mean, variance or norm is being composed */
    int depth;                   /* of nested expressions and defines */
    cupel_composite *composites; /* in the order in which they were made: gradients ask for them */
    int composite_count, composite_capacity;
    int *define_states; /* per define: not built, being built, built */
    struct cupel_operand *define_values;
} cupel_builder;

/* Records an error (the first wins) and returns -1. */
int cupel_emit_fail(cupel_builder *b, cupel_code code, cupel_span place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static inline const cupel_node *cupel_emit_node(const cupel_builder *b, int node) {
    return &b->nodes[node];
}

/* Adds a node whose op, kind, shape, arguments and attributes are set, or finds its equal. */
int cupel_emit_add(cupel_builder *b, cupel_node node, int arg_count, const int *args);

/* Notes what a node stands for and returns the node, -1 after an error. */
int cupel_emit_composite(cupel_builder *b, cupel_composite composite);

/* Constants of rank 0. digits may be NULL. */
int cupel_emit_real(cupel_builder *b, double number, const char *digits);
int cupel_emit_integer(cupel_builder *b, int64_t integer);
int cupel_emit_truth(cupel_builder *b, bool truth);
/* A decimal literal of a formula, such as "0.044715". */
int cupel_emit_literal(cupel_builder *b, const char *digits);
/* The old content of the output; takes the kind of what stands beside it in a where. */
int cupel_emit_keep(cupel_builder *b, cupel_value_kind kind);
int cupel_emit_iota(cupel_builder *b, int64_t first, int64_t step, int64_t count);

/* The node with its elements turned into another kind; itself when it has that kind. */
int cupel_emit_as(cupel_builder *b, cupel_value_kind kind, int node);

/* Elementwise operations with NumPy's broadcasting and the promotion bool < int < real. */
int cupel_emit_unary(cupel_builder *b, cupel_op op, int x);
int cupel_emit_binary(cupel_builder *b, cupel_op op, int x, int y);
int cupel_emit_where(cupel_builder *b, int condition, int x, int y);
/* x, not judged where the condition may hold (EXCLUDE). */
int cupel_emit_exclude(cupel_builder *b, int x, int condition);
int cupel_emit_cast(cupel_builder *b, cupel_dtype type, int x);
/* x, and where the condition may hold anything up to y as well (BETWEEN). */
int cupel_emit_between(cupel_builder *b, int x, int y, int condition);

/* The common shape of two; false when they do not fit. */
bool cupel_emit_common(int rank_x, const int64_t *x, int rank_y, const int64_t *y, int *rank, int64_t *shape);

/* "[2, 3]" in arena, for messages. */
const char *cupel_emit_shape_text(cupel_builder *b, int rank, const int64_t *shape);

/* A strided window on the elements of a node. Begin, change, finish. */
typedef struct cupel_window {
    int base;
    int rank;
    int64_t shape[CUPEL_RANK_MAX], stride[CUPEL_RANK_MAX], offset;
} cupel_window;

cupel_window cupel_window_of(const cupel_builder *b, int node);
int cupel_window_finish(cupel_builder *b, const cupel_window *window);
void cupel_window_remove(cupel_window *window, int axis);
/* Puts a new axis of this extent and stride 0 at a place; the rank must be below CUPEL_RANK_MAX. */
void cupel_window_insert(cupel_window *window, int axis, int64_t extent);

int cupel_emit_reshape(cupel_builder *b, int x, int rank, const int64_t *shape);
int cupel_emit_broadcast(cupel_builder *b, int x, int rank, const int64_t *shape);
int cupel_emit_permute(cupel_builder *b, int x, const int *axes);
int cupel_emit_unsqueeze(cupel_builder *b, int x, int axis);
int cupel_emit_slice(cupel_builder *b, int x, int axis, int64_t start, int64_t count, int64_t step);
/* Read backwards along an axis. */
int cupel_emit_flip(cupel_builder *b, int x, int axis);
/* An axis and the last one change places; again, and they are back. */
int cupel_emit_exchange(cupel_builder *b, int x, int axis);
/* Adds elements of this value before and after each axis; negative amounts cut. An integer's fill is integral
 * and below 2^63. */
int cupel_emit_pad(cupel_builder *b, int x, double fill, const int64_t *before, const int64_t *after);
int cupel_emit_concat(cupel_builder *b, int count, const int *nodes, int axis);

/* Reduces over the axes of the mask (bit per axis); keep leaves extents of 1. op: SUM ... ARGMIN. */
int cupel_emit_reduce(cupel_builder *b, cupel_op op, int x, unsigned axes, bool keep);
/* Inclusive scan along axis. */
int cupel_emit_scan(cupel_builder *b, cupel_op op, int x, int axis);
/* a, x of one shape, along the last axis; logs -1 or of that shape, of a kind that flags tell (CUPEL_SCAN_*).
 */
int cupel_emit_linear_scan(cupel_builder *b, int a, int x, int logs, int flags);
/* a [.., L, K], p and r of that shape or -1, x [.., L, K, V], logs and q of a's shape or -1. The states, or
 * with q what is read from them, [.., L, V]. */
typedef struct cupel_state_operands {
    int a, p, r, x, logs, q;
} cupel_state_operands;
int cupel_emit_state_scan(cupel_builder *b, const cupel_state_operands *operands);
/* torch.matmul: ranks of 1 and batch broadcasting included. */
int cupel_emit_matmul(cupel_builder *b, int x, int y);

/* Attributes that depend on the whole graph: terms, rescalable, from_input (graph_attributes.c). False when
 * out of memory. */
CUPEL_MUST_USE bool cupel_graph_attributes(cupel_graph *graph, cupel_arena *arena);

#endif
