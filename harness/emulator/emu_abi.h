/* The seam between emulated device code (our CUDA headers, compiled into each candidate) and the emulator's
 * runtime (in the harness). Included by both, so it is C and C++. Functions here are called from device code;
 * the runtime defines them and the harness exports them to candidates with -rdynamic. */
#ifndef CUPEL_EMU_ABI_H
#define CUPEL_EMU_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Calls of it are not joined: the sanitizer tells them apart by their lines. */
#ifdef CUPEL_EMU_STRICT
#define CUPEL_EMU_EACH_ITS_OWN __attribute__((nomerge))
#else
#define CUPEL_EMU_EACH_ITS_OWN
#endif

#ifdef __CUDA__
#define CUPEL_EMU_DEVICE __attribute__((device))
#else
#define CUPEL_EMU_DEVICE
#endif

/* How device code reads its registers: through an address space that the instrumentation leaves alone (1
 * means nothing on x86-64), else every use of threadIdx would be a checked access. Wrap it in a function that
 * returns the value (clang's
 * __declspec(property) does that for threadIdx.x), so that its type stays plain. Example:
 * CUPEL_EMU_REGISTER(thread.x) */
#define CUPEL_EMU_REGISTER(field)                                                                            \
    (*(const __attribute__((address_space(1))) uint32_t *)&cupel_emu_registers.field)

