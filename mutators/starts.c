/* From starts to recipes of a contract. */
#include "starts.h"

#include <math.h>
#include <string.h>

#include "recipe_impl.h"
#include "schedule.h"
#include "starts_family.h"

enum {
    TILES_MAX = 2,
    SOURCES_MAX = 8,
    ELEMENTS_MAX = 16384, /* of all tensors of a start: it is tried before anything else */
    EXPANDED_MAX = 256,
    NAMES_MAX = 128
};

/* The functions and operators that a contract's expressions use. */
typedef struct used {
    int count;
    const char *names[NAMES_MAX];
} used;

static void note_used(const cupel_expr *expr, used *u) {
    if (expr == NULL) return;
    if (expr->kind == CUPEL_EXPR_CALL || expr->kind == CUPEL_EXPR_BINARY) {
        int i = 0;
        while (i < u->count && strcmp(u->names[i], expr->name) != 0) i++;
        if (i == u->count && u->count < NAMES_MAX) u->names[u->count++] = expr->name;
    }
    for (int i = 0; i < expr->count; i++) note_used(expr->children[i], u);
}

bool cupel_starts_apply(const cupel_contract *contract, const cupel_start_family *family) {
    used u = {0};
    if (family->general) return true;
    for (int t = 0; t < contract->tensor_count; t++) note_used(contract->tensors[t].ensures, &u);
    for (int i = 0; i < contract->define_count; i++) note_used(contract->defines[i].expr, &u);
    for (int i = 0; i < u.count; i++)
        for (int f = 0; f < family->function_count; f++)
            if (strcmp(u.names[i], family->functions[f]) == 0) return true;
    return false;
}

/* Tile sizes to take extents from: the launch's largest literal up to 1,024, which is a block as a rule, and
 * the first size that the source speaks of, or a warp. */
static int tiles_of(const cupel_contract *contract, const cupel_dictionary *dictionary,
                    int64_t tiles[TILES_MAX]) {
    enum { LEAST = 4, MOST = 1024, WARP = 32 };
    int64_t block = 0, other = WARP;
    cupel_landmarks landmarks;
    cupel_landmarks_mine(contract, &landmarks);
    for (int i = 0; i < landmarks.count; i++)
        if (landmarks.values[i] > block && landmarks.values[i] <= MOST) block = landmarks.values[i];
    if (block < LEAST) block = WARP;
    for (int i = 0; dictionary != NULL && i < dictionary->word_count; i++) {
        const cupel_word *w = &dictionary->words[i];
        if (w->role != CUPEL_WORD_SIZE || w->value < LEAST || w->value > MOST || w->value == block) continue;
        other = w->value;
        break;
    }
    tiles[0] = block, tiles[1] = other;
    return block == other ? 1 : 2;
}

/* Extents that the source asks for: what a remainder is compared with, past everything else that is
 * compared; what is compared, and one more. */
static int sources_of(const cupel_dictionary *d, int64_t sources[SOURCES_MAX]) {
    enum { MOST = 4096 };
    int64_t compared = 0;
    int count = 0;
    for (int i = 0; d != NULL && i < d->word_count; i++)
        if (d->words[i].role == CUPEL_WORD_COMPARED && d->words[i].value > compared &&
            d->words[i].value <= MOST)
            compared = d->words[i].value;
    for (int i = 0; d != NULL && i < d->word_count && count + 1 < SOURCES_MAX; i++) {
        const cupel_word *w = &d->words[i];
        if (w->value > MOST) continue;
        if (w->role == CUPEL_WORD_MODULUS && w->residue >= 0)
            sources[count++] = w->residue + w->value * (compared / w->value + 1);
        else if (w->role == CUPEL_WORD_COMPARED)
            sources[count++] = w->value, sources[count++] = w->value + 1;
    }
    return count;
}

/* What is being made, for one start. */
typedef struct maker {
    const cupel_contract *contract;
    const cupel_start *start;
    const cupel_recipe *plain; /* the simplest recipe */
    bool in_shapes[CUPEL_DIM_MAX];
    int64_t tile, limit;
    int tile_count, source_count;
    int64_t tiles[TILES_MAX], sources[SOURCES_MAX];
    int count, capacity;
    cupel_recipe *recipes;
} maker;

