/* The parts of CUB that kernels use: reductions and scans of warps and blocks, loads and stores of blocks. Written from CUB's
 * documentation. As there, a reduction's result is the first thread's alone, and temporary storage may be used again only after
 * a barrier of the author's. */
#ifndef CUPEL_CUB_H
#define CUPEL_CUB_H

namespace cub {

struct Sum {
    template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; }
};
struct Max {
    template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
struct Min {
    template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
template <class K, class V> struct KeyValuePair {
    typedef K Key;
    typedef V Value;
    Key key;
    Value value;
    KeyValuePair() = default;
    __host__ __device__ KeyValuePair(const Key &k, const Value &v) : key(k), value(v) {}
};
/* Of pairs (place, value); of equals the first place. */
struct ArgMax {
    template <class K, class V>
    __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    __host__ __device__ KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

/* Room for N values that nobody constructs: it lies in shared memory. */
template <class T, int N> struct cupel_room {
    alignas(T) unsigned char bytes[sizeof(T) * N];
    __device__ T &operator[](int i) { return reinterpret_cast<T *>(bytes)[i]; }
};

/* Values of any size travel in words; mask names the lanes that there are. */
template <class T, class F> CUPEL_INLINE T cupel_moved(T value, F move) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned int parts[words] = {};
    __builtin_memcpy(parts, &value, sizeof(T));
    for (int i = 0; i < words; i++) parts[i] = move(parts[i]);
    __builtin_memcpy(&value, parts, sizeof(T));
    return value;
}
CUPEL_INLINE unsigned int cupel_first_lanes(int n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1; }

/* One warp, or a part of it of `width` lanes, of which `lanes` exist. */
template <class T> struct cupel_warp {
    unsigned int mask;
    int width, lane, lanes; /* lane: in its part; lanes: of the part that take part */
    template <class Op> __device__ T reduce(T value, Op op, int valid) const {
        for (int offset = 1; offset < width; offset *= 2) {
            T other = cupel_moved(value, [&](unsigned int w) { return __shfl_down_sync(mask, w, offset, width); });
            if (lane + offset < valid) value = op(value, other);
        }
        return value;
    }
    template <class Op> __device__ T scan(T value, Op op) const {
        for (int offset = 1; offset < width; offset *= 2) {
            T other = cupel_moved(value, [&](unsigned int w) { return __shfl_up_sync(mask, w, offset, width); });
            if (lane >= offset) value = op(other, value);
        }
        return value;
    }
    __device__ T from(T value, int source) const {
        return cupel_moved(value, [&](unsigned int w) { return __shfl_sync(mask, w, source, width); });
    }
    /* The value of the lane before; anything in the first. */
    __device__ T before(T value) const {
        return cupel_moved(value, [&](unsigned int w) { return __shfl_up_sync(mask, w, 1, width); });
    }
};

/* How many lanes the calling thread's warp has: the last one of a block may be partial. */
CUPEL_INLINE int cupel_warp_lanes() {
    int rank = (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
    int left = (int)(blockDim.x * blockDim.y * blockDim.z) - rank / 32 * 32;
    return left < 32 ? left : 32;
}
template <class T> CUPEL_INLINE cupel_warp<T> cupel_this_warp(int width) {
    int lane = (int)cupel_lane(), start = lane / width * width, lanes = cupel_warp_lanes() - start;
    if (lanes > width) lanes = width;
    return cupel_warp<T>{cupel_first_lanes(lanes) << start, width, lane - start, lanes};
}

template <class T, int LogicalWarpThreads = 32, int = 0> class WarpReduce {
  public:
    struct TempStorage {};
    __device__ explicit WarpReduce(TempStorage &) {}
    __device__ T Sum(T value) { return Reduce(value, cub::Sum()); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
    __device__ T Max(T value) { return Reduce(value, cub::Max()); }
    __device__ T Min(T value) { return Reduce(value, cub::Min()); }
    template <class Op> __device__ T Reduce(T value, Op op) { return Reduce(value, op, LogicalWarpThreads); }
    template <class Op> __device__ T Reduce(T value, Op op, int valid) {
        cupel_warp<T> warp = cupel_this_warp<T>(LogicalWarpThreads);
        return warp.reduce(value, op, valid < warp.lanes ? valid : warp.lanes);
    }
};

template <class T, int LogicalWarpThreads = 32, int = 0> class WarpScan {
  public:
    struct TempStorage {};
    __device__ explicit WarpScan(TempStorage &) {}
    template <class Op> __device__ void InclusiveScan(T in, T &out, Op op) { out = warp().scan(in, op); }
    template <class Op> __device__ void InclusiveScan(T in, T &out, Op op, T &aggregate) {
        out = warp().scan(in, op);
        aggregate = warp().from(out, warp().lanes - 1);
    }
    template <class Op> __device__ void ExclusiveScan(T in, T &out, T first, Op op) {
        T all = warp().scan(in, op), before = warp().before(all);
        out = warp().lane == 0 ? first : op(first, before);
    }
    template <class Op> __device__ void ExclusiveScan(T in, T &out, T first, Op op, T &aggregate) {
        T all = warp().scan(in, op), before = warp().before(all);
        out = warp().lane == 0 ? first : op(first, before);
        aggregate = warp().from(all, warp().lanes - 1);
    }
    __device__ void InclusiveSum(T in, T &out) { InclusiveScan(in, out, cub::Sum()); }
    __device__ void InclusiveSum(T in, T &out, T &aggregate) { InclusiveScan(in, out, cub::Sum(), aggregate); }
    __device__ void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T in, T &out, T &aggregate) { ExclusiveScan(in, out, T(0), cub::Sum(), aggregate); }
    __device__ T Broadcast(T value, unsigned int source) { return warp().from(value, (int)source); }

  private:
    __device__ static cupel_warp<T> warp() { return cupel_this_warp<T>(LogicalWarpThreads); }
};

/* The thread's rank among X * Y * Z, and the warps that they make. */
template <int X, int Y, int Z> struct cupel_block {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;
    __device__ static int rank() { return (int)((threadIdx.z * Y + threadIdx.y) * X + threadIdx.x); }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0> class BlockReduce {
    typedef cupel_block<X, Y, Z> Block;

  public:
    typedef cupel_room<T, Block::warps> TempStorage;
    __device__ BlockReduce() : room(own()) {}
    __device__ explicit BlockReduce(TempStorage &storage) : room(storage) {}
    __device__ T Sum(T value) { return Reduce(value, cub::Sum()); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
    template <int N> __device__ T Sum(T (&values)[N]) { return Reduce(values, cub::Sum()); }
    template <class Op> __device__ T Reduce(T value, Op op) { return Reduce(value, op, Block::threads); }
    template <int N, class Op> __device__ T Reduce(T (&values)[N], Op op) {
        T all = values[0];
        for (int i = 1; i < N; i++) all = op(all, values[i]);
        return Reduce(all, op);
    }
    template <class Op> __device__ T Reduce(T value, Op op, int valid) {
        cupel_warp<T> warp = cupel_this_warp<T>(32);
        int index = Block::rank() / 32, left = valid - 32 * index;
        T all = warp.reduce(value, op, left < warp.lanes ? left : warp.lanes);
        if (warp.lane == 0) room[index] = all;
        __syncthreads();
        if (Block::rank() == 0)
            for (int w = 1; w < Block::warps; w++)
                if (32 * w < valid) all = op(all, room[w]);
        return all;
    }

  private:
    __device__ static TempStorage &own() {
        __shared__ TempStorage kept;
        return kept;
    }
    TempStorage &room;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan {
    typedef cupel_block<X, Y, Z> Block;

  public:
    /* the warps' sums, and the prefix that a callback gives */
    typedef cupel_room<T, Block::warps + 1> TempStorage;
    __device__ BlockScan() : room(own()) {}
    __device__ explicit BlockScan(TempStorage &storage) : room(storage) {}

    template <class Op> __device__ void InclusiveScan(T in, T &out, Op op) {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <class Op> __device__ void InclusiveScan(T in, T &out, Op op, T &aggregate) {
        T mine = cupel_this_warp<T>(32).scan(in, op), before;
        out = prefix(mine, op, before, aggregate) ? op(before, mine) : mine;
    }
    template <class Op> __device__ void ExclusiveScan(T in, T &out, T first, Op op) {
        T all;
        ExclusiveScan(in, out, first, op, all);
    }
    template <class Op> __device__ void ExclusiveScan(T in, T &out, T first, Op op, T &aggregate) {
        cupel_warp<T> warp = cupel_this_warp<T>(32);
        T mine = warp.scan(in, op), before, neighbour = warp.before(mine);
        bool later = prefix(mine, op, before, aggregate);
        out = later ? op(first, before) : first;
        if (warp.lane > 0) out = op(out, neighbour);
    }
    template <int N, class Op> __device__ void InclusiveScan(T (&in)[N], T (&out)[N], Op op) {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <int N, class Op> __device__ void InclusiveScan(T (&in)[N], T (&out)[N], Op op, T &aggregate) {
        T own = in[0], until;
        for (int i = 1; i < N; i++) own = op(own, in[i]);
        cupel_warp<T> warp = cupel_this_warp<T>(32);
        T mine = warp.scan(own, op), before, neighbour = warp.before(mine);
        bool any = prefix(mine, op, before, aggregate);
        if (any) until = before;
        if (warp.lane > 0) until = any ? op(until, neighbour) : neighbour;
        any |= warp.lane > 0;
        for (int i = 0; i < N; i++) {
            until = any ? op(until, in[i]) : in[i];
            any = true;
            out[i] = until;
        }
    }
    template <int N, class Op> __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op) {
        T all;
        ExclusiveScan(in, out, first, op, all);
    }
    template <int N, class Op> __device__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op, T &aggregate) {
        T own = in[0], until;
        for (int i = 1; i < N; i++) own = op(own, in[i]);
        ExclusiveScan(own, until, first, op, aggregate);
        for (int i = 0; i < N; i++) {
            T next = op(until, in[i]);
            out[i] = until;
            until = next;
        }
    }
    __device__ void InclusiveSum(T in, T &out) { InclusiveScan(in, out, cub::Sum()); }
    __device__ void InclusiveSum(T in, T &out, T &aggregate) { InclusiveScan(in, out, cub::Sum(), aggregate); }
    template <int N> __device__ void InclusiveSum(T (&in)[N], T (&out)[N]) { InclusiveScan(in, out, cub::Sum()); }
    template <int N> __device__ void InclusiveSum(T (&in)[N], T (&out)[N], T &aggregate) {
        InclusiveScan(in, out, cub::Sum(), aggregate);
    }
    __device__ void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T in, T &out, T &aggregate) { ExclusiveScan(in, out, T(0), cub::Sum(), aggregate); }
    template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N]) { ExclusiveScan(in, out, T(0), cub::Sum()); }
    template <int N> __device__ void ExclusiveSum(T (&in)[N], T (&out)[N], T &aggregate) {
        ExclusiveScan(in, out, T(0), cub::Sum(), aggregate);
    }
    /* The first warp asks callback(aggregate) for what came before this block; its first lane's answer counts. */
    template <class Callback> __device__ void InclusiveSum(T in, T &out, Callback &callback) {
        T all;
        InclusiveSum(in, out, all);
        out = told(callback, all) + out;
    }
    template <class Callback> __device__ void ExclusiveSum(T in, T &out, Callback &callback) {
        T all;
        ExclusiveSum(in, out, all);
        out = told(callback, all) + out;
    }

  private:
    __device__ static TempStorage &own() {
        __shared__ TempStorage kept;
        return kept;
    }
    /* before: the sum of the warps before this one, where there are any. */
    template <class Op> __device__ bool prefix(T mine, Op op, T &before, T &aggregate) {
        cupel_warp<T> warp = cupel_this_warp<T>(32);
        int index = Block::rank() / 32;
        if (warp.lane == warp.lanes - 1) room[index] = mine;
        __syncthreads();
        aggregate = room[0];
        for (int w = 1; w < Block::warps; w++) {
            if (w == index) before = aggregate;
            aggregate = op(aggregate, room[w]);
        }
        return index > 0;
    }
    template <class Callback> __device__ T told(Callback &callback, T all) {
        if (Block::rank() < 32) {
            T start = callback(all);
            if (Block::rank() == 0) room[Block::warps] = start;
        }
        __syncthreads();
        return room[Block::warps];
    }
    TempStorage &room;
};

/* Thread t has items t * N to t * N + N - 1, or, striped, t, t + threads, .. */
template <class T, int X, int N, BlockLoadAlgorithm Way = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0> class BlockLoad {
    typedef cupel_block<X, Y, Z> Block;

  public:
    struct TempStorage {};
    __device__ BlockLoad() {}
    __device__ explicit BlockLoad(TempStorage &) {}
    template <class P> __device__ void Load(P from, T (&items)[N]) {
        for (int i = 0; i < N; i++) items[i] = from[place(i)];
    }
    template <class P> __device__ void Load(P from, T (&items)[N], int valid) {
        for (int i = 0; i < N; i++)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <class P, class D> __device__ void Load(P from, T (&items)[N], int valid, D missing) {
        for (int i = 0; i < N; i++) items[i] = place(i) < valid ? (T)from[place(i)] : (T)missing;
    }

  private:
    __device__ static int place(int i) {
        return Way == BLOCK_LOAD_STRIPED ? i * Block::threads + Block::rank() : Block::rank() * N + i;
    }
};
template <class T, int X, int N, BlockStoreAlgorithm Way = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0> class BlockStore {
    typedef cupel_block<X, Y, Z> Block;

  public:
    struct TempStorage {};
    __device__ BlockStore() {}
    __device__ explicit BlockStore(TempStorage &) {}
    template <class P> __device__ void Store(P to, T (&items)[N]) {
        for (int i = 0; i < N; i++) to[place(i)] = items[i];
    }
    template <class P> __device__ void Store(P to, T (&items)[N], int valid) {
        for (int i = 0; i < N; i++)
            if (place(i) < valid) to[place(i)] = items[i];
    }

  private:
    __device__ static int place(int i) {
        return Way == BLOCK_STORE_STRIPED ? i * Block::threads + Block::rank() : Block::rank() * N + i;
    }
};

} // namespace cub

#endif
