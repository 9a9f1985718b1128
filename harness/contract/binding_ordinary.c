/* The ordinary shape: every dim the largest power of two in its range, at most 1,024, the largest halved
 * while all tensors together hold more than 65,536 elements or the dims' product exceeds 2^20 (so that an
 * ordinary case is as cheap as any other and comes often); where requires forbids that, the nearest shape
 * that satisfies it. It is found once, when a contract is loaded. */
#include <stdlib.h>
#include <string.h>

#include "binding_search.h"
#include "philox.h"

enum { ORDINARY_MAX = 1024, EVALUATIONS_MAX = 200000, WORK_MAX = 3000000, CANDIDATES_MAX = 64 };

/* Bounds of the ordinary shape; halving stops at ORDINARY_FLOOR, where tails and partial warps would begin.
 */
enum { ORDINARY_ELEMENTS = 1 << 16, ORDINARY_PRODUCT = 1 << 20, ORDINARY_FLOOR = 64 };

static const uint32_t stream_ordinary = 0x0bd1;

int64_t cupel_dim_nearest(const cupel_dim *dim, int64_t wanted) {
    if (dim->value_count == 0) return wanted < dim->lo ? dim->lo : wanted > dim->hi ? dim->hi : wanted;
    int64_t best = dim->values[0];
    for (int i = 1; i < dim->value_count; i++)
        if (llabs(dim->values[i] - wanted) < llabs(best - wanted)) best = dim->values[i];
    return best;
}

int64_t cupel_dim_ordinary(const cupel_dim *dim) {
    if (dim->variant) return dim->first;
    int64_t top = dim->hi < ORDINARY_MAX ? dim->hi : ORDINARY_MAX, power = 1;
    for (int i = dim->value_count - 1; i >= 0; i--) {
        int64_t v = dim->values[i];
        if (v > 0 && v <= ORDINARY_MAX && (v & (v - 1)) == 0) return v;
    }
    while (power * 2 <= top) power *= 2;
    return cupel_dim_nearest(dim, power);
}

/* One search for the legal point nearest to a centre. Only dims that requires or lets mention are moved. */
typedef struct search {
    cupel_binding at;
    int64_t centre[CUPEL_DIM_MAX];
    int moved[CUPEL_DIM_MAX], moved_count;
    int64_t evaluations; /* left */
    bool found;
} search;

static bool try_point(search *s) {
    s->evaluations--;
    return cupel_binding_legal(&s->at);
}

static bool claimed(const cupel_dim *dim, int64_t value) {
    return cupel_dim_nearest(dim, value) == value;
}

/* Every point at exactly this distance from the centre, the first dims moving least. */
static bool try_shell(search *s, int index, int64_t distance) {
    if (s->evaluations <= 0) return false;
    int dim = s->moved[index];
    const cupel_dim *d = &s->at.contract->dims[dim];
    int64_t centre = s->centre[dim], first = index + 1 == s->moved_count ? distance : 0;
    for (int64_t step = first; step <= distance && s->evaluations > 0; step++)
        for (int sign = -1; sign <= 1; sign += 2) {
            if ((step == 0 && sign > 0) || !claimed(d, centre + sign * step)) continue;
            s->at.dims[dim] = centre + sign * step;
            if (index + 1 == s->moved_count ? try_point(s) : try_shell(s, index + 1, distance - step))
                return true;
        }
    s->evaluations--; /* walking dead branches is work too */
    s->at.dims[dim] = centre;
    return false;
}

static int64_t distance_of(const search *s, const int64_t *dims) {
    int64_t distance = 0;
    for (int i = 0; i < s->at.contract->dim_count; i++) {
        int64_t d = llabs(dims[i] - s->centre[i]);
        distance = distance > INT64_MAX - d ? INT64_MAX : distance + d;
    }
    return distance;
}

/* Walks each dim towards the centre as far as the point stays legal, until nothing moves: from some legal
 * point to a near one. */
static void approach(search *s) {
    for (bool moved = true; moved && s->evaluations > 0;) {
        moved = false;
        for (int i = 0; i < s->moved_count; i++) {
            int dim = s->moved[i];
            int64_t from = s->at.dims[dim], toward = s->centre[dim] > from ? 1 : -1;
            for (int64_t step = llabs(s->centre[dim] - from); step > 0 && s->evaluations > 0;
                 step = step > 64 ? step / 2 : step - 1) {
                s->at.dims[dim] = from + toward * step;
                if (claimed(&s->at.contract->dims[dim], s->at.dims[dim]) && try_point(s)) {
                    moved = true;
                    break;
                }
                s->at.dims[dim] = from;
            }
        }
    }
}

typedef struct values {
    int64_t items[CANDIDATES_MAX];
    int count;
} values;

