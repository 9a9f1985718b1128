/* Places that a thread stored to behind a fence: what it had fenced, for those that look there. */
#ifndef CUPEL_EMU_RELEASE_H
#define CUPEL_EMU_RELEASE_H

#include "emu_knowledge.h"

/* block: of shared memory, linear index + 1; 0: global memory. Adds to what is there, for what went before
 * may be one lock's earlier holders. False: out of memory. */
bool cupel_emu_release_put(uintptr_t address, size_t size, uint32_t block, const cupel_emu_knowledge *k);
const cupel_emu_knowledge *cupel_emu_release_get(uintptr_t address, size_t size, uint32_t block);
void cupel_emu_release_forget(void);

#endif
