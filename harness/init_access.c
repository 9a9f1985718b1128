/* Where a kernel's body reads and writes what its pointers point to. */
#include <string.h>

#include "init_kernel.h"

static const cupel_tokens *tokens_of(const cupel_init_kernel *kernel) {
    return &kernel->file->structure.tokens;
}

/* Past the bracket that closes the one at i. */
static size_t past(const cupel_init_kernel *kernel, size_t i) {
    const cupel_structure *s = &kernel->file->structure;
    return cupel_structure_close(s, i, kernel->declaration->body_end, s->depth[i]);
}

static size_t statement_end(const cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    while (i < kernel->declaration->body_end && !cupel_lexer_is(tokens, i, ";")) i++;
    return i;
}

static bool starts_with(const cupel_tokens *tokens, size_t i, const char *prefix) {
    const cupel_token *t = &tokens->at[i];
    size_t length = strlen(prefix);
    return t->kind == CUPEL_TOKEN_WORD && t->length >= length &&
           memcmp(tokens->text + t->offset, prefix, length) == 0;
}

/* Is it written where the access ends at i: x[i] = , FLOAT4(x[i]) = , x[i].x += */
static int use_after(const cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    size_t end = kernel->declaration->body_end;
    while (i + 2 < end) {
        if (cupel_lexer_is(tokens, i, ")"))
            i++;
        else if (cupel_lexer_is(tokens, i, "["))
            i = past(kernel, i);
        else if (cupel_lexer_is(tokens, i, "."))
            i += 2;
        else
            break;
    }
    if (i + 1 >= end) return CUPEL_INIT_READ;
    if (cupel_lexer_is(tokens, i, "=")) return CUPEL_INIT_WRITE;
    static const char *const compound[] = {"+", "-", "*", "/", "|", "&", "^", "%"};
    for (size_t k = 0; k < sizeof compound / sizeof *compound; k++)
        if (cupel_lexer_is(tokens, i, compound[k]) &&
            (cupel_lexer_is(tokens, i + 1, "=") ||
             (k < 2 && cupel_lexer_is(tokens, i + 1, compound[k]) && cupel_lexer_is(tokens, i + 2, ";"))))
            return CUPEL_INIT_READ | CUPEL_INIT_WRITE;
    return CUPEL_INIT_READ;
}

/* Is the access that begins at i an argument of an atomic function: atomicAdd(&x[i], .. or atomicAdd(x + ..
 */
static bool in_atomic(const cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    if (cupel_lexer_is(tokens, i - 1, "&")) i--;
    while (i > 2 && cupel_lexer_is(tokens, i - 1, ")")) { /* (int *)x */
        while (i > 2 && !cupel_lexer_is(tokens, i - 1, "(")) i--;
        i--;
    }
    return i > 2 && cupel_lexer_is(tokens, i - 1, "(") && starts_with(tokens, i - 2, "atomic");
}

static int cast_before(const cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    for (size_t back = 1; back <= 8 && i > back; back++) {
        if (cupel_lexer_is(tokens, i - back, ";") || cupel_lexer_is(tokens, i - back, "=")) break;
        if (cupel_lexer_is(tokens, i - back, "float4") || cupel_lexer_is(tokens, i - back, "int4")) return 4;
        if (cupel_lexer_is(tokens, i - back, "float2") || cupel_lexer_is(tokens, i - back, "half2") ||
            cupel_lexer_is(tokens, i - back, "__half2"))
            return 2;
    }
    return 1;
}

static bool is_dereferenced(const cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    if (!cupel_lexer_is(tokens, i - 1, "*")) return false;
    cupel_token_kind before = tokens->at[i - 2].kind;
    if (cupel_lexer_is(tokens, i - 2, ")") && cupel_lexer_is(tokens, i + 1, "="))
        return true; /* if (..) *x = */
    return !(before == CUPEL_TOKEN_WORD && !cupel_lexer_is(tokens, i - 2, "return")) &&
           before != CUPEL_TOKEN_NUMBER && !cupel_lexer_is(tokens, i - 2, ")") &&
           !cupel_lexer_is(tokens, i - 2, "]");
}

/* The index of the access at token i, and where it ends. */
static const cupel_init_tree *index_at(const cupel_init_kernel *kernel, size_t i, size_t *end) {
    const cupel_tokens *tokens = tokens_of(kernel);
    cupel_arena *arena = kernel->file->arena;
    *end = i + 1;
    if (cupel_lexer_is(tokens, i + 1, "[")) {
        *end = past(kernel, i + 1);
        return cupel_init_tree_read(tokens, i + 2, *end - 1, arena);
    }
    if (cupel_lexer_is(tokens, i + 1, "+") && !cupel_lexer_is(tokens, i + 2, "=")) {
        size_t open = i;
        while (open > kernel->declaration->body_begin && !cupel_lexer_is(tokens, open, "(")) open--;
        size_t close = past(kernel, open), last = i + 2;
        int depth = 0;
        while (last + 1 < close && !(depth == 0 && cupel_lexer_is(tokens, last, ","))) {
            depth += cupel_lexer_is(tokens, last, "(");
            depth -= cupel_lexer_is(tokens, last, ")");
            last++;
        }
        *end = close - 1;
        return cupel_init_tree_read(tokens, i + 2, last, arena);
    }
    if (cupel_lexer_is(tokens, i + 1, ")") && cupel_lexer_is(tokens, i + 2, "[")) { /* cast(x)[i] */
        *end = past(kernel, i + 2);
        const cupel_init_tree *index = cupel_init_tree_read(tokens, i + 3, *end - 1, arena);
        return cupel_init_tree_pair('*', index, cupel_init_tree_number(cast_before(kernel, i), arena), arena);
    }
    /* handed to a function: what it does with it is not seen */
    return is_dereferenced(kernel, i) || in_atomic(kernel, i) ? cupel_init_tree_number(0, arena)
                                                              : cupel_init_tree_read(tokens, 0, 0, arena);
}

