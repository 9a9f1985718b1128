/* What holds of a whole node of two operands, and the extents of products. */
#include "bounded_binary_node.h"

/* The factors' share of a chain's extent. */
static double share(cupel_tensor *t, bool inverted, bool peak) {
    if (t->extents && !inverted) return peak ? t->chain_peak : t->chain_trough;
    cupel_tensor_size(t);
    const bool factors = t->extents && t->roundings > 0;
    const double most = inverted ? 1 / fmin(t->least, factors ? t->chain_trough : INFINITY) : t->largest;
    const double least = inverted ? 1 / fmax(t->largest, factors ? t->chain_peak : 0) : t->least;
    return peak ? fmax(1, most) : fmin(1, least);
}

/* One factor's part of its element's extent. */
static double element_trough(const cupel_tensor *t, int64_t i, bool inverted);

static double element_peak(const cupel_tensor *t, int64_t i, bool inverted) {
    if (t->peak && !inverted) return t->peak[i];
    if (t->extents && !inverted) return t->chain_peak;
    const double v = fabs(t->value[i]), r = cupel_radius_at(t, i);
    if (!inverted) return fmax(1, v + r);
    const double whole = v > r ? 1 / (v - r) : INFINITY;
    return fmax(fmax(1, whole), t->roundings > 0 ? 1 / element_trough(t, i, false) : 0);
}

static double element_trough(const cupel_tensor *t, int64_t i, bool inverted) {
    if (t->trough && !inverted) return t->trough[i];
    if (t->extents && !inverted) return t->chain_trough;
    const double v = fabs(t->value[i]), r = cupel_radius_at(t, i);
    if (v + r == 0) return 1;
    if (!inverted) return fmin(1, fmax(v - r, 0));
    return fmin(fmin(1, 1 / (v + r)), t->roundings > 0 ? 1 / element_peak(t, i, false) : 1);
}

void cupel_binary_keep_chain(cupel_tensor *out, int64_t begin, const cupel_tensor *x, int64_t at_x,
                             const cupel_tensor *y, int64_t at_y, int64_t n, bool division) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = at_x + i, l = at_y + i;
        out->peak[begin + i] = element_peak(x, k, false) * element_peak(y, l, division);
        out->trough[begin + i] = element_trough(x, k, false) * element_trough(y, l, division);
    }
}

bool cupel_binary_plan_chain(cupel_bounded *b, int node, cupel_tensor *x, cupel_tensor *y,
                             cupel_binary_chain *chain) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const bool division = n->op == CUPEL_OP_DIV;
    const bool chained = x->roundings > 0 || y->roundings > 0;
    const double own = division ? b->w.division + (b->plans[node].trait.root_divisor ? 5 : 0) : 1;
    t->roundings = x->roundings + (division ? b->w.division : 1) * y->roundings + own;
    t->direct = x->direct && y->direct;
    const bool wanted = b->plans[node].wants_chain;
    chain->each = wanted && t->sum;
    /* a lone square's extents are its own size */
    if (division) chain->underflow = cupel_quotient_loss(&b->w, false);
    if (!chained && (!wanted || (b->plans[node].trait.square && !t->sum))) return true;
    t->extents = true;
    t->chain_peak = share(x, false, true) * share(y, division, true);
    t->chain_trough = share(x, false, false) * share(y, division, false);
    t->chain_divisors = x->chain_divisors * (division ? share(y, false, true) : y->chain_divisors);
    const bool low = t->chain_trough < 4 * b->w.normal, special = x->classes || y->classes;
    /* so large a peak would blur the small elements */
    const bool wide =
        !(t->chain_peak < 0x1p16) || !(t->chain_peak * b->plans[node].trait.overflow * 4 < b->w.largest);
    chain->each |= wanted && (wide || (low && (b->w.flush || special)) || x->peak || y->peak);
    if (!chained) return true;
    if (low && b->w.flush) return false;
    if (low) {
        chain->inexact = true;
        chain->underflow *= t->chain_peak;
    }
    const double room = b->w.largest / (b->plans[node].trait.overflow * 4);
    if (division && x->chain_divisors > 1 && !(t->chain_divisors < room)) return false;
    return t->chain_peak < 0x1p16 && t->chain_peak * b->plans[node].trait.overflow * 4 < b->w.largest;
}

