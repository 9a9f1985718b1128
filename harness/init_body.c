/* A kernel's body: variables, what they are compared with, pointers into parameters. */
#include <stdint.h>
#include <string.h>

#include "init_kernel.h"

static const cupel_tokens *tokens_of(const cupel_init_kernel *kernel) {
    return &kernel->file->structure.tokens;
}

static bool any(const cupel_tokens *tokens, size_t i, const char *const *words, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (cupel_lexer_is(tokens, i, words[k])) return true;
    return false;
}
#define ANY(tokens, i, ...)                                                                                  \
    any(tokens, i, (const char *const[]){__VA_ARGS__},                                                       \
        sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *))

const cupel_init_tree *cupel_init_kernel_value(const void *self, const char *name) {
    const cupel_init_kernel *kernel = self;
    if (cupel_init_kernel_param(kernel, name) >= 0) return NULL;
    int v = cupel_init_kernel_variable(kernel, name);
    if (v >= 0) return kernel->variables[v].bound ? NULL : kernel->variables[v].value;
    int t = cupel_init_kernel_template(kernel, name);
    if (t >= 0) return kernel->templates[t].value;
    return strchr(name, '.') ? NULL : cupel_init_file_constant(kernel->file, name);
}

static bool is_size_name(void *self, const char *name) {
    const cupel_init_kernel *kernel = self;
    int p = cupel_init_kernel_param(kernel, name);
    return (p >= 0 && kernel->params[p].kind == CUPEL_INIT_CLASS_INTEGER) ||
           cupel_init_kernel_template(kernel, name) >= 0;
}

const cupel_init_tree *cupel_init_kernel_derived(const cupel_init_kernel *kernel, const char *name) {
    int v = cupel_init_kernel_variable(kernel, name);
    const cupel_init_tree *value = v >= 0 ? kernel->variables[v].value : NULL;
    if (!value || kernel->variables[v].bound || value->op != '+' || value->child[0]->op != '/' ||
        value->child[1]->op != '#' || value->child[1]->value != 1)
        return NULL;
    value = cupel_init_tree_resolve(value, cupel_init_kernel_value, kernel, kernel->file->arena);
    bool sizes =
        cupel_init_tree_known(value) && cupel_init_tree_names(value, is_size_name, (void *)(uintptr_t)kernel);
    return sizes && value->op == '+' && value->child[0]->op == '/' ? value : NULL;
}

/* The tree of a size, in terms of integer parameters and numbers; NULL when it is none. */
static const cupel_init_tree *size_of(cupel_init_kernel *kernel, const cupel_init_tree *tree) {
    const cupel_init_tree *size =
        cupel_init_tree_resolve(tree, cupel_init_kernel_value, kernel, kernel->file->arena);
    return cupel_init_tree_known(size) && cupel_init_tree_names(size, is_size_name, kernel) ? size : NULL;
}

static cupel_init_variable *add_variable(cupel_init_kernel *kernel, const char *name) {
    if (kernel->variable_count == CUPEL_INIT_VARIABLE_MAX || !name) return NULL;
    cupel_init_variable *v = &kernel->variables[kernel->variable_count++];
    *v = (cupel_init_variable){.name = name, .pointer = -1, .scale = 1};
    return v;
}

/* No size or index is longer; so that odd code takes no time that grows with its square. */
enum { EXPRESSION_MAX = 256, OPERAND_MAX = 96 /* of a comparison */ };

/* The end of the expression at i: a ; or , outside brackets, or the bracket that closes around it. */
static size_t expression_end(const cupel_tokens *tokens, size_t i, size_t limit) {
    int depth = 0;
    if (limit > i + EXPRESSION_MAX) limit = i + EXPRESSION_MAX;
    for (; i < limit; i++) {
        if (ANY(tokens, i, "(", "[", "{")) depth++;
        if (ANY(tokens, i, ")", "]", "}") && depth-- == 0) return i;
        if (depth == 0 && ANY(tokens, i, ";", ",")) return i;
    }
    return limit;
}

static int vector_in(const cupel_tokens *tokens, size_t begin, size_t end) {
    int scale = 1;
    for (size_t i = begin; i < end; i++) {
        if (ANY(tokens, i, "float4", "int4")) scale = 4;
        if (ANY(tokens, i, "float2", "half2", "__half2", "int2", "__nv_bfloat162", "double2")) scale = 2;
    }
    return scale;
}

