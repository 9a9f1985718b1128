#include "region.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "philox.h"
#include "region_law.h"
#include "region_probe.h"

enum {
    SWEEP_MIN = 40,
    SWEEP_MAX = 320,
    SAMPLES_BELOW = 12,
    SAMPLES_ABOVE = 8,
    SAMPLED_REACH = 4096, /* above this only what the minimal case itself needs is tried */
    JOINT_SAMPLES = 24,
    CHECKED_SHAPES = 6
};

typedef struct sweep {
    int dim;
    bool known;   /* enough was tried for law to mean something */
    bool tied;    /* other dims moved with it */
    int count;    /* values tried, from the minimum up */
    int below;    /* further values tried below, */
    int above;    /* and above */
    int moves;    /* shapes tried away from the minimal one */
    bool near;    /* a sample above contradicts the law: it is one of the swept values alone */
    bool but_not; /* law goes on and on, yet holds_at does not fail */
    int64_t holds_at;
    cupel_law law;
    cupel_region_outcome outcomes[CUPEL_REGION_ROOM];
} sweep;

typedef struct region {
    cupel_shrink *shrink;
    bool smaller_tried, any_values, joint;
    cupel_filling filling;
    int draws;
    int moved[CUPEL_DIM_MAX]; /* shapes of the sweep at work that moved another dim too */
    uint32_t samples;         /* drawn so far */
    int sweep_count;
    sweep sweeps[CUPEL_DIM_MAX];
} region;

static int64_t least(const region *r, const sweep *s) {
    return r->shrink->best.dims[s->dim];
}

/* ---- one dim ---- */

/* The minimal case with another value of the dim. Where the contract ties dims, others give way, or all that
 * are equal in the minimal case move together. */
static bool with_value(const cupel_shrink *shrink, int dim, int64_t value, bool together, cupel_recipe *r) {
    *r = shrink->best;
    if (value > shrink->contract->dims[dim].hi || value < shrink->contract->dims[dim].lo) return false;
    for (int d = 0; d < shrink->contract->dim_count; d++)
        if (d == dim || (together && !shrink->contract->dims[d].variant &&
                         shrink->best.dims[d] == shrink->best.dims[dim]))
            r->dims[d] = value;
    return cupel_shrink_repair(shrink->contract, r) && r->dims[dim] == value;
}

static bool shape_at(const region *r, int dim, int64_t value, cupel_recipe *shape) {
    return with_value(r->shrink, dim, value, false, shape) || with_value(r->shrink, dim, value, true, shape);
}

static cupel_region_outcome try_value(region *r, sweep *s, int64_t value) {
    cupel_recipe shape;
    if (!shape_at(r, s->dim, value, &shape)) return CUPEL_REGION_UNKNOWN;
    s->moves++;
    for (int d = 0; d < r->shrink->contract->dim_count; d++)
        r->moved[d] += shape.dims[d] != r->shrink->best.dims[d];
    return cupel_probe_try(r->shrink, &shape, r->filling, r->draws);
}

static int count_of(const sweep *s, cupel_region_outcome wanted) {
    int n = 0;
    for (int i = 0; i < s->count; i++) n += s->outcomes[i] == wanted;
    return n;
}

static bool can_go_on(const region *r, const sweep *s) {
    return s->count < CUPEL_REGION_ROOM && least(r, s) + s->count <= r->shrink->contract->dims[s->dim].hi &&
           !cupel_shrink_spent(r->shrink);
}

static void sweep_to(region *r, sweep *s, int wanted) {
    while (s->count < wanted && can_go_on(r, s)) {
        cupel_region_outcome outcome = try_value(r, s, least(r, s) + s->count);
        if (cupel_shrink_spent(r->shrink) && outcome == CUPEL_REGION_UNKNOWN) return; /* not tried */
        s->outcomes[s->count++] = outcome;
    }
}

/* Where everything near the minimum fails: a tile, warp or vector width, at which tails vanish. */
static int64_t find_holding_value(region *r, sweep *s) {
    for (int64_t value = 2; value <= SAMPLED_REACH && !cupel_shrink_spent(r->shrink); value *= 2) {
        if (value < least(r, s) + s->count) continue;
        cupel_region_outcome outcome = try_value(r, s, value);
        s->above += outcome != CUPEL_REGION_UNKNOWN;
        if (outcome == CUPEL_REGION_HOLDS) return value;
    }
    return 0;
}

