#include "contract_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "binding_search.h"
#include "philox.h"

enum { RANDOM_PROBES = 3, RANDOM_TRIES = 60, GRAPH_BYTES_MAX = 64 * 1024 * 1024 };

static const uint32_t stream_probe = 0x0bd2;

static cupel_code contiguous_strides(const cupel_binding *binding, int64_t (*strides)[CUPEL_RANK_MAX],
                                     cupel_error *err) {
    for (int t = 0; t < binding->contract->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count, stride = 1;
        CUPEL_TRY(cupel_binding_shape(binding, t, shape, &count, err));
        for (int i = binding->contract->tensors[t].rank - 1; i >= 0; i--) {
            strides[t][i] = stride;
            stride *= shape[i] ? shape[i] : 1;
        }
    }
    return CUPEL_OK;
}

/* Does a value fit the C type that the contract states for it? */
static cupel_code check_typed(const cupel_launch_arg *arg, cupel_dtype type, cupel_scalar value,
                              cupel_error *err) {
    const cupel_format *format = cupel_format_of(type);
    if (format->kind == CUPEL_KIND_REAL) return CUPEL_OK;
    if (value.real)
        return cupel_fail_span(err, CUPEL_CONTRACT, arg->place,
                               "expected an integer for the type %s, found the real %g", format->name,
                               value.d);
    int bits = (int)format->size * 8;
    bool fits =
        format->kind == CUPEL_KIND_BOOLEAN ? value.i == 0 || value.i == 1
        : format->kind == CUPEL_KIND_UNSIGNED
            ? value.i >= 0 && (bits == 64 || value.i < INT64_C(1) << bits)
            : bits == 64 || (value.i >= -(INT64_C(1) << (bits - 1)) && value.i < INT64_C(1) << (bits - 1));
    return fits ? CUPEL_OK
                : cupel_fail_span(err, CUPEL_CONTRACT, arg->place,
                                  "expected a value that fits the type %s, found %lld", format->name,
                                  (long long)value.i);
}

static cupel_code check_integer(const cupel_binding *binding, const cupel_scalar_expr *expr,
                                const int64_t (*strides)[CUPEL_RANK_MAX], const char *what,
                                cupel_error *err) {
    cupel_scalar value;
    CUPEL_TRY(cupel_binding_scalar(binding, expr, strides, &value, err));
    if (!value.real && value.i >= 0) return CUPEL_OK;
    if (value.real)
        return cupel_fail_span(err, CUPEL_CONTRACT, cupel_scalar_text(expr),
                               "expected an integer for '%s', found the real %g", what, value.d);
    return cupel_fail_span(err, CUPEL_CONTRACT, cupel_scalar_text(expr),
                           "expected at least 0 for '%s', found %lld", what, (long long)value.i);
}

static cupel_code check_args(const cupel_binding *binding, const cupel_launch *launch,
                             const int64_t (*strides)[CUPEL_RANK_MAX], cupel_error *err) {
    const cupel_contract *c = binding->contract;
    for (int i = 0; i < launch->arg_count; i++) {
        const cupel_launch_arg *arg = &launch->args[i];
        cupel_scalar value;
        if (arg->kind != CUPEL_ARG_SCALAR) continue;
        CUPEL_TRY(cupel_binding_scalar(binding, arg->expr, strides, &value, err));
        if (!arg->typed) continue;
        cupel_dtype type = arg->type_variable < 0
                               ? arg->type
                               : c->types[arg->type_variable].claimed[binding->types[arg->type_variable]];
        CUPEL_TRY(check_typed(arg, type, value, err));
    }
    return CUPEL_OK;
}

static cupel_code check_launch(const cupel_binding *binding, const cupel_launch *launch,
                               const int64_t (*strides)[CUPEL_RANK_MAX], cupel_error *err) {
    if (launch->skip_if) {
        cupel_scalar skipped;
        CUPEL_TRY(cupel_binding_scalar(binding, launch->skip_if, strides, &skipped, err));
        /* what is never launched needs no grid: "N / K" may well divide by zero there */
        if (skipped.real ? skipped.d != 0 : skipped.i != 0) return CUPEL_OK;
    }
    CUPEL_TRY(check_args(binding, launch, strides, err));
    for (int i = 0; i < launch->grid_rank; i++)
        CUPEL_TRY(check_integer(binding, launch->grid[i], strides, "grid", err));
    for (int i = 0; i < launch->block_rank; i++)
        CUPEL_TRY(check_integer(binding, launch->block[i], strides, "block", err));
    return launch->shared ? check_integer(binding, launch->shared, strides, "shared", err) : CUPEL_OK;
}

