/* The state of the emulated device, shared by the emulator's own files and nobody else. Static because
 * callbacks from device code and signal handlers have no other way to it. */
#ifndef CUPEL_EMU_MACHINE_H
#define CUPEL_EMU_MACHINE_H

#include <stdbool.h>

#include "emu_fiber.h"
#include "emu_runtime.h"
#include "schedule.h"

enum {
    CUPEL_EMU_WARP = 32,
    CUPEL_EMU_THREADS_MAX = 1024,
    CUPEL_EMU_WARPS_MAX = CUPEL_EMU_THREADS_MAX / CUPEL_EMU_WARP,
    CUPEL_EMU_SHARED_MAX = 227 * 1024,
    CUPEL_EMU_SHARED_SLACK = 64 * 1024, /* around dynamic shared memory: a stray access does no harm there */
    CUPEL_EMU_STATIC_SHARED_MAX = 48 * 1024,
    CUPEL_EMU_PARAMETERS_MAX = 8192,
    CUPEL_EMU_LINES = 256,     /* a power of two */
    CUPEL_EMU_LINE_BYTES = 64, /* a bit each in a word */
    CUPEL_EMU_RUNS = 16,
    CUPEL_EMU_SHARED_SITES = 256,
    CUPEL_EMU_NOTES_MAX = 4,
    CUPEL_EMU_SLICE = 16384, /* steps handed to a budget at a time */
    CUPEL_EMU_AHEAD = 4      /* threads: so far ahead of its turn a stack is fetched */
};

/* A thread of the current block, one cache line. Threads stand in the order in which they run: slot p of warp
 * w is not lane p of warp w unless the schedule is canonical. */
typedef struct cupel_emu_thread {
    _Alignas(64) void *sp; /* where it is suspended */
    /* from here to stack_low as in cupel_emu_registers: copied as one piece */
    uint32_t x, y, z, lane, warp;
    uint32_t own;        /* the bit of its slot in its warp's masks */
    uintptr_t stack_low; /* of its stack; 0: has not begun, or has ended */
    struct cupel_emu_warp *home;
    uint32_t access_key; /* barrier epoch * 2, + 1 when the last access to shared memory was a store */
    uint32_t looked;     /* a key of its last access to memory that blocks share; 0: a store */
    const void *wait_pc; /* where it waits: for reports, and for who goes first */
} cupel_emu_thread;
_Static_assert(sizeof(cupel_emu_thread) == 64, "a thread is one cache line");

/* Lanes that wait together in a warp operation. Masks are over slots. */
typedef struct cupel_emu_group {
    uint32_t mask, arrived;
    uint32_t operation; /* lanes in different operations do not meet */
} cupel_emu_group;

typedef struct cupel_emu_warp {
    cupel_emu_thread *threads; /* by slot */
    uint32_t ready;            /* may run now */
    uint32_t stepped;          /* wait for all others to come as far as they can */
    uint32_t at_barrier;       /* wait in __syncthreads */
    uint32_t at_grid;          /* wait for all blocks of the launch */
    uint32_t asking;           /* wait in __activemask */
    uint32_t alive;            /* have not exited */
    uint32_t existing;         /* slots that hold a thread */
    uint32_t existing_lanes;
    uint32_t all_arrived,
        all_operation; /* lanes that meet with all others: the common case, apart from the groups */
    bool all_alike; /* ... and every shuffle so far has the first one's detail: then it is not in detail[] */
    uint64_t all_detail; /* of shuffles that are all alike; else 0, which none has */
    uint32_t group_count;
    cupel_emu_group groups[CUPEL_EMU_WARP];
    uint8_t slot_of[CUPEL_EMU_WARP]; /* lane -> slot; lane 31 and up may not exist */
    uint64_t value[CUPEL_EMU_WARP];  /* by lane: operand, then result */
    uint64_t detail[CUPEL_EMU_WARP]; /* by lane: kind, argument and width of a shuffle */
    int *predicate[CUPEL_EMU_WARP];  /* by lane: where the second result of match_all goes */
} cupel_emu_warp;

/* How a schedule chooses. */
typedef struct cupel_emu_policy {
    bool stepwise;          /* an access to shared memory that could conflict waits for the others */
    bool random_switch;     /* any access to shared memory may switch, to a thread that is drawn */
    bool identity;          /* slots are lanes */
    uint32_t switches_left; /* random ones; then each thread runs until it must wait */
    uint64_t random;        /* state of the draws */
    uint64_t block_step, block_start; /* i-th block to run: (start + i * step) mod count */
    uint8_t lane_order[CUPEL_EMU_WARP];
    cupel_schedule schedule;
} cupel_emu_policy;