static int64_t extent_of(const maker *m, cupel_start_extent e) {
    int64_t value = e.times * m->tile + e.plus;
    return value < 0 ? 0 : value;
}

static bool is_real_input(const cupel_binding *binding, int t) {
    return cupel_format_of(cupel_binding_type(binding, t))->kind == CUPEL_KIND_REAL;
}

static bool selects(const maker *m, const cupel_binding *binding, int t) {
    const cupel_contract *contract = m->contract;
    int first = -1, last = -1;
    for (int i = 0; i < contract->tensor_count; i++)
        if (contract->tensors[i].roles & CUPEL_ROLE_INPUT) last = i, first = first < 0 ? i : first;
    if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) return false;
    switch (m->start->inputs) {
    case CUPEL_START_INPUTS_FIRST: return t == first;
    case CUPEL_START_INPUTS_LAST: return t == last;
    case CUPEL_START_INPUTS_REAL: return is_real_input(binding, t);
    case CUPEL_START_INPUTS_INTEGER: return !is_real_input(binding, t);
    default: return true;
    }
}

typedef struct mention {
    const cupel_contract *contract;
    int dim; /* the first that is named, be it through a let; -1: none */
    int depth;
} mention;

static cupel_code find_dim(void *self, const char *name, cupel_span place, cupel_error *err) {
    mention *m = self;
    (void)place;
    int dim = cupel_contract_dim(m->contract, name);
    if (m->dim >= 0 || m->depth > CUPEL_LET_MAX) return CUPEL_OK;
    if (dim >= 0 && m->contract->dims[dim].lo < m->contract->dims[dim].hi) m->dim = dim;
    for (int i = 0; dim < 0 && i < m->contract->let_count; i++) {
        if (strcmp(m->contract->lets[i].name, name) != 0) continue;
        m->depth++;
        CUPEL_TRY(cupel_scalar_names(m->contract->lets[i].expr, find_dim, m, err));
        m->depth--;
    }
    return CUPEL_OK;
}

/* The dim that the last axis of the first selected input with axes hangs on, and that tensor; -1: none. */
static int last_axis_dim(const maker *m, const cupel_binding *binding, int *tensor) {
    for (int t = 0; t < m->contract->tensor_count; t++) {
        const cupel_tensor_decl *decl = &m->contract->tensors[t];
        mention found = {m->contract, -1, 0};
        if (!selects(m, binding, t) || decl->rank == 0) continue;
        (void)!cupel_scalar_names(decl->shape[decl->rank - 1], find_dim, &found, NULL);
        if (found.dim < 0) continue;
        *tensor = t;
        return found.dim;
    }
    return -1;
}

/* Sets the dim so that the tensor's last axis gets the extent, where it grows in proportion to it. */
static void set_last_axis(const maker *m, cupel_recipe *recipe, int dim, int tensor, int64_t extent) {
    cupel_binding binding;
    int64_t shape[CUPEL_RANK_MAX], count;
    int axis = m->contract->tensors[tensor].rank - 1;
    recipe->dims[dim] = cupel_dimension_nearest(&m->contract->dims[dim], extent);
    if (cupel_recipe_binding(m->contract, recipe, &binding, NULL) != CUPEL_OK ||
        cupel_binding_shape(&binding, tensor, shape, &count, NULL) != CUPEL_OK)
        return;
    if (shape[axis] == extent || shape[axis] <= 0) return;
    int64_t scaled = extent * recipe->dims[dim] / shape[axis];
    recipe->dims[dim] = cupel_dimension_nearest(&m->contract->dims[dim], scaled);
}

/* False where the extent is not claimed: 0 of a dim that starts at 1. */
static bool set_dims(const maker *m, const cupel_start_extent *extent, cupel_recipe *recipe) {
    cupel_binding binding;
    for (int i = 0; i < m->contract->dim_count; i++) {
        cupel_start_extent wanted = m->in_shapes[i] ? m->start->others : m->start->launch;
        recipe->dims[i] = cupel_dimension_nearest(&m->contract->dims[i], extent_of(m, wanted));
        if (m->in_shapes[i] && extent_of(m, wanted) == 0 && recipe->dims[i] != 0) return false;
    }
    if (extent == NULL) return true;
    if (cupel_recipe_binding(m->contract, recipe, &binding, NULL) != CUPEL_OK) return true;
    int tensor = -1, dim = last_axis_dim(m, &binding, &tensor);
    if (dim < 0) return true;
    if (extent_of(m, *extent) == 0 && m->contract->dims[dim].lo > 0) return false;
    set_last_axis(m, recipe, dim, tensor, extent_of(m, *extent));
    return true;
}

