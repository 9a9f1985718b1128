/* What a compiled device binary (cubin) says about the resources of its kernels, read from its own tables;
 * needs neither toolkit nor device. */
#ifndef CUPEL_CUBIN_H
#define CUPEL_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "status.h"

typedef struct cupel_cubin_kernel {
    const char *name;    /* the lowered name */
    int registers;       /* a thread */
    int64_t shared;      /* bytes of static shared memory a block */
    int64_t reserved;    /* bytes that the system takes before them, as far as the file says */
    int64_t stack;       /* bytes of local memory a thread: spills and arrays of the kernel's own frame */
    int64_t max_threads; /* a block, by __launch_bounds__; 0: no bound */
    int64_t block[3];    /* the only block that it takes (__reqntid__); zeros: any */
    bool tensor_memory;  /* allocates tensor memory */
    int barriers;        /* named barriers */
    int64_t parameters;  /* bytes */
} cupel_cubin_kernel;

typedef struct cupel_cubin {
    int architecture; /* major * 10 + minor, as far as the file says; 0: it does not */
    int count;
    cupel_cubin_kernel *kernels;
} cupel_cubin;

/* Reads a cubin of size bytes; everything lives in arena, names included. Errors: SYNTAX for what is no cubin
 * or is damaged, UNSUPPORTED for one without tables that this reader knows. The bytes are not trusted. */
CUPEL_MUST_USE cupel_code cupel_cubin_read(const void *bytes, size_t size, cupel_arena *arena,
                                           cupel_cubin *out, cupel_error *err);

/* The kernel of this lowered name; NULL when there is none. */
const cupel_cubin_kernel *cupel_cubin_find(const cupel_cubin *cubin, const char *name);

#endif
