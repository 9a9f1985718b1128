/* Random parts of a tensor's recipe. */
#include <math.h>
#include <string.h>

#include "pattern.h"

static const uint8_t weights[CUPEL_PATTERN_COUNT] = {
#define CUPEL_PATTERN_WEIGHT(name, text, weight) weight,
    CUPEL_PATTERNS(CUPEL_PATTERN_WEIGHT)
#undef CUPEL_PATTERN_WEIGHT
};

static uint32_t draw_seed(cupel_random *random) {
    return 1 + (uint32_t)cupel_random_below(random, UINT32_MAX);
}

static double pick(cupel_random *random, const double *values, size_t count) {
    return values[cupel_random_below(random, count)];
}
#define PICK(random, values) pick(random, values, sizeof(values) / sizeof *(values))

/* A power of ten or two within the format, seldom far from 1. */
static double draw_magnitude(const cupel_tensor_facts *facts, cupel_random *random) {
    static const double usual[] = {1, 1, 1, 2, 0.5, 4, 10, 0.1, 100, 0.01};
    static const double wide[] = {1e3, 1e-3, 1e4, 1e-4, 1e6, 1e-6, 1e10, 1e-10};
    static const double whole[] = {1, 3, 10, 100, 1000, 1e5, 1e9};
    if (facts->format->kind != CUPEL_KIND_REAL) return PICK(random, whole);
    double magnitude = cupel_chance(random, 6) ? PICK(random, wide) : PICK(random, usual);
    double most = cupel_format_largest(facts->type) / 64, least = cupel_format_normal(facts->type) * 1024;
    return magnitude > most || magnitude < least ? 1 : magnitude;
}

static double draw_centre(const cupel_tensor_facts *facts, cupel_random *random) {
    static const double centres[] = {1, -1, 10, 50, -80, 1e3, 1e4, -1e4, 1e5};
    double centre = PICK(random, centres);
    if (facts->format->kind != CUPEL_KIND_REAL) return centre;
    return fabs(centre) > cupel_format_largest(facts->type) / 4 ? copysign(100, centre) : centre;
}

/* Within a declared range the pattern is laid over the range or a part of it, else almost everything would be
 * clamped. */
static void scale_into_range(const cupel_tensor_facts *facts, cupel_random *random,
                             cupel_tensor_recipe *tensor) {
    double half = (facts->hi / 2 - facts->lo / 2), parts[] = {1, 1, 0.5, 0.1, 0.01};
    tensor->amplitude = half * PICK(random, parts);
    tensor->centre = facts->lo + half;
    if (cupel_chance(random, 4)) tensor->centre = cupel_chance(random, 2) ? facts->lo : facts->hi;
    if (facts->lo <= 0 && facts->hi >= 0 && cupel_chance(random, 3)) tensor->centre = 0;
}

void cupel_draw_scale(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor) {
    tensor->amplitude = draw_magnitude(facts, random);
    tensor->centre = 0;
    switch (tensor->pattern) {
    case CUPEL_PATTERN_INTEGERS: {
        static const double small[] = {1, 2, 3, 4, 4, 8, 16};
        tensor->amplitude = PICK(random, small);
        break;
    }
    case CUPEL_PATTERN_LOG_UNIFORM: {
        static const double parts[] = {1, 1, 0.5, 0.25, 0.125};
        tensor->amplitude = PICK(random, parts);
        break;
    }
    case CUPEL_PATTERN_CANCELLATION: {
        static const double spreads[] = {1, 0.5, 0.125, 0.0625};
        if (cupel_chance(random, 3)) break; /* pairs */
        tensor->centre = draw_centre(facts, random) * 10;
        tensor->amplitude = PICK(random, spreads);
        if (facts->format->kind == CUPEL_KIND_REAL &&
            fabs(tensor->centre) > cupel_format_largest(facts->type) / 4)
            tensor->centre = 1000;
        break;
    }
    case CUPEL_PATTERN_NORMAL:
    case CUPEL_PATTERN_UNIFORM:
        if (facts->bounded && facts->below == 0)
            scale_into_range(facts, random, tensor);
        else if (cupel_chance(random, 4))
            tensor->centre = draw_centre(facts, random);
        if (facts->below > 0 && !cupel_chance(random, 3))
            tensor->amplitude = 1e6; /* about uniform below the limit */
        break;
    case CUPEL_PATTERN_CONSTANT:
        if (cupel_chance(random, 4)) tensor->amplitude = -tensor->amplitude;
        if (facts->bounded)
            tensor->amplitude = facts->lo + (facts->hi - facts->lo) * cupel_random_unit(random);
        break;
    default: break;
    }
}

