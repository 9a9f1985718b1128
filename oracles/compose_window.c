#include "compose_window.h"

#include <string.h>

int64_t cupel_slide_count(const cupel_slide *slide, const int64_t *extents) {
    int64_t count = 1;
    for (int i = 0; i < slide->axes; i++) count *= extents[i];
    return count;
}

bool cupel_slide_read(cupel_builder *b, const cupel_call *call, int i, int axes, const int64_t *fallback,
                      int64_t least, const char *what, int64_t *out) {
    if (b->code != CUPEL_OK) return false;
    if (!cupel_call_has(call, i)) {
        memcpy(out, fallback, (size_t)axes * sizeof *out);
        return true;
    }
    const int64_t limit = INT64_C(1) << 40;
    const int count = cupel_call_integers(b, call, i, CUPEL_RANK_MAX, out);
    if (b->code != CUPEL_OK) return false;
    bool fits = count == 1 || count == axes;
    for (int k = 0; k < axes && fits; k++) {
        if (count == 1) out[k] = out[0];
        if (out[k] < least || out[k] > limit) fits = false;
    }
    if (!fits)
        cupel_emit_fail(b, CUPEL_CONTRACT, call->args[i].place,
                        "expected an integer of at least %lld and at most 2^40 as %s of %s%s, found %s",
                        (long long)least, what, call->info->name,
                        axes == 1 ? "" : ", or a list of one for each axis",
                        cupel_emit_shape_text(b, count, out));
    return fits;
}

int cupel_slide_input(cupel_builder *b, const cupel_call *call, cupel_slide *slide, bool *batched) {
    static const char *const forms[] = {"[N, C, L] or [C, L]", "[N, C, H, W] or [C, H, W]",
                                        "[N, C, D, H, W] or [C, D, H, W]"};
    int x = cupel_call_node(b, call, 0);
    if (x < 0) return -1;
    const int rank = b->nodes[x].rank, axes = slide->axes;
    *batched = rank == axes + 2;
    if (!*batched && rank != axes + 1)
        return cupel_emit_fail(b, CUPEL_CONTRACT, call->args[0].place,
                               "expected x of shape %s in %s, found %s", forms[axes - 1], call->info->name,
                               cupel_emit_shape_text(b, rank, b->nodes[x].shape));
    for (int i = 0; i < axes; i++) slide->size[i] = b->nodes[x].shape[rank - axes + i];
    return *batched ? x : cupel_emit_unsqueeze(b, x, 0);
}

int cupel_slide_result(cupel_builder *b, int y, bool batched) {
    if (batched || y < 0) return y;
    cupel_window w = cupel_window_of(b, y);
    cupel_window_remove(&w, 0);
    return cupel_window_finish(b, &w);
}

int cupel_slide_pad(cupel_builder *b, int x, const cupel_slide *slide, double fill) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    int64_t before[CUPEL_RANK_MAX] = {0}, after[CUPEL_RANK_MAX] = {0};
    const int first = b->nodes[x].rank - slide->axes;
    for (int i = 0; i < slide->axes; i++) {
        before[first + i] = slide->before[i];
        after[first + i] = slide->after[i];
    }
    return cupel_emit_pad(b, x, fill, before, after);
}

int cupel_slide_windows(cupel_builder *b, int x, const cupel_slide *slide, bool channels_first) {
    if (b->code != CUPEL_OK || x < 0) return -1;
    const cupel_window from = cupel_window_of(b, x);
    const int axes = slide->axes, leading = from.rank - axes;
    cupel_window to = {.base = from.base, .rank = leading + 2 * axes, .offset = from.offset};
    const int taps = channels_first ? 1 : leading + axes, windows = channels_first ? axes + 2 : leading;
    if (channels_first) {
        to.shape[0] = from.shape[1], to.stride[0] = from.stride[1];
        to.shape[axes + 1] = from.shape[0], to.stride[axes + 1] = from.stride[0];
    } else {
        memcpy(to.shape, from.shape, sizeof to.shape);
        memcpy(to.stride, from.stride, sizeof to.stride);
    }
    for (int i = 0; i < axes; i++) {
        to.shape[taps + i] = slide->kernel[i];
        to.stride[taps + i] = from.stride[leading + i] * slide->dilation[i];
        to.shape[windows + i] = slide->out[i];
        to.stride[windows + i] = from.stride[leading + i] * slide->stride[i];
    }
    return cupel_window_finish(b, &to);
}
