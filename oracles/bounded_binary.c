/* Two operands, element by element. */
#include "bounded.h"
#include "bounded_binary_node.h"
#include "bounded_joined.h"
#include "bounded_masked.h"
#include "bounded_view.h"
#include "integers.h"

/* The exact result in fp64, and whether it is exact. */
static double evaluate(cupel_op op, cupel_value_kind kind, double x, double y, bool *exact) {
    double r = 0;
    *exact = false;
    switch (op) {
    case CUPEL_OP_ADD:
    case CUPEL_OP_SUB: {
        if (op == CUPEL_OP_SUB) y = -y;
        r = x + y;
        const double back = r - x;
        *exact = isfinite(r) && (x - (r - back)) + (y - back) == 0;
        return r;
    }
    case CUPEL_OP_MUL:
        r = x * y;
        *exact = isfinite(r) && fma(x, y, -r) == 0 && (r != 0 || x == 0 || y == 0);
        return r;
    case CUPEL_OP_DIV:
        r = x / y;
        *exact = isfinite(r) && isfinite(y) && fma(r, y, -x) == 0;
        return r;
    case CUPEL_OP_POW: r = pow(x, y); return kind == CUPEL_VALUE_INT ? trunc(r) : r;
    case CUPEL_OP_FMOD: *exact = true; return fmod(x, y);
    case CUPEL_OP_REMAINDER:
        if (kind == CUPEL_VALUE_REAL && !isfinite(y)) {
            if (isnan(x) || isnan(y) || isinf(x)) return NAN;
            return x == 0 || signbit(x) == signbit(y) ? x : y;
        }
        r = fmod(x, y);
        *exact = true;
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    case CUPEL_OP_ATAN2: return atan2(x, y);
    case CUPEL_OP_MINIMUM: return isnan(x) || isnan(y) ? NAN : y < x ? y : x;
    case CUPEL_OP_MAXIMUM: return isnan(x) || isnan(y) ? NAN : y > x ? y : x;
    case CUPEL_OP_FMIN: return isnan(x) || y < x ? y : x;
    case CUPEL_OP_FMAX: return isnan(x) || y > x ? y : x;
    case CUPEL_OP_LT: return x < y;
    case CUPEL_OP_LE: return x <= y;
    case CUPEL_OP_EQ: return x == y;
    case CUPEL_OP_NE: return x != y;
    case CUPEL_OP_AND: return x != 0 && y != 0;
    case CUPEL_OP_OR: return x != 0 || y != 0;
    default: break;
    }
    if (!(fabs(x) <= 0x1p53 && fabs(y) <= 0x1p53)) return 0; /* not judged already */
    const int64_t i = (int64_t)x, j = (int64_t)y;
    switch (op) {
    case CUPEL_OP_BITAND: return (double)(i & j);
    case CUPEL_OP_BITOR: return (double)(i | j);
    case CUPEL_OP_BITXOR: return (double)(i ^ j);
    case CUPEL_OP_SHL: return j >= 0 && j < 64 ? ldexp((double)i, (int)j) : 0;
    case CUPEL_OP_SHR: return j >= 0 && j < 64 ? (double)(i >> j) : 0;
    default: return r;
    }
}

typedef struct pair {
    const cupel_tensor *x, *y;
    int64_t at_x, at_y; /* where the block begins in them */
    cupel_tensor *out;
    const cupel_working *w;
    double overflow;
    double underflow; /* what an operation may lose at the bottom of the range */
    bool inexact;     /* some order of the chain may underflow: no result is exact */
    bool powers;      /* a division by a power of two is exact */
} pair;

/* A loop fills in a block and says whether its result is to be kept; otherwise the rules do the block again.
 */
typedef bool loop(const pair *p, int64_t begin, int64_t n);

static double no_radius[CUPEL_BOUNDED_BLOCK];

static inline const double *radius_of(const cupel_tensor *t, int64_t begin) {
    return t->radius ? t->radius + begin : no_radius;
}

/* u widened by what fp64 itself loses, in the radius too: the part that u multiplies is at least as large as
 * what is moved. */
static inline double widened(double unit) {
    return unit * (1 + 0x1p-20);
}

