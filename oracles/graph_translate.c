/* From the syntax tree to nodes: names, operators, subscripts (calls: graph_call.c). Integers that are known
 * stay integers until a tensor needs them. */
#include <math.h>
#include <string.h>

#include "compose.h"

enum { DEPTH_LIMIT = 1000, CANDIDATE_MAX = 256 };
enum { DEFINE_FRESH = 0, DEFINE_OPEN = 1, DEFINE_DONE = 2 };

/* ---- names ---- */

static int unknown_name(cupel_builder *b, const cupel_expr *expr) {
    const cupel_symbols *s = b->symbols;
    const char *candidates[CANDIDATE_MAX];
    size_t count = 0;
    for (int i = 0; i < s->input_count && count < CANDIDATE_MAX; i++) candidates[count++] = s->inputs[i].name;
    for (int i = 0; i < s->number_count && count < CANDIDATE_MAX; i++)
        candidates[count++] = s->numbers[i].name;
    for (int i = 0; i < s->define_count && count < CANDIDATE_MAX; i++)
        candidates[count++] = s->defines[i].name;
    const char *near = cupel_text_nearest(expr->name, candidates, count);
    for (int i = 0; i < s->output_count; i++)
        if (strcmp(s->outputs[i].name, expr->name) == 0)
            return cupel_emit_fail(
                b, CUPEL_CONTRACT, expr->place,
                "expected an input, found the output '%s', which has no value yet (a tensor that is "
                "updated in place stands under inputs too)",
                expr->name);
    if (strcmp(expr->name, "None") == 0 || strcmp(expr->name, "none") == 0)
        return cupel_emit_fail(b, CUPEL_CONTRACT, expr->place,
                               "there is no 'None': leave the argument out, or use unsqueeze for a new axis");
    if (near)
        return cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "unknown name '%s', did you mean '%s'?",
                               expr->name, near);
    return cupel_emit_fail(b, CUPEL_CONTRACT, expr->place,
                           "unknown name '%s': expected an input, a dim, a param or a define", expr->name);
}

static int input_node(cupel_builder *b, int index) {
    const cupel_symbol_input *input = &b->symbols->inputs[index];
    cupel_node node = {.op = CUPEL_OP_INPUT, .input = index, .rank = input->rank, .type = input->type};
    switch (cupel_format_of(input->type)->kind) {
    case CUPEL_KIND_REAL: node.kind = CUPEL_VALUE_REAL; break;
    case CUPEL_KIND_SIGNED:
    case CUPEL_KIND_UNSIGNED: node.kind = CUPEL_VALUE_INT; break;
    case CUPEL_KIND_BOOLEAN: node.kind = CUPEL_VALUE_BOOL; break;
    }
    memcpy(node.shape, input->shape, (size_t)input->rank * sizeof *input->shape);
    return cupel_emit_add(b, node, 0, NULL);
}

static cupel_operand define_value(cupel_builder *b, int index, const cupel_expr *expr) {
    if (b->define_states[index] == DEFINE_DONE) return b->define_values[index];
    if (b->define_states[index] == DEFINE_OPEN) {
        cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "the define '%s' is defined by itself", expr->name);
        return cupel_operand_none();
    }
    b->define_states[index] = DEFINE_OPEN;
    cupel_operand value = cupel_translate(b, b->symbols->defines[index].expr);
    b->define_states[index] = DEFINE_DONE;
    b->define_values[index] = value;
    return value;
}

static cupel_operand name_value(cupel_builder *b, const cupel_expr *expr) {
    const cupel_symbols *s = b->symbols;
    for (int i = 0; i < s->define_count; i++)
        if (strcmp(s->defines[i].name, expr->name) == 0) return define_value(b, i, expr);
    for (int i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i].name, expr->name) == 0) return cupel_operand_of_node(b, input_node(b, i));
    for (int i = 0; i < s->number_count; i++) {
        const cupel_symbol_number *number = &s->numbers[i];
        if (strcmp(number->name, expr->name) != 0) continue;
        if (!number->real) return cupel_operand_of_integer(b, number->integer);
        return (cupel_operand){.form = CUPEL_OPERAND_REAL,
                               .place = b->place,
                               .number = number->number,
                               .given = true,
                               .node = -1};
    }
    if (strcmp(expr->name, "keep") == 0)
        return cupel_operand_of_node(b, cupel_emit_keep(b, CUPEL_VALUE_REAL));
    unknown_name(b, expr);
    return cupel_operand_none();
}

