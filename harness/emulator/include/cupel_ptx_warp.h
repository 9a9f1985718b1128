/* PTX's warp operations, barriers, special registers. */
#ifndef CUPEL_PTX_WARP_H
#define CUPEL_PTX_WARP_H

/* PTX ISA, shfl.sync: c holds the last lane that may be read in bits 0-4 and the segment mask in bits 8-12. */
template <class Way> CUPEL_INLINE void cupel_ptx_shfl(uint32_t &d, bool &p, uint32_t a, uint32_t b, uint32_t c, uint32_t members) {
    const uint32_t lane = cupel_lane(), clamp = c & 31, segment = c >> 8 & 31, by = b & 31;
    const uint32_t last = (lane & segment) | (clamp & ~segment & 31), first = lane & segment;
    uint32_t source = cupel_ptx_is<Way, cupel_ptx_up>     ? lane - by
                      : cupel_ptx_is<Way, cupel_ptx_down> ? lane + by
                      : cupel_ptx_is<Way, cupel_ptx_bfly> ? lane ^ by
                                                          : first | (by & ~segment & 31);
    p = cupel_ptx_is<Way, cupel_ptx_up> ? (int)source >= (int)last : (int)source <= (int)last;
    if (!p) source = lane;
    d = (uint32_t)cupel_emu_shuffle_sync(cupel_emu_shuffle_detail(CUPEL_EMU_SHFL_IDX, source, 32), members, a);
}
template <class Way> CUPEL_INLINE void cupel_ptx_shfl(uint32_t &d, uint32_t a, uint32_t b, uint32_t c, uint32_t members) {
    bool p;
    cupel_ptx_shfl<Way>(d, p, a, b, c, members);
}
template <class Way> CUPEL_INLINE void cupel_ptx_vote(bool &d, bool p, uint32_t members) {
    if constexpr (cupel_ptx_is<Way, cupel_ptx_all>) d = __all_sync(members, p);
    else if constexpr (cupel_ptx_is<Way, cupel_ptx_any>) d = __any_sync(members, p);
    else d = __uni_sync(members, p);
}
CUPEL_INLINE void cupel_ptx_ballot(uint32_t &d, bool p, uint32_t members) { d = __ballot_sync(members, p); }
template <class T> CUPEL_INLINE void cupel_ptx_match_any(uint32_t &d, T a, uint32_t members) { d = __match_any_sync(members, a); }
template <class T> CUPEL_INLINE void cupel_ptx_match_all(uint32_t &d, bool &p, T a, uint32_t members) {
    int all = 0;
    d = __match_all_sync(members, a, &all);
    p = all != 0;
}
template <class T> CUPEL_INLINE void cupel_ptx_match_all(uint32_t &d, T a, uint32_t members) {
    bool p;
    cupel_ptx_match_all(d, p, a, members);
}
template <class Op, class T> CUPEL_INLINE void cupel_ptx_redux(T &d, T a, uint32_t members) {
    if constexpr (cupel_ptx_is<Op, cupel_ptx_add>) d = __reduce_add_sync(members, a);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_min>) d = __reduce_min_sync(members, a);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_max>) d = __reduce_max_sync(members, a);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_and>) d = __reduce_and_sync(members, a);
    else if constexpr (cupel_ptx_is<Op, cupel_ptx_or>) d = __reduce_or_sync(members, a);
    else d = __reduce_xor_sync(members, a);
}
CUPEL_INLINE void cupel_ptx_activemask(uint32_t &d) { d = __activemask(); }
/* One leader of the members: the lowest lane. */
CUPEL_INLINE void cupel_ptx_elect(uint32_t &d, bool &p, uint32_t members) {
    __syncwarp(members);
    d = members ? (uint32_t)__builtin_ctz(members) : 0u;
    p = cupel_lane() == d;
}
CUPEL_INLINE void cupel_ptx_syncwarp(uint32_t members) { __syncwarp(members); }

