#include "attribution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "region.h"

/* Bounds on the work of one run at the ordinary shape: elements of all tensors, and the product of all dims,
 * which stands for the multiply-adds of a matrix product. BATCH_MAX bounds a batch dim in any case: so many
 * ways are tried that each must be quick. Halving never goes below SHAPE_FLOOR, where tails
 * and partial warps begin and a failure would say nothing about an ordinary shape. */
enum {
    ELEMENTS_MAX = 1 << 17,
    PRODUCT_MAX = 1 << 21,
    SHAPE_FLOOR = 32,
    BATCH_MAX = 16,
    HALVINGS_MAX = 6,
    TRIED_MAX = 64
};

typedef struct attribution {
    cupel_shrink *shrink;
    const cupel_recipe *original;
    cupel_recipe base; /* fails still, without the traits removed so far */
    cupel_finding finding;
    bool unjudged; /* the last try left more than half of the output unjudged */
    int tried_count;
    uint64_t tried[TRIED_MAX]; /* what the removal at hand has offered in this shape, by hash */
} attribution;

static bool is_value_kind(cupel_finding_kind kind) {
    return kind == CUPEL_FINDING_WRONG_VALUE || kind == CUPEL_FINDING_WRONG_CLASS ||
           kind == CUPEL_FINDING_WRONG_ZERO_SIGN || kind == CUPEL_FINDING_UNWRITTEN ||
           kind == CUPEL_FINDING_NOT_KEPT;
}

/* Removing a NaN turns a wrong class into a wrong value: for values any mismatch on the same output counts as
 * the same failure. */
static bool same_failure(const attribution *a, const cupel_finding *other) {
    if (is_value_kind(a->finding.kind))
        return is_value_kind(other->kind) && other->output == a->finding.output;
    if (a->finding.kind == CUPEL_FINDING_FAULT)
        return other->kind == CUPEL_FINDING_FAULT && other->fault == a->finding.fault;
    char mine[160], theirs[160];
    cupel_finding_signature(&a->finding, mine, sizeof mine);
    cupel_finding_signature(other, theirs, sizeof theirs);
    return strcmp(mine, theirs) == 0;
}

static bool output_unjudged(const attribution *a, const cupel_trial *trial) {
    int output = a->finding.output;
    if (output < 0 || !trial->allowed || !trial->graph || output >= trial->graph->output_count) return false;
    return trial->allowed[output].judged * 2 < trial->allowed[output].count;
}

static bool tried_before(attribution *a, const cupel_recipe *recipe) {
    uint64_t hash = cupel_shrink_hash(a->shrink->contract, recipe);
    for (int i = 0; i < a->tried_count; i++)
        if (a->tried[i] == hash) return true;
    if (a->tried_count < TRIED_MAX) a->tried[a->tried_count++] = hash;
    return false;
}

/* Does the candidate fail in the same way? If it is simpler than the best case it takes its place. mask: the
 * traits that it must not have any more, once it is made legal. */
static bool fails(attribution *a, const cupel_recipe *candidate, int mask) {
    const cupel_contract *contract = a->shrink->contract;
    cupel_recipe recipe = *candidate;
    a->unjudged = false;
    if (!cupel_shrink_repair(contract, &recipe)) return false;
    if (cupel_recipe_traits(contract, &recipe) & mask) return false;
    if (tried_before(a, &recipe)) return false;
    const cupel_trial *trial = cupel_shrink_try(a->shrink, &recipe);
    if (!trial) return false;
    a->unjudged = output_unjudged(a, trial);
    bool same = false;
    for (int i = 0; i < trial->judged.finding_count && !same; i++)
        same = same_failure(a, &trial->judged.findings[i]);
    if (!same) return false;
    a->base = recipe;
    (void)cupel_shrink_adopt(a->shrink, &recipe, trial);
    return true;
}

/* ---- values: what stands in the tensors when a trait is taken away ---- */

static bool is_subnormal_pattern(cupel_pattern pattern) {
    return pattern == CUPEL_PATTERN_SUBNORMALS || pattern == CUPEL_PATTERN_BITS;
}

