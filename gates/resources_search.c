/* A limit over all legal bindings, by branch and bound: a box of dims is done with when interval arithmetic
 * shows that no legal binding in it breaks the limit, or when one is found that does; else its widest axis is
 * halved. Whatever is named was evaluated directly; intervals only rule out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binding_search.h"
#include "resources_impl.h"
#include "scalar_range.h"

enum { AXES_MAX = CUPEL_DIM_MAX + CUPEL_PARAM_MAX, STACK_MAX = 2048, HINTS_MAX = 128, FINEST = 12 };

/* What is varied: a dim, or a param whose values are whole numbers. */
typedef struct axis {
    int dim, param; /* one of them, the other -1 */
    bool relevant;  /* the limit or a condition depends on it: worth halving */
    int64_t lo, hi;
} axis;

typedef struct box {
    int64_t lo[AXES_MAX], hi[AXES_MAX];
} box;

/* A comparison that must hold. */
typedef struct comparison {
    cupel_scalar_order order;
    const cupel_scalar_expr *a, *b;
} comparison;

typedef struct search {
    const cupel_limit_question *question;
    const cupel_contract *contract;
    const cupel_launch *launch;
    cupel_limit limit;
    const cupel_binding *base;
    int64_t memory, least, most;
    int axis_count, comparison_count, hint_count;
    axis axes[AXES_MAX];
    comparison comparisons[HINTS_MAX / 2];
    cupel_scalar_hint hints[HINTS_MAX];
    /* of the box at work */
    const box *at;
    int let_count; /* known */
    cupel_scalar_range lets[CUPEL_LET_MAX];
    /* answers */
    cupel_binding *witness;
    bool beyond, unproven;
    int looked; /* boxes */
} search;

/* ---- names in a box ---- */

static cupel_scalar_range interval(int64_t lo, int64_t hi) {
    return (cupel_scalar_range){.none = lo > hi, .lo = lo, .hi = hi};
}

/* A param as kernels and expressions see it is rounded to a type, which keeps the order. */
static int64_t param_value(const search *s, int param, int64_t value) {
    cupel_binding binding = *s->base;
    binding.params[param] = (double)value;
    return (int64_t)cupel_binding_param(&binding, param);
}

static bool look_up_name(const void *self, const char *name, cupel_scalar_range *out) {
    const search *s = self;
    const cupel_contract *c = s->contract;
    for (int i = 0; i < s->axis_count; i++) {
        const axis *a = &s->axes[i];
        if (strcmp(a->dim >= 0 ? c->dims[a->dim].name : c->params[a->param].name, name) != 0) continue;
        *out = a->dim >= 0
                   ? interval(s->at->lo[i], s->at->hi[i])
                   : interval(param_value(s, a->param, s->at->lo[i]), param_value(s, a->param, s->at->hi[i]));
        return true;
    }
    for (int i = 0; i < s->let_count; i++)
        if (strcmp(c->lets[i].name, name) == 0) {
            *out = s->lets[i];
            return true;
        }
    return false;
}

static bool look_up_sizeof(const void *self, const char *name, int64_t *bytes) {
    const search *s = self;
    const cupel_contract *c = s->contract;
    cupel_dtype type;
    for (int i = 0; i < c->type_count; i++)
        if (strcmp(c->types[i].name, name) == 0) {
            *bytes = (int64_t)cupel_format_of(c->types[i].claimed[s->base->types[i]])->size;
            return true;
        }
    if (!cupel_dtype_parse(name, &type)) return false;
    *bytes = (int64_t)cupel_format_of(type)->size;
    return true;
}

static bool look_up_stride(const void *self, const char *name, int axis, cupel_scalar_range *out);
static bool look_up_size(const void *self, const char *name, cupel_scalar_range *out);

static cupel_scalar_range range_of(const search *s, const cupel_scalar_expr *expr) {
    cupel_scalar_range_env env = {
        s, look_up_name, look_up_stride, look_up_size, look_up_sizeof, s->hint_count, s->hints};
    return cupel_scalar_range_of(expr, &env);
}

/* Elements behind an axis (from 0 on: of the whole tensor). Shapes have no negative extents. least: what an
 * empty axis counts as. */
