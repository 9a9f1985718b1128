/* What operations on the lanes of a word mean: each lane taken out, computed in 64 bits, put back. */
#include <stdlib.h>

#include "feature.h"

typedef int64_t lane_operation(int64_t a, int64_t b, int width);

static int64_t lane(uint32_t x, int i, int width, int is_signed) {
    int64_t v = x >> width * i & ((1u << width) - 1);
    return is_signed && v >> (width - 1) ? v - ((int64_t)1 << width) : v;
}

/* Into want[0] for halves and want[1] for bytes. */
static void lanes(const uint32_t *x, uint32_t *want, lane_operation *operation, int is_signed) {
    for (int k = 0; k < 2; k++) {
        int width = k == 0 ? 16 : 8;
        want[k] = 0;
        for (int i = 0; i < 32 / width; i++) {
            int64_t r = operation(lane(x[0], i, width, is_signed), lane(x[1], i, width, is_signed), width);
            want[k] |= ((uint32_t)r & ((1u << width) - 1)) << width * i;
        }
    }
}

static void lane_sums(const uint32_t *x, uint32_t *want, int is_signed) {
    for (int k = 0; k < 2; k++) {
        int width = k == 0 ? 16 : 8;
        int64_t sum = 0;
        for (int i = 0; i < 32 / width; i++)
            sum += llabs(lane(x[0], i, width, is_signed) - lane(x[1], i, width, is_signed));
        want[k] = (uint32_t)sum;
    }
}

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

static int64_t into_signed(int64_t v, int width) {
    return clamp(v, -(1 << (width - 1)), (1 << (width - 1)) - 1);
}

static int64_t into_unsigned(int64_t v, int width) {
    return clamp(v, 0, (1 << width) - 1);
}

#define OPERATION(name, expression)                                                                          \
    static int64_t name(int64_t a, int64_t b, int width) {                                                   \
        (void)a, (void)b, (void)width;                                                                       \
        return expression;                                                                                   \
    }
OPERATION(add, a + b)
OPERATION(add_signed, into_signed(a + b, width))
OPERATION(add_unsigned, into_unsigned(a + b, width))
OPERATION(subtract, a - b)
OPERATION(subtract_signed, into_signed(a - b, width))
OPERATION(subtract_unsigned, into_unsigned(a - b, width))
OPERATION(average_up, (a + b + 1) / 2)
OPERATION(average_away, a + b >= 0 ? (a + b + 1) / 2 : -((1 - (a + b)) / 2))
OPERATION(average_down, (a + b) / 2)
OPERATION(magnitude, llabs(a))
OPERATION(magnitude_signed, into_signed(llabs(a), width))
OPERATION(negative, -a)
OPERATION(negative_signed, into_signed(-a, width))
OPERATION(difference, llabs(a - b))
OPERATION(largest, a > b ? a : b)
OPERATION(smallest, a > b ? b : a)
OPERATION(equal, a == b ? -1 : 0)
OPERATION(unequal, a == b ? 0 : -1)
OPERATION(at_least, a < b ? 0 : -1)
OPERATION(above, a > b ? -1 : 0)
OPERATION(at_most, a > b ? 0 : -1)
OPERATION(below, a < b ? -1 : 0)

static void lanes_add(const uint32_t *x, uint32_t *want) {
    lanes(x, want, add, 0), lanes(x, want + 2, add_signed, 1), lanes(x, want + 4, add_unsigned, 0);
    lanes(x, want + 6, subtract, 0), lanes(x, want + 8, subtract_signed, 1);
    lanes(x, want + 10, subtract_unsigned, 0);
    lanes(x, want + 12, average_away, 1), lanes(x, want + 14, average_up, 0);
    lanes(x, want + 16, average_down, 0);
}

static void lanes_difference(const uint32_t *x, uint32_t *want) {
    lanes(x, want, magnitude, 1), lanes(x, want + 2, magnitude_signed, 1);
    lanes(x, want + 4, negative, 1), lanes(x, want + 6, negative_signed, 1);
    lanes(x, want + 8, difference, 1), lanes(x, want + 10, difference, 0);
    lane_sums(x, want + 12, 1), lane_sums(x, want + 14, 0);
}