/* Far enough to see a period twice: the second failing value sets the pace, or else the first that holds. */
static void sweep_values(region *r, sweep *s) {
    s->outcomes[0] = CUPEL_REGION_FAILS;
    s->count = 1;
    for (int second = 0; s->count < SWEEP_MAX && !second && can_go_on(r, s);) {
        sweep_to(r, s, s->count + 1);
        if (s->outcomes[s->count - 1] == CUPEL_REGION_FAILS) second = s->count - 1;
        int enough = second * 2 + second / 2 + 2;
        if (second) sweep_to(r, s, enough < SWEEP_MIN ? SWEEP_MIN : enough < SWEEP_MAX ? enough : SWEEP_MAX);
    }
    if (count_of(s, CUPEL_REGION_HOLDS) > 0) {
        int hold = 0; /* as far again behind the first value that holds: a tile's width and its repetition */
        while (s->outcomes[hold] != CUPEL_REGION_HOLDS) hold++;
        if (hold * 2 + 4 <= SWEEP_MAX) sweep_to(r, s, hold * 2 + 4);
        return;
    }
    s->holds_at = find_holding_value(r, s);
    int64_t twice = (s->holds_at - least(r, s)) * 2 + 4;
    if (s->holds_at && twice <= CUPEL_REGION_ROOM) sweep_to(r, s, (int)twice);
    s->but_not = s->holds_at && count_of(s, CUPEL_REGION_HOLDS) == 0;
}

/* What the law says of a value that it does not come from. False: it is wrong about it. */
static bool law_holds_at(region *r, sweep *s, int64_t value, int *tried) {
    cupel_region_outcome said = cupel_law_predict(&s->law, value), seen = try_value(r, s, value);
    *tried += seen != CUPEL_REGION_UNKNOWN;
    return seen == CUPEL_REGION_UNKNOWN || said == CUPEL_REGION_UNKNOWN || seen == said;
}

static bool is_right_below(region *r, sweep *s) {
    int64_t first = least(r, s), lo = r->shrink->contract->dims[s->dim].lo;
    int64_t samples[SAMPLES_BELOW] = {first - s->law.period, first - 1, first - 2, lo, lo + 1};
    for (int i = 5; i < SAMPLES_BELOW; i++) samples[i] = first - 1 - ((first - lo) >> (i - 4));
    for (int i = 0; i < SAMPLES_BELOW; i++) {
        bool again = samples[i] < lo || samples[i] >= first;
        for (int k = 0; k < i && !again; k++) again = samples[k] == samples[i];
        if (!again && !law_holds_at(r, s, samples[i], &s->below)) return false;
    }
    return true;
}

static uint64_t draw(region *r, uint64_t bound) {
    return cupel_philox(UINT64_C(0x73616d70), 0, r->samples++) % bound;
}

/* Values beyond the swept ones, most of them near. */
static bool is_right_above(region *r, sweep *s) {
    int64_t from = least(r, s) + s->count, hi = r->shrink->contract->dims[s->dim].hi;
    int64_t reach = from > SAMPLED_REACH / 2 ? from * 2 : SAMPLED_REACH;
    if (reach > hi) reach = hi;
    for (int i = 0; i < SAMPLES_ABOVE && from <= reach && !s->but_not; i++) {
        int64_t width = (reach - from + 1) >> (i % 4 * 2);
        int64_t value = from + (int64_t)draw(r, width > 0 ? (uint64_t)width : 1);
        if (!law_holds_at(r, s, value, &s->above)) return false;
    }
    return true;
}

static void fit(const region *r, sweep *s) {
    cupel_law_fit(r->shrink->contract->dims[s->dim].lo, least(r, s), s->outcomes, s->count, &s->law);
}

/* What is seen, when no law stands. */
static void give_up_law(sweep *s, int64_t first) {
    s->law.kind = CUPEL_LAW_LISTED;
    s->law.listed = 0;
    s->law.more = true; /* elsewhere, as samples showed, or not */
    for (int i = 0; i < s->count && s->law.listed < CUPEL_REGION_LISTED; i++)
        if (s->outcomes[i] == CUPEL_REGION_FAILS) s->law.list[s->law.listed++] = first + i;
}

static void sweep_dim(region *r, sweep *s, int dim) {
    memset(s, 0, sizeof *s);
    memset(r->moved, 0, sizeof r->moved);
    s->dim = dim;
    sweep_values(r, s);
    fit(r, s);
    bool whole = least(r, s) + s->count > r->shrink->contract->dims[dim].hi;
    s->known = s->count >= (SWEEP_MIN / 2) || whole;
    if (s->law.kind == CUPEL_LAW_LISTED) return;
    if (is_right_below(r, s))
        s->near = !is_right_above(r, s);
    else
        give_up_law(s, least(r, s));
}

