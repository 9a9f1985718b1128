/* cupel: 1
id: lookback-scan-no-wait
about: As lookback_scan.cu, but a block takes what it finds of the blocks before it, whether they have come that far or not.
dims:    {N: 1..32768}
inputs:  {x: {type: i32, shape: [N], range: [-1000, 1000]}}
outputs: {y: "i32[N]"}
scratch:
  status:  {type: u64, shape: ["ceil_div(N, 64)"], init: 0}
  drawn:   {type: u32, shape: [1], init: 0}
ensures: {y: "cumsum(x, axis=0)"}
kernel:
  entry: scan
  args:  [x, y, status, drawn, N]
  grid:  ["ceil_div(N, 64)"]
  block: [64]
*/
#include <cuda_runtime.h>

#define THREADS 64

typedef unsigned long long word; // a state above 32 bits of sum
enum { EMPTY = 0, OWN = 1, ALL = 2 };

__device__ word pack(unsigned state, int sum) { return (word)state << 32 | (unsigned)sum; }

__device__ int block_scan(int value, int *warps) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step) value += before;
    }
    if (lane == 31) warps[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; w++) value += warps[w];
    return value;
}

// The sum of all tiles before this one, from the nearest that knows it.
__device__ int look_back(volatile word *status, int tile) {
    int sum = 0;
    for (int t = tile - 1; t >= 0; t--) {
        word seen = status[t];
        sum += (int)(unsigned)seen;
        if (seen >> 32 == ALL) break;
    }
    return sum;
}

__global__ void scan(const int *x, int *y, word *status, unsigned *drawn, int n) {
    __shared__ int warps[THREADS / 32], tile, before;
    // tiles in the order in which blocks start: an earlier one never waits for a later one
    if (threadIdx.x == 0) tile = (int)atomicAdd(drawn, 1u);
    __syncthreads();
    int i = tile * THREADS + threadIdx.x;
    int sum = block_scan(i < n ? x[i] : 0, warps);
    if (threadIdx.x == THREADS - 1) {
        if (tile > 0) atomicExch(&status[tile], pack(OWN, sum));
        before = look_back(status, tile);
        atomicExch(&status[tile], pack(ALL, before + sum));
    }
    __syncthreads();
    if (i < n) y[i] = before + sum;
}

void launch(const int *x, int *y, word *status, unsigned *drawn, int n) {
    scan<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, y, status, drawn, n);
}
