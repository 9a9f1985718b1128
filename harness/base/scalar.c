/* Parsing by recursive descent with binding powers. Precedence is Python's, as in postconditions: or, and,
 * not, comparisons, |, ^, &, shifts, sums, products, signs, powers. */
#include "scalar.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scalar_impl.h"

typedef struct parser {
    cupel_span text;
    size_t at; /* of the next token */
    cupel_arena *arena;
    cupel_error *err;
    int depth;
} parser;

typedef struct binary {
    const char *text;
    cupel_scalar_op op;
    int power; /* binding power; higher binds tighter */
} binary;

/* longer operators first, so that "<<" is not read as "<" */
static const binary binaries[] = {
    {"or", CUPEL_SCALAR_OR, 1},    {"and", CUPEL_SCALAR_AND, 2},  {"<<", CUPEL_SCALAR_SHL, 8},
    {">>", CUPEL_SCALAR_SHR, 8},   {"<=", CUPEL_SCALAR_LE, 4},    {">=", CUPEL_SCALAR_GE, 4},
    {"==", CUPEL_SCALAR_EQ, 4},    {"!=", CUPEL_SCALAR_NE, 4},    {"**", CUPEL_SCALAR_POW, 12},
    {"<", CUPEL_SCALAR_LT, 4},     {">", CUPEL_SCALAR_GT, 4},     {"|", CUPEL_SCALAR_BITOR, 5},
    {"^", CUPEL_SCALAR_BITXOR, 6}, {"&", CUPEL_SCALAR_BITAND, 7}, {"+", CUPEL_SCALAR_ADD, 9},
    {"-", CUPEL_SCALAR_SUB, 9},    {"*", CUPEL_SCALAR_MUL, 10},   {"/", CUPEL_SCALAR_DIV, 10},
    {"%", CUPEL_SCALAR_MOD, 10},
};
enum { POWER_NOT = 3, POWER_COMPARISON = 4, POWER_SIGN = 11, POWER_POW = 12 };

typedef struct function {
    const char *name, *usage;
    int least, most; /* arguments */
    bool names;      /* the first argument is the name of a tensor or type */
} function;
static const function functions[CUPEL_SCALAR_FUNCTION_COUNT] = {
    [CUPEL_SCALAR_CEIL_DIV] = {"ceil_div", "ceil_div(a, b)", 2, 2, false},
    [CUPEL_SCALAR_FLOOR_DIV] = {"floor_div", "floor_div(a, b)", 2, 2, false},
    [CUPEL_SCALAR_MIN] = {"min", "min(a, b)", 2, CUPEL_SCALAR_ARGS_MAX, false},
    [CUPEL_SCALAR_MAX] = {"max", "max(a, b)", 2, CUPEL_SCALAR_ARGS_MAX, false},
    [CUPEL_SCALAR_NEXT_POW2] = {"next_pow2", "next_pow2(a)", 1, 1, false},
    [CUPEL_SCALAR_STRIDE] = {"stride", "stride(tensor, axis)", 2, 2, true},
    [CUPEL_SCALAR_SIZE] = {"size", "size(tensor)", 1, 1, true},
    [CUPEL_SCALAR_SIZEOF] = {"sizeof", "sizeof(type)", 1, 1, true},
};

/* Other languages' spellings, answered with ours. */
static const struct {
    const char *wrong, *right;
} spellings[] = {
    {"&&", "and"}, {"||", "or"}, {"//", "floor_div(a, b)"}, {"=", "=="}, {"?", "min, max or a comparison"}};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(parser *p) {
    while (p->at < p->text.length && isspace((unsigned char)p->text.text[p->at])) p->at++;
}

static char peek(parser *p) {
    skip_blanks(p);
    return p->at < p->text.length ? p->text.text[p->at] : '\0';
}

static bool ahead(parser *p, const char *token) {
    skip_blanks(p);
    size_t n = strlen(token);
    if (p->text.length - p->at < n || memcmp(p->text.text + p->at, token, n) != 0) return false;
    bool word = is_word(token[0]);
    return !word || p->at + n == p->text.length || !is_word(p->text.text[p->at + n]);
}

static bool accept(parser *p, const char *token) {
    if (!ahead(p, token)) return false;
    p->at += strlen(token);
    return true;
}

