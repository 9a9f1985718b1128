#include "expression.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression_lexer.h"

/* A Pratt parser: each operator has a binding power, and an operand extends as far as stronger operators
 * reach. The powers are Python's. Height is counted for every node, because a long chain such as a + a + ...
 * is deep although parsing it does not recurse; the walks over the tree do. */

enum { MAX_LEVELS = 256, MAX_LENGTH = 64 * 1024 };

typedef struct parser {
    cupel_lexer lexer;
    cupel_token token; /* the one to be looked at */
    size_t last_end;   /* of the token before */
    int depth;
    cupel_arena *arena;
    cupel_error *err;
} parser;

typedef struct tall_expr {
    cupel_expr expr; /* first, so that a node's address is its tall_expr's */
    int height;
} tall_expr;

typedef enum power {
    POWER_NONE,
    POWER_OR,
    POWER_AND,
    POWER_NOT,
    POWER_COMPARE,
    POWER_BITOR,
    POWER_BITXOR,
    POWER_BITAND,
    POWER_SHIFT,
    POWER_ADD,
    POWER_MULTIPLY,
    POWER_SIGN,
    POWER_RAISE
} power;

static const struct {
    const char *symbol;
    power power;
} binary_operators[] = {
    {"or", POWER_OR},      {"and", POWER_AND},    {"<", POWER_COMPARE},  {"<=", POWER_COMPARE},
    {">", POWER_COMPARE},  {">=", POWER_COMPARE}, {"==", POWER_COMPARE}, {"!=", POWER_COMPARE},
    {"|", POWER_BITOR},    {"^", POWER_BITXOR},   {"&", POWER_BITAND},   {"<<", POWER_SHIFT},
    {">>", POWER_SHIFT},   {"+", POWER_ADD},      {"-", POWER_ADD},      {"*", POWER_MULTIPLY},
    {"/", POWER_MULTIPLY}, {"%", POWER_MULTIPLY}, {"**", POWER_RAISE},
};

/* Spellings of other languages, with ours. */
static const struct {
    const char *symbol, *advice;
} foreign_operators[] = {
    {"&&", "write 'and'"},
    {"||", "write 'or'"},
    {"!", "write 'not'"},
    {"@", "write matmul(a, b)"},
    {"//", "write floor(a / b)"},
    {"...", "name every axis"},
    {"=", "to compare, write '=='"},
    {".", "there are no methods: write sum(x), not x.sum()"},
};

static cupel_code parse_expression(parser *p, power least, cupel_expr **out);

static int height(const cupel_expr *expr) {
    return expr ? ((const tall_expr *)(const void *)expr)->height : 0;
}

static cupel_span token_span(const parser *p) {
    return cupel_lexer_span(&p->lexer, &p->token);
}

static bool token_is(const parser *p, const char *symbol) {
    if (p->token.kind == CUPEL_TOKEN_OPERATOR) return strcmp(p->token.symbol, symbol) == 0;
    if (p->token.kind != CUPEL_TOKEN_NAME) return false;
    size_t length = p->token.end - p->token.offset;
    return strlen(symbol) == length && memcmp(p->lexer.text.text + p->token.offset, symbol, length) == 0;
}

static cupel_code step(parser *p) {
    p->last_end = p->token.end;
    return cupel_lexer_next(&p->lexer, &p->token, p->err);
}

static cupel_code unexpected(const parser *p, const char *expected) {
    cupel_span span = token_span(p);
    if (p->token.kind == CUPEL_TOKEN_END)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, span, "expected %s, found the end of the expression",
                               expected);
    for (size_t i = 0; i < sizeof foreign_operators / sizeof *foreign_operators; i++)
        if (token_is(p, foreign_operators[i].symbol))
            return cupel_fail_span(p->err, CUPEL_SYNTAX, span, "expected %s, found '%s'; %s", expected,
                                   foreign_operators[i].symbol, foreign_operators[i].advice);
    int shown = span.length > 40 ? 40 : (int)span.length;
    return cupel_fail_span(p->err, CUPEL_SYNTAX, span, "expected %s, found '%.*s'", expected, shown,
                           span.text);
}

