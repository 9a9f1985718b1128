#include "minimiser_passes.h"

#include <math.h>
#include <string.h>

#include "schedule.h"

/* Offers the best recipe with one field changed; EDIT sees the copy as `r`. */
#define CONSIDER_WITH(shrink, EDIT)                                                                          \
    do {                                                                                                     \
        cupel_recipe r = (shrink)->best;                                                                     \
        EDIT;                                                                                                \
        (void)cupel_shrink_consider((shrink), &r);                                                           \
    } while (0)

/* ---- dims ---- */

static bool consider_dim(cupel_shrink *shrink, int dim, int64_t value) {
    const cupel_dim *d = &shrink->contract->dims[dim];
    if (d->variant || value < d->lo || value >= shrink->best.dims[dim]) return false;
    cupel_recipe r = shrink->best;
    r.dims[dim] = value;
    return cupel_shrink_consider(shrink, &r);
}

typedef struct dim_step {
    cupel_shrink *shrink;
    int dim;
    int64_t from, unit;
    bool together; /* every dim of the same size moves along: square shapes, requires like "M == N" */
} dim_step;

static bool lower_by(void *self, int64_t n) {
    const dim_step *step = self;
    cupel_shrink *shrink = step->shrink;
    int64_t value = step->from - n * step->unit;
    if (value >= shrink->best.dims[step->dim]) return true; /* an accepted candidate lies below already */
    if (!step->together) return consider_dim(shrink, step->dim, value);
    cupel_recipe r = shrink->best;
    for (int d = 0; d < shrink->contract->dim_count; d++)
        if (shrink->best.dims[d] == shrink->best.dims[step->dim]) r.dims[d] = value;
    return cupel_shrink_consider(shrink, &r);
}

static void lower_adaptively(cupel_shrink *shrink, int dim, int64_t unit, bool together) {
    dim_step step = {shrink, dim, shrink->best.dims[dim], unit, together};
    int64_t room = (step.from - shrink->contract->dims[dim].lo) / unit;
    if (room > 0) (void)cupel_shrink_find_integer(lower_by, &step, room);
}

/* Values with the same remainder modulo a tile or warp width, and the remainder itself: tails depend on it.
 */
static void lower_to_remainder(cupel_shrink *shrink, int dim) {
    static const int moduli[] = {2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
        int64_t remainder = shrink->best.dims[dim] % moduli[i];
        if (!consider_dim(shrink, dim, remainder)) (void)consider_dim(shrink, dim, remainder + moduli[i]);
    }
}

/* The first values above the low end: most defects fail there, and the scan would reach them anyway. */
static void lower_to_first(cupel_shrink *shrink, int dim) {
    int64_t lo = shrink->contract->dims[dim].lo;
    for (int64_t v = lo; v < lo + 6; v++)
        if (consider_dim(shrink, dim, v)) return;
}

static void lower_dims(cupel_shrink *shrink) {
    static const int units[] = {256, 64, 32, 16, 4, 1};
    for (int d = 0; d < shrink->contract->dim_count; d++) {
        lower_to_first(shrink, d);
        (void)consider_dim(shrink, d, shrink->best.dims[d] / 2);
        lower_to_remainder(shrink, d);
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            lower_adaptively(shrink, d, units[u], false);
    }
}

static void lower_all_dims(cupel_shrink *shrink) {
    CONSIDER_WITH(shrink, for (int d = 0; d < shrink->contract->dim_count; d++) r.dims[d] =
                              shrink->contract->dims[d].lo);
    for (int64_t v = 1; v <= 4; v++)
        CONSIDER_WITH(
            shrink, for (int d = 0; d < shrink->contract->dim_count; d++) {
                int64_t low = shrink->contract->dims[d].lo > v ? shrink->contract->dims[d].lo : v;
                if (r.dims[d] > low) r.dims[d] = low;
            });
}

static void lower_equal_dims(cupel_shrink *shrink) {
    const cupel_contract *contract = shrink->contract;
    for (int d = 0; d < contract->dim_count; d++)
        for (int e = d + 1; e < contract->dim_count; e++) {
            if (shrink->best.dims[d] != shrink->best.dims[e]) continue;
            lower_adaptively(shrink, d, 16, true);
            lower_adaptively(shrink, d, 1, true);
            break;
        }
}

/* requires may tie two dims by a sum or a product ("H * D == 64", "M == N + 1"): lower one while another
 * gives way upwards. */
