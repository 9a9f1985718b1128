/* Convolutions and their transposes, as a matrix product over sliding windows: weight [G, O/G, C/G * taps] by
 * windows [G, C/G * taps, N * positions], groups being batches.
 *
 * A transposed convolution is the convolution of x, with stride - 1 zeros between its elements, by the
 * flipped weight (Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016,
 * relationship 14).
 *
 * Kernels leave out the padding, or multiply by it. That differs where the weight is infinite or NaN: such
 * elements are excluded (CONTRACT, "Not judged"). */
#include <string.h>

#include "compose_window.h"
#include "function_table.h"

typedef struct convolution {
    cupel_slide slide;
    int64_t groups, in, out; /* channels */
    int x, weight;           /* [N, C, spatial..]; [G, O/G, C/G, taps..] */
    int x_touched;           /* [spatial..]: 0, and 1 where a zero was put in; -1: none */
    bool batched;
} convolution;

static const int64_t ones[CUPEL_SPATIAL_MAX] = {1, 1, 1}, zeros[CUPEL_SPATIAL_MAX] = {0, 0, 0};

/* ---- the product ---- */

/* Which elements of [O, positions] multiply a zero that was put in by a weight that is not finite. A matrix
 * product of zeros and ones counts the taps that do. */
static int touches_padding(cupel_builder *b, const convolution *c) {
    const int64_t taps = cupel_slide_count(&c->slide, c->slide.kernel);
    const int64_t positions = cupel_slide_count(&c->slide, c->slide.out);
    int windows = cupel_slide_windows(b, c->x_touched, &c->slide, false); /* [out.., taps..] */
    windows = cupel_emit_reshape(b, windows, 2, (int64_t[]){positions, taps});
    int wild = not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, c->weight));
    wild = cupel_emit_reduce(b, CUPEL_OP_AMAX, wild, 1u << 2, false); /* over the input channels */
    wild = cupel_emit_reshape(b, wild, 2, (int64_t[]){c->out, taps});
    const int count = cupel_emit_matmul(b, cupel_emit_as(b, CUPEL_VALUE_REAL, wild),
                                        cupel_emit_permute(b, windows, (int[]){1, 0}));
    return less_(b, number_(b, 0.5), count);
}

static int exclude(cupel_builder *b, const convolution *c, int y) {
    if (c->x_touched < 0 || c->in / c->groups == 0 || y < 0) return y;
    const cupel_node like = b->nodes[y];
    int condition = touches_padding(b, c);
    int64_t shape[CUPEL_RANK_MAX];
    memcpy(shape, like.shape, sizeof shape);
    shape[0] = 1;
    condition = cupel_emit_reshape(b, condition, like.rank, shape);
    condition = cupel_emit_broadcast(b, condition, like.rank, like.shape);
    return cupel_emit_exclude(b, y, condition);
}

static int multiply(cupel_builder *b, const convolution *c) {
    const cupel_slide *s = &c->slide;
    const int64_t inner = c->in / c->groups * cupel_slide_count(s, s->kernel);
    const int64_t n = c->x < 0 ? 0 : b->nodes[c->x].shape[0];
    int windows = cupel_slide_windows(b, c->x, s, true);
    windows =
        cupel_emit_reshape(b, windows, 3, (int64_t[]){c->groups, inner, n * cupel_slide_count(s, s->out)});
    const int weight = cupel_emit_reshape(b, c->weight, 3, (int64_t[]){c->groups, c->out / c->groups, inner});
    int64_t shape[CUPEL_RANK_MAX] = {c->out, n};
    memcpy(shape + 2, s->out, (size_t)s->axes * sizeof *shape);
    const int product = cupel_emit_reshape(b, cupel_emit_matmul(b, weight, windows), s->axes + 2, shape);
    convolution *kept = cupel_arena_alloc(b->arena, sizeof *kept);
    if (!kept) return cupel_emit_fail(b, CUPEL_MEMORY, b->place, "out of memory");
    *kept = *c;
    return cupel_emit_composite(
        b, (cupel_composite){.node = cupel_emit_permute(b, product, (int[]){1, 0, 2, 3, 4}),
                             .form = CUPEL_FORM_CONVOLUTION,
                             .args = {c->x, weight, windows, -1},
                             .detail = kept});
}

