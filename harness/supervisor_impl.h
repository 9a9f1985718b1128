/* Shared by the two halves of the supervisor: single tries (supervisor.c) and searches (supervisor_search.c).
 */
#ifndef CUPEL_SUPERVISOR_IMPL_H
#define CUPEL_SUPERVISOR_IMPL_H

#include "supervisor.h"
#include "worker_process.h"

/* A place where one worker at a time works. */
typedef struct cupel_desk {
    cupel_worker_board board;
    cupel_worker *worker; /* NULL: none yet, or it died */
    bool tainted;         /* alive, but not to be trusted with another run */
} cupel_desk;

struct cupel_supervisor {
    const cupel_contract *contract;
    const cupel_executor_backend *backend;
    cupel_open_command open;
    cupel_worker_limits limits;
    cupel_desk lone, search;
    bool hang_proven; /* some run was found not to end with all patience */
    char isolation[512];
    const volatile sig_atomic_t *stop; /* may be NULL */
    double deadline;                   /* 0: none */
    uint64_t stop_seen;                /* when stop was first found to be set; 0: not yet */
};

/* A live worker with the candidate open, at this desk. */
CUPEL_MUST_USE cupel_code cupel_supervisor_ready(cupel_supervisor *s, cupel_desk *desk, cupel_error *err);
void cupel_supervisor_dismiss(cupel_desk *desk);

/* As cupel_supervisor_open, without a worker yet. */
CUPEL_MUST_USE cupel_code cupel_supervisor_create(const cupel_contract *contract,
                                                  const cupel_supervisor_options *options,
                                                  cupel_supervisor **out, cupel_error *err);

/* The steps that a worker's opening and a single run are made of, for those that do not want to wait: tells
 * the desk's new worker what to open; looks at its answer (event and message of cupel_worker_wait); sends it
 * a case. */
CUPEL_MUST_USE cupel_code cupel_supervisor_send_open(cupel_supervisor *s, cupel_desk *desk, cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_supervisor_take_ready(cupel_supervisor *s, cupel_desk *desk,
                                                      cupel_worker_event event, const cupel_header *header,
                                                      const uint8_t *payload, cupel_error *err);
CUPEL_MUST_USE cupel_code cupel_supervisor_send_run(cupel_supervisor *s, const cupel_case *c,
                                                    const cupel_run_request *request, cupel_error *err);

/* Did the desk's worker die of memory that the judging of a case took, not the candidate? Emulated code and a
 * device hold memory only while they run. text: what to say instead. */
bool cupel_supervisor_overfilled_itself(const cupel_supervisor *s, const cupel_desk *desk, char *text,
                                        size_t size);

/* As cupel_worker_wait for the desk's worker, with an eye on the other one's limits. */
cupel_worker_event cupel_supervisor_wait(cupel_supervisor *s, cupel_desk *desk, int milliseconds,
                                         cupel_header *header, const uint8_t **payload);

/* The error in a FAILED message (any other is one itself). */
cupel_code cupel_supervisor_failed(const cupel_header *header, const uint8_t *payload, cupel_error *err);

#endif
