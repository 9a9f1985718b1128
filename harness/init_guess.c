#include "init_guess.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *say(const cupel_guess *guess, const char *text) {
    const char *copy = cupel_arena_text(guess->kernel->file->arena, text, strlen(text));
    return copy ? copy : "";
}

static const struct type_name {
    const char *written, *type;
} type_names[] = {{"float", "f32"},
                  {"double", "f64"},
                  {"half", "f16"},
                  {"__half", "f16"},
                  {"__nv_bfloat16", "bf16"},
                  {"nv_bfloat16", "bf16"},
                  {"int", "i32"},
                  {"int32_t", "i32"},
                  {"unsigned int", "u32"},
                  {"unsigned", "u32"},
                  {"uint32_t", "u32"},
                  {"uint", "u32"},
                  {"long long", "i64"},
                  {"int64_t", "i64"},
                  {"long", "i64"},
                  {"char", "i8"},
                  {"signed char", "i8"},
                  {"int8_t", "i8"},
                  {"unsigned char", "u8"},
                  {"uint8_t", "u8"},
                  {"bool", "bool"},
                  {"float4", "f32"},
                  {"float2", "f32"},
                  {"half2", "f16"},
                  {"__half2", "f16"},
                  {"int4", "i32"},
                  {"int2", "i32"},
                  {"__nv_bfloat162", "bf16"},
                  {"nv_bfloat162", "bf16"},
                  {"double2", "f64"},
                  {"unsigned long long", "u64"},
                  {"size_t", "u64"},
                  {"uint64_t", "u64"},
                  {"short", "i16"},
                  {"int16_t", "i16"},
                  {"unsigned short", "u16"},
                  {"uint16_t", "u16"},
                  {"__nv_fp8_e4m3", "e4m3"},
                  {"__nv_fp8_e5m2", "e5m2"},
                  {"__nv_fp8x2_e4m3", "e4m3"},
                  {"__nv_fp8x4_e4m3", "e4m3"},
                  {"__nv_fp8x2_e5m2", "e5m2"},
                  {"__nv_fp8x4_e5m2", "e5m2"},
                  {"char4", "i8"},
                  {"char2", "i8"},
                  {"uchar4", "u8"},
                  {"uchar2", "u8"},
                  {"short4", "i16"},
                  {"short2", "i16"},
                  {"ushort4", "u16"},
                  {"ushort2", "u16"},
                  {"uint4", "u32"},
                  {"uint2", "u32"},
                  {"longlong2", "i64"},
                  {"ulonglong2", "u64"}};

static const char *element_type(const char *written) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (strcmp(type_names[i].written, written) == 0) return type_names[i].type;
    return NULL;
}

/* A type that the file gives another name: typedef float real; using real = float; #define real float */
static const char *renamed_type(const cupel_init_file *file, const char *written) {
    const cupel_tokens *tokens = &file->structure.tokens;
    for (size_t i = 1; i + 2 < tokens->count; i++) {
        if (!cupel_lexer_is(tokens, i, written)) continue;
        bool alias = cupel_lexer_is(tokens, i - 1, "using") && cupel_lexer_is(tokens, i + 1, "=");
        bool old = i > 1 && cupel_lexer_is(tokens, i - 2, "typedef");
        const char *name = alias || old ? cupel_lexer_text(tokens, alias ? i + 2 : i - 1, file->arena) : NULL;
        if (name && element_type(name)) return element_type(name);
    }
    const cupel_init_tree *macro = cupel_init_file_constant(file, written);
    return macro && macro->op == 'n' ? element_type(macro->name) : NULL;
}

static const char *type_of(const cupel_guess *guess, const cupel_init_param *param) {
    int t = cupel_init_kernel_template(guess->kernel, param->type);
    if (t >= 0 && guess->kernel->templates[t].is_type) return guess->type_variable;
    const char *type = element_type(param->type);
    return type ? type : renamed_type(guess->kernel->file, param->type);
}

static bool is_float(const cupel_guess *guess, const char *type) {
    return (guess->type_variable && strcmp(type, guess->type_variable) == 0) || type[0] == 'f' ||
           type[0] == 'e' || strncmp(type, "bf", 2) == 0;
}

/* --- types --- */