CUPEL_INLINE uint32_t cupel_ptx_block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
CUPEL_INLINE void cupel_ptx_bar_sync(uint32_t id, uint32_t threads) {
    cupel_ptx_fence();
    if (id == 0 && threads == cupel_ptx_block_threads()) __syncthreads();
    else CUPEL_PTX_OWN_LINE cupel_emu_named_barrier(id, threads, 0);
    cupel_ptx_fence();
}
CUPEL_INLINE void cupel_ptx_bar_sync(uint32_t id) { cupel_ptx_bar_sync(id, cupel_ptx_block_threads()); }
CUPEL_INLINE void cupel_ptx_bar_sync() { cupel_ptx_bar_sync(0u); }
CUPEL_INLINE void cupel_ptx_bar_arrive(uint32_t id, uint32_t threads) {
    cupel_ptx_fence();
    CUPEL_PTX_OWN_LINE cupel_emu_named_barrier(id, threads, 1);
    cupel_ptx_fence();
}
/* Of the whole block: barrier 0. */
template <class Op> CUPEL_INLINE void cupel_ptx_bar_red(bool &d, uint32_t id, bool p) {
    if (id != 0) cupel_emu_unsupported("a reduction at a named barrier");
    d = cupel_ptx_is<Op, cupel_ptx_and> ? __syncthreads_and(p) : __syncthreads_or(p);
}
CUPEL_INLINE void cupel_ptx_bar_popc(uint32_t &d, uint32_t id, bool p) {
    if (id != 0) cupel_emu_unsupported("a reduction at a named barrier");
    d = (uint32_t)__syncthreads_count(p);
}
CUPEL_INLINE void cupel_ptx_membar() { __threadfence(); }
CUPEL_INLINE void cupel_ptx_trap() { cupel_emu_trap(); }
CUPEL_INLINE void cupel_ptx_nanosleep(uint32_t ns) { __nanosleep(ns); }

#define CUPEL_PTX_SPECIAL(name, T, value)                                                                    \
    CUPEL_INLINE T cupel_ptx_special_##name() { return value; }
#define CUPEL_PTX_AXES(name, object)                                                                         \
    CUPEL_PTX_SPECIAL(name##_x, uint32_t, object.x)                                                          \
    CUPEL_PTX_SPECIAL(name##_y, uint32_t, object.y)                                                          \
    CUPEL_PTX_SPECIAL(name##_z, uint32_t, object.z)
CUPEL_PTX_AXES(tid, threadIdx)
CUPEL_PTX_AXES(ntid, blockDim)
CUPEL_PTX_AXES(ctaid, blockIdx)
CUPEL_PTX_AXES(nctaid, gridDim)
CUPEL_PTX_AXES(clusterid, blockIdx)
CUPEL_PTX_AXES(nclusterid, gridDim)
CUPEL_PTX_AXES(cluster_ctaid, dim3(0, 0, 0))
CUPEL_PTX_AXES(cluster_nctaid, dim3(1, 1, 1))
CUPEL_PTX_SPECIAL(cluster_ctarank, uint32_t, 0u)
CUPEL_PTX_SPECIAL(cluster_nctarank, uint32_t, 1u)
CUPEL_PTX_SPECIAL(laneid, uint32_t, cupel_lane())
CUPEL_PTX_SPECIAL(warpid, uint32_t, CUPEL_EMU_REGISTER(warp))
CUPEL_PTX_SPECIAL(nwarpid, uint32_t, 64u)
CUPEL_PTX_SPECIAL(smid, uint32_t, 0u)
CUPEL_PTX_SPECIAL(nsmid, uint32_t, 132u)
CUPEL_PTX_SPECIAL(gridid, uint64_t, 0u)
CUPEL_PTX_SPECIAL(lanemask_eq, uint32_t, 1u << cupel_lane())
CUPEL_PTX_SPECIAL(lanemask_lt, uint32_t, (1u << cupel_lane()) - 1u)
CUPEL_PTX_SPECIAL(lanemask_le, uint32_t, (2u << cupel_lane()) - 1u)
CUPEL_PTX_SPECIAL(lanemask_gt, uint32_t, ~((2u << cupel_lane()) - 1u))
CUPEL_PTX_SPECIAL(lanemask_ge, uint32_t, ~((1u << cupel_lane()) - 1u))
CUPEL_PTX_SPECIAL(clock, uint32_t, (uint32_t)cupel_emu_clock())
CUPEL_PTX_SPECIAL(clock_hi, uint32_t, (uint32_t)(cupel_emu_clock() >> 32))
CUPEL_PTX_SPECIAL(clock64, uint64_t, cupel_emu_clock())
CUPEL_PTX_SPECIAL(globaltimer, uint64_t, cupel_emu_clock())
CUPEL_PTX_SPECIAL(globaltimer_lo, uint32_t, (uint32_t)cupel_emu_clock())
CUPEL_PTX_SPECIAL(globaltimer_hi, uint32_t, (uint32_t)(cupel_emu_clock() >> 32))
CUPEL_PTX_SPECIAL(dynamic_smem_size, uint32_t, CUPEL_EMU_REGISTER(dynamic_shared_size))

#endif
