/* One operand, element by element. */
#include "bounded.h"
#include "bounded_masked.h"
#include "function_value.h"
#include "integers.h"

typedef struct single {
    const cupel_tensor *x;
    cupel_tensor *out;
    const cupel_working *w;
    const cupel_trait *trait;
    cupel_op op;
} single;

typedef bool loop(const single *s, int64_t begin, int64_t n);

static const double inflation = 1 + 0x1p-40;

/* Exact moves: the radius stays or, for a sign, is carried by the rules. */
static bool negate_loop(const single *s, int64_t begin, int64_t n) {
    const cupel_tensor *x = s->x, *t = s->out;
    const size_t size = (size_t)n * sizeof(double);
    for (int64_t i = begin; i < begin + n; i++) t->value[i] = -x->value[i];
    if (t->radius) memcpy(t->radius + begin, x->radius + begin, size);
    if (x->magnitude) {
        memcpy(t->magnitude + begin, x->magnitude + begin, size);
        memcpy(t->spread + begin, x->spread + begin, size);
        memcpy(t->grain + begin, x->grain + begin, size);
    }
    if (x->peak) {
        memcpy(t->peak + begin, x->peak + begin, size);
        memcpy(t->trough + begin, x->trough + begin, size);
    }
    return true;
}

static bool absolute_loop(const single *s, int64_t begin, int64_t n) {
    for (int64_t i = begin; i < begin + n; i++) s->out->value[i] = fabs(s->x->value[i]);
    if (s->out->radius) memcpy(s->out->radius + begin, s->x->radius + begin, (size_t)n * sizeof(double));
    return true;
}

/* Of numbers, and of -inf that every kernel holds. */
static bool test_loop(const single *s, int64_t begin, int64_t n) {
    const double finite = s->op == CUPEL_OP_ISFINITE ? 1 : 0, masked = s->op == CUPEL_OP_ISINF ? 1 : 0;
    for (int64_t i = begin; i < begin + n; i++)
        s->out->value[i] = s->x->value[i] == -INFINITY ? masked : finite;
    return true;
}

static bool not_loop(const single *s, int64_t begin, int64_t n) {
    for (int64_t i = begin; i < begin + n; i++) s->out->value[i] = s->x->value[i] == 0 ? 1 : 0;
    if (s->out->radius) memcpy(s->out->radius + begin, s->x->radius + begin, (size_t)n * sizeof(double));
    return true;
}

static inline double spacing(const cupel_working *w, double y) {
    const uint64_t bits = cupel_bits(y) & UINT64_C(0x7ff0000000000000);
    double binade;
    memcpy(&binade, &bits, sizeof binade);
    const double ulp = 2 * w->unit * binade;
    return ulp > w->smallest ? ulp : w->smallest;
}

/* exp: e^(x+d) - e^x <= e^x d (1 + d) for d <= 1. Single precision only: half types round once more, which
 * the rules do. */
static bool exp_block(const single *s, const cupel_tensor *from, int64_t at, int64_t begin, int64_t n) {
    const cupel_budget *row = cupel_budget_of(s->op);
    const double ulps = s->w->fast ? row->fast_ulps : row->precise_ulps,
                 slope = s->w->fast ? row->fast_slope : 0;
    const double natural = s->op == CUPEL_OP_EXP ? 1 : 0.6931471805599454, u = s->w->unit * (1 + 0x1p-20);
    const double *x = from->value + at, *magnitude = from->magnitude ? from->magnitude + at : NULL;
    double *v = s->out->value + begin, *r = s->out->radius + begin;
    if (s->w->type != CUPEL_F32) return false;
    double low = INFINITY, far = 0;
    const double limit = s->w->largest / (2 * s->trait->overflow);
    bool beyond = false;
    for (int64_t i = 0; i < n; i++) v[i] = s->op == CUPEL_OP_EXP ? exp(x[i]) : exp2(x[i]);
    for (int64_t i = 0; i < n; i++) {
        const double rx = from->radius ? from->radius[at + i] : 0, size = fabs(x[i]) + rx;
        const double fold = s->trait->folded ? u * ((magnitude ? magnitude[i] : size) + 2 * size) : 0;
        const double d = (rx + fold) * natural, moved = v[i] * d * (1 + d);
        const double y = v[i] + moved;
        const double budget = ulps + slope * (size + fold);
        r[i] = (moved + budget * spacing(s->w, y * (1 + 2 * u * budget))) * inflation;
        beyond |= !(y < limit);
        low = v[i] < low ? v[i] : low;
        far = d > far ? d : far;
    }
    return far < 0.01 && low > 0x1p-1000 && !beyond;
}

static bool exp_loop(const single *s, int64_t begin, int64_t n) {
    return exp_block(s, s->x, begin, begin, n);
}

/* With exp(0) where the result is then to be 0. */
static bool exp_masked(const single *s, int64_t begin, int64_t n) {
    static const double none[CUPEL_BOUNDED_BLOCK];
    cupel_masked block;
    cupel_masked_fill(&block, s->x, begin, n, none, none);
    return exp_block(s, &block.t, 0, begin, n);
}

