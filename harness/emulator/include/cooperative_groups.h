/* Cooperative groups as CUDA documents them: blocks, tiles of up to 32 threads, coalesced groups, the grid. What they do is said in
 * terms of the warp's own operations (cupel_warp.h), as on the device. Clusters and several devices are refused by their names. */
#ifndef CUPEL_COOPERATIVE_GROUPS_H
#define CUPEL_COOPERATIVE_GROUPS_H

#define CUPEL_CG static __device__ inline __attribute__((always_inline))
#define CUPEL_CG_MEMBER __device__ inline __attribute__((always_inline))

namespace cooperative_groups {

namespace cupel_group {

CUPEL_CG unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
CUPEL_CG unsigned int block_thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
CUPEL_CG unsigned int lanes_below() { return (1u << cupel_lane()) - 1; }

/* The lane of the rank-th set bit; 32 and up where there is none. */
CUPEL_CG unsigned int lane_of_rank(unsigned int mask, unsigned int rank) {
    if (mask == 0xffffffffu) return rank;
    for (; rank != 0 && mask != 0; rank--) mask &= mask - 1;
    return mask != 0 ? (unsigned int)__builtin_ctz(mask) : 32u;
}

/* The bits of lanes at the places of their ranks in mask. */
CUPEL_CG unsigned int by_rank(unsigned int mask, unsigned int lanes) {
    unsigned int packed = 0, rank = 0;
    for (unsigned int left = mask; left != 0; left &= left - 1, rank++)
        if (lanes & left & -left) packed |= 1u << rank;
    return packed;
}

/* Values of any trivially copyable type travel in pieces that a shuffle takes; move says from where. */
template <class T, class F> CUPEL_CG T move_pieces(const T &value, const F &move) {
    static_assert(std::is_trivially_copyable<T>::value, "a shuffle copies bytes");
    if constexpr (sizeof(T) <= 8) {
        return move(value);
    } else {
        enum { PIECES = (sizeof(T) + 7) / 8 };
        uint64_t pieces[PIECES] = {};
        __builtin_memcpy(pieces, &value, sizeof(T));
        for (int i = 0; i < PIECES; i++) pieces[i] = move(pieces[i]);
        T result = value;
        __builtin_memcpy(&result, pieces, sizeof(T));
        return result;
    }
}

enum kind { BLOCK, LANES, GRID };

} // namespace cupel_group

/* ---- any group ---- */

class thread_group {
  public:
    CUPEL_CG_MEMBER unsigned long long size() const { return count; }
    CUPEL_CG_MEMBER unsigned long long num_threads() const { return count; }
    CUPEL_CG_MEMBER unsigned long long thread_rank() const { return rank; }
    CUPEL_CG_MEMBER void sync() const {
        if (kind == cupel_group::BLOCK)
            __syncthreads();
        else if (kind == cupel_group::GRID)
            cupel_emu_grid_sync();
        else
            __syncwarp(mask);
    }

  protected:
    CUPEL_CG_MEMBER thread_group(cupel_group::kind kind, unsigned int mask, unsigned long long rank, unsigned long long count)
        : kind(kind), mask(mask), rank(rank), count(count) {}
    cupel_group::kind kind;
    unsigned int mask;
    unsigned long long rank, count;

    friend __device__ thread_group tiled_partition(const thread_group &parent, unsigned int size);
};

/* ---- the block ---- */

class thread_block : public thread_group {
  public:
    /* A thread arrives once before it waits, so that the whole barrier may stand where it waits. */
    struct arrival_token {};

    static CUPEL_CG_MEMBER void sync() { __syncthreads(); }
    static CUPEL_CG_MEMBER unsigned int thread_rank() { return cupel_group::block_thread_rank(); }
    static CUPEL_CG_MEMBER unsigned int size() { return cupel_group::block_threads(); }
    static CUPEL_CG_MEMBER unsigned int num_threads() { return cupel_group::block_threads(); }
    static CUPEL_CG_MEMBER dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static CUPEL_CG_MEMBER dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static CUPEL_CG_MEMBER dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static CUPEL_CG_MEMBER dim3 dim_threads() { return group_dim(); }
    static CUPEL_CG_MEMBER arrival_token barrier_arrive() { return {}; }
    static CUPEL_CG_MEMBER void barrier_wait(arrival_token &&) { __syncthreads(); }

