/* Pools: the largest or the mean over sliding windows. The padding of a maximum is -inf, that of a mean 0. */
#include <math.h>
#include <string.h>

#include "compose_window.h"
#include "function_table.h"
#include "integers.h"

static const int64_t ones[CUPEL_SPATIAL_MAX] = {1, 1, 1}, zeros[CUPEL_SPATIAL_MAX] = {0, 0, 0};

/* PyTorch's number of windows. In ceil mode the last one may reach beyond the padding, but must start inside
 * x or its padding before. */
static int64_t windows_of(int64_t size, int64_t padding, int64_t reach, int64_t stride, bool ceil_mode) {
    const int64_t room = size + 2 * padding - reach + (ceil_mode ? stride - 1 : 0);
    const int64_t count = room < 0 ? 0 : room / stride + 1;
    return ceil_mode && count > 0 && (count - 1) * stride >= size + padding ? count - 1 : count;
}

/* The arguments x, kernel_size, stride, padding, and dilation and ceil_mode where they stand. */
static int read_pool(cupel_builder *b, const cupel_call *call, int dilation_at, int ceil_at, cupel_slide *s,
                     int64_t *padding, bool *batched) {
    const int x = cupel_slide_input(b, call, s, batched);
    if (!cupel_slide_read(b, call, 1, s->axes, ones, 1, "kernel_size", s->kernel) ||
        !cupel_slide_read(b, call, 2, s->axes, s->kernel, 1, "stride", s->stride) ||
        !cupel_slide_read(b, call, 3, s->axes, zeros, 0, "padding", padding))
        return -1;
    memcpy(s->dilation, ones, sizeof s->dilation);
    if (dilation_at && !cupel_slide_read(b, call, dilation_at, s->axes, ones, 1, "dilation", s->dilation))
        return -1;
    const bool ceil_mode = cupel_call_flag(b, call, ceil_at, false);
    for (int i = 0; i < s->axes; i++) {
        const int64_t reach = s->dilation[i] * (s->kernel[i] - 1) + 1;
        if (padding[i] > reach / 2)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[3].place,
                                   "expected a padding of at most half the window's extent, %lld, found %lld",
                                   (long long)reach, (long long)padding[i]);
        s->out[i] = windows_of(s->size[i], padding[i], reach, s->stride[i], ceil_mode);
        if (s->out[i] < 1)
            return cupel_emit_fail(
                b, CUPEL_CONTRACT, call->place,
                "expected a window that fits into the padded extents of %s, found one of %lld for "
                "%lld elements",
                call->info->name, (long long)reach, (long long)(s->size[i] + 2 * padding[i]));
        const int64_t missing = (s->out[i] - 1) * s->stride[i] + reach - s->size[i] - padding[i];
        s->before[i] = padding[i];
        s->after[i] = missing > 0 ? missing : 0;
    }
    return b->code == CUPEL_OK ? x : -1;
}

/* Reduces the windows of x [N, C, ..]. */
static int reduce_windows(cupel_builder *b, cupel_op op, int x, const cupel_slide *s, double fill) {
    x = cupel_slide_windows(b, cupel_slide_pad(b, x, s, fill), s, false);
    unsigned taps = 0;
    for (int i = 0; i < s->axes; i++) taps |= 1u << (2 + s->axes + i);
    int y = cupel_emit_reduce(b, op, x, taps, false);
    return op == CUPEL_OP_AMAX ? composite_(b, CUPEL_FORM_FIRST_MAXIMUM, y, -1, -1, -1) : y;
}

static int max_pool(cupel_builder *b, const cupel_call *call, int axes) {
    cupel_slide s = {.axes = axes};
    int64_t padding[CUPEL_SPATIAL_MAX];
    bool batched;
    int x = read_pool(b, call, 4, 5, &s, padding, &batched);
    if (x < 0) return -1;
    if (b->nodes[x].kind == CUPEL_VALUE_BOOL) x = cupel_emit_as(b, CUPEL_VALUE_INT, x);
    const double fill = b->nodes[x].kind == CUPEL_VALUE_REAL ? -INFINITY : CUPEL_PAD_LEAST;
    return cupel_slide_result(b, reduce_windows(b, CUPEL_OP_AMAX, x, &s, fill), batched);
}

/* ---- means ---- */

/* The number of elements that window j of an axis counts: of x and its padding, or of x alone. */
static int64_t counted(const cupel_slide *s, const int64_t *padding, int axis, bool include_pad, int64_t j) {
    int64_t start = j * s->stride[axis] - padding[axis], end = start + s->kernel[axis];
    if (end > s->size[axis] + padding[axis]) end = s->size[axis] + padding[axis];
    if (include_pad) return end - start;
    if (end > s->size[axis]) end = s->size[axis];
    return end - (start > 0 ? start : 0);
}

static bool counts_alike(const cupel_slide *s, const int64_t *padding, int axis, bool include_pad) {
    const int64_t first = counted(s, padding, axis, include_pad, 0);
    for (int64_t j = 1; j < s->out[axis]; j++)
        if (counted(s, padding, axis, include_pad, j) != first) return false;
    return true;
}

/* `counted` of all windows of an axis, as integers [out]. */
static int counts_of(cupel_builder *b, const cupel_slide *s, const int64_t *padding, int axis,
                     bool include_pad) {
    const int64_t size = s->size[axis];
    int start = cupel_emit_iota(b, -padding[axis], s->stride[axis], s->out[axis]);
    int end = add_(b, start, cupel_emit_integer(b, s->kernel[axis]));
    end = minimum_(b, end, cupel_emit_integer(b, include_pad ? size + padding[axis] : size));
    if (!include_pad) start = maximum_(b, start, cupel_emit_integer(b, 0));
    return sub_(b, end, start);
}

