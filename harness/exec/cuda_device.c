#include "cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "device_headers.h"
#include "nvrtc.h"
#include "text.h"

enum { PAGE = 4096, DIRTY_THREADS = 1024, SPIN_THREADS = 512 };

static cupel_code failed(const cupel_cuda_device *d, const char *what, int status, cupel_error *err) {
    return cupel_fail(err, status == CUPEL_CU_OUT_OF_MEMORY ? CUPEL_MEMORY : CUPEL_UNSUPPORTED,
                      "the GPU %s: %s (%d)", what, cupel_cuda_api_text(d->api, status), status);
}

/* ---- what the device is ---- */

static cupel_code read_limits(cupel_cuda_device *d, cupel_error *err) {
    struct {
        int attribute, value;
    } all[] = {{CUPEL_CU_DEVICE_MAJOR, 0},           {CUPEL_CU_DEVICE_MINOR, 0},
               {CUPEL_CU_DEVICE_MULTIPROCESSORS, 0}, {CUPEL_CU_DEVICE_THREADS_A_BLOCK, 0},
               {CUPEL_CU_DEVICE_SHARED_OPT_IN, 0},   {CUPEL_CU_DEVICE_BLOCK_X, 0},
               {CUPEL_CU_DEVICE_BLOCK_X + 1, 0},     {CUPEL_CU_DEVICE_BLOCK_X + 2, 0},
               {CUPEL_CU_DEVICE_GRID_X, 0},          {CUPEL_CU_DEVICE_GRID_X + 1, 0},
               {CUPEL_CU_DEVICE_GRID_X + 2, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int status = d->api->device_attribute(&all[i].value, all[i].attribute, d->ordinal);
        if (status != CUPEL_CU_SUCCESS) return failed(d, "does not tell its limits", status, err);
    }
    d->architecture = all[0].value * 10 + all[1].value;
    d->multiprocessors = all[2].value;
    d->threads_max = all[3].value;
    d->shared_max = all[4].value;
    for (int i = 0; i < 3; i++) {
        d->block_max[i] = all[5 + i].value;
        d->grid_max[i] = all[8 + i].value;
    }
    return CUPEL_OK;
}

/* ---- helper kernels ---- */

static cupel_code compile_helpers(const cupel_cuda_device *d, const char *cache, cupel_arena *arena,
                                  char **cubin, cupel_error *err) {
    const cupel_nvrtc *nvrtc;
    CUPEL_TRY(cupel_nvrtc_find(&nvrtc, err));
    uint64_t key = XXH3_64bits(cupel_device_helpers, strlen(cupel_device_helpers));
    const char *path =
        cupel_arena_printf(arena, "%s/helpers-%016llx-%d-%d.%d.cubin", cache, (unsigned long long)key,
                           d->architecture, nvrtc->major, nvrtc->minor);
    size_t size;
    if (path == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    if (cupel_text_read(path, arena, cubin, &size, NULL) == CUPEL_OK && size > 0) return CUPEL_OK;
    cupel_nvrtc_request request = {
        .text = cupel_device_helpers, .name = "cupel_device_helpers.cu", .architecture = d->architecture};
    cupel_nvrtc_output out;
    CUPEL_TRY(cupel_nvrtc_compile(&request, arena, &out, err));
    if (!out.success)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "NVRTC does not compile the helper kernels: %.500s",
                          out.log);
    *cubin = (char *)out.cubin;
    (void)mkdir(cache, 0777);
    (void)cupel_text_write(path, out.cubin, out.cubin_size, NULL); /* else it is compiled anew next time */
    return CUPEL_OK;
}

static cupel_code load_helpers(cupel_cuda_device *d, const char *cache, cupel_error *err) {
    static const char *const names[] = {"cupel_dirty_shared", "cupel_spin", "cupel_nothing"};
    cupel_cu_function *const functions[] = {&d->dirty, &d->spin, &d->nothing};
    cupel_arena *arena = cupel_arena_create(0);
    char *cubin = NULL;
    if (arena == NULL) return cupel_fail(err, CUPEL_MEMORY, "out of memory");
    cupel_code code = compile_helpers(d, cache, arena, &cubin, err);
    int status = code == CUPEL_OK ? d->api->module_load(&d->helpers, cubin) : CUPEL_CU_SUCCESS;
    for (size_t i = 0; code == CUPEL_OK && i < 3 && status == CUPEL_CU_SUCCESS; i++)
        status = d->api->module_function(functions[i], d->helpers, names[i]);
    if (code == CUPEL_OK && status == CUPEL_CU_SUCCESS)
        status = d->api->function_set(d->dirty, CUPEL_CU_FUNCTION_DYNAMIC_SHARED_BYTES, (int)d->shared_max);
    cupel_arena_free(arena);
    if (code != CUPEL_OK) return code;
    return status == CUPEL_CU_SUCCESS ? CUPEL_OK : failed(d, "does not take the helper kernels", status, err);
}

cupel_code cupel_cuda_device_open(cupel_cuda_device *d, const char *cache, cupel_error *err) {
    memset(d, 0, sizeof *d);
    setenv("CUDA_CACHE_DISABLE", "1",
           1); /* nothing is compiled by the driver, and its folder may be frozen */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    CUPEL_TRY(cupel_cuda_api_find(&d->api, err));
    int status = d->api->device_get(&d->ordinal, 0);
    if (status == CUPEL_CU_SUCCESS) status = d->api->device_name(d->name, sizeof d->name, d->ordinal);
    if (status != CUPEL_CU_SUCCESS) return failed(d, "cannot be used", status, err);
    CUPEL_TRY(read_limits(d, err));
    status = d->api->context_retain(&d->context, d->ordinal);
    if (status == CUPEL_CU_SUCCESS) status = d->api->context_current(d->context);
    if (status == CUPEL_CU_SUCCESS) status = d->api->stream_create(&d->stream, CUPEL_CU_STREAM_NON_BLOCKING);
    if (status == CUPEL_CU_SUCCESS) status = d->api->stream_create(&d->beside, CUPEL_CU_STREAM_NON_BLOCKING);
    if (status != CUPEL_CU_SUCCESS) return failed(d, "gives no context", status, err);
    return load_helpers(d, cache, err);
}

/* ---- memory ---- */

static void release_memory(cupel_cuda_device *d) {
    if (d->staging != NULL) d->api->host_release(d->staging);
    if (d->reserved != 0) {
        d->api->memory_unmap(d->start, d->mapped);
        d->api->memory_release(d->handle);
        d->api->address_free(d->reserved, d->reserved_size);
    } else if (d->start != 0) {
        d->api->release(d->start);
    }
    d->staging = NULL;
    d->start = d->reserved = 0;
    d->mapped = 0;
}

void cupel_cuda_device_close(cupel_cuda_device *d) {
    if (d->api == NULL || d->context == NULL) return;
    release_memory(d);
    if (d->helpers != NULL) d->api->module_unload(d->helpers);
    if (d->beside != NULL) d->api->stream_destroy(d->beside);
    if (d->stream != NULL) d->api->stream_destroy(d->stream);
    d->api->context_release(d->ordinal);
    memset(d, 0, sizeof *d);
}

/* Maps size bytes in the middle of three times as many addresses, so that an access far out of bounds hits
 * nothing. False where this driver or device cannot. */
static bool map_alone(cupel_cuda_device *d, size_t size) {
    const cupel_cuda_api *api = d->api;
    cupel_cu_memory_kind kind = {.type = 1, .location = {1, d->ordinal}};
    cupel_cu_memory_access access = {{1, d->ordinal}, 3};
    size_t unit = 0;
    int able = 0;
    if (api->memory_access == NULL || api->memory_map == NULL || api->memory_create == NULL ||
        api->address_reserve == NULL || api->granularity == NULL || api->memory_unmap == NULL ||
        api->memory_release == NULL || api->address_free == NULL ||
        api->device_attribute(&able, CUPEL_CU_DEVICE_VIRTUAL_MEMORY, d->ordinal) != CUPEL_CU_SUCCESS ||
        !able || api->granularity(&unit, &kind, 0) != CUPEL_CU_SUCCESS || unit == 0)
        return false;
    size_t mapped = (size + unit - 1) / unit * unit;
    if (api->address_reserve(&d->reserved, 3 * mapped, unit, 0, 0) != CUPEL_CU_SUCCESS) return false;
    if (api->memory_create(&d->handle, mapped, &kind, 0) == CUPEL_CU_SUCCESS) {
        d->start = d->reserved + mapped;
        if (api->memory_map(d->start, mapped, 0, d->handle, 0) == CUPEL_CU_SUCCESS) {
            d->mapped = mapped;
            d->reserved_size = 3 * mapped;
            if (api->memory_access(d->start, mapped, &access, 1) == CUPEL_CU_SUCCESS) return true;
            api->memory_unmap(d->start, mapped);
        }
        api->memory_release(d->handle);
    }
    api->address_free(d->reserved, 3 * mapped);
    d->reserved = d->start = 0;
    return false;
}

static cupel_code grow(cupel_cuda_device *d, size_t size, cupel_error *err) {
    void *staging = NULL;
    release_memory(d);
    if (!map_alone(d, size)) {
        int status = d->api->allocate(&d->start, size + PAGE);
        if (status != CUPEL_CU_SUCCESS) return failed(d, "has no memory for the buffers", status, err);
        d->mapped = size;
    }
    int status = d->api->host_allocate(&staging, d->mapped);
    if (status != CUPEL_CU_SUCCESS) return failed(d, "gives no pinned memory", status, err);
    d->staging = staging;
    return CUPEL_OK;
}

cupel_code cupel_cuda_device_reserve(cupel_cuda_device *d, size_t size, int shift, cupel_cu_pointer *base,
                                     cupel_error *err) {
    size_t whole = (size + PAGE - 1) / PAGE * PAGE, needed = whole + CUPEL_CUDA_SHIFT_MAX * PAGE;
    if (needed > d->mapped || d->staging == NULL) CUPEL_TRY(grow(d, needed + needed / 2, err));
    cupel_cu_pointer stop = (d->start + d->mapped) / PAGE * PAGE;
    if (d->reserved == 0) stop = (d->start + d->mapped + PAGE - 1) / PAGE * PAGE; /* one page more is there */
    *base = stop - whole - (cupel_cu_pointer)shift * PAGE;
    return CUPEL_OK;
}

/* ---- launches ---- */

int cupel_cuda_device_dirty(cupel_cuda_device *d, uint32_t word) {
    uint32_t words = (uint32_t)d->shared_max / 4;
    void *arguments[] = {&word, &words};
    return d->api->launch(d->dirty, (unsigned)d->multiprocessors, 1, 1, DIRTY_THREADS, 1, 1,
                          (unsigned)d->shared_max, d->stream, arguments, NULL);
}

int cupel_cuda_device_disturb(cupel_cuda_device *d, unsigned microseconds) {
    unsigned long long nanoseconds = 1000ull * microseconds;
    void *arguments[] = {&nanoseconds};
    return d->api->launch(d->spin, (unsigned)d->multiprocessors, 1, 1, SPIN_THREADS, 1, 1, 0, d->beside,
                          arguments, NULL);
}

int cupel_cuda_device_wait(cupel_cuda_device *d) {
    int status = d->api->stream_synchronise(d->stream);
    return status != CUPEL_CU_SUCCESS ? status : d->api->stream_synchronise(d->beside);
}
