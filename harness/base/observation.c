#include "observation.h"

static const char *const fault_names[CUPEL_FAULT_COUNT] = {
    [CUPEL_FAULT_NONE] = "none",
    [CUPEL_FAULT_CRASH] = "crash",
    [CUPEL_FAULT_OUT_OF_BOUNDS] = "out of bounds",
    [CUPEL_FAULT_HANG] = "hang",
    [CUPEL_FAULT_DEADLOCK] = "deadlock",
    [CUPEL_FAULT_DIVERGENCE] = "divergence",
    [CUPEL_FAULT_STACK_OVERFLOW] = "stack overflow",
    [CUPEL_FAULT_ASSERT] = "assert",
    [CUPEL_FAULT_EXIT] = "exit",
    [CUPEL_FAULT_MEMORY] = "memory limit",
    [CUPEL_FAULT_HEAP] = "heap damage",
    [CUPEL_FAULT_FP_MODE] = "floating-point mode",
};

static const char *const access_names[CUPEL_ACCESS_KIND_COUNT] = {
    [CUPEL_ACCESS_OUT_OF_BOUNDS_READ] = "out of bounds read",
    [CUPEL_ACCESS_OUT_OF_BOUNDS_WRITE] = "out of bounds write",
    [CUPEL_ACCESS_MISALIGNED_READ] = "misaligned read",
    [CUPEL_ACCESS_MISALIGNED_WRITE] = "misaligned write",
    [CUPEL_ACCESS_INPUT_WRITE] = "write to an input",
    [CUPEL_ACCESS_UNINITIALISED_READ] = "uninitialised read",
};

const char *cupel_fault_name(cupel_fault fault) {
    return (unsigned)fault < CUPEL_FAULT_COUNT && fault_names[fault] ? fault_names[fault] : "unknown fault";
}

const char *cupel_access_name(cupel_access_kind kind) {
    return (unsigned)kind < CUPEL_ACCESS_KIND_COUNT && access_names[kind] ? access_names[kind]
                                                                          : "unknown access";
}
