/* A recipe in one line for people. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "recipe_impl.h"
#include "schedule.h"

enum { EDITS_TOLD = 3 };

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

/* separator: what comes before the first word. */
static void describe_layout(line *l, const cupel_layout *layout, int rank, const char *separator) {
    const size_t from = l->at;
    if (cupel_layout_is_contiguous(layout, rank)) return;
    bool transposed = false, padded = false;
    for (int axis = 0; axis < rank; axis++) {
        transposed |= layout->order[axis] != axis;
        padded |= layout->gap[axis] != 0;
    }
#define NEXT (l->at == from ? separator : ", ")
    if (transposed) add(l, "%stransposed", NEXT);
    if (padded) add(l, "%spadded", NEXT);
    if (layout->step > 1)
        add(l, "%severy %d%s element", NEXT, layout->step,
            layout->step == 2   ? "nd"
            : layout->step == 3 ? "rd"
                                : "th");
    if (layout->reversed) add(l, "%sreversed", NEXT);
    if (layout->expanded) add(l, "%sexpanded", NEXT);
    if (layout->offset) add(l, "%soffset by %d", NEXT, layout->offset);
#undef NEXT
}

static void describe_number(line *l, cupel_dtype type, uint64_t bits) {
    const cupel_format *format = cupel_format_of(type);
    if (format->kind != CUPEL_KIND_REAL) {
        add(l, type == CUPEL_U64 ? "%llu" : "%lld", (long long)cupel_decode_int(type, &bits));
        return;
    }
    double value = cupel_decode(type, &bits);
    if (isnan(value))
        add(l, "nan");
    else
        add(l, "%.*g", format->precision > 24 ? 17 : format->precision > 11 ? 9 : 6, value);
}

/* ", x[0, 32] = -inf": single elements; edits beyond the tensor have no effect. */
static void describe_edits(line *l, const cupel_binding *binding, int t, const cupel_tensor_recipe *tensor) {
    const cupel_tensor_decl *decl = &binding->contract->tensors[t];
    int64_t shape[CUPEL_RANK_MAX], count = 0;
    int told = 0, more = 0;
    if (cupel_binding_shape(binding, t, shape, &count, NULL) != CUPEL_OK) return;
    for (int e = 0; e < tensor->edit_count; e++) {
        int64_t rest = tensor->edits[e].index, place[CUPEL_RANK_MAX];
        if (rest < 0 || rest >= count) continue;
        if (told == EDITS_TOLD) {
            more++;
            continue;
        }
        for (int axis = decl->rank - 1; axis >= 0; axis--) {
            place[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        add(l, ", %s", decl->name);
        for (int axis = 0; axis < decl->rank; axis++)
            add(l, "%s%lld", axis ? ", " : "[", (long long)place[axis]);
        add(l, "%s = ", decl->rank ? "]" : "");
        describe_number(l, cupel_binding_type(binding, t), tensor->edits[e].bits);
        told++;
    }
    if (more) add(l, ", %d more element%s set", more, more == 1 ? "" : "s");
}

/* binding NULL: the recipe has none. */
static void describe_tensor(line *l, const cupel_tensor_decl *decl, const cupel_tensor_recipe *tensor,
                            const cupel_binding *binding, int t) {
    bool input = decl->roles & CUPEL_ROLE_INPUT;
    if (!input && cupel_layout_is_contiguous(&tensor->layout, decl->rank)) return;
    add(l, "; %s:", decl->name);
    if (!input) {
        describe_layout(l, &tensor->layout, decl->rank, " ");
        return;
    }
    cupel_pattern_flags uses = cupel_pattern_uses(tensor->pattern);
    add(l, " %s", cupel_pattern_name(tensor->pattern));
    if (uses.amplitude && tensor->amplitude != 1) add(l, " of %g", tensor->amplitude);
    if (uses.centre && tensor->centre != 0) add(l, " around %g", tensor->centre);
    if (tensor->special != CUPEL_SPECIAL_NONE)
        add(l, ", %s%s", placement_phrase(tensor), special_phrase(tensor->special));
    if (binding) describe_edits(l, binding, t, tensor);
    describe_layout(l, &tensor->layout, decl->rank, ", ");
}

static void describe_permutation(line *l, uint32_t permutation) {
    static const char *const names[] = {"", "reversed", "rotated by one", "with their halves exchanged",
                                        "even places first"};
    if (permutation == 0) return;
    if (permutation < sizeof names / sizeof *names)
        add(l, "; reduced axes %s", names[permutation]);
    else
        add(l, "; reduced axes permuted (%u)", permutation);
}

static void describe_run(line *l, const cupel_contract *contract, const cupel_recipe *recipe) {
    describe_permutation(l, recipe->permutation);
    if (contract->options.fmad == CUPEL_FMAD_UNSAID && cupel_recipe_fuses(contract, recipe))
        add(l, "; a * b + c rounded once");
    char schedule[64];
    cupel_schedule_write(recipe->schedule, schedule, sizeof schedule);
    if (recipe->schedule != 0) add(l, "; schedule %s", schedule);
    char history[96];
    cupel_history_describe(recipe, history, sizeof history);
    if (recipe->history != CUPEL_HISTORY_NONE) add(l, "; after %s", history);
}

static void describe_shape(line *l, const cupel_contract *contract, const cupel_recipe *recipe) {
    for (int i = 0; i < contract->dim_count; i++)
        add(l, "%s%s=%lld", i ? " " : "", contract->dims[i].name, (long long)recipe->dims[i]);
    for (int i = 0; i < contract->type_count; i++) {
        const cupel_type_variable *type = &contract->types[i];
        if (recipe->types[i] < type->count)
            add(l, " %s=%s", type->name, cupel_format_of(type->claimed[recipe->types[i]])->name);
    }
    for (int i = 0; i < contract->param_count; i++)
        if (contract->params[i].kind != CUPEL_PARAM_FIXED)
            add(l, " %s=%g", contract->params[i].name, recipe->params[i]);
}

void cupel_recipe_describe_shape(const cupel_contract *contract, const cupel_recipe *recipe, char *text,
                                 size_t size) {
    if (size == 0) return;
    text[0] = 0;
    line l = {text, size, 0};
    describe_shape(&l, contract, recipe);
}

void cupel_recipe_describe(const cupel_contract *contract, const cupel_recipe *recipe, char *text,
                           size_t size) {
    if (size == 0) return;
    text[0] = 0;
    line l = {text, size, 0};
    cupel_binding binding;
    bool bound = cupel_recipe_binding(contract, recipe, &binding, NULL) == CUPEL_OK;
    describe_shape(&l, contract, recipe);
    for (int t = 0; t < contract->tensor_count; t++)
        describe_tensor(&l, &contract->tensors[t], &recipe->tensors[t], bound ? &binding : NULL, t);
    for (int i = 0; i < contract->alias_count; i++)
        if (recipe->aliases >> i & 1)
            add(&l, "; %s and %s share a buffer", contract->tensors[contract->aliases[i][0]].name,
                contract->tensors[contract->aliases[i][1]].name);
    describe_run(&l, contract, recipe);
}