/* Dims by how far the minimal case stands above their low end: the farthest tells most. */
static int next_dim(const cupel_shrink *shrink, const bool *done) {
    const cupel_contract *contract = shrink->contract;
    int telling = -1;
    int64_t above = -1;
    for (int d = 0; d < contract->dim_count; d++) {
        int64_t distance = shrink->best.dims[d] - contract->dims[d].lo;
        if (done[d] || contract->dims[d].variant || contract->dims[d].lo == contract->dims[d].hi ||
            distance <= above)
            continue;
        above = distance;
        telling = d;
    }
    return telling;
}

static void sweep_dims(region *r) {
    bool done[CUPEL_DIM_MAX] = {false};
    r->sweep_count = 0;
    for (int dim; (dim = next_dim(r->shrink, done)) >= 0;) {
        sweep *s = &r->sweeps[r->sweep_count++];
        sweep_dim(r, s, dim);
        done[dim] = true;
        for (int d = 0; d < r->shrink->contract->dim_count; d++)
            if (s->moves > 0 && d != dim && r->moved[d] == s->moves) s->tied = done[d] = true;
    }
}

/* ---- all dims together, and other values ---- */

/* A value of the dim of which the law says so; false when none is near. */
static bool draw_value(region *r, const sweep *s, cupel_region_outcome wanted, int64_t *value) {
    const cupel_dim *dim = &r->shrink->contract->dims[s->dim];
    for (int i = 0; i < 64; i++) {
        *value = dim->lo + (int64_t)draw(r, (uint64_t)(least(r, s) - dim->lo + s->count));
        if (i < 16) *value = least(r, s) + (int64_t)draw(r, (uint64_t)s->count);
        if (i % 2 && s->law.kind == CUPEL_LAW_RESIDUES && wanted == CUPEL_REGION_FAILS)
            *value = s->law.from + s->law.period * (int64_t)draw(r, (uint64_t)(s->count / s->law.period + 1));
        if (*value <= dim->hi && cupel_law_predict(&s->law, *value) == wanted) return true;
    }
    return false;
}

/* A shape at which every law says fails (`against` negative), or every one but that of one sweep. */
static bool draw_shape(region *r, int against, cupel_recipe *shape) {
    *shape = r->shrink->best;
    int64_t wanted[CUPEL_DIM_MAX];
    for (int i = 0; i < r->sweep_count; i++) {
        const sweep *s = &r->sweeps[i];
        cupel_region_outcome outcome = i == against ? CUPEL_REGION_HOLDS : CUPEL_REGION_FAILS;
        if (!draw_value(r, s, outcome, &wanted[i])) return false;
        if (s->tied) { /* what moves with it moves as it did in the sweep */
            if (r->sweep_count > 1) return false;
            return shape_at(r, s->dim, wanted[i], shape);
        }
        shape->dims[s->dim] = wanted[i];
    }
    if (!cupel_shrink_repair(r->shrink->contract, shape)) return false;
    for (int i = 0; i < r->sweep_count; i++)
        if (shape->dims[r->sweeps[i].dim] != wanted[i]) return false;
    return true;
}

/* Does it fail by all laws together? */
static cupel_region_outcome predict(const region *r, const int64_t *dims) {
    for (int i = 0; i < r->sweep_count; i++)
        if (cupel_law_predict(&r->sweeps[i].law, dims[r->sweeps[i].dim]) != CUPEL_REGION_FAILS)
            return CUPEL_REGION_HOLDS;
    return CUPEL_REGION_FAILS;
}

/* Is it beyond what a law speaks of? */
static bool is_far(const region *r, const int64_t *dims) {
    for (int i = 0; i < r->sweep_count; i++)
        if (r->sweeps[i].near && dims[r->sweeps[i].dim] >= least(r, &r->sweeps[i]) + r->sweeps[i].count)
            return true;
    return false;
}

/* Shapes that failed on the way to the minimal case, if with other values. */
static bool history_agrees(const region *r) {
    for (int i = 0; i < r->shrink->failed_count && r->any_values; i++)
        if (!is_far(r, r->shrink->failed[i]) && predict(r, r->shrink->failed[i]) != CUPEL_REGION_FAILS)
            return false;
    return true;
}

