#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "repro_impl.h"

void cupel_repro_real(double value, char *text, size_t size) {
    if (isnan(value) || isinf(value)) {
        snprintf(text, size, "%s", isnan(value) ? "NAN" : value > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    int used = snprintf(text, size, "%.17g", value);
    if (!strpbrk(text, ".e") && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ".0");
}

static void integer(int64_t value, char *text, size_t size) {
    if (value == INT64_MIN)
        snprintf(text, size, "(-INT64_MAX - 1)");
    else
        snprintf(text, size, "%" PRId64 "LL", value);
}

static bool stated_type(const cupel_repro_job *job, const cupel_launch_arg *arg, cupel_dtype *type) {
    const cupel_binding *binding = &job->c->binding;
    if (!arg->typed) return false;
    *type = arg->type_variable < 0
                ? arg->type
                : binding->contract->types[arg->type_variable].claimed[binding->types[arg->type_variable]];
    return true;
}

/* A number as the executor passes it: rounded to its stated type. */
static cupel_code scalar(const cupel_repro_job *job, const cupel_launch_arg *arg, char *text, size_t size,
                         cupel_error *err) {
    cupel_scalar value;
    cupel_dtype type;
    CUPEL_TRY(cupel_binding_scalar(&job->c->binding, arg->expr, job->c->strides, &value, err));
    bool stated = stated_type(job, arg, &type);
    bool real = stated ? cupel_format_of(type)->kind == CUPEL_KIND_REAL : value.real;
    double number = value.real ? value.d : (double)value.i;
    if (stated && real) number = cupel_round(type, number);
    /* a host function without a stated type gets a float or an int */
    if (job->host && !stated && real) number = (float)number;
    bool narrow = job->host && isfinite(number) && (stated ? type != CUPEL_F64 : true);
    if (real) {
        cupel_repro_real(number, text, size - 1);
        if (narrow) strcat(text, "f");
    } else {
        integer(value.real ? (int64_t)value.d : value.i, text, size);
        bool is_int = stated ? cupel_format_of(type)->size <= 4 : true;
        if (job->host && is_int && text[0] != '(') text[strlen(text) - 2] = '\0';
    }
    return CUPEL_OK;
}

static cupel_code argument(const cupel_repro_job *job, const cupel_launch_arg *arg, char *text, size_t size,
                           cupel_error *err) {
    switch (arg->kind) {
    case CUPEL_ARG_SCALAR: return scalar(job, arg, text, size, err);
    case CUPEL_ARG_NULL: snprintf(text, size, job->host ? "REPRO_AT(NULL)" : "repro_pointer{nullptr}"); break;
    case CUPEL_ARG_TENSOR:
        snprintf(text, size, job->host ? "REPRO_AT(repro_at(%d))" : "repro_at(%d)", arg->tensor);
        break;
    }
    return CUPEL_OK;
}

static cupel_code extent(const cupel_repro_job *job, const cupel_scalar_expr *expr, int64_t *out,
                         cupel_error *err) {
    cupel_scalar value;
    CUPEL_TRY(cupel_binding_scalar(&job->c->binding, expr, job->c->strides, &value, err));
    *out = value.i;
    return CUPEL_OK;
}

static cupel_code dims(const cupel_repro_job *job, int rank, cupel_scalar_expr *const *exprs,
                       cupel_error *err) {
    int64_t dim[3] = {1, 1, 1};
    for (int i = 0; i < rank; i++) CUPEL_TRY(extent(job, exprs[i], &dim[i], err));
    fprintf(job->out, ", {%" PRId64 ", %" PRId64 ", %" PRId64 "}", dim[0], dim[1], dim[2]);
    return CUPEL_OK;
}

/* The variables that get their content from tensors, which stand on the device. */
static cupel_code fill_variables(const cupel_repro_job *job, const cupel_launch *launch, cupel_error *err) {
    for (int i = 0; i < launch->symbol_count; i++) {
        const cupel_launch_symbol *symbol = &launch->symbols[i];
        int64_t shape[CUPEL_RANK_MAX], count;
        CUPEL_TRY(cupel_binding_shape(&job->c->binding, symbol->tensor, shape, &count, err));
        const int64_t bytes =
            count * (int64_t)cupel_format_of(cupel_binding_type(&job->c->binding, symbol->tensor))->size;
        fprintf(job->out,
                "    repro_expect(cudaMemcpyToSymbol(%s, repro_at(%d).at, %" PRId64
                ", 0, cudaMemcpyDeviceToDevice), \"%s\");\n",
                symbol->name, symbol->tensor, bytes, symbol->name);
    }
    return CUPEL_OK;
}

static cupel_code launch_device(const cupel_repro_job *job, const cupel_launch *launch, cupel_error *err) {
    char *entry;
    int64_t shared = 0;
    CUPEL_TRY(fill_variables(job, launch, err));
    CUPEL_TRY(cupel_binding_entry(&job->c->binding, launch, job->arena, &entry, err));
    fprintf(job->out, "    %s(\"%s\", %s", launch->cooperative ? "repro_launch_together" : "repro_launch",
            entry, entry);
    CUPEL_TRY(dims(job, launch->grid_rank, launch->grid, err));
    CUPEL_TRY(dims(job, launch->block_rank, launch->block, err));
    if (launch->shared) CUPEL_TRY(extent(job, launch->shared, &shared, err));
    fprintf(job->out, ", %" PRId64, shared);
    return CUPEL_OK;
}

static cupel_code one_launch(const cupel_repro_job *job, const cupel_launch *launch, cupel_error *err) {
    int64_t skip = 0;
    char text[96];
    if (launch->skip_if) CUPEL_TRY(extent(job, launch->skip_if, &skip, err));
    if (skip) {
        fprintf(job->out, "    /* no launch: skip_if holds */\n");
        return CUPEL_OK;
    }
    if (job->host)
        fprintf(job->out, "    %s(", launch->entry);
    else
        CUPEL_TRY(launch_device(job, launch, err));
    for (int i = 0; i < launch->arg_count; i++) {
        CUPEL_TRY(argument(job, &launch->args[i], text, sizeof text, err));
        fprintf(job->out, "%s%s", job->host && i == 0 ? "" : ", ", text);
    }
    fprintf(job->out, ");\n");
    return CUPEL_OK;
}

cupel_code cupel_repro_calls(const cupel_repro_job *job, cupel_error *err) {
    fprintf(job->out, "\n/* The call. */\nstatic void repro_calls(void) {\n");
    for (int l = 0; l < job->bundle->contract->launch_count; l++)
        CUPEL_TRY(one_launch(job, &job->bundle->contract->launches[l], err));
    fprintf(job->out, "}\n\nint main(int argc, char **argv) {\n"
                      "    return repro_run(&repro_the_case, repro_calls, argc, argv);\n}\n");
    return CUPEL_OK;
}
