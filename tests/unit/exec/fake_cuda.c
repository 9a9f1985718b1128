#include "fake_cuda.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) fake_cuda fake_cuda_state = {.devices = 1};

enum { SCALE = 1, DIRTY, SPIN, NOTHING };
static int pending; /* status of the stream */

#define EXPORT __attribute__((visibility("default"))) int
#define DO(name, parameters, ...)                                                                            \
    EXPORT name parameters;                                                                                  \
    EXPORT name parameters {                                                                                 \
        __VA_ARGS__;                                                                                         \
        return 0;                                                                                            \
    }

/* A byte a process, in the file that FAKE_CUDA_LOG names. */
static void log_opening(void) {
    const char *path = getenv("FAKE_CUDA_LOG");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL) return;
    fputc('.', file);
    fclose(file);
}

DO(cuInit, (unsigned flags), (void)flags, log_opening())
DO(cuDriverGetVersion, (int *version), *version = 13000)
DO(cuGetErrorString, (int status, const char **text), (void)status, *text = "a fault that the test asked for")
DO(cuDeviceGetCount, (int *count), *count = fake_cuda_state.devices)
DO(cuDeviceGet, (int *device, int ordinal), *device = ordinal)
DO(cuDeviceGetName, (char *name, int size, int device), (void)device, strncpy(name, "fake", (size_t)size))
DO(cuDevicePrimaryCtxRetain, (void **context, int device), (void)device, *context = &pending)
DO(cuDevicePrimaryCtxRelease_v2, (int device), (void)device)
DO(cuCtxSetCurrent, (void *context), (void)context)
DO(cuModuleLoadData, (void **module, const void *image), (void)image, fake_cuda_state.loads++,
   *module = &pending)
DO(cuModuleUnload, (void *module), (void)module)
DO(cuModuleGetGlobal_v2, (uint64_t * at, size_t *size, void *module, const char *name), (void)module,
   (void)name, *at = (uint64_t)(uintptr_t)fake_cuda_state.variable, *size = sizeof fake_cuda_state.variable)
DO(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t size, void *stream), (void)stream,
   memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size))
DO(cuFuncSetAttribute, (void *function, int attribute, int value), (void)function, (void)attribute,
   (void)value)
DO(cuMemAlloc_v2, (uint64_t * at, size_t size), *at = (uint64_t)(uintptr_t)malloc(size))
DO(cuMemFree_v2, (uint64_t at), free((void *)(uintptr_t)at))
DO(cuMemAllocHost_v2, (void **at, size_t size), *at = malloc(size))
DO(cuMemFreeHost, (void *at), free(at))
DO(cuMemGetInfo_v2, (size_t * left, size_t *total), *left = *total = 1u << 30)
DO(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t size, void *stream), (void)stream,
   memcpy((void *)(uintptr_t)to, from, size))
DO(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t size, void *stream), (void)stream,
   memcpy(to, (void *)(uintptr_t)from, size))
DO(cuStreamCreate, (void **stream, unsigned flags), (void)flags, *stream = &pending)
DO(cuStreamDestroy_v2, (void *stream), (void)stream)

EXPORT cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 1: *value = 1024; break; /* threads a block */
    case 2:
    case 3: *value = 1024; break;       /* block x, y */
    case 4: *value = 64; break;         /* block z */
    case 5: *value = 2147483647; break; /* grid x */
    case 6:
    case 7: *value = 65535; break;   /* grid y, z */
    case 16: *value = 4; break;      /* multiprocessors */
    case 75: *value = 9; break;      /* capability */
    case 97: *value = 232448; break; /* shared memory */
    default: *value = 0;
    }
    return 0;
}

EXPORT cuModuleGetFunction(void **function, void *module, const char *name);
EXPORT cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    *function = (void *)(intptr_t)(strcmp(name, "cupel_dirty_shared") == 0 ? DIRTY
                                   : strcmp(name, "cupel_spin") == 0       ? SPIN
                                   : strcmp(name, "cupel_nothing") == 0    ? NOTHING
                                                                           : SCALE);
    return 0;
}

EXPORT cuFuncGetAttribute(int *value, int attribute, void *function);
EXPORT cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)function;
    *value = attribute == 0 ? 512 : 0; /* threads a block; static shared memory */
    return 0;
}

/* Those of scale(const float *, float *, int). */
EXPORT cuFuncGetParamInfo(void *function, size_t i, size_t *offset, size_t *size);
EXPORT cuFuncGetParamInfo(void *function, size_t i, size_t *offset, size_t *size) {
    (void)function;
    if (i > 2) return 1;
    *offset = 8 * i;
    *size = fake_cuda_state.wrong_sizes ? 2 : i < 2 ? 8 : 4;
    return 0;
}

static void scale(void **arguments) {
    const float *x = *(const float **)arguments[0];
    float *y = *(float **)arguments[1];
    int n = *(int *)arguments[2];
    fake_cuda_state.y = y;
    fake_cuda_state.launches++;
    if (fake_cuda_state.next_status) pending = fake_cuda_state.next_status;
    fake_cuda_state.next_status = 0;
    for (int i = 0; i < n + fake_cuda_state.past_end; i++) y[i] = 2 * (i < n ? x[i] : 0);
}

EXPORT cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
EXPORT cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, void *stream, void **arguments, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
    switch ((int)(intptr_t)function) {
    case SCALE: scale(arguments); break;
    case DIRTY:
        fake_cuda_state.dirties++;
        fake_cuda_state.word = *(unsigned *)arguments[0];
        break;
    case SPIN: fake_cuda_state.spins++; break;
    default: break;
    }
    return 0;
}

EXPORT cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments);
EXPORT cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments) {
    fake_cuda_state.together++;
    return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, NULL);
}

EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared);
EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    (void)function, (void)shared;
    *blocks = 1024 / threads;
    return 0;
}

EXPORT cuStreamSynchronize(void *stream);
EXPORT cuStreamSynchronize(void *stream) {
    (void)stream;
    return pending; /* sticky, as a fault of a GPU is */
}
