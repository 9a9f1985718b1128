/* Mutators: each changes one thing about a recipe and may leave it illegal; the driver repairs. */
#include "mutate.h"

#include <math.h>
#include <string.h>

#include "recipe_impl.h"

/* What a mutator has to work with. tensor is of the kind that the mutator needs, dim is one with freedom. */
typedef struct site {
    const cupel_contract *contract;
    cupel_random *random;
    cupel_recipe *recipe;
    const cupel_binding *binding;
    const cupel_dictionary *dictionary; /* not NULL where a mutator needs words or numbers */
    int64_t limit;
    int dim, tensor;
    cupel_tensor_facts facts; /* of the tensor */
    int claims;
    int64_t demand;
} site;

/* Needs: what a contract must have for a mutator to mean anything. */
enum {
    NEEDS_DIM = 1,      /* a dim with more than one claimed value */
    NEEDS_TYPE = 2,     /* a type variable with a choice */
    NEEDS_PARAM = 4,    /* a param with a choice */
    NEEDS_INPUT = 8,    /* an input */
    NEEDS_SPECIAL = 16, /* an input in which some special value is legal */
    NEEDS_LAYOUT = 32,  /* a tensor with a claim beyond contiguous and aligned */
    NEEDS_ALIAS = 64,
    NEEDS_EDIT = 128,   /* an input with an edit */
    NEEDS_WORD = 256,   /* a dictionary with a word */
    NEEDS_NUMBER = 512, /* a dictionary with a word or a number */
    NEEDS_DIMS = 1024   /* two dims with more than one claimed value */
};

static cupel_tensor_recipe *tensor_of(const site *s) {
    return &s->recipe->tensors[s->tensor];
}

static int64_t *dim_of(const site *s) {
    return &s->recipe->dims[s->dim];
}

static void mine_landmarks(const site *s, cupel_landmarks *landmarks) {
    cupel_landmarks_mine(s->contract, landmarks);
    if (s->dictionary != NULL) cupel_landmarks_add(s->dictionary, landmarks);
}

static void dim_redraw(const site *s) {
    cupel_landmarks landmarks;
    mine_landmarks(s, &landmarks);
    *dim_of(s) = cupel_dimension_draw(s->binding, s->dim, s->limit, &landmarks, s->random);
}
static void dim_nudge(const site *s) {
    int64_t step = INT64_C(1) << cupel_random_below(s->random, 4);
    *dim_of(s) += cupel_chance(s->random, 2) ? step : -step;
}
static void dim_scale(const site *s) {
    if (cupel_chance(s->random, 2))
        *dim_of(s) /= 2;
    else if (*dim_of(s) < INT64_C(1) << 40)
        *dim_of(s) *= 2;
}
static void dim_copy(const site *s) {
    *dim_of(s) = s->recipe->dims[cupel_random_below(s->random, (uint64_t)s->contract->dim_count)];
}
static void shape_redraw(const site *s) {
    cupel_landmarks landmarks;
    mine_landmarks(s, &landmarks);
    cupel_binding binding = *s->binding;
    int64_t budget = 16 + (int64_t)cupel_random_below(s->random, (uint64_t)s->limit);
    cupel_shape_draw(&binding, budget, false, &landmarks, s->random);
    memcpy(s->recipe->dims, binding.dims, sizeof binding.dims);
}

