/* Compiles and runs the sanitizer's kernels, and finds their marked lines. */
#ifndef CUPEL_TEST_SANITIZER_FIXTURE_H
#define CUPEL_TEST_SANITIZER_FIXTURE_H

#include "arena.h"
#include "candidate.h"

typedef struct sanitizer_file {
    cupel_arena *arena;
    char *text;
    int kernel_count;
    const char *kernels[64]; /* the names of the file's __global__ functions, in order */
    cupel_emu_module *module;
} sanitizer_file;

/* A file of this folder, compiled for the sanitizer; fails the test when that does not work. */
void sanitizer_open(const char *file, sanitizer_file *out);
/* The same compiled in another way (emu_compile.h). */
void sanitizer_open_as(const char *file, bool strict, bool fused, bool debug, sanitizer_file *out);
void sanitizer_close(sanitizer_file *file);

/* Two blocks of 128 threads with 512 bytes of shared memory, under cupel_schedule_nth(schedule), given an
 * input of 256 floats, an output of 1024, and 256 floats of readable zeros that they may write to. */
void sanitizer_run(const sanitizer_file *file, field *f, const char *kernel, uint64_t schedule,
                   bool cooperative);

/* The line whose comment holds this mark; fails the test when there is none. */
int sanitizer_line(const sanitizer_file *file, const char *mark);

#endif