static cupel_code expect(parser *p, const char *symbol, const char *expected) {
    if (!token_is(p, symbol)) return unexpected(p, expected);
    return step(p);
}

/* A node over the text from `from` to the last token taken. */
static cupel_code make(parser *p, cupel_expr_kind kind, const cupel_token *from, const char *name, int count,
                       cupel_expr **children, cupel_expr **out) {
    tall_expr *tall = cupel_arena_alloc(p->arena, sizeof *tall);
    if (!tall) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    cupel_token whole = *from;
    whole.end = p->last_end;
    tall->expr.kind = kind;
    tall->expr.place = cupel_lexer_span(&p->lexer, &whole);
    tall->expr.name = name;
    tall->expr.count = count;
    tall->expr.children = children;
    for (int i = 0; i < count; i++)
        if (height(children[i]) >= tall->height) tall->height = height(children[i]) + 1;
    if (tall->height >= MAX_LEVELS)
        return cupel_fail_span(
            p->err, CUPEL_SYNTAX, tall->expr.place,
            "expected at most %d levels of nesting (a chain of operators counts); use define", MAX_LEVELS);
    *out = &tall->expr;
    return CUPEL_OK;
}

static cupel_code make_with(parser *p, cupel_expr_kind kind, const cupel_token *from, const char *name,
                            cupel_expr *a, cupel_expr *b, cupel_expr **out) {
    int count = b ? 2 : 1;
    cupel_expr **children = cupel_arena_alloc(p->arena, 2 * sizeof *children);
    if (!children) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    children[0] = a;
    children[1] = b;
    return make(p, kind, from, name, count, children, out);
}

/* Digits of a literal; those of a hexadecimal one in decimal, as everything behind the parser reads them. */
static char *digits_of(parser *p, const cupel_token *token) {
    char *digits = cupel_arena_text(p->arena, p->lexer.text.text + token->offset, token->end - token->offset);
    if (!digits || digits[0] != '0' || (digits[1] | 32) != 'x') return digits;
    errno = 0;
    const unsigned long long value = strtoull(digits, NULL, 16);
    return errno == ERANGE ? cupel_arena_text(p->arena, "99999999999999999999", 20) /* beyond any type */
                           : cupel_arena_printf(p->arena, "%llu", value);
}

static cupel_code parse_number(parser *p, cupel_expr **out) {
    cupel_token token = p->token;
    char *digits = digits_of(p, &token);
    if (!digits) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    cupel_span place = token_span(p);
    CUPEL_TRY(step(p));
    CUPEL_TRY(make(p, CUPEL_EXPR_NUMBER, &token, NULL, 0, NULL, out));
    (*out)->digits = digits;
    (*out)->number = strtod(digits, NULL);
    (*out)->real = strpbrk(digits, ".eE") != NULL;
    if ((*out)->real) {
        if (isinf((*out)->number))
            return cupel_fail_span(p->err, CUPEL_SYNTAX, place,
                                   "expected a number below 1.8e308, found %.40s", digits);
        return CUPEL_OK;
    }
    errno = 0;
    (*out)->integer = strtoll(digits, NULL, 10);
    if (errno == ERANGE)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, place,
                               "expected an integer of at most 64 bits, found %.40s", digits);
    return CUPEL_OK;
}

static cupel_code parse_constant(parser *p, bool *found, cupel_expr **out) {
    static const struct {
        const char *name, *digits;
        bool real;
        int64_t integer;
        double number;
    } constants[] = {
        {"true", "true", false, 1, 1.0},
        {"True", "true", false, 1, 1.0},
        {"false", "false", false, 0, 0.0},
        {"False", "false", false, 0, 0.0},
        {"inf", "inf", true, 0, INFINITY},
        {"nan", "nan", true, 0, NAN},
        {"pi", "pi", true, 0, 3.14159265358979323846},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (!token_is(p, constants[i].name)) continue;
        *found = true;
        cupel_token token = p->token;
        CUPEL_TRY(step(p));
        CUPEL_TRY(make(p, CUPEL_EXPR_NUMBER, &token, NULL, 0, NULL, out));
        (*out)->digits = constants[i].digits;
        (*out)->real = constants[i].real;
        (*out)->integer = constants[i].integer;
        (*out)->number = constants[i].number;
        return CUPEL_OK;
    }
    return CUPEL_OK;
}

