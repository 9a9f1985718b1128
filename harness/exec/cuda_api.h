/* The CUDA driver, loaded when it is first needed, so that this program runs where there is none: one table
 * of the functions of libcuda that are used here, by the names, types and numbers of its documentation. */
#ifndef CUPEL_CUDA_API_H
#define CUPEL_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef uint64_t cupel_cu_pointer;
typedef struct cupel_cu_context *cupel_cu_context;
typedef struct cupel_cu_module *cupel_cu_module;
typedef struct cupel_cu_function *cupel_cu_function;
typedef struct cupel_cu_stream *cupel_cu_stream;
typedef struct cupel_cu_event *cupel_cu_event;

/* Status values. */
enum {
    CUPEL_CU_SUCCESS = 0,
    CUPEL_CU_INVALID_VALUE = 1,
    CUPEL_CU_OUT_OF_MEMORY = 2,
    CUPEL_CU_NOT_READY = 600,
    CUPEL_CU_ILLEGAL_ADDRESS = 700,
    CUPEL_CU_OUT_OF_RESOURCES = 701,
    CUPEL_CU_TIMEOUT = 702,
    CUPEL_CU_ASSERT = 710,
    CUPEL_CU_STACK_ERROR = 714,
    CUPEL_CU_ILLEGAL_INSTRUCTION = 715,
    CUPEL_CU_MISALIGNED_ADDRESS = 716,
    CUPEL_CU_INVALID_ADDRESS_SPACE = 717,
    CUPEL_CU_INVALID_PC = 718,
    CUPEL_CU_LAUNCH_FAILED = 719,
    CUPEL_CU_COOPERATIVE_TOO_LARGE = 720
};

/* Attributes of a device and of a function. */
enum {
    CUPEL_CU_DEVICE_THREADS_A_BLOCK = 1,
    CUPEL_CU_DEVICE_BLOCK_X = 2,
    CUPEL_CU_DEVICE_GRID_X = 5,
    CUPEL_CU_DEVICE_MULTIPROCESSORS = 16,
    CUPEL_CU_DEVICE_MAJOR = 75,
    CUPEL_CU_DEVICE_MINOR = 76,
    CUPEL_CU_DEVICE_SHARED_OPT_IN = 97,
    CUPEL_CU_DEVICE_VIRTUAL_MEMORY = 102,
    CUPEL_CU_FUNCTION_THREADS_A_BLOCK = 0,
    CUPEL_CU_FUNCTION_SHARED_BYTES = 1,
    CUPEL_CU_FUNCTION_DYNAMIC_SHARED_BYTES = 8
};

enum { CUPEL_CU_STREAM_NON_BLOCKING = 1, CUPEL_CU_EVENT_DISABLE_TIMING = 2 };

/* Memory that is mapped by hand. */
typedef struct cupel_cu_location {
    int type; /* 1: a device */
    int id;
} cupel_cu_location;
typedef struct cupel_cu_memory_kind {
    int type; /* 1: pinned */
    int handles;
    cupel_cu_location location;
    void *windows;
    unsigned char flags[8];
} cupel_cu_memory_kind;
typedef struct cupel_cu_memory_access {
    cupel_cu_location location;
    int flags; /* 3: read and write */
} cupel_cu_memory_access;

