#include "arguments.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* cupel_emu_param.kind */
enum { KIND_OTHER, KIND_POINTER, KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT, KIND_BOOL };

/* Element types that C++ spells as a class: what their name contains. */
static const char *class_name(cupel_dtype type) {
    switch (type) {
    case CUPEL_F16: return "half";
    case CUPEL_BF16: return "bf";
    case CUPEL_E4M3: return "e4m3";
    case CUPEL_E5M2: return "e5m2";
    default: return NULL;
    }
}

/* Is a C++ type of this kind, size and name the one that holds elements of type? */
static bool holds(uint32_t kind, uint32_t size, const char *name, cupel_dtype type) {
    const cupel_format *format = cupel_format_of(type);
    if (size != format->size) return false;
    if (class_name(type) != NULL)
        return (kind == KIND_FLOAT || kind == KIND_OTHER) && strstr(name, class_name(type)) != NULL;
    switch (format->kind) {
    case CUPEL_KIND_REAL: return kind == KIND_FLOAT;
    case CUPEL_KIND_SIGNED: return kind == KIND_SIGNED;
    case CUPEL_KIND_UNSIGNED: return kind == KIND_UNSIGNED;
    default: return kind == KIND_BOOL;
    }
}

static const char *spelled(const cupel_emu_param *param) {
    return param->type == NULL ? "?" : param->type;
}

/* Which real type does a scalar parameter hold? False for integers, pointers and structures. */
static bool real_type_of(const cupel_emu_param *param, cupel_dtype *out) {
    static const cupel_dtype reals[] = {CUPEL_F64, CUPEL_F32, CUPEL_F16, CUPEL_BF16, CUPEL_E4M3, CUPEL_E5M2};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *out = reals[i];
        if (holds(param->kind, param->size, spelled(param), reals[i])) return true;
    }
    return false;
}

/* Vector types of CUDA by the kind and size of their elements: "float4", "uint2", "half2", .. */
static bool vector_of(const char *type, cupel_dtype element, bool *is_vector) {
    static const struct {
        const char *stem;
        cupel_dtype element;
    } stems[] = {{"float", CUPEL_F32},     {"double", CUPEL_F64}, {"int", CUPEL_I32},
                 {"uint", CUPEL_U32},      {"short", CUPEL_I16},  {"ushort", CUPEL_U16},
                 {"char", CUPEL_I8},       {"uchar", CUPEL_U8},   {"longlong", CUPEL_I64},
                 {"ulonglong", CUPEL_U64}, {"long", CUPEL_I64},   {"ulong", CUPEL_U64},
                 {"half", CUPEL_F16},      {"__half", CUPEL_F16}, {"__nv_bfloat16", CUPEL_BF16}};
    if (strncmp(type, "const ", 6) == 0) type += 6;
    size_t length = strcspn(type, " *");
    *is_vector = strncmp(type, "__nv_fp8x", 9) == 0;
    if (*is_vector) return strncmp(type + length - 4, cupel_format_of(element)->name, 4) == 0;
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        size_t stem = strlen(stems[i].stem);
        if (length != stem + 1 || strncmp(type, stems[i].stem, stem) != 0 ||
            strchr("1234", type[stem]) == NULL)
            continue;
        *is_vector = true;
        if (stems[i].element == element) return true;
    }
    return false;
}

/* May a pointer to the parameter's pointee be given the address of elements of type? Structures that we do
 * not know may. */
static bool pointee_fits(const cupel_emu_param *param, cupel_dtype type) {
    if (param->pointee == 0) return true; /* void */
    if (holds(param->pointee_kind, param->pointee, spelled(param), type)) return true;
    if (param->pointee_kind != KIND_OTHER) return false;
    bool is_vector;
    if (vector_of(spelled(param), type, &is_vector)) return true;
    cupel_dtype real;
    cupel_emu_param element = {.kind = KIND_OTHER, .size = param->pointee, .type = spelled(param)};
    return !is_vector && !real_type_of(&element, &real);
}

