/* What the matrix instructions mean: elements are gathered by the tables of PTX ISA (an element of a lane's
 * fragment, its row and its column), multiplied plainly, and read off by the tables again. */
#include <string.h>

#include "feature.h"
#include "formats.h"

static int small(uint32_t x, int i) {
    return (int)(x >> (4 * i) & 7) - 4;
}

static uint32_t half_of(float v) {
    uint16_t h;
    cupel_encode(CUPEL_F16, (double)v, &h);
    return h;
}

typedef struct matrices {
    int k;
    int64_t a[16][32], b[32][8], c[16][8], d[16][8];
} matrices;

static void multiply(matrices *m) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            m->d[i][j] = m->c[i][j];
            for (int k = 0; k < m->k; k++) m->d[i][j] += m->a[i][k] * m->b[k][j];
        }
}

/* mma.m16n8k16 and m16n8k8 for 16-bit elements: a0..a7 of a lane, b0..b3. */
static void place_half(matrices *m, unsigned lane, const uint32_t *x) {
    const unsigned group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < (m->k == 16 ? 8 : 4); i++) {
        const unsigned row = (i < 2 || (4 <= i && i < 6)) ? group : group + 8;
        const unsigned column = in_group * 2 + (unsigned)(i & 1) + (i < 4 ? 0 : 8);
        m->a[row][column] = small(x[i / 4], i % 4);
    }
    for (int i = 0; i < m->k / 4; i++)
        m->b[in_group * 2 + (unsigned)(i & 1) + (i < 2 ? 0 : 8)][group] = small(x[2], i);
}

/* mma.m16n8k8 for tf32. */
static void place_tf32(matrices *m, unsigned lane, const uint32_t *x) {
    const unsigned group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < 4; i++)
        m->a[i == 0 || i == 2 ? group : group + 8][i < 2 ? in_group : in_group + 4] = small(x[0], i);
    for (int i = 0; i < 2; i++) m->b[i == 0 ? in_group : in_group + 4][group] = small(x[1], i);
}

static int byte_of(uint32_t x, int i, int is_signed) {
    const uint32_t byte = x >> 8 * i & 255;
    return is_signed ? (int8_t)byte : (int)byte;
}

/* mma.m16n8k32 and m16n8k16 for bytes: a0..a15, b0..b7. */
static void place_bytes(matrices *m, unsigned lane, const uint32_t *a, const uint32_t *b, int a_signed) {
    const unsigned group = lane >> 2, in_group = lane % 4;
    for (int i = 0; i < m->k / 2; i++) {
        const unsigned row = m->k == 16                    ? (i < 4 ? group : group + 8)
                             : i < 4 || (8 <= i && i < 12) ? group
                                                           : group + 8;
        const unsigned column = in_group * 4 + (unsigned)(i & 3) + (m->k == 32 && i >= 8 ? 16 : 0);
        m->a[row][column] = byte_of(a[i / 4], i % 4, a_signed);
    }
    for (int i = 0; i < m->k / 4; i++)
        m->b[in_group * 4 + (unsigned)(i & 3) + (i < 4 ? 0 : 16)][group] = byte_of(b[i / 4], i % 4, 1);
}

static int64_t *of_lane(int64_t c[16][8], unsigned lane, int i) {
    return &c[i < 2 ? lane >> 2 : (lane >> 2) + 8][lane % 4 * 2 + (unsigned)(i & 1)];
}

static void whole_warps(const feature_launch *l, const uint32_t *x, uint32_t *want, int words,
                        void (*warp)(const uint32_t *, uint32_t *)) {
    feature_warp w = {0};
    while (feature_next_warp(l, &w))
        if (w.lanes == 32) warp(x + (size_t)w.first * FEATURE_INPUTS, want + (size_t)w.first * (size_t)words);
}

/* ---- ldmatrix, stmatrix, movmatrix: words hold two elements, of columns 2 i and 2 i + 1 ---- */

static uint32_t element(const uint32_t *rows, int stride, unsigned row, unsigned column) {
    return rows[row * (unsigned)stride + column / 2] >> 16 * (column % 2) & 0xffff;
}

