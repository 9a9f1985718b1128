/* Arithmetic, powers, remainders, extrema, choices and casts. */
#include "good_kernels.h"

#define SCALAR(name)                                                                                         \
    static float name(property_problem *p, int form, float x, float w, float b);                             \
    static float name(property_problem *p, int form, float x, float w, float b)
#define UNUSED (void)p, (void)form, (void)x, (void)w, (void)b
#define PLAIN(name, result)                                                                                  \
    SCALAR(name) {                                                                                           \
        UNUSED;                                                                                              \
        return result;                                                                                       \
    }
PLAIN(add, x + w)
PLAIN(subtract, x - w)
PLAIN(multiply, x *w)
PLAIN(divide, form && p->rules.fast_math ? property_divide(x, w, 4, &p->random) : good_divide(p, x, w))
PLAIN(multiply_add, form % 2 ? fmaf(x, w, b) : x * w + b)
PLAIN(product3, form % 3 == 0 ? x * w * b : form % 3 == 1 ? x * (w * b) : (x * b) * w)
PLAIN(quotient3, form % 3 == 0 ? x * w / b : form % 3 == 1 ? x * (w / b) : x * w * (1.0f / b))
PLAIN(divide_twice, form % 2 ? x / (w * b) : x / w / b)
PLAIN(square, x *x)
PLAIN(cube, form % 2 ? x * (x * x) : x * x * x)
PLAIN(power_half, good_sqrt(p, x))
PLAIN(power_minus_half, good_rsqrt(p, x))
PLAIN(power_minus_one, good_divide(p, 1, x))
PLAIN(power_minus_two, form % 2 ? good_divide(p, 1, x *x) : good_divide(p, good_divide(p, 1, x), x))
PLAIN(maximum, isnan(x) || isnan(w) ? NAN : x > w ? x : w)
PLAIN(minimum, isnan(x) || isnan(w) ? NAN : x < w ? x : w)
PLAIN(fmax_, fmaxf(x, w))
PLAIN(fmin_, fminf(x, w))
PLAIN(choose, x > w ? x : b)
PLAIN(choose_function, x <= w ? good_exp(p, x) : b)
PLAIN(clamp, isnan(x) ? x : fminf(fmaxf(x, -1), 1.5f))
PLAIN(clamp_by, isnan(x) || isnan(w) || isnan(b) ? NAN : fminf(fmaxf(x, w), b))
PLAIN(less, x < w)
PLAIN(equal, x == w)
PLAIN(both, x < w && !(x == b))
PLAIN(squared_difference, (x - w) * (x - w))
PLAIN(lerp, form % 2 ? fmaf(b, w - x, x) : x + b * (w - x))

/* powf at its published maximum; exp2(y log2(x)) by the hardware, for a positive base. */
static float power(property_problem *p, int form, float x, float y) {
    const double exact = pow((double)x, (double)y);
    if (form % 3 == 0 || (isinf(y) && x < 0)) return (float)exact; /* (-1) ** inf is 1 */
    if (form % 3 == 1 || !p->rules.fast_math || !(x > 0) || !isfinite(x))
        return x == 1 || y == 0 ? 1 : property_edge(exact, 8, 0, &p->random);
    const bool near = x >= 0.5f && x <= 2;
    const float logarithm = property_edge(log2((double)x), near ? 0 : 2, near ? 0x1p-22 : 0, &p->random);
    return property_edge(exp2((double)(y * logarithm)), 2, 0, &p->random);
}

PLAIN(pow_, power(p, form, x, w))
PLAIN(power_five_halves, form == 3 && x >= 0 ? x * x * sqrtf(x) : power(p, form % 3, x, 2.5f))
PLAIN(power_five, form == 3 ? x * x * (x * x) * x : power(p, form, x, 5))
PLAIN(two_to, form == 3 ? exp2f(x) : power(p, form, 2, x))
PLAIN(exponent_third, power(p, form, x, 1.0f / 3.0f))

PLAIN(fmod_, fmodf(x, w))

/* Python's remainder from fmod, as PyTorch has it. */
SCALAR(remainder_) {
    UNUSED;
    const float r = fmodf(x, w);
    return r != 0 && (r < 0) != (w < 0) ? r + w : r;
}

SCALAR(atan2_) {
    UNUSED;
    const double exact = atan2((double)x, (double)w);
    return form == 0 ? (float)exact : property_edge(exact, 3, 0, &p->random);
}

static float cast_to(cupel_dtype type, float x) {
    return (float)cupel_round(type, x);
}
PLAIN(cast_f16, cast_to(CUPEL_F16, x))
PLAIN(cast_bf16, cast_to(CUPEL_BF16, x))
PLAIN(cast_product, form % 2 ? cast_to(CUPEL_F16, x *w) * 3.0f : 3.0f * cast_to(CUPEL_F16, x *w))
PLAIN(cast_i32, truncf(x))
PLAIN(cast_back, fabsf(x) < 0x1p31f ? (float)(int32_t)x : 0)

/* ---- integers of 32 bits ---- */

static void integer_inputs(property_problem *p) {
    const int64_t top = cupel_random_below(&p->random, 2) ? 9 : 30000;
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "i", 2, p->m, p->n), -top, top);
    property_fill_integers(p, property_add(p, "j", 2, p->m, p->n), -top, top);
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

