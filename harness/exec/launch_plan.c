#include "launch_plan.h"

#include <string.h>

/* A macro's value may name what an entry may: BLOCK=$BLOCK. */
static cupel_code fill_defines(const cupel_binding *binding, cupel_arena *arena, cupel_entry_set *out,
                               size_t *length, cupel_error *err) {
    const cupel_contract *contract = binding->contract;
    out->defines =
        cupel_arena_alloc(arena, ((size_t)contract->source_define_count + 1) * sizeof *out->defines);
    if (out->defines == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < contract->source_define_count; i++) {
        out->defines[i] = contract->source_defines[i];
        if (strchr(out->defines[i], '$') == NULL) continue;
        char *filled;
        CUPEL_TRY(cupel_binding_define(binding, i, arena, &filled, err));
        out->defines[i] = filled;
        *length += strlen(filled) + 1;
    }
    return CUPEL_OK;
}

cupel_code cupel_launch_plan_defines(const cupel_contract *contract, const cupel_entry_set *set,
                                     const char *const *all, int count, cupel_arena *arena, const char ***out,
                                     cupel_error *err) {
    const char **list = cupel_arena_alloc(arena, ((size_t)count + 1) * sizeof *list);
    if (list == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < count; i++) list[i] = i < contract->source_define_count ? set->defines[i] : all[i];
    *out = list;
    return CUPEL_OK;
}

cupel_code cupel_launch_plan_entries(const cupel_binding *binding, cupel_arena *arena, cupel_entry_set *out,
                                     cupel_error *err) {
    const cupel_contract *contract = binding->contract;
    size_t length = 1;
    out->count = 0;
    for (int l = 0; l < contract->launch_count; l++) {
        char *entry;
        CUPEL_TRY(cupel_binding_entry(binding, &contract->launches[l], arena, &entry, err));
        int known = 0;
        while (known < out->count && strcmp(out->distinct[known], entry) != 0) known++;
        out->of_launch[l] = known;
        if (known < out->count) continue;
        out->distinct[out->count++] = entry;
        length += strlen(entry) + 1;
    }
    CUPEL_TRY(fill_defines(binding, arena, out, &length, err));
    out->key = cupel_arena_alloc(arena, length);
    if (out->key == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < out->count; i++) {
        strcat(out->key, out->distinct[i]);
        strcat(out->key, "\n");
    }
    for (int i = 0; i < contract->source_define_count; i++) {
        if (out->defines[i] == contract->source_defines[i]) continue;
        strcat(out->key, out->defines[i]);
        strcat(out->key, "\n");
    }
    return CUPEL_OK;
}

static cupel_code evaluate(const cupel_case *c, const cupel_scalar_expr *expr, int64_t *out,
                           cupel_error *err) {
    cupel_scalar value;
    CUPEL_TRY(cupel_binding_scalar(&c->binding, expr, c->strides, &value, err));
    if (value.real) {
        cupel_span text = cupel_scalar_text(expr);
        return cupel_fail_span(err, CUPEL_CONTRACT, text, "expected an integer, '%.*s' is %g",
                               (int)text.length, text.text, value.d);
    }
    *out = value.i;
    return CUPEL_OK;
}

int cupel_launch_plan_filled(const cupel_contract *contract, const char **names) {
    int count = 0;
    for (int l = 0; l < contract->launch_count; l++)
        for (int i = 0; i < contract->launches[l].symbol_count; i++)
            names[count++] = contract->launches[l].symbols[i].name;
    return count;
}

cupel_code cupel_launch_plan_fits(const cupel_launch *launch, const cupel_launch_plan *plan, int symbol,
                                  size_t size, cupel_error *err) {
    if (plan->symbols[symbol].bytes <= size) return CUPEL_OK;
    return cupel_fail_span(
        err, CUPEL_CONTRACT, launch->symbols[symbol].place,
        "expected a tensor of at most %zu bytes, which the variable '%s' holds, found %zu bytes", size,
        launch->symbols[symbol].name, plan->symbols[symbol].bytes);
}

static cupel_code plan_symbols(const cupel_case *c, const cupel_launch *launch, const cupel_guarded *guarded,
                               cupel_launch_plan *out, cupel_error *err) {
    out->symbol_count = launch->symbol_count;
    for (int i = 0; i < launch->symbol_count; i++) {
        const int tensor = launch->symbols[i].tensor;
        int64_t shape[CUPEL_RANK_MAX], count;
        CUPEL_TRY(cupel_binding_shape(&c->binding, tensor, shape, &count, err));
        out->symbols[i].from = cupel_guarded_tensor(guarded, c, tensor);
        out->symbols[i].bytes =
            (size_t)count * (size_t)cupel_format_of(cupel_binding_type(&c->binding, tensor))->size;
    }
    return CUPEL_OK;
}

cupel_code cupel_launch_plan_make(const cupel_case *c, const cupel_launch *launch,
                                  const cupel_emu_kernel *kernel, const cupel_guarded *guarded,
                                  cupel_launch_plan *out, cupel_error *err) {
    int64_t skip = 0;
    if (launch->skip_if != NULL) CUPEL_TRY(evaluate(c, launch->skip_if, &skip, err));
    out->skipped = skip != 0;
    if (out->skipped) return CUPEL_OK;
    out->dynamic_shared = 0;
    out->cooperative = launch->cooperative;
    for (int i = 0; i < 3; i++) out->grid[i] = out->block[i] = 1;
    for (int i = 0; i < launch->grid_rank; i++) CUPEL_TRY(evaluate(c, launch->grid[i], &out->grid[i], err));
    for (int i = 0; i < launch->block_rank; i++)
        CUPEL_TRY(evaluate(c, launch->block[i], &out->block[i], err));
    if (launch->shared != NULL) CUPEL_TRY(evaluate(c, launch->shared, &out->dynamic_shared, err));
    CUPEL_TRY(plan_symbols(c, launch, guarded, out, err));
    return cupel_arguments_evaluate(c, launch, kernel, guarded, &out->arguments, err);
}
