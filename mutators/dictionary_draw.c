/* Dims, params and values out of the numbers of a kernel's own source (dictionary.h): themselves, just beside
 * them, multiples, remainders and sums. What is drawn is legal only after repair. */
#include <math.h>
#include <string.h>

#include "mutate.h"
#include "recipe_impl.h"

enum { ANY_ROLE = (1 << (CUPEL_WORD_MODULUS + 1)) - 1, EXACT_DOUBLE_BITS = 53 };

/* A word up to most of one of the roles; plain ones, of which there may be many, are one choice in eight
 * where there are others. NULL when there is none. */
static const cupel_word *pick(const cupel_dictionary *d, int roles, int64_t most, cupel_random *random) {
    uint64_t plain = 0, strong = 0;
    for (int i = 0; i < d->word_count; i++) {
        if (d->words[i].value > most || !(roles >> d->words[i].role & 1)) continue;
        *(d->words[i].role == CUPEL_WORD_PLAIN ? &plain : &strong) += 1;
    }
    if (plain + strong == 0) return NULL;
    bool wanted = strong == 0 || (plain > 0 && cupel_chance(random, 8));
    uint64_t which = cupel_random_below(random, wanted ? plain : strong);
    for (int i = 0;; i++) {
        if (d->words[i].value > most || !(roles >> d->words[i].role & 1)) continue;
        if ((d->words[i].role == CUPEL_WORD_PLAIN) == wanted && which-- == 0) return &d->words[i];
    }
}

/* 0..most, small ones more often. */
static int64_t small_below(int64_t most, cupel_random *random) {
    int bits = 0;
    while (bits < 40 && most >> bits > 0) bits++;
    int64_t value =
        (int64_t)cupel_random_below(random, UINT64_C(1) << cupel_random_below(random, (uint64_t)bits + 1));
    return value > most ? most : value;
}

static int64_t beside(int64_t value, cupel_random *random) {
    return cupel_chance(random, 2) ? value : value + (cupel_chance(random, 2) ? 1 : -1);
}

int64_t cupel_dictionary_word(const cupel_dictionary *d, int64_t cap, cupel_random *random) {
    const cupel_word *word = pick(d, ANY_ROLE, cap, random);
    if (word == NULL) return cap;
    const cupel_word *other = pick(d, ANY_ROLE, cap, random);
    int64_t most = cap / word->value, times = 2 + (int64_t)cupel_random_below(random, 3);
    if (times > most || cupel_chance(random, 4)) times = 1 + small_below(most - 1, random);
    int64_t edge = times * word->value + (int64_t)cupel_random_below(random, 3) - 1;
    /* sizes work by their multiples, what is compared by itself */
    bool size = word->role == CUPEL_WORD_SIZE || word->role == CUPEL_WORD_MODULUS;
    switch (cupel_random_below(random, 16)) {
    case 0: return word->value + other->value;
    case 1: return word->value > other->value ? word->value - other->value : other->value - word->value;
    case 2: return times * word->value + other->value;
    case 3:
    case 4:
    case 5: return edge;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11: return size ? edge : word->value;
    default: return beside(word->value, random);
    }
}

/* A modulus up to cap and what may be left when it divides. */
static bool pick_residue(const cupel_dictionary *d, int64_t cap, cupel_random *random, int64_t *modulus,
                         int64_t *residue) {
    const cupel_word *word = pick(d, 1 << CUPEL_WORD_MODULUS, cap, random);
    if (word == NULL || cupel_chance(random, 8)) word = pick(d, ANY_ROLE, cap, random);
    if (word == NULL) return false;
    const cupel_word *other = pick(d, ANY_ROLE, word->value - 1, random);
    *modulus = word->value;
    if (word->residue >= 0 && word->residue < word->value && !cupel_chance(random, 4))
        *residue = word->residue;
    else if (other != NULL && cupel_chance(random, 2))
        *residue = other->value;
    else
        *residue = (int64_t)cupel_random_below(random, (uint64_t)word->value);
    return true;
}

int64_t cupel_dictionary_residue(const cupel_dictionary *d, int64_t cap, cupel_random *random) {
    int64_t modulus, residue;
    if (!pick_residue(d, cap, random, &modulus, &residue) || residue > cap) return cap;
    int64_t most = (cap - residue) / modulus;
    int64_t times = cupel_chance(random, 2) ? small_below(most, random)
                                            : (int64_t)cupel_random_below(random, (uint64_t)most + 1);
    return residue + modulus * times;
}

