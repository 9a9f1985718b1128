#include "structure.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NO, YES, UNKNOWN } answer;

enum {
    NEST_MAX = 64,
    ANGLE_MAX = 4096 /* tokens between < and its >: odd code is to be read in linear time */,
    DEVICE_ARCHITECTURE = 900 /* as the prelude of the emulator defines it */
};

typedef struct branch {
    answer taken;     /* whether a branch of this group has certainly been taken */
    bool dead;        /* the current branch is never compiled */
    bool outer_dead;  /* the whole group is never compiled */
    bool alternative; /* the current branch is an alternative to an earlier live one */
    bool live_seen;
} branch;

/* Macros whose state is fixed wherever the emulator or NVRTC compiles. */
static answer macro_defined(const char *name) {
    static const char *const defined[] = {"__CUDACC__", "__CUDA_ARCH__", "__cplusplus", "__CUDA__"};
    static const char *const undefined[] = {
        "__HIPCC__", "__HIP__", "USE_ROCM", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "_MSC_VER",
        "_WIN32",    "_WIN64",  "__APPLE__"};
    for (size_t i = 0; i < sizeof defined / sizeof *defined; i++)
        if (strcmp(name, defined[i]) == 0) return YES;
    for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++)
        if (strcmp(name, undefined[i]) == 0) return NO;
    return UNKNOWN;
}

static answer negate(answer a) {
    return a == UNKNOWN ? UNKNOWN : a == YES ? NO : YES;
}

/* The condition of an #if, for the few forms that can be told without a preprocessor: a number,
 * [!]defined(X). */
static answer condition(const char *text, size_t length) {
    char buffer[128];
    size_t n = 0;
    for (size_t i = 0; i < length && n + 1 < sizeof buffer; i++)
        if (!isspace((unsigned char)text[i])) buffer[n++] = text[i];
    buffer[n] = '\0';
    char *end = NULL;
    long number = strtol(buffer, &end, 0);
    if (end != buffer && *end == '\0') return number ? YES : NO;
    bool inverted = buffer[0] == '!';
    char name[128], rest[2], comparison[3];
    if (sscanf(buffer, "__CUDA_ARCH__%2[<>=]%ld%1s", comparison, &number, rest) == 2) {
        bool less = DEVICE_ARCHITECTURE<number, more = DEVICE_ARCHITECTURE> number;
        if (strcmp(comparison, ">=") == 0) return less ? NO : YES;
        if (strcmp(comparison, "<=") == 0) return more ? NO : YES;
        if (strcmp(comparison, "<") == 0) return less ? YES : NO;
        if (strcmp(comparison, ">") == 0) return more ? YES : NO;
    }
    if (sscanf(buffer + inverted, "defined(%127[A-Za-z0-9_])%1s", name, rest) != 1) return UNKNOWN;
    answer a = macro_defined(name);
    return inverted ? negate(a) : a;
}

static answer directive_condition(const cupel_tokens *tokens, size_t i, const char *name, size_t rest) {
    const cupel_token *t = &tokens->at[i];
    size_t length = t->offset + t->length - rest;
    if (strcmp(name, "if") == 0 || strcmp(name, "elif") == 0) return condition(tokens->text + rest, length);
    char macro[128];
    char line[160];
    snprintf(line, sizeof line, "%.*s", (int)(length < 150 ? length : 150), tokens->text + rest);
    if (sscanf(line, " %127[A-Za-z0-9_]", macro) != 1) return UNKNOWN;
    answer a = macro_defined(macro);
    return strcmp(name, "ifndef") == 0 ? negate(a) : a;
}

static void open_group(branch *b, answer a, bool outer_dead) {
    *b = (branch){.taken = a, .dead = outer_dead || a == NO, .outer_dead = outer_dead, .live_seen = a != NO};
}

static void next_branch(branch *b, answer a) {
    b->dead = b->outer_dead || b->taken == YES || a == NO;
    b->alternative = !b->dead && b->live_seen;
    if (!b->dead) b->live_seen = true;
    if (a == YES && b->taken != YES)
        b->taken = b->taken == NO ? YES : UNKNOWN;
    else if (a == UNKNOWN && b->taken == NO)
        b->taken = UNKNOWN;
}

