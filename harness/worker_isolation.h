/* What a worker gives up before it loads a candidate: the network, and writing to the file system. */
#ifndef CUPEL_WORKER_ISOLATION_H
#define CUPEL_WORKER_ISOLATION_H

#include <stdbool.h>
#include <stddef.h>

/* Puts this process into name spaces of its own (the mechanism of bubblewrap, without a process in between
 * that would hide how the worker dies): no network, every mount read-only but writable, the folder of
 * compiled candidates, and (proc) /proc. text gets a warning, empty when all of it works; the worker goes on
 * in any case. */
void cupel_worker_isolate(const char *writable, bool proc, char *text, size_t size);

#endif
