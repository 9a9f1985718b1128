#include "cuda_launch.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

/* Both the compiler and the driver know the parameters; where they do not agree nothing is launched. */
static bool parameters_agree(const cupel_cuda_device *d, cupel_cu_function function,
                             const cupel_emu_kernel *kernel) {
    size_t offset, size;
    if (d->api->function_parameter == NULL) return true;
    for (uint32_t i = 0; i < kernel->param_count; i++)
        if (d->api->function_parameter(function, i, &offset, &size) != CUPEL_CU_SUCCESS ||
            size != kernel->params[i].size)
            return false;
    return d->api->function_parameter(function, kernel->param_count, &offset, &size) != CUPEL_CU_SUCCESS;
}

cupel_code cupel_cuda_launch_find(const cupel_cuda_device *d, cupel_cu_module module, const char *lowered,
                                  const cupel_emu_kernel *kernel, cupel_cuda_function *out,
                                  cupel_error *err) {
    int threads = 0, shared = 0;
    *out = (cupel_cuda_function){.kernel = kernel};
    int status = d->api->module_function(&out->function, module, lowered);
    if (status == CUPEL_CU_SUCCESS)
        status = d->api->function_attribute(&threads, CUPEL_CU_FUNCTION_THREADS_A_BLOCK, out->function);
    if (status == CUPEL_CU_SUCCESS)
        status = d->api->function_attribute(&shared, CUPEL_CU_FUNCTION_SHARED_BYTES, out->function);
    if (status != CUPEL_CU_SUCCESS)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "the GPU does not load '%s': %s (%d)", kernel->entry,
                          cupel_cuda_api_text(d->api, status), status);
    if (!parameters_agree(d, out->function, kernel))
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "'%s': the driver and the compiler disagree over the kernel's parameters",
                          kernel->entry);
    out->threads_max = threads;
    out->static_shared = shared;
    return CUPEL_OK;
}

/* ---- limits ---- */

static bool refuse(cupel_observation *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(cupel_observation *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->text, sizeof out->text, format, arguments);
    va_end(arguments);
    out->outcome = CUPEL_RUN_REFUSED;
    return false;
}

bool cupel_cuda_launch_allowed(const cupel_cuda_device *d, const cupel_cuda_function *f,
                               const cupel_launch_plan *plan, cupel_observation *out) {
    static const char axis[] = "xyz";
    const char *entry = f->kernel->entry;
    int64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (plan->grid[i] < 1 || plan->grid[i] > d->grid_max[i])
            return refuse(out, "%s: grid.%c is %lld, the device takes 1 to %lld", entry, axis[i],
                          (long long)plan->grid[i], (long long)d->grid_max[i]);
        if (plan->block[i] < 1 || plan->block[i] > d->block_max[i])
            return refuse(out, "%s: block.%c is %lld, the device takes 1 to %lld", entry, axis[i],
                          (long long)plan->block[i], (long long)d->block_max[i]);
        threads *= plan->block[i];
    }
    if (threads > d->threads_max)
        return refuse(out, "%s: %lld threads a block, the device takes %lld at most", entry,
                      (long long)threads, (long long)d->threads_max);
    if (threads > f->threads_max)
        return refuse(out,
                      "%s: %lld threads a block, its registers and launch bounds allow %lld on this device",
                      entry, (long long)threads, (long long)f->threads_max);
    if (plan->dynamic_shared < 0 || plan->dynamic_shared > d->shared_max - f->static_shared)
        return refuse(out,
                      "%s: %lld bytes of dynamic and %lld of static shared memory, the device takes %lld at "
                      "most",
                      entry, (long long)plan->dynamic_shared, (long long)f->static_shared,
                      (long long)d->shared_max);
    return true;
}

/* More dynamic shared memory than a block has without asking is asked for, once. */
static int opt_in(const cupel_cuda_device *d, cupel_cuda_function *f, int64_t bytes) {
    if (bytes <= f->opted_in) return CUPEL_CU_SUCCESS;
    int status = d->api->function_set(f->function, CUPEL_CU_FUNCTION_DYNAMIC_SHARED_BYTES, (int)bytes);
    if (status == CUPEL_CU_SUCCESS) f->opted_in = bytes;
    return status;
}

/* All blocks of a cooperative launch are resident together. What the driver does not tell it decides itself
 * when it is launched. */
bool cupel_cuda_launch_resident(const cupel_cuda_device *d, cupel_cuda_function *f,
                                const cupel_launch_plan *plan, cupel_observation *out) {
    int each = 0;
    if (!plan->cooperative) return true;
    if (d->api->launch_cooperative == NULL) {
        snprintf(out->text, sizeof out->text, "%s: the NVIDIA driver is too old for cooperative launches",
                 f->kernel->entry);
        out->outcome = CUPEL_RUN_UNSUPPORTED;
        return false;
    }
    const double blocks = (double)plan->grid[0] * (double)plan->grid[1] * (double)plan->grid[2];
    const int64_t threads = plan->block[0] * plan->block[1] * plan->block[2];
    if (d->api->blocks_each == NULL || opt_in(d, f, plan->dynamic_shared) != CUPEL_CU_SUCCESS ||
        d->api->blocks_each(&each, f->function, (int)threads, (size_t)plan->dynamic_shared) !=
            CUPEL_CU_SUCCESS ||
        blocks <= (double)each * d->multiprocessors)
        return true;
    return refuse(out, "%s: a cooperative launch of %.0f blocks, of which the device keeps %lld resident",
                  f->kernel->entry, blocks, (long long)each * d->multiprocessors);
}