static void ldmatrix_warp(const uint32_t *x, uint32_t *want) {
    uint32_t rows[32][4], stored[32][4], moved[8][4];
    for (unsigned lane = 0; lane < 32; lane++) {
        memcpy(rows[lane], x + lane * FEATURE_INPUTS, 16);
        moved[lane / 4][lane % 4] = x[lane * FEATURE_INPUTS + 4];
    }
    memcpy(stored, rows, sizeof rows);
    for (unsigned lane = 0; lane < 32; lane++) {
        uint32_t *out = want + lane * 12;
        const unsigned r = lane / 4, c = lane % 4 * 2;
        for (unsigned j = 0; j < 4; j++) out[j] = rows[8 * j + r][lane % 4];
        for (unsigned j = 0; j < 2; j++)
            out[4 + j] = element(rows[8 * j], 4, c, r) | element(rows[8 * j], 4, c + 1, r) << 16;
        out[6] = rows[r][lane % 4];
        out[7] = element(moved[0], 4, c, r) | element(moved[0], 4, c + 1, r) << 16;
        /* stmatrix.trans: the pair of lane (r, c) is column r, rows c and c + 1 */
        for (unsigned j = 0; j < 2; j++)
            for (unsigned e = 0; e < 2; e++) {
                uint32_t *word = &stored[8 * j + c + e][r / 2];
                const uint32_t v = x[lane * FEATURE_INPUTS + 5 + j] >> 16 * e & 0xffff;
                *word = (*word & ~(0xffffu << 16 * (r % 2))) | v << 16 * (r % 2);
            }
    }
    for (unsigned lane = 0; lane < 32; lane++) memcpy(want + lane * 12 + 8, stored[lane], 16);
}

static void ptx_ldmatrix(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    whole_warps(l, x, want, 12, ldmatrix_warp);
}

/* ---- mma ---- */

static void half_products(const uint32_t *x, int k, matrices *m) {
    memset(m, 0, sizeof *m);
    m->k = k;
    for (unsigned lane = 0; lane < 32; lane++) {
        place_half(m, lane, x + lane * FEATURE_INPUTS);
        for (int i = 0; i < 4; i++) *of_lane(m->c, lane, i) = small(x[lane * FEATURE_INPUTS + 6], i);
    }
    multiply(m);
}

static void half_warp(const uint32_t *x, uint32_t *want) {
    static matrices deep, shallow;
    half_products(x, 16, &deep);
    half_products(x, 8, &shallow);
    for (unsigned lane = 0; lane < 32; lane++) {
        uint32_t *out = want + lane * 14;
        for (int i = 0; i < 4; i++) {
            const float d = (float)*of_lane(deep.d, lane, i);
            out[i] = out[10 + i] = feature_bits(d);
            out[4 + i / 2] |= half_of(d) << 16 * (i % 2);
            out[6 + i] = feature_bits((float)*of_lane(shallow.d, lane, i));
        }
    }
}

static void ptx_mma_half(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    whole_warps(l, x, want, 14, half_warp);
}

static void byte_products(const uint32_t *x, int k, matrices *m) {
    memset(m, 0, sizeof *m);
    m->k = k;
    for (unsigned lane = 0; lane < 32; lane++) {
        const uint32_t *own = x + lane * FEATURE_INPUTS;
        place_bytes(m, lane, own, own + (k == 32 ? 4 : 2), k == 32);
        for (int i = 0; i < 4; i++) *of_lane(m->c, lane, i) = (int32_t)own[k == 32 ? (6 + i) % 8 : 3 + i];
    }
    multiply(m);
}

static void double_warp(const uint32_t *x, uint32_t *want) {
    double a[8][4], b[4][8];
    for (unsigned lane = 0; lane < 32; lane++) {
        a[lane >> 2][lane % 4] = small(x[lane * FEATURE_INPUTS], 0);
        b[lane % 4][lane >> 2] = small(x[lane * FEATURE_INPUTS], 1);
    }
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < 2; i++) {
            double d = small(x[lane * FEATURE_INPUTS], 2 + (int)i);
            for (int k = 0; k < 4; k++) d += a[lane >> 2][k] * b[k][lane % 4 * 2 + i];
            feature_put_double(want + lane * 16 + 12 + 2 * i, d);
        }
}

