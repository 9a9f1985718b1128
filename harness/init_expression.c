#include "init_expression.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 40, RESOLVE_MAX = 16, TEXT_MAX = 400 };

static const cupel_init_tree unknown = {.op = '?'};

typedef struct reader {
    const cupel_tokens *tokens;
    size_t at, end;
    int depth;
    cupel_arena *arena;
} reader;

static const cupel_init_tree *node(cupel_init_tree tree, cupel_arena *arena) {
    cupel_init_tree *copy = cupel_arena_alloc(arena, sizeof *copy);
    if (!copy) return &unknown;
    *copy = tree;
    return copy;
}

const cupel_init_tree *cupel_init_tree_number(int64_t value, cupel_arena *arena) {
    return node((cupel_init_tree){.op = '#', .value = value}, arena);
}

const cupel_init_tree *cupel_init_tree_name(const char *name, cupel_arena *arena) {
    return name ? node((cupel_init_tree){.op = 'n', .name = name}, arena) : &unknown;
}

const cupel_init_tree *cupel_init_tree_pair(char op, const cupel_init_tree *left,
                                            const cupel_init_tree *right, cupel_arena *arena) {
    return node((cupel_init_tree){.op = op, .count = 2, .child = {left, right}}, arena);
}

bool cupel_init_is_type_word(const cupel_tokens *tokens, size_t i) {
    static const char *const words[] = {
        "int",     "unsigned", "signed",   "long",     "short",    "char",    "size_t", "float",
        "double",  "int32_t",  "int64_t",  "uint32_t", "uint64_t", "uint",    "bool",   "ptrdiff_t",
        "ssize_t", "int16_t",  "uint16_t", "auto",     "index_t",  "half",    "__half", "scalar_t",
        "const",   "int8_t",   "uint8_t",  "std",      "volatile", "register"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (cupel_lexer_is(tokens, i, words[k])) return true;
    return false;
}

static bool is(const reader *r, const char *word) {
    return r->at < r->end && cupel_lexer_is(r->tokens, r->at, word);
}

static bool take(reader *r, const char *word) {
    if (!is(r, word)) return false;
    r->at++;
    return true;
}

/* Past the bracket that closes the one at r->at; to the end when it is open. */
static size_t closing(const reader *r, const char *open, const char *close) {
    int depth = 0;
    for (size_t i = r->at; i < r->end; i++) {
        depth += cupel_lexer_is(r->tokens, i, open);
        depth -= cupel_lexer_is(r->tokens, i, close);
        if (depth == 0) return i + 1;
    }
    return r->end;
}

static const cupel_init_tree *sum(reader *r);

static const cupel_init_tree *number(reader *r) {
    const cupel_token *token = &r->tokens->at[r->at++];
    char text[40], *end;
    if (token->length >= sizeof text) return &unknown;
    size_t n = 0;
    for (size_t i = 0; i < token->length; i++)
        if (r->tokens->text[token->offset + i] != '\'') text[n++] = r->tokens->text[token->offset + i];
    text[n] = '\0';
    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (end == text || errno || strspn(end, "uUlLzZ") != strlen(end)) {
        double real = strtod(text, &end); /* 1e6 and 32.0f stand for integers often enough */
        if (end == text || strspn(end, "fF") != strlen(end) || !(real >= 0 && real < 1e15) ||
            (double)(int64_t)real != real)
            return &unknown;
        value = (int64_t)real;
    }
    return cupel_init_tree_number(value, r->arena);
}

/* The arguments of a call, from ( on. */
static const cupel_init_tree *call(reader *r, const char *name) {
    cupel_init_tree tree = {.op = 'c', .name = name};
    size_t close = closing(r, "(", ")");
    r->at++;
    while (r->at + 1 < close && tree.count < CUPEL_INIT_CHILD_MAX) {
        reader inner = *r;
        inner.end = close - 1;
        tree.child[tree.count++] = sum(&inner);
        bool more = inner.at < inner.end && cupel_lexer_is(r->tokens, inner.at, ",");
        if (!more && inner.at < inner.end) tree.child[tree.count - 1] = &unknown;
        r->at = more ? inner.at + 1 : close - 1;
        if (!more) break;
    }
    r->at = close;
    return node(tree, r->arena);
}

/* sizeof(float) is a number, sizeof(T) stays. */
static const cupel_init_tree *size_of(reader *r) {
    static const struct {
        const char *word;
        int bytes;
    } sizes[] = {{"float4", 16}, {"double", 8}, {"float", 4},  {"int", 4},           {"unsigned", 4},
                 {"half", 2},    {"__half", 2}, {"char", 1},   {"__nv_bfloat16", 2}, {"uint32_t", 4},
                 {"int32_t", 4}, {"bool", 1},   {"float2", 8}, {"uint", 4}};
    size_t close = closing(r, "(", ")"), word = r->at + 1;
    r->at = close;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        if (cupel_lexer_is(r->tokens, word, sizes[k].word) && close == word + 2)
            return cupel_init_tree_number(sizes[k].bytes, r->arena);
    const char *type = close == word + 2 ? cupel_lexer_text(r->tokens, word, r->arena) : NULL;
    if (!type) return &unknown;
    cupel_init_tree name = {.op = 'n', .name = type, .value = 1};
    return node((cupel_init_tree){.op = 'c', .name = "sizeof", .count = 1, .child = {node(name, r->arena)}},
                r->arena);
}

/* A name with its scopes and members: std::min is min, blockIdx.x stays. */
static const cupel_init_tree *name(reader *r) {
    size_t first = r->at++;
    while (is(r, "::") && r->at + 1 < r->end) first = r->at + 1, r->at += 2;
    const char *text = cupel_lexer_text(r->tokens, first, r->arena);
    if (!text) return &unknown;
    if (is(r, "<") && strstr(text, "_cast")) { /* static_cast<T>(x) */
        r->at = closing(r, "<", ">");
        return is(r, "(") ? call(r, "cast") : &unknown;
    }
    if (is(r, "(")) return strcmp(text, "sizeof") == 0 ? size_of(r) : call(r, text);
    while (is(r, ".") && r->at + 1 < r->end) {
        const char *member = cupel_lexer_text(r->tokens, r->at + 1, r->arena);
        text = member ? cupel_arena_printf(r->arena, "%s.%s", text, member) : NULL;
        r->at += 2;
        if (!text) return &unknown;
        if (is(r, "(")) { /* x.size(0) */
            r->at = closing(r, "(", ")");
            return &unknown;
        }
    }
    if (is(r, "[") || is(r, "->")) {
        r->at = is(r, "[") ? closing(r, "[", "]") : r->end;
        return &unknown;
    }
    return cupel_init_tree_name(text, r->arena);
}

static bool at_cast(const reader *r) {
    size_t close = closing(r, "(", ")");
    if (close >= r->end || close == r->at + 2) return false;
    for (size_t i = r->at + 1; i + 1 < close; i++)
        if (!cupel_init_is_type_word(r->tokens, i) && !cupel_lexer_is(r->tokens, i, "::")) return false;
    return true;
}

static const cupel_init_tree *primary(reader *r) {
    if (r->at >= r->end || r->depth >= DEPTH_MAX) return &unknown;
    cupel_token_kind kind = r->tokens->at[r->at].kind;
    if (kind == CUPEL_TOKEN_NUMBER) return number(r);
    if (is(r, "(") && at_cast(r)) {
        r->at = closing(r, "(", ")");
        r->depth++;
        const cupel_init_tree *tree = primary(r);
        r->depth--;
        return tree;
    }
    if (is(r, "(")) {
        reader inner = *r;
        inner.end = closing(r, "(", ")") - 1;
        inner.at++, inner.depth++;
        const cupel_init_tree *tree = sum(&inner);
        r->at = inner.end + 1;
        return inner.at == inner.end ? tree : &unknown;
    }
    if (take(r, "-")) {
        r->depth++;
        const cupel_init_tree *tree = primary(r);
        r->depth--;
        return cupel_init_tree_pair('-', cupel_init_tree_number(0, r->arena), tree, r->arena);
    }
    if (kind == CUPEL_TOKEN_WORD) {
        const cupel_init_tree *tree = name(r);
        bool type = tree->op == 'c' && tree->count == 1 && tree->name &&
                    (strcmp(tree->name, "cast") == 0 || strcmp(tree->name, "int") == 0 ||
                     strcmp(tree->name, "size_t") == 0 || strcmp(tree->name, "unsigned") == 0 ||
                     strcmp(tree->name, "int64_t") == 0 || strcmp(tree->name, "float") == 0 ||
                     strcmp(tree->name, "double") == 0 || strcmp(tree->name, "uint32_t") == 0);
        return type ? tree->child[0] : tree;
    }
    r->at++;
    return &unknown;
}

static const cupel_init_tree *product(reader *r) {
    const cupel_init_tree *left = primary(r);
    for (;;) {
        char op = is(r, "*") ? '*' : is(r, "/") ? '/' : is(r, "%") ? '%' : '\0';
        if (!op) return left;
        r->at++;
        left = cupel_init_tree_pair(op, left, primary(r), r->arena);
    }
}

static const cupel_init_tree *sum(reader *r) {
    const cupel_init_tree *left = product(r);
    for (;;) {
        bool shift =
            r->at + 1 < r->end && (is(r, "<") || is(r, ">")) && r->tokens->at[r->at + 1].length == 1 &&
            r->tokens->text[r->tokens->at[r->at].offset] == r->tokens->text[r->tokens->at[r->at + 1].offset];
        char op = is(r, "+") ? '+' : is(r, "-") ? '-' : shift ? (is(r, "<") ? '<' : '>') : '\0';
        if (!op) return left;
        r->at += shift ? 2 : 1;
        left = cupel_init_tree_pair(op, left, product(r), r->arena);
    }
}

const cupel_init_tree *cupel_init_tree_read(const cupel_tokens *tokens, size_t begin, size_t end,
                                            cupel_arena *arena) {
    reader r = {.tokens = tokens, .at = begin, .end = end, .arena = arena};
    const cupel_init_tree *tree = sum(&r);
    return begin < end && r.at == end ? tree : &unknown;
}

bool cupel_init_tree_equal(const cupel_init_tree *a, const cupel_init_tree *b) {
    if (a->op != b->op || a->count != b->count || a->op == '?') return false;
    if (a->op == '#' && a->value != b->value) return false;
    if ((a->name != NULL) != (b->name != NULL) || (a->name && strcmp(a->name, b->name) != 0)) return false;
    for (int i = 0; i < a->count; i++)
        if (!cupel_init_tree_equal(a->child[i], b->child[i])) return false;
    return true;
}

static bool is_number(const cupel_init_tree *tree, int64_t value) {
    return tree->op == '#' && tree->value == value;
}

/* a of (a + b - 1), (a + (b - 1)) or (a - 1 + b), with numbers folded: (a + 255) / 256. */
static const cupel_init_tree *rounded_up(const cupel_init_tree *top, const cupel_init_tree *by) {
    if (top->op == '+' && top->child[1]->op == '#' && by->op == '#' && top->child[1]->value == by->value - 1)
        return top->child[0];
    if (top->op == '-' && is_number(top->child[1], 1) && top->child[0]->op == '+') {
        const cupel_init_tree *inner = top->child[0];
        if (cupel_init_tree_equal(inner->child[1], by)) return inner->child[0];
        if (cupel_init_tree_equal(inner->child[0], by)) return inner->child[1];
    }
    if (top->op == '-' && is_number(top->child[1], 1) && top->child[0]->op == '#' && by->op == '#')
        return NULL;
    if (top->op == '+' && top->child[1]->op == '-' && is_number(top->child[1]->child[1], 1) &&
        cupel_init_tree_equal(top->child[1]->child[0], by))
        return top->child[0];
    /* (a + 256) - 1 */
    if (top->op == '-' && is_number(top->child[1], 1) && top->child[0]->op == '+' &&
        top->child[0]->child[1]->op == '#' && by->op == '#' && top->child[0]->child[1]->value == by->value)
        return top->child[0]->child[0];
    return NULL;
}

static const cupel_init_tree *ceil_div(const cupel_init_tree *a, const cupel_init_tree *b,
                                       cupel_arena *arena) {
    return node((cupel_init_tree){.op = 'c', .name = "ceil_div", .count = 2, .child = {a, b}}, arena);
}

static bool is_ceil_name(const char *text) {
    char lower[40];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)text[n]);
    lower[n] = '\0';
    return strstr(lower, "ceil") || strstr(lower, "cdiv") || strstr(lower, "divup") ||
           strstr(lower, "div_up") || strstr(lower, "divideup") || strstr(lower, "iceil");
}