static void set_layout(const maker *m, cupel_binding *binding, int t, cupel_recipe *recipe) {
    cupel_layout *layout = &recipe->tensors[t].layout;
    int rank = m->contract->tensors[t].rank;
    int64_t demand;
    (void)cupel_layout_claims(m->contract, recipe, binding, t, &demand);
    cupel_layout_reset(layout);
    switch (m->start->layout) {
    case CUPEL_START_LAYOUT_PADDED:
        if (rank > 0) layout->gap[rank - 1] = 3;
        break;
    case CUPEL_START_LAYOUT_TRANSPOSED:
        for (int axis = 0; axis < rank; axis++) layout->order[axis] = (uint8_t)(rank - 1 - axis);
        break;
    case CUPEL_START_LAYOUT_SLICED: layout->step = 2; break;
    case CUPEL_START_LAYOUT_EXPANDED: layout->expanded = rank > 0 ? 1 : 0; break;
    case CUPEL_START_LAYOUT_REVERSED: layout->reversed = rank > 0 ? (uint8_t)(1u << (rank - 1)) : 0; break;
    case CUPEL_START_LAYOUT_OFFSET:
        layout->offset = (uint16_t)(demand / (int64_t)cupel_format_of(cupel_binding_type(binding, t))->size);
        break;
    default: break;
    }
}

/* The seed that lays the longest run that leaves something of each row at its start, or its end. */
static uint32_t run_seed(const cupel_tensor_facts *facts, int t, const cupel_tensor_recipe *tensor,
                         bool leading) {
    enum { TRIED = 256 };
    cupel_tensor_recipe probe = *tensor;
    int64_t n = facts->decl->rank > 0 ? facts->shape[facts->decl->rank - 1] : 1, longest = 0;
    uint32_t best = 1;
    for (uint32_t seed = 1; seed <= TRIED; seed++) {
        cupel_special_plan plan;
        const cupel_values values = {facts, &probe, t};
        probe.special_seed = seed;
        cupel_special_open(&values, facts->shape, &plan);
        int64_t length = plan.last - plan.first;
        bool there = leading ? plan.first == 0 : plan.last == n && plan.first > 0;
        if (!there || !plan.all_rows || length >= n || length <= longest) continue;
        longest = length, best = seed;
    }
    return best;
}

static void set_special(const maker *m, const cupel_tensor_facts *facts, int t, cupel_tensor_recipe *tensor) {
    cupel_start_place place = m->start->place;
    bool run = place == CUPEL_START_PLACE_LEADING || place == CUPEL_START_PLACE_TRAILING;
    tensor->special = m->start->special;
    tensor->placement = run ? CUPEL_PLACE_TILE : (cupel_placement)place;
    tensor->special_seed = 1;
    if (run) tensor->special_seed = run_seed(facts, t, tensor, place == CUPEL_START_PLACE_LEADING);
}

/* One element of every row, as far as edits reach. */
static void set_elements(const maker *m, const cupel_tensor_facts *facts, cupel_tensor_recipe *tensor) {
    int64_t n = facts->decl->rank > 0 ? facts->shape[facts->decl->rank - 1] : 1;
    if (facts->count == 0 || n == 0) return;
    uint64_t bits = 0;
    if (facts->format->kind == CUPEL_KIND_REAL)
        cupel_encode(facts->type, m->start->set, &bits);
    else if (fabs(m->start->set) < 0x1p62)
        bits = (uint64_t)(int64_t)m->start->set;
    else
        return;
    int64_t at = m->start->at == CUPEL_START_AT_FIRST  ? 0
                 : m->start->at == CUPEL_START_AT_LAST ? n - 1
                                                       : n / 2;
    for (int64_t row = 0; row < facts->count / n && tensor->edit_count < CUPEL_EDIT_MAX; row++)
        tensor->edits[tensor->edit_count++] = (cupel_edit){row * n + at, bits};
}

