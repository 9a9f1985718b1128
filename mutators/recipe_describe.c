/* A recipe in one line for people. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "recipe_impl.h"
#include "schedule.h"

typedef struct line {
    char *text;
    size_t size, at;
} line;

static void add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(line *l, const char *format, ...) {
    if (l->at >= l->size) return;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(l->text + l->at, l->size - l->at, format, arguments);
    va_end(arguments);
    if (written > 0) l->at += (size_t)written;
}

static const char *placement_phrase(const cupel_tensor_recipe *tensor) {
    static const char *const phrases[CUPEL_PLACE_COUNT] = {"one ", "here and there ", "a row of ",
                                                           "a tile of ", "all "};
    return phrases[tensor->placement];
}

static const char *special_phrase(cupel_special special) {
    static const char *const phrases[CUPEL_SPECIAL_COUNT] = {"",     "-0",  "+inf",
                                                             "-inf", "NaN", "special values"};
    return phrases[special];
}

static void describe_layout(line *l, const cupel_layout *layout, int rank) {
    if (cupel_layout_is_contiguous(layout, rank)) return;
    bool transposed = false, padded = false;
    for (int axis = 0; axis < rank; axis++) {
        transposed |= layout->order[axis] != axis;
        padded |= layout->gap[axis] != 0;
    }
    if (transposed) add(l, ", transposed");
    if (padded) add(l, ", padded");
    if (layout->step > 1)
        add(l, ", every %d%s element", layout->step,
            layout->step == 2   ? "nd"
            : layout->step == 3 ? "rd"
                                : "th");
    if (layout->reversed) add(l, ", reversed");
    if (layout->expanded) add(l, ", expanded");
    if (layout->offset) add(l, ", offset by %d", layout->offset);
}

static void describe_tensor(line *l, const cupel_tensor_decl *decl, const cupel_tensor_recipe *tensor) {
    bool input = decl->roles & CUPEL_ROLE_INPUT;
    if (!input && cupel_layout_is_contiguous(&tensor->layout, decl->rank)) return;
    add(l, "; %s:", decl->name);
    if (!input) {
        describe_layout(l, &tensor->layout, decl->rank);
        return;
    }
    cupel_pattern_flags uses = cupel_pattern_uses(tensor->pattern);
    add(l, " %s", cupel_pattern_name(tensor->pattern));
    if (uses.amplitude && tensor->amplitude != 1) add(l, " of %g", tensor->amplitude);
    if (uses.centre && tensor->centre != 0) add(l, " around %g", tensor->centre);
    if (tensor->special != CUPEL_SPECIAL_NONE)
        add(l, ", %s%s", placement_phrase(tensor), special_phrase(tensor->special));
    if (tensor->edit_count > 0)
        add(l, ", %d element%s set", tensor->edit_count, tensor->edit_count == 1 ? "" : "s");
    describe_layout(l, &tensor->layout, decl->rank);
}

static void describe_run(line *l, const cupel_recipe *recipe) {
    char schedule[64];
    cupel_schedule_write(recipe->schedule, schedule, sizeof schedule);
    if (recipe->schedule != 0) add(l, "; schedule %s", schedule);
    if (recipe->history != CUPEL_HISTORY_NONE) add(l, "; after %s", cupel_history_words(recipe->history));
}

void cupel_recipe_describe(const cupel_contract *contract, const cupel_recipe *recipe, char *text,
                           size_t size) {
    if (size == 0) return;
    text[0] = 0;
    line l = {text, size, 0};
    for (int i = 0; i < contract->dim_count; i++)
        add(&l, "%s%s=%lld", i ? " " : "", contract->dims[i].name, (long long)recipe->dims[i]);
    for (int i = 0; i < contract->type_count; i++) {
        const cupel_type_variable *type = &contract->types[i];
        if (recipe->types[i] < type->count)
            add(&l, " %s=%s", type->name, cupel_format_of(type->claimed[recipe->types[i]])->name);
    }
    for (int i = 0; i < contract->param_count; i++)
        if (contract->params[i].kind != CUPEL_PARAM_FIXED)
            add(&l, " %s=%g", contract->params[i].name, recipe->params[i]);
    for (int t = 0; t < contract->tensor_count; t++)
        describe_tensor(&l, &contract->tensors[t], &recipe->tensors[t]);
    for (int i = 0; i < contract->alias_count; i++)
        if (recipe->aliases >> i & 1)
            add(&l, "; %s and %s share a buffer", contract->tensors[contract->aliases[i][0]].name,
                contract->tensors[contract->aliases[i][1]].name);
    describe_run(&l, recipe);
}
