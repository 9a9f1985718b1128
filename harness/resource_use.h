/* RES-02 without a GPU: kernels are compiled for every architecture that the contract claims, in a process of
 * their own; what the binaries say of their needs, and the launches over the whole claimed range, are held
 * against the limits of these devices. */
#ifndef CUPEL_RESOURCE_USE_H
#define CUPEL_RESOURCE_USE_H

#include <signal.h>

#include "executor.h"
#include "resources.h"

enum { CUPEL_COMPILED_MAX = 64, CUPEL_BREAKS_MAX = 16 };

/* A kernel compiled for one architecture. */
typedef struct cupel_compiled {
    int architecture; /* 0: for the emulator, which knows static shared memory and bounds alone */
    char entry[160];
    int registers;       /* a thread */
    int64_t shared;      /* bytes of static shared memory a block */
    int64_t local;       /* bytes of local memory a thread: spills, arrays */
    int64_t max_threads; /* a block, by __launch_bounds__; 0: no bound */
    bool tensor_memory;
} cupel_compiled;

typedef struct cupel_resources {
    int architecture_count;
    int architectures[CUPEL_ARCHITECTURE_MAX];
    char compiler[32];  /* "NVRTC 13.0"; empty: no binary was read */
    char missing[512];  /* why binaries are missing; empty: none is */
    int count, dropped; /* dropped: beyond the room for them */
    cupel_compiled compiled[CUPEL_COMPILED_MAX];
    int asked, proven, beyond, unproven; /* limits, each of one launch on one device */
    char note[512];                      /* about those beyond the memory or unproven; may be empty */
} cupel_resources;

/* A limit that a legal binding breaks. */
typedef struct cupel_limit_break {
    cupel_limit limit;
    int launch, architecture;
    cupel_binding witness;
    char text[512];
} cupel_limit_break;

/* The architecture of the first GPU at hand, 0 where there is none. Loads the driver: only in a process of
 * which no ancestor since the last exec has. */
int cupel_resources_device(void);

/* Which architectures a contract asks for; device: the one at hand, 0: none. */
void cupel_resources_architectures(const cupel_contract *contract, int device, cupel_resources *out);

/* Compiles for every architecture in *out and reads the binaries. Runs NVIDIA's compiler in this process. */
void cupel_resources_compile(const cupel_contract *contract, const cupel_executor_options *options,
                             cupel_resources *out);

/* The same in a child process without network, which is given up after a time. */
typedef struct cupel_resources_job cupel_resources_job;

/* Begins. Where the contract names no architecture it looks for a GPU. NULL where no process could be
 * started: cupel_resources_wait then says so. */
cupel_resources_job *cupel_resources_start(const cupel_contract *contract,
                                           const cupel_executor_options *options);
/* Waits at most seconds for the answer, ends the process, frees the job. What the compiler does to its
 * process ends in out->missing. */
void cupel_resources_wait(cupel_resources_job *job, const cupel_contract *contract, double seconds,
                          const volatile sig_atomic_t *stop, cupel_resources *out);

/* Asks every limit of every launch on every device, over the whole claimed range; counts in *resources. The
 * number of breaks, at most CUPEL_BREAKS_MAX, each of a launch and limit once. */
int cupel_resources_judge(const cupel_contract *contract, cupel_resources *resources,
                          cupel_limit_break breaks[CUPEL_BREAKS_MAX]);

/* Does the device of some architecture refuse this launch at this complete binding, by this limit? text may
 * be NULL. */
bool cupel_resources_refuse(const cupel_contract *contract, const cupel_resources *resources,
                            const cupel_binding *binding, int launch, cupel_limit limit, char *text,
                            size_t size);

/* What a finding about a limit bears as its name ("grid.y", "shared-2" for the second of several launches),
 * and back; false when it is no such name. */
void cupel_resources_name(const cupel_contract *contract, cupel_limit limit, int launch, char *text,
                          size_t size);
bool cupel_resources_parse(const cupel_contract *contract, const char *name, cupel_limit *limit, int *launch);

/* Is the signature that of such a finding, which no run of a case shows? */
bool cupel_resources_is_limit(const char *signature);

/* Compiles in a child process and asks the limit of such a signature at one binding again. *resources gets
 * what was compiled, or why not. */
bool cupel_resources_replay(const cupel_contract *contract, const cupel_executor_options *options,
                            const cupel_binding *binding, const char *signature, cupel_resources *resources,
                            char *text, size_t size);

#endif
