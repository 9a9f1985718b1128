/* CUDA C++ Programming Guide, "Compute Capabilities": the tables "Technical Specifications per Compute
 * Capability" (grid, block, threads, registers, shared memory per block) and of the units of register
 * allocation in the occupancy calculator of the same toolkit (256 registers a warp). Shared memory that the
 * system reserves: cudaDevAttrReservedSharedMemoryPerBlock, 1 KiB from 8.0 on. Tensor memory: PTX ISA,
 * "Tensor Memory" (512 columns of 128 lanes on 10.x). Multiprocessors: those of the product that has most of
 * them (A100, RTX A6000, Orin, L40S, H100 and H200 SXM, B200, B300, RTX PRO 6000), from NVIDIA's data sheets.
 * A multiprocessor's shared memory is what one block may have and what is reserved for it. */
#include "device_limits.h"

#include <stddef.h>
#include <string.h>

enum { KIB = 1024, WARP = 32 };

/* clang-format off */
#define DEVICE(number, per_block_kib, columns, most_sms, threads_an_sm, blocks_an_sm)                          \
    {.architecture = number, .name = "sm_" #number, .grid = {INT32_MAX, 65535, 65535},                       \
     .block = {1024, 1024, 64}, .threads = 1024, .registers_block = 65536, .registers_thread = 255,          \
     .register_unit = 256, .shared_default = 48 * KIB, .shared_optin = (per_block_kib) * KIB,                \
     .shared_reserved = 1 * KIB, .tensor_columns = columns, .multiprocessors = most_sms,                     \
     .sm_threads = threads_an_sm, .sm_blocks = blocks_an_sm}
/* clang-format on */

static const cupel_device_limits devices[] = {
    DEVICE(80, 163, 0, 108, 2048, 32),    DEVICE(86, 99, 0, 84, 1536, 16),
    DEVICE(87, 163, 0, 16, 1536, 16),     DEVICE(89, 99, 0, 142, 1536, 24),
    DEVICE(90, 227, 0, 132, 2048, 32),    DEVICE(100, 227, 512, 148, 2048, 32),
    DEVICE(103, 227, 512, 160, 2048, 32), DEVICE(120, 99, 0, 188, 1536, 32),
};

enum { DEVICES = sizeof devices / sizeof *devices };

const cupel_device_limits *cupel_device_limits_of(int architecture) {
    for (int i = 0; i < DEVICES; i++)
        if (devices[i].architecture == architecture) return &devices[i];
    return NULL;
}

int cupel_device_limits_parse(const char *name) {
    for (int i = 0; i < DEVICES; i++) {
        const char *digits = devices[i].name + 3, *given = strncmp(name, "sm_", 3) == 0 ? name + 3 : name;
        size_t length = strlen(digits);
        if (strncmp(given, digits, length) != 0) continue;
        /* sm_90a: the same device, more instructions */
        if (!given[length] || strcmp(given + length, "a") == 0 || strcmp(given + length, "f") == 0)
            return devices[i].architecture;
    }
    return 0;
}

const char *cupel_device_limits_name(int i) {
    return i >= 0 && i < DEVICES ? devices[i].name : NULL;
}

int64_t cupel_device_limits_threads(const cupel_device_limits *device, int registers) {
    if (registers <= 0) return device->threads;
    int64_t unit = device->register_unit, warp = (registers * (int64_t)WARP + unit - 1) / unit * unit;
    int64_t threads = device->registers_block / warp * WARP;
    return threads < device->threads ? threads : device->threads;
}

int64_t cupel_device_limits_resident(const cupel_device_limits *device, int64_t threads, int registers,
                                     int64_t shared) {
    const int64_t unit = device->register_unit, warps = threads / WARP + (threads % WARP != 0),
                  each = (registers * (int64_t)WARP + unit - 1) / unit * unit,
                  memory = device->shared_optin + device->shared_reserved;
    if (threads < 1 || threads > device->threads || shared < 0 || shared > device->shared_optin) return 0;
    int64_t blocks = device->sm_threads / WARP / warps;
    if (blocks > device->sm_blocks) blocks = device->sm_blocks;
    if (blocks > memory / (shared + device->shared_reserved))
        blocks = memory / (shared + device->shared_reserved);
    if (registers > 0 && blocks > device->registers_block / (each * warps))
        blocks = device->registers_block / (each * warps);
    return blocks * device->multiprocessors;
}
