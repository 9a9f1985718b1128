#include "contract_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

cupel_code cupel_reader_memory(cupel_reader *r) {
    return cupel_fail(r->err, CUPEL_MEMORY, "out of memory");
}

cupel_code cupel_reader_expected(cupel_reader *r, const cupel_yaml *node, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cupel_fail_span(r->err, CUPEL_CONTRACT, node->text, "expected %s, found %s", text,
                           cupel_contract_yaml_found(node, r->arena));
}

const char *cupel_reader_hint(cupel_reader *r, const char *word, const char *const *candidates,
                              size_t count) {
    const char *near = cupel_text_nearest(word, candidates, count);
    const char *hint = near ? cupel_arena_printf(r->arena, "; did you mean '%s'?", near) : "";
    return hint ? hint : "";
}

cupel_code cupel_reader_at_most(cupel_reader *r, const cupel_yaml *node, int count, int most,
                                const char *what) {
    if (count <= most) return CUPEL_OK;
    return cupel_fail_span(r->err, CUPEL_CONTRACT, node->text, "expected at most %d %s, found %d", most, what,
                           count);
}

cupel_code cupel_reader_map(cupel_reader *r, const cupel_yaml *node, const char *what) {
    return node->kind == CUPEL_YAML_MAP ? CUPEL_OK : cupel_reader_expected(r, node, "%s", what);
}

cupel_code cupel_reader_list(cupel_reader *r, const cupel_yaml *node, const char *what) {
    return node->kind == CUPEL_YAML_LIST ? CUPEL_OK : cupel_reader_expected(r, node, "%s", what);
}

cupel_code cupel_reader_text(cupel_reader *r, const cupel_yaml *node, const char *what) {
    bool text = node->kind == CUPEL_YAML_SCALAR && node->value[0] != '\0';
    return text ? CUPEL_OK : cupel_reader_expected(r, node, "%s", what);
}

/* "a b c" */
static const char *word_list(cupel_reader *r, const char *const *words, size_t count) {
    const char *text = count ? words[0] : "";
    for (size_t i = 1; i < count && text; i++) text = cupel_arena_printf(r->arena, "%s %s", text, words[i]);
    return text ? text : "";
}

cupel_code cupel_reader_keys(cupel_reader *r, const cupel_yaml *map, const char *of,
                             const cupel_reader_key *keys, size_t count) {
    const char *words[48];
    size_t word_count = 0;
    for (size_t k = 0; k < count && word_count < sizeof words / sizeof *words; k++)
        words[word_count++] = keys[k].name;
    for (int i = 0; i < map->count; i++) {
        const cupel_yaml *key = map->keys[i];
        size_t k = 0;
        while (k < count && strcmp(keys[k].name, key->value) != 0) k++;
        if (k == count) {
            const char *hint = cupel_reader_hint(r, key->value, words, word_count);
            const char *all =
                hint[0] ? "" : cupel_arena_printf(r->arena, " (%s)", word_list(r, words, word_count));
            return cupel_fail_span(r->err, CUPEL_CONTRACT, key->text, "expected a key of %s%s, found %s%s",
                                   of, all ? all : "", cupel_contract_yaml_found(key, r->arena), hint);
        }
        if (keys[k].later)
            return cupel_fail_span(
                r->err, CUPEL_UNSUPPORTED, key->text,
                "expected a key that this version supports, found '%s': %s come with a later version",
                key->value, keys[k].later);
    }
    return CUPEL_OK;
}

cupel_code cupel_reader_choice(cupel_reader *r, const cupel_yaml *node, const char *const *words,
                               size_t count, int *out) {
    const char *value = node->kind == CUPEL_YAML_SCALAR ? node->value : "";
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], value) == 0) {
            *out = (int)i;
            return CUPEL_OK;
        }
    return cupel_fail_span(r->err, CUPEL_CONTRACT, node->text, "expected one of %s, found %s%s",
                           word_list(r, words, count), cupel_contract_yaml_found(node, r->arena),
                           cupel_reader_hint(r, value, words, count));
}

cupel_code cupel_reader_flag(cupel_reader *r, const cupel_yaml *node, bool *out) {
    static const char *const words[] = {"false", "true", "False", "True"};
    int choice;
    CUPEL_TRY(cupel_reader_choice(r, node, words, 4, &choice));
    *out = choice & 1;
    return CUPEL_OK;
}

static const cupel_scalar_env no_names = {0};

static cupel_code read_number(cupel_reader *r, const cupel_yaml *node, const char *what, bool finite,
                              double *out, bool *integral) {
    CUPEL_TRY(cupel_reader_text(r, node, what));
    cupel_scalar_expr *expr;
    cupel_scalar value;
    /* what is no number at all is told in the caller's words */
    if (cupel_scalar_parse(node->text, r->arena, &expr, NULL) != CUPEL_OK ||
        cupel_scalar_eval(expr, &no_names, &value, NULL) != CUPEL_OK ||
        (value.real && finite && !isfinite(value.d)))
        return cupel_reader_expected(r, node, "%s", what);
    *out = value.real ? value.d : (double)value.i;
    if (isnan(*out)) *out = NAN; /* of one sign */
    if (!value.real && (value.i > INT64_C(1) << 53 || value.i < -(INT64_C(1) << 53)))
        return cupel_reader_expected(r, node, "%s of at most 2^53", what);
    if (integral) *integral = !value.real;
    return CUPEL_OK;
}

