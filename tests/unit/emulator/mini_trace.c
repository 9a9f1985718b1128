/* The hidden runtime of a test candidate: edges, and the plain memory functions that instrumented code calls.
 */
#include "emu_abi.h"
#include "emu_asks.h"

#define HIDDEN __attribute__((visibility("hidden")))

extern const cupel_emu_kernel candidate_kernels[];
extern const uint32_t candidate_kernel_count;
extern unsigned char __start_cupel_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_cupel_shared[] __attribute__((weak, visibility("hidden")));
extern cupel_emu_site __start_cupel_sites[] __attribute__((weak, visibility("hidden")));
extern cupel_emu_site __stop_cupel_sites[] __attribute__((weak, visibility("hidden")));

HIDDEN cupel_emu_registers_t cupel_emu_registers;

__attribute__((visibility("default"))) cupel_emu_candidate_t cupel_emu_candidate = {
    .abi_version = CUPEL_EMU_ABI_VERSION,
    .kernels = candidate_kernels,
    .registers = &cupel_emu_registers,
    .shared_start = __start_cupel_shared,
    .shared_stop = __stop_cupel_shared,
    .sites_start = __start_cupel_sites,
    .sites_stop = __stop_cupel_sites,
};

HIDDEN void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    cupel_emu_candidate.edges = start;
    cupel_emu_candidate.edge_count = (uint32_t)(stop - start);
    cupel_emu_candidate.kernel_count = candidate_kernel_count;
}

HIDDEN void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    ++*guard;
    if (--cupel_emu_registers.budget == 0) cupel_emu_budget_spent(__builtin_return_address(0));
}

HIDDEN void __asan_handle_no_return(void) {}
HIDDEN void *memcpy(void *target, const void *source, size_t size) {
    return cupel_emu_memcpy(target, source, size);
}
HIDDEN void *memmove(void *target, const void *source, size_t size) {
    return cupel_emu_memmove(target, source, size);
}
HIDDEN void *memset(void *target, int value, size_t size) {
    return cupel_emu_memset(target, value, size);
}
