/* Storage of the bounded evaluator's tensors. */
#include "bounded.h"

/* The smallest free array that is large enough, and not wasteful; else memory from the arena. */
static cupel_code take(cupel_bounded *b, void **array, int64_t count, size_t size) {
    if (*array) return CUPEL_OK;
    const size_t bytes = (size_t)count * size;
    int best = -1;
    for (int i = 0; i < b->pool.count; i++) {
        const size_t own = b->pool.free[i].size;
        if (own >= bytes && own <= 2 * bytes + 64 && (best < 0 || own < b->pool.free[best].size)) best = i;
    }
    if (best >= 0) {
        *array = b->pool.free[best].memory;
        b->pool.free[best] = b->pool.free[--b->pool.count];
        return CUPEL_OK;
    }
    *array = cupel_arena_raw(b->arena, (size_t)count, size);
    if (!*array)
        return cupel_fail(b->err, CUPEL_MEMORY, "no memory for a tensor of %lld elements", (long long)count);
    return CUPEL_OK;
}

static void give(cupel_bounded *b, void *array, int64_t count, size_t size) {
    if (!array || b->pool.count == CUPEL_POOL_MAX) return;
    b->pool.free[b->pool.count].memory = array;
    b->pool.free[b->pool.count++].size = (size_t)count * size;
}

cupel_code cupel_tensor_create(cupel_bounded *b, int node) {
    cupel_tensor *t = &b->tensors[node];
    *t = (cupel_tensor){.count = b->graph->nodes[node].count,
                        .terms = 1,
                        .chain_peak = 1,
                        .chain_trough = 1,
                        .chain_divisors = 1,
                        .floor = -INFINITY,
                        .ceiling = INFINITY};
    return take(b, (void **)&t->value, t->count, sizeof(double));
}

cupel_code cupel_tensor_need_radius(cupel_bounded *b, cupel_tensor *t) {
    if (t->radius) return CUPEL_OK;
    CUPEL_TRY(take(b, (void **)&t->radius, t->count, sizeof(double)));
    memset(t->radius, 0, (size_t)t->count * sizeof(double));
    return CUPEL_OK;
}

cupel_code cupel_tensor_take_radius(cupel_bounded *b, cupel_tensor *t) {
    return take(b, (void **)&t->radius, t->count, sizeof(double));
}

cupel_code cupel_tensor_need_classes(cupel_bounded *b, cupel_tensor *t) {
    if (t->classes) return CUPEL_OK;
    CUPEL_TRY(take(b, (void **)&t->classes, t->count, 1));
    memset(t->classes, CUPEL_CLASS_FINITE, (size_t)t->count);
    return CUPEL_OK;
}

cupel_code cupel_tensor_need_reasons(cupel_bounded *b, cupel_tensor *t) {
    if (t->reasons) return CUPEL_OK;
    CUPEL_TRY(take(b, (void **)&t->reasons, t->count, 1));
    memset(t->reasons, CUPEL_REASON_JUDGED, (size_t)t->count);
    return CUPEL_OK;
}

cupel_code cupel_tensor_need_magnitude(cupel_bounded *b, cupel_tensor *t) {
    CUPEL_TRY(take(b, (void **)&t->magnitude, t->count, sizeof(double)));
    CUPEL_TRY(take(b, (void **)&t->spread, t->count, sizeof(double)));
    return take(b, (void **)&t->grain, t->count, sizeof(double));
}

cupel_code cupel_tensor_need_chain(cupel_bounded *b, cupel_tensor *t) {
    CUPEL_TRY(take(b, (void **)&t->peak, t->count, sizeof(double)));
    return take(b, (void **)&t->trough, t->count, sizeof(double));
}