cupel_code cupel_reader_number(cupel_reader *r, const cupel_yaml *node, const char *what, double *out,
                               bool *integral) {
    return read_number(r, node, what, true, out, integral);
}

cupel_code cupel_reader_value(cupel_reader *r, const cupel_yaml *node, const char *what, double *out,
                              bool *integral) {
    return read_number(r, node, what, false, out, integral);
}

cupel_code cupel_reader_integer(cupel_reader *r, cupel_span text, const char *what, int64_t lo, int64_t hi,
                                int64_t *out) {
    cupel_scalar_expr *expr;
    if (cupel_scalar_parse(text, r->arena, &expr, NULL) != CUPEL_OK ||
        cupel_scalar_eval_int(expr, &no_names, out, NULL) != CUPEL_OK)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, text, "expected %s, found '%.*s'", what,
                               (int)(text.length < 80 ? text.length : 80), text.text);
    if (*out < lo || *out > hi)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, text, "expected %s in %lld..%lld, found %lld", what,
                               (long long)lo, (long long)hi, (long long)*out);
    return CUPEL_OK;
}

static const char *kind_name(int kind) {
    switch (kind) {
    case CUPEL_NAME_DIM: return "dim";
    case CUPEL_NAME_LET: return "let";
    case CUPEL_NAME_TYPE: return "type variable";
    case CUPEL_NAME_PARAM: return "param";
    case CUPEL_NAME_TENSOR: return "tensor";
    default: return "define";
    }
}

/* "a dim, let or param" */
static const char *kinds_text(cupel_reader *r, int kinds) {
    const char *text = NULL;
    int left = kinds;
    for (int kind = 1; kind <= CUPEL_NAME_DEFINE; kind *= 2) {
        if (!(kinds & kind)) continue;
        left &= ~kind;
        text = text ? cupel_arena_printf(r->arena, "%s%s %s", text, left ? "," : " or", kind_name(kind))
                    : kind_name(kind);
        if (!text) return "name";
    }
    return text ? text : "number";
}

static bool is_reserved(const char *name) {
    static const char *const words[] = {"true", "false", "True", "False", "inf",  "nan",  "pi",    "keep",
                                        "null", "and",   "or",   "not",   "NULL", "None", "sizeof"};
    cupel_dtype type;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    return cupel_dtype_parse(name, &type);
}

static bool is_identifier(const char *name) {
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
    size_t n = 1;
    while (isalnum((unsigned char)name[n]) || name[n] == '_') n++;
    return name[n] == '\0' && n <= 64;
}

const cupel_reader_name *cupel_reader_find(const cupel_reader *r, const char *name) {
    for (int i = 0; i < r->name_count; i++)
        if (strcmp(r->names[i].name, name) == 0) return &r->names[i];
    return NULL;
}

cupel_code cupel_reader_declare(cupel_reader *r, const cupel_yaml *key, int kind, int index) {
    const char *what = kind_name(kind);
    if (!is_identifier(key->value))
        return cupel_reader_expected(r, key, "a name for the %s (letters, digits and _, at most 64)", what);
    if (is_reserved(key->value))
        return cupel_reader_expected(r, key, "a name for the %s that is not reserved", what);
    const cupel_reader_name *other = cupel_reader_find(r, key->value);
    if (other)
        return cupel_reader_expected(r, key, "a name for the %s that no %s bears (line %d)", what,
                                     kind_name(other->kind), other->place.line);
    if (r->name_count == CUPEL_READER_NAMES_MAX)
        return cupel_reader_expected(r, key, "at most %d names", CUPEL_READER_NAMES_MAX);
    r->names[r->name_count++] = (cupel_reader_name){key->value, kind, index, key->text};
    return CUPEL_OK;
}

cupel_code cupel_reader_unknown(cupel_reader *r, cupel_span place, const char *name, int allowed) {
    const cupel_reader_name *other = cupel_reader_find(r, name);
    const char *kinds = kinds_text(r, allowed);
    if (other)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, place, "expected a %s, found the %s '%s'", kinds,
                               kind_name(other->kind), name);
    const char *words[CUPEL_READER_NAMES_MAX];
    size_t count = 0;
    for (int i = 0; i < r->name_count; i++)
        if (r->names[i].kind & allowed) words[count++] = r->names[i].name;
    return cupel_fail_span(r->err, CUPEL_CONTRACT, place, "expected a %s, found '%s'%s", kinds, name,
                           cupel_reader_hint(r, name, words, count));
}

