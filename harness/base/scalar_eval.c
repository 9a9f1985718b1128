/* Evaluation of scalar expressions: 64-bit integers, every operation checked; doubles where a real takes
 * part. */
#include <math.h>
#include <string.h>

#include "scalar_impl.h"

static cupel_scalar integer(int64_t value) {
    return (cupel_scalar){.i = value};
}
static cupel_scalar real(double value) {
    return (cupel_scalar){.real = true, .d = value};
}
static double as_double(cupel_scalar x) {
    return x.real ? x.d : (double)x.i;
}
static bool is_true(cupel_scalar x) {
    return x.real ? x.d != 0 : x.i != 0;
}

static cupel_code fail_overflow(const cupel_scalar_expr *e, cupel_error *err) {
    return cupel_fail_span(err, CUPEL_RANGE, e->place, "'%.*s' exceeds 64-bit integers", (int)e->place.length,
                           e->place.text);
}

static cupel_code fail_zero(const cupel_scalar_expr *e, cupel_error *err) {
    return cupel_fail_span(err, CUPEL_RANGE, e->place, "'%.*s' divides by zero", (int)e->place.length,
                           e->place.text);
}

/* -1, 0, 1; 2 when a NaN takes part. The long double of x86-64 holds every 64-bit integer. */
static int compare(cupel_scalar a, cupel_scalar b) {
    if (!a.real && !b.real) return (a.i > b.i) - (a.i < b.i);
    long double x = a.real ? (long double)a.d : (long double)a.i,
                y = b.real ? (long double)b.d : (long double)b.i;
    if (isnan(x) || isnan(y)) return 2;
    return (x > y) - (x < y);
}

static cupel_code comparison(const cupel_scalar_expr *e, cupel_scalar a, cupel_scalar b, cupel_scalar *out) {
    int order = compare(a, b);
    bool holds = false;
    switch (e->op) {
    case CUPEL_SCALAR_LT: holds = order == -1; break;
    case CUPEL_SCALAR_LE: holds = order == -1 || order == 0; break;
    case CUPEL_SCALAR_GT: holds = order == 1; break;
    case CUPEL_SCALAR_GE: holds = order == 1 || order == 0; break;
    case CUPEL_SCALAR_EQ: holds = order == 0; break;
    default: holds = order != 0; break;
    }
    *out = integer(holds);
    return CUPEL_OK;
}

static cupel_code integer_power(const cupel_scalar_expr *e, int64_t base, int64_t exponent, int64_t *out,
                                cupel_error *err) {
    if (exponent < 0)
        return cupel_fail_span(err, CUPEL_RANGE, e->place, "expected an exponent of at least 0, found %lld",
                               (long long)exponent);
    int64_t result = 1;
    /* with |base| >= 2 at most 63 rounds go by before the overflow */
    if (base == 0 || base == 1 || base == -1) exponent = exponent == 0 ? 0 : 2 - exponent % 2;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(result, base, &result)) return fail_overflow(e, err);
    *out = result;
    return CUPEL_OK;
}

static cupel_code integer_shift(const cupel_scalar_expr *e, int64_t a, int64_t by, int64_t *out,
                                cupel_error *err) {
    if (by < 0 || by > 63)
        return cupel_fail_span(err, CUPEL_RANGE, e->place, "expected a shift by 0..63, found %lld",
                               (long long)by);
    if (e->op == CUPEL_SCALAR_SHR) {
        *out = a >> by;
        return CUPEL_OK;
    }
    *out = a;
    for (; by > 0; by--)
        if (__builtin_mul_overflow(*out, (int64_t)2, out)) return fail_overflow(e, err);
    return CUPEL_OK;
}

static cupel_code integer_binary(const cupel_scalar_expr *e, int64_t a, int64_t b, int64_t *out,
                                 cupel_error *err) {
    switch (e->op) {
    case CUPEL_SCALAR_ADD: return __builtin_add_overflow(a, b, out) ? fail_overflow(e, err) : CUPEL_OK;
    case CUPEL_SCALAR_SUB: return __builtin_sub_overflow(a, b, out) ? fail_overflow(e, err) : CUPEL_OK;
    case CUPEL_SCALAR_MUL: return __builtin_mul_overflow(a, b, out) ? fail_overflow(e, err) : CUPEL_OK;
    case CUPEL_SCALAR_DIV:
    case CUPEL_SCALAR_MOD:
        if (b == 0) return fail_zero(e, err);
        if (a == INT64_MIN && b == -1) return fail_overflow(e, err);
        *out = e->op == CUPEL_SCALAR_DIV ? a / b : a % b;
        return CUPEL_OK;
    case CUPEL_SCALAR_POW: return integer_power(e, a, b, out, err);
    case CUPEL_SCALAR_SHL:
    case CUPEL_SCALAR_SHR: return integer_shift(e, a, b, out, err);
    case CUPEL_SCALAR_BITAND: *out = a & b; return CUPEL_OK;
    case CUPEL_SCALAR_BITOR: *out = a | b; return CUPEL_OK;
    default: *out = a ^ b; return CUPEL_OK;
    }
}