/* The floor of an operand; under flush one that is subnormal may be a zero. */
static double operand_floor(const cupel_bounded *b, const cupel_tensor *t) {
    return b->w.flush && t->floor > 0 && t->floor < b->w.normal ? 0 : t->floor;
}

/* Is an argument's floor that of every term which it adds to the node, as in cupel_ball_add? */
static bool bounds_terms(const cupel_bounded *b, int node, int which, const cupel_tensor *t) {
    const cupel_bounded_plan *plan = &b->plans[node];
    const bool parts = plan->trait.joins ? plan->trait.joins >> which & 1 : plan->has_sum;
    return t->sum || t->terms == 1 || t->positive || !parts;
}

void cupel_binary_take_attributes(cupel_bounded *b, int node, const cupel_tensor *x, const cupel_tensor *y) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const cupel_trait *trait = &b->plans[node].trait;
    const bool joined = b->plans[node].joins;
    const bool left = x->products || x->roundings > 0, right = y->products || y->roundings > 0;
    if (t->sum) t->products = n->op == CUPEL_OP_MUL || n->op == CUPEL_OP_DIV || left || right;
    if (t->sum && (n->op == CUPEL_OP_ADD || n->op == CUPEL_OP_SUB))
        t->depth = fmin(x->products ? x->depth
                        : left      ? 0
                                    : INFINITY,
                        y->products ? y->depth
                        : right     ? 0
                                    : INFINITY);
    /* two scans in one: the second counts in full */
    if (t->sum) t->scan = x->scan > y->scan ? x->scan : y->scan;
    const double second = x->scan && y->scan ? (double)t->scan : 0;
    const double floor_x = operand_floor(b, x), floor_y = operand_floor(b, y);
    switch (n->op) {
    case CUPEL_OP_ADD:
        t->terms = joined ? x->terms + y->terms + second : 2;
        if (floor_x > -INFINITY && floor_y > -INFINITY) {
            const bool plain = bounds_terms(b, node, 0, x) && bounds_terms(b, node, 1, y);
            double floor = floor_x + floor_y;
            t->positive = plain && floor_x >= 0 && floor_y >= 0;
            if (joined) floor = t->positive ? fmax(floor_x, floor_y) : -INFINITY;
            t->floor = floor - 2 * b->w.unit * fabs(floor);
        }
        break;
    case CUPEL_OP_SUB:
        t->terms = joined ? x->terms + y->terms + second : 2;
        if (trait->below_maximum) t->ceiling = 0;
        break;
    case CUPEL_OP_MUL:
        t->terms = t->sum ? fmax(x->terms, y->terms) + second : 1;
        if (trait->square || (floor_x >= 0 && floor_y >= 0)) t->floor = 0;
        break;
    case CUPEL_OP_DIV:
        t->terms = t->sum ? x->terms : 1;
        t->scan = t->sum ? x->scan : 0;
        if (floor_x >= 0 && floor_y >= 0) t->floor = 0;
        break;
    /* as in cupel_ball_extremum: a side that may be infinite leaves the other's bound alone */
    case CUPEL_OP_MAXIMUM:
        t->floor = fmin(floor_x, floor_y);
        t->ceiling = fmax(x->ceiling, y->ceiling);
        if (!x->classes) t->floor = fmax(t->floor, floor_x);
        if (!y->classes) t->floor = fmax(t->floor, floor_y);
        break;
    case CUPEL_OP_MINIMUM:
        t->floor = fmin(floor_x, floor_y);
        t->ceiling = fmax(x->ceiling, y->ceiling);
        if (!x->classes) t->ceiling = fmin(t->ceiling, x->ceiling);
        if (!y->classes) t->ceiling = fmin(t->ceiling, y->ceiling);
        break;
    default: break;
    }
}
