/* Shapes for a search: values at which kernels change their path, and small cases more often than large ones.
 */
#include "recipe_impl.h"

static void keep_landmark(void *self, int64_t value) {
    cupel_landmarks *list = self;
    if (value < 2 || value > 1 << 20) return;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == value) return;
    if (list->count < (int)(sizeof list->values / sizeof *list->values)) list->values[list->count++] = value;
}

void cupel_landmarks_mine(const cupel_contract *contract, cupel_landmarks *out) {
    out->count = 0;
    for (int i = 0; i < contract->launch_count; i++) {
        const cupel_launch *launch = &contract->launches[i];
        for (int k = 0; k < launch->block_rank; k++)
            cupel_scalar_literals(launch->block[k], keep_landmark, out);
        for (int k = 0; k < launch->grid_rank; k++)
            cupel_scalar_literals(launch->grid[k], keep_landmark, out);
        if (launch->shared != NULL) cupel_scalar_literals(launch->shared, keep_landmark, out);
    }
    for (int i = 0; i < contract->require_count; i++)
        cupel_scalar_literals(contract->requires_[i], keep_landmark, out);
    for (int i = 0; i < contract->let_count; i++)
        cupel_scalar_literals(contract->lets[i].expr, keep_landmark, out);
}

void cupel_landmarks_add(const cupel_dictionary *dictionary, cupel_landmarks *landmarks) {
    for (int i = 0; i < dictionary->word_count; i++)
        if (dictionary->words[i].role != CUPEL_WORD_PLAIN)
            keep_landmark(landmarks, dictionary->words[i].value);
}

static int64_t beside(int64_t value, cupel_random *random) {
    return value + (int64_t)cupel_random_below(random, 3) - 1;
}

static int64_t boundary_of_landmark(int64_t cap, const cupel_landmarks *landmarks, cupel_random *random) {
    static const int64_t usual[] = {32, 64, 128, 256, 512, 1024};
    int64_t unit = landmarks->count > 0 && !cupel_chance(random, 4)
                       ? landmarks->values[cupel_random_below(random, (uint64_t)landmarks->count)]
                       : usual[cupel_random_below(random, sizeof usual / sizeof *usual)];
    int64_t most = cap / unit < 1 ? 1 : cap / unit > 4 ? 4 : cap / unit;
    int64_t multiple = cupel_chance(random, 2) ? 1 : 1 + (int64_t)cupel_random_below(random, (uint64_t)most);
    return beside(unit * multiple, random);
}

static int64_t path_switch(int64_t cap, cupel_random *random) {
    static const int64_t switches[] = {768,  769,  1023, 1024, 1025,  2047,  2048,
                                       2049, 4095, 4096, 4097, 65535, 65536, 65537};
    int usable = 0;
    while (usable < (int)(sizeof switches / sizeof *switches) && switches[usable] <= cap) usable++;
    if (usable == 0) return cap;
    /* the high ones are within reach of few cases: preferred there */
    int from = usable > 3 && cupel_chance(random, 2) ? usable - 3 : 0;
    return switches[from + (int)cupel_random_below(random, (uint64_t)(usable - from))];
}

static int64_t prime(cupel_random *random) {
    static const int64_t primes[] = {2,   3,   5,   7,   11,  13,  17,  23,  31,   37,   61,   67,  97,
                                     127, 131, 211, 251, 257, 509, 521, 769, 1021, 1031, 2039, 4099};
    return primes[cupel_random_below(random, sizeof primes / sizeof *primes)];
}

/* About uniform in the logarithm of the distance from lo; integers only, so that a seed means the same
 * everywhere. */
static int64_t log_between(int64_t lo, int64_t hi, cupel_random *random) {
    int bits = 0;
    while (bits < 40 && (hi - lo + 1) >> bits > 1) bits++;
    int64_t block = INT64_C(1) << cupel_random_below(random, (uint64_t)bits + 1);
    int64_t value = lo + block - 1 + (int64_t)cupel_random_below(random, (uint64_t)block);
    return value > hi ? lo + (int64_t)cupel_random_below(random, (uint64_t)(hi - lo) + 1) : value;
}

