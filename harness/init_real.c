/* Real numbers that a kernel's code holds: the eps under a root, slopes and bounds of activations. Looked for
 * in its body and in the device functions and macros that it mentions, by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init_guess.h"

enum { PART_MAX = 32, FOLLOW_MAX = 4 };

typedef struct part {
    const cupel_tokens *tokens;
    size_t begin, end;
} part;

typedef struct reach {
    const cupel_init_kernel *kernel;
    int count;
    part at[PART_MAX];
    size_t origin[PART_MAX]; /* where in the file it begins: each part once */
} reach;

static void add_part(reach *r, part p, size_t origin) {
    for (int i = 0; i < r->count; i++)
        if (r->origin[i] == origin) return;
    if (r->count == PART_MAX) return;
    r->origin[r->count] = origin;
    r->at[r->count++] = p;
}

static bool macro_tokens(const cupel_init_file *file, const cupel_macro *macro, part *out) {
    const cupel_tokens *tokens = &file->structure.tokens;
    size_t name, length;
    bool function_like;
    size_t body = cupel_macros_body(tokens, macro->directive, &name, &length, &function_like);
    size_t end = tokens->at[macro->directive].offset + tokens->at[macro->directive].length;
    cupel_tokens *inner = cupel_arena_alloc(file->arena, sizeof *inner);
    if (!inner || body >= end ||
        cupel_lexer_run(tokens->text + body, end - body, "", file->arena, inner, NULL) != CUPEL_OK)
        return false;
    *out = (part){inner, 0, inner->count};
    return true;
}

static void follow(reach *r, part from) {
    const cupel_init_file *file = r->kernel->file;
    for (size_t i = from.begin; i < from.end && r->count < PART_MAX; i++) {
        const cupel_token *t = &from.tokens->at[i];
        if (t->kind != CUPEL_TOKEN_WORD) continue;
        const char *word = from.tokens->text + t->offset;
        const cupel_macro *macro = cupel_macros_find(&file->macros, word, t->length);
        part p;
        if (macro && macro_tokens(file, macro, &p)) add_part(r, p, macro->directive);
        bool called = i + 1 < from.end &&
                      (cupel_lexer_is(from.tokens, i + 1, "(") || cupel_lexer_is(from.tokens, i + 1, "<"));
        for (size_t d = 0; d < file->declarations.count && called; d++) {
            const cupel_declaration *f = &file->declarations.at[d];
            if (f->kind == CUPEL_DECLARATION_DEVICE_FUNCTION && strlen(f->name) == t->length &&
                memcmp(f->name, word, t->length) == 0)
                add_part(r, (part){&file->structure.tokens, f->body_begin, f->body_end}, f->body_begin);
        }
    }
}

static reach reached(const cupel_init_kernel *kernel) {
    reach r = {.kernel = kernel};
    const cupel_declaration *d = kernel->declaration;
    add_part(&r, (part){&kernel->file->structure.tokens, d->body_begin, d->body_end}, d->body_begin);
    for (int i = 0; i < r.count; i++) follow(&r, r.at[i]);
    return r;
}

bool cupel_init_kernel_reaches(const cupel_init_kernel *kernel, const char *const *words, size_t count) {
    reach r = reached(kernel);
    for (int p = 0; p < r.count; p++)
        for (size_t i = r.at[p].begin; i < r.at[p].end; i++)
            for (size_t k = 0; k < count; k++) {
                const cupel_token *t = &r.at[p].tokens->at[i];
                if (t->length >= strlen(words[k]) &&
                    memcmp(r.at[p].tokens->text + t->offset, words[k], strlen(words[k])) == 0)
                    return true;
            }
    return false;
}

/* --- literals --- */

static bool literal_value(const cupel_tokens *tokens, size_t i, double *out) {
    const cupel_token *t = &tokens->at[i];
    char text[48], *end;
    if (t->kind != CUPEL_TOKEN_NUMBER || t->length >= sizeof text) return false;
    memcpy(text, tokens->text + t->offset, t->length);
    text[t->length] = '\0';
    *out = strtod(text, &end);
    return end != text && strspn(end, "fFlL") == strlen(end) && isfinite(*out);
}

static bool is_real(const cupel_tokens *tokens, size_t i) {
    const cupel_token *t = &tokens->at[i];
    const char *text = tokens->text + t->offset;
    if (t->kind != CUPEL_TOKEN_NUMBER) return false;
    if (t->length > 1 && (text[1] == 'x' || text[1] == 'X')) /* 0x1p-20f; its e is a digit */
        return memchr(text, 'p', t->length) || memchr(text, 'P', t->length);
    return memchr(text, '.', t->length) || memchr(text, 'e', t->length) || memchr(text, 'E', t->length);
}