static cupel_code check_aliases(const cupel_binding *binding, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    for (int i = 0; i < c->alias_count; i++) {
        const cupel_tensor_decl *a = &c->tensors[c->aliases[i][0]], *b = &c->tensors[c->aliases[i][1]];
        int64_t x[CUPEL_RANK_MAX] = {0}, y[CUPEL_RANK_MAX] = {0}, count;
        CUPEL_TRY(cupel_binding_shape(binding, c->aliases[i][0], x, &count, err));
        CUPEL_TRY(cupel_binding_shape(binding, c->aliases[i][1], y, &count, err));
        if (memcmp(x, y, sizeof *x * (size_t)a->rank) != 0)
            return cupel_fail_span(
                err, CUPEL_CONTRACT, a->place,
                "expected tensors of equal type and shape in 'may_alias', found '%s' and '%s'", a->name,
                b->name);
    }
    return CUPEL_OK;
}

static cupel_code check_below(const cupel_binding *binding, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    for (int t = 0; t < c->tensor_count; t++) {
        cupel_scalar value;
        int64_t shape[CUPEL_RANK_MAX], count;
        if (!c->tensors[t].below) continue;
        CUPEL_TRY(cupel_binding_scalar(binding, c->tensors[t].below, NULL, &value, err));
        CUPEL_TRY(cupel_binding_shape(binding, t, shape, &count, err));
        if (count > 0 && (value.real || value.i < 1))
            return cupel_fail_span(err, CUPEL_CONTRACT, cupel_scalar_text(c->tensors[t].below),
                                   "expected a bound of at least 1 (integers in 0..bound-1), found %g",
                                   value.real ? value.d : (double)value.i);
    }
    return CUPEL_OK;
}

/* A number fills the whole buffer; any other init must have the buffer's shape. */
static bool is_plain(const cupel_contract *c, const cupel_expr *expr) {
    if (expr->kind == CUPEL_EXPR_UNARY && strcmp(expr->name, "-") == 0) return is_plain(c, expr->children[0]);
    if (expr->kind != CUPEL_EXPR_NAME) return expr->kind == CUPEL_EXPR_NUMBER;
    return cupel_contract_dim(c, expr->name) >= 0 || cupel_contract_param(c, expr->name) >= 0;
}

/* A literal that a buffer of integers cannot hold is a mistake: it would be clamped. Below zero an unsigned
 * integer is the one with the same bits. */
static cupel_code check_init(const cupel_binding *binding, int tensor, cupel_error *err) {
    const cupel_tensor_decl *t = &binding->contract->tensors[tensor];
    const cupel_expr *expr = t->init_expr;
    const bool negative = expr->kind == CUPEL_EXPR_UNARY && strcmp(expr->name, "-") == 0;
    if (negative) expr = expr->children[0];
    const cupel_format *format = cupel_format_of(cupel_binding_type(binding, tensor));
    if (expr->kind != CUPEL_EXPR_NUMBER || format->kind == CUPEL_KIND_REAL) return CUPEL_OK;
    const double value = expr->real ? expr->number : (double)expr->integer;
    const int bits = format->kind == CUPEL_KIND_BOOLEAN ? 1 : 8 * (int)format->size;
    const double most = format->kind == CUPEL_KIND_SIGNED ? ldexp(1, bits - 1) - 1 : ldexp(1, bits) - 1;
    const double least = format->kind == CUPEL_KIND_BOOLEAN ? 0 : ldexp(1, bits - 1);
    if (value == floor(value) && value <= (negative ? least : most)) return CUPEL_OK;
    return cupel_fail_span(err, CUPEL_CONTRACT, t->init_expr->place,
                           "expected an integer that %s holds%s, found %s%s", format->name,
                           format->kind == CUPEL_KIND_UNSIGNED ? " (-1 sets all its bits)" : "",
                           negative ? "-" : "", expr->digits ? expr->digits : "a value that is none");
}

static cupel_code build_graphs(const cupel_binding *binding, cupel_arena *arena, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    cupel_graph *graph;
    for (int i = 0; i < c->tensor_count; i++) {
        if (c->tensors[i].init != CUPEL_INIT_EXPRESSION) continue;
        if (!is_plain(c, c->tensors[i].init_expr))
            CUPEL_TRY(cupel_binding_init_graph(binding, i, arena, &graph, err));
        else
            CUPEL_TRY(check_init(binding, i, err));
    }
    return cupel_binding_graph(binding, arena, &graph, err);
}

static cupel_code check_graph(const cupel_binding *binding, cupel_error *err) {
    cupel_arena *arena = cupel_arena_create(GRAPH_BYTES_MAX);
    if (!arena) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    cupel_code code = build_graphs(binding, arena, err);
    cupel_arena_free(arena);
    return code;
}

/* A macro that hangs on the binding needs a candidate that is compiled for each. */
static cupel_code check_defines(const cupel_binding *binding, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    cupel_arena *arena = NULL;
    cupel_code code = CUPEL_OK;
    for (int i = 0; i < c->source_define_count && code == CUPEL_OK; i++) {
        char *filled;
        if (!strchr(c->source_defines[i], '$')) continue;
        if (c->host)
            return cupel_fail_span(err, CUPEL_CONTRACT, c->source_defines_place,
                                   "expected macros with fixed values for a host function, found '%s'",
                                   c->source_defines[i]);
        if (!arena) arena = cupel_arena_create(0);
        code = arena ? cupel_binding_define(binding, i, arena, &filled, err)
                     : cupel_fail(err, CUPEL_MEMORY, "out of memory");
    }
    cupel_arena_free(arena);
    return code;
}

