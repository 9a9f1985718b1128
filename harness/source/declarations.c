#include "declarations.h"

#include <string.h>

#include "declaration_head.h"

enum { SCOPE_DEPTH_MAX = 64 };

typedef struct scanner {
    const cupel_structure *s;
    const cupel_macros *macros;
    cupel_declarations *out;
    cupel_error *err;
} scanner;

typedef struct scope {
    const char *name; /* with its trailing :: */
    bool is_class;
    int nesting;
} scope;

static cupel_code scan_scope(scanner *sc, size_t begin, size_t end, scope in);

static cupel_code add(scanner *sc, cupel_declaration declaration) {
    cupel_declarations *out = sc->out;
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? out->capacity * 2 : 64;
        cupel_declaration *grown = cupel_arena_raw(out->arena, capacity, sizeof *grown);
        if (!grown) return cupel_fail(sc->err, CUPEL_MEMORY, "out of memory");
        if (out->count) memcpy(grown, out->at, out->count * sizeof *grown);
        out->at = grown;
        out->capacity = capacity;
    }
    out->at[out->count++] = declaration;
    return CUPEL_OK;
}

static scope enter(scanner *sc, scope outer, const char *name, bool is_class) {
    scope inner = {.name = outer.name, .is_class = is_class, .nesting = outer.nesting + 1};
    if (*name) {
        const char *joined = cupel_arena_printf(sc->out->arena, "%s%s::", outer.name, name);
        if (joined) inner.name = joined;
    }
    return inner;
}

/* namespace A::B { ... }, inline namespace, anonymous namespace, namespace A = B; sets *next past it. */
static cupel_code scan_namespace(scanner *sc, size_t i, size_t end, scope in, size_t *next) {
    const cupel_structure *s = sc->s;
    uint8_t depth = s->depth[i];
    size_t begin = i;
    const char *name = "";
    for (; i < end; i = cupel_structure_next(s, i + 1, end, depth)) {
        if (cupel_structure_is(s, i, "{")) break;
        if (cupel_structure_is(s, i, "=") || cupel_structure_is(s, i, ";")) {
            while (i < end && !cupel_structure_is(s, i, ";")) i++;
            *next = i < end ? i + 1 : end;
            return add(sc, (cupel_declaration){.kind = CUPEL_DECLARATION_OTHER,
                                               .begin = begin,
                                               .end = *next,
                                               .name = "",
                                               .scope = in.name});
        }
        bool word = s->tokens.at[i].kind == CUPEL_TOKEN_WORD;
        if (!word || cupel_structure_is(s, i, "namespace") || cupel_structure_is(s, i, "inline")) continue;
        char *part = cupel_lexer_text(&s->tokens, i, sc->out->arena);
        const char *joined =
            *name ? cupel_arena_printf(sc->out->arena, "%s::%s", name, part ? part : "") : part;
        if (joined) name = joined;
    }
    if (i >= end) {
        *next = end;
        return CUPEL_OK;
    }
    *next = cupel_structure_close(s, i, end, depth);
    return scan_scope(sc, i + 1, *next, enter(sc, in, name, false));
}

/* A macro use that stands alone where a declaration is expected: NAME(...) with the next declaration, or
 * nothing, after it. */
static bool standalone_macro(const scanner *sc, size_t i, size_t end, size_t *next,
                             cupel_declaration_kind *kind) {
    const cupel_structure *s = sc->s;
    const cupel_token *t = &s->tokens.at[i];
    uint8_t depth = s->depth[i];
    if (t->kind != CUPEL_TOKEN_WORD) return false;
    const cupel_macro *macro = cupel_macros_find(sc->macros, s->tokens.text + t->offset, t->length);
    size_t open = cupel_structure_next(s, i + 1, end, depth);
    if (open >= end || !cupel_structure_is(s, open, "(")) return false;
    size_t close = cupel_structure_close(s, open, end, depth);
    size_t after = cupel_structure_next(s, close, end, depth);
    bool ends = after >= end || cupel_structure_is(s, after, "}");
    bool semicolon = after < end && cupel_structure_is(s, after, ";");
    bool new_line = after < end && s->tokens.at[after].line > s->tokens.at[close - 1].line &&
                    s->tokens.at[after].kind == CUPEL_TOKEN_WORD;
    if (!macro) {
        /* an unknown capital word, its header left out: it stands alone only when the next word starts a line
         * of its own */
        for (size_t k = 0; k < t->length; k++) {
            char c = s->tokens.text[t->offset + k];
            if (c >= 'a' && c <= 'z') return false;
        }
        if (!ends && !new_line) return false;
        *kind = CUPEL_DECLARATION_HOST_MACRO_USE;
        *next = close;
        return true;
    }
    if (!(macro->traits & CUPEL_TRAIT_FUNCTION_LIKE) || !(ends || semicolon || new_line)) return false;
    bool device = macro->traits & (CUPEL_TRAIT_GLOBAL | CUPEL_TRAIT_DEVICE | CUPEL_TRAIT_DEVICE_VARIABLE);
    if (!device && !(macro->traits & CUPEL_TRAIT_STATEMENT) && !semicolon) return false;
    *kind = device ? CUPEL_DECLARATION_MACRO_USE : CUPEL_DECLARATION_HOST_MACRO_USE;
    *next = semicolon ? after + 1 : close;
    return true;
}

