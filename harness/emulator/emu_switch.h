/* The short way from a thread that must wait to the next one of its warp: inline, so that waiting functions
 * need no frame of their own. */
#ifndef CUPEL_EMU_SWITCH_H
#define CUPEL_EMU_SWITCH_H

#include <string.h>

#include "emu_machine.h"

/* The long way: to a thread that has not begun, or is not the next one, or belongs to another warp. */
cupel_emu_continuation cupel_emu_block_elsewhere(cupel_emu_thread *self);

/* The next ready thread of a warp that has one: slots in a ring behind the running thread's. */
static inline cupel_emu_thread *cupel_emu_choose_in(cupel_emu_warp *warp, uint32_t own) {
    uint32_t ready = warp->ready, behind = ready & -own;
    uint32_t pick = behind != 0 ? behind : ready;
    warp->ready = ready & ~(pick & -pick);
    return &warp->threads[__builtin_ctz(pick)];
}

_Static_assert(offsetof(cupel_emu_registers_t, stack_low) == 24 &&
                   offsetof(cupel_emu_thread, stack_low) - offsetof(cupel_emu_thread, x) == 24,
               "copied in pieces of 16 and 8 bytes");

/* Makes next the running thread as far as device code and the checker see it. stack_low goes by itself: it
 * may just have been written, and a wider load would have to wait until the store has left the processor's
 * queue. */
static inline void cupel_emu_enter(cupel_emu_thread *next) {
    cupel_emu_registers_t *registers = cupel_emu_the_machine.registers;
    cupel_emu_the_machine.current = next;
    cupel_emu_the_machine.spent_alone = 0;
    const uintptr_t stack_low = next->stack_low;
    memcpy(&registers->thread, &next->x, 16);
    memcpy(&registers->warp, &next->warp, 8);
    __asm__("" : : : "memory");
    registers->stack_low = stack_low;
}

static inline uint64_t *cupel_emu_result_of(cupel_emu_thread *thread) {
    return &thread->home->value[thread->lane];
}

/* next, which has begun, is the running thread. */
static inline cupel_emu_continuation cupel_emu_go_on_with(cupel_emu_thread *next) {
    cupel_emu_enter(next);
    return (cupel_emu_continuation){*cupel_emu_result_of(next), next->sp};
}

/* The top of the stack of a thread that comes soon: where a whole block takes turns it has left the nearest
 * cache, and the translation of its page too. It may be NULL or stale: a prefetch never faults. */
static inline void cupel_emu_fetch_ahead(const cupel_emu_thread *self) {
    const uintptr_t top = (uintptr_t)self[CUPEL_EMU_AHEAD].sp;
    __builtin_prefetch((const void *)top);
    __builtin_prefetch((const void *)(top + 64));
}

/* self, the running thread, gives way, suspended at sp; it goes on when it is chosen again, with what then
 * lies in its warp's value[lane]. Mostly the thread behind it is ready, and it is the one that
 * cupel_emu_choose_in finds. */
static inline __attribute__((always_inline)) cupel_emu_continuation cupel_emu_suspend(cupel_emu_thread *self,
                                                                                      void *sp) {
    cupel_emu_warp *warp = self->home;
    uint32_t ready = warp->ready, behind = self->own << 1;
    cupel_emu_thread *next = self + 1;
    self->sp = sp;
    if ((ready & behind) == 0 || next->stack_low == 0) return cupel_emu_block_elsewhere(self);
    warp->ready = ready ^ behind;
    return cupel_emu_go_on_with(next);
}

/* For functions that are called: returns when self, the running thread, is chosen again. */
static inline void cupel_emu_wait(cupel_emu_thread *self) {
    const cupel_emu_continuation to = cupel_emu_suspend(self, NULL);
    if (to.sp != NULL) cupel_emu_fiber_switch(&self->sp, to); /* NULL: it is chosen at once */
}

#endif
