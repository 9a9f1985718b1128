/* The graph of a contract's outputs, and the entries of its kernels, under a binding. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "contract.h"

typedef struct symbols {
    cupel_symbols all;
    cupel_symbol_input inputs[CUPEL_TENSOR_MAX];
    cupel_symbol_output outputs[CUPEL_TENSOR_MAX];
    cupel_symbol_number numbers[CUPEL_DIM_MAX + CUPEL_LET_MAX + CUPEL_PARAM_MAX];
} symbols;

static void add_integer(symbols *s, const char *name, int64_t value) {
    s->numbers[s->all.number_count++] =
        (cupel_symbol_number){.name = name, .real = false, .integer = value, .number = (double)value};
}

static void add_numbers(symbols *s, const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    for (int i = 0; i < c->dim_count; i++) add_integer(s, c->dims[i].name, binding->dims[i]);
    for (int i = 0; i < c->let_count; i++) add_integer(s, c->lets[i].name, binding->lets[i]);
    for (int i = 0; i < c->param_count; i++) {
        double value = cupel_binding_param(binding, i);
        if (c->params[i].integral && value == trunc(value) && fabs(value) < 0x1p62)
            add_integer(s, c->params[i].name, (int64_t)value);
        else
            s->numbers[s->all.number_count++] =
                (cupel_symbol_number){.name = c->params[i].name, .real = true, .number = value};
    }
}

static cupel_code add_tensors(symbols *s, const cupel_binding *binding, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    for (int i = 0; i < c->tensor_count; i++) {
        const cupel_tensor_decl *t = &c->tensors[i];
        cupel_dtype type = cupel_binding_type(binding, i);
        int64_t shape[CUPEL_RANK_MAX] = {0}, count;
        CUPEL_TRY(cupel_binding_shape(binding, i, shape, &count, err));
        if (t->roles & CUPEL_ROLE_INPUT) {
            cupel_symbol_input *input = &s->inputs[s->all.input_count++];
            *input = (cupel_symbol_input){.name = t->name, .type = type, .rank = t->rank};
            memcpy(input->shape, shape, sizeof shape);
        }
        if (t->roles & CUPEL_ROLE_OUTPUT) {
            cupel_symbol_output *output = &s->outputs[s->all.output_count++];
            *output =
                (cupel_symbol_output){.name = t->name, .type = type, .rank = t->rank, .ensures = t->ensures};
            memcpy(output->shape, shape, sizeof shape);
        }
    }
    return CUPEL_OK;
}

static const char *type_text(const cupel_binding *binding, const char *name) {
    const cupel_contract *c = binding->contract;
    for (int i = 0; i < c->type_count; i++)
        if (strcmp(c->types[i].name, name) == 0)
            return cupel_format_of(c->types[i].claimed[binding->types[i]])->name;
    return NULL;
}

static bool mentions_type(const cupel_binding *binding, const cupel_expr *expr) {
    if (!expr) return false;
    if (expr->kind == CUPEL_EXPR_NAME) return type_text(binding, expr->name) != NULL;
    bool found = false;
    for (int i = 0; i < expr->count && !found; i++) found = mentions_type(binding, expr->children[i]);
    return found;
}

/* A copy of an expression in which type variables are replaced by their types: cast(x, T) becomes cast(x,
 * f16). NULL: out of memory. */
static cupel_expr *copy_with_types(const cupel_binding *binding, const cupel_expr *expr, cupel_arena *arena) {
    cupel_expr *copy = cupel_arena_alloc(arena, sizeof *copy);
    if (!copy) return NULL;
    *copy = *expr;
    const char *type = expr->kind == CUPEL_EXPR_NAME ? type_text(binding, expr->name) : NULL;
    if (type) copy->name = type;
    if (expr->count == 0) return copy;
    copy->children = cupel_arena_alloc(arena, sizeof *copy->children * (size_t)expr->count);
    for (int i = 0; copy->children && i < expr->count; i++) {
        if (!expr->children[i]) continue; /* a missing part of a slice */
        copy->children[i] = copy_with_types(binding, expr->children[i], arena);
        if (!copy->children[i]) return NULL;
    }
    return copy->children ? copy : NULL;
}

static cupel_code put_types(const cupel_binding *binding, const cupel_expr **expr, cupel_arena *arena,
                            cupel_error *err) {
    if (!mentions_type(binding, *expr)) return CUPEL_OK;
    *expr = copy_with_types(binding, *expr, arena);
    return *expr ? CUPEL_OK : cupel_fail(err, CUPEL_MEMORY, "out of memory");
}

