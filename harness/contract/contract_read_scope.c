/* dims, let, requires, types, params: what a contract leaves open, and within which limits. */
#include <stdlib.h>
#include <string.h>

#include "contract_reader.h"

static const int64_t extent_max = INT64_C(1) << 40;

static int compare_integers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static cupel_code read_dim_list(cupel_reader *r, const cupel_yaml *node, cupel_dim *dim) {
    if (node->count == 0) return cupel_reader_expected(r, node, "at least one value for '%s'", dim->name);
    int64_t *values = cupel_arena_alloc(r->arena, sizeof *values * (size_t)node->count);
    if (!values) return cupel_reader_memory(r);
    for (int i = 0; i < node->count; i++) {
        const cupel_yaml *item = node->items[i];
        CUPEL_TRY(cupel_reader_text(r, item, "an integer"));
        CUPEL_TRY(cupel_reader_integer(r, item->text, "an integer", 0, extent_max, &values[i]));
        for (int k = 0; k < i; k++)
            if (values[k] == values[i])
                return cupel_reader_expected(r, item, "each value of '%s' once", dim->name);
    }
    qsort(values, (size_t)node->count, sizeof *values, compare_integers);
    dim->value_count = node->count;
    dim->values = values;
    dim->lo = values[0];
    dim->hi = values[node->count - 1];
    return CUPEL_OK;
}

/* "1..512", or "64" */
static cupel_code read_dim(cupel_reader *r, const cupel_yaml *node, cupel_dim *dim) {
    if (node->kind == CUPEL_YAML_LIST) return read_dim_list(r, node, dim);
    static const char form[] = "a range (1..512), a number or a list";
    CUPEL_TRY(cupel_reader_text(r, node, form));
    const char *text = node->text.text, *dots = NULL;
    for (size_t i = 0; i + 1 < node->text.length && !dots; i++)
        if (text[i] == '.' && text[i + 1] == '.') dots = text + i;
    if (!dots) {
        CUPEL_TRY(cupel_reader_integer(r, node->text, form, 0, extent_max, &dim->lo));
        dim->hi = dim->lo;
        return CUPEL_OK;
    }
    size_t split = (size_t)(dots - text);
    cupel_span low = cupel_span_part(node->text, 0, split);
    cupel_span high = cupel_span_part(node->text, split + 2, node->text.length);
    CUPEL_TRY(cupel_reader_integer(r, low, "the lower end of a range, an integer", 0, extent_max, &dim->lo));
    CUPEL_TRY(cupel_reader_integer(r, high, "the upper end of a range, an integer", 0, extent_max, &dim->hi));
    if (dim->lo > dim->hi)
        return cupel_reader_expected(r, node, "a range whose lower end is not above its upper end");
    return CUPEL_OK;
}

static cupel_code read_dims(cupel_reader *r, const cupel_yaml *dims) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_map(r, dims, "a map of dims, e.g. {N: 1..8192}"));
    CUPEL_TRY(cupel_reader_at_most(r, dims, dims->count, CUPEL_DIM_MAX, "dims"));
    for (int i = 0; i < dims->count; i++) {
        CUPEL_TRY(cupel_reader_declare(r, dims->keys[i], CUPEL_NAME_DIM, i));
        c->dims[i].name = dims->keys[i]->value;
        c->dim_count = i + 1;
        CUPEL_TRY(read_dim(r, dims->items[i], &c->dims[i]));
    }
    return CUPEL_OK;
}

/* {BLOCK: [64, 128, 256]}: dims that come behind the others. The order of a list says which value is the
 * simplest. */
static cupel_code read_variants(cupel_reader *r, const cupel_yaml *variants) {
    cupel_contract *c = r->contract;
    int64_t combinations = 1;
    CUPEL_TRY(cupel_reader_map(r, variants, "a map of tuning constants, e.g. {BLOCK: [64, 128, 256]}"));
    if (c->dim_count + variants->count > CUPEL_DIM_MAX)
        return cupel_reader_expected(r, variants, "at most %d dims and variants together", CUPEL_DIM_MAX);
    for (int i = 0; i < variants->count; i++) {
        const cupel_yaml *list = variants->items[i];
        cupel_dim *dim = &c->dims[c->dim_count];
        CUPEL_TRY(cupel_reader_list(r, list, "a list of values, e.g. [64, 128, 256]"));
        CUPEL_TRY(cupel_reader_at_most(r, list, list->count, CUPEL_VARIANT_VALUES_MAX, "values"));
        CUPEL_TRY(cupel_reader_declare(r, variants->keys[i], CUPEL_NAME_DIM, c->dim_count));
        dim->name = variants->keys[i]->value;
        CUPEL_TRY(read_dim_list(r, list, dim));
        CUPEL_TRY(cupel_reader_integer(r, list->items[0]->text, "an integer", 0, extent_max, &dim->first));
        dim->variant = true;
        combinations *= dim->value_count;
        c->dim_count++;
        c->variant_count++;
        if (combinations > CUPEL_VARIANT_COMBINATIONS_MAX)
            return cupel_reader_expected(
                r, list, "at most %d combinations of variants, and with this list there are %lld",
                CUPEL_VARIANT_COMBINATIONS_MAX, (long long)combinations);
    }
    return CUPEL_OK;
}