/* In the loops conditions are numbers and flags are integers, so that they vectorise; a NaN sets the flag. */

/* |a| + |b| ... of doubles that are not negative order as their bits do, NaN above all. */
static inline uint64_t more(uint64_t most, double x) {
    return cupel_bits(x) > most ? cupel_bits(x) : most;
}
static inline uint64_t less(uint64_t least, double x) {
    return cupel_bits(x) < least ? cupel_bits(x) : least;
}

/* moving: for a block whose elements all have a radius, so that none can be exact. False when one has none.
 */
static inline __attribute__((always_inline)) bool linear(const pair *p, int64_t begin, int64_t n, double sign,
                                                         bool moving) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    const double *rx = radius_of(p->x, p->at_x), *ry = radius_of(p->y, p->at_y);
    double *restrict v = p->out->value + begin, *restrict r = p->out->radius + begin;
    const double u = widened(p->w->unit), splitter = cupel_splitter(p->w->precision);
    const double limit = p->w->largest / p->overflow;
    uint64_t most = 0, least = UINT64_MAX;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double a = x[i], b = sign * y[i], s = a + b, moved = rx[i] + ry[i];
        const double radius = (moved + u * (fabs(s) + moved));
        double kept = radius;
        if (!moving) {
            const double back = s - a, lost = (a - (s - back)) + (b - back);
            const double off = moved + fabs(lost) + fabs(cupel_rounded_bits(s, splitter) - s);
            kept = off > 0 ? radius : 0;
        }
        v[i] = s;
        r[i] = kept;
        least = less(least, moved);
        most = more(most, fabs(s) + radius);
    }
    return most < cupel_bits(limit) && (!moving || least > 0);
}

/* Tries the shorter loop until a block has an element of radius 0. */
static inline __attribute__((always_inline)) bool add_signed(const pair *p, int64_t begin, int64_t n,
                                                             double sign) {
    if ((p->x->radius || p->y->radius) && linear(p, begin, n, sign, true)) return true;
    return linear(p, begin, n, sign, false);
}

CUPEL_WIDE static bool add_loop(const pair *p, int64_t begin, int64_t n) {
    return add_signed(p, begin, n, 1);
}
CUPEL_WIDE static bool sub_loop(const pair *p, int64_t begin, int64_t n) {
    return add_signed(p, begin, n, -1);
}

/* The sizes of the operands of a difference that an exponential will fold a scale into. */
static void keep_magnitude(const pair *p, int64_t begin, int64_t n) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    const double *rx = radius_of(p->x, p->at_x), *ry = radius_of(p->y, p->at_y);
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        p->out->magnitude[begin + i] = fabs(x[i]) + rx[i] + fabs(y[i]) + ry[i];
        p->out->spread[begin + i] = rx[i] + ry[i];
        const double fine_x = rx[i] == 0 ? cupel_grain(x[i]) : 0, fine_y = ry[i] == 0 ? cupel_grain(y[i]) : 0;
        p->out->grain[begin + i] = fine_x < fine_y ? fine_x : fine_y;
    }
}

/* What a sum needs to know of any other result that becomes a term of it. */
static void keep_term(const cupel_tensor *t, int64_t begin, int64_t n) {
    for (int64_t i = begin; i < begin + n; i++) {
        const double radius = cupel_radius_at(t, i);
        t->magnitude[i] = fabs(t->value[i]) + radius;
        t->spread[i] = radius;
        t->grain[i] = radius == 0 ? cupel_grain(t->value[i]) : 0;
    }
}

/* Masked scores less their maximum. */
static bool subtract_masked(cupel_bounded *b, const pair *p, int64_t begin, int64_t n) {
    cupel_masked block;
    pair plain = *p;
    cupel_masked_fill(&block, p->x, p->at_x, n, p->y->value + p->at_y, radius_of(p->y, p->at_y));
    plain.x = &block.t;
    plain.at_x = 0;
    if (!sub_loop(&plain, begin, n)) return false;
    if (p->out->magnitude) keep_magnitude(&plain, begin, n);
    return cupel_masked_restore(b, p->out, begin, p->x, p->at_x, n, -INFINITY) == CUPEL_OK;
}

