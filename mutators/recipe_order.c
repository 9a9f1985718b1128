/* Equality, the order of simplicity, and what is special about a recipe. */
#include <math.h>
#include <string.h>

#include "recipe_impl.h"
#include "schedule.h"

static int compare_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}
static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Doubles by simplicity: 0, then few significant bits before many, exponents near 0 before far ones, positive
 * before negative; the bits decide last, so that only equals are equal. */
static int compare_f64(double a, double b) {
    uint64_t bits[2], rank[2];
    const double value[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        memcpy(&bits[i], &value[i], sizeof value[i]);
        uint64_t fraction = bits[i] & ((UINT64_C(1) << 52) - 1);
        int exponent = (int)(bits[i] >> 52 & 0x7FF) - 1023;
        unsigned significant = fraction == 0 ? 0 : 52 - (unsigned)__builtin_ctzll(fraction);
        rank[i] = value[i] == 0
                      ? 0
                      : 1 + ((uint64_t)significant << 12) +
                            ((uint64_t)(exponent < 0 ? -exponent : exponent) << 1) + (bits[i] >> 63);
    }
    int by_rank = compare_u64(rank[0], rank[1]);
    return by_rank ? by_rank : compare_u64(bits[0], bits[1]);
}

static bool subnormal_bits(cupel_dtype type, uint64_t bits) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return false;
    double value = fabs(cupel_decode(type, &bits));
    return value > 0 && value < cupel_format_normal(type);
}

static bool special_bits(cupel_dtype type, uint64_t bits) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return false;
    double value = cupel_decode(type, &bits);
    return !isfinite(value) || (value == 0 && signbit(value));
}

static cupel_dtype type_of(const cupel_contract *contract, const cupel_recipe *recipe, int tensor) {
    const cupel_tensor_decl *decl = &contract->tensors[tensor];
    if (decl->type_variable < 0) return decl->type;
    const cupel_type_variable *variable = &contract->types[decl->type_variable];
    int choice = recipe->types[decl->type_variable];
    return variable->claimed[choice < variable->count ? choice : 0];
}

static bool asks_for_subnormals(cupel_pattern pattern) {
    return pattern == CUPEL_PATTERN_SUBNORMALS || pattern == CUPEL_PATTERN_BITS;
}

static int tensor_traits(const cupel_contract *contract, const cupel_recipe *recipe, int t) {
    const cupel_tensor_recipe *tensor = &recipe->tensors[t];
    cupel_dtype type = type_of(contract, recipe, t);
    bool real = cupel_format_of(type)->kind == CUPEL_KIND_REAL;
    int traits = 0;
    if (!cupel_layout_is_contiguous(&tensor->layout, contract->tensors[t].rank)) traits |= CUPEL_TRAIT_LAYOUT;
    if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) return traits;
    if (real && tensor->special != CUPEL_SPECIAL_NONE) traits |= CUPEL_TRAIT_SPECIAL;
    if (real && asks_for_subnormals(tensor->pattern)) traits |= CUPEL_TRAIT_SUBNORMAL;
    for (int i = 0; i < tensor->edit_count; i++) {
        if (special_bits(type, tensor->edits[i].bits)) traits |= CUPEL_TRAIT_SPECIAL;
        if (subnormal_bits(type, tensor->edits[i].bits)) traits |= CUPEL_TRAIT_SUBNORMAL;
    }
    return traits;
}

int cupel_recipe_traits(const cupel_contract *contract, const cupel_recipe *recipe) {
    int traits = 0;
    cupel_binding binding;
    if (recipe->schedule != 0) traits |= CUPEL_TRAIT_SCHEDULE;
    if (recipe->history != CUPEL_HISTORY_NONE) traits |= CUPEL_TRAIT_HISTORY;
    if (recipe->permutation != 0) traits |= CUPEL_TRAIT_PERMUTED;
    if (recipe->aliases != 0) traits |= CUPEL_TRAIT_LAYOUT;
    for (int i = 0; i < contract->type_count; i++)
        if (recipe->types[i] != 0) traits |= CUPEL_TRAIT_TYPE;
    bool bound = cupel_recipe_binding(contract, recipe, &binding, NULL) == CUPEL_OK;
    if (!bound || !cupel_binding_is_ordinary_shape(&binding)) traits |= CUPEL_TRAIT_SHAPE;
    if (bound && !cupel_binding_is_first_variant(&binding)) traits |= CUPEL_TRAIT_VARIANT;
    for (int t = 0; t < contract->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count = 1;
        /* what lies in an empty tensor is nothing special */
        if (bound && cupel_binding_shape(&binding, t, shape, &count, NULL) == CUPEL_OK && count == 0)
            continue;
        traits |= tensor_traits(contract, recipe, t);
    }
    return traits;
}

