/* WHERE, EXCLUDE, LOOSEN and CAST. */
#include "bounded.h"

/* A choice of products is one to the factors that follow: kernels may multiply them into either side. */
static void choose_chain(cupel_tensor *t, cupel_tensor *yes, cupel_tensor *no) {
    t->roundings = fmax(yes->roundings, no->roundings);
    t->chain_divisors = fmax(yes->chain_divisors, no->chain_divisors);
    if (t->roundings == 0) return;
    cupel_tensor_size(yes), cupel_tensor_size(no);
    t->extents = true;
    t->chain_peak = fmax(yes->extents ? yes->chain_peak : fmax(1, yes->largest),
                         no->extents ? no->chain_peak : fmax(1, no->largest));
    t->chain_trough = fmin(yes->extents ? yes->chain_trough : fmin(1, yes->least),
                           no->extents ? no->chain_trough : fmin(1, no->least));
}

/* Each element of the side taken; a side that is NULL holds 0 everywhere, or FINITE, or JUDGED. */
CUPEL_WIDE static void choose_numbers(double *restrict to, const double *c, const double *yes,
                                      const double *no, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double y = yes ? yes[i] : 0, z = no ? no[i] : 0;
        to[i] = c[i] != 0 ? y : z;
    }
}

CUPEL_WIDE static void choose_marks(uint8_t *restrict to, const double *c, const uint8_t *yes,
                                    const uint8_t *no, uint8_t usual, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const uint8_t y = yes ? yes[i] : usual, z = no ? no[i] : usual;
        to[i] = c[i] != 0 ? y : z;
    }
}

/* As a settled condition leaves them. */
static cupel_code copy_chosen(cupel_bounded *b, cupel_tensor *t, const cupel_tensor *c,
                              const cupel_tensor *yes, const cupel_tensor *no) {
    choose_numbers(t->value, c->value, yes->value, no->value, t->count);
    if (yes->radius || no->radius) {
        CUPEL_TRY(cupel_tensor_take_radius(b, t));
        choose_numbers(t->radius, c->value, yes->radius, no->radius, t->count);
    }
    if (yes->classes || no->classes) {
        CUPEL_TRY(cupel_tensor_need_classes(b, t));
        choose_marks(t->classes, c->value, yes->classes, no->classes, CUPEL_CLASS_FINITE, t->count);
    }
    if (yes->reasons || no->reasons) {
        CUPEL_TRY(cupel_tensor_need_reasons(b, t));
        choose_marks(t->reasons, c->value, yes->reasons, no->reasons, CUPEL_REASON_JUDGED, t->count);
    }
    return CUPEL_OK;
}

static cupel_code where(cupel_bounded *b, int node) {
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *c = cupel_bounded_arg(b, node, 0);
    cupel_tensor *yes = cupel_bounded_arg(b, node, 1), *no = cupel_bounded_arg(b, node, 2);
    if (b->graph->nodes[node].kind == CUPEL_VALUE_REAL) choose_chain(t, yes, no);
    t->direct = yes->direct && no->direct;
    t->floor = fmin(yes->floor, no->floor);
    t->ceiling = fmax(yes->ceiling, no->ceiling);
    CUPEL_TRY(copy_chosen(b, t, c, yes, no));
    for (int64_t i = 0; (c->radius || c->reasons) && i < t->count; i++) {
        if (cupel_radius_at(c, i) == 0 && !(c->reasons && c->reasons[i])) continue;
        const cupel_ball bc = cupel_tensor_load(c, i), by = cupel_tensor_load(yes, i),
                         bn = cupel_tensor_load(no, i);
        const cupel_ball r = cupel_ball_where(&bc, &by, &bn, t->value[i]);
        if (bc.radius > 0) t->direct = false; /* which zero it is depends on the outcome */
        CUPEL_TRY(cupel_tensor_store(b, t, i, &r));
    }
    return CUPEL_OK;
}

/* The integer that a cast to an integer type gives; cupel_ball_cast decides whether it is judged. */
static double to_integer(double x) {
    return fabs(x) < 0x1p64 ? trunc(x) + 0.0 : 0; /* no -0 */
}

