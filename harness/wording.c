#include "wording.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void cupel_word_number(cupel_dtype type, double value, char *text, size_t size) {
    const cupel_format *format = cupel_format_of(type);
    if (isnan(value))
        snprintf(text, size, "nan");
    else if (isinf(value))
        snprintf(text, size, value > 0 ? "inf" : "-inf");
    else if (format->kind != CUPEL_KIND_REAL)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.*g", format->precision > 24 ? 17 : format->precision > 11 ? 9 : 6, value);
}

void cupel_word_value(cupel_dtype type, uint64_t bits, char *text, size_t size) {
    if (cupel_format_of(type)->kind == CUPEL_KIND_REAL)
        cupel_word_number(type, cupel_decode(type, &bits), text, size);
    else if (type == CUPEL_U64 || type == CUPEL_BOOL) /* a bool's byte as it is: 2 is not true */
        snprintf(text, size, "%" PRIu64, type == CUPEL_BOOL ? bits & 0xFF : bits);
    else
        snprintf(text, size, "%" PRId64, cupel_decode_int(type, &bits));
}

void cupel_word_element(cupel_dtype type, uint64_t bits, char *text, size_t size) {
    const cupel_format *format = cupel_format_of(type);
    char number[64];
    cupel_word_value(type, bits, number, sizeof number);
    snprintf(text, size, "%s (0x%0*" PRIx64 ")", number, (int)format->size * 2, bits);
}

/* A set of elements; low and high: the ends of its numbers in words. */
static void word_set(const char *low, const char *high, uint8_t classes, uint8_t reason, char *text,
                     size_t size) {
    static const struct {
        int class;
        const char *name;
    } names[] = {{CUPEL_CLASS_NAN, "nan"}, {CUPEL_CLASS_POS_INF, "inf"}, {CUPEL_CLASS_NEG_INF, "-inf"}};
    if (reason != CUPEL_REASON_JUDGED) {
        snprintf(text, size, "anything (%s)", cupel_reason_text(reason));
        return;
    }
    if (classes & CUPEL_KEEP) {
        snprintf(text, size, "what was there before");
        return;
    }
    size_t used = 0;
    text[0] = '\0';
    if (classes & CUPEL_CLASS_FINITE) {
        if (classes & CUPEL_ZERO_SIGN_FIXED)
            used = (size_t)snprintf(text, size, classes & CUPEL_ZERO_SIGN_NEGATIVE ? "-0" : "+0");
        else if (strcmp(low, high) == 0)
            used = (size_t)snprintf(text, size, "%s", low);
        else
            used = (size_t)snprintf(text, size, "[%s, %s]", low, high);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && used < size; i++)
        if (classes & names[i].class)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "", names[i].name);
}

/* An end: of 64-bit integers the integer, else the number. */
static void word_end(cupel_dtype type, double number, uint64_t integer, char *text, size_t size) {
    if (cupel_dtype_is_wide(type))
        cupel_word_value(type, integer, text, size);
    else
        cupel_word_number(type, number, text, size);
}

void cupel_word_allowed(cupel_dtype type, const cupel_exact_element *exact, char *text, size_t size) {
    char low[64], high[64];
    word_end(type, exact->lo, exact->least, low, sizeof low);
    word_end(type, exact->hi, exact->most, high, sizeof high);
    if (exact->lo == exact->hi && !cupel_dtype_is_wide(type)) memcpy(high, low, sizeof high); /* 0 and -0 */
    word_set(low, high, exact->classes, exact->reason, text, size);
}

void cupel_word_allowed_at(const cupel_allowed *allowed, int64_t index, cupel_dtype working, char *text,
                           size_t size) {
    uint8_t reason = allowed->reasons[index];
    if (reason == CUPEL_REASON_OVERFLOW && fabs(allowed->value[index]) > cupel_format_largest(working))
        snprintf(text, size,
                 "anything (the result overflows the working precision, and `range: working` leaves such "
                 "elements open; `range: safe` judges them)");
    else
        cupel_word_allowed(allowed->type,
                           &(cupel_exact_element){.lo = allowed->lo[index],
                                                  .hi = allowed->hi[index],
                                                  .least = allowed->least ? allowed->least[index] : 0,
                                                  .most = allowed->most ? allowed->most[index] : 0,
                                                  .classes = allowed->classes[index],
                                                  .reason = reason},
                           text, size);
}

