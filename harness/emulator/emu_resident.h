/* The blocks of a launch that are in flight.
 *
 * A block has one place in the machine (emu_machine.h), where it runs. Mostly blocks follow each other there,
 * each to its end. A block leaves early for one of three reasons (cupel_emu_departure): all its threads wait
 * for the grid; all that can run look at global memory again and again, as they do for a flag, a lock or a
 * counter that another block is to change; or a schedule that switches at random lets another block run. It
 * is then copied out: warps, threads, counters, shared memory with its maps. When its turn comes it is copied
 * back to the same place, so that every pointer into it stays valid; stacks stay where they are.
 *
 * Who is next: a block that can go on; else one that has not begun; else those that spin, the one that left
 * last first, each once a round. Schedules that switch at random draw instead, among few blocks at a time.
 *
 * At most CUPEL_EMU_IN_FLIGHT_THREADS threads' worth of blocks are in flight, and no more than a device of
 * compute capability 9.0 keeps resident. A cooperative launch that such a device would refuse is refused; one
 * that is merely too large for here is not emulated. In other launches blocks that wait for an earlier one
 * are right on any device that starts blocks in order, so they must be right here however large the grid:
 * when all blocks in flight wait in an order of blocks that is not their own, the run is made again with that
 * order kept to groups of blocks that are in flight together (in_groups). What waits even then waits for a
 * block that has not begun: a device with more room may come to an end, so that nothing is said of it.
 *
 * Hangs: when no block can go on and none spins, those at the grid wait for blocks that have ended: a
 * deadlock. Blocks that spin for ever are found by emu_circle.c. */
#ifndef CUPEL_EMU_RESIDENT_H
#define CUPEL_EMU_RESIDENT_H

#include "emu_machine.h"

enum {
    CUPEL_EMU_IN_FLIGHT_THREADS = 8192,
    CUPEL_EMU_IN_FLIGHT_BLOCKS = CUPEL_EMU_IN_FLIGHT_THREADS / CUPEL_EMU_WARP
};

/* A block in flight. What lies in its place is in the machine, what is aside is in bytes. */
typedef struct cupel_emu_resident {
    bool aside;
    cupel_emu_departure left;
    uint64_t linear; /* m->block_linear */
    uint64_t round;  /* in which it was let go on last */
    cupel_emu_dim block;
    cupel_emu_thread *current;
    uint32_t alive_count, barrier_count, barrier_true, grid_count, ready_warps, stepped_warps, turns, slice,
        epoch_key;
    uintptr_t coming_pc, barrier_pc;
    int barrier_kind;
    bool seen[2], shared_touched, global_stored;
    unsigned char *bytes; /* warps, threads, then static and dynamic shared memory, each with its map */
    size_t capacity;
    /* of emu_circle.c */
    bool heard;                             /* in this watch, before it went aside last */
    bool stirs;                             /* has changed memory that blocks share, since its threads met */
    uint32_t circling[CUPEL_EMU_WARPS_MAX]; /* slots of threads that go in a circle */
    uint64_t rest;                          /* all that there was of it when its threads had met once */
    uint32_t rests;                         /* how often they have in this watch */
} cupel_emu_resident;

/* Before a launch whose shape and shared memory the machine knows. False when it is over: a cooperative grid
 * that a device, or the emulator, does not take. */
bool cupel_emu_resident_begin(const cupel_emu_launch *launch);

/* Runs all blocks of the launch, or of its sample, unless the run is stopped. */
void cupel_emu_resident_run(void);

/* The launch is over, however it ended. */
void cupel_emu_resident_end(void);

bool cupel_emu_resident_cooperative(void);

/* The running block may be left for another one at a point that the schedule has drawn. */
bool cupel_emu_resident_may_switch(void);

/* Blocks in flight, the running one among them, in no order that means anything. */
uint32_t cupel_emu_resident_count(void);
cupel_emu_resident *cupel_emu_resident_at(uint32_t i);
cupel_emu_resident *cupel_emu_resident_running(void);
const cupel_emu_warp *cupel_emu_resident_warps(const cupel_emu_resident *block);
cupel_emu_thread cupel_emu_resident_thread(const cupel_emu_resident *block,
                                           uint32_t i); /* slot i % 32 of warp i / 32 */
/* It has looked at nothing that another block could change, in this watch. */
bool cupel_emu_resident_keeps_to_itself(const cupel_emu_resident *block);
/* A number that stands for the contents of its shared memory. */
uint64_t cupel_emu_resident_hash(const cupel_emu_resident *block);
uint64_t cupel_emu_resident_ended(void);   /* blocks */
uint64_t cupel_emu_resident_waiting(void); /* blocks that have not begun */
bool cupel_emu_resident_may_begin(void);   /* there is room for one of them */

#endif
