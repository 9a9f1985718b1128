/* The engines' form. Little endian; what a byte-wise mutation may cut off without much harm, the edits,
 * stands last.
 *
 *   'c' 'r' version 0
 *   dims i64.., types u8.., params f64..            as many as the contract has
 *   aliases u32, schedule u64, poison u32
 *   per tensor: pattern u8, special u8, placement u8, seed u32, special_seed u32, amplitude f64, centre f64,
 *               order u8.., gap u8.. (rank each), step u8, reversed u8, expanded u8, offset u16, edit_count
 * u8 per tensor and edit: index i64, bits u64; then history u8, calls u8: recipes without them have none,
 * one; permutation u32: without it none
 */
#include <math.h>
#include <string.h>

#include "recipe_impl.h"
#include "schedule.h"

/* One description of the fields serves both directions. */
typedef struct coder {
    uint8_t *write;      /* NULL when reading */
    const uint8_t *read; /* NULL when writing */
    size_t size, at;
    bool short_of_space;
} coder;

static void code_bytes(coder *c, uint64_t *value, int bytes) {
    if (c->write != NULL) {
        if (c->size - c->at < (size_t)bytes) {
            c->short_of_space = true;
            return;
        }
        for (int i = 0; i < bytes; i++) c->write[c->at++] = (uint8_t)(*value >> 8 * i);
        return;
    }
    *value = 0;
    for (int i = 0; i < bytes && c->at < c->size; i++) *value |= (uint64_t)c->read[c->at++] << 8 * i;
}

static void code_u8(coder *c, uint8_t *field) {
    uint64_t value = *field;
    code_bytes(c, &value, 1);
    *field = (uint8_t)value;
}
static void code_u16(coder *c, uint16_t *field) {
    uint64_t value = *field;
    code_bytes(c, &value, 2);
    *field = (uint16_t)value;
}
static void code_u32(coder *c, uint32_t *field) {
    uint64_t value = *field;
    code_bytes(c, &value, 4);
    *field = (uint32_t)value;
}
static void code_i64(coder *c, int64_t *field) {
    uint64_t value = (uint64_t)*field;
    code_bytes(c, &value, 8);
    *field = (int64_t)value;
}
static void code_double(coder *c, double *field) {
    uint64_t value;
    memcpy(&value, field, sizeof value);
    code_bytes(c, &value, 8);
    if (c->write == NULL) memcpy(field, &value, sizeof value);
}
/* Infinities and NaNs have no place in a recipe's numbers: read as 0. */
static void code_f64(coder *c, double *field) {
    code_double(c, field);
    if (c->write == NULL && !isfinite(*field)) *field = 0;
}
/* Unless the contract lists them. */
static void code_param(coder *c, const cupel_param *param, double *field) {
    code_double(c, field);
    if (c->write != NULL || isfinite(*field)) return;
    const double listed = cupel_param_nearest(param, *field);
    *field = listed == *field || (isnan(listed) && isnan(*field)) ? listed : 0;
}

static void code_tensor(coder *c, int rank, cupel_tensor_recipe *tensor) {
    uint8_t pattern = (uint8_t)tensor->pattern, special = (uint8_t)tensor->special,
            placement = (uint8_t)tensor->placement, edits = (uint8_t)tensor->edit_count;
    code_u8(c, &pattern), code_u8(c, &special), code_u8(c, &placement);
    code_u32(c, &tensor->seed), code_u32(c, &tensor->special_seed);
    code_f64(c, &tensor->amplitude), code_f64(c, &tensor->centre);
    for (int axis = 0; axis < rank; axis++) code_u8(c, &tensor->layout.order[axis]);
    for (int axis = 0; axis < rank; axis++) code_u8(c, &tensor->layout.gap[axis]);
    code_u8(c, &tensor->layout.step);
    code_u8(c, &tensor->layout.reversed), code_u8(c, &tensor->layout.expanded);
    code_u16(c, &tensor->layout.offset);
    code_u8(c, &edits);
    tensor->pattern = (cupel_pattern)(pattern % CUPEL_PATTERN_COUNT);
    tensor->special = (cupel_special)(special % CUPEL_SPECIAL_COUNT);
    tensor->placement = (cupel_placement)(placement % CUPEL_PLACE_COUNT);
    tensor->edit_count = edits % (CUPEL_EDIT_MAX + 1);
}