void cupel_word_index(const char *name, int rank, const int64_t *shape, int64_t index, char *text,
                      size_t size) {
    int64_t position[CUPEL_RANK_MAX] = {0};
    for (int axis = rank - 1; axis >= 0; axis--) {
        int64_t extent = shape[axis] > 0 ? shape[axis] : 1;
        position[axis] = index % extent;
        index /= extent;
    }
    size_t used = (size_t)snprintf(text, size, "%s[", name);
    for (int axis = 0; axis < rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, axis ? ", " : "", position[axis]);
    if (used < size) snprintf(text + used, size - used, "]");
}

const cupel_place *cupel_word_place_of(const cupel_finding *finding) {
    return finding->has_access ? &finding->access.place : &finding->place;
}

bool cupel_word_same_line(const cupel_finding *a, const cupel_finding *b) {
    const cupel_place *p = cupel_word_place_of(a), *q = cupel_word_place_of(b);
    return p->line > 0 && p->line == q->line && p->file[0] && strcmp(p->file, q->file) == 0;
}

void cupel_word_place(const cupel_place *place, char *text, size_t size) {
    text[0] = '\0';
    if (!place->file[0] && !place->function[0]) return;
    size_t used = 0;
    if (place->file[0])
        used = (size_t)snprintf(text, size, place->line > 0 ? "%s:%d" : "%s", place->file, place->line);
    if (place->function[0] && used < size)
        used += (size_t)snprintf(text + used, size - used, "%sin %s", used ? " " : "", place->function);
    bool device = place->file[0] || place->line > 0; /* a host function has neither, and no threads */
    if (device && used < size)
        snprintf(text + used, size - used, ", block (%u, %u, %u), thread (%u, %u, %u)", place->block[0],
                 place->block[1], place->block[2], place->thread[0], place->thread[1], place->thread[2]);
}

void cupel_word_distance(const cupel_finding *finding, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    if (!isnan(finding->steps) && finding->steps > 0)
        used = (size_t)snprintf(text, size, "%.6g ulp outside the allowed set", finding->steps);
    if (isnan(finding->ratio) || finding->ratio <= 0 || used >= size) return;
    if (finding->kind == CUPEL_FINDING_INACCURATE) {
        snprintf(text, size, "%.3g times as far from the exact value as good kernels may come",
                 finding->ratio);
        return;
    }
    if (isinf(finding->ratio))
        snprintf(text + used, size - used, "%sonly one value is allowed", used ? ", " : "");
    else
        snprintf(text + used, size - used, "%s%.3g times the allowed distance from the exact value",
                 used ? ", " : "", finding->ratio);
}

void cupel_word_where(const cupel_finding *finding, const cupel_trial *trial, char *text, size_t size) {
    const cupel_graph *graph = trial ? trial->graph : NULL;
    if (graph && finding->output >= 0 && finding->output < graph->output_count && finding->index >= 0) {
        const cupel_graph_output *output = &graph->outputs[finding->output];
        cupel_word_index(output->name, output->rank, output->shape, finding->index, text, size);
    } else {
        snprintf(text, size, "%s", finding->output_name);
    }
}

bool cupel_word_has_values(const cupel_finding *finding) {
    switch (finding->kind) {
    case CUPEL_FINDING_WRONG_VALUE:
    case CUPEL_FINDING_WRONG_CLASS:
    case CUPEL_FINDING_WRONG_ZERO_SIGN:
    case CUPEL_FINDING_INACCURATE: return true;
    default: return false;
    }
}

/* Tensors of at most this many elements are printed in full. */
enum { PRINTED_MAX = 16 };

/* "[[0, 1], [2, 3]]" */
static void write_elements(FILE *out, const cupel_case_tensor *tensor) {
    size_t size = cupel_format_of(tensor->type)->size;
    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t block = tensor->count;
        if (i > 0) fprintf(out, ", ");
        for (int axis = 0; axis < tensor->rank; axis++) {
            if (i % block == 0) fputc('[', out);
            block /= tensor->shape[axis];
        }
        uint64_t bits = 0;
        char text[64];
        memcpy(&bits, (const unsigned char *)tensor->values + (size_t)i * size, size);
        cupel_word_value(tensor->type, bits, text, sizeof text);
        fputs(text, out);
        block = 1;
        for (int axis = tensor->rank - 1; axis >= 0; axis--) {
            block *= tensor->shape[axis];
            if ((i + 1) % block == 0) fputc(']', out);
        }
    }
}

