/* Matrix instructions of a warp. Where elements lie: PTX ISA, "Warp-level matrix load instruction: ldmatrix",
 * "Warp Level Matrix Multiply-Accumulate Instructions", the tables of m16n8k4 to m16n8k32 and, for f64,
 * m8n8k4. They are one scheme: lane l is row g = l / 4 and place t = l % 4; a register holds E elements that
 * lie side by side along k, register w of A at row g + 8 (w % 2) and k = E t + 4 E (w / 2), register w of B
 * at column g and k = E t + 4 E w.
 *
 * Products are exact, sums are rounded in the accumulator's precision one after the other in the order of k.
 * A tensor core adds several products at once and keeps a few bits less or more; both lie within what the
 * oracle allows for a sum of products in any order. A 16-bit accumulator is rounded once an instruction. */
#include <string.h>

#include "emu_machine.h"

enum { LANES = CUPEL_EMU_WARP, ROWS = 16, COLUMNS = 8, DEPTH_MAX = 32 };

static float from_half(uint32_t h) {
    const uint32_t sign = (h & 0x8000u) << 16, magnitude = h & 0x7fffu;
    uint32_t bits = magnitude << 13;
    float f;
    if (magnitude >= 0x7c00u) {
        bits |= 0x7f800000u | sign;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    memcpy(&f, &bits, sizeof f);
    f *= 0x1p112f; /* subnormals too: the exponent's bias differs by 112 */
    return sign ? -f : f;
}

/* To nearest even; below 2^-14 the addition of 0.5 rounds to multiples of 2^-24. NaN as on a device. */
static uint32_t to_half(float f) {
    uint32_t u, sign;
    memcpy(&u, &f, sizeof u);
    sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return 0x7fff;
    if (u >= 0x477ff000u) return sign | 0x7c00u;
    if (u < 0x38800000u) {
        float shifted;
        memcpy(&shifted, &u, sizeof shifted);
        shifted += 0.5f;
        memcpy(&u, &shifted, sizeof u);
        return sign | (u - 0x3f000000u);
    }
    return sign | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13);
}

static float of_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Elements in a register. */
static uint32_t elements_of(uint32_t type) {
    switch (type) {
    case CUPEL_EMU_MATRIX_F16:
    case CUPEL_EMU_MATRIX_BF16: return 2;
    case CUPEL_EMU_MATRIX_S8:
    case CUPEL_EMU_MATRIX_U8: return 4;
    default: return 1;
    }
}

/* Element e of a register. Of tf32 the device does not look at the low 13 bits. */
static float element(uint32_t type, uint32_t word, uint32_t e) {
    switch (type) {
    case CUPEL_EMU_MATRIX_F16: return from_half(word >> 16 * e & 0xffffu);
    case CUPEL_EMU_MATRIX_BF16: return of_bits((word >> 16 * e & 0xffffu) << 16);
    case CUPEL_EMU_MATRIX_TF32: return of_bits(word & ~0x1fffu);
    case CUPEL_EMU_MATRIX_S8: return (float)(int8_t)(word >> 8 * e);
    default: return (float)(uint8_t)(word >> 8 * e);
    }
}

typedef struct tile {
    uint32_t depth;
    float a[ROWS][DEPTH_MAX], b[DEPTH_MAX][COLUMNS];
} tile;

static void gather(cupel_emu_matrix *const lane[LANES], tile *t) {
    const uint32_t each = elements_of(lane[0]->a_type), registers = lane[0]->count;
    t->depth = each * 4 * (registers / 2);
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t g = l / 4, place = each * (l % 4);
        for (uint32_t w = 0; w < registers; w++)
            for (uint32_t e = 0; e < each; e++)
                t->a[g + 8 * (w % 2)][place + e + 4 * each * (w / 2)] =
                    element(lane[l]->a_type, lane[l]->a[w], e);
        for (uint32_t w = 0; w < registers / 2; w++)
            for (uint32_t e = 0; e < each; e++)
                t->b[place + e + 4 * each * w][g] = element(lane[l]->b_type, lane[l]->b[w], e);
    }
}

/* Accumulator element i of a lane: rows g and g + 8, columns 2 t and 2 t + 1. */
static float *accumulator(float c[ROWS][COLUMNS], uint32_t l, uint32_t i) {
    return &c[l / 4 + 8 * (i / 2)][2 * (l % 4) + i % 2];
}

static void float_product(cupel_emu_matrix *const lane[LANES]) {
    tile t;
    float c[ROWS][COLUMNS];
    gather(lane, &t);
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t i = 0; i < 4; i++)
            *accumulator(c, l, i) = lane[l]->c_type == CUPEL_EMU_MATRIX_F32
                                        ? of_bits(lane[l]->c[i])
                                        : from_half(lane[l]->c[i / 2] >> 16 * (i % 2) & 0xffffu);
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t k = 0; k < t.depth; k++)
            for (uint32_t n = 0; n < COLUMNS; n++) c[row][n] += t.a[row][k] * t.b[k][n];
    for (uint32_t l = 0; l < LANES; l++) {
        if (lane[l]->d_type != CUPEL_EMU_MATRIX_F32) lane[l]->d[0] = lane[l]->d[1] = 0;
        for (uint32_t i = 0; i < 4; i++) {
            const float sum = *accumulator(c, l, i);
            if (lane[l]->d_type == CUPEL_EMU_MATRIX_F32)
                memcpy(&lane[l]->d[i], &sum, sizeof sum);
            else
                lane[l]->d[i / 2] |= to_half(sum) << 16 * (i % 2);
        }
    }
}

