/* Reading what NVRTC writes: its log, and the PTX. */
#ifndef CUPEL_CUDA_TEXT_H
#define CUPEL_CUDA_TEXT_H

#include "cuda_compile.h"

/* The file name that the compiler sees for the lines that describe the entries; line k is that of entry
 * k - 1. */
#define CUPEL_CUDA_ENTRIES_FILE "cupel-entries"
#define CUPEL_CUDA_PRELUDE_FILE "cupel-prelude"

/* One error, at the author's place: where an instantiation that failed inside a header was asked for. */
typedef struct cupel_cuda_diagnostic {
    const char *file;
    int line;
    const char *text;
} cupel_cuda_diagnostic;

/* The errors in a log ("file(line): error: text"). foreign: folder of CUDA's headers, whose places are passed
 * over in favour of the author's; may be "". */
CUPEL_MUST_USE cupel_code cupel_cuda_text_errors(const char *log, const char *foreign, cupel_arena *arena,
                                                 int *count, cupel_cuda_diagnostic **out, cupel_error *err);

/* Fills in the parameters of entry k from the variable cupel_signature_<k> of the PTX. UNSUPPORTED when it is
 * not there. */
CUPEL_MUST_USE cupel_code cupel_cuda_text_signature(const char *ptx, int k, cupel_arena *arena,
                                                    cupel_emu_kernel *out, cupel_error *err);

/* Which atomics an entry of that lowered name may reach: its own and those of every function that is no
 * entry. */
void cupel_cuda_text_atomics(const char *ptx, const char *lowered, bool *adds_floats, bool *swaps);

/* Are there variables in global memory, besides texts and signatures? */
bool cupel_cuda_text_state(const char *ptx);

#endif
