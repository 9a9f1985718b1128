/* Parameters and templates of a kernel. */
#include "init_kernel.h"

#include <string.h>

static const cupel_tokens *tokens_of(const cupel_init_kernel *kernel) {
    return &kernel->file->structure.tokens;
}

int cupel_init_kernel_param(const cupel_init_kernel *kernel, const char *name) {
    for (int i = 0; i < kernel->param_count; i++)
        if (strcmp(kernel->params[i].name, name) == 0) return i;
    return -1;
}

int cupel_init_kernel_template(const cupel_init_kernel *kernel, const char *name) {
    for (int i = 0; i < kernel->template_count; i++)
        if (strcmp(kernel->templates[i].name, name) == 0) return i;
    return -1;
}

int cupel_init_kernel_variable(const cupel_init_kernel *kernel, const char *name) {
    for (int i = 0; i < kernel->variable_count; i++)
        if (strcmp(kernel->variables[i].name, name) == 0) return i;
    return -1;
}

bool cupel_init_kernel_mentions(const cupel_init_kernel *kernel, const char *word, bool prefix) {
    const cupel_tokens *tokens = tokens_of(kernel);
    size_t length = strlen(word);
    for (size_t i = kernel->declaration->body_begin; i < kernel->declaration->body_end; i++) {
        const cupel_token *t = &tokens->at[i];
        if (t->kind == CUPEL_TOKEN_DIRECTIVE || t->length < length || (!prefix && t->length != length))
            continue;
        if (memcmp(tokens->text + t->offset, word, length) == 0) return true;
    }
    return false;
}

/* The words of tokens begin..end-1, but those to be left out, with blanks between. */
static const char *words(const cupel_init_kernel *kernel, size_t begin, size_t end, bool bare) {
    const cupel_tokens *tokens = tokens_of(kernel);
    static const char *const left_out[] = {"const", "__restrict__",      "__restrict", "restrict", "*",
                                           "&",     "__grid_constant__", "volatile"};
    char text[256] = "";
    size_t used = 0;
    for (size_t i = begin; i < end; i++) {
        bool skip = false;
        for (size_t k = 0; bare && k < sizeof left_out / sizeof *left_out; k++)
            skip = skip || cupel_lexer_is(tokens, i, left_out[k]);
        const cupel_token *t = &tokens->at[i];
        if (skip || used + t->length + 2 >= sizeof text) continue;
        bool glued = cupel_lexer_is(tokens, i, "::") || (used && text[used - 1] == ':') ||
                     cupel_lexer_is(tokens, i, "<") || cupel_lexer_is(tokens, i, ">");
        if (used && !glued) text[used++] = ' ';
        memcpy(text + used, tokens->text + t->offset, t->length);
        used += t->length;
    }
    return cupel_arena_text(kernel->file->arena, text, used);
}

static bool one_of(const char *word, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0) return true;
    return false;
}

static cupel_init_class kind_of(const char *type, int stars, bool reference) {
    static const char *const integers[] = {
        "int",         "unsigned",     "unsigned int", "long",
        "long long",   "size_t",       "int32_t",      "int64_t",
        "uint32_t",    "uint64_t",     "uint",         "unsigned long",
        "std::size_t", "std::int64_t", "short",        "unsigned long long",
        "long int",    "index_t",      "ptrdiff_t",    "std::uint32_t",
        "std::int32_t"};
    static const char *const reals[] = {"float", "double", "half", "__half", "__nv_bfloat16", "nv_bfloat16"};
    if (reference || stars > 1) return CUPEL_INIT_CLASS_OTHER;
    if (stars == 1) return CUPEL_INIT_CLASS_POINTER;
    if (one_of(type, integers, sizeof integers / sizeof *integers)) return CUPEL_INIT_CLASS_INTEGER;
    if (one_of(type, reals, sizeof reals / sizeof *reals)) return CUPEL_INIT_CLASS_REAL;
    return strcmp(type, "bool") == 0 ? CUPEL_INIT_CLASS_BOOL : CUPEL_INIT_CLASS_OTHER;
}

/* Elements in a built-in vector type: 4 for float4, 1 for others. */
static int vector_size(const char *type) {
    static const char *const pairs[] = {
        "float2",    "half2",      "__half2",         "int2",           "__nv_bfloat162", "nv_bfloat162",
        "double2",   "char2",      "uchar2",          "short2",         "ushort2",        "uint2",
        "longlong2", "ulonglong2", "__nv_fp8x2_e4m3", "__nv_fp8x2_e5m2"};
    static const char *const quads[] = {"float4", "int4",    "uint4",           "char4",          "uchar4",
                                        "short4", "ushort4", "__nv_fp8x4_e4m3", "__nv_fp8x4_e5m2"};
    if (one_of(type, quads, sizeof quads / sizeof *quads)) return 4;
    return one_of(type, pairs, sizeof pairs / sizeof *pairs) ? 2 : 1;
}

