/* Layouts: from a recipe's few numbers to strides, and back into what the contract claims. */
#include "recipe_impl.h"

int cupel_alias_partner(const cupel_contract *contract, const cupel_recipe *recipe, int tensor) {
    for (int i = 0; i < contract->alias_count; i++) {
        if (!(recipe->aliases >> i & 1)) continue;
        if (contract->aliases[i][0] == tensor) return contract->aliases[i][1];
        if (contract->aliases[i][1] == tensor) return contract->aliases[i][0];
    }
    return -1;
}

static bool written(const cupel_tensor_decl *decl) {
    return (decl->roles & ~CUPEL_ROLE_INPUT) != 0;
}

/* Two inputs in one buffer hold one content, so they must ask the same of it. */
static bool same_preconditions(const cupel_tensor_decl *a, const cupel_tensor_decl *b) {
    return a->has_range == b->has_range && a->finite == b->finite && a->sorted == b->sorted &&
           a->below == NULL && b->below == NULL &&
           (!a->has_range || (a->range_lo == b->range_lo && a->range_hi == b->range_hi));
}

bool cupel_alias_possible(const cupel_binding *binding, int pair) {
    int a = binding->contract->aliases[pair][0], b = binding->contract->aliases[pair][1];
    const cupel_tensor_decl *first = &binding->contract->tensors[a], *second = &binding->contract->tensors[b];
    if (a == b || first->rank != second->rank || (written(first) && written(second))) return false;
    if (first->roles & second->roles & CUPEL_ROLE_INPUT && !same_preconditions(first, second)) return false;
    if (cupel_binding_type(binding, a) != cupel_binding_type(binding, b)) return false;
    int64_t shape_a[CUPEL_RANK_MAX], shape_b[CUPEL_RANK_MAX], count_a, count_b;
    if (cupel_binding_shape(binding, a, shape_a, &count_a, NULL) != CUPEL_OK ||
        cupel_binding_shape(binding, b, shape_b, &count_b, NULL) != CUPEL_OK)
        return false;
    for (int axis = 0; axis < first->rank; axis++)
        if (shape_a[axis] != shape_b[axis]) return false;
    return true;
}

/* The pointer alignment in bytes that a kernel demands of one tensor. */
static int64_t demanded_alignment(const cupel_tensor_decl *decl, int64_t element_size) {
    if (decl->align_element || decl->layouts & CUPEL_LAYOUT_SLICED || decl->align < element_size)
        return element_size;
    return decl->align;
}

int cupel_layout_claims(const cupel_contract *contract, const cupel_recipe *recipe,
                        const cupel_binding *binding, int tensor, int64_t *demand) {
    const cupel_tensor_decl *decl = &contract->tensors[tensor];
    int64_t size = (int64_t)cupel_format_of(cupel_binding_type(binding, tensor))->size;
    int claims = decl->layouts;
    *demand = demanded_alignment(decl, size);
    if (decl->roles != CUPEL_ROLE_INPUT) claims &= ~CUPEL_LAYOUT_EXPANDED;
    int partner = cupel_alias_partner(contract, recipe, tensor);
    if (partner < 0) return claims;
    const cupel_tensor_decl *other = &contract->tensors[partner];
    claims &= other->layouts;
    if (other->roles != CUPEL_ROLE_INPUT) claims &= ~CUPEL_LAYOUT_EXPANDED;
    int64_t other_demand = demanded_alignment(other, size);
    if (other_demand > *demand) *demand = other_demand;
    return claims;
}

void cupel_layout_reset(cupel_layout *layout) {
    *layout = (cupel_layout){.step = 1};
    for (int axis = 0; axis < CUPEL_RANK_MAX; axis++) layout->order[axis] = (uint8_t)axis;
}

bool cupel_layout_is_contiguous(const cupel_layout *layout, int rank) {
    if (layout->step != 1 || layout->reversed || layout->expanded || layout->offset) return false;
    for (int axis = 0; axis < rank; axis++)
        if (layout->order[axis] != axis || layout->gap[axis]) return false;
    return true;
}

void cupel_layout_strides(const cupel_layout *layout, int rank, const int64_t *shape, int64_t *stride,
                          int64_t *lowest, int64_t *highest) {
    int64_t extent =
        layout->step > 0 ? layout->step : 1; /* in memory, of what lies inside the axis at hand */
    *lowest = *highest = 0;
    for (int k = rank - 1; k >= 0; k--) {
        int axis = layout->order[k];
        if (layout->expanded >> axis & 1) {
            stride[axis] = 0;
            continue;
        }
        int64_t n = shape[axis] > 0 ? shape[axis] : 1, reach = (n - 1) * extent;
        stride[axis] = extent;
        if (layout->reversed >> axis & 1) {
            stride[axis] = -extent;
            *lowest -= reach;
        } else {
            *highest += reach;
        }
        extent = extent * n + layout->gap[axis];
    }
}

static void repair_order(cupel_layout *layout, int rank, bool claimed) {
    unsigned seen = 0;
    for (int k = 0; k < rank && claimed; k++)
        if (layout->order[k] < rank) seen |= 1u << layout->order[k];
    bool permutation = claimed && seen == (1u << rank) - 1;
    for (int k = 0; k < CUPEL_RANK_MAX; k++)
        if (!permutation || k >= rank) layout->order[k] = (uint8_t)k;
}

/* Gaps and steps must not make a small tensor's buffer large. */
static bool spreads_too_far(const cupel_layout *layout, int rank, const int64_t *shape) {
    int64_t stride[CUPEL_RANK_MAX], lowest, highest, count = 1;
    cupel_layout_strides(layout, rank, shape, stride, &lowest, &highest);
    for (int axis = 0; axis < rank; axis++) count *= shape[axis];
    return highest - lowest > 4 * count + 4096;
}

void cupel_layout_repair(cupel_layout *layout, int rank, const int64_t *shape, int claims, int64_t demand,
                         int64_t element_size) {
    uint8_t movable = 0; /* axes along which reversing and expanding mean something */
    bool empty = false;
    for (int axis = 0; axis < rank; axis++) {
        if (shape[axis] > 1) movable |= (uint8_t)(1u << axis);
        if (shape[axis] == 0) empty = true;
    }
    if (empty) {
        cupel_layout_reset(layout);
        return;
    }
    repair_order(layout, rank, claims & CUPEL_LAYOUT_TRANSPOSED);
    layout->expanded &= claims & CUPEL_LAYOUT_EXPANDED ? movable : 0;
    layout->reversed &= claims & CUPEL_LAYOUT_REVERSED ? movable & (uint8_t)~layout->expanded : 0;
    if (!(claims & CUPEL_LAYOUT_SLICED) || layout->step < 1) layout->step = 1;
    if (layout->step > CUPEL_STEP_MAX) layout->step = CUPEL_STEP_MAX;
    for (int axis = 0; axis < CUPEL_RANK_MAX; axis++)
        if (axis >= rank || !(claims & CUPEL_LAYOUT_PADDED) || axis == layout->order[0])
            layout->gap[axis] = 0;
    while (spreads_too_far(layout, rank, shape)) {
        layout->step = (uint8_t)((layout->step + 1) / 2);
        for (int axis = 0; axis < rank; axis++) layout->gap[axis] /= 2;
    }
    int64_t bytes = layout->offset * element_size % CUPEL_ALLOCATOR_ALIGN;
    layout->offset = (uint16_t)(demand < CUPEL_ALLOCATOR_ALIGN ? (bytes - bytes % demand) / element_size : 0);
}