/* The shortest form that reads back: "1e-6", "0.01". */
static const char *real_text(const cupel_init_kernel *kernel, double value) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    char *zero = strstr(text, "e-0");
    if (zero) memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
    const char *copy = cupel_arena_text(kernel->file->arena, text, strlen(text));
    return copy ? copy : CUPEL_GUESS_PLACEHOLDER;
}

static bool operand(const reach *r, part p, int depth, double *out);

/* NAME = 1e-6f, anywhere in the file: as often as it is said, always the same. */
static bool named_value(const reach *r, const char *word, size_t length, int depth, double *out) {
    const cupel_init_file *file = r->kernel->file;
    const cupel_tokens *tokens = &file->structure.tokens;
    const cupel_macro *macro = cupel_macros_find(&file->macros, word, length);
    part p;
    if (macro) return macro_tokens(file, macro, &p) && operand(r, p, depth + 1, out);
    int found = 0;
    for (size_t i = 0; i + 2 < tokens->count; i++) {
        const cupel_token *t = &tokens->at[i];
        if (t->length != length || memcmp(tokens->text + t->offset, word, length) != 0 ||
            !cupel_lexer_is(tokens, i + 1, "="))
            continue;
        size_t end = i + 2;
        while (end < tokens->count && end < i + 12 && !cupel_lexer_is(tokens, end, ";") &&
               !cupel_lexer_is(tokens, end, ","))
            end++;
        double value;
        if (!operand(r, (part){tokens, i + 2, end}, depth + 1, &value) || (found && value != *out))
            return false;
        *out = value;
        found++;
    }
    return found > 0;
}

/* A number, or a name of one, in brackets, casts or a minus sign: (float)EPS. */
static bool operand(const reach *r, part p, int depth, double *out) {
    if (depth > FOLLOW_MAX) return false;
    size_t at = p.end, significant = 0;
    bool negative = false;
    for (size_t i = p.begin; i < p.end; i++) {
        if (cupel_lexer_is(p.tokens, i, "-")) negative = true;
        cupel_token_kind kind = p.tokens->at[i].kind;
        bool bracket = cupel_lexer_is(p.tokens, i, "(") || cupel_lexer_is(p.tokens, i, ")") ||
                       cupel_lexer_is(p.tokens, i, "-");
        if (bracket || cupel_init_is_type_word(p.tokens, i)) continue;
        if (kind != CUPEL_TOKEN_NUMBER && kind != CUPEL_TOKEN_WORD) return false;
        significant++, at = i;
    }
    if (significant != 1) return false;
    const cupel_token *t = &p.tokens->at[at];
    bool known = t->kind == CUPEL_TOKEN_NUMBER
                     ? literal_value(p.tokens, at, out)
                     : named_value(r, p.tokens->text + t->offset, t->length, depth, out);
    if (known && negative) *out = -*out;
    return known;
}

/* --- eps --- */

static size_t closing(part p, size_t open) {
    int depth = 0;
    for (size_t i = open; i < p.end; i++) {
        depth += cupel_lexer_is(p.tokens, i, "(") - cupel_lexer_is(p.tokens, i, ")");
        if (depth == 0) return i;
    }
    return p.end;
}

/* What is added to something at the top of an expression; false: nothing that can be read. */
static bool added(const reach *r, part in, part p, int depth, double *out) {
    int nest = 0;
    size_t plus = p.end;
    for (size_t i = p.begin; i < p.end; i++) {
        nest += cupel_lexer_is(p.tokens, i, "(") - cupel_lexer_is(p.tokens, i, ")");
        if (nest == 0 && cupel_lexer_is(p.tokens, i, "+")) plus = i;
    }
    if (plus < p.end)
        return operand(r, (part){p.tokens, plus + 1, p.end}, 0, out) ||
               operand(r, (part){p.tokens, p.begin, plus}, 0, out);
    if (p.end != p.begin + 1 || p.tokens->at[p.begin].kind != CUPEL_TOKEN_WORD || depth >= FOLLOW_MAX)
        return false;
    for (size_t i = p.begin; i-- > in.begin + 1;) { /* the value that the name was given last */
        const cupel_token *a = &p.tokens->at[i], *b = &p.tokens->at[p.begin];
        if (a->length != b->length ||
            memcmp(p.tokens->text + a->offset, p.tokens->text + b->offset, a->length) ||
            !cupel_lexer_is(p.tokens, i + 1, "="))
            continue;
        size_t end = i + 2;
        while (end < in.end && !cupel_lexer_is(p.tokens, end, ";") && !cupel_lexer_is(p.tokens, end, ","))
            end++;
        return added(r, in, (part){p.tokens, i + 2, end}, depth + 1, out);
    }
    return false;
}

