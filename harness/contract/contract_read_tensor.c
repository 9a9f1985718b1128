/* inputs, outputs, scratch: the tensors, in short form "T[M, N]" or in long form. */
#include <math.h>
#include <string.h>

#include "contract_reader.h"

static const char *const layout_words[] = {"contiguous", "any",      "padded",  "transposed",
                                           "sliced",     "expanded", "reversed"};
static const int layout_masks[] = {0,
                                   CUPEL_LAYOUT_ANY,
                                   CUPEL_LAYOUT_PADDED,
                                   CUPEL_LAYOUT_TRANSPOSED,
                                   CUPEL_LAYOUT_SLICED,
                                   CUPEL_LAYOUT_EXPANDED,
                                   CUPEL_LAYOUT_REVERSED};

static cupel_code read_layouts(cupel_reader *r, const cupel_yaml *node, int *out) {
    int choice;
    *out = 0;
    if (node->kind != CUPEL_YAML_LIST) {
        CUPEL_TRY(cupel_reader_choice(r, node, layout_words, 2, &choice));
        *out = layout_masks[choice];
        return CUPEL_OK;
    }
    for (int i = 0; i < node->count; i++) {
        /* "any" is no member of a list */
        CUPEL_TRY(cupel_reader_choice(r, node->items[i], layout_words + 2, 5, &choice));
        *out |= layout_masks[choice + 2];
    }
    return CUPEL_OK;
}

static cupel_code read_type(cupel_reader *r, cupel_span text, cupel_tensor_decl *t) {
    const char *name = cupel_arena_text(r->arena, text.text, text.length);
    if (!name) return cupel_reader_memory(r);
    const cupel_reader_name *known = cupel_reader_find(r, name);
    t->type_variable = -1;
    if (!known) return cupel_reader_dtype(r, text, name, &t->type);
    if (known->kind != CUPEL_NAME_TYPE) return cupel_reader_unknown(r, text, name, CUPEL_NAME_TYPE);
    t->type_variable = known->index;
    return CUPEL_OK;
}

static cupel_code add_extent(cupel_reader *r, cupel_span text, cupel_tensor_decl *t) {
    if (t->rank == CUPEL_RANK_MAX)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, text, "expected at most %d axes, found more",
                               CUPEL_RANK_MAX);
    return cupel_reader_scalar(r, text, CUPEL_NAME_DIM | CUPEL_NAME_LET, &t->shape[t->rank++]);
}

static cupel_span trim(cupel_span text, size_t start, size_t end) {
    while (start < end && strchr(" \n\r", text.text[start])) start++;
    while (end > start && strchr(" \n\r", text.text[end - 1])) end--;
    return cupel_span_part(text, start, end);
}

/* T[M, ceil_div(N, 4)] */
static cupel_code read_short_form(cupel_reader *r, const cupel_yaml *node, cupel_tensor_decl *t) {
    static const char form[] = "a type with a shape, e.g. \"T[M, N]\"";
    CUPEL_TRY(cupel_reader_text(r, node, form));
    cupel_span text = node->text;
    const char *bracket = memchr(text.text, '[', text.length);
    size_t end = text.length;
    while (end > 0 && strchr(" \n\r", text.text[end - 1])) end--;
    if (!bracket || end == 0 || text.text[end - 1] != ']') return cupel_reader_expected(r, node, "%s", form);
    size_t open = (size_t)(bracket - text.text), start = open + 1;
    CUPEL_TRY(read_type(r, trim(text, 0, open), t));
    int depth = 0;
    if (trim(text, start, end - 1).length == 0) return CUPEL_OK; /* T[]: a single element */
    for (size_t i = start; i < end; i++) {
        depth += (text.text[i] == '(') - (text.text[i] == ')');
        if (i + 1 < end && (text.text[i] != ',' || depth > 0)) continue;
        CUPEL_TRY(add_extent(r, trim(text, start, i), t));
        start = i + 1;
    }
    return CUPEL_OK;
}

static size_t largest_element(const cupel_contract *c, const cupel_tensor_decl *t) {
    if (t->type_variable < 0) return cupel_format_of(t->type)->size;
    size_t size = 0;
    for (int i = 0; i < c->types[t->type_variable].count; i++) {
        size_t s = cupel_format_of(c->types[t->type_variable].claimed[i])->size;
        if (s > size) size = s;
    }
    return size;
}

