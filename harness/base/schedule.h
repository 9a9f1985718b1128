/* How the threads of an emulated run take turns. A schedule travels as one 64-bit number, so that recipes,
 * runs and messages carry it whole; 0 is the canonical one. */
#ifndef CUPEL_SCHEDULE_H
#define CUPEL_SCHEDULE_H

#include <stddef.h>

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

/* enumerator, text. The order is the order of simplicity. */
#define CUPEL_SCHEDULE_WAYS(X)                                                                               \
    X(CANONICAL, "canonical") /* blocks, warps and lanes in order, lanes abreast; kind to races */           \
    X(REVERSE, "reverse")     /* blocks, warps and lanes from last to first, each until it must wait */      \
    X(LAST_WARP, "last_warp") /* the last warp first, lanes in order, each until it must wait */             \
    X(IN_TURN, "in_turn")     /* orders permuted by the seed, each thread until it must wait */              \
    X(ABREAST, "abreast")     /* orders permuted by the seed, threads abreast */                             \
    X(RANDOM, "random")       /* orders permuted by the seed, switches at random points */

typedef enum cupel_schedule_way {
#define CUPEL_SCHEDULE_WAY_NAME(name, text) CUPEL_SCHEDULE_##name,
    CUPEL_SCHEDULE_WAYS(CUPEL_SCHEDULE_WAY_NAME)
#undef CUPEL_SCHEDULE_WAY_NAME
        CUPEL_SCHEDULE_WAY_COUNT
} cupel_schedule_way;

typedef struct cupel_schedule {
    cupel_schedule_way way;
    uint32_t seed;  /* of permutations and switches; 0 where the way has no use for it */
    uint32_t limit; /* below 2^24: so many random switches, then each thread until it must wait; 0: no limit.
                       RANDOM only */
} cupel_schedule;

/* To and from the number: seed in bits 0-31, limit in 32-55, way in 56-63. Unpacking accepts any number: what
 * is out of range becomes 0 or the last way, what a way has no use for becomes 0. */
uint64_t cupel_schedule_pack(cupel_schedule schedule);
cupel_schedule cupel_schedule_unpack(uint64_t number);

/* "canonical", "reverse", "in_turn:7", "random:7", "random:7/12" (12 switches). read accepts what write
 * gives. */
void cupel_schedule_write(uint64_t number, char *text, size_t size);
CUPEL_MUST_USE cupel_code cupel_schedule_read(const char *text, uint64_t *number, cupel_error *err);

/* For people: "threads in order, lanes abreast". */
const char *cupel_schedule_meaning(cupel_schedule_way way);

/* The same of a whole schedule, with its text and its limit: "the last warp first, each lane until it must
 * wait (last_warp)", "threads switch at random points, 12 times at most (random:7/12)". */
void cupel_schedule_describe(uint64_t number, char *text, size_t size);

/* The order of simplicity: by way, few switches before many (no limit last), small seeds first. 0 only for
 * schedules that run alike. */
int cupel_schedule_compare(uint64_t a, uint64_t b);

/* The n-th of a fixed sequence in which all ways come again and again: 0 is canonical. */
uint64_t cupel_schedule_nth(uint64_t n);

#endif