static int64_t clamped(int64_t sum, bool saturates) {
    if (!saturates) return (int32_t)(uint32_t)(uint64_t)sum;
    return sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
}

static void integer_product(cupel_emu_matrix *const lane[LANES]) {
    tile t;
    gather(lane, &t);
    for (uint32_t l = 0; l < LANES; l++) {
        for (uint32_t i = 0; i < 4; i++) {
            int64_t sum = (int32_t)lane[l]->c[i];
            for (uint32_t k = 0; k < t.depth; k++)
                sum += (int64_t)(t.a[l / 4 + 8 * (i / 2)][k] * t.b[k][2 * (l % 4) + i % 2]);
            lane[l]->d[i] = (uint32_t)clamped(sum, lane[l]->transposed != 0);
        }
    }
}

/* m8n8k4: a lane holds A[l / 4][l % 4], B[l % 4][l / 4], and two elements of row l / 4 of C. */
static void double_product(cupel_emu_matrix *const lane[LANES]) {
    double a[8][4], b[4][8];
    for (uint32_t l = 0; l < LANES; l++) {
        memcpy(&a[l / 4][l % 4], lane[l]->a, sizeof(double));
        memcpy(&b[l % 4][l / 4], lane[l]->b, sizeof(double));
    }
    for (uint32_t l = 0; l < LANES; l++) {
        for (uint32_t i = 0; i < 2; i++) {
            double sum;
            memcpy(&sum, &lane[l]->c[2 * i], sizeof sum);
            for (uint32_t k = 0; k < 4; k++) sum = __builtin_fma(a[l / 4][k], b[k][2 * (l % 4) + i], sum);
            memcpy(&lane[l]->d[2 * i], &sum, sizeof sum);
        }
    }
}

static void product(cupel_emu_matrix *const lane[LANES]) {
    switch (lane[0]->a_type) {
    case CUPEL_EMU_MATRIX_F64: double_product(lane); return;
    case CUPEL_EMU_MATRIX_S8:
    case CUPEL_EMU_MATRIX_U8: integer_product(lane); return;
    default: float_product(lane); return;
    }
}

/* An 8 by 8 matrix of 16-bit elements: lane l has the elements 2 t and 2 t + 1 of row g in a register; the
 * transposed one has the elements of column g in rows 2 t and 2 t + 1. */
static uint32_t pick(const uint16_t rows[8][8], uint32_t l, bool transposed) {
    const uint32_t g = l / 4, t = 2 * (l % 4);
    const uint32_t low = transposed ? rows[t][g] : rows[g][t];
    const uint32_t high = transposed ? rows[t + 1][g] : rows[g][t + 1];
    return low | high << 16;
}

static void place(uint16_t rows[8][8], uint32_t l, bool transposed, uint32_t word) {
    const uint32_t g = l / 4, t = 2 * (l % 4);
    *(transposed ? &rows[t][g] : &rows[g][t]) = (uint16_t)word;
    *(transposed ? &rows[t + 1][g] : &rows[g][t + 1]) = (uint16_t)(word >> 16);
}

/* Row r of matrix j belongs to lane 8 j + r. */
static void load(cupel_emu_matrix *const lane[LANES]) {
    uint16_t rows[4][8][8];
    for (uint32_t l = 0; l < 8 * lane[0]->count; l++) memcpy(rows[l / 8][l % 8], lane[l]->a, 16);
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t j = 0; j < lane[0]->count; j++)
            lane[l]->d[j] = pick((const uint16_t(*)[8])rows[j], l, lane[0]->transposed != 0);
}

static void store(cupel_emu_matrix *const lane[LANES]) {
    uint16_t rows[4][8][8];
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t j = 0; j < lane[0]->count; j++)
            place(rows[j], l, lane[0]->transposed != 0, lane[l]->a[j]);
    for (uint32_t l = 0; l < 8 * lane[0]->count; l++) memcpy(lane[l]->d, rows[l / 8][l % 8], 16);
}

static void move(cupel_emu_matrix *const lane[LANES]) {
    uint16_t rows[8][8];
    for (uint32_t l = 0; l < LANES; l++) place(rows, l, false, lane[l]->a[0]);
    for (uint32_t l = 0; l < LANES; l++) lane[l]->d[0] = pick((const uint16_t(*)[8])rows, l, true);
}

void cupel_emu_tensor_finish(uint64_t value[], uint32_t lanes) {
    static cupel_emu_matrix absent[LANES];
    cupel_emu_matrix *lane[LANES];
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    if (lanes != UINT32_MAX)
        cupel_emu_report_note("a matrix instruction without all 32 lanes of a warp (undefined on a device)");
    for (uint32_t l = 0; l < LANES; l++) {
        lane[l] = lanes >> l & 1 ? (cupel_emu_matrix *)(uintptr_t)value[l] : &absent[l];
        if (lanes >> l & 1) continue;
        absent[l] = *(const cupel_emu_matrix *)(uintptr_t)value[first];
        memset(absent[l].a, 0xff, sizeof absent[l].a);
        memset(absent[l].b, 0xff, sizeof absent[l].b);
    }
    switch (lane[0]->kind) {
    case CUPEL_EMU_MATRIX_LOAD: load(lane); return;
    case CUPEL_EMU_MATRIX_STORE: store(lane); return;
    case CUPEL_EMU_MATRIX_MOVE: move(lane); return;
    default: product(lane); return;
    }
}
