/* What is called before the judged call: its names and words, how it is chosen, and the calls themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_impl.h"

const char *cupel_history_name(cupel_history history) {
    static const char *const names[CUPEL_HISTORY_COUNT] = {
#define CUPEL_HISTORY_TEXT(name, text, one, many) text,
        CUPEL_HISTORIES(CUPEL_HISTORY_TEXT)
#undef CUPEL_HISTORY_TEXT
    };
    return (unsigned)history < CUPEL_HISTORY_COUNT ? names[history] : "?";
}

int cupel_recipe_calls(const cupel_recipe *recipe) {
    const int least = recipe->history == CUPEL_HISTORY_FIRST_AGAIN ? 2 : 1;
    if (recipe->history == CUPEL_HISTORY_NONE) return 0;
    if (recipe->calls < least) return least;
    return recipe->calls > CUPEL_CALLS_MAX ? CUPEL_CALLS_MAX : recipe->calls;
}

void cupel_history_write(const cupel_recipe *recipe, char *text, size_t size) {
    int calls = cupel_recipe_calls(recipe);
    snprintf(text, size, calls > 1 ? "%s:%d" : "%s", cupel_history_name(recipe->history), calls);
}

bool cupel_history_read(const char *text, cupel_recipe *out) {
    size_t length = strcspn(text, ":");
    unsigned long calls = 1;
    if (text[length] == ':') {
        const char *digits = text + length + 1;
        size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 2 || digits[count] != '\0') return false;
        calls = strtoul(digits, NULL, 10);
        if (calls < 1 || calls > CUPEL_CALLS_MAX) return false;
    }
    for (int h = 0; h < CUPEL_HISTORY_COUNT; h++) {
        const char *name = cupel_history_name((cupel_history)h);
        if (strlen(name) != length || strncmp(text, name, length) != 0) continue;
        if (h == CUPEL_HISTORY_NONE && text[length] != '\0') return false;
        out->history = (cupel_history)h;
        out->calls = h == CUPEL_HISTORY_NONE ? 0 : (uint8_t)calls;
        out->calls = (uint8_t)cupel_recipe_calls(out);
        return true;
    }
    return false;
}

void cupel_history_describe(const cupel_recipe *recipe, char *text, size_t size) {
    static const struct {
        const char *one, *many;
    } words[CUPEL_HISTORY_COUNT] = {
#define CUPEL_HISTORY_WORDS(name, text, one, many) {one, many},
        CUPEL_HISTORIES(CUPEL_HISTORY_WORDS)
#undef CUPEL_HISTORY_WORDS
    };
    int calls = cupel_recipe_calls(recipe);
    unsigned history = (unsigned)recipe->history;
    if (history >= CUPEL_HISTORY_COUNT)
        snprintf(text, size, "?");
    else if (calls <= 1)
        snprintf(text, size, "%s", words[history].one);
    else
        snprintf(text, size, "%d %s", calls, words[history].many);
}

/* ---- choosing ---- */

/* For starts, in turn. */
void cupel_history_nth(uint64_t n, cupel_recipe *recipe) {
    static const struct {
        cupel_history history;
        uint8_t calls;
    } turns[] = {
        {CUPEL_HISTORY_REPEAT, 1},        {CUPEL_HISTORY_OTHER_SHAPE, 1},   {CUPEL_HISTORY_OTHER_VALUES, 1},
        {CUPEL_HISTORY_REPEAT, 3},        {CUPEL_HISTORY_OTHER_BUFFERS, 1}, {CUPEL_HISTORY_OTHER_SHAPE, 2},
        {CUPEL_HISTORY_REPEAT, 2},        {CUPEL_HISTORY_OTHER_VALUES, 3},  {CUPEL_HISTORY_REPEAT, 5},
        {CUPEL_HISTORY_OTHER_BUFFERS, 2}, {CUPEL_HISTORY_OTHER_VALUES, 5},  {CUPEL_HISTORY_REPEAT, 11},
        {CUPEL_HISTORY_FIRST_AGAIN, 2},   {CUPEL_HISTORY_FIRST_AGAIN, 4},   {CUPEL_HISTORY_FIRST_AGAIN, 11}};
    enum { TURNS_COUNT = sizeof turns / sizeof *turns };
    recipe->history = turns[n % TURNS_COUNT].history;
    recipe->calls = turns[n % TURNS_COUNT].calls;
}