static void add_value(void *self, int64_t value) {
    values *v = self;
    for (int i = 0; i < v->count; i++)
        if (v->items[i] == value) return;
    if (v->count < CANDIDATES_MAX) v->items[v->count++] = value;
}

/* Values that conditions are likely to single out: the literals in them and their sums, ends of ranges,
 * powers of two. */
static void collect_values(const cupel_contract *c, values *v) {
    for (int i = 0; i < c->require_count; i++) cupel_scalar_literals(c->requires_[i], add_value, v);
    int literals = v->count;
    for (int i = 0; i < literals; i++)
        for (int k = -1; k <= 1; k += 2) add_value(v, v->items[i] + k * (v->items[i] < INT64_MAX / 2));
    for (int i = 0; i < c->dim_count; i++) {
        add_value(v, c->dims[i].lo);
        add_value(v, c->dims[i].hi);
    }
    for (int64_t power = 1; power <= ORDINARY_MAX; power *= 2) add_value(v, power);
}

/* Far points: combinations of likely values, drawn at random with a fixed seed, sometimes one dim made equal
 * to another. */
static bool try_far(search *s) {
    const cupel_contract *c = s->at.contract;
    values likely = {.count = 0};
    collect_values(c, &likely);
    cupel_random random = cupel_random_start(1, stream_ordinary);
    int64_t best[CUPEL_DIM_MAX], best_distance = INT64_MAX, budget = s->evaluations / 2;
    bool found = false;
    while (s->evaluations > budget && s->moved_count > 0) {
        for (int i = 0; i < s->moved_count; i++) {
            int dim = s->moved[i];
            const cupel_dim *d = &c->dims[dim];
            uint64_t span = (uint64_t)(d->hi - d->lo) + 1, kind = cupel_random_below(&random, 4);
            int64_t value = d->lo + (int64_t)cupel_random_below(&random, span);
            if (kind == 0) value = likely.items[cupel_random_below(&random, (uint64_t)likely.count)];
            if (kind == 1)
                value = s->at.dims[s->moved[cupel_random_below(&random, (uint64_t)s->moved_count)]];
            if (kind == 2) value = s->centre[dim];
            s->at.dims[dim] = cupel_dim_nearest(d, value);
        }
        if (!try_point(s)) continue;
        int64_t saved = s->evaluations;
        approach(s);
        /* an approach may cost most of the budget; it is worth it once, then random points go on */
        if (saved - s->evaluations > budget / 4) budget = s->evaluations;
        int64_t distance = distance_of(s, s->at.dims);
        if (!found || distance < best_distance) {
            memcpy(best, s->at.dims, sizeof best);
            best_distance = distance;
            found = true;
        }
    }
    if (found) memcpy(s->at.dims, best, sizeof best);
    return found;
}

typedef struct mention {
    const cupel_contract *contract;
    bool dims[CUPEL_DIM_MAX];
} mention;

static cupel_code note_name(void *self, const char *name, cupel_span place, cupel_error *err) {
    (void)place;
    (void)err;
    mention *m = self;
    int dim = cupel_contract_dim(m->contract, name);
    if (dim >= 0) m->dims[dim] = true;
    return CUPEL_OK;
}

static void find_moved(search *s) {
    const cupel_contract *c = s->at.contract;
    mention m = {.contract = c};
    int64_t length = 1;
    for (int i = 0; i < c->require_count; i++) {
        (void)!cupel_scalar_names(c->requires_[i], note_name, &m, NULL);
        length += (int64_t)cupel_scalar_text(c->requires_[i]).length;
    }
    for (int i = 0; i < c->let_count; i++) {
        (void)!cupel_scalar_names(c->lets[i].expr, note_name, &m, NULL);
        length += (int64_t)cupel_scalar_text(c->lets[i].expr).length;
    }
    for (int i = 0; i < c->dim_count; i++)
        if (m.dims[i] && c->dims[i].lo < c->dims[i].hi) s->moved[s->moved_count++] = i;
    /* long conditions cost more to evaluate: the whole search stays a fraction of a second */
    s->evaluations = EVALUATIONS_MAX < WORK_MAX / length ? EVALUATIONS_MAX : WORK_MAX / length;
}

bool cupel_binding_nearest(const cupel_contract *contract, const int64_t *centre, cupel_binding *out) {
    search s = {.at = *out};
    for (int i = 0; i < contract->dim_count; i++)
        s.at.dims[i] = s.centre[i] = cupel_dim_nearest(&contract->dims[i], centre[i]);
    find_moved(&s);
    int64_t reach = 0;
    for (int i = 0; i < s.moved_count; i++)
        reach += contract->dims[s.moved[i]].hi - contract->dims[s.moved[i]].lo;
    bool found = try_point(&s);
    int64_t total = s.evaluations;
    /* shells first: what they find is the nearest point; half the budget is left for points that lie far away
     */
    s.evaluations = total / 2;
    for (int64_t distance = 1; !found && s.moved_count > 0 && distance <= reach && s.evaluations > 0;
         distance++)
        found = try_shell(&s, 0, distance);
    s.evaluations = total / 2;
    if (!found) found = try_far(&s);
    if (found) *out = s.at;
    return found;
}

