/* Loads and stores with cache hints (plain accesses here), fences, and address spaces. */
#ifndef CUPEL_MEMORY_H
#define CUPEL_MEMORY_H

#include "cupel_shared_window.h"

/* Told to the sanitizer: an access past the caches that threads do not share is meant for other threads; a fence. */
#ifdef CUPEL_EMU_STRICT
#define CUPEL_STRONG(p) cupel_emu_strict_strong((const void *)(p))
#define CUPEL_FENCE() cupel_emu_strict_fence()
#else
#define CUPEL_STRONG(p) (void)0
#define CUPEL_FENCE() (void)0
#endif

/* A load behind it is made every time, as one by a volatile asm is: what polls must not look once. */
#define CUPEL_ANEW(p) asm volatile("" : "+r"(p))

#define CUPEL_HINTED_LOAD(name, before)                                                                      \
    template <class T> CUPEL_INLINE T name(const T *p) { before; return *p; }
CUPEL_HINTED_LOAD(__ldg, (void)0)
CUPEL_HINTED_LOAD(__ldca, (void)0)
CUPEL_HINTED_LOAD(__ldcg, CUPEL_STRONG(p); CUPEL_ANEW(p))
CUPEL_HINTED_LOAD(__ldcs, (void)0)
CUPEL_HINTED_LOAD(__ldlu, (void)0)
CUPEL_HINTED_LOAD(__ldcv, CUPEL_STRONG(p); asm volatile("" : "+r"(p) :: "memory"))
/* The value's type does not take part in choosing the overload: __stcs(float *, 1.0). */
#define CUPEL_HINTED_STORE(name, strong)                                                                     \
    template <class T> CUPEL_INLINE void name(T *p, std::common_type_t<T> value) { strong; *p = value; }
CUPEL_HINTED_STORE(__stwb, (void)0)
CUPEL_HINTED_STORE(__stcg, CUPEL_STRONG(p))
CUPEL_HINTED_STORE(__stcs, (void)0)
CUPEL_HINTED_STORE(__stwt, CUPEL_STRONG(p))

/* A fence orders memory; a fiber that runs alone sees its own order anyway. What it must do is keep the compiler from moving
 * accesses over it. */
CUPEL_INLINE void __threadfence() { asm volatile("" ::: "memory"); CUPEL_FENCE(); }
CUPEL_INLINE void __threadfence_block() { asm volatile("" ::: "memory"); CUPEL_FENCE(); }
CUPEL_INLINE void __threadfence_system() { asm volatile("" ::: "memory"); CUPEL_FENCE(); }

/* Programmatic dependent launches: the launches of a case run one after the other, so there is nothing to wait for. */
CUPEL_INLINE void cudaGridDependencySynchronize() {}
CUPEL_INLINE void cudaTriggerProgrammaticLaunchCompletion() {}

CUPEL_INLINE void __prefetch_global_l1(const void *) {}
CUPEL_INLINE void __prefetch_global_l2(const void *) {}
CUPEL_INLINE size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
CUPEL_INLINE unsigned int __isGlobal(const void *p) { return cupel_emu_address_space(p) == 0; }
CUPEL_INLINE unsigned int __isShared(const void *p) { return cupel_emu_address_space(p) == 1; }
CUPEL_INLINE unsigned int __isLocal(const void *p) { return cupel_emu_address_space(p) == 2; }
CUPEL_INLINE void *__cvta_global_to_generic(size_t p) { return (void *)p; }

#endif
