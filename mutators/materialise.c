#include "materialise.h"

#include <string.h>

#include "recipe_impl.h"

static cupel_code place_tensor(cupel_case *c, int t, cupel_tensor_facts *facts, cupel_error *err) {
    const cupel_layout *layout = &c->recipe->tensors[t].layout;
    cupel_case_tensor *tensor = &c->tensors[t];
    CUPEL_TRY(cupel_facts_of(&c->binding, t, facts, err));
    *tensor = (cupel_case_tensor){.type = facts->type, .rank = facts->decl->rank, .count = facts->count};
    memcpy(tensor->shape, facts->shape, sizeof tensor->shape);
    unsigned seen = 0;
    for (int axis = 0; axis < tensor->rank; axis++) seen |= 1u << (layout->order[axis] & 31);
    if (seen != (1u << tensor->rank) - 1)
        return cupel_fail(err, CUPEL_RANGE, "the layout of %s names an axis twice", facts->decl->name);
    return CUPEL_OK;
}

/* Buffer of a tensor, from its lowest to its highest element. The data pointer, not the buffer's start, is
 * what the kernel gets: its address is `layout.offset` elements past a multiple of the buffer's alignment. */
static void make_buffer(cupel_case *c, int t, int written) {
    const cupel_layout *layout = &c->recipe->tensors[t].layout;
    const cupel_tensor_decl *decl = &c->contract->tensors[t];
    cupel_case_tensor *tensor = &c->tensors[t];
    int64_t size = (int64_t)cupel_format_of(tensor->type)->size, lowest, highest;
    cupel_layout_strides(layout, tensor->rank, tensor->shape, tensor->stride, &lowest, &highest);
    int align = decl->align > CUPEL_ALLOCATOR_ALIGN ? decl->align : CUPEL_ALLOCATOR_ALIGN;
    cupel_case_buffer *buffer = &c->buffers[c->buffer_count];
    *buffer = (cupel_case_buffer){.align = align, .written = written != 0};
    if (tensor->count > 0) {
        buffer->size = (size_t)(highest - lowest + 1) * (size_t)size;
        tensor->offset = -lowest * size;
    }
    buffer->misalign = ((layout->offset * size - tensor->offset) % align + align) % align;
    tensor->buffer = c->buffer_count++;
}

static void place_buffers(cupel_case *c) {
    const cupel_contract *contract = c->contract;
    for (int t = 0; t < c->tensor_count; t++) {
        int partner = cupel_alias_partner(contract, c->recipe, t);
        int roles = contract->tensors[t].roles | (partner >= 0 ? contract->tensors[partner].roles : 0);
        if (partner >= 0 && partner < t) {
            cupel_case_tensor *tensor = &c->tensors[t];
            tensor->buffer = c->tensors[partner].buffer;
            tensor->offset = c->tensors[partner].offset;
            memcpy(tensor->stride, c->tensors[partner].stride, sizeof tensor->stride);
            if (contract->tensors[t].align > c->buffers[tensor->buffer].align)
                c->buffers[tensor->buffer].align = contract->tensors[t].align;
        } else {
            make_buffer(c, t, roles & ~CUPEL_ROLE_INPUT);
        }
        memcpy(c->strides[t], c->tensors[t].stride, sizeof c->strides[t]);
    }
}

/* *own: the values' memory where they are this tensor's alone; else NULL. */
static cupel_code fill_tensor(cupel_case *c, int t, const cupel_tensor_facts *facts, cupel_arena *arena,
                              void **own, cupel_error *err) {
    *own = NULL;
    int partner = cupel_alias_partner(c->contract, c->recipe, t);
    if (partner >= 0 && partner < t && c->tensors[partner].values != NULL) {
        c->tensors[t].values = c->tensors[partner].values;
        return CUPEL_OK;
    }
    void *memory = NULL;
    if (facts->decl->roles & CUPEL_ROLE_INPUT) {
        cupel_values values = {facts, &c->recipe->tensors[t], t};
        memory = cupel_arena_raw(arena, (size_t)facts->count, facts->format->size);
        if (memory == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for %s", facts->decl->name);
        CUPEL_TRY(cupel_values_fill(&values, arena, memory, err));
    } else if (facts->decl->init == CUPEL_INIT_EXPRESSION) {
        CUPEL_TRY(cupel_init_fill(c, t, arena, &memory, err));
    }
    c->tensors[t].values = *own = memory;
    if (partner >= 0 && partner < t && memory != NULL) c->tensors[partner].values = memory;
    return CUPEL_OK;
}

cupel_code cupel_case_materialise(const cupel_contract *contract, const cupel_recipe *recipe,
                                  cupel_arena *arena, cupel_case **out, cupel_error *err) {
    cupel_case *c = cupel_arena_alloc(arena, sizeof *c);
    cupel_recipe *copy = cupel_arena_raw(arena, 1, sizeof *copy); /* the case outlives its caller's recipe */
    cupel_tensor_facts *facts = cupel_arena_raw(arena, CUPEL_TENSOR_MAX, sizeof *facts);
    if (c == NULL || copy == NULL || facts == NULL)
        return cupel_fail(err, CUPEL_MEMORY, "no memory for a case");
    *copy = *recipe;
    c->contract = contract;
    c->recipe = copy;
    c->tensor_count = contract->tensor_count;
    CUPEL_TRY(cupel_recipe_binding(contract, recipe, &c->binding, err));
    if (!cupel_binding_legal(&c->binding)) {
        char described[512];
        cupel_recipe_describe(contract, recipe, described, sizeof described);
        return cupel_fail(err, CUPEL_RANGE, "the contract '%s' does not claim the case %s", contract->id,
                          described);
    }
    for (int t = 0; t < c->tensor_count; t++) {
        CUPEL_TRY(place_tensor(c, t, &facts[t], err));
        c->element_count += c->tensors[t].count;
    }
    for (int i = 0; i < contract->alias_count; i++)
        if (recipe->aliases >> i & 1 && !cupel_alias_possible(&c->binding, i))
            return cupel_fail(err, CUPEL_RANGE, "%s and %s cannot share a buffer in this case",
                              contract->tensors[contract->aliases[i][0]].name,
                              contract->tensors[contract->aliases[i][1]].name);
    place_buffers(c);
    /* inputs first: an init expression may speak of any of them */
    void *own[CUPEL_TENSOR_MAX] = {NULL};
    for (int t = 0; t < c->tensor_count; t++)
        if (contract->tensors[t].roles & CUPEL_ROLE_INPUT)
            CUPEL_TRY(fill_tensor(c, t, &facts[t], arena, &own[t], err));
    CUPEL_TRY(cupel_permute_inputs(c, own, arena, err));
    void *unused;
    for (int t = 0; t < c->tensor_count; t++)
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT))
            CUPEL_TRY(fill_tensor(c, t, &facts[t], arena, &unused, err));
    *out = c;
    return CUPEL_OK;
}
