/* Recipe to YAML. Fields at their defaults (zero; step 1; axes in order) are left out; numbers that a decimal
 * form could spoil are hexadecimal, with a comment for people. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipe_yaml.h"
#include "schedule.h"

static const char *const tensor_keys[] = {CUPEL_TENSOR_KEYS(CUPEL_YAML_TEXT)};
static const char *const case_keys[] = {CUPEL_CASE_KEYS(CUPEL_YAML_TEXT)};

typedef struct text {
    char *bytes;
    size_t size, at;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(t->bytes + t->at, t->size - t->at, format, arguments);
    va_end(arguments);
    if (written > 0) t->at = t->at + (size_t)written < t->size ? t->at + (size_t)written : t->size - 1;
}

/* A double that reads back to the same bits: decimal where three digits do, else hexadecimal. */
static void add_double(text *t, double value) {
    char decimal[32];
    snprintf(decimal, sizeof decimal, "%.3g", value);
    double back = strtod(decimal, NULL);
    if (memcmp(&back, &value, sizeof value) == 0)
        add(t, "%s", decimal);
    else
        add(t, "%a", value);
}

static void comment_double(text *t, double value) {
    char decimal[32];
    snprintf(decimal, sizeof decimal, "%.3g", value);
    double back = strtod(decimal, NULL);
    if (memcmp(&back, &value, sizeof value) != 0) add(t, " # %.9g", value);
    add(t, "\n");
}

static void add_axes(text *t, const char *key, unsigned axes) {
    if (axes == 0) return;
    add(t, "    %s: [", key);
    for (int axis = 0, first = 1; axis < CUPEL_RANK_MAX; axis++)
        if (axes >> axis & 1) add(t, "%s%d", first ? "" : ", ", axis), first = 0;
    add(t, "]\n");
}

static void add_bytes(text *t, const char *key, const uint8_t *values, int count) {
    add(t, "    %s: [", key);
    for (int i = 0; i < count; i++) add(t, "%s%d", i ? ", " : "", values[i]);
    add(t, "]\n");
}

static void add_layout(text *t, const cupel_layout *layout, int rank) {
    bool ordered = true, gaps = false;
    for (int axis = 0; axis < rank; axis++) {
        ordered &= layout->order[axis] == axis;
        gaps |= layout->gap[axis] != 0;
    }
    if (!ordered) add_bytes(t, tensor_keys[CUPEL_KEY_ORDER], layout->order, rank);
    if (gaps) add_bytes(t, tensor_keys[CUPEL_KEY_GAP], layout->gap, rank);
    if (layout->step != 1) add(t, "    %s: %d\n", tensor_keys[CUPEL_KEY_STEP], layout->step);
    add_axes(t, tensor_keys[CUPEL_KEY_REVERSED], layout->reversed);
    add_axes(t, tensor_keys[CUPEL_KEY_EXPANDED], layout->expanded);
    if (layout->offset != 0) add(t, "    %s: %d\n", tensor_keys[CUPEL_KEY_OFFSET], layout->offset);
}

static void add_edits(text *t, cupel_dtype type, const cupel_tensor_recipe *tensor) {
    if (tensor->edit_count == 0) return;
    int digits = (int)cupel_format_of(type)->size * 2;
    add(t, "    %s:\n", tensor_keys[CUPEL_KEY_EDITS]);
    for (int i = 0; i < tensor->edit_count; i++) {
        const cupel_edit *edit = &tensor->edits[i];
        add(t, "      - [%lld, 0x%0*llx] # ", (long long)edit->index, digits, (unsigned long long)edit->bits);
        if (cupel_format_of(type)->kind == CUPEL_KIND_REAL)
            add(t, "%.9g\n", cupel_decode(type, &edit->bits));
        else
            add(t, type == CUPEL_U64 ? "%llu\n" : "%lld\n", (long long)cupel_decode_int(type, &edit->bits));
    }
}

static void add_tensor(text *t, const char *name, int rank, cupel_dtype type,
                       const cupel_tensor_recipe *tensor) {
    add(t, "  %s:\n    %s: %s\n", name, tensor_keys[CUPEL_KEY_PATTERN], cupel_pattern_name(tensor->pattern));
    if (tensor->seed != 0) add(t, "    %s: %u\n", tensor_keys[CUPEL_KEY_SEED], tensor->seed);
    const double zero = 0;
    const struct {
        cupel_tensor_key key;
        const double *value;
    } numbers[] = {{CUPEL_KEY_AMPLITUDE, &tensor->amplitude}, {CUPEL_KEY_CENTRE, &tensor->centre}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (memcmp(numbers[i].value, &zero, sizeof zero) == 0) continue;
        add(t, "    %s: ", tensor_keys[numbers[i].key]);
        add_double(t, *numbers[i].value);
        comment_double(t, *numbers[i].value);
    }
    if (tensor->special != CUPEL_SPECIAL_NONE)
        add(t, "    %s: %s\n", tensor_keys[CUPEL_KEY_SPECIAL], cupel_special_name(tensor->special));
    if (tensor->special != CUPEL_SPECIAL_NONE || tensor->placement != CUPEL_PLACE_SINGLE)
        add(t, "    %s: %s\n", tensor_keys[CUPEL_KEY_PLACE], cupel_placement_name(tensor->placement));
    if (tensor->special_seed != 0)
        add(t, "    %s: %u\n", tensor_keys[CUPEL_KEY_SPECIAL_SEED], tensor->special_seed);
    add_layout(t, &tensor->layout, rank);
    add_edits(t, type, tensor);
}