/* Everything that expressions of the contract may name; the outputs with their postconditions. */
static cupel_code symbols_create(const cupel_binding *binding, cupel_arena *arena, symbols **out,
                                 cupel_error *err) {
    const cupel_contract *c = binding->contract;
    symbols *s = *out = cupel_arena_alloc(arena, sizeof *s);
    cupel_symbol_define *defines = cupel_arena_alloc(arena, sizeof *defines * (size_t)(c->define_count + 1));
    if (!s || !defines) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    add_numbers(s, binding);
    CUPEL_TRY(add_tensors(s, binding, err));
    for (int i = 0; i < c->define_count; i++) {
        defines[i] = (cupel_symbol_define){c->defines[i].name, c->defines[i].expr};
        CUPEL_TRY(put_types(binding, &defines[i].expr, arena, err));
    }
    for (int i = 0; i < s->all.output_count; i++)
        CUPEL_TRY(put_types(binding, &s->outputs[i].ensures, arena, err));
    s->all.define_count = c->define_count;
    s->all.defines = defines;
    s->all.inputs = s->inputs;
    s->all.outputs = s->outputs;
    s->all.numbers = s->numbers;
    s->all.products_given = c->has_products;
    s->all.products = c->products;
    s->all.kinks_any = c->kinks_any;
    return CUPEL_OK;
}

cupel_code cupel_binding_graph(const cupel_binding *binding, cupel_arena *arena, cupel_graph **out,
                               cupel_error *err) {
    symbols *s;
    CUPEL_TRY(symbols_create(binding, arena, &s, err));
    return cupel_graph_build(&s->all, arena, out, err);
}

cupel_code cupel_binding_init_graph(const cupel_binding *binding, int tensor, cupel_arena *arena,
                                    cupel_graph **out, cupel_error *err) {
    const cupel_tensor_decl *t = &binding->contract->tensors[tensor];
    symbols *s;
    int64_t count;
    CUPEL_TRY(symbols_create(binding, arena, &s, err));
    s->outputs[0] = (cupel_symbol_output){.name = t->name,
                                          .type = cupel_binding_type(binding, tensor),
                                          .rank = t->rank,
                                          .ensures = t->init_expr};
    CUPEL_TRY(cupel_binding_shape(binding, tensor, s->outputs[0].shape, &count, err));
    CUPEL_TRY(put_types(binding, &s->outputs[0].ensures, arena, err));
    s->all.output_count = 1;
    s->all.define_count = 0;
    return cupel_graph_build(&s->all, arena, out, err);
}

/* What stands for $NAME, or NULL. */
static const char *hole_text(const cupel_binding *binding, const char *name, size_t length,
                             cupel_arena *arena) {
    const cupel_contract *c = binding->contract;
    cupel_span hole = {name, length, NULL, 0, 0};
    for (int i = 0; i < c->type_count; i++)
        if (cupel_span_equals(hole, c->types[i].name))
            return cupel_format_of(c->types[i].claimed[binding->types[i]])->cuda;
    for (int i = 0; i < c->dim_count; i++)
        if (cupel_span_equals(hole, c->dims[i].name))
            return cupel_arena_printf(arena, "%lld", (long long)binding->dims[i]);
    for (int i = 0; i < c->let_count; i++)
        if (cupel_span_equals(hole, c->lets[i].name))
            return cupel_arena_printf(arena, "%lld", (long long)binding->lets[i]);
    return NULL;
}

cupel_code cupel_binding_entry(const cupel_binding *binding, const cupel_launch *launch, cupel_arena *arena,
                               char **out, cupel_error *err) {
    char *text = cupel_arena_text(arena, "", 0);
    for (const char *p = launch->entry; text && *p;) {
        size_t plain = strcspn(p, "$");
        if (plain > 0) {
            text = cupel_arena_printf(arena, "%s%.*s", text, (int)plain, p);
            p += plain;
            continue;
        }
        size_t n = 1;
        while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
        const char *value = hole_text(binding, p + 1, n - 1, arena);
        if (!value)
            return cupel_fail_span(err, CUPEL_CONTRACT, launch->place,
                                   "expected a type variable, dim or let, found '%.*s'", (int)n, p);
        text = cupel_arena_printf(arena, "%s%s", text, value);
        p += n;
    }
    if (!text) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    *out = text;
    return CUPEL_OK;
}

cupel_code cupel_binding_define(const cupel_binding *binding, int define, cupel_arena *arena, char **out,
                                cupel_error *err) {
    const cupel_contract *c = binding->contract;
    const cupel_launch as_entry = {.entry = c->source_defines[define], .place = c->source_defines_place};
    return cupel_binding_entry(binding, &as_entry, arena, out, err);
}
