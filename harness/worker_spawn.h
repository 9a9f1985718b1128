/* The birth of a worker: fork, limits, exec. */
#ifndef CUPEL_WORKER_SPAWN_H
#define CUPEL_WORKER_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "status.h"

/* Descriptors as the worker finds them. */
enum { CUPEL_WORKER_SOCKET = 3, CUPEL_WORKER_BOARD = 4 };

typedef struct cupel_worker_child {
    pid_t pid;
    int socket; /* our end */
    int output; /* a memory file with what it writes to stderr */
} cupel_worker_child;

/* Runs this program again as a worker. Errors: what exec reports, through a pipe that exec itself closes. */
CUPEL_MUST_USE cupel_code cupel_worker_spawn_child(int board, uint64_t memory_limit, cupel_worker_child *out,
                                                   cupel_error *err);

#endif