static void lanes_extreme(const uint32_t *x, uint32_t *want) {
    lanes(x, want, largest, 1), lanes(x, want + 2, largest, 0);
    lanes(x, want + 4, smallest, 1), lanes(x, want + 6, smallest, 0);
}

static void lanes_compare(const uint32_t *x, uint32_t *want) {
    lanes(x, want, equal, 0), lanes(x, want + 2, unequal, 0);
    lanes(x, want + 4, at_least, 1), lanes(x, want + 6, at_least, 0);
    lanes(x, want + 8, above, 1), lanes(x, want + 10, above, 0);
    lanes(x, want + 12, at_most, 1), lanes(x, want + 14, at_most, 0);
    lanes(x, want + 16, below, 1), lanes(x, want + 18, below, 0);
}

/* As the comparison, with 1 in place of all ones. */
static void lanes_set(const uint32_t *x, uint32_t *want) {
    lanes_compare(x, want);
    for (int i = 0; i < 20; i++) want[i] &= i % 2 == 0 ? 0x00010001u : 0x01010101u;
}

static int64_t three(const uint32_t *x, int is_signed, int adds, int takes_largest) {
    int64_t a = is_signed ? (int32_t)x[0] : (int64_t)x[0], b = is_signed ? (int32_t)x[1] : (int64_t)x[1];
    int64_t c = is_signed ? (int32_t)x[2] : (int64_t)x[2];
    int64_t both = takes_largest ? largest(a, b, 0) : smallest(a, b, 0);
    if (adds) both = is_signed ? (int32_t)(x[0] + x[1]) : (int64_t)(uint32_t)(x[0] + x[1]);
    return takes_largest ? largest(both, c, 0) : smallest(both, c, 0);
}

static uint32_t three_halves(const uint32_t *x, int is_signed, int adds, int takes_largest) {
    uint32_t two[2], pair[2];
    lanes(x, two, adds ? add : takes_largest ? largest : smallest, is_signed);
    const uint32_t again[2] = {two[0], x[2]};
    lanes(again, pair, takes_largest ? largest : smallest, is_signed);
    return pair[0];
}

static void chained_extremes(const uint32_t *x, uint32_t *want) {
    int32_t a = (int32_t)x[0], b = (int32_t)x[1];
    want[0] = (uint32_t)three(x, 1, 1, 1), want[1] = (uint32_t)three(x, 1, 1, 0);
    want[2] = (uint32_t)three(x, 0, 1, 1), want[3] = (uint32_t)three(x, 0, 1, 0);
    want[4] = (uint32_t)three(x, 1, 0, 1), want[5] = (uint32_t)three(x, 1, 0, 0);
    want[6] = (uint32_t)three(x, 0, 0, 1), want[7] = (uint32_t)three(x, 0, 0, 0);
    want[8] = (uint32_t)largest(three(x, 1, 1, 1), 0, 0), want[9] = (uint32_t)largest(largest(a, b, 0), 0, 0);
    want[10] = three_halves(x, 1, 1, 1), want[11] = three_halves(x, 0, 1, 0);
    want[12] = three_halves(x, 1, 0, 1), want[13] = three_halves(x, 0, 0, 0);
    want[14] = (uint32_t)(a >= b ? a : b), want[15] = a >= b;
    want[16] = x[0] <= x[1] ? x[0] : x[1], want[17] = x[0] <= x[1];
}

static const feature features[] = {
    {.name = "lanes_add", .words = 18, .thread = lanes_add},
    {.name = "lanes_difference", .words = 16, .thread = lanes_difference},
    {.name = "lanes_extreme", .words = 8, .thread = lanes_extreme},
    {.name = "lanes_compare", .words = 20, .thread = lanes_compare},
    {.name = "lanes_set", .words = 20, .thread = lanes_set},
    {.name = "chained_extremes", .words = 18, .thread = chained_extremes},
};
FEATURE_FILE(simd);
