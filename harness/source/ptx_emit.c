#include "ptx_emit.h"

#include <ctype.h>
#include <string.h>

#include "buffer.h"
#include "ptx_asm.h"
#include "ptx_table.h"

typedef struct emitter {
    const cupel_ptx_asm *statement;
    cupel_buffer out;
    cupel_arena *arena;
    const char *reason;
    cupel_error *err;
} emitter;

#define EMIT(e, ...) CUPEL_TRY(cupel_buffer_printf(&(e)->out, (e)->err, __VA_ARGS__))

static cupel_code refuse(emitter *e, const char *what, const char *name) {
    if (!e->reason) e->reason = cupel_arena_printf(e->arena, "the %s '%s'", what, name);
    return e->reason ? CUPEL_OK : cupel_fail(e->err, CUPEL_MEMORY, "out of memory");
}

/* A part of a name as one of an identifier: shared::cta becomes shared__cta. */
static cupel_code add_word(emitter *e, const char *name, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = isalnum((unsigned char)name[i]) ? name[i] : '_';
        CUPEL_TRY(cupel_buffer_add(&e->out, &c, 1, e->err));
    }
    return CUPEL_OK;
}

static cupel_code add_identifier(emitter *e, const char *name, size_t length) {
    EMIT(e, "cupel_ptx_");
    return add_word(e, name, length);
}

static bool is_special(const char *name) {
    for (int i = 0; i < cupel_ptx_special_count; i++)
        if (strcmp(cupel_ptx_specials[i], name) == 0) return true;
    return false;
}

/* A register, an operand or a number, by itself. */
static cupel_code add_plain(emitter *e, const cupel_ptx_value *v) {
    if (v->negated) EMIT(e, "!");
    switch (v->kind) {
    case CUPEL_PTX_ARGUMENT:
        if (v->index >= CUPEL_PTX_STRINGISED &&
            v->index < CUPEL_PTX_STRINGISED + e->statement->stringised_count) {
            EMIT(e, "(long long)(%s)", e->statement->stringised[v->index - CUPEL_PTX_STRINGISED]);
        } else if (v->index >= e->statement->count) {
            return refuse(e, "operand of inline PTX",
                          "%N that the statement does not have"); /* not known; never a guess */
        } else {
            EMIT(e, "cupel_ptx_%d", v->index);
        }
        return CUPEL_OK;
    case CUPEL_PTX_REGISTER: EMIT(e, "cupel_ptx_r_"); return add_word(e, v->text, strlen(v->text));
    case CUPEL_PTX_SPECIAL:
        if (!is_special(v->text)) return refuse(e, "special register", v->text);
        EMIT(e, "cupel_ptx_special_");
        CUPEL_TRY(add_word(e, v->text, strlen(v->text)));
        EMIT(e, "()");
        return CUPEL_OK;
    case CUPEL_PTX_IMMEDIATE: EMIT(e, "(%s)", v->text); return CUPEL_OK;
    default: return refuse(e, "operand of inline PTX", "of a kind that does not belong there");
    }
}

static cupel_code add_source(emitter *e, const cupel_ptx_slot *slot, const cupel_ptx_value *v) {
    if (slot->address) {
        bool shared = slot->type_length >= 6 && memcmp(slot->type, "shared", 6) == 0;
        shared |= slot->type_length == 1 && *slot->type == 's';
        EMIT(e, shared ? "cupel_ptx_in_shared(" : "cupel_ptx_in_global(");
        CUPEL_TRY(add_plain(e, &v->items[0]));
        EMIT(e, ", %lldll", (long long)v->offset);
        for (int i = 1; i < v->count; i++) {
            EMIT(e, " + (long long)");
            CUPEL_TRY(add_plain(e, &v->items[i]));
        }
    } else {
        EMIT(e, "cupel_ptx_get<");
        CUPEL_TRY(add_identifier(e, slot->type, slot->type_length));
        EMIT(e, ">(");
        CUPEL_TRY(add_plain(e, v));
    }
    EMIT(e, ")");
    return CUPEL_OK;
}