int64_t cupel_dictionary_combine(const cupel_dictionary *d, int64_t cap, cupel_random *random) {
    int64_t modulus, residue;
    const cupel_word *other = pick(d, ANY_ROLE, cap, random);
    if (other == NULL || !pick_residue(d, cap, random, &modulus, &residue) || residue > cap) return cap;
    int64_t most = (cap - residue) / modulus, at = small_below(most, random);
    const int64_t wanted[] = {0, 0, 1, other->value - 1,
                              (int64_t)cupel_random_below(random, (uint64_t)other->value)};
    int64_t rest = wanted[cupel_random_below(random, sizeof wanted / sizeof *wanted)];
    /* remainders repeat after other->value steps at most */
    for (int64_t step = 0; step <= most && step < other->value && step < 4096; step++) {
        int64_t value = residue + modulus * ((at + step) % (most + 1));
        if (value % other->value == rest) return value;
    }
    /* none there: the first past a multiple of the other word */
    int64_t start = other->value * (1 + small_below(cap / other->value - 1, random));
    int64_t behind = ((residue - start) % modulus + modulus) % modulus;
    return start + behind <= cap ? start + behind : residue + modulus * at;
}

int64_t cupel_dictionary_dim(const cupel_dictionary *d, int64_t cap, cupel_random *random) {
    switch (cupel_random_below(random, 5)) {
    case 0: return cupel_dictionary_combine(d, cap, random);
    case 1:
    case 2: return cupel_dictionary_residue(d, cap, random);
    default: return cupel_dictionary_word(d, cap, random);
    }
}

int64_t cupel_dictionary_cap(const cupel_dim *dim, int64_t limit) {
    int64_t cap = dim->hi < limit ? dim->hi : limit;
    return cap > dim->lo ? cap : dim->lo;
}

void cupel_dictionary_make_room(const cupel_contract *contract, cupel_recipe *recipe, uint32_t kept,
                                int64_t limit) {
    cupel_binding binding;
    bool stuck[CUPEL_DIM_MAX] = {false};
    for (int attempt = 0; attempt < 64; attempt++) {
        if (cupel_recipe_binding(contract, recipe, &binding, NULL) != CUPEL_OK) return;
        int64_t total = cupel_dimensions_total(&binding);
        int largest = -1;
        if (total <= limit) return;
        for (int i = 0; i < contract->dim_count; i++) {
            bool usable = !(kept >> i & 1) && !stuck[i] && recipe->dims[i] > contract->dims[i].lo;
            if (usable && (largest < 0 || recipe->dims[i] > recipe->dims[largest])) largest = i;
        }
        if (largest < 0) return;
        int64_t before = recipe->dims[largest], half = before / 2 > 1 ? before / 2 : 1;
        recipe->dims[largest] = cupel_dimension_nearest(&contract->dims[largest], half);
        if (recipe->dims[largest] >= before) recipe->dims[largest] = before, stuck[largest] = true;
    }
}

/* A number of the dictionary, or a word where it has none or, now and then, where it has; also negated. */
static double pick_value(const cupel_dictionary *d, bool whole, cupel_random *random) {
    const cupel_word *word = pick(d, ANY_ROLE, INT64_C(1) << EXACT_DOUBLE_BITS, random);
    bool real = d->number_count > 0 && (word == NULL || (!whole && !cupel_chance(random, 4)));
    double value = real           ? d->numbers[cupel_random_below(random, (uint64_t)d->number_count)]
                   : word != NULL ? (double)word->value
                                  : 0;
    return cupel_chance(random, 3) ? -value : value;
}

/* The value itself, the next number of the type on either side, or one a sixteenth further. */
static double beside_value(cupel_dtype type, double value, cupel_random *random) {
    if (cupel_format_of(type)->kind != CUPEL_KIND_REAL) return beside((int64_t)value, random);
    switch (cupel_random_below(random, 8)) {
    case 0: return cupel_next_up(type, value);
    case 1: return cupel_next_down(type, value);
    case 2: return value * 1.0625;
    case 3: return value * 0.9375;
    default: return value;
    }
}

