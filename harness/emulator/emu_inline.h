/* The step between clang's two halves: the optimiser's calls of the checker, of the edge counter and of what
 * threads wait in become code in place. */
#ifndef CUPEL_EMU_INLINE_H
#define CUPEL_EMU_INLINE_H

#include <stddef.h>

#include "buffer.h"

/* Appends instrumented LLVM text (-emit-llvm) to out, which is to be compiled by clang -x ir. Calls that it
 * does not know stay calls, which the runtime answers too: then code is slower and means the same. Errors:
 * MEMORY. */
CUPEL_MUST_USE cupel_code cupel_emu_inline_write(const char *text, cupel_buffer *out, cupel_error *err);

#endif