static bool is_lone(const cupel_tensor *t) {
    return !t->sum && !t->magnitude && !t->peak && !(t->roundings > 0);
}

/* A mask that is added to computed scores: it joins their sum as a 0 does, but for the result's value. */
static bool add_masked(cupel_bounded *b, int node, const pair *p, int64_t begin, int64_t n) {
    static const double none[CUPEL_BOUNDED_BLOCK];
    const bool left = !p->x->sum;
    const cupel_tensor *mask = left ? p->x : p->y, *scores = left ? p->y : p->x;
    const int64_t at = left ? p->at_x : p->at_y, at_scores = left ? p->at_y : p->at_x;
    if (!is_lone(mask) || !cupel_masked_holds(mask, at, n) || !cupel_tensor_is_plain(scores, at_scores, n))
        return false;
    cupel_masked block;
    cupel_masked_fill(&block, mask, at, n, none, none);
    return cupel_joined_block(b, node, scores, at_scores, &block.t, 0, begin, n) &&
           cupel_masked_restore(b, p->out, begin, mask, at, n, -INFINITY) == CUPEL_OK;
}

/* Numbers and infinities that every kernel holds, as comparisons take them. */
static bool is_settled(const cupel_tensor *t, int64_t at, int64_t n) {
    return !t->radius && (cupel_tensor_is_plain(t, at, n) || cupel_masked_holds(t, at, n));
}

/* moving: as in linear. */
static inline __attribute__((always_inline)) bool multiply(const pair *p, int64_t begin, int64_t n,
                                                           bool moving, bool hides) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    const double *rx = radius_of(p->x, p->at_x), *ry = radius_of(p->y, p->at_y);
    double *restrict v = p->out->value + begin, *restrict r = p->out->radius + begin;
    const double u = widened(p->w->unit),
                 tiny = p->underflow * (1 + (p->x->roundings > 0) + (p->y->roundings > 0));
    const double hidden_x = p->x->roundings * u, hidden_y = p->y->roundings * u;
    const double splitter = cupel_splitter(p->w->precision), never_exact = p->inexact ? 1 : 0;
    const double limit = p->w->largest / p->overflow, normal = p->w->normal;
    const double counted = p->inexact ? 0 : 1; /* tiny is all that a result of any size may lose */
    uint64_t most = 0, least = UINT64_MAX, least_moved = UINT64_MAX;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double a = fabs(x[i]), b = fabs(y[i]), s = x[i] * y[i], size = fabs(s);
        const double moved = rx[i] * (b + ry[i]) + a * ry[i];
        const double rounds = hides ? u + (rx[i] > 0 ? 0 : hidden_x) + (ry[i] > 0 ? 0 : hidden_y) : u;
        const double radius = (moved + rounds * (size + moved) + tiny);
        double kept = radius;
        if (!moving) {
            /* operands of radius 0 have at most p bits, so a product of at most p bits is exact */
            const double off = moved + fabs(cupel_rounded_bits(s, splitter) - s) + never_exact * size;
            kept = off > 0 ? radius : 0;
        }
        v[i] = s;
        r[i] = kept;
        least_moved = less(least_moved, moved);
        most = more(most, size + radius);
        least = less(least, s == 0 || counted * kept > 0 ? normal : size);
    }
    return most < cupel_bits(limit) && least >= cupel_bits(normal) && (!moving || least_moved > 0);
}

CUPEL_WIDE static bool multiply_loop(const pair *p, int64_t begin, int64_t n) {
    const bool hides = p->x->roundings > 0 || p->y->roundings > 0;
    if ((p->x->radius || p->y->radius) &&
        (hides ? multiply(p, begin, n, true, true) : multiply(p, begin, n, true, false)))
        return true;
    return multiply(p, begin, n, false, true);
}

