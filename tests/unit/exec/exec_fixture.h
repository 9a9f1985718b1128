/* One contract in a source file, opened on the emulator, and cases of it. */
#ifndef CUPEL_EXEC_FIXTURE_H
#define CUPEL_EXEC_FIXTURE_H

#include "executor.h"

typedef struct exec_fixture {
    cupel_arena *arena, *case_arena;
    cupel_contract *contract;
    cupel_executor *executor;
    cupel_recipe recipe; /* the simplest one; tests change it */
    bool history;        /* runs make the recipe's earlier call */
    uint64_t sample;     /* blocks may be left out of runs */
    cupel_case *c;
    cupel_observation seen;
    cupel_error err;
    char path[512];
} exec_fixture;

/* Writes source to a file, loads its contract number `which` and opens it; the code of opening. */
cupel_code exec_fixture_open(exec_fixture *x, const char *source, int which);
/* Materialises the recipe and runs it; fails the test when the run cannot be made. */
void exec_fixture_run(exec_fixture *x, uint64_t schedule, cupel_poison poison);
/* The same, for runs that may end in an error. */
cupel_code exec_fixture_try(exec_fixture *x);
void exec_fixture_dim(exec_fixture *x, const char *name, int64_t value);
/* An output's elements after the run. */
const void *exec_fixture_output(exec_fixture *x, const char *tensor);
void exec_fixture_close(exec_fixture *x);

#endif
