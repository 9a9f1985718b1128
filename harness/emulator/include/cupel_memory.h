/* Loads and stores with cache hints (plain accesses here), fences, and address spaces. */
#ifndef CUPEL_MEMORY_H
#define CUPEL_MEMORY_H

#define CUPEL_HINTED_LOAD(name)                                                                              \
    template <class T> CUPEL_INLINE T name(const T *p) { return *p; }
CUPEL_HINTED_LOAD(__ldg)
CUPEL_HINTED_LOAD(__ldca)
CUPEL_HINTED_LOAD(__ldcg)
CUPEL_HINTED_LOAD(__ldcs)
CUPEL_HINTED_LOAD(__ldlu)
CUPEL_HINTED_LOAD(__ldcv)
/* The value's type does not take part in choosing the overload: __stcs(float *, 1.0). */
#define CUPEL_HINTED_STORE(name)                                                                             \
    template <class T> CUPEL_INLINE void name(T *p, std::common_type_t<T> value) { *p = value; }
CUPEL_HINTED_STORE(__stwb)
CUPEL_HINTED_STORE(__stcg)
CUPEL_HINTED_STORE(__stcs)
CUPEL_HINTED_STORE(__stwt)

/* A fence orders memory; a fiber that runs alone sees its own order anyway. What it must do is keep the compiler from moving
 * accesses over it. */
CUPEL_INLINE void __threadfence() { asm volatile("" ::: "memory"); }
CUPEL_INLINE void __threadfence_block() { asm volatile("" ::: "memory"); }
CUPEL_INLINE void __threadfence_system() { asm volatile("" ::: "memory"); }

/* Programmatic dependent launches: the launches of a case run one after the other, so there is nothing to wait for. */
CUPEL_INLINE void cudaGridDependencySynchronize() {}
CUPEL_INLINE void cudaTriggerProgrammaticLaunchCompletion() {}

CUPEL_INLINE void __prefetch_global_l1(const void *) {}
CUPEL_INLINE void __prefetch_global_l2(const void *) {}
CUPEL_INLINE size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
CUPEL_INLINE size_t __cvta_generic_to_global(const void *p) { return (size_t)p; }
CUPEL_INLINE unsigned int __isGlobal(const void *p) { return cupel_emu_address_space(p) == 0; }
CUPEL_INLINE unsigned int __isShared(const void *p) { return cupel_emu_address_space(p) == 1; }
CUPEL_INLINE unsigned int __isLocal(const void *p) { return cupel_emu_address_space(p) == 2; }
CUPEL_INLINE void *__cvta_shared_to_generic(size_t p) { return (void *)p; }
CUPEL_INLINE void *__cvta_global_to_generic(size_t p) { return (void *)p; }

#endif