/* Where a destination's elements stand: the values of a vector, of a pair, or itself. */
static const cupel_ptx_value *elements(const cupel_ptx_value *v, int *count) {
    bool several = v->kind == CUPEL_PTX_VECTOR || v->kind == CUPEL_PTX_PAIR;
    *count = several ? v->count : 1;
    return several ? v->items : v;
}

/* Variables for an operand: of a destination to be filled, of a vector of sources filled. */
static cupel_code add_variables(emitter *e, int i, const cupel_ptx_slot *slot, const cupel_ptx_value *v) {
    if (!slot->destination && v->kind != CUPEL_PTX_VECTOR) return CUPEL_OK;
    /* for copies of 16 bytes, which the checker takes for accesses that are to be aligned */
    if (v->kind == CUPEL_PTX_VECTOR) EMIT(e, "alignas(16) ");
    CUPEL_TRY(add_identifier(e, slot->type, slot->type_length));
    EMIT(e, " cupel_ptx_o%d", i);
    if (v->kind == CUPEL_PTX_VECTOR) EMIT(e, "[%d]", v->count);
    if (!slot->destination) {
        EMIT(e, " = {");
        for (int k = 0; k < v->count; k++) {
            cupel_ptx_slot one = *slot;
            CUPEL_TRY(add_source(e, &one, &v->items[k]));
            if (k + 1 < v->count) EMIT(e, ", ");
        }
        EMIT(e, "}");
    }
    EMIT(e, "; ");
    if (!slot->pair) return CUPEL_OK;
    CUPEL_TRY(add_identifier(e, slot->type2, slot->type2_length));
    EMIT(e, " cupel_ptx_q%d; ", i);
    return CUPEL_OK;
}

/* name of the function with its template arguments */
static cupel_code add_call(emitter *e, const cupel_ptx_match *match) {
    for (const char *p = match->form->call; *p;) {
        if (*p != '$') {
            CUPEL_TRY(cupel_buffer_add(&e->out, p++, 1, e->err));
            continue;
        }
        int element = 0;
        for (p++; isdigit((unsigned char)*p); p++) element = element * 10 + (*p - '0');
        const char *part = match->parts[element] ? match->parts[element] : "none";
        CUPEL_TRY(add_identifier(e, part, strlen(part)));
    }
    return CUPEL_OK;
}

static cupel_code add_results(emitter *e, const cupel_ptx_statement *s, const cupel_ptx_slot *slots) {
    for (int i = 0; i < s->operand_count; i++) {
        if (!slots[i].destination) continue;
        int count;
        const cupel_ptx_value *v = elements(&s->operands[i], &count);
        for (int k = 0; k < count; k++) {
            if (v[k].kind == CUPEL_PTX_SINK) continue;
            EMIT(e, " cupel_ptx_put(");
            CUPEL_TRY(add_plain(e, &v[k]));
            if (slots[i].pair)
                EMIT(e, ", cupel_ptx_%c%d);", k ? 'q' : 'o', i);
            else if (s->operands[i].kind == CUPEL_PTX_VECTOR)
                EMIT(e, ", cupel_ptx_o%d[%d]);", i, k);
            else
                EMIT(e, ", cupel_ptx_o%d);", i);
        }
    }
    return CUPEL_OK;
}

