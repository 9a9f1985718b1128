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
void sanitizer_close(sanitizer_file *file);

/* The line whose comment holds this mark; fails the test when there is none. */
int sanitizer_line(const sanitizer_file *file, const char *mark);

#endif