#define INTEGERS(name, result)                                                                               \
    static void name(property_problem *p, int form, double *results) {                                       \
        (void)form;                                                                                          \
        for (int64_t e = 0; e < p->count; e++) {                                                             \
            const int32_t i = (int32_t)p->inputs[0].values[e], j = (int32_t)p->inputs[1].values[e];          \
            (void)j;                                                                                         \
            results[e] = (double)(result);                                                                   \
        }                                                                                                    \
    }
INTEGERS(integer_sum, i + 2 * j)
INTEGERS(integer_product, i *j)
INTEGERS(integer_bits, ((i & j) | (i ^ 5)) + ~j)
INTEGERS(integer_shift, (i * 4) >> 1)
INTEGERS(integer_maximum, i > j ? i : j)
INTEGERS(integer_power, i *i)
INTEGERS(integer_fmod, j == 0 ? 0 : i % j)
INTEGERS(integer_remainder, j == 0 ? 0 : (i % j + j) % j)

/* ---- reals of integers ---- */

static void mixed_inputs(property_problem *p) {
    const cupel_dtype type = p->type;
    property_fill(p, property_add(p, "x", 2, p->m, p->n), p->pattern);
    p->type = CUPEL_I32;
    property_fill_integers(p, property_add(p, "i", 2, p->m, p->n), -40000000, 40000000);
    p->type = type;
    property_expect(p, 2, (const int64_t[]){p->m, p->n});
}

static void mixed_product(property_problem *p, int form, double *results) {
    (void)form;
    for (int64_t e = 0; e < p->count; e++)
        results[e] = (float)p->inputs[0].values[e] * (float)(int32_t)p->inputs[1].values[e];
}

#define ROW(expression, inputs, forms, scalar)                                                               \
    {expression, expression, inputs, PROPERTY_POINTWISE, forms, NULL, scalar, NULL, 0},
#define TRUTH(expression, inputs, forms, scalar)                                                             \
    {expression, expression, inputs, PROPERTY_POINTWISE, forms, NULL, scalar, NULL, CUPEL_I32},
#define INTEGER(expression, shadow)                                                                          \
    {expression, expression, 0, PROPERTY_OWN, 1, shadow, NULL, integer_inputs, 0},
/* clang-format off */
static const property_operator rows[] = {
    ROW("x + w", 2, 1, add) ROW("x - w", 2, 1, subtract) ROW("x * w", 2, 1, multiply) ROW("x / w", 2, 2, divide)
    ROW("x * w + b", 3, 2, multiply_add) ROW("x * w * b", 3, 3, product3) ROW("x * w / b", 3, 3, quotient3)
    ROW("x / w / b", 3, 2, divide_twice) ROW("(x - w) ** 2", 2, 1, squared_difference)
    ROW("x + b * (w - x)", 3, 2, lerp)
    ROW("pow(x, 2)", 1, 1, square) ROW("x ** 3", 1, 2, cube) ROW("x ** 0.5", 1, 1, power_half)
    ROW("x ** -0.5", 1, 1, power_minus_half) ROW("x ** -1", 1, 1, power_minus_one)
    ROW("x ** -2", 1, 2, power_minus_two) ROW("pow(x, w)", 2, 3, pow_)
    ROW("x ** 2.5", 1, 4, power_five_halves) ROW("x ** 5", 1, 4, power_five) ROW("2 ** x", 1, 4, two_to)
    ROW("x ** (1 / 3)", 1, 3, exponent_third)
    ROW("fmod(x, w)", 2, 1, fmod_) ROW("x % w", 2, 1, remainder_) ROW("atan2(x, w)", 2, 2, atan2_)
    ROW("maximum(x, w)", 2, 1, maximum) ROW("minimum(x, w)", 2, 1, minimum)
    ROW("fmax(x, w)", 2, 1, fmax_) ROW("fmin(x, w)", 2, 1, fmin_)
    ROW("where(x > w, x, b)", 3, 1, choose) ROW("where(x <= w, exp(x), b)", 3, 1, choose_function)
    ROW("clamp(x, -1, 1.5)", 1, 1, clamp) ROW("clamp(x, w, b)", 3, 1, clamp_by)
    TRUTH("x < w", 2, 1, less) TRUTH("x == w", 2, 1, equal) TRUTH("x < w and not x == b", 3, 1, both)
    ROW("cast(x, f16)", 1, 1, cast_f16) ROW("cast(x, bf16)", 1, 1, cast_bf16)
    ROW("cast(x * w, f16) * 3", 2, 2, cast_product) TRUTH("cast(x, i32)", 1, 1, cast_i32)
    ROW("cast(cast(x, i32), f32)", 1, 1, cast_back)
    INTEGER("i + 2 * j", integer_sum) INTEGER("i * j", integer_product) INTEGER("(i & j | i ^ 5) + ~j", integer_bits)
    INTEGER("(i << 2) >> 1", integer_shift) INTEGER("maximum(i, j)", integer_maximum)
    INTEGER("i ** 2", integer_power) INTEGER("fmod(i, j)", integer_fmod) INTEGER("i % j", integer_remainder)
    {"x * i", "x * i", 0, PROPERTY_OWN, 1, mixed_product, NULL, mixed_inputs, 0},
};
/* clang-format on */
const property_family property_binary = {"binary", rows, sizeof rows / sizeof *rows};
