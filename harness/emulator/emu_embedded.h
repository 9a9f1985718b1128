/* The files that every candidate is compiled with, carried inside this binary so that it works wherever it is
 * moved. */
#ifndef CUPEL_EMU_EMBEDDED_H
#define CUPEL_EMU_EMBEDDED_H

#include <stdint.h>

#include "arena.h"
#include "status.h"

typedef struct cupel_emu_embedded_file {
    const char *name; /* "cuda_fp16.h", "cooperative_groups/reduce.h" */
    const unsigned char *start, *stop;
} cupel_emu_embedded_file;

/* Generated: all files, ended by a NULL name. */
extern const cupel_emu_embedded_file cupel_emu_embedded_files[];

/* A number that changes whenever a file does. */
uint64_t cupel_emu_embedded_hash(void);

/* The folder of cache that holds all the files; written on first use, complete or absent for anyone who
 * looks. */
CUPEL_MUST_USE cupel_code cupel_emu_embedded_unpack(const char *cache, cupel_arena *arena,
                                                    const char **folder, cupel_error *err);

#endif
