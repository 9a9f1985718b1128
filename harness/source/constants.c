#include "constants.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"

enum {
    RANK_FACTOR = 6,
    RANK_SHIFT = 4,
    EXPRESSION_DEPTH_MAX = 24,
    OPERANDS_MAX = 2000,
    CONSTANTS_MAX = 2048
};

static const char *text_of(const cupel_tokens *tokens, size_t i) {
    return tokens->text + tokens->at[i].offset;
}

static bool is(const cupel_tokens *tokens, size_t i, const char *word) {
    return cupel_lexer_is(tokens, i, word);
}

static bool is_word(const cupel_tokens *tokens, size_t i) {
    return i < tokens->count && tokens->at[i].kind == CUPEL_TOKEN_WORD;
}

bool cupel_constants_integer(const char *text, size_t length, int64_t *value) {
    char digits[80];
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'') continue;
        if (n + 1 == sizeof digits) return false;
        digits[n++] = text[i];
    }
    digits[n] = '\0';
    while (n > 1 && strchr("uUlLzZ", digits[n - 1])) digits[--n] = '\0';
    bool binary = n > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B');
    char *end;
    errno = 0;
    unsigned long long number = strtoull(digits + (binary ? 2 : 0), &end, binary ? 2 : 0);
    if (*end != '\0' || end == digits || errno != 0 || number > INT64_MAX) return false;
    *value = (int64_t)number;
    return true;
}

/* Two tokens without anything between them: the lexer keeps << and += apart. */
static bool joined(const cupel_tokens *tokens, size_t i) {
    return i + 1 < tokens->count && tokens->at[i].offset + tokens->at[i].length == tokens->at[i + 1].offset;
}

int cupel_constants_operator(const cupel_tokens *tokens, size_t i, size_t *length) {
    static const char marks[] = "|^& +*";
    *length = 1;
    if (i >= tokens->count || tokens->at[i].kind != CUPEL_TOKEN_MARK || tokens->at[i].length != 1) return 0;
    char mark = *text_of(tokens, i), after = joined(tokens, i) ? *text_of(tokens, i + 1) : '\0';
    bool second = after != '\0' && tokens->at[i + 1].length == 1;
    if (mark == '<' || mark == '>') {
        *length = 2;
        bool compound = second && joined(tokens, i + 1) && *text_of(tokens, i + 2) == '=';
        return second && after == mark && !compound ? RANK_SHIFT : 0;
    }
    if (after == '=' || (after == mark && (mark == '+' || mark == '-'))) return 0;
    if (mark == '/' || mark == '%') return RANK_FACTOR;
    if (mark == '-') mark = '+';
    const char *found = strchr(marks, mark);
    return found && mark != ' ' && mark != '\0' ? (int)(found - marks) + 1 : 0;
}

typedef struct evaluator {
    const cupel_constants *constants;
    const cupel_tokens *tokens;
    size_t at, end, place;
    int depth;
    int *operands; /* left to look at: names of names may double at each step */
} evaluator;

static bool binary_value(evaluator *e, int rank, int64_t *value);

