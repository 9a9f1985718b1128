/* Addresses in the shared window: 32 bits, as cvta.to.shared and __cvta_generic_to_shared give them. Static and dynamic shared
 * memory have a window each, with room on both sides, so that an address that has left its array comes back as the pointer that
 * it is and is reported where it lies. The low bits are those of the offset, so that swizzles see the same alignment every time. */
#ifndef CUPEL_SHARED_WINDOW_H
#define CUPEL_SHARED_WINDOW_H

extern "C" __device__ cupel_emu_candidate_t cupel_emu_candidate;

enum : uint64_t { CUPEL_WINDOW_STATIC = 0x100000, CUPEL_WINDOW_DYNAMIC = 0x200000, CUPEL_WINDOW_ROOM = 0x80000 };

CUPEL_INLINE uint64_t cupel_static_shared() {
    return (uint64_t)*(unsigned char *const __attribute__((address_space(1))) *)&cupel_emu_candidate.shared_start;
}

CUPEL_INLINE size_t cupel_to_window(const void *p) {
    const uint64_t in_dynamic = (uint64_t)p - (uint64_t)cupel_dynamic_shared(), in_static = (uint64_t)p - cupel_static_shared();
    if (in_dynamic + CUPEL_WINDOW_ROOM < 2 * CUPEL_WINDOW_ROOM) return in_dynamic + CUPEL_WINDOW_DYNAMIC;
    if (in_static + CUPEL_WINDOW_ROOM < 2 * CUPEL_WINDOW_ROOM) return in_static + CUPEL_WINDOW_STATIC;
    return (size_t)p;
}

/* What is not in a window is taken for a generic address. */
CUPEL_INLINE void *cupel_from_window(uint64_t address) {
    const uint64_t in_dynamic = address - CUPEL_WINDOW_DYNAMIC, in_static = address - CUPEL_WINDOW_STATIC;
    if (in_dynamic + CUPEL_WINDOW_ROOM < 2 * CUPEL_WINDOW_ROOM) return (char *)cupel_dynamic_shared() + (int64_t)in_dynamic;
    if (in_static + CUPEL_WINDOW_ROOM < 2 * CUPEL_WINDOW_ROOM) return (char *)(cupel_static_shared() + in_static);
    return (void *)address;
}

CUPEL_INLINE size_t __cvta_generic_to_shared(const void *p) { return cupel_to_window(p); }
CUPEL_INLINE void *__cvta_shared_to_generic(size_t p) { return cupel_from_window(p); }

#endif