/* An index, drawn by weight. */
static int drawn_by(cupel_random *random, const uint8_t *weights, int count) {
    unsigned total = 0;
    int i = 0;
    for (int k = 0; k < count; k++) total += weights[k];
    unsigned at = (unsigned)cupel_random_below(random, total);
    while (at >= weights[i]) at -= weights[i++];
    return i;
}

/* Many calls are dear, and what the third shows the twelfth shows, mostly: they come rarely. But every count
 * comes, for a state may show at one of them alone: a ring of eight slots gives back what the first call left
 * at the ninth. */
void cupel_draw_history(cupel_random *random, cupel_recipe *recipe) {
    static const uint8_t kinds[CUPEL_HISTORY_COUNT] = {[CUPEL_HISTORY_REPEAT] = 11,
                                                       [CUPEL_HISTORY_OTHER_VALUES] = 12,
                                                       [CUPEL_HISTORY_OTHER_BUFFERS] = 9,
                                                       [CUPEL_HISTORY_OTHER_SHAPE] = 9,
                                                       [CUPEL_HISTORY_FIRST_AGAIN] = 7};
    static const uint8_t counts[CUPEL_CALLS_MAX + 1] = {0, 36, 14, 9, 5, 4, 2, 2, 2, 1, 1, 1, 1};
    recipe->history = (cupel_history)drawn_by(random, kinds, CUPEL_HISTORY_COUNT);
    recipe->calls = (uint8_t)drawn_by(random, counts, CUPEL_CALLS_MAX + 1);
    recipe->calls = (uint8_t)cupel_recipe_calls(recipe);
}

void cupel_history_repair(const cupel_contract *contract, cupel_recipe *recipe) {
    bool inputs = false, shapes = false;
    for (int t = 0; t < contract->tensor_count; t++)
        inputs = inputs || contract->tensors[t].roles & CUPEL_ROLE_INPUT;
    for (int d = 0; d < contract->dim_count; d++)
        shapes = shapes || (!contract->dims[d].variant && contract->dims[d].lo < contract->dims[d].hi);
    if ((unsigned)recipe->history >= CUPEL_HISTORY_COUNT) recipe->history = CUPEL_HISTORY_NONE;
    if (recipe->history == CUPEL_HISTORY_OTHER_SHAPE && !shapes) recipe->history = CUPEL_HISTORY_OTHER_VALUES;
    if (recipe->history == CUPEL_HISTORY_OTHER_VALUES && !inputs) recipe->history = CUPEL_HISTORY_REPEAT;
    recipe->calls = (uint8_t)cupel_recipe_calls(recipe);
}

/* ---- the calls ---- */

/* Far from the seeds that people and the minimiser choose. */
enum { EARLIER_SEED = 0x5EED };

static void change_values(const cupel_contract *contract, int call, cupel_recipe *r) {
    for (int t = 0; t < contract->tensor_count; t++) {
        cupel_tensor_recipe *tensor = &r->tensors[t];
        if (!(contract->tensors[t].roles & CUPEL_ROLE_INPUT)) continue;
        tensor->edit_count = 0;
        tensor->seed += EARLIER_SEED * (uint32_t)(call + 1);
        tensor->special_seed += EARLIER_SEED * (uint32_t)(call + 1);
        if (cupel_pattern_uses(tensor->pattern).seed) continue;
        tensor->pattern = CUPEL_PATTERN_INTEGERS; /* constants and the like are the same for every seed */
        tensor->amplitude = 4;
        tensor->seed = EARLIER_SEED * (uint32_t)(call + 1);
    }
}

/* Does a launch's entry name the dim, or a let, which may hang on it? Another value would be another kernel,
 * with variables of its own. */