static cupel_code real_binary(const cupel_scalar_expr *e, double a, double b, cupel_scalar *out,
                              cupel_error *err) {
    switch (e->op) {
    case CUPEL_SCALAR_ADD: *out = real(a + b); return CUPEL_OK;
    case CUPEL_SCALAR_SUB: *out = real(a - b); return CUPEL_OK;
    case CUPEL_SCALAR_MUL: *out = real(a * b); return CUPEL_OK;
    case CUPEL_SCALAR_DIV:
        if (b == 0) return fail_zero(e, err);
        *out = real(a / b);
        return CUPEL_OK;
    case CUPEL_SCALAR_MOD:
        if (b == 0) return fail_zero(e, err);
        *out = real(fmod(a, b));
        return CUPEL_OK;
    case CUPEL_SCALAR_POW: *out = real(pow(a, b)); return CUPEL_OK;
    default:
        return cupel_fail_span(err, CUPEL_RANGE, e->place,
                               "expected integers, found a real operand in '%.*s'", (int)e->place.length,
                               e->place.text);
    }
}

static cupel_code binary(const cupel_scalar_expr *e, const cupel_scalar_env *env, cupel_scalar *out,
                         cupel_error *err) {
    cupel_scalar a, b;
    CUPEL_TRY(cupel_scalar_eval(e->children[0], env, &a, err));
    /* "N == 0 or M / N > 2" must not divide by zero */
    if ((e->op == CUPEL_SCALAR_AND && !is_true(a)) || (e->op == CUPEL_SCALAR_OR && is_true(a))) {
        *out = integer(e->op == CUPEL_SCALAR_OR);
        return CUPEL_OK;
    }
    CUPEL_TRY(cupel_scalar_eval(e->children[1], env, &b, err));
    if (e->op == CUPEL_SCALAR_AND || e->op == CUPEL_SCALAR_OR) {
        *out = integer(is_true(b));
        return CUPEL_OK;
    }
    if (e->op >= CUPEL_SCALAR_LT && e->op <= CUPEL_SCALAR_NE) return comparison(e, a, b, out);
    if (a.real || b.real) return real_binary(e, as_double(a), as_double(b), out, err);
    *out = integer(0);
    return integer_binary(e, a.i, b.i, &out->i, err);
}

static cupel_code unary(const cupel_scalar_expr *e, const cupel_scalar_env *env, cupel_scalar *out,
                        cupel_error *err) {
    cupel_scalar a;
    CUPEL_TRY(cupel_scalar_eval(e->children[0], env, &a, err));
    if (e->op == CUPEL_SCALAR_NOT) {
        *out = integer(!is_true(a));
    } else if (e->op == CUPEL_SCALAR_POS) {
        *out = a;
    } else if (a.real) {
        *out = real(-a.d);
    } else {
        if (a.i == INT64_MIN) return fail_overflow(e, err);
        *out = integer(-a.i);
    }
    return CUPEL_OK;
}

static cupel_code divide_towards(const cupel_scalar_expr *e, const cupel_scalar *args, cupel_scalar *out,
                                 cupel_error *err) {
    for (int i = 0; i < 2; i++)
        if (args[i].real)
            return cupel_fail_span(err, CUPEL_RANGE, e->children[i]->place,
                                   "expected an integer, found a real");
    int64_t a = args[0].i, b = args[1].i;
    if (b == 0) return fail_zero(e, err);
    if (a == INT64_MIN && b == -1) return fail_overflow(e, err);
    int64_t quotient = a / b, rest = a % b;
    bool positive = (rest > 0) == (b > 0); /* the sign of the fraction cut off by the truncation */
    if (rest != 0 && e->function == CUPEL_SCALAR_CEIL_DIV && positive) quotient++;
    if (rest != 0 && e->function == CUPEL_SCALAR_FLOOR_DIV && !positive) quotient--;
    *out = integer(quotient);
    return CUPEL_OK;
}

static cupel_code extreme(const cupel_scalar_expr *e, const cupel_scalar *args, cupel_scalar *out) {
    int wanted = e->function == CUPEL_SCALAR_MIN ? -1 : 1;
    bool any_real = false;
    *out = args[0];
    for (int i = 0; i < e->count; i++) {
        any_real = any_real || args[i].real;
        if (compare(args[i], *out) == wanted || (args[i].real && isnan(args[i].d))) *out = args[i];
    }
    if (any_real) *out = real(as_double(*out));
    return CUPEL_OK;
}

static cupel_code next_pow2(const cupel_scalar_expr *e, cupel_scalar a, cupel_scalar *out, cupel_error *err) {
    if (a.real) return cupel_fail_span(err, CUPEL_RANGE, e->place, "expected an integer, found a real");
    if (a.i > INT64_C(1) << 62) return fail_overflow(e, err);
    int64_t power = 1;
    while (power < a.i) power *= 2;
    *out = integer(power);
    return CUPEL_OK;
}