  private:
    CUPEL_CG_MEMBER thread_block()
        : thread_group(cupel_group::BLOCK, 0, cupel_group::block_thread_rank(), cupel_group::block_threads()) {}
    friend __device__ thread_block this_thread_block();
};

__device__ inline __attribute__((always_inline)) thread_block this_thread_block() { return thread_block(); }

/* ---- the grid ---- */

class grid_group : public thread_group {
  public:
    struct arrival_token {};

    static CUPEL_CG_MEMBER bool is_valid() { return cupel_emu_grid_is_cooperative() != 0; }
    static CUPEL_CG_MEMBER void sync() { cupel_emu_grid_sync(); }
    static CUPEL_CG_MEMBER arrival_token barrier_arrive() { return {}; }
    static CUPEL_CG_MEMBER void barrier_wait(arrival_token &&) { cupel_emu_grid_sync(); }
    static CUPEL_CG_MEMBER unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static CUPEL_CG_MEMBER unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static CUPEL_CG_MEMBER unsigned long long size() { return num_blocks() * cupel_group::block_threads(); }
    static CUPEL_CG_MEMBER unsigned long long num_threads() { return size(); }
    static CUPEL_CG_MEMBER unsigned long long thread_rank() {
        return block_rank() * cupel_group::block_threads() + cupel_group::block_thread_rank();
    }
    static CUPEL_CG_MEMBER dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static CUPEL_CG_MEMBER dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static CUPEL_CG_MEMBER dim3 group_dim() { return dim_blocks(); }

  private:
    CUPEL_CG_MEMBER grid_group() : thread_group(cupel_group::GRID, 0, thread_rank(), size()) {}
    friend __device__ grid_group this_grid();
};

__device__ inline __attribute__((always_inline)) grid_group this_grid() { return grid_group(); }

/* ---- lanes of a warp that were found together ---- */

class coalesced_group : public thread_group {
  public:
    CUPEL_CG_MEMBER unsigned int size() const { return (unsigned int)count; }
    CUPEL_CG_MEMBER unsigned int num_threads() const { return (unsigned int)count; }
    CUPEL_CG_MEMBER unsigned int thread_rank() const { return (unsigned int)rank; }
    CUPEL_CG_MEMBER unsigned int meta_group_size() const { return groups; }
    CUPEL_CG_MEMBER unsigned int meta_group_rank() const { return group; }
    CUPEL_CG_MEMBER void sync() const { __syncwarp(mask); }

    template <class T> CUPEL_CG_MEMBER T shfl(T value, int source) const {
        return from_lane(value, cupel_group::lane_of_rank(mask, (unsigned int)source));
    }
    template <class T> CUPEL_CG_MEMBER T shfl_up(T value, unsigned int delta) const {
        return from_lane(value, delta > rank ? cupel_lane() : cupel_group::lane_of_rank(mask, (unsigned int)rank - delta));
    }
    template <class T> CUPEL_CG_MEMBER T shfl_down(T value, unsigned int delta) const {
        return from_lane(value, rank + delta >= count ? cupel_lane() : cupel_group::lane_of_rank(mask, (unsigned int)rank + delta));
    }
    CUPEL_CG_MEMBER int any(int predicate) const { return __any_sync(mask, predicate); }
    CUPEL_CG_MEMBER int all(int predicate) const { return __all_sync(mask, predicate); }
    CUPEL_CG_MEMBER unsigned int ballot(int predicate) const { return cupel_group::by_rank(mask, __ballot_sync(mask, predicate)); }
    template <class T> CUPEL_CG_MEMBER unsigned int match_any(T value) const {
        return cupel_group::by_rank(mask, __match_any_sync(mask, value));
    }
    template <class T> CUPEL_CG_MEMBER unsigned int match_all(T value, int &predicate) const {
        return cupel_group::by_rank(mask, __match_all_sync(mask, value, &predicate));
    }

    /* Not CUDA's: for the functions of this header and its companions. */
    CUPEL_CG_MEMBER unsigned int cupel_mask() const { return mask; }
    CUPEL_CG_MEMBER coalesced_group(unsigned int lanes, unsigned int group = 0, unsigned int groups = 1)
        : thread_group(cupel_group::LANES, lanes, (unsigned int)__builtin_popcount(lanes & cupel_group::lanes_below()),
                       (unsigned int)__builtin_popcount(lanes)),
          group(group), groups(groups) {}