/* Sets the dim to a claimed value; the others make room for it. */
static void dim_set(const site *s, int dim, int64_t value, uint32_t kept) {
    s->recipe->dims[dim] = cupel_dimension_nearest(&s->contract->dims[dim], value);
    cupel_dictionary_make_room(s->contract, s->recipe, kept | 1u << dim, s->limit);
}
static int64_t dim_cap(const site *s) {
    return cupel_dictionary_cap(&s->contract->dims[s->dim], s->limit);
}
static void dim_word(const site *s) {
    dim_set(s, s->dim, cupel_dictionary_word(s->dictionary, dim_cap(s), s->random), 0);
}
static void dim_residue(const site *s) {
    dim_set(s, s->dim, cupel_dictionary_residue(s->dictionary, dim_cap(s), s->random), 0);
}
static void dim_combine(const site *s) {
    dim_set(s, s->dim, cupel_dictionary_combine(s->dictionary, dim_cap(s), s->random), 0);
}
static void dims_both(const site *s) {
    int free[CUPEL_DIM_MAX], count = 0;
    for (int d = 0; d < s->contract->dim_count; d++)
        if (d != s->dim && s->contract->dims[d].lo < s->contract->dims[d].hi) free[count++] = d;
    int other = free[cupel_random_below(s->random, (uint64_t)count)];
    int64_t cap = cupel_dictionary_cap(&s->contract->dims[other], s->limit);
    dim_set(s, s->dim, cupel_dictionary_dim(s->dictionary, dim_cap(s), s->random), 0);
    dim_set(s, other, cupel_dictionary_dim(s->dictionary, cap, s->random), 1u << s->dim);
}

static void type_change(const site *s) {
    int i = (int)cupel_random_below(s->random, (uint64_t)s->contract->type_count);
    s->recipe->types[i] = (uint8_t)cupel_random_below(s->random, (uint64_t)s->contract->types[i].count);
}
static void param_change(const site *s) {
    int i = (int)cupel_random_below(s->random, (uint64_t)s->contract->param_count);
    s->recipe->params[i] = cupel_draw_param(&s->contract->params[i], s->random);
}

static void param_word(const site *s) {
    int i = (int)cupel_random_below(s->random, (uint64_t)s->contract->param_count);
    s->recipe->params[i] = cupel_dictionary_param(s->dictionary, &s->contract->params[i], s->random);
}

static void pattern_change(const site *s) {
    cupel_draw_pattern(&s->facts, s->random, tensor_of(s));
}
static void pattern_reseed(const site *s) {
    tensor_of(s)->seed = (uint32_t)cupel_random_u64(s->random);
}
static void scale_change(const site *s) {
    cupel_draw_scale(&s->facts, s->random, tensor_of(s));
}
static void amplitude_step(const site *s) {
    static const double factors[] = {2, 0.5, 10, 0.1, -1, 1000};
    tensor_of(s)->amplitude *= factors[cupel_random_below(s->random, sizeof factors / sizeof *factors)];
}
static void centre_step(const site *s) {
    static const double offsets[] = {0, 1, -1, 10, 100, 1000, 10000};
    double offset = offsets[cupel_random_below(s->random, sizeof offsets / sizeof *offsets)];
    tensor_of(s)->centre = cupel_chance(s->random, 2) ? offset : tensor_of(s)->centre * 2 + offset;
}
static void tensor_copy(const site *s) {
    const cupel_tensor_recipe *from =
        &s->recipe->tensors[cupel_random_below(s->random, (uint64_t)s->contract->tensor_count)];
    cupel_tensor_recipe *to = tensor_of(s);
    to->pattern = from->pattern, to->amplitude = from->amplitude, to->centre = from->centre;
    to->special = from->special, to->placement = from->placement;
    if (cupel_chance(s->random, 2)) to->seed = from->seed, to->special_seed = from->special_seed;
}

static void scale_word(const site *s) {
    cupel_dictionary_scale(s->dictionary, &s->facts, s->random, tensor_of(s));
}

static void special_change(const site *s) {
    cupel_draw_special(&s->facts, s->random, tensor_of(s));
}
static void special_move(const site *s) {
    tensor_of(s)->special_seed = (uint32_t)cupel_random_u64(s->random);
}
static void special_remove(const site *s) {
    tensor_of(s)->special = CUPEL_SPECIAL_NONE;
}

static void edit_add(const site *s) {
    cupel_draw_edit(&s->facts, s->random, tensor_of(s));
}
static cupel_edit *some_edit(const site *s) {
    return &tensor_of(s)->edits[cupel_random_below(s->random, (uint64_t)tensor_of(s)->edit_count)];
}
static void edit_value(const site *s) {
    cupel_edit *edit = some_edit(s);
    if (cupel_chance(s->random, 2))
        edit->bits ^= UINT64_C(1) << cupel_random_below(s->random, 8 * s->facts.format->size);
    else
        edit->bits = cupel_draw_bits(&s->facts, s->random);
}
static void edit_move(const site *s) {
    some_edit(s)->index = (int64_t)cupel_random_below(s->random, (uint64_t)s->facts.count + 1);
}
static void edit_remove(const site *s) {
    *some_edit(s) = tensor_of(s)->edits[--tensor_of(s)->edit_count];
}

