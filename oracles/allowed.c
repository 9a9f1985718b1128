#include "allowed.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *cupel_reason_word(cupel_reason reason) {
    static const char *const words[] = {
#define CUPEL_REASON_WORD(name, word, text) word,
        CUPEL_REASONS(CUPEL_REASON_WORD)
#undef CUPEL_REASON_WORD
    };
    return (unsigned)reason < CUPEL_REASON_COUNT ? words[reason] : "unknown";
}

const char *cupel_reason_text(cupel_reason reason) {
    static const char *const texts[] = {
#define CUPEL_REASON_TEXT(name, word, text) text,
        CUPEL_REASONS(CUPEL_REASON_TEXT)
#undef CUPEL_REASON_TEXT
    };
    return (unsigned)reason < CUPEL_REASON_COUNT ? texts[reason] : "unknown";
}

void cupel_allowed_describe(const cupel_graph_output *output, cupel_allowed *out) {
    *out = (cupel_allowed){
        .name = output->name, .type = output->type, .rank = output->rank, .count = output->count};
    for (int d = 0; d < output->rank; d++) out->shape[d] = output->shape[d];
}

cupel_code cupel_allowed_create(const cupel_graph_output *output, cupel_arena *arena, cupel_allowed *out,
                                cupel_error *err) {
    const size_t n = (size_t)output->count;
    cupel_allowed_describe(output, out);
    out->value = cupel_arena_raw(arena, n, sizeof(double));
    out->lo = cupel_arena_raw(arena, n, sizeof(double));
    out->hi = cupel_arena_raw(arena, n, sizeof(double));
    out->radius = cupel_arena_raw(arena, n, sizeof(double));
    out->classes = cupel_arena_raw(arena, n, 1);
    out->reasons = cupel_arena_raw(arena, n, 1);
    const bool wide = cupel_dtype_is_wide(output->type);
    if (wide) {
        out->least = cupel_arena_raw(arena, n, sizeof *out->least);
        out->most = cupel_arena_raw(arena, n, sizeof *out->most);
    }
    if (wide && (!out->least || !out->most))
        return cupel_fail(err, CUPEL_MEMORY, "no memory for the allowed set of '%s'", output->name);
    if (!out->value || !out->lo || !out->hi || !out->radius || !out->classes || !out->reasons)
        return cupel_fail(err, CUPEL_MEMORY, "no memory for the allowed set of '%s'", output->name);
    return CUPEL_OK;
}

void cupel_allowed_set(cupel_allowed *allowed, int64_t i, double value, const cupel_permitted *p) {
    allowed->value[i] = value;
    allowed->lo[i] = p->lo;
    allowed->hi[i] = p->hi;
    allowed->radius[i] = p->radius;
    allowed->classes[i] = p->classes;
    allowed->reasons[i] = p->reason;
    if (!allowed->least) return;
    cupel_encode(allowed->type, p->lo, &allowed->least[i]);
    cupel_encode(allowed->type, p->hi, &allowed->most[i]);
}

void cupel_allowed_set_integer(cupel_allowed *allowed, int64_t i, uint64_t least, uint64_t most) {
    allowed->least[i] = least;
    allowed->most[i] = most;
}

static_assert(CUPEL_REASON_JUDGED == 0, "eight judged elements are eight zero bytes");

void cupel_allowed_count(cupel_allowed *allowed) {
    for (int r = 0; r < CUPEL_REASON_COUNT; r++) allowed->by_reason[r] = 0;
    int64_t i = 0;
    for (; i + 8 <= allowed->count; i += 8) {
        uint64_t eight;
        memcpy(&eight, allowed->reasons + i, sizeof eight);
        if (eight == 0) {
            allowed->by_reason[CUPEL_REASON_JUDGED] += 8;
        } else {
            for (int k = 0; k < 8; k++) allowed->by_reason[allowed->reasons[i + k]]++;
        }
    }
    for (; i < allowed->count; i++) allowed->by_reason[allowed->reasons[i]]++;
    allowed->judged = allowed->by_reason[CUPEL_REASON_JUDGED];
}

/* Types of which conforming conversions differ above the largest number: CUDA's fp8 constructors saturate,
 * infinities too, and PyTorch's `to` gives NaN (e4m3) or infinity (e5m2). Both are allowed. */