static cupel_scalar_range elements_behind(const search *s, int tensor, int axis, int64_t least) {
    const cupel_tensor_decl *t = &s->contract->tensors[tensor];
    cupel_scalar_range total = interval(1, 1);
    for (int i = axis; i < t->rank; i++) {
        cupel_scalar_range extent = range_of(s, t->shape[i]);
        if (extent.real) return (cupel_scalar_range){.real = true};
        if (!extent.none)
            extent = interval(extent.lo > least ? extent.lo : least, extent.hi > least ? extent.hi : least);
        total = cupel_scalar_range_product(total, extent);
    }
    return total;
}

static bool look_up_stride(const void *self, const char *name, int axis, cupel_scalar_range *out) {
    const search *s = self;
    int tensor = cupel_contract_tensor(s->contract, name);
    if (tensor < 0 || s->contract->tensors[tensor].layouts) return false;
    int rank = s->contract->tensors[tensor].rank;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return false;
    *out = elements_behind(s, tensor, axis + 1, 1);
    return true;
}

static bool look_up_size(const void *self, const char *name, cupel_scalar_range *out) {
    const search *s = self;
    int tensor = cupel_contract_tensor(s->contract, name);
    if (tensor < 0) return false;
    *out = elements_behind(s, tensor, 0, 0);
    return true;
}

/* ---- what is known in a box ---- */

static void know_lets(search *s) {
    for (s->let_count = 0; s->let_count < s->contract->let_count; s->let_count++)
        s->lets[s->let_count] = range_of(s, s->contract->lets[s->let_count].expr);
}

static void add_hint(search *s, const cupel_scalar_expr *expr, int64_t lo, int64_t hi) {
    if (s->hint_count < HINTS_MAX) s->hints[s->hint_count++] = (cupel_scalar_hint){expr, lo, hi};
}

/* Each side of a comparison that must hold is bounded by the other. */
static void know_hints(search *s) {
    cupel_scalar_hint found[HINTS_MAX];
    int count = 0;
    s->hint_count = 0;
    for (int i = 0; i < s->comparison_count; i++) {
        const comparison *c = &s->comparisons[i];
        cupel_scalar_range a = range_of(s, c->a), b = range_of(s, c->b);
        if (a.none || b.none || a.real || b.real) continue;
        bool strict = c->order == CUPEL_SCALAR_BELOW || c->order == CUPEL_SCALAR_ABOVE;
        bool a_low = c->order <= CUPEL_SCALAR_EQUAL, a_high = c->order >= CUPEL_SCALAR_EQUAL;
        cupel_scalar_hint left = {c->a, INT64_MIN, INT64_MAX}, right = {c->b, INT64_MIN, INT64_MAX};
        if (a_low && b.hi > INT64_MIN) left.hi = b.hi - strict;
        if (a_low && a.lo < INT64_MAX) right.lo = a.lo + strict;
        if (a_high && b.lo < INT64_MAX) left.lo = b.lo + strict;
        if (a_high && a.hi > INT64_MIN) right.hi = a.hi - strict;
        found[count++] = left;
        found[count++] = right;
    }
    for (int i = 0; i < count; i++) add_hint(s, found[i].expr, found[i].lo, found[i].hi);
}

static cupel_scalar_range extents_product(const search *s, cupel_scalar_expr *const *exprs, int rank) {
    cupel_scalar_range total = interval(1, 1);
    for (int i = 0; i < rank; i++) total = cupel_scalar_range_product(total, range_of(s, exprs[i]));
    return total;
}

static cupel_scalar_range extents_least(const search *s, cupel_scalar_expr *const *exprs, int rank) {
    cupel_scalar_range least = interval(1, 1);
    for (int i = 0; i < rank; i++) {
        cupel_scalar_range extent = range_of(s, exprs[i]);
        if (extent.none || extent.real) return extent;
        least = interval(extent.lo < least.lo ? extent.lo : least.lo,
                         extent.hi < least.hi ? extent.hi : least.hi);
    }
    return least;
}

/* Blocks of the grid beyond those that a device keeps resident, which are fewer the larger a block is. Blocks
 * that no device takes count as fine: they are a limit of their own. */