/* Does one case of these dims cost more than an ordinary one should? No where the sizes cannot be told. */
static bool is_dear(const cupel_contract *contract, const int64_t dims[CUPEL_DIM_MAX]) {
    cupel_binding b = {.contract = contract};
    memcpy(b.dims, dims, sizeof b.dims);
    double product = 1, elements = 0;
    for (int i = 0; i < contract->dim_count - contract->variant_count; i++)
        product *= dims[i] > 1 ? (double)dims[i] : 1;
    if (product > ORDINARY_PRODUCT) return true;
    if (cupel_binding_complete(&b, NULL) != CUPEL_OK) return false;
    for (int t = 0; t < contract->tensor_count; t++) {
        int64_t shape[CUPEL_RANK_MAX], count;
        if (cupel_binding_shape(&b, t, shape, &count, NULL) == CUPEL_OK) elements += (double)count;
    }
    return elements > ORDINARY_ELEMENTS;
}

/* Halves the largest dim (of equals the first) that stays a claimed power of two; false when there is none.
 */
static bool halve_largest(const cupel_contract *contract, int64_t dims[CUPEL_DIM_MAX]) {
    int largest = -1;
    for (int i = 0; i < contract->dim_count - contract->variant_count; i++) {
        const int64_t half = dims[i] / 2;
        if (half < ORDINARY_FLOOR || !claimed(&contract->dims[i], half)) continue;
        if (largest < 0 || dims[i] > dims[largest]) largest = i;
    }
    if (largest >= 0) dims[largest] /= 2;
    return largest >= 0;
}

cupel_code cupel_binding_find_ordinary(const cupel_contract *contract, int64_t dims[CUPEL_DIM_MAX],
                                       cupel_error *err) {
    cupel_binding binding = {.contract = contract};
    int64_t centre[CUPEL_DIM_MAX] = {0};
    for (int i = 0; i < contract->dim_count; i++) centre[i] = cupel_dim_ordinary(&contract->dims[i]);
    while (is_dear(contract, centre) && halve_largest(contract, centre)) {
    }
    if (!cupel_binding_nearest(contract, centre, &binding)) {
        /* a let or a condition that has no value anywhere is told apart from a condition that never holds */
        memcpy(binding.dims, centre, sizeof centre);
        CUPEL_TRY(cupel_binding_conditions(&binding, err));
        return cupel_fail_span(err, CUPEL_CONTRACT, cupel_scalar_text(contract->requires_[0]),
                               "expected conditions that some shape within the dims satisfies, found none");
    }
    memcpy(dims, binding.dims, sizeof binding.dims);
    return CUPEL_OK;
}

cupel_code cupel_binding_ordinary(const cupel_contract *contract, cupel_binding *out, cupel_error *err) {
    memset(out, 0, sizeof *out);
    out->contract = contract;
    memcpy(out->dims, contract->ordinary, sizeof out->dims);
    for (int i = 0; i < contract->param_count; i++) {
        const cupel_param *p = &contract->params[i];
        out->params[i] = p->kind == CUPEL_PARAM_ONE_OF ? p->values[0] : p->lo;
        if (p->kind == CUPEL_PARAM_RANGE && p->lo <= 1 && p->hi >= 1) out->params[i] = 1;
    }
    return cupel_binding_complete(out, err);
}

bool cupel_binding_is_ordinary_shape(const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    return memcmp(binding->dims, c->ordinary,
                  sizeof *binding->dims * (size_t)(c->dim_count - c->variant_count)) == 0;
}

bool cupel_binding_is_first_variant(const cupel_binding *binding) {
    const cupel_contract *c = binding->contract;
    for (int i = c->dim_count - c->variant_count; i < c->dim_count; i++)
        if (binding->dims[i] != c->dims[i].first) return false;
    return true;
}

void cupel_variants_first(const cupel_contract *contract, int64_t *dims) {
    for (int i = contract->dim_count - contract->variant_count; i < contract->dim_count; i++)
        dims[i] = contract->dims[i].first;
}

int cupel_variant_rank(const cupel_dim *dim, int64_t value) {
    int rank = 0;
    if (value == dim->first) return 0;
    while (rank < dim->value_count && dim->values[rank] < value) rank++;
    return rank + 1;
}

bool cupel_binding_is_base_type(const cupel_binding *binding) {
    for (int i = 0; i < binding->contract->type_count; i++)
        if (binding->types[i] != 0) return false;
    return true;
}
