/* A supervisor of the tests' own making, and a check over it in a folder of its own. */
#ifndef CHECK_FIXTURE_H
#define CHECK_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"
#include "fake_kernel.h"

/* What the supervisor does; all 0 before a test but for contract and judged. */
typedef struct fake_supervisor {
    const cupel_contract *contract;
    int64_t y_fails_from, z_fails_below; /* dims from which y, and below which z, is wrong; 0: never */
    int refuse;                          /* that many tries show nothing */
    bool refuted;                        /* the exact oracle confirms nothing */
    int calls_needed;                    /* a try shows nothing with fewer earlier calls; 0: any */
    int64_t judged, suspects;
    int64_t cases, ordinary; /* cases of a search, 0: 10; of these, of an ordinary shape */
    cupel_code opens;
    int tries;
    cupel_fault fault; /* of y's finding */
    int breakdowns;    /* searches that fail before one goes well */
    int searches;
    int64_t starts[8]; /* N of the first starts of the last search */
    size_t start_count;
    const char *clear;                /* removed at the end of the search */
    volatile sig_atomic_t *interrupt; /* set while the search is at work, before its suspects come */
    uint64_t memory;                  /* of a case, bytes; 0: no limit */
    double search_seconds;            /* that a search takes before its suspects come */
    int64_t max_elements;             /* of the last search */
    int64_t overflowing;              /* elements of the first output that are not judged for that reason */
    bool unfinished;                  /* no case comes to its end */
    int64_t unsupported;              /* of the 10 cases of a search */
} fake_supervisor;

extern fake_supervisor fake;

typedef struct fixture {
    cupel_arena *arena;
    char folder[64];
    cupel_check_report report;
    int found, minimised, notes, warnings;
    char note[1024];
} fixture;

int check_setup(void **state);
int check_teardown(void **state);

/* The listener of a check, which counts in *self, a fixture. */
void check_on_found(void *self, const cupel_check_finding *found);
void check_on_note(void *self, bool warning, const char *note);

/* A check of ten cases; a campaign of so many. */
cupel_code check(fixture *f);
cupel_code fuzz(fixture *f, uint64_t cases);

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, check_setup, check_teardown)

#endif