/* A pointer into a parameter: X, X + offset, &X[offset], with casts. */
static void read_alias(cupel_init_kernel *kernel, cupel_init_variable *v, size_t begin, size_t end) {
    const cupel_tokens *tokens = tokens_of(kernel);
    cupel_arena *arena = kernel->file->arena;
    for (size_t i = begin; i < end; i++) {
        if (tokens->at[i].kind != CUPEL_TOKEN_WORD) continue;
        const char *name = cupel_lexer_text(tokens, i, arena);
        int p = name ? cupel_init_kernel_param(kernel, name) : -1,
            other = name ? cupel_init_kernel_variable(kernel, name) : -1;
        bool param = p >= 0 && kernel->params[p].kind == CUPEL_INIT_CLASS_POINTER;
        if (!param && (other < 0 || kernel->variables[other].pointer < 0)) continue;
        v->pointer =
            other >= 0 && kernel->variables[other].pointer >= 0 ? kernel->variables[other].pointer : p;
        v->scale = vector_in(tokens, begin, i);
        const cupel_init_tree *offset = cupel_init_tree_number(0, arena);
        if (cupel_lexer_is(tokens, i + 1, "[")) {
            size_t close = expression_end(tokens, i + 2, end);
            offset = cupel_init_tree_read(tokens, i + 2, close, arena);
        } else if (cupel_lexer_is(tokens, i + 1, "+")) {
            offset = cupel_init_tree_read(tokens, i + 2, expression_end(tokens, i + 2, end), arena);
        }
        if (other >= 0 && kernel->variables[other].pointer >= 0)
            offset = cupel_init_tree_pair('+', kernel->variables[other].offset, offset, arena);
        v->offset = offset;
        return;
    }
}

static void read_definition(cupel_init_kernel *kernel, size_t name, size_t end) {
    const cupel_tokens *tokens = tokens_of(kernel);
    const char *text = cupel_lexer_text(tokens, name, kernel->file->arena);
    if (!text || cupel_init_kernel_variable(kernel, text) >= 0 || cupel_init_kernel_param(kernel, text) >= 0)
        return;
    cupel_init_variable *v = add_variable(kernel, text);
    if (!v) return;
    bool pointer = ANY(tokens, name - 1, "*", "__restrict__", "auto");
    size_t last = expression_end(tokens, name + 2, end);
    if (pointer) read_alias(kernel, v, name + 2, last);
    if (v->pointer >= 0) return;
    const cupel_init_tree *value = cupel_init_tree_read(tokens, name + 2, last, kernel->file->arena);
    v->value = value->op == '?' ? NULL : value;
    for (int t = 0; t < kernel->template_count; t++)
        if (kernel->templates[t].is_type && cupel_lexer_is(tokens, name - 1, kernel->templates[t].name) &&
            value->op == '#')
            kernel->template_arithmetic = true; /* T sum = 0 */
    if (ANY(tokens, name - 1, "half", "__half") && value->op != '#' && !value->name && value->op != '?')
        kernel->half_arithmetic = true;
}

/* A pointer that is moved: x += row * n. */
static void read_moved(cupel_init_kernel *kernel, size_t name, size_t end) {
    const cupel_tokens *tokens = tokens_of(kernel);
    cupel_arena *arena = kernel->file->arena;
    const char *text = cupel_lexer_text(tokens, name, arena);
    int p = text ? cupel_init_kernel_param(kernel, text) : -1;
    int at = text ? cupel_init_kernel_variable(kernel, text) : -1;
    if ((p < 0 || kernel->params[p].kind != CUPEL_INIT_CLASS_POINTER) &&
        (at < 0 || kernel->variables[at].pointer < 0))
        return;
    const cupel_init_tree *step =
        cupel_init_tree_read(tokens, name + 3, expression_end(tokens, name + 3, end), arena);
    cupel_init_variable *v = at >= 0 ? &kernel->variables[at] : add_variable(kernel, text);
    if (!v) return;
    if (at < 0) v->pointer = p, v->offset = cupel_init_tree_number(0, arena);
    if (step->op != '?') v->offset = cupel_init_tree_pair('+', v->offset, step, arena);
}

/* A plain comparison with a bound says that a rest is seen to. */
static void count_plain(cupel_init_kernel *kernel, const cupel_init_tree *size) {
    for (int v = 0; v < kernel->variable_count; v++)
        if (kernel->variables[v].bound && cupel_init_tree_equal(kernel->variables[v].bound, size))
            kernel->variables[v].compared++;
}

static void bind(cupel_init_kernel *kernel, const cupel_init_tree *small, const cupel_init_tree *large,
                 bool exact) {
    int guard = 0;
    if (small->op == '+' && small->child[1]->op == '#') { /* i + 3 < n */
        guard = (int)small->child[1]->value;
        small = small->child[0];
    }
    int limit = large->op == 'n' ? cupel_init_kernel_variable(kernel, large->name) : -1;
    const cupel_init_tree *size = limit >= 0 && kernel->variables[limit].bound /* i <= row, row < n */
                                      ? kernel->variables[limit].bound
                                      : exact ? size_of(kernel, large) : NULL;
    if (!size || small->op == '?' || small->op == '#') return;
    cupel_init_variable *v = NULL;
    int at = small->op == 'n' ? cupel_init_kernel_variable(kernel, small->name) : -1;
    if (small->op == 'n' && cupel_init_kernel_param(kernel, small->name) >= 0) return;
    if (small->op == 'n')
        v = at >= 0 ? &kernel->variables[at] : add_variable(kernel, small->name);
    else if (size->op != '#' && (v = add_variable(kernel, "")))
        v->value = small;
    if (v && v->pointer < 0 && (!v->bound || (v->bound->op == '#' && size->op != '#')))
        v->bound = size, v->guard = guard;
    if (guard == 0) count_plain(kernel, size);
}

