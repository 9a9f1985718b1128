/* What a contract's open names stand for under one binding: lets, types, shapes, numbers, rules. */
#include <math.h>
#include <string.h>

#include "contract.h"

#include "binding_search.h"

/* Where names are looked up: a binding, of whose lets the first let_count are known, and the strides of a
 * case. */
typedef struct scope {
    const cupel_binding *binding;
    int let_count;
    const int64_t (*strides)[CUPEL_RANK_MAX];
} scope;

static cupel_scalar param_scalar(const cupel_binding *binding, int param) {
    double value = cupel_binding_param(binding, param);
    if (binding->contract->params[param].integral && value == trunc(value) && fabs(value) < 0x1p62)
        return (cupel_scalar){.i = (int64_t)value};
    return (cupel_scalar){.real = true, .d = value};
}

static bool look_up_name(const void *self, const char *name, cupel_scalar *out) {
    const scope *s = self;
    const cupel_contract *c = s->binding->contract;
    int dim = cupel_contract_dim(c, name), param = cupel_contract_param(c, name);
    if (dim >= 0) {
        *out = (cupel_scalar){.i = s->binding->dims[dim]};
        return true;
    }
    for (int i = 0; i < s->let_count; i++)
        if (strcmp(c->lets[i].name, name) == 0) {
            *out = (cupel_scalar){.i = s->binding->lets[i]};
            return true;
        }
    if (param >= 0) *out = param_scalar(s->binding, param);
    return param >= 0;
}

static bool look_up_stride(const void *self, const char *name, int axis, int64_t *out) {
    const scope *s = self;
    int tensor = cupel_contract_tensor(s->binding->contract, name);
    if (tensor < 0 || !s->strides) return false;
    int rank = s->binding->contract->tensors[tensor].rank;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    *out = s->strides[tensor][axis];
    return true;
}

static bool look_up_size(const void *self, const char *name, int64_t *out) {
    const scope *s = self;
    int64_t shape[CUPEL_RANK_MAX];
    int tensor = cupel_contract_tensor(s->binding->contract, name);
    return tensor >= 0 && cupel_binding_shape(s->binding, tensor, shape, out, NULL) == CUPEL_OK;
}

static bool look_up_sizeof(const void *self, const char *name, int64_t *out) {
    const scope *s = self;
    const cupel_contract *c = s->binding->contract;
    cupel_dtype type;
    for (int i = 0; i < c->type_count; i++)
        if (strcmp(c->types[i].name, name) == 0) {
            *out = (int64_t)cupel_format_of(c->types[i].claimed[s->binding->types[i]])->size;
            return true;
        }
    if (!cupel_dtype_parse(name, &type)) return false;
    *out = (int64_t)cupel_format_of(type)->size;
    return true;
}

static cupel_scalar_env environment(const scope *s) {
    return (cupel_scalar_env){s, look_up_name, look_up_stride, look_up_size, look_up_sizeof};
}

int cupel_contract_tensor(const cupel_contract *contract, const char *name) {
    for (int i = 0; i < contract->tensor_count; i++)
        if (strcmp(contract->tensors[i].name, name) == 0) return i;
    return -1;
}

int cupel_contract_dim(const cupel_contract *contract, const char *name) {
    for (int i = 0; i < contract->dim_count; i++)
        if (strcmp(contract->dims[i].name, name) == 0) return i;
    return -1;
}

int cupel_contract_param(const cupel_contract *contract, const char *name) {
    for (int i = 0; i < contract->param_count; i++)
        if (strcmp(contract->params[i].name, name) == 0) return i;
    return -1;
}

cupel_code cupel_binding_complete(cupel_binding *binding, cupel_error *err) {
    scope s = {binding, 0, NULL};
    cupel_scalar_env env = environment(&s);
    for (; s.let_count < binding->contract->let_count; s.let_count++)
        CUPEL_TRY(cupel_scalar_eval_int(binding->contract->lets[s.let_count].expr, &env,
                                        &binding->lets[s.let_count], err));
    return CUPEL_OK;
}

static bool dim_claimed(const cupel_dim *dim, int64_t value) {
    if (dim->value_count == 0) return value >= dim->lo && value <= dim->hi;
    for (int i = 0; i < dim->value_count; i++)
        if (dim->values[i] == value) return true;
    return false;
}

bool cupel_binding_legal(const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    cupel_binding complete = *binding;
    for (int i = 0; i < c->dim_count; i++)
        if (!dim_claimed(&c->dims[i], binding->dims[i])) return false;
    if (cupel_binding_complete(&complete, NULL) != CUPEL_OK) return false;
    scope s = {&complete, c->let_count, NULL};
    cupel_scalar_env env = environment(&s);
    for (int i = 0; i < c->require_count; i++) {
        cupel_scalar value;
        if (cupel_scalar_eval(c->requires_[i], &env, &value, NULL) != CUPEL_OK) return false;
        if (value.real ? !(value.d != 0) : value.i == 0) return false;
    }
    return true;
}

cupel_code cupel_binding_conditions(const cupel_binding *binding, cupel_error *err) {
    const cupel_contract *c = binding->contract;
    cupel_binding complete = *binding;
    CUPEL_TRY(cupel_binding_complete(&complete, err));
    scope s = {&complete, c->let_count, NULL};
    cupel_scalar_env env = environment(&s);
    cupel_scalar value;
    for (int i = 0; i < c->require_count; i++)
        CUPEL_TRY(cupel_scalar_eval(c->requires_[i], &env, &value, err));
    return CUPEL_OK;
}

