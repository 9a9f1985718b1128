#include "repro_impl.h"

#include <stdlib.h>
#include <string.h>

static const char *file_name(const cupel_contract *contract) {
    const char *dot = contract->source ? strrchr(contract->source, '.') : NULL;
    if (!contract->host) return "repro.cu";
    bool cpp = dot && (strcmp(dot, ".cpp") == 0 || strcmp(dot, ".cc") == 0 || strcmp(dot, ".cxx") == 0);
    return cpp ? "repro.cpp" : "repro.c";
}

static cupel_code write_file(const cupel_repro_job *job, cupel_error *err) {
    cupel_repro_heading(job);
    if (job->host) fputs("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n", job->out);
    fputs(cupel_repro_common, job->out);
    fputs(job->host ? cupel_repro_host : cupel_repro_device, job->out);
    CUPEL_TRY(cupel_repro_data(job, err));
    CUPEL_TRY(cupel_repro_source(job, err));
    return cupel_repro_calls(job, err);
}

cupel_code cupel_repro_write(const cupel_bundle *bundle, cupel_arena *arena, char **text, const char **name,
                             cupel_error *err) {
    char *bytes = NULL;
    size_t length = 0;
    *name = file_name(bundle->contract);
    cupel_repro_job job = {.bundle = bundle,
                           .c = bundle->trial->c,
                           .arena = arena,
                           .name = *name,
                           .host = bundle->contract->host};
    if (!job.c) return cupel_fail(err, CUPEL_UNABLE, "there is no case");
    job.out = open_memstream(&bytes, &length);
    if (!job.out) return cupel_fail(err, CUPEL_MEMORY, "no memory for %s", *name);
    cupel_code code = write_file(&job, err);
    if (fclose(job.out) != 0 && code == CUPEL_OK)
        code = cupel_fail(err, CUPEL_MEMORY, "no memory for %s", *name);
    *text = code == CUPEL_OK ? cupel_arena_text(arena, bytes, length) : NULL;
    free(bytes);
    if (code == CUPEL_OK && !*text) return cupel_fail(err, CUPEL_MEMORY, "no memory for %s", *name);
    return code;
}
