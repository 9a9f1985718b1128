/* The callbacks of candidates that were compiled for the sanitizer: the checker's long way for every access,
 * then the sanitizer. */
#include "emu_strict.h"

#include <string.h>

#include "emu_local.h"
#include "emu_sanitize.h"

static cupel_emu_machine *const m = &cupel_emu_the_machine;

/* The mark on the access that comes next. Nothing runs between the two. */
static const void *strong_next;

void cupel_emu_strict_strong(const void *address) {
    strong_next = address;
}

void cupel_emu_strict_begin(void) {
    strong_next = NULL;
    cupel_emu_local_forget();
    cupel_emu_sanitize_begin();
}

void cupel_emu_strict_fence(void) {
    if (m->sanitizing) cupel_emu_sanitize_fence();
}

static bool is_private(uintptr_t address) {
    return address - m->registers->stack_low < CUPEL_EMU_STACK_BYTES ||
           address - (uintptr_t)m->parameters < sizeof m->parameters;
}

/* The checker may let other threads run first; the sanitizer hears of the access when its turn has come.
 * aligned: to its size, which is a power of two, or it is reported. */
static void access(uintptr_t address, size_t size, bool aligned, bool write, const void *pc) {
    const bool strong = strong_next == (const void *)address;
    strong_next = NULL;
    if (aligned)
        cupel_emu_check_access(address, (uint32_t)size, write, pc);
    else
        cupel_emu_check_range(address, size, write, pc);
    if (address - m->registers->stack_low < CUPEL_EMU_STACK_BYTES && !cupel_emu_local_allows(address, size))
        cupel_emu_report_access(write ? CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE : CUPEL_ACCESS_OUT_OF_BOUNDS_READ,
                                CUPEL_SPACE_LOCAL, address, size, pc);
    if (m->sanitizing && !is_private(address))
        cupel_emu_sanitize_access(address, size, write ? CUPEL_EMU_STORE : CUPEL_EMU_LOAD, strong, pc);
}

#define CUPEL_EMU_STRICT_ACCESS(size)                                                                        \
    void cupel_emu_strict_load##size##_noabort(uintptr_t address) {                                          \
        access(address, size, true, false, __builtin_return_address(0));                                     \
    }                                                                                                        \
    void cupel_emu_strict_store##size##_noabort(uintptr_t address) {                                         \
        access(address, size, true, true, __builtin_return_address(0));                                      \
    }
CUPEL_EMU_STRICT_ACCESS(1)
CUPEL_EMU_STRICT_ACCESS(2)
CUPEL_EMU_STRICT_ACCESS(4)
CUPEL_EMU_STRICT_ACCESS(8)
CUPEL_EMU_STRICT_ACCESS(16)

void cupel_emu_strict_loadN_noabort(uintptr_t address, size_t size) {
    access(address, size, false, false, __builtin_return_address(0));
}

void cupel_emu_strict_storeN_noabort(uintptr_t address, size_t size) {
    access(address, size, false, true, __builtin_return_address(0));
}

/* pc: these are called by the candidate's own memcpy, a jump away from the code that wanted it. */
void *cupel_emu_strict_memcpy(void *target, const void *source, size_t size) {
    access((uintptr_t)source, size, false, false, __builtin_return_address(0));
    access((uintptr_t)target, size, false, true, __builtin_return_address(0));
    return memmove(target, source, size);
}

void *cupel_emu_strict_memmove(void *target, const void *source, size_t size) {
    access((uintptr_t)source, size, false, false, __builtin_return_address(0));
    access((uintptr_t)target, size, false, true, __builtin_return_address(0));
    return memmove(target, source, size);
}

void *cupel_emu_strict_memset(void *target, int value, size_t size) {
    access((uintptr_t)target, size, false, true, __builtin_return_address(0));
    return memset(target, value, size);
}
