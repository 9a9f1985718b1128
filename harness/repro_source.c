#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "repro_impl.h"
#include "source.h"
#include "text.h"

enum { DEPTH_MAX = 16 };

/* "NAME=VALUE" as a directive. */
static void write_define(FILE *out, const char *define) {
    size_t name = strcspn(define, "=");
    fprintf(out, "#define %.*s %s\n", (int)name, define, define[name] ? define + name + 1 : "1");
}

static void write_defines(const cupel_repro_job *job) {
    const cupel_contract *contract = job->bundle->contract;
    for (int i = 0; i < contract->source_define_count; i++) {
        char *filled = NULL;
        if (job->c && cupel_binding_define(&job->c->binding, i, job->arena, &filled, NULL) == CUPEL_OK)
            write_define(job->out, filled);
        else
            write_define(job->out, contract->source_defines[i]);
    }
    for (int i = 0; i < job->bundle->define_count; i++) write_define(job->out, job->bundle->defines[i]);
}

/* -I of the contract and of the command line. */
static cupel_code folders(const cupel_repro_job *job, const char ***out, int *count, cupel_error *err) {
    const cupel_contract *contract = job->bundle->contract;
    int own = contract->source_include_count, all = own + job->bundle->include_count;
    *out = cupel_arena_raw(job->arena, (size_t)all + 1, sizeof **out);
    if (!*out) return cupel_fail(err, CUPEL_MEMORY, "no memory for a list of folders");
    for (int i = 0; i < all; i++)
        (*out)[i] = i < own ? contract->source_includes[i] : job->bundle->includes[i - own];
    *count = all;
    return CUPEL_OK;
}

/* ---- device code ---- */

static cupel_code device_source(const cupel_repro_job *job, cupel_error *err) {
    const cupel_contract *contract = job->bundle->contract;
    const char *entries[CUPEL_LAUNCH_MAX];
    char *text;
    cupel_source *source;
    cupel_source_options options = {0};
    const char **includes;
    CUPEL_TRY(folders(job, &includes, &options.include_count, err));
    options.includes = includes;
    for (int l = 0; l < contract->launch_count; l++) {
        char *entry;
        CUPEL_TRY(cupel_binding_entry(&job->c->binding, &contract->launches[l], job->arena, &entry, err));
        entries[l] = entry;
    }
    CUPEL_TRY(cupel_source_load(contract->source, &options, job->arena, &source, err));
    CUPEL_TRY(cupel_source_standalone(source, contract->launch_count, entries, &text, err));
    fputs(text, job->out);
    return CUPEL_OK;
}

/* ---- host code ---- */

/* A file with its own headers ("..") in place of their directives; each once. */
typedef struct inliner {
    const cupel_repro_job *job;
    const char **folders;
    int folder_count, depth, seen_count;
    const char *seen[256];
    cupel_error *err;
} inliner;

static const char *find_header(const inliner *in, const char *from, const char *name, size_t length) {
    const char *slash = strrchr(from, '/');
    int folder = slash ? (int)(slash - from + 1) : 0;
    const char *path = cupel_arena_printf(in->job->arena, "%.*s%.*s", folder, from, (int)length, name);
    for (int i = -1; i < in->folder_count; i++) {
        if (i >= 0) path = cupel_arena_printf(in->job->arena, "%s/%.*s", in->folders[i], (int)length, name);
        if (path && access(path, R_OK) == 0) return path;
    }
    return NULL;
}

static bool seen_before(inliner *in, const char *path) {
    for (int i = 0; i < in->seen_count; i++)
        if (strcmp(in->seen[i], path) == 0) return true;
    if (in->seen_count < (int)(sizeof in->seen / sizeof *in->seen)) in->seen[in->seen_count++] = path;
    return false;
}

static cupel_code inline_file(inliner *in, const char *path) {
    char *text;
    size_t length;
    CUPEL_TRY(cupel_text_read(path, in->job->arena, &text, &length, in->err));
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        const char *word = line + strspn(line, " \t#"), *header = NULL;
        if (*line && strncmp(word, "include", 7) == 0 && memchr(line, '#', (size_t)(word - line))) {
            const char *name = word + 7 + strspn(word + 7, " \t");
            if (*name == '"') header = find_header(in, path, name + 1, strcspn(name + 1, "\"\n"));
        }
        if (header && in->depth < DEPTH_MAX) {
            in->depth++;
            if (!seen_before(in, header)) CUPEL_TRY(inline_file(in, header));
            in->depth--;
        } else if (strncmp(word, "pragma once", 11) != 0) {
            fprintf(in->job->out, "%.*s\n", (int)size, line);
        }
        line += size + (line[size] == '\n');
    }
    return CUPEL_OK;
}

static const char *c_type(cupel_dtype type) {
    return cupel_format_of(type)->kind == CUPEL_KIND_BOOLEAN ? "unsigned char" : cupel_format_of(type)->cuda;
}

/* What a shared object exports has no text here: it is declared, and linked. */
static void declare_function(const cupel_repro_job *job, const cupel_launch *launch) {
    const cupel_binding *binding = &job->c->binding;
    fprintf(job->out, "extern void %s(", launch->entry);
    for (int i = 0; i < launch->arg_count; i++) {
        const cupel_launch_arg *arg = &launch->args[i];
        const char *type = "void *";
        cupel_scalar value = {0};
        if (arg->kind == CUPEL_ARG_SCALAR && arg->typed)
            type = c_type(arg->type_variable < 0 ? arg->type
                                                 : binding->contract->types[arg->type_variable]
                                                       .claimed[binding->types[arg->type_variable]]);
        else if (arg->kind == CUPEL_ARG_SCALAR)
            type = cupel_binding_scalar(binding, arg->expr, job->c->strides, &value, NULL) == CUPEL_OK &&
                           value.real
                       ? "float"
                       : "int";
        fprintf(job->out, "%s%s", i ? ", " : "", type);
    }
    fprintf(job->out, "%s);\n", launch->arg_count ? "" : "void");
}

static cupel_code host_source(const cupel_repro_job *job, cupel_error *err) {
    const cupel_contract *contract = job->bundle->contract;
    const char *name = strrchr(contract->source, '/');
    if (strstr(name ? name : contract->source, ".so")) {
        fprintf(job->out, "/* To be linked with %s */\n", contract->source);
        for (int l = 0; l < contract->launch_count; l++) declare_function(job, &contract->launches[l]);
        return CUPEL_OK;
    }
    inliner in = {.job = job, .err = err};
    CUPEL_TRY(folders(job, &in.folders, &in.folder_count, err));
    fprintf(job->out, "#define main repro_main_of_the_candidate\n");
    CUPEL_TRY(inline_file(&in, contract->source));
    fprintf(job->out, "#undef main\n");
    return CUPEL_OK;
}

cupel_code cupel_repro_source(const cupel_repro_job *job, cupel_error *err) {
    if (!job->bundle->contract->source)
        return cupel_fail(err, CUPEL_CONTRACT, "the contract names no source");
    fprintf(job->out, "\n/* The candidate. */\n");
    write_defines(job);
    return job->host ? host_source(job, err) : device_source(job, err);
}
