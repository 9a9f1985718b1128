#include "bounded_masked.h"

bool cupel_masked_holds(const cupel_tensor *t, int64_t begin, int64_t n) {
    if (!t->classes) return false;
    uint8_t unusual = 0;
    for (int64_t i = begin; i < begin + n; i++) {
        const uint8_t expected = t->value[i] == -INFINITY ? CUPEL_CLASS_NEG_INF : CUPEL_CLASS_FINITE;
        unusual |= t->classes[i] ^ expected;
    }
    for (int64_t i = begin; t->reasons && i < begin + n; i++) unusual |= t->reasons[i];
    return unusual == 0;
}

void cupel_masked_fill(cupel_masked *block, const cupel_tensor *from, int64_t begin, int64_t n,
                       const double *stand_in, const double *stand_radius) {
    block->t = *from;
    block->t.value = block->value;
    block->t.radius = block->radius;
    block->t.magnitude = from->magnitude ? block->magnitude : NULL;
    block->t.classes = block->t.reasons = NULL;
    for (int64_t i = 0; i < n; i++) {
        const bool masked = from->value[begin + i] == -INFINITY;
        block->value[i] = masked ? stand_in[i] : from->value[begin + i];
        block->radius[i] = masked ? stand_radius[i] : cupel_radius_at(from, begin + i);
        if (from->magnitude) block->magnitude[i] = from->magnitude[begin + i];
    }
}

cupel_code cupel_masked_restore(cupel_bounded *b, cupel_tensor *t, int64_t begin, const cupel_tensor *from,
                                int64_t at, int64_t n, double value) {
    const uint8_t class = cupel_class_of(value);
    if (class != CUPEL_CLASS_FINITE) CUPEL_TRY(cupel_tensor_need_classes(b, t));
    for (int64_t i = 0; i < n; i++) {
        if (from->value[at + i] != -INFINITY) continue;
        t->value[begin + i] = value;
        t->radius[begin + i] = 0;
        if (t->classes) t->classes[begin + i] = class;
        if (t->magnitude) t->magnitude[begin + i] = t->spread[begin + i] = t->grain[begin + i] = 0;
    }
    return CUPEL_OK;
}