/* Scratch has no values of its own: counters of the other signedness may stand in it. */
static bool counters_fit(const cupel_tensor_decl *tensor, const cupel_emu_param *param, cupel_dtype type) {
    const cupel_format *format = cupel_format_of(type);
    const bool integers = (param->pointee_kind == KIND_SIGNED || param->pointee_kind == KIND_UNSIGNED) &&
                          (format->kind == CUPEL_KIND_SIGNED || format->kind == CUPEL_KIND_UNSIGNED);
    return tensor->roles == CUPEL_ROLE_SCRATCH && integers && param->pointee == format->size;
}

static bool integer_fits(int64_t value, const cupel_emu_param *param) {
    uint32_t bits = 8 * param->size;
    if (param->kind == KIND_BOOL) return value == 0 || value == 1;
    if (param->kind == KIND_SIGNED)
        return bits >= 64 || (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
    return value >= 0 && (bits >= 64 || value < INT64_C(1) << bits);
}

/* A dim at its upper end: no case is that large, as a rule, but the contract claims it. */
static cupel_code check_end(const cupel_binding *binding, int dim, const cupel_launch_arg *arg,
                            const cupel_emu_param *param, int number, cupel_error *err) {
    cupel_binding end = *binding;
    cupel_scalar value;
    end.dims[dim] = binding->contract->dims[dim].hi;
    if (!cupel_binding_legal(&end) || cupel_binding_complete(&end, NULL) != CUPEL_OK ||
        cupel_binding_scalar(&end, arg->expr, NULL, &value, NULL) != CUPEL_OK || value.real ||
        integer_fits(value.i, param))
        return CUPEL_OK;
    return cupel_fail_span(err, CUPEL_MISMATCH, arg->place,
                           "argument %d: for %s = %" PRId64 ", which the contract claims, the value %" PRId64
                           " does not fit the kernel's parameter of type %s",
                           number, binding->contract->dims[dim].name, end.dims[dim], value.i, spelled(param));
}

static cupel_code check_scalar(const cupel_binding *binding, const cupel_launch_arg *arg,
                               const cupel_emu_param *param, int number, cupel_error *err) {
    if (param->kind == KIND_POINTER)
        return cupel_fail_span(
            err, CUPEL_MISMATCH, arg->place,
            "argument %d: expected a tensor for the kernel's parameter of type %s, found a number", number,
            spelled(param));
    cupel_dtype real;
    if (param->kind == KIND_OTHER && !real_type_of(param, &real))
        return cupel_fail_span(
            err, CUPEL_MISMATCH, arg->place,
            "argument %d: the kernel's parameter has the type %s, which a contract cannot pass", number,
            spelled(param));
    for (int d = 0; d < binding->contract->dim_count && !real_type_of(param, &real); d++)
        CUPEL_TRY(check_end(binding, d, arg, param, number, err));
    if (!arg->typed) return CUPEL_OK;
    cupel_dtype type =
        arg->type_variable < 0
            ? arg->type
            : binding->contract->types[arg->type_variable].claimed[binding->types[arg->type_variable]];
    if (!holds(param->kind, param->size, spelled(param), type))
        return cupel_fail_span(err, CUPEL_MISMATCH, arg->place,
                               "argument %d: stated as %s, the kernel's parameter has the type %s", number,
                               cupel_format_of(type)->name, spelled(param));
    return CUPEL_OK;
}

static cupel_code check_argument(const cupel_binding *binding, const cupel_launch_arg *arg,
                                 const cupel_emu_param *param, int number, cupel_error *err) {
    if (arg->kind == CUPEL_ARG_SCALAR) return check_scalar(binding, arg, param, number, err);
    if (param->kind != KIND_POINTER)
        return cupel_fail_span(err, CUPEL_MISMATCH, arg->place,
                               "argument %d: the kernel's parameter has the type %s, expected a pointer",
                               number, spelled(param));
    if (arg->kind == CUPEL_ARG_NULL) return CUPEL_OK;
    const cupel_tensor_decl *tensor = &binding->contract->tensors[arg->tensor];
    cupel_dtype type = cupel_binding_type(binding, arg->tensor);
    if (!pointee_fits(param, type) && !counters_fit(tensor, param, type))
        return cupel_fail_span(err, CUPEL_MISMATCH, arg->place,
                               "argument %d: tensor '%s' holds %s, the kernel's parameter has the type %s",
                               number, tensor->name, cupel_format_of(type)->name, spelled(param));
    return CUPEL_OK;
}

cupel_code cupel_arguments_check(const cupel_binding *binding, const cupel_launch *launch,
                                 const cupel_emu_kernel *kernel, cupel_error *err) {
    if ((uint32_t)launch->arg_count != kernel->param_count)
        return cupel_fail_span(err, CUPEL_MISMATCH, launch->place,
                               "%s takes %u arguments, the contract gives %d", kernel->entry,
                               kernel->param_count, launch->arg_count);
    for (int i = 0; i < launch->arg_count; i++)
        CUPEL_TRY(check_argument(binding, &launch->args[i], &kernel->params[i], i + 1, err));
    return CUPEL_OK;
}

static cupel_code does_not_fit(const cupel_launch_arg *arg, const cupel_emu_param *param,
                               const cupel_scalar *value, cupel_error *err) {
    if (value->real)
        return cupel_fail_span(err, CUPEL_MISMATCH, arg->place,
                               "the value %g does not fit the kernel's parameter of type %s", value->d,
                               spelled(param));
    return cupel_fail_span(err, CUPEL_MISMATCH, arg->place,
                           "the value %lld does not fit the kernel's parameter of type %s",
                           (long long)value->i, spelled(param));
}

static bool real_fits(double value, cupel_dtype type) {
    return !isfinite(value) || isfinite(cupel_round(type, value));
}

static cupel_code store_real(const cupel_launch_arg *arg, const cupel_emu_param *param,
                             const cupel_scalar *value, cupel_dtype type, unsigned char *to,
                             cupel_error *err) {
    double real = value->real ? value->d : (double)value->i;
    if (!real_fits(real, type)) return does_not_fit(arg, param, value, err);
    /* an untyped param is a float to the oracle; a narrower one must be stated, or the two would differ */
    if (!arg->typed && type != CUPEL_F64 && type != CUPEL_F32 && isfinite(real) &&
        cupel_round(type, real) != real)
        return cupel_fail_span(
            err, CUPEL_MISMATCH, arg->place,
            "expected a stated type, {%.*s: %s}, for the kernel's parameter of type %s, which rounds %g",
            (int)arg->place.length, arg->place.text, cupel_format_of(type)->name, spelled(param), real);
    cupel_encode(type, real, to);
    return CUPEL_OK;
}

static cupel_code store_scalar(const cupel_case *c, const cupel_launch_arg *arg, const cupel_emu_param *param,
                               unsigned char *to, cupel_error *err) {
    cupel_scalar value;
    CUPEL_TRY(cupel_binding_scalar(&c->binding, arg->expr, c->strides, &value, err));
    cupel_dtype real;
    if (real_type_of(param, &real)) return store_real(arg, param, &value, real, to, err);
    int64_t integer = value.i;
    if (value.real) { /* a real with an integral value may be passed as an integer */
        if (!(fabs(value.d) < 9.2e18) || value.d != floor(value.d))
            return does_not_fit(arg, param, &value, err);
        integer = (int64_t)value.d;
    }
    if (!integer_fits(integer, param)) return does_not_fit(arg, param, &value, err);
    memcpy(to, &integer, param->size); /* little endian */
    return CUPEL_OK;
}

cupel_code cupel_arguments_evaluate(const cupel_case *c, const cupel_launch *launch,
                                    const cupel_emu_kernel *kernel, const cupel_guarded *guarded,
                                    cupel_arguments *out, cupel_error *err) {
    for (int i = 0; i < launch->arg_count; i++) {
        const cupel_launch_arg *arg = &launch->args[i];
        unsigned char *to = out->values[i];
        out->pointers[i] = to;
        if (arg->kind == CUPEL_ARG_SCALAR) {
            CUPEL_TRY(store_scalar(c, arg, &kernel->params[i], to, err));
            continue;
        }
        void *pointer = arg->kind == CUPEL_ARG_TENSOR ? cupel_guarded_tensor(guarded, c, arg->tensor) : NULL;
        memcpy(to, &pointer, sizeof pointer);
    }
    return CUPEL_OK;
}