static void trade_dims(cupel_shrink *shrink) {
    const cupel_contract *contract = shrink->contract;
    for (int d = 0; d < contract->dim_count; d++)
        for (int e = 0; e < contract->dim_count; e++) {
            if (d == e || shrink->best.dims[d] <= contract->dims[d].lo) continue;
            CONSIDER_WITH(shrink, r.dims[d] /= 2; r.dims[e] *= 2);
            CONSIDER_WITH(shrink, r.dims[d] -= 1; r.dims[e] += 1);
            CONSIDER_WITH(shrink, r.dims[d] -= 1; r.dims[e] -= 1);
            CONSIDER_WITH(shrink, r.dims[d] /= 2; r.dims[e] /= 2);
        }
}

/* Every tuning constant at its first value, or one of them at an earlier one. */
static void take_first_variants(cupel_shrink *shrink) {
    const cupel_contract *contract = shrink->contract;
    const int from = contract->dim_count - contract->variant_count;
    if (contract->variant_count == 0) return;
    CONSIDER_WITH(shrink,
                  for (int d = from; d < contract->dim_count; d++) r.dims[d] = contract->dims[d].first);
    for (int d = from; d < contract->dim_count; d++) {
        CONSIDER_WITH(shrink, r.dims[d] = contract->dims[d].first);
        for (int i = 0; i < contract->dims[d].value_count; i++)
            CONSIDER_WITH(shrink, r.dims[d] = contract->dims[d].values[i]);
    }
}

bool cupel_minimiser_scan_dims(cupel_shrink *shrink) {
    for (int d = 0; d < shrink->contract->dim_count; d++)
        for (int64_t v = shrink->contract->dims[d].lo; v < shrink->best.dims[d]; v++) {
            if (cupel_shrink_spent(shrink)) return false;
            if (consider_dim(shrink, d, v)) break; /* the smallest of this dim */
        }
    return true;
}

/* ---- everything that is not a shape ---- */

static void take_simple_values(cupel_shrink *shrink) {
    cupel_recipe simple;
    if (cupel_recipe_simple(shrink->contract, &simple, NULL) != CUPEL_OK) return;
    cupel_recipe r = simple;
    memcpy(r.dims, shrink->best.dims, sizeof r.dims);
    if (cupel_shrink_consider(shrink, &r)) return;
    memcpy(r.types, shrink->best.types, sizeof r.types);
    if (cupel_shrink_consider(shrink, &r)) return;
    memcpy(r.params, shrink->best.params, sizeof r.params);
    (void)cupel_shrink_consider(shrink, &r);
}

static void simplify_types(cupel_shrink *shrink) {
    for (int t = 0; t < shrink->contract->type_count; t++)
        for (int claimed = 0; claimed < shrink->best.types[t]; claimed++)
            CONSIDER_WITH(shrink, r.types[t] = (uint8_t)claimed);
}

static void simplify_params(cupel_shrink *shrink) {
    for (int p = 0; p < shrink->contract->param_count; p++) {
        const cupel_param *param = &shrink->contract->params[p];
        for (int v = 0; v < param->value_count; v++) CONSIDER_WITH(shrink, r.params[p] = param->values[v]);
        if (param->kind != CUPEL_PARAM_RANGE) continue;
        const double tries[] = {0, 1, param->lo, param->hi, trunc(shrink->best.params[p])};
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
            if (tries[i] >= param->lo && tries[i] <= param->hi) CONSIDER_WITH(shrink, r.params[p] = tries[i]);
    }
}

static void remove_specials(cupel_shrink *shrink) {
    CONSIDER_WITH(shrink, for (int t = 0; t < shrink->contract->tensor_count; t++) r.tensors[t].special =
                              CUPEL_SPECIAL_NONE);
    for (int t = 0; t < shrink->contract->tensor_count; t++) {
        if (shrink->best.tensors[t].special == CUPEL_SPECIAL_NONE) continue;
        for (int s = CUPEL_SPECIAL_NONE; s < (int)shrink->best.tensors[t].special; s++)
            CONSIDER_WITH(shrink, r.tensors[t].special = (cupel_special)s);
        for (int p = CUPEL_PLACE_SINGLE; p < (int)shrink->best.tensors[t].placement; p++)
            CONSIDER_WITH(shrink, r.tensors[t].placement = (cupel_placement)p);
    }
}

