/* Dims: are they legal, and which legal ones are nearest? Conditions are opaque expressions, so this is a
 * search: condition by condition the nearest change of one dim that mends it and breaks none that held, then
 * changes of two dims among likely values; the ordinary shape, which every contract has, is the last resort.
 */
#include <string.h>

#include "recipe_impl.h"

enum { NEAR = 256 }; /* distances that are tried exhaustively */

int64_t cupel_dimension_nearest(const cupel_dim *dim, int64_t value) {
    if (dim->value_count > 0) {
        int64_t best = dim->values[0];
        for (int i = 1; i < dim->value_count; i++) {
            uint64_t d = dim->values[i] > value ? (uint64_t)dim->values[i] - (uint64_t)value
                                                : (uint64_t)value - (uint64_t)dim->values[i];
            uint64_t e = best > value ? (uint64_t)best - (uint64_t)value : (uint64_t)value - (uint64_t)best;
            if (d < e) best = dim->values[i];
        }
        return best;
    }
    return value < dim->lo ? dim->lo : value > dim->hi ? dim->hi : value;
}

int64_t cupel_dimensions_total(const cupel_binding *binding) {
    static const int64_t cap = INT64_C(1) << 60;
    int64_t total = 0;
    for (int t = 0; t < binding->contract->tensor_count; t++) {
        const cupel_tensor_decl *decl = &binding->contract->tensors[t];
        int64_t shape[CUPEL_RANK_MAX], count;
        if (cupel_binding_shape(binding, t, shape, &count, NULL) != CUPEL_OK) return -1;
        if (decl->below != NULL && count > 0) {
            cupel_scalar below;
            if (cupel_binding_scalar(binding, decl->below, NULL, &below, NULL) != CUPEL_OK || below.real ||
                below.i < 1)
                return -1;
        }
        total = count > cap - total ? cap : total + count;
    }
    return total;
}

bool cupel_dimensions_legal(const cupel_binding *binding) {
    return cupel_binding_legal(binding) && cupel_dimensions_total(binding) >= 0;
}

/* How much of the contract a binding meets: bit i for the i-th condition, the last bit for tensors that can
 * be made. Lets are completed on the way. */
typedef struct standing {
    uint64_t met, all;
} standing;

static int conditions_of(const cupel_contract *contract) {
    return contract->require_count < 63 ? contract->require_count : 63;
}

/* Condition i of a complete binding. */
static bool meets(const cupel_binding *binding, int i) {
    if (i == conditions_of(binding->contract)) return cupel_dimensions_total(binding) >= 0;
    cupel_scalar value;
    return cupel_binding_scalar(binding, binding->contract->requires_[i], NULL, &value, NULL) == CUPEL_OK &&
           (value.real ? value.d != 0 : value.i != 0);
}

static standing standing_of(cupel_binding *binding) {
    int conditions = conditions_of(binding->contract);
    standing s = {0, (UINT64_C(1) << (conditions + 1)) - 1};
    if (cupel_binding_complete(binding, NULL) != CUPEL_OK) return s;
    for (int i = 0; i <= conditions; i++)
        if (meets(binding, i)) s.met |= UINT64_C(1) << i;
    return s;
}

/* What a change of dims is after: to meet condition `goal`, which is tried first since most changes fail
 * there, with all others of `wanted`. */
typedef struct aim {
    uint64_t wanted;
    int goal;
} aim;

typedef struct likely_values {
    int count;
    int64_t values[160];
} likely_values;

static void add_likely(const cupel_dim *dim, int64_t value, likely_values *list) {
    if (value < dim->lo || value > dim->hi || cupel_dimension_nearest(dim, value) != value) return;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == value) return;
    if (list->count < (int)(sizeof list->values / sizeof *list->values)) list->values[list->count++] = value;
}

/* Values that conditions tend to want: claimed ones of a list, ends, other dims and multiples of them and of
 * the contract's literals, powers of two; nearest first. */
static void collect_likely(const cupel_binding *binding, int d, likely_values *list) {
    const cupel_contract *contract = binding->contract;
    const cupel_dim *dim = &contract->dims[d];
    int64_t value = binding->dims[d];
    list->count = 0;
    for (int i = 0; i < dim->value_count && i < 64; i++) add_likely(dim, dim->values[i], list);
    add_likely(dim, dim->lo, list), add_likely(dim, dim->hi, list);
    cupel_landmarks landmarks;
    cupel_landmarks_mine(contract, &landmarks);
    for (int i = 0; i < contract->dim_count + landmarks.count; i++) {
        int64_t unit = i < contract->dim_count ? binding->dims[i] : landmarks.values[i - contract->dim_count];
        if (unit <= 0 || i == d) continue;
        add_likely(dim, unit, list);
        add_likely(dim, value - value % unit, list);
        if (unit < INT64_C(1) << 40 && value < INT64_C(1) << 40) {
            add_likely(dim, value - value % unit + unit, list);
            add_likely(dim, 2 * unit, list);
        }
    }
    for (int k = 0; k < 24; k++) add_likely(dim, INT64_C(1) << k, list);
    for (int i = 1; i < list->count; i++) /* insertion sort by distance, then size */
        for (int k = i; k > 0; k--) {
            int64_t a = list->values[k - 1], b = list->values[k];
            int64_t da = a > value ? a - value : value - a, db = b > value ? b - value : value - b;
            if (da < db || (da == db && a < b)) break;
            list->values[k - 1] = b, list->values[k] = a;
        }
}