/* Why a block has left its place. */
typedef enum cupel_emu_departure {
    CUPEL_EMU_ENDED,    /* or the run was stopped */
    CUPEL_EMU_GAVE_WAY, /* it could go on: the schedule lets another one run here */
    CUPEL_EMU_SPINS,    /* its threads look at global memory again and again, or wait for those that do */
    CUPEL_EMU_AT_GRID,  /* all its threads wait for all other blocks */
    CUPEL_EMU_PAST_GRID /* ... and all have come since */
} cupel_emu_departure;

typedef struct cupel_emu_shared {
    uintptr_t start;
    size_t size;       /* of this launch */
    uint8_t *readable; /* one bit a byte */
} cupel_emu_shared;

/* What the checker remembers of a line of global or shared memory: which of its bytes may be read without
 * looking further. Bytes become readable and stay so until shared memory is poisoned, so that an old mask is
 * at worst too small. */
typedef struct cupel_emu_line {
    uint64_t tag; /* the line's number + the key of its time */
    uint64_t readable;
} cupel_emu_line;

/* A piece of global memory all of whose bytes may be read, as offsets. */
typedef struct cupel_emu_run {
    size_t start, stop;
} cupel_emu_run;

typedef struct cupel_emu_machine {
    /* hot: what a callback or a switch touches */
    /* accesses until budget_spent: not in registers->budget, or each step would wait for the last */
    uint32_t access_budget;
    uint32_t epoch_key;
    uint32_t spent_alone; /* how often a budget was spent since the last switch */
    uint32_t spent_here; /* ... since this block came to run, or a thread of it last stepped aside for that */
    cupel_emu_thread *current;
    cupel_emu_registers_t *registers;
    uintptr_t global_start;
    size_t global_size;
    const uint8_t *valid, *writable;
    uint8_t *readable;
    const uint8_t *load_map, *store_map; /* bytes of global memory whose accesses need no second look */
    cupel_emu_shared static_shared, dynamic_shared;
    bool shared_touched;
    bool mixed;         /* an epoch of this run had both reads and stores of shared memory */
    bool calm;          /* nobody waits for others */
    bool careful;       /* the canonical schedule is to wait */
    bool seen[2];       /* reads, stores since the last barrier */
    bool races;         /* accesses to global memory that is written take part in the schedule, */
    bool exchanged;     /* from the first load of such memory on: it is more than a place for results */
    bool global_stored; /* ... stores there since the last barrier */
    bool proving;       /* loads of what another block could store are heard, */
    bool heard;         /* and there was one (of this block, in this watch of emu_circle.c) */
    uint64_t listened;  /* how many accesses outside shared memory were looked at for that */
    uint64_t line_key;
    cupel_emu_line lines[CUPEL_EMU_LINES];
    cupel_emu_run runs[CUPEL_EMU_RUNS]; /* of input, found in this run; the next one goes to next_run */
    uint32_t next_run;
    cupel_emu_run static_run, dynamic_run; /* of shared memory, found last: until it is poisoned */
    uint32_t shared_site_count;            /* sites that were told of shared memory since the last barrier; */
    cupel_emu_site *shared_sites[CUPEL_EMU_SHARED_SITES]; /* as many as fit */
    cupel_emu_policy policy;

    /* the block */
    uint32_t warp_count, thread_count, alive_count, barrier_count;
    uint32_t ready_warps;   /* bit w: warp w may have threads that are ready; without it, it has none */
    uint32_t stepped_warps; /* bit w: warp w has threads that have stepped aside */
    uint32_t turns;         /* how often in a row only the nearest place has been served */
    uintptr_t coming_pc;    /* of the barrier that threads come to */
    uintptr_t barrier_pc;   /* of the last barrier that all came to; 0: none yet in this block */
    uint32_t barrier_true;  /* threads that came to the barrier with a true predicate */
    int barrier_kind;
    uint32_t grid_count;      /* threads that wait for all blocks */
    cupel_emu_departure left; /* why the block is not running */
    bool others;              /* besides this block, others run or have yet to begin (emu_resident.h) */
    bool spun;                /* a block of this launch has waited for another one */
    cupel_emu_warp warps[CUPEL_EMU_WARPS_MAX];
    /* slot p of warp w at w * 32 + p; behind the last ones nothing runs, but may be looked at */
    cupel_emu_thread threads[CUPEL_EMU_THREADS_MAX + CUPEL_EMU_AHEAD];

    /* the launch */
    const cupel_emu_kernel *kernel;
    void *host_sp; /* the launching context, while fibers run */
    void **arguments;
    uint32_t parameter_size;
    _Alignas(16) unsigned char parameters[CUPEL_EMU_PARAMETERS_MAX];
    uint64_t block_linear; /* for atomics: which block adds */

    /* the run */
    cupel_emu_module *module;
    const cupel_emu_memory *memory;
    cupel_observation *out;
    uint64_t steps_left, steps_limit; /* not yet handed out to the budgets; in all */
    bool waiting_out;                 /* the steps are used up: does the run still get anywhere? */
    bool leaves;                      /* ... and the block is to leave when all its threads meet next, */
    bool met;                         /* as it has */
    bool watched;                     /* ... and each budget is one step (emu_circle.c) */
    bool timed;                       /* somebody has looked at the clock since the steps were used up */
    uint64_t unforeseen; /* things that a thread was told or has begun, and which its memory does not show */
    uint32_t slice;      /* steps for a budget */
    bool in_groups;      /* only blocks that are in flight together change places in the order */
    bool regroup;        /* the run is to be made again in that way */
    bool sampled;        /* some blocks of the launch are left out, */
    bool joined;         /* and there was an atomic access to global memory */
    unsigned char shared_fill; /* every byte of shared memory before a block */
    bool running, stopped, module_dirty;
    bool sanitizing; /* the candidate was compiled for the sanitizer, which hears of all that orders threads
                      */
    const uint8_t *red_zones; /* behind the arrays of static shared memory, one bit a byte; NULL: none */
    cupel_emu_module *kept;   /* its variables hold what earlier calls of the same run left in them */
    int note_count;
    const char *notes[CUPEL_EMU_NOTES_MAX];
    const void *access_pc[CUPEL_ACCESS_MAX];
    const void *stop_pc; /* where the run was stopped, as a return address */
} cupel_emu_machine;

