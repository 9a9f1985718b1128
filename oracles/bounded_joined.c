#include "bounded_joined.h"

enum { BLOCK = CUPEL_BOUNDED_BLOCK };

/* What the rules want to know of one operand's elements; NULL where it is computed into the room beside. */
typedef struct side {
    const double *value, *radius, *magnitude, *spread, *grain, *peak, *trough;
    double terms[BLOCK];
    double room[5][BLOCK];
    bool product; /* as cupel_ball_is_product */
    bool sum;
} side;

static const double no_radius[BLOCK];

CUPEL_WIDE static void compute_state(side *s, int64_t n) {
    double *restrict magnitude = s->room[0], *restrict grain = s->room[1];
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double fine = cupel_grain(s->value[i]);
        magnitude[i] = fabs(s->value[i]) + s->radius[i];
        grain[i] = s->radius[i] == 0 ? fine : 0;
    }
    s->magnitude = magnitude;
    s->spread = s->radius;
    s->grain = grain;
}

/* A chain's extents, or a lone factor's. */
CUPEL_WIDE static void compute_extents(side *s, const cupel_tensor *t, int64_t n) {
    double *restrict peak = s->room[2], *restrict trough = s->room[3];
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double high = fabs(s->value[i]) + s->radius[i], low = fabs(s->value[i]) - s->radius[i];
        const double own_peak = high > 1 ? high : 1, positive = low > 0 ? low : 0;
        const double own_trough = positive < 1 ? positive : 1;
        peak[i] = t->extents ? t->chain_peak : own_peak;
        trough[i] = t->extents ? t->chain_trough : high == 0 ? 1 : own_trough;
    }
    s->peak = peak;
    s->trough = trough;
}

/* As cupel_tensor_load. */
static void take_side(side *s, const cupel_tensor *t, int64_t at, int64_t n) {
    s->value = t->value + at;
    s->radius = t->radius ? t->radius + at : no_radius;
    s->product = t->roundings > 0 || (t->sum && t->products);
    s->sum = t->sum;
    if (t->magnitude) {
        s->magnitude = t->magnitude + at;
        s->spread = t->spread + at;
        s->grain = t->grain + at;
    } else {
        compute_state(s, n);
    }
    for (int64_t i = 0; i < n; i++)
        s->terms[i] = t->magnitude ? t->terms + (double)(t->scan ? (at + i) % t->scan : 0) : 1;
    if (t->peak) {
        s->peak = t->peak + at;
        s->trough = t->trough + at;
    } else {
        compute_extents(s, t, n);
    }
}

/* As a term of a sum, the largest intermediate that it contributes. */
static const double *extents_of(const side *s, double *room, int64_t n) {
    if (s->product) return s->peak;
    if (s->sum) return s->magnitude;
    for (int64_t i = 0; i < n; i++) room[i] = fabs(s->value[i]) + s->radius[i];
    return room;
}

/* Where the results go; arrays that the tensor does not keep are room. */
typedef struct result {
    double *value, *radius, *magnitude, *spread, *grain, *peak, *trough;
    double room[5][BLOCK];
} result;

static void take_result(result *r, const cupel_tensor *t, int64_t begin) {
    r->value = t->value + begin;
    r->radius = t->radius + begin;
    r->magnitude = t->magnitude ? t->magnitude + begin : r->room[0];
    r->spread = t->spread ? t->spread + begin : r->room[1];
    r->grain = t->grain ? t->grain + begin : r->room[2];
    r->peak = t->peak ? t->peak + begin : r->room[3];
    r->trough = t->trough ? t->trough + begin : r->room[4];
}

/* The working precision and the node, as cupel_ball_close needs them. */
typedef struct setting {
    double unit, digits, normal, eta, largest, overflow;
} setting;

static inline double closed_radius(double radius, double value) {
    return radius > 0 ? radius * (1 + 0x1p-48) + fabs(value) * 0x1p-52 : radius;
}

/* Could this element overflow, or was it no number? */
static inline bool leaves(const setting *w, double top, double value, double radius) {
    const double size = (top > fabs(value) ? top : fabs(value)) * w->overflow;
    return !(size + radius * w->overflow < w->largest);
}

