#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "repro_impl.h"
#include "wording.h"

enum {
    WHOLE_OUTPUT_MAX =
        1024, /* outputs up to this size are judged as a whole, larger ones where they failed */
    WRONG_MAX = 256,
    UNCERTAIN_ROUNDS = 1000
};

/* ---- types ---- */

static void write_types(const cupel_repro_job *job) {
    static const char *const kinds[] = {"REPRO_REAL", "REPRO_SIGNED", "REPRO_UNSIGNED", "REPRO_BOOLEAN"};
    bool told[CUPEL_DTYPE_COUNT] = {false};
    for (int t = 0; t < job->c->tensor_count; t++) {
        const cupel_format *format = cupel_format_of(job->c->tensors[t].type);
        if (told[job->c->tensors[t].type]) continue;
        told[job->c->tensors[t].type] = true;
        fprintf(job->out, "static const repro_type repro_%s = {\"%s\", %zu, %s, %d, %d};\n", format->name,
                format->name, format->size, kinds[format->kind], format->precision, format->emin);
    }
}

/* ---- layout ---- */

static void write_extents(const cupel_repro_job *job, int rank, const int64_t *extents) {
    fprintf(job->out, "{");
    for (int axis = 0; axis < rank; axis++) fprintf(job->out, "%s%" PRId64, axis ? ", " : "", extents[axis]);
    fprintf(job->out, rank ? "}, " : "0}, ");
}

static void write_layout(const cupel_repro_job *job) {
    const cupel_case *c = job->c;
    fprintf(job->out, "/* name, type, roles, rank, shape, strides, elements, buffer, offset */\n"
                      "static const repro_tensor repro_the_tensors[] = {\n");
    for (int t = 0; t < c->tensor_count; t++) {
        const cupel_case_tensor *tensor = &c->tensors[t];
        const cupel_tensor_decl *decl = &job->bundle->contract->tensors[t];
        fprintf(job->out, "    {\"%s\", &repro_%s, %d, %d, ", decl->name, cupel_format_of(tensor->type)->name,
                decl->roles, tensor->rank);
        write_extents(job, tensor->rank, tensor->shape);
        write_extents(job, tensor->rank, tensor->stride);
        fprintf(job->out, "%" PRId64 ", %d, %" PRId64 "},\n", tensor->count, tensor->buffer, tensor->offset);
    }
    fprintf(job->out, "};\n/* bytes, alignment, bytes past it, written, type, seed of the poison */\n"
                      "static const repro_buffer repro_the_buffers[] = {\n");
    for (int b = 0; b < c->buffer_count; b++) {
        int t = 0;
        while (c->tensors[t].buffer != b) t++;
        fprintf(job->out, "    {%zu, %d, %" PRId64 ", %d, &repro_%s, 0x%08" PRIx32 "u},\n",
                c->buffers[b].size, c->buffers[b].align, c->buffers[b].misalign, (int)c->buffers[b].written,
                cupel_format_of(c->tensors[t].type)->name, cupel_case_poison_seed(c, b));
    }
    fprintf(job->out, "};\n");
}

/* ---- what is allowed ---- */

/* Was the element wrong in some run? */
static bool was_wrong(const cupel_repro_job *job, const cupel_allowed *allowed, int t, int64_t index) {
    const cupel_case_tensor *tensor = &job->c->tensors[t];
    int64_t at = 0, rest = index;
    for (int axis = tensor->rank - 1; axis >= 0; axis--) {
        at += rest % tensor->shape[axis] * tensor->stride[axis];
        rest /= tensor->shape[axis];
    }
    at = tensor->offset + at * (int64_t)cupel_format_of(tensor->type)->size;
    for (int r = 0; r < job->bundle->trial->run_count; r++) {
        const cupel_observation *seen = job->bundle->trial->runs[r].observation;
        if (!seen || tensor->buffer >= seen->buffer_count || !seen->buffers[tensor->buffer].bytes) continue;
        if (cupel_judge_element(allowed, index, seen->buffers[tensor->buffer].bytes + at) > CUPEL_NOT_JUDGED)
            return true;
    }
    return false;
}

static void write_row(const cupel_repro_job *job, const cupel_allowed *allowed, int t, int64_t index,
                      const cupel_exact_element *certified) {
    char lo[40], hi[40], exact[40];
    cupel_repro_real(certified ? certified->lo : allowed->lo[index], lo, sizeof lo);
    cupel_repro_real(certified ? certified->hi : allowed->hi[index], hi, sizeof hi);
    cupel_repro_real(certified ? certified->value : allowed->value[index], exact, sizeof exact);
    fprintf(job->out, "    {%d, %" PRId64 ", %s, %s, %s, %u, ", t, index, lo, hi, exact,
            certified ? certified->classes : allowed->classes[index]);
    if (allowed->least)
        fprintf(job->out, "0x%" PRIx64 "u, 0x%" PRIx64 "u},\n",
                certified ? certified->least : allowed->least[index],
                certified ? certified->most : allowed->most[index]);
    else
        fprintf(job->out, "0, 0},\n");
}