/* Depth of the tokens inside nest open groups. */
static uint8_t current_depth(const branch *groups, size_t nest) {
    uint8_t depth = 0;
    for (size_t i = 0; i < nest; i++) {
        if (groups[i].dead) return CUPEL_STRUCTURE_DEAD;
        if (groups[i].alternative) depth++;
    }
    return depth;
}

cupel_code cupel_structure_build(const cupel_tokens *tokens, cupel_arena *arena, cupel_structure *out,
                                 cupel_error *err) {
    uint8_t *depths = cupel_arena_raw(arena, tokens->count ? tokens->count : 1, 1);
    if (!depths) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    branch groups[NEST_MAX];
    size_t nest = 0;
    uint8_t depth = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        depths[i] = depth;
        if (tokens->at[i].kind != CUPEL_TOKEN_DIRECTIVE) continue;
        char name[16];
        size_t rest = cupel_lexer_directive(tokens, i, name, sizeof name);
        bool opens = strcmp(name, "if") == 0 || strcmp(name, "ifdef") == 0 || strcmp(name, "ifndef") == 0;
        if (opens && nest == NEST_MAX)
            return cupel_fail_at(err, CUPEL_SYNTAX, tokens->at[i].file, tokens->at[i].line, 1,
                                 "conditionals nest deeper than %d", NEST_MAX);
        if (opens)
            open_group(&groups[nest++], directive_condition(tokens, i, name, rest),
                       depth == CUPEL_STRUCTURE_DEAD);
        else if (nest && strcmp(name, "elif") == 0)
            next_branch(&groups[nest - 1], directive_condition(tokens, i, name, rest));
        else if (nest && strcmp(name, "else") == 0)
            next_branch(&groups[nest - 1], negate(groups[nest - 1].taken));
        else if (nest && strcmp(name, "endif") == 0)
            nest--;
        else
            continue;
        depth = current_depth(groups, nest);
    }
    *out = (cupel_structure){.tokens = *tokens, .depth = depths};
    return CUPEL_OK;
}

bool cupel_structure_hidden(const cupel_structure *s, size_t i, uint8_t depth) {
    return s->tokens.at[i].kind == CUPEL_TOKEN_DIRECTIVE || s->depth[i] > depth;
}

size_t cupel_structure_next(const cupel_structure *s, size_t i, size_t limit, uint8_t depth) {
    while (i < limit && cupel_structure_hidden(s, i, depth)) i++;
    return i;
}

static char mark_of(const cupel_structure *s, size_t i) {
    const cupel_token *t = &s->tokens.at[i];
    return t->kind == CUPEL_TOKEN_MARK && t->length == 1 ? s->tokens.text[t->offset] : '\0';
}

size_t cupel_structure_close(const cupel_structure *s, size_t i, size_t limit, uint8_t depth) {
    size_t open = 0;
    for (; i < limit; i++) {
        if (cupel_structure_hidden(s, i, depth)) continue;
        char c = mark_of(s, i);
        if (c == '(' || c == '[' || c == '{') open++;
        if ((c == ')' || c == ']' || c == '}') && --open == 0) return i + 1;
    }
    return limit;
}

size_t cupel_structure_close_angle(const cupel_structure *s, size_t i, size_t limit, uint8_t depth) {
    size_t open = 0;
    if (limit > i + ANGLE_MAX) limit = i + ANGLE_MAX;
    for (size_t k = i; k < limit; k++) {
        if (cupel_structure_hidden(s, k, depth)) continue;
        char c = mark_of(s, k);
        if (c == '<') open++;
        if (c == '>' && --open == 0) return k + 1;
        if (c == ';' || c == '{') break;
        if (c == '(' || c == '[') k = cupel_structure_close(s, k, limit, depth) - 1;
    }
    return i + 1;
}

bool cupel_structure_is(const cupel_structure *s, size_t i, const char *word) {
    return cupel_lexer_is(&s->tokens, i, word);
}
