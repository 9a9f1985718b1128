#include "bounded_masked.h"

CUPEL_WIDE static bool holds(const double *value, const uint8_t *classes, int64_t n) {
    uint64_t unusual = 0;
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const uint64_t expected = value[i] == -INFINITY ? CUPEL_CLASS_NEG_INF : CUPEL_CLASS_FINITE;
        unusual |= (uint64_t)classes[i] ^ expected;
    }
    return unusual == 0;
}

bool cupel_masked_holds(const cupel_tensor *t, int64_t begin, int64_t n) {
    if (!t->classes) return false;
    uint8_t unusual = 0;
    for (int64_t i = begin; t->reasons && i < begin + n; i++) unusual |= t->reasons[i];
    return unusual == 0 && holds(t->value + begin, t->classes + begin, n);
}

/* Numbers of `from`, which is NULL where they are 0, but for what is masked in value. */
CUPEL_WIDE static void replace(const double *value, const double *from, const double *stand_in,
                               double *restrict to, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double own = from ? from[i] : 0, other = stand_in[i];
        to[i] = value[i] == -INFINITY ? other : own;
    }
}

CUPEL_WIDE static void put(const double *value, double number, double *restrict to, int64_t n) {
    CUPEL_VECTORISE
    for (int64_t i = 0; i < n; i++) {
        const double own = to[i];
        to[i] = value[i] == -INFINITY ? number : own;
    }
}

void cupel_masked_fill(cupel_masked *block, const cupel_tensor *from, int64_t begin, int64_t n,
                       const double *stand_in, const double *stand_radius) {
    block->t = *from;
    block->t.value = block->value;
    block->t.radius = block->radius;
    block->t.magnitude = from->magnitude ? block->magnitude : NULL;
    block->t.classes = block->t.reasons = NULL;
    const double *value = from->value + begin;
    replace(value, value, stand_in, block->value, n);
    replace(value, from->radius ? from->radius + begin : NULL, stand_radius, block->radius, n);
    if (from->magnitude) memcpy(block->magnitude, from->magnitude + begin, (size_t)n * sizeof(double));
}

cupel_code cupel_masked_restore(cupel_bounded *b, cupel_tensor *t, int64_t begin, const cupel_tensor *from,
                                int64_t at, int64_t n, double value) {
    const uint8_t class = cupel_class_of(value);
    if (class != CUPEL_CLASS_FINITE) CUPEL_TRY(cupel_tensor_need_classes(b, t));
    const double *masked = from->value + at;
    put(masked, value, t->value + begin, n);
    put(masked, 0, t->radius + begin, n);
    for (int64_t i = 0; t->classes && i < n; i++)
        if (masked[i] == -INFINITY) t->classes[begin + i] = class;
    if (t->magnitude) { /* what an infinity stands beside counts on */
        if (class == CUPEL_CLASS_FINITE) put(masked, 0, t->magnitude + begin, n);
        put(masked, 0, t->spread + begin, n);
        put(masked, 0, t->grain + begin, n);
    }
    if (t->trough) put(masked, 1, t->trough + begin, n);
    return CUPEL_OK;
}