cupel_dtype cupel_binding_type(const cupel_binding *binding, int tensor) {
    const cupel_tensor_decl *t = &binding->contract->tensors[tensor];
    if (t->type_variable < 0) return t->type;
    return binding->contract->types[t->type_variable].claimed[binding->types[t->type_variable]];
}

cupel_code cupel_binding_shape(const cupel_binding *binding, int tensor, int64_t shape[CUPEL_RANK_MAX],
                               int64_t *count, cupel_error *err) {
    static const int64_t count_max = INT64_C(1) << 40;
    const cupel_tensor_decl *t = &binding->contract->tensors[tensor];
    scope s = {binding, binding->contract->let_count, NULL};
    cupel_scalar_env env = environment(&s);
    bool empty = false, large = false;
    *count = 1;
    for (int i = 0; i < t->rank; i++) {
        CUPEL_TRY(cupel_scalar_eval_int(t->shape[i], &env, &shape[i], err));
        if (shape[i] < 0)
            return cupel_fail_span(err, CUPEL_RANGE, cupel_scalar_text(t->shape[i]),
                                   "expected an extent of at least 0 for axis %d of '%s', found %lld", i,
                                   t->name, (long long)shape[i]);
        empty = empty || shape[i] == 0;
        large = large || __builtin_mul_overflow(*count, shape[i] ? shape[i] : 1, count) || *count > count_max;
        if (large) *count = count_max;
    }
    /* strides of an empty tensor count the other axes, which must fit too */
    if (large)
        return cupel_fail_span(err, CUPEL_RANGE, t->place,
                               "expected at most 2^40 elements in '%s', found more", t->name);
    if (empty) *count = 0;
    return CUPEL_OK;
}

cupel_code cupel_binding_scalar(const cupel_binding *binding, const cupel_scalar_expr *expr,
                                const int64_t (*strides)[CUPEL_RANK_MAX], cupel_scalar *out,
                                cupel_error *err) {
    scope s = {binding, binding->contract->let_count, strides};
    cupel_scalar_env env = environment(&s);
    return cupel_scalar_eval(expr, &env, out, err);
}

/* The real types of all outputs decide the default; a mixture counts as the weaker, which accuses less. */
static cupel_dtype working_type(const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    if (c->has_accumulate) return c->accumulate;
    bool any = false;
    for (int i = 0; i < c->tensor_count; i++) {
        if (!(c->tensors[i].roles & CUPEL_ROLE_OUTPUT)) continue;
        if (cupel_binding_type(binding, i) != CUPEL_F64) return CUPEL_F32;
        any = true;
    }
    return any ? CUPEL_F64 : CUPEL_F32;
}

/* cupel_rules' matrix_normal: of the inputs, and of what operands of products may be narrowed to. */
static double matrix_normal(const cupel_binding *binding) {
    enum { WIDEST = 11 }; /* bits of a number that tensor cores multiply exactly: f16 and tf32 */
    const cupel_contract *c = binding->contract;
    double normal = c->has_products ? cupel_format_normal(c->products) : 0;
    for (int i = 0; i < c->tensor_count; i++) {
        const cupel_dtype type = cupel_binding_type(binding, i);
        const cupel_format *format = cupel_format_of(type);
        if ((c->tensors[i].roles & CUPEL_ROLE_INPUT) && format->kind == CUPEL_KIND_REAL &&
            format->precision <= WIDEST)
            normal = fmax(normal, cupel_format_normal(type));
    }
    return normal;
}

cupel_rules cupel_binding_rules(const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    return (cupel_rules){.working = working_type(binding),
                         .fast_math = c->math_fast,
                         .fast_functions = c->options.fast_functions,
                         .subnormals = c->subnormals,
                         .sequential = c->sequential,
                         .matrix_normal = matrix_normal(binding),
                         .range_safe = c->range_safe};
}

/* The type that passes a param: the narrowest that any argument states, for the argument that is the param
 * and nothing else. */
static bool passing_type(const cupel_binding *binding, int param, cupel_dtype *out) {
    const cupel_contract *c = binding->contract;
    bool found = false;
    for (int l = 0; l < c->launch_count; l++)
        for (int a = 0; a < c->launches[l].arg_count; a++) {
            const cupel_launch_arg *arg = &c->launches[l].args[a];
            if (arg->kind != CUPEL_ARG_SCALAR || !arg->typed) continue;
            cupel_span text = cupel_scalar_text(arg->expr);
            while (text.length > 0 && (*text.text == ' ' || *text.text == '\n')) text.text++, text.length--;
            while (text.length > 0 && strchr(" \n\r", text.text[text.length - 1])) text.length--;
            if (!cupel_span_equals(text, c->params[param].name)) continue;
            cupel_dtype type = arg->type_variable < 0
                                   ? arg->type
                                   : c->types[arg->type_variable].claimed[binding->types[arg->type_variable]];
            bool narrower = !found || cupel_format_of(type)->size < cupel_format_of(*out)->size;
            if (narrower) *out = type;
            found = true;
        }
    return found;
}

double cupel_binding_param(const cupel_binding *binding, int param) {
    double value = binding->params[param];
    cupel_dtype type = CUPEL_F32;
    bool typed = passing_type(binding, param, &type);
    if (!typed && binding->contract->params[param].integral) return value;
    if (!typed) type = working_type(binding) == CUPEL_F64 ? CUPEL_F64 : CUPEL_F32;
    return cupel_format_of(type)->kind == CUPEL_KIND_REAL ? cupel_round(type, value) : value;
}
