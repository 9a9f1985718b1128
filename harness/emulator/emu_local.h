/* Local arrays in front of the sanitizer: code that was compiled for it keeps red zones around the arrays
 * that lie on a thread's stack, and says so in a shadow of the stack, a byte for sixteen (as
 * AddressSanitizer's instrumentation does for Linux, with an offset of ours: CUPEL_EMU_STRICT_FLAGS). */
#ifndef CUPEL_EMU_LOCAL_H
#define CUPEL_EMU_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the shadow of a stack before anything runs on it; false: no memory. */
bool cupel_emu_local_stack(uintptr_t low);

/* Does the access, on such a stack, touch no red zone? */
bool cupel_emu_local_allows(uintptr_t address, size_t size);

/* Clears all shadows: a run begins, and the last one may have left its stacks behind. */
void cupel_emu_local_forget(void);

#endif