double cupel_dictionary_value(const cupel_dictionary *d, cupel_dtype type, cupel_random *random) {
    bool whole = cupel_format_of(type)->kind != CUPEL_KIND_REAL;
    double value = pick_value(d, whole, random);
    if (whole) value = rint(fabs(value) > 0x1p62 ? copysign(0x1p62, value) : value);
    return beside_value(type, value, random);
}

double cupel_dictionary_param(const cupel_dictionary *d, const cupel_param *param, cupel_random *random) {
    double value = pick_value(d, param->integral, random);
    double moved = beside_value(param->integral ? CUPEL_I64 : CUPEL_F32, value, random);
    return cupel_param_nearest(param, moved);
}

void cupel_dictionary_edit(const cupel_dictionary *d, const cupel_tensor_facts *facts, cupel_random *random,
                           cupel_tensor_recipe *tensor) {
    cupel_edit *edit = cupel_draw_edit_place(facts, random, tensor);
    if (edit == NULL) return;
    double value = cupel_dictionary_value(d, facts->type, random);
    edit->bits = 0;
    if (facts->format->kind == CUPEL_KIND_REAL)
        cupel_encode(facts->type, value, &edit->bits);
    else
        edit->bits = (uint64_t)(int64_t)value;
}

void cupel_dictionary_scale(const cupel_dictionary *d, const cupel_tensor_facts *facts, cupel_random *random,
                            cupel_tensor_recipe *tensor) {
    double value = cupel_dictionary_value(d, facts->type, random);
    cupel_pattern_flags uses = cupel_pattern_uses(tensor->pattern);
    if (!uses.amplitude || tensor->pattern == CUPEL_PATTERN_LOG_UNIFORM || cupel_chance(random, 4)) {
        tensor->pattern = cupel_chance(random, 2) ? CUPEL_PATTERN_CONSTANT : CUPEL_PATTERN_UNIFORM;
        tensor->amplitude = 1, tensor->centre = 0;
        if (tensor->seed == 0) tensor->seed = 1 + (uint32_t)cupel_random_below(random, UINT32_MAX);
        uses = cupel_pattern_uses(tensor->pattern);
    }
    if (uses.centre && cupel_chance(random, 2))
        tensor->centre = value;
    else
        tensor->amplitude = tensor->pattern == CUPEL_PATTERN_CONSTANT ? value : fabs(value);
}

static void lean_values(const cupel_dictionary *d, const cupel_binding *binding, cupel_random *random,
                        cupel_recipe *recipe) {
    const cupel_contract *contract = binding->contract;
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_facts facts;
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT) || !cupel_chance(random, 3)) continue;
        if (cupel_facts_of(binding, t, &facts, NULL) != CUPEL_OK) continue;
        if (cupel_chance(random, 2))
            cupel_dictionary_scale(d, &facts, random, &recipe->tensors[t]);
        else
            cupel_dictionary_edit(d, &facts, random, &recipe->tensors[t]);
    }
}

cupel_code cupel_recipe_draw_directed(const cupel_contract *contract, const cupel_limits *limits,
                                      cupel_random *random, cupel_recipe *out, cupel_error *err) {
    int64_t limit = cupel_limits_elements(limits);
    CUPEL_TRY(cupel_recipe_draw(contract, limits, cupel_random_u64(random), 0, out, err));
    const cupel_dictionary *d = limits != NULL ? limits->dictionary : NULL;
    if (d == NULL || d->word_count + d->number_count == 0) return CUPEL_OK;
    uint32_t kept = 0;
    for (int i = 0; i < contract->dim_count && d->word_count > 0; i++) {
        const cupel_dim *dim = &contract->dims[i];
        if (dim->lo == dim->hi || !cupel_chance(random, 2)) continue;
        out->dims[i] =
            cupel_dimension_nearest(dim, cupel_dictionary_dim(d, cupel_dictionary_cap(dim, limit), random));
        kept |= 1u << i;
    }
    for (int i = 0; i < contract->param_count; i++)
        if (cupel_chance(random, 3)) out->params[i] = cupel_dictionary_param(d, &contract->params[i], random);
    cupel_dictionary_make_room(contract, out, kept, limit);
    CUPEL_TRY(cupel_recipe_repair(contract, out, limit, err));
    cupel_binding binding;
    CUPEL_TRY(cupel_recipe_binding(contract, out, &binding, err));
    lean_values(d, &binding, random, out);
    return cupel_recipe_repair(contract, out, limit, err);
}
