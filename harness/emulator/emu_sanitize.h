/* The sanitizer: which accesses of a launch are ordered, and which are not although one of them stores.
 * Works on candidates that were compiled for it (emu_strict.h) and only while machine.sanitizing is set; the
 * emulator's other files tell it of everything that orders threads. All functions are about the running
 * thread, its warp and its block, as registers name them.
 *
 * What counts as order (docs/sanitizer.md): program order; barriers of the block, of the grid and of parts of
 * either; every warp operation, for the lanes that take part; the end of a launch; and a fence followed by a
 * store or atomic that another thread loads or updates. In doubt there is order: a fence behind the load is
 * not asked for, a fence before a barrier counts for the thread that goes on to store, an atomic releases
 * what was fenced. */
#ifndef CUPEL_EMU_SANITIZE_H
#define CUPEL_EMU_SANITIZE_H

#include "emu_machine.h"

/* A run begins; a launch begins, or the whole grid has met: all that was, happened before all that will be.
 */
void cupel_emu_sanitize_begin(void);
void cupel_emu_sanitize_all_meet(void);
/* The run has ended: the races that were seen, into its observation. */
void cupel_emu_sanitize_end(void);

/* The running block has ended; it will not be heard of again in this launch. */
void cupel_emu_sanitize_block_end(void);

/* All threads of the running block have met. */
void cupel_emu_sanitize_block_meets(void);
/* The same, at __syncthreads or its like: the barriers at which lanes of one warp wait should be one. Before
 * cupel_emu_sanitize_block_meets. */
void cupel_emu_sanitize_barriers(void);
/* These lanes of the running warp have met. */
void cupel_emu_sanitize_warp_meets(uint32_t lanes);
/* These lanes of each warp of the running block have met, at a named barrier say. */
void cupel_emu_sanitize_some_meet(const uint32_t lanes[CUPEL_EMU_WARPS_MAX]);

/* The running thread has executed a fence, of any scope. */
void cupel_emu_sanitize_fence(void);

/* An access to memory that threads share, before it happens. strong: meant for other threads to see (volatile
 * and the like); atomics are. */
void cupel_emu_sanitize_access(uintptr_t address, size_t size, cupel_emu_use use, bool strong,
                               const void *pc);

/* Before memory changes other than by a store of device code that was announced: by another block's shared
 * memory taking its place, say. */
void cupel_emu_sanitize_settle(void);

#endif
