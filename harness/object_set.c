#include "object_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu_compile.h"
#include "launch_plan.h"

enum { VALUES_MAX = 64, SETS_MAX = 256, DIGITS_MAX = CUPEL_TYPE_MAX + CUPEL_DIM_MAX + CUPEL_PARAM_MAX };

/* One thing that the bindings vary in. */
typedef struct digit {
    enum { OF_TYPE, OF_DIM, OF_PARAM } kind;
    int index, count;
} digit;

typedef struct object_set {
    const cupel_contract *contract;
    cupel_arena *arena;
    cupel_source *source;
    cupel_emu_compile_request request;
    const char *folder;
    const char *const *defines; /* the contract's, as they are written, then the command line's */
    int digit_count;
    digit digits[DIGITS_MAX];
    int key_count;
    char *keys[SETS_MAX];
    cupel_object_set_report *out;
} object_set;

/* ---- what varies ---- */

/* Does some entry or macro name $NAME? */
static bool mentioned(const cupel_contract *contract, const char *name) {
    char hole[128];
    snprintf(hole, sizeof hole, "$%s", name);
    for (int l = 0; l < contract->launch_count; l++)
        if (strstr(contract->launches[l].entry, hole) != NULL) return true;
    for (int i = 0; i < contract->source_define_count; i++)
        if (strstr(contract->source_defines[i], hole) != NULL) return true;
    return false;
}

static void leave_out(object_set *set, const char *format, const char *name) {
    if (set->out->left_out++ == 0) snprintf(set->out->why, sizeof set->out->why, format, name);
}

static void vary(object_set *set, int kind, int index, int count) {
    if (count > 1) set->digits[set->digit_count++] = (digit){kind, index, count};
}

static void vary_dims(object_set *set) {
    const cupel_contract *contract = set->contract;
    for (int d = 0; d < contract->dim_count; d++) {
        const cupel_dim *dim = &contract->dims[d];
        if (!mentioned(contract, dim->name)) continue;
        int64_t count = dim->value_count > 0 ? dim->value_count : dim->hi - dim->lo + 1;
        if (count > VALUES_MAX)
            leave_out(set, "the entry depends on the dim %.100s, which has too many values", dim->name);
        else
            vary(set, OF_DIM, d, (int)count);
    }
}

static void vary_params(object_set *set) {
    const cupel_contract *contract = set->contract;
    for (int p = 0; p < contract->param_count; p++) {
        const cupel_param *param = &contract->params[p];
        if (!mentioned(contract, param->name)) continue;
        if (param->kind == CUPEL_PARAM_RANGE)
            leave_out(set, "the entry depends on the param %.100s, which has a range", param->name);
        else if (param->kind == CUPEL_PARAM_ONE_OF)
            vary(set, OF_PARAM, p, param->value_count);
    }
}

static void set_digit(const cupel_contract *contract, const digit *digit, int value, cupel_binding *binding) {
    const cupel_dim *dim = &contract->dims[digit->index];
    switch (digit->kind) {
    case OF_TYPE: binding->types[digit->index] = value; break;
    case OF_DIM:
        binding->dims[digit->index] = dim->value_count > 0 ? dim->values[value] : dim->lo + value;
        break;
    case OF_PARAM: binding->params[digit->index] = contract->params[digit->index].values[value]; break;
    }
}

/* ---- building ---- */

static bool known(const object_set *set, const char *key) {
    for (int i = 0; i < set->key_count; i++)
        if (strcmp(set->keys[i], key) == 0) return true;
    return false;
}