static void set_tensor(const maker *m, cupel_binding *binding, int t, cupel_recipe *recipe) {
    cupel_tensor_recipe *tensor = &recipe->tensors[t];
    cupel_tensor_facts facts;
    bool input = m->contract->tensors[t].roles & CUPEL_ROLE_INPUT;
    set_layout(m, binding, t, recipe);
    if (!input || cupel_facts_of(binding, t, &facts, NULL) != CUPEL_OK) return;
    if (!selects(m, binding, t)) {
        bool real = facts.format->kind == CUPEL_KIND_REAL && !facts.bounded;
        if (real) tensor->pattern = CUPEL_PATTERN_NORMAL, tensor->seed = 1, tensor->amplitude = 1;
        return;
    }
    tensor->pattern = m->start->pattern;
    tensor->amplitude = m->start->amplitude;
    tensor->centre = m->start->centre;
    tensor->seed = m->start->seed;
    if (m->start->special != CUPEL_SPECIAL_NONE) set_special(m, &facts, t, tensor);
    if (m->start->has_set) set_elements(m, &facts, tensor);
}

/* Index of the smallest claimed type of a variable. */
static uint8_t narrowest(const cupel_type_variable *variable) {
    int best = 0;
    for (int i = 1; i < variable->count; i++)
        if (cupel_format_of(variable->claimed[i])->size < cupel_format_of(variable->claimed[best])->size)
            best = i;
    return (uint8_t)best;
}

static int type_choices(const maker *m) {
    int most = 1;
    for (int i = 0; m->start->types == CUPEL_START_TYPES_EACH && i < m->contract->type_count; i++)
        if (m->contract->types[i].count > most) most = m->contract->types[i].count;
    return most;
}

static void set_types(const maker *m, int choice, cupel_recipe *recipe) {
    for (int i = 0; i < m->contract->type_count; i++) {
        const cupel_type_variable *variable = &m->contract->types[i];
        recipe->types[i] = m->start->types == CUPEL_START_TYPES_NARROW
                               ? narrowest(variable)
                               : (uint8_t)(choice < variable->count ? choice : variable->count - 1);
    }
}

static cupel_code make(maker *m, const cupel_start_extent *extent, int types, cupel_error *err) {
    if (m->count == m->capacity) return CUPEL_OK;
    cupel_recipe *recipe = &m->recipes[m->count];
    cupel_binding binding;
    *recipe = *m->plain;
    set_types(m, types, recipe);
    if (!set_dims(m, extent, recipe)) return CUPEL_OK;
    if (m->start->alias) recipe->aliases = (1u << m->contract->alias_count) - 1;
    CUPEL_TRY(cupel_recipe_repair(m->contract, recipe, m->limit, err));
    CUPEL_TRY(cupel_recipe_binding(m->contract, recipe, &binding, err));
    for (int t = 0; t < m->contract->tensor_count; t++) set_tensor(m, &binding, t, recipe);
    CUPEL_TRY(cupel_recipe_repair(m->contract, recipe, m->limit, err));
    m->count++;
    return CUPEL_OK;
}

static bool mentions_tile(const cupel_start *s, const cupel_start_extent *extent) {
    return s->others.times > 0 || s->launch.times > 0 || (extent != NULL && extent->times > 0);
}

static cupel_code make_types(maker *m, const cupel_start_extent *extent, cupel_error *err) {
    for (int types = 0; types < type_choices(m); types++) CUPEL_TRY(make(m, extent, types, err));
    return CUPEL_OK;
}

static cupel_code make_all(maker *m, cupel_error *err) {
    const cupel_start *s = m->start;
    m->tile = m->tiles[0];
    for (int e = 0; e < (s->extent_count > 0 ? s->extent_count : 1); e++) {
        const cupel_start_extent *extent = s->extent_count > 0 ? &s->extents[e] : NULL;
        if (extent != NULL && extent->source) {
            for (int i = 0; i < m->source_count; i++)
                CUPEL_TRY(make_types(m, &(cupel_start_extent){.plus = m->sources[i]}, err));
            continue;
        }
        for (int i = 0; i < (mentions_tile(s, extent) ? m->tile_count : 1); i++) {
            m->tile = m->tiles[i];
            CUPEL_TRY(make_types(m, extent, err));
        }
    }
    return CUPEL_OK;
}