static cupel_operand number_value(cupel_builder *b, const cupel_expr *expr) {
    if (!expr->real && (strcmp(expr->digits, "true") == 0 || strcmp(expr->digits, "false") == 0))
        return cupel_operand_of_truth(b, expr->integer);
    if (!expr->real) return cupel_operand_of_integer(b, expr->integer);
    return (cupel_operand){.form = CUPEL_OPERAND_REAL,
                           .place = b->place,
                           .number = expr->number,
                           .digits = expr->digits,
                           .node = -1};
}

/* ---- operands as what is needed ---- */

const char *cupel_operand_form_name(cupel_operand_form form) {
    static const char *const names[] = {"nothing",  "an integer", "a real number", "a truth value",
                                        "a tensor", "a list",     "a string",      "an element type"};
    return names[form];
}

int cupel_operand_node(cupel_builder *b, const cupel_operand *o) {
    if (b->code != CUPEL_OK) return -1;
    switch (o->form) {
    case CUPEL_OPERAND_NODE: return o->node;
    case CUPEL_OPERAND_INTEGER: return cupel_emit_integer(b, o->integer);
    case CUPEL_OPERAND_TRUTH: return cupel_emit_truth(b, o->integer != 0);
    case CUPEL_OPERAND_REAL: return cupel_emit_real(b, o->number, o->digits);
    default: break;
    }
    return cupel_emit_fail(b, CUPEL_CONTRACT, o->place, "expected a tensor or a number, found %s",
                           cupel_operand_form_name(o->form));
}

bool cupel_operand_integer(cupel_builder *b, const cupel_operand *o, const char *what, int64_t *out) {
    *out = 0;
    if (b->code != CUPEL_OK) return false;
    if (o->has_integer) {
        *out = o->integer;
        return true;
    }
    cupel_emit_fail(b, CUPEL_CONTRACT, o->place, "expected an integer (%s), found %s", what,
                    cupel_operand_form_name(o->form));
    return false;
}

/* ---- operators ---- */

static bool known_integers(const cupel_operand *x, const cupel_operand *y) {
    return x->has_integer && y->has_integer;
}

static bool plain_integer(const cupel_operand *x) {
    return x->form == CUPEL_OPERAND_INTEGER || x->form == CUPEL_OPERAND_TRUTH;
}

/* base ** exponent in 64 bits; false on overflow or a negative exponent. */
static bool integer_power(int64_t base, int64_t exponent, int64_t *out) {
    *out = 1;
    if (exponent < 0) return false;
    if (base == 0 || base == 1) {
        *out = exponent ? base : 1;
        return true;
    }
    if (base == -1) {
        *out = exponent & 1 ? -1 : 1;
        return true;
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(*out, base, out)) return false;
    return true;
}

/* Arithmetic on known integers; false where the result is none (overflow, division by zero, another
 * operator). */
static bool fold(const char *op, int64_t x, int64_t y, int64_t *out) {
    if (strcmp(op, "+") == 0) return !__builtin_add_overflow(x, y, out);
    if (strcmp(op, "-") == 0) return !__builtin_sub_overflow(x, y, out);
    if (strcmp(op, "*") == 0) return !__builtin_mul_overflow(x, y, out);
    if (strcmp(op, "**") == 0) return integer_power(x, y, out);
    bool divides = y != 0 && !(x == INT64_MIN && y == -1);
    if (strcmp(op, "/") == 0) {
        if (divides) *out = x / y;
        return divides;
    }
    if (strcmp(op, "%") == 0) {
        if (divides) *out = x % y + (x % y != 0 && ((x % y < 0) != (y < 0)) ? y : 0);
        return divides;
    }
    if (strcmp(op, "&") == 0) return *out = x & y, true;
    if (strcmp(op, "|") == 0) return *out = x | y, true;
    if (strcmp(op, "^") == 0) return *out = x ^ y, true;
    if (y < 0 || y > 62) return false;
    if (strcmp(op, "<<") == 0) return !__builtin_mul_overflow(x, INT64_C(1) << y, out);
    if (strcmp(op, ">>") == 0) return *out = x >> y, true;
    return false;
}

