#include "declaration_head.h"

#include <string.h>

typedef struct reader {
    const cupel_structure *s;
    const cupel_macros *macros;
    size_t i, limit;
    uint8_t depth;
    cupel_head *head;
} reader;

static bool is(const reader *r, const char *word) {
    return r->i < r->limit && cupel_structure_is(r->s, r->i, word);
}

static bool is_word(const reader *r) {
    return r->i < r->limit && r->s->tokens.at[r->i].kind == CUPEL_TOKEN_WORD;
}

static void step(reader *r) {
    r->i = cupel_structure_next(r->s, r->i + 1, r->limit, r->depth);
}

/* Past the bracket that opens here. */
static void close(reader *r) {
    r->i = cupel_structure_close(r->s, r->i, r->limit, r->depth);
    r->i = cupel_structure_next(r->s, r->i, r->limit, r->depth);
}

static void close_angle(reader *r) {
    r->i = cupel_structure_close_angle(r->s, r->i, r->limit, r->depth);
    r->i = cupel_structure_next(r->s, r->i, r->limit, r->depth);
}

static bool any_of(const reader *r, const char *const *words) {
    for (; *words; words++)
        if (is(r, *words)) return true;
    return false;
}

static const char *const attribute_words[] = {
    "__launch_bounds__", "__attribute__", "alignas",     "__align__",        "__declspec", "noexcept",
    "decltype",          "explicit",      "__maxnreg__", "__cluster_dims__", "requires",   NULL};
static const char *const built_in[] = {"int",      "unsigned", "signed",  "char",    "short",    "long",
                                       "float",    "double",   "bool",    "auto",    "size_t",   "int8_t",
                                       "int16_t",  "int32_t",  "int64_t", "uint8_t", "uint16_t", "uint32_t",
                                       "uint64_t", "uint",     NULL};

/* To the ; that ends this declaration, and past it. Braces and parentheses on the way are closed. */
static void to_semicolon(reader *r) {
    while (r->i < r->limit && !is(r, ";")) {
        if (is(r, "(") || is(r, "[") || is(r, "{"))
            close(r);
        else if (is(r, "}"))
            return;
        else
            step(r);
    }
    if (r->i < r->limit) r->i++;
}

static void skip_attribute_arguments(reader *r) {
    step(r);
    if (is(r, "(")) close(r);
}

/* struct X : bases { at the keyword: whether a body follows. Leaves the reader at the brace, or where it was.
 */
static bool type_body(reader *r, size_t *name) {
    size_t start = r->i;
    *name = 0;
    bool bases = false;
    step(r);
    while (r->i < r->limit) {
        if (any_of(r, attribute_words)) {
            skip_attribute_arguments(r);
        } else if (is(r, "[")) {
            close(r);
        } else if (is(r, "{")) {
            return true;
        } else if (is(r, ":")) {
            bases = true;
            step(r);
        } else if (is(r, "<")) {
            close_angle(r);
        } else if (is_word(r) || is(r, "::") || (bases && (is(r, ",") || is(r, "...")))) {
            if (is_word(r) && !bases && !is(r, "final") && !is(r, "class") && !is(r, "struct")) *name = r->i;
            step(r);
        } else {
            break;
        }
    }
    r->i = start;
    return false;
}

/* Member initialisers of a constructor, at the colon; leaves the reader at the body. */
static void skip_initialiser_list(reader *r) {
    step(r);
    while (r->i < r->limit) {
        while (is_word(r) || is(r, "::") || is(r, "<")) {
            if (is(r, "<"))
                close_angle(r);
            else
                step(r);
        }
        if (!is(r, "(") && !is(r, "{")) return;
        close(r);
        if (is(r, "...")) step(r);
        if (!is(r, ",")) return;
        step(r);
    }
}

/* operator+, operator(), operator new, operator T: at the keyword; leaves the reader at the parameter list.
 */
static void skip_operator_name(reader *r) {
    r->head->name = r->i;
    step(r);
    if (is(r, "(")) {
        close(r);
        return;
    }
    while (r->i < r->limit && !is(r, "(") && !is(r, ";") && !is(r, "{")) step(r);
}

static void read_type_definition(reader *r, size_t name) {
    cupel_head *h = r->head;
    h->is_type = true;
    h->name = name;
    h->body_begin = r->i;
    h->body_end = cupel_structure_close(r->s, r->i, r->limit, r->depth);
    r->i = cupel_structure_next(r->s, h->body_end, r->limit, r->depth);
    if (!name && is_word(r)) name = r->i; /* typedef struct { } name; */
    to_semicolon(r);
    h->end = r->i;
    if (!h->name) h->name = name;
}

/* One word outside brackets: gathers its traits. */
static void read_word(reader *r) {
    cupel_head *h = r->head;
    const cupel_token *t = &r->s->tokens.at[r->i];
    unsigned traits = cupel_macros_traits(r->macros, r->s->tokens.text + t->offset, t->length);
    h->traits |= traits;
    if (any_of(r, built_in)) h->built_in_type = true;
    bool macro_with_arguments = traits & CUPEL_TRAIT_FUNCTION_LIKE;
    bool qualifies = traits & ~(unsigned)CUPEL_TRAIT_FUNCTION_LIKE;
    size_t word = r->i;
    step(r);
    if (!is(r, "(")) {
        if (!qualifies && !h->params_end) h->name = word;
        return;
    }
    if (macro_with_arguments && qualifies) {
        /* KERNEL(name)(parameters): the list that follows is the parameter list */
        h->name = r->i + 1;
        close(r);
        return;
    }
    h->name = word;
    h->params_begin = r->i;
    h->params_end = cupel_structure_close(r->s, r->i, r->limit, r->depth);
    close(r);
}

