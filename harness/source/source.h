/* From a .cu file as its author wrote it to text that a device compiler takes: bodies of host functions and
 * host variables are dropped, never types, constants or device code; lines are kept; includes outside our
 * list become empty; launches disappear with the host code around them. Serves the emulator (clang) and,
 * later, NVRTC. */
#ifndef CUPEL_SOURCE_H
#define CUPEL_SOURCE_H

#include "arena.h"
#include "text.h"

typedef struct cupel_source_options {
    int include_count;
    const char *const *includes; /* folders for #include "..." of the author's own headers */
    int define_count;            /* macros of the command line, "TILE=16"; only mine.h looks at them */
    const char *const *defines;
    bool for_device; /* for CUDA's own compiler: nothing is rewritten or refused, and more of CUDA's
                        headers stay */
} cupel_source_options;

typedef struct cupel_source_kernel {
    const char *name; /* as written, with namespaces: "ns::softmax" */
    bool is_template;
    const char *file; /* it may stand in a header of the author's */
    int line;
    const char *parameters;          /* the parameter list as written */
    const char *template_parameters; /* "class T, int B = 256"; "" when there are none */
    const char *launch_bounds;       /* first argument of __launch_bounds__; "" when there is none */
} cupel_source_kernel;

/* Something in device code that cannot be emulated: inline PTX, textures, ... */
typedef struct cupel_source_refusal {
    int line;
    const char *file;
    const char *function; /* the __global__ or __device__ function that holds it */
    const char *what;     /* "inline PTX" */
    bool plural;          /* "textures" */
} cupel_source_refusal;

typedef struct cupel_source_parts cupel_source_parts;

typedef struct cupel_source {
    const char *path;
    char *text; /* transformed, same line numbers; the author's own headers stand in it between #line
                   directives */
    size_t length;
    int kernel_count;
    cupel_source_kernel *kernels;
    int refusal_count;
    cupel_source_refusal *refusals;
    int dynamic_shared_count; /* names of extern __shared__ arrays that were rewritten */
    const char *missing; /* names of the author's own headers (#include "...") that were not found and so left
                            out: "'a.cuh', 'b.cuh'"; "" when there are none */
    int missing_count;
    cupel_source_parts *parts;
} cupel_source;

/* Errors: IO when the file cannot be read, USAGE when an include folder does not exist. */
CUPEL_MUST_USE cupel_code cupel_source_load(const char *path, const cupel_source_options *options,
                                            cupel_arena *arena, cupel_source **out, cupel_error *err);

/* The refusal that the kernel of a name expression ("ns::softmax<float>") reaches through the functions and
 * macros that it mentions, by name; NULL when it reaches none. */
const cupel_source_refusal *cupel_source_refused(const cupel_source *source, const char *entry);

/* Whether the host may change, between two launches of the entries, what the file's device variables hold: it
 * mentions a way to reach them (cudaMemcpyToSymbol and the like), or there is another kernel that uses one of
 * the entries' variables. */
CUPEL_MUST_USE cupel_code cupel_source_host_state(const cupel_source *source, int entry_count,
                                                  const char *const *entries, bool *out, cupel_error *err);

/* Errors: UNSUPPORTED, with the line, when the entries use a variable that they do not fill themselves and
 * that has no initialiser, and something else is to fill it: it is __constant__, or host code of the file
 * reaches it (cudaMemcpyToSymbol and the like), or a kernel that is not among the entries stores to it. Any
 * other __device__ variable is zero by the language. */
CUPEL_MUST_USE cupel_code cupel_source_unfilled(const cupel_source *source, int entry_count,
                                                const char *const *entries, int filled_count,
                                                const char *const *filled, cupel_error *err);

/* Leaves out the innermost declaration around a line of file that entries can do without: its body first,
 * then all of it. False when every declaration there is needed, or gone already. The text changes; kernels
 * and refusals stay. */
CUPEL_MUST_USE cupel_code cupel_source_drop(cupel_source *source, const char *file, int line, int entry_count,
                                            const char *const *entries, bool *dropped, cupel_error *err);

/* Undoes every cupel_source_drop. */
CUPEL_MUST_USE cupel_code cupel_source_restore(cupel_source *source, cupel_error *err);

/* The device code that some entries need, as a text of its own: as the author wrote it, without what the
 * entries cannot reach and without #line directives. Lives in the source's arena. */
CUPEL_MUST_USE cupel_code cupel_source_standalone(const cupel_source *source, int entry_count,
                                                  const char *const *entries, char **text, cupel_error *err);

/* Adds to the message of a compiler's error which of the author's headers were left out: a name that the
 * compiler does not know may well stand in one of them. err may be NULL. */
void cupel_source_tell_missing(const cupel_source *source, cupel_error *err);

#endif
