/* What the steps that write a reproduction file share. */
#ifndef CUPEL_REPRO_IMPL_H
#define CUPEL_REPRO_IMPL_H

#include <stdio.h>

#include "repro.h"

typedef struct cupel_repro_job {
    const cupel_bundle *bundle;
    const cupel_case *c;
    cupel_arena *arena;
    FILE *out;
    const char *name; /* of the file */
    bool host;
} cupel_repro_job;

/* The fixed parts of a file (repro_parts/), each a text. */
extern const char cupel_repro_common[], cupel_repro_device[], cupel_repro_host[];

/* repro_heading.c: the comment at the top. */
void cupel_repro_heading(const cupel_repro_job *job);

/* repro_data.c: types, buffers, tensors, their content, what is allowed, and the case that holds them. */
CUPEL_MUST_USE cupel_code cupel_repro_data(const cupel_repro_job *job, cupel_error *err);

/* repro_values.c: the content of tensors in every call, of which there are *calls. */
CUPEL_MUST_USE cupel_code cupel_repro_values(const cupel_repro_job *job, int *calls, cupel_error *err);

/* repro_source.c: the candidate's code between its defines. */
CUPEL_MUST_USE cupel_code cupel_repro_source(const cupel_repro_job *job, cupel_error *err);

/* repro_calls.c: the function that makes the launches, in order. */
CUPEL_MUST_USE cupel_code cupel_repro_calls(const cupel_repro_job *job, cupel_error *err);

/* The value of a double as C writes it: "0.1", "INFINITY". */
void cupel_repro_real(double value, char *text, size_t size);

#endif
