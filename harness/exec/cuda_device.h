/* One GPU as the executor uses it: its limits, a stretch of its memory between unmapped neighbours, pinned
 * staging, launches that are waited for. */
#ifndef CUPEL_CUDA_DEVICE_H
#define CUPEL_CUDA_DEVICE_H

#include <stdbool.h>

#include "arena.h"
#include "cuda_api.h"

typedef struct cupel_cuda_device {
    const cupel_cuda_api *api;
    int ordinal, architecture; /* major * 10 + minor */
    char name[128];
    int multiprocessors;
    int64_t threads_max, block_max[3], grid_max[3], shared_max; /* shared: bytes a block, after opting in */
    cupel_cu_context context;
    cupel_cu_stream stream, beside;
    cupel_cu_module helpers;
    cupel_cu_function dirty, spin, nothing;
    /* memory */
    cupel_cu_pointer start; /* of what is mapped */
    size_t mapped;
    cupel_cu_pointer reserved; /* 0: start was allocated plainly */
    size_t reserved_size;
    unsigned long long handle;
    unsigned char *staging; /* pinned, mapped bytes */
    bool spent;             /* a fault has ended the context: nothing runs in this process any more */
} cupel_cuda_device;

/* Opens the first visible GPU (CUDA_VISIBLE_DEVICES chooses). cache: folder of compiled code for the helper
 * kernels. UNSUPPORTED, saying what is missing, where there is no driver, GPU or NVRTC. close accepts zeros.
 */
CUPEL_MUST_USE cupel_code cupel_cuda_device_open(cupel_cuda_device *device, const char *cache,
                                                 cupel_error *err);
void cupel_cuda_device_close(cupel_cuda_device *device);

/* Room for size bytes; *base is where they begin: at a multiple of 4,096, the last page the last one that is
 * mapped, or shift pages before (at most CUPEL_CUDA_SHIFT_MAX). What was there before is lost. */
enum { CUPEL_CUDA_SHIFT_MAX = 15 };
CUPEL_MUST_USE cupel_code cupel_cuda_device_reserve(cupel_cuda_device *device, size_t size, int shift,
                                                    cupel_cu_pointer *base, cupel_error *err);

/* Statuses of the driver. Queued on the device's stream. */
int cupel_cuda_device_dirty(cupel_cuda_device *device, uint32_t word);
/* Keeps half of the GPU busy beside the stream for about microseconds. */
int cupel_cuda_device_disturb(cupel_cuda_device *device, unsigned microseconds);
/* Waits until all of it is done. */
int cupel_cuda_device_wait(cupel_cuda_device *device);

#endif