typedef enum cupel_emu_use { CUPEL_EMU_LOAD, CUPEL_EMU_STORE, CUPEL_EMU_ATOMIC } cupel_emu_use;

extern cupel_emu_machine cupel_emu_the_machine __attribute__((visibility("hidden")));

/* emu_block.c */
/* Both return when the block has left (m->left) or the run was stopped. A block that goes on lies in its
 * place as it did when it left. */
void cupel_emu_block_run(uint32_t bx, uint32_t by, uint32_t bz);
void cupel_emu_block_go_on(void);
void cupel_emu_block_poison(void);   /* fills shared memory */
void cupel_emu_block_give_way(void); /* another block goes on, then, sooner or later, this thread */
void cupel_emu_block_begin_budget(void);
/* A budget is spent; the thread's registers and stack lie from sp on. */
void cupel_emu_block_spent(const void *pc, const void *sp) __attribute__((visibility("hidden")));
void cupel_emu_block_yield(void); /* a thread drawn at random goes on, maybe this one */
/* ... after all others have come as far as they can, those at lower places first (NULL: last of all). */
void cupel_emu_block_step(const void *pc);
void cupel_emu_block_ready(cupel_emu_warp *warp, uint32_t slots); /* these may run again */
/* emu_warp.c: a lane of warp has exited: groups that waited for it may be complete. */
void cupel_emu_warp_lane_exited(cupel_emu_warp *warp);
/* emu_tensor.c: a matrix instruction of the lanes, whose operands (cupel_emu_matrix *) are in value[lane]. */
void cupel_emu_tensor_finish(uint64_t value[], uint32_t lanes);
/* emu_async.c: no copy is under way any more. */
void cupel_emu_async_reset(void);
/* emu_named.c: no thread waits at a named barrier. Nobody can go on: ends the run if one does. */
void cupel_emu_named_reset(void);
uint64_t cupel_emu_named_hash(void); /* who has come to those of the running block; 0: nobody */
void cupel_emu_named_deadlock(void);
/* emu_schedule.c */
void cupel_emu_schedule_begin(cupel_emu_policy *policy, uint64_t schedule);
void cupel_emu_schedule_grid(cupel_emu_policy *policy, uint64_t block_count);
/* The i-th of count blocks to begin, of which room are in flight at a time. */
uint64_t cupel_emu_schedule_block(const cupel_emu_policy *policy, uint64_t i, uint64_t count, uint64_t room);
bool cupel_emu_schedule_reorders(const cupel_emu_policy *policy); /* and not only within groups */
void cupel_emu_schedule_threads(void); /* fills in warps and threads for the launch's block shape */
cupel_emu_thread *cupel_emu_schedule_draw(void);
enum { CUPEL_EMU_SWITCH_ONE_IN = 4 }; /* accesses at which a schedule that switches at random may switch */
/* xorshift64*: fast, and only ever used to choose between threads. The state behind a state, and what it is
 * as a number below a bound. */
