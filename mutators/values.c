/* The logical content of an input: pattern, then special values, then point edits, then the order that
 * `sorted` asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_impl.h"
#include "wide.h"

/* Weights of the coordinates in the pattern INDEX, from the second last axis outwards: primes, coprime to
 * tiles. */
static const int64_t index_weights[CUPEL_RANK_MAX] = {53, 101, 149, 197, 223, 13, 29, 83};

typedef struct walker {
    int lead_rank;
    int64_t lead[CUPEL_RANK_MAX];
    uint64_t keys[CUPEL_RANK_MAX + 1]; /* keys[k]: of the first k coordinates */
} walker;

static void refresh_keys(walker *w, int from) {
    for (int axis = from; axis < w->lead_rank; axis++)
        w->keys[axis + 1] =
            cupel_philox(w->keys[axis], CUPEL_STREAM_AXIS + (uint32_t)axis, (uint64_t)w->lead[axis]);
}

static bool next_row(walker *w, const int64_t *shape) {
    for (int axis = w->lead_rank - 1; axis >= 0; axis--) {
        if (++w->lead[axis] < shape[axis]) {
            refresh_keys(w, axis);
            return true;
        }
        w->lead[axis] = 0;
    }
    return false;
}

static int64_t index_base(const walker *w) {
    int64_t base = 0;
    for (int axis = 0; axis < w->lead_rank; axis++)
        base = (base + w->lead[axis] % 251 * index_weights[w->lead_rank - 1 - axis]) % 251;
    return base;
}

static void fill_rows(const cupel_values *values, const int64_t *shape, double *row, unsigned char *out) {
    int rank = values->facts->decl->rank;
    int64_t n = rank ? shape[rank - 1] : 1;
    cupel_special_plan plan;
    cupel_special_open(values, shape, &plan);
    walker w = {.lead_rank = rank ? rank - 1 : 0};
    w.keys[0] = cupel_philox(values->recipe->seed, CUPEL_STREAM_TENSOR + (uint32_t)values->tensor, 0);
    refresh_keys(&w, 0);
    do {
        uint64_t key = w.keys[w.lead_rank];
        cupel_pattern_row(values, key, index_base(&w), n, row);
        cupel_special_row(&plan, w.lead, key, n, row);
        if (!cupel_wide_row(values, key, n, out)) cupel_encode_many(values->facts->type, row, (size_t)n, out);
        out += (size_t)n * values->facts->format->size;
    } while (next_row(&w, shape));
}

/* The flat index in a tensor of another shape (extent 1 along expanded axes) that stands for a flat index of
 * the full one. */
static int64_t collapse_index(const cupel_tensor_facts *facts, const int64_t *shape, int64_t index) {
    int64_t flat = 0, weight = 1;
    for (int axis = facts->decl->rank - 1; axis >= 0; axis--) {
        int64_t coordinate = index % facts->shape[axis];
        index /= facts->shape[axis];
        if (shape[axis] == facts->shape[axis]) flat += coordinate * weight;
        weight *= shape[axis];
    }
    return flat;
}

static void apply_edits(const cupel_values *values, const int64_t *shape, unsigned char *out) {
    const cupel_tensor_facts *facts = values->facts;
    for (int i = 0; i < values->recipe->edit_count; i++) {
        const cupel_edit *edit = &values->recipe->edits[i];
        if (edit->index < 0 || edit->index >= facts->count || !cupel_facts_permit(facts, edit->bits))
            continue;
        memcpy(out + (size_t)collapse_index(facts, shape, edit->index) * facts->format->size, &edit->bits,
               facts->format->size);
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if (x == 0 && y == 0) return (signbit(y) != 0) - (signbit(x) != 0); /* -0 first, for every sort's sake */
    return (x > y) - (x < y);
}

static int compare_signed(const void *a, const void *b) {
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int compare_unsigned(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sort_rows(const cupel_values *values, int64_t rows, int64_t n, double *row, unsigned char *out) {
    for (int64_t i = 0; i < rows; i++, out += (size_t)n * values->facts->format->size) {
        if (cupel_dtype_is_wide(values->facts->type)) { /* as they are: doubles lack most of them */
            qsort(out, (size_t)n, sizeof(uint64_t),
                  values->facts->type == CUPEL_U64 ? compare_unsigned : compare_signed);
            continue;
        }
        cupel_decode_many(values->facts->type, out, (size_t)n, row);
        qsort(row, (size_t)n, sizeof *row, compare_doubles);
        cupel_encode_many(values->facts->type, row, (size_t)n, out);
    }
}

/* Repeats elements along expanded axes: from a tensor of shape `shape` to the full one. */
static void expand(const cupel_tensor_facts *facts, const int64_t *shape, const unsigned char *from,
                   unsigned char *to) {
    size_t size = facts->format->size;
    for (int64_t i = 0; i < facts->count; i++)
        memcpy(to + (size_t)i * size, from + (size_t)collapse_index(facts, shape, i) * size, size);
}

cupel_code cupel_values_fill(const cupel_values *values, cupel_arena *arena, void *memory, cupel_error *err) {
    const cupel_tensor_facts *facts = values->facts;
    if (facts->count == 0) return CUPEL_OK;
    int rank = facts->decl->rank;
    int64_t shape[CUPEL_RANK_MAX], count = 1;
    for (int axis = 0; axis < rank; axis++) {
        shape[axis] = values->recipe->layout.expanded >> axis & 1 ? 1 : facts->shape[axis];
        count *= shape[axis];
    }
    int64_t n = rank ? shape[rank - 1] : 1;
    double *row = cupel_arena_raw(arena, (size_t)n, sizeof *row);
    unsigned char *out =
        count == facts->count ? memory : cupel_arena_raw(arena, (size_t)count, facts->format->size);
    if (row == NULL || out == NULL)
        return cupel_fail(err, CUPEL_MEMORY, "no memory for the values of a tensor");
    fill_rows(values, shape, row, out);
    apply_edits(values, shape, out);
    if (facts->decl->sorted) sort_rows(values, count / n, n, row, out);
    if (out != memory) expand(facts, shape, out, memory);
    return CUPEL_OK;
}