static void remove_edits(cupel_shrink *shrink) {
    for (int t = 0; t < shrink->contract->tensor_count; t++) {
        if (shrink->best.tensors[t].edit_count == 0) continue;
        CONSIDER_WITH(shrink, r.tensors[t].edit_count = 0);
        for (int e = shrink->best.tensors[t].edit_count - 1; e >= 0; e--)
            CONSIDER_WITH(shrink, {
                cupel_tensor_recipe *tensor = &r.tensors[t];
                if (e >= tensor->edit_count) continue;
                memmove(&tensor->edits[e], &tensor->edits[e + 1],
                        (size_t)(tensor->edit_count - e - 1) * sizeof *tensor->edits);
                tensor->edits[--tensor->edit_count] = (cupel_edit){0};
            });
    }
}

static void simplify_edits(cupel_shrink *shrink) {
    for (int t = 0; t < shrink->contract->tensor_count; t++)
        for (int e = 0; e < shrink->best.tensors[t].edit_count; e++) {
            CONSIDER_WITH(shrink, r.tensors[t].edits[e].index = 0);
            CONSIDER_WITH(shrink, r.tensors[t].edits[e].index /= 2);
            CONSIDER_WITH(shrink, r.tensors[t].edits[e].bits = 0);
        }
}

static void simplify_patterns(cupel_shrink *shrink) {
    for (int t = 0; t < shrink->contract->tensor_count; t++) {
        for (int p = CUPEL_PATTERN_ZERO; p < (int)shrink->best.tensors[t].pattern; p++) {
            CONSIDER_WITH(shrink, r.tensors[t].pattern = (cupel_pattern)p);
            CONSIDER_WITH(shrink, r.tensors[t].pattern = (cupel_pattern)p; r.tensors[t].amplitude = 1;
                          r.tensors[t].centre = 0);
        }
    }
}

static void simplify_amplitudes(cupel_shrink *shrink) {
    static const double amplitudes[] = {1, 2, 4, 16, 100, 1000, 10000};
    for (int t = 0; t < shrink->contract->tensor_count; t++) {
        const cupel_tensor_recipe *tensor = &shrink->best.tensors[t];
        CONSIDER_WITH(shrink, r.tensors[t].centre = 0);
        CONSIDER_WITH(shrink, r.tensors[t].centre = trunc(tensor->centre));
        for (size_t a = 0; a < sizeof amplitudes / sizeof *amplitudes; a++)
            CONSIDER_WITH(shrink, r.tensors[t].amplitude = amplitudes[a]);
        CONSIDER_WITH(shrink, r.tensors[t].amplitude = trunc(tensor->amplitude));
        CONSIDER_WITH(shrink, r.tensors[t].amplitude = tensor->amplitude / 2);
    }
}

static void simplify_layouts(cupel_shrink *shrink) {
    cupel_recipe simple;
    if (cupel_recipe_simple(shrink->contract, &simple, NULL) != CUPEL_OK) return;
    CONSIDER_WITH(shrink, for (int t = 0; t < shrink->contract->tensor_count; t++) r.tensors[t].layout =
                              simple.tensors[t].layout);
    for (int t = 0; t < shrink->contract->tensor_count; t++) {
        const cupel_layout *plain = &simple.tensors[t].layout;
        CONSIDER_WITH(shrink, r.tensors[t].layout = *plain);
        CONSIDER_WITH(shrink, memcpy(r.tensors[t].layout.order, plain->order, sizeof plain->order));
        CONSIDER_WITH(shrink, memcpy(r.tensors[t].layout.gap, plain->gap, sizeof plain->gap));
        CONSIDER_WITH(shrink, r.tensors[t].layout.step = plain->step);
        CONSIDER_WITH(shrink, r.tensors[t].layout.reversed = 0);
        CONSIDER_WITH(shrink, r.tensors[t].layout.expanded = 0);
        CONSIDER_WITH(shrink, r.tensors[t].layout.offset = 0);
        for (uint16_t offset = 1; offset < 4; offset++)
            CONSIDER_WITH(shrink, r.tensors[t].layout.offset = offset);
    }
}

static void simplify_permutation(cupel_shrink *shrink) {
    enum { NAMED = 4 };
    for (uint32_t p = 0; p <= NAMED && p < shrink->best.permutation; p++)
        CONSIDER_WITH(shrink, r.permutation = p);
}

