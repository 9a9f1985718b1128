#include <inttypes.h>
#include <string.h>

#include "repro_impl.h"

enum {
    TEXT_MAX = 1 << 20, /* bytes of one tensor's values as text */
    PERIOD_MAX = 4096   /* longest period looked for */
};

static bool repeats(const unsigned char *values, size_t size, int64_t count, int64_t period) {
    return memcmp(values, values + (size_t)period * size, (size_t)(count - period) * size) == 0;
}

/* The smallest period of the values, count when there is none. */
static int64_t period_of(const unsigned char *values, size_t size, int64_t count) {
    for (int64_t period = 1; period < count && period <= PERIOD_MAX; period++)
        if (repeats(values, size, count, period)) return period;
    return count;
}

static int64_t runs_of(const unsigned char *values, size_t size, int64_t count) {
    int64_t runs = count > 0;
    for (int64_t i = 1; i < count; i++)
        runs += memcmp(values + (size_t)i * size, values + (size_t)(i - 1) * size, size) != 0;
    return runs;
}

static void write_bits(const cupel_repro_job *job, const unsigned char *values, size_t size, int64_t i,
                       int64_t *column) {
    uint64_t bits = 0;
    memcpy(&bits, values + (size_t)i * size, size);
    fprintf(job->out, "%s0x%0*" PRIx64 ",", *column % 8 ? " " : "\n    ", (int)size * 2, bits);
    ++*column;
}

static void write_plain(const cupel_repro_job *job, const char *name, const unsigned char *values,
                        size_t size, int64_t count) {
    int64_t column = 0;
    fprintf(job->out, "static const uint%zu_t repro_bits_%s[] = {", size * 8, name);
    for (int64_t i = 0; i < count; i++) write_bits(job, values, size, i, &column);
    fprintf(job->out, "\n};\n");
}

/* Each run's value, and how long each is. */
static void write_runs(const cupel_repro_job *job, const char *name, const unsigned char *values, size_t size,
                       int64_t count) {
    int64_t column = 0, length = 0;
    fprintf(job->out, "static const uint%zu_t repro_bits_%s[] = {", size * 8, name);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || memcmp(values + (size_t)i * size, values + (size_t)(i - 1) * size, size) != 0)
            write_bits(job, values, size, i, &column);
    fprintf(job->out, "\n};\nstatic const uint32_t repro_runs_%s[] = {", name);
    column = 0;
    for (int64_t i = 0; i < count; i++) {
        length++;
        if (i + 1 < count && memcmp(values + (size_t)i * size, values + (size_t)(i + 1) * size, size) == 0)
            continue;
        fprintf(job->out, "%s%" PRId64 ",", column++ % 12 ? " " : "\n    ", length);
        length = 0;
    }
    fprintf(job->out, "\n};\n");
}

/* Tensors that share a buffer share their values: the first one stands for all. */
static bool has_values(const cupel_case *c, int t) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    if (!tensor->values || tensor->count == 0) return false;
    for (int other = 0; other < t; other++)
        if (c->tensors[other].buffer == tensor->buffer && c->tensors[other].values) return false;
    return true;
}

/* Larger inputs stand in a file beside this one, those of an earlier call and other contents nowhere. */
static cupel_code too_large(const cupel_tensor_decl *decl, int call, char *row, size_t size,
                            cupel_error *err) {
    if (call > 0 || !(decl->roles & CUPEL_ROLE_INPUT))
        return cupel_fail(err, CUPEL_RANGE, "the first content of %s is too large to be embedded",
                          decl->name);
    snprintf(row, size, "{NULL, NULL, 0, \"inputs/%s.npy\"}", decl->name);
    return CUPEL_OK;
}

