/* Shuffles, votes, matches, reductions over a warp, and barriers. */
#ifndef CUPEL_WARP_H
#define CUPEL_WARP_H

/* Any trivially copyable value of up to 8 bytes travels as 64 bits. CUDA has overloads for the arithmetic types, half and half2. */
template <class T> CUPEL_INLINE uint64_t cupel_pack(const T &value) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T> CUPEL_INLINE T cupel_unpack(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

#define CUPEL_SHUFFLE(name, kind, Argument)                                                                  \
    template <class T> CUPEL_INLINE T name(unsigned int mask, T value, Argument argument, int width = 32) {  \
        static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");                                    \
        return cupel_unpack<T>(                                                                              \
            cupel_emu_shuffle_sync(cupel_emu_shuffle_detail(kind, (uint32_t)argument, (uint32_t)width),      \
                                   mask, cupel_pack(value)));                                                \
    }
CUPEL_SHUFFLE(__shfl_sync, CUPEL_EMU_SHFL_IDX, int)
CUPEL_SHUFFLE(__shfl_up_sync, CUPEL_EMU_SHFL_UP, unsigned int)
CUPEL_SHUFFLE(__shfl_down_sync, CUPEL_EMU_SHFL_DOWN, unsigned int)
CUPEL_SHUFFLE(__shfl_xor_sync, CUPEL_EMU_SHFL_XOR, int)

CUPEL_INLINE int __all_sync(unsigned int mask, int predicate) {
    return (int)cupel_emu_vote_sync(CUPEL_EMU_VOTE_ALL, mask, predicate != 0, nullptr);
}
CUPEL_INLINE int __any_sync(unsigned int mask, int predicate) {
    return (int)cupel_emu_vote_sync(CUPEL_EMU_VOTE_ANY, mask, predicate != 0, nullptr);
}
CUPEL_INLINE int __uni_sync(unsigned int mask, int predicate) {
    return (int)cupel_emu_vote_sync(CUPEL_EMU_VOTE_UNI, mask, predicate != 0, nullptr);
}
CUPEL_INLINE unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return cupel_emu_vote_sync(CUPEL_EMU_VOTE_BALLOT, mask, predicate != 0, nullptr);
}
CUPEL_INLINE unsigned int __activemask() { return cupel_emu_active_mask(); }

template <class T> CUPEL_INLINE unsigned int __match_any_sync(unsigned int mask, T value) {
    static_assert(sizeof(T) <= 8, "a match compares at most 8 bytes");
    return cupel_emu_vote_sync(CUPEL_EMU_MATCH_ANY, mask, cupel_pack(value), nullptr);
}
template <class T> CUPEL_INLINE unsigned int __match_all_sync(unsigned int mask, T value, int *predicate) {
    static_assert(sizeof(T) <= 8, "a match compares at most 8 bytes");
    int all = 0;
    unsigned int lanes = cupel_emu_vote_sync(CUPEL_EMU_MATCH_ALL, mask, cupel_pack(value), &all);
    *predicate = all;
    return lanes;
}

CUPEL_INLINE unsigned int cupel_reduce(int kind, unsigned int mask, unsigned int value) {
    return cupel_emu_vote_sync(kind, mask, value, nullptr);
}
CUPEL_INLINE unsigned int __reduce_add_sync(unsigned int m, unsigned int v) { return cupel_reduce(CUPEL_EMU_REDUCE_ADD, m, v); }
CUPEL_INLINE int __reduce_add_sync(unsigned int m, int v) { return (int)cupel_reduce(CUPEL_EMU_REDUCE_ADD, m, (unsigned int)v); }
CUPEL_INLINE unsigned int __reduce_min_sync(unsigned int m, unsigned int v) { return cupel_reduce(CUPEL_EMU_REDUCE_UMIN, m, v); }
CUPEL_INLINE int __reduce_min_sync(unsigned int m, int v) { return (int)cupel_reduce(CUPEL_EMU_REDUCE_MIN, m, (unsigned int)v); }
CUPEL_INLINE unsigned int __reduce_max_sync(unsigned int m, unsigned int v) { return cupel_reduce(CUPEL_EMU_REDUCE_UMAX, m, v); }
CUPEL_INLINE int __reduce_max_sync(unsigned int m, int v) { return (int)cupel_reduce(CUPEL_EMU_REDUCE_MAX, m, (unsigned int)v); }
CUPEL_INLINE unsigned int __reduce_and_sync(unsigned int m, unsigned int v) { return cupel_reduce(CUPEL_EMU_REDUCE_AND, m, v); }
CUPEL_INLINE unsigned int __reduce_or_sync(unsigned int m, unsigned int v) { return cupel_reduce(CUPEL_EMU_REDUCE_OR, m, v); }
CUPEL_INLINE unsigned int __reduce_xor_sync(unsigned int m, unsigned int v) { return cupel_reduce(CUPEL_EMU_REDUCE_XOR, m, v); }

CUPEL_INLINE void __syncthreads() { cupel_emu_barrier_sync(CUPEL_EMU_SYNC, 0); }
CUPEL_INLINE int __syncthreads_count(int predicate) { return cupel_emu_barrier_sync(CUPEL_EMU_SYNC_COUNT, predicate != 0); }
CUPEL_INLINE int __syncthreads_and(int predicate) { return cupel_emu_barrier_sync(CUPEL_EMU_SYNC_AND, predicate != 0); }
CUPEL_INLINE int __syncthreads_or(int predicate) { return cupel_emu_barrier_sync(CUPEL_EMU_SYNC_OR, predicate != 0); }
CUPEL_INLINE void __syncwarp(unsigned int mask = 0xffffffffu) { cupel_emu_warp_sync(mask); }

#endif
