/* What a device of some architecture takes: the limits of a launch and of a block's resources. */
#ifndef CUPEL_DEVICE_LIMITS_H
#define CUPEL_DEVICE_LIMITS_H

#include <stdint.h>

enum { CUPEL_ARCHITECTURE_MAX = 8 /* named by one contract */, CUPEL_ARCHITECTURE_DEFAULT = 90 };

typedef struct cupel_device_limits {
    int architecture; /* compute capability, major * 10 + minor */
    const char *name; /* "sm_90" */
    int64_t grid[3], block[3];
    int64_t threads;          /* a block */
    int64_t registers_block;  /* 32-bit registers a block */
    int64_t registers_thread; /* a thread */
    int64_t register_unit;    /* registers are given to a warp in multiples of this */
    int64_t shared_default; /* bytes a block without asking for more; static shared memory never exceeds it */
    int64_t shared_optin;   /* bytes a block, static and dynamic together, when asked for */
    int64_t shared_reserved;       /* bytes a block that the system takes besides */
    int64_t tensor_columns;        /* of tensor memory a block, each 128 lanes of 32 bits; 0: there is none */
    int64_t multiprocessors;       /* of the largest product */
    int64_t sm_threads, sm_blocks; /* resident on a multiprocessor together */
} cupel_device_limits;

/* NULL for an architecture that is not in the table. */
const cupel_device_limits *cupel_device_limits_of(int architecture);

/* "sm_90", "sm_90a" or "90": the architecture, 0 when it is not in the table. */
int cupel_device_limits_parse(const char *name);

/* The i-th name of the table, NULL behind the last. */
const char *cupel_device_limits_name(int i);

/* The most threads of a block whose threads use so many registers each, in whole warps. */
int64_t cupel_device_limits_threads(const cupel_device_limits *device, int registers);

/* How many blocks of one kernel the largest device of the architecture keeps resident together, as a
 * cooperative launch demands of its grid; at least as many as any device really does. registers: a thread, 0
 * where that is not known; shared: bytes a block, static and dynamic. 0 where it takes no such block. */
int64_t cupel_device_limits_resident(const cupel_device_limits *device, int64_t threads, int registers,
                                     int64_t shared);

#endif
