/* The postcondition of one binding (dims, types and params fixed) as a graph of primitives in topological
 * order. One graph, several evaluators: bounded fp64 (bounded.h) and exact (exact.h); gradients
 * are further nodes of it (gradient.h); shadows to come. */
#ifndef CUPEL_GRAPH_H
#define CUPEL_GRAPH_H

#include "expression.h"
#include "formats.h"

enum { CUPEL_RANK_MAX = 8 };

/* What a node's elements are. REAL values stand for numbers that a kernel holds in the working precision. */
typedef enum cupel_value_kind { CUPEL_VALUE_REAL, CUPEL_VALUE_INT, CUPEL_VALUE_BOOL } cupel_value_kind;

/* The primitives, and what evaluators may rely on:
 * - elementwise nodes: every argument has exactly the node's shape; broadcasting is an explicit VIEW with
 * zero strides (of a rank 0 CONSTANT too);
 * - PHILOX: element i is the first word of Philox4x32-10 (INT, 0..2^32-1) with key `integer` and counter i;
 * - arithmetic: every argument has the node's kind (TOREAL or CAST stand where kinds meet); DIV is always
 * REAL; comparisons give BOOL and take two arguments of one kind, REAL or INT; AND, OR and NOT take BOOL;
 * ISNAN, ISINF and ISFINITE take REAL; BITAND ... SHR, IOTA, ARGMAX and ARGMIN are INT; AMAX and AMIN may be
 * BOOL (any, all);
 * - WHERE: condition (BOOL), then, else. GATHER: source, index (INT, of the node's shape): torch.gather along
 * axis;
 * - CAST to a real type rounds and is REAL, to an integer type truncates and is INT (type I64 from BOOL);
 * never to bool;
 * - REMAINDER has the sign of the divisor (Python's %), FMOD that of the dividend; INT is 64-bit;
 * - EXCLUDE: x, condition (BOOL): x where the condition is surely false, else not judged (EXCLUDED). LOOSEN:
 * an operand of a matrix product that a kernel may round or truncate to `type` first (`products` of the
 * contract); its value is the argument's; BETWEEN: x, y, condition (BOOL): x, and where the condition may
 * hold a kernel may return anything from x to y (a gradient between two one-sided derivatives);
 * - SCATTER_ADD: x [.., N], index (INT) [.., M], source [.., M]: torch.scatter_add along the last axis, the
 * leading shapes equal; an index out of range leaves the row open (CONVENTION);
 * - SORT: values in ascending order along the last axis, NaN last; ARGSORT: positions (INT) in that order,
 * equal ones as they stood where `integer` is 1 (stable), else left open (CONVENTION);
 * - LINEAR_SCAN: a, b of the node's shape, REAL: h_t = a_t h_{t-1} + b_t along the last axis, h_{-1} = 0.
 * STATE_SCAN: a, p, r of shape [.., L, K], x of shape [.., L, K, V], REAL: S_t = diag(a_t) S_{t-1} - p_t
 * (r_t' S_{t-1}) + x_t, S_{-1} = 0. `step` says which arguments there are (CUPEL_SCAN_*): p and r, where
 * there is a rank-one term; behind x the logarithms of the decays, of a's shape, which change no value but
 * what kernels may do; q of shape [.., L, K], with which the node is S_t' q_t, of shape [.., L, V], and
 * without it S_t, of x's shape. L is the last axis but one (or two); views flip it to run backwards;
 * - AMAX, AMIN, ARGMAX, ARGMIN never have an empty last axis. SUM, PROD and MATMUL may.
 * Everything else of the language is a composition of these, made by the composer of its function
 * (compose_*.c) as PyTorch's decompositions do. family names the file that holds a primitive's evaluations.
 */