/* Plain values, and values that are hard in an ordinary shape: the bound of a long row needs more
 * cancellation, larger scores or smaller variances before a defect shows than the short row of the minimal
 * case. Rows of one sign, far out and close to zero meet wrong neutral elements, clips and thresholds. */
static const struct {
    cupel_pattern pattern;
    double amplitude, centre;
} plain_values[] = {
    {CUPEL_PATTERN_INTEGERS, 1, 0},   {CUPEL_PATTERN_NORMAL, 1, 0},       {CUPEL_PATTERN_UNIFORM, 1, 0},
    {CUPEL_PATTERN_NORMAL, 30, 0},    {CUPEL_PATTERN_NORMAL, 1, 1000},    {CUPEL_PATTERN_CANCELLATION, 1, 0},
    {CUPEL_PATTERN_NORMAL, 0.003, 0}, {CUPEL_PATTERN_NORMAL, 100, 1e4},   {CUPEL_PATTERN_CONSTANT, -1, 0},
    {CUPEL_PATTERN_NORMAL, 1000, 0},  {CUPEL_PATTERN_NORMAL, 1, -1e5},    {CUPEL_PATTERN_NORMAL, 1e-12, 0},
    {CUPEL_PATTERN_NORMAL, 1e-30, 0}, {CUPEL_PATTERN_NEAR_OVERFLOW, 0, 0}};

/* The ways to fill the tensors, likely ones first. */
enum {
    WAY_OWN,
    WAY_ORIGINAL,
    WAY_OWN_SEEDS,
    WAY_TAKEN, /* out of the minimal case, one constant a tensor */
    WAY_PLAIN = WAY_TAKEN + CUPEL_TAKEN_COUNT,
    WAY_VARIED = WAY_PLAIN + sizeof plain_values / sizeof *plain_values,
    WAY_ORIGINAL_SEEDS = WAY_VARIED,
    WAY_OTHER_SEEDS,
    WAY_FAR,
    WAY_WIDE,
    WAY_NARROW,
    WAY_FINITE, /* a number where a special value stands, first over the whole tensor */
    WAY_COUNT = WAY_FINITE + 2 * CUPEL_FINITE_COUNT
};

static void vary(int way, int t, cupel_tensor_recipe *tensor) {
    switch (way) {
    case WAY_OWN_SEEDS:
    case WAY_ORIGINAL_SEEDS:
    case WAY_OTHER_SEEDS: tensor->seed = tensor->special_seed = (uint32_t)(way * 7 + t); break;
    case WAY_FAR: tensor->centre *= 1000; break;
    case WAY_WIDE: tensor->amplitude *= 30; break;
    case WAY_NARROW: tensor->amplitude *= 0.003; break;
    default: break;
    }
}

/* Fills in r's tensors in one of WAY_COUNT ways; false when the way says nothing here. Traits of values that
 * the base no longer has are kept away by the mask of fails(). */
static bool offer_values(const attribution *a, int way, cupel_recipe *r) {
    const cupel_contract *contract = a->shrink->contract;
    bool original = way == WAY_ORIGINAL || way == WAY_ORIGINAL_SEEDS;
    const cupel_recipe *source = original ? a->original : &a->base;
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_recipe *tensor = &r->tensors[t];
        cupel_layout layout = tensor->layout;
        *tensor = source->tensors[t];
        tensor->layout = layout;
        vary(way, t, tensor);
        if (way < WAY_PLAIN || way >= WAY_VARIED) continue;
        tensor->pattern = plain_values[way - WAY_PLAIN].pattern;
        tensor->amplitude = plain_values[way - WAY_PLAIN].amplitude;
        tensor->centre = plain_values[way - WAY_PLAIN].centre;
        tensor->seed = (uint32_t)(way + t);
    }
    if (way >= WAY_TAKEN && way < WAY_PLAIN)
        return cupel_shrink_make_constant(a->shrink, (cupel_taken)(way - WAY_TAKEN), -1, r);
    if (way >= WAY_FINITE)
        return cupel_shrink_replace_specials(a->shrink, cupel_finite_values[(way - WAY_FINITE) / 2],
                                             (way - WAY_FINITE) % 2 == 0, r);
    return true;
}