/* From the cache into the folder. */
static cupel_code keep(object_set *set, const char *path, cupel_error *err) {
    const char *name, *target;
    char *bytes;
    size_t size;
    CUPEL_TRY(cupel_emu_object_name(&set->request, set->arena, &name, err));
    target = cupel_arena_printf(set->arena, "%s/%s", set->folder, name);
    if (target == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    CUPEL_TRY(cupel_text_read(path, set->arena, &bytes, &size, err));
    CUPEL_TRY(cupel_text_write(target, bytes, size, err));
    set->out->built++;
    return CUPEL_OK;
}

static cupel_code build(object_set *set, const cupel_binding *binding, cupel_error *err) {
    cupel_entry_set entries;
    const char *path;
    CUPEL_TRY(cupel_launch_plan_entries(binding, set->arena, &entries, err));
    if (known(set, entries.key)) return CUPEL_OK;
    if (set->key_count == SETS_MAX) {
        leave_out(set, "%s: too many entries", set->contract->id);
        return CUPEL_OK;
    }
    set->keys[set->key_count++] = entries.key;
    const char **defines;
    CUPEL_TRY(cupel_launch_plan_defines(set->contract, &entries, set->defines, set->request.define_count,
                                        set->arena, &defines, err));
    set->request.defines = defines;
    set->request.entry_count = entries.count;
    set->request.entries = entries.distinct;
    CUPEL_TRY(cupel_emu_compile(&set->request, set->arena, &path, err));
    return keep(set, path, err);
}

/* Every combination; the first, all zeros, is the base binding's and has to be built. */
static cupel_code build_all(object_set *set, const cupel_binding *base, cupel_error *err) {
    int values[DIGITS_MAX] = {0};
    CUPEL_TRY(build(set, base, err));
    for (int round = 0; round < 1 << 16; round++) {
        cupel_error failed = {0};
        cupel_binding binding = *base;
        for (int i = 0; i < set->digit_count; i++)
            set_digit(set->contract, &set->digits[i], values[i], &binding);
        if (cupel_binding_complete(&binding, NULL) == CUPEL_OK && build(set, &binding, &failed) != CUPEL_OK)
            leave_out(set, "%.200s", failed.text);
        int i = 0;
        while (i < set->digit_count && ++values[i] == set->digits[i].count) values[i++] = 0;
        if (i == set->digit_count) return CUPEL_OK;
    }
    leave_out(set, "%s: too many combinations", set->contract->id);
    return CUPEL_OK;
}

static cupel_code join(cupel_arena *arena, const char **a, int a_count, const char *const *b, int b_count,
                       const char *const **out, cupel_error *err) {
    const char **all = cupel_arena_alloc(arena, (size_t)(a_count + b_count + 1) * sizeof *all);
    if (all == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    for (int i = 0; i < a_count; i++) all[i] = a[i];
    for (int i = 0; i < b_count; i++) all[a_count + i] = b[i];
    *out = all;
    return CUPEL_OK;
}

static cupel_code start(object_set *set, const cupel_executor_options *options, cupel_error *err) {
    const cupel_contract *contract = set->contract;
    cupel_source_options source = {.include_count = contract->source_include_count + options->include_count};
    CUPEL_TRY(join(set->arena, contract->source_includes, contract->source_include_count, options->includes,
                   options->include_count, &source.includes, err));
    CUPEL_TRY(cupel_source_load(contract->source, &source, set->arena, &set->source, err));
    set->request =
        (cupel_emu_compile_request){.source = set->source,
                                    .fused = contract->options.fmad == CUPEL_FMAD_ON,
                                    .fast_functions = contract->options.fast_functions,
                                    .define_count = contract->source_define_count + options->define_count,
                                    .cache = options->cache};
    CUPEL_TRY(join(set->arena, contract->source_defines, contract->source_define_count, options->defines,
                   options->define_count, &set->defines, err));
    for (int t = 0; t < contract->type_count; t++) vary(set, OF_TYPE, t, contract->types[t].count);
    vary_dims(set);
    vary_params(set);
    return CUPEL_OK;
}

cupel_code cupel_object_set_build(const cupel_contract *contract, const cupel_executor_options *options,
                                  const char *folder, cupel_object_set_report *out, cupel_error *err) {
    cupel_binding base;
    memset(out, 0, sizeof *out);
    if (contract->host)
        return cupel_fail(err, CUPEL_USAGE, "%s is a host function: it is not emulated", contract->id);
    object_set *set = calloc(1, sizeof *set);
    if (set == NULL) return cupel_fail(err, CUPEL_MEMORY, "no memory for a set of objects");
    set->contract = contract;
    set->folder = folder;
    set->out = out;
    set->arena = cupel_arena_create(0);
    cupel_code code =
        set->arena != NULL ? start(set, options, err) : cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (code == CUPEL_OK) code = cupel_binding_ordinary(contract, &base, err);
    if (code == CUPEL_OK) code = build_all(set, &base, err);
    cupel_arena_free(set->arena);
    free(set);
    return code;
}
