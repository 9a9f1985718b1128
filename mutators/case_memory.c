/* Between a tensor's logical content and the bytes of its buffer. */
#include <string.h>

#include "recipe_impl.h"

/* A walk over a tensor's elements in row-major order that keeps the byte position of each. */
typedef struct walk {
    const cupel_case_tensor *tensor;
    int64_t size;
    int64_t index[CUPEL_RANK_MAX];
    int64_t at;
} walk;

static walk walk_start(const cupel_case_tensor *tensor) {
    return (walk){
        .tensor = tensor, .size = (int64_t)cupel_format_of(tensor->type)->size, .at = tensor->offset};
}

/* The length and the byte step of the innermost run. */
static int64_t run_length(const walk *w) {
    return w->tensor->rank ? w->tensor->shape[w->tensor->rank - 1] : 1;
}
static int64_t run_step(const walk *w) {
    return w->tensor->rank ? w->tensor->stride[w->tensor->rank - 1] * w->size : w->size;
}

/* On to the next run; false after the last. */
static bool next_run(walk *w) {
    for (int axis = w->tensor->rank - 2; axis >= 0; axis--) {
        int64_t stride = w->tensor->stride[axis] * w->size;
        w->at += stride;
        if (++w->index[axis] < w->tensor->shape[axis]) return true;
        w->at -= stride * w->tensor->shape[axis];
        w->index[axis] = 0;
    }
    return false;
}

static bool is_dense(const cupel_case_tensor *tensor) {
    int64_t extent = 1;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        if (tensor->shape[axis] > 1 && tensor->stride[axis] != extent) return false;
        extent *= tensor->shape[axis];
    }
    return true;
}

static void scatter(const cupel_case_tensor *tensor, unsigned char *buffer) {
    const unsigned char *from = tensor->values;
    walk w = walk_start(tensor);
    size_t size = (size_t)w.size;
    if (is_dense(tensor)) {
        memcpy(buffer + tensor->offset, from, (size_t)tensor->count * size);
        return;
    }
    int64_t n = run_length(&w), step = run_step(&w);
    do
        for (int64_t i = 0; i < n; i++, from += size) memcpy(buffer + w.at + i * step, from, size);
    while (next_run(&w));
}

uint32_t cupel_case_poison_seed(const cupel_case *c, int b) {
    return c->recipe->poison ^ UINT32_C(0x9E3779B1) * (uint32_t)(b + 1);
}

void cupel_case_image(const cupel_case *c, int b, cupel_poison poison, void *image) {
    const cupel_case_buffer *buffer = &c->buffers[b];
    if (buffer->size == 0) return;
    bool poisoned = false;
    for (int t = 0; t < c->tensor_count; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        if (tensor->buffer != b) continue;
        size_t size = cupel_format_of(tensor->type)->size;
        bool covers =
            tensor->values != NULL && (size_t)tensor->count * size == buffer->size && is_dense(tensor);
        if (!poisoned && !covers)
            cupel_poison_fill(cupel_poison_of(c->recipe->poison, poison), cupel_case_poison_seed(c, b),
                              tensor->type, image, buffer->size, 0);
        poisoned = true;
        if (tensor->values != NULL) scatter(tensor, image);
    }
}

void cupel_case_gather(const cupel_case *c, int tensor_index, const void *buffer_bytes, void *elements) {
    const cupel_case_tensor *tensor = &c->tensors[tensor_index];
    if (tensor->count == 0) return;
    const unsigned char *buffer = buffer_bytes;
    unsigned char *to = elements;
    walk w = walk_start(tensor);
    size_t size = (size_t)w.size;
    if (is_dense(tensor)) {
        memcpy(to, buffer + tensor->offset, (size_t)tensor->count * size);
        return;
    }
    int64_t n = run_length(&w), step = run_step(&w);
    do
        for (int64_t i = 0; i < n; i++, to += size) memcpy(to, buffer + w.at + i * step, size);
    while (next_run(&w));
}

void cupel_case_mark(const cupel_case *c, int b, int roles, uint8_t *mask) {
    for (int t = 0; t < c->tensor_count; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        if (tensor->buffer != b || tensor->count == 0 || !(c->contract->tensors[t].roles & roles)) continue;
        walk w = walk_start(tensor);
        int64_t n = run_length(&w), step = run_step(&w);
        do
            for (int64_t i = 0; i < n; i++) memset(mask + w.at + i * step, 1, (size_t)w.size);
        while (next_run(&w));
    }
}