/* clang-format off */
#define CUPEL_PRIMITIVES(X)                                                                                  \
    /* leaves */                                                                                             \
    X(INPUT, "input", leaf)                                                                                  \
    X(CONSTANT, "constant", leaf) X(IOTA, "iota", leaf) X(PHILOX, "philox", leaf)                             \
        X(KEEP, "keep", leaf) /* unary, exact in every format */                                             \
        X(NEG, "neg", unary) X(ABS, "abs", unary) X(SIGN, "sign", unary) X(FLOOR, "floor", unary)            \
            X(CEIL, "ceil", unary) X(ROUND, "round", unary) X(TRUNC, "trunc", unary)                         \
                X(ISNAN, "isnan", unary) X(ISINF, "isinf", unary) X(ISFINITE, "isfinite", unary)             \
                    X(NOT, "not", unary)                                                                     \
                        X(BITNOT, "bitnot", unary) /* unary, rounded; TOREAL: an integer or boolean as a     \
                                                      real of the working precision */                       \
        X(TOREAL, "toreal", unary) X(SQRT, "sqrt", unary) X(RSQRT, "rsqrt", unary) X(EXP, "exp", unary)      \
            X(EXP2, "exp2", unary) X(EXPM1, "expm1", unary) X(LOG, "log", unary) X(LOG2, "log2", unary)      \
                X(LOG10, "log10", unary) X(LOG1P, "log1p", unary) X(SIN, "sin", unary) X(COS, "cos", unary)  \
                    X(TAN, "tan", unary) X(ASIN, "asin", unary) X(ACOS, "acos", unary)                       \
                        X(ATAN, "atan", unary) X(SINH, "sinh", unary) X(COSH, "cosh", unary)                 \
                            X(TANH, "tanh", unary) X(ERF, "erf", unary) X(ERFC, "erfc", unary) /* binary */  \
        X(ADD, "add", binary) X(SUB, "sub", binary) X(MUL, "mul", binary) X(DIV, "div", binary)              \
            X(POW, "pow", binary) X(FMOD, "fmod", binary) X(REMAINDER, "remainder", binary)                  \
                X(ATAN2, "atan2", binary) X(MINIMUM, "minimum", binary) X(MAXIMUM, "maximum", binary)        \
                    X(FMIN, "fmin", binary) X(FMAX, "fmax", binary) X(LT, "lt", binary) X(LE, "le", binary)  \
                        X(EQ, "eq", binary) X(NE, "ne", binary) X(AND, "and", binary) X(OR, "or", binary) X( \
                            BITAND, "bitand", binary) X(BITOR, "bitor", binary) X(BITXOR, "bitxor", binary)  \
                            X(SHL, "shl", binary) X(SHR, "shr", binary) X(WHERE, "where", select)            \
                                X(EXCLUDE, "exclude", select) X(LOOSEN, "loosen", select)                    \
                                X(BETWEEN, "between", select)                                                \
                                X(CAST, "cast", select) /* reductions over the last axis of their argument   \
                                                           (other axes are moved there by a view) */         \
        X(SUM, "sum", reduce) X(PROD, "prod", reduce) X(AMAX, "amax", reduce) X(AMIN, "amin", reduce)        \
            X(ARGMAX, "argmax", reduce)                                                                      \
                X(ARGMIN, "argmin", reduce) /* inclusive scans along the last axis */                        \
        X(CUMSUM, "cumsum", scan) X(CUMPROD, "cumprod", scan) X(CUMMAX, "cummax", scan)                      \
            X(CUMMIN, "cummin", scan) /* [batch.., M, K] x [batch.., K, N], batch shapes equal */            \
        X(MATMUL, "matmul", product)  /* element i of the result is element map(i) of the argument: strides  \
                                         and an offset (negative and zero strides allowed) */                \
        X(VIEW, "view", shape) X(RESHAPE, "reshape", shape) X(CONCAT, "concat", shape) X(PAD, "pad", shape)  \
            X(GATHER, "gather", shape) X(SCATTER_ADD, "scatter_add", scatter)                                \
                X(SORT, "sort", order) X(ARGSORT, "argsort", order) /* along the last axis */                \
        X(LINEAR_SCAN, "linear_scan", recurrence) X(STATE_SCAN, "state_scan", recurrence)
/* clang-format on */

/* LINEAR_SCAN, STATE_SCAN: the optional arguments, in this order. */
enum {
    CUPEL_SCAN_RANK_ONE = 1, /* STATE_SCAN: p and r */
    CUPEL_SCAN_LOGS = 2,     /* a is exp of them: a kernel may take exp of differences of their sums */
    CUPEL_SCAN_MAXIMUM = 4,  /* LINEAR_SCAN that rescales by a running maximum: this */
    CUPEL_SCAN_READ = 8,     /* STATE_SCAN: q */
    CUPEL_SCAN_NARROW = 16   /* STATE_SCAN, no argument: chunked kernels' products take operands of `type` */
};

typedef enum cupel_op {
#define CUPEL_OP_NAME(name, text, family) CUPEL_OP_##name,
    CUPEL_PRIMITIVES(CUPEL_OP_NAME)
#undef CUPEL_OP_NAME
        CUPEL_OP_COUNT
} cupel_op;

const char *cupel_op_name(cupel_op op);