/* Writes the arrays of one tensor and gives its initialiser for repro_values. call: 0 for the judged one. */
static cupel_code write_tensor(const cupel_repro_job *job, const cupel_case *c, int call, int t, char *row,
                               size_t row_size, cupel_error *err) {
    const cupel_case_tensor *tensor = &c->tensors[t];
    const cupel_tensor_decl *decl = &job->bundle->contract->tensors[t];
    char name[32];
    snprintf(row, row_size, "{NULL, NULL, 0, NULL}");
    if (call)
        snprintf(name, sizeof name, "earlier%d_%d", call, t);
    else
        snprintf(name, sizeof name, "%d", t);
    if (!has_values(c, t)) return CUPEL_OK;
    const unsigned char *values = tensor->values;
    size_t size = cupel_format_of(tensor->type)->size, width = 2 * size + 4;
    int64_t period = period_of(values, size, tensor->count), runs = runs_of(values, size, tensor->count);
    bool by_runs = 2 * runs < period;
    if ((size_t)(by_runs ? runs * 2 : period) * width > TEXT_MAX || (by_runs && tensor->count > UINT32_MAX))
        return too_large(decl, call, row, row_size, err);
    char which[48] = "";
    if (call) snprintf(which, sizeof which, " of earlier call %d", call);
    fprintf(job->out, "/* %s%s */\n", decl->name, which);
    if (by_runs) {
        write_runs(job, name, values, size, tensor->count);
        snprintf(row, row_size, "{repro_bits_%s, repro_runs_%s, %" PRId64 ", NULL}", name, name, runs);
    } else {
        write_plain(job, name, values, size, period);
        snprintf(row, row_size, "{repro_bits_%s, NULL, %" PRId64 ", NULL}", name, period);
    }
    return CUPEL_OK;
}

static cupel_code write_call(const cupel_repro_job *job, const cupel_case *c, int call, cupel_error *err) {
    char rows[CUPEL_TENSOR_MAX][160];
    for (int t = 0; t < c->tensor_count; t++)
        CUPEL_TRY(write_tensor(job, c, call, t, rows[t], sizeof rows[t], err));
    if (call)
        fprintf(job->out, "static const repro_values repro_the_earlier%d_values[] = {\n", call);
    else
        fprintf(job->out, "static const repro_values repro_the_values[] = {\n");
    for (int t = 0; t < c->tensor_count; t++) fprintf(job->out, "    %s,\n", rows[t]);
    fprintf(job->out, "};\n");
    return CUPEL_OK;
}

/* The case of earlier call number `call`, from 1 on, with other values. */
static cupel_code earlier_case(const cupel_repro_job *job, int call, cupel_case **out, cupel_error *err) {
    cupel_recipe *recipe = cupel_arena_raw(job->arena, 1, sizeof *recipe);
    if (!recipe) return cupel_fail(err, CUPEL_MEMORY, "no memory for an earlier call");
    CUPEL_TRY(cupel_recipe_earlier(job->bundle->contract, job->c->recipe, call - 1, recipe, err));
    if (memcmp(recipe->dims, job->c->recipe->dims, sizeof recipe->dims) != 0)
        return cupel_fail(err, CUPEL_RANGE,
                          "the earlier call has another shape, for which the file has no room");
    return cupel_case_materialise(job->bundle->contract, recipe, job->arena, out, err);
}

cupel_code cupel_repro_values(const cupel_repro_job *job, int *calls, cupel_error *err) {
    cupel_history history = job->c->recipe->history;
    int earlier = cupel_recipe_calls(job->c->recipe);
    bool own = history != CUPEL_HISTORY_REPEAT;
    CUPEL_TRY(write_call(job, job->c, 0, err));
    for (int call = 1; own && call <= earlier; call++) {
        cupel_case *c;
        CUPEL_TRY(earlier_case(job, call, &c, err));
        CUPEL_TRY(write_call(job, c, call, err));
    }
    fprintf(job->out, "static const repro_call repro_the_calls[] = {");
    for (int call = 1; call <= earlier; call++)
        if (own)
            fprintf(job->out, "{repro_the_earlier%d_values, %d}, ", call,
                    (int)cupel_recipe_elsewhere(job->c->recipe, call - 1));
        else
            fprintf(job->out, "{repro_the_values, 0}, ");
    fprintf(job->out, "{repro_the_values, 0}};\n");
    *calls = earlier + 1;
    return CUPEL_OK;
}
