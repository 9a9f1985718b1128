/* From the text that the source step made to code for a GPU: CUDA's own headers, NVRTC, the real parameter
 * types of every entry. Needs no driver and no GPU. Compiled code is cached by content. */
#ifndef CUPEL_CUDA_COMPILE_H
#define CUPEL_CUDA_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "emu_abi.h"
#include "source.h"

typedef struct cupel_cuda_compile_request {
    cupel_source *source; /* loaded with for_device; left as it was */
    int architecture;     /* compute capability, major * 10 + minor: 90 */
    int define_count, entry_count, option_count;
    const char *const *defines; /* "FLOAT=1" */
    const char *const *options; /* for NVRTC: "-fmad=false" */
    const char *const *entries; /* name expressions, each once */
    int variable_count;
    const char *const *variables; /* device variables whose names are asked for: "coef", "ns::coef" */
    const char *cache;            /* folder, created when missing; NULL: nothing is kept */
} cupel_cuda_compile_request;

/* One entry. */
typedef struct cupel_cuda_kernel {
    const char *lowered;     /* its name in the cubin */
    cupel_emu_kernel kernel; /* entry, param_count and params as the compiler knows them; call is NULL */
    bool adds_float_atomically, swaps_atomically; /* its PTX or that of a function in the module does */
} cupel_cuda_kernel;

typedef struct cupel_cuda_code {
    unsigned char *cubin;
    size_t cubin_size;
    int kernel_count;
    cupel_cuda_kernel *kernels; /* in the order of the request's entries */
    const char **variables;     /* names in the cubin, in the order of the request's */
    bool atomics_known;         /* the PTX could be read */
    bool keeps_state;           /* it has variables of its own, which stay from launch to launch */
} cupel_cuda_code;

/* Everything lives in arena. Errors: UNSUPPORTED when there is no compiler, or no toolkit's header where one
 * is needed; MISMATCH when the source has no such entry; BUILD with the author's line; IO. */
CUPEL_MUST_USE cupel_code cupel_cuda_compile(const cupel_cuda_compile_request *request, cupel_arena *arena,
                                             cupel_cuda_code *out, cupel_error *err);

#endif