static bool compare(const char *op, int64_t x, int64_t y, bool *out) {
    if (strcmp(op, "<") == 0) return *out = x < y, true;
    if (strcmp(op, "<=") == 0) return *out = x <= y, true;
    if (strcmp(op, ">") == 0) return *out = x > y, true;
    if (strcmp(op, ">=") == 0) return *out = x >= y, true;
    if (strcmp(op, "==") == 0) return *out = x == y, true;
    if (strcmp(op, "!=") == 0) return *out = x != y, true;
    return false;
}

static bool both_boolean(const cupel_builder *b, int x, int y) {
    return b->nodes[x].kind == CUPEL_VALUE_BOOL && b->nodes[y].kind == CUPEL_VALUE_BOOL;
}

static int apply_binary(cupel_builder *b, const char *op, int x, int y) {
    static const struct {
        const char *symbol;
        cupel_op op;
        bool swapped;
    } table[] = {
        {"+", CUPEL_OP_ADD, false},    {"-", CUPEL_OP_SUB, false},       {"*", CUPEL_OP_MUL, false},
        {"/", CUPEL_OP_DIV, false},    {"%", CUPEL_OP_REMAINDER, false}, {"<", CUPEL_OP_LT, false},
        {"<=", CUPEL_OP_LE, false},    {">", CUPEL_OP_LT, true},         {">=", CUPEL_OP_LE, true},
        {"==", CUPEL_OP_EQ, false},    {"!=", CUPEL_OP_NE, false},       {"and", CUPEL_OP_AND, false},
        {"or", CUPEL_OP_OR, false},    {"&", CUPEL_OP_BITAND, false},    {"|", CUPEL_OP_BITOR, false},
        {"^", CUPEL_OP_BITXOR, false}, {"<<", CUPEL_OP_SHL, false},      {">>", CUPEL_OP_SHR, false},
    };
    if (x < 0 || y < 0) return -1;
    bool bitwise = strcmp(op, "&") == 0 || strcmp(op, "|") == 0 || strcmp(op, "^") == 0;
    if (bitwise && both_boolean(b, x, y))
        return cupel_emit_binary(b, *op == '&' ? CUPEL_OP_AND : *op == '|' ? CUPEL_OP_OR : CUPEL_OP_NE, x, y);
    if (bitwise || strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0) {
        if (b->nodes[x].kind == CUPEL_VALUE_REAL || b->nodes[y].kind == CUPEL_VALUE_REAL)
            return cupel_emit_fail(b, CUPEL_CONTRACT, b->place,
                                   "expected integers beside '%s', found a real tensor", op);
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].symbol, op) != 0) continue;
        const int node = table[i].swapped ? cupel_emit_binary(b, table[i].op, y, x)
                                          : cupel_emit_binary(b, table[i].op, x, y);
        if (node >= 0) b->nodes[node].written = true;
        return node;
    }
    return cupel_emit_fail(b, CUPEL_UNSUPPORTED, b->place, "the operator '%s' is not supported yet", op);
}

/* x / y of known integers: true division as a number, truncated where an integer is asked for. */
static cupel_operand divide_integers(cupel_builder *b, const cupel_operand *x, const cupel_operand *y) {
    int64_t quotient = 0;
    bool whole = fold("/", x->integer, y->integer, &quotient);
    cupel_operand out;
    if (whole && x->integer % y->integer == 0 && plain_integer(x) && plain_integer(y))
        out = cupel_operand_of_node(b, cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_emit_integer(b, quotient)));
    else
        out = cupel_operand_of_node(
            b, cupel_emit_binary(b, CUPEL_OP_DIV, cupel_operand_node(b, x), cupel_operand_node(b, y)));
    out.has_integer = whole;
    out.integer = quotient;
    return out;
}

