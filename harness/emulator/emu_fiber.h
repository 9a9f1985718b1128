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
    uintptr_t low; /* first usable byte; the guard lies below, after less than CUPEL_EMU_STACK_SPREAD */
    uintptr_t top; /* where the first frame goes: the end of the usable bytes */
    struct cupel_emu_stack *next_free;
} cupel_emu_stack;

extern cupel_emu_stack *cupel_emu_stack_free __attribute__((visibility("hidden"))); /* a list */
cupel_emu_stack *cupel_emu_stack_map(void);

/* NULL when out of memory. */
static inline cupel_emu_stack *cupel_emu_stack_take(void) {
    cupel_emu_stack *stack = cupel_emu_stack_free;
    if (stack == NULL) return cupel_emu_stack_map();
    cupel_emu_stack_free = stack->next_free;
    return stack;
}

/* Puts a stack back; it must not be running, or must leave it at once. */
static inline void cupel_emu_stack_release(cupel_emu_stack *stack) {
    stack->next_free = cupel_emu_stack_free;
    cupel_emu_stack_free = stack;
}

/* Puts every stack back, with whatever their fibers left on them cleaned away. Called on the host's stack. */
void cupel_emu_stack_abandon_all(void);

/* Saves the running context in *save and goes on as `to` says; returns the result with which the saved
 * context goes on. */
uint64_t cupel_emu_fiber_switch(void **save, cupel_emu_continuation to);
/* The same; the running context is lost. */
CUPEL_EMU_NO_WAY_BACK void cupel_emu_fiber_jump(cupel_emu_continuation to);

/* A new fiber: calls function with argument and, on its return, goes on as cupel_emu_fiber_ended says. Where
 * that says no stack, the result is the function of another fiber, on the same stack and with the same
 * argument. */
cupel_emu_continuation cupel_emu_fiber_new(cupel_emu_stack *stack, void (*function)(void *const *argument),
                                           void **argument);
cupel_emu_continuation cupel_emu_fiber_ended(cupel_emu_stack *stack); /* emu_block.c */

#endif
