/* What one run of a candidate did, as executors report it and gates read it. Plain data: it also crosses the
 * pipe between worker and supervisor. */
#ifndef CUPEL_OBSERVATION_H
#define CUPEL_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUPEL_BUFFER_MAX = 24, CUPEL_ACCESS_MAX = 16, CUPEL_RACE_MAX = 4 };

/* Exactly one of these for every run. */
typedef enum cupel_outcome {
    CUPEL_RUN_FINISHED,    /* every launch returned */
    CUPEL_RUN_SKIPPED,     /* skip_if held for every launch: nothing was run */
    CUPEL_RUN_REFUSED,     /* a device would refuse the launch (RES-02); reason in text */
    CUPEL_RUN_FAULT,       /* the run ended in a fault */
    CUPEL_RUN_UNSUPPORTED, /* the executor cannot run this; reason in text; never a finding */
    CUPEL_RUN_NOT_STARTED  /* the harness failed; reason in text; never a finding */
} cupel_outcome;

typedef enum cupel_fault {
    CUPEL_FAULT_NONE,
    CUPEL_FAULT_CRASH, /* a signal: null or wild access, illegal instruction, abort; on the host, division by
                          zero */
    CUPEL_FAULT_OUT_OF_BOUNDS, /* an access so far outside every buffer that the run was stopped */
    CUPEL_FAULT_HANG,          /* the edge budget (emulator) or the time limit was used up */
    CUPEL_FAULT_DEADLOCK,      /* threads wait for each other for ever */
    CUPEL_FAULT_DIVERGENCE, /* a barrier or warp operation that threads reach in a way that hangs a device */
    CUPEL_FAULT_STACK_OVERFLOW,
    CUPEL_FAULT_ASSERT,  /* device assert or trap */
    CUPEL_FAULT_EXIT,    /* the candidate ended the process */
    CUPEL_FAULT_MEMORY,  /* the memory limit was passed */
    CUPEL_FAULT_HEAP,    /* the heap was found damaged after the run */
    CUPEL_FAULT_FP_MODE, /* rounding mode or flush-to-zero changed */
    CUPEL_FAULT_COUNT
} cupel_fault;

typedef enum cupel_access_kind {
    CUPEL_ACCESS_OUT_OF_BOUNDS_READ,
    CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE,
    CUPEL_ACCESS_MISALIGNED_READ,
    CUPEL_ACCESS_MISALIGNED_WRITE,
    CUPEL_ACCESS_INPUT_WRITE,        /* a store to memory that is only an input */
    CUPEL_ACCESS_UNINITIALISED_READ, /* evidence only; proof needs two runs with different bytes */
    CUPEL_ACCESS_KIND_COUNT
} cupel_access_kind;

typedef enum cupel_space { CUPEL_SPACE_GLOBAL, CUPEL_SPACE_SHARED, CUPEL_SPACE_LOCAL } cupel_space;

/* Where in the candidate something happened; function and file are empty and line 0 where unknown. */
typedef struct cupel_place {
    char function[96];
    char file[160];
    int line;
    uint32_t block[3], thread[3];
} cupel_place;

/* One faulty memory access; equal accesses (kind, line) are reported once, with a count. */
typedef struct cupel_access {
    cupel_access_kind kind;
    cupel_space space;
    cupel_place place;
    int buffer;     /* the nearest buffer of the case, -1 when none is near or for shared memory */
    int64_t offset; /* bytes from the start of that buffer, may be negative */
    int32_t size;   /* bytes accessed */
    int64_t count;
} cupel_access;

typedef enum cupel_race_use {
    CUPEL_RACE_READ,
    CUPEL_RACE_WRITE,
    CUPEL_RACE_ATOMIC,
    CUPEL_RACE_BARRIER, /* no access: both sides wait, each at a barrier of its own */
    CUPEL_RACE_USE_COUNT
} cupel_race_use;

/* One of two accesses to the same bytes. */
typedef struct cupel_race_side {
    cupel_race_use use;
    cupel_place place;
} cupel_race_side;

/* Two accesses of which at least one stores, and nothing orders them; or two barriers at which threads of one
 * warp meet. Equal ones (use and line of both) are reported once, with a count. earlier: under the run's
 * schedule. */
typedef struct cupel_race {
    cupel_race_side earlier, later;
    cupel_space space;
    int buffer;     /* the case's buffer, -1: none (shared memory, a variable of the device code) */
    int64_t offset; /* bytes from the start of the buffer or array */
    int32_t size;   /* bytes in conflict, from there on */
    char array[64]; /* a static shared array's name; may be empty */
    bool marked;    /* both are volatile or the like: not ordered, and meant to be so */
    int64_t count;
} cupel_race;

/* A buffer after the run. The bytes lie in the order of the case's buffers, in memory that the caller of the
 * executor owns. */
typedef struct cupel_buffer_after {
    unsigned char *bytes; /* the content, size bytes */
    size_t size;
    /* Where stores reached: a bit a byte, first byte lowest, clear where none of the run did (set as well
     * where a read came before any store); NULL where that is not known. */
    uint8_t *reached;
    bool guard_before_damaged, guard_after_damaged;
    int64_t damage_offset; /* of the damaged guard byte nearest to the buffer, from the buffer's start */
} cupel_buffer_after;

typedef struct cupel_observation {
    cupel_outcome outcome;
    cupel_fault fault;
    int signal;        /* for CUPEL_FAULT_CRASH */
    cupel_place place; /* of the fault */
    char text[512];    /* a sentence for people: the fault, the refusal, what is not supported */
    int access_count;  /* kept in accesses */
    int64_t access_total;
    cupel_access accesses[CUPEL_ACCESS_MAX];
    bool sanitized; /* the run was watched for races, to its end */
    int race_count; /* kept in races */
    int64_t race_total;
    cupel_race races[CUPEL_RACE_MAX];
    bool float_atomics;   /* threads of this run added to one floating-point address by atomics */
    bool blocks_left_out; /* some blocks of the launch were not run, as the request allowed */
    uint64_t steps;       /* executed edges, where the executor counts them */
    double seconds;       /* spent in the candidate */
    int buffer_count;
    cupel_buffer_after buffers[CUPEL_BUFFER_MAX];
} cupel_observation;

/* Short names for reports: "hang", "out of bounds write". */
const char *cupel_fault_name(cupel_fault fault);
const char *cupel_access_name(cupel_access_kind kind);

#endif