CUPEL_WIDE static bool divide_loop(const pair *p, int64_t begin, int64_t n) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    const double *rx = radius_of(p->x, p->at_x), *ry = radius_of(p->y, p->at_y);
    double *restrict v = p->out->value + begin, *restrict r = p->out->radius + begin;
    const double u = widened(p->w->unit),
                 tiny = p->underflow * (2 + (p->x->roundings > 0) + (p->y->roundings > 0));
    const double hidden_x = p->x->roundings * u, hidden_y = p->y->roundings * u;
    const double own = p->out->roundings * u - hidden_x - hidden_y;
    const double one_bit = cupel_splitter(1), floor = p->y->floor > 0 ? p->y->floor : -INFINITY;
    const double powers = p->powers && !p->inexact ? 0 : 1;
    /* half the range on either side keeps the reciprocal away from both of its ends */
    const double room = sqrt(p->w->largest), limit = p->w->largest / p->overflow, normal = p->w->normal;
    const double counted = p->inexact ? 0 : 1; /* as in multiply */
    uint64_t beyond = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double s = x[i] / y[i], b = fabs(y[i]), below = b - ry[i], size = fabs(s);
        const double nearest = below > floor ? below : floor;
        const double moved = (rx[i] + size * ry[i]) / nearest;
        const double rounds = own + (rx[i] > 0 ? 0 : hidden_x) + (ry[i] > 0 ? 0 : hidden_y);
        const double off = moved + (powers + fabs(cupel_rounded_bits(b, one_bit) - b)) * size;
        const double radius = (moved + rounds * (size + moved) + tiny);
        v[i] = s;
        r[i] = off > 0 ? radius : 0;
        beyond |= !(size + radius < limit);
        beyond |= !(nearest * room > 1);
        beyond |= !(b + ry[i] < room);
        beyond |= (s == 0 || counted * off > 0 ? normal : size) < normal;
    }
    return beyond == 0;
}

/* Extrema of finite operands; the ends of the enclosures are compared, as in cupel_ball_extremum. */
static inline __attribute__((always_inline)) bool extremum(const pair *p, int64_t begin, int64_t n,
                                                           double sign) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    double *v = p->out->value + begin;
    if (!p->out->radius) {
        CUPEL_VECTORISE
        for (int64_t i = 0; i < n; i++) {
            const double a = sign * x[i], b = sign * y[i];
            v[i] = sign * (b > a ? b : a);
        }
        return true;
    }
    const double *rx = radius_of(p->x, p->at_x), *ry = radius_of(p->y, p->at_y);
    double *r = p->out->radius + begin;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double a = sign * x[i], b = sign * y[i], s = b > a ? b : a;
        const double alo = a - rx[i], blo = b - ry[i], ahi = a + rx[i], bhi = b + ry[i];
        const double lo = blo > alo ? blo : alo, hi = bhi > ahi ? bhi : ahi;
        const double up = hi - s, down = s - lo;
        v[i] = sign * s;
        r[i] = up > down ? up : down;
    }
    return true;
}

CUPEL_WIDE static bool maximum_loop(const pair *p, int64_t begin, int64_t n) {
    return extremum(p, begin, n, 1);
}
CUPEL_WIDE static bool minimum_loop(const pair *p, int64_t begin, int64_t n) {
    return extremum(p, begin, n, -1);
}

static inline __attribute__((always_inline)) bool compare(const pair *p, int64_t begin, int64_t n,
                                                          cupel_op op) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    double *v = p->out->value + begin;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++)
        v[i] = (op == CUPEL_OP_LT   ? x[i] < y[i]
                : op == CUPEL_OP_LE ? x[i] <= y[i]
                : op == CUPEL_OP_EQ ? x[i] == y[i]
                                    : x[i] != y[i])
                   ? 1
                   : 0;
    if (!p->out->radius) return true;
    const double *rx = radius_of(p->x, p->at_x), *ry = radius_of(p->y, p->at_y);
    double *r = p->out->radius + begin;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double gap = fabs(x[i] - y[i]), moved = rx[i] + ry[i];
        const double touching = gap <= moved * (1 + 0x1p-40) + gap * 0x1p-40 ? 1 : 0;
        r[i] = moved > 0 ? touching : 0;
    }
    return true;
}