static int write_output(const cupel_repro_job *job, int output) {
    const cupel_allowed *allowed = &job->bundle->trial->allowed[output];
    const cupel_finding *finding = job->bundle->finding;
    int t = cupel_contract_tensor(job->bundle->contract, allowed->name), rows = 0;
    bool whole = allowed->count <= WHOLE_OUTPUT_MAX;
    for (int64_t i = 0; t >= 0 && i < allowed->count && (whole || rows < WRONG_MAX); i++) {
        bool own = finding->output == output && finding->index == i;
        bool certified = own && finding->certified && finding->exact.reason == CUPEL_REASON_JUDGED;
        if (!certified && allowed->reasons[i] != CUPEL_REASON_JUDGED) continue;
        if (!whole && !own && !was_wrong(job, allowed, t, i)) continue;
        write_row(job, allowed, t, i, certified ? &finding->exact : NULL);
        rows++;
    }
    return rows;
}

static int write_allowed(const cupel_repro_job *job) {
    const cupel_trial *trial = job->bundle->trial;
    int rows = 0;
    fprintf(job->out,
            "/* tensor, element, least and largest number, exact value, classes, 64-bit integers */\n"
            "static const repro_allowed repro_the_allowed[] = {\n");
    for (int o = 0; trial->graph && trial->allowed && o < trial->graph->output_count; o++)
        rows += write_output(job, o);
    if (rows == 0) fprintf(job->out, "    {0, 0, 0, 0, 0, 0, 0, 0},\n");
    fprintf(job->out, "};\n");
    return rows;
}

/* ---- the case ---- */

/* A race, whatever it does to the result: then one round shows little. */
static bool needs_schedule(const cupel_finding *finding) {
    return finding->kind == CUPEL_FINDING_NONDETERMINISM || finding->kind == CUPEL_FINDING_RACE ||
           (finding->necessary_traits & CUPEL_TRAIT_SCHEDULE) != 0;
}

static const char *need_not(const cupel_repro_job *job) {
    const cupel_finding *finding = job->bundle->finding;
    if (needs_schedule(finding)) return "a race shows when threads happen to run in the wrong order";
    switch (finding->kind) {
    case CUPEL_FINDING_INACCURATE:
        return "the result is unusual, not impossible: it lies inside what this file permits";
    case CUPEL_FINDING_VARIANTS: return "one variant by itself is right: the bytes of two are to be compared";
    case CUPEL_FINDING_STRAY_READ: return "what lies in memory that was not initialised is up to chance";
    case CUPEL_FINDING_BAD_ACCESS:
        return job->host ? "an access outside its buffer may find memory that is there"
                         : "an access outside its buffer may find memory that is there (compute-sanitizer "
                           "./repro bare sees it)";
    case CUPEL_FINDING_FAULT:
        return finding->fault == CUPEL_FAULT_DEADLOCK || finding->fault == CUPEL_FAULT_DIVERGENCE
                   ? "some devices forgive a barrier that not all threads reach"
                   : "";
    default: return "";
    }
}

static void write_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* Which runs must leave the same bytes (REPRO_ONE_POISON, REPRO_ANY_POISON). On a device the order of atomic
 * additions is not fixed: then values decide, not bytes. */
static int same_bytes(const cupel_repro_job *job) {
    const cupel_finding *finding = job->bundle->finding;
    if (!cupel_word_has_runs(finding)) return 0;
    if (finding->kind != CUPEL_FINDING_STRAY_READ) return 1;
    for (int r = 0; r < job->bundle->trial->run_count; r++)
        if (job->bundle->trial->runs[r].observation->float_atomics) return 0;
    return 2;
}

static void write_case(const cupel_repro_job *job, int rows, int calls) {
    const cupel_finding *finding = job->bundle->finding;
    char place[512];
    bool uncertain =
        cupel_word_has_runs(finding) || needs_schedule(finding) || finding->kind == CUPEL_FINDING_BAD_ACCESS;
    const cupel_place *at = finding->has_access ? &finding->access.place : &finding->place;
    cupel_word_place(at, place, sizeof place);
    fprintf(job->out,
            "static const repro_case repro_the_case = {\n    %d, %d, %d, %d, repro_the_tensors, "
            "repro_the_buffers, repro_the_calls, repro_the_allowed,\n",
            job->c->tensor_count, job->c->buffer_count, calls, rows);
    fprintf(job->out, "    0x%08" PRIx32 "u, %d /* runs */, %d /* of equal bytes */, %d /* written */,\n    ",
            job->c->recipe->poison, uncertain ? UNCERTAIN_ROUNDS : 2, same_bytes(job),
            (int)(finding->kind == CUPEL_FINDING_UNWRITTEN));
    write_string(job->out, need_not(job));
    fprintf(job->out, ",\n    ");
    write_string(job->out, at->file[0] ? place : "");
    fprintf(job->out, ",\n};\n");
}

cupel_code cupel_repro_data(const cupel_repro_job *job, cupel_error *err) {
    fprintf(job->out, "\n/* ---- the case ---- */\n\n");
    write_types(job);
    write_layout(job);
    int calls;
    CUPEL_TRY(cupel_repro_values(job, &calls, err));
    write_case(job, write_allowed(job), calls);
    return CUPEL_OK;
}