static cupel_code add_param(cupel_init_kernel *kernel, size_t begin, size_t end, cupel_error *err) {
    const cupel_tokens *tokens = tokens_of(kernel);
    if (begin >= end || (end == begin + 1 && cupel_lexer_is(tokens, begin, "void"))) return CUPEL_OK;
    if (kernel->param_count == CUPEL_INIT_PARAM_MAX)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "%s has more than %d parameters", kernel->facts->name,
                          CUPEL_INIT_PARAM_MAX);
    int stars = 0;
    bool reference = false, constant = false;
    for (size_t i = begin; i < end; i++) /* a default value */
        if (cupel_lexer_is(tokens, i, "=")) end = i;
    if (end > begin + 3 && cupel_lexer_is(tokens, end - 1, "]")) { /* float x[] */
        while (end > begin && !cupel_lexer_is(tokens, end - 1, "[")) end--;
        end--, stars++;
    }
    for (size_t i = begin; i < end; i++) {
        stars += cupel_lexer_is(tokens, i, "*");
        reference = reference || cupel_lexer_is(tokens, i, "&");
        constant = constant || (stars == 0 && cupel_lexer_is(tokens, i, "const"));
    }
    cupel_init_param *param = &kernel->params[kernel->param_count++];
    param->name = cupel_lexer_text(tokens, end - 1, kernel->file->arena);
    param->type = words(kernel, begin, end - 1, true);
    param->written = words(kernel, begin, end - 1, false);
    param->is_const = constant;
    param->vector = param->type ? vector_size(param->type) : 1;
    if (!param->name || !param->type || !param->written)
        return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    param->kind = kind_of(param->type, stars, reference);
    int t = cupel_init_kernel_template(kernel, param->type);
    if (param->kind == CUPEL_INIT_CLASS_OTHER && stars == 0 && !reference && t >= 0 &&
        kernel->templates[t].is_type)
        param->kind = CUPEL_INIT_CLASS_REAL; /* T alpha */
    return CUPEL_OK;
}

static cupel_code add_template(cupel_init_kernel *kernel, size_t begin, size_t end, cupel_error *err) {
    const cupel_tokens *tokens = tokens_of(kernel);
    if (begin >= end) return CUPEL_OK;
    if (kernel->template_count == CUPEL_INIT_TEMPLATE_MAX)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "%s has more than %d template parameters",
                          kernel->facts->name, CUPEL_INIT_TEMPLATE_MAX);
    cupel_init_template t = {0};
    size_t name = end - 1;
    for (size_t i = begin; i < end; i++) {
        t.is_bool = t.is_bool || cupel_lexer_is(tokens, i, "bool");
        if (!cupel_lexer_is(tokens, i, "=")) continue;
        name = i - 1;
        const cupel_init_tree *value = cupel_init_tree_read(tokens, i + 1, end, kernel->file->arena);
        t.value = value->op == '?' ? NULL : value;
        break;
    }
    t.is_type = cupel_lexer_is(tokens, begin, "class") || cupel_lexer_is(tokens, begin, "typename");
    t.name = cupel_lexer_text(tokens, name, kernel->file->arena);
    if (!t.name) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (t.is_type) t.value = NULL;
    kernel->templates[kernel->template_count++] = t;
    return CUPEL_OK;
}

/* Calls add for each part between commas at the top of tokens begin..end-1. */
static cupel_code split(cupel_init_kernel *kernel, size_t begin, size_t end,
                        cupel_code (*add)(cupel_init_kernel *, size_t, size_t, cupel_error *),
                        cupel_error *err) {
    const cupel_tokens *tokens = tokens_of(kernel);
    int depth = 0;
    size_t first = begin;
    for (size_t i = begin; i < end; i++) {
        depth += cupel_lexer_is(tokens, i, "(") || cupel_lexer_is(tokens, i, "<");
        depth -= cupel_lexer_is(tokens, i, ")") || cupel_lexer_is(tokens, i, ">");
        if (depth || !cupel_lexer_is(tokens, i, ",")) continue;
        CUPEL_TRY(add(kernel, first, i, err));
        first = i + 1;
    }
    return add(kernel, first, end, err);
}

cupel_code cupel_init_params_read(cupel_init_kernel *kernel, cupel_error *err) {
    const cupel_declaration *d = kernel->declaration;
    const cupel_structure *s = &kernel->file->structure;
    if (d->is_template && cupel_structure_is(s, d->begin + 1, "<")) {
        size_t close = cupel_structure_close_angle(s, d->begin + 1, d->end, s->depth[d->begin]);
        CUPEL_TRY(split(kernel, d->begin + 2, close - 1, add_template, err));
    }
    return split(kernel, d->params_begin + 1, d->params_end - 1, add_param, err);
}

cupel_code cupel_init_kernel_read(const cupel_init_file *file, int index, cupel_init_kernel **out,
                                  cupel_error *err) {
    cupel_init_kernel *kernel = cupel_arena_alloc(file->arena, sizeof *kernel);
    if (!kernel) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    kernel->file = file;
    kernel->facts = &file->source->kernels[index];
    int seen = 0;
    for (size_t i = 0; i < file->declarations.count; i++) {
        const cupel_declaration *d = &file->declarations.at[i];
        if (d->kind != CUPEL_DECLARATION_KERNEL || !d->body_end || seen++ != index) continue;
        kernel->declaration = d;
        break;
    }
    if (!kernel->declaration)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "%s was not found again", kernel->facts->name);
    CUPEL_TRY(cupel_init_params_read(kernel, err));
    cupel_init_body_read(kernel);
    cupel_init_accesses_read(kernel);
    cupel_init_launch_read(kernel);
    *out = kernel;
    return CUPEL_OK;
}