static bool fold(char op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case '+': return !__builtin_add_overflow(a, b, out);
    case '-': return !__builtin_sub_overflow(a, b, out);
    case '*': return !__builtin_mul_overflow(a, b, out);
    case '/': return b > 0 && a >= 0 && (*out = a / b, true);
    case '%': return b > 0 && a >= 0 && (*out = a % b, true);
    case '<': return a >= 0 && b >= 0 && b < 40 && a < INT64_C(1) << 20 && (*out = a << b, true);
    case '>': return a >= 0 && b >= 0 && b < 63 && (*out = a >> b, true);
    default: return false;
    }
}

static const cupel_init_tree *simplify(const cupel_init_tree *tree, cupel_arena *arena) {
    const cupel_init_tree *a = tree->child[0], *b = tree->child[1];
    int64_t value;
    if (tree->op == 'c' && tree->name && is_ceil_name(tree->name)) {
        if (tree->count == 2) return ceil_div(a, b, arena);
        if (tree->count == 1 && a->op == '/') return ceil_div(a->child[0], a->child[1], arena);
        if (tree->count == 1 && a->op == 'c') return a;
        if (tree->count == 1 && a->op == '#') return a;
    }
    if (tree->count != 2 || tree->op == 'c') return tree;
    if (tree->op == '/') {
        const cupel_init_tree *whole = rounded_up(a, b);
        if (whole) return ceil_div(whole, b, arena);
        if (is_number(b, 1)) return a;
    }
    if (a->op == '#' && b->op == '#' && fold(tree->op, a->value, b->value, &value))
        return cupel_init_tree_number(value, arena);
    if (tree->op == '*' && is_number(a, 1)) return b;
    if (tree->op == '*' && is_number(b, 1)) return a;
    return tree;
}