static bool mentions_half(const cupel_init_file *file) {
    static const char *const words[] = {"half", "__half", "float16", "AT_DISPATCH_FLOATING_TYPES_AND_HALF"};
    for (size_t i = 0; i < file->structure.tokens.count; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (cupel_lexer_is(&file->structure.tokens, i, words[k])) return true;
    return false;
}

static void guess_types(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    for (int t = 0; t < kernel->template_count && !guess->type_variable; t++) {
        const cupel_init_template *variable = &kernel->templates[t];
        bool used = false;
        for (int p = 0; p < kernel->param_count; p++)
            used = used || strcmp(kernel->params[p].type, variable->name) == 0;
        if (!variable->is_type || !used) continue;
        guess->type_variable = variable->name;
        char list[64] = "";
        size_t length = 0;
        for (int i = 0; i < variable->type_count; i++) {
            const char *type = element_type(variable->types[i]);
            if (type && strcmp(type, "f64") != 0 && length < 40)
                length +=
                    (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", type);
        }
        guess->types_why = length ? "the types that host code launches it with"
                           : kernel->template_arithmetic
                               ? "sums are kept in it, so f32 alone; with f16 say accumulate: f16 as well"
                           : mentions_half(kernel->file)
                               ? "a template, and the file speaks of half"
                               : "a template; add f16, bf16, f64 if it is meant for them";
        guess->types = length                                                        ? say(guess, list)
                       : !kernel->template_arithmetic && mentions_half(kernel->file) ? "f32, f16"
                                                                                     : "f32";
    }
    if (kernel->half_arithmetic) guess->accumulate_why = "it does arithmetic in half";
    for (int p = 0; p < kernel->param_count && kernel->half_arithmetic && !guess->accumulate; p++) {
        const char *type =
            kernel->params[p].kind == CUPEL_INIT_CLASS_POINTER ? type_of(guess, &kernel->params[p]) : NULL;
        if (type && (strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0)) guess->accumulate = type;
    }
}

/* --- tensors --- */

typedef struct traffic {
    bool reads, writes, atomics, reads_first;
} traffic;

static traffic traffic_of(const cupel_init_kernel *kernel, int param) {
    traffic t = {0};
    size_t read = (size_t)-1, write = (size_t)-1;
    for (int i = 0; i < kernel->access_count; i++) {
        const cupel_init_access *a = &kernel->accesses[i];
        if (a->param != param) continue;
        t.reads = t.reads || a->use & CUPEL_INIT_READ;
        t.writes = t.writes || a->use & CUPEL_INIT_WRITE;
        t.atomics = t.atomics || a->use & CUPEL_INIT_ATOMIC;
        if (a->use & CUPEL_INIT_READ && a->order < read) read = a->order;
        if (a->use & CUPEL_INIT_WRITE && a->order < write) write = a->order;
    }
    t.reads_first = t.reads && read < write;
    return t;
}

static bool sounds_like_output(const char *name) {
    char lower[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    return strstr(lower, "out") || strstr(lower, "dst") || strstr(lower, "res") || strstr(lower, "dest") ||
           strcmp(lower, "y") == 0 || strcmp(lower, "c") == 0 || strcmp(lower, "d_c") == 0;
}

static void guess_role(const cupel_guess *guess, cupel_guess_tensor *tensor) {
    const cupel_init_param *param = &guess->kernel->params[tensor->param];
    traffic t = traffic_of(guess->kernel, tensor->param);
    tensor->role = CUPEL_GUESS_INPUT;
    if (param->is_const)
        tensor->why = "a pointer to const: only read";
    else if (t.atomics && !t.writes)
        tensor->role = CUPEL_GUESS_OUTPUT, tensor->conditions = ", init: 0",
        tensor->why = "atomics update it; init: 0 says that the launcher clears it";
    else if (t.writes && t.reads_first)
        tensor->role = CUPEL_GUESS_BOTH, tensor->why = "read, then written: updated in place";
    else if (t.writes)
        tensor->role = CUPEL_GUESS_OUTPUT, tensor->why = "written";
    else if (!t.reads || sounds_like_output(param->name))
        tensor->role = sounds_like_output(param->name) ? CUPEL_GUESS_OUTPUT : CUPEL_GUESS_INPUT,
        tensor->why = "by its name: the body hands it on";
    else
        tensor->why = "only read";
    if (!tensor->why) tensor->why = "";
}

/* Is the tensor an index into another: table[ids[i]]? */
static bool is_index(const cupel_guess *guess, const cupel_guess_tensor *tensor) {
    if (strcmp(tensor->type, "i32") != 0 && strcmp(tensor->type, "i64") != 0) return false;
    for (int t = 0; t < guess->tensor_count; t++)
        if (is_float(guess, guess->tensors[t].type)) return true;
    return false;
}

/* Of bytes and booleans every value is ordinary. */
static const char *integer_range(const char *type) {
    if (strcmp(type, "i8") == 0 || strcmp(type, "u8") == 0 || strcmp(type, "bool") == 0) return "";
    return type[0] == 'u' ? ", range: [0, 1000]" : ", range: [-1000, 1000]";
}

static void guess_conditions(const cupel_guess *guess, cupel_guess_tensor *tensor) {
    if (!(tensor->role & CUPEL_GUESS_INPUT)) return;
    if (is_float(guess, tensor->type))
        tensor->conditions = ", finite: true";
    else if (is_index(guess, tensor))
        tensor->conditions = ", below: " CUPEL_GUESS_PLACEHOLDER;
    else
        tensor->conditions = integer_range(tensor->type);
}

static cupel_code guess_tensors(cupel_guess *guess, cupel_error *err) {
    const cupel_init_kernel *kernel = guess->kernel;
    int outputs = 0;
    for (int p = 0; p < kernel->param_count; p++) {
        if (kernel->params[p].kind != CUPEL_INIT_CLASS_POINTER) continue;
        cupel_guess_tensor *tensor = &guess->tensors[guess->tensor_count++];
        *tensor = (cupel_guess_tensor){.name = kernel->params[p].name, .param = p, .conditions = ""};
        tensor->type = type_of(guess, &kernel->params[p]);
        if (!tensor->type) tensor->type = CUPEL_GUESS_PLACEHOLDER;
        guess_role(guess, tensor);
        if (tensor->role & CUPEL_GUESS_OUTPUT && kernel->params[p].optional) {
            guess->tensor_count--; /* the kernel does without it: null is passed */
            guess->null_params |= UINT64_C(1) << p;
            continue;
        }
        outputs += (tensor->role & CUPEL_GUESS_OUTPUT) != 0;
    }
    if (guess->tensor_count == 0)
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "%s:%d: the kernel %s has no pointer parameter, so there is no "
                          "output that a contract could speak of",
                          kernel->facts->file, kernel->facts->line, kernel->facts->name);
    for (int t = guess->tensor_count; t-- > 0 && outputs == 0;)
        if (!kernel->params[guess->tensors[t].param].is_const) {
            guess->tensors[t].role = CUPEL_GUESS_OUTPUT;
            guess->tensors[t].why = "no store was found; the last pointer that is not const";
            outputs++;
        }
    for (int t = 0; t < guess->tensor_count; t++) guess_conditions(guess, &guess->tensors[t]);
    return CUPEL_OK;
}

/* A shape for a tensor whose indices said nothing: to be filled in, with that of another as a proposal. */
static void borrow_shape(cupel_guess *guess, cupel_guess_tensor *tensor) {
    tensor->open = true;
    tensor->rank = 1;
    tensor->shape[0] = cupel_init_tree_name(CUPEL_GUESS_PLACEHOLDER, guess->kernel->file->arena);
    tensor->why = "its index was not understood: fill in the shape";
    for (int t = 0; t < guess->tensor_count; t++) {
        const cupel_guess_tensor *other = &guess->tensors[t];
        if (other->open || other->rank < 0) continue;
        tensor->rank = other->rank;
        memcpy(tensor->shape, other->shape, sizeof tensor->shape);
        tensor->why = cupel_arena_printf(guess->kernel->file->arena,
                                         "its index was not understood: fill in the shape; is it that of %s?",
                                         other->name);
        return;
    }
}

static void guess_shapes(cupel_guess *guess) {
    for (int t = 0; t < guess->tensor_count; t++)
        guess->tensors[t].rank = cupel_guess_shape(guess, guess->tensors[t].param, guess->tensors[t].shape);
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].rank < 0) guess->tensors[t].open = true;
    for (int t = 0; t < guess->tensor_count; t++)
        if (guess->tensors[t].open) borrow_shape(guess, &guess->tensors[t]);
    for (int t = 0; t < guess->tensor_count; t++)
        if (!guess->tensors[t].why) guess->tensors[t].why = "";
}