static void edit_word(const site *s) {
    cupel_dictionary_edit(s->dictionary, &s->facts, s->random, tensor_of(s));
}

static void layout_redraw(const site *s) {
    cupel_draw_layout(&s->facts, s->claims, s->demand, s->random, &tensor_of(s)->layout);
}
static void layout_offset(const site *s) {
    tensor_of(s)->layout.offset = (uint16_t)cupel_random_below(s->random, CUPEL_ALLOCATOR_ALIGN);
}
static void layout_gap(const site *s) {
    int axis =
        (int)cupel_random_below(s->random, (uint64_t)(s->facts.decl->rank > 0 ? s->facts.decl->rank : 1));
    tensor_of(s)->layout.gap[axis] = (uint8_t)cupel_random_below(s->random, 40);
}
static void layout_flip(const site *s) {
    int axis =
        (int)cupel_random_below(s->random, (uint64_t)(s->facts.decl->rank > 0 ? s->facts.decl->rank : 1));
    if (cupel_chance(s->random, 2))
        tensor_of(s)->layout.reversed ^= (uint8_t)(1u << axis);
    else
        tensor_of(s)->layout.expanded ^= (uint8_t)(1u << axis);
}
static void layout_reset(const site *s) {
    cupel_layout_reset(&tensor_of(s)->layout);
}

static void alias_toggle(const site *s) {
    s->recipe->aliases ^= 1u << cupel_random_below(s->random, (uint64_t)s->contract->alias_count);
}
static void schedule_change(const site *s) {
    s->recipe->schedule = cupel_draw_schedule(s->random);
}
static void history_change(const site *s) {
    s->recipe->history = CUPEL_HISTORY_NONE;
    if (!cupel_chance(s->random, 3)) cupel_draw_history(s->random, s->recipe);
}
static void permutation_change(const site *s) {
    s->recipe->permutation = cupel_chance(s->random, 4) ? 0 : cupel_draw_permutation(s->random);
}
static void poison_change(const site *s) {
    s->recipe->poison = (uint32_t)cupel_random_u64(s->random);
}

typedef struct mutator {
    const char *name;
    void (*apply)(const site *);
    int needs;
    unsigned weight;
} mutator;

static const mutator mutators[] = {
    {"dim redraw", dim_redraw, NEEDS_DIM, 8},
    {"dim nudge", dim_nudge, NEEDS_DIM, 8},
    {"dim scale", dim_scale, NEEDS_DIM, 3},
    {"dim copy", dim_copy, NEEDS_DIM, 1},
    {"shape redraw", shape_redraw, NEEDS_DIM, 3},
    {"type change", type_change, NEEDS_TYPE, 3},
    {"param change", param_change, NEEDS_PARAM, 3},
    {"pattern change", pattern_change, NEEDS_INPUT, 6},
    {"pattern reseed", pattern_reseed, NEEDS_INPUT, 4},
    {"scale change", scale_change, NEEDS_INPUT, 4},
    {"amplitude step", amplitude_step, NEEDS_INPUT, 3},
    {"centre step", centre_step, NEEDS_INPUT, 3},
    {"tensor copy", tensor_copy, NEEDS_INPUT, 1},
    {"special change", special_change, NEEDS_SPECIAL, 4},
    {"special move", special_move, NEEDS_SPECIAL, 2},
    {"special remove", special_remove, NEEDS_SPECIAL, 2},
    {"edit add", edit_add, NEEDS_INPUT, 3},
    {"edit value", edit_value, NEEDS_EDIT, 3},
    {"edit move", edit_move, NEEDS_EDIT, 1},
    {"edit remove", edit_remove, NEEDS_EDIT, 2},
    {"layout redraw", layout_redraw, NEEDS_LAYOUT, 4},
    {"layout offset", layout_offset, NEEDS_LAYOUT, 2},
    {"layout gap", layout_gap, NEEDS_LAYOUT, 2},
    {"layout flip", layout_flip, NEEDS_LAYOUT, 1},
    {"layout reset", layout_reset, NEEDS_LAYOUT, 1},
    {"dim word", dim_word, NEEDS_DIM | NEEDS_WORD, 18},
    {"dim residue", dim_residue, NEEDS_DIM | NEEDS_WORD, 10},
    {"dim combine", dim_combine, NEEDS_DIM | NEEDS_WORD, 5},
    {"dims both", dims_both, NEEDS_DIM | NEEDS_DIMS | NEEDS_WORD, 5},
    {"param word", param_word, NEEDS_PARAM | NEEDS_NUMBER, 3},
    {"scale word", scale_word, NEEDS_INPUT | NEEDS_NUMBER, 6},
    {"edit word", edit_word, NEEDS_INPUT | NEEDS_NUMBER, 8},
    {"alias toggle", alias_toggle, NEEDS_ALIAS, 2},
    {"schedule change", schedule_change, 0, 2},
    {"history change", history_change, 0, 1},
    {"permutation change", permutation_change, NEEDS_INPUT, 2},
    {"poison change", poison_change, 0, 1},
};
enum { MUTATORS = sizeof mutators / sizeof *mutators };