/* cupel_ball_add of a sum and a further term or sum. */
CUPEL_WIDE static bool add_terms(const setting *w, const side *a, const side *b, const double *extent_a,
                                 const double *extent_b, double sign, const result *r, int64_t n) {
    const setting mine = *w;
    const double products = a->product || b->product ? 1 : 0;
    uint64_t beyond = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double value = a->value[i] + sign * b->value[i], moved = a->radius[i] + b->radius[i];
        const double magnitude = a->magnitude[i] + b->magnitude[i], spread = a->spread[i] + b->spread[i];
        const double grain = a->grain[i] < b->grain[i] ? a->grain[i] : b->grain[i];
        const double exact = spread == 0 && grain > 0 && magnitude <= grain * mine.digits ? 1 : 0;
        const double wide = spread + (a->terms[i] + b->terms[i] - 1) * mine.unit * magnitude;
        const double radius = closed_radius(exact > 0 ? 0 : wide, value);
        const double both = extent_a[i] + extent_b[i], larger = magnitude > both ? magnitude : both;
        const double peak = larger > 1 ? larger : 1;
        const double low = fabs(value) - moved, positive = low > 0 ? low : 0;
        r->value[i] = value;
        r->radius[i] = radius;
        r->magnitude[i] = magnitude;
        r->spread[i] = spread;
        r->grain[i] = grain;
        r->peak[i] = peak;
        r->trough[i] = fabs(value) + moved == 0 ? 1 : positive < 1 ? positive : 1;
        beyond |= leaves(&mine, products > 0 ? peak : magnitude, value, radius);
    }
    return beyond == 0;
}

/* cupel_ball_multiply of a sum, none of whose elements is exact, and a factor. hidden: the factor's
 * roundings, where its radius does not show them. */
CUPEL_WIDE static bool scale_terms(const setting *w, const side *a, const cupel_tensor *sum, const side *f,
                                   double hidden, const result *r, int64_t n) {
    const setting mine = *w;
    const double product = a->product || f->product ? 1 : 0;
    const bool products = sum->products;
    const double depth = sum->depth < 1 ? sum->depth : 1, losses = (products ? 2 : 1) * mine.eta;
    uint64_t beyond = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double value = a->value[i] * f->value[i], factor = fabs(f->value[i]), moves = f->radius[i];
        const double size = factor + moves, moved = a->radius[i] * size + fabs(a->value[i]) * moves;
        const double rounds = 1 + (moves == 0 ? hidden : 0);
        const double own = moved + rounds * mine.unit * (fabs(value) + moved);
        const double peak = a->peak[i] * f->peak[i], trough = a->trough[i] * f->trough[i];
        /* the factor inside */
        const double inside = a->magnitude[i] * size;
        double spread = a->spread[i] * size + a->magnitude[i] * moves + mine.unit * inside;
        const double least = a->spread[i] == 0 ? a->grain[i] * factor : 0, nearest = factor - moves;
        const double deep = products ? depth * (nearest < 1 ? nearest : 1) : least;
        const double safe = least >= mine.normal && deep >= mine.normal ? 1 : 0;
        spread += safe > 0 ? 0 : losses * (products ? a->terms[i] * a->peak[i] : a->terms[i]);
        const double apart = spread + (a->terms[i] - 1) * mine.unit * inside;
        const double open = own > apart ? own : apart, radius = closed_radius(open, value);
        const double lone = fabs(value) + own, magnitude = lone > inside ? lone : inside;
        const double outer = product > 0 && peak > magnitude ? peak : magnitude;
        const double top = fabs(value) + open > outer ? fabs(value) + open : outer;
        r->value[i] = value;
        r->radius[i] = radius;
        r->magnitude[i] = magnitude;
        r->spread[i] = own > spread ? own : spread;
        r->grain[i] = 0;
        r->peak[i] = peak;
        r->trough[i] = trough;
        beyond |= leaves(&mine, top, value, radius);
        /* exact sums and zeros have rules of their own, and so has underflow */
        beyond |= !(a->radius[i] > 0);
        beyond |= !(size > 0);
        beyond |= !(trough >= mine.normal);
    }
    return beyond == 0;
}

bool cupel_joined_block(const cupel_bounded *b, int node, const cupel_tensor *x, int64_t at_x,
                        const cupel_tensor *y, int64_t at_y, int64_t begin, int64_t n) {
    const cupel_op op = b->graph->nodes[node].op;
    const cupel_tensor *t = &b->tensors[node];
    const cupel_trait *trait = &b->plans[node].trait;
    const setting w = {.unit = b->w.unit,
                       .digits = ldexp(1, b->w.precision),
                       .normal = b->w.normal,
                       .eta = b->w.eta,
                       .largest = b->w.largest,
                       .overflow = trait->overflow};
    const bool adds = op == CUPEL_OP_ADD || op == CUPEL_OP_SUB;
    if (b->w.flush || !t->radius || !(adds || op == CUPEL_OP_MUL)) return false;
    if (op == CUPEL_OP_MUL && (x->sum == y->sum || !(x->sum ? x : y)->magnitude)) return false;
    side a, f;
    result r;
    take_side(&a, x->sum || adds ? x : y, x->sum || adds ? at_x : at_y, n);
    take_side(&f, x->sum || adds ? y : x, x->sum || adds ? at_y : at_x, n);
    take_result(&r, t, begin);
    if (!adds) return scale_terms(&w, &a, x->sum ? x : y, &f, (x->sum ? y : x)->roundings, &r, n);
    double room_a[BLOCK], room_f[BLOCK];
    return add_terms(&w, &a, &f, extents_of(&a, room_a, n), extents_of(&f, room_f, n),
                     op == CUPEL_OP_SUB ? -1 : 1, &r, n);
}