/* --- scalars --- */

static const struct usual {
    const char *part, *value, *why;
} usual[] = {{"eps", "1e-5", "the usual value"},
             {"negative_slope", "0.01", "the usual value"},
             {"slope", "0.01", "the usual value"},
             {"alpha", "{range: [-2, 2]}", "a factor"},
             {"beta", "{range: [-2, 2]}", "a factor"},
             {"min", "-1", "a bound"},
             {"lo", "-1", "a bound"},
             {"max", "1", "a bound"},
             {"hi", "1", "a bound"}};

static void guess_scalars(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    for (int p = 0; p < kernel->param_count; p++) {
        const cupel_init_param *param = &kernel->params[p];
        if (param->kind == CUPEL_INIT_CLASS_POINTER || param->kind == CUPEL_INIT_CLASS_OTHER) continue;
        if (param->kind == CUPEL_INIT_CLASS_INTEGER && cupel_guess_dim_find(guess, param->name) >= 0)
            continue;
        cupel_guess_scalar *scalar = &guess->scalars[guess->scalar_count++];
        *scalar = (cupel_guess_scalar){param->name, "{range: [-2, 2]}", "a real number"};
        if (param->kind == CUPEL_INIT_CLASS_BOOL)
            *scalar = (cupel_guess_scalar){param->name, "{one_of: [0, 1]}", "a flag"};
        if (param->kind == CUPEL_INIT_CLASS_INTEGER)
            *scalar = (cupel_guess_scalar){param->name, "{one_of: [0, 1]}",
                                           "an integer that bounds no index; is it a flag?"};
        for (size_t u = 0; u < sizeof usual / sizeof *usual && param->kind == CUPEL_INIT_CLASS_REAL; u++)
            if (strstr(param->name, usual[u].part)) {
                scalar->value = usual[u].value, scalar->why = usual[u].why;
                break;
            }
    }
}

