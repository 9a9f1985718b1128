/* kernel: one launch, or a list that is run in order. */
#include <ctype.h>
#include <string.h>

#include "contract_reader.h"

static const int launch_names = CUPEL_NAME_DIM | CUPEL_NAME_LET | CUPEL_NAME_PARAM | CUPEL_NAME_TENSOR;

/* The C types that an argument may be given. */
static cupel_code read_arg_type(cupel_reader *r, const cupel_yaml *node, cupel_launch_arg *arg) {
    CUPEL_TRY(cupel_reader_text(r, node, "a type, e.g. i64"));
    const cupel_reader_name *known = cupel_reader_find(r, node->value);
    arg->typed = true;
    arg->type_variable = -1;
    if (known && known->kind == CUPEL_NAME_TYPE) {
        arg->type_variable = known->index;
        return CUPEL_OK;
    }
    if (known) return cupel_reader_unknown(r, node->text, node->value, CUPEL_NAME_TYPE);
    CUPEL_TRY(cupel_reader_dtype(r, node->text, node->value, &arg->type));
    if (arg->type == CUPEL_TF32 || arg->type == CUPEL_E4M3 || arg->type == CUPEL_E5M2)
        return cupel_reader_expected(r, node, "a type that an argument can have");
    return CUPEL_OK;
}

static cupel_code read_arg_value(cupel_reader *r, const cupel_yaml *node, cupel_launch_arg *arg) {
    static const char form[] = "a tensor, null, or an integer or real expression";
    CUPEL_TRY(cupel_reader_text(r, node, form));
    arg->place = node->text;
    if (node->plain && strcmp(node->value, "null") == 0) {
        arg->kind = CUPEL_ARG_NULL;
        return CUPEL_OK;
    }
    const cupel_reader_name *known = cupel_reader_find(r, node->value);
    if (known && known->kind == CUPEL_NAME_TENSOR) {
        arg->kind = CUPEL_ARG_TENSOR;
        arg->tensor = known->index;
        return CUPEL_OK;
    }
    arg->kind = CUPEL_ARG_SCALAR;
    CUPEL_TRY(cupel_scalar_parse(node->text, r->arena, &arg->expr, r->err));
    /* a word that is nothing known may be a tensor that was meant */
    if (!known && node->text.length > 0) {
        size_t n = 0;
        while (isalnum((unsigned char)node->value[n]) || node->value[n] == '_') n++;
        cupel_scalar value;
        static const cupel_scalar_env no_names = {0};
        if (node->value[n] == '\0' && cupel_scalar_eval(arg->expr, &no_names, &value, NULL) != CUPEL_OK)
            return cupel_reader_unknown(r, node->text, node->value, launch_names);
    }
    return cupel_reader_scalar(r, node->text, launch_names, &arg->expr);
}

static cupel_code read_arg(cupel_reader *r, const cupel_yaml *node, cupel_launch_arg *arg) {
    if (node->kind != CUPEL_YAML_MAP) return read_arg_value(r, node, arg);
    if (node->count != 1) return cupel_reader_expected(r, node, "a map of one entry, e.g. {\"M*N\": i64}");
    CUPEL_TRY(read_arg_value(r, node->keys[0], arg));
    if (arg->kind != CUPEL_ARG_SCALAR)
        return cupel_reader_expected(r, node->keys[0],
                                     "a number with a type (a tensor's type is stated where it is declared)");
    return read_arg_type(r, node->items[0], arg);
}

static cupel_code read_args(cupel_reader *r, const cupel_yaml *list, cupel_launch *launch) {
    CUPEL_TRY(cupel_reader_list(r, list, "a list of arguments, e.g. [x, y, M, N]"));
    CUPEL_TRY(cupel_reader_at_most(r, list, list->count, CUPEL_ARG_MAX, "arguments"));
    for (int i = 0; i < list->count; i++) {
        CUPEL_TRY(read_arg(r, list->items[i], &launch->args[i]));
        launch->arg_count = i + 1;
    }
    return CUPEL_OK;
}

static cupel_code read_extent(cupel_reader *r, const cupel_yaml *list, const char *what, int *rank,
                              cupel_scalar_expr **out) {
    if (list->kind != CUPEL_YAML_LIST || list->count < 1 || list->count > 3)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, list->text,
                               "expected a list of 1 to 3 integers for '%s', e.g. [M], found %s", what,
                               list->kind != CUPEL_YAML_LIST ? cupel_contract_yaml_found(list, r->arena)
                               : list->count == 0            ? "none"
                                                             : "more");
    for (int i = 0; i < list->count; i++)
        CUPEL_TRY(
            cupel_reader_scalar_node(r, list->items[i], "an integer expression", launch_names, &out[i]));
    *rank = list->count;
    return CUPEL_OK;
}