  private:
    template <class T> CUPEL_CG_MEMBER T from_lane(T value, unsigned int lane) const {
        unsigned int lanes = mask;
        return cupel_group::move_pieces(value, [=](auto piece) { return __shfl_sync(lanes, piece, (int)lane); });
    }
    unsigned int group, groups;
};

CUPEL_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* ---- tiles ---- */

template <unsigned int Size, class Parent = void> class thread_block_tile : public thread_group {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile of more than 32 threads, or of a number that is no power of two, is not emulated");

  public:
    static CUPEL_CG_MEMBER constexpr unsigned int size() { return Size; }
    static CUPEL_CG_MEMBER constexpr unsigned int num_threads() { return Size; }
    CUPEL_CG_MEMBER unsigned int thread_rank() const { return cupel_lane() & (Size - 1); }
    CUPEL_CG_MEMBER unsigned int meta_group_size() const { return groups; }
    CUPEL_CG_MEMBER unsigned int meta_group_rank() const { return group; }
    CUPEL_CG_MEMBER void sync() const { __syncwarp(cupel_mask()); }

    template <class T> CUPEL_CG_MEMBER T shfl(T value, int source) const {
        return cupel_group::move_pieces(value, [=](auto piece) { return __shfl_sync(cupel_mask(), piece, source, Size); });
    }
    template <class T> CUPEL_CG_MEMBER T shfl_up(T value, unsigned int delta) const {
        return cupel_group::move_pieces(value, [=](auto piece) { return __shfl_up_sync(cupel_mask(), piece, delta, Size); });
    }
    template <class T> CUPEL_CG_MEMBER T shfl_down(T value, unsigned int delta) const {
        return cupel_group::move_pieces(value, [=](auto piece) { return __shfl_down_sync(cupel_mask(), piece, delta, Size); });
    }
    template <class T> CUPEL_CG_MEMBER T shfl_xor(T value, unsigned int lanes) const {
        return cupel_group::move_pieces(value, [=](auto piece) { return __shfl_xor_sync(cupel_mask(), piece, (int)lanes, Size); });
    }
    CUPEL_CG_MEMBER int any(int predicate) const { return __any_sync(cupel_mask(), predicate); }
    CUPEL_CG_MEMBER int all(int predicate) const { return __all_sync(cupel_mask(), predicate); }
    CUPEL_CG_MEMBER unsigned int ballot(int predicate) const { return own(__ballot_sync(cupel_mask(), predicate)); }
    template <class T> CUPEL_CG_MEMBER unsigned int match_any(T value) const { return own(__match_any_sync(cupel_mask(), value)); }
    template <class T> CUPEL_CG_MEMBER unsigned int match_all(T value, int &predicate) const {
        return own(__match_all_sync(cupel_mask(), value, &predicate));
    }

    /* Not CUDA's. */
    static CUPEL_CG_MEMBER unsigned int cupel_mask() {
        return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (cupel_lane() & ~(Size - 1));
    }
    CUPEL_CG_MEMBER thread_block_tile(unsigned int group, unsigned int groups)
        : thread_group(cupel_group::LANES, cupel_mask(), cupel_lane() & (Size - 1), Size), group(group), groups(groups) {}
    template <class Other>
    CUPEL_CG_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &other)
        : thread_block_tile(other.meta_group_rank(), other.meta_group_size()) {}

  private:
    static CUPEL_CG_MEMBER unsigned int own(unsigned int lanes) {
        return Size == 32 ? lanes : lanes >> (cupel_lane() & ~(Size - 1)) & ((1u << (Size & 31)) - 1);
    }
    unsigned int group, groups;
};

/* Groups by themselves: what a function takes that works for one thread too. */
CUPEL_CG thread_block_tile<1> this_thread() {
    return thread_block_tile<1>(cupel_group::block_thread_rank(), cupel_group::block_threads());
}

