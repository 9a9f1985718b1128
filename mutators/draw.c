/* Fresh recipes: the undirected baseline and the start of every search. */
#include <string.h>

#include "mutate.h"
#include "recipe_impl.h"

/* Small cases are cheap and sharp (bounds are tight for short rows); large ones come now and then, up to the
 * limit. */
static int64_t favour_small(int64_t limit, cupel_random *random) {
    int top = 0;
    while (top < 40 && limit >> (top + 1) > 0) top++;
    bool large = cupel_chance(random, 4);
    int ceiling = large || top < 13 ? top : 13, floor = ceiling > 5 ? 5 : ceiling;
    int64_t block = INT64_C(1) << (floor + (int)cupel_random_below(random, (uint64_t)(ceiling - floor) + 1));
    int64_t budget = block + (int64_t)cupel_random_below(random, (uint64_t)block);
    return budget > limit ? limit : budget;
}

/* A limit above the default asks for large cases: sizes are then spread evenly up to it. */
static int64_t draw_budget(int64_t limit, bool *fill, cupel_random *random) {
    *fill = limit > CUPEL_DEFAULT_MAX_ELEMENTS && !cupel_chance(random, 4);
    return *fill ? 1 + (int64_t)cupel_random_below(random, (uint64_t)limit) : favour_small(limit, random);
}

static void draw_types(const cupel_contract *contract, cupel_random *random, cupel_recipe *recipe) {
    bool base = cupel_chance(random, 2);
    for (int i = 0; i < contract->type_count; i++)
        recipe->types[i] = base ? 0 : (uint8_t)cupel_random_below(random, (uint64_t)contract->types[i].count);
}

/* The ordinary shape comes often where it is small, and the seldomer the larger it is, so that it costs a
 * fraction of the search. Beyond the limit it still comes, first as draw 64, since "any values at an
 * ordinary shape" would otherwise never be tried; but not where one run would take seconds. */
static bool ordinary_is_due(const cupel_binding *ordinary, int64_t limit, uint64_t n, cupel_random *random) {
    static const double most_work = 1 << 22;
    int64_t total = cupel_dimensions_total(ordinary);
    uint64_t one_in = total / 1024 > 12 ? (uint64_t)total / 1024 : 12, period = 1024;
    bool due = cupel_random_below(random, one_in) == 0;
    if (total <= limit) return due;
    while (period < 2 * one_in) period *= 2;
    return n % period == 64 && (double)total <= most_work && cupel_shape_work(ordinary) <= most_work;
}

static void draw_dims(const cupel_contract *contract, int64_t limit, uint64_t n, cupel_random *random,
                      cupel_recipe *recipe, int64_t *granted) {
    cupel_binding binding;
    *granted = limit;
    if (cupel_binding_ordinary(contract, &binding, NULL) == CUPEL_OK &&
        ordinary_is_due(&binding, limit, n, random)) {
        memcpy(recipe->dims, binding.dims, sizeof recipe->dims);
        memset(recipe->types, 0, sizeof recipe->types);
        int64_t total = cupel_dimensions_total(&binding);
        if (total > limit) *granted = total;
        return;
    }
    binding = (cupel_binding){.contract = contract};
    for (int i = 0; i < contract->type_count; i++) binding.types[i] = recipe->types[i];
    memcpy(binding.params, recipe->params, sizeof binding.params);
    cupel_landmarks landmarks;
    cupel_landmarks_mine(contract, &landmarks);
    bool fill;
    int64_t budget = draw_budget(limit, &fill, random);
    cupel_shape_draw(&binding, budget, fill, &landmarks, random);
    memcpy(recipe->dims, binding.dims, sizeof recipe->dims);
}

/* Which inputs get special values: mostly none, else one, some, or every one. */
static uint32_t draw_special_set(const cupel_contract *contract, cupel_random *random) {
    if (!cupel_chance(random, 4)) return 0;
    uint32_t inputs = 0;
    int count = 0, wanted = 0;
    for (int t = 0; t < contract->tensor_count; t++)
        if (contract->tensors[t].roles & CUPEL_ROLE_INPUT) inputs |= 1u << t, count++;
    if (count == 0) return 0;
    switch (cupel_random_below(random, 4)) {
    case 0: return inputs;
    case 1: return inputs & (uint32_t)cupel_random_u64(random);
    default: wanted = (int)cupel_random_below(random, (uint64_t)count);
    }
    for (int t = 0; t < contract->tensor_count; t++)
        if (inputs >> t & 1 && wanted-- == 0) return 1u << t;
    return 0;
}