static bool edit_is_special(cupel_dtype type, const cupel_edit *edit) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return false;
    double value = cupel_decode(type, &edit->bits);
    return !isfinite(value) || (value == 0 && signbit(value));
}

static bool edit_is_subnormal(cupel_dtype type, const cupel_edit *edit) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return false;
    double value = fabs(cupel_decode(type, &edit->bits));
    return value > 0 && value < cupel_format_normal(type);
}

static void drop_edits(const cupel_binding *binding, int tensor, cupel_tensor_recipe *recipe,
                       bool (*unwanted)(cupel_dtype type, const cupel_edit *edit)) {
    cupel_dtype type = cupel_binding_type(binding, tensor);
    int kept = 0;
    for (int e = 0; e < recipe->edit_count; e++)
        if (!unwanted(type, &recipe->edits[e])) recipe->edits[kept++] = recipe->edits[e];
    recipe->edit_count = kept;
}

static void clear_value_traits(const cupel_contract *contract, int traits, cupel_recipe *r) {
    cupel_binding binding;
    bool bound = cupel_recipe_binding(contract, r, &binding, NULL) == CUPEL_OK;
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_recipe *tensor = &r->tensors[t];
        if (traits & CUPEL_TRAIT_SPECIAL) {
            tensor->special = CUPEL_SPECIAL_NONE;
            if (bound) drop_edits(&binding, t, tensor, edit_is_special);
        }
        if (traits & CUPEL_TRAIT_SUBNORMAL) {
            if (is_subnormal_pattern(tensor->pattern))
                tensor->pattern = CUPEL_PATTERN_NORMAL, tensor->amplitude = 1;
            if (bound) drop_edits(&binding, t, tensor, edit_is_subnormal);
        }
    }
}

/* Keeps an edit's value, not its bits, when the element type changes. */
static void change_types(const cupel_contract *contract, cupel_recipe *r) {
    cupel_binding before, after;
    bool bound = cupel_recipe_binding(contract, r, &before, NULL) == CUPEL_OK;
    memset(r->types, 0, sizeof r->types);
    bound = bound && cupel_recipe_binding(contract, r, &after, NULL) == CUPEL_OK;
    for (int t = 0; t < contract->tensor_count; t++) {
        if (!bound) r->tensors[t].edit_count = 0;
        for (int e = 0; e < r->tensors[t].edit_count; e++) {
            cupel_edit *edit = &r->tensors[t].edits[e];
            double value = cupel_decode(cupel_binding_type(&before, t), &edit->bits);
            edit->bits = 0;
            cupel_encode(cupel_binding_type(&after, t), value, &edit->bits);
        }
    }
}

static void clear_layouts(const cupel_contract *contract, cupel_recipe *r) {
    cupel_recipe simple;
    if (cupel_recipe_simple(contract, &simple, NULL) != CUPEL_OK) return;
    for (int t = 0; t < contract->tensor_count; t++) r->tensors[t].layout = simple.tensors[t].layout;
    r->aliases = 0;
}

/* ---- one trait at a time ---- */

typedef enum removal { REMOVED, NECESSARY, UNDECIDED } removal;

/* Only when every way was tried in vain is a trait necessary. */
static removal removal_failed(const attribution *a) {
    return cupel_shrink_spent(a->shrink) ? UNDECIDED : NECESSARY;
}