/* sqrt, rsqrt and the logarithms, by the slope at the interval's lower end. */
static bool slope_loop(const single *s, int64_t begin, int64_t n) {
    const double *x = s->x->value;
    double *v = s->out->value, *r = s->out->radius;
    for (int64_t i = begin; i < begin + n; i++) {
        const double rx = s->x->radius ? s->x->radius[i] : 0, lo = fmax(x[i] - rx, s->x->floor),
                     hi = x[i] + rx;
        if (!(lo >= 0x1p-120 && x[i] < 0x1p120 && rx <= 0.01 * x[i])) return false;
        const double y = cupel_function_value(s->op, x[i]);
        double moved;
        switch (s->op) {
        case CUPEL_OP_SQRT: moved = rx / (2 * sqrt(lo)); break;
        case CUPEL_OP_RSQRT: moved = rx * y / (2 * lo) * (1 + rx / lo); break;
        case CUPEL_OP_LOG2: moved = rx / lo * 1.4426950408889636; break;
        case CUPEL_OP_LOG10: moved = rx / lo * 0.4342944819032519; break;
        default: moved = rx / lo; break;
        }
        const bool root = s->op == CUPEL_OP_SQRT && !s->w->fast && rx == 0 && y * y == x[i] &&
                          cupel_rounded_bits(y, cupel_splitter(s->w->precision)) == y;
        v[i] = y;
        r[i] = root ? 0 : (moved + cupel_budget_error(s->w, s->op, lo, hi, fabs(y) + moved)) * inflation;
    }
    return true;
}

/* How far f(x) = y moves when x moves by r at most: f' r (1 + |f''/(2 f')| r + c r^2), where c bounds
 * f'''/(6 f') over the interval, f' taken at x; or both ends, where the slope changes too much on the way. */
static double gentle_motion(const single *s, double x, double r, double y) {
    double slope, bend, third;
    switch (s->op) {
    case CUPEL_OP_TANH: slope = 1 - y * y, bend = fabs(y), third = 0.75; break;
    case CUPEL_OP_ATAN: slope = 1 / (1 + x * x), bend = fabs(x) * slope, third = 0.5; break;
    case CUPEL_OP_ERF:
        slope = 1.1283791670955128 * exp(-x * x), bend = fabs(x);
        third = (4 * (bend + r) * (bend + r) + 2) / 6 * 1.11;
        break;
    default: return r < 2 ? r : 2; /* sin, cos: as the rules have it */
    }
    if (r <= 0.05 && bend * r <= 0.05) return slope * r * (1 + bend * r + third * r * r) + 0x1p-52 * r;
    return fmax(y - cupel_function_value(s->op, x - r), cupel_function_value(s->op, x + r) - y);
}

/* Functions with a slope of at most 2/sqrt(pi) everywhere, and results of at most 2. */
static bool gentle_loop(const single *s, int64_t begin, int64_t n) {
    const double *x = s->x->value;
    double *v = s->out->value, *r = s->out->radius;
    for (int64_t i = begin; i < begin + n; i++) {
        const double rx = s->x->radius ? s->x->radius[i] : 0;
        const double y = cupel_function_value(s->op, x[i]);
        const double moved = rx > 0 ? gentle_motion(s, x[i], rx, y) : 0, below_one = 1 - 0x1p-53;
        const bool bounded = s->op == CUPEL_OP_TANH || s->op == CUPEL_OP_ERF;
        const double top = bounded ? fmin(fabs(y) + moved, fmax(fabs(y), below_one)) : fabs(y) + moved;
        v[i] = y;
        r[i] = (moved + cupel_budget_error(s->w, s->op, x[i] - rx, x[i] + rx, top)) * inflation;
    }
    return true;
}

/* Any function of exact arguments: nothing moves, and only the function's own error counts. Results that are
 * not finite, poles among them, are left to the rules. */
static bool still_loop(const single *s, int64_t begin, int64_t n) {
    const double limit = s->w->largest / (2 * s->trait->overflow);
    for (int64_t i = begin; i < begin + n; i++) {
        const double x = s->x->value[i], y = cupel_function_value(s->op, x);
        const double error = cupel_budget_error(s->w, s->op, x, x, fabs(y));
        if (!(fabs(y) + error < limit)) return false;
        s->out->value[i] = y;
        s->out->radius[i] = error * inflation;
    }
    return true;
}