CUPEL_WIDE static bool lt_loop(const pair *p, int64_t begin, int64_t n) {
    return compare(p, begin, n, CUPEL_OP_LT);
}
CUPEL_WIDE static bool le_loop(const pair *p, int64_t begin, int64_t n) {
    return compare(p, begin, n, CUPEL_OP_LE);
}
CUPEL_WIDE static bool eq_loop(const pair *p, int64_t begin, int64_t n) {
    return compare(p, begin, n, CUPEL_OP_EQ);
}
CUPEL_WIDE static bool ne_loop(const pair *p, int64_t begin, int64_t n) {
    return compare(p, begin, n, CUPEL_OP_NE);
}

/* Of settled arguments. */
static bool and_loop(const pair *p, int64_t begin, int64_t n) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    if (p->x->radius || p->y->radius) return false;
    for (int64_t i = 0; i < n; i++) p->out->value[begin + i] = x[i] != 0 && y[i] != 0 ? 1 : 0;
    return true;
}
static bool or_loop(const pair *p, int64_t begin, int64_t n) {
    const double *x = p->x->value + p->at_x, *y = p->y->value + p->at_y;
    if (p->x->radius || p->y->radius) return false;
    for (int64_t i = 0; i < n; i++) p->out->value[begin + i] = x[i] != 0 || y[i] != 0 ? 1 : 0;
    return true;
}

static loop *comparison_of(cupel_op op) {
    switch (op) {
    case CUPEL_OP_LT: return lt_loop;
    case CUPEL_OP_LE: return le_loop;
    case CUPEL_OP_EQ: return eq_loop;
    case CUPEL_OP_NE: return ne_loop;
    default: return NULL;
    }
}

/* Logic, and comparisons of known integers whose type has an order of its own. */
static loop *discrete_loop_of(const cupel_bounded *b, int node) {
    const cupel_op op = b->graph->nodes[node].op;
    if (op == CUPEL_OP_AND) return and_loop;
    if (op == CUPEL_OP_OR) return or_loop;
    const bool known = !b->tensors[b->graph->nodes[node].args[0]].radius &&
                       !b->tensors[b->graph->nodes[node].args[1]].radius;
    return known && !cupel_width_excludes(op, b->plans[node].trait.width, -1, -1, 0) ? comparison_of(op)
                                                                                     : NULL;
}

static loop *loop_of(const cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    const cupel_bounded_plan *plan = &b->plans[node];
    if (b->graph->nodes[n->args[0]].kind != CUPEL_VALUE_REAL) return discrete_loop_of(b, node);
    switch (n->op) {
    case CUPEL_OP_ADD: return plan->joins ? NULL : add_loop;
    case CUPEL_OP_SUB: return plan->joins ? NULL : sub_loop;
    case CUPEL_OP_MUL: return plan->has_sum ? NULL : multiply_loop;
    case CUPEL_OP_DIV: return plan->has_sum ? NULL : divide_loop;
    case CUPEL_OP_MAXIMUM:
    case CUPEL_OP_FMAX: return maximum_loop;
    case CUPEL_OP_MINIMUM:
    case CUPEL_OP_FMIN: return minimum_loop;
    default: return comparison_of(n->op);
    }
}

static cupel_code by_rules(cupel_bounded *b, int node, const pair *p, int64_t begin, int64_t n) {
    const cupel_node *self = &b->graph->nodes[node];
    const cupel_value_kind kind = b->graph->nodes[self->args[0]].kind;
    for (int64_t i = 0; i < n; i++) {
        bool exact;
        const double u = p->x->value[p->at_x + i], v = p->y->value[p->at_y + i];
        const bool pole = (self->op == CUPEL_OP_DIV && v == 0) || (self->op == CUPEL_OP_POW && u == 0);
        const double value =
            cupel_keep_finite(evaluate(self->op, kind, u, v, &exact), isfinite(u) && isfinite(v) && !pole);
        const cupel_ball bx = cupel_tensor_load(p->x, p->at_x + i);
        const cupel_ball by = cupel_tensor_load(p->y, p->at_y + i);
        const cupel_ball r =
            cupel_ball_binary(&b->w, &b->plans[node].trait, self->op, kind, &bx, &by, value, exact);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], begin + i, &r));
    }
    return CUPEL_OK;
}

