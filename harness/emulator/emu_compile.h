/* Compiles a source for emulation: the text that the source step made, our CUDA headers and generated thunks
 * become one shared object that exports cupel_emu_candidate (emu_abi.h). Objects are cached by content. */
#ifndef CUPEL_EMU_COMPILE_H
#define CUPEL_EMU_COMPILE_H

#include "arena.h"
#include "source.h"

typedef struct cupel_emu_compile_request {
    cupel_source *source; /* left as it was */
    int define_count;
    const char *const *defines; /* "FLOAT=1" */
    int entry_count;
    const char *const *entries; /* name expressions: "softmax<float>", "ns::tile<64>"; each becomes one
                                   cupel_emu_kernel, in order */
    const char *cache;          /* folder; created when missing */
    const char *compiler;       /* NULL: clang on the PATH */
    const char *objects; /* folder of objects that were built before (cupel_emu_object_name); NULL: none */
    bool fused;          /* a * b + c by one rounding, where this machine can */
    bool fast_functions; /* expf means __expf, and so on (--use_fast_math) */
    bool debug;          /* for a debugger: variables, nothing optimised */
    bool strict;         /* for the sanitizer: emu_strict.h */
} cupel_emu_compile_request;

/* Path of the shared object, in arena; safe beside other processes that compile into the same cache.
 * Errors: UNSUPPORTED when there is no clang, or an entry reaches something that cannot be emulated (file and
 * line of it); MISMATCH when the source has no such entry; BUILD with the author's line when the candidate
 * does not compile; IO. */
CUPEL_MUST_USE cupel_code cupel_emu_compile(const cupel_emu_compile_request *request, cupel_arena *arena,
                                            const char **path, cupel_error *err);

/* The name of the object of a request in a folder of objects: made of everything that the object depends on
 * but the compiler's version and the source's place, so that it is found on another machine. */
CUPEL_MUST_USE cupel_code cupel_emu_object_name(const cupel_emu_compile_request *request, cupel_arena *arena,
                                                const char **name, cupel_error *err);

#endif