int cupel_cuda_launch_start(const cupel_cuda_device *d, cupel_cuda_function *f, cupel_launch_plan *plan) {
    int status = opt_in(d, f, plan->dynamic_shared);
    if (status != CUPEL_CU_SUCCESS) return status;
    if (plan->cooperative)
        return d->api->launch_cooperative(
            f->function, (unsigned)plan->grid[0], (unsigned)plan->grid[1], (unsigned)plan->grid[2],
            (unsigned)plan->block[0], (unsigned)plan->block[1], (unsigned)plan->block[2],
            (unsigned)plan->dynamic_shared, d->stream, plan->arguments.pointers);
    return d->api->launch(f->function, (unsigned)plan->grid[0], (unsigned)plan->grid[1],
                          (unsigned)plan->grid[2], (unsigned)plan->block[0], (unsigned)plan->block[1],
                          (unsigned)plan->block[2], (unsigned)plan->dynamic_shared, d->stream,
                          plan->arguments.pointers, NULL);
}

/* ---- faults ---- */

typedef struct meaning {
    int status;
    cupel_fault fault;
    int signal;
    const char *text;
} meaning;

static const meaning meanings[] = {
    {CUPEL_CU_ILLEGAL_ADDRESS, CUPEL_FAULT_OUT_OF_BOUNDS, 0,
     "reads or writes at an address that is no memory"},
    {CUPEL_CU_MISALIGNED_ADDRESS, CUPEL_FAULT_CRASH, SIGBUS,
     "reads or writes at an address that is not a multiple of the access's size"},
    {CUPEL_CU_INVALID_ADDRESS_SPACE, CUPEL_FAULT_CRASH, SIGSEGV,
     "takes an address of one memory for one of another"},
    {CUPEL_CU_STACK_ERROR, CUPEL_FAULT_STACK_OVERFLOW, 0, "uses more stack than a thread has"},
    {CUPEL_CU_ILLEGAL_INSTRUCTION, CUPEL_FAULT_CRASH, SIGILL, "executes an illegal instruction"},
    {CUPEL_CU_INVALID_PC, CUPEL_FAULT_CRASH, SIGILL, "jumps to an address that is no code"},
    {CUPEL_CU_ASSERT, CUPEL_FAULT_ASSERT, 0, "a device assertion fails"},
    {CUPEL_CU_TIMEOUT, CUPEL_FAULT_HANG, 0, "does not end within the driver's own limit"},
    {CUPEL_CU_LAUNCH_FAILED, CUPEL_FAULT_CRASH, SIGABRT, "is stopped by the device (a trap, for example)"}};

/* "file:12: function: block: [0,0,0], thread: [3,0,0] Assertion `x' failed." */
static void place_of_assertion(const char *told, cupel_place *place) {
    const char *colon = strchr(told, ':');
    if (strstr(told, "Assertion `") == NULL) return;
    while (colon != NULL && (colon[1] < '0' || colon[1] > '9')) colon = strchr(colon + 1, ':');
    if (colon == NULL) return;
    snprintf(place->file, sizeof place->file, "%.*s", (int)(colon - told), told);
    place->line = atoi(colon + 1);
    const char *block = strstr(colon, "block: ["), *thread = strstr(colon, "thread: [");
    if (block != NULL)
        sscanf(block, "block: [%u,%u,%u]", &place->block[0], &place->block[1], &place->block[2]);
    if (thread != NULL)
        sscanf(thread, "thread: [%u,%u,%u]", &place->thread[0], &place->thread[1], &place->thread[2]);
}

void cupel_cuda_launch_fault(const cupel_cuda_device *d, const char *entry, int status, const char *told,
                             cupel_observation *out) {
    const char *says = cupel_cuda_api_text(d->api, status);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const meaning *m = &meanings[i];
        if (m->status != status) continue;
        out->outcome = CUPEL_RUN_FAULT;
        out->fault = m->fault;
        out->signal = m->signal;
        place_of_assertion(told, &out->place);
        snprintf(out->text, sizeof out->text, "%s %s (CUDA error %d, %s)%s%s", entry, m->text, status, says,
                 told[0] != '\0' ? ": " : "", told);
        return;
    }
    bool limits = status == CUPEL_CU_OUT_OF_RESOURCES || status == CUPEL_CU_INVALID_VALUE ||
                  status == CUPEL_CU_COOPERATIVE_TOO_LARGE;
    out->outcome = limits ? CUPEL_RUN_REFUSED : CUPEL_RUN_UNSUPPORTED;
    snprintf(out->text, sizeof out->text, "%s: the driver refuses the launch: %s (%d)", entry, says, status);
}