static cupel_scalar_range beyond_residence(const search *s) {
    const cupel_limit_question *q = s->question;
    const cupel_launch *l = s->launch;
    cupel_scalar_range blocks = extents_product(s, l->grid, l->grid_rank),
                       threads = extents_product(s, l->block, l->block_rank),
                       shared = l->shared ? range_of(s, l->shared) : interval(0, 0);
    if (!l->cooperative) return interval(0, 0);
    if (blocks.none || blocks.real) return blocks;
    if (threads.none || threads.real) return threads;
    if (shared.none || shared.real) return shared;
    const int64_t fixed = q->needs.static_shared, most_threads = q->device->threads,
                  most_shared = q->device->shared_optin - fixed;
    if (threads.lo > most_threads || shared.lo > most_shared || blocks.hi < 1) return interval(0, 0);
    if (threads.lo < 1) threads.lo = 1;
    if (threads.hi > most_threads) threads.hi = most_threads;
    if (shared.lo < 0) shared.lo = 0;
    if (shared.hi > most_shared) shared.hi = most_shared;
    const int64_t many = cupel_device_limits_resident(q->device, threads.lo, q->needs.registers,
                                                      shared.lo + fixed),
                  few = cupel_device_limits_resident(q->device, threads.hi, q->needs.registers,
                                                     shared.hi + fixed);
    return interval((blocks.lo < 0 ? 0 : blocks.lo) - many, blocks.hi - few);
}

static cupel_scalar_range quantity(const search *s) {
    const cupel_launch *l = s->launch;
    int axis;
    switch (s->limit) {
    case CUPEL_LIMIT_GRID_EMPTY: return extents_least(s, l->grid, l->grid_rank);
    case CUPEL_LIMIT_BLOCK_EMPTY: return extents_least(s, l->block, l->block_rank);
    case CUPEL_LIMIT_GRID_X:
    case CUPEL_LIMIT_GRID_Y:
    case CUPEL_LIMIT_GRID_Z:
        axis = (int)s->limit - CUPEL_LIMIT_GRID_X;
        return axis < l->grid_rank ? range_of(s, l->grid[axis]) : interval(1, 1);
    case CUPEL_LIMIT_BLOCK_X:
    case CUPEL_LIMIT_BLOCK_Y:
    case CUPEL_LIMIT_BLOCK_Z:
        axis = (int)s->limit - CUPEL_LIMIT_BLOCK_X;
        return axis < l->block_rank ? range_of(s, l->block[axis]) : interval(1, 1);
    case CUPEL_LIMIT_SHARED: return l->shared ? range_of(s, l->shared) : interval(0, 0);
    case CUPEL_LIMIT_RESIDENT: return beyond_residence(s);
    default: return extents_product(s, l->block, l->block_rank);
    }
}

/* The least that all tensors may hold together. */
static int64_t least_bytes(const search *s) {
    int64_t total = 0;
    for (int t = 0; t < s->contract->tensor_count; t++) {
        cupel_scalar_range elements = elements_behind(s, t, 0, 0);
        int64_t size = (int64_t)cupel_format_of(cupel_binding_type(s->base, t))->size, bytes;
        if (elements.none || elements.real) continue;
        if (__builtin_mul_overflow(elements.lo, size, &bytes) || __builtin_add_overflow(total, bytes, &total))
            return INT64_MAX;
    }
    return total;
}

typedef enum verdict { RULED_OUT, TOO_LARGE, OPEN, UNKNOWABLE } verdict;

static verdict look_at(search *s, const box *b) {
    s->at = b;
    s->hint_count = 0;
    know_lets(s);
    know_hints(s);
    know_lets(s);
    for (int i = 0; i < s->contract->require_count; i++)
        if (!cupel_scalar_range_may_hold(range_of(s, s->contract->requires_[i]))) return RULED_OUT;
    for (int i = 0; i < s->contract->let_count; i++)
        if (s->lets[i].none) return RULED_OUT;
    if (s->launch->skip_if) {
        cupel_scalar_range skipped = range_of(s, s->launch->skip_if);
        if (skipped.none || !cupel_scalar_range_may_fail(skipped)) return RULED_OUT;
    }
    cupel_scalar_range value = quantity(s);
    if (value.none) return RULED_OUT;
    if (value.real) return UNKNOWABLE;
    if (value.lo >= s->least && value.hi <= s->most) return RULED_OUT;
    return least_bytes(s) > s->memory ? TOO_LARGE : OPEN;
}

/* ---- single bindings ---- */

typedef enum trial { ILLEGAL, FINE, BROKEN, BROKEN_BEYOND, SHAPELESS } trial;