/* Children of a call, list or index, growing as they come. */
typedef struct items {
    int count, capacity;
    cupel_expr **children;
    const char **keywords;
} items;

static cupel_code items_add(parser *p, items *list, cupel_expr *child, const char *keyword) {
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 4;
        cupel_expr **children = cupel_arena_alloc(p->arena, (size_t)capacity * sizeof *children);
        const char **keywords = cupel_arena_alloc(p->arena, (size_t)capacity * sizeof *keywords);
        if (!children || !keywords) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
        for (int i = 0; i < list->count; i++) {
            children[i] = list->children[i];
            keywords[i] = list->keywords[i];
        }
        *list = (items){list->count, capacity, children, keywords};
    }
    list->children[list->count] = child;
    list->keywords[list->count++] = keyword;
    return CUPEL_OK;
}

/* One argument: value or keyword=value. The keyword is told by one token of look-ahead. */
static cupel_code parse_argument(parser *p, items *list) {
    const char *keyword = NULL;
    if (p->token.kind == CUPEL_TOKEN_NAME) {
        cupel_lexer ahead = p->lexer;
        cupel_token next;
        if (cupel_lexer_next(&ahead, &next, NULL) == CUPEL_OK && next.kind == CUPEL_TOKEN_OPERATOR &&
            strcmp(next.symbol, "=") == 0) {
            cupel_span name = token_span(p);
            for (int i = 0; i < list->count; i++)
                if (list->keywords[i] && cupel_span_equals(name, list->keywords[i]))
                    return cupel_fail_span(p->err, CUPEL_SYNTAX, name,
                                           "expected each argument once, found '%s' again",
                                           list->keywords[i]);
            keyword = cupel_arena_text(p->arena, name.text, name.length);
            if (!keyword) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
            CUPEL_TRY(step(p));
            CUPEL_TRY(step(p));
        }
    }
    if (!keyword && list->count && list->keywords[list->count - 1])
        return unexpected(p, "a named argument (name=value) after a named argument");
    cupel_expr *value;
    CUPEL_TRY(parse_expression(p, POWER_NONE, &value));
    return items_add(p, list, value, keyword);
}

static cupel_code parse_call(parser *p, const cupel_token *from, cupel_expr *callee, cupel_expr **out) {
    if (callee->kind != CUPEL_EXPR_NAME || from->kind != CUPEL_TOKEN_NAME)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, token_span(p),
                               "expected the name of a function before '('");
    items list = {0};
    CUPEL_TRY(step(p));
    while (!token_is(p, ")")) {
        CUPEL_TRY(parse_argument(p, &list));
        if (!token_is(p, ",")) break;
        CUPEL_TRY(step(p));
    }
    CUPEL_TRY(expect(p, ")", "',' or ')'"));
    CUPEL_TRY(make(p, CUPEL_EXPR_CALL, from, callee->name, list.count, list.children, out));
    (*out)->keywords = list.keywords;
    return CUPEL_OK;
}

static bool at_slice_end(const parser *p) {
    return token_is(p, ":") || token_is(p, ",") || token_is(p, "]");
}

/* start:stop:step with any part missing, or a plain expression. */
static cupel_code parse_subscript(parser *p, cupel_expr **out) {
    cupel_token from = p->token;
    cupel_expr **parts = cupel_arena_alloc(p->arena, 3 * sizeof *parts);
    if (!parts) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    if (!token_is(p, ":")) {
        CUPEL_TRY(parse_expression(p, POWER_NONE, &parts[0]));
        if (!token_is(p, ":")) {
            *out = parts[0];
            return CUPEL_OK;
        }
    }
    for (int i = 1; i < 3 && token_is(p, ":"); i++) {
        CUPEL_TRY(step(p));
        if (!at_slice_end(p)) CUPEL_TRY(parse_expression(p, POWER_NONE, &parts[i]));
    }
    return make(p, CUPEL_EXPR_SLICE, &from, NULL, 3, parts, out);
}

