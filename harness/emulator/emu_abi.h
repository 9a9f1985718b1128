/* The seam between emulated device code (our CUDA headers, compiled into each candidate) and the emulator's runtime (in the
 * harness). Included by both, so it is C and C++. Functions here are called from device code; the runtime defines them and the
 * harness exports them to candidates with -rdynamic. */
#ifndef CUPEL_EMU_ABI_H
#define CUPEL_EMU_ABI_H

#include <stdint.h>

#ifdef __CUDA__
#define CUPEL_EMU_DEVICE __attribute__((device))
#else
#define CUPEL_EMU_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { CUPEL_EMU_ABI_VERSION = 1 };

typedef struct cupel_emu_dim { uint32_t x, y, z; } cupel_emu_dim;

/* The running thread's registers. One instance in each candidate (cupel_emu_registers, hidden), written by the runtime at each switch,
 * read by device code as threadIdx, blockIdx, blockDim, gridDim without a call. */
typedef struct cupel_emu_registers {
    cupel_emu_dim thread, block, block_dim, grid_dim;
    uint32_t lane, warp;          /* within the block */
    void *dynamic_shared;         /* start of dynamic shared memory */
    uint32_t dynamic_shared_size; /* bytes */
} cupel_emu_registers_t;

typedef enum cupel_emu_shuffle { CUPEL_EMU_SHFL_IDX, CUPEL_EMU_SHFL_UP, CUPEL_EMU_SHFL_DOWN, CUPEL_EMU_SHFL_XOR } cupel_emu_shuffle;
typedef enum cupel_emu_vote {
    CUPEL_EMU_VOTE_ALL, CUPEL_EMU_VOTE_ANY, CUPEL_EMU_VOTE_UNI, CUPEL_EMU_VOTE_BALLOT,
    CUPEL_EMU_MATCH_ANY, CUPEL_EMU_MATCH_ALL,
    CUPEL_EMU_REDUCE_ADD, CUPEL_EMU_REDUCE_MIN, CUPEL_EMU_REDUCE_MAX, /* __reduce_*_sync on 32-bit values, min and max signed */
    CUPEL_EMU_REDUCE_UMIN, CUPEL_EMU_REDUCE_UMAX,
    CUPEL_EMU_REDUCE_AND, CUPEL_EMU_REDUCE_OR, CUPEL_EMU_REDUCE_XOR
} cupel_emu_vote;
typedef enum cupel_emu_barrier { CUPEL_EMU_SYNC, CUPEL_EMU_SYNC_COUNT, CUPEL_EMU_SYNC_AND, CUPEL_EMU_SYNC_OR } cupel_emu_barrier;

/* value of the source lane; *in_range (may be NULL) tells whether the source was inside the width. mask as in CUDA. */
CUPEL_EMU_DEVICE uint64_t cupel_emu_shuffle_sync(int kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width);
/* Result of a vote; for MATCH_ALL *predicate (may be NULL) is set. */
CUPEL_EMU_DEVICE uint32_t cupel_emu_vote_sync(int kind, uint32_t mask, uint64_t value, int *predicate);
/* __syncthreads and its counting forms. */
CUPEL_EMU_DEVICE int cupel_emu_barrier_sync(int kind, int predicate);
CUPEL_EMU_DEVICE void cupel_emu_warp_sync(uint32_t mask);
CUPEL_EMU_DEVICE uint32_t cupel_emu_active_mask(void);
/* Tells the checker of an atomic access before it is carried out (plainly: threads are fibers); may switch threads. is_float: an
 * addition to a floating-point value. */
CUPEL_EMU_DEVICE void cupel_emu_atomic_access(void *address, uint32_t size, int is_float);
/* __trap, failed device assert, and things the emulator refuses at run time; these do not return. */
CUPEL_EMU_DEVICE void cupel_emu_trap(void) __attribute__((noreturn));
CUPEL_EMU_DEVICE void cupel_emu_assert_fail(const char *condition, const char *file, unsigned line, const char *function) __attribute__((noreturn));
CUPEL_EMU_DEVICE void cupel_emu_unsupported(const char *what) __attribute__((noreturn));
CUPEL_EMU_DEVICE uint64_t cupel_emu_clock(void);

/* What a candidate object exports under the name cupel_emu_candidate. Generated code (thunks) fills it in. */
typedef struct cupel_emu_param {
    uint32_t size;
    uint32_t kind;       /* 0 other, 1 pointer, 2 signed, 3 unsigned, 4 float, 5 bool */
    uint32_t pointee;    /* pointers: size of the pointee, 0 for void */
    uint32_t pointee_kind;
    uint32_t is_const;   /* pointer to const */
    const char *type;    /* as C++ spells it (from __PRETTY_FUNCTION__), for messages */
} cupel_emu_param;

typedef struct cupel_emu_kernel {
    const char *entry; /* the name expression as the contract wrote it after substitution */
    void (*call)(void *const *args); /* args[i] points to the i-th argument's value */
    uint32_t param_count;
    const cupel_emu_param *params;
    uint32_t max_threads; /* __launch_bounds__, 0 when not given */
} cupel_emu_kernel;

typedef struct cupel_emu_candidate_t {
    uint32_t abi_version;
    uint32_t kernel_count;
    const cupel_emu_kernel *kernels;
    cupel_emu_registers_t *registers;
    unsigned char *shared_start, *shared_stop; /* static shared memory, all kernels together */
    uint32_t edge_count;                       /* trace-pc-guard edges, numbered from 1 */
    /* Gives the candidate the runtime's coverage map (edge_count + 1 bytes, saturating counts) and its edge budget. */
    void (*bind)(uint8_t *coverage, uint32_t *budget);
} cupel_emu_candidate_t;

#ifdef __cplusplus
}
#endif
#endif
