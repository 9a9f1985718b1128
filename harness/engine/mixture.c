#include "mixture.h"

#include "philox.h"

/* Streams of the mixture (philox.h), apart from those of drawing. */
enum { STREAM_CASE = 0x510, STREAM_CHOICE, STREAM_CROSS, STREAM_ENGINE };

/* Of so many cases behind the first draws, undirected draws are: up to case EARLY most, so that a defect that
 * is not quite common costs little more than undirected, then fewer. One more is a fresh recipe that leans on
 * the candidate's own numbers. The others change a recipe: one in CORPUS_EVERY what the engine chose, the
 * rest what is at the front. Of so many offers to cross, one is taken. */
enum { SHARES = 12, EARLY = 2048, DRAWS_EARLY = 9, DRAWS_LATE = 4, CORPUS_EVERY = 3, CROSS_EVERY = 6 };

static bool is_fixed(const cupel_search *search, uint64_t n) {
    return n < search->start_count + CUPEL_MIXTURE_DRAWS;
}

static cupel_random choices(const cupel_search *search, uint64_t n) {
    return cupel_random_start(cupel_philox(search->seed, STREAM_CASE, n), STREAM_CHOICE);
}

static bool reads(const cupel_search *search, const cupel_encoded *encoded, cupel_recipe *out) {
    return encoded && cupel_recipe_decode(search->contract, encoded->bytes, encoded->size, out);
}

bool cupel_mixture_crosses(const cupel_search *search, uint64_t n, const cupel_encoded *parent,
                           const cupel_encoded *other) {
    cupel_recipe recipe;
    return !is_fixed(search, n) &&
           cupel_philox(cupel_philox(search->seed, STREAM_CASE, n), STREAM_CROSS, 0) % CROSS_EVERY == 0 &&
           reads(search, parent, &recipe) && reads(search, other, &recipe);
}

/* ---- sizes ---- */

/* Elements that a case may have although its parent has fewer. */
static const int64_t small_elements = 2048;

enum { ATTEMPTS = 4 };

static int64_t elements_of(const cupel_contract *contract, const cupel_recipe *recipe) {
    cupel_binding binding;
    int64_t total = 0, shape[CUPEL_RANK_MAX], count;
    if (cupel_recipe_binding(contract, recipe, &binding, NULL) != CUPEL_OK) return 0;
    for (int t = 0; t < contract->tensor_count; t++)
        if (cupel_binding_shape(&binding, t, shape, &count, NULL) == CUPEL_OK) total += count;
    return total;
}

/* Changes make cases larger on the whole, and a large case costs what many small ones do: half of those that
 * outgrow their parent (NULL: none) without being small are made again. Limits that ask for large cases are
 * kept to. */
static bool is_welcome(const cupel_search *search, const cupel_recipe *parent, const cupel_recipe *child,
                       cupel_random *random) {
    enum { FAVOURS_SMALL = 65536 }; /* up to that limit: mutate.h */
    if (search->limits.max_elements > FAVOURS_SMALL || cupel_random_below(random, 2)) return true;
    int64_t elements = elements_of(search->contract, child);
    return elements <= small_elements || (parent && elements <= elements_of(search->contract, parent));
}

/* ---- fresh recipes ---- */

/* Leans on the candidate's own numbers, where they are known. */
static cupel_code make_directed(const cupel_search *search, uint64_t n, cupel_random *random,
                                cupel_recipe *out, cupel_error *err) {
    if (!search->limits.dictionary) return cupel_engine_draw(search, n, out, err);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        CUPEL_TRY(cupel_recipe_draw_directed(search->contract, &search->limits, random, out, err));
        if (is_welcome(search, NULL, out, random)) break;
    }
    return CUPEL_OK;
}

static cupel_code make_fresh(const cupel_search *search, uint64_t n, cupel_random *random, cupel_recipe *out,
                             cupel_error *err) {
    if (cupel_random_below(random, 2)) return cupel_engine_draw(search, n, out, err);
    return make_directed(search, n, random, out, err);
}

/* ---- grafts ---- */

/* The parts of a recipe that can differ, each by itself: a dim, a type, a param, an input, how it is run. */
typedef enum part_kind { PART_DIM, PART_TYPE, PART_PARAM, PART_INPUT, PART_RUN } part_kind;

typedef struct part {
    part_kind kind;
    int index;
} part;

