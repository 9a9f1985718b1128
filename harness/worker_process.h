/* One worker process as the supervisor sees it: started, watched, listened to, killed. Knows nothing of
 * cases. */
#ifndef CUPEL_WORKER_PROCESS_H
#define CUPEL_WORKER_PROCESS_H

#include "protocol.h"
#include "worker_shared.h"

/* Memory shared with a worker; it outlives the worker and serves the next one. */
typedef struct cupel_worker_board {
    int fd;
    cupel_worker_shared *shared;
} cupel_worker_board;

CUPEL_MUST_USE cupel_code cupel_worker_board_create(cupel_worker_board *out, cupel_error *err);
void cupel_worker_board_free(cupel_worker_board *board);

typedef struct cupel_worker_limits {
    uint64_t memory;        /* bytes resident */
    double seconds;         /* for one run of the candidate */
    double prepare_seconds; /* for loading and compiling */
} cupel_worker_limits;

typedef struct cupel_worker cupel_worker;

/* Starts `/proc/self/exe --worker` in a session of its own: it dies with this process, dumps no core, and its
 * output goes to memory. */
CUPEL_MUST_USE cupel_code cupel_worker_spawn(const cupel_worker_board *board,
                                             const cupel_worker_limits *limits, cupel_worker **out,
                                             cupel_error *err);
/* Kills the worker and its descendants, and waits for its end. Accepts NULL. */
void cupel_worker_free(cupel_worker *worker);

int cupel_worker_pid(const cupel_worker *worker);
void cupel_worker_set_seconds(cupel_worker *worker, double seconds);

/* Sends a command; false when the worker is gone (cupel_worker_wait then tells how it ended). */
bool cupel_worker_send(cupel_worker *worker, cupel_message_type type, const void *payload, size_t size);

typedef enum cupel_worker_event {
    CUPEL_WORKER_QUIET,   /* nothing within the time */
    CUPEL_WORKER_MESSAGE, /* *header, *payload (the worker's, until the next wait) */
    CUPEL_WORKER_DEATH /* it ended, was killed for passing a limit, or spoke nonsense: cupel_worker_death */
} cupel_worker_event;

/* Waits at most milliseconds for the next message. Watches memory and time meanwhile. */
cupel_worker_event cupel_worker_wait(cupel_worker *worker, int milliseconds, cupel_header *header,
                                     const uint8_t **payload);

/* Kills the worker when it has passed a limit. For workers that nobody waits for at the moment. */
void cupel_worker_watch(cupel_worker *worker);

/* What the end of the worker says about the candidate: a fault, its text included. */
void cupel_worker_death(const cupel_worker *worker, cupel_observation *out);
/* Was it killed from outside, by neither the candidate's fault nor a limit of ours? */
bool cupel_worker_killed_by_stranger(const cupel_worker *worker);
bool cupel_worker_overran(const cupel_worker *worker);    /* killed for its time */
bool cupel_worker_overfilled(const cupel_worker *worker); /* killed for its memory */
/* What it was doing when it ended. */
cupel_phase cupel_worker_last_phase(const cupel_worker *worker);

#endif