static cupel_code check_at(const cupel_binding *binding, cupel_error *err) {
    CUPEL_TRY(check_defines(binding, err));
    int64_t strides[CUPEL_TENSOR_MAX][CUPEL_RANK_MAX] = {{0}};
    CUPEL_TRY(contiguous_strides(binding, strides, err));
    CUPEL_TRY(check_aliases(binding, err));
    CUPEL_TRY(check_below(binding, err));
    for (int i = 0; i < binding->contract->launch_count; i++)
        CUPEL_TRY(check_launch(binding, &binding->contract->launches[i],
                               (const int64_t(*)[CUPEL_RANK_MAX])strides, err));
    return check_graph(binding, err);
}

/* Appends " (at M=1, N=0, T=f16)" to a message. */
static void name_binding(const cupel_binding *binding, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    if (!err) return;
    size_t used = strlen(err->text);
    const char *separator = " (at ";
    for (int i = 0; i < c->dim_count + c->type_count && used < sizeof err->text; i++, separator = ", ") {
        int type = i - c->dim_count;
        int n = type < 0 ? snprintf(err->text + used, sizeof err->text - used, "%s%s=%lld", separator,
                                    c->dims[i].name, (long long)binding->dims[i])
                         : snprintf(err->text + used, sizeof err->text - used, "%s%s=%s", separator,
                                    c->types[type].name,
                                    cupel_format_of(c->types[type].claimed[binding->types[type]])->name);
        used += n > 0 ? (size_t)n : 0;
    }
    if (separator[0] == ',' && used < sizeof err->text)
        snprintf(err->text + used, sizeof err->text - used, ")");
}

static cupel_code check_named(cupel_binding *binding, cupel_error *err) {
    CUPEL_TRY(cupel_binding_complete(binding, err));
    cupel_code code = check_at(binding, err);
    if (code != CUPEL_OK) name_binding(binding, err);
    return code;
}

/* More than 2^40 elements at the far end of a range is no error: such a case is never generated. */
static bool too_large(const cupel_binding *binding) {
    int64_t shape[CUPEL_RANK_MAX], count;
    for (int t = 0; t < binding->contract->tensor_count; t++)
        if (cupel_binding_shape(binding, t, shape, &count, NULL) != CUPEL_OK && count >= INT64_C(1) << 40)
            return true;
    return false;
}

static cupel_code check_random(const cupel_contract *c, const cupel_binding *ordinary, cupel_error *err) {
    cupel_random random = cupel_random_start(1, stream_probe);
    for (int tries = 0, probes = 0; tries < RANDOM_TRIES && probes < RANDOM_PROBES; tries++) {
        cupel_binding probe = *ordinary;
        for (int i = 0; i < c->dim_count; i++) {
            int64_t span = c->dims[i].hi - c->dims[i].lo + 1;
            if (span > 300) span = 300;
            probe.dims[i] = cupel_dim_nearest(
                &c->dims[i], c->dims[i].lo + (int64_t)cupel_random_below(&random, (uint64_t)span));
        }
        if (!cupel_binding_legal(&probe) || cupel_binding_complete(&probe, NULL) != CUPEL_OK ||
            too_large(&probe))
            continue;
        probes++;
        CUPEL_TRY(check_named(&probe, err));
    }
    return CUPEL_OK;
}

cupel_code cupel_contract_check(cupel_contract *c, cupel_error *err) {
    cupel_binding ordinary;
    CUPEL_TRY(cupel_binding_find_ordinary(c, c->ordinary, err));
    CUPEL_TRY(cupel_binding_ordinary(c, &ordinary, err));
    CUPEL_TRY(check_at(&ordinary, err));
    for (int v = 0; v < c->type_count; v++)
        for (int k = 1; k < c->types[v].count; k++) {
            cupel_binding probe = ordinary;
            probe.types[v] = k;
            /* sizeof(T) in a condition may forbid a shape to one type and not to another */
            if (cupel_binding_legal(&probe)) CUPEL_TRY(check_named(&probe, err));
        }
    for (int d = c->dim_count - c->variant_count; d < c->dim_count; d++)
        for (int k = 0; k < c->dims[d].value_count; k++) {
            cupel_binding probe = ordinary;
            probe.dims[d] = c->dims[d].values[k];
            if (probe.dims[d] != c->dims[d].first && cupel_binding_legal(&probe))
                CUPEL_TRY(check_named(&probe, err));
        }
    cupel_binding smallest = ordinary;
    int64_t corner[CUPEL_DIM_MAX] = {0};
    for (int i = 0; i < c->dim_count; i++) corner[i] = c->dims[i].lo;
    if (cupel_binding_nearest(c, corner, &smallest)) CUPEL_TRY(check_named(&smallest, err));
    return check_random(c, &ordinary, err);
}
