/* The emulator's runtime: loads a compiled candidate and launches its kernels on this CPU, a fiber for each
 * thread that has to wait. One launch at a time in a process: device code calls back without any context, so
 * the machine is a single static object (emu_machine.h). */
#ifndef CUPEL_EMU_RUNTIME_H
#define CUPEL_EMU_RUNTIME_H

#include "emu_abi.h"
#include "observation.h"
#include "status.h"

/* A loaded candidate. */
typedef struct cupel_emu_module cupel_emu_module;

/* Loads a shared object that exports cupel_emu_candidate. Errors: BUILD when it cannot be loaded, UNSUPPORTED
 * when it was made for another version of the seam. */
CUPEL_MUST_USE cupel_code cupel_emu_module_load(const char *path, cupel_emu_module **out, cupel_error *err);
void cupel_emu_module_close(cupel_emu_module *module); /* accepts NULL */

/* The kernel that was compiled for a name expression; NULL when there is none. */
const cupel_emu_kernel *cupel_emu_module_kernel(const cupel_emu_module *module, const char *entry);

/* Saturating counts of executed edges, index 0 unused; the caller may clear them. */
uint8_t *cupel_emu_module_coverage(cupel_emu_module *module, size_t *count);

/* Bytes of static shared memory of one kernel, as far as the object's symbols tell; never more than it really
 * uses. */
size_t cupel_emu_module_static_shared(const cupel_emu_module *module, const cupel_emu_kernel *kernel);

/* A __constant__ or device variable that the kernels use, by its C++ name ("coef", "ns::coef"). False when
 * there is none that can be written. */
bool cupel_emu_module_variable(const cupel_emu_module *module, const char *name, void **start, size_t *size);

/* Global memory of a run: one region with one bit a byte in each map (least significant bit first, 8 more
 * bytes of map behind the last). Stores make bytes readable. */
typedef struct cupel_emu_memory {
    unsigned char *start;
    size_t size;
    const uint8_t *valid;    /* bytes that belong to a buffer */
    const uint8_t *writable; /* valid bytes that kernels may store to; NULL: all of them */
    uint8_t *readable; /* valid bytes that hold something: inputs, initialised buffers, what was stored */
    /* The buffer that holds or is nearest to an address, and the offset from its start; -1 when the address
     * is far away. */
    int (*locate)(const void *self, const void *address, int64_t *offset);
    const void *self;
} cupel_emu_memory;

typedef struct cupel_emu_launch {
    const cupel_emu_kernel *kernel;
    void *const *args; /* as cupel_emu_kernel.call takes them; copied */
    int64_t grid[3], block[3];
    int64_t dynamic_shared; /* bytes */
    bool cooperative;       /* all blocks in flight together; the grid can be synchronised */
    /* Only these blocks are run (emu_sample.h); 0: all. Not of cooperative launches. */
    uint32_t sample_count;
    const uint64_t *sample;
} cupel_emu_launch;

/* What a run may need to be made again for. */
enum {
    CUPEL_EMU_CAREFUL =
        1, /* canonical schedule: a thread about to touch shared memory waits for the others */
    CUPEL_EMU_IN_GROUPS = 2, /* blocks change places in the schedule's order only with those in flight beside
                                them: they wait for others, in a grid too large to be in flight whole */
    CUPEL_EMU_ALL_BLOCKS = 4 /* no sample of the blocks: they work together, by global atomics or variables,
                           or wait for each other */
};

/* Begins a run: the launches until cupel_emu_run_end see one memory, schedule and budget. schedule is a
 * number of schedule.h, 0 canonical: warps in order, lanes abreast. needs: what cupel_emu_run_end has asked
 * for, 0 at first; CUPEL_EMU_CAREFUL makes the canonical schedule kind to races as well, which costs time.
 * shared_fill: every byte of shared memory before each block (0xff is a NaN in every format). out is filled
 * in as the run goes on and must live until the end. */
void cupel_emu_run_begin(cupel_emu_module *module, const cupel_emu_memory *memory, uint64_t schedule,
                         unsigned needs, unsigned char shared_fill, uint64_t step_limit,
                         cupel_observation *out);

/* Gives a variable of the run's module its content, between launches. */
void cupel_emu_run_fill(void *variable, const void *bytes, size_t size);

/* Runs one launch. False when the run is over: out then says why (refused, fault, unsupported). A loop that
 * uses no steps is ended as a hang after about half a second of processor time; ITIMER_VIRTUAL and SIGVTALRM
 * are taken for that. */
bool cupel_emu_run_launch(const cupel_emu_launch *launch);

/* Ends the run: accesses get their places, device globals get their first values back, or, with keep, stay as
 * they are for a run of the same module that must follow next (not when the run was stopped or is to be made
 * again). Not 0 when the run has to be made again with these needs as well: CAREFUL when threads read and
 * stored shared memory between the same two barriers, IN_GROUPS when blocks waited that the schedule began
 * too soon, ALL_BLOCKS when a sample of the blocks cannot stand for all of them. */
unsigned cupel_emu_run_end(bool keep);

/* There is no next run after all: device globals that were kept get their first values back. */
void cupel_emu_run_forget(void);

#endif