static const cupel_init_tree *resolve(const cupel_init_tree *tree, cupel_init_lookup lookup, const void *self,
                                      int depth, cupel_arena *arena) {
    if (depth > RESOLVE_MAX) return tree;
    if (tree->op == 'n') {
        const cupel_init_tree *value = lookup && !tree->value ? lookup(self, tree->name) : NULL;
        return value ? resolve(value, lookup, self, depth + 1, arena) : tree;
    }
    if (tree->count == 0) return tree;
    cupel_init_tree copy = *tree;
    for (int i = 0; i < tree->count; i++)
        copy.child[i] = resolve(tree->child[i], lookup, self, depth + 1, arena);
    const cupel_init_tree *result = node(copy, arena);
    return simplify(result, arena);
}

const cupel_init_tree *cupel_init_tree_resolve(const cupel_init_tree *tree, cupel_init_lookup lookup,
                                               const void *self, cupel_arena *arena) {
    return resolve(tree, lookup, self, 0, arena);
}

static int strength(const cupel_init_tree *tree) {
    switch (tree->op) {
    case '<':
    case '>': return 1;
    case '+':
    case '-': return 2;
    case '*':
    case '/':
    case '%': return 3;
    default: return 4;
    }
}

typedef struct writer {
    char text[TEXT_MAX];
    size_t used;
} writer;

