/* Compiles and runs small candidates for the tests of the runtime. */
#ifndef CUPEL_TEST_CANDIDATE_H
#define CUPEL_TEST_CANDIDATE_H

#include "emu_runtime.h"

/* Compiles a file of this folder (with cupel_mini_cuda.h and mini_trace.c) and loads it; fails the test when
 * that does not work. */
cupel_emu_module *candidate_load(const char *file);

/* The last line of a file of this folder whose comment holds this mark; fails the test when there is none. */
int candidate_line(const char *file, const char *mark);

enum { FIELD_BUFFERS = 3, FIELD_FLOATS = 2048, FIELD_GUARD = 1024 };

/* Three buffers of up to 2048 floats between guards: 0 an input, readable from the start; 1 and 2 outputs. */
typedef struct field {
    _Alignas(256) unsigned char bytes[FIELD_BUFFERS * (FIELD_FLOATS * 4 + FIELD_GUARD) + FIELD_GUARD];
    uint8_t valid[FIELD_BUFFERS * (FIELD_FLOATS * 4 + FIELD_GUARD) / 8 + FIELD_GUARD];
    uint8_t writable[FIELD_BUFFERS * (FIELD_FLOATS * 4 + FIELD_GUARD) / 8 + FIELD_GUARD];
    uint8_t readable[FIELD_BUFFERS * (FIELD_FLOATS * 4 + FIELD_GUARD) / 8 + FIELD_GUARD];
    int count[FIELD_BUFFERS];
    cupel_emu_memory memory;
    cupel_observation seen;
} field;

void field_reset(field *f, int count0, int count1, int count2);
float *field_buffer(field *f, int b);

typedef struct shape {
    int grid, block, shared;
    uint64_t schedule;       /* of cupel_schedule_nth */
    uint64_t exact_schedule; /* unless 0: this one */
    uint64_t steps;
    bool zero_poison, cooperative;
} shape;

/* One run of one launch; zeros in s stand for 1 block, 32 threads, canonical, a million steps. Made again
 * where the order of blocks needs it. */
void field_run(field *f, cupel_emu_module *module, const char *entry, shape s, int argc,
               const void *const *args);

#endif