/* The bias [O], argument 2, and the axis N taken away again. */
static int finish(cupel_builder *b, const cupel_call *call, const convolution *c, int y) {
    y = exclude(b, c, y);
    if (cupel_call_has(call, 2) && y >= 0) {
        int bias = cupel_call_node(b, call, 2);
        if (bias < 0) return -1;
        if (b->nodes[bias].rank != 1 || b->nodes[bias].shape[0] != c->out)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[2].place,
                                   "expected a bias of shape [%lld], found %s", (long long)c->out,
                                   cupel_emit_shape_text(b, b->nodes[bias].rank, b->nodes[bias].shape));
        int64_t shape[CUPEL_RANK_MAX] = {c->out, 1, 1, 1};
        y = add_(b, y, cupel_emit_reshape(b, bias, c->slide.axes + 1, shape));
    }
    return cupel_slide_result(b, y, c->batched);
}

/* ---- arguments ---- */

/* x and weight, brought to one kind and loosened; extents that fit. transposed: weight [C, O/G, taps..], else
 * [O, C/G, taps..]. */
static bool read_operands(cupel_builder *b, const cupel_call *call, convolution *c, bool transposed) {
    const int axes = c->slide.axes;
    c->x = cupel_slide_input(b, call, &c->slide, &c->batched);
    c->weight = cupel_call_node(b, call, 1);
    if (c->x < 0 || c->weight < 0) return false;
    const cupel_node *w = &b->nodes[c->weight];
    c->in = b->nodes[c->x].shape[1];
    bool fits = w->rank == axes + 2;
    if (fits && transposed) fits = c->in == w->shape[0] && c->in % c->groups == 0;
    if (fits && !transposed) fits = w->shape[1] * c->groups == c->in && w->shape[0] % c->groups == 0;
    for (int i = 0; fits && i < axes; i++) {
        c->slide.kernel[i] = w->shape[2 + i];
        if (w->shape[2 + i] < 1) fits = false;
    }
    if (!fits) {
        cupel_emit_fail(
            b, CUPEL_CONTRACT, call->args[1].place,
            "expected a weight of shape %s and %d kernel extents for %lld channels in %lld %s, found %s",
            transposed ? "[in, out / groups, ..]" : "[out, in / groups, ..]", axes, (long long)c->in,
            (long long)c->groups, c->groups == 1 ? "group" : "groups",
            cupel_emit_shape_text(b, w->rank, w->shape));
        return false;
    }
    c->out = transposed ? w->shape[1] * c->groups : w->shape[0];
    const bool real = b->nodes[c->x].kind == CUPEL_VALUE_REAL || w->kind == CUPEL_VALUE_REAL;
    const cupel_value_kind kind = real ? CUPEL_VALUE_REAL : CUPEL_VALUE_INT;
    c->x = cupel_compose_operand(b, cupel_emit_as(b, kind, c->x));
    c->weight = cupel_compose_operand(b, cupel_emit_as(b, kind, c->weight));
    return b->code == CUPEL_OK;
}

static bool read_groups(cupel_builder *b, const cupel_call *call, int i, int64_t *groups) {
    *groups = cupel_call_integer(b, call, i, 1);
    if (b->code == CUPEL_OK && *groups < 1)
        cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place, "expected at least 1 group, found %lld",
                        (long long)*groups);
    return b->code == CUPEL_OK;
}