/* Simpler kinds of earlier calls, and fewer of them. */
static void simplify_history(cupel_shrink *shrink) {
    for (int history = CUPEL_HISTORY_NONE; history <= (int)shrink->best.history; history++)
        for (int calls = 1; calls <= cupel_recipe_calls(&shrink->best); calls++) {
            if (history == CUPEL_HISTORY_NONE && calls > 1) break;
            if (history == (int)shrink->best.history && calls == cupel_recipe_calls(&shrink->best)) break;
            CONSIDER_WITH(shrink, r.history = (cupel_history)history; r.calls = (uint8_t)calls);
        }
}

static void simplify_run_options(cupel_shrink *shrink) {
    CONSIDER_WITH(shrink, r.aliases = 0);
    for (int i = 0; i < shrink->contract->alias_count; i++) CONSIDER_WITH(shrink, r.aliases &= ~(1u << i));
    CONSIDER_WITH(shrink, r.poison = 0);
    CONSIDER_WITH(shrink, r.poison = 3); /* the simplest of those with numbers that no maximum loses, */
    CONSIDER_WITH(shrink, r.poison = 7); /* and no minimum (cupel_poison_of), */
    CONSIDER_WITH(shrink, r.poison = 6); /* and of the other build (cupel_recipe_fuses) */
    simplify_history(shrink);
}

/* ---- the schedule: simpler ways first, then fewer switches, then small seeds ---- */

enum { SCHEDULE_SEEDS = 4 };

static bool consider_schedule(cupel_shrink *shrink, cupel_schedule schedule) {
    cupel_recipe r = shrink->best;
    r.schedule = cupel_schedule_pack(schedule);
    if (cupel_schedule_compare(r.schedule, shrink->best.schedule) >= 0) return false;
    return cupel_shrink_consider(shrink, &r);
}

static bool take_simpler_way(cupel_shrink *shrink) {
    cupel_schedule best = cupel_schedule_unpack(shrink->best.schedule);
    for (cupel_schedule s = {.way = CUPEL_SCHEDULE_CANONICAL}; s.way <= best.way; s.way++) {
        bool seeded = s.way >= CUPEL_SCHEDULE_IN_TURN;
        for (s.seed = seeded; s.seed <= (seeded ? SCHEDULE_SEEDS : 0); s.seed++)
            if (consider_schedule(shrink, s)) return true;
        if (seeded && s.way < best.way) {
            s.seed = best.seed;
            if (consider_schedule(shrink, s)) return true;
        }
    }
    return false;
}

/* More switches show what fewer show, mostly: the fewest by bisection, 1 at least. */
static void lower_switches(cupel_shrink *shrink) {
    enum { SWITCHES_MAX = 1 << 20 };
    cupel_schedule schedule = cupel_schedule_unpack(shrink->best.schedule);
    if (schedule.way != CUPEL_SCHEDULE_RANDOM) return;
    uint32_t works = schedule.limit ? schedule.limit : SWITCHES_MAX, fails = 0;
    while (works - fails > 1) {
        schedule.limit = fails + (works - fails) / 2;
        if (consider_schedule(shrink, schedule))
            works = schedule.limit;
        else
            fails = schedule.limit;
    }
}

static void simplify_schedule(cupel_shrink *shrink) {
    if (shrink->best.schedule == 0) return;
    (void)take_simpler_way(shrink);
    lower_switches(shrink);
    cupel_schedule schedule = cupel_schedule_unpack(shrink->best.schedule);
    for (schedule.seed = 1; schedule.way == CUPEL_SCHEDULE_RANDOM && schedule.seed <= SCHEDULE_SEEDS;
         schedule.seed++)
        if (consider_schedule(shrink, schedule)) break;
}

static void simplify_seeds(cupel_shrink *shrink) {
    for (int t = 0; t < shrink->contract->tensor_count; t++)
        for (uint32_t seed = 0; seed < 4; seed++) {
            if (shrink->best.tensors[t].special != CUPEL_SPECIAL_NONE)
                CONSIDER_WITH(shrink, r.tensors[t].special_seed = seed);
            CONSIDER_WITH(shrink, r.tensors[t].seed = seed);
        }
}

/* With small seeds for every tensor at once a smaller shape often fails again. */
static void lower_dims_with_seeds(cupel_shrink *shrink) {
    for (int d = 0; d < shrink->contract->dim_count; d++)
        for (uint32_t seed = 0; seed < 5; seed++)
            for (int64_t v = shrink->contract->dims[d].lo; v < shrink->contract->dims[d].lo + 4; v++) {
                if (v >= shrink->best.dims[d]) break;
                CONSIDER_WITH(shrink, {
                    r.dims[d] = v;
                    for (int t = 0; t < shrink->contract->tensor_count; t++)
                        r.tensors[t].seed = r.tensors[t].special_seed = seed;
                });
            }
}