static cupel_code read_align(cupel_reader *r, const cupel_yaml *node, cupel_tensor_decl *t) {
    CUPEL_TRY(cupel_reader_text(r, node, "a power of two, or 'element'"));
    t->align_element = strcmp(node->value, "element") == 0;
    if (t->align_element) {
        t->align = (int)largest_element(r->contract, t);
        return CUPEL_OK;
    }
    int64_t align;
    CUPEL_TRY(cupel_reader_integer(r, node->text, "'element' or an alignment in bytes", 1, 4096, &align));
    if (align & (align - 1)) return cupel_reader_expected(r, node, "a power of two, or 'element'");
    size_t element = largest_element(r->contract, t);
    if (align < (int64_t)element)
        return cupel_reader_expected(r, node, "at least the size of an element, %zu", element);
    t->align = (int)align;
    return CUPEL_OK;
}

static cupel_code for_each_type(cupel_reader *r, const cupel_tensor_decl *t, const cupel_yaml *node,
                                cupel_code (*check)(cupel_reader *r, const cupel_tensor_decl *t,
                                                    const cupel_yaml *node, cupel_dtype type)) {
    if (t->type_variable < 0) return check(r, t, node, t->type);
    const cupel_type_variable *variable = &r->contract->types[t->type_variable];
    for (int i = 0; i < variable->count; i++) CUPEL_TRY(check(r, t, node, variable->claimed[i]));
    return CUPEL_OK;
}

/* The bounds are rounded to the element type, so both must still be finite there. */
static cupel_code check_range(cupel_reader *r, const cupel_tensor_decl *t, const cupel_yaml *node,
                              cupel_dtype type) {
    const cupel_format *format = cupel_format_of(type);
    double lo = t->range_lo, hi = t->range_hi, least, most;
    if (format->kind == CUPEL_KIND_REAL) {
        if (isfinite(cupel_round(type, lo)) && isfinite(cupel_round(type, hi))) return CUPEL_OK;
        return cupel_reader_expected(r, node, "bounds within %s (largest %g)", format->name,
                                     cupel_format_largest(type));
    }
    int bits = (int)format->size * 8;
    least = format->kind == CUPEL_KIND_SIGNED ? -ldexp(1, bits - 1) : 0;
    most = format->kind == CUPEL_KIND_SIGNED ? ldexp(1, bits - 1) - 1 : ldexp(1, bits) - 1;
    if (format->kind == CUPEL_KIND_BOOLEAN) most = 1;
    if (ceil(lo) <= floor(hi) && lo >= least && hi <= most) return CUPEL_OK;
    return cupel_reader_expected(r, node, "a range with integers of %s in it (%g..%g)", format->name, least,
                                 most);
}

static cupel_code read_range(cupel_reader *r, const cupel_yaml *node, cupel_tensor_decl *t) {
    if (node->kind != CUPEL_YAML_LIST || node->count != 2)
        return cupel_reader_expected(r, node, "a range of two numbers, e.g. [-10, 10]");
    CUPEL_TRY(cupel_reader_number(r, node->items[0], "a finite number", &t->range_lo, NULL));
    CUPEL_TRY(cupel_reader_number(r, node->items[1], "a finite number", &t->range_hi, NULL));
    if (t->range_lo > t->range_hi)
        return cupel_reader_expected(r, node->items[0], "a lower end that is not above the upper end");
    t->has_range = t->finite = true;
    return for_each_type(r, t, node, check_range);
}

static cupel_code check_integral(cupel_reader *r, const cupel_tensor_decl *t, const cupel_yaml *node,
                                 cupel_dtype type) {
    if (cupel_format_of(type)->kind == CUPEL_KIND_SIGNED ||
        cupel_format_of(type)->kind == CUPEL_KIND_UNSIGNED)
        return CUPEL_OK;
    return cupel_reader_expected(r, node, "'below' on a tensor of integers ('%s' may be %s)", t->name,
                                 cupel_format_of(type)->name);
}