static int64_t candidate(const cupel_binding *binding, int d, int64_t cap, const cupel_landmarks *landmarks,
                         cupel_random *random) {
    const cupel_dim *dim = &binding->contract->dims[d];
    switch (cupel_random_below(random, 20)) {
    case 0: return dim->lo + (int64_t)cupel_random_below(random, 2);
    case 1: return (int64_t)cupel_random_below(random, 4);
    case 2: return prime(random);
    case 3: return beside(INT64_C(1) << cupel_random_below(random, 17), random);
    case 4: return beside(32 * (1 + (int64_t)cupel_random_below(random, 64)), random);
    case 5: return path_switch(cap, random);
    case 6: return cap - (int64_t)cupel_random_below(random, 2);
    case 7: { /* as another dim (a block size, perhaps), a multiple of it, or one beside */
        int other = (int)cupel_random_below(random, (uint64_t)binding->contract->dim_count);
        int64_t multiple = binding->dims[other] * (1 + (int64_t)cupel_random_below(random, 3));
        return cupel_chance(random, 2) ? multiple : beside(multiple, random);
    }
    case 8:
    case 9:
    case 10: return boundary_of_landmark(cap, landmarks, random);
    case 11:
    case 12:
    case 13:
    case 14: return dim->lo + (int64_t)cupel_random_below(random, (uint64_t)(cap - dim->lo) + 1);
    default: return log_between(dim->lo, cap, random);
    }
}

int64_t cupel_dimension_draw(const cupel_binding *binding, int d, int64_t cap,
                             const cupel_landmarks *landmarks, cupel_random *random) {
    const cupel_dim *dim = &binding->contract->dims[d];
    if (dim->value_count > 0) {
        int usable = 0;
        while (usable < dim->value_count && (usable == 0 || dim->values[usable] <= cap)) usable++;
        return dim->values[cupel_random_below(random, (uint64_t)usable)];
    }
    if (cap > dim->hi) cap = dim->hi;
    if (cap <= dim->lo) return dim->lo;
    for (int attempt = 0; attempt < 6; attempt++) {
        int64_t value = candidate(binding, d, cap, landmarks, random);
        if (value >= dim->lo && value <= cap) return value;
    }
    return log_between(dim->lo, cap, random);
}

typedef struct mentions {
    const cupel_contract *contract;
    bool dims[CUPEL_DIM_MAX];
} mentions;

static cupel_code note_dim(void *self, const char *name, cupel_span place, cupel_error *err) {
    (void)place, (void)err;
    mentions *m = self;
    int dim = cupel_contract_dim(m->contract, name);
    if (dim >= 0) m->dims[dim] = true;
    return CUPEL_OK;
}

/* The dims that shapes speak of, be it through a let; others serve the launch only. */
static mentions dims_in_shapes(const cupel_contract *contract) {
    mentions m = {.contract = contract};
    for (int t = 0; t < contract->tensor_count; t++)
        for (int axis = 0; axis < contract->tensors[t].rank; axis++)
            (void)!cupel_scalar_names(contract->tensors[t].shape[axis], note_dim, &m, NULL);
    for (int i = 0; i < contract->let_count; i++)
        (void)!cupel_scalar_names(contract->lets[i].expr, note_dim, &m, NULL);
    return m;
}

void cupel_dims_in_shapes(const cupel_contract *contract, bool dims[CUPEL_DIM_MAX]) {
    const mentions m = dims_in_shapes(contract);
    for (int i = 0; i < CUPEL_DIM_MAX; i++) dims[i] = m.dims[i];
}

