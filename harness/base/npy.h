/* NumPy's .npy files, version 1.0, C order, little endian. */
#ifndef CUPEL_NPY_H
#define CUPEL_NPY_H

#include <stdint.h>

#include "arena.h"
#include "status.h"

/* Writes data (contiguous, C order) atomically. descr is NumPy's type string: "<f4", "<f8", "<f2", "<i4",
 * "<u2", "|u1". */
CUPEL_MUST_USE cupel_code cupel_npy_write(const char *path, const char *descr, int rank, const int64_t *shape,
                                          const void *data, cupel_error *err);

typedef struct cupel_npy {
    char descr[16];
    int rank;
    int64_t shape[8];
    int64_t count;
    void *data;
} cupel_npy;

/* Reads a file into arena. Errors: not an npy file, Fortran order, big endian, truncated. */
CUPEL_MUST_USE cupel_code cupel_npy_read(const char *path, cupel_arena *arena, cupel_npy *out,
                                         cupel_error *err);

#endif