/* What an element of PHILOX is. */
uint32_t cupel_philox_word(int64_t seed, int64_t index);

typedef struct cupel_node {
    cupel_op op;
    cupel_value_kind kind;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    int64_t count; /* elements */
    int arg_count;
    int *args; /* indices of earlier nodes */

    /* attributes; each is used by the ops named */
    int input;          /* INPUT: index into the source's inputs */
    double number;      /* CONSTANT: nearest double; PAD: the fill */
    const char *digits; /* CONSTANT: exact decimal text, or NULL when number is exact */
    int64_t integer;    /* CONSTANT of kind INT or BOOL; IOTA: the first value, PHILOX: the seed */
    int64_t step;       /* IOTA: and the step; ARGSORT: integer is 1 when stable; LINEAR_SCAN, STATE_SCAN:
                           CUPEL_SCAN_* */
    int64_t stride[CUPEL_RANK_MAX]; /* VIEW: in elements of the argument (row major, contiguous) */
    int64_t offset;                 /* VIEW: in elements */
    int64_t before[CUPEL_RANK_MAX]; /* PAD: elements added before each axis */
    int axis;                       /* CONCAT, GATHER */
    cupel_dtype type;               /* CAST: round to this type; LOOSEN */
    bool from_input; /* value is a literal or an input used as it is: exact and, for special values, of exact
                        class */
    bool rescalable; /* SUM, MATMUL: terms carry a factor exp(x - amax(x)): a running maximum with rescaling
                        is legal */
    bool scaled;     /* LOOSEN: a factor outside of the product may go into the operand first */
    bool in_statistic; /* part of mean, variance or a norm: sums here are not exact even for exact terms */
    bool written;      /* ADD, SUB: an operator of the expression, not a composite's own */
    uint8_t joins; /* ADD, SUB that are written: a bit for each argument that is a further ADD or SUB, whose
                      terms kernels may add in any order (graph_attributes.c) */
    cupel_dtype width; /* INT, and comparisons of them: the type it is computed in (integers.h) */
    double terms; /* overflow factor: product of the lengths of sums this value passes through, at least 4 */
    cupel_span place; /* the source text it came from */
} cupel_node;

typedef struct cupel_graph_output {
    const char *name;
    int node;
    cupel_dtype type;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    int64_t count;
} cupel_graph_output;

typedef struct cupel_graph {
    int node_count;
    cupel_node *nodes;
    int output_count;
    cupel_graph_output *outputs;
    int input_count;
} cupel_graph;

/* The node whose elements this one shows: behind views and reshapes. */
int cupel_graph_behind_views(const cupel_graph *graph, int node);

/* The element of that node which element `index` of *node shows; *node becomes that node. */
int64_t cupel_graph_element_behind(const cupel_graph *graph, int *node, int64_t index);

/* What the names in expressions stand for. */
typedef struct cupel_symbol_input {
    const char *name;
    cupel_dtype type;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
} cupel_symbol_input;
typedef struct cupel_symbol_number { /* dims, lets, variants (integers) and params */
    const char *name;
    bool real;
    int64_t integer;
    double number; /* the value as the kernel receives it */
} cupel_symbol_number;
typedef struct cupel_symbol_define {
    const char *name;
    const cupel_expr *expr;
} cupel_symbol_define;
typedef struct cupel_symbol_output {
    const char *name;
    cupel_dtype type;
    int rank;
    int64_t shape[CUPEL_RANK_MAX];
    const cupel_expr *ensures;
} cupel_symbol_output;

typedef struct cupel_symbols {
    int input_count, number_count, define_count, output_count;
    const cupel_symbol_input *inputs;
    const cupel_symbol_number *numbers;
    const cupel_symbol_define *defines;
    const cupel_symbol_output *outputs;
    bool products_given; /* operands of matrix products and convolutions may be rounded or truncated first, */
    cupel_dtype products; /* to this type (LOOSEN) */
    bool kinks_any;       /* gradients at non-smooth points: anything between the one-sided derivatives */
} cupel_symbols;

/* Builds the graph of all outputs. The graph lives in arena and borrows the symbols' strings. Errors name the
 * place in the expression, what was expected and what was found: unknown names and functions (with the
 * nearest one), wrong argument counts, shapes that do not broadcast, a result that does not fit the output. A
 * result broadcasts to its output only if the shapes are equal. */
CUPEL_MUST_USE cupel_code cupel_graph_build(const cupel_symbols *symbols, cupel_arena *arena,
                                            cupel_graph **out, cupel_error *err);

#endif