cupel_code cupel_bounded_binary(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node], *x = cupel_bounded_arg(b, node, 0),
                 *y = cupel_bounded_arg(b, node, 1);
    loop *run = loop_of(b, node);
    bool in_range = true;
    const cupel_trait *trait = &b->plans[node].trait;
    pair p = {.x = x,
              .y = y,
              .out = t,
              .w = &b->w,
              .overflow = trait->overflow,
              .underflow = b->w.eta,
              .powers = !b->w.fast || trait->constant_divisor};
    if (t->count == 0) return CUPEL_OK;
    t->sum = b->plans[node].has_sum;
    if (t->sum && b->plans[node].wants_chain) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    if (n->kind == CUPEL_VALUE_REAL && (n->op == CUPEL_OP_MUL || n->op == CUPEL_OP_DIV)) {
        cupel_binary_chain chain = {.underflow = p.underflow};
        in_range = cupel_binary_plan_chain(b, node, x, y, &chain);
        p.underflow = chain.underflow;
        p.inexact = chain.inexact;
        if (chain.each) CUPEL_TRY(cupel_tensor_need_chain(b, t));
    }
    cupel_binary_take_attributes(b, node, x, y);
    if (b->plans[node].wants_magnitude) CUPEL_TRY(cupel_tensor_need_magnitude(b, t));
    if (run && !(in_range && cupel_tensor_keeps(b, x) && cupel_tensor_keeps(b, y))) run = NULL;
    const bool chooses = n->kind == CUPEL_VALUE_BOOL || n->op == CUPEL_OP_MINIMUM ||
                         n->op == CUPEL_OP_MAXIMUM || n->op == CUPEL_OP_FMIN || n->op == CUPEL_OP_FMAX;
    if (run && (!chooses || x->radius || y->radius)) CUPEL_TRY(cupel_tensor_take_radius(b, t));
    const bool sums = t->sum && n->kind == CUPEL_VALUE_REAL && !b->w.flush;
    const bool joins = sums || (b->plans[node].joins && !b->w.flush);
    if (joins) CUPEL_TRY(cupel_tensor_take_radius(b, t));
    cupel_view_block room_x, room_y;
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t size = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count - begin : CUPEL_BOUNDED_BLOCK;
        p.x = cupel_view_fetch(b, n->args[0], begin, size, &room_x, &p.at_x);
        p.y = cupel_view_fetch(b, n->args[1], begin, size, &room_y, &p.at_y);
        const bool all_plain =
            cupel_tensor_is_plain(p.x, p.at_x, size) && cupel_tensor_is_plain(p.y, p.at_y, size);
        const bool compares = run && comparison_of(n->op); /* clones of a loop have several addresses */
        const bool plain =
            run &&
            (all_plain || (compares && is_settled(p.x, p.at_x, size) && is_settled(p.y, p.at_y, size)));
        if (joins && all_plain && cupel_joined_block(b, node, p.x, p.at_x, p.y, p.at_y, begin, size))
            continue;
        if (sums && !all_plain && n->op == CUPEL_OP_ADD && add_masked(b, node, &p, begin, size)) continue;
        if (run && n->op == CUPEL_OP_SUB && !plain && b->plans[node].trait.below_maximum && !b->w.flush &&
            cupel_masked_holds(p.x, p.at_x, size) && cupel_tensor_is_plain(p.y, p.at_y, size) &&
            subtract_masked(b, &p, begin, size))
            continue;
        if (!plain || !run(&p, begin, size) || (!chooses && cupel_tensor_may_flush(b, t, begin, size))) {
            CUPEL_TRY(by_rules(b, node, &p, begin, size));
        } else {
            const bool difference = n->op == CUPEL_OP_ADD || n->op == CUPEL_OP_SUB;
            if (t->magnitude && difference) keep_magnitude(&p, begin, size);
            if (t->magnitude && !difference) keep_term(t, begin, size);
            if (t->peak)
                cupel_binary_keep_chain(t, begin, p.x, p.at_x, p.y, p.at_y, size, n->op == CUPEL_OP_DIV);
        }
    }
    if (t->sum) cupel_tensor_end_chain(t);
    return CUPEL_OK;
}
