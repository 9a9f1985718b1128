/* Lays instructions against the forms of ptx_table.c. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_table.h"

/* Whether part is one of the choices "a|b|@class" of length bytes. */
static bool among(const char *choices, size_t length, const char *part) {
    size_t size = strlen(part);
    for (const char *p = choices, *end = choices + length; p < end;) {
        size_t n = 0;
        while (p + n < end && p[n] != '|') n++;
        if (*p == '@') {
            for (int c = 0; c < cupel_ptx_class_count; c++) {
                const cupel_ptx_class *class = &cupel_ptx_classes[c];
                bool named = strlen(class->name) == n - 1 && memcmp(class->name, p + 1, n - 1) == 0;
                if (named && among(class->parts, strlen(class->parts), part)) return true;
            }
        } else if (n == size && memcmp(p, part, n) == 0) {
            return true;
        }
        p += n + 1;
    }
    return false;
}

/* Element number `element` of the form, at p, against part number `part`; a missing element is tried last. */
static bool match_from(const char *p, int element, const cupel_ptx_statement *s, int part,
                       cupel_ptx_match *out) {
    if (!*p) return part == s->part_count;
    if (element == CUPEL_PTX_ELEMENTS_MAX) return false;
    size_t length = strcspn(p, " ");
    const char *next = p + length + (p[length] == ' ');
    bool optional = p[length - 1] == '?', repeated = p[length - 1] == '*';
    size_t choices = length - (optional || repeated);
    out->parts[element] = NULL;
    if (part < s->part_count && among(p, choices, s->parts[part])) {
        if (repeated && match_from(p, element, s, part + 1, out)) return true;
        out->parts[element] = s->parts[part];
        if (match_from(next, element + 1, s, part + 1, out)) return true;
        out->parts[element] = NULL;
    }
    return (optional || repeated) && match_from(next, element + 1, s, part, out);
}

/* "$3" or a name; the length of what was read. */
static size_t read_type(const char *p, const cupel_ptx_match *match, const char **type, size_t *length) {
    if (*p == '$') {
        char *end;
        long element = strtol(p + 1, &end, 10);
        *type = match->parts[element] ? match->parts[element] : "none";
        *length = strlen(*type);
        return (size_t)(end - p);
    }
    *type = p;
    *length = strcspn(p, " |]");
    return *length;
}

int cupel_ptx_slots(const cupel_ptx_match *match, cupel_ptx_slot *slots) {
    int count = 0;
    for (const char *p = match->form->operands; *p;) {
        cupel_ptx_slot *slot = &slots[count++];
        *slot = (cupel_ptx_slot){0};
        for (;; p++) {
            if (*p == '=')
                slot->destination = true;
            else if (*p == '~')
                slot->flexible = true;
            else if (*p == '[')
                slot->address = true;
            else if (*p == '{') {
                slot->vector = (int)strtol(p + 1, NULL, 10);
                p = strchr(p, '}');
            } else
                break;
        }
        p += read_type(p, match, &slot->type, &slot->type_length);
        if (*p == '|') {
            slot->pair = true;
            p++;
            p += read_type(p, match, &slot->type2, &slot->type2_length);
        }
        while (*p == ' ' || *p == ']') p++;
    }
    return count;
}

static bool takes(const cupel_ptx_slot *slot, const cupel_ptx_value *v) {
    switch (v->kind) {
    case CUPEL_PTX_ADDRESS: return slot->address;
    case CUPEL_PTX_VECTOR: return slot->flexible || (slot->vector && slot->vector == v->count);
    case CUPEL_PTX_PAIR: return slot->pair && slot->destination;
    default:
        if (slot->destination &&
            (v->kind == CUPEL_PTX_IMMEDIATE || v->kind == CUPEL_PTX_SPECIAL || v->negated))
            return false;
        return !slot->address && slot->vector <= 1 && !slot->pair;
    }
}

bool cupel_ptx_match_name(const cupel_ptx_form *form, const cupel_ptx_statement *s, cupel_ptx_match *out) {
    *out = (cupel_ptx_match){.form = form};
    return match_from(form->name, 0, s, 0, out);
}

static bool find_as_written(const cupel_ptx_statement *s, cupel_ptx_match *out, bool *named) {
    for (int f = 0; f < cupel_ptx_form_count; f++) {
        if (!cupel_ptx_match_name(&cupel_ptx_forms[f], s, out)) continue;
        *named = true;
        cupel_ptx_slot slots[CUPEL_PTX_OPERANDS_MAX];
        bool fits = cupel_ptx_slots(out, slots) == s->operand_count;
        for (int i = 0; fits && i < s->operand_count; i++) fits = takes(&slots[i], &s->operands[i]);
        if (fits) return true;
    }
    return false;
}

/* How the forms of some instructions order their qualifiers: each row the choices that come next. The rest
 * stays behind them, in the order in which it was written. */
typedef struct usual_order {
    const char *instructions;
    const char *rows[5];
} usual_order;

static const usual_order orders[] = {
    {"ld|st|atom|red", {"@order", "@scope", "global|@shared|local|param|const"}},
    {"ldmatrix|stmatrix", {"sync|aligned", "m8n8", "x1|x2|x4", "trans", "@shared"}},
    {"mma", {"sync|aligned", "m16n8k16|m16n8k8|m16n8k4|m16n8k32|m8n8k4"}},
    {"add|sub|mul|fma|mad|div|rcp|sqrt|rsqrt|sin|cos|lg2|ex2", {"@round|approx|full", "ftz"}},
};

static int rank_of(const usual_order *order, const char *part) {
    int count = (int)(sizeof order->rows / sizeof *order->rows);
    for (int r = 0; r < count && order->rows[r]; r++)
        if (among(order->rows[r], strlen(order->rows[r]), part)) return r;
    return count;
}

/* The assembler takes qualifiers in any order, "ld.global.acquire.gpu.b32". Whether the order of the forms is
 * another one; then in *s. */
static bool put_in_order(cupel_ptx_statement *s) {
    bool moved = false;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        const usual_order *order = &orders[o];
        if (!among(order->instructions, strlen(order->instructions), s->parts[0])) continue;
        for (int i = 2; i < s->part_count; i++) {
            const char *part = s->parts[i];
            int k = i;
            for (; k > 1 && rank_of(order, s->parts[k - 1]) > rank_of(order, part); k--)
                s->parts[k] = s->parts[k - 1];
            s->parts[k] = part;
            moved |= k != i;
        }
    }
    return moved;
}

bool cupel_ptx_find(const cupel_ptx_statement *s, cupel_ptx_match *out, bool *named) {
    *named = false;
    if (find_as_written(s, out, named)) return true;
    cupel_ptx_statement sorted = *s;
    return put_in_order(&sorted) && find_as_written(&sorted, out, named);
}
