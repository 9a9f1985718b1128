/* Composers: each turns a call of one function of the language into primitives, as PyTorch's decompositions
 * do. */
#ifndef CUPEL_COMPOSE_H
#define CUPEL_COMPOSE_H

#include "graph_emit.h"

typedef enum cupel_operand_form {
    CUPEL_OPERAND_ABSENT,
    CUPEL_OPERAND_INTEGER, /* known when the graph is built: literals, dims, arithmetic on them */
    CUPEL_OPERAND_REAL,    /* a literal or a parameter */
    CUPEL_OPERAND_TRUTH,
    CUPEL_OPERAND_NODE,
    CUPEL_OPERAND_LIST,
    CUPEL_OPERAND_TEXT,
    CUPEL_OPERAND_TYPE
} cupel_operand_form;

typedef struct cupel_operand {
    cupel_operand_form form;
    cupel_span place;
    bool has_integer; /* NODE: the quotient of two integers, which truncates where an integer is asked for */
    int64_t integer;
    double number;
    const char *digits;
    bool given; /* REAL: a parameter's value, which its own range limits */
    int node;
    int count; /* LIST */
    struct cupel_operand *items;
    const char *text;
    cupel_dtype type;
} cupel_operand;

enum { CUPEL_CALL_MAX = 12 };

typedef struct cupel_call {
    const cupel_function_info *info;
    cupel_span place;
    cupel_operand args[CUPEL_CALL_MAX]; /* by position in the signature; ABSENT where left out */
} cupel_call;

typedef int cupel_composer(cupel_builder *b, const cupel_call *call);

/* The composer of a function; NULL for one that is known but not supported yet. Index as in cupel_functions.
 */
cupel_composer *cupel_compose_find(size_t function);

/* Arguments of a call. Each reports a wrong kind of argument at its place; the node is -1 (and integers
 * fallbacks) then. */
bool cupel_call_has(const cupel_call *call, int i);
int cupel_call_node(cupel_builder *b, const cupel_call *call, int i);
/* The same as a real number: of an integer tensor its elements become real. */
int cupel_call_real(cupel_builder *b, const cupel_call *call, int i);
int64_t cupel_call_integer(cupel_builder *b, const cupel_call *call, int i, int64_t fallback);
/* true, false, 1 or 0. */
bool cupel_call_flag(cupel_builder *b, const cupel_call *call, int i, bool fallback);
/* The index of the text among choices (a list that ends with NULL); the first when left out. */
int cupel_call_choice(cupel_builder *b, const cupel_call *call, int i, const char *const *choices);
/* One axis of a tensor of that rank, negative ones counted from the end. */
int cupel_call_axis(cupel_builder *b, const cupel_call *call, int i, int rank, int fallback);
/* A mask of axes: absent all, an integer, or a list. */
unsigned cupel_call_axes(cupel_builder *b, const cupel_call *call, int i, int rank);
/* A list of integers (an integer counts as a list of one); returns their number, at most limit. */
int cupel_call_integers(cupel_builder *b, const cupel_call *call, int i, int limit, int64_t *out);

/* Any operand as a node. */
int cupel_operand_node(cupel_builder *b, const cupel_operand *operand);
/* An integer that is known; false and an error otherwise. */
bool cupel_operand_integer(cupel_builder *b, const cupel_operand *operand, const char *what, int64_t *out);

/* A number that is written in the expression (or a dim): false for parameters, tensors and the rest. */
bool cupel_operand_number(const cupel_operand *operand, double *out);
/* Refuses such a number where the function's argument of this name cannot mean it (argument_limits.c). */
void cupel_operand_limited(cupel_builder *b, const cupel_function_info *info, const char *argument,
                           const cupel_operand *operand);

/* "a tensor", for messages. */
const char *cupel_operand_form_name(cupel_operand_form form);

static inline cupel_operand cupel_operand_none(void) {
    return (cupel_operand){.form = CUPEL_OPERAND_ABSENT, .node = -1};
}

static inline cupel_operand cupel_operand_of_node(const cupel_builder *b, int node) {
    return (cupel_operand){.form = CUPEL_OPERAND_NODE, .place = b->place, .node = node};
}

static inline cupel_operand cupel_operand_of_integer(const cupel_builder *b, int64_t integer) {
    return (cupel_operand){.form = CUPEL_OPERAND_INTEGER,
                           .place = b->place,
                           .integer = integer,
                           .has_integer = true,
                           .node = -1};
}

static inline cupel_operand cupel_operand_of_truth(const cupel_builder *b, bool truth) {
    cupel_operand o = cupel_operand_of_integer(b, truth);
    o.form = CUPEL_OPERAND_TRUTH;
    return o;
}

/* The value of one expression (graph_translate.c), and of a call (graph_call.c). */
cupel_operand cupel_translate(cupel_builder *b, const cupel_expr *expr);
cupel_operand cupel_translate_call(cupel_builder *b, const cupel_expr *expr);