/* The operands around a comparison at i. */
static void read_comparison(cupel_init_kernel *kernel, size_t i, size_t begin, size_t end) {
    const cupel_tokens *tokens = tokens_of(kernel);
    size_t first = i, last = i + 1;
    int depth = 0;
    if (begin + OPERAND_MAX < i) begin = i - OPERAND_MAX;
    if (end > i + OPERAND_MAX) end = i + OPERAND_MAX;
    while (first > begin) {
        if (ANY(tokens, first - 1, ")", "]")) depth++;
        if (ANY(tokens, first - 1, "(", "[") && depth-- == 0) break;
        if (depth == 0 &&
            ANY(tokens, first - 1, "&&", "||", ";", "?", "=", "{", "}", "return", ",", "!", ":"))
            break;
        first--;
    }
    depth = 0;
    while (last < end) {
        if (ANY(tokens, last, "(", "[")) depth++;
        if (ANY(tokens, last, ")", "]") && depth-- == 0) break;
        if (depth == 0 && ANY(tokens, last, "&&", "||", ";", "?", "{", "}", ",", ":")) break;
        last++;
    }
    if (last - first >= OPERAND_MAX) return;
    const cupel_init_tree *left = cupel_init_tree_read(tokens, first, i, kernel->file->arena),
                          *right = cupel_init_tree_read(tokens, i + 1, last, kernel->file->arena);
    if (ANY(tokens, i, "<", ">=", "<=")) bind(kernel, left, right, !ANY(tokens, i, "<="));
    if (ANY(tokens, i, ">")) bind(kernel, right, left, true);
}

/* extern __shared__ __align__(16) float tile[]; */
static void read_dynamic(cupel_init_kernel *kernel, size_t i, size_t end) {
    const cupel_tokens *tokens = tokens_of(kernel);
    while (i + 2 < end && !cupel_lexer_is(tokens, i + 1, "[") && !cupel_lexer_is(tokens, i, ";")) i++;
    if (cupel_lexer_is(tokens, i + 1, "[") && cupel_lexer_is(tokens, i + 2, "]"))
        kernel->dynamic_type = cupel_lexer_text(tokens, i - 1, kernel->file->arena);
}

static void read_axes(cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    bool thread = cupel_lexer_is(tokens, i, "threadIdx"), block = cupel_lexer_is(tokens, i, "blockIdx");
    if (!thread && !block) return;
    int axis = cupel_lexer_is(tokens, i + 2, "y") ? 2 : cupel_lexer_is(tokens, i + 2, "z") ? 3 : 1;
    int *axes = thread ? &kernel->block_axes : &kernel->grid_axes;
    if (axis > *axes) *axes = axis;
}

void cupel_init_body_read(cupel_init_kernel *kernel) {
    const cupel_tokens *tokens = tokens_of(kernel);
    size_t begin = kernel->declaration->body_begin, end = kernel->declaration->body_end;
    kernel->block_axes = kernel->grid_axes = 1;
    static const char *const half_words[] = {"__hadd", "__hmul", "__hfma", "__hsub",
                                             "__hmax", "hexp",   "h2exp"};
    for (size_t k = 0; k < sizeof half_words / sizeof *half_words; k++)
        kernel->half_arithmetic =
            kernel->half_arithmetic || cupel_init_kernel_mentions(kernel, half_words[k], true);
    kernel->uses_grid_dim = cupel_init_kernel_mentions(kernel, "gridDim", false);
    for (size_t i = begin + 1; i + 1 < end; i++) {
        bool word = tokens->at[i].kind == CUPEL_TOKEN_WORD;
        bool assigned = cupel_lexer_is(tokens, i + 1, "=");
        if (word && assigned && !ANY(tokens, i - 1, ".", "->")) read_definition(kernel, i, end);
        if (word && cupel_lexer_is(tokens, i + 1, "+") && cupel_lexer_is(tokens, i + 2, "="))
            read_moved(kernel, i, end);
        bool doubled = tokens->at[i + 1].length == 1 && tokens->at[i].length == 1 &&
                       (ANY(tokens, i + 1, "<", ">", "=") || ANY(tokens, i - 1, "<", ">"));
        if (ANY(tokens, i, "<", ">", ">=", "<=") && !doubled) read_comparison(kernel, i, begin, end);
        if (cupel_lexer_is(tokens, i, "extern")) read_dynamic(kernel, i, end);
        read_axes(kernel, i);
    }
}