static loop *loop_of(const cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    if (n->op == CUPEL_OP_NOT) return not_loop;
    if (b->graph->nodes[n->args[0]].kind != CUPEL_VALUE_REAL) return NULL;
    if (n->op == CUPEL_OP_ISNAN || n->op == CUPEL_OP_ISINF || n->op == CUPEL_OP_ISFINITE) return test_loop;
    if (n->kind != CUPEL_VALUE_REAL) return NULL;
    switch (n->op) {
    case CUPEL_OP_NEG: return negate_loop;
    case CUPEL_OP_ABS: return absolute_loop;
    case CUPEL_OP_EXP:
    case CUPEL_OP_EXP2: return exp_loop;
    case CUPEL_OP_SQRT:
    case CUPEL_OP_RSQRT:
    case CUPEL_OP_LOG:
    case CUPEL_OP_LOG2:
    case CUPEL_OP_LOG10: return slope_loop;
    case CUPEL_OP_SIN:
    case CUPEL_OP_COS:
    case CUPEL_OP_TANH:
    case CUPEL_OP_ERF:
    case CUPEL_OP_ATAN: return gentle_loop;
    case CUPEL_OP_EXPM1:
    case CUPEL_OP_LOG1P:
    case CUPEL_OP_TAN:
    case CUPEL_OP_ASIN:
    case CUPEL_OP_ACOS:
    case CUPEL_OP_SINH:
    case CUPEL_OP_COSH:
    case CUPEL_OP_ERFC: return b->tensors[n->args[0]].radius ? NULL : still_loop;
    default: return NULL;
    }
}

static cupel_code by_rules(cupel_bounded *b, int node, int64_t begin, int64_t n) {
    const cupel_node *self = &b->graph->nodes[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    for (int64_t i = begin; i < begin + n; i++) {
        const cupel_ball bx = cupel_tensor_load(x, i);
        const bool grows = self->op == CUPEL_OP_EXP || self->op == CUPEL_OP_EXP2 ||
                           self->op == CUPEL_OP_EXPM1 || self->op == CUPEL_OP_SINH ||
                           self->op == CUPEL_OP_COSH;
        double value =
            cupel_keep_finite(cupel_function_value(self->op, x->value[i]), grows && isfinite(x->value[i]));
        if (self->op == CUPEL_OP_BITNOT) value = cupel_bitnot(self->width, x->value[i]);
        const cupel_ball r =
            cupel_ball_unary(&b->w, &b->plans[node].trait, self->op, self->kind, &bx, value, false);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], i, &r));
    }
    return CUPEL_OK;
}

/* What holds of every element: the rules' own answer for one of them. */
static void take_attributes(cupel_bounded *b, int node, const cupel_tensor *x) {
    cupel_tensor *t = &b->tensors[node];
    const cupel_node *n = &b->graph->nodes[node];
    if (n->op == CUPEL_OP_NEG) {
        t->sum = x->sum;
        t->terms = x->terms;
        t->scan = x->scan;
        t->roundings = x->roundings;
        t->extents = x->extents;
        t->products = x->products;
        t->depth = x->depth;
        t->chain_peak = x->chain_peak;
        t->chain_trough = x->chain_trough;
        t->chain_divisors = x->chain_divisors;
        t->floor = -x->ceiling;
        t->ceiling = -x->floor;
        t->direct = x->direct;
        return;
    }
    if (n->kind != CUPEL_VALUE_REAL || b->graph->nodes[n->args[0]].kind != CUPEL_VALUE_REAL) return;
    const cupel_ball one = cupel_ball_plain(1, 0, CUPEL_CLASS_FINITE, CUPEL_REASON_JUDGED);
    const cupel_ball r = cupel_ball_unary(&b->w, &b->plans[node].trait, n->op, n->kind, &one,
                                          cupel_function_value(n->op, 1), false);
    t->floor = r.floor;
    t->ceiling = r.ceiling;
}

cupel_code cupel_bounded_unary(cupel_bounded *b, int node) {
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0);
    const cupel_op op = b->graph->nodes[node].op;
    if (t->count == 0) return CUPEL_OK;
    loop *run = loop_of(b, node);
    take_attributes(b, node, x);
    const bool moves = run == negate_loop || run == absolute_loop || run == not_loop || run == test_loop;
    if (run && !cupel_tensor_keeps(b, x)) run = NULL;
    if (run && run != test_loop && (!moves || x->radius)) CUPEL_TRY(cupel_tensor_take_radius(b, t));
    if (op == CUPEL_OP_NEG && x->magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (op == CUPEL_OP_NEG && x->peak) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    const single s = {x, t, &b->w, &b->plans[node].trait, op};
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t size = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count - begin : CUPEL_BOUNDED_BLOCK;
        const bool plain = run && (cupel_tensor_is_plain(x, begin, size) ||
                                   (run == test_loop && cupel_masked_holds(x, begin, size)));
        if (run == exp_loop && !plain && !b->w.flush && cupel_masked_holds(x, begin, size) &&
            exp_masked(&s, begin, size)) {
            CUPEL_TRY(cupel_masked_restore(b, t, begin, x, begin, size, 0));
            continue;
        }
        if (!plain || !run(&s, begin, size) || (!moves && cupel_tensor_may_flush(b, t, begin, size)))
            CUPEL_TRY(by_rules(b, node, begin, size));
    }
    return CUPEL_OK;
}