static cupel_operand binary_value(cupel_builder *b, const cupel_expr *expr) {
    cupel_operand x = cupel_translate(b, expr->children[0]);
    cupel_operand y = cupel_translate(b, expr->children[1]);
    if (b->code != CUPEL_OK) return cupel_operand_none();
    int64_t folded = 0;
    bool truth = false,
         has_integer = known_integers(&x, &y) && fold(expr->name, x.integer, y.integer, &folded);
    if (plain_integer(&x) && plain_integer(&y)) {
        if (strcmp(expr->name, "/") == 0) return divide_integers(b, &x, &y);
        if (has_integer) return cupel_operand_of_integer(b, folded);
        if (compare(expr->name, x.integer, y.integer, &truth)) return cupel_operand_of_truth(b, truth);
        if (strcmp(expr->name, "and") == 0) return cupel_operand_of_truth(b, x.integer && y.integer);
        if (strcmp(expr->name, "or") == 0) return cupel_operand_of_truth(b, x.integer || y.integer);
        if (strcmp(expr->name, "**") != 0) {
            cupel_emit_fail(b, CUPEL_RANGE, expr->place,
                            "this integer does not exist or does not fit 64 bits");
            return cupel_operand_none();
        }
    }
    cupel_operand out;
    if (strcmp(expr->name, "**") == 0)
        out = cupel_operand_of_node(b, cupel_compose_power(b, cupel_operand_node(b, &x), &y));
    else
        out = cupel_operand_of_node(
            b, apply_binary(b, expr->name, cupel_operand_node(b, &x), cupel_operand_node(b, &y)));
    out.has_integer = has_integer;
    out.integer = folded;
    return out;
}

static cupel_operand unary_value(cupel_builder *b, const cupel_expr *expr) {
    cupel_operand x = cupel_translate(b, expr->children[0]);
    if (b->code != CUPEL_OK) return cupel_operand_none();
    char op = expr->name[0];
    if (op == '+') return x;
    if (op == '-' && plain_integer(&x) && x.integer != INT64_MIN)
        return cupel_operand_of_integer(b, -x.integer);
    if (op == 'n' && plain_integer(&x)) return cupel_operand_of_truth(b, !x.integer);
    if (op == '~' && x.form == CUPEL_OPERAND_INTEGER) return cupel_operand_of_integer(b, ~x.integer);
    int node = cupel_operand_node(b, &x);
    if (node < 0) return cupel_operand_none();
    if (op == 'n') return cupel_operand_of_node(b, not_(b, node));
    if (op == '~') {
        if (b->nodes[node].kind == CUPEL_VALUE_REAL) {
            cupel_emit_fail(b, CUPEL_CONTRACT, expr->place,
                            "expected integers after '~', found a real tensor");
            return cupel_operand_none();
        }
        bool truth = b->nodes[node].kind == CUPEL_VALUE_BOOL;
        return cupel_operand_of_node(b, truth ? not_(b, node) : cupel_emit_unary(b, CUPEL_OP_BITNOT, node));
    }
    if (x.form == CUPEL_OPERAND_REAL) { /* a literal stays one: norm(x, p=-inf) */
        x.number = -x.number;
        if (!x.digits) return x;
        x.digits = cupel_arena_printf(b->arena, "-%s", x.digits);
        if (!x.digits) cupel_emit_fail(b, CUPEL_MEMORY, expr->place, "out of memory");
        return x;
    }
    cupel_operand out = cupel_operand_of_node(b, neg_(b, node));
    out.has_integer = x.has_integer && x.integer != INT64_MIN;
    out.integer = out.has_integer ? -x.integer : 0;
    return out;
}

/* ---- subscripts ---- */

/* A bound of a slice as Python clamps it. */
static int64_t slice_bound(cupel_builder *b, const cupel_expr *expr, int64_t extent, int64_t fallback) {
    if (!expr) return fallback;
    cupel_operand value = cupel_translate(b, expr);
    int64_t bound;
    if (!cupel_operand_integer(b, &value, "a bound of a slice", &bound)) return 0;
    if (bound < 0) bound += extent;
    return bound < 0 ? 0 : bound > extent ? extent : bound;
}

static void subscript_slice(cupel_builder *b, const cupel_expr *part, cupel_window *w, int axis) {
    int64_t extent = w->shape[axis], step = 1;
    int64_t start = slice_bound(b, part->children[0], extent, 0);
    int64_t stop = slice_bound(b, part->children[1], extent, extent);
    if (part->children[2]) {
        cupel_operand value = cupel_translate(b, part->children[2]);
        if (!cupel_operand_integer(b, &value, "the step of a slice", &step)) return;
        if (step < 1) {
            cupel_emit_fail(b, CUPEL_CONTRACT, value.place,
                            "expected a positive step, found %lld; use flip to reverse", (long long)step);
            return;
        }
    }
    if (step > extent) step = extent > 0 ? extent : 1; /* one element at most: keeps the arithmetic small */
    w->offset += start * w->stride[axis];
    w->shape[axis] = stop > start ? (stop - start + step - 1) / step : 0;
    w->stride[axis] *= step;
}