static bool param_has_choice(const cupel_param *param) {
    return param->kind == CUPEL_PARAM_RANGE ? param->lo < param->hi
                                            : param->kind == CUPEL_PARAM_ONE_OF && param->value_count > 1;
}

/* Does the dictionary have what a mutator needs? */
static bool dictionary_has(const cupel_dictionary *d, int needs) {
    if (needs & NEEDS_WORD) return d != NULL && d->word_count > 0;
    return !(needs & NEEDS_NUMBER) || (d != NULL && d->word_count + d->number_count > 0);
}

static int free_dims(const cupel_contract *contract) {
    int count = 0;
    for (int d = 0; d < contract->dim_count; d++) count += contract->dims[d].lo < contract->dims[d].hi;
    return count;
}

static int choose_dim(const site *s) {
    int free[CUPEL_DIM_MAX], count = 0;
    for (int d = 0; d < s->contract->dim_count; d++)
        if (s->contract->dims[d].lo < s->contract->dims[d].hi) free[count++] = d;
    return count > 0 ? free[cupel_random_below(s->random, (uint64_t)count)] : -1;
}

static bool suits(site *s, int t, int needs) {
    const cupel_tensor_decl *decl = &s->contract->tensors[t];
    bool input = decl->roles & CUPEL_ROLE_INPUT;
    if (needs & (NEEDS_INPUT | NEEDS_SPECIAL | NEEDS_EDIT) && !input) return false;
    if (needs & NEEDS_EDIT && s->recipe->tensors[t].edit_count == 0) return false;
    if (cupel_facts_of(s->binding, t, &s->facts, NULL) != CUPEL_OK) return false;
    s->claims = cupel_layout_claims(s->contract, s->recipe, s->binding, t, &s->demand);
    if (needs & NEEDS_SPECIAL && s->facts.specials == 0) return false;
    return !(needs & NEEDS_LAYOUT) || s->claims != 0 || s->demand < CUPEL_ALLOCATOR_ALIGN;
}

/* Chooses the dim and the tensor that a mutator works on; false when it has nothing to work on. */
static bool choose_site(site *s, int needs) {
    bool types = false, params = false;
    for (int i = 0; i < s->contract->type_count; i++) types |= s->contract->types[i].count > 1;
    for (int i = 0; i < s->contract->param_count; i++) params |= param_has_choice(&s->contract->params[i]);
    if ((needs & NEEDS_TYPE && !types) || (needs & NEEDS_PARAM && !params)) return false;
    if (needs & NEEDS_ALIAS && s->contract->alias_count == 0) return false;
    if (needs & NEEDS_DIMS && free_dims(s->contract) < 2) return false;
    if (needs & NEEDS_DIM && (s->dim = choose_dim(s)) < 0) return false;
    if (!(needs & (NEEDS_INPUT | NEEDS_SPECIAL | NEEDS_LAYOUT | NEEDS_EDIT))) return true;
    int start = (int)cupel_random_below(
        s->random, (uint64_t)(s->contract->tensor_count > 0 ? s->contract->tensor_count : 1));
    for (int i = 0; i < s->contract->tensor_count; i++) {
        s->tensor = (start + i) % s->contract->tensor_count;
        if (suits(s, s->tensor, needs)) return true;
    }
    return false;
}