cupel_code cupel_tensor_take_output(cupel_bounded *b, cupel_allowed *out) {
    CUPEL_TRY(take(b, (void **)&out->value, out->count, sizeof(double)));
    CUPEL_TRY(take(b, (void **)&out->radius, out->count, sizeof(double)));
    CUPEL_TRY(take(b, (void **)&out->lo, out->count, sizeof(double)));
    CUPEL_TRY(take(b, (void **)&out->hi, out->count, sizeof(double)));
    if (cupel_dtype_is_wide(out->type)) {
        CUPEL_TRY(take(b, (void **)&out->least, out->count, sizeof *out->least));
        CUPEL_TRY(take(b, (void **)&out->most, out->count, sizeof *out->most));
    }
    CUPEL_TRY(take(b, (void **)&out->classes, out->count, 1));
    return take(b, (void **)&out->reasons, out->count, 1);
}

void cupel_tensor_free(cupel_bounded *b, cupel_tensor *t) {
    double *const arrays[] = {t->value, t->radius, t->magnitude, t->spread, t->grain, t->peak, t->trough};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) give(b, arrays[i], t->count, sizeof(double));
    give(b, t->classes, t->count, 1);
    give(b, t->reasons, t->count, 1);
    *t = (cupel_tensor){0};
}

/* Running maxima and minima, lane by lane: a compiler does not reorder a maximum of doubles, but it does
 * vectorise this. */
CUPEL_WIDE static void widen(double *restrict top, double *restrict low, const double *value,
                             const double *radius, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double size = fabs(value[i]), high = size + radius[i], below = size - radius[i];
        const double finite = high < INFINITY ? high : 0, near = high == 0 ? INFINITY : below;
        top[i] = finite > top[i] ? finite : top[i];
        low[i] = near < low[i] ? near : low[i];
    }
}

void cupel_tensor_size(cupel_tensor *t) {
    if (t->sized) return;
    static const double none[CUPEL_BOUNDED_BLOCK];
    double top[CUPEL_BOUNDED_BLOCK], low[CUPEL_BOUNDED_BLOCK], largest = 0, least = INFINITY;
    const int64_t lanes = t->count < CUPEL_BOUNDED_BLOCK ? t->count : CUPEL_BOUNDED_BLOCK;
    for (int64_t i = 0; i < lanes; i++) top[i] = 0, low[i] = INFINITY;
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t n = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count - begin : CUPEL_BOUNDED_BLOCK;
        widen(top, low, t->value + begin, t->radius ? t->radius + begin : none, n);
    }
    for (int64_t i = 0; i < lanes; i++) {
        largest = top[i] > largest ? top[i] : largest;
        least = low[i] < least ? low[i] : least;
    }
    t->largest = largest;
    t->least = fmax(least, 0);
    t->sized = true;
}

/* As widen, of what elements keep. */
CUPEL_WIDE static void widen_chain(double *restrict peak, double *restrict trough, const double *peaks,
                                   const double *troughs, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        peak[i] = peaks[i] > peak[i] ? peaks[i] : peak[i];
        trough[i] = troughs[i] < trough[i] ? troughs[i] : trough[i];
    }
}

void cupel_tensor_end_chain(cupel_tensor *t) {
    if (!t->peak) return;
    double peaks[CUPEL_BOUNDED_BLOCK], troughs[CUPEL_BOUNDED_BLOCK], peak = 1, trough = 1;
    const int64_t lanes = t->count < CUPEL_BOUNDED_BLOCK ? t->count : CUPEL_BOUNDED_BLOCK;
    for (int64_t i = 0; i < lanes; i++) peaks[i] = troughs[i] = 1;
    for (int64_t begin = 0; begin < t->count; begin += CUPEL_BOUNDED_BLOCK) {
        const int64_t n = t->count - begin < CUPEL_BOUNDED_BLOCK ? t->count - begin : CUPEL_BOUNDED_BLOCK;
        widen_chain(peaks, troughs, t->peak + begin, t->trough + begin, n);
    }
    for (int64_t i = 0; i < lanes; i++) {
        peak = fmax(peak, peaks[i]);
        trough = fmin(trough, troughs[i]);
    }
    t->extents = true;
    t->chain_peak = peak;
    t->chain_trough = trough;
}