static bool try_value(cupel_binding *binding, int d, int64_t value, aim a) {
    const cupel_dim *dim = &binding->contract->dims[d];
    if (value < dim->lo || value > dim->hi || cupel_dimension_nearest(dim, value) != value) return false;
    int64_t before = binding->dims[d];
    binding->dims[d] = value;
    if (cupel_binding_complete(binding, NULL) == CUPEL_OK && meets(binding, a.goal) &&
        (standing_of(binding).met & a.wanted) == a.wanted)
        return true;
    binding->dims[d] = before;
    return false;
}

static bool change_one(cupel_binding *binding, aim wanted) {
    int count = binding->contract->dim_count;
    int64_t start[CUPEL_DIM_MAX];
    memcpy(start, binding->dims, sizeof start);
    for (int64_t distance = 1; distance <= NEAR; distance++)
        for (int d = 0; d < count; d++) {
            if (binding->contract->dims[d].lo == binding->contract->dims[d].hi) continue;
            if (try_value(binding, d, start[d] - distance, wanted) ||
                try_value(binding, d, start[d] + distance, wanted))
                return true;
        }
    for (int d = 0; d < count; d++) {
        likely_values list;
        collect_likely(binding, d, &list);
        for (int i = 0; i < list.count; i++)
            if (try_value(binding, d, list.values[i], wanted)) return true;
    }
    return false;
}

static bool change_two(cupel_binding *binding, aim wanted) {
    int count = binding->contract->dim_count;
    for (int a = 0; a < count; a++) {
        likely_values first;
        collect_likely(binding, a, &first);
        int64_t before = binding->dims[a];
        for (int i = 0; i < first.count && i < 40; i++) {
            binding->dims[a] = first.values[i];
            for (int b = a + 1; b < count; b++) {
                likely_values second;
                collect_likely(binding, b, &second);
                for (int k = 0; k < second.count && k < 40; k++)
                    if (try_value(binding, b, second.values[k], wanted)) return true;
            }
        }
        binding->dims[a] = before;
    }
    return false;
}

static bool use_ordinary(cupel_binding *binding) {
    cupel_binding ordinary;
    if (cupel_binding_ordinary(binding->contract, &ordinary, NULL) != CUPEL_OK) return false;
    memcpy(binding->dims, ordinary.dims, sizeof binding->dims);
    return standing_of(binding).met == standing_of(binding).all && cupel_binding_legal(binding);
}

/* Nearest dims that meet every condition. */
static bool legalise(cupel_binding *binding) {
    for (int d = 0; d < binding->contract->dim_count; d++)
        binding->dims[d] = cupel_dimension_nearest(&binding->contract->dims[d], binding->dims[d]);
    for (int round = 0; round < 70; round++) {
        standing s = standing_of(binding);
        if (s.met == s.all) return true;
        int goal = __builtin_ctzll(~s.met & s.all);
        aim next = {s.met | UINT64_C(1) << goal, goal}, everything = {s.all, goal};
        if (change_one(binding, next) || change_two(binding, next) || change_two(binding, everything))
            continue;
        break;
    }
    return use_ordinary(binding);
}

static int64_t next_smaller(const cupel_dim *dim, int64_t value) {
    int64_t half = value - value / 2 < value ? value - value / 2 : value;
    half = cupel_dimension_nearest(dim, half);
    for (int i = dim->value_count - 1; half >= value && i >= 0; i--)
        if (dim->values[i] < value) half = dim->values[i];
    return half < dim->lo ? dim->lo : half;
}

/* Halves the largest dim whose halving makes the tensors smaller. */
static bool shrink_once(cupel_binding *binding, int64_t total) {
    const cupel_contract *contract = binding->contract;
    bool tried[CUPEL_DIM_MAX] = {false};
    for (int attempt = 0; attempt < contract->dim_count; attempt++) {
        int largest = -1;
        for (int d = 0; d < contract->dim_count; d++)
            if (!tried[d] && (largest < 0 || binding->dims[d] > binding->dims[largest])) largest = d;
        tried[largest] = true;
        cupel_binding smaller = *binding;
        smaller.dims[largest] = next_smaller(&contract->dims[largest], binding->dims[largest]);
        if (smaller.dims[largest] >= binding->dims[largest] || !legalise(&smaller)) continue;
        int64_t now = cupel_dimensions_total(&smaller);
        if (now < 0 || now >= total) continue;
        *binding = smaller;
        return true;
    }
    return false;
}

cupel_code cupel_dimensions_repair(cupel_binding *binding, int64_t max_elements, cupel_error *err) {
    if (!legalise(binding))
        return cupel_fail(err, CUPEL_UNABLE, "no dims were found that satisfy 'requires' of %s",
                          binding->contract->id);
    int64_t total = cupel_dimensions_total(binding);
    while (total > max_elements && shrink_once(binding, total)) total = cupel_dimensions_total(binding);
    return cupel_binding_complete(binding, err);
}