cupel_code cupel_reader_dtype(cupel_reader *r, cupel_span place, const char *name, cupel_dtype *out) {
    const char *known[CUPEL_DTYPE_COUNT];
    for (int t = 0; t < CUPEL_DTYPE_COUNT; t++) known[t] = cupel_format_of((cupel_dtype)t)->name;
    if (cupel_dtype_parse(name, out)) return CUPEL_OK;
    return cupel_fail_span(r->err, CUPEL_CONTRACT, place, "expected an element type (%s), found '%s'%s",
                           word_list(r, known, CUPEL_DTYPE_COUNT), name,
                           cupel_reader_hint(r, name, known, CUPEL_DTYPE_COUNT));
}

typedef struct name_check {
    cupel_reader *r;
    int allowed;
} name_check;

static cupel_code check_scalar_name(void *self, const char *name, cupel_span place, cupel_error *err) {
    (void)err;
    const name_check *check = self;
    const cupel_reader_name *known = cupel_reader_find(check->r, name);
    int values = check->allowed & (CUPEL_NAME_DIM | CUPEL_NAME_LET | CUPEL_NAME_PARAM);
    return known && (known->kind & values) ? CUPEL_OK : cupel_reader_unknown(check->r, place, name, values);
}

static cupel_code check_scalar_query(void *self, cupel_scalar_query query, const char *name, cupel_span place,
                                     cupel_error *err) {
    (void)err;
    const name_check *check = self;
    const cupel_reader_name *known = cupel_reader_find(check->r, name);
    if (query == CUPEL_SCALAR_ASKS_SIZEOF) {
        cupel_dtype type;
        if ((known && known->kind == CUPEL_NAME_TYPE) || cupel_dtype_parse(name, &type)) return CUPEL_OK;
        return cupel_reader_unknown(check->r, place, name, CUPEL_NAME_TYPE);
    }
    if (!(check->allowed & CUPEL_NAME_TENSOR))
        return cupel_fail_span(
            check->r->err, CUPEL_CONTRACT, place,
            "expected dims and lets only, found a property of '%s': tensors are known in a launch only",
            name);
    return known && known->kind == CUPEL_NAME_TENSOR
               ? CUPEL_OK
               : cupel_reader_unknown(check->r, place, name, CUPEL_NAME_TENSOR);
}

cupel_code cupel_reader_scalar(cupel_reader *r, cupel_span text, int allowed, cupel_scalar_expr **out) {
    name_check check = {r, allowed};
    CUPEL_TRY(cupel_scalar_parse(text, r->arena, out, r->err));
    CUPEL_TRY(cupel_scalar_names(*out, check_scalar_name, &check, r->err));
    return cupel_scalar_queries(*out, check_scalar_query, &check, r->err);
}

cupel_code cupel_reader_scalar_node(cupel_reader *r, const cupel_yaml *node, const char *what, int allowed,
                                    cupel_scalar_expr **out) {
    CUPEL_TRY(cupel_reader_text(r, node, what));
    return cupel_reader_scalar(r, node->text, allowed, out);
}

static cupel_code check_expr_name(void *self, const cupel_expr *name, cupel_error *err) {
    (void)err;
    const name_check *check = self;
    const cupel_contract *c = check->r->contract;
    const cupel_reader_name *known = cupel_reader_find(check->r, name->name);
    /* where a type belongs, cupel_expr_names does not come by */
    if (!known || known->kind == CUPEL_NAME_TYPE)
        return cupel_reader_unknown(check->r, name->place, name->name, check->allowed);
    if (known->kind != CUPEL_NAME_TENSOR || (c->tensors[known->index].roles & CUPEL_ROLE_INPUT))
        return CUPEL_OK;
    return cupel_fail_span(check->r->err, CUPEL_CONTRACT, name->place,
                           "expected an input, param, dim or define, found the %s '%s'",
                           c->tensors[known->index].roles & CUPEL_ROLE_OUTPUT ? "output" : "scratch buffer",
                           name->name);
}

/* cupel_expr_names passes over keep, which is no value. */
static const cupel_expr *find_keep(const cupel_expr *expr) {
    if (!expr) return NULL;
    if (expr->kind == CUPEL_EXPR_NAME) return strcmp(expr->name, "keep") == 0 ? expr : NULL;
    const cupel_expr *found = NULL;
    for (int i = 0; i < expr->count && !found; i++) found = find_keep(expr->children[i]);
    return found;
}

cupel_code cupel_reader_tensor_expr(cupel_reader *r, const cupel_yaml *node, const char *what, bool keep,
                                    const cupel_expr **out) {
    CUPEL_TRY(cupel_reader_text(r, node, what));
    cupel_expr *expr;
    CUPEL_TRY(cupel_expr_parse(node->text, r->arena, &expr, r->err));
    *out = expr;
    const cupel_expr *kept = keep ? NULL : find_keep(expr);
    if (kept)
        return cupel_fail_span(r->err, CUPEL_CONTRACT, kept->place,
                               "expected a value, found 'keep', which stands in ensures only");
    name_check check = {r, CUPEL_NAME_TENSOR | CUPEL_NAME_DIM | CUPEL_NAME_LET | CUPEL_NAME_PARAM |
                               CUPEL_NAME_DEFINE};
    return cupel_expr_names(expr, check_expr_name, &check, r->err);
}