/* ---- values out of the failing case, so that they no longer hang on a seed and a shape ---- */

static bool is_input(const cupel_shrink *shrink, int t) {
    return (shrink->contract->tensors[t].roles & CUPEL_ROLE_INPUT) != 0;
}

/* Every input constant at once, and one input at a time, in the shape of r. */
static void consider_constants(cupel_shrink *shrink, const cupel_recipe *shape) {
    for (int taken = 0; taken < CUPEL_TAKEN_COUNT; taken++)
        for (int t = -1; t < shrink->contract->tensor_count; t++) {
            cupel_recipe r = *shape;
            if (t >= 0 && (!is_input(shrink, t) || shape->tensors[t].pattern <= CUPEL_PATTERN_ONE)) continue;
            if (cupel_shrink_make_constant(shrink, (cupel_taken)taken, t, &r))
                (void)cupel_shrink_consider(shrink, &r);
        }
}

static void take_constants(cupel_shrink *shrink) {
    cupel_recipe shape = shrink->best;
    consider_constants(shrink, &shape);
}

/* A finite value where a special one stands: what overflows often shows the same with a large number. */
static void replace_specials(cupel_shrink *shrink) {
    if (!(cupel_recipe_traits(shrink->contract, &shrink->best) & CUPEL_TRAIT_SPECIAL)) return;
    for (int i = 0; i < CUPEL_FINITE_COUNT; i++)
        for (int whole = 1; whole >= 0; whole--) {
            cupel_recipe r = shrink->best;
            if (cupel_shrink_replace_specials(shrink, cupel_finite_values[i], whole, &r))
                (void)cupel_shrink_consider(shrink, &r);
        }
}

/* Edited elements by small integers of some seed. */
static void replace_edits(cupel_shrink *shrink) {
    for (int t = 0; t < shrink->contract->tensor_count; t++)
        for (uint32_t seed = 0; seed < 8 && shrink->best.tensors[t].edit_count > 0; seed++)
            CONSIDER_WITH(shrink, r.tensors[t] = ((cupel_tensor_recipe){.pattern = CUPEL_PATTERN_INTEGERS,
                                                                        .seed = seed,
                                                                        .amplitude = 1,
                                                                        .layout = r.tensors[t].layout}));
}

/* Which part of an axis that becomes shorter is kept: its start, its end, or the part that ends or begins
 * with the failing element. */
typedef enum window { WINDOW_START, WINDOW_END, WINDOW_BEFORE, WINDOW_FROM, WINDOW_COUNT } window;

typedef struct shorter {
    const cupel_case *from;
    cupel_binding to;
    int output;                    /* the tensor that failed; -1: not known */
    int64_t place[CUPEL_RANK_MAX]; /* of the failing element in it */
    window keep;
} shorter;

static bool shorter_open(cupel_shrink *shrink, const cupel_recipe *r, shorter *s) {
    s->from = cupel_shrink_case(shrink);
    if (!s->from || cupel_recipe_binding(shrink->contract, r, &s->to, NULL) != CUPEL_OK) return false;
    s->output = cupel_contract_tensor(shrink->contract, shrink->finding.output_name);
    int64_t index = shrink->finding.index;
    if (s->output < 0 || index < 0 || index >= s->from->tensors[s->output].count) index = 0, s->output = -1;
    const cupel_case_tensor *output = s->output >= 0 ? &s->from->tensors[s->output] : NULL;
    for (int axis = output ? output->rank - 1 : -1; axis >= 0; axis--) {
        s->place[axis] = index % output->shape[axis];
        index /= output->shape[axis];
    }
    return true;
}

/* Where an axis of extent `before` begins that is cut to `after`. The failing element's place is known where
 * an axis of its tensor is cut in the same way. */
static int64_t window_begin(const shorter *s, int64_t before, int64_t after) {
    if (s->keep == WINDOW_START || after >= before) return 0;
    if (s->keep == WINDOW_END || s->output < 0) return before - after;
    const cupel_case_tensor *output = &s->from->tensors[s->output];
    int64_t shape[CUPEL_RANK_MAX], count;
    if (cupel_binding_shape(&s->to, s->output, shape, &count, NULL) != CUPEL_OK) return 0;
    for (int axis = 0; axis < output->rank; axis++) {
        if (output->shape[axis] != before || shape[axis] != after) continue;
        int64_t begin = s->keep == WINDOW_FROM ? s->place[axis] : s->place[axis] - after + 1;
        return begin < 0 ? 0 : begin > before - after ? before - after : begin;
    }
    return 0;
}