static bool is_access_label(const cupel_structure *s, size_t i) {
    return cupel_structure_is(s, i, "public") || cupel_structure_is(s, i, "private") ||
           cupel_structure_is(s, i, "protected");
}

/* extern "C" { at i: the index of its brace, else 0. */
static size_t linkage_block(const cupel_structure *s, size_t i, size_t end) {
    uint8_t depth = s->depth[i];
    if (!cupel_structure_is(s, i, "extern")) return 0;
    size_t string = cupel_structure_next(s, i + 1, end, depth);
    if (string >= end || s->tokens.at[string].kind != CUPEL_TOKEN_STRING) return 0;
    size_t brace = cupel_structure_next(s, string + 1, end, depth);
    return brace < end && cupel_structure_is(s, brace, "{") ? brace : 0;
}

static cupel_code scan_declaration(scanner *sc, size_t i, size_t end, scope in, size_t *next) {
    cupel_head head;
    cupel_head_read(sc->s, sc->macros, i, end, &head);
    *next = head.end > i ? head.end : i + 1;
    const char *name = "";
    if (head.name) {
        char *text = cupel_lexer_text(&sc->s->tokens, head.name, sc->out->arena);
        if (!text) return cupel_fail(sc->err, CUPEL_MEMORY, "out of memory");
        name = text;
    }
    cupel_declaration declaration = {.kind = cupel_head_kind(&head, in.is_class),
                                     .begin = i,
                                     .end = *next,
                                     .params_begin = head.params_begin,
                                     .params_end = head.params_end,
                                     .head_end = head.head_end,
                                     .body_begin = head.body_begin,
                                     .body_end = head.body_end,
                                     .name = name,
                                     .scope = in.name,
                                     .is_template = head.is_template,
                                     .in_class = in.is_class};
    CUPEL_TRY(add(sc, declaration));
    if (declaration.kind != CUPEL_DECLARATION_TYPE || head.is_enum) return CUPEL_OK;
    return scan_scope(sc, head.body_begin + 1, head.body_end ? head.body_end - 1 : 0,
                      enter(sc, in, name, true));
}

static cupel_code scan_scope(scanner *sc, size_t begin, size_t end, scope in) {
    const cupel_structure *s = sc->s;
    if (in.nesting > SCOPE_DEPTH_MAX) return CUPEL_OK; /* left as it is: the compiler will have its say */
    for (size_t i = begin; i < end;) {
        if (s->tokens.at[i].kind == CUPEL_TOKEN_DIRECTIVE || s->depth[i] == CUPEL_STRUCTURE_DEAD ||
            cupel_structure_is(s, i, ";") || cupel_structure_is(s, i, "}")) {
            i++;
            continue;
        }
        uint8_t depth = s->depth[i];
        size_t second = cupel_structure_next(s, i + 1, end, depth), next = i + 1;
        if (in.is_class && is_access_label(s, i)) {
            i = second < end && cupel_structure_is(s, second, ":") ? second + 1 : i + 1;
            continue;
        }
        cupel_declaration_kind kind;
        size_t brace = linkage_block(s, i, end);
        if (brace) {
            next = cupel_structure_close(s, brace, end, depth);
            CUPEL_TRY(scan_scope(sc, brace + 1, next, (scope){in.name, false, in.nesting + 1}));
        } else if (cupel_structure_is(s, i, "namespace") ||
                   (cupel_structure_is(s, i, "inline") && cupel_structure_is(s, second, "namespace"))) {
            CUPEL_TRY(scan_namespace(sc, i, end, in, &next));
        } else if (standalone_macro(sc, i, end, &next, &kind)) {
            CUPEL_TRY(add(sc, (cupel_declaration){
                                  .kind = kind, .begin = i, .end = next, .name = "", .scope = in.name}));
        } else {
            CUPEL_TRY(scan_declaration(sc, i, end, in, &next));
        }
        i = next;
    }
    return CUPEL_OK;
}

cupel_code cupel_declarations_scan(const cupel_structure *structure, const cupel_macros *macros,
                                   cupel_arena *arena, cupel_declarations *out, cupel_error *err) {
    *out = (cupel_declarations){.arena = arena};
    scanner sc = {.s = structure, .macros = macros, .out = out, .err = err};
    return scan_scope(&sc, 0, structure->tokens.count, (scope){.name = ""});
}
