/* Proof that a run never ends: every thread that can run comes back to a state that it was in, while memory
 * is what it was. emu_progress.c says when to look, and what follows.
 *
 * A watch is a part of a run in which each budget is one step (m->watched), so that every edge, store and
 * barrier is an event. All that a thread goes by lies on its stack then: what device code keeps in registers
 * is put there on the way to cupel_emu_budget_spent. */
#ifndef CUPEL_EMU_CIRCLE_H
#define CUPEL_EMU_CIRCLE_H

#include "emu_resident.h"

/* From the running thread's next step on, for so many steps at most. */
void cupel_emu_circle_watch(uint64_t steps);

/* A step of the running thread, whose registers and stack lie from sp on. True when it is to step aside: it
 * goes in a circle, as is known. */
bool cupel_emu_circle_event(const void *pc, const void *sp);

/* The running thread is about to store there, if that may be. */
void cupel_emu_circle_store(uintptr_t address, size_t size);

/* The running thread comes to where these slots of the block's warps have come before it: what they had for a
 * circle may be none any more. */
void cupel_emu_circle_join(const uint32_t slots[]);

/* The block has left where all its threads have met at a barrier. */
void cupel_emu_circle_met(cupel_emu_resident *block);

/* Every thread of the block that can run goes in a circle. */
bool cupel_emu_circle_holds(const cupel_emu_resident *block);

#endif