static removal remove_trait(attribution *a, int trait, int removed) {
    const cupel_contract *contract = a->shrink->contract;
    int value_traits = removed | (trait & (CUPEL_TRAIT_SPECIAL | CUPEL_TRAIT_SUBNORMAL));
    a->tried_count = 0;
    int ways = trait == CUPEL_TRAIT_SPECIAL ? WAY_COUNT : WAY_FINITE;
    for (int way = 0; way < ways && !cupel_shrink_spent(a->shrink); way++) {
        cupel_recipe r = a->base;
        if (!offer_values(a, way, &r)) continue;
        clear_value_traits(contract, value_traits, &r);
        if (trait == CUPEL_TRAIT_TYPE) change_types(contract, &r);
        if (trait == CUPEL_TRAIT_LAYOUT) clear_layouts(contract, &r);
        if (trait == CUPEL_TRAIT_SCHEDULE) r.schedule = 0;
        if (trait == CUPEL_TRAIT_HISTORY) r.history = CUPEL_HISTORY_NONE;
        if (trait == CUPEL_TRAIT_VARIANT) cupel_variants_first(contract, r.dims);
        if (fails(a, &r, removed | trait)) return REMOVED;
    }
    return removal_failed(a);
}

static int64_t work_of(const cupel_contract *contract, const cupel_recipe *r, int64_t *elements) {
    cupel_binding binding;
    int64_t product = 1;
    *elements = 0;
    for (int d = 0; d < contract->dim_count; d++)
        if (__builtin_mul_overflow(product, r->dims[d] > 0 ? r->dims[d] : 1, &product)) return INT64_MAX;
    if (cupel_recipe_binding(contract, r, &binding, NULL) != CUPEL_OK) return product;
    for (int t = 0; t < contract->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count;
        if (cupel_binding_shape(&binding, t, shape, &count, NULL) == CUPEL_OK) *elements += count;
    }
    return product;
}

/* Halves the largest dim above floor for which may(d) holds; false when there is none. */
static bool halve_largest(const cupel_contract *contract, cupel_recipe *r, int64_t floor, const bool *may) {
    int largest = -1;
    for (int d = 0; d < contract->dim_count - contract->variant_count; d++) {
        if ((may && !may[d]) || r->dims[d] / 2 < floor || r->dims[d] / 2 < contract->dims[d].lo) continue;
        if (largest < 0 || r->dims[d] > r->dims[largest]) largest = d;
    }
    if (largest >= 0) r->dims[largest] /= 2;
    return largest >= 0;
}

/* Does each step of the dim have a block of its own (grid: [M])? Then one block does the same whatever its
 * extent. */
static bool is_batch(const cupel_contract *contract, int dim) {
    for (int l = 0; l < contract->launch_count; l++)
        for (int g = 0; g < contract->launches[l].grid_rank; g++)
            if (cupel_span_equals(cupel_scalar_text(contract->launches[l].grid[g]), contract->dims[dim].name))
                return true;
    return false;
}

/* The ordinary shape, or the nearest power-of-two shape that can be run in reasonable time. Batch dims give
 * way first, then those that the minimal case has at their low end: the failure does not seem to hang on
 * them. */
static bool ordinary_dims(const attribution *a, cupel_recipe *r) {
    const cupel_contract *contract = a->shrink->contract;
    cupel_binding ordinary;
    if (cupel_binding_ordinary(contract, &ordinary, NULL) != CUPEL_OK) return false;
    const int dims = contract->dim_count - contract->variant_count; /* the variant stays */
    memcpy(r->dims, ordinary.dims, (size_t)dims * sizeof *r->dims);
    bool batch[CUPEL_DIM_MAX] = {false}, idle[CUPEL_DIM_MAX] = {false};
    for (int d = 0; d < contract->dim_count; d++) {
        batch[d] = is_batch(contract, d);
        idle[d] = a->shrink->best.dims[d] <= contract->dims[d].lo + 1;
    }
    for (int d = 0; d < contract->dim_count; d++)
        while (batch[d] && r->dims[d] > BATCH_MAX && r->dims[d] / 2 >= contract->dims[d].lo) r->dims[d] /= 2;
    int64_t elements;
    while (work_of(contract, r, &elements) > PRODUCT_MAX || elements > ELEMENTS_MAX)
        if (!halve_largest(contract, r, 4, batch) && !halve_largest(contract, r, 4, idle) &&
            !halve_largest(contract, r, SHAPE_FLOOR, NULL))
            break;
    return true;
}