static cupel_code read_preconditions(cupel_reader *r, const cupel_yaml *map, cupel_tensor_decl *t) {
    const cupel_yaml *range = cupel_contract_yaml_get(map, "range"),
                     *finite = cupel_contract_yaml_get(map, "finite"),
                     *below = cupel_contract_yaml_get(map, "below"),
                     *sorted = cupel_contract_yaml_get(map, "sorted");
    const cupel_yaml *any = range ? range : finite ? finite : below ? below : sorted;
    if (any && !(t->roles & CUPEL_ROLE_INPUT))
        return cupel_reader_expected(r, any, "preconditions on inputs only ('%s' is none)", t->name);
    if (finite) CUPEL_TRY(cupel_reader_flag(r, finite, &t->finite));
    if (range && finite && !t->finite)
        return cupel_reader_expected(r, finite, "true, since 'range' implies it");
    if (range) CUPEL_TRY(read_range(r, range, t));
    if (sorted) CUPEL_TRY(cupel_reader_flag(r, sorted, &t->sorted));
    if (!below) return CUPEL_OK;
    CUPEL_TRY(for_each_type(r, t, below, check_integral));
    return cupel_reader_scalar_node(r, below, "an integer expression over dims",
                                    CUPEL_NAME_DIM | CUPEL_NAME_LET, &t->below);
}

static cupel_code read_long_form(cupel_reader *r, const cupel_yaml *map, cupel_tensor_decl *t) {
    static const cupel_reader_key keys[] = {{"type", NULL},   {"shape", NULL},  {"align", NULL},
                                            {"range", NULL},  {"finite", NULL}, {"below", NULL},
                                            {"sorted", NULL}, {"layout", NULL}, {"init", NULL}};
    CUPEL_TRY(cupel_reader_keys(r, map, "a tensor", keys, sizeof keys / sizeof *keys));
    const cupel_yaml *type = cupel_contract_yaml_get(map, "type"),
                     *shape = cupel_contract_yaml_get(map, "shape"),
                     *align = cupel_contract_yaml_get(map, "align"),
                     *layout = cupel_contract_yaml_get(map, "layout"),
                     *init = cupel_contract_yaml_get(map, "init");
    if (!type || !shape) return cupel_reader_expected(r, map, "a tensor with 'type' and 'shape'");
    CUPEL_TRY(cupel_reader_text(r, type, "an element type or type variable"));
    CUPEL_TRY(read_type(r, type->text, t));
    CUPEL_TRY(cupel_reader_list(r, shape, "a list of extents, e.g. [M, N]"));
    for (int i = 0; i < shape->count; i++) {
        CUPEL_TRY(cupel_reader_text(r, shape->items[i], "an extent"));
        CUPEL_TRY(add_extent(r, shape->items[i]->text, t));
    }
    if (align) CUPEL_TRY(read_align(r, align, t));
    CUPEL_TRY(read_preconditions(r, map, t));
    if (layout) CUPEL_TRY(read_layouts(r, layout, &t->layouts));
    if (layout && layout->kind == CUPEL_YAML_LIST && (t->layouts & CUPEL_LAYOUT_EXPANDED) &&
        (t->roles & CUPEL_ROLE_OUTPUT))
        return cupel_reader_expected(r, layout,
                                     "no expanded layout on an output (its elements would overlap)");
    if (!init) return CUPEL_OK;
    if (t->roles & CUPEL_ROLE_INPUT)
        return cupel_reader_expected(
            r, init, "'init' on outputs and scratch only (the content of an input is the case's)");
    t->init = CUPEL_INIT_EXPRESSION;
    return cupel_reader_tensor_expr(r, init, "a number or an expression", false, &t->init_expr);
}

static bool same_declaration(const cupel_tensor_decl *a, const cupel_tensor_decl *b) {
    if (a->type_variable != b->type_variable || (a->type_variable < 0 && a->type != b->type) ||
        a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        cupel_span x = cupel_scalar_text(a->shape[i]), y = cupel_scalar_text(b->shape[i]);
        size_t p = 0, q = 0;
        for (;;) { /* blanks do not matter */
            while (p < x.length && x.text[p] == ' ') p++;
            while (q < y.length && y.text[q] == ' ') q++;
            if (p == x.length || q == y.length) break;
            if (x.text[p++] != y.text[q++]) return false;
        }
        if (p != x.length || q != y.length) return false;
    }
    return true;
}

