/* Calls: finding the function, putting arguments at their places in its signature, refusing what is not there
 * yet. */
#include <string.h>

#include "compose.h"

enum { CANDIDATE_MAX = 256 };

static int unknown_function(cupel_builder *b, const cupel_expr *expr) {
    size_t count;
    const cupel_function_info *functions = cupel_functions(&count);
    const char *names[CANDIDATE_MAX];
    if (count > CANDIDATE_MAX) count = CANDIDATE_MAX;
    for (size_t i = 0; i < count; i++) names[i] = functions[i].name;
    const char *near = cupel_text_nearest(expr->name, names, count);
    if (near)
        return cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "unknown function '%s', did you mean '%s'?",
                               expr->name, near);
    return cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "unknown function '%s' ('cupel ops' lists them)",
                           expr->name);
}

typedef struct parameter {
    const char *name;
    size_t length;
    bool required;
} parameter;

/* Reads "name(a, b=1, c=\"x\")". */
static int read_signature(const char *signature, parameter *out) {
    int count = 0;
    const char *at = strchr(signature, '(') + 1;
    while (*at && *at != ')' && count < CUPEL_CALL_MAX) {
        size_t length = strcspn(at, "=,)");
        out[count++] = (parameter){at, length, at[length] != '='};
        at += strcspn(at, ",)");
        while (*at == ',' || *at == ' ') at++;
    }
    return count;
}

/* PyTorch says dim where NumPy says axis; both are understood. */
static const char *usual_name(const char *keyword) {
    if (strcmp(keyword, "dim") == 0) return "axis";
    if (strcmp(keyword, "keepdims") == 0) return "keepdim";
    return keyword;
}

static int find_parameter(const parameter *parameters, int count, const char *keyword) {
    for (int i = 0; i < count; i++)
        if (strlen(keyword) == parameters[i].length &&
            memcmp(parameters[i].name, keyword, parameters[i].length) == 0)
            return i;
    return -1;
}

static int unknown_keyword(cupel_builder *b, const cupel_expr *expr, int argument,
                           const cupel_function_info *info, const parameter *parameters, int count) {
    const char *names[CUPEL_CALL_MAX];
    for (int i = 0; i < count; i++) {
        names[i] = cupel_arena_text(b->arena, parameters[i].name, parameters[i].length);
        if (!names[i]) return cupel_emit_fail(b, CUPEL_MEMORY, expr->place, "out of memory");
    }
    const char *near = cupel_text_nearest(expr->keywords[argument], names, (size_t)count);
    return cupel_emit_fail(b, CUPEL_CONTRACT, expr->children[argument]->place,
                           "expected the arguments of %s, found '%s'%s%s%s", info->signature,
                           expr->keywords[argument], near ? ", did you mean '" : "", near ? near : "",
                           near ? "'?" : "");
}

static bool is_type_parameter(const parameter *p) {
    return p->length == 4 && memcmp(p->name, "type", 4) == 0;
}

static cupel_operand type_value(cupel_builder *b, const cupel_expr *expr) {
    cupel_operand out = {.form = CUPEL_OPERAND_TYPE, .place = expr->place, .node = -1};
    if (expr->kind == CUPEL_EXPR_NAME && cupel_dtype_parse(expr->name, &out.type)) return out;
    cupel_emit_fail(b, CUPEL_CONTRACT, expr->place,
                    "expected an element type such as f32, f16 or i32, found %s",
                    expr->kind == CUPEL_EXPR_NAME ? expr->name : "an expression");
    return cupel_operand_none();
}