static void draw_values(const cupel_binding *binding, cupel_random *random, cupel_recipe *recipe) {
    const cupel_contract *contract = binding->contract;
    bool alike = cupel_chance(random, 2), layouts = cupel_chance(random, 2), edits = cupel_chance(random, 8);
    uint32_t special = draw_special_set(contract, random);
    int first = -1;
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_recipe *tensor = &recipe->tensors[t];
        cupel_tensor_facts facts;
        if (cupel_facts_of(binding, t, &facts, NULL) != CUPEL_OK) continue;
        int64_t demand;
        int claims = cupel_layout_claims(contract, recipe, binding, t, &demand);
        if (layouts) cupel_draw_layout(&facts, claims, demand, random, &tensor->layout);
        if (!(facts.decl->roles & CUPEL_ROLE_INPUT)) continue;
        cupel_draw_pattern(&facts, random, tensor);
        if (alike && first >= 0) {
            tensor->pattern = recipe->tensors[first].pattern;
            cupel_draw_scale(&facts, random, tensor);
        }
        if (first < 0) first = t;
        if (special >> t & 1) cupel_draw_special(&facts, random, tensor);
        for (uint64_t i = edits ? cupel_random_below(random, 4) : 0; i > 0; i--)
            cupel_draw_edit(&facts, random, tensor);
    }
}

static cupel_code draw(const cupel_contract *contract, const cupel_limits *limits, uint64_t seed, uint64_t n,
                       cupel_recipe *out, cupel_error *err) {
    int64_t limit =
        limits != NULL && limits->max_elements > 0 ? limits->max_elements : CUPEL_DEFAULT_MAX_ELEMENTS;
    cupel_random random = cupel_random_start(cupel_philox(seed, CUPEL_STREAM_DRAW, n), CUPEL_STREAM_CHOICE);
    memset(out, 0, sizeof *out);
    for (int t = 0; t < contract->tensor_count; t++) cupel_layout_reset(&out->tensors[t].layout);
    draw_types(contract, &random, out);
    for (int i = 0; i < contract->param_count; i++)
        out->params[i] = cupel_draw_param(&contract->params[i], &random);
    int64_t granted;
    draw_dims(contract, limit, n, &random, out, &granted);
    /* dims into requires first: values are drawn for the shape that will be */
    CUPEL_TRY(cupel_recipe_repair(contract, out, granted, err));
    for (int i = 0; i < contract->alias_count; i++)
        if (cupel_chance(&random, 3)) out->aliases |= 1u << i;
    out->schedule = cupel_draw_schedule(&random);
    out->poison = 1 + (uint32_t)cupel_random_below(&random, UINT32_MAX);
    if (cupel_chance(&random, 6)) cupel_draw_history(&random, out);
    cupel_binding binding;
    CUPEL_TRY(cupel_recipe_binding(contract, out, &binding, err));
    draw_values(&binding, &random, out);
    return cupel_recipe_repair(contract, out, granted, err);
}

/* One draw in eight is the one before it with permuted inputs, where there is something to permute: the two
 * together show whether an order matters that must not (ORD-01). */
cupel_code cupel_recipe_draw(const cupel_contract *contract, const cupel_limits *limits, uint64_t seed,
                             uint64_t n, cupel_recipe *out, cupel_error *err) {
    enum { PERMUTED_EVERY = 8 };
    if (n % PERMUTED_EVERY == PERMUTED_EVERY - 1) {
        cupel_random random =
            cupel_random_start(cupel_philox(seed, CUPEL_STREAM_DRAW, n), CUPEL_STREAM_PERMUTATION);
        CUPEL_TRY(draw(contract, limits, seed, n - 1, out, err));
        const uint32_t permutation = cupel_draw_permutation(&random);
        out->permutation = permutation;
        CUPEL_TRY(cupel_recipe_repair(contract, out, INT64_MAX, err));
        if (out->permutation == permutation) return CUPEL_OK;
    }
    return draw(contract, limits, seed, n, out, err);
}