void cupel_draw_pattern(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor) {
    unsigned total = 0;
    for (int i = 0; i < CUPEL_PATTERN_COUNT; i++) total += weights[i];
    unsigned choice = (unsigned)cupel_random_below(random, total);
    int pattern = 0;
    while (choice >= weights[pattern]) choice -= weights[pattern++];
    tensor->pattern = (cupel_pattern)pattern;
    tensor->seed = draw_seed(random);
    cupel_draw_scale(facts, random, tensor);
}

void cupel_draw_special(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor) {
    if (facts->specials == 0) return;
    int kinds[CUPEL_SPECIAL_COUNT], count = 0;
    for (int kind = CUPEL_SPECIAL_NEG_ZERO; kind < CUPEL_SPECIAL_MIXED; kind++)
        if (facts->specials >> kind & 1) kinds[count++] = kind;
    if (count > 1) kinds[count++] = CUPEL_SPECIAL_MIXED;
    static const cupel_placement placements[] = {CUPEL_PLACE_SINGLE, CUPEL_PLACE_SINGLE, CUPEL_PLACE_SINGLE,
                                                 CUPEL_PLACE_SPARSE, CUPEL_PLACE_ROW,    CUPEL_PLACE_TILE,
                                                 CUPEL_PLACE_TILE,   CUPEL_PLACE_ALL};
    tensor->special = (cupel_special)kinds[cupel_random_below(random, (uint64_t)count)];
    tensor->placement = placements[cupel_random_below(random, sizeof placements / sizeof *placements)];
    tensor->special_seed = draw_seed(random);
}

static void draw_order(const cupel_tensor_facts *facts, cupel_random *random, cupel_layout *layout) {
    int rank = facts->decl->rank;
    for (int k = rank - 1; k > 0; k--) {
        int other = (int)cupel_random_below(random, (uint64_t)k + 1);
        uint8_t axis = layout->order[k];
        layout->order[k] = layout->order[other];
        layout->order[other] = axis;
    }
}

void cupel_draw_layout(const cupel_tensor_facts *facts, int claims, int64_t demand, cupel_random *random,
                       cupel_layout *layout) {
    static const uint8_t gaps[] = {1, 1, 2, 3, 4, 7, 8, 16, 33};
    int rank = facts->decl->rank;
    cupel_layout_reset(layout);
    if (claims & CUPEL_LAYOUT_TRANSPOSED && cupel_chance(random, 2)) draw_order(facts, random, layout);
    for (int axis = 0; axis < rank; axis++) {
        if (claims & CUPEL_LAYOUT_PADDED && cupel_chance(random, 2))
            layout->gap[axis] = gaps[cupel_random_below(random, sizeof gaps)];
        if (claims & CUPEL_LAYOUT_REVERSED && cupel_chance(random, 4))
            layout->reversed |= (uint8_t)(1u << axis);
        if (claims & CUPEL_LAYOUT_EXPANDED && cupel_chance(random, 4))
            layout->expanded |= (uint8_t)(1u << axis);
    }
    if (claims & CUPEL_LAYOUT_SLICED && cupel_chance(random, 3))
        layout->step = (uint8_t)(2 + cupel_random_below(random, 2));
    if (demand < CUPEL_ALLOCATOR_ALIGN && !cupel_chance(random, 3)) {
        int64_t unit = demand / (int64_t)facts->format->size, places = CUPEL_ALLOCATOR_ALIGN / demand;
        if (places > 8 && !cupel_chance(random, 4)) places = 8;
        layout->offset = (uint16_t)(unit * (int64_t)cupel_random_below(random, (uint64_t)places));
    }
}