static int64_t claimed_near(const search *s, const axis *a, int64_t value) {
    if (a->dim >= 0 && a->lo == a->hi) return a->lo;
    if (a->dim >= 0) return cupel_dim_nearest(&s->contract->dims[a->dim], value);
    const cupel_param *p = &s->contract->params[a->param];
    double best = value < a->lo ? (double)a->lo : value > a->hi ? (double)a->hi : (double)value;
    for (int i = 0; i < p->value_count; i++)
        if (i == 0 || fabs(p->values[i] - (double)value) < fabs(best - (double)value)) best = p->values[i];
    return (int64_t)best;
}

static int64_t get(const cupel_binding *binding, const axis *a) {
    return a->dim >= 0 ? binding->dims[a->dim] : (int64_t)binding->params[a->param];
}

static void set(cupel_binding *binding, const axis *a, int64_t value) {
    if (a->dim >= 0)
        binding->dims[a->dim] = value;
    else
        binding->params[a->param] = (double)value;
}

static trial try_binding(const search *s, cupel_binding *binding) {
    if (!cupel_binding_legal(binding) || cupel_binding_complete(binding, NULL) != CUPEL_OK) return ILLEGAL;
    int64_t bytes = cupel_resources_bytes(binding);
    if (bytes < 0) return SHAPELESS;
    if (!cupel_resources_refused(s->question, binding, s->limit, NULL)) return FINE;
    return bytes <= s->memory ? BROKEN : BROKEN_BEYOND;
}

static bool is_break(search *s, cupel_binding *binding) {
    trial result = try_binding(s, binding);
    if (result == BROKEN_BEYOND && !s->beyond) {
        s->beyond = true;
        *s->witness = *binding;
    }
    if (result == BROKEN) *s->witness = *binding;
    return result == BROKEN;
}

/* Conditions that set one dim equal to something are followed. False when that changes nothing. */
static bool follow_equalities(const search *s, cupel_binding *binding) {
    bool changed = false;
    for (int i = 0; i < s->comparison_count; i++) {
        const comparison *c = &s->comparisons[i];
        if (c->order != CUPEL_SCALAR_EQUAL) continue;
        for (int side = 0; side < 2; side++) {
            const char *name = cupel_scalar_plain_name(side ? c->b : c->a);
            int dim = name ? cupel_contract_dim(s->contract, name) : -1;
            cupel_scalar value;
            if (dim < 0 || (s->question->pinned >> dim & 1) ||
                cupel_binding_complete(binding, NULL) != CUPEL_OK ||
                cupel_binding_scalar(binding, side ? c->a : c->b, NULL, &value, NULL) != CUPEL_OK ||
                value.real)
                continue;
            changed = changed || binding->dims[dim] != value.i;
            binding->dims[dim] = value.i;
            break;
        }
    }
    return changed;
}

/* Likely places: lower corner, upper corner and middle, as they are and rounded to powers of two. */
static bool try_box(search *s, const box *b) {
    for (int place = 0; place < 3; place++)
        for (int shift = 0; shift <= FINEST; shift += 4) {
            cupel_binding binding = *s->base;
            for (int i = 0; i < s->axis_count; i++) {
                int64_t lo = b->lo[i], hi = b->hi[i], step = INT64_C(1) << shift;
                bool low = place == 0 || !s->axes[i].relevant;
                int64_t value = low ? lo : place == 1 ? hi : lo + (hi - lo) / 2;
                int64_t rounded = value / step * step + (low && value > 0 && value % step ? step : 0);
                set(&binding, &s->axes[i],
                    claimed_near(s, &s->axes[i], rounded >= lo && rounded <= hi ? rounded : value));
            }
            if (is_break(s, &binding)) return true;
            if (follow_equalities(s, &binding) && is_break(s, &binding)) return true;
        }
    return false;
}

/* ---- smaller witnesses ---- */

static bool still_breaks(const search *s, const cupel_binding *from, const axis *a, int64_t value,
                         cupel_binding *out) {
    *out = *from;
    set(out, a, value);
    if (try_binding(s, out) == BROKEN) return true;
    return follow_equalities(s, out) && try_binding(s, out) == BROKEN;
}

/* The smallest multiple of step at which it still breaks, by bisection: right where breaking is monotone, and
 * in any case a value that was tried. */
static void lower(const search *s, const axis *a, int64_t step, cupel_binding *best) {
    cupel_binding tried;
    int64_t bad = a->lo / step - 1, good = get(best, a) / step;
    while (bad + 1 < good) {
        int64_t middle = bad + (good - bad) / 2, value = claimed_near(s, a, middle * step);
        if (value < get(best, a) && value >= a->lo && still_breaks(s, best, a, value, &tried) &&
            get(&tried, a) <= value) {
            *best = tried;
            good = middle;
        } else {
            bad = middle;
        }
    }
}

