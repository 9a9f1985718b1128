/* The sweep of reverse mode and its rules. Private to the files gradient*.c.
 *
 * The nodes of the value are visited from the output down. A node that was reached has its adjoint, the
 * derivative of the whole by that node; its rule gives each argument that depends on wrt its share. Shares of
 * a node that is reached on several ways add up. */
#ifndef CUPEL_GRADIENT_RULES_H
#define CUPEL_GRADIENT_RULES_H

#include "compose.h"

typedef struct cupel_sweep {
    cupel_builder *b;
    int count;     /* nodes up to the output, in topological order; rules add more behind them */
    bool *depends; /* a real value in which wrt counts */
    int *adjoint;  /* -1: not reached */
    bool *shared;  /* the adjoint is a sum of several shares already */
    bool *masked;  /* zeros of the adjoint stand for what was left out */
    bool masking;  /* so do those of the shares that the rule at work gives */
    bool kinks_any;
} cupel_sweep;

/* Does the node need an adjoint? Rules ask before they compose one. */
bool cupel_sweep_wants(const cupel_sweep *s, int node);
/* Adds a share to the node's adjoint. Its shape broadcasts to the node's, or the node's to it. */
void cupel_sweep_give(cupel_sweep *s, int node, int share);
/* "no derivative", with the node's op and place. */
void cupel_sweep_refuse(cupel_sweep *s, int node);

/* Where a branch that was not taken, or an element that was left out, has an infinite derivative, the product
 * with its upstream gradient of 0 is NaN for who multiplies (PyTorch's autograd) and 0 for who chooses: not
 * judged. The product itself where nothing was left out on the way from the output. */
int cupel_gradient_guarded(const cupel_sweep *s, int product, int upstream);
/* upstream where the condition holds, else 0; an upstream that is not finite and falls away may also become
 * NaN (by a product with 0): not judged. */
int cupel_gradient_masked(cupel_sweep *s, int condition, int upstream);
/* value; under `kinks: any`, where the condition may hold, anything from value to other. */
int cupel_gradient_kink(const cupel_sweep *s, int value, int other, int condition);
/* value; not judged where the upstream has an infinity in the row (the axes of upstream): the order in which
 * a composite's sums and products meet decides what is NaN. */
int cupel_gradient_finite_rows(cupel_builder *b, int value, int upstream, unsigned axes);
/* The sum over axes, which stay as 1. Of a matrix product whose batch axes they are it is one longer product,
 * so that kernels may add all terms in any order. */
int cupel_gradient_sum_over(cupel_builder *b, int x, unsigned axes);
/* exp(x), of which a kernel may also hold exp(x) - 1 and add 1. */
int cupel_gradient_exp_or(cupel_builder *b, int x, int less_one);
/* What reduced the axes away (or kept them as 1), spread over x's shape again. */
int cupel_gradient_spread(cupel_builder *b, int reduced, unsigned axes, int x);
/* x + y as a sum, so that its terms may be added in any order and take factors one by one. */
int cupel_gradient_joined(cupel_builder *b, int x, int y);

static inline int equal_(cupel_builder *b, int x, int y) {
    return cupel_emit_binary(b, CUPEL_OP_EQ, x, y);
}
static inline int isnan_(cupel_builder *b, int x) {
    return cupel_emit_unary(b, CUPEL_OP_ISNAN, x);
}
/* The sum over axes that stay. */
static inline int sum_(cupel_builder *b, int x, unsigned axes) {
    return cupel_emit_reduce(b, CUPEL_OP_SUM, x, axes, true);
}

/* The rule of a primitive, by family: dy is the node's adjoint. */
#define CUPEL_GRADIENT_FAMILIES(X)                                                                           \
    X(leaf)                                                                                                  \
    X(unary) X(binary) X(select) X(reduce) X(scan) X(product) X(shape) X(scatter) X(order) X(recurrence)
#define CUPEL_GRADIENT_DECLARE(family) void cupel_gradient_##family(cupel_sweep *s, int node, int dy);
CUPEL_GRADIENT_FAMILIES(CUPEL_GRADIENT_DECLARE)
#undef CUPEL_GRADIENT_DECLARE

/* SCATTER_ADD into base along its last axis. */
int cupel_gradient_scatter_of(cupel_builder *b, int base, int index, int source);

/* The closed form of a composite. */
void cupel_gradient_composite(cupel_sweep *s, const cupel_composite *c, int dy);
/* Along the last axis (gradient_recurrence.c). */
int cupel_gradient_logcumsumexp(cupel_builder *b, const cupel_composite *c, int dy);
/* Its parts: activations (gradient_activation.c), products (gradient_product.c), rows (gradient_composite.c).
 */
void cupel_gradient_attention(cupel_sweep *s, const cupel_composite *c, int dy);
void cupel_gradient_convolution(cupel_sweep *s, const cupel_composite *c, int dy);
void cupel_gradient_first_maximum(cupel_sweep *s, const cupel_composite *c, int dy);
void cupel_gradient_activation(cupel_sweep *s, const cupel_composite *c, int dy);

#endif
