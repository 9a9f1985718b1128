/* What `init` puts into an output or scratch tensor before the launch: mostly a number, else a tensor
 * expression that the oracle evaluates. */
#include <math.h>
#include <string.h>

#include "recipe_impl.h"

/* A scalar made of literals, dims, lets and params with a sign before it; anything else is left to the
 * oracle. */
static bool plain_number(const cupel_case *c, const cupel_expr *expr, double *out) {
    const cupel_contract *contract = c->contract;
    if (expr->kind == CUPEL_EXPR_NUMBER) {
        *out = expr->real ? expr->number : (double)expr->integer;
        return true;
    }
    if (expr->kind == CUPEL_EXPR_UNARY && strcmp(expr->name, "-") == 0 && expr->count == 1) {
        if (!plain_number(c, expr->children[0], out)) return false;
        *out = -*out;
        return true;
    }
    if (expr->kind != CUPEL_EXPR_NAME) return false;
    int dim = cupel_contract_dim(contract, expr->name), param = cupel_contract_param(contract, expr->name);
    if (dim >= 0)
        *out = (double)c->binding.dims[dim];
    else if (param >= 0)
        *out = cupel_binding_param(&c->binding, param);
    else
        return false;
    return true;
}

/* Below zero, an unsigned integer is the one with the same bits, as in C: -1 sets all of them. */
static cupel_dtype encoded_type(cupel_dtype type, double value) {
    const cupel_format *format = cupel_format_of(type);
    if (format->kind != CUPEL_KIND_UNSIGNED || !(value < 0)) return type;
    return format->size == 1   ? CUPEL_I8
           : format->size == 2 ? CUPEL_I16
           : format->size == 4 ? CUPEL_I32
                               : CUPEL_I64;
}

static cupel_code repeat(const cupel_case_tensor *tensor, double value, cupel_arena *arena, void **memory,
                         cupel_error *err) {
    size_t size = cupel_format_of(tensor->type)->size;
    unsigned char *out = cupel_arena_raw(arena, (size_t)tensor->count, size);
    if (out == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for an initial value");
    unsigned char element[8] = {0};
    cupel_encode(encoded_type(tensor->type, value), value, element);
    for (int64_t i = 0; i < tensor->count; i++) memcpy(out + (size_t)i * size, element, size);
    *memory = out;
    return CUPEL_OK;
}

/* The names that an init expression may use, as the graph builder wants them. */
typedef struct names {
    cupel_symbol_input inputs[CUPEL_TENSOR_MAX];
    const void *data[CUPEL_TENSOR_MAX];
    cupel_symbol_number numbers[CUPEL_DIM_MAX + CUPEL_LET_MAX + CUPEL_PARAM_MAX];
    int input_count, number_count;
} names;

static void collect_names(const cupel_case *c, names *n) {
    const cupel_contract *contract = c->contract;
    for (int i = 0; i < contract->tensor_count; i++) {
        if (!(contract->tensors[i].roles & CUPEL_ROLE_INPUT)) continue;
        cupel_symbol_input *input = &n->inputs[n->input_count];
        *input = (cupel_symbol_input){
            .name = contract->tensors[i].name, .type = c->tensors[i].type, .rank = c->tensors[i].rank};
        memcpy(input->shape, c->tensors[i].shape, sizeof input->shape);
        n->data[n->input_count++] = c->tensors[i].values;
    }
    for (int i = 0; i < contract->dim_count; i++)
        n->numbers[n->number_count++] =
            (cupel_symbol_number){.name = contract->dims[i].name, .integer = c->binding.dims[i]};
    for (int i = 0; i < contract->let_count; i++)
        n->numbers[n->number_count++] =
            (cupel_symbol_number){.name = contract->lets[i].name, .integer = c->binding.lets[i]};
    for (int i = 0; i < contract->param_count; i++) {
        double value = cupel_binding_param(&c->binding, i);
        bool real = !contract->params[i].integral;
        n->numbers[n->number_count++] = (cupel_symbol_number){.name = contract->params[i].name,
                                                              .real = real,
                                                              .integer = real ? 0 : (int64_t)value,
                                                              .number = value};
    }
}

cupel_code cupel_init_fill(const cupel_case *c, int tensor, cupel_arena *arena, void **memory,
                           cupel_error *err) {
    const cupel_tensor_decl *decl = &c->contract->tensors[tensor];
    const cupel_case_tensor *place = &c->tensors[tensor];
    double number;
    if (plain_number(c, decl->init_expr, &number)) return repeat(place, number, arena, memory, err);
    names *n = cupel_arena_alloc(arena, sizeof *n);
    if (n == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for an initial value");
    collect_names(c, n);
    cupel_symbol_output output = {
        .name = decl->name, .type = place->type, .rank = place->rank, .ensures = decl->init_expr};
    memcpy(output.shape, place->shape, sizeof output.shape);
    cupel_symbols symbols = {.input_count = n->input_count,
                             .number_count = n->number_count,
                             .output_count = 1,
                             .inputs = n->inputs,
                             .numbers = n->numbers,
                             .outputs = &output};
    cupel_graph *graph;
    CUPEL_TRY(cupel_graph_build(&symbols, arena, &graph, err));
    cupel_bindings bindings = {.count = n->input_count, .data = n->data};
    cupel_rules rules = cupel_binding_rules(&c->binding);
    cupel_allowed allowed;
    CUPEL_TRY(cupel_oracle_bounded(graph, &bindings, &rules, arena, &allowed, err));
    void *out = cupel_arena_raw(arena, (size_t)place->count, cupel_format_of(place->type)->size);
    if (out == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for an initial value");
    cupel_encode_many(place->type, allowed.value, (size_t)place->count, out);
    *memory = out;
    return CUPEL_OK;
}