static inline __attribute__((always_inline)) uint64_t cupel_emu_schedule_next(uint64_t x) {
    x ^= x >> 12;
    x ^= x << 25;
    return x ^ x >> 27;
}
static inline __attribute__((always_inline)) uint32_t cupel_emu_schedule_scaled(uint64_t x, uint32_t bound) {
    return (uint32_t)(((x * UINT64_C(0x2545F4914F6CDD1D)) >> 32) * bound >> 32);
}
uint32_t cupel_emu_schedule_below(uint32_t bound);
bool cupel_emu_schedule_switches(void);
/* emu_report.c */
void cupel_emu_report_access(cupel_access_kind kind, cupel_space space, uintptr_t address, size_t size,
                             const void *pc);
void cupel_emu_report_note(const char *text); /* a static string; each once a run */
/* Ends the run from within a fiber. The observation's text is made from format. */
CUPEL_EMU_NO_WAY_BACK void cupel_emu_report_stop(cupel_outcome outcome, cupel_fault fault, const void *pc,
                                                 const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cupel_emu_report_fill(cupel_outcome outcome, cupel_fault fault, const void *pc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cupel_emu_report_end(void);
CUPEL_EMU_NO_WAY_BACK void cupel_emu_report_deadlock(void);
/* emu_check.c */
/* Everything there is to check about an access, which is ordered among those of other threads: one of 1, 2,
 * 4, 8 or 16 bytes that is to be aligned to them, and one of any size and alignment. */
void cupel_emu_check_access(uintptr_t address, uint32_t size, bool write, const void *pc);
void cupel_emu_check_range(uintptr_t address, size_t size, bool write, const void *pc);
void cupel_emu_check_begin(void);
/* An access that the runtime makes for the running thread, 4, 8 or 16 bytes; a read of only the first bytes
 * of one that is to be aligned; whether a store would stay in shared memory, and if not, its report. */
void cupel_emu_check_own(uintptr_t address, uint32_t size, bool write, const void *pc);
void cupel_emu_check_part(uintptr_t address, uint32_t size, uint32_t alignment, const void *pc);
bool cupel_emu_check_target(uintptr_t address, uint32_t size, const void *pc);
bool cupel_emu_check_is_red(uintptr_t address, size_t size); /* does it touch a red zone of shared memory? */
void cupel_emu_check_epoch(void); /* shared memory is another one from here on, or is to be looked at anew */
void cupel_emu_check_forget(
    void); /* lines: memory, or what has been seen of it, is another one from here on */
/* emu_site.c: tells a load's place of the memory around an address that it may read at once. */
void cupel_emu_site_tell(cupel_emu_site *site, uintptr_t address, uint32_t size);
void cupel_emu_site_forget(void);
void cupel_emu_site_forget_shared(void);
/* emu_global.c */
bool cupel_emu_global_begin(void); /* false: no memory */
void cupel_emu_global_prove(void); /* from here on accesses to what other blocks could use are heard */
/* Since the last call of forget the block's threads have looked at the same places again and again, and have
 * stored nothing outside shared memory. */
bool cupel_emu_global_spins(void);
void cupel_emu_global_forget_looks(void);
bool cupel_emu_global_has_stored(void); /* since then */
/* An access outside shared memory, before it happens. */
void cupel_emu_global_order(uintptr_t address, size_t size, cupel_emu_use use, const void *pc);
/* emu_progress.c */
uint64_t cupel_emu_steps_made(void);
/* The run's steps are used up: there are some more now, or the run has ended, not judged. */
void cupel_emu_progress_more(const void *pc);
/* No thread of the running block will come any further by itself: the run has ended as a hang, or not judged,
 * or other blocks are to be looked at. */
void cupel_emu_progress_stuck(const void *pc);
/* emu_fault.c */
void cupel_emu_fault_install(void);
void cupel_emu_fault_watch(bool on); /* for loops that use no steps, while a launch runs */

#endif