/* --- names --- */

/* vectorAdd, vector_add_kernel: "vector-add". */
static const char *id_of(const cupel_guess *guess) {
    char id[80];
    size_t used = 0;
    const char *name = guess->kernel->declaration->name;
    for (size_t i = 0; name[i] && used + 2 < sizeof id; i++) {
        unsigned char c = (unsigned char)name[i];
        bool hump = isupper(c) && i > 0 &&
                    (islower((unsigned char)name[i - 1]) || isdigit((unsigned char)name[i - 1]));
        bool mark = c == '_';
        if ((hump || mark) && used && id[used - 1] != '-') id[used++] = '-';
        if (!mark) id[used++] = (char)tolower(c);
    }
    while (used && id[used - 1] == '-') used--;
    id[used] = '\0';
    return say(guess, used ? id : "kernel");
}

static void guess_entry(cupel_guess *guess) {
    const cupel_init_kernel *kernel = guess->kernel;
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%.120s", kernel->facts->name);
    guess->entry_why = "";
    for (int t = 0; t < kernel->template_count && used < 200; t++) {
        const cupel_init_template *variable = &kernel->templates[t];
        used += (size_t)snprintf(text + used, sizeof text - used, t ? ", " : "<");
        if (variable->is_type && guess->type_variable && strcmp(variable->name, guess->type_variable) == 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "$%s", variable->name);
        } else if (variable->is_type) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     variable->type_count ? variable->types[0] : "float");
            guess->entry_why = "a type of the template that is no tensor's";
        } else if (variable->value) {
            const cupel_init_tree *value = cupel_init_tree_resolve(variable->value, cupel_init_kernel_value,
                                                                   kernel, kernel->file->arena);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     cupel_init_tree_text(value, kernel->file->arena));
            guess->entry_why = "template arguments as launched, or their defaults";
        } else {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     variable->is_bool        ? "false"
                                     : kernel->block_axes > 1 ? "16"
                                                              : "256");
            guess->entry_why = "no launch says what the template's numbers are";
        }
    }
    if (kernel->template_count) snprintf(text + used, sizeof text - used, ">");
    guess->entry = say(guess, text);
}

cupel_code cupel_guess_make(const cupel_init_kernel *kernel, cupel_guess *out, cupel_error *err) {
    *out = (cupel_guess){.kernel = kernel};
    out->id = id_of(out);
    guess_types(out);
    CUPEL_TRY(guess_tensors(out, err));
    cupel_guess_block(out);
    guess_shapes(out);
    cupel_guess_launch(out);
    cupel_guess_dims(out);
    guess_scalars(out);
    guess_entry(out);
    cupel_guess_postcondition(out);
    return CUPEL_OK;
}
