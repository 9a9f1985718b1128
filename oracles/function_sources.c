#include "function_sources.h"

#include <stdio.h>
#include <string.h>

#include "compose.h"

/* ---- primitives ---- */

typedef enum bound_kind { MOVES, EXACT, ROUNDED, SUMS, PRODUCTS, RECURRENCES, BUDGETED } bound_kind;

static bound_kind kind_of(cupel_op op) {
    if (cupel_budget_of(op)) return BUDGETED;
    switch (op) {
    case CUPEL_OP_INPUT:
    case CUPEL_OP_CONSTANT:
    case CUPEL_OP_IOTA:
    case CUPEL_OP_KEEP:
    case CUPEL_OP_VIEW:
    case CUPEL_OP_RESHAPE:
    case CUPEL_OP_EXCLUDE: /* what is said of a value, not done to it */
    case CUPEL_OP_LOOSEN:
    case CUPEL_OP_BETWEEN: return MOVES;
    case CUPEL_OP_ADD:
    case CUPEL_OP_SUB:
    case CUPEL_OP_MUL:
    case CUPEL_OP_DIV:
    case CUPEL_OP_REMAINDER:
    case CUPEL_OP_CAST:
    case CUPEL_OP_TOREAL: return ROUNDED;
    case CUPEL_OP_SUM:
    case CUPEL_OP_CUMSUM:
    case CUPEL_OP_MATMUL:
    case CUPEL_OP_SCATTER_ADD: return SUMS;
    case CUPEL_OP_PROD:
    case CUPEL_OP_CUMPROD: return PRODUCTS;
    case CUPEL_OP_LINEAR_SCAN:
    case CUPEL_OP_STATE_SCAN: return RECURRENCES;
    default: return EXACT;
    }
}

const char *cupel_primitive_bound(cupel_op op) {
    const cupel_budget *budget = cupel_budget_of(op);
    if (budget) return budget->source;
    if (op == CUPEL_OP_DIV) return "x/y or x*(1/y): 2 u; math: fast 5 u (docs/oracle.md)";
    switch (kind_of(op)) {
    case ROUNDED: return "correctly rounded, u (IEEE 754)";
    case SUMS: return "(N-1) u sum|term| in any order (Jeannerod and Rump 2013)";
    case PRODUCTS: return "(N-1) u |product| in any order (docs/oracle.md)";
    case RECURRENCES: return "re-associated: 2t u of the sum of magnitudes (docs/oracle.md)";
    default: return "exact";
    }
}

/* ---- sample calls ---- */

static const cupel_symbol_input inputs[] = {
    {"x", CUPEL_F32, 2, {4, 4}},
    {"w", CUPEL_F32, 2, {4, 4}},
    {"v", CUPEL_F32, 1, {4}},
    {"s", CUPEL_F32, 0, {0}},
    {"i", CUPEL_I32, 2, {4, 4}},
    {"t", CUPEL_I32, 1, {4}},
    {"a1", CUPEL_F32, 3, {2, 2, 4}},
    {"a2", CUPEL_F32, 4, {2, 2, 4, 4}},
    {"a3", CUPEL_F32, 5, {2, 2, 4, 4, 4}},
    {"b1", CUPEL_F32, 3, {2, 2, 2}},
    {"b2", CUPEL_F32, 4, {2, 2, 2, 2}},
    {"b3", CUPEL_F32, 5, {2, 2, 2, 2, 2}},
};

