/* Barriers in shared memory, 64 bits each: mbarrier of PTX and cuda::barrier. Bits 0 to 19 count who has come in this phase, 20 to
 * 39 how many are to come, the others the phase. Whoever comes releases what it has written, whoever sees the next phase takes it. */
#ifndef CUPEL_PTX_BARRIER_H
#define CUPEL_PTX_BARRIER_H

enum : unsigned long long { CUPEL_MBARRIER_MOST = 0xfffff, CUPEL_MBARRIER_PHASE = 1ull << 40 };

CUPEL_INLINE void cupel_mbarrier_init(unsigned long long *b, uint32_t count) {
    *b = (unsigned long long)(count & CUPEL_MBARRIER_MOST) << 20; /* what was there is nobody's business */
}
CUPEL_INLINE unsigned long long cupel_mbarrier_arrive(unsigned long long *b, uint32_t count) {
    __threadfence_block();
    const unsigned long long old = atomicAdd(b, (unsigned long long)count), expected = old >> 20 & CUPEL_MBARRIER_MOST;
    if ((old & CUPEL_MBARRIER_MOST) + count == expected) {
        __threadfence_block();
        atomicAdd(b, CUPEL_MBARRIER_PHASE - expected);
    }
    return old;
}
/* One fewer from the next phase on: it comes a last time. */
CUPEL_INLINE void cupel_mbarrier_drop(unsigned long long *b) {
    __threadfence_block();
    const unsigned long long old = atomicAdd(b, 0ull - (1ull << 20)), expected = (old >> 20 & CUPEL_MBARRIER_MOST) - 1;
    if ((old & CUPEL_MBARRIER_MOST) == expected) atomicAdd(b, CUPEL_MBARRIER_PHASE - expected);
}
CUPEL_INLINE uint32_t cupel_mbarrier_parity(unsigned long long state) { return state >> 40 & 1; }
/* Whether the phase of that parity has ended. A thread that asks in vain lets the others go on. */
CUPEL_INLINE bool cupel_mbarrier_ended(unsigned long long *b, uint32_t parity) {
    const bool ended = cupel_mbarrier_parity(atomicAdd(b, 0ull)) != (parity & 1);
    if (!ended) CUPEL_PTX_OWN_LINE cupel_emu_pause();
    cupel_ptx_fence();
    return ended;
}
CUPEL_INLINE void cupel_mbarrier_wait(unsigned long long *b, uint32_t parity) {
    while (!cupel_mbarrier_ended(b, parity)) {}
}

CUPEL_INLINE void cupel_ptx_mbarrier_init(void *b, uint32_t count) { cupel_mbarrier_init((unsigned long long *)b, count); }
CUPEL_INLINE void cupel_ptx_mbarrier_inval(void *) {}
CUPEL_INLINE void cupel_ptx_mbarrier_arrive(uint64_t &state, void *b) { state = cupel_mbarrier_arrive((unsigned long long *)b, 1); }
CUPEL_INLINE void cupel_ptx_mbarrier_arrive(uint64_t &state, void *b, uint32_t count) {
    state = cupel_mbarrier_arrive((unsigned long long *)b, count);
}
CUPEL_INLINE void cupel_ptx_mbarrier_wait_parity(bool &done, void *b, uint32_t parity) {
    done = cupel_mbarrier_ended((unsigned long long *)b, parity);
}
CUPEL_INLINE void cupel_ptx_mbarrier_wait_parity(bool &done, void *b, uint32_t parity, uint32_t) {
    done = cupel_mbarrier_ended((unsigned long long *)b, parity);
}
CUPEL_INLINE void cupel_ptx_mbarrier_wait(bool &done, void *b, uint64_t state) {
    done = cupel_mbarrier_ended((unsigned long long *)b, cupel_mbarrier_parity(state));
}

#endif