/* An integer, a list, "valid" or "same": padding such that the result has x's extents, the odd one behind. */
static bool read_padding(cupel_builder *b, const cupel_call *call, int i, cupel_slide *s) {
    static const char *const names[] = {"valid", "same", NULL};
    if (call->args[i].form != CUPEL_OPERAND_TEXT) {
        if (!cupel_slide_read(b, call, i, s->axes, zeros, 0, "padding", s->before)) return false;
        memcpy(s->after, s->before, sizeof s->after);
        return true;
    }
    const bool same = cupel_call_choice(b, call, i, names) == 1;
    for (int k = 0; k < s->axes && same; k++) {
        if (s->stride[k] != 1)
            cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place,
                            "expected a stride of 1 beside padding=\"same\", found %lld",
                            (long long)s->stride[k]);
        const int64_t total = s->dilation[k] * (s->kernel[k] - 1);
        s->before[k] = total / 2;
        s->after[k] = total - total / 2;
    }
    return b->code == CUPEL_OK;
}

static bool pads(const cupel_slide *s) {
    for (int i = 0; i < s->axes; i++)
        if (s->before[i] > 0 || s->after[i] > 0) return true;
    return false;
}

/* The number of windows, at least one an axis. */
static bool count_windows(cupel_builder *b, const cupel_call *call, const cupel_slide *s, int64_t *out) {
    for (int i = 0; i < s->axes; i++) {
        const int64_t room = s->size[i] + s->before[i] + s->after[i];
        const int64_t reach = s->dilation[i] * (s->kernel[i] - 1) + 1;
        out[i] = room < reach ? 0 : (room - reach) / s->stride[i] + 1;
        if (out[i] > 0) continue;
        cupel_emit_fail(
            b, CUPEL_CONTRACT, call->place,
            "expected a kernel that fits into the padded extents of %s, found one that reaches over "
            "%lld of %lld elements",
            call->info->name, (long long)reach, (long long)room);
        return false;
    }
    return true;
}

/* Zeros with the shape of x's spatial axes. */
static int blank(cupel_builder *b, const cupel_slide *s) {
    return cupel_emit_broadcast(b, number_(b, 0.0), s->axes, s->size);
}

static int convolve(cupel_builder *b, const cupel_call *call, int axes) {
    convolution c = {.slide = {.axes = axes}, .x_touched = -1};
    cupel_slide *s = &c.slide;
    if (!read_groups(b, call, 6, &c.groups) || !read_operands(b, call, &c, false) ||
        !cupel_slide_read(b, call, 3, axes, ones, 1, "stride", s->stride) ||
        !cupel_slide_read(b, call, 5, axes, ones, 1, "dilation", s->dilation) ||
        !read_padding(b, call, 4, s) || !count_windows(b, call, s, s->out))
        return -1;
    int64_t shape[CUPEL_RANK_MAX] = {c.groups, c.out / c.groups, c.in / c.groups};
    memcpy(shape + 3, s->kernel, (size_t)axes * sizeof *shape);
    c.weight = cupel_emit_reshape(b, c.weight, axes + 3, shape);
    if (pads(s)) {
        c.x = cupel_slide_pad(b, c.x, s, 0);
        c.x_touched = cupel_slide_pad(b, blank(b, s), s, 1);
    }
    return finish(b, call, &c, multiply(b, &c));
}

/* ---- transposed ---- */

/* x with `fill` put between the elements of its spatial axes, stride - 1 times. */
static int spread(cupel_builder *b, int x, const cupel_slide *s, const int64_t *stride, double fill) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const int leading = b->nodes[x].rank - s->axes;
    int64_t apart[CUPEL_RANK_MAX], joined[CUPEL_RANK_MAX], none[CUPEL_RANK_MAX] = {0},
                                                           after[CUPEL_RANK_MAX] = {0};
    memcpy(apart, b->nodes[x].shape, sizeof apart);
    memcpy(joined, b->nodes[x].shape, sizeof joined);
    for (int i = 0; i < s->axes; i++) {
        apart[leading + 2 * i] = s->size[i];
        apart[leading + 2 * i + 1] = 1;
        after[leading + 2 * i + 1] = stride[i] - 1;
        joined[leading + i] = s->size[i] * stride[i];
    }
    x = cupel_emit_reshape(b, x, leading + 2 * s->axes, apart);
    x = cupel_emit_reshape(b, cupel_emit_pad(b, x, fill, none, after), leading + s->axes, joined);
    for (int i = 0; i < s->axes; i++)
        x = cupel_emit_slice(b, x, leading + i, 0, (s->size[i] - 1) * stride[i] + 1, 1);
    return x;
}