static double threads_of(const cupel_binding *binding, const cupel_launch *launch) {
    double threads = 1;
    for (int i = 0; i < launch->grid_rank + launch->block_rank; i++) {
        const cupel_scalar_expr *expr =
            i < launch->grid_rank ? launch->grid[i] : launch->block[i - launch->grid_rank];
        cupel_scalar value;
        if (cupel_binding_scalar(binding, expr, NULL, &value, NULL) != CUPEL_OK || value.real) return 0;
        threads *= (double)value.i;
    }
    return threads;
}

static double work_of(const cupel_binding *binding, const mentions *shapes) {
    const cupel_contract *contract = binding->contract;
    double product = 1, threads = 0;
    for (int i = 0; i < contract->dim_count; i++)
        if (shapes->dims[i] && binding->dims[i] > 1) product *= (double)binding->dims[i];
    for (int i = 0; i < contract->launch_count; i++) threads += threads_of(binding, &contract->launches[i]);
    return product > threads ? product : threads;
}

double cupel_shape_work(const cupel_binding *binding) {
    mentions shapes = dims_in_shapes(binding->contract);
    return work_of(binding, &shapes);
}

/* One block is always affordable; beyond it up to 4 times the budget in multiply-adds or threads. */
static bool within(cupel_binding *binding, const mentions *shapes, int64_t budget) {
    if (cupel_binding_complete(binding, NULL) != CUPEL_OK) return false;
    int64_t total = cupel_dimensions_total(binding);
    return total >= 0 && total <= budget && work_of(binding, shapes) <= 4 * (double)budget + 1024;
}

/* The largest value of one dim that keeps the binding within budget, to within an eighth; requires that it
 * grows with the dim. */
static int64_t cap_of(cupel_binding *binding, const mentions *shapes, int d, int64_t budget) {
    const cupel_dim *dim = &binding->contract->dims[d];
    int64_t before = binding->dims[d], lo = dim->lo, hi = dim->hi;
    if (hi > 8 * budget + 64) hi = 8 * budget + 64 > lo ? 8 * budget + 64 : lo;
    binding->dims[d] = hi;
    if (within(binding, shapes, budget)) lo = hi;
    while (hi - lo > 1 && hi - lo > lo / 8) {
        int64_t middle = lo + (hi - lo) / 2;
        binding->dims[d] = middle;
        if (within(binding, shapes, budget))
            lo = middle;
        else
            hi = middle;
    }
    binding->dims[d] = before;
    return lo;
}

void cupel_shape_draw(cupel_binding *binding, int64_t budget, bool fill, const cupel_landmarks *landmarks,
                      cupel_random *random) {
    const cupel_contract *contract = binding->contract;
    const mentions shapes = dims_in_shapes(contract);
    int order[CUPEL_DIM_MAX], last = -1, filled = -1;
    for (int d = 0; d < contract->dim_count; d++) {
        int swap = (int)cupel_random_below(random, (uint64_t)d + 1);
        order[d] = order[swap], order[swap] = d;
        /* start from the smallest shape that is not empty, so that each dim sees what the others leave it */
        binding->dims[d] = cupel_dimension_nearest(&contract->dims[d], 1);
    }
    for (int i = 0; i < contract->dim_count; i++)
        if (contract->dims[order[i]].lo < contract->dims[order[i]].hi) {
            last = i;
            if (shapes.dims[order[i]]) filled = i;
        }
    for (int i = 0; i <= last; i++) {
        int d = order[i];
        if (contract->dims[d].lo == contract->dims[d].hi) continue;
        int64_t cap = cap_of(binding, &shapes, d, budget);
        int64_t value = cupel_dimension_draw(binding, d, cap, landmarks, random);
        if (fill && i == filled && value < cap / 2)
            value = cap - (int64_t)cupel_random_below(random, (uint64_t)(cap / 2) + 1);
        binding->dims[d] = cupel_dimension_nearest(&contract->dims[d], value);
    }
}