static bool may_saturate(cupel_dtype type) {
    return type == CUPEL_E4M3 || type == CUPEL_E5M2;
}

static void close_saturating(cupel_dtype type, cupel_permitted *p) {
    const double largest = cupel_format_largest(type);
    const uint8_t up = p->classes & CUPEL_CLASS_POS_INF, down = p->classes & CUPEL_CLASS_NEG_INF;
    const bool finite = p->classes & CUPEL_CLASS_FINITE;
    const bool above = up || (finite && !(p->hi <= largest)),
               below = down || (finite && !(p->lo >= -largest));
    if (finite && up) p->hi = largest;
    if (finite && down) p->lo = -largest;
    if (!finite && (up || down)) p->lo = down ? -largest : largest, p->hi = up ? largest : -largest;
    p->lo = fmax(fmin(p->lo, largest), -largest);
    p->hi = fmax(fmin(p->hi, largest), -largest);
    if (!above && !below) return;
    p->classes |= CUPEL_CLASS_FINITE;
    if (type == CUPEL_E4M3) {
        p->classes = (uint8_t)((p->classes & ~(CUPEL_CLASS_POS_INF | CUPEL_CLASS_NEG_INF)) | CUPEL_CLASS_NAN);
    } else {
        p->classes |= (uint8_t)((above ? CUPEL_CLASS_POS_INF : 0) | (below ? CUPEL_CLASS_NEG_INF : 0));
    }
}

/* Ends beyond the overflow threshold round to an infinity: it joins, and the largest number stays. Both ends
 * beyond: only it. */
static void close_ends(cupel_dtype type, cupel_permitted *p) {
    const double largest = cupel_format_largest(type);
    if (p->hi == INFINITY) p->classes |= CUPEL_CLASS_POS_INF;
    if (p->lo == -INFINITY) p->classes |= CUPEL_CLASS_NEG_INF;
    if (p->lo == INFINITY || p->hi == -INFINITY) {
        p->classes &= (uint8_t)~CUPEL_CLASS_FINITE;
        return;
    }
    p->lo = fmax(p->lo, -largest);
    p->hi = fmin(p->hi, largest);
}

static void permit_integer(const cupel_working *w, cupel_dtype type, cupel_value_kind kind,
                           const cupel_ball *b, cupel_permitted *p) {
    const cupel_format *f = cupel_format_of(type);
    const int bits = f->kind == CUPEL_KIND_BOOLEAN ? 1 : (int)f->size * 8;
    const double top = f->kind == CUPEL_KIND_SIGNED ? ldexp(1, bits - 1) - 1 : ldexp(1, bits) - 1;
    const double bottom = f->kind == CUPEL_KIND_SIGNED ? -ldexp(1, bits - 1) : 0;
    if (kind == CUPEL_VALUE_REAL) p->lo = trunc(p->lo), p->hi = trunc(p->hi);
    p->classes &= CUPEL_CLASS_MASK; /* integers know no -0 */
    const bool finite = (b->classes & CUPEL_CLASS_MASK) == CUPEL_CLASS_FINITE;
    /* what a conversion out of range gives is the device's business */
    if (!p->reason && (!finite || !(p->lo >= bottom && p->hi <= top))) p->reason = CUPEL_REASON_CONVENTION;
    if (!p->reason && (fabs(p->lo) > w->integers || fabs(p->hi) > w->integers))
        p->reason = CUPEL_REASON_UNABLE;
}

/* Rounded to nearest; an infinity where that overflows, also of a type that has none. */
static double beyond(cupel_dtype type, double x) {
    const double r = cupel_round(type, x);
    return isnan(r) ? copysign(INFINITY, x) : r;
}