static cupel_dtype type_of(const cupel_contract *contract, const cupel_recipe *recipe, int tensor) {
    const cupel_tensor_decl *decl = &contract->tensors[tensor];
    return decl->type_variable < 0
               ? decl->type
               : contract->types[decl->type_variable].claimed[recipe->types[decl->type_variable]];
}

static void add_bindings(text *t, const cupel_contract *contract, const cupel_recipe *recipe) {
    add(t, "%s: {", case_keys[CUPEL_KEY_DIMS]);
    for (int i = 0; i < contract->dim_count; i++)
        add(t, "%s%s: %lld", i ? ", " : "", contract->dims[i].name, (long long)recipe->dims[i]);
    add(t, "}\n");
    if (contract->type_count > 0) {
        add(t, "%s: {", case_keys[CUPEL_KEY_TYPES]);
        for (int i = 0; i < contract->type_count; i++)
            add(t, "%s%s: %s", i ? ", " : "", contract->types[i].name,
                cupel_format_of(contract->types[i].claimed[recipe->types[i]])->name);
        add(t, "}\n");
    }
    if (contract->param_count == 0) return;
    add(t, "%s:\n", case_keys[CUPEL_KEY_PARAMS]);
    for (int i = 0; i < contract->param_count; i++) {
        add(t, "  %s: ", contract->params[i].name);
        add_double(t, recipe->params[i]);
        comment_double(t, recipe->params[i]);
    }
}

static void add_aliases(text *t, const cupel_contract *contract, const cupel_recipe *recipe) {
    if (recipe->aliases == 0) return;
    add(t, "%s: [", case_keys[CUPEL_KEY_ALIASES]);
    for (int i = 0, first = 1; i < contract->alias_count; i++)
        if (recipe->aliases >> i & 1) {
            add(t, "%s[%s, %s]", first ? "" : ", ", contract->tensors[contract->aliases[i][0]].name,
                contract->tensors[contract->aliases[i][1]].name);
            first = 0;
        }
    add(t, "]\n");
}

cupel_code cupel_recipe_write(const cupel_contract *contract, const cupel_recipe *recipe, cupel_arena *arena,
                              char **out, cupel_error *err) {
    for (int i = 0; i < contract->type_count; i++)
        if (recipe->types[i] >= contract->types[i].count)
            return cupel_fail(err, CUPEL_RANGE, "type %s has no choice %d", contract->types[i].name,
                              recipe->types[i]);
    size_t size = 4096;
    for (int t = 0; t < contract->tensor_count; t++)
        size += 1024 + (size_t)recipe->tensors[t].edit_count * 96;
    for (int i = 0; i < contract->dim_count + contract->param_count; i++) size += 512;
    text t = {cupel_arena_alloc(arena, size), size, 0};
    if (t.bytes == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for the text of a case");
    add(&t, "%s: %d\n%s: %s\n", case_keys[CUPEL_KEY_VERSION], CUPEL_RECIPE_VERSION,
        case_keys[CUPEL_KEY_CONTRACT], contract->id);
    add_bindings(&t, contract, recipe);
    add(&t, "%s:\n", case_keys[CUPEL_KEY_TENSORS]);
    for (int i = 0; i < contract->tensor_count; i++)
        add_tensor(&t, contract->tensors[i].name, contract->tensors[i].rank, type_of(contract, recipe, i),
                   &recipe->tensors[i]);
    add_aliases(&t, contract, recipe);
    char schedule[64];
    cupel_schedule_write(recipe->schedule, schedule, sizeof schedule);
    add(&t, "%s: %s\n", case_keys[CUPEL_KEY_SCHEDULE], schedule);
    char history[64];
    cupel_history_write(recipe, history, sizeof history);
    if (recipe->history != CUPEL_HISTORY_NONE) add(&t, "%s: %s\n", case_keys[CUPEL_KEY_HISTORY], history);
    if (recipe->permutation != 0) add(&t, "%s: %u\n", case_keys[CUPEL_KEY_PERMUTATION], recipe->permutation);
    add(&t, "%s: %u\n", case_keys[CUPEL_KEY_POISON], recipe->poison);
    if (t.at + 1 >= t.size) return cupel_fail(err, CUPEL_RANGE, "the names of %s are too long", contract->id);
    *out = t.bytes;
    return CUPEL_OK;
}