static bool in_entry(const cupel_contract *contract, int dim) {
    for (int l = 0; l < contract->launch_count; l++)
        for (const char *p = strchr(contract->launches[l].entry, '$'); p; p = strchr(p + 1, '$')) {
            size_t length = strspn(p + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
            bool type = false;
            for (int i = 0; i < contract->type_count; i++)
                type = type || (strlen(contract->types[i].name) == length &&
                                !strncmp(contract->types[i].name, p + 1, length));
            bool other = false;
            for (int d = 0; d < contract->dim_count; d++)
                other = other || (d != dim && strlen(contract->dims[d].name) == length &&
                                  !strncmp(contract->dims[d].name, p + 1, length));
            if (!type && !other) return true;
        }
    return false;
}

/* Every dim that may change divided or multiplied by 2^steps, made legal. Larger cases have at most eight
 * times the elements, and no more than a draw. False when that leaves the dims as they are. */
static bool scale_dims(const cupel_contract *contract, const cupel_recipe *from, bool smaller, int steps,
                       cupel_recipe *r) {
    bool differs = false;
    cupel_binding binding;
    if (cupel_recipe_binding(contract, from, &binding, NULL) != CUPEL_OK) return false;
    int64_t total = cupel_dimensions_total(&binding), limit = CUPEL_DEFAULT_MAX_ELEMENTS;
    if (total < limit / 8) limit = 8 * total;
    if (limit < total) limit = total;
    for (int d = 0; d < contract->dim_count; d++) {
        if (contract->dims[d].variant || in_entry(contract, d) || from->dims[d] > INT64_MAX >> 16) continue;
        int64_t value = smaller ? from->dims[d] >> steps : from->dims[d] << steps;
        r->dims[d] = cupel_dimension_nearest(&contract->dims[d], value);
    }
    if (cupel_recipe_repair(contract, r, limit > 0 ? limit : 1, NULL) != CUPEL_OK) return false;
    for (int d = 0; d < contract->dim_count; d++) {
        if (r->dims[d] == from->dims[d]) continue;
        if (in_entry(contract, d)) return false;
        differs = true;
    }
    return differs;
}

/* The last of the calls is the smaller one, the one before it the larger one, and so on, ever further off. */
static void change_shape(const cupel_contract *contract, const cupel_recipe *recipe, int call,
                         cupel_recipe *r) {
    int back = cupel_recipe_calls(recipe) - 1 - call;
    const cupel_recipe same = *r;
    if (scale_dims(contract, recipe, back % 2 == 0, 1 + back / 2, r)) return;
    *r = same;
    if (!scale_dims(contract, recipe, back % 2 != 0, 1 + back / 2, r)) *r = same;
}

/* What the calls behind the first one of FIRST_AGAIN have, in turn. */
enum { TURN_SHAPE, TURN_VALUES, TURN_BUFFERS, TURNS };
static int turn_of(int call) {
    return (call + TURNS - 1) % TURNS;
}

bool cupel_recipe_elsewhere(const cupel_recipe *recipe, int call) {
    return recipe->history == CUPEL_HISTORY_OTHER_BUFFERS ||
           (recipe->history == CUPEL_HISTORY_FIRST_AGAIN && call > 0 && turn_of(call) == TURN_BUFFERS);
}

cupel_code cupel_recipe_earlier(const cupel_contract *contract, const cupel_recipe *recipe, int call,
                                cupel_recipe *out, cupel_error *err) {
    *out = *recipe;
    out->history = CUPEL_HISTORY_NONE;
    out->calls = 0;
    out->schedule = 0;
    const bool again = recipe->history == CUPEL_HISTORY_FIRST_AGAIN;
    if (recipe->history == CUPEL_HISTORY_REPEAT || (again && call == 0)) return CUPEL_OK;
    change_values(contract, call, out);
    if (recipe->history == CUPEL_HISTORY_OTHER_SHAPE || (again && turn_of(call) == TURN_SHAPE))
        change_shape(contract, recipe, call, out);
    return cupel_recipe_repair(contract, out, INT64_C(1) << 40, err);
}
