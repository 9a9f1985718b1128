/* define, ensures, tolerance, may_alias and the single-word claims: what holds after the kernel has run, and
 * how exactly. */
#include <string.h>

#include "contract_reader.h"

typedef struct define_order {
    cupel_reader *r;
    int state[CUPEL_DEFINE_MAX]; /* 0 new, 1 being followed, 2 done */
} define_order;

static cupel_code follow_define(define_order *order, int index);

static cupel_code follow_name(void *self, const cupel_expr *name, cupel_error *err) {
    define_order *order = self;
    const cupel_reader_name *known = cupel_reader_find(order->r, name->name);
    if (!known || known->kind != CUPEL_NAME_DEFINE || order->state[known->index] == 2) return CUPEL_OK;
    if (order->state[known->index] == 1)
        return cupel_fail_span(err, CUPEL_CONTRACT, name->place,
                               "expected a define that does not depend on itself, found '%s'", name->name);
    return follow_define(order, known->index);
}

static cupel_code follow_define(define_order *order, int index) {
    order->state[index] = 1;
    CUPEL_TRY(cupel_expr_names(order->r->contract->defines[index].expr, follow_name, order, order->r->err));
    order->state[index] = 2;
    return CUPEL_OK;
}

static cupel_code read_defines(cupel_reader *r, const cupel_yaml *map) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(cupel_reader_map(r, map, "a map of expressions, e.g. {s: \"x * scale\"}"));
    CUPEL_TRY(cupel_reader_at_most(r, map, map->count, CUPEL_DEFINE_MAX, "defines"));
    c->defines = cupel_arena_alloc(r->arena, sizeof *c->defines * CUPEL_DEFINE_MAX);
    if (!c->defines) return cupel_reader_memory(r);
    for (int i = 0; i < map->count; i++)
        CUPEL_TRY(cupel_reader_declare(r, map->keys[i], CUPEL_NAME_DEFINE, i));
    for (int i = 0; i < map->count; i++) {
        c->defines[i].name = map->keys[i]->value;
        CUPEL_TRY(cupel_reader_tensor_expr(r, map->items[i], "an expression", false, &c->defines[i].expr));
    }
    c->define_count = map->count;
    define_order order = {.r = r};
    for (int i = 0; i < map->count; i++) CUPEL_TRY(follow_define(&order, i));
    return CUPEL_OK;
}

/* The output that a key of ensures or tolerance names. */
static cupel_code find_output(cupel_reader *r, const cupel_yaml *key, cupel_tensor_decl **out) {
    cupel_contract *c = r->contract;
    const char *outputs[CUPEL_TENSOR_MAX];
    size_t count = 0;
    for (int i = 0; i < c->tensor_count; i++) {
        if (!(c->tensors[i].roles & CUPEL_ROLE_OUTPUT)) continue;
        outputs[count++] = c->tensors[i].name;
        if (strcmp(c->tensors[i].name, key->value) == 0) {
            *out = &c->tensors[i];
            return CUPEL_OK;
        }
    }
    return cupel_fail_span(r->err, CUPEL_CONTRACT, key->text, "expected an output, found '%s'%s", key->value,
                           cupel_reader_hint(r, key->value, outputs, count));
}

static cupel_code read_ensures(cupel_reader *r, const cupel_yaml *map) {
    cupel_contract *c = r->contract;
    CUPEL_TRY(
        cupel_reader_map(r, map, "a map from outputs to expressions, e.g. {y: \"softmax(x, axis=-1)\"}"));
    for (int i = 0; i < map->count; i++) {
        cupel_tensor_decl *output;
        CUPEL_TRY(find_output(r, map->keys[i], &output));
        CUPEL_TRY(cupel_reader_tensor_expr(r, map->items[i], "an expression", true, &output->ensures));
    }
    for (int i = 0; i < c->tensor_count; i++)
        if ((c->tensors[i].roles & CUPEL_ROLE_OUTPUT) && !c->tensors[i].ensures)
            return cupel_fail_span(r->err, CUPEL_CONTRACT, map->text,
                                   "expected an expression for each output, found none for '%s'",
                                   c->tensors[i].name);
    return CUPEL_OK;
}

static cupel_code read_tolerance(cupel_reader *r, const cupel_yaml *map) {
    static const cupel_reader_key keys[] = {{"abs", NULL}, {"rel", NULL}};
    CUPEL_TRY(cupel_reader_map(r, map, "a map, e.g. {y: {abs: 1e-2, rel: 1e-2}}"));
    for (int i = 0; i < map->count; i++) {
        cupel_tensor_decl *output;
        const cupel_yaml *figures = map->items[i];
        CUPEL_TRY(find_output(r, map->keys[i], &output));
        CUPEL_TRY(cupel_reader_map(r, figures, "figures, e.g. {abs: 1e-2, rel: 1e-2}"));
        CUPEL_TRY(cupel_reader_keys(r, figures, "a tolerance", keys, 2));
        if (figures->count == 0) return cupel_reader_expected(r, figures, "'abs', 'rel' or both");
        for (int k = 0; k < figures->count; k++) {
            double value;
            CUPEL_TRY(
                cupel_reader_number(r, figures->items[k], "a finite number of at least 0", &value, NULL));
            /* written so that a NaN cannot pass */
            if (!(value >= 0))
                return cupel_reader_expected(r, figures->items[k], "a finite number of at least 0");
            if (strcmp(figures->keys[k]->value, "abs") == 0)
                output->tolerance_abs = value;
            else
                output->tolerance_rel = value;
        }
        output->has_tolerance = true;
    }
    return CUPEL_OK;
}