#ifdef __cplusplus
extern "C" {
#endif

enum { CUPEL_EMU_ABI_VERSION = 4 };
#define CUPEL_EMU_STACK_SIZE 131072 /* a number as assembly takes it */

typedef struct cupel_emu_dim {
    uint32_t x, y, z;
} cupel_emu_dim;

/* The running thread's registers. One instance in each candidate (cupel_emu_registers, hidden), written by
 * the runtime at each switch, read by device code as threadIdx, blockIdx, blockDim, gridDim without a call.
 */
typedef struct cupel_emu_registers {
    cupel_emu_dim thread;
    uint32_t lane, warp; /* within the block; thread to stack_low: written by a switch in one piece */
    uint32_t slot;       /* a bit */
    uintptr_t stack_low; /* of the running thread; CUPEL_EMU_STACK_SIZE bytes of it are in use at most */
    cupel_emu_dim block, block_dim, grid_dim;
    void *dynamic_shared;         /* start of dynamic shared memory */
    uint32_t dynamic_shared_size; /* bytes */
    uint32_t budget;              /* edges, barriers and warp operations until cupel_emu_budget_spent */
} cupel_emu_registers_t;

typedef enum cupel_emu_shuffle {
    CUPEL_EMU_SHFL_IDX,
    CUPEL_EMU_SHFL_UP,
    CUPEL_EMU_SHFL_DOWN,
    CUPEL_EMU_SHFL_XOR
} cupel_emu_shuffle;
typedef enum cupel_emu_vote {
    CUPEL_EMU_VOTE_ALL,
    CUPEL_EMU_VOTE_ANY,
    CUPEL_EMU_VOTE_UNI,
    CUPEL_EMU_VOTE_BALLOT,
    CUPEL_EMU_MATCH_ANY,
    CUPEL_EMU_MATCH_ALL,
    CUPEL_EMU_REDUCE_ADD,
    CUPEL_EMU_REDUCE_MIN,
    CUPEL_EMU_REDUCE_MAX, /* __reduce_*_sync on 32-bit values, min and max signed */
    CUPEL_EMU_REDUCE_UMIN,
    CUPEL_EMU_REDUCE_UMAX,
    CUPEL_EMU_REDUCE_AND,
    CUPEL_EMU_REDUCE_OR,
    CUPEL_EMU_REDUCE_XOR
} cupel_emu_vote;
typedef enum cupel_emu_barrier {
    CUPEL_EMU_SYNC,
    CUPEL_EMU_SYNC_COUNT,
    CUPEL_EMU_SYNC_AND,
    CUPEL_EMU_SYNC_OR
} cupel_emu_barrier;

/* From which lane a shuffle reads, in one word: argument and width as CUDA's functions have them. */
CUPEL_EMU_DEVICE static inline __attribute__((always_inline)) uint64_t
cupel_emu_shuffle_detail(int kind, uint32_t argument, uint32_t width) {
    return (uint64_t)argument << 32 | (uint32_t)(width << 8) | (uint32_t)kind;
}
/* value of the source lane. mask as in CUDA. */
CUPEL_EMU_DEVICE uint64_t cupel_emu_shuffle_sync(uint64_t detail, uint32_t mask, uint64_t value);
/* Result of a vote; for MATCH_ALL *predicate (may be NULL) is set. */
CUPEL_EMU_DEVICE uint32_t cupel_emu_vote_sync(int kind, uint32_t mask, uint64_t value, int *predicate);
/* __syncthreads and its counting forms. */
CUPEL_EMU_DEVICE int cupel_emu_barrier_sync(int kind, int predicate) CUPEL_EMU_EACH_ITS_OWN;
/* Waits for all threads of all blocks of a cooperative launch; traps in others. */
CUPEL_EMU_DEVICE void cupel_emu_grid_sync(void);
CUPEL_EMU_DEVICE int cupel_emu_grid_is_cooperative(void);
CUPEL_EMU_DEVICE void cupel_emu_warp_sync(uint32_t mask);
CUPEL_EMU_DEVICE uint32_t cupel_emu_active_mask(void);
/* Tells the checker of an atomic access before it is carried out (plainly: threads are fibers); may switch
 * threads. is_float: an addition to a floating-point value. */
CUPEL_EMU_DEVICE void cupel_emu_atomic_access(void *address, uint32_t size, int is_float);
/* The next atomic access of this thread may be one to its local memory, which traps else. */
CUPEL_EMU_DEVICE void cupel_emu_atomic_anywhere(void);
/* After an exchange that took place: where threads exchange at one address, it may carry a sum or guard one,
 * and the result may depend on their order. */
CUPEL_EMU_DEVICE void cupel_emu_atomic_exchanged(void *address);
/* After a comparison that was met: by one thread too, since it may be why the others did not try. */
CUPEL_EMU_DEVICE void cupel_emu_atomic_swapped(void);
/* __trap, failed device assert, and things the emulator refuses at run time; these do not return. */
CUPEL_EMU_DEVICE void cupel_emu_trap(void) __attribute__((noreturn));
CUPEL_EMU_DEVICE void cupel_emu_assert_fail(const char *condition, const char *file, unsigned line,
                                            const char *function) __attribute__((noreturn));
CUPEL_EMU_DEVICE void cupel_emu_unsupported(const char *what) __attribute__((noreturn));
CUPEL_EMU_DEVICE uint64_t cupel_emu_clock(void);
/* Where a generic address points: 0 global memory, 1 shared memory, 2 the thread's own stack. */
CUPEL_EMU_DEVICE int cupel_emu_address_space(const void *address);
/* The running thread goes on after all others have come as far as they can: it polls, or sleeps. */
CUPEL_EMU_DEVICE void cupel_emu_pause(void);

/* cp.async (emu_async.c): size bytes, 4, 8 or 16, to shared memory; the first filled of them from global
 * memory, zeros behind. When the bytes arrive, between here and the wait for their group, is the schedule's
 * choice. */
CUPEL_EMU_DEVICE void cupel_emu_async_copy(void *to, const void *from, uint32_t size, uint32_t filled);
CUPEL_EMU_DEVICE void cupel_emu_async_commit(void); /* the copies so far are a group */
/* Until all groups but the latest so many have arrived. */
CUPEL_EMU_DEVICE void cupel_emu_async_wait(uint32_t groups);

/* Barrier number id (0 to 15) of the block, for so many threads; arrive_only: without waiting. */
CUPEL_EMU_DEVICE void cupel_emu_named_barrier(uint32_t id, uint32_t threads, int arrive_only);

/* The matrix instructions of a warp (emu_tensor.c). Elements lie in the lanes' registers as PTX ISA has it
 * for ldmatrix, stmatrix and mma.m16n8k*. */
typedef enum cupel_emu_matrix_kind {
    CUPEL_EMU_MATRIX_LOAD,  /* a: the row that the lane has read; d: count registers */
    CUPEL_EMU_MATRIX_STORE, /* a: count registers; d: the row that the lane is to write */
    CUPEL_EMU_MATRIX_MOVE,
    CUPEL_EMU_MATRIX_PRODUCT /* d = a b + c; count: registers of a */
} cupel_emu_matrix_kind;
typedef enum cupel_emu_matrix_element {
    CUPEL_EMU_MATRIX_F16,
    CUPEL_EMU_MATRIX_BF16,
    CUPEL_EMU_MATRIX_TF32,
    CUPEL_EMU_MATRIX_S8,
    CUPEL_EMU_MATRIX_U8,
    CUPEL_EMU_MATRIX_F32,
    CUPEL_EMU_MATRIX_F64,
    CUPEL_EMU_MATRIX_S32
} cupel_emu_matrix_element;
typedef struct __attribute__((aligned(16))) cupel_emu_matrix { /* so that copies of 16 bytes are aligned */
    uint32_t a[4], c[4], d[4], b[2];
    uint32_t kind, count;
    uint32_t transposed; /* of a product: sums of integers are clamped */
    uint32_t a_type, b_type, c_type, d_type;
} cupel_emu_matrix;
/* All lanes of the warp come here with the same kind, count and types. */
CUPEL_EMU_DEVICE void cupel_emu_matrix_sync(cupel_emu_matrix *operands);

/* What instrumented code calls (flags in emu_flags.h). Before each access to memory, with its address; sizes
 * 1, 2, 4, 8, 16 are naturally aligned accesses and an address that is not a multiple of the size is reported
 * as misaligned, N is any other size or an access whose type demands less alignment. A vector type of CUDA
 * whose alignment exceeds its elements' (float4, int2, ..) must therefore be copied by one access of a clang
 * vector type (a union with an ext_vector_type member, copied in the copy constructor and in operator=): a
 * copy by members shows the optimiser, and so the checker, single elements. Shared variables come through
 * here too. */
void cupel_emu_load1_noabort(uintptr_t address);
void cupel_emu_load2_noabort(uintptr_t address);
void cupel_emu_load4_noabort(uintptr_t address);
void cupel_emu_load8_noabort(uintptr_t address);
void cupel_emu_load16_noabort(uintptr_t address);
void cupel_emu_loadN_noabort(uintptr_t address, size_t size);
void cupel_emu_store1_noabort(uintptr_t address);
void cupel_emu_store2_noabort(uintptr_t address);
void cupel_emu_store4_noabort(uintptr_t address);
void cupel_emu_store8_noabort(uintptr_t address);
void cupel_emu_store16_noabort(uintptr_t address);
void cupel_emu_storeN_noabort(uintptr_t address, size_t size);
/* The candidate's hidden memcpy, memmove and memset (in its trace runtime) call these: instrumented code has
 * plain calls. It also needs a hidden __asan_handle_no_return that does nothing. Tail calls, so that the
 * return address is the author's. */
void *cupel_emu_memcpy(void *target, const void *source, size_t size);
void *cupel_emu_memmove(void *target, const void *source, size_t size);
void *cupel_emu_memset(void *target, int value, size_t size);

/* What a load remembers at its place in the code (emu_inline.c): all that its address, less start, divided by
 * its size and without a rest, may be below for the access to need no second look. All zeros: nothing yet. */
typedef struct cupel_emu_site {
    uintptr_t start;
    uint64_t count;
} cupel_emu_site;
/* A load whose address its site does not know; pc as for the other callbacks. May switch threads. */
void cupel_emu_load_at(uintptr_t address, uint32_t size, cupel_emu_site *site, const void *pc);
/* Asked first: whether the load is one of shared memory that may be made at once, though the next one may
 * have to wait. Uses no register of floating point. */
int cupel_emu_load_quickly(uintptr_t address, uint32_t size);

/* The candidate's __sanitizer_cov_trace_pc_guard counts an edge in its guard and does
 *     if (--cupel_emu_registers.budget == 0) cupel_emu_budget_spent(__builtin_return_address(0));
 * The runtime refills the budget and returns (a thread that spins lets others run), or stops the run as a
 * hang. */
void cupel_emu_budget_spent(const void *pc);

/* Where a thread goes on: what the call in which it waits returns, and its stack, on top of which lies the
 * address of its next instruction. */
typedef struct cupel_emu_continuation {
    uint64_t result;
    void *sp;
} cupel_emu_continuation;
/* The same functions for code that stands in place of their calls (emu_inline.c): sp is the running thread's
 * stack, on which it can go on, pc as for the other callbacks. They return who does go on, this thread or
 * another one. */
cupel_emu_continuation cupel_emu_shuffle_here(void *sp, const void *pc, uint64_t detail, uint32_t mask,
                                              uint64_t value);
cupel_emu_continuation cupel_emu_vote_here(void *sp, const void *pc, int kind, uint32_t mask, uint64_t value,
                                           int *predicate);
cupel_emu_continuation cupel_emu_warp_here(void *sp, const void *pc, uint32_t mask);
cupel_emu_continuation cupel_emu_barrier_here(void *sp, const void *pc, int kind, int predicate);
cupel_emu_continuation cupel_emu_matrix_here(void *sp, const void *pc, cupel_emu_matrix *operands);

/* What a candidate object exports under the name cupel_emu_candidate. Generated code (thunks) fills it in. */
typedef struct cupel_emu_param {
    uint32_t size;
    uint32_t kind;    /* 0 other, 1 pointer, 2 signed, 3 unsigned, 4 float, 5 bool */
    uint32_t pointee; /* pointers: size of the pointee, 0 for void */
    uint32_t pointee_kind;
    uint32_t is_const; /* pointer to const */
    const char *type;  /* as C++ spells it (from __PRETTY_FUNCTION__), for messages */
} cupel_emu_param;

typedef struct cupel_emu_kernel {
    const char *entry;               /* the name expression as the contract wrote it after substitution */
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
    cupel_emu_site *sites_start, *sites_stop;  /* of all loads that have one; the runtime clears them */
    uint32_t edge_count;                       /* trace-pc-guard edges, numbered from 1 */
    uint32_t *edges; /* how often each was taken, edge_count of them (modulo 2^32); the runtime clears them */
} cupel_emu_candidate_t;

#ifdef __cplusplus
}
#endif
#endif