double cupel_tensor_extent(const cupel_tensor *t, int64_t begin, int64_t n, double magnitude) {
    if (!(t->roundings > 0) && !t->products) return magnitude;
    if (!t->peak) return t->extents ? (double)n * t->chain_peak : (double)n + magnitude;
    double sum = 0;
    for (int64_t i = begin; i < begin + n; i++) sum += t->peak[i];
    return fmax(sum, magnitude);
}

cupel_ball cupel_tensor_load(const cupel_tensor *t, int64_t i) {
    cupel_ball ball =
        cupel_ball_plain(t->value[i], cupel_radius_at(t, i), t->classes ? t->classes[i] : CUPEL_CLASS_FINITE,
                         t->reasons ? t->reasons[i] : CUPEL_REASON_JUDGED);
    ball.floor = t->floor;
    ball.ceiling = t->ceiling;
    ball.direct = t->direct;
    ball.sum = t->sum;
    ball.positive = t->positive;
    if (t->direct && ball.value == 0 && ball.radius == 0 && ball.classes == CUPEL_CLASS_FINITE)
        ball.classes |= cupel_zero_sign_of(ball.value);
    if (t->magnitude) {
        ball.magnitude = t->magnitude[i];
        ball.spread = t->spread[i];
        ball.grain = t->grain[i];
        ball.terms = t->terms + (double)(t->scan ? i % t->scan : 0);
        ball.least = 0;
    }
    ball.roundings = t->roundings;
    ball.divisors = t->chain_divisors;
    if (t->peak) {
        ball.peak = t->peak[i];
        ball.trough = t->trough[i];
    } else if (t->extents) {
        ball.peak = t->chain_peak;
        ball.trough = t->chain_trough;
    }
    if (t->sum) {
        ball.products = t->products;
        ball.carry = t->products ? ball.terms * ball.peak : ball.terms;
        ball.depth = t->depth;
    }
    return ball;
}

cupel_code cupel_tensor_store(cupel_bounded *b, cupel_tensor *t, int64_t i, const cupel_ball *ball) {
    t->value[i] = ball->value;
    const uint8_t classes = ball->classes & (CUPEL_CLASS_MASK | CUPEL_KEEP);
    if (ball->radius > 0) CUPEL_TRY(cupel_tensor_need_radius(b, t));
    if (classes != CUPEL_CLASS_FINITE) CUPEL_TRY(cupel_tensor_need_classes(b, t));
    if (ball->reason != CUPEL_REASON_JUDGED) CUPEL_TRY(cupel_tensor_need_reasons(b, t));
    if (t->radius) t->radius[i] = ball->radius;
    if (t->classes) t->classes[i] = classes;
    if (t->reasons) t->reasons[i] = ball->reason;
    if (t->magnitude) {
        t->magnitude[i] = ball->magnitude;
        t->spread[i] = ball->spread;
        t->grain[i] = ball->grain;
    }
    if (t->peak) {
        t->peak[i] = ball->peak;
        t->trough[i] = ball->trough;
    }
    return CUPEL_OK;
}

bool cupel_tensor_is_plain(const cupel_tensor *t, int64_t begin, int64_t n) {
    if (!t->classes && !t->reasons) return true;
    uint8_t unusual = 0;
    if (t->classes)
        for (int64_t i = begin; i < begin + n; i++) unusual |= t->classes[i] ^ CUPEL_CLASS_FINITE;
    if (t->reasons)
        for (int64_t i = begin; i < begin + n; i++) unusual |= t->reasons[i];
    return unusual == 0;
}

bool cupel_tensor_keeps(const cupel_bounded *b, cupel_tensor *t) {
    if (!b->w.flush) return true;
    cupel_tensor_size(t);
    return t->least >= b->w.normal;
}

bool cupel_tensor_may_flush(const cupel_bounded *b, const cupel_tensor *t, int64_t begin, int64_t n) {
    if (!b->w.flush) return false;
    bool may = false;
    for (int64_t i = begin; i < begin + n; i++) {
        const double v = fabs(t->value[i]), r = cupel_radius_at(t, i);
        may |= v > 0 && v - r < b->w.normal;
    }
    return may;
}