/* The length of the token at the parser, for messages. */
static size_t token_end(parser *p) {
    size_t end = p->at;
    while (end < p->text.length && is_word(p->text.text[end])) end++;
    if (end == p->at && end < p->text.length) end++;
    while (end < p->text.length && ((unsigned char)p->text.text[end] & 0xC0) == 0x80) end++;
    return end;
}

/* "expected WHAT, found 'token'", with advice where the token is another language's. */
static cupel_code fail_here(parser *p, const char *expected) {
    skip_blanks(p);
    cupel_span found = cupel_span_part(p->text, p->at, token_end(p));
    if (found.length == 0)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, found, "expected %s, found the end of '%.*s'", expected,
                               (int)p->text.length, p->text.text);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (ahead(p, spellings[i].wrong))
            return cupel_fail_span(p->err, CUPEL_SYNTAX, found, "expected %s, found '%s'; write '%s'",
                                   expected, spellings[i].wrong, spellings[i].right);
    return cupel_fail_span(p->err, CUPEL_SYNTAX, found, "expected %s, found '%.*s'", expected,
                           (int)found.length, found.text);
}

static cupel_code node_create(parser *p, cupel_scalar_kind kind, size_t start, cupel_scalar_expr **out) {
    *out = cupel_arena_alloc(p->arena, sizeof **out);
    if (!*out) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    (*out)->kind = kind;
    (*out)->place = cupel_span_part(p->text, start, p->at);
    (*out)->height = 1;
    return CUPEL_OK;
}

static cupel_code node_add(parser *p, cupel_scalar_expr *node, cupel_scalar_expr *child) {
    node->children[node->count++] = child;
    if (child->height >= node->height) node->height = child->height + 1;
    if (node->height > CUPEL_SCALAR_DEPTH_MAX)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, child->place, "expected at most %d levels of nesting",
                               CUPEL_SCALAR_DEPTH_MAX);
    return CUPEL_OK;
}

static cupel_code parse_power(parser *p, int power, cupel_scalar_expr **out);

/* u, l, ll in any of C's orders behind an integer: they do not change a value here. */
static bool integer_suffix(const char *s, size_t n) {
    static const char *const known[] = {"u", "l", "ul", "lu", "ll", "ull", "llu"};
    char lower[4];
    if (n == 0) return true;
    if (n > 3) return false;
    for (size_t i = 0; i < n; i++) lower[i] = (char)tolower((unsigned char)s[i]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(lower, known[i]) == 0) return true;
    return false;
}

static cupel_code parse_number(parser *p, cupel_scalar_expr **out) {
    size_t start = p->at, end = start;
    const char *s = p->text.text;
    bool hex = s[start] == '0' && start + 1 < p->text.length && (s[start + 1] | 32) == 'x', real = false;
    for (; end < p->text.length; end++) {
        bool sign = end > start && (s[end] == '+' || s[end] == '-') && (s[end - 1] | 32) == (hex ? 'p' : 'e');
        if (!is_word(s[end]) && s[end] != '.' && !sign) break;
        real = real || s[end] == '.' || (s[end] | 32) == (hex ? 'p' : 'e');
    }
    cupel_span place = cupel_span_part(p->text, start, end);
    p->at = end;
    CUPEL_TRY(node_create(p, CUPEL_SCALAR_NUMBER, start, out));
    char copy[512];
    if (end - start >= sizeof copy)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, place, "expected a number of at most 500 digits");
    memcpy(copy, s + start, end - start);
    copy[end - start] = '\0';
    char *rest;
    errno = 0;
    if (real) {
        double value = strtod(copy, &rest);
        bool single = (*rest | 32) == 'f' && rest[1] == '\0',
             plain = *rest == '\0' || strcmp(rest, "l") == 0 || strcmp(rest, "L") == 0;
        if ((!single && !plain) || rest == copy)
            return cupel_fail_span(p->err, CUPEL_SYNTAX, place, "expected a number, found '%s'", copy);
        (*out)->number = (cupel_scalar){.real = true, .d = single ? (double)(float)value : value};
        if (!isfinite((*out)->number.d))
            return cupel_fail_span(p->err, CUPEL_SYNTAX, place, "expected a finite number, found '%s'", copy);
        return CUPEL_OK;
    }
    long long value = strtoll(copy, &rest, 0);
    if (rest == copy || !integer_suffix(rest, strlen(rest)))
        return cupel_fail_span(p->err, CUPEL_SYNTAX, place, "expected a number, found '%s'", copy);
    if (errno == ERANGE)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, place, "expected an integer below 2^63, found '%s'",
                               copy);
    (*out)->number = (cupel_scalar){.i = value};
    return CUPEL_OK;
}

