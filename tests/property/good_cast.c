/* Casts to every type, inside an expression and by the output's own type. */
#include <string.h>

#include "good_kernels.h"

static void real_inputs(property_problem *p) {
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

/* The type that the expression casts to. */
static cupel_dtype target_of(const property_problem *p) {
    char name[8];
    cupel_dtype type = CUPEL_F32;
    const char *comma = strrchr(p->expression, ',');
    size_t length = strcspn(comma + 2, ")");
    memcpy(name, comma + 2, length);
    name[length] = 0;
    cupel_dtype_parse(name, &type);
    return type;
}

/* fp8 saturates (CUDA's constructors) or does not (PyTorch). */
static void to_fp8(property_problem *p, int form, double *results) {
    const cupel_dtype type = target_of(p);
    const double largest = cupel_format_largest(type);
    for (int64_t e = 0; e < p->count; e++) {
        const double x = (float)p->inputs[0].values[e], rounded = cupel_round(type, x);
        const bool beyond = !isnan(x) && !(fabs(rounded) <= largest);
        results[e] = !beyond ? rounded : form ? copysign(largest, x) : type == CUPEL_E4M3 ? NAN : rounded;
    }
}

/* Towards zero; what does not fit is anything. */
static void to_integer(property_problem *p, int form, double *results) {
    const cupel_dtype type = target_of(p);
    const bool has_sign = cupel_format_of(type)->kind == CUPEL_KIND_SIGNED;
    const double top = ldexp(1, (int)cupel_format_of(type)->size * 8 - has_sign),
                 bottom = has_sign ? -top : 0;
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const double x = trunc((float)p->inputs[0].values[e]);
        results[e] = x >= bottom && x < top ? x : 0;
    }
}

/* Integers to a narrower type wrap. */
static void whole_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "x", 2, p->m, p->n), -40000, 40000);
    p->type = type;
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void narrowed(property_problem *p, int form, double *results) {
    const cupel_dtype type = target_of(p);
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const int32_t x = (int32_t)p->inputs[0].values[e];
        results[e] = type == CUPEL_I8    ? (int8_t)x
                     : type == CUPEL_U8  ? (uint8_t)x
                     : type == CUPEL_I16 ? (int16_t)x
                                         : (uint16_t)x;
    }
}

static void to_half(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = cupel_round(target_of(p), (float)(int32_t)p->inputs[0].values[e]);
}

/* A product that goes to an output of any type: rounded once, in single precision, before. */
static void any_output(property_problem *p) {
    static const cupel_dtype types[] = {CUPEL_F32, CUPEL_F16, CUPEL_BF16, CUPEL_E4M3, CUPEL_E5M2, CUPEL_I8,
                                        CUPEL_U8,  CUPEL_I16, CUPEL_U16,  CUPEL_I32,  CUPEL_U32};
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    property_fill_any(p, property_add(p, "w", 2, p->m, p->n));
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
    p->type = types[cupel_random_below(&p->random, 11)];
}

static void product(property_problem *p, int form, double *results) {
    const bool real = cupel_format_of(p->type)->kind == CUPEL_KIND_REAL;
    (void)form;
    for (int64_t e = 0; e < p->count; e++) {
        const float y = (float)p->inputs[0].values[e] * (float)p->inputs[1].values[e];
        results[e] = real ? y : fabsf(y) < 0x1p32f ? truncf(y) : 0;
    }
}

#define ROW(expression, forms, shadow, inputs, output)                                                       \
    { expression, expression, 0, PROPERTY_OWN, forms, shadow, NULL, inputs, output }
static const property_operator rows[] = {
    ROW("cast(x, e4m3)", 2, to_fp8, real_inputs, CUPEL_F32),
    ROW("cast(x, e5m2)", 2, to_fp8, real_inputs, CUPEL_F32),
    ROW("cast(x, i8)", 1, to_integer, real_inputs, CUPEL_I8),
    ROW("cast(x, u8)", 1, to_integer, real_inputs, CUPEL_U8),
    ROW("cast(x, i16)", 1, to_integer, real_inputs, CUPEL_I16),
    ROW("cast(x, u16)", 1, to_integer, real_inputs, CUPEL_U16),
    ROW("cast(x, u32)", 1, to_integer, real_inputs, CUPEL_U32),
    ROW("cast(x, i64)", 1, to_integer, real_inputs, CUPEL_I64),
    ROW("cast(x, u64)", 1, to_integer, real_inputs, CUPEL_U64),
    {"cast(integer, i8)", "cast(x, i8)", 0, PROPERTY_OWN, 1, narrowed, NULL, whole_inputs, CUPEL_I8},
    {"cast(integer, u8)", "cast(x, u8)", 0, PROPERTY_OWN, 1, narrowed, NULL, whole_inputs, CUPEL_U8},
    {"cast(integer, i16)", "cast(x, i16)", 0, PROPERTY_OWN, 1, narrowed, NULL, whole_inputs, CUPEL_I16},
    {"cast(integer, u16)", "cast(x, u16)", 0, PROPERTY_OWN, 1, narrowed, NULL, whole_inputs, CUPEL_U16},
    {"cast(integer, f16)", "cast(x, f16)", 0, PROPERTY_OWN, 1, to_half, NULL, whole_inputs, CUPEL_F32},
    {"cast(integer, bf16)", "cast(x, bf16)", 0, PROPERTY_OWN, 1, to_half, NULL, whole_inputs, CUPEL_F32},
    {"x * w to any type", "x * w", 0, PROPERTY_OWN, 1, product, NULL, any_output, 0},
};
const property_family property_cast = {"cast", rows, sizeof rows / sizeof *rows};