static void other_warp(const uint32_t *x, uint32_t *want) {
    static matrices single, deep, shallow;
    memset(&single, 0, sizeof single);
    single.k = 8;
    for (unsigned lane = 0; lane < 32; lane++) {
        place_tf32(&single, lane, x + lane * FEATURE_INPUTS);
        for (int i = 0; i < 4; i++) *of_lane(single.c, lane, i) = small(x[lane * FEATURE_INPUTS + 6], i);
    }
    multiply(&single);
    byte_products(x, 32, &deep);
    byte_products(x, 16, &shallow);
    for (unsigned lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            want[lane * 16 + (unsigned)i] = feature_bits((float)*of_lane(single.d, lane, i));
            want[lane * 16 + 4 + (unsigned)i] = (uint32_t)*of_lane(deep.d, lane, i);
            want[lane * 16 + 8 + (unsigned)i] = (uint32_t)*of_lane(shallow.d, lane, i);
        }
    double_warp(x, want);
}

static void ptx_mma_other(const feature_launch *l, const uint32_t *x, uint32_t *want) {
    whole_warps(l, x, want, 16, other_warp);
}

/* ---- wmma: matrices in memory, each by rows or by columns ---- */

typedef struct wmma_shape {
    int m, n, k;
    int a_rows, b_rows, c_rows; /* stored by rows */
} wmma_shape;

static void wmma_warp(const uint32_t *x, uint32_t *want, const wmma_shape *s) {
    const int words = s->m * s->n / 32;
    for (int i = 0; i < s->m * s->n; i++) {
        const int row = s->c_rows ? i / s->n : i % s->m, column = s->c_rows ? i % s->n : i / s->m;
        int sum = 1 + small(x[2] + (uint32_t)i, i % 8);
        for (int k = 0; k < s->k; k++) {
            const int a = s->a_rows ? row * s->k + k : k * s->m + row;
            const int b = s->b_rows ? k * s->n + column : column * s->k + k;
            sum += small(x[0] + (uint32_t)a, a % 8) * small(x[1] + (uint32_t)b, b % 8);
        }
        want[i % 32 * words + i / 32] = (uint32_t)sum;
    }
}

#define WMMA(name, ...)                                                                                      \
    static void name##_warp(const uint32_t *x, uint32_t *want) {                                             \
        static const wmma_shape shape = {__VA_ARGS__};                                                       \
        wmma_warp(x, want, &shape);                                                                          \
    }                                                                                                        \
    static void name(const feature_launch *l, const uint32_t *x, uint32_t *want) {                           \
        static const wmma_shape shape = {__VA_ARGS__};                                                       \
        whole_warps(l, x, want, shape.m *shape.n / 32, name##_warp);                                         \
    }
WMMA(wmma_half, 16, 16, 16, 1, 1, 1)
WMMA(wmma_tall, 32, 8, 16, 0, 1, 0)
WMMA(wmma_wide, 8, 32, 16, 1, 0, 1)
WMMA(wmma_tf32, 16, 16, 8, 0, 0, 0)
WMMA(wmma_bytes, 16, 16, 16, 1, 0, 1)
WMMA(wmma_double, 8, 8, 4, 1, 0, 1)

static const feature features[] = {
    {.name = "ptx_ldmatrix", .words = 12, .grid = ptx_ldmatrix},
    {.name = "ptx_mma_half", .words = 14, .grid = ptx_mma_half},
    {.name = "ptx_mma_other", .words = 16, .grid = ptx_mma_other},
    {.name = "wmma_half", .words = 8, .grid = wmma_half},
    {.name = "wmma_tall", .words = 8, .grid = wmma_tall},
    {.name = "wmma_wide", .words = 8, .grid = wmma_wide},
    {.name = "wmma_tf32", .words = 8, .grid = wmma_tf32},
    {.name = "wmma_bytes", .words = 8, .grid = wmma_bytes},
    {.name = "wmma_double", .words = 2, .grid = wmma_double},
};
FEATURE_FILE(ptx_matrix);
