/* Launches on a GPU: what it would refuse, and what its statuses mean for the kernel. */
#ifndef CUPEL_CUDA_LAUNCH_H
#define CUPEL_CUDA_LAUNCH_H

#include "cuda_device.h"
#include "launch_plan.h"
#include "observation.h"

/* A kernel that is loaded on a device. */
typedef struct cupel_cuda_function {
    const cupel_emu_kernel *kernel;
    cupel_cu_function function;
    int64_t threads_max, static_shared; /* of this kernel on this device */
    int64_t opted_in;                   /* bytes of dynamic shared memory it may use so far */
} cupel_cuda_function;

/* Looks the kernel up by its lowered name. UNSUPPORTED when the driver sees other parameters than the
 * compiler told. */
CUPEL_MUST_USE cupel_code cupel_cuda_launch_find(const cupel_cuda_device *device, cupel_cu_module module,
                                                 const char *lowered, const cupel_emu_kernel *kernel,
                                                 cupel_cuda_function *out, cupel_error *err);

/* Would the device take this launch? If not, out says why. */
bool cupel_cuda_launch_allowed(const cupel_cuda_device *device, const cupel_cuda_function *function,
                               const cupel_launch_plan *plan, cupel_observation *out);

/* Would the device keep all blocks of a cooperative launch, which is allowed otherwise, resident together? If
 * not, out says why. True for other launches. */
bool cupel_cuda_launch_resident(const cupel_cuda_device *device, cupel_cuda_function *function,
                                const cupel_launch_plan *plan, cupel_observation *out);

/* Queues a launch that is allowed. Returns the driver's status. */
int cupel_cuda_launch_start(const cupel_cuda_device *device, cupel_cuda_function *function,
                            cupel_launch_plan *plan);

/* A launch ended with a status other than success: fault or refusal in out. told: what the device printed
 * meanwhile (a failed assertion), may be "". */
void cupel_cuda_launch_fault(const cupel_cuda_device *device, const char *entry, int status, const char *told,
                             cupel_observation *out);

#endif
