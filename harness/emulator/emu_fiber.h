/* Stacks and the switch between them. */
#ifndef CUPEL_EMU_FIBER_H
#define CUPEL_EMU_FIBER_H

#include <stddef.h>
#include <stdint.h>

#include "emu_abi.h"

/* Functions that leave a fiber for good. Not told to AddressSanitizer, which would try to clean a stack that
 * it does not know. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUPEL_EMU_NO_WAY_BACK
#endif
#endif
#ifndef CUPEL_EMU_NO_WAY_BACK
#define CUPEL_EMU_NO_WAY_BACK __attribute__((noreturn))
#endif

/* A stack's usable bytes; what lies unmapped around it; how much of that lies below, so that no frame of a
 * device, with 512 KiB at most, reaches over it into another stack; and how much more may be mapped next to
 * the usable bytes, so that stacks begin at different offsets in a page. */
enum {
    CUPEL_EMU_STACK_BYTES = CUPEL_EMU_STACK_SIZE,
    CUPEL_EMU_STACK_GUARD = 32 * 1024,
    CUPEL_EMU_STACK_GUARD_BELOW = 512 * 1024 - CUPEL_EMU_STACK_BYTES + CUPEL_EMU_STACK_GUARD,
    CUPEL_EMU_STACK_SPREAD = 4096
};

typedef struct cupel_emu_stack {
    void *sp;      /* where a new fiber begins */
    uintptr_t low; /* first usable byte; the guard lies below, after less than CUPEL_EMU_STACK_SPREAD */
    uintptr_t top; /* where the first frame goes: the end of the usable bytes */
    struct cupel_emu_stack *next_free;
} cupel_emu_stack;

/* A stack whose fiber will start in entry when it is switched to; NULL when out of memory. */
cupel_emu_stack *cupel_emu_stack_take(void (*entry)(void));
/* Puts a stack back; it must not be running, or must leave it at once. */
void cupel_emu_stack_release(cupel_emu_stack *stack);
/* Puts every stack back, with whatever their fibers left on them cleaned away. Called on the host's stack. */
void cupel_emu_stack_abandon_all(void);

/* Saves the running context in *save and continues the one saved as target, in which the call that suspended
 * it returns *result. Waiting functions end in this call, so that a fiber is resumed by a single return,
 * straight into device code. */
uint64_t cupel_emu_fiber_switch(void **save, void *target, const uint64_t *result);
/* Continues target in the same way; the running context is lost. */
CUPEL_EMU_NO_WAY_BACK void cupel_emu_fiber_jump(void *target, const uint64_t *result);

#endif