static removal remove_shape(attribution *a, int removed) {
    const cupel_contract *contract = a->shrink->contract;
    cupel_recipe shape = a->base;
    bool open[WAY_FINITE], any = true; /* ways of which the result is not known yet */
    if (!ordinary_dims(a, &shape)) return UNDECIDED;
    for (int way = 0; way < WAY_FINITE; way++) open[way] = true;
    for (int halving = 0; halving < HALVINGS_MAX && any; halving++) {
        any = false;
        a->tried_count = 0;
        for (int way = 0; way < WAY_FINITE && !cupel_shrink_spent(a->shrink); way++) {
            cupel_recipe r = shape;
            if (!open[way]) continue;
            open[way] = false;
            if (!offer_values(a, way, &r)) continue;
            clear_value_traits(contract, removed, &r);
            if (fails(a, &r, removed)) return REMOVED;
            open[way] = a->unjudged;
            any = any || a->unjudged;
        }
        if (!halve_largest(contract, &shape, SHAPE_FLOOR, NULL)) break;
    }
    return removal_failed(a);
}

/* What a finding says by its kind need not be tried: without the trait there would be nothing to compare. */
static bool is_the_finding(const attribution *a, int trait) {
    return (a->finding.kind == CUPEL_FINDING_NONDETERMINISM && trait == CUPEL_TRAIT_SCHEDULE) ||
           (a->finding.kind == CUPEL_FINDING_HISTORY && trait == CUPEL_TRAIT_HISTORY) ||
           (a->finding.kind == CUPEL_FINDING_VARIANTS && trait == CUPEL_TRAIT_VARIANT);
}

/* ---- what a failure needs of its values ---- */

/* Elements along reduced axes differ in none of the ways that fill inputs with one constant. */
static bool is_constant_way(int way) {
    return (way >= WAY_TAKEN && way < WAY_PLAIN) ||
           (way >= WAY_PLAIN && way < WAY_VARIED &&
            plain_values[way - WAY_PLAIN].pattern == CUPEL_PATTERN_CONSTANT);
}

static bool fails_with_constants(attribution *a, const cupel_recipe *shape, int removed) {
    a->tried_count = 0;
    for (int way = 0; way < WAY_FINITE && !cupel_shrink_spent(a->shrink); way++) {
        cupel_recipe r = *shape;
        if (!is_constant_way(way) || !offer_values(a, way, &r)) continue;
        clear_value_traits(a->shrink->contract, removed, &r);
        if (fails(a, &r, removed)) return true;
    }
    return false;
}

/* The same elements in another order along the wholly reduced axes: is the result right? */
static bool right_in_other_order(attribution *a, uint32_t permutation) {
    cupel_recipe r = a->shrink->best;
    r.permutation = permutation;
    if (permutation == a->shrink->best.permutation || !cupel_shrink_repair(a->shrink->contract, &r) ||
        r.permutation != permutation)
        return false;
    const cupel_trial *trial = cupel_shrink_try(a->shrink, &r);
    return trial && !trial->unsupported && trial->judged.finding_count == 0 && !output_unjudged(a, trial);
}

/* A failure needs a certain order of elements that may come in any, if it vanishes in another order and where
 * all are equal. A result that is only just wrong may be so by the luck of its roundings. */
static removal remove_order(attribution *a, int removed) {
    static const double clearly = 4;
    enum { ORDERS = 8 };
    cupel_recipe shape = a->base;
    if (a->shrink->finding.ratio < clearly || fails_with_constants(a, &a->base, removed)) return REMOVED;
    if (ordinary_dims(a, &shape) && fails_with_constants(a, &shape, removed)) return REMOVED;
    for (uint32_t permutation = 0; permutation <= ORDERS && !cupel_shrink_spent(a->shrink); permutation++)
        if (right_in_other_order(a, permutation)) return NECESSARY;
    return cupel_shrink_spent(a->shrink) ? UNDECIDED : REMOVED;
}