/* Any shape not far away. */
static bool draw_any(region *r, cupel_recipe *shape) {
    *shape = r->shrink->best;
    for (int i = 0; i < r->sweep_count; i++) {
        const sweep *s = &r->sweeps[i];
        int64_t lo = r->shrink->contract->dims[s->dim].lo;
        shape->dims[s->dim] = lo + (int64_t)draw(r, (uint64_t)(least(r, s) - lo + s->count));
    }
    return cupel_shrink_repair(r->shrink->contract, shape);
}

/* Do the laws of several dims hold together, away from the lines on which each was learnt? */
static bool laws_hold_together(region *r) {
    int right = 0;
    if (r->sweep_count < 2) return true; /* one sweep cannot contradict itself */
    for (int i = 0; i < r->sweep_count; i++)
        if (!r->sweeps[i].known || r->sweeps[i].law.kind == CUPEL_LAW_LISTED) return false;
    if (!history_agrees(r)) return false;
    for (int i = 0; i < JOINT_SAMPLES; i++) {
        int against = i % 2 ? i / 2 % r->sweep_count : -1;
        cupel_recipe shape;
        if (i % 3 == 2 ? !draw_any(r, &shape) : !draw_shape(r, against, &shape)) continue;
        cupel_region_outcome seen = cupel_probe_try(r->shrink, &shape, r->filling, r->draws);
        if (seen == CUPEL_REGION_UNKNOWN) continue;
        if (seen != predict(r, shape.dims)) return false;
        right++;
    }
    return right >= JOINT_SAMPLES / 4;
}

/* Every kind of values must do the same at a shape. */
static bool values_agree_at(region *r, const cupel_recipe *shape, cupel_region_outcome said) {
    for (int filling = CUPEL_FILLING_OWN; filling < CUPEL_FILLING_COUNT; filling++) {
        if (filling == CUPEL_FILLING_FRESH) continue;
        cupel_region_outcome seen = cupel_probe_try(r->shrink, shape, (cupel_filling)filling, 1);
        if (seen != said) return false; /* not tried: not known */
    }
    return true;
}

/* "Any values" is for where they agree at shapes that fail and at shapes that hold. */
static bool values_agree(region *r) {
    for (int i = 0; i < CHECKED_SHAPES; i++) {
        int against = i % 2 ? i / 2 % r->sweep_count : -1;
        cupel_recipe shape = r->shrink->best;
        int64_t value = 0;
        const sweep *s = &r->sweeps[against < 0 ? i / 2 % r->sweep_count : against];
        cupel_region_outcome said = against < 0 ? CUPEL_REGION_FAILS : CUPEL_REGION_HOLDS;
        if (!draw_value(r, s, said, &value) || !shape_at(r, s->dim, value, &shape)) continue;
        if (!values_agree_at(r, &shape, said)) return false;
    }
    return true;
}

/* ---- words ---- */

typedef struct words {
    char *text;
    size_t size, used;
} words;

