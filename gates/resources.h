/* RES-02 over the whole claimed range: the limits of a launch as expressions of the contract, asked at one
 * binding or over every legal one. Pure: knows no executor and no compiler; what a compiled kernel needs is
 * handed in. */
#ifndef CUPEL_RESOURCES_H
#define CUPEL_RESOURCES_H

#include "contract.h"
#include "device_limits.h"

/* enumerator, name in signatures. */
#define CUPEL_LIMITS(X)                                                                                      \
    X(GRID_EMPTY, "empty-grid")                                                                              \
    X(GRID_X, "grid.x")                                                                                      \
    X(GRID_Y, "grid.y")                                                                                      \
    X(GRID_Z, "grid.z")                                                                                      \
    X(BLOCK_EMPTY, "empty-block")                                                                            \
    X(BLOCK_X, "block.x")                                                                                    \
    X(BLOCK_Y, "block.y")                                                                                    \
    X(BLOCK_Z, "block.z")                                                                                    \
    X(THREADS, "threads")                                                                                    \
    X(LAUNCH_BOUNDS, "launch-bounds")                                                                        \
    X(REGISTERS, "registers")                                                                                \
    X(SHARED, "shared")                                                                                      \
    X(RESIDENT, "resident") /* cooperative launches: blocks of the grid */

typedef enum cupel_limit {
#define CUPEL_LIMIT_NAME(name, text) CUPEL_LIMIT_##name,
    CUPEL_LIMITS(CUPEL_LIMIT_NAME)
#undef CUPEL_LIMIT_NAME
        CUPEL_LIMIT_COUNT
} cupel_limit;

const char *cupel_limit_name(cupel_limit limit);

/* What a compiled kernel needs; zeros where that is not known. */
typedef struct cupel_kernel_needs {
    int registers;         /* a thread */
    int64_t max_threads;   /* a block, by __launch_bounds__ */
    int64_t static_shared; /* bytes a block */
} cupel_kernel_needs;

/* One launch of the contract on one device. */
typedef struct cupel_limit_question {
    const cupel_contract *contract;
    int launch;
    const cupel_device_limits *device;
    cupel_kernel_needs needs;
    uint32_t pinned; /* bit per dim: asked for its value in the base binding alone */
} cupel_limit_question;

/* A limit's bounds, and the value of what it limits. */
typedef struct cupel_limit_value {
    int64_t value, least, most;
} cupel_limit_value;

/* Would the device refuse the launch at this complete binding because of this limit? False too where the
 * launch is skipped or its expressions have no value. Strides are those of contiguous tensors. out may be
 * NULL. */
bool cupel_resources_refused(const cupel_limit_question *question, const cupel_binding *binding,
                             cupel_limit limit, cupel_limit_value *out);

/* "rows: grid.y is 65536, sm_90 takes 1 to 65535". entry: the kernel's name. */
void cupel_resources_describe(const cupel_limit_question *question, const char *entry, cupel_limit limit,
                              const cupel_limit_value *value, char *text, size_t size);

/* Bytes of all tensors at a binding; -1 where a tensor has no shape or an impossible bound. */
int64_t cupel_resources_bytes(const cupel_binding *binding);

typedef enum cupel_limit_answer {
    CUPEL_LIMIT_HOLDS,   /* for every legal binding: proven */
    CUPEL_LIMIT_BROKEN,  /* *witness breaks it: legal, and its tensors fit the memory */
    CUPEL_LIMIT_BEYOND,  /* holds wherever the tensors fit the memory; *witness, whose tensors do not, breaks
                            it */
    CUPEL_LIMIT_UNPROVEN /* the budget ended before either was shown */
} cupel_limit_answer;

/* Asks a limit over every legal binding with the types of `base`: dims and whole-numbered params anywhere in
 * their ranges, other params as in base (which a witness keeps). memory: bytes that the tensors of a witness
 * may have together. boxes: how many parts of the range may be looked at. A witness has dims as small as a
 * search from the found one makes them. Deterministic. *looked (may be NULL) gets the number of boxes. */
cupel_limit_answer cupel_resources_ask(const cupel_limit_question *question, cupel_limit limit,
                                       const cupel_binding *base, int64_t memory, int boxes,
                                       cupel_binding *witness, int *looked);

#endif