static cupel_code read_alias_end(cupel_reader *r, const cupel_yaml *node, int *tensor) {
    CUPEL_TRY(cupel_reader_text(r, node, "a tensor's name"));
    const cupel_reader_name *known = cupel_reader_find(r, node->value);
    if (!known || known->kind != CUPEL_NAME_TENSOR)
        return cupel_reader_unknown(r, node->text, node->value, CUPEL_NAME_TENSOR);
    if (r->contract->tensors[known->index].roles & CUPEL_ROLE_SCRATCH)
        return cupel_reader_expected(r, node, "an input or output");
    *tensor = known->index;
    return CUPEL_OK;
}

static cupel_code read_aliases(cupel_reader *r, const cupel_yaml *list) {
    cupel_contract *c = r->contract;
    static const char form[] = "a list of pairs, e.g. [[x, y]]";
    CUPEL_TRY(cupel_reader_list(r, list, form));
    CUPEL_TRY(cupel_reader_at_most(r, list, list->count, CUPEL_ALIAS_MAX, "pairs"));
    for (int i = 0; i < list->count; i++) {
        const cupel_yaml *pair = list->items[i];
        if (pair->kind != CUPEL_YAML_LIST || pair->count != 2)
            return cupel_reader_expected(r, pair, "%s", form);
        int *ends = c->aliases[i];
        CUPEL_TRY(read_alias_end(r, pair->items[0], &ends[0]));
        CUPEL_TRY(read_alias_end(r, pair->items[1], &ends[1]));
        if (ends[0] == ends[1]) return cupel_reader_expected(r, pair->items[1], "two different tensors");
        for (int k = 0; k < i; k++) {
            const int *other = c->aliases[k];
            if ((other[0] == ends[0] && other[1] == ends[1]) || (other[0] == ends[1] && other[1] == ends[0]))
                return cupel_reader_expected(r, pair->items[0], "each pair once");
        }
        const cupel_tensor_decl *a = &c->tensors[ends[0]], *b = &c->tensors[ends[1]];
        bool type = a->type_variable == b->type_variable && (a->type_variable >= 0 || a->type == b->type);
        if (!type || a->rank != b->rank)
            return cupel_fail_span(r->err, CUPEL_CONTRACT, pair->items[0]->text,
                                   "expected tensors of equal type and shape, found '%s' and '%s'", a->name,
                                   b->name);
        c->alias_count = i + 1;
    }
    return CUPEL_OK;
}

static cupel_code read_words(cupel_reader *r, const cupel_yaml *root) {
    static const char *const math[] = {"fast", "precise"}, *const subnormals[] = {"keep", "flush"},
                             *const range[] = {"working", "safe"}, *const order[] = {"any", "sequential"},
                             *const deterministic[] = {"auto", "true", "false", "across_variants"},
                             *const accumulate[] = {"f32", "f64", "f16", "bf16"},
                             *const products[] = {"tf32", "bf16", "f16"}, *const kinks[] = {"torch", "any"};
    static const cupel_dtype accumulate_types[] = {CUPEL_F32, CUPEL_F64, CUPEL_F16, CUPEL_BF16},
                             product_types[] = {CUPEL_TF32, CUPEL_BF16, CUPEL_F16};
    cupel_contract *c = r->contract;
    const cupel_yaml *node;
    int choice;
    c->math_fast = true;
    if ((node = cupel_contract_yaml_get(root, "math"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, math, 2, &choice));
        c->math_fast = choice == 0;
    }
    if ((node = cupel_contract_yaml_get(root, "subnormals"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, subnormals, 2, &choice));
        c->subnormals = choice == 0 ? CUPEL_SUBNORMALS_KEEP : CUPEL_SUBNORMALS_FLUSH;
    }
    if ((node = cupel_contract_yaml_get(root, "range"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, range, 2, &choice));
        c->range_safe = choice == 1;
    }
    if ((node = cupel_contract_yaml_get(root, "order"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, order, 2, &choice));
        c->sequential = choice == 1;
    }
    if ((node = cupel_contract_yaml_get(root, "deterministic"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, deterministic, 4, &choice));
        if (choice == CUPEL_DETERMINISTIC_ACROSS_VARIANTS && c->variant_count == 0)
            return cupel_reader_expected(r, node, "'variants' in the contract beside it");
        c->deterministic = (cupel_deterministic)choice;
    }
    if ((node = cupel_contract_yaml_get(root, "accumulate"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, accumulate, 4, &choice));
        c->has_accumulate = true;
        c->accumulate = accumulate_types[choice];
    }
    if ((node = cupel_contract_yaml_get(root, "products"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, products, 3, &choice));
        c->has_products = true;
        c->products = product_types[choice];
    }
    if ((node = cupel_contract_yaml_get(root, "kinks"))) {
        CUPEL_TRY(cupel_reader_choice(r, node, kinks, 2, &choice));
        c->kinks_any = choice == 1;
    }
    return CUPEL_OK;
}

cupel_code cupel_contract_read_claims(cupel_reader *r, const cupel_yaml *root) {
    const cupel_yaml *define = cupel_contract_yaml_get(root, "define"),
                     *tolerance = cupel_contract_yaml_get(root, "tolerance"),
                     *alias = cupel_contract_yaml_get(root, "may_alias");
    if (define) CUPEL_TRY(read_defines(r, define));
    CUPEL_TRY(read_ensures(r, cupel_contract_yaml_get(root, "ensures")));
    if (tolerance) CUPEL_TRY(read_tolerance(r, tolerance));
    if (alias) CUPEL_TRY(read_aliases(r, alias));
    return read_words(r, root);
}
