/* A contract for one function of the candidates' shared object, in a temporary folder. */
#ifndef HOST_FIXTURE_H
#define HOST_FIXTURE_H

#include "supervisor.h"

typedef struct host_fixture {
    char folder[64], path[128];
    cupel_arena *arena, *contract_arena;
    cupel_contract *contract;
    cupel_supervisor *supervisor; /* NULL until opened */
} host_fixture;

/* symbol: the candidate; more: further lines of the contract, may be "". */
void host_fixture_start(host_fixture *f, const char *symbol, const char *more);
/* As above, with the whole text of kernel:. source: the text of a C file that holds the candidate (NULL: the
 * shared object). */
void host_fixture_start_with(host_fixture *f, const char *source, const char *kernel, const char *more);
/* Writes a file into the folder. */
void host_fixture_write(const host_fixture *f, const char *name, const char *text);
/* Opens a supervisor over it with these limits; asserts that this works. */
void host_fixture_open(host_fixture *f, double seconds, uint64_t memory);
void host_fixture_stop(host_fixture *f);
/* The simplest recipe with N elements. */
cupel_recipe host_fixture_recipe(const host_fixture *f, int64_t n);

#endif