/* Weight [G, O/G, C/G, taps..] as [G, C/G, O/G, taps flipped..]. */
static int turned(cupel_builder *b, int weight, int axes) {
    cupel_window w = cupel_window_of(b, weight);
    const cupel_window from = w;
    w.shape[1] = from.shape[2], w.stride[1] = from.stride[2];
    w.shape[2] = from.shape[1], w.stride[2] = from.stride[1];
    for (int i = 3; i < 3 + axes && b->nodes[weight].count > 0; i++) {
        w.offset += (from.shape[i] - 1) * from.stride[i];
        w.stride[i] = -from.stride[i];
    }
    return cupel_window_finish(b, &w);
}

int cupel_compose_conv_adjoint(cupel_builder *b, const cupel_composite *forward, int dy) {
    const convolution *from = forward->detail;
    if (b->code != CUPEL_OK || dy < 0) return -1;
    convolution c = {.slide = from->slide, .groups = from->groups, .in = from->out, .out = from->in};
    cupel_slide *s = &c.slide;
    for (int i = 0; i < s->axes; i++) {
        s->size[i] = from->slide.out[i];
        s->out[i] = b->nodes[from->x].shape[2 + i];
        s->stride[i] = 1;
        s->before[i] = s->dilation[i] * (s->kernel[i] - 1);
    }
    c.x = spread(b, cupel_compose_operand(b, dy), s, from->slide.stride, 0);
    int touched = spread(b, blank(b, s), s, from->slide.stride, 1);
    for (int i = 0; i < s->axes; i++) {
        s->size[i] = (s->size[i] - 1) * from->slide.stride[i] + 1;
        s->after[i] = s->out[i] - s->size[i];
    }
    c.x = cupel_slide_pad(b, c.x, s, 0);
    c.x_touched = cupel_slide_pad(b, touched, s, 1);
    c.weight = turned(b, from->weight, s->axes);
    return exclude(b, &c, multiply(b, &c));
}

int cupel_compose_conv_exclude(cupel_builder *b, const cupel_composite *forward, int dy, int share) {
    const convolution *c = forward->detail;
    if (b->code != CUPEL_OK || c->x_touched < 0 || dy < 0 || share < 0) return share;
    const int64_t taps = cupel_slide_count(&c->slide, c->slide.kernel);
    const int64_t positions = cupel_slide_count(&c->slide, c->slide.out);
    int windows = cupel_slide_windows(b, c->x_touched, &c->slide, false); /* [out.., taps..] */
    windows = cupel_emit_reshape(b, windows, 2, (int64_t[]){positions, taps});
    int wild = not_(b, cupel_emit_unary(b, CUPEL_OP_ISFINITE, dy));
    wild = cupel_emit_reduce(b, CUPEL_OP_AMAX, wild, 1u, false); /* over N */
    wild = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_emit_reshape(b, wild, 2, (int64_t[]){c->out, positions}));
    int open = less_(b, number_(b, 0.5), cupel_emit_matmul(b, wild, windows));
    const int64_t rows = c->out / c->groups, in = c->in / c->groups;
    open = cupel_emit_reshape(b, open, 4, (int64_t[]){c->groups, rows, 1, taps});
    open = cupel_emit_broadcast(b, open, 4, (int64_t[]){c->groups, rows, in, taps});
    return cupel_emit_exclude(b, share,
                              cupel_emit_reshape(b, open, 3, (int64_t[]){c->groups, rows, in * taps}));
}