static void put(writer *w, const char *text) {
    size_t length = strlen(text);
    if (w->used + length >= sizeof w->text) return;
    memcpy(w->text + w->used, text, length + 1);
    w->used += length;
}

static void print(const cupel_init_tree *tree, writer *w, int depth) {
    char digits[24];
    if (depth > DEPTH_MAX || tree->op == '?') {
        put(w, "?");
    } else if (tree->op == '#') {
        snprintf(digits, sizeof digits, "%" PRId64, tree->value);
        put(w, digits);
    } else if (tree->op == 'n') {
        put(w, tree->name);
    } else if (tree->op == 'c') {
        put(w, tree->name), put(w, "(");
        for (int i = 0; i < tree->count; i++) {
            if (i) put(w, ", ");
            print(tree->child[i], w, depth + 1);
        }
        put(w, ")");
    } else {
        for (int i = 0; i < 2; i++) {
            const char op[] = {' ', tree->op, ' ', '\0'};
            bool brackets = strength(tree->child[i]) < strength(tree) + (i == 1);
            if (i) put(w, tree->op == '<' ? " << " : tree->op == '>' ? " >> " : op);
            if (brackets) put(w, "(");
            print(tree->child[i], w, depth + 1);
            if (brackets) put(w, ")");
        }
    }
}

const char *cupel_init_tree_text(const cupel_init_tree *tree, cupel_arena *arena) {
    writer w = {.used = 0};
    print(tree, &w, 0);
    const char *text = cupel_arena_text(arena, w.text, w.used);
    return text ? text : "?";
}

bool cupel_init_tree_known(const cupel_init_tree *tree) {
    if (tree->op == '?') return false;
    if (tree->op == 'n') return !strchr(tree->name, '.');
    if (tree->op == 'c' && tree->count == 1 && strcmp(tree->name, "sizeof") == 0) return true;
    if (tree->op == 'c' &&
        (tree->count != 2 || (strcmp(tree->name, "ceil_div") != 0 && strcmp(tree->name, "min") != 0 &&
                              strcmp(tree->name, "max") != 0)))
        return false;
    for (int i = 0; i < tree->count; i++)
        if (!cupel_init_tree_known(tree->child[i])) return false;
    return true;
}

bool cupel_init_tree_names(const cupel_init_tree *tree, bool (*visit)(void *self, const char *name),
                           void *self) {
    if (tree->op == 'n') return visit(self, tree->name);
    if (tree->op == 'c' && strcmp(tree->name, "sizeof") == 0) return true;
    for (int i = 0; i < tree->count; i++)
        if (!cupel_init_tree_names(tree->child[i], visit, self)) return false;
    return true;
}