enum { PARTS_MAX = CUPEL_DIM_MAX + CUPEL_TYPE_MAX + CUPEL_PARAM_MAX + CUPEL_TENSOR_MAX + 1 };

static int list_parts(const cupel_contract *contract, part parts[PARTS_MAX]) {
    int count = 0;
    for (int d = 0; d < contract->dim_count; d++)
        if (contract->dims[d].lo < contract->dims[d].hi) parts[count++] = (part){PART_DIM, d};
    for (int t = 0; t < contract->type_count; t++)
        if (contract->types[t].count > 1) parts[count++] = (part){PART_TYPE, t};
    for (int p = 0; p < contract->param_count; p++)
        if (contract->params[p].kind != CUPEL_PARAM_FIXED) parts[count++] = (part){PART_PARAM, p};
    for (int t = 0; t < contract->tensor_count; t++)
        if (contract->tensors[t].roles & CUPEL_ROLE_INPUT) parts[count++] = (part){PART_INPUT, t};
    parts[count++] = (part){PART_RUN, 0};
    return count;
}

/* One part of a fresh recipe in place of the parent's: where several rare conditions must hold at once, this
 * keeps those that hold and meets the next as often as a draw does. */
static void graft(const cupel_contract *contract, cupel_random *random, const cupel_recipe *from,
                  cupel_recipe *to) {
    part parts[PARTS_MAX];
    int count = list_parts(contract, parts);
    part chosen = parts[cupel_random_below(random, (uint64_t)count)];
    switch (chosen.kind) {
    case PART_DIM: to->dims[chosen.index] = from->dims[chosen.index]; break;
    case PART_TYPE: to->types[chosen.index] = from->types[chosen.index]; break;
    case PART_PARAM: to->params[chosen.index] = from->params[chosen.index]; break;
    case PART_INPUT: to->tensors[chosen.index] = from->tensors[chosen.index]; break;
    case PART_RUN:
        to->aliases = from->aliases;
        to->schedule = from->schedule;
        to->history = from->history;
        to->calls = from->calls;
        to->poison = from->poison;
        break;
    }
}

static cupel_code change_once(const cupel_search *search, uint64_t n, cupel_random *random,
                              cupel_recipe *recipe, cupel_error *err) {
    if (cupel_random_below(random, 2))
        return cupel_recipe_mutate(search->contract, &search->limits, random, recipe, NULL, err);
    cupel_recipe fresh;
    CUPEL_TRY(make_fresh(search, n, random, &fresh, err));
    graft(search->contract, random, &fresh, recipe);
    return cupel_recipe_repair(search->contract, recipe, search->limits.max_elements, err);
}

static cupel_code change(const cupel_search *search, uint64_t n, cupel_random *random, cupel_recipe *recipe,
                         cupel_error *err) {
    const cupel_recipe parent = *recipe;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        *recipe = parent;
        CUPEL_TRY(change_once(search, n, random, recipe, err));
        if (is_welcome(search, &parent, recipe, random)) break;
    }
    return CUPEL_OK;
}

cupel_code cupel_mixture_next(const cupel_search *search, uint64_t n, const cupel_encoded *parent,
                              const cupel_encoded *other, cupel_front *front, cupel_recipe *out,
                              cupel_error *err) {
    if (is_fixed(search, n)) return cupel_engine_start(search, n, out, err);
    cupel_random random = choices(search, n);
    cupel_encoded ahead;
    uint64_t share = cupel_random_below(&random, SHARES);
    if (share < (n - search->start_count < EARLY ? DRAWS_EARLY : DRAWS_LATE))
        return cupel_engine_draw(search, n, out, err);
    if (share == SHARES - 1) return make_directed(search, n, &random, out, err);
    if (!other && cupel_random_below(&random, CORPUS_EVERY) && cupel_front_pick(front, &random, &ahead))
        parent = &ahead;
    if (!reads(search, parent, out)) return cupel_engine_draw(search, n, out, err);
    cupel_recipe second;
    if (reads(search, other, &second)) {
        cupel_recipe first = *out;
        CUPEL_TRY(
            cupel_recipe_crossover(search->contract, &search->limits, &random, &first, &second, out, err));
        if (cupel_random_below(&random, 2)) return CUPEL_OK;
    }
    return change(search, n, &random, out, err);
}

unsigned cupel_mixture_seed(const cupel_search *search) {
    return 1 + (unsigned)(cupel_philox(search->seed, STREAM_ENGINE, search->first) % INT32_MAX);
}