cupel_code cupel_starts_expand(const cupel_contract *contract, const cupel_limits *limits,
                               const cupel_start_family *family, cupel_arena *arena, int *count,
                               cupel_recipe **recipes, cupel_error *err) {
    cupel_recipe plain;
    CUPEL_TRY(cupel_recipe_simple(contract, &plain, err));
    const cupel_dictionary *dictionary = limits != NULL ? limits->dictionary : NULL;
    int64_t limit = cupel_limits_elements(limits);
    maker m = {.contract = contract,
               .plain = &plain,
               .limit = limit < ELEMENTS_MAX ? limit : ELEMENTS_MAX,
               .capacity = EXPANDED_MAX};
    m.tile_count = tiles_of(contract, dictionary, m.tiles);
    m.source_count = sources_of(dictionary, m.sources);
    m.recipes = cupel_arena_alloc(arena, EXPANDED_MAX * sizeof *m.recipes);
    if (m.recipes == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    cupel_dims_in_shapes(contract, m.in_shapes);
    for (int i = 0; i < family->start_count; i++) {
        m.start = &family->starts[i];
        CUPEL_TRY(make_all(&m, err));
    }
    *count = m.count, *recipes = m.recipes;
    return CUPEL_OK;
}

/* Adds a recipe that is unlike all others. Second runs differ in schedule, poison, and, one in four, in the
 * calls that come before. */
static cupel_code keep(const cupel_contract *contract, const cupel_recipe *recipe, int *count,
                       cupel_recipe *kept, cupel_error *err) {
    /* the step takes turns among the kinds, so that few starts have them all */
    enum { HISTORY_EVERY = 4, HISTORY_STEP = 4 };
    for (int i = 0; i < *count; i++) {
        cupel_recipe like = kept[i];
        like.schedule = recipe->schedule, like.poison = recipe->poison;
        like.history = recipe->history, like.calls = recipe->calls;
        if (cupel_recipe_equal(contract, &like, recipe)) return CUPEL_OK;
    }
    int n = (*count)++;
    kept[n] = *recipe;
    kept[n].schedule = cupel_schedule_nth((uint64_t)n + 1);
    kept[n].poison = (uint32_t)n + 1;
    if (n % HISTORY_EVERY == HISTORY_EVERY - 1)
        cupel_history_nth((uint64_t)n / HISTORY_EVERY * HISTORY_STEP, &kept[n]);
    return cupel_recipe_repair(contract, &kept[n], INT64_C(1) << 40, err);
}

cupel_code cupel_starts_for(const cupel_contract *contract, const cupel_limits *limits, cupel_arena *arena,
                            int *count, cupel_recipe **recipes, cupel_error *err) {
    enum { FAMILIES_MAX = 32 };
    struct {
        int count;
        cupel_recipe *recipes;
    } families[FAMILIES_MAX];
    int family_count = 0, longest = 0;
    for (const cupel_starts_embedded_file *f = cupel_starts_embedded_files; f->name != NULL; f++) {
        cupel_start_family family;
        CUPEL_TRY(cupel_starts_read(f->name, (const char *)f->start, (size_t)(f->stop - f->start), arena,
                                    &family, err));
        if (!cupel_starts_apply(contract, &family) || family_count == FAMILIES_MAX) continue;
        CUPEL_TRY(cupel_starts_expand(contract, limits, &family, arena, &families[family_count].count,
                                      &families[family_count].recipes, err));
        if (families[family_count].count > longest) longest = families[family_count].count;
        family_count++;
    }
    *count = 0;
    *recipes = cupel_arena_alloc(arena, CUPEL_STARTS_MAX * sizeof **recipes);
    if (*recipes == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    /* in turn, so that each family gets its best in */
    for (int i = 0; i < longest; i++)
        for (int f = 0; f < family_count && *count < CUPEL_STARTS_MAX; f++)
            if (i < families[f].count)
                CUPEL_TRY(keep(contract, &families[f].recipes[i], count, *recipes, err));
    return CUPEL_OK;
}
