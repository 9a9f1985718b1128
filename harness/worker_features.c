#include "worker_features.h"

static bool is_power_of_two(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

/* The coarse class of an extent: what tails, vector widths and empty loops tell apart. */
static unsigned extent_class(int64_t n) {
    if (n <= 1) return (unsigned)n;
    if (is_power_of_two(n)) return n < 64 ? 2 : 3;
    if (n % 4 == 0) return 4;
    return n % 2 == 0 ? 5 : n < 64 ? 6 : 7;
}

static uint32_t mix(uint32_t hash, uint32_t value) {
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

static bool mark(cupel_features *features, uint32_t hash) {
    uint32_t bit = hash % CUPEL_FEATURE_BITS;
    uint8_t mask = (uint8_t)(1u << bit % 8);
    bool is_new = !(features->bits[bit / 8] & mask);
    features->bits[bit / 8] |= mask;
    return is_new;
}

/* One cell a tensor: its pattern, type, special values and layout, and the class of its last extent. Cells of
 * several tensors together would be so many that every case looked new. */
static uint32_t cell(const cupel_case *c, int t) {
    const cupel_tensor_recipe *recipe = &c->recipe->tensors[t];
    const cupel_case_tensor *tensor = &c->tensors[t];
    uint32_t hash = mix(17, (uint32_t)t);
    hash = mix(hash, recipe->pattern);
    hash = mix(hash, tensor->type);
    hash = mix(hash, recipe->special);
    hash = mix(hash, tensor->rank ? extent_class(tensor->shape[tensor->rank - 1]) : 8);
    return hash;
}

bool cupel_features_of_case(cupel_features *features, const cupel_case *c) {
    bool is_new = false;
    for (int t = 0; t < c->tensor_count; t++)
        if (c->contract->tensors[t].roles & CUPEL_ROLE_INPUT) is_new = mark(features, cell(c, t)) || is_new;
    return is_new;
}

bool cupel_features_of_coverage(cupel_features *features, const uint8_t *coverage, size_t count) {
    bool is_new = false;
    if (!coverage) return false;
    for (size_t i = 0; i < count; i++) {
        if (!coverage[i]) continue;
        uint8_t *edge = &features->edges[i % CUPEL_FEATURE_EDGES];
        is_new = is_new || !*edge;
        *edge = 1;
    }
    return is_new;
}
