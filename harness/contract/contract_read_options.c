/* The key nvrtc of a launch: options for CUDA's run-time compiler that change what a kernel computes, and
 * those that change nothing but its code. NVRTC takes them as they are written; the emulator takes their
 * meaning (NVRTC's documentation, "Supported Compile Options"). */
#include <stdlib.h>
#include <string.h>

#include "contract_reader.h"

typedef enum option_kind { FMAD, FTZ, PREC_DIV, PREC_SQRT, FAST_MATH, CODE_ONLY, KIND_COUNT } option_kind;

static const struct {
    const char *name; /* without dashes */
    option_kind kind;
    bool flag, number; /* =true or =false follows; a number does */
} known[] = {
    {"fmad", FMAD, true, false},
    {"ftz", FTZ, true, false},
    {"prec-div", PREC_DIV, true, false},
    {"prec-sqrt", PREC_SQRT, true, false},
    {"use_fast_math", FAST_MATH, false, false},
    {"maxrregcount", CODE_ONLY, false, true},
    {"extra-device-vectorization", CODE_ONLY, false, false},
    {"generate-line-info", CODE_ONLY, false, false},
    {"lineinfo", CODE_ONLY, false, false},
};

static void apply(cupel_compiler_options *o, option_kind kind, bool value) {
    switch (kind) {
    case FMAD: o->fmad = value ? CUPEL_FMAD_ON : CUPEL_FMAD_OFF; break;
    case FTZ: o->flushes = value; break;
    case FAST_MATH:
        o->fmad = CUPEL_FMAD_ON;
        o->flushes = o->fast_functions = true;
        break;
    default: break; /* a quotient and a root may be less exact, and need not be */
    }
}

static cupel_code unknown(cupel_reader *r, const cupel_yaml *node, const char *name) {
    const char *names[sizeof known / sizeof *known];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) names[i] = known[i].name;
    if (name[0] == 'D' || name[0] == 'I')
        return cupel_reader_expected(r, node, "definitions and folders under 'source'");
    return cupel_fail_span(r->err, CUPEL_CONTRACT, node->text,
                           "expected a compiler option (-fmad=false, -ftz=true, -prec-div=false, "
                           "-prec-sqrt=false, --use_fast_math, --maxrregcount=64), found '%s'%s",
                           node->value, cupel_reader_hint(r, name, names, sizeof known / sizeof *known));
}

static cupel_code read_value(cupel_reader *r, const cupel_yaml *node, size_t row, const char *value,
                             cupel_compiler_options *o) {
    char *end;
    if (known[row].flag) {
        if (!value || (strcmp(value, "true") != 0 && strcmp(value, "false") != 0))
            return cupel_reader_expected(r, node, "-%s=true or -%s=false", known[row].name, known[row].name);
        apply(o, known[row].kind, value[0] == 't');
        return CUPEL_OK;
    }
    if (known[row].number) {
        if (!value || strtol(value, &end, 10) < 1 || *end)
            return cupel_reader_expected(r, node, "--%s=NUMBER", known[row].name);
    } else if (value) {
        return cupel_reader_expected(r, node, "--%s without a value", known[row].name);
    }
    apply(o, known[row].kind, true);
    return CUPEL_OK;
}

static cupel_code read_option(cupel_reader *r, const cupel_yaml *node, cupel_compiler_options *o) {
    CUPEL_TRY(cupel_reader_text(r, node, "a compiler option, e.g. -fmad=false"));
    const char *name = node->value + strspn(node->value, "-"), *equals = strchr(name, '=');
    if (name == node->value || name > node->value + 2) return unknown(r, node, name);
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    size_t row = 0;
    const size_t count = sizeof known / sizeof *known;
    while (row < count && (strlen(known[row].name) != length || memcmp(known[row].name, name, length) != 0))
        row++;
    if (row == count) return unknown(r, node, cupel_arena_text(r->arena, name, length));
    CUPEL_TRY(read_value(r, node, row, equals ? equals + 1 : NULL, o));
    o->items[o->count++] = node->value;
    return CUPEL_OK;
}

static bool same(const cupel_compiler_options *a, const cupel_compiler_options *b) {
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0) return false;
    return true;
}

cupel_code cupel_contract_read_options(cupel_reader *r, const cupel_yaml *launch, bool first) {
    const cupel_yaml *node = cupel_contract_yaml_get(launch, "nvrtc");
    cupel_compiler_options options = {0};
    if (node && node->kind == CUPEL_YAML_LIST) {
        CUPEL_TRY(cupel_reader_at_most(r, node, node->count, CUPEL_OPTION_MAX, "compiler options"));
        for (int i = 0; i < node->count; i++) CUPEL_TRY(read_option(r, node->items[i], &options));
    } else if (node) {
        CUPEL_TRY(read_option(r, node, &options));
    }
    if (!first && !same(&options, &r->contract->options))
        return cupel_reader_expected(
            r, node ? node : launch,
            "the same compiler options in every launch (a file is compiled once for all)");
    r->contract->options = options;
    return CUPEL_OK;
}