static void read_body(reader *r) {
    cupel_head *h = r->head;
    if (is(r, "{") && h->params_end) {
        h->body_begin = r->i;
        if (!h->head_end) h->head_end = r->i;
        h->body_end = cupel_structure_close(r->s, r->i, r->limit, r->depth);
        h->end = h->body_end;
        return;
    }
    h->has_initialiser = true;
    if (is(r, "=")) {
        step(r);
        h->special_body = is(r, "default") || is(r, "delete") || (h->params_end && is(r, "0"));
    }
    to_semicolon(r);
    h->end = r->i;
}

static const char *const other_words[] = {"using", "typedef", "static_assert", "asm", "concept", NULL};
static const char *const type_words[] = {"struct", "class", "union", "enum", NULL};

/* Handles a keyword that decides what the declaration is; true when the declaration has been read to its end.
 */
static bool read_keyword(reader *r) {
    cupel_head *h = r->head;
    size_t name;
    if (any_of(r, other_words) && !h->params_end) {
        bool is_typedef = is(r, "typedef");
        h->is_other = true;
        step(r);
        if (is_typedef && any_of(r, type_words) && type_body(r, &name)) {
            h->is_enum = true; /* members of a C struct need no scan */
            read_type_definition(r, name);
            return true;
        }
        to_semicolon(r);
        h->end = r->i;
        return true;
    }
    if (!any_of(r, type_words) || h->params_end) return false;
    h->is_enum = is(r, "enum");
    if (type_body(r, &name)) {
        read_type_definition(r, name);
        return true;
    }
    size_t keyword = r->i;
    step(r);
    while (is_word(r) || is(r, "::") || is(r, "<") || is(r, ":")) {
        if (is_word(r)) h->name = r->i;
        if (is(r, "<"))
            close_angle(r);
        else
            step(r);
    }
    if (is(r, ";")) { /* a forward declaration */
        h->is_other = true;
        h->end = r->i + 1;
        return true;
    }
    r->i = keyword;
    step(r);
    return false;
}

/* template <...> heads, one after the other; an explicit instantiation has none. */
static void read_template_heads(reader *r) {
    while (is(r, "template")) {
        step(r);
        if (!is(r, "<")) {
            r->head->is_instantiation = true;
            return;
        }
        r->head->is_template = true;
        close_angle(r);
        if (is(r, "requires")) {
            step(r);
            if (is(r, "(")) close(r);
        }
    }
}

void cupel_head_read(const cupel_structure *s, const cupel_macros *macros, size_t i, size_t limit,
                     cupel_head *out) {
    *out = (cupel_head){.end = limit};
    reader r = {.s = s, .macros = macros, .i = i, .limit = limit, .depth = s->depth[i], .head = out};
    read_template_heads(&r);
    while (r.i < limit) {
        if (is(&r, ";")) {
            out->end = r.i + 1;
            return;
        }
        if (is(&r, "}")) {
            out->end = r.i;
            return;
        }
        if (is(&r, "=") || is(&r, "{")) {
            read_body(&r);
            return;
        }
        if (any_of(&r, attribute_words)) {
            skip_attribute_arguments(&r);
        } else if (is(&r, "operator")) {
            skip_operator_name(&r);
            if (!is(&r, "(")) continue;
            out->params_begin = r.i;
            out->params_end = cupel_structure_close(s, r.i, limit, r.depth);
            close(&r);
        } else if (is_word(&r)) {
            if (read_keyword(&r)) return;
            if (is_word(&r)) read_word(&r);
        } else if (is(&r, "(")) { /* after a macro that makes the name, or a function pointer */
            out->params_begin = r.i;
            out->params_end = cupel_structure_close(s, r.i, limit, r.depth);
            close(&r);
        } else if (is(&r, "[")) {
            close(&r);
        } else if (is(&r, "<")) {
            close_angle(&r);
        } else if (is(&r, ":") && out->params_end) {
            out->head_end = r.i;
            skip_initialiser_list(&r);
        } else if (is(&r, ":")) { /* a bit-field */
            to_semicolon(&r);
            out->end = r.i;
            return;
        } else {
            step(&r);
        }
    }
    out->end = limit;
}

cupel_declaration_kind cupel_head_kind(const cupel_head *h, bool in_class) {
    if (h->is_type) return CUPEL_DECLARATION_TYPE;
    if (h->is_other || h->special_body) return CUPEL_DECLARATION_OTHER;
    bool device = h->traits & CUPEL_TRAIT_DEVICE, constant = h->traits & CUPEL_TRAIT_CONSTEXPR;
    bool function = h->params_end && !h->has_initialiser;
    /* an entry instantiates what it needs; an explicit instantiation may not repeat inline, as which kernels
     * are compiled */
    if (function && h->is_instantiation) return CUPEL_DECLARATION_HOST_FUNCTION;
    if (function && h->traits & CUPEL_TRAIT_GLOBAL) return CUPEL_DECLARATION_KERNEL;
    if (function && (device || constant)) return CUPEL_DECLARATION_DEVICE_FUNCTION;
    if (function && h->body_end) return CUPEL_DECLARATION_HOST_FUNCTION;
    if (in_class) return CUPEL_DECLARATION_OTHER;
    if (device || h->traits & CUPEL_TRAIT_DEVICE_VARIABLE) return CUPEL_DECLARATION_DEVICE_VARIABLE;
    if (constant || (h->traits & CUPEL_TRAIT_CONST && h->built_in_type)) return CUPEL_DECLARATION_CONSTANT;
    return function ? CUPEL_DECLARATION_HOST_FUNCTION : CUPEL_DECLARATION_HOST_VARIABLE;
}