/* Writes what a tensor holds in the window as edits. False when there is nothing to copy or too much. */
static bool copy_values(const shorter *s, int t, cupel_tensor_recipe *tensor) {
    const cupel_case_tensor *from = &s->from->tensors[t];
    int64_t shape[CUPEL_RANK_MAX], count, begin[CUPEL_RANK_MAX];
    size_t size = cupel_format_of(from->type)->size;
    if (cupel_binding_shape(&s->to, t, shape, &count, NULL) != CUPEL_OK || count < 1 || !from->values ||
        count > CUPEL_EDIT_MAX)
        return false;
    for (int axis = 0; axis < from->rank; axis++) {
        if (shape[axis] > from->shape[axis]) return false;
        begin[axis] = window_begin(s, from->shape[axis], shape[axis]);
    }
    *tensor = (cupel_tensor_recipe){.layout = tensor->layout, .edit_count = (int)count};
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, at = 0, weight = 1;
        for (int axis = from->rank - 1; axis >= 0; axis--) {
            at += (begin[axis] + rest % shape[axis]) * weight;
            weight *= from->shape[axis];
            rest /= shape[axis];
        }
        tensor->edits[i] = (cupel_edit){.index = i};
        memcpy(&tensor->edits[i].bits, (const unsigned char *)from->values + (size_t)at * size, size);
    }
    return true;
}

static bool consider_copy(cupel_shrink *shrink, int dim, int64_t value, window keep) {
    shorter s = {.keep = keep};
    cupel_recipe r = shrink->best;
    r.dims[dim] = value;
    if (!cupel_shrink_repair(shrink->contract, &r) || r.dims[dim] != value || !shorter_open(shrink, &r, &s))
        return false;
    bool any = false;
    for (int t = 0; t < shrink->contract->tensor_count; t++)
        if (is_input(shrink, t) && copy_values(&s, t, &r.tensors[t])) any = true;
    return any && cupel_shrink_consider(shrink, &r);
}

/* A shorter dim together with the values that made the element fail. */
static void lower_dims_with_values(cupel_shrink *shrink) {
    for (int d = 0; d < shrink->contract->dim_count; d++) {
        int64_t lo = shrink->contract->dims[d].lo, top = shrink->best.dims[d];
        const int64_t tries[] = {lo, lo + 1, lo + 2, top / 2, top - 1};
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
            if (tries[i] < lo || tries[i] >= shrink->best.dims[d]) continue;
            for (int keep = 0; keep < WINDOW_COUNT; keep++)
                if (consider_copy(shrink, d, tries[i], (window)keep)) break;
            if (tries[i] >= shrink->best.dims[d]) continue;
            cupel_recipe r = shrink->best;
            r.dims[d] = tries[i];
            consider_constants(shrink, &r);
        }
    }
}

/* Cheap and large steps first; the driver reorders by what each achieves. */
static const cupel_minimiser_pass passes[] = {
    {"schedule simple", simplify_schedule},
    {"order natural", simplify_permutation},
    {"simple values", take_simple_values},
    {"first variants", take_first_variants},
    {"all dims down", lower_all_dims},
    {"dims down", lower_dims},
    {"specials off", remove_specials},
    {"specials finite", replace_specials},
    {"layouts contiguous", simplify_layouts},
    {"types to base", simplify_types},
    {"edits off", remove_edits},
    {"patterns simpler", simplify_patterns},
    {"values constant", take_constants},
    {"run options plain", simplify_run_options},
    {"params simple", simplify_params},
    {"amplitudes simple", simplify_amplitudes},
    {"equal dims down", lower_equal_dims},
    {"dims traded", trade_dims},
    {"edits simpler", simplify_edits},
    {"edits to integers", replace_edits},
    {"seeds small", simplify_seeds},
    {"dims down with new seeds", lower_dims_with_seeds},
    {"dims down with the failing values", lower_dims_with_values},
};

const cupel_minimiser_pass *cupel_minimiser_passes(size_t *count) {
    *count = sizeof passes / sizeof *passes;
    return passes;
}