/* Weight [C, O/G, taps..] as [G, O/G, C/G, taps flipped..]. */
static int flipped(cupel_builder *b, const convolution *c) {
    const cupel_window from = cupel_window_of(b, c->weight);
    cupel_window to = {.base = from.base, .rank = from.rank + 1, .offset = from.offset};
    to.shape[0] = c->groups, to.stride[0] = from.stride[0] * (c->in / c->groups);
    to.shape[1] = from.shape[1], to.stride[1] = from.stride[1];
    to.shape[2] = c->in / c->groups, to.stride[2] = from.stride[0];
    for (int i = 0; i < c->slide.axes; i++) {
        to.shape[3 + i] = from.shape[2 + i];
        to.stride[3 + i] = -from.stride[2 + i];
        if (c->weight >= 0 && b->nodes[c->weight].count > 0)
            to.offset += (from.shape[2 + i] - 1) * from.stride[2 + i];
    }
    return cupel_window_finish(b, &to);
}

static int convolve_transposed(cupel_builder *b, const cupel_call *call, int axes) {
    convolution c = {.slide = {.axes = axes}, .x_touched = -1};
    cupel_slide *s = &c.slide;
    int64_t stride[CUPEL_SPATIAL_MAX], padding[CUPEL_SPATIAL_MAX], extra[CUPEL_SPATIAL_MAX];
    if (!read_groups(b, call, 6, &c.groups) || !read_operands(b, call, &c, true) ||
        !cupel_slide_read(b, call, 3, axes, ones, 1, "stride", stride) ||
        !cupel_slide_read(b, call, 4, axes, zeros, 0, "padding", padding) ||
        !cupel_slide_read(b, call, 5, axes, zeros, 0, "output_padding", extra) ||
        !cupel_slide_read(b, call, 7, axes, ones, 1, "dilation", s->dilation))
        return -1;
    bool spreads = false;
    for (int i = 0; i < axes; i++) {
        if (extra[i] >= stride[i] && extra[i] >= s->dilation[i])
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[5].place,
                                   "expected an output_padding below the stride or the dilation, found %lld",
                                   (long long)extra[i]);
        if (s->size[i] < 1)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                                   "expected spatial extents of at least 1 in %s", call->info->name);
        spreads = spreads || (stride[i] > 1 && s->size[i] > 1);
    }
    int touched = blank(b, s);
    if (spreads) {
        c.x = spread(b, c.x, s, stride, 0);
        touched = spread(b, touched, s, stride, 1);
    }
    for (int i = 0; i < axes; i++) {
        s->size[i] = (s->size[i] - 1) * stride[i] + 1;
        s->stride[i] = 1;
        s->before[i] = s->dilation[i] * (s->kernel[i] - 1) - padding[i];
        s->after[i] = s->before[i] + extra[i];
    }
    if (!count_windows(b, call, s, s->out)) return -1;
    c.weight = flipped(b, &c);
    c.x = cupel_slide_pad(b, c.x, s, 0);
    if (pads(s) || spreads) c.x_touched = cupel_slide_pad(b, touched, s, 1);
    return finish(b, call, &c, multiply(b, &c));
}

#define CUPEL_CONVOLUTION(axes)                                                                              \
    int cupel_compose_conv##axes##d(cupel_builder *b, const cupel_call *call) {                              \
        return convolve(b, call, axes);                                                                      \
    }                                                                                                        \
    int cupel_compose_conv_transpose##axes##d(cupel_builder *b, const cupel_call *call) {                    \
        return convolve_transposed(b, call, axes);                                                           \
    }
CUPEL_CONVOLUTION(1)
CUPEL_CONVOLUTION(2)
CUPEL_CONVOLUTION(3)