static cupel_code read_types(cupel_reader *r, const cupel_yaml *types) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_map(r, types, "a map of type variables, e.g. {T: [f32, f16]}"));
    CUPEL_TRY(cupel_reader_at_most(r, types, types->count, CUPEL_TYPE_MAX, "type variables"));
    for (int i = 0; i < types->count; i++) {
        cupel_type_variable *variable = &c->types[i];
        const cupel_yaml *claimed = types->items[i];
        CUPEL_TRY(cupel_reader_declare(r, types->keys[i], CUPEL_NAME_TYPE, i));
        variable->name = types->keys[i]->value;
        CUPEL_TRY(cupel_reader_list(r, claimed, "a list of element types, e.g. [f32, f16]"));
        if (claimed->count == 0)
            return cupel_reader_expected(r, claimed, "at least one type for '%s'", variable->name);
        for (int k = 0; k < claimed->count; k++) {
            const cupel_yaml *item = claimed->items[k];
            cupel_dtype type;
            CUPEL_TRY(cupel_reader_text(r, item, "an element type"));
            CUPEL_TRY(cupel_reader_dtype(r, item->text, item->value, &type));
            for (int j = 0; j < k; j++)
                if (variable->claimed[j] == type)
                    return cupel_reader_expected(r, item, "each type of '%s' once", variable->name);
            variable->claimed[k] = type;
            variable->count = k + 1;
        }
        c->type_count = i + 1;
    }
    return CUPEL_OK;
}

static cupel_code read_param_range(cupel_reader *r, const cupel_yaml *range, cupel_param *param) {
    if (range->kind != CUPEL_YAML_LIST || range->count != 2)
        return cupel_reader_expected(r, range, "a range of two numbers, e.g. [0.01, 10]");
    bool lo_integral, hi_integral;
    CUPEL_TRY(cupel_reader_number(r, range->items[0], "a finite number", &param->lo, &lo_integral));
    CUPEL_TRY(cupel_reader_number(r, range->items[1], "a finite number", &param->hi, &hi_integral));
    if (param->lo > param->hi)
        return cupel_reader_expected(r, range->items[0], "a lower end that is not above the upper end");
    param->kind = CUPEL_PARAM_RANGE;
    param->integral = lo_integral && hi_integral;
    return CUPEL_OK;
}

static cupel_code read_param_choices(cupel_reader *r, const cupel_yaml *list, cupel_param *param) {
    CUPEL_TRY(cupel_reader_list(r, list, "a list of numbers, e.g. [0, 1]"));
    if (list->count == 0) return cupel_reader_expected(r, list, "at least one value for '%s'", param->name);
    double *values = cupel_arena_alloc(r->arena, sizeof *values * (size_t)list->count);
    if (!values) return cupel_reader_memory(r);
    param->integral = true;
    for (int i = 0; i < list->count; i++) {
        bool integral;
        CUPEL_TRY(cupel_reader_value(r, list->items[i], "a number", &values[i], &integral));
        param->integral = param->integral && integral;
    }
    param->kind = CUPEL_PARAM_ONE_OF;
    param->value_count = list->count;
    param->values = values;
    return CUPEL_OK;
}

static cupel_code read_param(cupel_reader *r, const cupel_yaml *node, cupel_param *param) {
    static const cupel_reader_key keys[] = {{"range", NULL}, {"one_of", NULL}};
    if (node->kind != CUPEL_YAML_MAP) {
        param->kind = CUPEL_PARAM_FIXED;
        CUPEL_TRY(cupel_reader_value(r, node, "a number, {range: [lo, hi]} or {one_of: [..]}", &param->lo,
                                     &param->integral));
        param->hi = param->lo;
        return CUPEL_OK;
    }
    CUPEL_TRY(cupel_reader_keys(r, node, "a param", keys, 2));
    if (node->count != 1) return cupel_reader_expected(r, node, "either 'range' or 'one_of'");
    const cupel_yaml *range = cupel_contract_yaml_get(node, "range");
    return range ? read_param_range(r, range, param) : read_param_choices(r, node->items[0], param);
}