/* X(field, exported name, parameters); the last ones may be missing from older drivers. */
#define CUPEL_CU_FUNCTIONS(X, OPTIONAL)                                                                      \
    X(init, "cuInit", (unsigned))                                                                            \
    X(driver_version, "cuDriverGetVersion", (int *))                                                         \
    X(error_string, "cuGetErrorString", (int, const char **))                                                \
    X(device_count, "cuDeviceGetCount", (int *))                                                             \
    X(device_get, "cuDeviceGet", (int *, int))                                                               \
    X(device_name, "cuDeviceGetName", (char *, int, int))                                                    \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                           \
    X(context_retain, "cuDevicePrimaryCtxRetain", (cupel_cu_context *, int))                                 \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int))                                                \
    X(context_current, "cuCtxSetCurrent", (cupel_cu_context))                                                \
    X(module_load, "cuModuleLoadData", (cupel_cu_module *, const void *))                                    \
    X(module_unload, "cuModuleUnload", (cupel_cu_module))                                                    \
    X(module_function, "cuModuleGetFunction", (cupel_cu_function *, cupel_cu_module, const char *))          \
    X(function_attribute, "cuFuncGetAttribute", (int *, int, cupel_cu_function))                             \
    X(function_set, "cuFuncSetAttribute", (cupel_cu_function, int, int))                                     \
    X(allocate, "cuMemAlloc_v2", (cupel_cu_pointer *, size_t))                                               \
    X(release, "cuMemFree_v2", (cupel_cu_pointer))                                                           \
    X(host_allocate, "cuMemAllocHost_v2", (void **, size_t))                                                 \
    X(host_release, "cuMemFreeHost", (void *))                                                               \
    X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                                  \
    X(upload, "cuMemcpyHtoDAsync_v2", (cupel_cu_pointer, const void *, size_t, cupel_cu_stream))             \
    X(download, "cuMemcpyDtoHAsync_v2", (void *, cupel_cu_pointer, size_t, cupel_cu_stream))                 \
    X(stream_create, "cuStreamCreate", (cupel_cu_stream *, unsigned))                                        \
    X(stream_destroy, "cuStreamDestroy_v2", (cupel_cu_stream))                                               \
    X(stream_synchronise, "cuStreamSynchronize", (cupel_cu_stream))                                          \
    X(launch, "cuLaunchKernel",                                                                              \
      (cupel_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,              \
       cupel_cu_stream, void **, void **))                                                                   \
    OPTIONAL(module_variable, "cuModuleGetGlobal_v2",                                                        \
             (cupel_cu_pointer *, size_t *, cupel_cu_module, const char *))                                  \
    OPTIONAL(copy, "cuMemcpyDtoDAsync_v2", (cupel_cu_pointer, cupel_cu_pointer, size_t, cupel_cu_stream))    \
    OPTIONAL(launch_cooperative, "cuLaunchCooperativeKernel",                                                \
             (cupel_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
              cupel_cu_stream, void **))                                                                     \
    OPTIONAL(blocks_each, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                     \
             (int *, cupel_cu_function, int, size_t))                                                        \
    OPTIONAL(function_parameter, "cuFuncGetParamInfo", (cupel_cu_function, size_t, size_t *, size_t *))      \
    OPTIONAL(granularity, "cuMemGetAllocationGranularity", (size_t *, const cupel_cu_memory_kind *, int))    \
    OPTIONAL(address_reserve, "cuMemAddressReserve",                                                         \
             (cupel_cu_pointer *, size_t, size_t, cupel_cu_pointer, unsigned long long))                     \
    OPTIONAL(address_free, "cuMemAddressFree", (cupel_cu_pointer, size_t))                                   \
    OPTIONAL(memory_create, "cuMemCreate",                                                                   \
             (unsigned long long *, size_t, const cupel_cu_memory_kind *, unsigned long long))               \
    OPTIONAL(memory_release, "cuMemRelease", (unsigned long long))                                           \
    OPTIONAL(memory_map, "cuMemMap",                                                                         \
             (cupel_cu_pointer, size_t, size_t, unsigned long long, unsigned long long))                     \
    OPTIONAL(memory_unmap, "cuMemUnmap", (cupel_cu_pointer, size_t))                                         \
    OPTIONAL(memory_access, "cuMemSetAccess",                                                                \
             (cupel_cu_pointer, size_t, const cupel_cu_memory_access *, size_t))

/* Each function returns a status. Optional ones are NULL where the driver has none. */
typedef struct cupel_cuda_api {
#define CUPEL_CU_FIELD(field, name, parameters) int(*field) parameters;
    CUPEL_CU_FUNCTIONS(CUPEL_CU_FIELD, CUPEL_CU_FIELD)
#undef CUPEL_CU_FIELD
} cupel_cuda_api;

/* CUPEL_LIBCUDA names the driver's library where it is in none of the usual places. The driver, initialised,
 * with at least one device; loaded once, never unloaded. UNSUPPORTED, saying what is missing, where that
 * cannot be. Not after fork: only in a process that has called exec since. */
CUPEL_MUST_USE cupel_code cupel_cuda_api_find(const cupel_cuda_api **out, cupel_error *err);

/* What the driver says of a status. */
const char *cupel_cuda_api_text(const cupel_cuda_api *api, int status);

#endif