static cupel_code parse_index(parser *p, const cupel_token *from, cupel_expr *base, cupel_expr **out) {
    items list = {0};
    CUPEL_TRY(items_add(p, &list, base, NULL));
    CUPEL_TRY(step(p));
    do {
        if (list.count > 1) CUPEL_TRY(step(p)); /* the comma */
        cupel_expr *part;
        CUPEL_TRY(parse_subscript(p, &part));
        CUPEL_TRY(items_add(p, &list, part, NULL));
    } while (token_is(p, ","));
    CUPEL_TRY(expect(p, "]", "',' or ']'"));
    return make(p, CUPEL_EXPR_INDEX, from, NULL, list.count, list.children, out);
}

static cupel_code parse_list(parser *p, cupel_expr **out) {
    cupel_token from = p->token;
    items list = {0};
    CUPEL_TRY(step(p));
    while (!token_is(p, "]")) {
        cupel_expr *item;
        CUPEL_TRY(parse_expression(p, POWER_NONE, &item));
        CUPEL_TRY(items_add(p, &list, item, NULL));
        if (!token_is(p, ",")) break;
        CUPEL_TRY(step(p));
    }
    CUPEL_TRY(expect(p, "]", "',' or ']'"));
    return make(p, CUPEL_EXPR_LIST, &from, NULL, list.count, list.children, out);
}

static cupel_code parse_text(parser *p, cupel_expr_kind kind, size_t quotes, cupel_expr **out) {
    cupel_token token = p->token;
    char *name = cupel_arena_text(p->arena, p->lexer.text.text + token.offset + quotes,
                                  token.end - token.offset - 2 * quotes);
    if (!name) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(step(p));
    return make(p, kind, &token, name, 0, NULL, out);
}

static bool is_word_operator(const parser *p) {
    return token_is(p, "or") || token_is(p, "and") || token_is(p, "not");
}

static cupel_code parse_atom(parser *p, cupel_expr **out) {
    bool found = false;
    switch (p->token.kind) {
    case CUPEL_TOKEN_NUMBER: return parse_number(p, out);
    case CUPEL_TOKEN_STRING: return parse_text(p, CUPEL_EXPR_STRING, 1, out);
    case CUPEL_TOKEN_NAME:
        if (is_word_operator(p)) break;
        CUPEL_TRY(parse_constant(p, &found, out));
        return found ? CUPEL_OK : parse_text(p, CUPEL_EXPR_NAME, 0, out);
    case CUPEL_TOKEN_OPERATOR:
        if (token_is(p, "[")) return parse_list(p, out);
        if (token_is(p, "(")) {
            CUPEL_TRY(step(p));
            CUPEL_TRY(parse_expression(p, POWER_NONE, out));
            if (token_is(p, ",")) return unexpected(p, "')' (lists are written with [ ])");
            return expect(p, ")", "')'");
        }
        break;
    case CUPEL_TOKEN_END: break;
    }
    return unexpected(p, "a value");
}

static cupel_code parse_prefix(parser *p, power least, cupel_expr **out) {
    static const struct {
        const char *symbol;
        power power;
    } prefixes[] = {{"not", POWER_NOT}, {"-", POWER_SIGN}, {"+", POWER_SIGN}, {"~", POWER_SIGN}};
    cupel_token from = p->token;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!token_is(p, prefixes[i].symbol)) continue;
        if (prefixes[i].power == POWER_NOT && least > POWER_NOT)
            return unexpected(p, "a value (put 'not ...' in parentheses)");
        cupel_expr *operand;
        CUPEL_TRY(step(p));
        CUPEL_TRY(parse_expression(p, prefixes[i].power, &operand));
        return make_with(p, CUPEL_EXPR_UNARY, &from, prefixes[i].symbol, operand, NULL, out);
    }
    CUPEL_TRY(parse_atom(p, out));
    for (;;) {
        if (token_is(p, "(")) {
            CUPEL_TRY(parse_call(p, &from, *out, out));
        } else if (token_is(p, "[")) {
            CUPEL_TRY(parse_index(p, &from, *out, out));
        } else {
            return CUPEL_OK;
        }
    }
}