static bool literal_name(const cupel_tokens *tokens, size_t i, int64_t *value) {
    static const struct {
        const char *name;
        int64_t value;
    } known[] = {{"warpSize", 32},
                 {"INT_MAX", INT32_MAX},
                 {"INT32_MAX", INT32_MAX},
                 {"UINT_MAX", UINT32_MAX},
                 {"UINT32_MAX", UINT32_MAX},
                 {"SHRT_MAX", INT16_MAX},
                 {"true", 1},
                 {"false", 0}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (is(tokens, i, known[k].name)) {
            *value = known[k].value;
            return true;
        }
    return false;
}

static int64_t size_of(const cupel_tokens *tokens, size_t i) {
    static const struct {
        const char *name;
        int64_t size;
    } known[] = {{"char", 1},          {"bool", 1},         {"short", 2},   {"half", 2},
                 {"__half", 2},        {"int", 4},          {"float", 4},   {"unsigned", 4},
                 {"__nv_bfloat16", 2}, {"double", 8},       {"float2", 8},  {"float4", 16},
                 {"int4", 16},         {"uint4", 16},       {"half2", 4},   {"int64_t", 8},
                 {"uint64_t", 8},      {"size_t", 8},       {"int32_t", 4}, {"uint32_t", 4},
                 {"int8_t", 1},        {"uint8_t", 1},      {"int16_t", 2}, {"uint16_t", 2},
                 {"__nv_fp8_e4m3", 1}, {"__nv_fp8_e5m2", 1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (is(tokens, i, known[k].name)) return known[k].size;
    return 0;
}

static bool name_value(evaluator *e, int64_t *value) {
    const cupel_tokens *t = e->tokens;
    while (e->at + 2 < e->end && is(t, e->at + 1, "::") && is_word(t, e->at + 2)) e->at += 2;
    size_t word = e->at++;
    if (is(t, word, "sizeof") && is(t, e->at, "(") && is(t, e->at + 2, ")") && e->at + 2 < e->end) {
        *value = size_of(t, e->at + 1);
        e->at += 3;
        return *value > 0;
    }
    if (e->at < e->end && (is(t, e->at, "(") || is(t, e->at, "[") || is(t, e->at, "."))) return false;
    const cupel_constant *c =
        cupel_constants_find(e->constants, text_of(t, word), t->at[word].length, e->place);
    if (!c) return literal_name(t, word, value);
    if (e->depth == EXPRESSION_DEPTH_MAX) return false;
    *value = 0;
    if (c->begin < c->end) {
        evaluator inner = {.constants = e->constants,
                           .tokens = c->tokens,
                           .at = c->begin,
                           .end = c->end,
                           .place = c->place,
                           .depth = e->depth + 1,
                           .operands = e->operands};
        if (!binary_value(&inner, 1, value) || inner.at != inner.end) return false;
    }
    return !__builtin_add_overflow(*value, c->added, value);
}

/* ( type ) before an operand. */
static bool skip_cast(evaluator *e) {
    const cupel_tokens *t = e->tokens;
    size_t i = e->at + 1;
    while (i < e->end && (size_of(t, i) || is(t, i, "long") || is(t, i, "signed"))) i++;
    if (i == e->at + 1 || i + 1 >= e->end || !is(t, i, ")")) return false;
    e->at = i + 1;
    return true;
}

static bool unary_value(evaluator *e, int64_t *value) {
    const cupel_tokens *t = e->tokens;
    if (e->at >= e->end || e->depth >= EXPRESSION_DEPTH_MAX || --*e->operands < 0) return false;
    e->depth++;
    bool good = false;
    if (t->at[e->at].kind == CUPEL_TOKEN_NUMBER) {
        good = cupel_constants_integer(text_of(t, e->at), t->at[e->at].length, value);
        e->at++;
    } else if (is_word(t, e->at)) {
        good = name_value(e, value);
    } else if (is(t, e->at, "-") || is(t, e->at, "+") || is(t, e->at, "~")) {
        char mark = *text_of(t, e->at++);
        good = unary_value(e, value) && *value != INT64_MIN;
        if (good && mark != '+') *value = mark == '-' ? -*value : ~*value;
    } else if (is(t, e->at, "(")) {
        if (skip_cast(e)) {
            good = unary_value(e, value);
        } else {
            e->at++;
            good = binary_value(e, 1, value) && e->at < e->end && is(t, e->at, ")");
            e->at++;
        }
    }
    e->depth--;
    return good;
}

static bool apply(char mark, int64_t a, int64_t b, int64_t *value) {
    switch (mark) {
    case '*': return !__builtin_mul_overflow(a, b, value);
    case '+': return !__builtin_add_overflow(a, b, value);
    case '-': return !__builtin_sub_overflow(a, b, value);
    case '/':
    case '%':
        if (b == 0 || (a == INT64_MIN && b == -1)) return false;
        *value = mark == '/' ? a / b : a % b;
        return true;
    case '<':
        if (a < 0 || b < 0 || b > 62 || a > INT64_MAX >> b) return false;
        *value = a << b;
        return true;
    case '>':
        if (a < 0 || b < 0 || b > 62) return false;
        *value = a >> b;
        return true;
    case '&': *value = a & b; return true;
    case '^': *value = a ^ b; return true;
    default: *value = a | b; return true;
    }
}

static bool binary_value(evaluator *e, int rank, int64_t *value) {
    if (!unary_value(e, value)) return false;
    for (;;) {
        size_t length;
        int found = e->at < e->end ? cupel_constants_operator(e->tokens, e->at, &length) : 0;
        if (found < rank || found == 0 || e->at + length >= e->end) return true;
        size_t before = e->at;
        char mark = *text_of(e->tokens, e->at);
        int64_t right;
        e->at += length;
        if (!binary_value(e, found + 1, &right)) {
            e->at = before;
            return true;
        }
        if (!apply(mark, *value, right, value)) return false;
    }
}

bool cupel_constants_evaluate(const cupel_constants *constants, const cupel_tokens *tokens, size_t *i,
                              size_t end, int rank, size_t place, int64_t *value) {
    int operands = OPERANDS_MAX;
    evaluator e = {.constants = constants,
                   .tokens = tokens,
                   .at = *i,
                   .end = end < tokens->count ? end : tokens->count,
                   .place = place,
                   .operands = &operands};
    if (!binary_value(&e, rank, value)) return false;
    *i = e.at;
    return true;
}

const cupel_constant *cupel_constants_find(const cupel_constants *constants, const char *name, size_t length,
                                           size_t place) {
    const cupel_constant *found = NULL;
    for (size_t i = 0; i < constants->count; i++) {
        const cupel_constant *c = &constants->at[i];
        if (c->name_length != length || memcmp(c->name, name, length) != 0) continue;
        if (c->place >= place && found) break;
        if (c->place != place) found = c; /* what defines a name is not its use */
    }
    return found;
}

static cupel_code add(cupel_constants *out, cupel_constant constant, cupel_error *err) {
    if (out->count == CONSTANTS_MAX) return CUPEL_OK;
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 32;
        cupel_constant *grown = cupel_arena_raw(out->arena, capacity, sizeof *grown);
        if (!grown) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
        if (out->count) memcpy(grown, out->at, out->count * sizeof *grown);
        out->at = grown, out->capacity = capacity;
    }
    out->at[out->count++] = constant;
    return CUPEL_OK;
}

static cupel_code add_define(const cupel_tokens *tokens, size_t i, cupel_constants *out, cupel_error *err) {
    char word[16];
    size_t name, length;
    bool function_like;
    cupel_lexer_directive(tokens, i, word, sizeof word);
    if (strcmp(word, "define") != 0) return CUPEL_OK;
    size_t body = cupel_macros_body(tokens, i, &name, &length, &function_like);
    cupel_tokens *own = cupel_arena_alloc(out->arena, sizeof *own);
    if (!own) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    const cupel_token *t = &tokens->at[i];
    CUPEL_TRY(
        cupel_lexer_run(tokens->text + body, t->offset + t->length - body, t->file, out->arena, own, err));
    if (function_like || own->count == 0) return CUPEL_OK;
    return add(out,
               (cupel_constant){.name = tokens->text + name,
                                .name_length = length,
                                .tokens = own,
                                .end = own->count,
                                .place = t->offset},
               err);
}

/* Index of the first , ; ) } or, outside brackets, > from i on: the end of an initialiser. */
static size_t initialiser_end(const cupel_tokens *t, size_t i, bool in_template) {
    int depth = 0;
    for (; i < t->count; i++) {
        if (t->at[i].kind != CUPEL_TOKEN_MARK) continue;
        char c = *text_of(t, i);
        if (c == '(' || c == '[' || c == '{') depth++;
        if (depth == 0 && (strchr(",;)}]", c) || (in_template && c == '>'))) break;
        if (c == ')' || c == ']' || c == '}') depth--;
    }
    return i;
}

/* NAME = expression, ... after const, constexpr or a template's <. */
static cupel_code add_initialised(const cupel_tokens *t, size_t i, bool in_template, cupel_constants *out,
                                  cupel_error *err) {
    for (; i + 2 < t->count; i++) {
        if (t->at[i].kind == CUPEL_TOKEN_DIRECTIVE || is(t, i, ";") || is(t, i, ")") || is(t, i, "{") ||
            (is(t, i, "(") && !in_template))
            return CUPEL_OK;
        if (in_template && is(t, i, ">")) return CUPEL_OK;
        if (!is_word(t, i) || !(is(t, i + 1, "=") || (is(t, i + 1, "{") && !in_template))) continue;
        bool braces = is(t, i + 1, "{");
        size_t end = initialiser_end(t, i + 2, in_template);
        CUPEL_TRY(add(out,
                      (cupel_constant){.name = text_of(t, i),
                                       .name_length = t->at[i].length,
                                       .tokens = t,
                                       .begin = i + 2,
                                       .end = end,
                                       .place = t->at[i].offset},
                      err));
        i = braces ? end : end - 1;
    }
    return CUPEL_OK;
}

/* enum [class] [NAME] [: type] { A, B = 3, C } */
static cupel_code add_enum(const cupel_tokens *t, size_t i, cupel_constants *out, cupel_error *err) {
    while (i < t->count && !is(t, i, "{") && !is(t, i, ";") && !is(t, i, ")") && !is(t, i, ",")) i++;
    size_t begin = 0, end = 0;
    int64_t added = 0;
    if (!is(t, i, "{")) return CUPEL_OK;
    for (i++; is_word(t, i);) {
        size_t name = i++;
        if (is(t, i, "=")) {
            begin = i + 1, added = 0;
            end = i = initialiser_end(t, i + 1, false);
        }
        CUPEL_TRY(add(out,
                      (cupel_constant){.name = text_of(t, name),
                                       .name_length = t->at[name].length,
                                       .tokens = t,
                                       .begin = begin,
                                       .end = end,
                                       .added = added++,
                                       .place = t->at[name].offset},
                      err));
        if (is(t, i, ",")) i++;
    }
    return CUPEL_OK;
}

cupel_code cupel_constants_collect(const cupel_structure *structure, cupel_arena *arena, cupel_constants *out,
                                   cupel_error *err) {
    const cupel_tokens *t = &structure->tokens;
    *out = (cupel_constants){.arena = arena};
    for (size_t i = 0; i < t->count; i++) {
        if (structure->depth[i] == CUPEL_STRUCTURE_DEAD) continue;
        if (t->at[i].kind == CUPEL_TOKEN_DIRECTIVE)
            CUPEL_TRY(add_define(t, i, out, err));
        else if (is(t, i, "constexpr") || (is(t, i, "const") && !(i > 0 && is(t, i - 1, "constexpr"))))
            CUPEL_TRY(add_initialised(t, i + 1, false, out, err));
        else if (is(t, i, "template") && is(t, i + 1, "<"))
            CUPEL_TRY(add_initialised(t, i + 2, true, out, err));
        else if (is(t, i, "enum"))
            CUPEL_TRY(add_enum(t, i + 1, out, err));
    }
    return CUPEL_OK;
}