/* Formulas read best in short words. */
#define CUPEL_SHORT_UNARY(name, OP)                                                                          \
    static inline int name(cupel_builder *b, int x) {                                                        \
        return cupel_emit_unary(b, CUPEL_OP_##OP, x);                                                        \
    }
#define CUPEL_SHORT_BINARY(name, OP)                                                                         \
    static inline int name(cupel_builder *b, int x, int y) {                                                 \
        return cupel_emit_binary(b, CUPEL_OP_##OP, x, y);                                                    \
    }
CUPEL_SHORT_UNARY(neg_, NEG)
CUPEL_SHORT_UNARY(abs_, ABS)
CUPEL_SHORT_UNARY(exp_, EXP)
CUPEL_SHORT_UNARY(expm1_, EXPM1)
CUPEL_SHORT_UNARY(log_, LOG)
CUPEL_SHORT_UNARY(log1p_, LOG1P)
CUPEL_SHORT_UNARY(sqrt_, SQRT)
CUPEL_SHORT_UNARY(rsqrt_, RSQRT)
CUPEL_SHORT_UNARY(tanh_, TANH)
CUPEL_SHORT_UNARY(erf_, ERF)
CUPEL_SHORT_UNARY(not_, NOT)
CUPEL_SHORT_BINARY(add_, ADD)
CUPEL_SHORT_BINARY(sub_, SUB)
CUPEL_SHORT_BINARY(mul_, MUL)
CUPEL_SHORT_BINARY(div_, DIV)
CUPEL_SHORT_BINARY(minimum_, MINIMUM)
CUPEL_SHORT_BINARY(maximum_, MAXIMUM)
CUPEL_SHORT_BINARY(less_, LT)
CUPEL_SHORT_BINARY(less_equal_, LE)
CUPEL_SHORT_BINARY(and_, AND)
CUPEL_SHORT_BINARY(or_, OR)
static inline int number_(cupel_builder *b, double x) {
    return cupel_emit_real(b, x, NULL);
}
/* Is x -inf? */
static inline int is_minus_infinity_(cupel_builder *b, int x) {
    return and_(b, cupel_emit_unary(b, CUPEL_OP_ISINF, x), less_(b, x, number_(b, 0.0)));
}
static inline int where_(cupel_builder *b, int c, int x, int y) {
    return cupel_emit_where(b, c, x, y);
}

/* An operand of a matrix product, convolution or attention: one that a kernel may round or truncate first,
 * where the contract says so (`products`). */
int cupel_compose_operand(cupel_builder *b, int x);
/* matmul(x, y) of such operands. */
int cupel_compose_product_of(cupel_builder *b, int x, int y);

/* node, noted to be this composite of x (and up to two more). */
static inline int composite_(cupel_builder *b, cupel_form form, int node, int x, int y, int z) {
    return cupel_emit_composite(b, (cupel_composite){.node = node, .form = form, .args = {x, y, z, -1}});
}
/* The same of one that reduces over axes of x. */
static inline int row_composite_(cupel_builder *b, cupel_form form, int node, unsigned axes, int x, int y,
                                 int z) {
    return cupel_emit_composite(
        b, (cupel_composite){.node = node, .form = form, .args = {x, y, z, -1}, .axes = axes});
}

/* Composites that others use. */
/* The gradient of a convolution by its padded x: the transposed convolution of dy. */
int cupel_compose_conv_adjoint(cupel_builder *b, const cupel_composite *forward, int dy);
/* share, the gradient by the weight [G, O/G, inner], not judged where dy is infinite or NaN on padding. */
int cupel_compose_conv_exclude(cupel_builder *b, const cupel_composite *forward, int dy, int share);
int cupel_compose_power(cupel_builder *b, int x, const cupel_operand *exponent);
int cupel_compose_sigmoid_of(cupel_builder *b, int x);
int cupel_compose_mean_of(cupel_builder *b, int x, unsigned axes, bool keep);
/* The variance, divided by n - correction. */
int cupel_compose_variance_of(cupel_builder *b, int x, unsigned axes, int64_t correction, bool keep);
int cupel_compose_norm_of(cupel_builder *b, int x, const cupel_operand *p, unsigned axes, bool keep);
/* log_softmax along one axis. */
int cupel_compose_log_softmax_of(cupel_builder *b, int x, int axis);
/* torch.gather; the index (INT) is known to fit. */
int cupel_compose_gather_of(cupel_builder *b, int x, int axis, int index);
/* What decays that are exponentials are exponentials of; -1 when they are not. */
int cupel_compose_logs_of(cupel_builder *b, int decay);
/* Elementwise losses as the argument `reduction` says: mean, sum or none. */
int cupel_compose_reduced(cupel_builder *b, const cupel_call *call, int at, int loss);
int64_t cupel_compose_extent(const cupel_builder *b, int x, unsigned axes);

#endif