static cupel_code cast(cupel_bounded *b, int node) {
    const cupel_node *n = &b->graph->nodes[node];
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    const bool real = cupel_format_of(n->type)->kind == CUPEL_KIND_REAL;
    t->direct = real && x->direct;
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t end = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count : begin + CUPEL_BOUNDED_BLOCK;
        for (int64_t i = begin; i < end; i++)
            t->value[i] = real ? cupel_saturate(n->type, x->value[i]) : to_integer(x->value[i]);
        for (int64_t i = begin; i < end; i++) {
            const bool plain = real && !b->w.flush && !x->radius &&
                               (!x->classes || x->classes[i] == CUPEL_CLASS_FINITE) &&
                               (!x->reasons || !x->reasons[i]) && isfinite(t->value[i]) &&
                               cupel_format_of(n->type)->precision <= b->w.precision;
            const bool open = n->type == CUPEL_TF32 || n->type == CUPEL_E4M3 || n->type == CUPEL_E5M2;
            if (plain && !t->radius && !(open && t->value[i] != x->value[i])) continue;
            const cupel_ball bx = cupel_tensor_load(x, i);
            const cupel_ball r = cupel_ball_cast(&b->w, n->type, &bx, t->value[i]);
            CUPEL_TRY(cupel_tensor_store(b, t, i, &r));
        }
    }
    return CUPEL_OK;
}

CUPEL_WIDE static bool holds_anywhere(const double *condition, int64_t n) {
    uint64_t any = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) any |= condition[i] != 0;
    return any != 0;
}

static cupel_code exclude(cupel_bounded *b, int node) {
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0), *c = cupel_bounded_arg(b, node, 1);
    CUPEL_TRY(cupel_tensor_adopt(b, t, x, true));
    t->direct = false;
    cupel_tensor_copy(t, 0, x, 0, 1, t->count);
    if (!c->radius && !c->reasons && !holds_anywhere(c->value, t->count)) return CUPEL_OK;
    for (int64_t i = 0; i < t->count; i++) {
        if (c->value[i] == 0 && cupel_radius_at(c, i) == 0 && !(c->reasons && c->reasons[i])) continue;
        const cupel_ball bx = cupel_tensor_load(x, i), bc = cupel_tensor_load(c, i);
        const cupel_ball r = cupel_ball_exclude(&bx, &bc);
        CUPEL_TRY(cupel_tensor_store(b, t, i, &r));
    }
    return CUPEL_OK;
}

static cupel_code between(cupel_bounded *b, int node) {
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0), *y = cupel_bounded_arg(b, node, 1),
                       *c = cupel_bounded_arg(b, node, 2);
    CUPEL_TRY(cupel_tensor_adopt(b, t, x, true));
    cupel_tensor_copy(t, 0, x, 0, 1, t->count);
    t->floor = fmin(x->floor, y->floor);
    t->ceiling = fmax(x->ceiling, y->ceiling);
    for (int64_t i = 0; i < t->count; i++) {
        if (c->value[i] == 0 && cupel_radius_at(c, i) == 0 && !(c->reasons && c->reasons[i])) continue;
        const cupel_ball bx = cupel_tensor_load(x, i), by = cupel_tensor_load(y, i),
                         bc = cupel_tensor_load(c, i);
        const cupel_ball r = cupel_ball_between(&bx, &by, &bc);
        CUPEL_TRY(cupel_tensor_store(b, t, i, &r));
    }
    return CUPEL_OK;
}

/* Plain elements that belong to no chain, as cupel_ball_loosen has them; the new radii. False where one may
 * leave the type's normal range. *lossy: some radius is not 0. */
