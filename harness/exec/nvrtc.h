/* NVIDIA's run-time compiler, loaded when it is first needed, so that this program runs where it is not
 * installed. It needs no driver and no GPU. */
#ifndef CUPEL_NVRTC_H
#define CUPEL_NVRTC_H

#include <stdbool.h>

#include "arena.h"
#include "status.h"

/* The compiler of this process: loaded once, never unloaded. */
typedef struct cupel_nvrtc {
    const char *library; /* what was loaded: "/usr/local/cuda/lib64/libnvrtc.so.13" */
    const char *toolkit; /* folder of CUDA's own headers (cuda_fp16.h); "" when there is none */
    int major, minor;
} cupel_nvrtc;

/* UNSUPPORTED, naming what was looked for, when there is no compiler on this machine. Looks at CUDA_PATH and
 * CUDA_HOME, the loader's path, /usr/local/cuda and /usr/local/cuda-N, and python's nvidia packages. */
CUPEL_MUST_USE cupel_code cupel_nvrtc_find(const cupel_nvrtc **out, cupel_error *err);

typedef struct cupel_nvrtc_request {
    const char *text;
    const char *name; /* the file's name in messages, where no #line says another */
    int architecture; /* compute capability, major * 10 + minor: 90 compiles for sm_90 */
    int define_count, include_count, entry_count, option_count;
    const char *const *options;  /* further ones, as they are: "-fmad=false" */
    const char *const *defines;  /* "FLOAT=1" */
    const char *const *includes; /* folders, before the toolkit's */
    const char *const *entries;  /* name expressions: "softmax<float>", "ns::tile<64>" */
} cupel_nvrtc_request;

/* Everything lives in the arena of the call. */
typedef struct cupel_nvrtc_output {
    bool success; /* false: log says why, the rest is empty */
    const char *log;
    unsigned char *cubin; /* for the architecture of the request */
    size_t cubin_size;
    const char *ptx;      /* empty where this compiler does not give it */
    const char **lowered; /* the entries' names in cubin and ptx */
} cupel_nvrtc_output;

/* Errors: UNSUPPORTED (no compiler, or one that does not know the architecture), MEMORY. That the text does
 * not compile is no error: see success. */
CUPEL_MUST_USE cupel_code cupel_nvrtc_compile(const cupel_nvrtc_request *request, cupel_arena *arena,
                                              cupel_nvrtc_output *out, cupel_error *err);

#endif