static cupel_code read_params(cupel_reader *r, const cupel_yaml *params) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_map(r, params, "a map of params, e.g. {eps: 1e-5}"));
    CUPEL_TRY(cupel_reader_at_most(r, params, params->count, CUPEL_PARAM_MAX, "params"));
    for (int i = 0; i < params->count; i++) {
        CUPEL_TRY(cupel_reader_declare(r, params->keys[i], CUPEL_NAME_PARAM, i));
        c->params[i].name = params->keys[i]->value;
        CUPEL_TRY(read_param(r, params->items[i], &c->params[i]));
        c->param_count = i + 1;
    }
    return CUPEL_OK;
}

/* Lets may refer to each other in any order; they are stored so that each stands behind those it needs. */
typedef struct let_order {
    cupel_reader *r;
    const cupel_yaml *lets;
    cupel_scalar_expr **exprs;
    int state[CUPEL_LET_MAX]; /* 0 new, 1 being placed, 2 placed */
    cupel_let sorted[CUPEL_LET_MAX];
    int count;
} let_order;

static cupel_code place_let(let_order *order, int index);

static cupel_code place_let_name(void *self, const char *name, cupel_span place, cupel_error *err) {
    let_order *order = self;
    const cupel_reader_name *known = cupel_reader_find(order->r, name);
    if (!known || known->kind != CUPEL_NAME_LET || order->state[known->index] == 2) return CUPEL_OK;
    if (order->state[known->index] == 1)
        return cupel_fail_span(err, CUPEL_CONTRACT, place,
                               "expected a let that does not depend on itself, found '%s'", name);
    return place_let(order, known->index);
}

static cupel_code place_let(let_order *order, int index) {
    order->state[index] = 1;
    CUPEL_TRY(cupel_scalar_names(order->exprs[index], place_let_name, order, order->r->err));
    order->state[index] = 2;
    order->sorted[order->count++] = (cupel_let){order->lets->keys[index]->value, order->exprs[index]};
    return CUPEL_OK;
}

static cupel_code read_lets(cupel_reader *r, const cupel_yaml *lets) {
    CUPEL_TRY(cupel_reader_map(r, lets, "a map of integers, e.g. {G: \"ceil_div(N, 1024)\"}"));
    CUPEL_TRY(cupel_reader_at_most(r, lets, lets->count, CUPEL_LET_MAX, "lets"));
    cupel_scalar_expr *exprs[CUPEL_LET_MAX];
    for (int i = 0; i < lets->count; i++)
        CUPEL_TRY(cupel_reader_declare(r, lets->keys[i], CUPEL_NAME_LET, i));
    for (int i = 0; i < lets->count; i++)
        CUPEL_TRY(cupel_reader_scalar_node(r, lets->items[i], "an integer expression over dims",
                                           CUPEL_NAME_DIM | CUPEL_NAME_LET, &exprs[i]));
    let_order order = {.r = r, .lets = lets, .exprs = exprs};
    for (int i = 0; i < lets->count; i++)
        if (order.state[i] == 0) CUPEL_TRY(place_let(&order, i));
    memcpy(r->contract->lets, order.sorted, sizeof order.sorted);
    r->contract->let_count = order.count;
    return CUPEL_OK;
}

static cupel_code read_requires(cupel_reader *r, const cupel_yaml *list) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_list(r, list, "a list of conditions, e.g. [\"N % 4 == 0\"]"));
    CUPEL_TRY(cupel_reader_at_most(r, list, list->count, CUPEL_REQUIRE_MAX, "conditions"));
    c->requires_ = cupel_arena_alloc(r->arena, sizeof(*c->requires_) * CUPEL_REQUIRE_MAX);
    if (!c->requires_) return cupel_reader_memory(r);
    for (int i = 0; i < list->count; i++) {
        CUPEL_TRY(cupel_reader_scalar_node(r, list->items[i], "a condition over dims",
                                           CUPEL_NAME_DIM | CUPEL_NAME_LET, &c->requires_[i]));
        c->require_count = i + 1;
    }
    return CUPEL_OK;
}

cupel_code cupel_contract_read_scope(cupel_reader *r, const cupel_yaml *root) {
    const cupel_yaml *types = cupel_contract_yaml_get(root, "types"),
                     *params = cupel_contract_yaml_get(root, "params"),
                     *lets = cupel_contract_yaml_get(root, "let"),
                     *conditions = cupel_contract_yaml_get(root, "requires");
    const cupel_yaml *variants = cupel_contract_yaml_get(root, "variants");
    CUPEL_TRY(read_dims(r, cupel_contract_yaml_get(root, "dims")));
    if (variants) CUPEL_TRY(read_variants(r, variants));
    if (types) CUPEL_TRY(read_types(r, types));
    if (params) CUPEL_TRY(read_params(r, params));
    if (lets) CUPEL_TRY(read_lets(r, lets));
    return conditions ? read_requires(r, conditions) : CUPEL_OK;
}