static void add(words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(words *w, const char *format, ...) {
    va_list arguments;
    if (w->used >= w->size) return;
    va_start(arguments, format);
    int written = vsnprintf(w->text + w->used, w->size - w->used, format, arguments);
    va_end(arguments);
    if (written > 0) w->used += (size_t)written;
}

static const char *name_of(const region *r, int dim) {
    return r->shrink->contract->dims[dim].name;
}

/* "at M = 4, N <= 258 ": dims of which nothing is said, and how far what is said of others reaches; spoken:
 * the one sweep that is spoken of, or -1 for all. */
static void add_place(const region *r, int spoken, words *w) {
    bool any = false;
    for (int i = 0; i < r->sweep_count; i++) {
        const sweep *s = &r->sweeps[i];
        bool told = spoken < 0 || i == spoken;
        if (told && !s->near) continue;
        add(w, "%s%s %s %lld", any ? ", " : "at ", name_of(r, s->dim), told ? "<=" : "=",
            (long long)(told ? least(r, s) + s->count - 1 : least(r, s)));
        any = true;
    }
    if (any) add(w, " ");
}

static void add_tried(const region *r, int spoken, words *w) {
    add(w, " (");
    for (int i = 0, listed = 0; i < r->sweep_count; i++) {
        const sweep *s = &r->sweeps[i];
        if (spoken >= 0 && i != spoken) continue;
        int64_t first = r->smaller_tried ? r->shrink->contract->dims[s->dim].lo : least(r, s);
        int below = r->smaller_tried ? 0 : s->below;
        add(w, "%s%s = %lld", listed++ ? "; " : "", name_of(r, s->dim), (long long)first);
        if (s->count > 1 || first < least(r, s)) add(w, " .. %lld", (long long)(least(r, s) + s->count - 1));
        if (below && s->above)
            add(w, ", %d smaller and %d larger ones", below, s->above);
        else if (below || s->above)
            add(w, " and %d %s", below + s->above, below ? "smaller" : "larger");
    }
    add(w, " tried)");
}

/* The dim that tells most, where they are not spoken of together. */
static int speaks(const region *r) {
    if (r->joint) return -1;
    for (int i = 0; i < r->sweep_count; i++)
        if (r->sweeps[i].known && r->sweeps[i].law.kind != CUPEL_LAW_ALWAYS) return i;
    return 0;
}

static void add_condition(const region *r, int spoken, words *w) {
    bool any = false;
    for (int i = 0; i < r->sweep_count; i++) {
        const sweep *s = &r->sweeps[i];
        char text[256];
        if ((spoken >= 0 && i != spoken) || (s->law.kind == CUPEL_LAW_ALWAYS && !s->but_not)) continue;
        cupel_law_write(&s->law, name_of(r, s->dim), text, sizeof text);
        add(w, "%s%s", any ? " and " : "", text);
        if (s->but_not)
            add(w, "%snot %s = %lld", text[0] ? ", but " : "", name_of(r, s->dim), (long long)s->holds_at);
        any = true;
    }
}

static bool is_listed(const region *r, int spoken) {
    for (int i = 0; i < r->sweep_count; i++)
        if ((spoken < 0 || i == spoken) && r->sweeps[i].law.kind == CUPEL_LAW_LISTED) return true;
    return false;
}

static bool is_everywhere(const region *r, int spoken) {
    for (int i = 0; i < r->sweep_count; i++)
        if ((spoken < 0 || i == spoken) &&
            (r->sweeps[i].law.kind != CUPEL_LAW_ALWAYS || r->sweeps[i].but_not))
            return false;
    return true;
}

static bool has_near(const region *r, int spoken) {
    for (int i = 0; i < r->sweep_count; i++)
        if ((spoken < 0 || i == spoken) && r->sweeps[i].near) return true;
    return false;
}

#define EVERYWHERE "fails at every shape tried"

static void describe(const region *r, words *w) {
    int spoken = speaks(r);
    bool listed = is_listed(r, spoken), everywhere = is_everywhere(r, spoken);
    bool any_values = r->any_values && !listed; /* they were not compared where no law says what to expect */
    if (!r->any_values)
        add(w,
            r->filling == CUPEL_FILLING_NORMAL ? "with values drawn at random " : "with values like these ");
    add_place(r, spoken, w);
    if (everywhere)
        add(w, EVERYWHERE);
    else
        add(w, listed ? "fails at " : any_values ? "fails only when " : "fails when ");
    add_condition(r, spoken, w);
    if (any_values) add(w, "; any values");
    if (!everywhere || has_near(r, spoken)) add_tried(r, spoken, w);
}

bool cupel_region_is_bounded(const char *words) {
    const char *at = strstr(words, "fails at ");
    const bool listed = at && strncmp(at, EVERYWHERE, strlen(EVERYWHERE)) != 0;
    return listed || strstr(words, " <= ") || strstr(words, "fails when ") ||
           strstr(words, "fails only when ") || strstr(words, ", not with ");
}

/* Learns the laws of all dims; false when the budget allowed nothing. */
static bool learn(region *r) {
    sweep_dims(r);
    if (r->sweep_count == 0) return true;
    const sweep *s = &r->sweeps[0];
    bool whole = least(r, s) == r->shrink->contract->dims[s->dim].hi;
    if (s->count < 2 && !whole) return false;
    r->joint = laws_hold_together(r);
    return true;
}

void cupel_region_sweep(cupel_shrink *shrink, bool smaller_tried, char *text, size_t size) {
    words w = {text, size, 0};
    region *r = calloc(1, sizeof *r);
    text[0] = '\0';
    if (!r) return;
    *r = (region){.shrink = shrink, .smaller_tried = smaller_tried};
    r->any_values = cupel_probe_any_values(shrink);
    bool learnt = false, says = cupel_probe_choose(shrink, r->any_values, &r->filling, &r->draws);
    if (says) learnt = learn(r);
    if (learnt && r->any_values && r->sweep_count > 0 && !values_agree(r)) {
        r->any_values = false;
        says = cupel_probe_choose(shrink, false, &r->filling, &r->draws);
        learnt = says && learn(r);
    }
    if (learnt)
        describe(r, &w);
    else if (!says && !cupel_shrink_spent(shrink))
        add(&w, "depends on the values: most others like them do not fail, even at this shape");
    free(r);
}