/* stride, size, sizeof: what the environment knows of tensors and types. */
static cupel_code ask(const cupel_scalar_expr *e, const cupel_scalar_env *env, const cupel_scalar *args,
                      cupel_scalar *out, cupel_error *err) {
    *out = integer(0);
    bool known = false;
    if (e->function == CUPEL_SCALAR_STRIDE) {
        if (args[0].real || args[0].i < -64 || args[0].i > 64)
            return cupel_fail_span(err, CUPEL_RANGE, e->children[0]->place, "expected an axis");
        known = env->stride && env->stride(env->self, e->name, (int)args[0].i, &out->i);
    } else if (e->function == CUPEL_SCALAR_SIZE) {
        known = env->size && env->size(env->self, e->name, &out->i);
    } else {
        known = env->size_of && env->size_of(env->self, e->name, &out->i);
    }
    if (known) return CUPEL_OK;
    return cupel_fail_span(err, CUPEL_CONTRACT, e->place,
                           "expected %s, found '%.*s', which has no value here",
                           e->function == CUPEL_SCALAR_STRIDE ? "an axis of a tensor" : "a known name",
                           (int)e->place.length, e->place.text);
}

static cupel_code call(const cupel_scalar_expr *e, const cupel_scalar_env *env, cupel_scalar *out,
                       cupel_error *err) {
    cupel_scalar args[CUPEL_SCALAR_ARGS_MAX];
    memset(args, 0, sizeof args);
    for (int i = 0; i < e->count; i++) CUPEL_TRY(cupel_scalar_eval(e->children[i], env, &args[i], err));
    switch (e->function) {
    case CUPEL_SCALAR_CEIL_DIV:
    case CUPEL_SCALAR_FLOOR_DIV: return divide_towards(e, args, out, err);
    case CUPEL_SCALAR_MIN:
    case CUPEL_SCALAR_MAX: return extreme(e, args, out);
    case CUPEL_SCALAR_NEXT_POW2: return next_pow2(e, args[0], out, err);
    default: return ask(e, env, args, out, err);
    }
}

cupel_code cupel_scalar_eval(const cupel_scalar_expr *expr, const cupel_scalar_env *env, cupel_scalar *out,
                             cupel_error *err) {
    switch (expr->kind) {
    case CUPEL_SCALAR_NUMBER: *out = expr->number; return CUPEL_OK;
    case CUPEL_SCALAR_NAME:
        if (env->name && env->name(env->self, expr->name, out)) return CUPEL_OK;
        return cupel_fail_span(err, CUPEL_CONTRACT, expr->place,
                               "expected a known name, found '%s', which has no value here", expr->name);
    case CUPEL_SCALAR_UNARY: return unary(expr, env, out, err);
    case CUPEL_SCALAR_BINARY: return binary(expr, env, out, err);
    default: return call(expr, env, out, err);
    }
}

cupel_code cupel_scalar_eval_int(const cupel_scalar_expr *expr, const cupel_scalar_env *env, int64_t *out,
                                 cupel_error *err) {
    cupel_scalar value;
    CUPEL_TRY(cupel_scalar_eval(expr, env, &value, err));
    if (value.real)
        return cupel_fail_span(err, CUPEL_RANGE, expr->place, "expected an integer, found the real %g",
                               value.d);
    *out = value.i;
    return CUPEL_OK;
}

cupel_code cupel_scalar_names(const cupel_scalar_expr *expr,
                              cupel_code (*visit)(void *self, const char *name, cupel_span place,
                                                  cupel_error *err),
                              void *self, cupel_error *err) {
    if (expr->kind == CUPEL_SCALAR_NAME) return visit(self, expr->name, expr->name_place, err);
    for (int i = 0; i < expr->count; i++) CUPEL_TRY(cupel_scalar_names(expr->children[i], visit, self, err));
    return CUPEL_OK;
}

cupel_code cupel_scalar_queries(const cupel_scalar_expr *expr,
                                cupel_code (*visit)(void *self, cupel_scalar_query query, const char *name,
                                                    cupel_span place, cupel_error *err),
                                void *self, cupel_error *err) {
    if (expr->kind == CUPEL_SCALAR_CALL && expr->name) {
        cupel_scalar_query query = expr->function == CUPEL_SCALAR_STRIDE ? CUPEL_SCALAR_ASKS_STRIDE
                                   : expr->function == CUPEL_SCALAR_SIZE ? CUPEL_SCALAR_ASKS_SIZE
                                                                         : CUPEL_SCALAR_ASKS_SIZEOF;
        CUPEL_TRY(visit(self, query, expr->name, expr->name_place, err));
    }
    for (int i = 0; i < expr->count; i++)
        CUPEL_TRY(cupel_scalar_queries(expr->children[i], visit, self, err));
    return CUPEL_OK;
}

void cupel_scalar_literals(const cupel_scalar_expr *expr, void (*visit)(void *self, int64_t value),
                           void *self) {
    if (expr->kind == CUPEL_SCALAR_NUMBER && !expr->number.real && !expr->name) visit(self, expr->number.i);
    for (int i = 0; i < expr->count; i++) cupel_scalar_literals(expr->children[i], visit, self);
}

cupel_span cupel_scalar_text(const cupel_scalar_expr *expr) {
    return expr->place;
}
