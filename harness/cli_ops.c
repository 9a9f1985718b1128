/* cupel ops [NAME]: the functions of the contract's expressions, and where their error budgets come from. */
#include <string.h>

#include "check.h"
#include "cli.h"
#include "function_sources.h"

#include <jansson.h>

static void print_line(const cupel_function_info *info, const cupel_function_source *source) {
    printf("%-12s %s%s\n", info->family, info->signature, info->supported ? "" : "  not there yet");
    printf("%-12s   PyTorch: %s\n", "", info->pytorch);
    if (info->supported) printf("%-12s   error: %s\n", "", source->brief);
}

static void print_primitive(cupel_op op) {
    const cupel_budget *budget = cupel_budget_of(op);
    printf("    %-12s ", cupel_op_name(op));
    if (budget) {
        printf("f32 %g ulp, f64 %g, fast f32 %g", budget->precise_ulps, budget->f64_ulps, budget->fast_ulps);
        if (budget->fast_slope > 0) printf(" + %g |x|", budget->fast_slope);
        printf(": ");
    }
    printf("%s\n", cupel_primitive_bound(op));
}

static void print_full(const cupel_function_info *info, const cupel_function_source *source) {
    printf("%s\n  family     %s\n  PyTorch    %s\n  error      %s\n  made of    (%s)\n", info->signature,
           info->family, info->pytorch, source->brief, source->sample ? source->sample : "");
    for (int op = 0; op < CUPEL_OP_COUNT; op++)
        if (source->uses[op]) print_primitive((cupel_op)op);
    printf("  special values: docs/conventions.md\n");
}

static json_t *object_of_primitive(cupel_op op) {
    const cupel_budget *budget = cupel_budget_of(op);
    json_t *object =
        json_pack("{s:s, s:s}", "primitive", cupel_op_name(op), "error", cupel_primitive_bound(op));
    if (!budget) return object;
    json_object_set_new(object, "f64_ulps", json_real(budget->f64_ulps));
    json_object_set_new(object, "f32_ulps", json_real(budget->precise_ulps));
    json_object_set_new(object, "fast_f32_ulps", json_real(budget->fast_ulps));
    json_object_set_new(object, "fast_f32_ulps_per_x", json_real(budget->fast_slope));
    return object;
}

static json_t *object_of(const cupel_function_info *info, const cupel_function_source *source) {
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s}", "name", info->name, "family", info->family,
                  "signature", info->signature, "pytorch", info->pytorch, "supported", info->supported,
                  "error", source->brief, "sample", source->sample ? source->sample : "");
    json_t *parts = json_array();
    for (int op = 0; op < CUPEL_OP_COUNT; op++)
        if (source->uses[op]) json_array_append_new(parts, object_of_primitive((cupel_op)op));
    json_object_set_new(object, "made_of", parts);
    return object;
}

/* USAGE where no function has the name. */
static cupel_code find(const char *name, size_t *first, size_t *end, cupel_error *err) {
    enum { MOST = 256 };
    const char *names[MOST];
    size_t count;
    const cupel_function_info *functions = cupel_functions(&count);
    *first = 0;
    *end = count;
    if (!name) return CUPEL_OK;
    for (size_t i = 0; i < count && i < MOST; i++) {
        names[i] = functions[i].name;
        if (strcmp(name, functions[i].name) != 0) continue;
        *first = i;
        *end = i + 1;
        return CUPEL_OK;
    }
    const char *near = cupel_text_nearest(name, names, count < MOST ? count : MOST);
    if (near) return cupel_fail(err, CUPEL_USAGE, "unknown function '%s', did you mean '%s'?", name, near);
    return cupel_fail(err, CUPEL_USAGE, "unknown function '%s'; cupel ops lists them", name);
}

static cupel_code list(const cupel_cli_settings *settings, cupel_arena *arena, json_t *all,
                       cupel_error *err) {
    size_t first, end, count;
    CUPEL_TRY(find(settings->operand, &first, &end, err));
    for (size_t i = first; i < end; i++) {
        const cupel_function_info *info = &cupel_functions(&count)[i];
        cupel_function_source source = {.brief = "not there yet"};
        if (info->supported) CUPEL_TRY(cupel_function_source_of(i, arena, &source, err));
        if (settings->json)
            json_array_append_new(all, object_of(info, &source));
        else if (settings->operand)
            print_full(info, &source);
        else
            print_line(info, &source);
        cupel_arena_reset(arena);
    }
    return CUPEL_OK;
}

int cupel_cli_ops(const cupel_cli_settings *settings) {
    cupel_error err = {0};
    cupel_arena *arena = cupel_arena_create(0);
    json_t *all = json_array();
    cupel_code code =
        arena && all ? list(settings, arena, all, &err) : cupel_fail(&err, CUPEL_MEMORY, "out of memory");
    bool printed = true;
    if (code == CUPEL_OK && settings->json)
        printed = json_dumpf(all, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF;
    json_decref(all);
    cupel_arena_free(arena);
    if (code != CUPEL_OK) return cupel_cli_complain(&err, settings->json);
    return printed ? 0 : cupel_check_error_status(CUPEL_IO);
}