static void subscript_element(cupel_builder *b, const cupel_expr *part, cupel_window *w, int axis) {
    cupel_operand value = cupel_translate(b, part);
    if (b->code != CUPEL_OK) return;
    if (value.form == CUPEL_OPERAND_NODE && !value.has_integer) {
        cupel_emit_fail(
            b, CUPEL_UNSUPPORTED, part->place,
            "expected an integer or a slice as subscript, found a tensor; use index_select or gather");
        return;
    }
    int64_t index, extent = w->shape[axis];
    if (!cupel_operand_integer(b, &value, "a subscript", &index)) return;
    if (index < -extent || index >= extent) {
        cupel_emit_fail(b, CUPEL_RANGE, part->place, "expected a subscript in %lld..%lld, found %lld",
                        (long long)-extent, (long long)extent - 1, (long long)index);
        return;
    }
    w->offset += (index < 0 ? index + extent : index) * w->stride[axis];
    cupel_window_remove(w, axis);
}

static cupel_operand index_value(cupel_builder *b, const cupel_expr *expr) {
    cupel_operand base = cupel_translate(b, expr->children[0]);
    if (b->code != CUPEL_OK) return cupel_operand_none();
    if (base.form != CUPEL_OPERAND_NODE) {
        cupel_emit_fail(b, CUPEL_CONTRACT, expr->children[0]->place, "expected a tensor before '[', found %s",
                        cupel_operand_form_name(base.form));
        return cupel_operand_none();
    }
    cupel_window w = cupel_window_of(b, base.node);
    if (expr->count - 1 > w.rank) {
        cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "expected at most %d subscripts, found %d", w.rank,
                        expr->count - 1);
        return cupel_operand_none();
    }
    int axis = 0;
    for (int i = 1; i < expr->count && b->code == CUPEL_OK; i++) {
        const cupel_expr *part = expr->children[i];
        if (part->kind == CUPEL_EXPR_SLICE)
            subscript_slice(b, part, &w, axis++);
        else
            subscript_element(b, part, &w, axis);
    }
    return cupel_operand_of_node(b, cupel_window_finish(b, &w));
}

static cupel_operand list_value(cupel_builder *b, const cupel_expr *expr) {
    cupel_operand out = {.form = CUPEL_OPERAND_LIST, .place = expr->place, .count = expr->count, .node = -1};
    out.items = cupel_arena_alloc(b->arena, (size_t)expr->count * sizeof *out.items);
    if (!out.items) {
        cupel_emit_fail(b, CUPEL_MEMORY, expr->place, "out of memory");
        return cupel_operand_none();
    }
    for (int i = 0; i < expr->count; i++) out.items[i] = cupel_translate(b, expr->children[i]);
    return out;
}

cupel_operand cupel_translate(cupel_builder *b, const cupel_expr *expr) {
    if (b->code != CUPEL_OK) return cupel_operand_none();
    if (b->depth >= DEPTH_LIMIT) {
        cupel_emit_fail(b, CUPEL_CONTRACT, expr->place,
                        "expected at most %d levels of nesting through defines", DEPTH_LIMIT);
        return cupel_operand_none();
    }
    cupel_span outer = b->place;
    cupel_operand out = cupel_operand_none();
    b->place = expr->place;
    b->depth++;
    switch (expr->kind) {
    case CUPEL_EXPR_NUMBER: out = number_value(b, expr); break;
    case CUPEL_EXPR_NAME: out = name_value(b, expr); break;
    case CUPEL_EXPR_STRING:
        out.form = CUPEL_OPERAND_TEXT;
        out.text = expr->name;
        break;
    case CUPEL_EXPR_UNARY: out = unary_value(b, expr); break;
    case CUPEL_EXPR_BINARY: out = binary_value(b, expr); break;
    case CUPEL_EXPR_CALL: out = cupel_translate_call(b, expr); break;
    case CUPEL_EXPR_INDEX: out = index_value(b, expr); break;
    case CUPEL_EXPR_LIST: out = list_value(b, expr); break;
    case CUPEL_EXPR_SLICE:
        cupel_emit_fail(b, CUPEL_CONTRACT, expr->place, "expected a value, found a slice outside of [ ]");
        break;
    }
    out.place = expr->place;
    b->depth--;
    b->place = outer;
    return out;
}
