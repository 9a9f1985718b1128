/* Interval arithmetic over 64-bit integers. An end that does not fit is cut: a value beyond it does not
 * exist, since evaluation fails there. */
#include "scalar_range.h"

#include <string.h>

#include "scalar_impl.h"

typedef cupel_scalar_range range;

static const range anything = {.lo = INT64_MIN, .hi = INT64_MAX}, nothing = {.none = true},
                   some_real = {.real = true}, either = {.lo = 0, .hi = 1};

static range between(int64_t lo, int64_t hi) {
    return lo <= hi ? (range){.lo = lo, .hi = hi} : nothing;
}

static bool is_point(range r) {
    return !r.none && !r.real && r.lo == r.hi;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t add(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t negate(int64_t a) {
    return a == INT64_MIN ? INT64_MAX : -a;
}

static int64_t multiply(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : product;
}

static range hull(const int64_t *values, int count) {
    range r = {.lo = values[0], .hi = values[0]};
    for (int i = 1; i < count; i++) {
        r.lo = smaller(r.lo, values[i]);
        r.hi = larger(r.hi, values[i]);
    }
    return r;
}

/* The extremes of a function that is monotone in each argument. */
static range corners(range a, range b, int64_t (*f)(int64_t, int64_t)) {
    const int64_t values[] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
    return hull(values, 4);
}

bool cupel_scalar_range_may_hold(range r) {
    return !r.none && (r.real || r.lo != 0 || r.hi != 0);
}

bool cupel_scalar_range_may_fail(range r) {
    return !r.none && (r.real || (r.lo <= 0 && r.hi >= 0));
}

range cupel_scalar_range_product(range a, range b) {
    if (a.none || b.none) return nothing;
    if (a.real || b.real) return some_real;
    return corners(a, b, multiply);
}

/* ---- divisions ---- */

static int64_t truncated(int64_t a, int64_t b) {
    return a == INT64_MIN && b == -1 ? INT64_MAX : a / b;
}

static int64_t rounded_up(int64_t a, int64_t b) {
    int64_t quotient = truncated(a, b);
    return quotient + (b != -1 && a % b != 0 && (a % b > 0) == (b > 0));
}

static int64_t rounded_down(int64_t a, int64_t b) {
    int64_t quotient = truncated(a, b);
    return quotient - (b != -1 && a % b != 0 && (a % b > 0) != (b > 0));
}

/* Divisors of one sign at a time: there every kind of division is monotone. */
static range divide(range a, range b, int64_t (*f)(int64_t, int64_t)) {
    bool below = b.lo<0, above = b.hi> 0;
    range negative = {.lo = b.lo, .hi = smaller(b.hi, -1)}, positive = {.lo = larger(b.lo, 1), .hi = b.hi};
    if (!below && !above) return nothing;
    if (!below) return corners(a, positive, f);
    if (!above) return corners(a, negative, f);
    range x = corners(a, negative, f), y = corners(a, positive, f);
    return between(smaller(x.lo, y.lo), larger(x.hi, y.hi));
}

static range remainder_of(range a, range b) {
    if (b.lo == 0 && b.hi == 0) return nothing;
    if (b.lo == b.hi && b.lo > 0 && a.lo >= 0 && a.lo / b.lo == a.hi / b.lo)
        return between(a.lo % b.lo, a.hi % b.lo);
    int64_t most = larger(negate(b.lo), b.hi) - 1; /* of the remainder's magnitude */
    return between(a.lo < 0 ? larger(a.lo, negate(most)) : 0, a.hi > 0 ? smaller(a.hi, most) : 0);
}

/* ---- powers, shifts, bits ---- */

static int64_t power(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (int64_t i = 0; i < exponent && i < 64 && base > 1; i++) result = multiply(result, base);
    return result;
}

static int64_t shift_left(int64_t a, int64_t by) {
    for (int64_t i = 0; i < by; i++) a = multiply(a, 2);
    return a;
}

static int64_t shift_right(int64_t a, int64_t by) {
    return a >> by;
}

static range shift(range a, range by, int64_t (*f)(int64_t, int64_t)) {
    by = between(larger(by.lo, 0), smaller(by.hi, 63));
    return by.none ? nothing : corners(a, by, f);
}

/* The smallest 2^k - 1 that is no less than a, which is not negative. */
static int64_t filled(int64_t a) {
    int64_t ones = 0;
    while (ones < a) ones = ones * 2 + 1;
    return ones;
}

static range bitwise(cupel_scalar_op op, range a, range b) {
    if (is_point(a) && is_point(b)) {
        int64_t value = op == CUPEL_SCALAR_BITAND  ? a.lo & b.lo
                        : op == CUPEL_SCALAR_BITOR ? a.lo | b.lo
                                                   : a.lo ^ b.lo;
        return between(value, value);
    }
    if (a.lo < 0 || b.lo < 0) return anything;
    if (op == CUPEL_SCALAR_BITAND) return between(0, smaller(a.hi, b.hi));
    return between(op == CUPEL_SCALAR_BITOR ? larger(a.lo, b.lo) : 0, filled(larger(a.hi, b.hi)));
}

/* ---- comparisons and conditions ---- */

static range certain(bool always, bool never) {
    return always ? between(1, 1) : never ? between(0, 0) : either;
}

static range compare(cupel_scalar_op op, range a, range b) {
    if (a.real || b.real) return either;
    switch (op) {
    case CUPEL_SCALAR_LT: return certain(a.hi < b.lo, a.lo >= b.hi);
    case CUPEL_SCALAR_LE: return certain(a.hi <= b.lo, a.lo > b.hi);
    case CUPEL_SCALAR_GT: return certain(a.lo > b.hi, a.hi <= b.lo);
    case CUPEL_SCALAR_GE: return certain(a.lo >= b.hi, a.hi < b.lo);
    case CUPEL_SCALAR_EQ:
        return certain(is_point(a) && is_point(b) && a.lo == b.lo, a.hi < b.lo || b.hi < a.lo);
    default: return certain(a.hi < b.lo || b.hi < a.lo, is_point(a) && is_point(b) && a.lo == b.lo);
    }
}

/* Where the left side decides, the right side need not have a value. */
static range join(const cupel_scalar_expr *e, const cupel_scalar_range_env *env) {
    bool is_and = e->op == CUPEL_SCALAR_AND;
    range a = cupel_scalar_range_of(e->children[0], env);
    if (a.none) return nothing;
    bool decides = is_and ? cupel_scalar_range_may_fail(a) : cupel_scalar_range_may_hold(a);
    bool goes_on = is_and ? cupel_scalar_range_may_hold(a) : cupel_scalar_range_may_fail(a);
    int64_t decided = !is_and;
    if (!goes_on) return between(decided, decided);
    range b = cupel_scalar_range_of(e->children[1], env);
    if (b.none) return decides ? between(decided, decided) : nothing;
    bool can_be_false = (decides && is_and) || cupel_scalar_range_may_fail(b);
    bool can_be_true = (decides && !is_and) || cupel_scalar_range_may_hold(b);
    return certain(!can_be_false, !can_be_true);
}

/* ---- the tree ---- */

static range power_of(range a, range b) {
    b = between(larger(b.lo, 0), b.hi);
    if (b.none) return nothing;
    return a.lo >= 1 ? corners(a, b, power) : anything;
}

static range binary(const cupel_scalar_expr *e, const cupel_scalar_range_env *env) {
    if (e->op == CUPEL_SCALAR_AND || e->op == CUPEL_SCALAR_OR) return join(e, env);
    range a = cupel_scalar_range_of(e->children[0], env), b = cupel_scalar_range_of(e->children[1], env);
    if (a.none || b.none) return nothing;
    if (e->op >= CUPEL_SCALAR_LT && e->op <= CUPEL_SCALAR_NE) return compare(e->op, a, b);
    if (a.real || b.real) return some_real;
    switch (e->op) {
    case CUPEL_SCALAR_ADD: return between(add(a.lo, b.lo), add(a.hi, b.hi));
    case CUPEL_SCALAR_SUB: return between(add(a.lo, negate(b.hi)), add(a.hi, negate(b.lo)));
    case CUPEL_SCALAR_MUL: return corners(a, b, multiply);
    case CUPEL_SCALAR_DIV: return divide(a, b, truncated);
    case CUPEL_SCALAR_MOD: return remainder_of(a, b);
    case CUPEL_SCALAR_POW: return power_of(a, b);
    case CUPEL_SCALAR_SHL: return shift(a, b, shift_left);
    case CUPEL_SCALAR_SHR: return shift(a, b, shift_right);
    default: return bitwise(e->op, a, b);
    }
}

static range unary(const cupel_scalar_expr *e, const cupel_scalar_range_env *env) {
    range a = cupel_scalar_range_of(e->children[0], env);
    if (a.none) return nothing;
    if (e->op == CUPEL_SCALAR_NOT)
        return certain(!cupel_scalar_range_may_hold(a), !cupel_scalar_range_may_fail(a));
    if (a.real || e->op == CUPEL_SCALAR_POS) return a;
    return between(negate(a.hi), negate(a.lo));
}

static range extreme(const cupel_scalar_expr *e, const range *args) {
    range r = args[0];
    for (int i = 0; i < e->count; i++)
        if (args[i].real) return some_real;
    for (int i = 1; i < e->count; i++)
        r = e->function == CUPEL_SCALAR_MIN ? between(smaller(r.lo, args[i].lo), smaller(r.hi, args[i].hi))
                                            : between(larger(r.lo, args[i].lo), larger(r.hi, args[i].hi));
    return r;
}

static int64_t next_power(int64_t a) {
    int64_t value = 1;
    while (value < a) value *= 2;
    return value;
}

static range next_pow2(range a) {
    a = between(a.lo, smaller(a.hi, INT64_C(1) << 62));
    return a.none ? nothing : between(next_power(a.lo), next_power(a.hi));
}

static range ask(const cupel_scalar_expr *e, const cupel_scalar_range_env *env, const range *args) {
    range r;
    int64_t bytes;
    switch (e->function) {
    case CUPEL_SCALAR_STRIDE:
        if (!is_point(args[0]) || args[0].lo < -64 || args[0].lo > 64) return anything;
        return env->stride && env->stride(env->self, e->name, (int)args[0].lo, &r) ? r : anything;
    case CUPEL_SCALAR_SIZE: return env->size && env->size(env->self, e->name, &r) ? r : anything;
    default:
        return env->size_of && env->size_of(env->self, e->name, &bytes) ? between(bytes, bytes) : anything;
    }
}

static range call(const cupel_scalar_expr *e, const cupel_scalar_range_env *env) {
    range args[CUPEL_SCALAR_ARGS_MAX] = {{0}};
    for (int i = 0; i < e->count; i++) {
        args[i] = cupel_scalar_range_of(e->children[i], env);
        if (args[i].none) return nothing;
    }
    bool divides = e->function == CUPEL_SCALAR_CEIL_DIV || e->function == CUPEL_SCALAR_FLOOR_DIV;
    if (divides && (args[0].real || args[1].real)) return nothing; /* an error of evaluation */
    switch (e->function) {
    case CUPEL_SCALAR_CEIL_DIV: return divide(args[0], args[1], rounded_up);
    case CUPEL_SCALAR_FLOOR_DIV: return divide(args[0], args[1], rounded_down);
    case CUPEL_SCALAR_MIN:
    case CUPEL_SCALAR_MAX: return extreme(e, args);
    case CUPEL_SCALAR_NEXT_POW2: return args[0].real ? nothing : next_pow2(args[0]);
    default: return ask(e, env, args);
    }
}

static range without_hints(const cupel_scalar_expr *e, const cupel_scalar_range_env *env) {
    range r;
    switch (e->kind) {
    case CUPEL_SCALAR_NUMBER: return e->number.real ? some_real : between(e->number.i, e->number.i);
    case CUPEL_SCALAR_NAME: return env->name && env->name(env->self, e->name, &r) ? r : some_real;
    case CUPEL_SCALAR_UNARY: return unary(e, env);
    case CUPEL_SCALAR_BINARY: return binary(e, env);
    default: return call(e, env);
    }
}

range cupel_scalar_range_of(const cupel_scalar_expr *expr, const cupel_scalar_range_env *env) {
    range r = without_hints(expr, env);
    for (int i = 0; i < env->hint_count && !r.none && !r.real; i++)
        if (cupel_scalar_same(expr, env->hints[i].expr))
            r = between(larger(r.lo, env->hints[i].lo), smaller(r.hi, env->hints[i].hi));
    return r;
}

/* ---- shapes of expressions ---- */

static bool same_name(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool cupel_scalar_same(const cupel_scalar_expr *a, const cupel_scalar_expr *b) {
    if (a == b) return true;
    if (a->kind != b->kind || a->count != b->count || a->height != b->height || !same_name(a->name, b->name))
        return false;
    if (a->kind == CUPEL_SCALAR_NUMBER && (a->number.real || b->number.real || a->number.i != b->number.i))
        return false;
    bool has_op = a->kind == CUPEL_SCALAR_UNARY || a->kind == CUPEL_SCALAR_BINARY;
    if (has_op && a->op != b->op) return false;
    if (a->kind == CUPEL_SCALAR_CALL && a->function != b->function) return false;
    for (int i = 0; i < a->count; i++)
        if (!cupel_scalar_same(a->children[i], b->children[i])) return false;
    return true;
}

void cupel_scalar_conjuncts(const cupel_scalar_expr *expr,
                            void (*visit)(void *self, const cupel_scalar_expr *part), void *self) {
    if (expr->kind != CUPEL_SCALAR_BINARY || expr->op != CUPEL_SCALAR_AND) {
        visit(self, expr);
        return;
    }
    for (int i = 0; i < 2; i++) cupel_scalar_conjuncts(expr->children[i], visit, self);
}

bool cupel_scalar_comparison(const cupel_scalar_expr *expr, cupel_scalar_order *order,
                             const cupel_scalar_expr **a, const cupel_scalar_expr **b) {
    if (expr->kind != CUPEL_SCALAR_BINARY) return false;
    switch (expr->op) {
    case CUPEL_SCALAR_LT: *order = CUPEL_SCALAR_BELOW; break;
    case CUPEL_SCALAR_LE: *order = CUPEL_SCALAR_AT_MOST; break;
    case CUPEL_SCALAR_EQ: *order = CUPEL_SCALAR_EQUAL; break;
    case CUPEL_SCALAR_GE: *order = CUPEL_SCALAR_AT_LEAST; break;
    case CUPEL_SCALAR_GT: *order = CUPEL_SCALAR_ABOVE; break;
    default: return false;
    }
    *a = expr->children[0];
    *b = expr->children[1];
    return true;
}

const char *cupel_scalar_plain_name(const cupel_scalar_expr *expr) {
    return expr->kind == CUPEL_SCALAR_NAME ? expr->name : NULL;
}