/* What stands for each required argument; a name of a function first where its own needs another. */
static const struct {
    const char *function, *argument, *text;
} arguments[] = {
    {"conv1d", "x", "a1"},
    {"conv2d", "x", "a2"},
    {"conv3d", "x", "a3"},
    {"conv1d", "weight", "b1"},
    {"conv2d", "weight", "b2"},
    {"conv3d", "weight", "b3"},
    {"conv_transpose1d", "x", "a1"},
    {"conv_transpose2d", "x", "a2"},
    {"conv_transpose3d", "x", "a3"},
    {"conv_transpose1d", "weight", "b1"},
    {"conv_transpose2d", "weight", "b2"},
    {"conv_transpose3d", "weight", "b3"},
    {"max_pool1d", "x", "a1"},
    {"max_pool2d", "x", "a2"},
    {"max_pool3d", "x", "a3"},
    {"avg_pool1d", "x", "a1"},
    {"avg_pool2d", "x", "a2"},
    {"avg_pool3d", "x", "a3"},
    {"adaptive_avg_pool2d", "x", "a2"},
    {"group_norm", "x", "a1"},
    {"instance_norm", "x", "a1"},
    {"outer", "a", "v"},
    {"outer", "b", "v"},
    {"topk", "k", "2"},
    {"unsqueeze", "axis", "0"},
    {"index_select", "index", "t"},
    {"one_hot", "x", "t"},
    {"gated_delta_rule", "g", "v"},
    {"ssd", "dt", "v"},
    {"ssd", "A", "s"},
    {"cross_entropy", "target", "t"},
    {"nll_loss", "target", "t"},
    {"embedding", "idx", "t"},
    {"quantize", "type", "i8"},
    {"dequantize", "x", "i"},
    {"broadcast_to", "shape", "[2, 4, 4]"},
    {NULL, "x", "x"},
    {NULL, "y", "w"},
    {NULL, "exponent", "w"},
    {NULL, "other", "w"},
    {NULL, "condition", "x > w"},
    {NULL, "type", "f16"},
    {NULL, "axis", "-1"},
    {NULL, "dims", "[1, 0]"},
    {NULL, "shape", "[16]"},
    {NULL, "tensors", "[x, w]"},
    {NULL, "shifts", "1"},
    {NULL, "pad", "[1, 1]"},
    {NULL, "index", "i"},
    {NULL, "num_classes", "4"},
    {NULL, "start", "4"},
    {NULL, "value", "1"},
    {NULL, "src", "w"},
    {NULL, "a", "x"},
    {NULL, "b", "w"},
    {NULL, "weight", "w"},
    {NULL, "kernel_size", "2"},
    {NULL, "output_size", "2"},
    {NULL, "num_groups", "2"},
    {NULL, "q", "x"},
    {NULL, "k", "w"},
    {NULL, "v", "x"},
    {NULL, "g", "w"},
    {NULL, "beta", "v"},
    {NULL, "B", "w"},
    {NULL, "C", "x"},
    {NULL, "target", "w"},
    {NULL, "anchor", "x"},
    {NULL, "positive", "w"},
    {NULL, "negative", "x * w"},
    {NULL, "table", "w"},
    {NULL, "cos", "w"},
    {NULL, "sin", "w"},
    {NULL, "seed", "17"},
    {NULL, "p", "0.5"},
    {NULL, "scale", "0.5"},
    {NULL, "expr", "x * w"},
    {NULL, "wrt", "x"},
    {NULL, "cotangent", "w"},
};

/* Calls that a signature's required arguments do not make. */
static const struct {
    const char *function, *call;
} calls[] = {
    {"clamp", "clamp(x, -1, 1)"},
    {"einsum", "einsum('ij,jk->ik', x, w)"},
    {"batch_norm", "batch_norm(x, training=true)"},
    {"atan2", "atan2(w, x)"},
    {"dropout_mask", "dropout_mask(17, 0.5, [4])"},
    {"layer_norm", "layer_norm(x, v, v)"},
    {"rms_norm", "rms_norm(x, v)"},
    {"slice", "slice(x, 0, 1)"},
};

static const char *argument_text(const char *function, const char *name, size_t length) {
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (arguments[i].function && strcmp(arguments[i].function, function) != 0) continue;
        if (strlen(arguments[i].argument) == length && memcmp(arguments[i].argument, name, length) == 0)
            return arguments[i].text;
    }
    return NULL;
}

