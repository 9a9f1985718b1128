/* What there is of CUDA; none of it is needed. */
#include <string.h>

#include "cuda_api.h"
#include "doctor.h"
#include "nvrtc.h"

static const char *const folders[] = {"/usr/local/cuda/bin", "/usr/lib/nvidia-cuda-toolkit/bin", NULL};

static void add_compiler(cupel_doctor *doctor) {
    const cupel_nvrtc *nvrtc = NULL;
    bool there = cupel_nvrtc_find(&nvrtc, NULL) == CUPEL_OK && nvrtc;
    cupel_doctor_add(
        doctor, "NVRTC", there ? CUPEL_DOCTOR_OK : CUPEL_DOCTOR_ABSENT,
        there ? cupel_arena_printf(doctor->arena, "%d.%d %s", nvrtc->major, nvrtc->minor, nvrtc->library)
              : "not found",
        "compiles kernels for a GPU (--on cuda), and RES-02",
        "CUDA's toolkit, or apt-get install libnvrtc11.2 (non-free)");
    static const char *const programs[] = {"nvcc", "ptxas"};
    static const char *const purposes[] = {"compiles a counterexample's repro.cu", "assembles for a GPU"};
    for (int i = 0; i < 2; i++) {
        const char *path = cupel_doctor_which(doctor, programs[i], folders);
        cupel_doctor_add(doctor, programs[i], path ? CUPEL_DOCTOR_OK : CUPEL_DOCTOR_ABSENT,
                         path ? path : "not found", purposes[i],
                         "CUDA's toolkit, or apt-get install nvidia-cuda-toolkit (non-free)");
    }
}

static const char *device_text(cupel_doctor *doctor, const cupel_cuda_api *api, int number) {
    int device, major = 0, minor = 0;
    char name[128] = "?";
    if (api->device_get(&device, number) != CUPEL_CU_SUCCESS) return "?";
    (void)api->device_name(name, sizeof name, device);
    (void)api->device_attribute(&major, CUPEL_CU_DEVICE_MAJOR, device);
    (void)api->device_attribute(&minor, CUPEL_CU_DEVICE_MINOR, device);
    return cupel_arena_printf(doctor->arena, "%s, compute capability %d.%d", name, major, minor);
}

void cupel_doctor_cuda(cupel_doctor *doctor) {
    const cupel_cuda_api *api = NULL;
    cupel_error err = {0};
    int version = 0, count = 0;
    add_compiler(doctor);
    if (cupel_cuda_api_find(&api, &err) != CUPEL_OK || !api) {
        const char *why = cupel_arena_text(doctor->arena, err.text, strnlen(err.text, sizeof err.text));
        cupel_doctor_add(doctor, "GPU", CUPEL_DOCTOR_ABSENT, why, "runs kernels on a device (--on cuda)",
                         "NVIDIA's driver (non-free); the emulator needs none");
        return;
    }
    (void)api->driver_version(&version);
    (void)api->device_count(&count);
    for (int i = 0; i < count && i < 8; i++)
        cupel_doctor_add(doctor, "GPU", CUPEL_DOCTOR_OK,
                         cupel_arena_printf(doctor->arena, "%s, driver for CUDA %d.%d",
                                            device_text(doctor, api, i), version / 1000, version % 1000 / 10),
                         "runs kernels on a device (--on cuda)", "");
}