static void make_small(const search *s, cupel_binding *best) {
    for (int pass = 0; pass < 3; pass++) {
        cupel_binding before = *best;
        for (int i = 0; i < s->axis_count; i++) {
            cupel_binding tried;
            if (get(best, &s->axes[i]) <= s->axes[i].lo) continue;
            if (still_breaks(s, best, &s->axes[i], s->axes[i].lo, &tried)) {
                *best = tried;
                continue;
            }
            for (int shift = FINEST; shift >= 0; shift--) lower(s, &s->axes[i], INT64_C(1) << shift, best);
        }
        if (memcmp(before.dims, best->dims, sizeof before.dims) == 0 &&
            memcmp(before.params, best->params, sizeof before.params) == 0)
            return;
    }
}

/* ---- what there is to vary ---- */

static void add_comparison(void *self, const cupel_scalar_expr *part) {
    search *s = self;
    comparison c;
    if (s->comparison_count < HINTS_MAX / 2 && cupel_scalar_comparison(part, &c.order, &c.a, &c.b))
        s->comparisons[s->comparison_count++] = c;
}

static cupel_code mark_name(void *self, const char *name, cupel_span place, cupel_error *err) {
    search *s = self;
    (void)place, (void)err;
    for (int i = 0; i < s->axis_count; i++) {
        const axis *a = &s->axes[i];
        const char *own = a->dim >= 0 ? s->contract->dims[a->dim].name : s->contract->params[a->param].name;
        if (strcmp(own, name) == 0) s->axes[i].relevant = true;
    }
    return CUPEL_OK;
}

static cupel_code mark_query(void *self, cupel_scalar_query query, const char *name, cupel_span place,
                             cupel_error *err) {
    search *s = self;
    int tensor = cupel_contract_tensor(s->contract, name);
    (void)place;
    if (query == CUPEL_SCALAR_ASKS_SIZEOF || tensor < 0) return CUPEL_OK;
    for (int i = 0; i < s->contract->tensors[tensor].rank; i++)
        CUPEL_TRY(cupel_scalar_names(s->contract->tensors[tensor].shape[i], mark_name, s, err));
    return CUPEL_OK;
}

static void mark(search *s, const cupel_scalar_expr *expr) {
    if (!expr) return;
    (void)!cupel_scalar_names(expr, mark_name, s, NULL);
    (void)!cupel_scalar_queries(expr, mark_query, s, NULL);
}

static void mark_relevant(search *s) {
    const cupel_launch *l = s->launch;
    bool grid = s->limit <= CUPEL_LIMIT_GRID_Z;
    const bool all = s->limit == CUPEL_LIMIT_RESIDENT;
    if (all || s->limit == CUPEL_LIMIT_SHARED) mark(s, l->shared);
    for (int i = 0; i < l->grid_rank && all; i++) mark(s, l->grid[i]);
    if (s->limit != CUPEL_LIMIT_SHARED)
        for (int i = 0; i < (grid ? l->grid_rank : l->block_rank); i++)
            mark(s, grid ? l->grid[i] : l->block[i]);
    mark(s, l->skip_if);
    for (int i = 0; i < s->contract->require_count; i++) mark(s, s->contract->requires_[i]);
    /* a let that nothing here mentions must still have a value */
    for (int i = 0; i < s->contract->let_count; i++) mark(s, s->contract->lets[i].expr);
}

static void find_axes(search *s) {
    const cupel_contract *c = s->contract;
    for (int i = 0; i < c->dim_count; i++) {
        bool pinned = s->question->pinned >> i & 1;
        s->axes[s->axis_count++] = (axis){.dim = i,
                                          .param = -1,
                                          .lo = pinned ? s->base->dims[i] : c->dims[i].lo,
                                          .hi = pinned ? s->base->dims[i] : c->dims[i].hi};
    }
    for (int i = 0; i < c->param_count; i++) {
        const cupel_param *p = &c->params[i];
        double lo = p->lo, hi = p->hi;
        for (int k = 0; p->kind == CUPEL_PARAM_ONE_OF && k < p->value_count; k++) {
            lo = k == 0 || p->values[k] < lo ? p->values[k] : lo;
            hi = k == 0 || p->values[k] > hi ? p->values[k] : hi;
        }
        if (!p->integral || lo < -0x1p52 || hi > 0x1p52) continue;
        s->axes[s->axis_count++] =
            (axis){.dim = -1, .param = i, .lo = (int64_t)ceil(lo), .hi = (int64_t)floor(hi)};
    }
}

