/* Permuted inputs: along axes that the outputs reduce wholly, elements change places, the same way in every
 * input that shares such an axis. What the contract asks for stays what it was, up to the order of sums. */
#include <stdlib.h>
#include <string.h>

#include "recipe_impl.h"
#include "reduced_axes.h"

/* An axis may be permuted only if the input's values are free of order themselves. */
static void keep_sorted(const cupel_contract *contract, cupel_reduced_axes *axes) {
    bool kept[CUPEL_REDUCED_INPUTS_MAX * CUPEL_RANK_MAX] = {false};
    for (int t = 0, input = 0; t < contract->tensor_count; t++) {
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        const int last = contract->tensors[t].rank - 1, group = last >= 0 ? axes->group[input][last] : -1;
        if (contract->tensors[t].sorted && group >= 0) kept[group] = true;
        input++;
    }
    for (int i = 0; i < CUPEL_REDUCED_INPUTS_MAX; i++)
        for (int axis = 0; axis < CUPEL_RANK_MAX; axis++)
            if (axes->group[i][axis] >= 0 && kept[axes->group[i][axis]]) axes->group[i][axis] = -1;
}

static bool permutable(const cupel_binding *binding, cupel_arena *arena, cupel_reduced_axes *axes) {
    cupel_graph *graph;
    if (cupel_binding_graph(binding, arena, &graph, NULL) != CUPEL_OK ||
        !cupel_reduced_axes_find(graph, axes))
        return false;
    keep_sorted(binding->contract, axes);
    for (int i = 0; i < CUPEL_REDUCED_INPUTS_MAX; i++)
        for (int axis = 0; axis < CUPEL_RANK_MAX; axis++)
            if (axes->group[i][axis] >= 0) return true;
    return false;
}

/* Two inputs in one buffer would both be moved by what is meant for one. */
static bool inputs_share(const cupel_contract *contract, const cupel_recipe *recipe) {
    for (int i = 0; i < contract->alias_count; i++)
        if ((recipe->aliases >> i & 1) &&
            (contract->tensors[contract->aliases[i][0]].roles & CUPEL_ROLE_INPUT) &&
            (contract->tensors[contract->aliases[i][1]].roles & CUPEL_ROLE_INPUT))
            return true;
    return false;
}

void cupel_permutation_repair(const cupel_binding *binding, cupel_recipe *recipe) {
    if (recipe->permutation == 0) return;
    cupel_binding complete = *binding;
    cupel_arena *arena = cupel_arena_create(0);
    cupel_reduced_axes axes;
    if (!arena || inputs_share(binding->contract, recipe) ||
        cupel_binding_complete(&complete, NULL) != CUPEL_OK || !permutable(&complete, arena, &axes))
        recipe->permutation = 0;
    cupel_arena_free(arena);
}

/* from[i]: which of n elements comes to place i. */
static void permute(uint32_t permutation, int group, int64_t n, int64_t *from) {
    cupel_random random = cupel_random_start(permutation, CUPEL_STREAM_PERMUTATION + (uint32_t)group);
    for (int64_t i = 0; i < n; i++) {
        const int64_t half = (n + 1) / 2;
        switch (permutation) {
        case 1: from[i] = n - 1 - i; break;
        case 2: from[i] = (i + 1) % n; break;
        case 3: from[i] = (i + n / 2) % n; break;
        case 4: from[i] = i < half ? 2 * i : 2 * (i - half) + 1; break;
        default: { /* Fisher and Yates, inside out */
            const int64_t j = (int64_t)cupel_random_below(&random, (uint64_t)i + 1);
            from[i] = from[j];
            from[j] = i;
        }
        }
    }
}

/* Moves whole slices: below is the size in bytes of what one step along the axis holds. */
static void move_axis(const cupel_case_tensor *tensor, int axis, const int64_t *from, unsigned char *to,
                      unsigned char *scratch) {
    const int64_t n = tensor->shape[axis];
    int64_t below = (int64_t)cupel_format_of(tensor->type)->size, above = 1;
    for (int k = axis + 1; k < tensor->rank; k++) below *= tensor->shape[k];
    for (int k = 0; k < axis; k++) above *= tensor->shape[k];
    memcpy(scratch, to, (size_t)(above * n * below));
    for (int64_t a = 0; a < above; a++)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (a * n + i) * below, scratch + (a * n + from[i]) * below, (size_t)below);
}

static cupel_code permute_input(const cupel_case *c, int t, const int *groups, cupel_arena *arena,
                                void *values, cupel_error *err) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    unsigned char *scratch = NULL;
    for (int axis = 0; axis < tensor->rank; axis++) {
        if (groups[axis] < 0 || tensor->count == 0) continue;
        const size_t size = (size_t)tensor->count * cupel_format_of(tensor->type)->size;
        int64_t *from = cupel_arena_raw(arena, (size_t)tensor->shape[axis], sizeof *from);
        if (!scratch) scratch = cupel_arena_raw(arena, size, 1);
        if (!from || !scratch) return cupel_fail(err, CUPEL_MEMORY, "no memory to permute an input");
        permute(c->recipe->permutation, groups[axis], tensor->shape[axis], from);
        move_axis(tensor, axis, from, values, scratch);
    }
    return CUPEL_OK;
}

cupel_code cupel_permute_inputs(const cupel_case *c, void *const values[CUPEL_TENSOR_MAX], cupel_arena *arena,
                                cupel_error *err) {
    cupel_reduced_axes axes;
    if (c->recipe->permutation == 0) return CUPEL_OK;
    if (!permutable(&c->binding, arena, &axes))
        return cupel_fail(err, CUPEL_RANGE, "the contract '%s' reduces no axis wholly that could be permuted",
                          c->contract->id);
    for (int t = 0, input = 0; t < c->tensor_count; t++) {
        if (!(c->contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        if (values[t]) CUPEL_TRY(permute_input(c, t, axes.group[input], arena, values[t], err));
        input++;
    }
    return CUPEL_OK;
}