static cupel_code parse_tail(parser *p, const cupel_token *from, power least, cupel_expr **out) {
    for (;;) {
        size_t op = 0, count = sizeof binary_operators / sizeof *binary_operators;
        while (op < count && !token_is(p, binary_operators[op].symbol)) op++;
        if (op == count || binary_operators[op].power < least) return CUPEL_OK;
        power own = binary_operators[op].power;
        /* ** groups to the right, and a sign may stand at its right: 2 ** -x */
        power right_least = own == POWER_RAISE ? POWER_SIGN : (power)(own + 1);
        cupel_expr *right;
        CUPEL_TRY(step(p));
        CUPEL_TRY(parse_expression(p, right_least, &right));
        CUPEL_TRY(make_with(p, CUPEL_EXPR_BINARY, from, binary_operators[op].symbol, *out, right, out));
        if (own != POWER_COMPARE) continue;
        for (size_t next = 0; next < count; next++)
            if (binary_operators[next].power == POWER_COMPARE && token_is(p, binary_operators[next].symbol))
                return unexpected(p, "one comparison (they do not chain: write a < b and b < c)");
    }
}

static cupel_code parse_expression(parser *p, power least, cupel_expr **out) {
    if (p->depth >= MAX_LEVELS)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, token_span(p), "expected at most %d levels of nesting",
                               MAX_LEVELS);
    p->depth++;
    cupel_token from = p->token;
    CUPEL_TRY(parse_prefix(p, least, out));
    CUPEL_TRY(parse_tail(p, &from, least, out));
    p->depth--;
    return CUPEL_OK;
}

cupel_code cupel_expr_parse(cupel_span text, cupel_arena *arena, cupel_expr **out, cupel_error *err) {
    if (text.length > MAX_LENGTH)
        return cupel_fail_span(err, CUPEL_SYNTAX, text, "expected at most %d bytes of expression, found %zu",
                               MAX_LENGTH, text.length);
    parser p = {
        .lexer = {.text = text, .line = text.line, .column = text.column}, .arena = arena, .err = err};
    CUPEL_TRY(step(&p));
    CUPEL_TRY(parse_expression(&p, POWER_NONE, out));
    if (p.token.kind != CUPEL_TOKEN_END) return unexpected(&p, "an operator or the end of the expression");
    return CUPEL_OK;
}

/* Functions whose argument at this position names an element type instead of a value. */
static bool names_a_type(const cupel_expr *call, int argument) {
    if (call->kind != CUPEL_EXPR_CALL) return false;
    const char *keyword = call->keywords[argument];
    if (keyword && strcmp(keyword, "type") == 0) return true;
    if (keyword) return false;
    return (strcmp(call->name, "cast") == 0 && argument == 1) ||
           (strcmp(call->name, "quantize") == 0 && argument == 2);
}

cupel_code cupel_expr_names(const cupel_expr *expr,
                            cupel_code (*visit)(void *self, const cupel_expr *name, cupel_error *err),
                            void *self, cupel_error *err) {
    if (!expr) return CUPEL_OK;
    if (expr->kind == CUPEL_EXPR_NAME)
        return strcmp(expr->name, "keep") == 0 ? CUPEL_OK : visit(self, expr, err);
    for (int i = 0; i < expr->count; i++)
        if (!names_a_type(expr, i)) CUPEL_TRY(cupel_expr_names(expr->children[i], visit, self, err));
    return CUPEL_OK;
}
