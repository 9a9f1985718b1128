/* Compiled into every candidate, beside its kernels: what they report to without leaving the object, and the
 * one symbol that it exports. Built at run time by the compiler that builds the candidate. */
#include "emu_abi.h"
#include "emu_asks.h"
#include "emu_strict.h"

#define HIDDEN __attribute__((visibility("hidden")))

extern const cupel_emu_kernel cupel_emu_kernels[] HIDDEN;
extern const uint32_t cupel_emu_kernel_count HIDDEN;
/* The linker's bounds of the section of static shared variables; absent when there are none. */
extern unsigned char __start_cupel_shared[] __attribute__((weak)) HIDDEN;
extern unsigned char __stop_cupel_shared[] __attribute__((weak)) HIDDEN;
/* The same for what loads remember. */
extern cupel_emu_site __start_cupel_sites[] __attribute__((weak)) HIDDEN;
extern cupel_emu_site __stop_cupel_sites[] __attribute__((weak)) HIDDEN;

HIDDEN cupel_emu_registers_t cupel_emu_registers;

__attribute__((visibility("default"))) cupel_emu_candidate_t cupel_emu_candidate = {
    .abi_version = CUPEL_EMU_ABI_VERSION, .registers = &cupel_emu_registers, .kernels = cupel_emu_kernels};

HIDDEN void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    cupel_emu_candidate.edges = start;
    cupel_emu_candidate.edge_count = (uint32_t)(stop - start);
}

/* The guards themselves are the counts: a candidate is one unit, so they lie in one piece. */
HIDDEN void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    ++*guard;
    if (--cupel_emu_registers.budget == 0) cupel_emu_budget_spent(__builtin_return_address(0));
}

/* As a device orders them (max.f32, min.f32; seen on an H200): a NaN gives way, and -0 is less than +0. */
#define EXTREMA(T, max, min)                                                                                 \
    HIDDEN T max(T a, T b) {                                                                                 \
        if (a != a) return b;                                                                                \
        if (b != b) return a;                                                                                \
        return a > b || (a == b && !__builtin_signbit(a)) ? a : b;                                           \
    }                                                                                                        \
    HIDDEN T min(T a, T b) {                                                                                 \
        if (a != a) return b;                                                                                \
        if (b != b) return a;                                                                                \
        return a < b || (a == b && __builtin_signbit(a)) ? a : b;                                            \
    }
EXTREMA(float, fmaxf, fminf)
EXTREMA(double, fmax, fmin)

#ifdef CUPEL_EMU_STRICT
#define CHECKED(name) cupel_emu_strict_##name
#else
#define CHECKED(name) cupel_emu_##name
#endif
#ifdef CUPEL_EMU_FAST_FUNCTIONS
/* --use_fast_math: the formulas of the hardware's functions (CUDA C++ Programming Guide, "Intrinsic
 * Functions"). Sines and the hyperbolic tangent are left to the C library, which is more exact. */
float exp2f(float), log2f(float);
HIDDEN float expf(float x) {
    return exp2f(x * 1.4426950408889634f);
}
HIDDEN float exp10f(float x) {
    return exp2f(x * 3.3219280948873623f);
}
HIDDEN float logf(float x) {
    return log2f(x) * 0.69314718055994531f;
}
HIDDEN float log10f(float x) {
    return log2f(x) * 0.30102999566398120f;
}
HIDDEN float powf(float x, float y) {
    return exp2f(y * log2f(x));
}
#endif

/* Copies that the compiler makes out of line go past its instrumentation. */
HIDDEN void *memcpy(void *target, const void *source, size_t size) {
    return CHECKED(memcpy)(target, source, size);
}
HIDDEN void *memmove(void *target, const void *source, size_t size) {
    return CHECKED(memmove)(target, source, size);
}
HIDDEN void *memset(void *target, int value, size_t size) {
    return CHECKED(memset)(target, value, size);
}

#ifdef CUPEL_EMU_STRICT
/* That the object was compiled for the sanitizer. */
__attribute__((visibility("default"))) const int cupel_emu_strict_candidate = 1;

/* ThreadSanitizer's instrumentation: all that is wanted of it is which accesses are volatile. */
#define IGNORED(name)                                                                                        \
    HIDDEN void name(void *address) {                                                                        \
        (void)address;                                                                                       \
    }
#define VOLATILE(name)                                                                                       \
    HIDDEN void name(void *address) {                                                                        \
        cupel_emu_strict_strong(address);                                                                    \
    }
#define TSAN(size)                                                                                           \
    IGNORED(__tsan_read##size)                                                                               \
    IGNORED(__tsan_write##size)                                                                              \
    IGNORED(__tsan_unaligned_read##size)                                                                     \
    IGNORED(__tsan_unaligned_write##size)                                                                    \
    VOLATILE(__tsan_volatile_read##size)                                                                     \
    VOLATILE(__tsan_volatile_write##size)                                                                    \
    VOLATILE(__tsan_unaligned_volatile_read##size)                                                           \
    VOLATILE(__tsan_unaligned_volatile_write##size)
TSAN(1)
TSAN(2)
TSAN(4)
TSAN(8)
TSAN(16)
IGNORED(__tsan_vptr_read)
HIDDEN void __tsan_vptr_update(void *address, void *value) {
    (void)address, (void)value;
}
HIDDEN void __tsan_init(void) {}
#endif

__attribute__((constructor)) static void complete(void) {
    cupel_emu_candidate.kernel_count = cupel_emu_kernel_count;
    cupel_emu_candidate.shared_start = __start_cupel_shared;
    cupel_emu_candidate.shared_stop = __stop_cupel_shared;
    cupel_emu_candidate.sites_start = __start_cupel_sites;
    cupel_emu_candidate.sites_stop = __stop_cupel_sites;
}

/* Before a call that does not return; there is no stack to unpoison. */
HIDDEN void __asan_handle_no_return(void) {}