/* $NAME stands for the C++ type of a type variable, or for the value of a dim or let. */
static cupel_code check_holes(cupel_reader *r, const cupel_yaml *node) {
    const int allowed = CUPEL_NAME_TYPE | CUPEL_NAME_DIM | CUPEL_NAME_LET;
    cupel_span text = node->text;
    for (size_t at = 0; at < text.length; at++) {
        if (text.text[at] != '$') continue;
        size_t end = at + 1;
        while (end < text.length && (isalnum((unsigned char)text.text[end]) || text.text[end] == '_')) end++;
        const char *name = cupel_arena_text(r->arena, text.text + at + 1, end - at - 1);
        if (!name) return cupel_reader_memory(r);
        const cupel_reader_name *known = cupel_reader_find(r, name);
        if (!known || !(known->kind & allowed))
            return cupel_reader_unknown(r, cupel_span_part(text, at + 1, end), name, allowed);
    }
    return CUPEL_OK;
}

/* softmax<T> where $T is meant would reach the compiler as an unknown name. */
static cupel_code check_bare_types(cupel_reader *r, const cupel_yaml *node) {
    cupel_span text = node->text;
    for (size_t at = 0, end; at < text.length; at = end) {
        end = at;
        while (end < text.length && (isalnum((unsigned char)text.text[end]) || text.text[end] == '_')) end++;
        if (end == at) {
            end++;
            continue;
        }
        bool argument = at > 0 && strchr("<, ", text.text[at - 1]);
        const char *word = cupel_arena_text(r->arena, text.text + at, end - at);
        if (!word) return cupel_reader_memory(r);
        const cupel_reader_name *known = cupel_reader_find(r, word);
        if (argument && known && known->kind == CUPEL_NAME_TYPE)
            return cupel_fail_span(r->err, CUPEL_CONTRACT, cupel_span_part(text, at, end),
                                   "expected '$%s' for the type variable, found '%s'", word, word);
    }
    return CUPEL_OK;
}

static cupel_code read_entry(cupel_reader *r, const cupel_yaml *node, bool host, cupel_launch *launch) {
    CUPEL_TRY(cupel_reader_text(
        r, node, host ? "the name of a C function" : "the name of a kernel, e.g. softmax<$T>"));
    char first = node->value[0];
    if (!isalpha((unsigned char)first) && first != '_' && (host || first != ':'))
        return cupel_reader_expected(
            r, node, host ? "the name of a C function" : "the name of a kernel, e.g. softmax<$T>");
    if (strpbrk(node->value, ";{}\\\"#")) return cupel_reader_expected(r, node, "a C++ name expression");
    if (host) {
        size_t n = 0;
        while (isalnum((unsigned char)node->value[n]) || node->value[n] == '_') n++;
        if (node->value[n]) return cupel_reader_expected(r, node, "the name of a C function");
    } else {
        CUPEL_TRY(check_holes(r, node));
        CUPEL_TRY(check_bare_types(r, node));
    }
    launch->entry = node->value;
    return CUPEL_OK;
}

/* A name of a variable, maybe in namespaces. */
static bool is_variable_name(const char *name) {
    bool begins = true;
    for (; *name; name++) {
        if (name[0] == ':' && name[1] == ':' && name[2]) {
            begins = true, name++;
            continue;
        }
        if (!isalpha((unsigned char)*name) && *name != '_' && (begins || !isdigit((unsigned char)*name)))
            return false;
        begins = false;
    }
    return !begins;
}

static cupel_code read_symbols(cupel_reader *r, const cupel_yaml *map, cupel_launch *launch) {
    CUPEL_TRY(cupel_reader_map(r, map, "a map of device variables to tensors, e.g. {coef: w}"));
    CUPEL_TRY(cupel_reader_at_most(r, map, map->count, CUPEL_SYMBOL_MAX, "device variables"));
    for (int i = 0; i < map->count; i++) {
        const cupel_yaml *key = map->keys[i], *value = map->items[i];
        cupel_launch_symbol *symbol = &launch->symbols[i];
        CUPEL_TRY(cupel_reader_text(r, key, "the name of a device variable"));
        if (!is_variable_name(key->value))
            return cupel_reader_expected(r, key, "the name of a device variable");
        CUPEL_TRY(cupel_reader_text(r, value, "a tensor"));
        const cupel_reader_name *known = cupel_reader_find(r, value->value);
        if (!known || known->kind != CUPEL_NAME_TENSOR)
            return cupel_reader_unknown(r, value->text, value->value, CUPEL_NAME_TENSOR);
        *symbol = (cupel_launch_symbol){key->text, key->value, known->index};
        if (r->contract->tensors[symbol->tensor].layouts != 0)
            return cupel_reader_expected(r, value, "a tensor of layout 'contiguous' to fill a variable from");
        launch->symbol_count = i + 1;
    }
    return CUPEL_OK;
}