const char *cupel_guess_eps(const cupel_init_kernel *kernel) {
    static const char *const roots[] = {"rsqrtf",      "rsqrt",      "sqrtf",  "sqrt",
                                        "__frsqrt_rn", "__fsqrt_rn", "hrsqrt", "hsqrt"};
    reach r = reached(kernel);
    double eps = 0, value;
    int found = 0;
    for (int p = 0; p < r.count; p++)
        for (size_t i = r.at[p].begin; i + 1 < r.at[p].end; i++) {
            bool root = false;
            for (size_t k = 0; k < sizeof roots / sizeof *roots && !root; k++)
                root = cupel_lexer_is(r.at[p].tokens, i, roots[k]);
            if (!root || !cupel_lexer_is(r.at[p].tokens, i + 1, "(")) continue;
            part inside = {r.at[p].tokens, i + 2, closing(r.at[p], i + 1)};
            if (!added(&r, r.at[p], inside, 0, &value) || (found && value != eps))
                return CUPEL_GUESS_PLACEHOLDER;
            eps = value, found++;
        }
    return found && eps >= 0 && eps < 1 ? real_text(kernel, eps) : CUPEL_GUESS_PLACEHOLDER;
}

/* --- others --- */

static void note(double value, double *values, int most, int *count) {
    if (value == 0 || value == 1) return;
    for (int i = 0; i < *count && i < most; i++)
        if (values[i] == value) return;
    if (*count < most) values[*count] = value;
    ++*count;
}

int cupel_guess_reals(const cupel_init_kernel *kernel, double *values, int most) {
    reach r = reached(kernel);
    const cupel_init_file *file = kernel->file;
    int count = 0;
    double value;
    for (int p = 0; p < r.count; p++)
        for (size_t i = r.at[p].begin; i < r.at[p].end; i++)
            if (is_real(r.at[p].tokens, i) && literal_value(r.at[p].tokens, i, &value))
                note(value, values, most, &count);
    for (size_t d = 0; d < file->declarations.count; d++) { /* constexpr float SLOPE = 0.2f; */
        const cupel_declaration *c = &file->declarations.at[d];
        if (c->kind != CUPEL_DECLARATION_CONSTANT && c->kind != CUPEL_DECLARATION_HOST_VARIABLE) continue;
        const cupel_tokens *tokens = &file->structure.tokens;
        for (size_t i = c->begin + 1; i + 1 < c->end; i++) {
            if (!cupel_lexer_is(tokens, i, "=") || !is_real(tokens, i + 1)) continue;
            const char *name = cupel_lexer_text(tokens, i - 1, file->arena);
            if (name && cupel_init_kernel_reaches(kernel, &name, 1) && literal_value(tokens, i + 1, &value))
                note(value, values, most, &count);
        }
    }
    return count;
}

const char *cupel_guess_factor(const cupel_init_kernel *kernel, const char *none) {
    double values[2] = {0};
    int count = cupel_guess_reals(kernel, values, 2);
    return count == 1 ? real_text(kernel, values[0]) : count == 0 ? none : CUPEL_GUESS_PLACEHOLDER;
}

const char *cupel_guess_bound(const cupel_init_kernel *kernel, bool upper) {
    static const char *const highs[] = {"fminf", "min", "fmin"}, *const lows[] = {"fmaxf", "max", "fmax"};
    reach r = reached(kernel);
    double bound = 0, value;
    int found = 0;
    for (int p = 0; p < r.count; p++)
        for (size_t i = r.at[p].begin; i + 1 < r.at[p].end; i++) {
            bool call = false;
            for (size_t k = 0; k < 3 && !call; k++)
                call = cupel_lexer_is(r.at[p].tokens, i, (upper ? highs : lows)[k]);
            if (!call || !cupel_lexer_is(r.at[p].tokens, i + 1, "(")) continue;
            size_t close = closing(r.at[p], i + 1), comma = i + 2;
            int nest = 0;
            for (; comma < close && !(nest == 0 && cupel_lexer_is(r.at[p].tokens, comma, ",")); comma++)
                nest +=
                    cupel_lexer_is(r.at[p].tokens, comma, "(") - cupel_lexer_is(r.at[p].tokens, comma, ")");
            if (comma >= close) continue;
            bool known = operand(&r, (part){r.at[p].tokens, comma + 1, close}, 0, &value) ||
                         operand(&r, (part){r.at[p].tokens, i + 2, comma}, 0, &value);
            if (!known || (found && value != bound)) return CUPEL_GUESS_PLACEHOLDER;
            bound = value, found++;
        }
    return found ? real_text(kernel, bound) : CUPEL_GUESS_PLACEHOLDER;
}