/* Axes beyond the rank, and an order that is none, are put right at once: nothing may index with them. */
static void settle_layout(cupel_layout *layout, int rank) {
    unsigned seen = 0;
    for (int k = 0; k < rank; k++)
        if (layout->order[k] < rank) seen |= 1u << layout->order[k];
    bool permutation = seen == (1u << rank) - 1;
    for (int k = 0; k < CUPEL_RANK_MAX; k++)
        if (k >= rank || !permutation) layout->order[k] = (uint8_t)k;
    layout->reversed &= (uint8_t)((1u << rank) - 1);
    layout->expanded &= (uint8_t)((1u << rank) - 1);
}

static void code_recipe(const cupel_contract *contract, coder *c, cupel_recipe *recipe) {
    for (int i = 0; i < contract->dim_count; i++) code_i64(c, &recipe->dims[i]);
    for (int i = 0; i < contract->type_count; i++) {
        code_u8(c, &recipe->types[i]);
        recipe->types[i] %= (uint8_t)contract->types[i].count;
    }
    for (int i = 0; i < contract->param_count; i++) code_param(c, &contract->params[i], &recipe->params[i]);
    uint64_t schedule = recipe->schedule;
    code_u32(c, &recipe->aliases);
    code_bytes(c, &schedule, 8);
    code_u32(c, &recipe->poison);
    recipe->schedule = cupel_schedule_pack(cupel_schedule_unpack(schedule));
    recipe->aliases &= (uint32_t)((UINT64_C(1) << contract->alias_count) - 1);
    for (int t = 0; t < contract->tensor_count; t++)
        code_tensor(c, contract->tensors[t].rank, &recipe->tensors[t]);
    for (int t = 0; t < contract->tensor_count; t++)
        for (int i = 0; i < recipe->tensors[t].edit_count; i++) {
            cupel_edit *edit = &recipe->tensors[t].edits[i];
            code_i64(c, &edit->index);
            code_bytes(c, &edit->bits, 8);
        }
    uint8_t history = (uint8_t)recipe->history;
    code_u8(c, &history);
    recipe->history = (cupel_history)(history % CUPEL_HISTORY_COUNT);
    uint8_t calls = (uint8_t)cupel_recipe_calls(recipe);
    code_u8(c, &calls);
    recipe->calls = calls;
    recipe->calls = (uint8_t)cupel_recipe_calls(recipe);
    code_u32(c, &recipe->permutation);
}

_Static_assert(4 + 8 * CUPEL_DIM_MAX + CUPEL_TYPE_MAX + 8 * CUPEL_PARAM_MAX + 22 +
                       CUPEL_TENSOR_MAX * (33 + 2 * CUPEL_RANK_MAX + 16 * CUPEL_EDIT_MAX) <=
                   CUPEL_RECIPE_BYTES_MAX,
               "every recipe has room");

static const uint8_t magic[4] = {'c', 'r', CUPEL_RECIPE_VERSION, 0};

size_t cupel_recipe_encode(const cupel_contract *contract, const cupel_recipe *recipe, uint8_t *bytes,
                           size_t capacity) {
    if (capacity < sizeof magic) return 0;
    memcpy(bytes, magic, sizeof magic);
    coder c = {.write = bytes, .size = capacity, .at = sizeof magic};
    cupel_recipe copy = *recipe;
    code_recipe(contract, &c, &copy);
    return c.short_of_space ? 0 : c.at;
}

bool cupel_recipe_decode(const cupel_contract *contract, const uint8_t *bytes, size_t size,
                         cupel_recipe *out) {
    memset(out, 0, sizeof *out);
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return false;
    coder c = {.read = bytes, .size = size, .at = sizeof magic};
    code_recipe(contract, &c, out);
    for (int t = 0; t < CUPEL_TENSOR_MAX; t++) {
        if (t < contract->tensor_count) settle_layout(&out->tensors[t].layout, contract->tensors[t].rank);
    }
    return true;
}