/* A recipe's complexities, the most important first. */
enum { COUNTS = 9 };
static void count_complexity(const cupel_contract *contract, const cupel_recipe *recipe,
                             int64_t counts[COUNTS]) {
    memset(counts, 0, COUNTS * sizeof *counts);
    cupel_binding binding;
    counts[0] = -1;
    if (cupel_recipe_binding(contract, recipe, &binding, NULL) == CUPEL_OK)
        counts[0] = cupel_dimensions_total(&binding);
    if (counts[0] < 0) counts[0] = INT64_MAX;
    const int dims = contract->dim_count - contract->variant_count;
    for (int i = dims; i < contract->dim_count; i++)
        counts[4] += cupel_variant_rank(&contract->dims[i], recipe->dims[i]);
    for (int i = 0; i < dims; i++)
        counts[1] += recipe->dims[i] >> 8 < INT64_C(1) << 40 ? recipe->dims[i] : INT64_C(1) << 48;
    for (int t = 0; t < contract->tensor_count; t++) {
        const cupel_tensor_recipe *tensor = &recipe->tensors[t];
        int traits = tensor_traits(contract, recipe, t);
        if (traits & CUPEL_TRAIT_SPECIAL) counts[2] += 1 + tensor->placement;
        counts[3] += (traits & CUPEL_TRAIT_SUBNORMAL) != 0;
        counts[5] += (traits & CUPEL_TRAIT_LAYOUT) != 0;
        counts[7] += tensor->edit_count;
        counts[8] += tensor->pattern;
    }
    for (int i = 0; i < contract->type_count; i++) counts[4] += recipe->types[i];
    counts[5] += __builtin_popcount(recipe->aliases);
    counts[6] =
        (recipe->schedule != 0) + (recipe->history != CUPEL_HISTORY_NONE) + (recipe->permutation != 0);
}

#define RETURN_UNLESS_EQUAL(comparison)                                                                      \
    do {                                                                                                     \
        int order_ = (comparison);                                                                           \
        if (order_ != 0) return order_;                                                                      \
    } while (0)

static int compare_layouts(const cupel_layout *a, const cupel_layout *b, int rank) {
    RETURN_UNLESS_EQUAL(__builtin_popcount(a->expanded) - __builtin_popcount(b->expanded));
    RETURN_UNLESS_EQUAL(__builtin_popcount(a->reversed) - __builtin_popcount(b->reversed));
    RETURN_UNLESS_EQUAL(a->step - b->step);
    RETURN_UNLESS_EQUAL(a->offset - b->offset);
    RETURN_UNLESS_EQUAL(memcmp(a->order, b->order, (size_t)rank));
    RETURN_UNLESS_EQUAL(memcmp(a->gap, b->gap, (size_t)rank));
    RETURN_UNLESS_EQUAL(a->expanded - b->expanded);
    return a->reversed - b->reversed;
}

static int compare_tensors(const cupel_tensor_recipe *a, const cupel_tensor_recipe *b, int rank) {
    RETURN_UNLESS_EQUAL((int)a->pattern - (int)b->pattern);
    RETURN_UNLESS_EQUAL((int)a->special - (int)b->special);
    RETURN_UNLESS_EQUAL((int)a->placement - (int)b->placement);
    RETURN_UNLESS_EQUAL(a->edit_count - b->edit_count);
    RETURN_UNLESS_EQUAL(compare_layouts(&a->layout, &b->layout, rank));
    RETURN_UNLESS_EQUAL(compare_f64(a->centre, b->centre));
    RETURN_UNLESS_EQUAL(compare_f64(a->amplitude, b->amplitude));
    RETURN_UNLESS_EQUAL(compare_u64(a->seed, b->seed));
    RETURN_UNLESS_EQUAL(compare_u64(a->special_seed, b->special_seed));
    for (int i = 0; i < a->edit_count; i++) {
        RETURN_UNLESS_EQUAL(compare_i64(a->edits[i].index, b->edits[i].index));
        RETURN_UNLESS_EQUAL(compare_u64(a->edits[i].bits, b->edits[i].bits));
    }
    return 0;
}

int cupel_recipe_compare(const cupel_contract *contract, const cupel_recipe *a, const cupel_recipe *b) {
    int64_t counts_a[COUNTS], counts_b[COUNTS];
    count_complexity(contract, a, counts_a);
    count_complexity(contract, b, counts_b);
    for (int i = 0; i < COUNTS; i++) RETURN_UNLESS_EQUAL(compare_i64(counts_a[i], counts_b[i]));
    for (int i = 0; i < contract->dim_count; i++) RETURN_UNLESS_EQUAL(compare_i64(a->dims[i], b->dims[i]));
    for (int i = 0; i < contract->type_count; i++) RETURN_UNLESS_EQUAL(a->types[i] - b->types[i]);
    for (int t = 0; t < contract->tensor_count; t++)
        RETURN_UNLESS_EQUAL(compare_tensors(&a->tensors[t], &b->tensors[t], contract->tensors[t].rank));
    for (int i = 0; i < contract->param_count; i++)
        RETURN_UNLESS_EQUAL(compare_f64(a->params[i], b->params[i]));
    RETURN_UNLESS_EQUAL(compare_u64(a->aliases, b->aliases));
    RETURN_UNLESS_EQUAL(compare_u64(a->permutation, b->permutation));
    RETURN_UNLESS_EQUAL((int)a->history - (int)b->history);
    RETURN_UNLESS_EQUAL(cupel_recipe_calls(a) - cupel_recipe_calls(b));
    RETURN_UNLESS_EQUAL(cupel_schedule_compare(a->schedule, b->schedule));
    return compare_u64(a->poison, b->poison);
}

bool cupel_recipe_equal(const cupel_contract *contract, const cupel_recipe *a, const cupel_recipe *b) {
    return cupel_recipe_compare(contract, a, b) == 0;
}