/* An output that is an input as well: updated in place, declared once, by the input. */
static cupel_code read_in_place(cupel_reader *r, const cupel_yaml *key, const cupel_yaml *node, int index) {
    cupel_tensor_decl *input = &r->contract->tensors[index];
    if (!(input->roles & CUPEL_ROLE_INPUT) || (input->roles & CUPEL_ROLE_OUTPUT))
        return cupel_reader_expected(r, key, "a name for the tensor that no tensor bears (line %d)",
                                     input->place.line);
    cupel_tensor_decl output = {.name = input->name, .roles = CUPEL_ROLE_OUTPUT};
    if (node->kind == CUPEL_YAML_MAP) {
        for (int i = 0; i < node->count; i++)
            if (strcmp(node->keys[i]->value, "type") != 0 && strcmp(node->keys[i]->value, "shape") != 0)
                return cupel_reader_expected(
                    r, node->keys[i],
                    "only 'type' and 'shape' here: '%s' is an input too, which says the rest", input->name);
        CUPEL_TRY(read_long_form(r, node, &output));
    } else {
        CUPEL_TRY(read_short_form(r, node, &output));
    }
    if (!same_declaration(input, &output))
        return cupel_reader_expected(r, node, "the same type and shape as the input '%s' in line %d",
                                     input->name, input->place.line);
    input->roles |= CUPEL_ROLE_OUTPUT;
    return CUPEL_OK;
}

static cupel_code read_tensor(cupel_reader *r, const cupel_yaml *key, const cupel_yaml *node, int role) {
    cupel_contract *c = r->contract;
    const cupel_reader_name *known = cupel_reader_find(r, key->value);
    if (role == CUPEL_ROLE_OUTPUT && known && known->kind == CUPEL_NAME_TENSOR)
        return read_in_place(r, key, node, known->index);
    if (c->tensor_count == CUPEL_TENSOR_MAX)
        return cupel_reader_expected(r, key, "at most %d tensors", CUPEL_TENSOR_MAX);
    CUPEL_TRY(cupel_reader_declare(r, key, CUPEL_NAME_TENSOR, c->tensor_count));
    cupel_tensor_decl *t = &c->tensors[c->tensor_count++];
    t->name = key->value;
    t->place = key->text;
    t->roles = role;
    t->align = 256;
    t->layouts = -1; /* the contract's, told apart from "contiguous" */
    return node->kind == CUPEL_YAML_MAP ? read_long_form(r, node, t) : read_short_form(r, node, t);
}

static cupel_code read_tensors(cupel_reader *r, const cupel_yaml *map, const char *what, int role) {
    CUPEL_TRY(cupel_reader_map(r, map, what));
    for (int i = 0; i < map->count; i++) CUPEL_TRY(read_tensor(r, map->keys[i], map->items[i], role));
    return CUPEL_OK;
}

cupel_code cupel_contract_read_tensors(cupel_reader *r, const cupel_yaml *root) {
    cupel_contract *c = r->contract;
    const cupel_yaml *outputs = cupel_contract_yaml_get(root, "outputs"),
                     *scratch = cupel_contract_yaml_get(root, "scratch"),
                     *layouts = cupel_contract_yaml_get(root, "layouts");
    int claimed = 0;
    if (layouts) CUPEL_TRY(read_layouts(r, layouts, &claimed));
    CUPEL_TRY(read_tensors(r, cupel_contract_yaml_get(root, "inputs"),
                           "a map of inputs, e.g. {x: \"T[M, N]\"}", CUPEL_ROLE_INPUT));
    CUPEL_TRY(read_tensors(r, outputs, "a map of outputs, e.g. {y: \"T[M, N]\"}", CUPEL_ROLE_OUTPUT));
    if (outputs->count == 0) return cupel_reader_expected(r, outputs, "at least one output");
    if (scratch)
        CUPEL_TRY(
            read_tensors(r, scratch, "a map of scratch buffers, e.g. {w: \"f32[G]\"}", CUPEL_ROLE_SCRATCH));
    for (int i = 0; i < c->tensor_count; i++) {
        cupel_tensor_decl *t = &c->tensors[i];
        if (t->layouts < 0) t->layouts = t->roles & CUPEL_ROLE_SCRATCH ? 0 : claimed;
        if (t->roles & CUPEL_ROLE_OUTPUT) t->layouts &= ~CUPEL_LAYOUT_EXPANDED;
    }
    return CUPEL_OK;
}
