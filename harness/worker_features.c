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

/* One cell a tensor: its pattern, type and the class of its last extent. Cells of several tensors together
 * would be so many that every case looked new. */
static uint32_t cell(const cupel_case *c, int t) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    uint32_t hash = mix(17, (uint32_t)t);
    hash = mix(hash, c->recipe->tensors[t].pattern);
    hash = mix(hash, tensor->type);
    return mix(hash, tensor->rank ? extent_class(tensor->shape[tensor->rank - 1]) : 8);
}

bool cupel_features_of_case(cupel_features *features, const cupel_case *c, cupel_feedback *feedback) {
    bool is_new = false;
    feedback->cell_count = 0;
    for (int t = 0; t < c->tensor_count; t++) {
        if (!(c->contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        uint32_t coarse = cell(c, t);
        feedback->cells[feedback->cell_count++] = coarse;
        is_new = mark(features, mix(coarse, c->recipe->tensors[t].special)) || is_new;
    }
    return is_new;
}

unsigned cupel_features_of_coverage(cupel_features *features, const uint8_t *coverage, size_t count) {
    unsigned news = 0;
    if (!coverage) return 0;
    for (size_t i = 0; i < count; i++) {
        if (!coverage[i]) continue;
        uint8_t *edge = &features->edges[i % CUPEL_FEATURE_EDGES];
        uint8_t bit = (uint8_t)(1u << cupel_count_class(coverage[i]));
        if (!*edge)
            news |= CUPEL_NEWS_EDGE;
        else if (!(*edge & bit))
            news |= CUPEL_NEWS_COUNT;
        *edge |= bit;
    }
    return news;
}

bool cupel_features_of_closeness(cupel_features *features, const cupel_judged *judged,
                                 cupel_feedback *feedback) {
    bool is_new = false;
    feedback->climb_count = judged->closeness_count;
    for (int o = 0; o < judged->closeness_count; o++) {
        const cupel_closeness *closeness = &judged->closeness[o];
        cupel_climb climb = {(uint8_t)((o * CUPEL_GATE_COUNT + (int)closeness->gate) % CUPEL_CLOSENESS_ROWS),
                             (uint8_t)cupel_closeness_steps(closeness->ratio)};
        feedback->climbs[o] = climb;
        if (climb.steps <= features->closeness[climb.row]) continue;
        features->closeness[climb.row] = climb.steps;
        is_new = true;
    }
    return is_new;
}

void cupel_features_learn(cupel_features *features, const cupel_case *c, const cupel_judged *judged,
                          cupel_feedback *feedback) {
    feedback->news = cupel_features_of_coverage(features, feedback->coverage, feedback->coverage_count);
    if (c && cupel_features_of_case(features, c, feedback)) feedback->news |= CUPEL_NEWS_CELL;
    if (cupel_features_of_closeness(features, judged, feedback)) feedback->news |= CUPEL_NEWS_CLIMB;
}

static int64_t bits_in(const uint8_t *bytes, size_t size) {
    int64_t count = 0;
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) count += __builtin_popcount(bytes[i]);
    return count;
}

int64_t cupel_features_count(const cupel_features *features) {
    int64_t count =
        bits_in(features->bits, CUPEL_FEATURE_BITS / 8) + bits_in(features->edges, CUPEL_FEATURE_EDGES);
    for (int row = 0; row < CUPEL_CLOSENESS_ROWS; row++) count += features->closeness[row];
    return count;
}

int64_t cupel_features_edges(const cupel_features *features) {
    int64_t count = 0;
    for (size_t i = 0; i < CUPEL_FEATURE_EDGES; i++) count += features->edges[i] != 0;
    return count;
}