static cupel_code fail_function(parser *p, cupel_span word, const char *name) {
    const char *names[CUPEL_SCALAR_FUNCTION_COUNT];
    for (int i = 0; i < CUPEL_SCALAR_FUNCTION_COUNT; i++) names[i] = functions[i].name;
    const char *near = cupel_text_nearest(name, names, CUPEL_SCALAR_FUNCTION_COUNT);
    return cupel_fail_span(
        p->err, CUPEL_SYNTAX, word,
        "expected a function (ceil_div floor_div min max next_pow2 stride size sizeof), found "
        "'%s'%s%s%s",
        name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static cupel_code parse_word_argument(parser *p, cupel_scalar_expr *call) {
    skip_blanks(p);
    size_t start = p->at;
    while (p->at < p->text.length && is_word(p->text.text[p->at])) p->at++;
    if (start == p->at || isdigit((unsigned char)p->text.text[start])) {
        p->at = start;
        return fail_here(p, call->function == CUPEL_SCALAR_SIZEOF ? "a type's name" : "a tensor's name");
    }
    call->name_place = cupel_span_part(p->text, start, p->at);
    call->name = cupel_arena_text(p->arena, p->text.text + start, p->at - start);
    return call->name ? CUPEL_OK : cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
}

static cupel_code parse_call(parser *p, size_t start, const char *name, cupel_scalar_expr **out) {
    cupel_span word = cupel_span_part(p->text, start, start + strlen(name));
    int which = 0;
    while (which < CUPEL_SCALAR_FUNCTION_COUNT && strcmp(functions[which].name, name) != 0) which++;
    if (which == CUPEL_SCALAR_FUNCTION_COUNT) return fail_function(p, word, name);
    const function *f = &functions[which];
    cupel_scalar_expr *call;
    CUPEL_TRY(node_create(p, CUPEL_SCALAR_CALL, start, &call));
    call->function = (cupel_scalar_function)which;
    int count = 0;
    while (peek(p) != ')') {
        if (count > 0 && !accept(p, ",")) return fail_here(p, "',' or ')'");
        if (count == f->most)
            return cupel_fail_span(p->err, CUPEL_SYNTAX, word, "expected %s, found more than %d argument%s",
                                   f->usage, f->most, f->most == 1 ? "" : "s");
        if (count == 0 && f->names) {
            CUPEL_TRY(parse_word_argument(p, call));
        } else {
            cupel_scalar_expr *argument;
            CUPEL_TRY(parse_power(p, 0, &argument));
            CUPEL_TRY(node_add(p, call, argument));
        }
        count++;
    }
    p->at++;
    if (count < f->least)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, word, "expected %s, found %d argument%s", f->usage,
                               count, count == 1 ? "" : "s");
    call->place = cupel_span_part(p->text, start, p->at);
    *out = call;
    return CUPEL_OK;
}

/* Words that stand for numbers. */
static bool constant(const char *name, cupel_scalar *out) {
    static const struct {
        const char *name;
        cupel_scalar value;
    } constants[] = {{"true", {.i = 1}},
                     {"True", {.i = 1}},
                     {"false", {.i = 0}},
                     {"False", {.i = 0}},
                     {"inf", {.real = true, .d = INFINITY}},
                     {"nan", {.real = true, .d = NAN}},
                     {"pi", {.real = true, .d = 3.14159265358979323846}}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(constants[i].name, name) == 0) {
            *out = constants[i].value;
            return true;
        }
    return false;
}

static cupel_code parse_word(parser *p, cupel_scalar_expr **out) {
    size_t start = p->at;
    if (ahead(p, "and") || ahead(p, "or") || ahead(p, "not")) return fail_here(p, "a value");
    while (p->at < p->text.length && is_word(p->text.text[p->at])) p->at++;
    char *name = cupel_arena_text(p->arena, p->text.text + start, p->at - start);
    if (!name) return cupel_fail(p->err, CUPEL_MEMORY, "out of memory");
    if (accept(p, "(")) return parse_call(p, start, name, out);
    p->at = start + strlen(name);
    cupel_scalar value;
    bool number = constant(name, &value);
    CUPEL_TRY(node_create(p, number ? CUPEL_SCALAR_NUMBER : CUPEL_SCALAR_NAME, start, out));
    (*out)->name = name;
    (*out)->name_place = (*out)->place;
    if (number) (*out)->number = value;
    return CUPEL_OK;
}

static cupel_code parse_unary(parser *p, cupel_scalar_op op, int power, size_t start,
                              cupel_scalar_expr **out) {
    cupel_scalar_expr *operand;
    CUPEL_TRY(parse_power(p, power, &operand));
    CUPEL_TRY(node_create(p, CUPEL_SCALAR_UNARY, start, out));
    (*out)->op = op;
    return node_add(p, *out, operand);
}

static cupel_code parse_prefix(parser *p, int power, cupel_scalar_expr **out) {
    char c = peek(p);
    size_t start = p->at;
    if (accept(p, "not")) {
        /* as in Python, "a + not b" needs parentheses */
        if (power > POWER_NOT) {
            p->at = start;
            return fail_here(p, "a value (write '(not ...)')");
        }
        return parse_unary(p, CUPEL_SCALAR_NOT, POWER_NOT, start, out);
    }
    if (accept(p, "-")) return parse_unary(p, CUPEL_SCALAR_NEG, POWER_SIGN, start, out);
    if (accept(p, "+")) return parse_unary(p, CUPEL_SCALAR_POS, POWER_SIGN, start, out);
    if (accept(p, "(")) {
        CUPEL_TRY(parse_power(p, 0, out));
        return accept(p, ")") ? CUPEL_OK : fail_here(p, "')'");
    }
    bool point = c == '.' && p->at + 1 < p->text.length && isdigit((unsigned char)p->text.text[p->at + 1]);
    if (isdigit((unsigned char)c) || point) return parse_number(p, out);
    if (is_word(c)) return parse_word(p, out);
    return fail_here(p, "a value");
}

static const binary *binary_ahead(parser *p) {
    if (ahead(p, "//") || ahead(p, "&&") || ahead(p, "||")) return NULL;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (ahead(p, binaries[i].text)) return &binaries[i];
    return NULL;
}

/* An expression whose operators bind at least as tightly as power. */
static cupel_code parse_power(parser *p, int power, cupel_scalar_expr **out) {
    if (++p->depth > CUPEL_SCALAR_DEPTH_MAX)
        return cupel_fail_span(p->err, CUPEL_SYNTAX, cupel_span_part(p->text, p->at, p->at + 1),
                               "expected at most %d levels of nesting", CUPEL_SCALAR_DEPTH_MAX);
    skip_blanks(p);
    size_t start = p->at;
    cupel_scalar_expr *left;
    bool compared = false; /* left is a comparison that stands without parentheses */
    CUPEL_TRY(parse_prefix(p, power, &left));
    for (const binary *b; (b = binary_ahead(p)) && b->power >= power;) {
        /* a < b < c means one thing in C and another in Python */
        if (b->power == POWER_COMPARISON && compared)
            return fail_here(p, "'and', 'or' or the end (comparisons do not chain)");
        p->at += strlen(b->text);
        cupel_scalar_expr *right, *node;
        /* a power binds to the right, and less tightly than a sign on its right: 2 ** -1 */
        CUPEL_TRY(parse_power(p, b->power == POWER_POW ? POWER_SIGN : b->power + 1, &right));
        CUPEL_TRY(node_create(p, CUPEL_SCALAR_BINARY, start, &node));
        node->op = b->op;
        CUPEL_TRY(node_add(p, node, left));
        CUPEL_TRY(node_add(p, node, right));
        left = node;
        compared = b->power == POWER_COMPARISON;
    }
    p->depth--;
    *out = left;
    return CUPEL_OK;
}

cupel_code cupel_scalar_parse(cupel_span text, cupel_arena *arena, cupel_scalar_expr **out,
                              cupel_error *err) {
    if (text.length > CUPEL_SCALAR_LENGTH_MAX)
        return cupel_fail_span(err, CUPEL_SYNTAX, text,
                               "expected an expression of at most %d characters, found %zu",
                               CUPEL_SCALAR_LENGTH_MAX, text.length);
    parser p = {text, 0, arena, err, 0};
    if (peek(&p) == '\0' && p.at >= text.length)
        return cupel_fail_span(err, CUPEL_SYNTAX, text, "expected an expression, found nothing");
    CUPEL_TRY(parse_power(&p, 0, out));
    skip_blanks(&p);
    if (p.at < text.length) return fail_here(&p, "an operator or the end");
    (*out)->place = text;
    return CUPEL_OK;
}
