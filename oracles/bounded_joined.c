#include "bounded_joined.h"

enum { BLOCK = CUPEL_BOUNDED_BLOCK };

/* What the rules want to know of one operand's elements; NULL where it is computed into the room beside. */
typedef struct elements {
    const double *value, *radius, *magnitude, *spread, *grain, *peak, *trough, *terms;
} elements;

typedef struct side {
    elements of;
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
        const double fine = cupel_grain(s->of.value[i]);
        magnitude[i] = fabs(s->of.value[i]) + s->of.radius[i];
        grain[i] = s->of.radius[i] == 0 ? fine : 0;
    }
    s->of.magnitude = magnitude;
    s->of.spread = s->of.radius;
    s->of.grain = grain;
}

/* A chain's extents, or a lone factor's. */
CUPEL_WIDE static void compute_extents(side *s, const cupel_tensor *t, int64_t n) {
    double *restrict peak = s->room[2], *restrict trough = s->room[3];
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double high = fabs(s->of.value[i]) + s->of.radius[i],
                     low = fabs(s->of.value[i]) - s->of.radius[i];
        const double own_peak = high > 1 ? high : 1, positive = low > 0 ? low : 0;
        const double own_trough = positive < 1 ? positive : 1;
        peak[i] = t->extents ? t->chain_peak : own_peak;
        trough[i] = t->extents ? t->chain_trough : high == 0 ? 1 : own_trough;
    }
    s->of.peak = peak;
    s->of.trough = trough;
}

/* As cupel_tensor_load. */
static void take_side(side *s, const cupel_tensor *t, int64_t at, int64_t n) {
    s->of.value = t->value + at;
    s->of.radius = t->radius ? t->radius + at : no_radius;
    s->product = t->roundings > 0 || (t->sum && t->products);
    s->sum = t->sum;
    if (t->magnitude) {
        s->of.magnitude = t->magnitude + at;
        s->of.spread = t->spread + at;
        s->of.grain = t->grain + at;
    } else {
        compute_state(s, n);
    }
    s->of.terms = s->terms;
    const double terms = t->magnitude ? t->terms : 1;
    const int64_t scan = t->magnitude ? t->scan : 0;
    for (int64_t i = 0; i < n; i++) s->terms[i] = terms;
    for (int64_t i = 0; scan > 0 && i < n; i++) s->terms[i] += (double)((at + i) % scan);
    if (t->peak) {
        s->of.peak = t->peak + at;
        s->of.trough = t->trough + at;
    } else {
        compute_extents(s, t, n);
    }
}

/* As a term of a sum, the largest intermediate that it contributes. */
static const double *extents_of(const side *s, double *room, int64_t n) {
    if (s->product) return s->of.peak;
    if (s->sum) return s->of.magnitude;
    for (int64_t i = 0; i < n; i++) room[i] = fabs(s->of.value[i]) + s->of.radius[i];
    return room;
}

/* Where the results go; arrays that the tensor does not keep are room. */
typedef struct arrays {
    double *value, *radius, *magnitude, *spread, *grain, *peak, *trough;
} arrays;

typedef struct result {
    arrays to;
    double room[5][BLOCK];
} result;

static void take_result(result *r, const cupel_tensor *t, int64_t begin) {
    r->to.value = t->value + begin;
    r->to.radius = t->radius + begin;
    r->to.magnitude = t->magnitude ? t->magnitude + begin : r->room[0];
    r->to.spread = t->spread ? t->spread + begin : r->room[1];
    r->to.grain = t->grain ? t->grain + begin : r->room[2];
    r->to.peak = t->peak ? t->peak + begin : r->room[3];
    r->to.trough = t->trough ? t->trough + begin : r->room[4];
}