/* Puts the arguments at their places in the signature. */
static void bind(cupel_builder *b, const cupel_expr *expr, cupel_call *call) {
    parameter parameters[CUPEL_CALL_MAX];
    int count = read_signature(call->info->signature, parameters);
    for (int i = 0; i < expr->count && b->code == CUPEL_OK; i++) {
        int at = i;
        if (expr->keywords[i]) {
            at = find_parameter(parameters, count, expr->keywords[i]);
            if (at < 0) at = find_parameter(parameters, count, usual_name(expr->keywords[i]));
            if (at < 0) {
                unknown_keyword(b, expr, i, call->info, parameters, count);
                return;
            }
        }
        if (at >= count) {
            cupel_emit_fail(b, CUPEL_CONTRACT, expr->children[i]->place,
                            "expected at most %d arguments in %s, found %d", count, call->info->signature,
                            expr->count);
            return;
        }
        if (call->args[at].form != CUPEL_OPERAND_ABSENT) {
            cupel_emit_fail(b, CUPEL_CONTRACT, expr->children[i]->place,
                            "expected each argument of %s once, found '%.*s' again", call->info->signature,
                            (int)parameters[at].length, parameters[at].name);
            return;
        }
        call->args[at] = is_type_parameter(&parameters[at]) ? type_value(b, expr->children[i])
                                                            : cupel_translate(b, expr->children[i]);
    }
    for (int i = 0; i < count; i++)
        if (parameters[i].required && call->args[i].form == CUPEL_OPERAND_ABSENT)
            cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "expected the argument '%.*s' of %s",
                            (int)parameters[i].length, parameters[i].name, call->info->signature);
    for (int i = 0; i < count && b->code == CUPEL_OK; i++) {
        const char *name = cupel_arena_text(b->arena, parameters[i].name, parameters[i].length);
        if (name)
            cupel_operand_limited(b, call->info, name, &call->args[i]);
        else
            cupel_emit_fail(b, CUPEL_MEMORY, expr->place, "out of memory");
    }
}

/* transpose(x, a, b) and integer functions of the language of shapes, known to both. */
static bool integer_call(cupel_builder *b, const cupel_expr *expr, cupel_operand *out) {
    bool two = strcmp(expr->name, "ceil_div") == 0 || strcmp(expr->name, "floor_div") == 0 ||
               strcmp(expr->name, "min") == 0 || strcmp(expr->name, "max") == 0;
    bool one = strcmp(expr->name, "next_pow2") == 0;
    if (!two && !one) return false;
    int64_t v[2] = {0, 1};
    *out = cupel_operand_none();
    if (expr->count != (two ? 2 : 1)) {
        cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "expected %d integers in %s, found %d arguments",
                        two ? 2 : 1, expr->name, expr->count);
        return true;
    }
    for (int i = 0; i < expr->count; i++) {
        cupel_operand value = cupel_translate(b, expr->children[i]);
        if (expr->name[0] == 'm' && value.form == CUPEL_OPERAND_NODE && !value.has_integer)
            cupel_emit_fail(b, CUPEL_CONTRACT, value.place,
                            "expected an integer (%s), found a tensor; did you mean '%simum'?", expr->name,
                            expr->name);
        if (!cupel_operand_integer(b, &value, expr->name, &v[i])) return true;
    }
    int64_t x = v[0], y = v[1];
    if (expr->name[0] == 'm') {
        *out = cupel_operand_of_integer(b, (strcmp(expr->name, "min") == 0) == (x < y) ? x : y);
    } else if (one) {
        int64_t power = 1;
        while (power < x && power < INT64_C(1) << 62) power *= 2;
        *out = cupel_operand_of_integer(b, power);
    } else if (y == 0 || (x == INT64_MIN && y == -1)) {
        cupel_emit_fail(b, CUPEL_RANGE, expr->place, "expected a divisor other than 0");
    } else {
        int64_t q = x / y;
        bool exact = x % y == 0, negative = (x < 0) != (y < 0);
        *out = cupel_operand_of_integer(b, expr->name[0] == 'c' ? q + (!exact && !negative)
                                                                : q - (!exact && negative));
    }
    return true;
}

cupel_operand cupel_translate_call(cupel_builder *b, const cupel_expr *expr) {
    size_t count, at = 0;
    const cupel_function_info *functions = cupel_functions(&count);
    while (at < count && strcmp(functions[at].name, expr->name) != 0) at++;
    if (at == count) {
        cupel_operand value;
        if (integer_call(b, expr, &value)) return value;
        unknown_function(b, expr);
        return cupel_operand_none();
    }
    if (!functions[at].supported) {
        cupel_emit_fail(b, CUPEL_UNSUPPORTED, expr->place, "the function '%s' is not supported yet",
                        expr->name);
        return cupel_operand_none();
    }
    cupel_call *call = cupel_arena_alloc(b->arena, sizeof *call);
    if (!call) {
        cupel_emit_fail(b, CUPEL_MEMORY, expr->place, "out of memory");
        return cupel_operand_none();
    }
    call->info = &functions[at];
    call->place = expr->place;
    bind(b, expr, call);
    b->place = expr->place;
    if (b->code != CUPEL_OK) return cupel_operand_none();
    return cupel_operand_of_node(b, cupel_compose_find(at)(b, call));
}
