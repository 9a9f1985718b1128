#include "window_kernels.h"

#include <stdio.h>
#include <string.h>

static int64_t between(cupel_random *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)cupel_random_below(r, (uint64_t)(hi - lo + 1));
}

/* ---- geometry ---- */

static bool draw_axis(cupel_random *r, window_shape *s, int i) {
    s->size[i] = between(r, 1, 6);
    s->kernel[i] = between(r, 1, 3);
    s->stride[i] = between(r, 1, 2);
    s->dilation[i] = between(r, 1, 2);
    s->padding[i] = between(r, 0, 2);
    s->extra[i] = s->transposed && s->stride[i] > 1 ? between(r, 0, 1) : 0;
    const int64_t reach = s->dilation[i] * (s->kernel[i] - 1), around = 2 * s->padding[i];
    if (s->transposed)
        s->result[i] = (s->size[i] - 1) * s->stride[i] - around + reach + s->extra[i] + 1;
    else
        s->result[i] = s->size[i] + around > reach ? (s->size[i] + around - reach - 1) / s->stride[i] + 1 : 0;
    return s->result[i] > 0;
}

void window_draw_conv(property_problem *p, bool transposed, bool bias) {
    static const cupel_dtype narrow[] = {CUPEL_TF32, CUPEL_BF16, CUPEL_F16};
    static const char *const names[] = {"conv2d", "conv_transpose2d"};
    cupel_random *r = &p->random;
    window_shape *s = cupel_arena_alloc(p->arena, sizeof *s);
    *s = (window_shape){.transposed = transposed, .groups = between(r, 1, 2), .n = between(r, 1, 2)};
    s->in = between(r, 1, 4), s->out = between(r, 1, 2);
    for (int i = 0; i < 2;) i += draw_axis(r, s, i);
    const int64_t in = s->groups * s->in, out = s->groups * s->out;
    property_fill(
        p, property_add_shaped(p, "x", p->type, 4, (const int64_t[]){s->n, in, s->size[0], s->size[1]}),
        p->pattern);
    property_fill_any(
        p, property_add_shaped(p, "w", p->type, 4,
                               (const int64_t[]){transposed ? in : out, transposed ? s->out : s->in,
                                                 s->kernel[0], s->kernel[1]}));
    if (bias) property_fill_any(p, property_add(p, "b", 1, out, 0));
    property_expect(p, 4, (const int64_t[]){s->n, out, s->result[0], s->result[1]});
    char text[300], extra[64] = "";
    if (transposed)
        snprintf(extra, sizeof extra, ", output_padding=[%d, %d]", (int)s->extra[0], (int)s->extra[1]);
    snprintf(text, sizeof text,
             "%s(x, w%s, stride=[%d, %d], padding=[%d, %d], dilation=[%d, %d], groups=%d%s)",
             names[transposed], bias ? ", b" : "", (int)s->stride[0], (int)s->stride[1], (int)s->padding[0],
             (int)s->padding[1], (int)s->dilation[0], (int)s->dilation[1], (int)s->groups, extra);
    p->expression = cupel_arena_printf(p->arena, "%s", text);
    p->products_given = between(r, 0, 1);
    p->products = narrow[between(r, 0, 2)];
    p->own = s;
}

/* Where tap t of output position o lies along an axis; false in padding or between elements. */
static bool source_of(const window_shape *s, int axis, int64_t o, int64_t t, int64_t *at) {
    const int64_t late = s->fault == WINDOW_PADDING_LATE,
                  wrong = s->fault == WINDOW_STRIDE_WRONG && axis == 1;
    if (s->transposed) {
        const int64_t spread = o + s->padding[axis] + late - t * s->dilation[axis],
                      stride = s->stride[axis] + wrong;
        *at = spread / stride;
        return spread >= 0 && spread % stride == 0 && *at < s->size[axis];
    }
    *at = o * (s->stride[axis] + wrong) - s->padding[axis] + late + t * s->dilation[axis];
    if (s->fault == WINDOW_HALO_CLAMPED) *at = *at < 0 ? 0 : *at >= s->size[axis] ? s->size[axis] - 1 : *at;
    return *at >= 0 && *at < s->size[axis];
}

/* ---- operands ---- */

enum { AS_GIVEN, TRUNCATED, ROUNDED, ROUNDED_AWAY };