/* Is an address taken to be kept, in p = &x[i]; or p = (float4 *)x; ? */
static bool is_kept(const cupel_init_kernel *kernel, size_t i) {
    const cupel_tokens *tokens = tokens_of(kernel);
    size_t end, first = i;
    (void)index_at(kernel, i, &end);
    while (cupel_lexer_is(tokens, end, ")")) end++;
    if (!cupel_lexer_is(tokens, end, ";") && !cupel_lexer_is(tokens, end, ",")) return false;
    bool address = cupel_lexer_is(tokens, i - 1, "&") || !cupel_lexer_is(tokens, i + 1, "[");
    while (first > kernel->declaration->body_begin && !cupel_lexer_is(tokens, first, "=") &&
           !cupel_lexer_is(tokens, first, ";"))
        first--;
    if (!address || !cupel_lexer_is(tokens, first, "=") || cupel_lexer_is(tokens, first + 1, "*"))
        return false;
    return cupel_lexer_is(tokens, first - 2, "*") || cupel_lexer_is(tokens, first - 2, "auto") ||
           cupel_lexer_is(tokens, first - 2, "__restrict__");
}

static void add_access(cupel_init_kernel *kernel, int param, const cupel_init_tree *index, int use,
                       size_t order) {
    if (kernel->access_count == CUPEL_INIT_ACCESS_MAX) return;
    kernel->accesses[kernel->access_count++] = (cupel_init_access){param, index, use, order};
}

static void read_access(cupel_init_kernel *kernel, int param, const cupel_init_variable *alias, size_t i) {
    cupel_arena *arena = kernel->file->arena;
    size_t end;
    const cupel_init_tree *index = index_at(kernel, i, &end);
    if (alias && alias->scale > 1)
        index = cupel_init_tree_pair('*', index, cupel_init_tree_number(alias->scale, arena), arena);
    if (alias) index = cupel_init_tree_pair('+', alias->offset, index, arena);
    int use = in_atomic(kernel, i) ? CUPEL_INIT_ATOMIC : use_after(kernel, end);
    if (use & CUPEL_INIT_READ) add_access(kernel, param, index, CUPEL_INIT_READ, i);
    if (use & CUPEL_INIT_WRITE) /* after what its right side reads */
        add_access(kernel, param, index, CUPEL_INIT_WRITE, statement_end(kernel, end));
    if (use & CUPEL_INIT_ATOMIC) add_access(kernel, param, index, CUPEL_INIT_ATOMIC, i);
}

void cupel_init_accesses_read(cupel_init_kernel *kernel) {
    const cupel_tokens *tokens = tokens_of(kernel);
    for (size_t i = kernel->declaration->body_begin + 1; i + 2 < kernel->declaration->body_end; i++) {
        if (kernel->access_count == CUPEL_INIT_ACCESS_MAX) return;
        if (tokens->at[i].kind != CUPEL_TOKEN_WORD || cupel_lexer_is(tokens, i - 1, ".")) continue;
        const char *name = cupel_lexer_text(tokens, i, kernel->file->arena);
        if (!name) return;
        int p = cupel_init_kernel_param(kernel, name), v = cupel_init_kernel_variable(kernel, name);
        const cupel_init_variable *alias =
            v >= 0 && kernel->variables[v].pointer >= 0 ? &kernel->variables[v] : NULL;
        if (alias) p = alias->pointer;
        if (p < 0 || kernel->params[p].kind != CUPEL_INIT_CLASS_POINTER) continue;
        bool indexed = cupel_lexer_is(tokens, i + 1, "[") || is_dereferenced(kernel, i) ||
                       cupel_lexer_is(tokens, i - 1, "(") || cupel_lexer_is(tokens, i - 1, ")") ||
                       cupel_lexer_is(tokens, i - 1, ",");
        bool address = cupel_lexer_is(tokens, i - 1, "*") && cupel_lexer_is(tokens, i + 1, "=") &&
                       !is_dereferenced(kernel, i); /* its definition */
        bool tested = cupel_lexer_is(tokens, i + 1, "!=") || cupel_lexer_is(tokens, i + 1, "==") ||
                      cupel_lexer_is(tokens, i + 1, "?") ||
                      (cupel_lexer_is(tokens, i - 1, "(") && cupel_lexer_is(tokens, i - 2, "if") &&
                       (cupel_lexer_is(tokens, i + 1, ")") || cupel_lexer_is(tokens, i + 1, "&&")));
        if (tested) kernel->params[p].optional = true;
        if (indexed && !address && !tested && !is_kept(kernel, i)) read_access(kernel, p, alias, i);
    }
}