void cupel_word_inputs(const cupel_contract *contract, const cupel_case *c, FILE *out) {
    for (int t = 0; t < c->tensor_count; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT) || !tensor->values) continue;
        fprintf(out, "    %s: %s[", contract->tensors[t].name, cupel_format_of(tensor->type)->name);
        for (int axis = 0; axis < tensor->rank; axis++)
            fprintf(out, "%s%" PRId64, axis ? ", " : "", tensor->shape[axis]);
        fprintf(out, "]");
        if (tensor->count > 0 && tensor->count <= PRINTED_MAX) {
            fprintf(out, " = ");
            write_elements(out, tensor);
        }
        fprintf(out, "\n");
    }
}

/* Does the finding name an output? Else every claim may be concerned. */
static bool names_output(const cupel_contract *contract, const char *name) {
    int t = name[0] ? cupel_contract_tensor(contract, name) : -1;
    return t >= 0 && contract->tensors[t].ensures;
}

/* What each gate's finding rests on beside the postcondition; `otherwise` is claimed where the contract says
 * nothing. */
static const struct {
    cupel_gate gate;
    const char *keys[5];
    const char *otherwise;
} clauses[] = {
    {CUPEL_GATE_CMP_02, {"kinks"}, NULL},
    {CUPEL_GATE_CMP_03, {"dims", "requires", "variants", "layouts", "may_alias"}, NULL},
    {CUPEL_GATE_ORD_02,
     {"deterministic"},
     "deterministic: auto (the default): the same bytes on every run, unless floating-point atomics leave "
     "the "
     "order open"},
    {CUPEL_GATE_ORD_03, {"order"}, NULL},
    {CUPEL_GATE_PRC_01, {"types"}, NULL},
    {CUPEL_GATE_PRC_02,
     {"accumulate", "products"},
     "accumulate: the default, f32 (f64 where all outputs are f64); products: as given (the default)"},
    {CUPEL_GATE_EXC_01, {"inputs"}, NULL},
    {CUPEL_GATE_EXC_02, {"subnormals"}, "subnormals: keep (the default)"},
    {CUPEL_GATE_RES_01, {"inputs", "outputs", "scratch"}, NULL},
    {CUPEL_GATE_RES_02, {"dims", "requires", "kernel", "limits"}, NULL},
};

static void write_clauses(const cupel_contract *contract, cupel_gate gate, FILE *out) {
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++) {
        bool any = false;
        if (clauses[i].gate != gate) continue;
        for (int k = 0; k < 5 && clauses[i].keys[k]; k++)
            any = cupel_contract_write_key(contract, clauses[i].keys[k], out) || any;
        if (!any && clauses[i].otherwise) fprintf(out, "    %s\n", clauses[i].otherwise);
    }
}

void cupel_word_claims(const cupel_contract *contract, const cupel_finding *finding, FILE *out) {
    bool one = names_output(contract, finding->output_name);
    for (int t = 0; t < contract->tensor_count; t++) {
        const cupel_tensor_decl *tensor = &contract->tensors[t];
        if (!tensor->ensures || (one && strcmp(tensor->name, finding->output_name) != 0)) continue;
        cupel_span place = tensor->ensures->place;
        fprintf(out, "    %s = %.*s\n", tensor->name, (int)place.length, place.text);
    }
    fprintf(out, "\nThe contract `%s` (%s) says so in\n\n", contract->id, contract->file);
    const char *told = NULL; /* several postconditions may stand in one line */
    for (int t = 0; t < contract->tensor_count; t++) {
        const cupel_tensor_decl *tensor = &contract->tensors[t];
        if (!tensor->ensures || (one && strcmp(tensor->name, finding->output_name) != 0)) continue;
        const cupel_span place = tensor->ensures->place;
        if (told && place.text && !memchr(told, '\n', (size_t)(place.text > told ? place.text - told : 0)))
            continue;
        if (cupel_contract_write_span(contract, place, out)) told = place.text;
    }
    if (!told) (void)cupel_contract_write_key(contract, "ensures", out);
    write_clauses(contract, finding->gate, out);
    fprintf(out, "\n%s asserts of it: %s.\n\n", cupel_gate_id(finding->gate),
            cupel_gate_info_of(finding->gate)->asserts);
}

bool cupel_word_has_runs(const cupel_finding *finding) {
    bool kind = finding->kind == CUPEL_FINDING_NONDETERMINISM || finding->kind == CUPEL_FINDING_HISTORY ||
                finding->kind == CUPEL_FINDING_STRAY_READ;
    return kind && finding->run_a.index >= 0 && finding->run_b.index >= 0 &&
           finding->run_a.index != finding->run_b.index;
}
