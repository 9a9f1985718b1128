/* What candidates call that were compiled for the sanitizer (CUPEL_EMU_STRICT_FLAGS in emu_flags.h): the
 * checker's callbacks under another name, so that ordinary candidates pay nothing, and what ordinary ones do
 * not tell of at all. Included by device headers too. */
#ifndef CUPEL_EMU_STRICT_H
#define CUPEL_EMU_STRICT_H

#include "emu_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run begins. */
void cupel_emu_strict_begin(void);

/* __threadfence and its like. */
CUPEL_EMU_DEVICE void cupel_emu_strict_fence(void);
/* The running thread's next access, which is to this address, is meant for other threads: volatile, or past
 * the caches that they do not share. */
CUPEL_EMU_DEVICE void cupel_emu_strict_strong(const void *address);

void cupel_emu_strict_load1_noabort(uintptr_t address);
void cupel_emu_strict_load2_noabort(uintptr_t address);
void cupel_emu_strict_load4_noabort(uintptr_t address);
void cupel_emu_strict_load8_noabort(uintptr_t address);
void cupel_emu_strict_load16_noabort(uintptr_t address);
void cupel_emu_strict_loadN_noabort(uintptr_t address, size_t size);
void cupel_emu_strict_store1_noabort(uintptr_t address);
void cupel_emu_strict_store2_noabort(uintptr_t address);
void cupel_emu_strict_store4_noabort(uintptr_t address);
void cupel_emu_strict_store8_noabort(uintptr_t address);
void cupel_emu_strict_store16_noabort(uintptr_t address);
void cupel_emu_strict_storeN_noabort(uintptr_t address, size_t size);
void *cupel_emu_strict_memcpy(void *target, const void *source, size_t size);
void *cupel_emu_strict_memmove(void *target, const void *source, size_t size);
void *cupel_emu_strict_memset(void *target, int value, size_t size);

#ifdef __cplusplus
}
#endif
#endif
