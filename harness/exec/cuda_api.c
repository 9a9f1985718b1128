#include "cuda_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static cupel_cuda_api the_api;
static bool ready;

static bool bind(void *handle, const char **missing) {
    static const struct {
        const char *name;
        size_t offset;
        bool optional;
    } names[] = {
#define NEEDED(field, exported, parameters) {exported, offsetof(cupel_cuda_api, field), false},
#define OPTIONAL(field, exported, parameters) {exported, offsetof(cupel_cuda_api, field), true},
        CUPEL_CU_FUNCTIONS(NEEDED, OPTIONAL)
#undef NEEDED
#undef OPTIONAL
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(handle, names[i].name);
        *missing = names[i].name;
        if (address == NULL && !names[i].optional) return false;
        memcpy((char *)&the_api + names[i].offset, &address, sizeof address);
    }
    return true;
}

static void *load(void) {
    static const char *const names[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                        "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1",
                                        "/usr/lib/wsl/lib/libcuda.so.1"};
    const char *asked = getenv("CUPEL_LIBCUDA");
    void *handle = NULL;
    if (asked != NULL && asked[0] != '\0') return dlopen(asked, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof *names && handle == NULL; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

cupel_code cupel_cuda_api_find(const cupel_cuda_api **out, cupel_error *err) {
    const char *missing;
    int count = 0;
    *out = &the_api;
    if (ready) return CUPEL_OK;
    void *handle = load();
    if (handle == NULL)
        return cupel_fail(err, CUPEL_UNSUPPORTED,
                          "no NVIDIA driver on this machine: libcuda.so.1 was not found");
    if (!bind(handle, &missing))
        return cupel_fail(err, CUPEL_UNSUPPORTED, "the NVIDIA driver is too old: libcuda.so.1 has no %s",
                          missing);
    int status = the_api.init(0);
    if (status == CUPEL_CU_SUCCESS) status = the_api.device_count(&count);
    if (status != CUPEL_CU_SUCCESS)
        return cupel_fail(err, CUPEL_UNSUPPORTED, "the NVIDIA driver does not start: %s (%d)",
                          cupel_cuda_api_text(&the_api, status), status);
    if (count < 1) return cupel_fail(err, CUPEL_UNSUPPORTED, "the NVIDIA driver finds no GPU");
    ready = true;
    return CUPEL_OK;
}

const char *cupel_cuda_api_text(const cupel_cuda_api *api, int status) {
    const char *text = NULL;
    if (api->error_string(status, &text) != CUPEL_CU_SUCCESS || text == NULL) return "an unknown error";
    return text;
}