static void permit_real(const cupel_working *w, cupel_dtype type, const cupel_ball *b, cupel_permitted *p) {
    if (p->radius > 0) { /* the subtraction of doubles rounded, too */
        const double outward = (fabs(b->value) + b->radius) * 0x1p-52;
        if (p->lo > b->floor) p->lo = fmax(p->lo - outward, b->floor);
        if (p->hi < b->ceiling) p->hi = fmin(p->hi + outward, b->ceiling);
    }
    if (w->flush && b->value != 0 && fabs(b->value) - b->radius < cupel_format_normal(type)) {
        p->lo = fmin(p->lo, 0);
        p->hi = fmax(p->hi, 0);
    }
    if (may_saturate(type)) { /* beyond the threshold nearest gives no number: close_saturating sees to it */
        p->lo = beyond(type, p->lo);
        p->hi = beyond(type, p->hi);
        return;
    }
    /* a tf32 result may be rounded to nearest, ties either way, truncated, or left to the reader to truncate
     */
    p->lo = type == CUPEL_TF32 ? cupel_round_down(type, p->lo) : cupel_round(type, p->lo);
    p->hi = type == CUPEL_TF32 ? cupel_round_up(type, p->hi) : cupel_round(type, p->hi);
    if (type == CUPEL_F64 && p->radius == 0) return;
    close_ends(type, p);
}

cupel_permitted cupel_ball_permit(const cupel_working *w, cupel_dtype type, cupel_value_kind kind,
                                  const cupel_ball *b) {
    cupel_permitted p = {.radius = b->radius, .reason = b->reason, .classes = b->classes};
    if (b->classes & CUPEL_KEEP) {
        p.classes = CUPEL_KEEP;
        return p;
    }
    p.lo = cupel_ball_lo(b);
    p.hi = cupel_ball_hi(b);
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) {
        permit_integer(w, type, kind, b, &p);
    } else if (b->classes & CUPEL_CLASS_FINITE) {
        permit_real(w, type, b, &p);
    } else {
        p.lo = p.hi = b->value;
    }
    if (may_saturate(type)) close_saturating(type, &p);
    if (b->value != 0 || p.radius > 0) p.classes &= CUPEL_CLASS_MASK;
    return p;
}

static bool integer_below(cupel_dtype type, uint64_t a, uint64_t b) {
    return type == CUPEL_U64 ? a < b : (int64_t)a < (int64_t)b;
}

static void join_integers(cupel_allowed *allowed, int64_t i, uint64_t least, uint64_t most) {
    if (integer_below(allowed->type, least, allowed->least[i])) allowed->least[i] = least;
    if (integer_below(allowed->type, allowed->most[i], most)) allowed->most[i] = most;
}

cupel_code cupel_allowed_tolerate(cupel_allowed *allowed, double absolute, double relative,
                                  cupel_error *err) {
    if (!(absolute >= 0 && relative >= 0) || isinf(absolute) || isinf(relative))
        return cupel_fail(err, CUPEL_RANGE, "a tolerance must be a number of 0 or more, found abs %g, rel %g",
                          absolute, relative);
    const bool real = cupel_format_of(allowed->type)->kind == CUPEL_KIND_REAL;
    for (int64_t i = 0; i < allowed->count; i++) {
        const uint8_t reason = allowed->reasons[i];
        if (allowed->classes[i] & CUPEL_KEEP) continue;
        if (reason == CUPEL_REASON_CONVENTION || reason == CUPEL_REASON_EXCLUDED ||
            reason == CUPEL_REASON_UNABLE || reason == CUPEL_REASON_SAMPLED_OUT)
            continue;
        const double value = allowed->value[i];
        cupel_permitted p = {.lo = value, .hi = value, .classes = CUPEL_CLASS_NAN};
        if (isinf(value)) p.classes = value > 0 ? CUPEL_CLASS_POS_INF : CUPEL_CLASS_NEG_INF;
        if (isfinite(value)) {
            p.radius = absolute + relative * fabs(value);
            p.classes = CUPEL_CLASS_FINITE;
            p.lo = real ? cupel_round_down(allowed->type, value - p.radius) : floor(value - p.radius);
            p.hi = real ? cupel_round_up(allowed->type, value + p.radius) : ceil(value + p.radius);
            if (real) close_ends(allowed->type, &p);
        }
        if (may_saturate(allowed->type)) close_saturating(allowed->type, &p);
        const uint64_t least = allowed->least ? allowed->least[i] : 0,
                       most = allowed->most ? allowed->most[i] : 0;
        cupel_allowed_set(allowed, i, value, &p);
        /* the nearest double of the exact value is not the value: what it was stays allowed */
        if (allowed->least && fabs(value) > 0x1p53) join_integers(allowed, i, least, most);
    }
    cupel_allowed_count(allowed);
    return CUPEL_OK;
}