uint64_t cupel_draw_bits(const cupel_tensor_facts *facts, cupel_random *random) {
    cupel_dtype type = facts->type;
    uint64_t bits = 0;
    if (facts->format->kind != CUPEL_KIND_REAL) {
        static const int64_t whole[] = {0, 1, -1, 2, 7, 127, -128, 255, 32767, 65535, INT32_MAX, INT32_MIN};
        /* beyond 2^53 doubles lack most integers, beyond 2^63 signed types all */
        static const uint64_t wide[] = {(UINT64_C(1) << 53) + 1,
                                        INT64_MAX,
                                        (uint64_t)INT64_MIN,
                                        UINT64_MAX,
                                        UINT32_MAX,
                                        UINT64_C(1) << 32,
                                        (UINT64_C(1) << 62) + 3};
        bits = (uint64_t)whole[cupel_random_below(random, sizeof whole / sizeof *whole)];
        if (cupel_dtype_is_wide(type) && cupel_chance(random, 2))
            bits = wide[cupel_random_below(random, sizeof wide / sizeof *wide)];
        if (facts->bounded && cupel_chance(random, 2))
            bits = (uint64_t)(int64_t)(cupel_chance(random, 2) ? facts->lo : facts->hi);
        return bits;
    }
    const double values[] = {0,
                             -0.0,
                             1,
                             -1,
                             0.5,
                             2,
                             cupel_format_largest(type),
                             -cupel_format_largest(type),
                             sqrt(cupel_format_largest(type)),
                             cupel_format_smallest(type),
                             -cupel_format_normal(type) / 2,
                             cupel_format_normal(type),
                             INFINITY,
                             -INFINITY,
                             NAN,
                             cupel_next_up(type, 1),
                             88.75,
                             -104,
                             65504,
                             facts->lo,
                             facts->hi,
                             cupel_normal_from(cupel_random_u64(random))};
    cupel_encode(type, PICK(random, values), &bits);
    return bits;
}

cupel_edit *cupel_draw_edit_place(const cupel_tensor_facts *facts, cupel_random *random,
                                  cupel_tensor_recipe *tensor) {
    if (facts->count == 0) return NULL;
    int slot = tensor->edit_count < CUPEL_EDIT_MAX ? tensor->edit_count++
                                                   : (int)cupel_random_below(random, CUPEL_EDIT_MAX);
    int64_t index = (int64_t)cupel_random_below(random, (uint64_t)facts->count);
    if (cupel_chance(random, 4)) index = 0;
    if (cupel_chance(random, 4)) index = facts->count - 1;
    tensor->edits[slot] = (cupel_edit){.index = index};
    return &tensor->edits[slot];
}

void cupel_draw_edit(const cupel_tensor_facts *facts, cupel_random *random, cupel_tensor_recipe *tensor) {
    cupel_edit *edit = cupel_draw_edit_place(facts, random, tensor);
    if (edit != NULL) edit->bits = cupel_draw_bits(facts, random);
}

double cupel_draw_param(const cupel_param *param, cupel_random *random) {
    if (param->kind == CUPEL_PARAM_FIXED) return param->lo;
    if (param->kind == CUPEL_PARAM_ONE_OF)
        return param->values[cupel_random_below(random, (uint64_t)param->value_count)];
    double value = 1;
    switch (cupel_random_below(random, 6)) {
    case 0: value = param->lo; break;
    case 1: value = param->hi; break;
    case 2: value = 1; break;
    case 3: value = cupel_power_of_two((int)cupel_random_below(random, 21) - 10); break;
    default: value = param->lo + (param->hi - param->lo) * cupel_random_unit(random);
    }
    return cupel_param_nearest(param, (double)(float)value);
}