/* How many elements each window counts: a number, or [out..] where they differ. */
static int divisor_of(cupel_builder *b, const cupel_slide *s, const int64_t *padding, bool include_pad) {
    int64_t common = 1;
    int each = -1;
    for (int i = 0; i < s->axes; i++) {
        if (counts_alike(s, padding, i, include_pad)) {
            common *= counted(s, padding, i, include_pad, 0);
            continue;
        }
        int64_t shape[CUPEL_SPATIAL_MAX] = {s->out[i], 1, 1};
        const int own = cupel_emit_reshape(b, counts_of(b, s, padding, i, include_pad), s->axes - i, shape);
        each = each < 0 ? own : mul_(b, each, own);
    }
    const int number = cupel_emit_integer(b, common);
    return cupel_emit_as(b, CUPEL_VALUE_REAL, each < 0 ? number : mul_(b, each, number));
}

static int avg_pool(cupel_builder *b, const cupel_call *call, int axes) {
    cupel_slide s = {.axes = axes};
    int64_t padding[CUPEL_SPATIAL_MAX];
    bool batched;
    const int x = cupel_emit_as(b, CUPEL_VALUE_REAL, read_pool(b, call, 0, 4, &s, padding, &batched));
    if (x < 0) return -1;
    int divisor;
    if (cupel_call_has(call, 6)) {
        const int64_t given = cupel_call_integer(b, call, 6, 1);
        if (b->code == CUPEL_OK && given == 0)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[6].place,
                                   "expected a divisor_override other than 0");
        divisor = number_(b, (double)given);
    } else {
        divisor = divisor_of(b, &s, padding, cupel_call_flag(b, call, 5, true));
    }
    const int sum = reduce_windows(b, CUPEL_OP_SUM, x, &s, 0);
    return cupel_slide_result(b, div_(b, sum, divisor), batched);
}

#define CUPEL_POOL(axes)                                                                                     \
    int cupel_compose_max_pool##axes##d(cupel_builder *b, const cupel_call *call) {                          \
        return max_pool(b, call, axes);                                                                      \
    }                                                                                                        \
    int cupel_compose_avg_pool##axes##d(cupel_builder *b, const cupel_call *call) {                          \
        return avg_pool(b, call, axes);                                                                      \
    }
CUPEL_POOL(1)
CUPEL_POOL(2)
CUPEL_POOL(3)

/* ---- adaptive ---- */

enum { PARTS_MAX = 4096 }; /* windows that are nodes of their own */

/* The mean over [floor(i size / out), ceil((i + 1) size / out)) along both axes. */
static int mean_of_part(cupel_builder *b, int x, const cupel_slide *s, int64_t i, int64_t j) {
    const int64_t at[2] = {i, j};
    int64_t count = 1;
    for (int axis = 0; axis < 2; axis++) {
        const int64_t start = at[axis] * s->size[axis] / s->out[axis];
        const int64_t end = ((at[axis] + 1) * s->size[axis] + s->out[axis] - 1) / s->out[axis];
        x = cupel_emit_slice(b, x, 2 + axis, start, end - start, 1);
        count *= end - start;
    }
    return div_(b, cupel_emit_reduce(b, CUPEL_OP_SUM, x, 0xc, true), number_(b, (double)count));
}

/* Windows of differing extents, one by one. */
static int mean_of_parts(cupel_builder *b, const cupel_call *call, int x, const cupel_slide *s) {
    if (s->out[0] > PARTS_MAX || s->out[1] > PARTS_MAX / s->out[0])
        return cupel_emit_fail(
            b, CUPEL_UNSUPPORTED, call->args[1].place,
            "expected an output_size that divides x's extents, or at most %d means, found %s", (int)PARTS_MAX,
            cupel_emit_shape_text(b, 2, s->out));
    int *row = cupel_arena_alloc(b->arena, (size_t)s->out[1] * sizeof *row);
    int *rows = cupel_arena_alloc(b->arena, (size_t)s->out[0] * sizeof *rows);
    if (!row || !rows) return cupel_emit_fail(b, CUPEL_MEMORY, call->place, "out of memory");
    for (int64_t i = 0; i < s->out[0]; i++) {
        for (int64_t j = 0; j < s->out[1]; j++) row[j] = mean_of_part(b, x, s, i, j);
        rows[i] = cupel_emit_concat(b, (int)s->out[1], row, 3);
    }
    return cupel_emit_concat(b, (int)s->out[0], rows, 2);
}

int cupel_compose_adaptive_avg_pool2d(cupel_builder *b, const cupel_call *call) {
    cupel_slide s = {.axes = 2, .dilation = {1, 1}};
    bool batched;
    const int x = cupel_emit_as(b, CUPEL_VALUE_REAL, cupel_slide_input(b, call, &s, &batched));
    if (x < 0 || !cupel_slide_read(b, call, 1, 2, ones, 1, "output_size", s.out)) return -1;
    bool alike = true;
    for (int i = 0; i < 2; i++) {
        if (s.size[i] < 1)
            return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                                   "expected spatial extents of at least 1 in %s", call->info->name);
        alike = alike && s.size[i] % s.out[i] == 0;
        s.kernel[i] = s.stride[i] = s.size[i] / s.out[i];
    }
    if (!alike) return cupel_slide_result(b, mean_of_parts(b, call, x, &s), batched);
    const int sum = reduce_windows(b, CUPEL_OP_SUM, x, &s, 0);
    return cupel_slide_result(b, div_(b, sum, number_(b, (double)(s.kernel[0] * s.kernel[1]))), batched);
}
