#include "wide.h"

#include <string.h>

#include "recipe_impl.h"

/* An integer next to an edge: up to 16 away from it, on both sides where there are two. */
static uint64_t near_edge(cupel_dtype type, uint32_t seed, uint64_t word) {
    const uint64_t step = word >> 59;
    const bool low = word & 1;
    switch (seed & 3) {
    case 0:
    case 1:
        if (type == CUPEL_U64) return low ? step : UINT64_MAX - step;
        return low ? (uint64_t)INT64_MIN + step : (uint64_t)INT64_MAX - step;
    case 2: return (UINT64_C(1) << 53) - 16 + step;
    default: return (low ? UINT64_C(1) << 31 : UINT64_C(1) << 32) - 16 + step;
    }
}

/* Range and `below` hold in integers: the bounds are whole numbers that a double has. */
static uint64_t into_range(const cupel_tensor_facts *facts, uint64_t value) {
    if (!facts->bounded) return value;
    uint64_t lo = 0, hi = 0;
    cupel_encode(facts->type, facts->lo, &lo);
    cupel_encode(facts->type, facts->hi, &hi);
    const uint64_t span = hi - lo;
    return span == UINT64_MAX ? value : lo + value % (span + 1);
}

bool cupel_wide_row(const cupel_values *values, uint64_t row_key, int64_t n, unsigned char *out) {
    const cupel_tensor_facts *facts = values->facts;
    const cupel_pattern pattern = values->recipe->pattern;
    const bool edges = pattern == CUPEL_PATTERN_NEAR_OVERFLOW;
    if (!cupel_dtype_is_wide(facts->type) || (!edges && pattern != CUPEL_PATTERN_BITS)) return false;
    if (edges && facts->bounded) return false; /* the bounds are its edges already */
    for (int64_t j = 0; j < n; j++) {
        const uint64_t word = cupel_philox(row_key, CUPEL_STREAM_TENSOR, (uint64_t)j);
        const uint64_t value =
            into_range(facts, edges ? near_edge(facts->type, values->recipe->seed, word) : word);
        memcpy(out + (size_t)j * sizeof value, &value, sizeof value);
    }
    return true;
}
