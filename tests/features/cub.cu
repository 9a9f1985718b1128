/* Reductions, scans, loads and stores of CUB, for the blocks that the tests launch. */
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "feature.cuh"

struct Plus {
    template <class T> __device__ T operator()(const T &a, const T &b) const { return a + b; }
};
struct Largest {
    template <class T> __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
/* Not commutative: the function x -> factor * x + plus, applied after another. */
struct Affine {
    unsigned factor, plus, unused;
};
struct Compose {
    __device__ Affine operator()(const Affine &a, const Affine &b) const { return {a.factor * b.factor, b.factor * a.plus + b.plus, 0}; }
};

/* BODY<X, Y, Z>(x, y) for the block's own size. */
#define FOR_BLOCK(BODY)                                                                                      \
    if (blockDim.y == 8) BODY<8, 8, 1>(x, y);                                                                \
    else if (blockDim.z == 3) BODY<5, 3, 3>(x, y);                                                           \
    else if (blockDim.y == 4) BODY<33, 4, 1>(x, y);                                                          \
    else if (blockDim.x == 45) BODY<45, 1, 1>(x, y);                                                         \
    else if (blockDim.x == 32) BODY<32, 1, 1>(x, y);                                                         \
    else if (blockDim.x == 7) BODY<7, 1, 1>(x, y);                                                           \
    else BODY<1, 1, 1>(x, y)

/* Only the first thread's result is said. */
__device__ unsigned first(unsigned v) { return feature_rank() == 0 ? v : 0; }

template <int X, int Y, int Z> __device__ void reduce_body(const unsigned *x, unsigned *y) {
    typedef cub::BlockReduce<unsigned, X, cub::BLOCK_REDUCE_WARP_REDUCTIONS, Y, Z> Reduce;
    typedef cub::BlockReduce<Affine, X, cub::BLOCK_REDUCE_WARP_REDUCTIONS, Y, Z> Structures;
    __shared__ union {
        typename Reduce::TempStorage numbers;
        typename Structures::TempStorage structures;
    } room;
    y[0] = first(Reduce(room.numbers).Sum(x[0]));
    __syncthreads();
    y[1] = first(Reduce(room.numbers).Reduce(x[1], Largest()));
    __syncthreads();
    constexpr int some = (X * Y * Z + 1) / 2;
    y[2] = first(Reduce(room.numbers).Sum(x[0], some));
    __syncthreads();
    unsigned items[3] = {x[0], x[1], x[2]};
    y[3] = first(Reduce(room.numbers).Sum(items));
    __syncthreads();
    y[4] = first(Structures(room.structures).Reduce(Affine{x[0] | 1, x[1], 0}, Compose()).plus);
}
__global__ void cub_block_reduce(const unsigned *x, unsigned *y) {
    FEATURE(5);
    FOR_BLOCK(reduce_body);
}
__global__ void cub_warp_reduce(const unsigned *x, unsigned *y) {
    FEATURE(3);
    typedef cub::WarpReduce<unsigned> Reduce;
    typedef cub::WarpReduce<unsigned, 8> Part;
    __shared__ typename Reduce::TempStorage room[32];
    __shared__ typename Part::TempStorage parts[128];
    unsigned rank = feature_rank(), warp = rank / 32, lanes = __popc(feature_lanes());
    unsigned sum = Reduce(room[warp]).Sum(x[0], lanes);
    y[0] = rank % 32 == 0 ? sum : 0;
    __syncwarp(feature_lanes());
    unsigned largest = Reduce(room[warp]).Reduce(x[1], Largest(), lanes);
    y[1] = rank % 32 == 0 ? largest : 0;
    unsigned here = lanes - rank % 32 / 8 * 8;
    unsigned part = Part(parts[rank / 8]).Sum(x[0], here < 8 ? here : 8);
    y[2] = rank % 8 == 0 ? part : 0;
}
struct Running {
    unsigned total;
    __device__ unsigned operator()(unsigned aggregate) {
        unsigned old = total;
        total += aggregate;
        return old;
    }
};
template <int X, int Y, int Z> __device__ void scan_body(const unsigned *x, unsigned *y) {
    typedef cub::BlockScan<unsigned, X, cub::BLOCK_SCAN_WARP_SCANS, Y, Z> Scan;
    __shared__ typename Scan::TempStorage room;
    unsigned out, total, in[2] = {x[2], x[3]}, several[2];
    Scan(room).InclusiveSum(x[0], out);
    y[0] = out;
    __syncthreads();
    Scan(room).ExclusiveSum(x[0], out, total);
    y[1] = out, y[2] = total;
    __syncthreads();
    Scan(room).InclusiveScan(x[1], out, Largest());
    y[3] = out;
    __syncthreads();
    Scan(room).ExclusiveSum(in, several);
    y[4] = several[0], y[5] = several[1];
    __syncthreads();
    Scan(room).InclusiveSum(in, several);
    y[6] = several[1];
    __syncthreads();
    Running running = {1000};
    Scan(room).ExclusiveSum(x[0], out, running);
    y[7] = out;
}
__global__ void cub_block_scan(const unsigned *x, unsigned *y) {
    FEATURE(8);
    FOR_BLOCK(scan_body);
}
__global__ void cub_warp_scan(const unsigned *x, unsigned *y) {
    FEATURE(2);
    typedef cub::WarpScan<unsigned> Scan;
    __shared__ typename Scan::TempStorage room[32];
    unsigned out, warp = feature_rank() / 32;
    Scan(room[warp]).InclusiveSum(x[0], out);
    y[0] = out;
    __syncwarp(feature_lanes());
    Scan(room[warp]).ExclusiveSum(x[0], out);
    y[1] = out;
}
/* From and to the block's own input and output. */
template <int X, int Y, int Z> __device__ void load_body(const unsigned *x, unsigned *y) {
    typedef cub::BlockLoad<unsigned, X, 4, cub::BLOCK_LOAD_DIRECT, Y, Z> Load;
    typedef cub::BlockLoad<unsigned, X, 4, cub::BLOCK_LOAD_STRIPED, Y, Z> Striped;
    typedef cub::BlockStore<unsigned, X, 8, cub::BLOCK_STORE_DIRECT, Y, Z> Store;
    __shared__ typename Load::TempStorage room;
    __shared__ typename Striped::TempStorage striped_room;
    __shared__ typename Store::TempStorage store_room;
    constexpr int threads = X * Y * Z;
    const unsigned *block = x - 8 * feature_rank();
    unsigned items[4], striped[4], out[8];
    Load(room).Load(block, items);
    Striped(striped_room).Load(block, striped, 4 * threads - 3, 7u);
    for (int i = 0; i < 4; i++) out[i] = items[i], out[4 + i] = striped[i];
    Store(store_room).Store(y - 8 * feature_rank(), out);
}
__global__ void cub_load_store(const unsigned *x, unsigned *y) {
    FEATURE(8);
    FOR_BLOCK(load_body);
}