template <unsigned int Size> CUPEL_CG thread_block_tile<Size, thread_block> tiled_partition(const thread_block &) {
    return thread_block_tile<Size, thread_block>(cupel_group::block_thread_rank() / Size,
                                                 (cupel_group::block_threads() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int ParentSize, class Grand>
CUPEL_CG thread_block_tile<Size, thread_block_tile<ParentSize, Grand>>
tiled_partition(const thread_block_tile<ParentSize, Grand> &parent) {
    static_assert(Size <= ParentSize, "a tile is no larger than the group it is a part of");
    return thread_block_tile<Size, thread_block_tile<ParentSize, Grand>>(parent.thread_rank() / Size, ParentSize / Size);
}

CUPEL_CG coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size) {
    unsigned int part = parent.thread_rank() / size, lanes = 0, rank = 0;
    for (unsigned int left = parent.cupel_mask(); left != 0; left &= left - 1, rank++)
        if (rank / size == part) lanes |= left & -left;
    return coalesced_group(lanes, part, (parent.size() + size - 1) / size);
}
__device__ inline __attribute__((always_inline)) thread_group tiled_partition(const thread_group &parent, unsigned int size) {
    if (size == 0 || size > 32 || (size & (size - 1)) != 0)
        cupel_emu_unsupported("a tile of more than 32 threads, or of a number that is no power of two,");
    if (parent.kind == cupel_group::GRID) cupel_emu_unsupported("a partition of the grid");
    if (parent.kind == cupel_group::LANES) return tiled_partition(coalesced_group(parent.mask), size);
    unsigned int first = cupel_lane() & ~(size - 1);
    return thread_group(cupel_group::LANES, size == 32 ? 0xffffffffu : ((1u << size) - 1) << first, cupel_lane() - first, size);
}

/* Threads with the same label. Group ranks: in the order of the first lanes. */
template <class Label> CUPEL_CG coalesced_group cupel_labeled(unsigned int mask, Label label) {
    unsigned int same = __match_any_sync(mask, label), firsts = __ballot_sync(mask, (same & cupel_group::lanes_below()) == 0);
    unsigned int first = same & -same;
    return coalesced_group(same, (unsigned int)__builtin_popcount(firsts & (first - 1)), (unsigned int)__builtin_popcount(firsts));
}
template <class Label> CUPEL_CG coalesced_group labeled_partition(const coalesced_group &parent, Label label) {
    return cupel_labeled(parent.cupel_mask(), label);
}
template <unsigned int Size, class Parent, class Label>
CUPEL_CG coalesced_group labeled_partition(const thread_block_tile<Size, Parent> &parent, Label label) {
    return cupel_labeled(parent.cupel_mask(), label);
}
/* Those for which it holds are group 1. */
CUPEL_CG coalesced_group cupel_binary(unsigned int mask, bool predicate) {
    unsigned int lanes = __ballot_sync(mask, predicate);
    return coalesced_group(predicate ? lanes : mask & ~lanes, predicate, 2);
}
CUPEL_CG coalesced_group binary_partition(const coalesced_group &parent, bool predicate) {
    return cupel_binary(parent.cupel_mask(), predicate);
}
template <unsigned int Size, class Parent>
CUPEL_CG coalesced_group binary_partition(const thread_block_tile<Size, Parent> &parent, bool predicate) {
    return cupel_binary(parent.cupel_mask(), predicate);
}

/* ---- what works on any group ---- */

template <class Group> CUPEL_CG void sync(const Group &group) { group.sync(); }
template <class Group> CUPEL_CG void synchronize(const Group &group) { group.sync(); }
template <class Group> CUPEL_CG auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> CUPEL_CG auto group_size(const Group &group) { return group.size(); }
template <class Group> CUPEL_CG auto barrier_arrive(const Group &group) { return group.barrier_arrive(); }
template <class Group> CUPEL_CG void barrier_wait(const Group &group, typename Group::arrival_token &&token) {
    group.barrier_wait(std::move(token));
}

/* One thread calls it: here the first, where a device is free to choose. */
template <class Group, class F, class... A> CUPEL_CG void invoke_one(const Group &group, F &&f, A &&...arguments) {
    if (group.thread_rank() == 0) std::forward<F>(f)(std::forward<A>(arguments)...);
}
template <class Group, class F, class... A> CUPEL_CG auto invoke_one_broadcast(const Group &group, F &&f, A &&...arguments) {
    decltype(std::forward<F>(f)(std::forward<A>(arguments)...)) result{};
    if (group.thread_rank() == 0) result = std::forward<F>(f)(std::forward<A>(arguments)...);
    return group.shfl(result, 0);
}

} // namespace cooperative_groups

#endif
