#include "axes_kernels.h"

/* x [IN, size..], kernel of 3 (one axis) or 2 (three axes), stride and padding 1. k is the number of channels
 * out. */
typedef struct window {
    int axes;
    int64_t size[3], kernel, padding;
} window;

static window window_of(const property_problem *p) {
    window w = {.axes = p->inputs[0].rank - 1};
    for (int d = 0; d < w.axes; d++) w.size[d] = p->inputs[0].shape[d + 1];
    w.kernel = w.axes == 1 ? 3 : 2;
    w.padding = w.axes == 1 ? 1 : 0;
    return w;
}

void axes_inputs(property_problem *p, int axes, bool transposed, bool filter) {
    int64_t shape[4] = {2, 0}, weight[5] = {0}, result[4] = {0};
    const int64_t kernel = axes == 1 ? 3 : 2, padding = axes == 1 ? 1 : 0;
    p->k = 2;
    weight[0] = weight[1] = result[0] = 2;
    for (int d = 1; d <= axes; d++) {
        shape[d] = 2 + (int64_t)cupel_random_below(&p->random, axes == 1 ? 20 : 3);
        weight[d + 1] = kernel;
        result[d] = transposed ? shape[d] - 1 + kernel - 2 * padding : shape[d] + 2 * padding - kernel + 1;
    }
    property_fill(p, property_add_shaped(p, "x", p->type, axes + 1, shape), p->pattern);
    if (filter) property_fill_any(p, property_add_shaped(p, "w", p->type, axes + 2, weight));
    if (filter) property_fill_any(p, property_add(p, "b", 1, 2, 0));
    property_expect(p, axes + 1, result);
}

/* The element of x (or w) behind leading index `lead` at these positions. */
static float at(const property_input *in, int axes, int64_t lead, const int64_t *index) {
    int64_t flat = lead;
    for (int d = 0; d < axes; d++) flat = flat * in->shape[in->rank - axes + d] + index[d];
    return (float)in->values[flat];
}

static int64_t place_of(const property_problem *p, window w, int64_t e, int64_t *place) {
    for (int d = w.axes - 1; d >= 0; d--) place[d] = e % p->shape[d + 1], e /= p->shape[d + 1];
    return e;
}

int64_t axes_terms(const property_problem *p, int64_t e, bool transposed, bool flipped, bool all,
                   int64_t *out, float *left, float *right) {
    const window w = window_of(p);
    int64_t count = 0, taps = 1, place[3];
    *out = place_of(p, w, e, place);
    for (int d = 0; d < w.axes; d++) taps *= w.kernel;
    for (int64_t c = 0; c < 2; c++) {
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t t[3], from[3], rest = tap;
            bool inside = true;
            for (int d = w.axes - 1; d >= 0; d--) t[d] = rest % w.kernel, rest /= w.kernel;
            for (int d = 0; d < w.axes; d++) {
                from[d] = transposed ? place[d] - t[d] + w.padding : place[d] + t[d] - w.padding;
                inside &= from[d] >= 0 && from[d] < w.size[d];
            }
            if (!inside && !all) continue;
            for (int d = 0; flipped && d < w.axes; d++) t[d] = w.kernel - 1 - t[d];
            left[count] = inside ? at(&p->inputs[0], w.axes, c, from) : 0;
            right[count++] = at(&p->inputs[1], w.axes, transposed ? c * 2 + *out : *out * 2 + c, t);
        }
    }
    return count;
}

int64_t axes_pooled(const property_problem *p, int64_t e, float *terms) {
    const window w = window_of(p);
    int64_t place[3], from[3];
    const int64_t rest = place_of(p, w, e, place);
    const int64_t taps = INT64_C(1) << w.axes;
    for (int64_t tap = 0; tap < taps; tap++) {
        for (int d = 0; d < w.axes; d++) from[d] = place[d] + (tap >> d & 1);
        terms[tap] = at(&p->inputs[0], w.axes, rest, from);
    }
    return taps;
}