/* By dropping bits for the types that are cut off f32, by the format for f16. */
float window_narrowed(const property_problem *p, float x, int how, int coarser) {
    if (!p->products_given || how == AS_GIVEN || !isfinite(x)) return x;
    if (p->products == CUPEL_F16) {
        if (coarser) return (float)cupel_round(CUPEL_E5M2, (double)x);
        if (how != TRUNCATED) return (float)cupel_round(CUPEL_F16, (double)x);
        return (float)(x < 0 ? cupel_round_up(CUPEL_F16, (double)x) : cupel_round_down(CUPEL_F16, (double)x));
    }
    const int dropped = (p->products == CUPEL_TF32 ? 13 : 16) + coarser;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t half = UINT32_C(1) << (dropped - 1), odd = bits >> dropped & 1;
    if (how == ROUNDED) bits += half - 1 + odd;
    if (how == ROUNDED_AWAY) bits += half;
    bits &= ~(2 * half - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct pairs {
    int64_t count;
    float x[PROPERTY_LONGEST], w[PROPERTY_LONGEST];
} pairs;

/* Both factors of every term; padding is left out, or stands there as a zero. */
static void gather(const property_problem *p, int64_t index, int narrowing, bool skips, pairs *out) {
    const window_shape *s = p->own;
    const int64_t plane = s->result[0] * s->result[1], channels = s->groups * s->out;
    const int64_t n = index / plane / channels, o = index / plane % channels, group = o / s->out;
    const int64_t row = index % plane / s->result[1], column = index % s->result[1];
    const int64_t used = s->in - (s->fault == WINDOW_CHANNEL_LOST), taps = s->kernel[0] * s->kernel[1];
    const int coarser = s->fault == WINDOW_OPERANDS_COARSE ? 4 : 0;
    out->count = 0;
    for (int64_t c = group * s->in; c < group * s->in + used; c++) {
        for (int64_t t = 0; t < taps; t++) {
            int64_t i, j;
            const bool high = source_of(s, 0, row, t / s->kernel[1], &i);
            const bool inside = source_of(s, 1, column, t % s->kernel[1], &j) && high;
            if (!inside && skips) continue;
            const int64_t at_w = s->transposed ? (c * s->out + o % s->out) * taps + t
                                               : (o * s->in + c - group * s->in) * taps + t;
            const int64_t at_x = ((n * s->groups * s->in + c) * s->size[0] + i) * s->size[1] + j;
            const float x = inside ? (float)p->inputs[0].values[at_x] : 0;
            out->x[out->count] = window_narrowed(p, x, narrowing, coarser);
            out->w[out->count++] = window_narrowed(p, (float)p->inputs[1].values[at_w], narrowing, coarser);
        }
    }
}

/* ---- kernels ---- */

static float sum_of(property_problem *p, const pairs *a, float start, int form) {
    float terms[PROPERTY_LONGEST], acc = start;
    for (int64_t l = 0; l < a->count; l++) terms[l] = a->x[l] * a->w[l];
    switch (form % 5) {
    case 0: return good_sum(p, terms, a->count, form / 5) + start;
    case 1: /* starts from the bias, fused */
        for (int64_t l = 0; l < a->count; l++) acc = fmaf(a->x[l], a->w[l], acc);
        return acc;
    case 2: /* not fused */
        for (int64_t l = 0; l < a->count; l++) acc += terms[l];
        return acc;
    case 3: /* by tiles of channels and taps */
        for (int64_t base = 0; base < a->count; base += 5) {
            const int64_t left = a->count - base;
            acc += good_sum(p, terms + base, left < 5 ? left : 5, form / 5);
        }
        return acc;
    default: /* halves, the bias in the second */
        return good_sum(p, terms, a->count / 2, form / 5) +
               (start + good_sum(p, terms + a->count / 2, a->count - a->count / 2, form / 5));
    }
}

void window_conv(property_problem *p, int form, double *results) {
    const window_shape *s = p->own;
    const int64_t plane = s->result[0] * s->result[1], channels = s->groups * s->out;
    pairs a;
    for (int64_t i = 0; i < p->count; i++) {
        gather(p, i, form % 4, form / 4 % 2, &a);
        const float bias = p->input_count > 2 ? (float)p->inputs[2].values[i / plane % channels] : 0;
        results[i] = sum_of(p, &a, bias, form / 8);
    }
}
