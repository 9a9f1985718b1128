#include "ptx_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { STATEMENTS_MAX = 512, ITEMS_MAX = 16 };

typedef struct parser {
    const char *at;
    cupel_arena *arena;
    cupel_ptx_program *out;
    const char *reason; /* the first thing that is wrong */
    bool no_memory;
} parser;

/* Remembers the first thing that is wrong. Always false. */
static bool wrong(parser *p, const char *what) {
    if (!p->reason) p->reason = cupel_arena_printf(p->arena, "inline PTX that cannot be read (%s)", what);
    p->no_memory |= !p->reason;
    return false;
}

static bool word_start(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static bool word_part(char c) {
    return word_start(c) || isdigit((unsigned char)c);
}

static void skip_blank(parser *p) {
    for (;;) {
        if (isspace((unsigned char)*p->at)) {
            p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '/') {
            p->at += strcspn(p->at, "\n");
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            const char *end = strstr(p->at + 2, "*/");
            p->at = end ? end + 2 : p->at + strlen(p->at);
        } else {
            return;
        }
    }
}

static bool take(parser *p, char c) {
    skip_blank(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static const char *copy(parser *p, const char *from, size_t length) {
    const char *text = cupel_arena_text(p->arena, from, length);
    p->no_memory |= !text;
    return text;
}

/* A word that starts here; NULL when there is none. */
static const char *word(parser *p) {
    const char *from = p->at;
    if (!word_start(*from)) return NULL;
    while (word_part(*p->at)) p->at++;
    return copy(p, from, (size_t)(p->at - from));
}

/* Integers in C's notations, 0f and 0d with the bits of a float or a double, decimal fractions. */
static bool number(parser *p, cupel_ptx_value *out) {
    const char *from = p->at;
    bool negative = *from == '-';
    if (negative || *from == '+') from++;
    char *end;
    out->kind = CUPEL_PTX_IMMEDIATE;
    if (from[0] == '0' && strchr("fFdD", from[1]) && from[1]) {
        bool single = from[1] == 'f' || from[1] == 'F';
        unsigned long long bits = strtoull(from + 2, &end, 16);
        if (end - from != (single ? 10 : 18)) return wrong(p, "a floating-point number of the wrong length");
        out->text = cupel_arena_printf(
            p->arena, single ? "%scupel_bits<float>(0x%llxu)" : "%scupel_bits<double>(0x%llxull)",
            negative ? "-" : "", bits);
    } else if (strcspn(from, ".") == strspn(from, "0123456789") && from[strspn(from, "0123456789")] == '.') {
        double value = strtod(from, &end);
        out->text = cupel_arena_printf(p->arena, "%s%.17g", negative ? "-" : "", value);
        if (out->text && !strpbrk(out->text, ".e"))
            out->text = cupel_arena_printf(p->arena, "%s.0", out->text);
    } else {
        unsigned long long value = strtoull(from, &end, 0);
        if (from[0] == '0' && (from[1] == 'b' || from[1] == 'B')) value = strtoull(from + 2, &end, 2);
        out->text = cupel_arena_printf(p->arena, "(long long)%s0x%llxull", negative ? "-" : "", value);
        while (*end == 'U' || *end == 'u') end++;
    }
    p->no_memory |= !out->text;
    if (word_part(*end)) return wrong(p, "a number that goes on with letters");
    p->at = end;
    return true;
}

/* %0, %%tid.x, %laneid: a compiler turns %% into %; without operands it does not. */
static bool percent(parser *p, cupel_ptx_value *out) {
    p->at++;
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        out->kind = CUPEL_PTX_ARGUMENT;
        out->index = (int)strtol(p->at, &end, 10);
        p->at = end;
        return true;
    }
    if (*p->at == '%') p->at++;
    const char *from = p->at;
    if (!word_start(*from)) return wrong(p, "a % without a number or a name");
    while (word_part(*p->at) || (*p->at == '.' && word_part(p->at[1]))) p->at++;
    out->kind = CUPEL_PTX_SPECIAL;
    out->text = copy(p, from, (size_t)(p->at - from));
    return true;
}

static bool value(parser *p, cupel_ptx_value *out);

static bool new_items(parser *p, cupel_ptx_value *out) {
    out->items = cupel_arena_alloc(p->arena, ITEMS_MAX * sizeof *out->items);
    p->no_memory |= !out->items;
    return out->items != NULL;
}

/* [base], [base + 16], [base+-16] */
static bool address(parser *p, cupel_ptx_value *out) {
    out->kind = CUPEL_PTX_ADDRESS;
    out->count = 1;
    if (!new_items(p, out) || !value(p, &out->items[0])) return false;
    skip_blank(p);
    while (*p->at == '+' || *p->at == '-') {
        bool minus = *p->at++ == '-';
        skip_blank(p);
        if (*p->at == '%') { /* an immediate operand of the statement as the offset: [%0 + %1] */
            if (minus || out->count == ITEMS_MAX) return wrong(p, "an address that is not base + offset");
            if (!value(p, &out->items[out->count++])) return false;
        } else {
            char *end;
            long long offset = strtoll(p->at, &end, 0);
            if (end == p->at) return wrong(p, "an address that is not base + offset");
            out->offset += minus ? -offset : offset;
            p->at = end;
        }
        skip_blank(p);
    }
    return take(p, ']') || wrong(p, "a ] is missing, or an address of several parts");
}

static bool vector(parser *p, cupel_ptx_value *out) {
    out->kind = CUPEL_PTX_VECTOR;
    if (!new_items(p, out)) return false;
    do {
        if (out->count == ITEMS_MAX) return wrong(p, "a vector of too many elements");
        if (!value(p, &out->items[out->count++])) return false;
    } while (take(p, ','));
    return take(p, '}') || wrong(p, "a } is missing");
}

static bool simple_value(parser *p, cupel_ptx_value *out) {
    *out = (cupel_ptx_value){.kind = CUPEL_PTX_REGISTER};
    if (take(p, '!')) out->negated = true;
    skip_blank(p);
    if (*p->at == '%') return percent(p, out);
    if (take(p, '[')) return address(p, out);
    if (take(p, '{')) return vector(p, out);
    if (isdigit((unsigned char)*p->at) || *p->at == '-' || *p->at == '+') return number(p, out);
    out->text = word(p);
    if (!out->text) return wrong(p, "an operand is missing");
    if (strcmp(out->text, "_") == 0) out->kind = CUPEL_PTX_SINK;
    if (strcmp(out->text, "WARP_SZ") == 0) {
        out->kind = CUPEL_PTX_IMMEDIATE;
        out->text = "32ll";
    }
    return true;
}

static bool value(parser *p, cupel_ptx_value *out) {
    if (!simple_value(p, out)) return false;
    if (!take(p, '|')) return true;
    cupel_ptx_value first = *out;
    *out = (cupel_ptx_value){.kind = CUPEL_PTX_PAIR, .count = 2};
    if (!new_items(p, out)) return false;
    out->items[0] = first;
    return simple_value(p, &out->items[1]);
}

static cupel_ptx_statement *add(parser *p, cupel_ptx_statement_kind kind) {
    if (p->out->count == STATEMENTS_MAX) {
        wrong(p, "too many statements");
        return NULL;
    }
    cupel_ptx_statement *s = &p->out->statements[p->out->count++];
    *s = (cupel_ptx_statement){.kind = kind};
    return s;
}

/* .reg .b32 a, b<3>; */
static bool declaration(parser *p) {
    const char *type = NULL;
    if (!take(p, '.') || !(type = word(p))) return wrong(p, "the type of a .reg is missing");
    do {
        skip_blank(p);
        if (*p->at == '%') p->at += p->at[1] == '%' ? 2 : 1;
        const char *name = word(p);
        if (!name) return wrong(p, "the name of a .reg is missing");
        long count = -1;
        if (take(p, '<')) {
            char *end;
            count = strtol(p->at, &end, 10);
            p->at = end;
            if (!take(p, '>') || count < 1 || count > 64) return wrong(p, "a .reg of no or too many names");
        }
        for (long i = count < 0 ? -1 : 0; i < (count < 0 ? 0 : count); i++) {
            cupel_ptx_statement *s = add(p, CUPEL_PTX_DECLARATION);
            if (!s) return false;
            s->name = i < 0 ? name : cupel_arena_printf(p->arena, "%s%ld", name, i);
            s->parts[0] = type;
            s->part_count = 1;
            p->no_memory |= !s->name;
        }
    } while (take(p, ','));
    return take(p, ';') || wrong(p, "a ; is missing after .reg");
}

/* Parts at single points; "shared::cta" is one. */
static bool instruction_name(parser *p, cupel_ptx_statement *s) {
    const char *from = p->at;
    for (;;) {
        const char *part = p->at;
        while (word_part(*p->at) || (p->at[0] == ':' && p->at[1] == ':') ||
               (p->at > part && p->at[-1] == ':'))
            p->at++;
        if (p->at == part) return wrong(p, "the name of an instruction is missing");
        if (s->part_count == CUPEL_PTX_MODIFIERS_MAX) return wrong(p, "a name of too many parts");
        s->parts[s->part_count++] = copy(p, part, (size_t)(p->at - part));
        if (*p->at != '.') break;
        p->at++;
    }
    s->name = copy(p, from, (size_t)(p->at - from));
    return true;
}

static bool instruction(parser *p) {
    cupel_ptx_statement *s = add(p, CUPEL_PTX_INSTRUCTION);
    if (!s) return false;
    if (take(p, '@')) {
        s->guarded = true;
        if (!simple_value(p, &s->guard)) return false;
        skip_blank(p);
    }
    if (!instruction_name(p, s)) return false;
    skip_blank(p);
    if (s->part_count == 1 && !s->guarded && *p->at == ':' && p->at[1] != ':') {
        p->at++;
        s->kind = CUPEL_PTX_LABEL;
        return true;
    }
    /* the last instruction of a text may go without its semicolon */
    if (*p->at == ';' || *p->at == '\0' || *p->at == '}') return take(p, ';') || true;
    do {
        if (s->operand_count == CUPEL_PTX_OPERANDS_MAX) return wrong(p, "too many operands");
        if (!value(p, &s->operands[s->operand_count++])) return false;
    } while (take(p, ','));
    skip_blank(p);
    if (take(p, ';') || *p->at == '\0' || *p->at == '}') return true;
    return wrong(p, "a ; is missing");
}

static bool statement(parser *p, int *depth) {
    if (take(p, ';')) return true;
    if (take(p, '{')) return ++*depth, add(p, CUPEL_PTX_OPEN) != NULL;
    if (take(p, '}'))
        return (--*depth >= 0 || wrong(p, "a } without its {")) && add(p, CUPEL_PTX_CLOSE) != NULL;
    if (strncmp(p->at, ".reg", 4) == 0 && !word_part(p->at[4])) {
        p->at += 4;
        return declaration(p);
    }
    if (*p->at == '.') return wrong(p, "a directive other than .reg");
    return instruction(p);
}

cupel_code cupel_ptx_parse(const char *text, cupel_arena *arena, cupel_ptx_program *out, const char **reason,
                           cupel_error *err) {
    parser p = {.at = text, .arena = arena, .out = out};
    int depth = 0;
    *out = (cupel_ptx_program){.statements = cupel_arena_raw(arena, STATEMENTS_MAX, sizeof *out->statements)};
    if (!out->statements) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (skip_blank(&p); *p.at && !p.no_memory; skip_blank(&p))
        if (!statement(&p, &depth)) break;
    if (depth > 0) wrong(&p, "a } is missing");
    *reason = p.reason;
    return p.no_memory ? cupel_fail(err, CUPEL_MEMORY, "out of memory") : CUPEL_OK;
}