static const cupel_yaml *required(cupel_reader *r, const cupel_yaml *launch, const char *key,
                                  cupel_code *code) {
    const cupel_yaml *node = cupel_contract_yaml_get(launch, key);
    if (!node && *code == CUPEL_OK)
        *code = cupel_fail_span(r->err, CUPEL_CONTRACT, launch->text,
                                "expected the key '%s' in a launch, found none", key);
    return node;
}

static cupel_code read_launch(cupel_reader *r, const cupel_yaml *node, cupel_launch *launch, bool *host) {
    static const cupel_reader_key cuda_keys[] = {{"entry", NULL},       {"args", NULL},   {"grid", NULL},
                                                 {"block", NULL},       {"shared", NULL}, {"skip_if", NULL},
                                                 {"cooperative", NULL}, {"nvrtc", NULL},  {"symbols", NULL}};
    static const cupel_reader_key host_keys[] = {{"symbol", NULL}, {"args", NULL}, {"skip_if", NULL}};
    CUPEL_TRY(cupel_reader_map(
        r, node, "a launch, e.g. {entry: softmax<$T>, args: [x, y, M, N], grid: [M], block: [256]}"));
    *host = cupel_contract_yaml_get(node, "symbol") != NULL;
    launch->place = node->count ? node->keys[0]->text : node->text;
    if (*host)
        CUPEL_TRY(cupel_reader_keys(r, node, "a host candidate", host_keys, 3));
    else
        CUPEL_TRY(cupel_reader_keys(r, node, "a launch", cuda_keys, sizeof cuda_keys / sizeof *cuda_keys));
    cupel_code code = CUPEL_OK;
    const cupel_yaml *entry = required(r, node, *host ? "symbol" : "entry", &code),
                     *args = required(r, node, "args", &code),
                     *grid = *host ? NULL : required(r, node, "grid", &code),
                     *block = *host ? NULL : required(r, node, "block", &code),
                     *shared = cupel_contract_yaml_get(node, "shared"),
                     *skip_if = cupel_contract_yaml_get(node, "skip_if");
    CUPEL_TRY(code);
    CUPEL_TRY(read_entry(r, entry, *host, launch));
    CUPEL_TRY(read_args(r, args, launch));
    if (grid) CUPEL_TRY(read_extent(r, grid, "grid", &launch->grid_rank, launch->grid));
    if (block) CUPEL_TRY(read_extent(r, block, "block", &launch->block_rank, launch->block));
    const cupel_yaml *cooperative = cupel_contract_yaml_get(node, "cooperative");
    const cupel_yaml *symbols = cupel_contract_yaml_get(node, "symbols");
    if (symbols) CUPEL_TRY(read_symbols(r, symbols, launch));
    if (cooperative) CUPEL_TRY(cupel_reader_flag(r, cooperative, &launch->cooperative));
    if (shared)
        CUPEL_TRY(cupel_reader_scalar_node(r, shared, "a number of bytes", launch_names, &launch->shared));
    return skip_if ? cupel_reader_scalar_node(r, skip_if, "a condition", launch_names, &launch->skip_if)
                   : CUPEL_OK;
}

/* An output that no launch is given would stay poison, and the kernel would be blamed for it. */
static cupel_code check_outputs(cupel_reader *r) {
    const cupel_contract *c = r->contract;
    bool passed[CUPEL_TENSOR_MAX] = {false};
    for (int l = 0; l < c->launch_count; l++)
        for (int a = 0; a < c->launches[l].arg_count; a++)
            if (c->launches[l].args[a].kind == CUPEL_ARG_TENSOR) passed[c->launches[l].args[a].tensor] = true;
    for (int t = 0; t < c->tensor_count; t++)
        if ((c->tensors[t].roles & CUPEL_ROLE_OUTPUT) && !passed[t])
            return cupel_fail_span(r->err, CUPEL_CONTRACT, c->tensors[t].place,
                                   "expected each output among the arguments of a launch, found '%s' in none",
                                   c->tensors[t].name);
    return CUPEL_OK;
}

cupel_code cupel_contract_read_launches(cupel_reader *r, const cupel_yaml *kernel) {
    cupel_contract *c = r->contract;
    bool list = kernel->kind == CUPEL_YAML_LIST;
    int count = list ? kernel->count : 1;
    if (count == 0) return cupel_reader_expected(r, kernel, "at least one launch");
    CUPEL_TRY(cupel_reader_at_most(r, kernel, count, CUPEL_LAUNCH_MAX, "launches"));
    for (int i = 0; i < count; i++) {
        const cupel_yaml *node = list ? kernel->items[i] : kernel;
        bool host;
        CUPEL_TRY(read_launch(r, node, &c->launches[i], &host));
        if (i > 0 && host != c->host)
            return cupel_reader_expected(r, node, "launches of one kind (all 'entry' or all 'symbol')");
        if (!host) CUPEL_TRY(cupel_contract_read_options(r, node, i == 0));
        c->host = host;
        c->launch_count = i + 1;
    }
    return check_outputs(r);
}
