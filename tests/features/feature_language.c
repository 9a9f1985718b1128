/* The results of tests/features/language.cu, worked out by hand. */
#include "feature.h"

static uint32_t fibonacci(uint32_t n) {
    uint32_t a = 0, b = 1;
    for (; n > 0; n--) {
        uint32_t c = a + b;
        a = b, b = c;
    }
    return a;
}

static void functions(const uint32_t *x, uint32_t *want) {
    want[0] = 120, want[1] = x[0] << 1, want[2] = x[0] + x[0] + x[0], want[3] = x[0] ^ 0x55,
    want[4] = x[0] + 77;
    want[5] = (x[0] & 7) + 1, want[6] = (x[0] & 7) + 2, want[7] = 8;
    want[8] = fibonacci(x[0] % 12), want[9] = (x[0] % 20) % 2 == 0, want[10] = ((x[0] & 255) + 7) / 8,
    want[11] = 25;
}

static void templates(const uint32_t *x, uint32_t *want) {
    want[0] = 32, want[1] = 4, want[2] = x[0] + x[1] + x[2] + x[3];
    want[3] = x[0] + 3, want[4] = 2 * 1 + 2 * 2 + 3, want[5] = 2 * x[0], want[6] = 1 + 4 * 2;
    want[7] = x[0] * x[0], want[8] = 3 * x[1], want[9] = 1;
}

static int32_t low(uint32_t x, int width) {
    return (int32_t)(x << (32 - width)) >> (32 - width);
}

static void classes(const uint32_t *x, uint32_t *want) {
    uint32_t side = x[2] & 15;
    want[0] = x[0] + 7, want[1] = (x[0] & 7) + 12, want[2] = x[1] + 5,
    want[3] = x[3] & 1 ? side * side : x[2];
    want[4] = 2 * 1 + x[1] * x[1], want[5] = 9;
    want[6] = x[0] & 15, want[7] = x[1] & 0xfff, want[8] = (uint32_t)low(x[2], 8), want[9] = 0x3f800000;
}

static void lambdas(const uint32_t *x, uint32_t *want) {
    want[0] = x[0] + x[1] + x[2] + x[3];
    want[1] = x[0] ^ (x[1] + x[7]) ^ (x[2] + x[7]) ^ (x[3] + x[7]);
    want[2] = x[0] + x[1] + 2, want[3] = (x[0] < x[1] ? x[0] : x[1]) + 2;
    want[4] = x[0] ^ 0x55, want[5] = x[1] & 1 ? x[2] ^ 0x55 : 3 * x[2];
    want[6] = 1 + x[0] + x[7], want[7] = x[3] & 1 ? 10 : 20;
}

static uint32_t stepped(uint32_t v) {
    switch (v & 7) {
    case 0: return 1;
    case 1:
    case 2: return v + 11;
    case 3: return v + 6;
    default: return v & 1 ? 7 : 8;
    }
}

static void control_flow(const uint32_t *x, uint32_t *want) {
    uint32_t sum = 0, n = x[1] & 31;
    for (uint32_t step = 0; 3 * step < 64 - step; step++)
        if (3 * step != n && 64 - step >= 20) sum += 3 * step * (64 - step);
    want[0] = stepped(x[0]), want[1] = sum;
    sum /= 2;
    while (sum > 100) sum /= 2;
    want[2] = sum, want[3] = 131;
    want[4] = x[x[2] & 7] + (x[2] & 15), want[5] = 16;
    want[6] = (x[0] & 1 ? 5 : 0) + 10, want[7] = 11 * x[0], want[8] = x[0] + 10, want[9] = x[3] + 4;
    want[10] = (x[4] & 3) > 1 ? x[4] & 3 : 100;
}

static void library(const uint32_t *x, uint32_t *want) {
    want[0] = 0xffffffff, want[1] = 0x7f800000, want[2] = 0xff7fffff, want[3] = 0x80000000;
    want[4] = x[1], want[5] = x[0] < x[1] ? x[0] : x[1], want[6] = x[0] > x[1] ? x[0] : x[1];
    want[7] = x[0] & 255, want[8] = x[0];
    want[9] = feature_bits(5.5f), want[10] = 1, want[11] = 1;
}

static void untraced(const uint32_t *x, uint32_t *want) {
    want[0] = x[0] > 5, want[1] = 8, want[2] = 1;
}

static const feature features[] = {
    {.name = "functions", .words = 12, .thread = functions},
    {.name = "templates", .words = 10, .thread = templates},
    {.name = "classes", .words = 10, .thread = classes},
    {.name = "lambdas", .words = 8, .thread = lambdas},
    {.name = "control_flow", .words = 11, .thread = control_flow},
    {.name = "library", .words = 12, .thread = library},
    {.name = "untraced", .words = 3, .thread = untraced},
};
FEATURE_FILE(language);
