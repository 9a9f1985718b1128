/* Memory that worker and supervisor share while a worker works: what it is doing, so that its death names the
 * culprit, and the running totals, so that progress costs no system call a case. Written by the worker (which
 * shares a process with the candidate), so the supervisor takes nothing in it on trust. */
#ifndef CUPEL_WORKER_SHARED_H
#define CUPEL_WORKER_SHARED_H

#include <stdatomic.h>

#include "engine.h"
#include "gate.h"

typedef enum cupel_phase {
    CUPEL_PHASE_IDLE,      /* waits for a command, or for the supervisor to read */
    CUPEL_PHASE_PREPARING, /* compiles or loads the candidate */
    CUPEL_PHASE_RUNNING,   /* the candidate runs */
    CUPEL_PHASE_AFTER      /* judges or sends what the candidate did */
} cupel_phase;

enum { CUPEL_FEATURE_BITS = 1 << 16, CUPEL_FEATURE_EDGES = 1 << 16 };

typedef struct cupel_worker_shared {
    atomic_uint stop;            /* set by the supervisor: the search ends after this case */
    atomic_uint phase;           /* cupel_phase */
    atomic_uint spent;           /* the worker has said all and ends because its executor can run no more */
    _Atomic uint64_t started;    /* when the phase began, nanoseconds of the monotonic clock */
    _Atomic uint64_t own;        /* bytes of the case's tensors, which are not the candidate's */
    _Atomic uint64_t n;          /* number of the case at work in its campaign */
    _Atomic uint64_t feature_at; /* when the last new feature was seen */
    uint32_t recipe_size;        /* of the case at work */
    uint8_t recipe[CUPEL_RECIPE_BYTES_MAX];
    cupel_scoreboard scoreboard;
    char unsupported[512]; /* why some case could not be run */
    uint8_t features[CUPEL_FEATURE_BITS / 8];
    uint8_t edges[CUPEL_FEATURE_EDGES];
    uint8_t closeness[CUPEL_CLOSENESS_ROWS];
    _Atomic uint64_t edge_count; /* of the candidate */
} cupel_worker_shared;

/* Nanoseconds of the monotonic clock. */
uint64_t cupel_worker_now(void);

#endif