/* Without a dictionary its mutators have no weight: the choices are then those of the others alone. */
static unsigned weight_of(const site *s, const mutator *m) {
    return dictionary_has(s->dictionary, m->needs) ? m->weight : 0;
}

static const mutator *choose_mutator(site *s) {
    unsigned total = 0;
    for (int i = 0; i < MUTATORS; i++) total += weight_of(s, &mutators[i]);
    for (int attempt = 0; attempt < 32; attempt++) {
        unsigned choice = (unsigned)cupel_random_below(s->random, total);
        int i = 0;
        while (choice >= weight_of(s, &mutators[i])) choice -= weight_of(s, &mutators[i++]);
        if (choose_site(s, mutators[i].needs)) return &mutators[i];
    }
    return &mutators[MUTATORS - 1]; /* needs nothing */
}

cupel_code cupel_recipe_mutate(const cupel_contract *contract, const cupel_limits *limits,
                               cupel_random *random, cupel_recipe *recipe, const char **name,
                               cupel_error *err) {
    int64_t limit = cupel_limits_elements(limits);
    CUPEL_TRY(cupel_recipe_repair(contract, recipe, limit, err));
    const cupel_recipe before = *recipe;
    for (int attempt = 0; attempt < 8; attempt++) {
        int changes = 1;
        while (changes < 5 && cupel_chance(random, 3)) changes++;
        for (int i = 0; i < changes; i++) {
            cupel_binding binding;
            CUPEL_TRY(cupel_recipe_binding(contract, recipe, &binding, err));
            site s = {.contract = contract,
                      .random = random,
                      .recipe = recipe,
                      .binding = &binding,
                      .dictionary = limits != NULL ? limits->dictionary : NULL,
                      .limit = limit};
            const mutator *chosen = choose_mutator(&s);
            chosen->apply(&s);
            if (name != NULL) *name = chosen->name;
            CUPEL_TRY(cupel_recipe_repair(contract, recipe, limit, err));
        }
        if (!cupel_recipe_equal(contract, &before, recipe)) break;
    }
    return CUPEL_OK;
}

cupel_code cupel_recipe_crossover(const cupel_contract *contract, const cupel_limits *limits,
                                  cupel_random *random, const cupel_recipe *a, const cupel_recipe *b,
                                  cupel_recipe *out, cupel_error *err) {
    const cupel_recipe *parents[2] = {a, b};
#define EITHER parents[cupel_random_below(random, 2)]
    memset(out, 0, sizeof *out);
    memcpy(out->dims, EITHER->dims, sizeof out->dims);
    if (cupel_chance(random, 4)) /* now and then a shape that neither parent has */
        for (int i = 0; i < contract->dim_count; i++) out->dims[i] = EITHER->dims[i];
    memcpy(out->types, EITHER->types, sizeof out->types);
    for (int i = 0; i < contract->param_count; i++) out->params[i] = EITHER->params[i];
    for (int t = 0; t < contract->tensor_count; t++) {
        out->tensors[t] = EITHER->tensors[t];
        if (cupel_chance(random, 3)) out->tensors[t].layout = EITHER->tensors[t].layout;
    }
    out->aliases = EITHER->aliases;
    out->schedule = EITHER->schedule;
    out->permutation = EITHER->permutation;
    const cupel_recipe *run = EITHER;
    out->history = run->history;
    out->calls = run->calls;
    out->poison = EITHER->poison;
#undef EITHER
    return cupel_recipe_repair(contract, out, cupel_limits_elements(limits), err);
}
