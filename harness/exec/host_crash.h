/* Catching what a host candidate does to its process: a call under a signal handler that jumps back. */
#ifndef CUPEL_HOST_CRASH_H
#define CUPEL_HOST_CRASH_H

#include "observation.h"

/* Installs handlers and an alternate stack for this process; once, before the first call. False when the
 * system refuses. */
bool cupel_host_crash_install(void);

/* Calls function(self). True when it returned. Else *fault and *signal say how it ended; only an end inside
 * the candidate's own code (the object that contains `inside`) is caught: elsewhere, in the middle of a
 * library call, the process is not fit to go on and dies of the signal. */
bool cupel_host_crash_call(void (*function)(void *self), void *self, const void *inside, cupel_fault *fault,
                           int *signal, const void **address);

#endif