CUPEL_WIDE static bool loosen_loop(cupel_dtype type, bool scaled, const double *value, const double *radius,
                                   double *restrict out, int64_t n, bool *lossy) {
    const int precision = cupel_format_of(type)->precision;
    const double splitter = cupel_splitter(precision), unit2 = 2 * cupel_format_unit(type);
    const double normal = cupel_loosen_normal(type, scaled), most = ldexp(1, cupel_format_of(type)->emax - 1);
    const uint64_t kept = ~((UINT64_C(1) << (53 - precision)) - 1);
    const double always = scaled ? 1 : 0;
    uint64_t beyond = 0, changed = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double x = value[i], r = radius[i], size = fabs(x) + r;
        const uint64_t bits = cupel_bits(x) & kept;
        double truncated;
        memcpy(&truncated, &bits, sizeof truncated);
        const double cut = fabs(x - truncated), off = fabs(cupel_rounded_bits(x, splitter) - x);
        const double point = off > cut ? off : cut, wide = r + unit2 * size * (1 + 0x1p-40);
        out[i] = r + (size == 0 ? 0 : always) > 0 ? wide : point;
        changed |= out[i] > 0;
        beyond |= !(size < most);
        beyond |= (size == 0 ? normal : fabs(x) - r) < normal;
    }
    *lossy = changed != 0;
    return beyond == 0;
}

static cupel_code loosen_by_rules(cupel_bounded *b, int node, int64_t begin, int64_t count) {
    const cupel_node *n = &b->graph->nodes[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    for (int64_t i = begin; i < begin + count; i++) {
        const cupel_ball bx = cupel_tensor_load(x, i);
        const cupel_ball r = cupel_ball_loosen(&b->w, n->type, n->scaled, &bx);
        CUPEL_TRY(cupel_tensor_store(b, &b->tensors[node], i, &r));
    }
    return CUPEL_OK;
}

/* What is known of the whole tensor, after its elements may have moved. */
static void loosen_attributes(cupel_tensor *t, cupel_dtype type) {
    t->floor = cupel_loosen_floor(type, t->floor);
    t->ceiling = cupel_loosen_ceiling(type, t->ceiling);
    t->chain_peak = cupel_loosen_up(type, t->chain_peak);
    t->chain_trough = cupel_loosen_down(type, t->chain_trough);
    t->depth = cupel_loosen_down(type, t->depth);
}

/* The largest radius over |value|. */
static double relative_radius(const cupel_tensor *x) {
    double most = 0;
    for (int64_t i = 0; x->radius && i < x->count; i++) {
        const double size = fabs(x->value[i]), r = x->radius[i];
        if (r > most * size) most = size > 0 ? r / size * (1 + 0x1p-40) : INFINITY;
    }
    return most;
}

static cupel_code loosen(cupel_bounded *b, int node) {
    const cupel_dtype type = b->graph->nodes[node].type;
    const bool scaled = b->graph->nodes[node].scaled;
    cupel_tensor *t = &b->tensors[node];
    const cupel_tensor *x = cupel_bounded_arg(b, node, 0);
    CUPEL_TRY(cupel_tensor_adopt(b, t, x, true));
    cupel_tensor_copy(t, 0, x, 0, 1, t->count);
    const bool loops = !b->w.flush && !(x->roundings > 0) && !x->sum && !x->magnitude && !x->peak;
    static const double none[CUPEL_BOUNDED_BLOCK];
    double radius[CUPEL_BOUNDED_BLOCK];
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t n = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count - begin : CUPEL_BOUNDED_BLOCK;
        bool lossy = false;
        if (!loops || !cupel_tensor_is_plain(x, begin, n) ||
            !loosen_loop(type, scaled, x->value + begin, x->radius ? x->radius + begin : none, radius, n,
                         &lossy)) {
            CUPEL_TRY(loosen_by_rules(b, node, begin, n));
        } else if (lossy) {
            CUPEL_TRY(cupel_tensor_need_radius(b, t));
            memcpy(t->radius + begin, radius, (size_t)n * sizeof *radius);
        }
    }
    if (t->radius) loosen_attributes(t, type);
    t->narrowed = true;
    t->relative = relative_radius(x);
    return CUPEL_OK;
}

cupel_code cupel_bounded_select(cupel_bounded *b, int node) {
    if (b->tensors[node].count == 0) return CUPEL_OK;
    switch (b->graph->nodes[node].op) {
    case CUPEL_OP_WHERE: return where(b, node);
    case CUPEL_OP_EXCLUDE: return exclude(b, node);
    case CUPEL_OP_BETWEEN: return between(b, node);
    case CUPEL_OP_LOOSEN: return loosen(b, node);
    default: return cast(b, node);
    }
}