/* NULL where memory is short or an argument has no sample. */
static const char *sample_of(const cupel_function_info *info, cupel_arena *arena) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].function, info->name) == 0) return calls[i].call;
    const char *text = cupel_arena_printf(arena, "%s(", info->name), *separator = "";
    const char *at = strchr(info->signature, '(') + 1;
    while (text && *at && *at != ')') {
        const size_t length = strcspn(at, "=,)");
        if (at[length] == '=') break;
        const char *argument = argument_text(info->name, at, length);
        if (!argument) return NULL;
        text = cupel_arena_printf(arena, "%s%s%s", text, separator, argument);
        separator = ", ";
        at += length;
        while (*at == ',' || *at == ' ') at++;
    }
    return text ? cupel_arena_printf(arena, "%s)", text) : NULL;
}

/* ---- what it is made of ---- */

static cupel_code find_uses(const char *sample, cupel_arena *arena, cupel_function_source *out,
                            cupel_error *err) {
    cupel_expr *expr;
    const cupel_symbols symbols = {.inputs = inputs, .input_count = sizeof inputs / sizeof *inputs};
    cupel_builder b = {.symbols = &symbols, .arena = arena, .err = err};
    CUPEL_TRY(cupel_expr_parse(cupel_span_of(sample, "sample", 1, 1), arena, &expr, err));
    cupel_operand value = cupel_translate(&b, expr);
    const int node = cupel_operand_node(&b, &value);
    if (node < 0) return b.code;
    bool *reached = cupel_arena_alloc(arena, (size_t)(node + 1) * sizeof *reached);
    if (!reached) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    reached[node] = true;
    for (int i = node; i >= 0; i--) {
        if (!reached[i]) continue;
        if (kind_of(b.nodes[i].op) != MOVES) out->uses[b.nodes[i].op] = true;
        for (int k = 0; k < b.nodes[i].arg_count; k++) reached[b.nodes[i].args[k]] = true;
    }
    return CUPEL_OK;
}

static void append(cupel_function_source *s, const char *separator, const char *words) {
    const size_t used = strlen(s->brief);
    if (used < sizeof s->brief)
        snprintf(s->brief + used, sizeof s->brief - used, "%s%s", used ? separator : "", words);
}

/* One function of the hardware alone: what the table says. Else what kinds of operations there are. */
static void summarise(cupel_function_source *s) {
    static const char *const words[] = {[ROUNDED] = "correctly rounded operations",
                                        [SUMS] = "sums in any order",
                                        [PRODUCTS] = "products in any order",
                                        [RECURRENCES] = "recurrences re-associated"};
    bool kinds[BUDGETED + 1] = {false};
    int used = 0, last = 0;
    for (int op = 0; op < CUPEL_OP_COUNT; op++) {
        if (!s->uses[op]) continue;
        used++;
        last = op;
        kinds[kind_of((cupel_op)op)] = true;
    }
    if (used == 1 && kinds[BUDGETED]) {
        append(s, "", cupel_budget_of((cupel_op)last)->source);
        return;
    }
    for (int kind = ROUNDED; kind < BUDGETED; kind++)
        if (kinds[kind]) append(s, ", ", words[kind]);
    const char *separator = "; by budget: ";
    if (kinds[BUDGETED] && !s->brief[0]) append(s, "", "by budget: "), separator = "";
    for (int op = 0; op < CUPEL_OP_COUNT; op++) {
        if (!s->uses[op] || kind_of((cupel_op)op) != BUDGETED) continue;
        append(s, separator, cupel_op_name((cupel_op)op));
        separator = ", ";
    }
    if (!s->brief[0]) append(s, "", "exact");
}

cupel_code cupel_function_source_of(size_t at, cupel_arena *arena, cupel_function_source *out,
                                    cupel_error *err) {
    size_t count;
    const cupel_function_info *info = &cupel_functions(&count)[at];
    *out = (cupel_function_source){.sample = sample_of(info, arena)};
    if (!out->sample) return cupel_fail(err, CUPEL_UNSUPPORTED, "no sample call of %s", info->signature);
    CUPEL_TRY(find_uses(out->sample, arena, out, err));
    summarise(out);
    return CUPEL_OK;
}