/* The working precision and the node, as cupel_ball_close needs them. */
typedef struct setting {
    double unit, digits, normal, smallest, eta, largest, overflow, splitter;
    double division, loss; /* of a quotient: roundings, and what it may lose at the bottom of the range */
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
CUPEL_WIDE static bool add_terms(const setting *w, const side *x, const side *y, const double *extent_a,
                                 const double *extent_b, double sign, const arrays *to, int64_t n) {
    const setting mine = *w;
    const elements a = x->of, b = y->of;
    const arrays r = *to;
    const double products = x->product || y->product ? 1 : 0;
    uint64_t beyond = 0;
    CUPEL_VECTORISE_ALONE
    for (int64_t i = 0; i < n; i++) {
        const double value = a.value[i] + sign * b.value[i], moved = a.radius[i] + b.radius[i];
        const double magnitude = a.magnitude[i] + b.magnitude[i], spread = a.spread[i] + b.spread[i];
        const double grain = a.grain[i] < b.grain[i] ? a.grain[i] : b.grain[i];
        const double exact = spread == 0 && grain > 0 && magnitude <= grain * mine.digits ? 1 : 0;
        const double wide = spread + (a.terms[i] + b.terms[i] - 1) * mine.unit * magnitude;
        const double radius = closed_radius(exact > 0 ? 0 : wide, value);
        const double both = extent_a[i] + extent_b[i], larger = magnitude > both ? magnitude : both;
        const double peak = larger > 1 ? larger : 1;
        const double low = fabs(value) - moved, positive = low > 0 ? low : 0;
        r.value[i] = value;
        r.radius[i] = radius;
        r.magnitude[i] = magnitude;
        r.spread[i] = spread;
        r.grain[i] = grain;
        r.peak[i] = peak;
        r.trough[i] = fabs(value) + moved == 0 ? 1 : positive < 1 ? positive : 1;
        beyond |= leaves(&mine, products > 0 ? peak : magnitude, value, radius);
    }
    return beyond == 0;
}

/* What all elements of a sum share, when a factor goes inside. */
typedef struct inside {
    bool products;
    double depth, losses; /* losses: at the bottom of the range, for each term */
    double rounding;      /* of each term, in u */
} inside;

static inside inside_of(const setting *w, const cupel_tensor *sum, double rounding) {
    return (inside){.products = sum->products,
                    .depth = sum->depth < 1 ? sum->depth : 1,
                    .losses = (sum->products ? 2 : 1) * w->eta,
                    .rounding = rounding};
}

typedef struct scaled {
    double radius, magnitude, spread, grain;
} scaled;

/* scale_sum of ball_arithmetic.c: element i of a sum, with the factor inside. even: the factor is an exact
 * power of two. */
static inline __attribute__((always_inline)) scaled scale_terms(const setting *w, const inside *in,
                                                                elements a, int64_t i, double factor,
                                                                double moves, double even) {
    const double own = a.spread[i], fine = a.grain[i], terms = a.terms[i], many = terms * a.peak[i];
    const double size = factor + moves, magnitude = a.magnitude[i] * size;
    const double rounded = even > 0 ? 0 : in->rounding * w->unit * magnitude;
    const double moved = own * size + a.magnitude[i] * moves + rounded;
    const double least = own == 0 ? fine * factor : 0, nearest = factor - moves;
    const double deep = in->products ? in->depth * (nearest < 1 ? nearest : 1) : least;
    const double grain = even > 0 ? fine * factor : 0;
    const double safe = least >= w->normal && deep >= w->normal ? 1 : 0;
    const double coarse = !in->products && grain >= w->smallest ? 1 : 0;
    const double carry = in->products ? many : terms;
    const double spread = moved + (safe + coarse > 0 ? 0 : in->losses * carry);
    const double exact = spread == 0 && grain > 0 && magnitude <= grain * w->digits ? 1 : 0;
    const double radius = exact > 0 ? 0 : spread + (terms - 1) * w->unit * magnitude;
    return (scaled){radius, magnitude, spread, grain};
}

static inline double larger(double a, double b) {
    return a > b ? a : b;
}

static inline double smaller(double a, double b) {
    return a < b ? a : b;
}

/* 1 for a power of two. */
static inline double is_even(double x, double one_bit) {
    return x != 0 && cupel_rounded_bits(x, one_bit) == x ? 1 : 0;
}

/* An element's result, its factors outside with radius `own` and inside as `in` has it, but for its trough.
 * False: it may leave the range. */
static inline __attribute__((always_inline)) bool
keep_scaled(const setting *w, arrays r, int64_t i, double value, double own, scaled in, double top) {
    const double open = larger(own, in.radius), radius = closed_radius(open, value);
    const double magnitude = larger(fabs(value) + own, in.magnitude);
    r.value[i] = value;
    r.radius[i] = radius;
    r.magnitude[i] = magnitude;
    r.spread[i] = larger(own, in.spread);
    r.grain[i] = in.grain;
    return leaves(w, larger(top, larger(fabs(value) + open, magnitude)), value, radius);
}

/* A product or quotient of a sum: operands and their tensors, of which the first is the sum's. */
typedef struct scaling {
    const side *a, *b;
    const cupel_tensor *x, *y;
    arrays r;
    double roundings; /* of the result's chain */
    bool fast;        /* no quotient is exact */
} scaling;

/* cupel_ball_multiply of a sum and a factor, or (both) another sum. */
static inline __attribute__((always_inline)) bool multiply_terms(const setting *w, const scaling *s,
                                                                 bool both, int64_t n) {
    const elements a = s->a->of, b = s->b->of;
    const arrays r = s->r;
    const setting mine = *w;
    const inside in_a = inside_of(w, s->x, 1), in_b = inside_of(w, s->y, 1);
    const double product = s->a->product || s->b->product ? 1 : 0;
    const double hidden_a = s->x->roundings, hidden_b = s->y->roundings;
    const double chained = hidden_a + hidden_b > 0 ? 1 : 0;
    const double underflow = w->eta * (1 + (hidden_a > 0) + (hidden_b > 0));
    const double splitter = w->splitter, one_bit = cupel_splitter(1);
    uint64_t beyond = 0;
    CUPEL_VECTORISE_ALONE
    for (int64_t i = 0; i < n; i++) {
        const double value = a.value[i] * b.value[i], size_a = fabs(a.value[i]), ra = a.radius[i];
        const double size_b = fabs(b.value[i]), rb = b.radius[i], moved = ra * (size_b + rb) + size_a * rb;
        const double peak = a.peak[i] * b.peak[i], trough = a.trough[i] * b.trough[i];
        const double ranges = chained > 0 && !(trough >= mine.normal && peak <= mine.largest) ? 0 : 1;
        /* operands of radius 0 have at most p bits, so a product of at most p bits is exact */
        const double off = fabs(cupel_rounded_bits(value, splitter) - value) + (1 - ranges) * fabs(value);
        const double rounds = 1 + (ra > 0 ? 0 : hidden_a) + (rb > 0 ? 0 : hidden_b);
        const double lost = trough >= mine.normal ? 0 : underflow * (chained > 0 ? peak : 1);
        const double wide = moved + rounds * mine.unit * (fabs(value) + moved) + lost;
        const double own = moved + off > 0 ? wide : 0;
        const double still = ra + rb == 0 ? ranges : 0;
        scaled in = scale_terms(&mine, &in_a, a, i, size_b, rb, still * is_even(b.value[i], one_bit));
        if (both) {
            const double even = still * is_even(a.value[i], one_bit);
            const scaled other = scale_terms(&mine, &in_b, b, i, size_a, ra, even);
            in = (scaled){larger(in.radius, other.radius), larger(in.magnitude, other.magnitude),
                          larger(in.spread, other.spread), other.grain};
        }
        r.peak[i] = peak;
        r.trough[i] = trough;
        beyond |= keep_scaled(&mine, r, i, value, own, in, product > 0 ? peak : 0);
        /* exact results below the normal numbers */
        beyond |= (own > 0 || value == 0 ? mine.normal : fabs(value)) < mine.normal;
    }
    return beyond == 0;
}

CUPEL_WIDE static bool multiply_sum(const setting *w, const scaling *s, int64_t n) {
    return multiply_terms(w, s, false, n);
}
CUPEL_WIDE static bool multiply_sums(const setting *w, const scaling *s, int64_t n) {
    return multiply_terms(w, s, true, n);
}

/* cupel_ball_divide of a sum. */
CUPEL_WIDE static bool divide_sum(const setting *w, const scaling *s, int64_t n) {
    const elements a = s->a->of, b = s->b->of;
    const arrays r = s->r;
    const setting mine = *w;
    const inside in = inside_of(w, s->x, w->division);
    const double hidden_a = s->x->roundings, hidden_b = s->y->roundings, roundings = s->roundings;
    const double factors = hidden_b > 0 ? 1 : 0, chained = hidden_a + hidden_b > 0 ? 1 : 0;
    const double product = s->a->product || hidden_b > 0 ? 1 : 0, crowd = s->x->chain_divisors;
    const double lost_by_chain = w->loss * (2 + (hidden_a > 0) + (hidden_b > 0));
    const double floor = s->y->floor, ceiling = s->y->ceiling;
    const double one_bit = cupel_splitter(1), precise = s->fast ? 0 : 1;
    uint64_t beyond = 0;
    CUPEL_VECTORISE_ALONE
    for (int64_t i = 0; i < n; i++) {
        const double y = b.value[i], ra = a.radius[i], rb = b.radius[i], value = a.value[i] / y;
        const double lo = larger(y - rb, floor), hi = smaller(y + rb, ceiling);
        const double size = fabs(y) + rb, least = smaller(fabs(lo), fabs(hi)), inverse = 1 / least;
        const double moved = (ra + fabs(value) * rb) / least;
        const double apart = factors > 0 ? 1 / b.trough[i] : 0, within = factors > 0 ? 1 / b.peak[i] : 1;
        const double peak = a.peak[i] * larger(larger(1, inverse), apart);
        const double trough = a.trough[i] * smaller(smaller(1, 1 / size), within);
        const double rounds = roundings - (ra > 0 ? hidden_a : 0) - (rb > 0 ? hidden_b : 0);
        const double wide = moved + rounds * mine.unit * (fabs(value) + moved);
        const double low = (fabs(value) - wide >= mine.normal ? 0 : mine.loss) +
                           (1 / size >= mine.normal ? 0 : mine.loss * (fabs(a.value[i]) + ra));
        const double deep = trough < mine.normal ? lost_by_chain * peak : 0;
        const double own = moved + fabs(value) > 0 ? wide + (chained > 0 ? deep : low) : 0;
        const double power = rb == 0 ? precise * is_even(y, one_bit) : 0;
        const double ranges = chained > 0 && !(trough >= mine.normal && peak <= mine.largest) ? 0 : 1;
        const double moves = moved > 0 ? rb / least / least : 0;
        const double top = larger(inverse, product > 0 ? peak : 0);
        const scaled inner = scale_terms(&mine, &in, a, i, inverse, moves, power * ranges);
        const double divisors = crowd * larger(1, factors > 0 ? b.peak[i] : size);
        r.peak[i] = peak;
        r.trough[i] = trough;
        beyond |= keep_scaled(&mine, r, i, value, own, inner, top);
        /* a divisor that may be 0 or huge, many of them, and exact quotients */
        beyond |= (lo > 0 ? lo : -hi) <= 0;
        beyond |= !(size * mine.normal <= 1);
        beyond |= (crowd > 1 ? divisors * mine.overflow : 0) >= mine.largest;
        beyond |= power * fabs(value) > 0 && moved == 0;
    }
    return beyond == 0;
}

static setting setting_of(const cupel_bounded *b, int node, bool chained) {
    return (setting){.unit = b->w.unit,
                     .digits = ldexp(1, b->w.precision),
                     .normal = b->w.normal,
                     .smallest = b->w.smallest,
                     .eta = b->w.eta,
                     .largest = b->w.largest,
                     .overflow = b->plans[node].trait.overflow,
                     .splitter = cupel_splitter(b->w.precision),
                     .division = b->w.division,
                     .loss = cupel_quotient_loss(&b->w, chained)};
}

bool cupel_joined_block(const cupel_bounded *b, int node, const cupel_tensor *x, int64_t at_x,
                        const cupel_tensor *y, int64_t at_y, int64_t begin, int64_t n) {
    const cupel_op op = b->graph->nodes[node].op;
    const cupel_tensor *t = &b->tensors[node];
    const bool adds = op == CUPEL_OP_ADD || op == CUPEL_OP_SUB;
    if (b->w.flush || !t->radius || !(adds || op == CUPEL_OP_MUL || op == CUPEL_OP_DIV)) return false;
    /* the factor second */
    const bool swaps = op == CUPEL_OP_MUL && !x->sum;
    const cupel_tensor *first = swaps ? y : x, *second = swaps ? x : y;
    const bool both = op == CUPEL_OP_MUL && second->sum;
    if (!adds && !first->sum) return false;
    if (!adds && !(first->magnitude && (!both || second->magnitude))) return false;
    const setting w = setting_of(b, node, x->roundings > 0 || y->roundings > 0);
    side first_side, second_side;
    result r;
    take_side(&first_side, first, swaps ? at_y : at_x, n);
    take_side(&second_side, second, swaps ? at_x : at_y, n);
    take_result(&r, t, begin);
    if (!adds) {
        const scaling s = {&first_side,
                           &second_side,
                           first,
                           second,
                           r.to,
                           t->roundings,
                           b->w.fast && !b->plans[node].trait.constant_divisor};
        if (op == CUPEL_OP_DIV) return divide_sum(&w, &s, n);
        return both ? multiply_sums(&w, &s, n) : multiply_sum(&w, &s, n);
    }
    double room_x[BLOCK], room_y[BLOCK];
    return add_terms(&w, &first_side, &second_side, extents_of(&first_side, room_x, n),
                     extents_of(&second_side, room_y, n), op == CUPEL_OP_SUB ? -1 : 1, &r.to, n);
}