/* Upstream gradients of one value everywhere. */
static removal remove_cotangent(attribution *a, int removed) {
    static const double values[] = {1, -2, 0.5};
    const cupel_contract *contract = a->shrink->contract;
    const uint32_t cotangents = cupel_claimed_cotangents(contract);
    if (!cotangents) return UNDECIDED;
    a->tried_count = 0;
    for (int way = WAY_OWN; way < WAY_TAKEN; way++)
        for (size_t v = 0; v < sizeof values / sizeof *values && !cupel_shrink_spent(a->shrink); v++) {
            cupel_recipe r = a->base;
            if (!offer_values(a, way, &r)) continue;
            clear_value_traits(contract, removed, &r);
            for (int t = 0; t < contract->tensor_count; t++)
                if (cotangents >> t & 1)
                    r.tensors[t] = (cupel_tensor_recipe){.pattern = CUPEL_PATTERN_CONSTANT,
                                                         .amplitude = values[v],
                                                         .layout = r.tensors[t].layout};
            if (fails(a, &r, removed)) return REMOVED;
        }
    return removal_failed(a);
}

/* Asked where nothing else is necessary: what else there is names the gate in any case. */
static int value_needs(attribution *a, int removed) {
    int needs = 0;
    if (!is_value_kind(a->finding.kind)) return 0;
    if (remove_order(a, removed) == NECESSARY) needs |= CUPEL_TRAIT_ORDER;
    if (a->finding.gradient && remove_cotangent(a, removed) == NECESSARY) needs |= CUPEL_TRAIT_COTANGENT;
    return needs;
}

int cupel_attribute(cupel_shrink *shrink, const cupel_recipe *original) {
    static const int order[] = {CUPEL_TRAIT_SPECIAL,  CUPEL_TRAIT_SUBNORMAL, CUPEL_TRAIT_LAYOUT,
                                CUPEL_TRAIT_SCHEDULE, CUPEL_TRAIT_HISTORY,   CUPEL_TRAIT_TYPE,
                                CUPEL_TRAIT_VARIANT};
    attribution a = {
        .shrink = shrink, .original = original, .base = shrink->best, .finding = shrink->finding};
    int traits = cupel_recipe_traits(shrink->contract, &a.base), necessary = 0;
    /* traits that the minimal case lacks have been removed by the minimiser: values offered later must not
     * bring them back */
    int removed = ~traits & (CUPEL_TRAIT_SPECIAL | CUPEL_TRAIT_SUBNORMAL);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!(traits & order[i])) continue;
        removal outcome = is_the_finding(&a, order[i]) ? NECESSARY : remove_trait(&a, order[i], removed);
        if (outcome == REMOVED) removed |= order[i];
        if (outcome == NECESSARY) necessary |= order[i];
    }
    if ((traits & CUPEL_TRAIT_SHAPE) && remove_shape(&a, removed) == NECESSARY)
        necessary |= CUPEL_TRAIT_SHAPE;
    if (!necessary) necessary = value_needs(&a, removed);
    return necessary;
}

void cupel_traits_describe(int traits, const char *region, char *text, size_t size) {
    static const struct {
        int trait;
        const char *name;
    } names[] = {{CUPEL_TRAIT_SPECIAL, "special values among the inputs"},
                 {CUPEL_TRAIT_SUBNORMAL, "subnormal inputs"},
                 {CUPEL_TRAIT_TYPE, "the element type"},
                 {CUPEL_TRAIT_VARIANT, "the variant"},
                 {CUPEL_TRAIT_SHAPE, "the shape"},
                 {CUPEL_TRAIT_LAYOUT, "the layout"},
                 {CUPEL_TRAIT_SCHEDULE, "the schedule"},
                 {CUPEL_TRAIT_HISTORY, "the earlier call"},
                 {CUPEL_TRAIT_ORDER, "the order of elements along a reduced axis"},
                 {CUPEL_TRAIT_COTANGENT, "upstream gradients that differ by element"}};
    size_t used = 0;
    snprintf(text, size, "nothing %s",
             cupel_region_is_bounded(region) ? "but what the region says" : "in particular");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((traits & names[i].trait) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[i].name);
}