static cupel_code add_instruction(emitter *e, const cupel_ptx_statement *s) {
    cupel_ptx_match match;
    cupel_ptx_slot slots[CUPEL_PTX_OPERANDS_MAX];
    bool named;
    if (!cupel_ptx_find(s, &match, &named))
        return refuse(e, named ? "operand list of the PTX instruction" : "PTX instruction", s->name);
    cupel_ptx_slots(&match, slots);
    if (s->guarded) {
        EMIT(e, "if (");
        CUPEL_TRY(add_plain(e, &s->guard));
        EMIT(e, ") ");
    }
    EMIT(e, "{ ");
    for (int i = 0; i < s->operand_count; i++) CUPEL_TRY(add_variables(e, i, &slots[i], &s->operands[i]));
    CUPEL_TRY(add_call(e, &match));
    EMIT(e, "(");
    for (int i = 0; i < s->operand_count; i++) {
        if (i) EMIT(e, ", ");
        if (slots[i].destination || s->operands[i].kind == CUPEL_PTX_VECTOR)
            EMIT(e, "cupel_ptx_o%d", i);
        else
            CUPEL_TRY(add_source(e, &slots[i], &s->operands[i]));
        if (slots[i].pair) EMIT(e, ", cupel_ptx_q%d", i);
    }
    EMIT(e, ");");
    CUPEL_TRY(add_results(e, s, slots));
    EMIT(e, " } ");
    return CUPEL_OK;
}

static cupel_code add_statement(emitter *e, const cupel_ptx_statement *s) {
    switch (s->kind) {
    case CUPEL_PTX_OPEN: EMIT(e, "{ "); return CUPEL_OK;
    case CUPEL_PTX_CLOSE: EMIT(e, "} "); return CUPEL_OK;
    case CUPEL_PTX_LABEL: return refuse(e, "label in inline PTX", s->name);
    case CUPEL_PTX_DECLARATION:
        CUPEL_TRY(add_identifier(e, s->parts[0], strlen(s->parts[0])));
        EMIT(e, " cupel_ptx_r_");
        CUPEL_TRY(add_word(e, s->name, strlen(s->name)));
        EMIT(e, "; ");
        return CUPEL_OK;
    default: return add_instruction(e, s);
    }
}

static const char *type_of(char constraint) {
    switch (constraint) {
    case 'r': return "cupel_ptx_b32";
    case 'l': return "cupel_ptx_b64";
    case 'h': return "cupel_ptx_b16";
    case 'f': return "float";
    case 'd': return "double";
    default: return "long long";
    }
}

static cupel_code add_arguments(emitter *e) {
    for (int i = 0; i < e->statement->count; i++) {
        const cupel_ptx_argument *a = &e->statement->arguments[i];
        const char *type = type_of(a->constraint);
        if (a->reads)
            EMIT(e, "%s cupel_ptx_%d = cupel_ptx_in<%s>(%s); ", type, i, type, a->expression);
        else
            EMIT(e, "%s cupel_ptx_%d; ", type, i);
    }
    return CUPEL_OK;
}

static cupel_code translate(emitter *e, const cupel_ptx_program *program) {
    EMIT(e, "do { ");
    CUPEL_TRY(add_arguments(e));
    for (int i = 0; i < program->count && !e->reason; i++)
        CUPEL_TRY(add_statement(e, &program->statements[i]));
    for (int i = 0; i < e->statement->count; i++)
        if (e->statement->arguments[i].writes)
            EMIT(e, "cupel_ptx_out(%s, cupel_ptx_%d); ", e->statement->arguments[i].expression, i);
    EMIT(e, "} while (0)");
    return CUPEL_OK;
}

cupel_code cupel_ptx_translate(const cupel_tokens *tokens, size_t i, const cupel_macros *macros,
                               const cupel_tokens *macro_tokens, cupel_arena *arena, size_t *close,
                               const char **text, const char **reason, cupel_error *err) {
    cupel_ptx_asm *statement = cupel_arena_alloc(arena, sizeof *statement);
    cupel_ptx_program program;
    if (!statement) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    *text = NULL;
    CUPEL_TRY(cupel_ptx_asm_read(tokens, i, macros, macro_tokens, arena, statement, reason, err));
    *close = statement->close;
    if (*reason) return CUPEL_OK;
    CUPEL_TRY(cupel_ptx_parse(statement->text, arena, &program, reason, err));
    if (*reason) return CUPEL_OK;
    emitter e = {.statement = statement, .out = {.arena = arena}, .arena = arena, .err = err};
    CUPEL_TRY(translate(&e, &program));
    *reason = e.reason;
    if (!e.reason) *text = e.out.bytes;
    return CUPEL_OK;
}