/* ---- the search ---- */

/* Moves the ends of a box onto claimed values; false when it holds none. */
static bool tighten(const search *s, box *b) {
    for (int i = 0; i < s->axis_count; i++) {
        const axis *a = &s->axes[i];
        const cupel_dim *dim = a->dim >= 0 ? &s->contract->dims[a->dim] : NULL;
        if (!dim || dim->value_count == 0) continue;
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (int k = 0; k < dim->value_count; k++) {
            if (dim->values[k] < b->lo[i] || dim->values[k] > b->hi[i]) continue;
            lo = dim->values[k] < lo ? dim->values[k] : lo;
            hi = dim->values[k] > hi ? dim->values[k] : hi;
        }
        if (lo > hi) return false;
        b->lo[i] = lo;
        b->hi[i] = hi;
    }
    return true;
}

static int widest(const search *s, const box *b) {
    int best = -1;
    for (int i = 0; i < s->axis_count; i++)
        if (s->axes[i].relevant && b->hi[i] > b->lo[i] &&
            (best < 0 || b->hi[i] - b->lo[i] > b->hi[best] - b->lo[best]))
            best = i;
    return best;
}

/* Nothing is left to halve: the lower corner is every binding of the box, as far as the limit is concerned.
 */
static void settle(search *s, const box *b) {
    cupel_binding binding = *s->base;
    for (int i = 0; i < s->axis_count; i++)
        set(&binding, &s->axes[i], claimed_near(s, &s->axes[i], b->lo[i]));
    trial result = try_binding(s, &binding);
    s->unproven = s->unproven || result == SHAPELESS;
}

/* True when a break was found. */
static bool explore(search *s, box *stack, int boxes) {
    int count = 0;
    box whole;
    for (int i = 0; i < s->axis_count; i++) {
        whole.lo[i] = s->axes[i].lo;
        whole.hi[i] = s->axes[i].hi;
    }
    stack[count++] = whole;
    for (s->looked = 0; count > 0; s->looked++) {
        box b = stack[--count];
        if (!tighten(s, &b)) continue;
        if (s->looked >= boxes || count + 2 > STACK_MAX) {
            s->unproven = true;
            return false;
        }
        verdict seen = look_at(s, &b);
        if (seen == RULED_OUT) continue;
        if (try_box(s, &b)) return true;
        if (seen == TOO_LARGE) continue;
        int split = widest(s, &b);
        if (seen == UNKNOWABLE) s->unproven = true;
        if (split < 0) settle(s, &b);
        if (split < 0 || seen == UNKNOWABLE) continue;
        box upper = b;
        int64_t middle = b.lo[split] + (b.hi[split] - b.lo[split]) / 2;
        upper.lo[split] = middle + 1;
        b.hi[split] = middle;
        stack[count++] = upper;
        stack[count++] = b;
    }
    return false;
}

cupel_limit_answer cupel_resources_ask(const cupel_limit_question *question, cupel_limit limit,
                                       const cupel_binding *base, int64_t memory, int boxes,
                                       cupel_binding *witness, int *looked) {
    search s = {.question = question,
                .contract = question->contract,
                .launch = &question->contract->launches[question->launch],
                .limit = limit,
                .base = base,
                .memory = memory,
                .witness = witness};
    cupel_resources_bounds(question, limit, &s.least, &s.most);
    find_axes(&s);
    mark_relevant(&s);
    for (int i = 0; i < s.contract->require_count; i++)
        cupel_scalar_conjuncts(s.contract->requires_[i], add_comparison, &s);
    box *stack = malloc(STACK_MAX * sizeof *stack);
    if (!stack) return CUPEL_LIMIT_UNPROVEN;
    bool found = explore(&s, stack, boxes);
    free(stack);
    if (looked) *looked = s.looked;
    if (found) make_small(&s, witness);
    return found        ? CUPEL_LIMIT_BROKEN
           : s.unproven ? CUPEL_LIMIT_UNPROVEN
           : s.beyond   ? CUPEL_LIMIT_BEYOND
                        : CUPEL_LIMIT_HOLDS;
}
