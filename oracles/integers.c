#include "integers.h"

#include <math.h>

enum { NO_WIDTH = CUPEL_DTYPE_COUNT };

static int bits_of(cupel_dtype width) {
    return (int)cupel_format_of(width)->size * 8;
}

static bool is_unsigned(cupel_dtype width) {
    return width != NO_WIDTH && cupel_format_of(width)->kind == CUPEL_KIND_UNSIGNED;
}

static cupel_dtype promote(cupel_dtype a, cupel_dtype b) {
    if (a == b || b == NO_WIDTH) return a;
    if (a == NO_WIDTH) return b;
    if (is_unsigned(a) == is_unsigned(b)) return bits_of(a) > bits_of(b) ? a : b;
    const cupel_dtype u = is_unsigned(a) ? a : b, s = is_unsigned(a) ? b : a;
    if (bits_of(s) > bits_of(u) || bits_of(u) >= 32) return bits_of(s) > bits_of(u) ? s : u;
    return u == CUPEL_U8 ? CUPEL_I16 : CUPEL_I32;
}

static bool moves_elements(cupel_op op) {
    return op == CUPEL_OP_VIEW || op == CUPEL_OP_RESHAPE || op == CUPEL_OP_CONCAT || op == CUPEL_OP_PAD ||
           op == CUPEL_OP_GATHER || op == CUPEL_OP_SORT || op == CUPEL_OP_WHERE;
}

/* Does argument k say where to look, not what to compute with? */
static bool is_position(cupel_op op, int k) {
    return k == 1 && (op == CUPEL_OP_GATHER || op == CUPEL_OP_SCATTER_ADD);
}

static cupel_dtype common_width(const cupel_graph *graph, const cupel_node *n) {
    cupel_dtype width = NO_WIDTH;
    for (int k = 0; k < n->arg_count; k++) {
        const cupel_node *argument = &graph->nodes[n->args[k]];
        if (argument->kind == CUPEL_VALUE_INT && !is_position(n->op, k))
            width = promote(width, argument->width);
    }
    return width;
}

/* Of literals and booleans alone: what a C compiler would take for literals. */
static cupel_dtype settled(cupel_dtype width) {
    return width == NO_WIDTH ? CUPEL_I32 : width;
}

static cupel_dtype width_of(const cupel_graph *graph, const cupel_node *n) {
    const cupel_dtype common = common_width(graph, n);
    switch (n->op) {
    case CUPEL_OP_CONSTANT:
    case CUPEL_OP_KEEP: return NO_WIDTH;
    case CUPEL_OP_INPUT: return n->type;
    case CUPEL_OP_CAST: return graph->nodes[n->args[0]].kind == CUPEL_VALUE_BOOL ? NO_WIDTH : n->type;
    case CUPEL_OP_SUM:
    case CUPEL_OP_PROD:
    case CUPEL_OP_CUMSUM:
    case CUPEL_OP_CUMPROD: return common == CUPEL_U64 ? CUPEL_U64 : CUPEL_I64;
    case CUPEL_OP_ARGMAX:
    case CUPEL_OP_ARGMIN:
    case CUPEL_OP_ARGSORT:
    case CUPEL_OP_PHILOX:
    case CUPEL_OP_IOTA: return CUPEL_I64;
    case CUPEL_OP_MATMUL: return common == NO_WIDTH || bits_of(common) < 32 ? CUPEL_I32 : common;
    case CUPEL_OP_SHL:
    case CUPEL_OP_SHR: {
        const cupel_dtype shifted = graph->nodes[n->args[0]].width;
        return settled(shifted == NO_WIDTH ? common : shifted);
    }
    default: return moves_elements(n->op) ? common : settled(common);
    }
}

/* Nothing of this width is less; literals and booleans are within 2^53. */
static double least_of(cupel_dtype width) {
    if (width == NO_WIDTH) return -0x1p53;
    return is_unsigned(width) ? 0 : -ldexp(1, bits_of(width) - 1);
}

void cupel_width_mark(cupel_graph *graph) {
    for (int i = 0; i < graph->node_count; i++) {
        cupel_node *n = &graph->nodes[i];
        const bool compares = n->kind == CUPEL_VALUE_BOOL && n->arg_count == 2 &&
                              graph->nodes[n->args[0]].kind == CUPEL_VALUE_INT;
        n->width = NO_WIDTH;
        if (n->kind == CUPEL_VALUE_INT) n->width = width_of(graph, n);
        if (compares) n->width = common_width(graph, n);
        if (n->op == CUPEL_OP_PAD && n->kind == CUPEL_VALUE_INT && n->number == CUPEL_PAD_LEAST) {
            n->number = least_of(n->width);
            n->integer = (int64_t)n->number;
        }
    }
}

bool cupel_width_holds(cupel_dtype width, double lo, double hi) {
    if (width == NO_WIDTH) return true;
    const int bits = bits_of(width) - !is_unsigned(width);
    return lo >= (is_unsigned(width) ? 0 : -ldexp(1, bits)) && hi < ldexp(1, bits);
}

bool cupel_width_excludes(cupel_op op, cupel_dtype width, double least_a, double least_b, double most_b) {
    if (width == NO_WIDTH) return false;
    const bool negative = least_a < 0 || least_b < 0;
    switch (op) {
    case CUPEL_OP_SHL: return least_b < 0 || most_b >= bits_of(width);
    case CUPEL_OP_SHR: return least_b < 0 || most_b >= bits_of(width) || (is_unsigned(width) && least_a < 0);
    case CUPEL_OP_FMOD:
    case CUPEL_OP_REMAINDER:
    case CUPEL_OP_POW:
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMIN:
    case CUPEL_OP_FMAX:
    case CUPEL_OP_LT:
    case CUPEL_OP_LE:
    case CUPEL_OP_EQ:
    case CUPEL_OP_NE: return (width == CUPEL_U32 || width == CUPEL_U64) && negative;
    default: return false;
    }
}

double cupel_bitnot(cupel_dtype width, double x) {
    return is_unsigned(width) ? cupel_format_largest(width) - x : -x - 1;
}
